//! sFlow version 5: discarded packets of a datagram (`sflow_version_5.txt`, `sflow_drops.txt` of sflow.org).
//!
//! Not with `sflow-parser` or `flowparser-sflow`: both parse all samples of a datagram, of which one kind is read here. The first
//! makes one cause of all that it does not know, the second takes the source of a drop for one word (it has two).

use super::cause::DropCause;
use crate::capture::{Sight, read_headers};

/// Formats of samples and records, of enterprise 0.
const DISCARDED_PACKET: u32 = 5;
const SAMPLED_HEADER: u32 = 1;
/// Samples of a datagram and records of a sample, at most: each has 8 bytes, and a datagram 64 kB.
const MOST: u32 = 1 << 13;
/// Link types of the header protocols that are read: Ethernet, IPv4, IPv6.
const HEADERS: [(u32, u16); 3] = [(1, 1), (11, 101), (12, 101)];

/// Where reports are numbered: an agent, its part and one of its sources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin {
    agent: Vec<u8>,
    part: u32,
    source: (u32, u32),
}

/// A packet that an agent says was discarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Discarded {
    pub(crate) origin: Origin,
    /// The report's number.
    pub(crate) number: u32,
    /// Discarded packets so far that the agent could not report.
    pub(crate) missed: u32,
    pub(crate) cause: DropCause,
    /// The hash of its flow and what else its header says; 0 without an IP header.
    pub(crate) flow_hash: u64,
    pub(crate) sight: Sight,
}

/// The discarded packets of a datagram; an error is what is wrong.
pub(crate) fn discarded_packets(datagram: &[u8]) -> Result<Vec<Discarded>, &'static str> {
    let mut from = Words { bytes: datagram };
    if from.word()? != 5 {
        return Err("is not of version 5");
    }
    let agent = match from.word()? {
        1 => from.take(4)?,
        2 => from.take(16)?,
        _ => return Err("has an agent without an IP address"),
    };
    let part = from.word()?;
    // The datagram's number, and the agent's uptime.
    from.take(8)?;
    let samples = from.word()?;
    let mut found = Vec::new();
    for _ in 0..samples.min(MOST) {
        let (format, bytes) = from.record()?;
        if format == DISCARDED_PACKET {
            found.push(discarded(Words { bytes }, agent, part)?);
        }
    }
    if samples > MOST { Err("has too many samples") } else { Ok(found) }
}

fn discarded(mut from: Words<'_>, agent: &[u8], part: u32) -> Result<Discarded, &'static str> {
    let number = from.word()?;
    let source = (from.word()?, from.word()?);
    let missed = from.word()?;
    // Ports in and out, as interfaces are numbered.
    from.take(8)?;
    let cause = DropCause::of_sflow(from.word()?);
    let records = from.word()?;
    let origin = Origin { agent: agent.to_vec(), part, source };
    let (flow_hash, sight) = (0, Sight::default());
    let mut found = Discarded { origin, number, missed, cause, flow_hash, sight };
    for _ in 0..records.min(MOST) {
        let (format, bytes) = from.record()?;
        if format == SAMPLED_HEADER && found.flow_hash == 0 {
            let mut from = Words { bytes };
            let protocol = from.word()?;
            // Its size, and how much of it was stripped.
            from.take(8)?;
            let header = from.sized()?;
            if let Some((_, link_type)) = HEADERS.into_iter().find(|(known, _)| *known == protocol)
            {
                let headers = read_headers(link_type, header);
                (found.flow_hash, found.sight) = (headers.flow_hash, headers.sight);
            }
        }
    }
    Ok(found)
}

/// XDR (RFC 4506): words of four bytes, most significant first.
struct Words<'a> {
    bytes: &'a [u8],
}

impl<'a> Words<'a> {
    fn word(&mut self) -> Result<u32, &'static str> {
        let (&word, rest) = self.bytes.split_first_chunk::<4>().ok_or("ends too early")?;
        self.bytes = rest;
        Ok(u32::from_be_bytes(word))
    }

    fn take(&mut self, bytes: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.bytes.split_at_checked(bytes).ok_or("ends too early")?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Bytes behind their number, filled up to a word.
    fn sized(&mut self) -> Result<&'a [u8], &'static str> {
        let bytes = self.word()? as usize;
        let padded = self.take(bytes.checked_next_multiple_of(4).ok_or("ends too early")?)?;
        Ok(&padded[..bytes])
    }

    /// A format, which has its enterprise in its upper 20 bits, and the bytes of it.
    fn record(&mut self) -> Result<(u32, &'a [u8]), &'static str> {
        Ok((self.word()?, self.sized()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200), claims in prop::collection::vec(0_u32..6, 0..30)) {
            let _ = discarded_packets(&bytes);
            let words: Vec<u8> = [5, 1].iter().chain(&claims).flat_map(|word: &u32| word.to_be_bytes()).collect();
            let _ = discarded_packets(&words);
        }
    }
}
