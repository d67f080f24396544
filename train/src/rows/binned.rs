//! Rows in the trainer's format: a byte per feature.

use crate::error::TrainError;
use crate::rows::row_kind::RowKind;
use crate::rows::sorted_rows::SortedRows;
use crate::rows::spill::{Spill, SpillFile};
use crate::source::PIECE_ROWS;
use dropcast_data::Threads;
use dropcast_forest::binning::Bins;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Binned rows of every run and switch, in chunks of rows of one kind. What the rows of a chunk
/// have in common is stored once: a row takes a byte per feature.
#[derive(Debug)]
pub(crate) struct BinnedRows {
    bins: Vec<Bins>,
    chunks: Vec<Chunk>,
    spill: Spill,
}

/// Neighbouring rows of one kind.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) kind: RowKind,
    /// Number of rows of this kind before this chunk.
    pub(crate) first: u64,
    pub(crate) rows: usize,
    columns: Columns,
}

#[derive(Debug)]
enum Columns {
    /// The bins of each feature.
    Here(Vec<Vec<u8>>),
    /// The bins of each feature, one feature after another, from this byte of the file.
    Spilled(u64),
}

/// A chunk in memory.
pub(crate) struct Loaded<'a> {
    pub(crate) chunk: &'a Chunk,
    pub(crate) columns: Vec<&'a [u8]>,
}

/// Maximum rows of a chunk, the unit of work of a thread and of reads from the file.
const CHUNK_ROWS: usize = PIECE_ROWS;
/// This many rows of one kind in a piece become their own chunk.
const OWN_CHUNK_ROWS: usize = CHUNK_ROWS / 2;
/// Maximum rows of a block: their intermediate results stay in the L1 cache.
pub(crate) const BLOCK_ROWS: usize = 1 << 11;

/// Neighbouring rows of a chunk.
pub(crate) struct Block<'a> {
    /// The number of its first row among the rows of its kind.
    pub(crate) first: u64,
    pub(crate) columns: Vec<&'a [u8]>,
    pub(crate) rows: usize,
}

impl<'a> Loaded<'a> {
    /// The chunk's rows in order, with only these columns.
    pub(crate) fn blocks(&self, columns: &[usize]) -> impl Iterator<Item = Block<'a>> {
        let rows = self.chunk.rows;
        (0..rows).step_by(BLOCK_ROWS).map(move |from| {
            let to = (from + BLOCK_ROWS).min(rows);
            let columns = columns.iter().map(|&at| &self.columns[at][from..to]).collect();
            Block { first: self.chunk.first + from as u64, columns, rows: to - from }
        })
    }
}

impl BinnedRows {
    /// The bins of each feature.
    pub(crate) fn bins(&self) -> &[Bins] {
        &self.bins
    }

    /// Bytes of the rows that are in memory.
    pub(crate) fn bytes_in_memory(&self) -> u64 {
        let bytes = |chunk: &Chunk| match &chunk.columns {
            Columns::Here(columns) => columns.iter().map(|column| column.len() as u64).sum(),
            Columns::Spilled(_) => 0,
        };
        self.chunks.iter().map(bytes).sum()
    }

    /// Bytes of the rows that are in a file.
    pub(crate) fn spilled_bytes(&self) -> u64 {
        self.spill.bytes()
    }

    /// Visits each chunk that is `wanted` once, on one of `threads`. Each thread has a state from
    /// `start`; the result is these states. Their order, and which thread visits which chunk, varies
    /// from run to run: callers must not depend on it.
    pub(crate) fn each_chunk<W: Send>(
        &self,
        threads: &Threads,
        wanted: impl Fn(&RowKind) -> bool,
        start: impl Fn() -> W + Sync,
        visit: impl Fn(&mut W, &Loaded<'_>) + Sync,
    ) -> Result<Vec<W>, TrainError> {
        let chunks: Vec<&Chunk> = self.chunks.iter().filter(|chunk| wanted(&chunk.kind)).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let (mut own, mut buffer) = (start(), Vec::new());
            while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                visit(&mut own, &self.load(chunk, &mut buffer)?);
            }
            Ok(own)
        };
        let workers = vec![(); threads.count().min(chunks.len()).max(1)];
        threads.map(workers, |()| work()).into_iter().collect()
    }

    fn load<'a>(
        &'a self,
        chunk: &'a Chunk,
        buffer: &'a mut Vec<u8>,
    ) -> Result<Loaded<'a>, TrainError> {
        let columns = match &chunk.columns {
            Columns::Here(columns) => columns.iter().map(Vec::as_slice).collect(),
            Columns::Spilled(from) => {
                buffer.resize(self.bins.len() * chunk.rows, 0);
                self.spill.read(*from, buffer)?;
                buffer.chunks_exact(chunk.rows).collect()
            }
        };
        Ok(Loaded { chunk, columns })
    }
}

/// Puts rows into chunks.
pub(crate) struct ChunkWriter {
    rows: BinnedRows,
    open: BTreeMap<RowKind, Open>,
    /// Bytes of rows in memory.
    bytes: u64,
    limit_bytes: u64,
}

/// A growing chunk.
#[derive(Debug)]
struct Open {
    /// Rows of this kind in complete chunks.
    before: u64,
    columns: Vec<Vec<u8>>,
}

impl Open {
    fn new(features: usize) -> Self {
        Open { before: 0, columns: vec![Vec::new(); features] }
    }

    fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }
}

impl ChunkWriter {
    /// Starts without rows. With a file, rows beyond `limit_bytes` go there.
    pub(crate) fn new(spill: Option<(u64, Box<dyn SpillFile>)>) -> Self {
        let (limit_bytes, file) =
            spill.map_or((u64::MAX, None), |(limit, file)| (limit, Some(file)));
        let rows = BinnedRows { bins: Vec::new(), chunks: Vec::new(), spill: Spill::new(file) };
        ChunkWriter { rows, open: BTreeMap::new(), bytes: 0, limit_bytes }
    }

    /// The same, where as many rows of each kind come before, elsewhere.
    pub(crate) fn after(
        mut self,
        before: impl Iterator<Item = (RowKind, u64)>,
        features: usize,
    ) -> Self {
        let open = |(kind, before)| (kind, Open { before, ..Open::new(features) });
        self.open = before.map(open).collect();
        self
    }

    /// Adds the next rows.
    pub(crate) fn add(&mut self, sorted: SortedRows) -> Result<(), TrainError> {
        let SortedRows { kinds, mut columns } = sorted;
        let mut own = None;
        let mut from = 0;
        for (kind, rows) in kinds {
            if from == 0 && rows >= OWN_CHUNK_ROWS {
                own = Some((kind, rows));
            } else {
                let rows = from..from + rows;
                let columns: Vec<&[u8]> =
                    columns.iter().map(|column| &column[rows.clone()]).collect();
                self.append(kind, &columns)?;
            }
            from += rows;
        }
        if let Some((kind, rows)) = own {
            // Many rows of one kind are not copied; the earlier rows are completed first.
            self.close(kind)?;
            for column in &mut columns {
                column.truncate(rows);
                column.shrink_to_fit();
            }
            self.bytes += (rows * columns.len()) as u64;
            self.push(kind, columns)?;
        }
        self.close_beyond_limit()
    }

    /// Adds rows of one kind to the growing chunk.
    fn append(&mut self, kind: RowKind, columns: &[&[u8]]) -> Result<(), TrainError> {
        let rows = columns.first().map_or(0, |column| column.len());
        let mut from = 0;
        while from < rows {
            let open = self.open.entry(kind).or_insert_with(|| Open::new(columns.len()));
            let to = rows.min(from + CHUNK_ROWS - open.rows());
            for (column, more) in open.columns.iter_mut().zip(columns) {
                column.extend_from_slice(&more[from..to]);
            }
            self.bytes += ((to - from) * columns.len()) as u64;
            from = to;
            if open.rows() == CHUNK_ROWS {
                self.close(kind)?;
            }
        }
        Ok(())
    }

    fn close_beyond_limit(&mut self) -> Result<(), TrainError> {
        if self.bytes <= self.limit_bytes {
            return Ok(());
        }
        // Small chunks would be slow to read back, so a few of them stay in memory.
        let full = self.open.iter().filter(|(_, open)| open.rows() >= BLOCK_ROWS);
        let full: Vec<RowKind> = full.map(|(&kind, _)| kind).collect();
        full.into_iter().try_for_each(|kind| self.close(kind))
    }

    /// Completes the growing chunk, if any.
    fn close(&mut self, kind: RowKind) -> Result<(), TrainError> {
        let Some(open) = self.open.get_mut(&kind) else { return Ok(()) };
        if open.rows() == 0 {
            return Ok(());
        }
        let fresh = vec![Vec::new(); open.columns.len()];
        let mut columns = std::mem::replace(&mut open.columns, fresh);
        columns.iter_mut().for_each(Vec::shrink_to_fit);
        self.push(kind, columns)
    }

    /// Stores the next chunk of a kind.
    fn push(&mut self, kind: RowKind, columns: Vec<Vec<u8>>) -> Result<(), TrainError> {
        let open = self.open.entry(kind).or_insert_with(|| Open::new(columns.len()));
        let (first, rows) = (open.before, columns.first().map_or(0, Vec::len));
        open.before += rows as u64;
        let columns = if self.bytes > self.limit_bytes {
            self.bytes -= (rows * columns.len()) as u64;
            Columns::Spilled(self.rows.spill.append(&columns)?)
        } else {
            Columns::Here(columns)
        };
        self.rows.chunks.push(Chunk { kind, first, rows, columns });
        Ok(())
    }

    /// All rows, which were binned by `bins`.
    pub(crate) fn finish(mut self, bins: Vec<Bins>) -> Result<BinnedRows, TrainError> {
        let open: Vec<RowKind> = self.open.keys().copied().collect();
        for kind in open {
            self.close(kind)?;
            self.open.remove(&kind);
        }
        // The largest first, so that threads finish together.
        self.rows.chunks.sort_by_key(|chunk| std::cmp::Reverse(chunk.rows));
        self.rows.bins = bins;
        Ok(self.rows)
    }
}
