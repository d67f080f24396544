//! Replays: the same arrivals through every policy, and the exact error `eta`.
//!
//! Streaming: one arrival at a time, and as much memory as the buffers hold packets. All switches
//! run in continuous time with packets of any size, drained at line rate.

use dropcast_data::{Outcome, SwitchSpec, SwitchSpecs, TraceMeta};
use dropcast_switch::{
    Buffer, CompletePartitioning, CompleteSharing, Credence, DynamicThresholds, Fit, FollowLqd,
    Harmonic, LineRate, Lqd, Observer, Packet, Policy, Recorded, Removal, Switch, Victim,
};
use dropcast_train::Confusion;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A row of a labelled trace with its prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Arrival time, nanoseconds.
    pub time_ns: u64,
    /// Switch.
    pub switch_id: u16,
    /// Output port.
    pub port: u16,
    /// Queue within the port.
    pub queue: u8,
    /// Bytes in the buffer.
    pub size_bytes: u32,
    /// The label: whether LQD dropped the packet.
    pub dropped: bool,
    /// Whether a drop was predicted.
    pub predicted: bool,
}

impl Arrival {
    /// Whether it can arrive at a switch like `spec`, after another at `before_ns`.
    pub(crate) fn check(&self, spec: &SwitchSpec, before_ns: u64) -> Result<(), ReplayError> {
        let &Arrival { switch_id, port, queue, time_ns, size_bytes, .. } = self;
        let (ports, queues) = (spec.ports(), spec.queues_per_port);
        if usize::from(port) >= ports || queue >= queues {
            return Err(ReplayError::UnknownQueue { switch_id, port, queue, ports, queues });
        }
        let buffer_bytes = spec.buffer_bytes;
        if size_bytes == 0 || size_bytes > buffer_bytes {
            return Err(ReplayError::BadSize { switch_id, size_bytes, buffer_bytes });
        }
        if time_ns < before_ns {
            return Err(ReplayError::TimeGoesBack { switch_id, time_ns, before_ns });
        }
        Ok(())
    }

    /// The packet, the `number`th at its switch.
    pub(crate) fn packet(&self, spec: &SwitchSpec, number: u64) -> Packet {
        Packet {
            id: tag(number, self),
            queue: spec.queue_index(self.port, self.queue),
            size_bytes: self.size_bytes,
        }
    }
}

/// A buffer-sharing policy that is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayPolicy {
    /// Push-out Longest Queue Drop: what the others are measured against.
    Lqd,
    /// Credence (Algorithm 1) with the predictions of this report.
    Credence,
    /// FollowLQD (Algorithm 2), without predictions.
    FollowLqd,
    /// Dynamic Thresholds.
    DynamicThresholds,
    /// Harmonic.
    Harmonic,
    /// Complete Sharing.
    CompleteSharing,
    /// Complete partitioning.
    CompletePartitioning,
}

impl ReplayPolicy {
    /// Every policy, in the order of reports.
    pub const ALL: [ReplayPolicy; 7] = [
        ReplayPolicy::Lqd,
        ReplayPolicy::Credence,
        ReplayPolicy::FollowLqd,
        ReplayPolicy::DynamicThresholds,
        ReplayPolicy::Harmonic,
        ReplayPolicy::CompleteSharing,
        ReplayPolicy::CompletePartitioning,
    ];

    /// What readers know it as.
    pub fn name(self) -> &'static str {
        match self {
            ReplayPolicy::Lqd => "LQD",
            ReplayPolicy::Credence => "Credence",
            ReplayPolicy::FollowLqd => "FollowLQD",
            ReplayPolicy::DynamicThresholds => "Dynamic Thresholds",
            ReplayPolicy::Harmonic => "Harmonic",
            ReplayPolicy::CompleteSharing => "Complete Sharing",
            ReplayPolicy::CompletePartitioning => "Complete Partitioning",
        }
    }

    fn build(self, spec: &SwitchSpec, options: &ReplayOptions) -> Box<dyn Policy + Send> {
        let ReplayOptions { victim, fit, alpha } = *options;
        let service = || LineRate::new(spec);
        match self {
            ReplayPolicy::Lqd => Box::new(Lqd::new(victim)),
            ReplayPolicy::FollowLqd => Box::new(FollowLqd::new(spec, victim, fit, service())),
            ReplayPolicy::Credence => {
                let predictions = Recorded(is_predicted as fn(u64) -> bool);
                Box::new(Credence::new(spec, victim, fit, service(), predictions))
            }
            ReplayPolicy::DynamicThresholds => Box::new(DynamicThresholds::new(alpha)),
            ReplayPolicy::Harmonic => Box::new(Harmonic::default()),
            ReplayPolicy::CompleteSharing => Box::new(CompleteSharing),
            ReplayPolicy::CompletePartitioning => Box::new(CompletePartitioning),
        }
    }
}

/// How the replayed switches work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayOptions {
    /// Who makes room in LQD.
    pub victim: Victim,
    /// When a packet fits, for every policy.
    pub fit: Fit,
    /// The `alpha` of Dynamic Thresholds.
    pub alpha: f64,
}

/// The labels' defaults, and the `alpha` of the Credence paper.
impl Default for ReplayOptions {
    fn default() -> Self {
        ReplayOptions {
            victim: Victim::default(),
            fit: Fit::default(),
            alpha: DynamicThresholds::PAPER_ALPHA,
        }
    }
}

impl ReplayOptions {
    /// As the labels of a trace were made.
    pub fn of(meta: &TraceMeta) -> Self {
        let collect = meta.collect.unwrap_or_default();
        let fit = if collect.strict_fit { Fit::Strict } else { Fit::Exact };
        ReplayOptions { victim: collect.victim, fit, ..ReplayOptions::default() }
    }
}

/// What was transmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Packets.
    pub packets: u64,
    /// Bytes, as the packets take them in the buffer.
    pub bytes: u64,
}

impl Sent {
    pub(crate) fn add(&mut self, more: Sent) {
        self.packets += more.packets;
        self.bytes += more.bytes;
    }
}

/// What became of one switch's arrivals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Ports of the switch, the papers' `N`.
    pub ports: u16,
    /// All that arrived.
    pub arrived: Sent,
    /// What each policy transmitted, in the order of [`ReplayPolicy::ALL`].
    pub sent: [Sent; ReplayPolicy::ALL.len()],
    /// What FollowLQD transmitted of the arrivals without the predicted drops: the denominator
    /// of `eta` (Credence, Definition 1).
    pub followed: Sent,
    /// The trace's labels (truth) against those of the replay's own LQD (prediction).
    pub agreement: Confusion,
    /// The trace's labels against the predictions replayed.
    pub confusion: Confusion,
}

/// Why an arrival cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A packet that no buffer of this size can hold, or none at all.
    #[error(
        "switch {switch_id}: a packet of {size_bytes} bytes, expected 1 to the buffer's {buffer_bytes}"
    )]
    BadSize {
        /// Which switch.
        switch_id: u16,
        /// The packet.
        size_bytes: u32,
        /// The buffer.
        buffer_bytes: u32,
    },
    /// A switch that is not described.
    #[error("an arrival at switch {0}, which the trace's switch description does not have")]
    UnknownSwitch(u16),
    /// A queue that the switch does not have.
    #[error(
        "an arrival at switch {switch_id} for port {port}, queue {queue}, but it has {ports} ports with {queues} queues each"
    )]
    UnknownQueue {
        /// The switch.
        switch_id: u16,
        /// The port of the arrival.
        port: u16,
        /// Its queue.
        queue: u8,
        /// Ports there are.
        ports: usize,
        /// Queues each port has.
        queues: u8,
    },
    /// Time goes back.
    #[error("an arrival at switch {switch_id} at {time_ns} ns, after one at {before_ns} ns")]
    TimeGoesBack {
        /// The switch.
        switch_id: u16,
        /// Time of the arrival.
        time_ns: u64,
        /// Time of the arrival before.
        before_ns: u64,
    },
}

/// The policies of all switches of one trace.
pub struct Replay {
    specs: SwitchSpecs,
    options: ReplayOptions,
    switches: BTreeMap<u16, SwitchReplay>,
}

impl Replay {
    /// A replay that begins with empty buffers.
    pub fn new(specs: SwitchSpecs, options: ReplayOptions) -> Self {
        Replay { specs, options, switches: BTreeMap::new() }
    }

    /// The next arrival, in order of arrival.
    ///
    /// # Errors
    /// If it does not fit the switch description, or comes before the last one at its switch.
    pub fn arrive(&mut self, arrival: &Arrival) -> Result<(), ReplayError> {
        let switch_id = arrival.switch_id;
        if !self.switches.contains_key(&switch_id) {
            let spec = self.specs.get(switch_id).ok_or(ReplayError::UnknownSwitch(switch_id))?;
            self.switches.insert(switch_id, SwitchReplay::new(spec, &self.options));
        }
        match self.switches.get_mut(&switch_id) {
            Some(switch) => switch.arrive(arrival),
            None => Err(ReplayError::UnknownSwitch(switch_id)),
        }
    }

    /// Drains every buffer; the results by switch.
    pub fn finish(self) -> BTreeMap<u16, Replayed> {
        self.switches.into_iter().map(|(id, switch)| (id, switch.finish())).collect()
    }
}

/// A packet's number with what the replay must know of it, so that nothing is kept beside the
/// packets that the buffers hold: bit 0 the prediction, bit 1 the label.
fn tag(number: u64, arrival: &Arrival) -> u64 {
    number << 2 | u64::from(arrival.dropped) << 1 | u64::from(arrival.predicted)
}

fn is_predicted(tag: u64) -> bool {
    tag & 1 != 0
}

fn is_dropped(tag: u64) -> bool {
    tag & 2 != 0
}

struct SwitchReplay {
    spec: SwitchSpec,
    lanes: Vec<Lane>,
    /// FollowLQD, fed with predicted accepts only.
    followed: Lane,
    arrived: Sent,
    confusion: Confusion,
    time_ns: u64,
}

impl SwitchReplay {
    fn new(spec: &SwitchSpec, options: &ReplayOptions) -> Self {
        let lane = |policy: ReplayPolicy| Lane::new(spec, options, policy);
        SwitchReplay {
            spec: spec.clone(),
            lanes: ReplayPolicy::ALL.into_iter().map(lane).collect(),
            followed: lane(ReplayPolicy::FollowLqd),
            arrived: Sent::default(),
            confusion: Confusion::default(),
            time_ns: 0,
        }
    }

    fn arrive(&mut self, arrival: &Arrival) -> Result<(), ReplayError> {
        arrival.check(&self.spec, self.time_ns)?;
        self.time_ns = arrival.time_ns;
        let packet = arrival.packet(&self.spec, self.arrived.packets);
        self.arrived.add(Sent { packets: 1, bytes: u64::from(arrival.size_bytes) });
        self.confusion.add(arrival.dropped, arrival.predicted);
        for lane in &mut self.lanes {
            lane.arrive(&packet, arrival.time_ns);
        }
        if !arrival.predicted {
            self.followed.arrive(&packet, arrival.time_ns);
        }
        Ok(())
    }

    fn finish(self) -> Replayed {
        let tallies: Vec<Tally> = self.lanes.into_iter().map(Lane::finish).collect();
        Replayed {
            ports: u16::try_from(self.spec.ports()).unwrap_or(u16::MAX),
            arrived: self.arrived,
            sent: std::array::from_fn(|at| tallies[at].sent),
            followed: self.followed.finish().sent,
            agreement: tallies[0].labels,
            confusion: self.confusion,
        }
    }
}

/// One policy's switch, and what left it.
pub(crate) struct Lane {
    switch: Switch<Box<dyn Policy + Send>, LineRate>,
    tally: Tally,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) sent: Sent,
    /// The trace's labels against what this policy did.
    labels: Confusion,
}

impl Observer for Tally {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        let packet = removal.packet;
        self.labels.add(is_dropped(packet.id), removal.outcome.is_drop());
        if removal.outcome == Outcome::Departed {
            self.sent.add(Sent { packets: 1, bytes: u64::from(packet.size_bytes) });
        }
    }
}

impl Lane {
    pub(crate) fn new(spec: &SwitchSpec, options: &ReplayOptions, policy: ReplayPolicy) -> Self {
        let built = policy.build(spec, options);
        let switch = Switch::new(spec, options.fit, built, LineRate::new(spec));
        Lane { switch, tally: Tally::default() }
    }

    pub(crate) fn arrive(&mut self, packet: &Packet, time_ns: u64) {
        self.switch.advance(time_ns, &mut self.tally);
        if !self.switch.admit(packet, time_ns, &mut self.tally) {
            self.tally.labels.add(is_dropped(packet.id), true);
        }
    }

    pub(crate) fn finish(mut self) -> Tally {
        self.switch.advance(u64::MAX, &mut self.tally);
        self.tally
    }
}

#[cfg(test)]
mod tests;
