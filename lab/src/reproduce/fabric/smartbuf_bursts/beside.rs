//! Figure 4: a long flow within a leaf, and incasts at another port of it.

use crate::reproduce::fabric::observed::Numbers;
use dropcast_fabric::{
    Fabric, FabricObserver, Flow, FlowClass, FlowList, FlowRecord, Simulation, Telemetry, Transport,
};
use dropcast_pipeline::PipelineError;
use dropcast_switch::PolicySpec;

/// Servers of other leaves that answer each request.
const FAN_IN: u16 = 60;
/// Time between requests, nanoseconds.
const APART_NS: u64 = 10_000_000;
/// Throughput is measured in bins of this time, nanoseconds.
const BIN_NS: u64 = 1_000_000;
/// A flow that takes longer had a timeout, nanoseconds.
const LATE_NS: u64 = 10_000_000;
/// Of the receivers and the long flow's sender, all of the first leaf.
const INCAST_RECEIVER: u16 = 0;
const RECEIVER: u16 = 1;
const SENDER: u16 = 2;

/// One run: the long flow's throughput in the second half, Gbit/s, in its worst millisecond and in the mean, and the share of late
/// answers. Requests are for `burst` of the buffer.
///
/// # Errors
/// If the policy does not fit the fabric's switches.
pub(super) fn observe(
    fabric: &Fabric,
    policy: &PolicySpec,
    burst: f64,
    duration_ns: u64,
) -> Result<Numbers, PipelineError> {
    let config = fabric.config();
    let flow = |start_ns, from, to, size_bytes, class| Flow {
        start_ns,
        from,
        to,
        size_bytes,
        class,
        connection: class.connection(),
        transport: Transport::Dctcp,
        queue: 1,
        spines: None,
    };
    let long_bytes = config.server_rate_bps / 8 * duration_ns / 1_000_000_000;
    let answer_bytes = (burst * f64::from(config.leaf_buffer_bytes) / f64::from(FAN_IN)) as u64;
    let mut flows = vec![flow(0, SENDER, RECEIVER, long_bytes, FlowClass::Single)];
    for request in 1..duration_ns.div_ceil(APART_NS) {
        // Each run otherwise.
        let jitter_ns = config.seed.wrapping_mul(request).wrapping_mul(7_919) % BIN_NS;
        let start_ns = request * APART_NS + jitter_ns;
        let class = FlowClass::Incast(request as u32);
        let answer =
            |from| flow(start_ns, config.servers + from, INCAST_RECEIVER, answer_bytes, class);
        flows.extend((0..FAN_IN).map(answer));
    }
    let mut sink = Beside { bins: vec![0; (duration_ns / BIN_NS) as usize], late: 0, answers: 0 };
    let spine = PolicySpec::dt(1.0.try_into().expect("positive"));
    let build = |id, site: dropcast_switch::PolicySite<'_>| match id < config.leaves {
        true => policy.build(site),
        false => spine.build(site),
    };
    let simulation = Simulation::new(fabric, build, FlowList::new(flows))
        .map_err(|error| PipelineError::setting("policy", error.to_string()))?;
    simulation.run(&mut sink).map_err(PipelineError::stated)?;
    Ok(sink.numbers(u64::from(config.segment_bytes)))
}

/// The long flow's packets by bin, and answers.
struct Beside {
    bins: Vec<u64>,
    late: u64,
    answers: u64,
}

impl Beside {
    fn numbers(&self, payload_bytes: u64) -> Numbers {
        let second_half = &self.bins[self.bins.len() / 2..];
        let gbps = |packets: f64| packets * payload_bytes as f64 * 8.0 / BIN_NS as f64;
        let mut numbers = Numbers::new();
        if let Some(&least) = second_half.iter().min() {
            let mean = second_half.iter().sum::<u64>() as f64 / second_half.len() as f64;
            numbers.insert("long_flow_gbps_least".to_owned(), gbps(least as f64));
            numbers.insert("long_flow_gbps_mean".to_owned(), gbps(mean));
        }
        if self.answers > 0 {
            let share = self.late as f64 / self.answers as f64;
            numbers.insert("incast_over_10_ms".to_owned(), share);
        }
        numbers
    }
}

impl FabricObserver for Beside {
    const WANTS_TELEMETRY: bool = true;

    fn left(&mut self, telemetry: &Telemetry) {
        let &Telemetry { time_ns, flow_id, switch_id, port, .. } = telemetry;
        if (flow_id, switch_id, port) == (0, 0, RECEIVER)
            && let Some(packets) = self.bins.get_mut((time_ns / BIN_NS) as usize)
        {
            *packets += 1;
        }
    }

    fn flow_ended(&mut self, record: &FlowRecord) {
        if record.flow.class != FlowClass::Single {
            self.answers += 1;
            self.late += u64::from(record.fct_ns.is_none_or(|fct_ns| fct_ns >= LATE_NS));
        }
    }
}
