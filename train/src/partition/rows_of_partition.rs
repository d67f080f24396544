//! A partition: some of the rows, which answer questions.

use super::answer::{Answer, Values};
use super::bytes::decode;
use super::placed_rows::PlacedRows;
use super::question::{Asks, Binning, Division, Question, Reading, Scoring};
use crate::bins::sketch::ValueSketch;
use crate::growth::forest_scores::scores_of_prefixes;
use crate::growth::histogram::count_level;
use crate::growth::part_scores::PartScores;
use crate::row_numbers::RowNumbers;
use crate::rows::binned::{BinnedRows, ChunkWriter};
use crate::rows::sorted_rows::kinds;
use crate::source::each_gathered;
use crate::splits::{RunTimes, SplitPlan};
use crate::training_rows::{Pass, bin_rows, count_values};
use crate::{BatchSource, SpillFile, TrainError};
use dropcast_data::Threads;
use dropcast_forest::binning::Bins;
use std::fmt;
use std::io;
use std::num::NonZeroUsize;

/// Opens an empty file for rows that do not fit into memory.
type OpenSpill = Box<dyn Fn() -> io::Result<Box<dyn SpillFile>> + Send + Sync>;

/// Some of the rows that a forest is trained on: those of a file, of part of a file, or of many.
///
/// It answers the questions of a [`PartitionedFit`](crate::PartitionedFit). Once rows are binned, it
/// keeps them, one byte per row and feature, for the next questions. A partition that begins anew
/// reads its source again and answers the same.
pub struct Partition<S> {
    source: S,
    place: u64,
    threads: Threads,
    spill: Option<(u64, OpenSpill)>,
    kept: Option<Kept>,
}

/// Binned rows, and how they were read and binned.
struct Kept {
    reading: Reading,
    binning: Binning,
    rows: BinnedRows,
}

impl<S: BatchSource> Partition<S> {
    /// The rows of `source`, on this many threads.
    ///
    /// Rows of one run and switch may be in several partitions: those in the partition with the
    /// lower `place` come before those in the one with the higher. No two partitions have the same
    /// place.
    pub fn new(source: S, place: u64, threads: NonZeroUsize) -> Self {
        Partition { source, place, threads: Threads::new(threads), spill: None, kept: None }
    }

    /// Keeps only about `limit_bytes` of its binned rows in memory; the others go to a file that
    /// `open` opens.
    pub fn spilling(
        self,
        limit_bytes: u64,
        open: impl Fn() -> io::Result<Box<dyn SpillFile>> + Send + Sync + 'static,
    ) -> Self {
        Partition { spill: Some((limit_bytes, Box::new(open))), ..self }
    }

    /// The answer to a question, for [`merge_answers`](crate::merge_answers).
    ///
    /// # Errors
    /// [`TrainError::Message`] if these are not the bytes of a question, and those of the source.
    pub fn answer(&mut self, question: &[u8]) -> Result<Vec<u8>, TrainError> {
        let question: Question = decode("a question", question)?;
        if !question.is_sound() {
            let problem = "is damaged: its parts do not fit together".to_owned();
            return Err(TrainError::Message { what: "a question", problem });
        }
        let Question { reading, asks } = question;
        let answer = match asks {
            Asks::Rows => Answer::Rows(self.rows(&reading)?),
            Asks::Times(rows) => Answer::Times(self.times(&reading, &rows)?),
            Asks::Values(division) => Answer::Values(self.values(&reading, division)?),
            Asks::Counts(binning, level) => {
                self.keep(reading, binning)?;
                Answer::Counts(count_level(self.kept()?, &level, &self.threads)?)
            }
            Asks::Scores(binning, forests) => {
                self.keep(reading, binning)?;
                Answer::Scores(self.scores(&forests)?)
            }
        };
        Ok(answer.to_bytes())
    }

    /// Bytes of binned rows in memory.
    pub fn bytes_in_memory(&self) -> u64 {
        self.kept.as_ref().map_or(0, |kept| kept.rows.bytes_in_memory())
    }

    /// Bytes of binned rows in a file.
    pub fn spilled_bytes(&self) -> u64 {
        self.kept.as_ref().map_or(0, |kept| kept.rows.spilled_bytes())
    }

    fn rows(&self, reading: &Reading) -> Result<PlacedRows<(u64, u16)>, TrainError> {
        let mut numbers = RowNumbers::default();
        each_gathered(&self.source, reading.features, |pieces| {
            pieces.iter().for_each(|rows| drop(numbers.number(rows)));
            Ok(())
        })?;
        Ok(PlacedRows::of_partition(self.place, numbers.rows()))
    }

    fn times(
        &self,
        reading: &Reading,
        rows: &PlacedRows<(u64, u16)>,
    ) -> Result<RunTimes, TrainError> {
        let Reading { features, split, .. } = reading;
        let before = RowNumbers::after(rows.before(self.place));
        RunTimes::read_some(&self.source, *features, split, before, &rows.totals())
    }

    fn values(&self, reading: &Reading, division: Division) -> Result<Values, TrainError> {
        self.pass(reading, division, |pass| {
            let mut found = PlacedRows::default();
            let (sketches, rows) = count_values(pass, kinds, |kinds| {
                for (kind, rows) in kinds {
                    found.add(kind, self.place, rows as u64);
                }
            })?;
            let features = sketches.into_iter().map(ValueSketch::finish).collect();
            Ok(Values { rows, kinds: found, features })
        })
    }

    /// Reads and bins the rows, unless they are there already.
    fn keep(&mut self, reading: Reading, binning: Binning) -> Result<(), TrainError> {
        if self.kept.as_ref().is_some_and(|kept| kept.reading == reading && kept.binning == binning)
        {
            return Ok(());
        }
        self.kept = None;
        let spill = match &self.spill {
            Some((limit_bytes, open)) => Some((*limit_bytes, open().map_err(TrainError::Spill)?)),
            None => None,
        };
        let bins: Vec<Bins> = binning.edges.iter().cloned().map(Bins::new).collect();
        let before = binning.kinds.before(self.place).into_iter();
        let writer = ChunkWriter::new(spill).after(before, reading.features);
        let rows =
            self.pass(&reading, binning.division.clone(), |pass| bin_rows(pass, &bins, writer))?;
        self.kept = Some(Kept { reading, binning, rows });
        Ok(())
    }

    fn kept(&self) -> Result<&BinnedRows, TrainError> {
        self.kept.as_ref().map(|kept| &kept.rows).ok_or(TrainError::SourceChanged)
    }

    fn scores(&self, forests: &[Scoring]) -> Result<Vec<Vec<PartScores>>, TrainError> {
        let rows = self.kept()?;
        let scores = |Scoring { columns, trees, sizes }: &Scoring| {
            scores_of_prefixes(rows, columns, trees, sizes, &self.threads)
        };
        forests.iter().map(scores).collect()
    }

    /// Works with a pass over the source.
    fn pass<T>(
        &self,
        reading: &Reading,
        division: Division,
        work: impl FnOnce(&Pass<'_, S>) -> Result<T, TrainError>,
    ) -> Result<T, TrainError> {
        let Division { rows, cuts } = division;
        let Self { source, place, threads, .. } = self;
        work(&Pass {
            source,
            features: reading.features,
            plan: &SplitPlan::with_cuts(&reading.split, reading.seed, cuts),
            before: &RowNumbers::after(rows.before(*place)),
            threads,
        })
    }
}

impl<S> fmt::Debug for Partition<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partition").field("place", &self.place).finish_non_exhaustive()
    }
}
