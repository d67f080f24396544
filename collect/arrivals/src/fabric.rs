//! The leaf-spine workload: parameters, their checks, and the switches they describe.

use crate::flow_sizes::FlowSizeChoice;
use crate::leaf::{LeafWorkload, WorkloadError, wrong};
use dropcast_data::{SwitchSpec, SwitchSpecs};
use serde::{Deserialize, Serialize};

/// Links of a round trip of a packet and its acknowledgement: four each way.
const LINKS_OF_A_ROUND_TRIP: u64 = 8;

/// Arrivals at every switch of a leaf-spine fabric whose switches run push-out LQD, open loop: the
/// same flows, packet by packet, at the leaf of the sender, at a spine and at the leaf of the
/// receiver (`docs/workloads.md`).
///
/// Switches `0..leaves` are the leaves, the rest the spines. Ports of a leaf: its servers, then the
/// spines; ports of a spine: the leaves. Every field has a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FabricWorkload {
    /// Leaf switches.
    pub leaves: u16,
    /// Spine switches; each leaf has one link to each.
    pub spines: u16,
    /// Servers of each leaf.
    pub servers: u16,
    /// Rate of every link, bits per second.
    pub line_rate_bps: u64,
    /// Shared buffer of a leaf, bytes.
    pub leaf_buffer_bytes: u32,
    /// Shared buffer of a spine, bytes.
    pub spine_buffer_bytes: u32,
    /// Base round-trip time between servers of different leaves, nanoseconds; each of the eight
    /// links of it takes an eighth.
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
    /// Load of the flows between leaves, as a share of the rate of all links between leaves and
    /// spines, in each direction.
    pub load: f64,
    /// Payload of an incast, as a share of a leaf's buffer.
    pub incast_burst: f64,
    /// Servers of other leaves that answer a request, each with an equal part of the burst.
    pub incast_fan_in: u16,
    /// Requests per second of each server.
    pub incast_per_server_hz: f64,
    /// Length of the trace, nanoseconds.
    pub duration_ns: u64,
    /// Seed of all randomness.
    pub seed: u64,
}

impl Default for FabricWorkload {
    fn default() -> Self {
        let leaf = LeafWorkload::loaded();
        let (leaves, leaf_ports) = (4, u32::from(leaf.servers + leaf.uplinks));
        FabricWorkload {
            leaves,
            spines: leaf.uplinks,
            servers: leaf.servers,
            line_rate_bps: leaf.line_rate_bps,
            leaf_buffer_bytes: leaf.buffer_bytes,
            // The same per port as at a leaf, as in the artifact.
            spine_buffer_bytes: leaf.buffer_bytes / leaf_ports * u32::from(leaves),
            base_rtt_ns: leaf.base_rtt_ns,
            queues_per_port: leaf.queues_per_port,
            wire_overhead_bytes: leaf.wire_overhead_bytes,
            payload_bytes: leaf.payload_bytes,
            header_bytes: leaf.header_bytes,
            packets_per_ack: leaf.packets_per_ack,
            flow_rate: leaf.flow_rate,
            flow_sizes: leaf.flow_sizes,
            load: 0.4,
            incast_burst: leaf.incast_burst,
            incast_fan_in: leaf.incast_fan_in,
            incast_per_server_hz: leaf.incast_per_server_hz,
            duration_ns: 50_000_000,
            seed: leaf.seed,
        }
    }
}

impl FabricWorkload {
    /// The switches that these packets arrive at; their roles are `leaf` and `spine`.
    ///
    /// # Errors
    /// A parameter is out of its range.
    pub fn switch_specs(&self) -> Result<SwitchSpecs, WorkloadError> {
        self.check_shape()?;
        let mut leaf = self.leaf().switch_spec()?;
        leaf.role = Some("leaf".to_owned());
        let spine = SwitchSpec {
            buffer_bytes: self.spine_buffer_bytes,
            line_rate_bps: vec![self.line_rate_bps; usize::from(self.leaves)],
            role: Some("spine".to_owned()),
            ..leaf.clone()
        };
        let spec = |id| (id, if id < self.leaves { &leaf } else { &spine }.clone());
        Ok(SwitchSpecs::Each((0..self.leaves + self.spines).map(spec).collect()))
    }

    /// From the last bit of a packet on a link to its arrival at the other end, nanoseconds.
    pub(crate) fn hop_ns(&self) -> u64 {
        self.base_rtt_ns / LINKS_OF_A_ROUND_TRIP
    }

    /// What a leaf by itself would be offered: the same checks and sums hold.
    pub(super) fn leaf(&self) -> LeafWorkload {
        LeafWorkload {
            servers: self.servers,
            uplinks: self.spines,
            line_rate_bps: self.line_rate_bps,
            buffer_bytes: self.leaf_buffer_bytes,
            base_rtt_ns: self.base_rtt_ns,
            queues_per_port: self.queues_per_port,
            wire_overhead_bytes: self.wire_overhead_bytes,
            payload_bytes: self.payload_bytes,
            header_bytes: self.header_bytes,
            packets_per_ack: self.packets_per_ack,
            flow_rate: self.flow_rate,
            flow_sizes: self.flow_sizes.clone(),
            load: self.load,
            outgoing_load: self.load,
            rack_local_load: 0.0,
            incast_burst: self.incast_burst,
            incast_fan_in: self.incast_fan_in,
            incast_per_server_hz: self.incast_per_server_hz,
            outgoing_incast_per_server_hz: self.incast_per_server_hz,
            duration_ns: self.duration_ns,
            seed: self.seed,
        }
    }

    /// Checks parameters that a single leaf lacks or names differently.
    fn check_shape(&self) -> Result<(), WorkloadError> {
        if self.leaves < 2 {
            return Err(wrong("leaves", format!("is {}, expected at least 2", self.leaves)));
        }
        for (field, value) in [
            ("spines", u32::from(self.spines)),
            ("leaf_buffer_bytes", self.leaf_buffer_bytes),
            ("spine_buffer_bytes", self.spine_buffer_bytes),
        ] {
            if value == 0 {
                return Err(wrong(field, "is 0, expected at least 1"));
            }
        }
        let switches = u32::from(self.leaves) + u32::from(self.spines);
        if switches > u32::from(u16::MAX) {
            return Err(wrong("spines", format!("makes {switches} switches, at most 65535 are")));
        }
        let servers = u32::from(self.leaves) * u32::from(self.servers);
        if servers > u32::from(u16::MAX) {
            return Err(wrong("servers", format!("makes {servers} servers, at most 65535 are")));
        }
        if self.base_rtt_ns < LINKS_OF_A_ROUND_TRIP {
            return Err(wrong(
                "base_rtt_ns",
                format!("is {}, expected at least 8", self.base_rtt_ns),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_from_toml_and_every_one_has_a_default() {
        let parse = |text: &str| toml::from_str::<FabricWorkload>(text);
        assert_eq!(parse("").expect("all defaults"), FabricWorkload::default());
        let workload = parse("leaves = 3\nflow_sizes = 'hadoop'").expect("valid");
        let written = toml::to_string(&workload).expect("TOML's types");
        assert_eq!(parse(&written).expect("own output"), workload);
        assert!(parse("uplinks = 4").is_err(), "a leaf's parameter");
    }

    #[test]
    fn switches_have_roles_and_as_much_buffer_for_each_port() {
        let specs = FabricWorkload::default().switch_specs().expect("valid");
        let shape = |id| specs.get(id).map(|spec| (spec.role.as_deref(), spec.ports()));
        assert_eq!(shape(3), Some((Some("leaf"), 20)));
        assert_eq!(shape(4), Some((Some("spine"), 4)));
        assert_eq!(shape(8), None);
        let per_port = |id| specs.get(id).map(|spec| spec.buffer_bytes / spec.ports() as u32);
        assert_eq!(per_port(0), per_port(7));
        assert_eq!(SwitchSpecs::from_toml(&specs.to_toml()).expect("valid switches"), specs);
    }

    #[test]
    fn mistakes_are_named() {
        let check = |change: fn(&mut FabricWorkload), says: &str| {
            let mut workload = FabricWorkload::default();
            change(&mut workload);
            let error = workload.arrivals().expect_err(says).to_string();
            assert!(error.contains(says), "{error:?} should say {says:?}");
        };
        check(|w| w.leaves = 1, "leaves: is 1");
        check(|w| w.spines = 0, "spines: is 0");
        check(|w| w.spines = u16::MAX, "spines: makes 65539 switches");
        check(|w| w.servers = 20_000, "servers: makes 80000 servers");
        check(|w| w.servers = 0, "servers: is 0");
        check(|w| w.spine_buffer_bytes = 0, "spine_buffer_bytes: is 0");
        check(|w| w.base_rtt_ns = 7, "base_rtt_ns: is 7");
        check(|w| w.load = -1.0, "load: is -1");
        check(|w| w.load = 0.97, "would be offered 1.");
    }
}
