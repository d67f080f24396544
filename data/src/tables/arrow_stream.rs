//! Arrow IPC, streams and files: a file has a stream inside.
//!
//! The library takes what a message claims for granted, so messages are cut out here, and one that
//! claims too much is refused before memory is taken (Arrow Columnar Format, "Encapsulated message
//! format").

use super::batch::BATCH_ROWS;
use crate::DataError;
use crate::io::{TextInput, guarded, is_out_of_memory};
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::{Message, MessageHeader, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use std::io::{self, BufRead, Read};

/// How an Arrow IPC file begins; zeros follow, up to the writer's alignment.
const FILE_MAGIC: &[u8] = b"ARROW1";
/// How a message begins, and so a stream.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Bytes of the description of a message, at most.
const MOST_HEAD_BYTES: u64 = 16 << 20;
/// Bytes of a file's footer, at most.
const MOST_FOOTER_BYTES: u64 = 64 << 20;
/// Bytes of a record batch, as stored, and when it is decompressed with the dictionaries before it, at most.
const MOST_BODY_BYTES: u64 = 256 << 20;

/// Whether an input that begins so is Arrow IPC.
pub(crate) fn looks_like_arrow(head: &[u8]) -> bool {
    head.starts_with(FILE_MAGIC) || head.starts_with(&CONTINUATION)
}

/// A stream whose schema has been read.
pub(crate) struct ArrowStream {
    messages: Messages,
    schema: SchemaRef,
}

/// The record batches of a stream, all columns.
pub(crate) struct ArrowBatches {
    messages: Messages,
    /// What is left of a batch of more than [`BATCH_ROWS`] rows.
    rest: Option<RecordBatch>,
}

struct Messages {
    file: String,
    input: TextInput,
    /// Has been given the beginning of the next message.
    decoder: StreamDecoder,
    /// Whether the stream is in a file, which goes on with a footer.
    is_file: bool,
    ended: bool,
    /// Bytes of the dictionaries, which are kept.
    dictionary_bytes: u64,
}

impl ArrowStream {
    pub(crate) fn start(file: &str, mut input: TextInput) -> Result<Self, DataError> {
        let head = input.peek().map_err(DataError::io(file, "be read"))?;
        let is_file = head.starts_with(FILE_MAGIC);
        if is_file {
            let zeros = head[FILE_MAGIC.len()..].iter().take_while(|&&byte| byte == 0).count();
            input.consume(FILE_MAGIC.len() + zeros);
        }
        let mut decoder = StreamDecoder::new();
        let begun = decoder.decode(&mut Buffer::from(CONTINUATION));
        debug_assert!(begun.is_ok(), "four bytes are no message");
        let mut messages = Messages {
            file: file.to_owned(),
            input,
            decoder,
            is_file,
            ended: false,
            dictionary_bytes: 0,
        };
        let first = messages.next()?;
        match messages.decoder.schema() {
            Some(schema) if first.is_none() => Ok(ArrowStream { messages, schema }),
            _ => Err(messages.broken("does not begin with a schema")),
        }
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(crate) fn read(self) -> ArrowBatches {
        ArrowBatches { messages: self.messages, rest: None }
    }
}

impl ArrowBatches {
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        while self.rest.is_none() && !self.messages.ended {
            self.rest = self.messages.next()?.filter(|batch| batch.num_rows() > 0);
        }
        let Some(batch) = self.rest.take() else { return Ok(None) };
        let rows = batch.num_rows().min(BATCH_ROWS);
        if rows < batch.num_rows() {
            self.rest = Some(batch.slice(rows, batch.num_rows() - rows));
        }
        Ok(Some(batch.slice(0, rows)))
    }

    /// The hash of the input, to its end.
    pub(crate) fn hash(&mut self) -> Result<String, DataError> {
        let messages = &mut self.messages;
        io::copy(&mut messages.input, &mut io::sink())
            .map_err(DataError::io(&messages.file, "be read"))?;
        Ok(messages.input.hash().unwrap_or_default().to_owned())
    }
}

impl Messages {
    /// Reads a message. A schema or a dictionary gives no batch.
    fn next(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let Some(head_bytes) = self.head_bytes()? else {
            self.ended = true;
            self.check_end()?;
            return Ok(None);
        };
        let head = self.take(head_bytes, MOST_HEAD_BYTES)?;
        let message = root_as_message(&head).map_err(|_| self.broken("has a damaged message"))?;
        let body_bytes = u64::try_from(message.bodyLength())
            .map_err(|_| self.broken("has a message of negative length"))?;
        let body = self.take(body_bytes, MOST_BODY_BYTES)?;
        let unpacked = unpacked_bytes(&message, &body)
            .ok_or_else(|| self.broken("has a message with damaged buffers"))?;
        self.refuse_large(self.dictionary_bytes.saturating_add(unpacked), MOST_BODY_BYTES)?;
        if message.header_type() == MessageHeader::DictionaryBatch {
            self.dictionary_bytes += unpacked;
        }
        let length = u32::try_from(head.len()).unwrap_or(u32::MAX).to_le_bytes();
        let decoder = &mut self.decoder;
        let decode = || -> Result<Option<RecordBatch>, ArrowError> {
            let mut batch = None;
            // A message without a body is decoded when the next one begins.
            for part in [length.to_vec(), head, body, CONTINUATION.to_vec()] {
                let mut part = Buffer::from_vec(part);
                while !part.is_empty() {
                    batch = decoder.decode(&mut part)?.or(batch);
                }
            }
            Ok(batch)
        };
        let stopped = |problem| Err(ArrowError::IpcError(problem));
        guarded(decode).unwrap_or_else(stopped).map_err(|error| match is_out_of_memory(&error) {
            true => DataError::io(&self.file, "be read")(io::ErrorKind::OutOfMemory.into()),
            false => self.broken(&format!("is damaged ({error})")),
        })
    }

    /// After its last message a stream ends, and a file with a footer: else it is cut, or more than one.
    fn check_end(&mut self) -> Result<(), DataError> {
        let mut rest = Vec::new();
        let most = if self.is_file { MOST_FOOTER_BYTES } else { 1 };
        let input = &mut self.input;
        input.take(most).read_to_end(&mut rest).map_err(DataError::io(&self.file, "be read"))?;
        let goes_on = || {
            let hint = "give the streams or files that were put together one by one";
            DataError::file(&self.file, "goes on after the end of its rows", hint)
        };
        if !self.is_file {
            return if rest.is_empty() { Ok(()) } else { Err(goes_on()) };
        }
        let footer = rest.strip_suffix(FILE_MAGIC).and_then(|rest| rest.split_last_chunk::<4>());
        match footer {
            Some((footer, length))
                if footer.len() as u64 == u64::from(u32::from_le_bytes(*length)) =>
            {
                Ok(())
            }
            _ if rest.is_empty() => {
                let hint = "the program that wrote it did not come to its end; make it again";
                Err(DataError::file(
                    &self.file,
                    "ends without a footer, and perhaps before its last rows",
                    hint,
                ))
            }
            _ => Err(goes_on()),
        }
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
            Err(_) => Err(self.broken("ends within a message")),
        }
    }

    fn take(&mut self, bytes: u64, most: u64) -> Result<Vec<u8>, DataError> {
        self.refuse_large(bytes, most)?;
        let mut taken = Vec::new();
        let input = &mut self.input;
        input.take(bytes).read_to_end(&mut taken).map_err(DataError::io(&self.file, "be read"))?;
        if (taken.len() as u64) < bytes {
            return Err(self.broken("ends within a message"));
        }
        Ok(taken)
    }

    fn refuse_large(&self, bytes: u64, most: u64) -> Result<(), DataError> {
        if bytes <= most {
            return Ok(());
        }
        let problem = format!("has a message that claims {bytes} bytes, expected at most {most}");
        Err(DataError::file(&self.file, problem, "write record batches of fewer rows"))
    }

    fn broken(&self, problem: &str) -> DataError {
        let hint = "expected an Arrow IPC stream or file; make or copy it again";
        DataError::file(&self.file, problem, hint)
    }
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
