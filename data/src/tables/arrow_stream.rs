//! Arrow IPC streams.
//!
//! Messages are cut out here, and one that claims too much is refused before memory is taken (Arrow Columnar Format,
//! "Encapsulated message format").

use super::arrow_claims::{
    MOST_BODY_BYTES, MOST_HEAD_BYTES, broken, check_buffers, check_order, decoded, goes_on,
    refuse_large,
};
use crate::DataError;
use crate::io::TextInput;
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::root_as_message;
use arrow_schema::SchemaRef;
use std::io::{self, Read};

/// How a message begins, and so a stream.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Whether an input that begins so is a stream of Arrow IPC.
pub(super) fn looks_like_stream(head: &[u8]) -> bool {
    head.starts_with(&CONTINUATION)
}

/// A stream whose schema has been read.
pub(crate) struct ArrowStream {
    file: String,
    input: TextInput,
    /// Has been given the beginning of the next message.
    decoder: StreamDecoder,
    ended: bool,
    /// Bytes of the dictionaries, which are kept.
    dictionary_bytes: u64,
}

impl ArrowStream {
    pub(super) fn start(file: &str, input: TextInput) -> Result<(Self, SchemaRef), DataError> {
        let mut decoder = StreamDecoder::new();
        let begun = decoder.decode(&mut Buffer::from(CONTINUATION));
        debug_assert!(begun.is_ok(), "four bytes are no message");
        let mut stream = ArrowStream {
            file: file.to_owned(),
            input,
            decoder,
            ended: false,
            dictionary_bytes: 0,
        };
        let first = stream.next_message()?;
        match stream.decoder.schema() {
            Some(schema) if first.is_none() => Ok((stream, schema)),
            _ => Err(broken(file, "does not begin with a schema")),
        }
    }

    /// The next batch; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>, DataError> {
        while !self.ended {
            if let Some(batch) = self.next_message()? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// The hash of the input, to its end.
    pub(super) fn hash(&mut self) -> Result<String, DataError> {
        io::copy(&mut self.input, &mut io::sink()).map_err(DataError::io(&self.file, "be read"))?;
        Ok(self.input.hash().unwrap_or_default().to_owned())
    }

    /// Reads a message. A schema or a dictionary gives no batch.
    fn next_message(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let Some(head_bytes) = self.head_bytes()? else {
            self.ended = true;
            self.check_end()?;
            return Ok(None);
        };
        let head = self.take(head_bytes, MOST_HEAD_BYTES)?;
        let message =
            root_as_message(&head).map_err(|_| broken(&self.file, "has a damaged message"))?;
        if let Some(schema) = message.header_as_schema() {
            check_order(&self.file, &schema)?;
        }
        let body_bytes = u64::try_from(message.bodyLength())
            .map_err(|_| broken(&self.file, "has a message of negative length"))?;
        let body = self.take(body_bytes, MOST_BODY_BYTES)?;
        check_buffers(&self.file, &message, &body, &mut self.dictionary_bytes)?;
        let length = u32::try_from(head.len()).unwrap_or(u32::MAX).to_le_bytes();
        let decoder = &mut self.decoder;
        decoded(&self.file, || {
            let mut batch = None;
            // A message without a body is decoded when the next one begins.
            for part in [length.to_vec(), head, body, CONTINUATION.to_vec()] {
                let mut part = Buffer::from_vec(part);
                while !part.is_empty() {
                    batch = decoder.decode(&mut part)?.or(batch);
                }
            }
            Ok(batch)
        })
    }

    /// After its last message a stream ends: else it is more than one.
    fn check_end(&mut self) -> Result<(), DataError> {
        let mut rest = [0];
        let read = self.input.read(&mut rest).map_err(DataError::io(&self.file, "be read"))?;
        if read == 0 { Ok(()) } else { Err(goes_on(&self.file)) }
    }

    /// Bytes of the next message's description; none at the end of the stream.
    fn head_bytes(&mut self) -> Result<Option<u64>, DataError> {
        let mut word = self.word()?;
        if word == Some(CONTINUATION) {
            word = self.word()?;
        }
        let bytes = word.map(u32::from_le_bytes);
        Ok(bytes.filter(|&bytes| bytes > 0).map(u64::from))
    }

    /// The next four bytes; none at the end of the input.
    fn word(&mut self) -> Result<Option<[u8; 4]>, DataError> {
        let mut bytes = Vec::with_capacity(4);
        let input = &mut self.input;
        input.take(4).read_to_end(&mut bytes).map_err(DataError::io(&self.file, "be read"))?;
        match <[u8; 4]>::try_from(bytes) {
            Ok(word) => Ok(Some(word)),
            Err(bytes) if bytes.is_empty() => Ok(None),
            Err(_) => Err(broken(&self.file, "ends within a message")),
        }
    }

    fn take(&mut self, bytes: u64, most: u64) -> Result<Vec<u8>, DataError> {
        refuse_large(&self.file, bytes, most)?;
        let mut taken = Vec::new();
        let input = &mut self.input;
        input.take(bytes).read_to_end(&mut taken).map_err(DataError::io(&self.file, "be read"))?;
        if (taken.len() as u64) < bytes {
            return Err(broken(&self.file, "ends within a message"));
        }
        Ok(taken)
    }
}
