//! The rows as the trainer keeps them: a byte per feature and one for the rest.

use crate::bins::Bins;
use crate::{Part, RowId};
use std::collections::BTreeMap;
use std::ops::Range;

/// Binned rows of every run and switch. Takes as many bytes a row as there are features, and one:
/// a row's identity is its place, and what is random about it is computed from that.
#[derive(Debug)]
pub(crate) struct BinnedRows {
    bins: Vec<Bins>,
    groups: BTreeMap<(u64, u16), Group>,
}

/// The rows of one switch in one run, in order and without gaps.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) run: u64,
    pub(crate) switch: u16,
    /// The bins of each feature.
    pub(crate) columns: Vec<Vec<u8>>,
    /// The label and the part of each row.
    pub(crate) marks: Vec<Mark>,
}

/// The label and the part of a row in a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(u8);

impl Mark {
    const DROP: u8 = 1;
    const TRAIN: u8 = 2;
    const TEST: u8 = 4;
    const VALIDATION: u8 = 8;

    fn new(drop: bool, part: Part) -> Self {
        let part = match part {
            Part::Train => Mark::TRAIN,
            Part::Test => Mark::TEST,
            Part::Validation => Mark::VALIDATION,
            Part::Gap => 0,
        };
        Mark(part | if drop { Mark::DROP } else { 0 })
    }

    pub(crate) fn is_drop(self) -> bool {
        self.0 & Mark::DROP != 0
    }

    /// 0 accepted, 1 dropped.
    pub(crate) fn class(self) -> usize {
        usize::from(self.0 & Mark::DROP)
    }

    pub(crate) fn is_train(self) -> bool {
        self.0 & Mark::TRAIN != 0
    }

    pub(crate) fn is_validation(self) -> bool {
        self.0 & Mark::VALIDATION != 0
    }

    pub(crate) fn is_test(self) -> bool {
        self.0 & Mark::TEST != 0
    }
}

/// Neighbouring rows of a group: what a thread works on at a time.
#[derive(Clone, Debug)]
pub(crate) struct Block<'a> {
    pub(crate) group: &'a Group,
    pub(crate) rows: Range<usize>,
}

/// Rows of a block at most: what is gathered about them stays in the nearest cache.
pub(crate) const BLOCK_ROWS: usize = 4096;

impl BinnedRows {
    /// No rows yet, to be binned by `bins`.
    pub(crate) fn new(bins: Vec<Bins>) -> Self {
        BinnedRows { bins, groups: BTreeMap::new() }
    }

    /// Adds rows: `ids` their names, `features` their columns.
    pub(crate) fn add(
        &mut self,
        ids: &[RowId],
        features: &[Vec<u32>],
        drop: &[bool],
        parts: &[Part],
    ) {
        let mut from = 0;
        for same in ids.chunk_by(|a, b| (a.run, a.switch) == (b.run, b.switch)) {
            let rows = from..from + same.len();
            from = rows.end;
            let RowId { run, switch, .. } = same[0];
            let group = self.groups.entry((run, switch)).or_insert_with(|| Group {
                run,
                switch,
                columns: vec![Vec::new(); self.bins.len()],
                marks: Vec::new(),
            });
            for ((column, values), bins) in group.columns.iter_mut().zip(features).zip(&self.bins) {
                column.extend(values[rows.clone()].iter().map(|&value| bins.bin(value)));
            }
            let marks = drop[rows.clone()].iter().zip(&parts[rows]);
            group.marks.extend(marks.map(|(&drop, &part)| Mark::new(drop, part)));
        }
    }

    /// Number of features.
    pub(crate) fn features(&self) -> usize {
        self.bins.len()
    }

    /// The bins of each feature.
    pub(crate) fn bins(&self) -> &[Bins] {
        &self.bins
    }

    /// All rows, in blocks.
    pub(crate) fn blocks(&self) -> Vec<Block<'_>> {
        let blocks = |group| {
            let rows = Group::len(group);
            (0..rows)
                .step_by(BLOCK_ROWS)
                .map(move |from| Block { group, rows: from..(from + BLOCK_ROWS).min(rows) })
        };
        self.groups.values().flat_map(blocks).collect()
    }
}

impl Group {
    fn len(&self) -> usize {
        self.marks.len()
    }
}

/// Runs `work` on an equal share of `items` on each of `threads` threads; the results, in order.
pub(crate) fn on_threads<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    let share = items.len().div_ceil(threads).max(1);
    if threads <= 1 || items.len() <= share {
        return vec![work(items)];
    }
    std::thread::scope(|scope| {
        let work = &work;
        let started: Vec<_> =
            items.chunks(share).map(|items| scope.spawn(move || work(items))).collect();
        let finish = |thread: std::thread::ScopedJoinHandle<'_, R>| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        started.into_iter().map(finish).collect()
    })
}
