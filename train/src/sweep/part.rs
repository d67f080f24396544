//! A sweep in parts, one per group, so that an interrupted sweep can resume.

use super::summary::{medians, summaries};
use super::{
    FrontRule, SWEEP_FORMAT_VERSION, SweepGroup, SweepParts, SweepPlan, SweepRow, SweepTable,
};
use crate::{DataOrigin, Split, TrainedModel};
use serde::{Deserialize, Serialize};

/// The rows of one group, and the models that may be on the whole sweep's front.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepPart {
    /// The rows, in the order of [`SweepGroup::places`].
    pub rows: Vec<SweepRow>,
    /// The text of `model.json` of the rows on this group's front: no others can be on the whole
    /// front.
    pub models: Vec<Option<String>>,
}

/// Why parts do not make up a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SweepPartError {
    /// A part has another number of rows than its group, or another number of models than rows.
    #[error("a part has {found} rows where its group has {expected}")]
    Rows {
        /// Rows of the part.
        found: usize,
        /// Rows of the group.
        expected: usize,
    },
    /// A group without a part, or more parts than groups.
    #[error("there are {found} parts where the sweep has {expected} groups")]
    Parts {
        /// Number of parts.
        found: usize,
        /// Groups of the sweep.
        expected: usize,
    },
}

impl SweepPart {
    /// The rows of a group with so many seeds, and the Pareto-optimal ones of its `models`.
    pub fn new(
        front: FrontRule,
        seeds: usize,
        rows: Vec<SweepRow>,
        models: &[TrainedModel],
    ) -> Self {
        let medians = medians(front, &rows, seeds);
        let mut texts = vec![None; models.len()];
        for at in on_front(front, &rows, &medians) {
            texts[at] = models.get(at).map(TrainedModel::to_json);
        }
        SweepPart { rows, models: texts }
    }

    /// Checks that the part fits `group`.
    ///
    /// # Errors
    /// If it does not fit.
    pub fn check(&self, group: &SweepGroup) -> Result<(), SweepPartError> {
        let expected = group.places.len();
        let found = if self.rows.len() == expected { self.models.len() } else { self.rows.len() };
        if found == expected { Ok(()) } else { Err(SweepPartError::Rows { found, expected }) }
    }
}

/// The places of the rows of the Pareto front among those in `places`, ascending.
fn on_front(front: FrontRule, rows: &[SweepRow], places: &[usize]) -> Vec<usize> {
    let flags = front.front(&places.iter().map(|&at| &rows[at]).collect::<Vec<_>>());
    places.iter().zip(flags).filter_map(|(&at, is_on_front)| is_on_front.then_some(at)).collect()
}

/// What the whole sweep found, and its models: file name and text. They are those of the front, and
/// the best of each feature set as it was grown.
///
/// `parts` belong to the plan's groups, in their order; `rows_by_part` are the rows they were made
/// from.
///
/// # Errors
/// If they do not fit.
pub fn assemble(
    plan: &SweepPlan,
    parts: Vec<SweepPart>,
    data: Vec<DataOrigin>,
    (split, rows_by_part): (Split, SweepParts),
    front: FrontRule,
) -> Result<(SweepTable, Vec<(String, String)>), SweepPartError> {
    let (found, expected) = (parts.len(), plan.groups.len());
    if found != expected {
        return Err(SweepPartError::Parts { found, expected });
    }
    let mut rows: Vec<(usize, SweepRow, Option<String>)> = Vec::with_capacity(plan.rows);
    for (group, part) in plan.groups.iter().zip(parts) {
        part.check(group)?;
        let of_part = part.rows.into_iter().zip(part.models);
        rows.extend(group.places.clone().zip(of_part).map(|(at, (row, model))| (at, row, model)));
    }
    rows.sort_by_key(|&(at, ..)| at);
    let texts: Vec<Option<String>> = rows.iter().map(|(.., model)| model.clone()).collect();
    let mut rows: Vec<SweepRow> = rows.into_iter().map(|(_, row, _)| row).collect();
    let seeds = plan.groups.first().map_or(1, |group| group.seeds.len());
    let medians = medians(front, &rows, seeds);
    let on_front = on_front(front, &rows, &medians);
    for row in &mut rows {
        (row.pareto, row.model) = (false, None);
    }
    let mut models = Vec::new();
    for &at in &on_front {
        rows[at].pareto = true;
        if let Some(text) = &texts[at] {
            let name = format!("models/row-{at:05}.json");
            models.push((name.clone(), text.clone()));
            rows[at].model = Some(name);
        }
    }
    // The best row of a feature set is on the front of its group, so its text was kept.
    let best = front.best(&rows, &medians);
    for best in &best {
        models.extend(texts[best.row].clone().map(|text| (best.model.clone(), text)));
    }
    // The front's last is its best.
    let by_size = |&at: &usize| (rows[at].size.ternary_entries, at);
    let best_of_all = on_front.iter().copied().max_by_key(by_size);
    let summary = summaries(front, &rows, &medians, (seeds, best_of_all));
    let is_proposed = |at: &usize| summary.iter().any(|of| of.row == *at && of.within_noise);
    let proposed = on_front.iter().copied().filter(is_proposed).min_by_key(by_size);
    let table = SweepTable {
        format_version: SWEEP_FORMAT_VERSION,
        tool: concat!("dropcast ", env!("CARGO_PKG_VERSION")).to_owned(),
        data,
        split,
        parts: rows_by_part,
        front,
        budget: None,
        best_alpha: None,
        proposed,
        best,
        summary,
        rows,
    };
    Ok((table, models))
}
