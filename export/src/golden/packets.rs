//! Packets on which code must decide alike.

use dropcast_runtime::PacketVerdict;

/// A packet that arrives, or leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoldenEvent {
    /// When.
    pub time_ns: u64,
    /// Its port.
    pub port: usize,
    /// Its queue within the port.
    pub queue: usize,
    /// Its size.
    pub size_bytes: u32,
    /// Of one that arrives: the decision about it. None: it leaves.
    pub verdict: Option<PacketVerdict>,
}

/// Packets at a switch under Credence, in time order, on which code must decide alike: the same forest and switch give the
/// same packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldenPackets {
    /// Arrivals and departures.
    pub events: Vec<GoldenEvent>,
}

impl GoldenPackets {
    /// As packet events (`docs/events.md`), with two more columns: why a packet that arrives is accepted or not, and whether, 0 or 1;
    /// nothing and 0 for those that leave.
    pub fn to_csv(&self) -> String {
        let mut text = "time_ns,kind,port,queue,size_bytes,reason,accepted\n".to_owned();
        for &GoldenEvent { time_ns, port, queue, size_bytes, verdict } in &self.events {
            let (kind, accepted) = (
                u8::from(verdict.is_none()),
                u8::from(verdict.is_some_and(PacketVerdict::accepts)),
            );
            let reason = verdict.map_or("", PacketVerdict::name);
            text += &format!("{time_ns},{kind},{port},{queue},{size_bytes},{reason},{accepted}\n");
        }
        text
    }
}
