//! The constants of a switch, which its state and its model are made for.

use crate::TableError;
use core::fmt;

/// How a port picks the queue that it serves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service<'a> {
    /// One packet from each nonempty queue in turn.
    RoundRobin,
    /// The nonempty queue with the lowest number.
    StrictPriority,
    /// Deficit weighted round robin (Shreedhar and Varghese): bytes per round, one value for each
    /// queue of a port, none 0.
    Dwrr(&'a [u32]),
}

/// A shared-buffer switch, as in its description (`docs/switch.md`). All queues draw on the shared
/// buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchConstants<'a> {
    /// Queues of each port, at most 32.
    pub queues_per_port: u32,
    /// The shared buffer, `B`, at most 2,147,483,647.
    pub buffer_bytes: u32,
    /// Base round-trip time, at least 1 and below 2^32.
    pub base_rtt_ns: u64,
    /// The line rate of each port, not 0; as many as there are ports, `N`.
    pub line_rate_bps: &'a [u64],
    /// Which queue a port serves next.
    pub service: Service<'a>,
    /// Bytes that a packet takes on the wire in addition to its bytes in the buffer.
    pub wire_overhead_bytes: u32,
    /// Packets that a port takes out of the buffer ahead of the packet on the wire.
    pub transmit_ring_packets: u32,
    /// How much longer than its threshold a queue may become ([`crate::Situation::slack_bytes`]).
    pub slack_bytes: u32,
    /// Bytes beside the shared buffer that only the queue may use, and uses first: one value for each queue of a port; none if no
    /// queue has any.
    pub reserved_bytes: &'a [u32],
    /// Bit `i`: whether packets may be pushed out of queue `i` of a port.
    pub pushable: u32,
}

/// Why there is no decision for a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotReady {
    /// The constants are those of a switch with another number of ports.
    OtherPorts,
    /// Of a switch with another number of queues for each port.
    OtherQueues,
    /// Of a switch with another buffer.
    OtherBuffer,
    /// Of a switch with another base RTT.
    OtherBaseRtt,
    /// Of a switch where a port has another line rate.
    OtherLineRate,
    /// A constant is out of its range: no ports, no or more than 32 queues for a port, a line rate of 0, a
    /// buffer beyond 31 bits, a base RTT of 0 or beyond 32 bits, or quanta or reserved bytes that are not one
    /// for each queue.
    BadConstants,
    /// The bytes are not a table.
    BadTable(TableError),
    /// The model needs a feature with this code, which is not kept.
    UnknownFeature(u8),
    /// The model's averages have another time constant than the base RTT, ns.
    OtherAverage(u32),
    /// The model has other features than the one that it is to replace, or another order of them.
    OtherFeatures,
    /// A part of the memory is too short; this is its name.
    TooLittleMemory(&'static str),
}

impl SwitchConstants<'_> {
    /// Number of ports, `N`.
    pub fn ports(&self) -> usize {
        self.line_rate_bps.len()
    }

    /// Number of queues.
    pub fn queues(&self) -> usize {
        self.ports() * self.queues_per_port as usize
    }

    /// Checks that a switch is the one that these constants describe.
    ///
    /// # Errors
    /// The first constant that differs.
    pub fn check(
        &self,
        ports: u32,
        queues_per_port: u32,
        buffer_bytes: u64,
        base_rtt_ns: u64,
        line_rate_bps: &[u64],
    ) -> Result<(), NotReady> {
        if ports as usize != self.ports() {
            Err(NotReady::OtherPorts)
        } else if queues_per_port != self.queues_per_port {
            Err(NotReady::OtherQueues)
        } else if buffer_bytes != u64::from(self.buffer_bytes) {
            Err(NotReady::OtherBuffer)
        } else if base_rtt_ns != self.base_rtt_ns {
            Err(NotReady::OtherBaseRtt)
        } else if line_rate_bps != self.line_rate_bps {
            Err(NotReady::OtherLineRate)
        } else {
            Ok(())
        }
    }

    pub(crate) fn are_sound(&self) -> bool {
        let quanta_fit = match self.service {
            Service::Dwrr(quanta) => {
                quanta.len() == self.queues_per_port as usize && !quanta.contains(&0)
            }
            Service::RoundRobin | Service::StrictPriority => true,
        };
        self.ports() > 0
            && !self.line_rate_bps.contains(&0)
            && (1..=32).contains(&self.queues_per_port)
            && self.buffer_bytes <= i32::MAX as u32
            && (1..=u64::from(u32::MAX)).contains(&self.base_rtt_ns)
            && quanta_fit
            && (!self.reserves() || self.reserved_bytes.len() == self.queues_per_port as usize)
    }

    /// Whether a queue may have bytes of its own.
    pub(crate) fn reserves(&self) -> bool {
        !self.reserved_bytes.is_empty()
    }

    /// What a packet adds to the shared buffer if its queue holds `beside_bytes` of its reserved bytes.
    pub(crate) fn shared_part(&self, queue: usize, beside_bytes: u32, size_bytes: u32) -> u32 {
        if !self.reserves() {
            return size_bytes;
        }
        let reserved_bytes = self.reserved_bytes[queue % self.queues_per_port as usize];
        size_bytes.saturating_sub(reserved_bytes - beside_bytes)
    }

    pub(crate) fn is_pushable(&self, queue: usize) -> bool {
        self.pushable >> (queue % self.queues_per_port as usize) & 1 == 1
    }

    /// Time of a packet on the wire, rounded up, ns.
    pub(crate) fn wire_ns(&self, port: usize, size_bytes: u32) -> u64 {
        let bits = 8 * (u128::from(size_bytes) + u128::from(self.wire_overhead_bytes));
        let ns = (bits * 1_000_000_000).div_ceil(u128::from(self.line_rate_bps[port]));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// Bytes that a port sends in two base RTTs.
    pub(crate) fn drain_bytes(&self, port: usize) -> u64 {
        let bits = u128::from(self.line_rate_bps[port]) * u128::from(2 * self.base_rtt_ns);
        u64::try_from(bits / 8_000_000_000).unwrap_or(u64::MAX)
    }
}

// By hand: this crate runs on devices and has no dependencies.
impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let other = match self {
            NotReady::OtherPorts => "number of ports",
            NotReady::OtherQueues => "number of queues for each port",
            NotReady::OtherBuffer => "buffer",
            NotReady::OtherBaseRtt => "base RTT",
            NotReady::OtherLineRate => "line rate",
            NotReady::BadConstants => {
                return f.write_str("a constant of the switch is out of range");
            }
            NotReady::BadTable(error) => return error.fmt(f),
            NotReady::UnknownFeature(code) => {
                return write!(
                    f,
                    "the model needs the feature with code {code}, which is not kept"
                );
            }
            NotReady::OtherAverage(ns) => {
                return write!(f, "the model averages over {ns} ns, not over the base RTT");
            }
            NotReady::OtherFeatures => {
                return f
                    .write_str("the model has other features than the one that it is to replace");
            }
            NotReady::TooLittleMemory(part) => return write!(f, "the memory {part} is too short"),
        };
        write!(f, "the constants are those of a switch with another {other}")
    }
}

impl core::error::Error for NotReady {}
