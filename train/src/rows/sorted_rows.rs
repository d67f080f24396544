//! Rows binned and sorted by kind.

use crate::Part;
use crate::rows::row_kind::RowKind;
use crate::source::RunRows;
use crate::splits::Parts;
use dropcast_forest::binning::Bins;
use std::cmp::Reverse;
use std::ops::Range;

/// The binned rows of a piece by kind, without the rows left out.
#[derive(Debug)]
pub(crate) struct SortedRows {
    /// The kinds with their numbers of rows, the kind with most rows first.
    pub(crate) kinds: Vec<(RowKind, usize)>,
    /// By feature, the rows' bins: of the first kind, in the order of the piece, then of the
    /// second, and so on.
    pub(crate) columns: Vec<Vec<u8>>,
}

/// The positions of a kind's rows in a piece.
struct Places {
    kind: RowKind,
    rows: usize,
    /// Neighbouring rows of this kind.
    runs: Vec<Range<usize>>,
}

impl SortedRows {
    /// Bins rows that are for `parts`.
    pub(crate) fn new(rows: &RunRows<'_>, parts: &Parts, bins: &[Bins]) -> Self {
        let mut places = places(rows, parts);
        places.sort_by_key(|places| Reverse(places.rows));
        let kept = places.iter().map(|places| places.rows).sum();
        let mut unsorted = Vec::new();
        let column = |(bins, values): (&Bins, &&[u32])| {
            bins.bin_all(values, &mut unsorted);
            let mut sorted = Vec::with_capacity(kept);
            for run in places.iter().flat_map(|places| &places.runs) {
                sorted.extend_from_slice(&unsorted[run.clone()]);
            }
            sorted
        };
        let columns = bins.iter().zip(&rows.features).map(column).collect();
        let kinds = places.iter().map(|places| (places.kind, places.rows)).collect();
        SortedRows { kinds, columns }
    }
}

/// The kinds of rows with their numbers of rows, without the rows left out.
pub(crate) fn kinds(rows: &RunRows<'_>, parts: &Parts) -> Vec<(RowKind, usize)> {
    places(rows, parts).into_iter().map(|places| (places.kind, places.rows)).collect()
}

/// The positions of each kind.
fn places(rows: &RunRows<'_>, parts: &Parts) -> Vec<Places> {
    let mut found = FoundPlaces { run: rows.run, places: Vec::new(), known: Vec::new() };
    let codes = codes(rows, parts);
    match &rows.arrivals {
        None => found.add(0, 0, &codes),
        Some(arrivals) => {
            let mut from = 0;
            for same in arrivals.switch_id.chunk_by(|a, b| a == b) {
                found.add(same[0], from, &codes[from..from + same.len()]);
                from += same.len();
            }
        }
    }
    found.places
}

/// Places of a run.
struct FoundPlaces {
    run: u64,
    places: Vec<Places>,
    /// By switch and code, the index of their kind.
    known: Vec<u32>,
}

impl FoundPlaces {
    /// Adds neighbouring rows of a switch, from row `first` on.
    fn add(&mut self, switch: u16, first: usize, codes: &[u8]) {
        let mut from = 0;
        while from < codes.len() {
            let code = codes[from];
            let to = from + same(&codes[from..]);
            if let Some(places) = self.find(switch, code) {
                places.rows += to - from;
                places.runs.push(first + from..first + to);
            }
            from = to;
        }
    }

    /// The index of the kind of a switch's rows with a code; `None` if they are left out.
    fn find(&mut self, switch: u16, code: u8) -> Option<&mut Places> {
        let at = usize::from(switch) << 3 | usize::from(code);
        if at >= self.known.len() {
            self.known.resize(at + 1, u32::MAX);
        }
        if self.known[at] == u32::MAX {
            let part = [Part::Train, Part::Validation, Part::Test]
                .into_iter()
                .find(|&part| part as u8 == code >> 1)?;
            self.known[at] = self.places.len() as u32;
            let kind = RowKind { run: self.run, switch, part, drop: code & 1 == 1 };
            self.places.push(Places { kind, rows: 0, runs: Vec::new() });
        }
        self.places.get_mut(self.known[at] as usize)
    }
}

/// The part and class of each row in one number.
fn codes(rows: &RunRows<'_>, parts: &Parts) -> Vec<u8> {
    let code = |part: Part, drop: bool| (part as u8) << 1 | u8::from(drop);
    match parts {
        Parts::All(part) => rows.drop.iter().map(|&drop| code(*part, drop)).collect(),
        Parts::Each(parts) => {
            parts.iter().zip(rows.drop).map(|(&part, &drop)| code(part, drop)).collect()
        }
    }
}

/// The length of the first run of equal codes, at least 1.
fn same(codes: &[u8]) -> usize {
    const AT_ONCE: usize = 32;
    let first = codes[0];
    let (blocks, _) = codes.as_chunks::<AT_ONCE>();
    let is_same =
        |block: &&[u8; AT_ONCE]| block.iter().fold(0, |differ, code| differ | (code ^ first)) == 0;
    let rows = AT_ONCE * blocks.iter().take_while(is_same).count();
    rows + codes[rows..].iter().take_while(|&&code| code == first).count()
}
