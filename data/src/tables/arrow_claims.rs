//! What Arrow IPC claims, checked before memory is taken: the library takes it for granted.

use crate::DataError;
use crate::io::{guarded, is_out_of_memory};
use arrow_ipc::{Message, MessageHeader, Schema};
use arrow_schema::ArrowError;
use std::io;

/// Bytes of the description of a message, at most.
pub(super) const MOST_HEAD_BYTES: u64 = 16 << 20;
/// Bytes of a record batch, as stored, and when it is decompressed with the dictionaries before it, at most.
pub(super) const MOST_BODY_BYTES: u64 = 256 << 20;

pub(super) fn refuse_large(file: &str, bytes: u64, most: u64) -> Result<(), DataError> {
    if bytes <= most {
        return Ok(());
    }
    let problem = format!("has a message that claims {bytes} bytes, expected at most {most}");
    Err(DataError::file(file, problem, "write record batches of fewer rows"))
}

pub(super) fn broken(file: &str, problem: &str) -> DataError {
    let hint = "expected an Arrow IPC stream or file; make or copy it again";
    DataError::file(file, problem, hint)
}

/// Refuses numbers in the other byte order, which would be read as others.
pub(super) fn check_order(file: &str, schema: &Schema<'_>) -> Result<(), DataError> {
    match schema.endianness().equals_to_target_endianness() {
        true => Ok(()),
        false => Err(DataError::file(file, "is big-endian", "write it in little-endian order")),
    }
}

/// Refuses a message whose buffers are not within its body, or claim too much with the dictionaries before it, which are kept.
pub(super) fn check_buffers(
    file: &str,
    message: &Message<'_>,
    body: &[u8],
    dictionary_bytes: &mut u64,
) -> Result<(), DataError> {
    let unpacked = unpacked_bytes(message, body)
        .ok_or_else(|| broken(file, "has a message with damaged buffers"))?;
    refuse_large(file, dictionary_bytes.saturating_add(unpacked), MOST_BODY_BYTES)?;
    if message.header_type() == MessageHeader::DictionaryBatch {
        *dictionary_bytes += unpacked;
    }
    Ok(())
}

/// Runs a step of the library.
pub(super) fn decoded<T>(
    file: &str,
    step: impl FnOnce() -> Result<T, ArrowError>,
) -> Result<T, DataError> {
    let stopped = |problem| Err(ArrowError::IpcError(problem));
    guarded(step).unwrap_or_else(stopped).map_err(|error| match is_out_of_memory(&error) {
        true => DataError::io(file, "be read")(io::ErrorKind::OutOfMemory.into()),
        false => broken(file, &format!("is damaged ({error})")),
    })
}

/// Bytes that the buffers of a message claim to take when they are decompressed. `None` if they are
/// not within its body.
fn unpacked_bytes(message: &Message<'_>, body: &[u8]) -> Option<u64> {
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch()?.data(),
        _ => return Some(0),
    }?;
    let mut all: u64 = 0;
    for buffer in batch.buffers()? {
        let (offset, length) =
            (usize::try_from(buffer.offset()).ok()?, usize::try_from(buffer.length()).ok()?);
        let bytes = body.get(offset..offset.checked_add(length)?)?;
        let claimed = match (batch.compression(), bytes.first_chunk::<8>()) {
            (Some(_), Some(&claim)) => match i64::from_le_bytes(claim) {
                // Stored as it is.
                -1 => length as u64,
                claim => u64::try_from(claim).ok()?,
            },
            _ => length as u64,
        };
        all = all.checked_add(claimed)?;
    }
    Some(all)
}

/// What follows is not read.
pub(super) fn goes_on(file: &str) -> DataError {
    let hint = "give the streams or files that were put together one by one";
    DataError::file(file, "goes on after the end of its rows", hint)
}
