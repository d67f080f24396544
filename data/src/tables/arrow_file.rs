//! Arrow IPC files, by their footer, which says where batches are: in any order, and whether or not a whole stream is inside
//! (Arrow Columnar Format, "IPC File Format").

use super::arrow_claims::{
    MOST_BODY_BYTES, MOST_HEAD_BYTES, broken, check_buffers, check_order, decoded, goes_on,
    refuse_large,
};
use crate::DataError;
use crate::io::FileHash;
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, root_as_footer, root_as_message};
use arrow_schema::SchemaRef;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

/// How a file begins and ends.
pub(super) const FILE_MAGIC: &[u8] = b"ARROW1";
/// Bytes of a file's footer, at most.
const MOST_FOOTER_BYTES: u64 = 64 << 20;
/// Bytes of the footer's length and of the magic after it.
const END_BYTES: usize = 10;
/// Bytes between the last batch and the footer, at most, beside as many as the footer has: padding, the mark of a stream's
/// end, and in a file without batches the schema. With more, a file follows another.
const MOST_PADDING: u64 = 128;

/// A file whose schema has been read.
pub(crate) struct ArrowFile {
    file: String,
    opened: File,
    hash: Option<FileHash>,
    decoder: FileDecoder,
    dictionaries: std::vec::IntoIter<Block>,
    batches: std::vec::IntoIter<Block>,
    /// Bytes of the dictionaries, which are kept.
    dictionary_bytes: u64,
}

impl ArrowFile {
    pub(super) fn open(
        file: &str,
        mut opened: File,
        hash: FileHash,
    ) -> Result<(Self, SchemaRef), DataError> {
        let (footer, at) = read_footer(file, &mut opened)?;
        let damaged = || broken(file, "has a damaged footer");
        let parsed = root_as_footer(&footer).map_err(|_| damaged())?;
        let schema = parsed.schema().ok_or_else(damaged)?;
        check_order(file, &schema)?;
        let schema: SchemaRef = decoded(file, || Ok(Arc::new(fb_to_schema(schema))))?;
        let [dictionaries, batches] = [parsed.dictionaries(), parsed.recordBatches()]
            .map(|blocks| blocks.into_iter().flatten().copied().collect::<Vec<Block>>());
        let end = end_of_blocks(&[&dictionaries[..], &batches].concat(), at)
            .ok_or_else(|| broken(file, "has batches that overlap or are not within it"))?;
        if at - end > footer.len() as u64 + MOST_PADDING {
            return Err(goes_on(file));
        }
        let opened = ArrowFile {
            file: file.to_owned(),
            opened,
            hash: Some(hash),
            decoder: FileDecoder::new(schema.clone(), parsed.version()),
            dictionaries: dictionaries.into_iter(),
            batches: batches.into_iter(),
            dictionary_bytes: 0,
        };
        Ok((opened, schema))
    }

    /// The next batch; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>, DataError> {
        while let Some(block) = self.dictionaries.next() {
            let bytes = self.read(&block)?;
            decoded(&self.file, || self.decoder.read_dictionary(&block, &bytes))?;
        }
        let Some(block) = self.batches.next() else { return Ok(None) };
        let bytes = self.read(&block)?;
        let batch = decoded(&self.file, || self.decoder.read_record_batch(&block, &bytes))?;
        batch.map(Some).ok_or_else(|| broken(&self.file, "has a message that is no batch"))
    }

    /// The hash of the file.
    pub(super) fn hash(&mut self) -> Result<String, DataError> {
        let hash = self.hash.take().map_or_else(|| Ok(String::new()), FileHash::wait);
        hash.map_err(DataError::io(&self.file, "be hashed"))
    }

    /// The bytes of a block that is within the file: a message and its body.
    fn read(&mut self, block: &Block) -> Result<Buffer, DataError> {
        let file = &self.file;
        let head = u64::try_from(block.metaDataLength()).unwrap_or(0);
        let body = u64::try_from(block.bodyLength()).unwrap_or(0);
        refuse_large(file, head, MOST_HEAD_BYTES)?;
        refuse_large(file, body, MOST_BODY_BYTES)?;
        let at = u64::try_from(block.offset()).unwrap_or(0);
        let bytes =
            bytes_at(&mut self.opened, at, head + body).map_err(DataError::io(file, "be read"))?;
        // Older messages begin with their length alone.
        let prefix = if bytes.starts_with(&[0xff; 4]) { 8 } else { 4 };
        let parts = bytes.split_at_checked(usize::try_from(head).unwrap_or(usize::MAX));
        let parts = parts.and_then(|(head, body)| Some((head.get(prefix..)?, body)));
        let (head, body) = parts.ok_or_else(|| broken(file, "ends within a message"))?;
        let message = root_as_message(head).map_err(|_| broken(file, "has a damaged message"))?;
        check_buffers(file, &message, body, &mut self.dictionary_bytes)?;
        Ok(Buffer::from_vec(bytes))
    }
}

fn bytes_at(opened: &mut File, at: u64, bytes: u64) -> std::io::Result<Vec<u8>> {
    opened.seek(SeekFrom::Start(at))?;
    let mut read = Vec::new();
    opened.take(bytes).read_to_end(&mut read)?;
    Ok(read)
}

/// The footer, and where it begins.
fn read_footer(file: &str, opened: &mut File) -> Result<(Vec<u8>, u64), DataError> {
    let failed = || DataError::io(file, "be read");
    let size = opened.seek(SeekFrom::End(0)).map_err(failed())?;
    let end_at = size.saturating_sub(END_BYTES as u64);
    let end = bytes_at(opened, end_at, END_BYTES as u64).map_err(failed())?;
    let length = <[u8; END_BYTES]>::try_from(end).ok().and_then(|end| read_footer_length(end).ok());
    let Some(length) = length.map(|length| length as u64) else {
        let hint = "the program that wrote it did not come to its end; make or copy it again";
        let problem = "ends without a footer: it is cut off, or something follows it";
        return Err(DataError::file(file, problem, hint));
    };
    refuse_large(file, length, MOST_FOOTER_BYTES)?;
    let at = end_at.checked_sub(length).filter(|&at| at >= FILE_MAGIC.len() as u64);
    let at = at.ok_or_else(|| broken(file, "has a footer that claims more bytes than it has"))?;
    Ok((bytes_at(opened, at, length).map_err(failed())?, at))
}

/// Where the last block ends. `None` if one is not before the footer or overlaps another, as no writer places them.
fn end_of_blocks(blocks: &[Block], footer_at: u64) -> Option<u64> {
    let range = |block: &Block| {
        let start = u64::try_from(block.offset()).ok()?;
        let head = u64::try_from(block.metaDataLength()).ok().filter(|&bytes| bytes >= 8)?;
        let body = u64::try_from(block.bodyLength()).ok()?;
        Some((start, start.checked_add(head)?.checked_add(body)?))
    };
    let mut ranges: Vec<_> = blocks.iter().map(range).collect::<Option<_>>()?;
    ranges.sort_unstable();
    let apart = ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0);
    let end = ranges.last().map_or(FILE_MAGIC.len() as u64, |&(_, end)| end);
    (apart && end <= footer_at).then_some(end)
}
