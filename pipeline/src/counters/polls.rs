//! Counters and watermarks as they were read from a switch, poll by poll.

use dropcast_data::SwitchSpec;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Packets sent, if the file has them.
    pub sent_packets: Option<u64>,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Bytes dropped, if the file has them.
    pub dropped_bytes: Option<u64>,
    /// Packets that were cut to their headers because the queue had no room, if the file has them. Some switches count them
    /// as dropped, too.
    pub trimmed_packets: Option<u64>,
}

impl Reading {
    /// Counters that were cleared.
    pub(super) const CLEARED: Reading = Reading {
        sent_bytes: 0,
        sent_packets: Some(0),
        dropped_packets: 0,
        dropped_bytes: Some(0),
        trimmed_packets: Some(0),
    };
}

/// A queue at the time of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolledQueue {
    /// Its place in [`Polls::queues`].
    pub queue: usize,
    /// When it was read, nanoseconds, as [`Poll::time_ns`].
    pub time_ns: Option<u64>,
    /// Its counters, if the poll has them.
    pub counters: Option<Reading>,
    /// The most bytes that it held in the shared buffer since the poll before, or since the watermark was cleared.
    pub watermark_bytes: Option<u64>,
    /// Bytes in it at this time, if the file has them.
    pub queue_bytes: Option<u64>,
}

/// The queues of a switch that were read at one time, or one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Poll {
    /// When the last of them was read: nanoseconds since 1970, or any other origin; unknown for a single screen without a
    /// time.
    pub time_ns: Option<u64>,
    /// Each queue at most once; those that are missing were not read.
    pub queues: Vec<PolledQueue>,
    /// The watermark of the pool.
    pub pool_watermark_bytes: Option<u64>,
}

impl Poll {
    /// How long it took, nanoseconds.
    pub(super) fn span_ns(&self) -> u64 {
        let first = self.queues.iter().filter_map(|polled| polled.time_ns).min();
        first.zip(self.time_ns).map_or(0, |(first, last)| last.saturating_sub(first))
    }
}

/// The polls of one switch, by increasing time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polls {
    /// Every queue that is in a poll.
    pub queues: Vec<QueueId>,
    /// The polls.
    pub polls: Vec<Poll>,
    /// How much older than its poll a counter may be, nanoseconds.
    pub stale_ns: u64,
    /// The pool whose watermark was read, if the file names it.
    pub pool: Option<String>,
}

impl Polls {
    /// The queues of the polls and then those of the description that are in none.
    pub(super) fn all_queues(&self, spec: &SwitchSpec) -> Vec<QueueId> {
        let mut queues = self.queues.clone();
        let classes = usize::from(spec.queues_per_port);
        let mut is_there = vec![false; spec.ports() * classes];
        let mut names: Vec<Option<&str>> = vec![None; spec.ports()];
        for queue in &self.queues {
            names[queue.port].get_or_insert(&queue.port_name);
            if let Some(class) = queue.class {
                is_there[queue.port * classes + class] = true;
            }
        }
        let prefix = if self.queues.iter().any(|queue| queue.queue_name.starts_with("UC")) {
            "UC"
        } else {
            ""
        };
        for (place, _) in is_there.iter().enumerate().filter(|(_, is_there)| !**is_there) {
            let (port, class) = (place / classes, place % classes);
            queues.push(QueueId {
                port,
                port_name: names[port].map_or_else(|| port.to_string(), str::to_owned),
                queue_name: format!("{prefix}{class}"),
                class: Some(class),
            });
        }
        queues
    }

    /// How long it usually is from one poll to the next, nanoseconds: the median of the times between them, the lower one of
    /// two. `None` of less than three polls, which have no usual time.
    pub(super) fn usual_ns(&self) -> Option<u64> {
        let mut between: Vec<u64> = self
            .polls
            .windows(2)
            .filter_map(|pair| pair[1].time_ns?.checked_sub(pair[0].time_ns?))
            .collect();
        if between.len() < 2 {
            return None;
        }
        let middle = (between.len() - 1) / 2;
        Some(*between.select_nth_unstable(middle).1)
    }
}

/// How many polls are missing in a time between two, if it is more than one and a half times the usual.
pub(super) fn missing_polls(between_ns: u64, usual_ns: Option<u64>) -> u64 {
    let Some(usual_ns) = usual_ns.filter(|&usual| usual > 0) else { return 0 };
    if u128::from(between_ns) * 2 <= u128::from(usual_ns) * 3 {
        return 0;
    }
    (between_ns / usual_ns + u64::from(between_ns % usual_ns >= usual_ns.div_ceil(2)))
        .saturating_sub(1)
        .max(1)
}
