//! Notes of inputs.

use dropcast_data::InputNote;
use std::path::Path;

/// The line that a command prints about an input while it reads it: its file, if the note is of that alone, and the note.
pub fn input_note_line(file: Option<&Path>, note: InputNote, rows: u64) -> String {
    let words = note_words(note, rows);
    file.map_or_else(|| words.clone(), |file| format!("{}: {words}", file.display()))
}

/// A caution where `expert` drops more than a quarter of the packets, which no switch in use does for long.
pub fn overload_words(expert: &str, drops: u64, packets: u64) -> Option<String> {
    (u128::from(drops) * 4 > u128::from(packets)).then(|| {
        format!(
            "Beware: {expert} drops {:.0}% of the packets. Links are overloaded for long, or a rate, the buffer, the unit of \
             time or a rule for ports is wrong (docs/switch.md).",
            100.0 * drops as f64 / packets as f64
        )
    })
}

/// A note of an input, in words: what `rows` rows of it are (docs/trace.md).
pub fn note_words(note: InputNote, rows: u64) -> String {
    match note {
        InputNote::RoundedTime => {
            format!("the times of {rows} rows were rounded to whole nanoseconds (docs/events.md)")
        }
        InputNote::SixDigitTime => format!(
            "the times of all {rows} rows have at most 6 digits, as ns-3 prints them by default, so \
             queues are only roughly known; let it print more (docs/ns3-ascii.md)"
        ),
        InputNote::UnmatchedPushOut => format!(
            "{rows} push-outs are of packets that did not arrive at their queue shortly before, and do \
             not count as real drops (docs/events.md)"
        ),
        InputNote::CutOff => format!(
            "a file ends in the middle of a packet, as one does whose tcpdump was killed; what is before that is \
             used, {rows} packets in all such files, and its port has none after them (docs/pcap.md)"
        ),
        InputNote::Duplicates => format!(
            "{rows} packets are copies of one within a millisecond before (IP ID, length, checksum), and arrive twice; \
             capture each packet once, where it comes into the switch; editcap -d removes copies within a file (docs/pcap.md)"
        ),
        InputNote::Erspan => {
            format!("{rows} packets were mirrored by ERSPAN and are taken out of it (docs/pcap.md)")
        }
        InputNote::MirrorTime => format!(
            "the times of {rows} packets are those at which the switch mirrored them (docs/pcap.md)"
        ),
        InputNote::UnusedMirrorTime => format!(
            "{rows} packets carry the time at which the switch mirrored them; their times are those of the capture. \
             times = \"mirror\" of [capture] takes the switch's (docs/pcap.md)"
        ),
        InputNote::Reordered => format!(
            "{rows} packets came after a later one of their file, within reorder_ns of [capture], and were put in \
             order (docs/pcap.md)"
        ),
        InputNote::Skew => format!(
            "{rows} acknowledgements of TCP come before the data that they acknowledge, so the clocks of captures \
             differ (docs/pcap.md)"
        ),
        InputNote::OverRate => format!(
            "{rows} packets come earlier than the line rate of their sender's link allows: clocks of captures differ, \
             packets are there twice, a capture holds several links of a host, or the rules for ports are wrong \
             (docs/pcap.md)"
        ),
        InputNote::PassedOver => "holds no events and was passed over; if it was to hold packets, they are missing (docs/events.md)".to_owned(),
        InputNote::NoBacklog => format!(
            "hardly one of {rows} packets meets another that waits at its port, so LQD has nothing to \
             drop; was this captured behind the buffer? (docs/pcap.md)"
        ),
        InputNote::NoPackets => "holds no packet; if its link was not idle, this tap does not work (docs/pcap.md)".to_owned(),
        InputNote::NoRealDrops => format!(
            "{rows} events are from an input that tells no real drops, beside one that does: its packets count \
             as transmitted by the real switch (docs/events.md)"
        ),
        InputNote::NoEcnMarks => format!(
            "{rows} events are from an input that tells no ECN marks, beside one that does: its packets count as \
             not marked (docs/events.md)"
        ),
        InputNote::AmbiguousReport => format!(
            "{rows} drop reports fit several packets; the nearest was taken (docs/drops.md)"
        ),
        InputNote::MissingReports => format!(
            "{rows} dropped packets are in no report, by the counters of the switch, and count as transmitted \
             (docs/drops.md)"
        ),
        InputNote::AllZero
        | InputNote::DepartureOrder
        | InputNote::UnknownSwitches
        | InputNote::Unknown => {
            format!("{rows} rows are {}", note.name())
        }
    }
}
