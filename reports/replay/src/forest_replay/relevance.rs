//! Which arrivals of a switch a replay needs.
//!
//! Where neither LQD nor any lane drops a packet, all of them do the same, and every packet is
//! transmitted. So only the arrivals around possible drops are replayed.
//!
//! Ports serve whatever they hold at line rate. So a port that would be idle if the switch had dropped
//! nothing (Lindley's recursion, one addition for each packet) is idle in every lane, and no lane holds
//! more than such a switch. A packet that fits even there, and that no lane predicts to be dropped, is
//! accepted wherever all lanes are alike. After a packet that may be dropped they may differ until
//! each port has been idle once. Before it, the arrivals of the busy periods that go on are what the
//! buffers hold.
//!
//! Dynamic Thresholds drop a packet before the buffer is full. With an `alpha` of at least `a` they do not while less than
//! `a / (1 + a)` of the buffer is taken: no queue is longer than what all hold, and that is below `a` times what is free. So with
//! such lanes a packet may be dropped from there on.
//!
//! Nor does Credence ask for a prediction while its longest queue is shorter than B/N (line 7 of Algorithm 1),
//! which it is wherever no port has more work than that.

use dropcast_data::SwitchSpec;

/// The work of one switch that drops nothing.
pub(super) struct Relevance {
    ports: Vec<Port>,
    wires: Vec<WireTimes>,
    /// While less waits, no lane drops a packet without a prediction.
    room_bytes: u64,
    /// At most so many bytes wait, without what has left since they were counted.
    bound_bytes: u64,
    /// No port has work for B/N bytes from then on, without further arrivals.
    short_ns: u64,
    /// Whether every prediction may matter.
    follows: bool,
    /// The last packet that may be dropped: lanes may differ at ports that have been busy since.
    suspect_row: u64,
    /// Whether there may be such ports, and ports that hold a counted packet. Known as of the last look.
    is_unlike: bool,
    is_counting: bool,
    /// Arrivals since ports were last looked at.
    unchecked: u32,
    /// The first row whose packets may be in the buffer together with a possible drop, while lanes may
    /// differ.
    window: Option<u64>,
    /// Rows before this one need not be replayed any more, or are replayed.
    settled: u64,
    /// Whether queues are paused: then nothing follows from an idle port.
    needs_all: bool,
}

struct Port {
    /// When it has sent all that has arrived.
    idle_ns: u64,
    /// The first row of its busy period, and the row after the last counted one.
    first_row: u64,
    after_counted: u64,
    /// Bytes in 2^16 ns, rounded up.
    rate: u64,
    /// Work for less than B/N bytes.
    short_ns: u64,
    /// Its place in `wires`.
    wire: usize,
}

/// Times on the wire at one rate.
struct WireTimes {
    /// A port of this rate.
    port: usize,
    /// By size; 0 if not known yet. Small, to stay in the nearest cache.
    times_ns: Vec<u32>,
}

/// An arrival.
#[derive(Clone, Copy)]
pub(super) struct Met {
    /// Its row, among those of all switches.
    pub(super) row: u64,
    pub(super) time_ns: u64,
    pub(super) port: usize,
    pub(super) size_bytes: u32,
    pub(super) is_counted: bool,
}

/// Looking at all ports takes longer than an arrival.
const CHECK_EVERY: u32 = 32;
/// Longer work is not counted in bytes: it may be dropped.
const LONGEST_NS: u64 = 1 << 36;
const RATE_BITS: u32 = 16;
/// The times of larger packets are computed each time.
const TABLED_BYTES: usize = 1 << 11;

impl Relevance {
    /// Of an empty switch; `follows` if a lane follows predictions without Algorithm 1, `least_alpha` of lanes with
    /// Dynamic Thresholds, if there are any.
    pub(super) fn new(
        spec: &SwitchSpec,
        has_pauses: bool,
        follows: bool,
        least_alpha: Option<f64>,
    ) -> Self {
        let buffer_bytes = f64::from(spec.buffer_bytes);
        let room_bytes = match least_alpha {
            Some(alpha) => (buffer_bytes * alpha / (1.0 + alpha)).floor() as u64,
            None => spec.buffer_bytes.into(),
        };
        let rates = &spec.line_rate_bps;
        let short_bytes = u64::from(spec.buffer_bytes).div_ceil(rates.len().max(1) as u64);
        let mut wires: Vec<WireTimes> = Vec::new();
        let port = |(port, &rate_bps): (usize, &u64)| {
            let rate = (u128::from(rate_bps) << RATE_BITS).div_ceil(8_000_000_000);
            let rate = u64::try_from(rate).unwrap_or(u64::MAX);
            let known = wires.iter().position(|wire| rates[wire.port] == rate_bps);
            let wire = known.unwrap_or_else(|| {
                wires.push(WireTimes { port, times_ns: vec![0; TABLED_BYTES] });
                wires.len() - 1
            });
            Port {
                idle_ns: 0,
                first_row: 0,
                after_counted: 0,
                rate,
                short_ns: (short_bytes.saturating_sub(1) << RATE_BITS) / rate.max(1),
                wire,
            }
        };
        let ports: Vec<Port> = rates.iter().enumerate().map(port).collect();
        Relevance {
            needs_all: has_pauses || ports.iter().any(|port| port.rate > 1 << 27),
            ports,
            wires,
            room_bytes,
            bound_bytes: 0,
            short_ns: 0,
            follows,
            suspect_row: 0,
            is_unlike: false,
            is_counting: false,
            unchecked: 0,
            window: None,
            settled: 0,
        }
    }

    /// The next arrival, at the switch of `spec`; `is_predicted` returns whether a lane predicts its drop, and is asked
    /// only if that may matter. Returns the first of the rows that must be replayed, up to this one, if any must.
    #[inline]
    pub(super) fn see(
        &mut self,
        spec: &SwitchSpec,
        met: &Met,
        is_predicted: impl FnOnce() -> bool,
    ) -> Option<u64> {
        let &Met { row, time_ns, size_bytes, is_counted, .. } = met;
        if self.needs_all {
            is_predicted();
            self.settled = row + 1;
            return Some(row);
        }
        self.unchecked += 1;
        if self.unchecked >= CHECK_EVERY {
            self.look_at_ports(time_ns);
        }
        let fits = self.fits(size_bytes, time_ns);
        let asks = self.follows || self.short_ns > time_ns;
        self.arrive(spec, met);
        self.bound_bytes = self.bound_bytes.saturating_add(size_bytes.into());
        self.is_counting |= is_counted;
        // Whether it fits or not: what is replayed needs its prediction.
        let is_predicted = self.is_counting && asks && is_predicted();
        if !fits || is_predicted {
            // Lanes may differ from here on.
            self.window = self.window.or_else(|| self.first_busy_row(time_ns));
            self.is_unlike = true;
            self.suspect_row = row;
        }
        let first = self.window.filter(|_| self.is_counting)?.max(self.settled);
        self.settled = row + 1;
        Some(first)
    }

    /// The first row that may have to be replayed after all; `None` if no row so far can.
    pub(super) fn open_row(&self, now_ns: u64) -> Option<u64> {
        if self.needs_all {
            return None;
        }
        let first = self.first_busy_row(now_ns).into_iter().chain(self.window).min();
        first.map(|row| row.max(self.settled))
    }

    /// All rows before this one are replayed.
    pub(super) fn settle(&mut self, row: u64) {
        self.settled = row;
    }

    /// Whether packets that count may still be in the buffer, so that others matter, too.
    pub(super) fn holds_counted(&self) -> bool {
        self.needs_all || self.is_counting
    }

    /// Whether a packet fits into the buffer, and below every threshold, whatever happened before.
    fn fits(&mut self, size_bytes: u32, now_ns: u64) -> bool {
        let has_room = |held: u64| held.saturating_add(size_bytes.into()) < self.room_bytes;
        if has_room(self.bound_bytes) {
            return true;
        }
        let held = |port: &Port| match port.idle_ns.saturating_sub(now_ns) {
            work_ns if work_ns > LONGEST_NS => u64::MAX,
            work_ns => (work_ns * port.rate).div_ceil(1 << RATE_BITS),
        };
        self.bound_bytes = self.ports.iter().map(held).fold(0, u64::saturating_add);
        has_room(self.bound_bytes)
    }

    #[inline]
    fn arrive(&mut self, spec: &SwitchSpec, met: &Met) {
        let port = &mut self.ports[met.port];
        let wire_ns = self.wires[port.wire].time_ns(spec, met.size_bytes);
        let begins = port.idle_ns <= met.time_ns;
        port.first_row = if begins { met.row } else { port.first_row };
        port.idle_ns = port.idle_ns.max(met.time_ns).saturating_add(wire_ns);
        port.after_counted = if met.is_counted { met.row + 1 } else { port.after_counted };
        self.short_ns = self.short_ns.max(port.idle_ns.saturating_sub(port.short_ns));
    }

    /// The first row of the busy periods that go on.
    fn first_busy_row(&self, now_ns: u64) -> Option<u64> {
        let busy = self.ports.iter().filter(|port| port.idle_ns > now_ns);
        busy.map(|port| port.first_row).min()
    }

    /// Ports that have been idle are alike in all lanes, and hold nothing from before.
    fn look_at_ports(&mut self, now_ns: u64) {
        self.unchecked = 0;
        if self.is_unlike || self.is_counting {
            let any_busy = |is: &dyn Fn(&Port) -> bool| {
                self.ports.iter().any(|port| port.idle_ns > now_ns && is(port))
            };
            self.is_unlike &= any_busy(&|port| port.first_row <= self.suspect_row);
            self.is_counting &= any_busy(&|port| port.first_row < port.after_counted);
        }
        if !self.is_unlike {
            self.window = None;
        }
    }
}

impl WireTimes {
    #[inline]
    fn time_ns(&mut self, spec: &SwitchSpec, size_bytes: u32) -> u64 {
        match self.times_ns.get(size_bytes as usize) {
            Some(&known) if known > 0 => known.into(),
            _ => self.compute_ns(spec, size_bytes),
        }
    }

    #[cold]
    fn compute_ns(&mut self, spec: &SwitchSpec, size_bytes: u32) -> u64 {
        let time_ns = spec.wire_time_ns(self.port, size_bytes);
        if let Some(known) = self.times_ns.get_mut(size_bytes as usize) {
            // Times beyond 4 seconds are not kept.
            *known = u32::try_from(time_ns).unwrap_or(0);
        }
        time_ns
    }
}
