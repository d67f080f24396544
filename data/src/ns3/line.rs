//! One line: what happened, when, at which device, to which packet.

/// What a line says, as ns-3's `AsciiTraceHelper` writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) happened: Happened,
    /// Seconds, as printed.
    pub(crate) time: &'a [u8],
    /// Node and device; none where the file is of one device and lines have no path.
    pub(crate) device: Option<(u32, u32)>,
    /// The packet's headers, as printed.
    pub(crate) headers: &'a str,
}

/// What happened to the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happened {
    /// `+`: the device queue took it.
    Enqueued,
    /// `-`: it left the device queue.
    Dequeued,
    /// `d`: the device queue was full.
    Dropped,
    /// `r`: the device received it.
    Received,
    /// `d` elsewhere: it was lost on its way to the device.
    Lost,
    /// Something of another layer or object.
    Other,
}

/// Whether a text begins with a line of such a trace.
pub(crate) fn looks_like_ns3(text: &[u8]) -> bool {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or(text);
    let [b'+' | b'-' | b'd' | b'r' | b't', b' ', rest @ ..] = line else { return false };
    let mut words = rest.splitn(2, |&byte| byte == b' ');
    let time = words.next().unwrap_or_default();
    let is_time = time.first().is_some_and(u8::is_ascii_digit);
    let next = words.next().unwrap_or_default();
    is_time && (next.starts_with(b"/NodeList/") || next.starts_with(b"ns3::"))
}

/// Reads a line; none if it is not one of such a trace.
pub(crate) fn read_line(line: &[u8]) -> Option<Line<'_>> {
    let (&letter, rest) = line.split_first()?;
    let rest = std::str::from_utf8(rest).ok()?.strip_prefix(' ')?;
    let (time, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    if !time.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let (path, headers) = if rest.starts_with('/') {
        let (path, headers) = rest.split_once(' ').unwrap_or((rest, ""));
        (Some(path), headers)
    } else {
        (None, rest)
    };
    let at_queue = |end: &str| path.is_none_or(|path| path.ends_with(end));
    let happened = match letter {
        b'+' if at_queue("/TxQueue/Enqueue") => Happened::Enqueued,
        b'-' if at_queue("/TxQueue/Dequeue") => Happened::Dequeued,
        b'd' if at_queue("/TxQueue/Drop") => Happened::Dropped,
        b'd' => Happened::Lost,
        b'r' => Happened::Received,
        b'+' | b'-' | b't' => Happened::Other,
        _ => return None,
    };
    let device = match path {
        // Objects above devices have other paths.
        Some(path) if happened != Happened::Other => Some(read_path(path)?),
        _ => None,
    };
    Some(Line { happened, time: time.as_bytes(), device, headers })
}

/// The numbers in `/NodeList/N/DeviceList/D/...`.
fn read_path(path: &str) -> Option<(u32, u32)> {
    let (node, rest) = path.strip_prefix("/NodeList/")?.split_once('/')?;
    let Some(rest) = rest.strip_prefix("DeviceList/") else {
        // Received or lost above the devices.
        return Some((node.parse().ok()?, u32::MAX));
    };
    let device = rest.split('/').next()?;
    Some((node.parse().ok()?, device.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn happened(line: &str) -> Option<(Happened, Option<(u32, u32)>)> {
        read_line(line.as_bytes()).map(|line| (line.happened, line.device))
    }

    #[test]
    fn letters_and_paths_say_what_happened_where() {
        let at = "/NodeList/2/DeviceList/3/$ns3::PointToPointNetDevice";
        let check = |letter: &str, end: &str, expected| {
            let line = format!("{letter} 1.5 {at}{end} ns3::PppHeader (x)");
            assert_eq!(happened(&line), Some((expected, Some((2, 3)))), "{line}");
        };
        check("+", "/TxQueue/Enqueue", Happened::Enqueued);
        check("-", "/TxQueue/Dequeue", Happened::Dequeued);
        check("d", "/TxQueue/Drop", Happened::Dropped);
        check("d", "/PhyRxDrop", Happened::Lost);
        check("r", "/MacRx", Happened::Received);
        assert_eq!(happened("+ 1.5 ns3::PppHeader (x)"), Some((Happened::Enqueued, None)));
        assert_eq!(
            happened("t 1.5 /NodeList/1/$ns3::Ipv4L3Protocol/Tx(1) ns3::Ipv4Header (x)"),
            Some((Happened::Other, None))
        );
        for other in ["", "x 1 y", "+1.5", "+ x", "+ 1 /NodeList/x/DeviceList/1/TxQueue/Enqueue y"]
        {
            assert_eq!(happened(other), None, "{other}");
        }
    }

    #[test]
    fn a_trace_is_recognised_by_its_first_line() {
        assert!(looks_like_ns3(b"r 1.00001 ns3::PppHeader (Point"));
        assert!(looks_like_ns3(b"+ 0 /NodeList/1/Dev\n"));
        for other in ["time_ns,port,size_bytes\n", "+ x\n", "d 1 2\n", "- 5 ns2\n", ""] {
            assert!(!looks_like_ns3(other.as_bytes()), "{other}");
        }
    }
}
