//! Three queues of one port, served by deficit weighted round robin 2 : 1 : 1 (section D.4): a long flow in each, and small
//! flows whose times show how long the queues are.

use super::one_receiver::Times;
use super::simulated::{LINK_DELAY_NS, RATE_BPS, simulate};
use crate::reproduce::fabric::observed::Numbers;
use crate::reproduce::fabric::scale::Scale;
use dropcast_arrivals::FlowSizeChoice;
use dropcast_data::Scheduler;
use dropcast_fabric::{
    Connection, Fabric, FabricConfig, FabricObserver, Flow, FlowClass, FlowList, FlowRecord,
    Pattern, PoissonFlows, Telemetry, TrafficConfig, Transport, Workload as _,
};
use dropcast_pipeline::PipelineError;
use dropcast_switch::AqmSpec;

/// Queues of a port: of acknowledgements, and of the services.
const QUANTA_BYTES: [u32; 4] = [1_500, 3_000, 1_500, 1_500];
/// Servers: the receiver, the senders of long flows, and those of small ones.
const SERVERS: u16 = 20;
/// Sizes of small flows, bytes.
const SMALL_BYTES: [u64; 2] = [3_000, 60_000];
/// Load of the small flows of a service, of which the paper says nothing.
const SMALL_LOAD: f64 = 0.01;

/// One run with as many services as long flows; throughput of each long flow in the second half, and completion times
/// of small flows.
pub(super) fn observe(
    aqm: AqmSpec,
    services: u16,
    scale: &Scale,
    run: u32,
) -> Result<Numbers, PipelineError> {
    let seed = scale.seed.wrapping_add(run.into());
    let plain = FabricConfig::artifact();
    let payload_bytes = plain.segment_bytes;
    let end_ns = scale.duration_ns;
    let fabric = Fabric::try_from(scale.begins(FabricConfig {
        leaves: 1,
        spines: 0,
        servers: SERVERS,
        server_rate_bps: RATE_BPS,
        server_delay_ns: LINK_DELAY_NS,
        // Nothing is dropped.
        leaf_buffer_bytes: 16_000_000,
        queues_per_port: QUANTA_BYTES.len() as u8,
        scheduler: Scheduler::Dwrr,
        quantum_bytes: QUANTA_BYTES.to_vec(),
        aqm,
        initial_window_segments: 10,
        end_ns,
        seed,
        ..plain
    }))
    .map_err(PipelineError::stated)?;
    let small = |service: u16| PoissonFlows {
        load: SMALL_LOAD,
        sizes: FlowSizeChoice::Points(vec![(SMALL_BYTES[0] - 1, 0.0), (SMALL_BYTES[1], 1.0)]),
        pattern: Pattern::OneReceiver,
        transport: Transport::Dctcp,
        queue: service as u8,
    };
    let traffic = TrafficConfig {
        duration_ns: end_ns,
        seed,
        flows: (1..=services).map(small).collect(),
        incasts: Vec::new(),
        collectives: Vec::new(),
    };
    let mut mix = traffic
        .mix(&fabric)
        .map_err(|error| PipelineError::setting("duration-ms", error.to_string()))?;
    let long = |service: u16| Flow {
        start_ns: 0,
        from: service,
        to: 0,
        size_bytes: RATE_BPS / 8 * end_ns / 1_000_000_000,
        class: FlowClass::Single,
        connection: Connection::Handshake,
        transport: Transport::Dctcp,
        queue: service as u8,
        spines: None,
    };
    let small = std::iter::from_fn(|| mix.next_flow());
    let flows = FlowList::new((1..=services).map(long).chain(small).collect());
    let from_ns = end_ns / 2;
    let mut rates = Rates {
        from_ns,
        packets: vec![0; usize::from(services)],
        times: Times::of_flows_from(from_ns, end_ns),
    };
    simulate(&fabric, flows, &mut rates)?;
    let gbps =
        |packets: u64| (packets * u64::from(payload_bytes) * 8) as f64 / (end_ns - from_ns) as f64;
    let of_flow =
        |(service, &packets): (u32, &u64)| (format!("flow_{service}_gbps"), gbps(packets));
    let mut numbers: Numbers = (1..).zip(&rates.packets).map(of_flow).collect();
    numbers.extend(rates.times.numbers(1.0));
    Ok(numbers)
}

/// What long flows send through the receiver's port, and completion times of the others.
struct Rates {
    from_ns: u64,
    /// By long flow; they have the first numbers.
    packets: Vec<u64>,
    times: Times,
}

impl FabricObserver for Rates {
    const WANTS_TELEMETRY: bool = true;

    fn left(&mut self, telemetry: &Telemetry) {
        if telemetry.port == 0
            && telemetry.time_ns >= self.from_ns
            && let Some(packets) = self.packets.get_mut(telemetry.flow_id as usize)
        {
            *packets += 1;
        }
    }

    fn flow_ended(&mut self, record: &FlowRecord) {
        self.times.flow_ended(record);
    }
}
