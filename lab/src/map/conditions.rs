//! The conditions of a map: axes, and grids of their values.

use crate::closed_loop::Experiment;
use dropcast_data::Scheduler;
use dropcast_fabric::{FabricConfig, OnFull, Paths, PoissonFlows, Transport};
use dropcast_switch::AqmSpec;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Every combination of the values of its axes. An axis without values keeps what the map's fabric
/// and traffic say; a list of points is several grids of one value per axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grid {
    /// Its name, and that of its files.
    pub name: String,
    /// Payload offered by all flows that are no incast, as a share of the rate between leaves and
    /// spines.
    pub load: Vec<f64>,
    /// Payload of all answers to a request, as a share of a leaf's buffer.
    pub burst: Vec<f64>,
    /// Servers that answer a request, each with an equal part of the burst.
    pub fan_in: Vec<u16>,
    /// Buffer of a leaf, kilobytes (1,000 bytes) per port per Gbps; spines' buffers scale with it.
    pub buffer_kb: Vec<f64>,
    /// Transports of the flows; requests are answered with the first.
    pub transports: Vec<TransportMix>,
    /// Whether switches mark.
    pub ecn: Vec<bool>,
    /// Queues of the answers to requests and of other flows.
    pub priorities: Vec<Priorities>,
    /// Servers' rate over uplinks' rate of a leaf.
    pub oversubscription: Vec<f64>,
    /// Servers of a leaf; the buffer per port and the oversubscription stay.
    pub servers: Vec<u16>,
    /// Minimum retransmission timeout, milliseconds.
    pub min_rto_ms: Vec<f64>,
    /// What becomes of packets that a policy does not hold.
    pub on_full: Vec<OnFull>,
    /// Whether packets of a flow share a spine.
    pub paths: Vec<Paths>,
}

/// Transports that share the load of flows: `dctcp`, `dctcp+cubic` (one half each), or
/// `0.9 dctcp + 0.1 unresponsive`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TransportMix {
    text: String,
    parts: Vec<(Transport, f64)>,
}

/// Which queue of a port holds what, and how the port serves them. Acknowledgements have a queue of
/// their own in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Priorities {
    /// One queue for all data.
    Shared,
    /// Answers to requests in one queue, other flows in another, round robin.
    Separate,
    /// As [`Priorities::Separate`], with strict priority for the answers.
    IncastFirst,
    /// As [`Priorities::Separate`], with strict priority for the other flows.
    IncastLast,
}

/// An axis at one value.
#[derive(Clone, Debug, PartialEq)]
enum Setting {
    Servers(u16),
    Oversubscription(f64),
    Buffer(f64),
    Load(f64),
    Burst(f64),
    FanIn(u16),
    Transports(TransportMix),
    Ecn(bool),
    Priorities(Priorities),
    MinRto(f64),
    OnFull(OnFull),
    Paths(Paths),
}

/// An axis, and the names of its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// Its name in a grid.
    pub name: &'static str,
    /// What it measures, in words.
    pub label: &'static str,
    /// Its values, in order.
    pub values: Vec<String>,
}

/// A point of a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Condition {
    /// The grid.
    pub grid: String,
    /// The value of each axis that the grid sets, by the axis' name.
    pub at: Vec<(&'static str, String)>,
}

impl Grid {
    /// The axes that it sets, in a fixed order.
    pub fn axes(&self) -> Vec<Axis> {
        let axis = |values: Vec<Setting>| Axis {
            name: values[0].axis(),
            label: values[0].words(),
            values: values.iter().map(Setting::to_string).collect(),
        };
        self.settings().into_iter().map(axis).collect()
    }

    /// The values of the axes that it sets.
    fn settings(&self) -> Vec<Vec<Setting>> {
        fn all<T: Clone>(values: &[T], make: fn(T) -> Setting) -> Vec<Setting> {
            values.iter().cloned().map(make).collect()
        }
        let axes = [
            all(&self.load, Setting::Load),
            all(&self.burst, Setting::Burst),
            all(&self.fan_in, Setting::FanIn),
            all(&self.buffer_kb, Setting::Buffer),
            all(&self.transports, Setting::Transports),
            all(&self.ecn, Setting::Ecn),
            all(&self.priorities, Setting::Priorities),
            all(&self.oversubscription, Setting::Oversubscription),
            all(&self.servers, Setting::Servers),
            all(&self.min_rto_ms, Setting::MinRto),
            all(&self.on_full, Setting::OnFull),
            all(&self.paths, Setting::Paths),
        ];
        axes.into_iter().filter(|values| !values.is_empty()).collect()
    }

    /// How many points it has.
    pub(super) fn len(&self) -> usize {
        self.settings().iter().map(Vec::len).fold(1, usize::saturating_mul)
    }

    /// Its points: `base` under each combination of values, the last axis first.
    pub(super) fn points(&self, base: &Experiment) -> Vec<(Condition, Experiment)> {
        let mut points: Vec<Vec<Setting>> = vec![Vec::new()];
        for values in self.settings() {
            let with = |point: &Vec<Setting>| -> Vec<Vec<Setting>> {
                values
                    .iter()
                    .map(|value| [&point[..], std::slice::from_ref(value)].concat())
                    .collect()
            };
            points = points.iter().flat_map(with).collect();
        }
        let point = |mut settings: Vec<Setting>| {
            let at = settings.iter().map(|value| (value.axis(), value.to_string())).collect();
            let mut experiment = base.clone();
            settings.sort_by_key(Setting::order);
            for setting in &settings {
                setting.apply(&mut experiment);
            }
            (Condition { grid: self.name.clone(), at }, experiment)
        };
        points.into_iter().map(point).collect()
    }
}

impl Condition {
    /// The value of an axis, if the grid sets it.
    pub fn value(&self, axis: &str) -> Option<&str> {
        self.at.iter().find(|(name, _)| *name == axis).map(|(_, value)| value.as_str())
    }
}

impl Setting {
    fn axis(&self) -> &'static str {
        match self {
            Setting::Servers(_) => "servers",
            Setting::Oversubscription(_) => "oversubscription",
            Setting::Buffer(_) => "buffer_kb",
            Setting::Load(_) => "load",
            Setting::Burst(_) => "burst",
            Setting::FanIn(_) => "fan_in",
            Setting::Transports(_) => "transports",
            Setting::Ecn(_) => "ecn",
            Setting::Priorities(_) => "priorities",
            Setting::MinRto(_) => "min_rto_ms",
            Setting::OnFull(_) => "on_full",
            Setting::Paths(_) => "paths",
        }
    }

    fn words(&self) -> &'static str {
        match self {
            Setting::Servers(_) => "servers of a leaf",
            Setting::Oversubscription(_) => "oversubscription",
            Setting::Buffer(_) => "buffer, KB per port per Gbps",
            Setting::Load(_) => "load, share of the uplinks",
            Setting::Burst(_) => "burst, share of the buffer",
            Setting::FanIn(_) => "servers that answer",
            Setting::Transports(_) => "transports",
            Setting::Ecn(_) => "marking",
            Setting::Priorities(_) => "queues",
            Setting::MinRto(_) => "minimum RTO, ms",
            Setting::OnFull(_) => "what does not fit",
            Setting::Paths(_) => "paths",
        }
    }

    /// Sizes of the fabric come before what is relative to them.
    fn order(&self) -> u8 {
        match self {
            Setting::Servers(_) => 0,
            Setting::Oversubscription(_) => 1,
            Setting::Buffer(_) => 2,
            Setting::Load(_) => 3,
            Setting::Burst(_) => 4,
            Setting::FanIn(_) => 5,
            Setting::Transports(_) => 6,
            Setting::Ecn(_) => 7,
            Setting::Priorities(_) => 8,
            Setting::MinRto(_) => 9,
            Setting::OnFull(_) => 10,
            Setting::Paths(_) => 11,
        }
    }

    fn apply(&self, to: &mut Experiment) {
        let Experiment { fabric, traffic, .. } = to;
        match self {
            Setting::Servers(servers) => {
                let ratio = oversubscription(fabric);
                let per_gbps = f64::from(fabric.leaf_buffer_bytes) / leaf_gbps(fabric);
                fabric.servers = *servers;
                set_oversubscription(fabric, ratio);
                set_leaf_buffer(fabric, per_gbps * leaf_gbps(fabric));
            }
            Setting::Oversubscription(ratio) => {
                let per_gbps = f64::from(fabric.leaf_buffer_bytes) / leaf_gbps(fabric);
                set_oversubscription(fabric, *ratio);
                set_leaf_buffer(fabric, per_gbps * leaf_gbps(fabric));
            }
            Setting::Buffer(kb) => set_leaf_buffer(fabric, 1_000.0 * kb * leaf_gbps(fabric)),
            Setting::Load(load) => {
                let all: f64 = traffic.flows.iter().map(|flows| flows.load).sum();
                for flows in &mut traffic.flows {
                    flows.load *= load / all;
                }
            }
            Setting::Burst(burst) => {
                traffic.incasts.iter_mut().for_each(|incast| incast.burst = *burst);
            }
            Setting::FanIn(servers) => {
                traffic.incasts.iter_mut().for_each(|incast| incast.fan_in = *servers);
            }
            Setting::Transports(mix) => {
                let part = |flows: &PoissonFlows, (transport, share): &(Transport, f64)| {
                    let load = flows.load * share;
                    PoissonFlows { load, transport: *transport, ..flows.clone() }
                };
                let of = |flows| mix.parts.iter().map(move |one| part(flows, one));
                traffic.flows = traffic.flows.iter().flat_map(of).collect();
                for incast in &mut traffic.incasts {
                    incast.transport = mix.parts[0].0;
                }
            }
            Setting::Ecn(true) => {}
            Setting::Ecn(false) => fabric.aqm = AqmSpec::None(Default::default()),
            Setting::Priorities(priorities) => priorities.apply(to),
            Setting::MinRto(ms) => fabric.min_rto_ns = (1e6 * ms).round() as u64,
            Setting::OnFull(on_full) => fabric.on_full = *on_full,
            Setting::Paths(paths) => fabric.paths = *paths,
        }
    }
}

fn uplinks_bps(fabric: &FabricConfig) -> f64 {
    f64::from(fabric.spines) * fabric.uplink_rate_bps as f64
}

fn servers_bps(fabric: &FabricConfig) -> f64 {
    f64::from(fabric.servers) * fabric.server_rate_bps as f64
}

fn leaf_gbps(fabric: &FabricConfig) -> f64 {
    (servers_bps(fabric) + uplinks_bps(fabric)) / 1e9
}

fn oversubscription(fabric: &FabricConfig) -> f64 {
    servers_bps(fabric) / uplinks_bps(fabric)
}

/// Changes the rate of uplinks; a fabric of one leaf has none.
fn set_oversubscription(fabric: &mut FabricConfig, ratio: f64) {
    if fabric.spines > 0 {
        let bps = servers_bps(fabric) / ratio / f64::from(fabric.spines);
        fabric.uplink_rate_bps = bps.round() as u64;
    }
}

/// Changes a leaf's buffer, and a spine's in the same ratio.
fn set_leaf_buffer(fabric: &mut FabricConfig, bytes: f64) {
    let ratio = bytes / f64::from(fabric.leaf_buffer_bytes);
    fabric.leaf_buffer_bytes = bytes.round() as u32;
    fabric.spine_buffer_bytes = (f64::from(fabric.spine_buffer_bytes) * ratio).round() as u32;
}

impl Priorities {
    fn apply(self, to: &mut Experiment) {
        let (incast, flows, scheduler) = match self {
            Priorities::Shared => (1, 1, Scheduler::RoundRobin),
            Priorities::Separate => (1, 2, Scheduler::RoundRobin),
            Priorities::IncastFirst => (1, 2, Scheduler::StrictPriority),
            Priorities::IncastLast => (2, 1, Scheduler::StrictPriority),
        };
        to.fabric.queues_per_port = 1 + u8::max(incast, flows);
        to.fabric.scheduler = scheduler;
        to.fabric.quantum_bytes = Vec::new();
        to.traffic.incasts.iter_mut().for_each(|part| part.queue = incast);
        to.traffic.flows.iter_mut().for_each(|part| part.queue = flows);
    }

    fn name(self) -> &'static str {
        match self {
            Priorities::Shared => "shared",
            Priorities::Separate => "separate",
            Priorities::IncastFirst => "incast-first",
            Priorities::IncastLast => "incast-last",
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Servers(servers) | Setting::FanIn(servers) => write!(f, "{servers}"),
            Setting::Oversubscription(value)
            | Setting::Buffer(value)
            | Setting::Load(value)
            | Setting::MinRto(value)
            | Setting::Burst(value) => write!(f, "{value}"),
            Setting::Transports(mix) => f.write_str(&mix.text),
            Setting::Ecn(true) => f.write_str("ECN"),
            Setting::Ecn(false) => f.write_str("no ECN"),
            Setting::Priorities(priorities) => f.write_str(priorities.name()),
            Setting::OnFull(OnFull::Drop) => f.write_str("dropped"),
            Setting::OnFull(OnFull::Trim) => f.write_str("trimmed"),
            Setting::Paths(Paths::Ecmp) => f.write_str("ECMP"),
            Setting::Paths(Paths::Spray) => f.write_str("spraying"),
        }
    }
}

impl TryFrom<String> for TransportMix {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('+').map(str::trim).collect();
        let equal = 1.0 / parts.len() as f64;
        let part = |part: &&str| -> Result<(Transport, f64), String> {
            let (share, name) = match part.split_once(' ') {
                None => (equal, *part),
                Some((share, name)) => {
                    let number = share.parse().map_err(|_| {
                        format!("{text:?}: {share:?} is no share; expected as in 0.9 dctcp")
                    })?;
                    (number, name.trim())
                }
            };
            let known = Transport::ALL.into_iter().find(|transport| transport.name() == name);
            let names = || Transport::ALL.map(Transport::name).join(", ");
            let transport = known.ok_or_else(|| {
                format!("{text:?}: {name:?} is no transport; expected one of {}", names())
            })?;
            Ok((transport, share))
        };
        let parts = parts.iter().map(part).collect::<Result<Vec<_>, _>>()?;
        let all: f64 = parts.iter().map(|(_, share)| share).sum();
        if (all - 1.0).abs() > 1e-6 || parts.iter().any(|(_, share)| *share < 0.0) {
            return Err(format!("{text:?}: shares add up to {all}, expected 1"));
        }
        Ok(TransportMix { text, parts })
    }
}

impl From<TransportMix> for String {
    fn from(mix: TransportMix) -> String {
        mix.text
    }
}
