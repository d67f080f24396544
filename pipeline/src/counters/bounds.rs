//! What must hold of every policy on the packets that arrived between two polls.
//!
//! A queue's port always sends while a packet waits there. So a switch that accepts `x` bytes more than the real one holds at
//! most `x` bytes more at any time, until its ports have had time to send them.

use super::bytes_range::{Range, total};
use super::intervals::{Interval, Scope, beside_the_buffer, most_overhead};

/// What bounds the bytes that a policy saves between two polls.
struct Spare {
    /// Bytes lost.
    lost_bytes: Range,
    /// Packets lost, at most.
    lost_packets: u64,
    /// The most bytes more that may be held than the real switch holds.
    room_bytes: u64,
    /// Bytes on the wire that each port that holds more sends of these.
    idle_bytes: u64,
}

/// What is certain of other policies, interval by interval. They begin as the real switch does.
pub(super) struct OtherPolicies<'a> {
    scope: Scope<'a>,
    /// What a switch that accepts all may hold more than the real one, of each port, on the wire.
    more: Vec<u64>,
    /// Whether it may have dropped packets that the real switch holds, and so may hold as much in larger packets.
    has_others: bool,
    spares: Vec<Spare>,
}

impl<'a> OtherPolicies<'a> {
    pub(super) fn new(scope: Scope<'a>) -> Self {
        let more = vec![0; scope.spec.ports()];
        OtherPolicies { scope, more, has_others: false, spares: Vec::new() }
    }

    /// Adds to the next interval, in order of time, what is certain. Where polls may be late, some of what the interval `after`
    /// it counts may have been lost in it.
    pub(super) fn bound(&mut self, interval: &mut Interval, after: Option<&Interval>) {
        let spec = self.scope.spec;
        let (buffer, mtu) = (u64::from(spec.buffer_bytes), u64::from(self.scope.mtu_bytes));
        // Ports send other packets at a time than the real switch's.
        let shift = mtu.saturating_mul(beside_the_buffer(spec));
        let (mut spare, dropped) = self.lost(interval);
        let late = after.filter(|_| self.scope.polls.stale_ns > 0).map(|next| self.lost(next).1);
        self.has_others |= self.more.iter().any(|&bytes| bytes > 0);
        let more = &mut self.more;
        let extra: Vec<u64> = (0..spec.ports())
            .map(|port| total([more[port], dropped[port], late.as_ref().map_or(0, |l| l[port])]))
            .collect();
        let ports_with_more: Vec<usize> =
            (0..spec.ports()).filter(|&port| extra[port] > 0).collect();
        let margin = shift.saturating_mul(ports_with_more.len() as u64);
        let all = margin.saturating_add(total(ports_with_more.iter().map(|&port| extra[port])));
        let larger =
            if self.has_others { most_overhead(spec, interval.pool_peak_bytes) } else { 0 };
        let occupied = total([interval.pool_peak_bytes, all, larger]);
        self.has_others |= occupied > buffer;
        interval.nothing_lost_at = (occupied <= buffer).then(|| {
            // The switch's own alphas dropped nothing.
            if ports_with_more.is_empty() && !spec.dt_alpha.is_empty() {
                return Some(0.0);
            }
            let free = (buffer - occupied) as f64;
            let length = |queue: usize| {
                let port = self.scope.queues[queue].port;
                let shift = if extra[port] > 0 { shift } else { 0 };
                total([interval.queue_peak_bytes[queue], extra[port], shift]) as f64
            };
            let longest = self.scope.shared().map(length).fold(0.0, f64::max);
            (-7..=6).map(|power| 2_f64.powi(power)).find(|alpha| longest < alpha * free)
        });
        spare.room_bytes = buffer.saturating_sub(interval.pool_peak_bytes.saturating_add(margin));
        for port in ports_with_more {
            let idle = interval.idle_bytes[port].at_least;
            spare.idle_bytes = spare.idle_bytes.min(idle);
            more[port] = more[port].saturating_sub(idle).saturating_add(dropped[port]);
            more[port] = more[port].min(buffer + most_overhead(spec, buffer));
        }
        self.spares.push(spare);
        self.find_other_causes(interval);
    }

    /// What was lost, and the most of each port on the wire.
    fn lost(&self, interval: &Interval) -> (Spare, Vec<u64>) {
        let overhead = u64::from(self.scope.spec.wire_overhead_bytes);
        let mut dropped = vec![0_u64; self.scope.spec.ports()];
        let mut spare = Spare {
            lost_bytes: Range::default(),
            lost_packets: 0,
            room_bytes: 0,
            idle_bytes: u64::MAX,
        };
        for queue in self.scope.shared() {
            let (bytes, packets) = (interval.lost_bytes[queue], interval.lost_packets[queue]);
            let port = self.scope.queues[queue].port;
            let on_wire = bytes.at_most.saturating_add(packets.at_most.saturating_mul(overhead));
            dropped[port] = dropped[port].saturating_add(on_wire);
            spare.lost_bytes.add(bytes);
            spare.lost_packets = spare.lost_packets.saturating_add(packets.at_most);
        }
        (spare, dropped)
    }

    /// Marks queues that lost packets though neither threshold nor pool can have been the cause.
    fn find_other_causes(&self, interval: &mut Interval) {
        let buffer = u64::from(self.scope.spec.buffer_bytes);
        for queue in self.scope.shared() {
            let threshold = |alpha: f64| alpha * (buffer - interval.pool_peak_bytes) as f64;
            let is_below = |alpha| (interval.queue_peak_bytes[queue] as f64) < threshold(alpha);
            interval.is_of_other_cause[queue] = interval.is_known[queue]
                && interval.lost_packets[queue].at_least > 0
                && interval.pool_peak_bytes + u64::from(self.scope.mtu_bytes) <= buffer
                && self.scope.alpha_of(queue).is_some_and(is_below);
        }
    }

    /// Counts the lost bytes that can be saved for certain: by a switch that accepts all that the real one accepts, and of what
    /// that one loses as much as its own buffer has room for.
    pub(super) fn saved_at_least(&self) -> u64 {
        let spares = &self.spares;
        let mtu_bytes = u64::from(self.scope.mtu_bytes);
        let overhead_bytes = u64::from(self.scope.spec.wire_overhead_bytes);
        // The most that the switch may hold beyond the real one when each interval begins: what is too much for a later
        // interval has to be sent before that one.
        let mut most = vec![u64::MAX; spares.len() + 1];
        for (number, spare) in spares.iter().enumerate().rev() {
            most[number] = spare.room_bytes.min(most[number + 1].saturating_add(spare.idle_bytes));
        }
        let (mut held, mut saved) = (0_u64, 0_u64);
        for (spare, &next) in spares.iter().zip(&most[1..]) {
            let left = held.saturating_sub(spare.idle_bytes);
            let room = (spare.room_bytes - held).min(next - left);
            let overhead = spare.lost_packets.saturating_mul(overhead_bytes);
            let all = spare.lost_bytes.at_most.saturating_add(overhead);
            held = left + all.min(room);
            let mut saved_here = spare.lost_bytes.at_least;
            if all > room {
                // The largest packets are saved first, until one does not fit. Their overhead is at most that of the others,
                // as a share of their bytes.
                let on_wire = (room + 1).saturating_sub(mtu_bytes + overhead_bytes);
                let lost = u128::from(spare.lost_bytes.at_least);
                let bytes = u128::from(on_wire) * lost / (lost + u128::from(overhead)).max(1);
                let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
                saved_here = bytes.min(saved_here);
            }
            saved = saved.saturating_add(saved_here);
        }
        saved
    }
}
