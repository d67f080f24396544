//! PRED's queue in a closed loop (NSDI 2025, sections 4 and 6): long DCTCP flows to one receiver, at switches with
//! PRED, with parts of it, and with what it adapts.
//!
//! The base RTT of 80 us is that of the paper's simulations (section 6.3.1). Flows never end, so that the queue can
//! settle; queues are measured in the second half of a run.

use super::figures::{FabricFigure, Panels, Paper, Vary};
use super::measured::{Cell, MeasuredFigure};
use super::observed::RunNumbers;
use super::scale::Scale;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::{Progress, check};
use dropcast_pipeline::resources::Resources;
use dropcast_simulate::{
    Fabric, FabricConfig, Flow, FlowClass, FlowList, Occupancy, Simulation, Sink, Telemetry,
    Transport,
};
use dropcast_switch::{AqmSpec, NoParameters, PolicySpec};
use dropcast_train::Threads;
use std::collections::BTreeMap;

/// Links of a round trip within a leaf have a quarter of its 80 us.
const LINK_DELAY_NS: u64 = 20_000;
/// Rate of every link.
const RATE_BPS: u64 = 10_000_000_000;
/// Time between samples of the queue (section 6.3.2).
const SAMPLE_NS: u64 = 10_000;
/// Flows of the figure over time: the paper's 16 to 1 (section 6.3.2).
const SENDERS: f64 = 16.0;
/// Bytes of a packet in the buffer.
const PACKET_BYTES: f64 = 1_432.0;
/// The part of a run whose mean a point of the figure over time is, nanoseconds.
const BIN_NS: u64 = 10_000_000;

/// Schemes by what figures call them. T_QLA is 5 base RTTs where nothing else is said. RED's slope is PRED's for two
/// flows (section 6.2); ECN's threshold is the paper's 70 packets.
const SCHEMES: [(&str, &str); 9] = [
    ("PRED", "pred"),
    ("PRED, T_QLA 20 RTTs", "pred:trial_ns=1600000"),
    ("PRED, T_QLA 40 RTTs", "pred:trial_ns=3200000"),
    ("PRED, T_QLA 40 RTTs, T_FCS 5 RTTs", "pred:trial_ns=3200000,flows_ns=400000"),
    ("Only FCS", "pred:trial_ns=0"),
    ("Only FCS, T_FCS 5 RTTs", "pred:trial_ns=0,flows_ns=400000"),
    // In a nanosecond there is one flow.
    ("Only QLA", "pred:flows_ns=1"),
    ("RED, lambda 0.2", "red:min_bytes=15000,max_bytes=500000,max_probability=0.097"),
    ("ECN, 70 packets", "ecn:threshold_bytes=105000"),
];

/// The same, and the steady queue of equation 1.
static SCHEMES_AND_EQUATION: [(&str, &str); 10] = {
    let [a, b, c, d, e, f, g, h, i] = SCHEMES;
    [a, b, c, d, e, f, g, h, i, (EQUATION, "")]
};
static SCHEMES_ALONE: [(&str, &str); 9] = SCHEMES;

/// What equation 1 says of RED, which nothing runs.
const EQUATION: &str = "Equation 1 for RED";
/// RED's lambda, 1/MB, and its minK, bytes.
const RED: (f64, f64) = (0.2, 15_000.0);
/// A packet of the paper, bytes.
const PAPER_PACKET_BYTES: f64 = 1_500.0;

const MEAN: &str = "queue_packets_mean";
const TAIL: &str = "queue_packets_p99";
const RATE: &str = "bottleneck_gbps";

/// The queue against the number of flows, and over time.
pub static FIGURES: [FabricFigure; 2] = [
    FabricFigure {
        name: "pred-settling",
        title: "Queue and throughput of long flows to one receiver",
        paper: Paper::Pred,
        policies: &SCHEMES_AND_EQUATION,
        vary: Vary::Flows,
        points: &[2.0, 5.0, 10.0, 16.0, 20.0],
        load: 1.0,
        burst: 0.0,
        transport: Transport::Dctcp,
        panels: Panels::Metrics(&[MEAN, TAIL, RATE]),
        says: "FCS keeps the queue as long for 20 flows as for 2, RED does not; PRED's is shorter than FCS's, at full \
               throughput",
        claims: &[],
    },
    FabricFigure {
        name: "pred-settling-time",
        title: "Mean queue in the 10 ms before, 16 long flows to one receiver",
        paper: Paper::Pred,
        policies: &SCHEMES_ALONE,
        vary: Vary::TimeMs,
        points: &[10.0, 20.0, 50.0, 100.0, 150.0, 200.0],
        load: 1.0,
        burst: 0.0,
        transport: Transport::Dctcp,
        panels: Panels::Metrics(&[MEAN]),
        says: "PRED lowers the queue from 25 to 15 packets, FCS alone stays at 23",
        claims: &[],
    },
];

/// 200 ms, 2,500 base RTTs.
pub fn scale() -> Scale {
    Scale {
        leaves: 1,
        servers: 21,
        spines: 0,
        per_server_hz: 0.0,
        duration_ns: 200_000_000,
        ..Scale::small()
    }
}

/// Measures both figures. The same with any number of threads.
///
/// # Errors
/// If it is cancelled, or the scale is out of range.
pub fn measure(
    scale: &Scale,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Vec<MeasuredFigure>, PipelineError> {
    progress.begin("figures");
    let counts = FIGURES[0].points;
    let cells: Vec<(f64, &'static str, &'static str)> = counts
        .iter()
        .flat_map(|&flows| SCHEMES_AND_EQUATION.iter().map(move |&(name, aqm)| (flows, name, aqm)))
        .collect();
    let tasks: Vec<_> =
        cells.iter().flat_map(|&cell| (0..scale.runs).map(move |run| (cell, run))).collect();
    let all = tasks.len();
    let queues = Threads::new(resources.threads()).map(tasks, |((flows, _, aqm), run)| {
        check(progress)?;
        observe(aqm, flows as u16, scale, run)
    });
    let queues = queues.into_iter().collect::<Result<Vec<Queue>, PipelineError>>()?;
    progress.end(&format!("{all} runs"));
    let by_cell: Vec<_> = cells.iter().zip(queues.chunks(scale.runs as usize)).collect();
    let cell =
        |point, policy, runs: &[Queue], numbers: &dyn Fn(&Queue) -> BTreeMap<String, f64>| Cell {
            point,
            policy,
            runs: RunNumbers(runs.iter().map(numbers).collect()),
            flows: 0,
            slowdowns: [].into(),
        };
    let settled = by_cell
        .iter()
        .map(|&(&(flows, policy, _), runs)| cell(flows, policy, runs, &Queue::settled))
        .collect();
    let over_time = FIGURES[1].points.iter().flat_map(|&ms| {
        let of_senders = by_cell.iter().filter(|(cell, _)| cell.0 == SENDERS);
        let at = move |queue: &Queue| queue.before(ms);
        of_senders.map(move |&(&(_, policy, _), runs)| cell(ms, policy, runs, &at))
    });
    let over_time = over_time.collect();
    let figure = |figure, cells| MeasuredFigure { figure, scale: scale.clone(), cells };
    Ok(vec![figure(&FIGURES[0], settled), figure(&FIGURES[1], over_time)])
}

/// The steady queue of equation 1, `(q - minK)^2 (q + C d) = 2 N / lambda^2`, packets: `q`, `minK` and `C d` in packets,
/// lambda per packet.
fn equation_1_packets(flows: f64) -> f64 {
    let per_packet = RED.0 * PAPER_PACKET_BYTES / 1e6;
    let least = RED.1 / PAPER_PACKET_BYTES;
    let pipe = RATE_BPS as f64 / 8e9 * (4 * LINK_DELAY_NS) as f64 / PAPER_PACKET_BYTES;
    let right = 2.0 * flows / per_packet.powi(2);
    let (mut low, mut high) = (least, 1e6);
    while high - low > 1e-6 {
        let middle = (low + high) / 2.0;
        let left = (middle - least).powi(2) * (middle + pipe);
        if left < right { low = middle } else { high = middle }
    }
    low
}

/// One run: long flows from the first `senders` servers to one more.
fn observe(aqm: &str, senders: u16, scale: &Scale, run: u32) -> Result<Queue, PipelineError> {
    if aqm.is_empty() {
        let samples = (scale.duration_ns / SAMPLE_NS) as usize;
        let packets = vec![equation_1_packets(senders.into()); samples];
        let bytes =
            [scale.duration_ns / 2, scale.duration_ns].map(|ns| RATE_BPS / 8 * ns / 1_000_000_000);
        return Ok(Queue {
            end_ns: scale.duration_ns,
            packets,
            sent_bytes: bytes,
            ..Queue::default()
        });
    }
    let aqm: AqmSpec = aqm.parse().expect("a known AQM");
    let fabric = Fabric::try_from(FabricConfig {
        leaves: 1,
        spines: 0,
        servers: senders + 1,
        server_rate_bps: RATE_BPS,
        server_delay_ns: LINK_DELAY_NS,
        // Nothing is dropped.
        leaf_buffer_bytes: 16_000_000,
        aqm,
        sample_interval_ns: SAMPLE_NS,
        end_ns: scale.duration_ns,
        seed: scale.seed.wrapping_add(run.into()),
        ..FabricConfig::default()
    })?;
    let size_bytes = RATE_BPS / 8 * scale.duration_ns / 1_000_000_000;
    let flow = |from| Flow {
        // Not all at once, and each run otherwise.
        start_ns: u64::from(from) * (7_000 + 1_000 * u64::from(run % 8)),
        from,
        to: senders,
        size_bytes,
        class: FlowClass::Single,
        transport: Transport::Dctcp,
        queue: 1,
        spines: None,
    };
    let sharing = PolicySpec::CompleteSharing(NoParameters {});
    let flows = FlowList::new((0..senders).map(flow).collect());
    let simulation = Simulation::new(&fabric, |_, site| sharing.build(site), flows)
        .map_err(|error| PipelineError::setting("aqm", error.to_string()))?;
    let mut queue = Queue { port: senders, end_ns: scale.duration_ns, ..Queue::default() };
    simulation.run(&mut queue)?;
    Ok(queue)
}

/// The receiver's port over time.
#[derive(Default)]
struct Queue {
    port: u16,
    end_ns: u64,
    /// Samples, packets.
    packets: Vec<f64>,
    /// Bytes that the port has sent at half time, and at the end.
    sent_bytes: [u64; 2],
}

impl Queue {
    /// Of the second half.
    fn settled(&self) -> BTreeMap<String, f64> {
        let mut late = self.packets[self.packets.len() / 2..].to_vec();
        late.sort_unstable_by(f64::total_cmp);
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        if self.end_ns == 0 {
            // Nothing ran.
            return [(MEAN.to_owned(), mean)].into();
        }
        let tail = late[(late.len() * 99 / 100).min(late.len() - 1)];
        let [half, end] = self.sent_bytes;
        let gbps = (end - half) as f64 * 8.0 / (self.end_ns - self.end_ns / 2) as f64;
        [(MEAN, mean), (TAIL, tail), (RATE, gbps)]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }

    /// The mean in the 10 ms before a time; nothing if the run is shorter.
    fn before(&self, ms: f64) -> BTreeMap<String, f64> {
        let until = (ms * 1e6) as u64 / SAMPLE_NS;
        let from = until.saturating_sub(BIN_NS / SAMPLE_NS);
        let Some(bin) = self.packets.get(from as usize..until as usize) else {
            return BTreeMap::new();
        };
        let mean = bin.iter().sum::<f64>() / bin.len() as f64;
        [(MEAN.to_owned(), mean)].into()
    }
}

impl Sink for Queue {
    const WANTS_TELEMETRY: bool = true;

    fn left(&mut self, telemetry: &Telemetry) {
        if telemetry.port == self.port {
            let is_late = telemetry.time_ns >= self.end_ns / 2;
            self.sent_bytes[usize::from(is_late)] = telemetry.sent_bytes;
        }
    }

    /// Acknowledgements go to other ports and wait for nothing, so the longest queue is the receiver's.
    fn sampled(&mut self, occupancy: &Occupancy) {
        self.packets.push(f64::from(occupancy.longest_queue_bytes) / PACKET_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_1_is_solved() {
        for flows in [2.0, 20.0] {
            let queue = equation_1_packets(flows);
            let left = (queue - 10.0).powi(2) * (queue + 100_000.0 / 1_500.0);
            let right = 2.0 * flows / (0.2_f64 * 0.0015).powi(2);
            assert!((left / right - 1.0).abs() < 1e-6, "{queue}");
        }
    }
}
