//! Fabrics: parameters and their checks.

use super::flow::Flow;
use super::hash::hash;
use crate::transport::{Recovery, Ticks, Tuning};
use dropcast_data::{Scheduler, SwitchSpec, SwitchSpecs};
use dropcast_switch::aqm::ecn_threshold::EcnThreshold;
use dropcast_switch::{AqmSite, AqmSpec};
use serde::{Deserialize, Serialize};

/// Longest time in a configuration, nanoseconds (104 days): sums of a few fit 64 bits.
const MAX_NS: u64 = 1 << 53;

/// A leaf-spine fabric of shared-buffer switches. Every field has a default: the switches and links of the Credence
/// artifact's fabric (NSDI 2024, section 4.1) with 2 leaves, and senders as Linux has them.
/// [`FabricConfig::artifact`] has the artifact's senders, too.
///
/// Switches `0..leaves` are the leaves, the rest the spines. Ports of a leaf: its servers, then the
/// spines; ports of a spine: the leaves. Servers are numbered leaf by leaf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FabricConfig {
    /// Leaf switches.
    pub leaves: u16,
    /// Spine switches; each leaf has one link to each.
    pub spines: u16,
    /// Servers of each leaf.
    pub servers: u16,
    /// Rate of a server's link, bits per second.
    pub server_rate_bps: u64,
    /// Rate of a link between leaf and spine, bits per second.
    pub uplink_rate_bps: u64,
    /// Propagation delay of a server's link, nanoseconds.
    pub server_delay_ns: u64,
    /// Propagation delay of a link between leaf and spine, nanoseconds.
    pub uplink_delay_ns: u64,
    /// Shared buffer of a leaf, bytes.
    pub leaf_buffer_bytes: u32,
    /// Shared buffer of a spine, bytes.
    pub spine_buffer_bytes: u32,
    /// Queues of each port. 1: acknowledgements and data share it; else queue 0 is that of
    /// acknowledgements and handshakes, and not pushable.
    pub queues_per_port: u8,
    /// How a port serves its queues.
    pub scheduler: Scheduler,
    /// By queue within a port: bytes per DWRR round. Empty for other schedulers.
    pub quantum_bytes: Vec<u32>,
    /// Packets that a port dequeues ahead of the one on the wire.
    pub transmit_ring_packets: u16,
    /// Bytes of a packet on the wire beyond its bytes in the buffer.
    pub wire_overhead_bytes: u32,
    /// Maximum payload of a packet, bytes.
    pub segment_bytes: u32,
    /// Header bytes of a packet in the buffer; an acknowledgement has these and its SACK blocks.
    pub header_bytes: u32,
    /// Active queue management of every switch: marking and early drops.
    pub aqm: AqmSpec,
    /// Window that a new connection begins with, segments.
    pub initial_window_segments: u32,
    /// Answers to requests and parts of collectives on new connections begin with a window of the whole flow instead, as in the
    /// Credence artifact.
    pub whole_answers: bool,
    /// A connection begins with its initial window again when nothing was sent for a retransmission timeout, as Linux's does
    /// unless `net.ipv4.tcp_slow_start_after_idle` is 0.
    pub slow_start_after_idle: bool,
    /// DCTCP begins, and goes on after a timeout, in slow start, as Linux's does; else its window grows by a segment per
    /// round trip, as in the Credence artifact.
    pub dctcp_slow_start: bool,
    /// Minimum retransmission timeout, nanoseconds; also that of a handshake, but under `recovery = "rack-tlp"` it is a second.
    pub min_rto_ns: u64,
    /// How senders find out what was lost, and repeat it.
    pub recovery: Recovery,
    /// Between two ticks of a server's clock, at which its timers go off, nanoseconds: 1,000,000 of a Linux with `HZ=1000`,
    /// 4,000,000 with `HZ=250`; 0: timers are exact. Only under `recovery = "rack-tlp"`.
    pub timer_tick_ns: u64,
    /// The clocks of all servers tick at once, as namespaces of one kernel do; else each has a phase of its own.
    pub ticks_together: bool,
    /// Resolution of round-trip times, nanoseconds: a microsecond in Linux; of ns-3's timestamps a millisecond, with which Cubic
    /// leaves slow start almost at once. 1: exact.
    pub timestamp_ns: u64,
    /// Each packet of a server reaches its leaf up to this much later, drawn anew for each, nanoseconds; their order is kept.
    pub jitter_ns: u64,
    /// Rate of an unresponsive sender, as a share of its server's rate; above 0, at most 1.
    pub unresponsive_rate: f64,
    /// Time between samples of occupancies, nanoseconds; 0: none.
    pub sample_interval_ns: u64,
    /// The simulation ends at this time even if flows have not completed, nanoseconds.
    pub end_ns: u64,
    /// What becomes of a packet that the policy does not hold.
    pub on_full: OnFull,
    /// Which packets between leaves share a spine.
    pub paths: Paths,
    /// Seed of paths and of random marking.
    pub seed: u64,
}

/// What a switch does with a packet that its policy rejects or pushes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFull {
    /// It is gone: the sender learns of it from later packets, or after a timeout.
    #[default]
    Drop,
    /// A data packet is cut down to its header, which goes on in queue 0, where it may be dropped in turn. Its
    /// receiver asks for the payload, and the sender repeats it at once (packet trimming; Handley et al.,
    /// "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM 2017).
    Trim,
}

/// How packets between leaves take a spine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Paths {
    /// Those of a flow in one direction take the same (ECMP).
    #[default]
    Ecmp,
    /// Each takes one at random (packet spraying), whatever spine its flow names. Senders that take duplicate
    /// acknowledgements for loss, as all here do, then repeat packets that were only late.
    Spray,
}

impl Default for FabricConfig {
    fn default() -> Self {
        FabricConfig {
            leaves: 2,
            spines: 4,
            servers: 16,
            server_rate_bps: 10_000_000_000,
            uplink_rate_bps: 10_000_000_000,
            server_delay_ns: 4_000,
            uplink_delay_ns: 4_000,
            leaf_buffer_bytes: 1_052_672,
            spine_buffer_bytes: 1_052_672,
            queues_per_port: 2,
            scheduler: Scheduler::RoundRobin,
            quantum_bytes: Vec::new(),
            transmit_ring_packets: 1,
            wire_overhead_bytes: 33,
            segment_bytes: 1400,
            header_bytes: 32,
            aqm: AqmSpec::Ecn(EcnThreshold { threshold_bytes: 14_000, ..EcnThreshold::default() }),
            initial_window_segments: 10,
            whole_answers: false,
            slow_start_after_idle: true,
            dctcp_slow_start: true,
            min_rto_ns: 200_000_000,
            recovery: Recovery::RackTlp,
            timer_tick_ns: 1_000_000,
            ticks_together: false,
            timestamp_ns: 1_000,
            jitter_ns: 1_000,
            unresponsive_rate: 1.0,
            sample_interval_ns: 0,
            end_ns: 10_000_000_000,
            on_full: OnFull::default(),
            paths: Paths::default(),
            seed: 1,
        }
    }
}

/// What is wrong with a fabric.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("fabric: {field}: {problem}")]
pub struct FabricError {
    /// The parameter.
    pub field: &'static str,
    /// What is wrong and what is expected.
    pub problem: String,
}

fn wrong(field: &'static str, problem: impl Into<String>) -> FabricError {
    FabricError { field, problem: problem.into() }
}

/// A checked [`FabricConfig`].
#[derive(Clone, Debug, PartialEq)]
pub struct Fabric {
    config: FabricConfig,
    leaf: SwitchSpec,
    spine: SwitchSpec,
}

impl TryFrom<FabricConfig> for Fabric {
    type Error = FabricError;

    fn try_from(config: FabricConfig) -> Result<Self, FabricError> {
        config.check_counts()?;
        config.check_sizes()?;
        config.check_times()?;
        config.check_queues()?;
        let leaf = config.spec("leaf");
        let spine = config.spec("spine");
        let aqm = config.aqm.build(AqmSite { spec: &leaf, seed: 0 });
        aqm.map_err(|error| wrong("aqm", error.to_string()))?;
        Ok(Fabric { config, leaf, spine })
    }
}

impl Fabric {
    /// The parameters.
    pub fn config(&self) -> &FabricConfig {
        &self.config
    }

    /// Number of servers.
    pub fn servers(&self) -> u16 {
        self.config.leaves * self.config.servers
    }

    /// Number of switches.
    pub fn switches(&self) -> u16 {
        self.config.leaves + self.config.spines
    }

    /// The description of a switch; its role is `leaf` or `spine`.
    pub fn switch_spec(&self, switch_id: u16) -> &SwitchSpec {
        if switch_id < self.config.leaves { &self.leaf } else { &self.spine }
    }

    /// The descriptions of all switches.
    pub fn switch_specs(&self) -> SwitchSpecs {
        let specs = (0..self.switches()).map(|id| (id, self.switch_spec(id).clone()));
        SwitchSpecs::Each(specs.collect())
    }

    /// Propagation delay of a round trip between servers of different leaves, or of the only leaf,
    /// nanoseconds.
    pub fn base_rtt_ns(&self) -> u64 {
        self.config.base_rtt_ns()
    }

    /// The longest round trip without queues, with the transmission of a segment and its acknowledgement, nanoseconds.
    pub(crate) fn path_rtt_ns(&self) -> u64 {
        self.config.path_rtt_ns()
    }

    /// Servers' rate over uplinks' rate of a leaf.
    pub fn oversubscription(&self) -> f64 {
        let FabricConfig { servers, server_rate_bps, spines, uplink_rate_bps, .. } = self.config;
        f64::from(servers) * server_rate_bps as f64 / (f64::from(spines) * uplink_rate_bps as f64)
    }

    /// A lower bound of a flow's completion time, nanoseconds, at least 1: propagation on its path and its
    /// payload at its server's rate. A flow that connects first counts a round trip of propagation, as
    /// every flow does in the Credence artifact; one that is connected counts one way, because completion
    /// is at the receiver.
    pub fn ideal_fct_ns(&self, flow: &Flow) -> u64 {
        let round_trip_ns = self.own_rtt_ns(flow);
        let flight_ns = if flow.connects() { round_trip_ns } else { round_trip_ns / 2 };
        let bits_ns = u128::from(flow.size_bytes) * 8_000_000_000;
        let wire_ns = bits_ns / u128::from(self.config.server_rate_bps);
        (flight_ns + u64::try_from(wire_ns).unwrap_or(MAX_NS)).max(1)
    }

    fn own_rtt_ns(&self, flow: &Flow) -> u64 {
        let leaf = |server: u16| server / self.config.servers;
        self.config.round_trip_ns(leaf(flow.from) != leaf(flow.to))
    }

    /// Bytes that a server sends in a base round-trip time.
    pub fn bandwidth_delay_bytes(&self) -> u64 {
        let bits_ns = u128::from(self.config.server_rate_bps) * u128::from(self.base_rtt_ns());
        (bits_ns / 8_000_000_000) as u64
    }

    /// What configures the sender of a flow, and its host.
    pub(crate) fn tuning(&self, flow: &Flow) -> Tuning {
        let config = &self.config;
        let every_ns = if config.recovery == Recovery::RackTlp { config.timer_tick_ns } else { 0 };
        let drawn = hash(config.seed.rotate_left(32), flow.from.into(), 0);
        let phase_ns = drawn.checked_rem(every_ns).filter(|_| !config.ticks_together).unwrap_or(0);
        Tuning {
            line_rate_bps: self.config.server_rate_bps,
            base_rtt_ns: self.base_rtt_ns(),
            own_rtt_ns: self.own_rtt_ns(flow),
            ticks: Ticks { every_ns, phase_ns },
            path_rtt_ns: self.config.path_rtt_ns(),
            // Linux keeps it in ticks.
            min_rto_ns: config.min_rto_ns.next_multiple_of(every_ns.max(1)),
            dctcp_slow_start: self.config.dctcp_slow_start,
            recovery: self.config.recovery,
            timestamp_ns: self.config.timestamp_ns,
            segment_bytes: self.config.segment_bytes,
        }
    }
}

impl FabricConfig {
    /// The Credence artifact's fabric with its senders: answers begin with their whole size and all at once, losses are found as
    /// ns-3 does.
    pub fn artifact() -> Self {
        FabricConfig {
            initial_window_segments: 22,
            whole_answers: true,
            dctcp_slow_start: false,
            min_rto_ns: 10_000_000,
            recovery: Recovery::Ns3,
            timestamp_ns: 1_000_000,
            jitter_ns: 0,
            ..FabricConfig::default()
        }
    }

    fn base_rtt_ns(&self) -> u64 {
        self.round_trip_ns(self.leaves > 1)
    }

    /// Propagation delay of a round trip, which crosses a spine or stays within a leaf.
    fn round_trip_ns(&self, crosses_spine: bool) -> u64 {
        let uplinks_ns = if crosses_spine { 4 * self.uplink_delay_ns } else { 0 };
        4 * self.server_delay_ns + uplinks_ns
    }

    /// The base round-trip time, and the transmission of a segment and its acknowledgement on each link of the path.
    fn path_rtt_ns(&self) -> u64 {
        let headers_bytes = self.header_bytes + self.wire_overhead_bytes;
        let bits = 8.0 * f64::from(self.segment_bytes + 2 * headers_bytes);
        let links_ns = |rate_bps: u64| 2e9 * bits / rate_bps as f64;
        let uplinks_ns = if self.leaves > 1 { links_ns(self.uplink_rate_bps) } else { 0.0 };
        self.base_rtt_ns() + (links_ns(self.server_rate_bps) + uplinks_ns).ceil() as u64
    }

    fn spec(&self, role: &str) -> SwitchSpec {
        let queues = usize::from(self.queues_per_port);
        let (line_rate_bps, buffer_bytes) = if role == "leaf" {
            let mut rates = vec![self.server_rate_bps; usize::from(self.servers)];
            rates.resize(rates.len() + usize::from(self.spines), self.uplink_rate_bps);
            (rates, self.leaf_buffer_bytes)
        } else {
            (vec![self.uplink_rate_bps; usize::from(self.leaves)], self.spine_buffer_bytes)
        };
        SwitchSpec {
            buffer_bytes,
            base_rtt_ns: self.base_rtt_ns().max(1),
            line_rate_bps,
            queues_per_port: self.queues_per_port,
            scheduler: self.scheduler,
            wire_overhead_bytes: self.wire_overhead_bytes,
            transmit_ring_packets: self.transmit_ring_packets,
            pushable: (0..queues).map(|queue| queues == 1 || queue > 0).collect(),
            shared: vec![true; queues],
            reserved_bytes: Vec::new(),
            dt_alpha: Vec::new(),
            alpha_is_power: false,
            slack_bytes: 0,
            port_names: Vec::new(),
            quantum_bytes: self.quantum_bytes.clone(),
            name: None,
            role: Some(role.to_owned()),
        }
    }
}

mod checks;

#[cfg(test)]
mod tests;
