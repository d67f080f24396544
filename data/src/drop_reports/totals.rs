//! What became of reports that several runs share.

use super::files::DropReports;
use super::join::{OTHER_PORT, OTHER_TIME, UNMATCHED};
use crate::{InputNote, InputProvenance};
use std::collections::BTreeMap;

impl DropReports {
    /// What became of the reports of each file, given that of each run: reports of another time are those that no run
    /// has a packet near.
    pub fn of_runs<'a>(
        &self,
        runs: impl IntoIterator<Item = &'a [InputProvenance]>,
    ) -> Vec<InputProvenance> {
        let mut all = self.inputs().to_vec();
        let mut others = self.counts();
        let of_run = |run: &'a [InputProvenance]| run.iter().enumerate();
        for (file, input) in runs.into_iter().flat_map(of_run) {
            let count = |name: &str| input.skipped.get(name).copied().unwrap_or(0);
            let total = &mut all[file];
            total.events += input.events;
            for name in [UNMATCHED, OTHER_PORT] {
                add(&mut total.skipped, name.to_owned(), count(name));
            }
            let ambiguous = input.notes.get(&InputNote::AmbiguousReport).copied();
            add(&mut total.notes, InputNote::AmbiguousReport, ambiguous.unwrap_or(0));
            // A report at the end of one run may be near the begin of the next, too.
            let near = input.events + count(UNMATCHED) + count(OTHER_PORT);
            others[file] = others[file].saturating_sub(near);
        }
        for (total, others) in all.iter_mut().zip(others) {
            add(&mut total.skipped, OTHER_TIME.to_owned(), others);
        }
        all
    }

    /// How many reports each file has.
    fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.inputs().len()];
        self.read.reports.iter().for_each(|(file, _)| counts[*file] += 1);
        counts
    }
}

fn add<T: Ord>(counts: &mut BTreeMap<T, u64>, what: T, more: u64) {
    if more > 0 {
        *counts.entry(what).or_insert(0) += more;
    }
}
