//! The conditions of a map: axes, and grids of their values.

use crate::closed_loop::Experiment;
use dropcast_arrivals::FlowSizeChoice;
use dropcast_fabric::{AnswerSizes, Connections, FabricConfig, PoissonFlows, Transport};
use dropcast_switch::AqmSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::rc::Rc;

/// Every combination of the values of its axes. An axis without values keeps what the map's fabric
/// and traffic say; a list of points is several grids of one value per axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grid {
    /// Its name, and that of its files.
    pub name: String,
    /// Rate of all links, Gbps; buffers and marking thresholds scale with it.
    pub gbps: Vec<f64>,
    /// Buffer of a leaf, kilobytes (1,000 bytes) per port per Gbps; spines' buffers scale with it.
    pub buffer_kb: Vec<f64>,
    /// Payload offered by all flows outside incasts, as a share of the rate between leaves and
    /// spines.
    pub load: Vec<f64>,
    /// Sizes of these flows.
    pub sizes: Vec<FlowSizeChoice>,
    /// Payload of all answers to a request, as a share of a leaf's buffer.
    pub burst: Vec<f64>,
    /// Servers that answer a request.
    pub fan_in: Vec<u16>,
    /// Answers start within this time, microseconds.
    pub spread_us: Vec<f64>,
    /// How the sizes of answers vary.
    pub answers: Vec<AnswerSizes>,
    /// What answers are sent over.
    pub connections: Vec<Connections>,
    /// Requests of a train; as many fewer trains are made.
    pub train: Vec<u32>,
    /// Transports of the flows; requests are answered with the first.
    pub transports: Vec<TransportMix>,
    /// Window that a new connection begins with, segments.
    pub window: Vec<u32>,
    /// Whether answers begin with a window of the whole answer.
    pub whole_answers: Vec<bool>,
    /// Minimum retransmission timeout, milliseconds.
    pub min_rto_ms: Vec<f64>,
    /// Each packet of a server is up to this much late, microseconds.
    pub jitter_us: Vec<f64>,
}

/// Transports that share the load of flows: `dctcp`, `dctcp+cubic` (one half each), or
/// `0.9 dctcp + 0.1 unresponsive`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TransportMix {
    text: String,
    parts: Vec<(Transport, f64)>,
}

/// What traffic an axis changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changes {
    Fabric,
    Flows,
    Incasts,
}

/// Sets an axis to one of its values.
type Apply = Rc<dyn Fn(&mut Experiment)>;

/// An axis of a grid, whether it has values or not.
struct Values {
    axis: MapAxis,
    changes: Changes,
    apply: Vec<Apply>,
}

/// An axis, and the names of its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MapAxis {
    /// Its name in a grid.
    pub name: &'static str,
    /// What it measures, in words.
    pub label: &'static str,
    /// Its values, in order.
    pub values: Vec<String>,
}

/// A point of a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MapCondition {
    /// The grid.
    pub grid: String,
    /// The value of each axis that the grid sets, by the axis' name.
    pub at: Vec<(&'static str, String)>,
}

impl Grid {
    /// The names of all axes, in order.
    pub fn names() -> Vec<&'static str> {
        Grid::default().all().into_iter().map(|values| values.axis.name).collect()
    }

    /// The axes that it sets, in order.
    pub fn axes(&self) -> Vec<MapAxis> {
        self.set().into_iter().map(|values| values.axis).collect()
    }

    /// The first axis that it sets of those that change this.
    pub(super) fn first_that(&self, changes: Changes) -> Option<&'static str> {
        self.set().iter().find(|values| values.changes == changes).map(|values| values.axis.name)
    }

    /// The axes that it sets, with their values.
    fn set(&self) -> Vec<Values> {
        self.all().into_iter().filter(|values| !values.apply.is_empty()).collect()
    }

    /// All axes. Sizes of the fabric come before what is relative to them.
    fn all(&self) -> Vec<Values> {
        use Changes::{Fabric, Flows, Incasts};
        vec![
            axis(Fabric, "gbps", "rate, Gbps", &self.gbps, |to, gbps| {
                set_gbps(&mut to.fabric, *gbps)
            }),
            axis(Fabric, "buffer_kb", "buffer, KB per port per Gbps", &self.buffer_kb, |to, kb| {
                let bytes = 1_000.0 * kb * leaf_gbps(&to.fabric);
                set_leaf_buffer(&mut to.fabric, bytes);
            }),
            axis(Flows, "load", "load, share of the uplinks", &self.load, |to, load| {
                let all: f64 = to.traffic.flows.iter().map(|flows| flows.load).sum();
                to.traffic.flows.iter_mut().for_each(|flows| flows.load *= load / all);
            }),
            axis(Flows, "sizes", "sizes of flows", &self.sizes, |to, sizes| {
                to.traffic.flows.iter_mut().for_each(|flows| flows.sizes = sizes.clone());
            }),
            axis(Incasts, "burst", "burst, share of the buffer", &self.burst, |to, burst| {
                to.traffic.incasts.iter_mut().for_each(|incast| incast.burst = *burst);
            }),
            axis(Incasts, "fan_in", "servers that answer", &self.fan_in, |to, servers| {
                to.traffic.incasts.iter_mut().for_each(|incast| incast.fan_in = *servers);
            }),
            axis(Incasts, "spread_us", "answers start within, us", &self.spread_us, |to, us| {
                to.traffic.incasts.iter_mut().for_each(|incast| incast.spread_ns = ns(1e3 * us));
            }),
            axis(Incasts, "answers", "sizes of answers", &self.answers, |to, sizes| {
                to.traffic.incasts.iter_mut().for_each(|incast| incast.sizes = sizes.clone());
            }),
            axis(Incasts, "connections", "connections", &self.connections, |to, connections| {
                to.traffic.incasts.iter_mut().for_each(|incast| incast.connections = *connections);
            }),
            axis(Incasts, "train", "requests of a train", &self.train, |to, &train| {
                for incast in &mut to.traffic.incasts {
                    incast.per_server_hz *= f64::from(incast.train) / f64::from(train.max(1));
                    incast.train = train;
                }
            }),
            axis(Flows, "transports", "transports", &self.transports, |to, mix| {
                let part = |flows: &PoissonFlows, (transport, share): &(Transport, f64)| {
                    let load = flows.load * share;
                    PoissonFlows { load, transport: *transport, ..flows.clone() }
                };
                let of = |flows| mix.parts.iter().map(move |one| part(flows, one));
                to.traffic.flows = to.traffic.flows.iter().flat_map(of).collect();
                to.traffic.incasts.iter_mut().for_each(|own| own.transport = mix.parts[0].0);
            }),
            axis(Fabric, "window", "initial window, segments", &self.window, |to, segments| {
                to.fabric.initial_window_segments = *segments;
            }),
            axis(
                Fabric,
                "whole_answers",
                "whole answers at once",
                &self.whole_answers,
                |to, whole| {
                    to.fabric.whole_answers = *whole;
                },
            ),
            axis(Fabric, "min_rto_ms", "minimum RTO, ms", &self.min_rto_ms, |to, ms| {
                to.fabric.min_rto_ns = ns(1e6 * ms);
            }),
            axis(Fabric, "jitter_us", "jitter of servers, us", &self.jitter_us, |to, us| {
                to.fabric.jitter_ns = ns(1e3 * us);
            }),
        ]
    }

    /// How many points it has.
    pub(super) fn len(&self) -> usize {
        self.set().iter().map(|values| values.apply.len()).fold(1, usize::saturating_mul)
    }

    /// Its points: `base` under each combination of values, the last axis first.
    pub(super) fn points(&self, base: &Experiment) -> Vec<(MapCondition, Experiment)> {
        let condition = MapCondition { grid: self.name.clone(), at: Vec::new() };
        let mut points = vec![(condition, base.clone())];
        for Values { axis, apply, .. } in self.set() {
            let with = |(condition, experiment): &(MapCondition, Experiment)| -> Vec<_> {
                let value = |(value, apply): (&String, &Apply)| {
                    let (mut condition, mut experiment) = (condition.clone(), experiment.clone());
                    condition.at.push((axis.name, value.clone()));
                    apply(&mut experiment);
                    (condition, experiment)
                };
                axis.values.iter().zip(&apply).map(value).collect()
            };
            points = points.iter().flat_map(with).collect();
        }
        points
    }
}

impl MapCondition {
    /// The value of an axis, if the grid sets it.
    pub fn value(&self, axis: &str) -> Option<&str> {
        self.at.iter().find(|(name, _)| *name == axis).map(|(_, value)| value.as_str())
    }
}

/// An axis with its values, and what each does.
fn axis<T: Clone + Serialize + 'static>(
    changes: Changes,
    name: &'static str,
    label: &'static str,
    values: &[T],
    apply: fn(&mut Experiment, &T),
) -> Values {
    let one = |value: &T| -> Apply {
        let own = value.clone();
        Rc::new(move |to| apply(to, &own))
    };
    let axis = MapAxis { name, label, values: values.iter().map(text).collect() };
    Values { axis, changes, apply: values.iter().map(one).collect() }
}

/// A value as it stands in the settings, without quotes and braces.
fn text<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(text)) => text,
        Ok(Value::Object(fields)) => {
            let parts = fields.iter().map(|(name, value)| format!("{name} {}", text(value)));
            parts.collect::<Vec<_>>().join(", ")
        }
        Ok(Value::Array(points)) => format!("table of {} points", points.len()),
        Ok(Value::Number(number)) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
        }
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}

fn ns(value: f64) -> u64 {
    value.round() as u64
}

fn leaf_gbps(fabric: &FabricConfig) -> f64 {
    let servers = f64::from(fabric.servers) * fabric.server_rate_bps as f64;
    let uplinks = f64::from(fabric.spines) * fabric.uplink_rate_bps as f64;
    (servers + uplinks) / 1e9
}

/// Changes the rate of servers' links, and all that is in proportion to it.
fn set_gbps(fabric: &mut FabricConfig, gbps: f64) {
    let ratio = 1e9 * gbps / fabric.server_rate_bps as f64;
    fabric.server_rate_bps = ns(1e9 * gbps);
    fabric.uplink_rate_bps = ns(fabric.uplink_rate_bps as f64 * ratio);
    set_leaf_buffer(fabric, f64::from(fabric.leaf_buffer_bytes) * ratio);
    if let AqmSpec::Ecn(ecn) = &mut fabric.aqm {
        ecn.threshold_bytes = (f64::from(ecn.threshold_bytes) * ratio).round() as u32;
    }
}

/// Changes a leaf's buffer, and a spine's in the same ratio.
fn set_leaf_buffer(fabric: &mut FabricConfig, bytes: f64) {
    let ratio = bytes / f64::from(fabric.leaf_buffer_bytes);
    fabric.leaf_buffer_bytes = bytes.round() as u32;
    fabric.spine_buffer_bytes = (f64::from(fabric.spine_buffer_bytes) * ratio).round() as u32;
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
            let transport = name.parse().map_err(|_| {
                let names = Transport::NAMES.join(", ");
                format!("{text:?}: {name:?} is no transport; expected one of {names}")
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
