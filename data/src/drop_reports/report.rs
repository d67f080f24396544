//! A report of a packet that was dropped, and what is wrong with others.

use super::cause::DropCause;
use crate::tables::BadCell;
use crate::{DataError, OnBadRow, RowPlace};
use std::collections::BTreeMap;

/// A packet that was dropped, and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DropReport {
    /// When, since 1970.
    pub(crate) time_ns: u64,
    pub(crate) cause: DropCause,
    /// 0 if it has no IP header.
    pub(crate) flow_hash: u64,
    /// Its size on the wire, without the checksum.
    pub(crate) size_bytes: Option<u32>,
    /// 0 if not known.
    pub(crate) ip_id: u16,
    /// Bytes after its IP header.
    pub(crate) payload_bytes: Option<u16>,
    /// Its first byte's number, of TCP.
    pub(crate) sequence: Option<u32>,
    /// The output port.
    pub(crate) port: Option<u16>,
    /// The queue there.
    pub(crate) queue: Option<u8>,
}

/// What is known of a file once it is read.
pub(super) struct OneFile {
    pub(super) sha256: String,
    pub(super) skipped: BTreeMap<String, u64>,
    /// Reports that the switch did not make, or that did not come.
    pub(super) missing: u64,
    /// Whether it would have reports if there were drops.
    pub(super) is_of_reports: bool,
}

/// Stops at rows that are wrong, or counts them.
pub(super) struct Badness<'a> {
    file: &'a str,
    on_bad_row: OnBadRow,
    pub(super) skipped: BTreeMap<String, u64>,
}

impl<'a> Badness<'a> {
    pub(super) fn new(file: &'a str, on_bad_row: OnBadRow) -> Self {
        Badness { file, on_bad_row, skipped: BTreeMap::new() }
    }

    pub(super) fn note(
        &mut self,
        row: u64,
        place: Option<RowPlace>,
        field: &str,
        cell: &BadCell,
    ) -> Result<(), DataError> {
        match self.on_bad_row {
            OnBadRow::Fail => Err(DataError::Row {
                file: self.file.to_owned(),
                row,
                place,
                field: field.to_owned(),
                problem: cell.to_string(),
            }),
            OnBadRow::Skip => {
                *self.skipped.entry(cell.reason().to_owned()).or_insert(0) += 1;
                Ok(())
            }
        }
    }
}
