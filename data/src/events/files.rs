//! Packet events of several files, merged by time.

use super::reader::{EventOptions, EventReader};
use crate::error::shown;
use crate::table::BATCH_ROWS;
use crate::{DataError, Event, EventBatch, InputProvenance, SwitchSpecs};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;

/// Files that are open at once, at most. Each holds a batch of events in memory.
const MOST_FILES: usize = 128;

/// Reads and checks the packet events of one file or several. Events of equal time come in the order
/// of the files. Each file must be sorted by time.
pub struct EventFiles {
    files: Vec<OpenFile>,
    specs: SwitchSpecs,
    /// How many columns of the user's own each event has.
    own_columns: usize,
    /// The next event of each file: its time and the place of the file.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    NotBegun,
    Reading,
    Done,
}

struct OpenFile {
    reader: EventReader,
    events: std::vec::IntoIter<Event>,
    /// The user's own columns, as in a batch.
    own: std::vec::IntoIter<u32>,
}

impl EventFiles {
    /// Opens the events at `paths`; `-` is standard input. Of several captures without rules for
    /// ports, the first is of port 0, the next of port 1, and so on.
    ///
    /// # Errors
    /// If there is no path or too many, one is given twice, a file cannot be opened, or files
    /// describe different switches.
    pub fn open(paths: &[PathBuf], options: &EventOptions) -> Result<Self, DataError> {
        let Some(first) = paths.first() else {
            return Err(DataError::file("events", "are no files", "name at least one"));
        };
        if paths.len() > MOST_FILES {
            let problem = format!("is one of {} files of events", paths.len());
            let hint =
                format!("at most {MOST_FILES} can be read at once; merge some of them first");
            return Err(DataError::file(&shown(first), problem, hint));
        }
        let mut files = Vec::new();
        for (place, path) in paths.iter().enumerate() {
            if paths[..place].contains(path) {
                return Err(DataError::file(&shown(path), "is given twice", "give it once"));
            }
            let port = if paths.len() > 1 { u16::try_from(place).ok() } else { options.port };
            let options = EventOptions { port, ..options.clone() };
            let reader = EventReader::open(path, options)?;
            let (events, own) = (Vec::new().into_iter(), Vec::new().into_iter());
            files.push(OpenFile { reader, events, own });
        }
        let specs = files[0].reader.specs().clone();
        let differs = |&place: &usize| *files[place].reader.specs() != specs;
        if let Some(place) = (1..files.len()).find(differs) {
            let problem = format!("describes other switches than {}", shown(first));
            let hint = "give one switch description for all";
            return Err(DataError::file(&shown(&paths[place]), problem, hint));
        }
        let own_columns = options.columns.own.len();
        let next = BinaryHeap::new();
        Ok(EventFiles { files, specs, own_columns, next, state: State::NotBegun })
    }

    /// The switches: those given, or those in the files.
    pub fn specs(&self) -> &SwitchSpecs {
        &self.specs
    }

    /// Whether some file can tell of push-outs, which are about packets that arrived before.
    pub fn may_push_out(&self) -> bool {
        self.files.iter().any(|file| file.reader.may_push_out())
    }

    /// Whether some file tells which packets the real switch marked (ECN).
    pub fn tells_marks(&self) -> bool {
        self.files.iter().any(|file| file.reader.tells_marks())
    }

    /// What was read of each file. Complete once the iterator has ended without an error.
    pub fn provenance(&self) -> Vec<InputProvenance> {
        self.files.iter().map(|file| file.reader.provenance()).collect()
    }

    fn next_batch(&mut self) -> Result<Option<EventBatch>, DataError> {
        if let [only] = &mut self.files[..] {
            return only.reader.next().transpose();
        }
        if self.state == State::NotBegun {
            self.state = State::Reading;
            for place in 0..self.files.len() {
                self.look_ahead(place)?;
            }
        }
        let mut batch = EventBatch::new(Vec::with_capacity(BATCH_ROWS));
        while batch.events.len() < BATCH_ROWS {
            let Some(Reverse((_, place))) = self.next.pop() else { break };
            let file = &mut self.files[place];
            batch.events.extend(file.events.next());
            batch.own.extend(file.own.by_ref().take(self.own_columns));
            self.look_ahead(place)?;
        }
        Ok((!batch.events.is_empty()).then_some(batch))
    }

    /// Notes the time of the next event of a file.
    fn look_ahead(&mut self, place: usize) -> Result<(), DataError> {
        let file = &mut self.files[place];
        while file.events.as_slice().is_empty() {
            match file.reader.next().transpose()? {
                Some(batch) => {
                    file.events = batch.events.into_iter();
                    file.own = batch.own.into_iter();
                }
                None => return Ok(()),
            }
        }
        let time_ns = file.events.as_slice()[0].time_ns;
        self.next.push(Reverse((time_ns, place)));
        Ok(())
    }
}

impl Iterator for EventFiles {
    type Item = Result<EventBatch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Done {
            return None;
        }
        let batch = self.next_batch().transpose();
        if !matches!(batch, Some(Ok(_))) {
            self.state = State::Done;
        }
        batch
    }
}
