//! Rows binned and sorted by kind.

use crate::Part;
use crate::binned::Kind;
use crate::bins::Bins;
use crate::source::RunRows;
use crate::split::Parts;
use std::cmp::Reverse;
use std::ops::Range;

/// The binned rows of a piece by kind, without those that are left out.
#[derive(Debug)]
pub(crate) struct SortedRows {
    /// The kinds in order, each with its number of rows; the one with most rows first.
    pub(crate) kinds: Vec<(Kind, usize)>,
    /// By feature, the rows' bins: those of the first kind, in the order of the piece, then those
    /// of the second, and so on.
    pub(crate) columns: Vec<Vec<u8>>,
}

/// Where the rows of a kind are in a piece.
struct Places {
    kind: Kind,
    rows: usize,
    /// Neighbouring rows of this kind.
    runs: Vec<Range<usize>>,
}

impl SortedRows {
    /// Bins rows that are for `parts`.
    pub(crate) fn of(rows: &RunRows<'_>, parts: &Parts, bins: &[Bins]) -> Self {
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

/// The places of each kind.
fn places(rows: &RunRows<'_>, parts: &Parts) -> Vec<Places> {
    let mut found: Vec<Places> = Vec::new();
    // By code, where in `found` it is.
    let mut known: Vec<u32> = Vec::new();
    let codes = codes(rows, parts);
    let mut from = 0;
    while from < codes.len() {
        let code = codes[from];
        let run = from..from + same(&codes[from..]);
        from = run.end;
        let Some(kind) = kind(rows.run, code) else { continue };
        if code as usize >= known.len() {
            known.resize(code as usize + 1, u32::MAX);
        }
        let place = &mut known[code as usize];
        if *place == u32::MAX {
            *place = found.len() as u32;
            found.push(Places { kind, rows: 0, runs: Vec::new() });
        }
        let places = &mut found[*place as usize];
        places.rows += run.len();
        places.runs.push(run);
    }
    found
}

/// What each row's kind depends on, in one number.
fn codes(rows: &RunRows<'_>, parts: &Parts) -> Vec<u32> {
    let mut codes: Vec<u32> = rows.drop.iter().map(|&drop| u32::from(drop)).collect();
    match parts {
        Parts::All(part) => codes.iter_mut().for_each(|code| *code |= (*part as u32) << 1),
        Parts::Each(parts) => {
            codes.iter_mut().zip(parts).for_each(|(code, &part)| *code |= (part as u32) << 1);
        }
    }
    if let Some(arrivals) = &rows.arrivals {
        let switches = codes.iter_mut().zip(arrivals.switch_id);
        switches.for_each(|(code, &switch)| *code |= u32::from(switch) << 3);
    }
    codes
}

/// The kind of rows with a code; `None` if they are left out.
fn kind(run: u64, code: u32) -> Option<Kind> {
    let part = [Part::Train, Part::Validation, Part::Test, Part::Gap]
        .into_iter()
        .find(|&part| part as u32 == code >> 1 & 3)
        .filter(|&part| part != Part::Gap)?;
    Some(Kind { run, switch: (code >> 3) as u16, part, drop: code & 1 == 1 })
}

/// How many codes from the first on are the same; there is one.
fn same(codes: &[u32]) -> usize {
    const AT_ONCE: usize = 16;
    let first = codes[0];
    let (blocks, _) = codes.as_chunks::<AT_ONCE>();
    let is_same =
        |block: &&[u32; AT_ONCE]| block.iter().fold(0, |differ, code| differ | (code ^ first)) == 0;
    let rows = AT_ONCE * blocks.iter().take_while(is_same).count();
    rows + codes[rows..].iter().take_while(|&&code| code == first).count()
}
