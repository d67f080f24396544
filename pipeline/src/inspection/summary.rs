//! What a file holds, as programs read it.

use super::Inspected;
use super::few_rows::FewRows;
use super::statistics::Statistics;
use crate::collect::capture_packets::CapturePackets;
use crate::exact_times::meta_value;
use dropcast_forest::Metrics;
use dropcast_train::{Split, SweepRow, SweepTable, TrainedModel, VoteRule};
use serde::Serialize;

/// What a file holds, for programs.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum InspectedSummary<'a> {
    /// Packet events.
    Events {
        /// Names of the columns.
        columns: &'a [String],
        /// How many rows, where that is known.
        rows: Option<u64>,
        /// The switches, as TOML.
        switches: Option<String>,
    },
    /// Packet events that are no table.
    EventStream {
        /// What they are in.
        format: &'a str,
        /// What the packets of a capture are.
        #[serde(skip_serializing_if = "Option::is_none")]
        capture: Option<CapturePackets>,
    },
    /// A labelled trace.
    Trace {
        /// Names of the columns.
        columns: &'a [String],
        /// How many rows, where that is known.
        rows: Option<u64>,
        /// What it says of itself.
        meta: Option<serde_json::Value>,
        /// What values its features have, if they were counted.
        #[serde(skip_serializing_if = "Option::is_none")]
        statistics: Option<&'a Statistics>,
    },
    /// A table of somebody else.
    OtherTable {
        /// Names of the columns.
        columns: &'a [String],
        /// How many rows, where that is known.
        rows: Option<u64>,
    },
    /// A `model.json`.
    Model {
        /// Names of the features.
        features: &'a [String],
        /// Number of trees.
        trees: usize,
        /// Depth of the deepest.
        depth: usize,
        /// A score above it is a drop.
        vote_threshold: u32,
        /// Its vote rule.
        vote: Option<VoteRule>,
        /// Its seed.
        seed: Option<u64>,
        /// Its split.
        split: Option<&'a Split>,
        /// Names of its traces.
        data: Vec<&'a str>,
        /// Its scores.
        metrics: Option<&'a Metrics>,
        /// Features with which its score never falls.
        rising: Vec<&'a str>,
        /// Its leaves that stand on few training rows; null if it does not say what they stand on.
        few_rows: Option<FewRows>,
    },
    /// A `.dct` table.
    Table {
        /// Names of the features.
        features: &'a [String],
        /// Number of trees.
        trees: u16,
        /// Depth of the deepest.
        depth: u8,
        /// A score above it is a drop.
        vote_threshold: u32,
        /// Its size.
        bytes: usize,
    },
    /// A `sweep.json`.
    Sweep {
        /// Number of forests.
        forests: usize,
        /// Number of settings.
        configurations: usize,
        /// The Pareto-optimal rows.
        pareto: Vec<&'a SweepRow>,
    },
    /// A `report.json`.
    Report {
        /// Version of its schema.
        schema_version: &'a serde_json::Value,
    },
}

impl<'a> InspectedSummary<'a> {
    /// What was found, without what only this library reads.
    pub fn new(found: &'a Inspected) -> Self {
        match found {
            Inspected::Events { columns, rows, switches } => InspectedSummary::Events {
                columns,
                rows: *rows,
                switches: switches.as_ref().map(|specs| specs.to_toml()),
            },
            Inspected::Stream { format, capture, .. } => InspectedSummary::EventStream {
                format,
                capture: capture.as_deref().map(CapturePackets::new),
            },
            Inspected::Trace { columns, rows, meta, statistics } => InspectedSummary::Trace {
                columns,
                rows: *rows,
                meta: meta.as_ref().and_then(|meta| meta_value(meta).ok()),
                statistics: statistics.as_ref(),
            },
            Inspected::OtherTable { columns, rows } => {
                InspectedSummary::OtherTable { columns, rows: *rows }
            }
            Inspected::Model(model) => InspectedSummary::of_model(model),
            &Inspected::Table { ref features, trees, depth, vote_threshold, bytes } => {
                InspectedSummary::Table { features, trees, depth, vote_threshold, bytes }
            }
            Inspected::Sweep(table) => InspectedSummary::of_sweep(table),
            Inspected::Report { schema_version } => InspectedSummary::Report { schema_version },
        }
    }

    fn of_model(model: &'a TrainedModel) -> Self {
        let TrainedModel { forest, metrics, provenance, .. } = model;
        let made = provenance.as_ref();
        InspectedSummary::Model {
            features: &forest.features,
            trees: forest.trees.len(),
            depth: forest.depth(),
            vote_threshold: forest.vote_threshold,
            vote: made.map(|made| made.vote),
            seed: made.map(|made| made.parameters.get().seed),
            split: made.map(|made| &made.split),
            data: made.map_or_else(Vec::new, |made| {
                made.data.iter().map(|origin| origin.name.as_str()).collect()
            }),
            metrics: metrics.as_ref(),
            rising: forest.rising().collect(),
            few_rows: FewRows::of(model),
        }
    }

    fn of_sweep(table: &'a SweepTable) -> Self {
        InspectedSummary::Sweep {
            forests: table.rows.len(),
            configurations: table.summary.len(),
            pareto: table.rows.iter().filter(|row| row.pareto).collect(),
        }
    }
}
