//! Text inputs: read, hashed and decompressed on a thread of their own.

use super::error::is_out_of_memory;
use super::hash::HashingReader;
use flate2::read::MultiGzDecoder;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// A stream of bytes that another thread may read.
pub(crate) type Bytes = Box<dyn Read + Send>;

const BLOCK_BYTES: usize = 1 << 18;
const BLOCKS_AHEAD: usize = 4;

/// The text of an input, block by block; its hash when it has all been read.
pub(crate) struct TextInput {
    blocks: Receiver<io::Result<Block>>,
    block: Vec<u8>,
    used: usize,
    hash: Option<String>,
    is_cut_off: bool,
}

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::None => "nothing",
            Compression::Gzip => "gzip",
            Compression::Zstd => "Zstandard",
        })
    }
}

impl Compression {
    /// The compression that the first bytes show.
    pub(crate) fn of(head: &[u8]) -> Self {
        if head.starts_with(&[0x1f, 0x8b]) {
            Compression::Gzip
        } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            Compression::Zstd
        } else {
            Compression::None
        }
    }
}

/// The name of a file without that of its compression.
pub(crate) fn uncompressed(name: &str) -> &str {
    name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(name)
}

/// Larger windows of Zstandard are refused: a file must not fill the memory. 27 is what its command
/// reads by default.
const MOST_WINDOW_LOG: u32 = 27;

enum Block {
    Text(Vec<u8>),
    End {
        hash: String,
    },
    /// The compressed data ends before its end.
    CutOff {
        hash: String,
        error: io::Error,
    },
}

impl TextInput {
    /// Starts to read `source`.
    pub(crate) fn start(source: Bytes, compression: Compression) -> Self {
        let (sender, blocks) = sync_channel(BLOCKS_AHEAD);
        let refused = sender.clone();
        let thread = std::thread::Builder::new().spawn(move || {
            // Without a receiver there is nothing more to do.
            let _ =
                send_blocks(source, compression, &sender).map_err(|error| sender.send(Err(error)));
        });
        if let Err(error) = thread {
            let _ = refused.send(Err(error));
        }
        TextInput { blocks, block: Vec::new(), used: 0, hash: None, is_cut_off: false }
    }

    /// Gives up memory, thread and file. Nothing more can be read.
    pub(crate) fn close(&mut self) {
        (self.blocks, self.block, self.used) = (sync_channel(0).1, Vec::new(), 0);
    }

    /// Whether an error was that compressed data ends too early: all before it was read, and nothing follows.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.is_cut_off
    }

    /// The first bytes, which are still to be read: all of a short text, or 256 KiB.
    pub(crate) fn peek(&mut self) -> io::Result<&[u8]> {
        self.fill_buf()
    }

    /// The hash of the input's bytes as stored; known once the end has been read.
    pub(crate) fn hash(&self) -> Option<&str> {
        self.hash.as_deref()
    }
}

fn send_blocks(
    source: Bytes,
    compression: Compression,
    sender: &SyncSender<io::Result<Block>>,
) -> io::Result<()> {
    let stored = BufReader::with_capacity(BLOCK_BYTES, HashingReader::new(source));
    let mut stored = match compression {
        Compression::None => stored,
        Compression::Gzip => {
            let mut text = MultiGzDecoder::new(stored);
            match pump(&mut text, sender).map_err(|error| damaged(error, compression)) {
                Ok(true) => text.into_inner(),
                Ok(false) => return Ok(()),
                Err(error) => return end_early(text.into_inner(), error, sender),
            }
        }
        Compression::Zstd => {
            let mut text = zstd::Decoder::with_buffer(stored)?;
            text.window_log_max(MOST_WINDOW_LOG)?;
            match pump(&mut text, sender).map_err(|error| damaged(error, compression)) {
                Ok(true) => text.finish(),
                Ok(false) => return Ok(()),
                Err(error) => return end_early(text.finish(), error, sender),
            }
        }
    };
    // Without compression this is the whole text; with it, nothing is left.
    if pump(&mut stored, sender)? {
        let hash = stored.into_inner().finish();
        let _ = sender.send(Ok(Block::End { hash }));
    }
    Ok(())
}

/// Distinguishes compressed data that is cut off, of which all was read, from other errors.
fn end_early(
    stored: BufReader<HashingReader<Bytes>>,
    error: io::Error,
    sender: &SyncSender<io::Result<Block>>,
) -> io::Result<()> {
    if error.kind() != io::ErrorKind::UnexpectedEof || error.raw_os_error().is_some() {
        return Err(error);
    }
    let hash = stored.into_inner().finish();
    let _ = sender.send(Ok(Block::CutOff { hash, error }));
    Ok(())
}

/// Says what may be wrong with compressed data that cannot be read, unless the system could not read it.
fn damaged(error: io::Error, compression: Compression) -> io::Error {
    match error.raw_os_error() {
        Some(_) => error,
        None if is_out_of_memory(&error) => io::ErrorKind::OutOfMemory.into(),
        None => io::Error::new(
            error.kind(),
            format!(
                "its {compression} data is cut off, damaged or followed by something else: {error}"
            ),
        ),
    }
}

/// Sends all of `text`; false if nobody listens any more.
fn pump(text: &mut impl Read, sender: &SyncSender<io::Result<Block>>) -> io::Result<bool> {
    loop {
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        let read = text.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut block);
        // What was read before an error is given first, so that a row's error comes before it.
        let more = !block.is_empty();
        if more && sender.send(Ok(Block::Text(block))).is_err() {
            return Ok(false);
        }
        read?;
        if !more {
            return Ok(true);
        }
    }
}

impl Read for TextInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for TextInput {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.used == self.block.len() && self.hash.is_none() {
            let received = self.blocks.recv();
            match received.map_err(|_| io::Error::other("the reading thread stopped early"))?? {
                Block::Text(block) => (self.block, self.used) = (block, 0),
                Block::End { hash } => {
                    (self.block, self.used, self.hash) = (Vec::new(), 0, Some(hash));
                }
                Block::CutOff { hash, error } => {
                    (self.block, self.used, self.hash) = (Vec::new(), 0, Some(hash));
                    self.is_cut_off = true;
                    return Err(error);
                }
            }
        }
        Ok(&self.block[self.used..])
    }

    fn consume(&mut self, count: usize) {
        self.used = (self.used + count).min(self.block.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::GzEncoder;
    use std::io::{Cursor, Write};

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read(stored: Vec<u8>) -> io::Result<(Vec<u8>, String)> {
        let compression = Compression::of(&stored);
        let mut input = TextInput::start(Box::new(Cursor::new(stored)), compression);
        let mut text = Vec::new();
        input.read_to_end(&mut text)?;
        Ok((text, input.hash().unwrap().to_owned()))
    }

    #[test]
    fn text_arrives_whole_plain_or_compressed() {
        let text: Vec<u8> = (0..300_000u32).flat_map(|i| i.to_le_bytes()).collect();
        let (plain, hash) = read(text.clone()).unwrap();
        assert_eq!(plain, text);
        assert_eq!(read(text.clone()).unwrap().1, hash);
        let mut members = gzip(&text[..1_000]);
        members.extend(gzip(&text[1_000..]));
        let (unpacked, stored_hash) = read(members).unwrap();
        assert!(unpacked == text && stored_hash != hash);
    }

    #[test]
    fn zstandard_is_read_in_all_frames_and_refused_when_broken() {
        let text: Vec<u8> = (0..300_000u32).flat_map(|i| i.to_le_bytes()).collect();
        let frame = |text: &[u8]| zstd::encode_all(text, 1).unwrap();
        let both = [frame(&text[..1_000]), frame(&text[1_000..])].concat();
        assert!(read(both.clone()).unwrap().0 == text);
        assert!(read(both[..both.len() - 5].to_vec()).is_err());
    }

    #[test]
    fn broken_gzip_is_an_error() {
        let whole = gzip(&vec![b'x'; 100_000]);
        assert!(read(whole[..whole.len() - 5].to_vec()).is_err());
        let mut changed = whole.clone();
        let last = changed.len() - 6;
        changed[last] ^= 1;
        assert!(read(changed).is_err());
        let error = read([&whole[..], b"more"].concat()).unwrap_err().to_string();
        assert!(error.starts_with("its gzip data is cut off, damaged or followed by"), "{error}");
    }

    #[test]
    fn all_before_a_cut_is_read_and_the_stored_bytes_are_hashed() {
        let text: Vec<u8> = (0..300_000u32).flat_map(|i| i.to_le_bytes()).collect();
        for whole in [gzip(&text), zstd::encode_all(&text[..], 1).unwrap()] {
            let cut = whole[..whole.len() - 1_000].to_vec();
            let (hash, compression) = (crate::sha256(&cut), Compression::of(&cut));
            let mut input = TextInput::start(Box::new(Cursor::new(cut)), compression);
            let mut read = Vec::new();
            let error = input.read_to_end(&mut read).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            assert!(input.is_cut_off() && read.len() > 500_000 && text.starts_with(&read));
            assert_eq!(input.read_to_end(&mut read).ok(), Some(0));
            assert_eq!(input.hash(), Some(&hash[..]));
        }
    }

    #[test]
    fn an_input_nobody_reads_to_the_end_does_not_hang() {
        drop(TextInput::start(Box::new(io::repeat(b'x')), Compression::None));
    }
}
