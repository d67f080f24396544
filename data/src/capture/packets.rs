//! The records of pcap and the blocks of pcapng, one at a time.
//!
//! Sizes that a file claims are checked before anything of that size is read. The readers of `pcap-parser` parse what they have read
//! before options can be checked, and their error where reading fails does not say why; so only its parsers are used.

use crate::DataError;
use crate::io::{TextInput, guarded};
use pcap_parser::{
    Block, LegacyPcapBlock, PcapError, PcapHeader, nom, parse_block_be, parse_block_le,
    parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header,
};
use std::io::Read;
use std::ops::Range;

/// Larger packets and blocks are not believed. A jumbo frame has 9 kB, a packet that hardware cuts into
/// frames later has 64 kB, and the largest snapshot length of tcpdump is 256 kB.
const MOST_BYTES: u32 = 1 << 24;

/// Interfaces of a section, at most.
const MOST_INTERFACES: usize = 1 << 16;

/// First bytes of a pcapng file, in both byte orders.
const SECTION_MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// The obsolete block of a packet, which the library does not read.
const PACKET_BLOCK: u32 = 2;

/// First bytes of pcap files: micro- and nanoseconds, in both byte orders, and a variant of 1999.
const PCAP_MAGICS: [[u8; 4]; 6] = [
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    VARIANT_LE,
    [0xa1, 0xb2, 0xcd, 0x34],
];
const VARIANT_LE: [u8; 4] = [0x34, 0xcd, 0xb2, 0xa1];

/// What a file begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaptureStart {
    Pcap,
    PcapNg,
}

impl CaptureStart {
    /// Recognizes captures among other files.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        let magic = head.first_chunk::<4>()?;
        if *magic == SECTION_MAGIC {
            Some(CaptureStart::PcapNg)
        } else {
            PCAP_MAGICS.contains(magic).then_some(CaptureStart::Pcap)
        }
    }
}

/// A captured packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawPacket<'a> {
    /// Its number in the file, from 1.
    pub(crate) number: u64,
    /// Number of the interface, from 0.
    pub(crate) interface: u32,
    /// Link type, as pcap numbers them.
    pub(crate) link_type: u16,
    pub(crate) time: RawTime,
    /// Its bytes, perhaps only the first.
    pub(crate) captured: &'a [u8],
    /// Its size on the wire.
    pub(crate) original_bytes: u32,
}

/// When it was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawTime {
    /// Nanoseconds since 1970, and whether they are rounded.
    Known(u64, bool),
    /// The file does not say.
    Absent,
    /// Before 1970, after 2554, or with more than a second in its fraction.
    OutOfRange,
}

/// A capture being read.
pub(crate) struct PacketFile {
    file: String,
    input: TextInput,
    /// The bytes of the last record or block.
    buffer: Vec<u8>,
    /// Where it begins in the file.
    offset: u64,
    packets: u64,
    format: Format,
    /// Whether the file ends within what was read last.
    ends_within: bool,
}

enum Format {
    Pcap { big_endian: bool, nanoseconds: bool, link_type: u16 },
    PcapNg { big_endian: bool, interfaces: Vec<Interface> },
}

/// An interface of a section.
#[derive(Clone, Copy)]
struct Interface {
    link_type: u16,
    /// As in the file: a power of ten, or of two if the first bit is set.
    resolution: u8,
    offset_s: i64,
}

/// A record or block, without its bytes.
enum Record {
    Packet {
        interface: u32,
        link_type: u16,
        time: RawTime,
        bytes: Range<usize>,
        original_bytes: u32,
    },
    Other,
    End,
}

impl PacketFile {
    /// Reads the header of the file.
    pub(crate) fn start(
        file: &str,
        start: CaptureStart,
        input: TextInput,
    ) -> Result<Self, DataError> {
        let mut opened = PacketFile {
            file: file.to_owned(),
            input,
            buffer: Vec::new(),
            offset: 0,
            packets: 0,
            format: Format::PcapNg { big_endian: false, interfaces: Vec::new() },
            ends_within: false,
        };
        if start == CaptureStart::Pcap {
            opened.read_pcap_header()?;
        }
        Ok(opened)
    }

    /// The next packet; `None` after the last.
    pub(crate) fn next_packet(&mut self) -> Result<Option<RawPacket<'_>>, DataError> {
        loop {
            match self.next_record()? {
                Record::End => return Ok(None),
                Record::Other => {}
                Record::Packet { interface, link_type, time, bytes, original_bytes } => {
                    self.packets += 1;
                    return Ok(Some(RawPacket {
                        number: self.packets,
                        interface,
                        link_type,
                        time,
                        captured: &self.buffer[bytes],
                        original_bytes,
                    }));
                }
            }
        }
    }

    /// Whether an error was that the file ends too early, within a packet or its compressed data: all
    /// [packets](Self::packets) before it were read, and nothing follows.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.ends_within || self.input.is_cut_off()
    }

    /// How many packets were read.
    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    /// Gives up memory, thread and file. Nothing more can be read.
    pub(crate) fn close(&mut self) {
        (self.buffer, self.offset) = (Vec::new(), 0);
        self.input.close();
    }

    /// The hash of the file, known after the last packet.
    pub(crate) fn hash(&self) -> Option<&str> {
        self.input.hash()
    }

    /// "pcap" or "pcapng", and how exact its times are.
    pub(crate) fn format(&self) -> &'static str {
        match self.format {
            Format::Pcap { nanoseconds: true, .. } => "pcap, nanoseconds",
            Format::Pcap { nanoseconds: false, .. } => "pcap, microseconds",
            Format::PcapNg { .. } => "pcapng",
        }
    }

    fn read_pcap_header(&mut self) -> Result<(), DataError> {
        self.fill(24)?;
        let header: PcapHeader = match parse_pcap_header(&self.buffer) {
            _ if is_variant(&self.buffer) => {
                let problem = "is a pcap file of a variant with more fields in each packet";
                return Err(DataError::file(&self.file, problem, "convert it: editcap -F pcap"));
            }
            Ok((_, header)) => header,
            Err(_) => return Err(self.damaged("its header is incomplete")),
        };
        // The upper bits say how long a checksum at the end of packets is.
        let link_type = (header.network.0 & 0xffff) as u16;
        self.format = Format::Pcap {
            big_endian: header.is_bigendian(),
            nanoseconds: header.is_nanosecond_precision(),
            link_type,
        };
        Ok(())
    }

    fn next_record(&mut self) -> Result<Record, DataError> {
        self.offset += self.buffer.len() as u64;
        self.buffer.clear();
        match self.format {
            Format::Pcap { big_endian, nanoseconds, link_type } => {
                self.next_frame(big_endian, nanoseconds, link_type)
            }
            Format::PcapNg { big_endian, .. } => self.next_block(big_endian),
        }
    }

    fn next_frame(
        &mut self,
        big_endian: bool,
        nanoseconds: bool,
        link_type: u16,
    ) -> Result<Record, DataError> {
        if !self.fill(16)? {
            return Ok(Record::End);
        }
        let captured = number(&self.buffer, 8, big_endian);
        self.check_claim(captured)?;
        self.fill(16 + captured as usize)?;
        let parse = if big_endian { parse_pcap_frame_be } else { parse_pcap_frame };
        let Ok((_, frame)) = parse(&self.buffer) else {
            return Err(self.damaged("it cannot be read"));
        };
        let LegacyPcapBlock { ts_sec, ts_usec, origlen, .. } = frame;
        let (most, factor) = if nanoseconds { (1_000_000_000, 1) } else { (1_000_000, 1_000) };
        let time = if ts_usec < most {
            let time_ns = u64::from(ts_sec) * 1_000_000_000 + u64::from(ts_usec) * factor;
            RawTime::Known(time_ns, false)
        } else {
            RawTime::OutOfRange
        };
        let bytes = 16..16 + captured as usize;
        Ok(Record::Packet { interface: 0, link_type, time, bytes, original_bytes: origlen })
    }

    fn next_block(&mut self, mut big_endian: bool) -> Result<Record, DataError> {
        if !self.fill(12)? {
            return Ok(Record::End);
        }
        if self.buffer.starts_with(&SECTION_MAGIC) {
            big_endian = match number(&self.buffer, 8, false) {
                0x1a2b_3c4d => false,
                0x4d3c_2b1a => true,
                _ => return Err(self.damaged("its byte order is neither")),
            };
        }
        let length = number(&self.buffer, 4, big_endian);
        self.check_claim(length)?;
        if length < 12 || !length.is_multiple_of(4) {
            return Err(self.damaged(&format!("it claims {length} bytes")));
        }
        self.fill(length as usize)?;
        if !options_fit(&self.buffer, big_endian) {
            return Err(self.damaged("one of its options claims more bytes than it has"));
        }
        if number(&self.buffer, 0, big_endian) == PACKET_BLOCK {
            let packet = old_packet(&self.buffer, big_endian);
            let packet = packet.ok_or_else(|| self.damaged("it claims more bytes than it has"))?;
            return self.take(packet, big_endian);
        }
        let parse = if big_endian { parse_block_be } else { parse_block_le };
        let buffer = &self.buffer;
        let parsed: Result<_, String> =
            guarded(|| parse(buffer).map_err(|_: nom::Err<PcapError<&[u8]>>| ()));
        let Ok(Ok((_, block))) = parsed else {
            return Err(self.damaged("it cannot be read"));
        };
        let found = match block {
            Block::SectionHeader(_) => BlockContent::Section,
            Block::InterfaceDescription(block) => BlockContent::Interface(Interface {
                link_type: (block.linktype.0 & 0xffff) as u16,
                resolution: block.if_tsresol,
                // The library reads it in one byte order.
                offset_s: if big_endian {
                    block.if_tsoffset.swap_bytes()
                } else {
                    block.if_tsoffset
                },
            }),
            Block::EnhancedPacket(block) => BlockContent::Packet {
                interface: block.if_id,
                ticks: Some(u64::from(block.ts_high) << 32 | u64::from(block.ts_low)),
                bytes: 28..28 + block.caplen as usize,
                original_bytes: block.origlen,
            },
            Block::SimplePacket(block) => BlockContent::Packet {
                interface: 0,
                ticks: None,
                bytes: 12..12 + block.data.len().min(block.origlen as usize),
                original_bytes: block.origlen,
            },
            _ => BlockContent::Other,
        };
        self.take(found, big_endian)
    }

    fn take(&mut self, found: BlockContent, order: bool) -> Result<Record, DataError> {
        let Format::PcapNg { big_endian, interfaces } = &mut self.format else {
            return Ok(Record::Other);
        };
        match found {
            BlockContent::Section => {
                *big_endian = order;
                interfaces.clear();
                Ok(Record::Other)
            }
            BlockContent::Interface(_) if interfaces.len() >= MOST_INTERFACES => {
                Err(self.damaged("it is one interface too many"))
            }
            BlockContent::Interface(interface) => {
                interfaces.push(interface);
                Ok(Record::Other)
            }
            BlockContent::Packet { interface, ticks, bytes, original_bytes } => {
                let Some(&from) = interfaces.get(interface as usize) else {
                    return Err(
                        self.damaged(&format!("it is of interface {interface}, not described"))
                    );
                };
                if bytes.end > self.buffer.len() {
                    return Err(self.damaged("it claims more bytes than it has"));
                }
                let time = ticks.map_or(RawTime::Absent, |ticks| from.time(ticks));
                let link_type = from.link_type;
                Ok(Record::Packet { interface, link_type, time, bytes, original_bytes })
            }
            BlockContent::Other => Ok(Record::Other),
        }
    }

    /// Reads until the buffer has `length` bytes; false if there was nothing to read.
    fn fill(&mut self, length: usize) -> Result<bool, DataError> {
        let missing = length.saturating_sub(self.buffer.len());
        let read = (&mut self.input)
            .take(missing as u64)
            .read_to_end(&mut self.buffer)
            .map_err(DataError::io(&self.file, "be read"))?;
        match read {
            _ if read == missing => Ok(true),
            0 if self.buffer.is_empty() => Ok(false),
            _ => {
                self.ends_within = true;
                let Self { file, packets, offset, .. } = &*self;
                let problem = format!(
                    "what is at byte {offset}, after packet {packets}, is damaged: the file ends within it"
                );
                let hint = "make or copy the capture again, or leave out its end with --on-bad-row skip \
                            (docs/pcap.md)";
                Err(DataError::file(file, problem, hint))
            }
        }
    }

    fn check_claim(&self, bytes: u32) -> Result<(), DataError> {
        if bytes > MOST_BYTES {
            return Err(
                self.damaged(&format!("it claims {bytes} bytes, at most {MOST_BYTES} are read"))
            );
        }
        Ok(())
    }

    fn damaged(&self, what: &str) -> DataError {
        let Self { file, packets, offset, .. } = self;
        let problem =
            format!("what is at byte {offset}, after packet {packets}, is damaged: {what}");
        DataError::file(file, problem, "make or copy the capture again")
    }
}

/// A block, without its bytes.
enum BlockContent {
    Section,
    Interface(Interface),
    Packet { interface: u32, ticks: Option<u64>, bytes: Range<usize>, original_bytes: u32 },
    Other,
}

impl Interface {
    fn time(&self, ticks: u64) -> RawTime {
        let (factor, divisor) = match self.resolution {
            power @ 0..=9 => (10_u128.pow(9 - u32::from(power)), 1),
            power @ 10..=38 => (1, 10_u128.pow(u32::from(power) - 9)),
            power if power & 0x80 != 0 && power & 0x7f < 90 => (1_000_000_000, 1 << (power & 0x7f)),
            _ => return RawTime::OutOfRange,
        };
        let scaled = u128::from(ticks) * factor;
        let (whole, rest) = (scaled / divisor, scaled % divisor);
        let whole = whole + u128::from(rest * 2 >= divisor && rest > 0);
        let offset_ns = i128::from(self.offset_s) * 1_000_000_000;
        match i128::try_from(whole).ok().and_then(|whole| u64::try_from(whole + offset_ns).ok()) {
            Some(time_ns) => RawTime::Known(time_ns, rest > 0),
            None => RawTime::OutOfRange,
        }
    }
}

/// The packet of an obsolete [`PACKET_BLOCK`]: an Enhanced Packet Block whose interface has 16 bits, before a count of
/// drops. `None` if it is not within the block.
fn old_packet(block: &[u8], big_endian: bool) -> Option<BlockContent> {
    let end = block.len().checked_sub(4).filter(|&end| end >= 28)?;
    let word = |at| number(block, at, big_endian);
    let bytes = 28..28 + word(20) as usize;
    (bytes.end <= end && word(end) as usize == block.len()).then(|| BlockContent::Packet {
        interface: if big_endian { word(8) >> 16 } else { word(8) & 0xffff },
        ticks: Some(u64::from(word(12)) << 32 | u64::from(word(16))),
        bytes,
        original_bytes: word(24),
    })
}

/// Whether the options of a pcapng block end within it, or it has none that we read.
fn options_fit(block: &[u8], big_endian: bool) -> bool {
    let padded = |bytes: u64| bytes.next_multiple_of(4);
    let kind = number(block, 0, big_endian);
    let begin = match kind {
        _ if block.starts_with(&SECTION_MAGIC) => 24,
        1 => 16,
        PACKET_BLOCK | 6 if block.len() >= 28 => 28 + padded(number(block, 20, big_endian).into()),
        _ => return true,
    };
    // The block's length is repeated at its end.
    let end = block.len() as u64 - 4;
    let mut at = begin;
    while at + 4 <= end {
        let word = number(block, at as usize, big_endian);
        let (code, bytes) =
            if big_endian { (word >> 16, word & 0xffff) } else { (word & 0xffff, word >> 16) };
        if code == 0 {
            break;
        }
        at += 4 + padded(bytes.into());
    }
    at <= end
}

fn is_variant(head: &[u8]) -> bool {
    head.starts_with(&VARIANT_LE) || head.starts_with(&[0xa1, 0xb2, 0xcd, 0x34])
}

/// The 32-bit number at a place that is there.
fn number(buffer: &[u8], at: usize, big_endian: bool) -> u32 {
    let bytes = [buffer[at], buffer[at + 1], buffer[at + 2], buffer[at + 3]];
    if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

#[cfg(test)]
mod tests;
