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

use dropcast_data::SwitchSpec;

/// The work of one switch that drops nothing.
pub(super) struct Relevance {
    spec: SwitchSpec,
    ports: Vec<Port>,
    buffer_bytes: u64,
    /// At most so many bytes wait at `bound_ns` or later, without the arrivals since.
    bound_bytes: u64,
    /// Ports whose lanes may differ, and ports that may hold a counted packet.
    unlike: usize,
    counting: usize,
    /// Arrivals since ports were last looked at.
    unchecked: u32,
    /// The first row whose packets may be in the buffer together with a possible drop, while lanes may
    /// differ.
    window: Option<u64>,
    /// Rows before this one need not be replayed any more, or are replayed.
    settled: u64,
    /// Whether queues are paused: then an idle port tells nothing.
    needs_all: bool,
}

struct Port {
    /// When it has sent all that has arrived.
    idle_ns: u64,
    /// The first row of its busy period.
    first_row: u64,
    /// Bytes in 2^16 ns, rounded up.
    rate: u64,
    /// The size of the last packet and its time on the wire.
    last: (u32, u64),
    is_unlike: bool,
    is_counting: bool,
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
    /// Whether a lane predicts its drop.
    pub(super) is_predicted: bool,
}

/// Looking at all ports takes longer than an arrival.
const CHECK_EVERY: u32 = 32;
/// Longer work is not counted in bytes: it may be dropped.
const LONGEST_NS: u64 = 1 << 36;
const RATE_BITS: u32 = 16;

impl Relevance {
    /// Of an empty switch.
    pub(super) fn new(spec: &SwitchSpec, has_pauses: bool) -> Self {
        let port = |&rate_bps: &u64| Port {
            idle_ns: 0,
            first_row: 0,
            last: (0, 0),
            rate: u64::try_from((u128::from(rate_bps) << RATE_BITS).div_ceil(8_000_000_000))
                .unwrap_or(u64::MAX),
            is_unlike: false,
            is_counting: false,
        };
        let ports: Vec<Port> = spec.line_rate_bps.iter().map(port).collect();
        Relevance {
            spec: spec.clone(),
            needs_all: has_pauses || ports.iter().any(|port| port.rate > 1 << 27),
            ports,
            buffer_bytes: spec.buffer_bytes.into(),
            bound_bytes: 0,
            unlike: 0,
            counting: 0,
            unchecked: 0,
            window: None,
            settled: 0,
        }
    }

    /// The next arrival. Returns the first of the rows that must be
    /// replayed, up to this one, if any must.
    pub(super) fn see(&mut self, met: &Met) -> Option<u64> {
        let &Met { row, time_ns, size_bytes, is_counted, is_predicted, .. } = met;
        if self.needs_all {
            self.settled = row + 1;
            return Some(row);
        }
        self.unchecked += 1;
        if self.unchecked >= CHECK_EVERY && self.unlike + self.counting > 0 {
            self.look_at_ports(time_ns);
        }
        let fits = self.fits(size_bytes, time_ns);
        self.arrive(met);
        self.bound_bytes = self.bound_bytes.saturating_add(size_bytes.into());
        let is_heeded = is_counted || self.counting > 0;
        if !fits || is_predicted && is_heeded {
            self.begin_window(time_ns);
        } else if self.unlike == 0 {
            self.window = None;
        }
        let first = self.window.filter(|_| is_heeded)?.max(self.settled);
        self.settled = row + 1;
        Some(first)
    }

    /// The first row that may have to be replayed after all; `None` if no row so far can.
    pub(super) fn open_row(&self, now_ns: u64) -> Option<u64> {
        if self.needs_all {
            return None;
        }
        let busy = self.ports.iter().filter(|port| port.idle_ns > now_ns);
        let first = busy.map(|port| port.first_row).chain(self.window).min();
        first.map(|row| row.max(self.settled))
    }

    /// All rows before this one are replayed.
    pub(super) fn settle(&mut self, row: u64) {
        self.settled = row;
    }

    /// Whether predictions about packets that do not count may matter.
    pub(super) fn holds_counted(&self) -> bool {
        self.needs_all || self.counting > 0
    }

    /// Whether a packet fits into the buffer whatever happened before.
    fn fits(&mut self, size_bytes: u32, now_ns: u64) -> bool {
        let has_room = |held: u64| held.saturating_add(size_bytes.into()) < self.buffer_bytes;
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

    fn arrive(&mut self, met: &Met) {
        let port = &mut self.ports[met.port];
        if port.last.0 != met.size_bytes {
            port.last = (met.size_bytes, self.spec.wire_time_ns(met.port, met.size_bytes));
        }
        let (_, wire_ns) = port.last;
        if port.idle_ns <= met.time_ns {
            port.first_row = met.row;
            self.unlike -= usize::from(std::mem::take(&mut port.is_unlike));
            self.counting -= usize::from(std::mem::take(&mut port.is_counting));
        }
        port.idle_ns = port.idle_ns.max(met.time_ns).saturating_add(wire_ns);
        if met.is_counted && !port.is_counting {
            port.is_counting = true;
            self.counting += 1;
        }
    }

    /// Lanes may differ from here on.
    fn begin_window(&mut self, now_ns: u64) {
        let busy = || self.ports.iter().filter(|port| port.idle_ns > now_ns);
        if self.unlike == 0 {
            self.window = busy().map(|port| port.first_row).min();
        }
        for port in &mut self.ports {
            port.is_unlike = port.idle_ns > now_ns;
        }
        self.unlike = self.ports.iter().filter(|port| port.is_unlike).count();
    }

    /// Ports that are idle are alike in all lanes.
    fn look_at_ports(&mut self, now_ns: u64) {
        self.unchecked = 0;
        for port in self.ports.iter_mut().filter(|port| port.idle_ns <= now_ns) {
            self.unlike -= usize::from(std::mem::take(&mut port.is_unlike));
            self.counting -= usize::from(std::mem::take(&mut port.is_counting));
        }
    }
}
