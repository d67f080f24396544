//! The tracer's slow, obvious second implementation.

use dropcast_data::{
    CollectSettings, Departures, DropReason, Event, EventKind, Outcome, Scheduler, SwitchSpec,
    Victim,
};

/// A row of the naive tracer: all features in column order, and its outcome.
pub(crate) type Row = ([u32; 14], Outcome);

/// Everything by scanning: queues are vectors of (row, bytes), averages plain numbers.
pub(crate) struct Naive {
    spec: SwitchSpec,
    settings: CollectSettings,
    queues: Vec<Vec<(usize, u32)>>,
    averages: Vec<(u32, u64)>,
    occupancy_average: (u32, u64),
    /// By port: when it may dequeue its next packet, and the queue whose turn it is.
    ports: Vec<(u64, usize)>,
    /// By port: the start and end of each of its transmissions.
    wire: Vec<Vec<(u64, u64)>>,
    credit: Vec<u32>,
    /// By queue, its history: time, bytes that arrived, length afterwards.
    events: Vec<Vec<(u64, u32, u32)>>,
    /// By queue, every pause row and resume row so far: its time, whether it pauses.
    pauses: Vec<Vec<(u64, bool)>>,
    /// The shortest length of each class, and the class of the cut, if there was an event.
    floors: Vec<u64>,
    cut: Option<usize>,
}

impl Naive {
    pub(crate) fn new(spec: &SwitchSpec, settings: CollectSettings) -> Self {
        Naive {
            spec: spec.clone(),
            settings,
            queues: vec![Vec::new(); spec.queues()],
            averages: vec![(0, 0); spec.queues()],
            occupancy_average: (0, 0),
            ports: vec![(0, 0); spec.ports()],
            wire: vec![Vec::new(); spec.ports()],
            credit: vec![0; spec.queues()],
            events: vec![Vec::new(); spec.queues()],
            pauses: vec![Vec::new(); spec.queues()],
            floors: floors(),
            cut: None,
        }
    }

    /// Whether a transmission of the queue may not begin at `time`: the last row before is a pause.
    fn is_paused(&self, queue: usize, time: u64) -> bool {
        let before = self.pauses[queue].iter().rev().find(|&&(at, _)| at < time);
        before.is_some_and(|&(_, pauses)| pauses)
    }

    /// When a port sends next, and the queues that may, if any waits: at the first nanosecond from
    /// `from` on in which some packet of the port is not paused, up to `now`.
    fn next_sending(&self, port: usize, from: u64, now: u64) -> Option<u64> {
        let per_port = usize::from(self.spec.queues_per_port);
        let waits = |&queue: &usize| !self.queues[queue].is_empty();
        let queues = || (port * per_port..(port + 1) * per_port).filter(waits);
        (from..=now).find(|&time| queues().any(|queue| !self.is_paused(queue, time)))
    }

    fn queue_bytes(&self, queue: usize) -> u32 {
        self.queues[queue].iter().map(|&(_, bytes)| bytes).sum()
    }

    /// Bytes of a queue in the shared buffer; its length if it does not draw on it.
    fn used(&self, queue: usize) -> u32 {
        let reserved = if self.shares(queue) { self.spec.reserved_bytes_of(queue) } else { 0 };
        self.queue_bytes(queue).saturating_sub(reserved)
    }

    fn class(&self, queue: usize) -> usize {
        queue % usize::from(self.spec.queues_per_port)
    }

    fn shares(&self, queue: usize) -> bool {
        self.spec.shared[self.class(queue)]
    }

    fn shared_lengths(&self) -> Vec<u32> {
        (0..self.queues.len())
            .map(|queue| if self.shares(queue) { self.used(queue) } else { 0 })
            .collect()
    }

    fn occupancy(&self) -> u32 {
        self.shared_lengths().iter().sum()
    }

    fn mix(&self, (old, at): (u32, u64), x: u32, now: u64) -> (u32, u64) {
        let tau = self.spec.base_rtt_ns;
        let g = (now - at).min(tau) as f64 / tau as f64;
        ((g * x as f64 + (1.0 - g) * old as f64).trunc() as u32, now)
    }

    fn update_averages(&mut self, queue: usize, now: u64) {
        self.averages[queue] = self.mix(self.averages[queue], self.used(queue), now);
        self.occupancy_average = self.mix(self.occupancy_average, self.occupancy(), now);
    }

    fn log(&mut self, queue: usize, arrived: u32, now: u64) {
        let length = self.used(queue);
        self.events[queue].push((now, arrived, length));
        if self.shares(queue) {
            self.move_cut();
        }
    }

    /// The class of a length, by a search.
    fn length_class(&self, bytes: u64) -> usize {
        self.floors.iter().filter(|&&floor| floor <= bytes).count() - 1
    }

    /// What is expected in the queues that share the buffer in a quarter of a base RTT, at most the buffer.
    fn soon(&self) -> Vec<u64> {
        (0..self.queues.len()).map(|queue| self.soon_in(queue)).collect()
    }

    /// The same in one queue, 0 if it does not share the buffer.
    fn soon_in(&self, queue: usize) -> u64 {
        let bytes = self.expected(queue, 2).min(self.spec.buffer_bytes.into());
        if self.shares(queue) { bytes } else { 0 }
    }

    /// Bytes if queues from class `cut` on are cut down to `level`.
    fn cut_down(&self, cut: usize, level: u64) -> u64 {
        let cut_down = |bytes| if self.length_class(bytes) < cut { bytes } else { level };
        self.soon().into_iter().filter(|&bytes| bytes > 0).map(cut_down).sum()
    }

    /// One class at most towards the last at which the buffer is not full but for a 32nd part.
    fn move_cut(&mut self) {
        let buffer = u64::from(self.spec.buffer_bytes);
        let (full, top) = (buffer - buffer / 32, self.length_class(buffer) + 1);
        let cut = self.cut.unwrap_or(top);
        let is_full = |cut: usize| self.cut_down(cut, self.floors[cut]) > full;
        self.cut = Some(match () {
            () if cut > 0 && is_full(cut) => cut - 1,
            () if cut < top && !is_full(cut + 1) => cut + 1,
            () => cut,
        });
    }

    /// Bytes if every queue is cut down to `level`, by classes, and the same near the cut.
    fn by_class(&self, level: u32) -> [u64; 2] {
        let (of, level) = (self.length_class(level.into()), u64::from(level));
        let own = || self.soon().into_iter().filter(|&b| b > 0 && self.length_class(b) == of);
        // Queues of the packet's class: cut down together, not one by one.
        let together = own().sum::<u64>().min(level * own().count() as u64);
        let all = self.cut_down(of, level) - level * own().count() as u64 + together;
        let cut = self.cut.unwrap_or(usize::MAX);
        let near = if of == cut || of + 1 == cut { all } else { self.cut_down(cut, level) };
        [all, near]
    }

    /// The projected length of a queue some eighths of a base RTT ahead, from its whole history.
    fn expected(&self, queue: usize, eighths: u64) -> u64 {
        let tau = self.spec.base_rtt_ns;
        let window = (tau / 8).max(1);
        let (mut recent, mut last) = (0, 0);
        for &(now, arrived, _) in &self.events[queue] {
            recent -= recent * (now - last).min(window) / window;
            recent += u64::from(arrived);
            last = now;
        }
        let rate = self.spec.line_rate_bps[queue / usize::from(self.spec.queues_per_port)];
        match self.events[queue].last() {
            Some(&(_, _, length)) if length > 0 => {
                let drain = rate * eighths * tau / 64_000_000_000;
                (u64::from(length) + eighths * recent).saturating_sub(drain)
            }
            _ => 0,
        }
    }

    fn depart(&mut self, queue: usize, now: u64, rows: &mut [Row]) {
        let (row, _) = self.queues[queue].remove(0);
        rows[row].1 = Outcome::Departed;
        self.update_averages(queue, now);
        self.log(queue, 0, now);
    }

    /// Line rate: the port that may send earliest (ties: lowest) sends, as long as it is not later
    /// than `now`. `ports` also covers idle ports: an empty port may send when its next packet
    /// arrives.
    fn serve(&mut self, now: u64, rows: &mut [Row]) {
        let per_port = usize::from(self.spec.queues_per_port);
        loop {
            let next = (0..self.spec.ports())
                .filter_map(|port| Some((self.next_sending(port, self.ports[port].0, now)?, port)))
                .min();
            let Some((time, port)) = next else { return };
            let turn = self.ports[port].1;
            let order: Vec<usize> = match self.spec.scheduler {
                Scheduler::StrictPriority => (0..per_port).collect(),
                _ => (0..per_port).map(|step| (turn + step) % per_port).collect(),
            };
            let class = order
                .into_iter()
                .find(|class| {
                    let queue = port * per_port + class;
                    !self.queues[queue].is_empty() && !self.is_paused(queue, time)
                })
                .expect("a packet may be sent");
            let queue = port * per_port + class;
            let bytes = self.queues[queue][0].1;
            let begins = time.max(self.wire[port].last().map_or(0, |&(_, end)| end));
            self.wire[port].push((begins, begins + self.spec.wire_time_ns(port, bytes)));
            self.ports[port] = (self.next_out(port).max(time), (class + 1) % per_port);
            self.depart(queue, time, rows);
        }
    }

    /// When the next packet may leave the buffer: when the last one ends, or, with a ring of `r`
    /// slots, when the `r`-th before it begins.
    fn next_out(&self, port: usize) -> u64 {
        let sent = &self.wire[port];
        match usize::from(self.spec.transmit_ring_packets) {
            0 => sent.last().map_or(0, |&(_, end)| end),
            ring => sent.len().checked_sub(ring).map_or(0, |at| sent[at].0),
        }
    }

    fn observe_departure(&mut self, queue: usize, bytes: u32, now: u64, rows: &mut [Row]) {
        self.credit[queue] += bytes;
        while !self.queues[queue].is_empty() && self.queues[queue][0].1 <= self.credit[queue] {
            self.credit[queue] -= self.queues[queue][0].1;
            self.depart(queue, now, rows);
        }
        if self.queues[queue].is_empty() {
            self.credit[queue] = 0;
        }
    }

    fn features(&self, queue: usize) -> [u32; 14] {
        let own = self.used(queue);
        let lengths = self.shared_lengths();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let shared = || (0..self.queues.len()).filter(|&queue| self.shares(queue));
        let projected: u64 = shared().map(|queue| self.expected(queue, 16)).sum();
        let [all, near] = self.by_class(own);
        let level = |eighths| {
            shared().map(|queue| self.expected(queue, eighths).min(own.into())).sum::<u64>() as u32
        };
        [
            own,
            self.averages[queue].0,
            self.occupancy(),
            self.occupancy_average.0,
            longest,
            lengths.iter().filter(|&&bytes| bytes > own).count() as u32,
            longest.saturating_sub(own),
            projected as u32,
            lengths.iter().map(|&bytes| bytes.min(own)).sum(),
            level(2),
            level(8),
            level(16),
            all as u32,
            near as u32,
        ]
    }

    /// Steps 3 and 4 of the virtual LQD; returns whether the packet was accepted.
    fn admit(&mut self, queue: usize, bytes: u32, now: u64, rows: &mut [Row]) -> bool {
        let capacity = self.spec.buffer_bytes;
        // What the packet adds to the shared buffer.
        let added = |naive: &Naive| {
            let after = naive.queue_bytes(queue) + bytes;
            after.saturating_sub(naive.spec.reserved_bytes_of(queue)) - naive.used(queue)
        };
        while self.occupancy() + added(self) > capacity && added(self) > 0 {
            let candidate = |q: usize| {
                let counts = self.settings.victim == Victim::Arrival && q == queue;
                self.used(q) + if counts { added(self) } else { 0 }
            };
            let longest = (0..self.queues.len())
                .filter(|&q| self.spec.pushable[self.class(q)] && self.shares(q))
                .filter(|&q| candidate(q) > 0)
                .max_by_key(|&q| (candidate(q), std::cmp::Reverse(q)));
            let Some(victim) = longest else { return false };
            if self.settings.victim == Victim::Arrival && victim == queue {
                return false;
            }
            let (row, _) = self.queues[victim].pop().expect("it is not empty");
            rows[row].1 = Outcome::PushedOut;
            self.update_averages(victim, now);
            self.log(victim, 0, now);
        }
        added(self) == 0 || !self.settings.strict_fit || self.occupancy() + added(self) < capacity
    }

    fn arrive(&mut self, queue: usize, bytes: u32, now: u64, rows: &mut Vec<Row>) {
        let row = rows.len();
        // Packets not removed by the end are transmitted.
        rows.push((self.features(queue), Outcome::Departed));
        if self.shares(queue) && !self.admit(queue, bytes, now, rows) {
            rows[row].1 = Outcome::Rejected;
            self.log(queue, bytes, now);
            return;
        }
        // All that could be sent up to now has been.
        let port = queue / usize::from(self.spec.queues_per_port);
        self.ports[port].0 = self.ports[port].0.max(now);
        self.queues[queue].push((row, bytes));
        self.log(queue, bytes, now);
    }

    /// The rows of these events.
    pub(crate) fn run(mut self, events: &[Event]) -> Vec<Row> {
        let mut rows = Vec::new();
        for event in events {
            let queue = self.spec.queue_index(event.port, event.queue);
            let (now, bytes) = (event.time_ns, event.size_bytes);
            match (self.settings.departures, event.kind) {
                (_, EventKind::Drop(DropReason::PushOut)) => {}
                (_, EventKind::Pause | EventKind::Resume) => {
                    self.pauses[queue].push((now, event.kind == EventKind::Pause));
                }
                (Departures::LineRate, EventKind::Arrival | EventKind::Drop(_)) => {
                    self.serve(now, &mut rows);
                    self.arrive(queue, bytes, now, &mut rows);
                }
                (Departures::LineRate, EventKind::Departure) => {}
                (Departures::Observed, EventKind::Arrival | EventKind::Drop(_)) => {
                    self.arrive(queue, bytes, now, &mut rows);
                }
                (Departures::Observed, EventKind::Departure) => {
                    self.observe_departure(queue, bytes, now, &mut rows);
                }
            }
        }
        rows
    }
}

/// The shortest lengths of classes: four for each octave from 4 KiB on.
fn floors() -> Vec<u64> {
    let octaves = (0..=20).flat_map(|halvings| (4..8).map(move |units| units << halvings));
    (0..4).chain(octaves).map(|units: u64| 1024 * units).collect()
}
