//! One switch and the traffic traces that it meets (NDT, section VI).

use dropcast_fabric::{
    Fabric, FabricConfig, FabricObserver, FlowRecord, Incast, Pattern, PoissonFlows, Simulation,
    TrafficConfig, Transport,
};
use dropcast_switch::policies::ndt::NdtNetwork;
use dropcast_switch::{AqmSpec, PolicyModel, PolicySite, PolicySpec};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Payload of each answer of an incast, bytes.
const ANSWER_BYTES: f64 = 65_536.0;

/// A switch with one server per port.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Ports.
    pub ports: u16,
    /// Rate of each, bits per second.
    pub rate_bps: u64,
    /// Shared buffer, bytes.
    pub buffer_bytes: u32,
    /// Load of all traffic, as a share of the ports' rates; half of it is incasts.
    pub load: f64,
    /// Fan-in of a trace's incasts: drawn from 1 to this.
    pub most_fan_in: u16,
    /// Time in which the flows of a trace start, nanoseconds.
    pub duration_ns: u64,
    /// Traces differ in their seeds; those of other seeds here are other traces.
    pub seed: u64,
}

impl Default for Scenario {
    /// The paper's training: 16 ports of 1 Gbps, 1 MB, load 50%, incast ratio 1 to 15 (section VI).
    fn default() -> Self {
        Scenario {
            ports: 16,
            rate_bps: 1_000_000_000,
            buffer_bytes: 1_000_000,
            load: 0.5,
            most_fan_in: 15,
            duration_ns: 200_000_000,
            seed: 1,
        }
    }
}

/// One trace of a scenario.
#[derive(Clone, Debug)]
pub struct Trace {
    fabric: Fabric,
    traffic: TrafficConfig,
}

impl Scenario {
    /// Trace number `nth`: websearch flows between random servers, and incasts of one fan-in. The
    /// paper draws the fan-in of each port from websearch's sizes, too; here an answer has 64 KiB.
    ///
    /// # Panics
    /// If a field is out of the range that [`Fabric`] and [`TrafficConfig`] accept.
    pub fn trace(&self, nth: u64) -> Trace {
        let seed = self.seed.wrapping_mul(1 << 32).wrapping_add(nth);
        let fabric = Fabric::try_from(FabricConfig {
            leaves: 1,
            spines: 0,
            servers: self.ports,
            server_rate_bps: self.rate_bps,
            leaf_buffer_bytes: self.buffer_bytes,
            aqm: AqmSpec::None(Default::default()),
            seed,
            ..FabricConfig::artifact()
        });
        let fabric = fabric.expect("a switch with ports, a rate and a buffer");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let fan_in = rng.random_range(1..=self.most_fan_in);
        let request_bytes = ANSWER_BYTES * f64::from(fan_in);
        let transport = Transport::NewReno;
        let incast = Incast {
            burst: request_bytes / f64::from(self.buffer_bytes),
            fan_in,
            per_server_hz: self.load / 2.0 * self.rate_bps as f64 / 8.0 / request_bytes,
            pattern: Pattern::Random,
            transport,
            ..Incast::artifact()
        };
        let flows = PoissonFlows {
            load: self.load / 2.0,
            pattern: Pattern::Random,
            transport,
            ..PoissonFlows::default()
        };
        let traffic = TrafficConfig {
            duration_ns: self.duration_ns,
            seed,
            flows: vec![flows],
            incasts: vec![incast],
            ..TrafficConfig::default()
        };
        Trace { fabric, traffic }
    }
}

/// Completion times of all flows.
#[derive(Default)]
struct CompletionTimes {
    fct_ns: Vec<u64>,
}

impl FabricObserver for CompletionTimes {
    fn flow_ended(&mut self, record: &FlowRecord) {
        self.fct_ns.extend(record.fct_ns);
    }
}

impl Trace {
    /// Completion times of its flows under a policy, nanoseconds, sorted; `network` is NDT's.
    ///
    /// # Panics
    /// If the policy is `ndt` and there is no network, or another that needs a model.
    pub fn fct_ns(&self, policy: &PolicySpec, network: Option<&NdtNetwork>) -> Vec<u64> {
        let build = |_, site: PolicySite<'_>| {
            policy.build(PolicySite { model: network.cloned().map(PolicyModel::Network), ..site })
        };
        let traffic = self.traffic.mix(&self.fabric).expect("traffic that fits the switch");
        let mut times = CompletionTimes::default();
        Simulation::new(&self.fabric, build, traffic)
            .expect("a policy with its model")
            .run(&mut times)
            .expect("flows between two servers");
        times.fct_ns.sort_unstable();
        times.fct_ns
    }
}
