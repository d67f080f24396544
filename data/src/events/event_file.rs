//! One of several files of events: closed until its first event is due, then read ahead.

use super::format::EventOptions;
use super::reader::EventReader;
use crate::capture::Sight;
use crate::io::objects;
use crate::{DataError, Event};
use std::path::{Path, PathBuf};

/// A file, and what is read ahead of it.
pub(super) struct EventFile {
    /// Closed before its first event is due, and after its last.
    pub(super) reader: EventReader,
    /// How to open it when its first event is due.
    pub(super) parked: Option<Box<Parked>>,
    pub(super) events: std::vec::IntoIter<Event>,
    /// The user's own columns, as in a batch.
    pub(super) own: std::vec::IntoIter<u32>,
    /// Of a capture, what each event's packet says of itself.
    pub(super) sights: std::vec::IntoIter<(u32, Sight)>,
}

/// A file that was looked into and closed.
pub(super) struct Parked {
    pub(super) path: PathBuf,
    pub(super) options: EventOptions,
    pub(super) first_ns: u64,
}

impl EventFile {
    pub(super) fn new(reader: EventReader) -> Self {
        let (events, own) = (Vec::new().into_iter(), Vec::new().into_iter());
        EventFile { reader, parked: None, events, own, sights: Vec::new().into_iter() }
    }

    /// Learns when its first event is, and closes it.
    pub(super) fn park(&mut self, path: &Path, options: EventOptions) -> Result<(), DataError> {
        if !can_be_opened_again(path) {
            return Ok(());
        }
        let first = self.reader.next().transpose()?;
        self.reader.close();
        // Without an event it is due at once, so that what it has beside events is read.
        let first_ns = first.map_or(0, |batch| batch.events[0].time_ns);
        self.parked = Some(Box::new(Parked { path: path.to_owned(), options, first_ns }));
        Ok(())
    }

    /// The time of its next event; none after the last, when it is closed.
    pub(super) fn next_ns(&mut self) -> Result<Option<u64>, DataError> {
        while self.events.as_slice().is_empty() {
            let Some(batch) = self.reader.next().transpose()? else {
                self.reader.close();
                return Ok(None);
            };
            self.events = batch.events.into_iter();
            self.sights = self.reader.take_sights().into_iter();
            self.own = batch.own.into_iter();
        }
        Ok(Some(self.events.as_slice()[0].time_ns))
    }
}

/// Whether a file gives the same bytes a second time: no standard input, no pipe.
fn can_be_opened_again(path: &Path) -> bool {
    objects::is_object(path) || path.metadata().is_ok_and(|found| found.is_file())
}
