//! What a map compares, as a file says it.

use super::conditions::{Changes, Grid, MapCondition};
use crate::closed_loop::{Experiment, MOST_RUNS, NamedPolicy, lqd, usual_policies};
use crate::fabric_oracle::default_oracles;
use dropcast_fabric::{
    Better, FabricConfig, Incast, Metric, PoissonFlows, SizeBuckets, TrafficConfig,
};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::files::read_settings;
use dropcast_pipeline::settings::TrainSettings;
use dropcast_switch::PolicySpec;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Compared in every map, with the best of the rivals.
pub(super) const LQD: &str = "lqd";

/// What to compare, and where. Every field has a default.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MapSettings {
    /// Runs of each policy at each point; run `n`, from 0, adds `n` to the seeds of fabric and
    /// traffic.
    pub runs: u32,
    /// Further runs of each rival, with seeds that follow: the best of each point and measure is chosen on these.
    pub choosing_runs: u32,
    /// What is compared. Which way each is better is part of the table of metrics.
    pub measures: Vec<MeasureName>,
    /// What LQD and oracles are compared with: every policy here is a rival, unless it has a model or pushes packets
    /// out. Those are compared with the rivals.
    pub policies: Vec<NamedPolicy>,
    /// Oracles by name: how each is trained, all on the same labelled run, with the senders of `fabric`
    /// ([`crate::fabric_oracle`]).
    pub oracles: BTreeMap<String, TrainSettings>,
    /// Policies that ask the oracles, by name: `model` is each oracle in turn. Decision NAME with oracle OTHER is
    /// called NAME-OTHER.
    pub decisions: BTreeMap<String, NamedPolicy>,
    /// Flows outside incasts and collectives are also grouped by size, in buckets that end at these sizes, with measures such
    /// as `10001-100000-bytes_fct_ns_p99`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub size_buckets_bytes: Vec<u64>,
    /// The fabric, where a grid does not change it.
    pub fabric: FabricConfig,
    /// The traffic, where a grid does not change it.
    pub traffic: TrafficConfig,
    /// The points; without any, one, with fabric and traffic as they are.
    pub grids: Vec<Grid>,
}

/// One of [`Metric::all`] or [`Metric::of_buckets`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MeasureName(pub String);

/// Points of all grids, at most: all of them are in memory.
const MOST_POINTS: usize = 10_000;

impl MeasureName {
    /// The names of all.
    pub(super) fn known() -> Vec<String> {
        Metric::all().into_iter().map(|metric| metric.name).collect()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// What it is, if it is known.
    pub fn metric(&self) -> Option<Metric> {
        Metric::named(&self.0)
    }

    /// What it is of: a class of flows, or its whole name ([`Metric::subject`]).
    pub fn subject(&self) -> String {
        self.metric().map_or_else(|| self.0.clone(), |metric| metric.subject)
    }

    /// Whether more is better.
    fn is_more_better(&self) -> bool {
        self.metric().is_some_and(|metric| metric.better == Better::More)
    }

    /// How much better `one` is than `other`: above 0 if it is.
    pub(super) fn advantage(&self, one: f64, other: f64) -> f64 {
        if self.is_more_better() { one - other } else { other - one }
    }
}

impl Default for MapSettings {
    /// One point: 50 ms of the Credence artifact's traffic.
    fn default() -> Self {
        let measures = [
            "short_slowdown_p99",
            "innocent_timeouts",
            "incast_slowdown_p95",
            "incast_over_10_ms",
            "long_slowdown_p99",
            "long_slowdown_mean",
            "goodput_bps",
        ];
        MapSettings {
            runs: 8,
            choosing_runs: 8,
            measures: measures.map(|name| MeasureName(name.to_owned())).to_vec(),
            policies: usual_policies(),
            oracles: default_oracles().into_iter().collect(),
            decisions: [
                ("credence", PolicySpec::Credence(Default::default())),
                ("filter", PolicySpec::Oracle(Default::default())),
            ]
            .map(|(name, policy)| (name.to_owned(), policy.into()))
            .into(),
            size_buckets_bytes: Vec::new(),
            fabric: FabricConfig::default(),
            traffic: TrafficConfig {
                duration_ns: 50_000_000,
                flows: vec![PoissonFlows { load: 0.8, ..PoissonFlows::default() }],
                incasts: vec![Incast { per_server_hz: 30.0, ..Incast::default() }],
                ..TrafficConfig::default()
            },
            grids: Vec::new(),
        }
    }
}

impl MapSettings {
    /// Reads a map's settings from a TOML file.
    ///
    /// # Errors
    /// If it cannot be read or says something else.
    pub fn read(path: &Path) -> Result<Self, PipelineError> {
        read_settings(path)
    }

    /// Everything that runs at each point: LQD, the listed policies, each decision with each oracle.
    pub(super) fn subjects(&self) -> Vec<Subject> {
        let lqd = Subject { name: LQD.to_owned(), kind: Kind::PushOut, policy: lqd() };
        let listed = self.policies.iter().filter(|policy| policy.label != LQD).map(Subject::listed);
        let asking = self.decisions.iter().flat_map(|(decision, policy)| {
            self.oracles.keys().map(move |oracle| Subject::asking(decision, policy, oracle))
        });
        std::iter::once(lqd).chain(listed).chain(asking).collect()
    }

    /// The points of all grids.
    ///
    /// # Errors
    /// If a measure is unknown, or too few runs are asked for.
    pub(super) fn points(&self) -> Result<Vec<(MapCondition, Experiment)>, PipelineError> {
        for (name, runs) in [("runs", self.runs), ("choosing_runs", self.choosing_runs)] {
            if !(2..=MOST_RUNS).contains(&runs) {
                let problem = format!("is {runs}, expected at least 2 and at most {MOST_RUNS}");
                return Err(PipelineError::setting(name, problem));
            }
        }
        self.check_policies()?;
        let base = Experiment {
            policies: Vec::new(),
            runs: self.runs,
            fabric: self.fabric.clone(),
            traffic: self.traffic.clone(),
            size_buckets_bytes: self.size_buckets_bytes.clone(),
            ..Experiment::default()
        };
        self.check_measures(&base.size_buckets()?)?;
        let grids = self.all_grids();
        for (place, grid) in grids.iter().enumerate() {
            self.check_grid(place, grid)?;
        }
        let points: usize = grids.iter().map(Grid::len).fold(0, usize::saturating_add);
        if points > MOST_POINTS {
            let problem = format!("have {points} points, expected at most {MOST_POINTS}");
            return Err(PipelineError::setting("grids", problem));
        }
        let policies = self.subjects().into_iter().map(|subject| subject.policy).collect();
        let base = Experiment { policies, ..base };
        Ok(grids.iter().flat_map(|grid| grid.points(&base)).collect())
    }

    /// The grids; without any, the one point that fabric and traffic describe.
    fn all_grids(&self) -> Vec<Grid> {
        match self.grids.as_slice() {
            [] => vec![Grid { name: "network".to_owned(), ..Grid::default() }],
            grids => grids.to_vec(),
        }
    }

    fn check_policies(&self) -> Result<(), PipelineError> {
        let is_word = |name: &&String| {
            name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_plain)
        };
        let names = [
            ("oracles", self.oracles.keys().collect::<Vec<_>>()),
            ("decisions", self.decisions.keys().collect()),
        ];
        for (field, names) in names {
            if let Some(name) = names.into_iter().find(|name| !is_word(name)) {
                let problem = format!("{name:?}: expected a letter, then letters, digits, - and _");
                return Err(PipelineError::setting(field, problem));
            }
        }
        for (name, policy) in &self.decisions {
            let problem = match policy.spec.model() {
                _ if policy.spec.model_kind().is_none() => "asks no oracle; list it in policies",
                Some(_) => "has a model; leave it out, each oracle is the model in turn",
                None => continue,
            };
            return Err(PipelineError::setting(format!("decisions.{name}"), problem));
        }
        if self.decisions.is_empty() && !self.oracles.is_empty() {
            let problem = "is empty, expected at least one that asks the oracles";
            return Err(PipelineError::setting("decisions", problem));
        }
        if !self.subjects().iter().any(|subject| subject.kind == Kind::Plain) {
            let problem = "have none without a prediction to compare with, such as \"dt:alpha=8\"";
            return Err(PipelineError::setting("policies", problem));
        }
        Ok(())
    }

    fn check_measures(&self, buckets: &SizeBuckets) -> Result<(), PipelineError> {
        let of_buckets = Metric::of_buckets(buckets).into_iter().map(|metric| metric.name);
        let names: Vec<String> = MeasureName::known().into_iter().chain(of_buckets).collect();
        let is_known = |measure: &&MeasureName| names.contains(&measure.0);
        match self.measures.iter().find(|measure| !is_known(measure)) {
            None => Ok(()),
            Some(unknown) => {
                let problem = format!("{:?} is none of {}", unknown.0, names.join(", "));
                Err(PipelineError::setting("measures", problem))
            }
        }
    }

    fn check_grid(&self, place: usize, grid: &Grid) -> Result<(), PipelineError> {
        let wrong = |field: &str, problem: String| {
            Err(PipelineError::setting(format!("grids[{place}]: {field}"), problem))
        };
        if grid.name.is_empty() || !grid.name.chars().all(is_plain) {
            let problem = format!("is {:?}, expected letters, digits, - and _", grid.name);
            return wrong("name", problem);
        }
        if self.grids[..place].iter().any(|other| other.name == grid.name) {
            return wrong("name", format!("{:?} is taken by another grid", grid.name));
        }
        let ranges = [
            ("gbps", &grid.gbps, 1e-3),
            ("buffer_kb", &grid.buffer_kb, 1e-3),
            ("min_rto_ms", &grid.min_rto_ms, 1e-3),
            ("spread_us", &grid.spread_us, 0.0),
            ("jitter_us", &grid.jitter_us, 0.0),
        ];
        for (field, values, least) in ranges {
            let is_right = |value: &f64| (least..=1e4).contains(value);
            if let Some(value) = values.iter().find(|value| !is_right(value)) {
                return wrong(field, format!("is {value}, expected {least} to 10000"));
            }
        }
        for axis in grid.axes() {
            let repeated =
                (1..axis.values.len()).find(|&at| axis.values[..at].contains(&axis.values[at]));
            if let Some(at) = repeated {
                return wrong(axis.name, format!("has {} twice", axis.values[at]));
            }
        }
        let has_load = self.traffic.flows.iter().any(|flows| flows.load > 0.0);
        let has_incasts = self.traffic.incasts.iter().any(|incast| incast.per_server_hz > 0.0);
        let needs = [
            (Changes::Flows, has_load, "flows; add [[traffic.flows]]"),
            (Changes::Incasts, has_incasts, "incasts; add [[traffic.incasts]]"),
        ];
        for (changes, is_there, needed) in needs {
            if let Some(field) = grid.first_that(changes).filter(|_| !is_there) {
                return wrong(field, format!("has no {needed}"));
            }
        }
        Ok(())
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// What a policy is to the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It pushes packets out, as LQD does.
    PushOut,
    /// A rival that predicts nothing.
    Plain,
    /// It drops early what another policy accepts, untrained.
    Rule,
    /// It asks an oracle.
    Oracle,
}

/// A policy that runs at every point.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    /// As findings and figures call it.
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) policy: NamedPolicy,
}

impl Subject {
    fn listed(policy: &NamedPolicy) -> Self {
        let kind = if policy.spec.pushes_out() {
            Kind::PushOut
        } else if policy.spec.model().is_some() {
            Kind::Oracle
        } else if policy.spec.base().is_some() {
            Kind::Rule
        } else {
            Kind::Plain
        };
        Subject { name: policy.label.clone(), kind, policy: policy.clone() }
    }

    fn asking(decision: &str, policy: &NamedPolicy, oracle: &str) -> Self {
        let separator = if policy.label.contains(':') { ',' } else { ':' };
        let policy = NamedPolicy {
            label: format!("{}{separator}model={oracle}", policy.label),
            spec: policy.spec.clone().with_model(oracle),
        };
        Subject { name: format!("{decision}-{oracle}"), kind: Kind::Oracle, policy }
    }

    /// Whether every switch has it: Dynamic Thresholds with one alpha or another, or Complete Sharing, which is an
    /// alpha without end.
    pub(super) fn is_alpha(&self) -> bool {
        matches!(
            self.policy.spec,
            PolicySpec::DynamicThresholds(_) | PolicySpec::CompleteSharing(_)
        )
    }

    /// Whether it is what `other` runs over.
    pub(super) fn is_base_of(&self, other: &Subject) -> bool {
        other.policy.spec.base().is_some_and(|base| *base == self.policy.spec)
    }

    /// How many runs of it are needed.
    pub(super) fn runs(&self, settings: &MapSettings) -> u32 {
        match self.kind {
            Kind::Plain => settings.runs + settings.choosing_runs,
            Kind::PushOut | Kind::Rule | Kind::Oracle => settings.runs,
        }
    }
}
