//! The leaf-switch workload: parameters, their checks, and the switch they describe.

use crate::flow_sizes::{FlowSizeChoice, FlowSizes, FlowSizesError};
use crate::ingress::Framing;
use crate::traffic::Traffic;
use dropcast_data::{Scheduler, SwitchSpec};
use serde::{Deserialize, Serialize};

/// Largest packet on the wire, bytes.
const MAX_WIRE_BYTES: u64 = 65_536;

/// Minimum `flow_rate`.
const MIN_FLOW_RATE: f64 = 1e-6;

/// Longest time, nanoseconds (104 days): the sum of any two fits 64 bits with room to spare, and an
/// `f64` holds every one exactly.
const MAX_NS: u64 = 1 << 53;

/// Arrivals of a leaf switch, open loop: flows with sizes from a published distribution and incast
/// bursts, each packet serialised by its ingress link (`docs/workloads.md`).
///
/// Ports `0..servers` are the servers, the rest the uplinks. Every field has a default; those of
/// the switch follow the Credence artifact's leaf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LeafWorkload {
    /// Servers of the rack.
    pub servers: u16,
    /// Links to the spines.
    pub uplinks: u16,
    /// Rate of every link, bits per second.
    pub line_rate_bps: u64,
    /// Shared buffer, bytes.
    pub buffer_bytes: u32,
    /// Base round-trip time across the fabric, nanoseconds.
    pub base_rtt_ns: u64,
    /// 2: queue 0 holds acknowledgements and is not pushable, queue 1 data. 1: they share one.
    pub queues_per_port: u8,
    /// Bytes of a packet on the wire beyond its bytes in the buffer.
    pub wire_overhead_bytes: u32,
    /// Maximum payload of a packet, bytes.
    pub payload_bytes: u32,
    /// Header bytes of a packet in the buffer; an acknowledgement has only these.
    pub header_bytes: u32,
    /// Data packets per acknowledgement; 0: no acknowledgements.
    pub packets_per_ack: u16,
    /// Maximum rate of one flow after its first round-trip time, as a share of the line rate; above
    /// 0, and 1 for no limit. A crude stand-in for congestion control.
    pub flow_rate: f64,
    /// Flow sizes.
    pub flow_sizes: FlowSizeChoice,
    /// Load of the flows from the uplinks to the servers, as a share of the uplinks' rate.
    pub load: f64,
    /// Load of the flows from the servers to the uplinks, as a share of the uplinks' rate.
    pub outgoing_load: f64,
    /// Load of the flows between servers of the rack, as a share of the servers' links' rate.
    pub rack_local_load: f64,
    /// Payload of an incast, as a share of the buffer.
    pub incast_burst: f64,
    /// Senders that answer a request, each with an equal part of the burst.
    pub incast_fan_in: u16,
    /// Requests per second of each server of the rack, answered through the uplinks.
    pub incast_per_server_hz: f64,
    /// Requests of servers elsewhere that this rack's servers answer, per second and server of
    /// the rack.
    pub outgoing_incast_per_server_hz: f64,
    /// Length of the trace, nanoseconds.
    pub duration_ns: u64,
    /// Seed of all randomness.
    pub seed: u64,
}

impl Default for LeafWorkload {
    fn default() -> Self {
        LeafWorkload {
            servers: 16,
            uplinks: 4,
            line_rate_bps: 10_000_000_000,
            buffer_bytes: 1_052_672,
            base_rtt_ns: 32_000,
            queues_per_port: 2,
            wire_overhead_bytes: 33,
            payload_bytes: 1400,
            header_bytes: 32,
            packets_per_ack: 1,
            flow_rate: 0.2,
            flow_sizes: FlowSizeChoice::default(),
            load: 0.6,
            outgoing_load: 0.4,
            rack_local_load: 0.0,
            incast_burst: 0.75,
            incast_fan_in: 16,
            incast_per_server_hz: 120.0,
            outgoing_incast_per_server_hz: 60.0,
            duration_ns: 250_000_000,
            seed: 1,
        }
    }
}

impl LeafWorkload {
    /// 150 ms with more load and fewer incasts, so fewer and longer episodes: what the lab and devices' tests measure.
    pub fn loaded() -> Self {
        LeafWorkload {
            load: 0.8,
            incast_per_server_hz: 45.0,
            duration_ns: 150_000_000,
            ..LeafWorkload::default()
        }
    }

    /// 20 ms at a leaf of four servers whose buffer overflows often: for examples and tests.
    pub fn small(seed: u64) -> Self {
        LeafWorkload {
            servers: 4,
            uplinks: 2,
            buffer_bytes: 60_000,
            flow_rate: 1.0,
            incast_per_server_hz: 300.0,
            outgoing_incast_per_server_hz: 100.0,
            duration_ns: 20_000_000,
            seed,
            ..LeafWorkload::loaded()
        }
    }
}

/// What is wrong with a workload.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// A parameter is out of its range.
    #[error("workload: {field}: {problem}")]
    Field {
        /// The parameter.
        field: &'static str,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// The flow-size table is invalid.
    #[error("workload: {0}")]
    FlowSizes(#[from] FlowSizesError),
    /// An ingress link would be permanently overloaded.
    #[error(
        "workload: the {links} would be offered {load:.3} of their rate, expected less than 1: \
         lower the loads, the incast rates or the burst"
    )]
    Overload {
        /// Which ingress links.
        links: &'static str,
        /// Offered load, as a share of their rate.
        load: f64,
    },
}

pub(crate) fn wrong(field: &'static str, problem: impl Into<String>) -> WorkloadError {
    WorkloadError::Field { field, problem: problem.into() }
}

impl LeafWorkload {
    /// The switch that these packets arrive at.
    ///
    /// # Errors
    /// A parameter is out of its range.
    pub fn switch_spec(&self) -> Result<SwitchSpec, WorkloadError> {
        self.check_switch()?;
        let queues = usize::from(self.queues_per_port);
        let mut spec = SwitchSpec::uniform(
            self.servers + self.uplinks,
            self.line_rate_bps,
            self.buffer_bytes,
            self.base_rtt_ns,
        );
        spec.queues_per_port = self.queues_per_port;
        spec.scheduler = Scheduler::RoundRobin;
        spec.wire_overhead_bytes = self.wire_overhead_bytes;
        spec.pushable = (0..queues).map(|queue| queues == 1 || queue > 0).collect();
        spec.shared = vec![true; queues];
        Ok(spec)
    }

    /// Payload of one incast, bytes.
    pub fn burst_bytes(&self) -> u64 {
        (self.incast_burst * f64::from(self.buffer_bytes)).round() as u64
    }

    pub(crate) fn framing(&self) -> Framing {
        let mut framing = Framing {
            payload_bytes: self.payload_bytes,
            header_bytes: self.header_bytes,
            wire_overhead_bytes: self.wire_overhead_bytes,
            line_rate_bps: self.line_rate_bps,
            packets_per_ack: self.packets_per_ack,
            pace_ns: 0,
        };
        let packet_ns = framing.wire_ns(self.payload_bytes + self.header_bytes);
        framing.pace_ns = ((packet_ns as f64 / self.flow_rate).round() as u64).min(MAX_NS);
        framing
    }

    pub(crate) fn traffic(&self, sizes: FlowSizes) -> Traffic {
        let in_flight = u128::from(self.line_rate_bps) * u128::from(self.base_rtt_ns);
        Traffic {
            burst_bytes: self.burst_bytes(),
            fan_in: self.incast_fan_in,
            unscheduled_bytes: u32::try_from(in_flight / 8_000_000_000).unwrap_or(u32::MAX),
            sizes,
        }
    }

    /// Checks everything; returns the flow sizes and the rates of all sources.
    pub(crate) fn checked(&self) -> Result<(FlowSizes, Rates), WorkloadError> {
        self.check_switch()?;
        self.check_traffic()?;
        let sizes = self.flow_sizes.load()?;
        let rates = self.rates(&sizes);
        self.check_ingress(&sizes, &rates)?;
        Ok((sizes, rates))
    }

    fn check_switch(&self) -> Result<(), WorkloadError> {
        for (field, value) in [
            ("servers", u64::from(self.servers)),
            ("uplinks", u64::from(self.uplinks)),
            ("line_rate_bps", self.line_rate_bps),
            ("buffer_bytes", u64::from(self.buffer_bytes)),
            ("base_rtt_ns", self.base_rtt_ns),
            ("payload_bytes", u64::from(self.payload_bytes)),
            ("header_bytes", u64::from(self.header_bytes)),
        ] {
            if value == 0 {
                return Err(wrong(field, "is 0, expected at least 1"));
            }
        }
        if self.servers.checked_add(self.uplinks).is_none() {
            let ports = u32::from(self.servers) + u32::from(self.uplinks);
            return Err(wrong("uplinks", format!("makes {ports} ports, at most 65535 are")));
        }
        if !(1..=2).contains(&self.queues_per_port) {
            return Err(wrong(
                "queues_per_port",
                format!("is {}, expected 1 or 2", self.queues_per_port),
            ));
        }
        let wire = [self.payload_bytes, self.header_bytes, self.wire_overhead_bytes];
        let wire: u64 = wire.into_iter().map(u64::from).sum();
        if wire > MAX_WIRE_BYTES {
            return Err(wrong(
                "payload_bytes",
                format!("makes packets of {wire} bytes on the wire, at most {MAX_WIRE_BYTES}"),
            ));
        }
        Ok(())
    }

    fn check_traffic(&self) -> Result<(), WorkloadError> {
        for (field, value) in [
            ("load", self.load),
            ("outgoing_load", self.outgoing_load),
            ("rack_local_load", self.rack_local_load),
            ("incast_burst", self.incast_burst),
            ("incast_per_server_hz", self.incast_per_server_hz),
            ("outgoing_incast_per_server_hz", self.outgoing_incast_per_server_hz),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(wrong(field, format!("is {value}, expected 0 or more")));
            }
        }
        if !(MIN_FLOW_RATE..=1.0).contains(&self.flow_rate) {
            return Err(wrong(
                "flow_rate",
                format!("is {}, expected {MIN_FLOW_RATE} to 1", self.flow_rate),
            ));
        }
        if self.rack_local_load > 0.0 && self.servers < 2 {
            return Err(wrong("rack_local_load", "needs at least 2 servers"));
        }
        for (field, value) in [("base_rtt_ns", self.base_rtt_ns), ("duration_ns", self.duration_ns)]
        {
            if value > MAX_NS {
                return Err(wrong(field, format!("is {value}, at most {MAX_NS} (104 days)")));
            }
        }
        if self.incast_per_server_hz > 0.0 || self.outgoing_incast_per_server_hz > 0.0 {
            if self.incast_fan_in == 0 {
                return Err(wrong("incast_fan_in", "is 0, expected at least 1 sender"));
            }
            if self.burst_bytes() < u64::from(self.incast_fan_in) {
                return Err(wrong(
                    "incast_burst",
                    format!(
                        "is {} bytes, less than one for each of {} senders",
                        self.burst_bytes(),
                        self.incast_fan_in
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// Events per second, over the whole switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    pub(crate) incoming_hz: f64,
    pub(crate) outgoing_hz: f64,
    pub(crate) rack_local_hz: f64,
    pub(crate) incast_hz: f64,
    pub(crate) outgoing_incast_hz: f64,
}

/// Bits on the wire, in each direction, of one flow or one incast.
#[derive(Clone, Copy, Debug)]
struct WireBits {
    data: f64,
    acks: f64,
}

impl LeafWorkload {
    fn rates(&self, sizes: &FlowSizes) -> Rates {
        let servers = f64::from(self.servers);
        let rate = self.line_rate_bps as f64;
        let flow_bits = self.flow_bits(sizes).data;
        let uplinks_bps = f64::from(self.uplinks) * rate;
        Rates {
            incoming_hz: self.load * uplinks_bps / flow_bits,
            outgoing_hz: self.outgoing_load * uplinks_bps / flow_bits,
            rack_local_hz: self.rack_local_load * servers * rate / flow_bits,
            incast_hz: self.incast_per_server_hz * servers,
            outgoing_incast_hz: self.outgoing_incast_per_server_hz * servers,
        }
    }

    /// Mean over the flow sizes.
    fn flow_bits(&self, sizes: &FlowSizes) -> WireBits {
        self.wire_bits(sizes.mean_bytes(), sizes.mean_packets(self.payload_bytes), 1.0)
    }

    fn burst_bits(&self) -> WireBits {
        let (burst, senders) = (self.burst_bytes(), u64::from(self.incast_fan_in.max(1)));
        let (each, extra) = (burst / senders, burst % senders);
        let packets = |bytes: u64| bytes.div_ceil(u64::from(self.payload_bytes));
        let packets = extra * packets(each + 1) + (senders - extra) * packets(each);
        self.wire_bits(burst as f64, packets as f64, senders as f64)
    }

    fn wire_bits(&self, bytes: f64, packets: f64, flows: f64) -> WireBits {
        let framing = f64::from(self.header_bytes) + f64::from(self.wire_overhead_bytes);
        // A flow's last packet is always acknowledged: at most one acknowledgement more.
        let acks = match self.packets_per_ack {
            0 => 0.0,
            1 => packets,
            each => packets / f64::from(each) + flows,
        };
        WireBits { data: 8.0 * (bytes + packets * framing), acks: 8.0 * acks * framing }
    }

    /// Refuses a workload under which the flows waiting at an ingress link, and with them memory,
    /// would grow with the length of the trace.
    fn check_ingress(&self, sizes: &FlowSizes, rates: &Rates) -> Result<(), WorkloadError> {
        let (flow, burst) = (self.flow_bits(sizes), self.burst_bits());
        let uplinks_bps = rates.incoming_hz * flow.data
            + rates.outgoing_hz * flow.acks
            + rates.incast_hz * burst.data
            + rates.outgoing_incast_hz * burst.acks;
        let servers_bps = (rates.outgoing_hz + rates.rack_local_hz) * flow.data
            + (rates.incoming_hz + rates.rack_local_hz) * flow.acks
            + rates.outgoing_incast_hz * burst.data
            + rates.incast_hz * burst.acks;
        // Packet times are rounded up to nanoseconds, so a link carries slightly less than its
        // rate.
        let packet = self.payload_bytes + self.header_bytes;
        let bits = f64::from(packet + self.wire_overhead_bytes) * 8.0;
        let carried_bps = bits * 1e9 / self.framing().wire_ns(packet) as f64;
        for (links, count, bps) in [
            ("uplinks (towards the switch)", self.uplinks, uplinks_bps),
            ("servers' links (towards the switch)", self.servers, servers_bps),
        ] {
            let load = bps / (f64::from(count) * carried_bps);
            if load >= 1.0 {
                return Err(WorkloadError::Overload { links, load });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_data::SwitchSpecs;

    #[test]
    fn parameters_are_read_from_toml_and_every_one_has_a_default() {
        let parse = |text: &str| toml::from_str::<LeafWorkload>(text);
        assert_eq!(parse("").expect("all defaults"), LeafWorkload::default());
        let text = "load = 0.4\nflow_sizes = 'hadoop'\nseed = 9\nline_rate_bps = 25_000_000_000";
        let workload = parse(text).expect("valid");
        assert_eq!((workload.load, workload.seed), (0.4, 9));
        let written = toml::to_string(&workload).expect("TOML's types");
        assert_eq!(parse(&written).expect("own output"), workload);
        let points = parse("flow_sizes = [[0, 0.0], [1000, 0.5], [1001, 1.0]]").expect("valid");
        assert_eq!(points.flow_sizes.load().expect("valid").mean_bytes(), 750.75);
        let unknown = parse("laod = 0.4").expect_err("misspelt").to_string();
        assert!(unknown.contains("laod"), "{unknown}");
        let name = parse("flow_sizes = 'web'").expect_err("unknown").to_string();
        assert!(name.contains("datamining"), "{name}");
    }

    #[test]
    fn the_switch_is_the_artifacts_leaf() {
        let spec = LeafWorkload::default().switch_spec().expect("valid");
        assert_eq!((spec.ports(), spec.queues(), spec.buffer_bytes), (20, 40, 1_052_672));
        assert_eq!((&spec.pushable[..], &spec.shared[..]), (&[false, true][..], &[true; 2][..]));
        assert_eq!(spec.wire_time_ns(3, 1432), 1172);
        let specs = SwitchSpecs::Same(spec.clone());
        assert_eq!(SwitchSpecs::from_toml(&specs.to_toml()).expect("a valid switch"), specs);
        let one = LeafWorkload { queues_per_port: 1, ..LeafWorkload::default() };
        assert_eq!(one.switch_spec().expect("valid").pushable, [true]);
    }

    #[test]
    fn mistakes_are_named() {
        let check = |change: fn(&mut LeafWorkload), says: &str| {
            let mut workload = LeafWorkload::default();
            change(&mut workload);
            let error = workload.arrivals().expect_err(says).to_string();
            assert!(error.contains(says), "{error:?} should say {says:?}");
        };
        check(|w| w.servers = 0, "servers: is 0");
        check(|w| w.uplinks = 65_530, "uplinks: makes 65546 ports");
        check(|w| w.line_rate_bps = 0, "line_rate_bps: is 0");
        check(|w| w.queues_per_port = 3, "queues_per_port: is 3");
        check(|w| w.payload_bytes = 70_000, "payload_bytes: makes packets of 70065 bytes");
        check(|w| w.wire_overhead_bytes = u32::MAX, "bytes on the wire");
        check(|w| w.load = -0.1, "load: is -0.1");
        check(|w| w.load = f64::NAN, "load: is NaN");
        check(|w| w.flow_rate = 0.0, "flow_rate: is 0");
        check(|w| w.flow_rate = 1.5, "flow_rate: is 1.5");
        check(|w| w.incast_burst = f64::INFINITY, "incast_burst: is inf");
        check(|w| w.incast_fan_in = 0, "incast_fan_in: is 0");
        check(|w| w.incast_burst = 0.0, "incast_burst: is 0 bytes");
        check(|w| w.duration_ns = u64::MAX, "duration_ns: is 18446744073709551615");
        check(|w| w.base_rtt_ns = u64::MAX, "base_rtt_ns: is 18446744073709551615");
        check(|w| (w.servers, w.rack_local_load) = (1, 0.1), "at least 2 servers");
        check(|w| w.flow_sizes = FlowSizeChoice::Points(vec![(5, 0.5)]), "point 1: the last");
        check(|w| w.load = 0.97, "the uplinks (towards the switch) would be offered 1.");
        check(|w| w.rack_local_load = 0.95, "the servers' links (towards the switch)");
    }
}
