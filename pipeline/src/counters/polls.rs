//! Counters and watermarks as they were read from a switch, poll by poll.

/// A queue that has counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueId {
    /// Its port, from 0, as in the switch description.
    pub port: usize,
    /// The port as the file names it.
    pub port_name: String,
    /// The queue as the file names it.
    pub queue_name: String,
    /// Its number within the port, if the switch description has it.
    pub class: Option<usize>,
}

/// Counters of a queue. They only grow, unless they are cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Packets sent, if the file has them.
    pub sent_packets: Option<u64>,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Bytes dropped, if the file has them.
    pub dropped_bytes: Option<u64>,
}

/// All counters of a switch at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Poll {
    /// Nanoseconds since 1970, or any other origin; unknown for a single screen without a time.
    pub time_ns: Option<u64>,
    /// Of each queue of [`Polls::queues`]; `None` if this poll has no counters of it.
    pub counters: Vec<Option<Reading>>,
    /// Of each queue: the most bytes that it held in the shared buffer since the poll before, or since the watermark
    /// was cleared.
    pub watermark_bytes: Vec<Option<u64>>,
    /// Of each queue: bytes in it at this time, if the file has them.
    pub queue_bytes: Vec<Option<u64>>,
    /// The watermark of the pool.
    pub pool_watermark_bytes: Option<u64>,
}

/// The polls of one switch, by increasing time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polls {
    /// Every queue that is in a poll, by port and then in the order of the file.
    pub queues: Vec<QueueId>,
    /// The polls.
    pub polls: Vec<Poll>,
    /// How much older than its poll a counter may be, nanoseconds.
    pub stale_ns: u64,
    /// The pool whose watermark was read, if the file names it.
    pub pool: Option<String>,
}
