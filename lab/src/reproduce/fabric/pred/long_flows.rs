//! Flows without end to one receiver, at one switch: the queue settles, and is measured in the second half of a run.

use super::simulated::{LINK_DELAY_NS, RATE_BPS, SAMPLE_NS, simulate};
use crate::reproduce::fabric::observed::Numbers;
use crate::reproduce::fabric::scale::Scale;
use dropcast_data::{Event, EventKind};
use dropcast_fabric::{
    Connection, Fabric, FabricConfig, FabricObserver, Flow, FlowClass, FlowList, Occupancy,
    Telemetry, Transport, quantile,
};
use dropcast_pipeline::PipelineError;
use dropcast_switch::AqmSpec;
use dropcast_switch::aqm::pred::FlowCounter;

/// Bytes of a packet in the buffer.
const PACKET_BYTES: f64 = 1_432.0;
/// Intervals in which flows are counted, base RTTs.
pub(super) const COUNTING_RTTS: [f64; 7] = [0.25, 0.5, 1.0, 1.25, 2.0, 5.0, 10.0];

/// What equation 1 says of RED, which nothing runs.
pub(super) const EQUATION: (&str, &str) = ("Equation 1 for RED", "W = 2/p^2");
/// The same with the window of a sender that finds a mark in each window.
pub(super) const EQUATION_2_OVER_P: (&str, &str) =
    ("Equation 1 for RED, windows of 2/p", "W = 2/p");
/// RED's lambda, 1/MB, and its minK, bytes.
const RED: (f64, f64) = (0.2, 15_000.0);

/// Long flows, and what is observed of them.
pub(super) struct LongFlows {
    /// Of each link.
    pub(super) rate_bps: u64,
    pub(super) link_delay_ns: u64,
    /// How they are sent, where a scheme does not say so.
    pub(super) transport: Transport,
    /// Time between the first flows' starts, nanoseconds, to which each run adds some microseconds.
    pub(super) apart_ns: u64,
    /// As many flows more, from other servers, from this time on, nanoseconds; they begin within a microsecond.
    pub(super) burst: Option<(u16, u64)>,
    /// Time between samples of the queue, nanoseconds.
    pub(super) sample_ns: u64,
    /// The part of a run before each point of a figure over time that is measured, nanoseconds.
    pub(super) bin_ns: u64,
    /// Whether flows are counted as PRED does.
    pub(super) counts: bool,
}

/// Those of section 6.3.2.
pub(super) const LONG_FLOWS: LongFlows = LongFlows {
    rate_bps: RATE_BPS,
    link_delay_ns: LINK_DELAY_NS,
    transport: Transport::Dctcp,
    apart_ns: 7_000,
    burst: None,
    sample_ns: SAMPLE_NS,
    bin_ns: 10_000_000,
    counts: false,
};

impl LongFlows {
    /// One run: long flows from the first `senders` servers to one more. A scheme is an AQM, or a transport and an AQM.
    pub(super) fn observe(
        &self,
        scheme: &str,
        senders: u16,
        scale: &Scale,
        run: u32,
    ) -> Result<Observed, PipelineError> {
        let &LongFlows { rate_bps, sample_ns, bin_ns, .. } = self;
        let end_ns = scale.duration_ns;
        let (burst, burst_ns) = self.burst.unwrap_or_default();
        let port = senders + burst;
        let mut observed = Observed { port, end_ns, sample_ns, bin_ns, ..Observed::default() };
        if let Some(equation) = Equation::named(scheme) {
            let samples = (end_ns / SAMPLE_NS) as usize;
            observed.packets = vec![equation.packets(senders.into()); samples];
            observed.sent_bytes = [end_ns / 2, end_ns].map(|ns| RATE_BPS / 8 * ns / 1_000_000_000);
            return Ok(observed);
        }
        let (transport, aqm) = self.sent_and_marked(scheme);
        let seed = scale.seed.wrapping_add(run.into());
        let fabric = Fabric::try_from(scale.begins(FabricConfig {
            leaves: 1,
            spines: 0,
            servers: port + 1,
            server_rate_bps: rate_bps,
            server_delay_ns: self.link_delay_ns,
            // Nothing is dropped.
            leaf_buffer_bytes: 16_000_000,
            aqm,
            sample_interval_ns: sample_ns,
            end_ns,
            seed,
            ..FabricConfig::artifact()
        }))
        .map_err(PipelineError::stated)?;
        let flow = |from| Flow {
            // Not all at once, and each run otherwise.
            start_ns: match u64::from(from) {
                early if from < senders => early * (self.apart_ns + 1_000 * u64::from(run % 8)),
                late => burst_ns + seed.wrapping_mul(late).wrapping_mul(7_919) % 1_000,
            },
            from,
            to: port,
            size_bytes: rate_bps / 8 * end_ns / 1_000_000_000,
            class: FlowClass::Single,
            connection: Connection::Handshake,
            transport,
            queue: 1,
            spines: None,
        };
        let flows = (0..port).map(flow).filter(|flow| flow.start_ns < end_ns);
        let flows = FlowList::new(flows.collect());
        if self.counts {
            let base_rtt_ns = fabric.base_rtt_ns() as f64;
            let counter = |rtts: f64| FlowCounter::new((rtts * base_rtt_ns) as u64);
            let counts = COUNTING_RTTS.map(|rtts| (counter(rtts), 0.0)).into();
            let mut counting = Counting { observed, counts };
            let outcome = simulate(&fabric, flows, &mut counting)?;
            assert_eq!(outcome.all_dropped(), 0, "the buffer is too small");
            Ok(counting.finish())
        } else {
            let outcome = simulate(&fabric, flows, &mut observed)?;
            assert_eq!(outcome.all_dropped(), 0, "the buffer is too small");
            Ok(observed)
        }
    }

    /// `hpcc none` is HPCC without marks, `pred` the flows' own transport with PRED.
    fn sent_and_marked(&self, scheme: &str) -> (Transport, AqmSpec) {
        let (transport, aqm) = match scheme.split_once(' ') {
            None => (self.transport, scheme),
            Some((name, aqm)) => (name.parse().expect("a known transport"), aqm),
        };
        (transport, aqm.parse().expect("a known AQM"))
    }
}

/// The receiver's port over time.
#[derive(Default)]
pub(super) struct Observed {
    port: u16,
    end_ns: u64,
    sample_ns: u64,
    bin_ns: u64,
    /// Samples, packets.
    packets: Vec<f64>,
    /// Bytes that the port had sent by then.
    sent_by_sample: Vec<u64>,
    /// And has sent by now.
    sent: u64,
    /// Bytes that the port has sent at half time, and at the end.
    sent_bytes: [u64; 2],
    /// Mean estimates of the flows, by [`COUNTING_RTTS`].
    counted: Vec<f64>,
    /// Packets that arrived in the second half.
    late_packets: u64,
}

impl Observed {
    /// Of the second half.
    pub(super) fn settled(&self) -> Numbers {
        let mut late = self.packets[self.packets.len() / 2..].to_vec();
        late.sort_unstable_by(f64::total_cmp);
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        let tail = quantile(&late, late.len() as u64, 0.99).unwrap_or(f64::NAN);
        let [half, end] = self.sent_bytes;
        let gbps = (end - half) as f64 * 8.0 / (self.end_ns - self.end_ns / 2) as f64;
        [("queue_packets_mean", mean), ("queue_packets_p99", tail), ("bottleneck_gbps", gbps)]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }

    /// The queue and the throughput in the bin before a time; nothing if the run is shorter.
    pub(super) fn before(&self, ms: f64) -> Numbers {
        let until = ((ms * 1e6) as u64 / self.sample_ns) as usize;
        let from = until.saturating_sub((self.bin_ns / self.sample_ns) as usize);
        let Some(bin) = self.packets.get(from..until) else {
            return Numbers::new();
        };
        let mean = bin.iter().sum::<f64>() / bin.len() as f64;
        let most = bin.iter().copied().fold(0.0, f64::max);
        let mut numbers = vec![("queue_packets_mean", mean), ("queue_packets_most", most)];
        if let Some([first, .., last]) = self.sent_by_sample.get(from..until) {
            let ns = (bin.len() - 1) as f64 * self.sample_ns as f64;
            numbers.push(("bottleneck_gbps", (last - first) as f64 * 8.0 / ns));
        }
        numbers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The mean estimate of the flows, as counted in this many base RTTs, in the second half.
    pub(super) fn counted(&self, rtts: f64) -> Numbers {
        let place = COUNTING_RTTS.iter().position(|&each| each == rtts);
        let mean = place.and_then(|place| self.counted.get(place).copied());
        mean.map(|mean| ("counted_flows_mean".to_owned(), mean)).into_iter().collect()
    }
}

impl FabricObserver for Observed {
    const WANTS_TELEMETRY: bool = true;

    fn left(&mut self, telemetry: &Telemetry) {
        if telemetry.port == self.port {
            let is_late = telemetry.time_ns >= self.end_ns / 2;
            self.sent_bytes[usize::from(is_late)] = telemetry.sent_bytes;
            self.sent = telemetry.sent_bytes;
        }
    }

    /// Acknowledgements go to other ports and wait for nothing, so the longest queue is the receiver's.
    fn sampled(&mut self, occupancy: &Occupancy) {
        self.packets.push(f64::from(occupancy.longest_queue_bytes) / PACKET_BYTES);
        self.sent_by_sample.push(self.sent);
    }
}

/// Counts the flows at the receiver's port.
struct Counting {
    observed: Observed,
    /// Each counter, and the sum of its estimates at packets of the second half.
    counts: Vec<(FlowCounter, f64)>,
}

impl Counting {
    fn finish(self) -> Observed {
        let packets = self.observed.late_packets as f64;
        let counted = self.counts.iter().map(|(_, sum)| sum / packets).collect();
        Observed { counted, ..self.observed }
    }
}

impl FabricObserver for Counting {
    const WANTS_EVENTS: bool = true;

    fn packet_event(&mut self, event: &Event) {
        if event.kind != EventKind::Arrival || event.port != self.observed.port {
            return;
        }
        let is_late = event.time_ns >= self.observed.end_ns / 2;
        self.observed.late_packets += u64::from(is_late);
        for (counter, sum) in &mut self.counts {
            counter.arrives(event.flow_hash, event.time_ns);
            *sum += f64::from(u8::from(is_late)) * f64::from(counter.estimate());
        }
    }
}

/// The steady queue of RED, by the window that senders have at a marking probability p. The windows of N senders fill the
/// queue and the pipe: `q + C d = N W(p)`, `p = lambda (q - minK)`.
#[derive(Clone, Copy)]
enum Equation {
    /// Equation 1, `(q - minK)^2 (q + C d) = 2 N / lambda^2`: W = 2 / p^2. DCTCP's fluid model (Alizadeh et al., SIGMETRICS
    /// 2011, equation 1) has this with p the share of windows that are cut, and p their cut, too.
    Paper,
    /// W = 2 / p: each window has a mark, and is cut by half the share of its marks, p / 2.
    EachWindow,
}

impl Equation {
    fn named(aqm: &str) -> Option<Equation> {
        match aqm {
            _ if aqm == EQUATION.1 => Some(Equation::Paper),
            _ if aqm == EQUATION_2_OVER_P.1 => Some(Equation::EachWindow),
            _ => None,
        }
    }

    /// The queue, packets: `q`, `minK` and `C d` in packets, lambda per packet. A packet is one of those that are measured: it
    /// has 1,500 bytes in the paper, and ours in the buffer.
    fn packets(self, flows: f64) -> f64 {
        let per_packet = RED.0 * PACKET_BYTES / 1e6;
        let least = RED.1 / PACKET_BYTES;
        let pipe = RATE_BPS as f64 / 8e9 * (4 * LINK_DELAY_NS) as f64 / PACKET_BYTES;
        let (mut low, mut high) = (least, 1e6);
        while high - low > 1e-6 {
            let middle = (low + high) / 2.0;
            let marked = per_packet * (middle - least);
            let window = match self {
                Equation::Paper => 2.0 / marked.powi(2),
                Equation::EachWindow => 2.0 / marked,
            };
            if middle + pipe < flows * window { low = middle } else { high = middle }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved() {
        for flows in [2.0, 20.0] {
            // The queues that stand beside it are in packets of 1,432 bytes.
            let lambda = 0.2_f64 * 0.001_432;
            let (least, pipe) = (15_000.0 / 1_432.0, 100_000.0 / 1_432.0);
            let queue = Equation::Paper.packets(flows);
            let left = (queue - least).powi(2) * (queue + pipe);
            assert!((left / (2.0 * flows / lambda.powi(2)) - 1.0).abs() < 1e-6, "{queue}");
            let queue = Equation::EachWindow.packets(flows);
            let left = (queue - least) * (queue + pipe);
            assert!((left / (2.0 * flows / lambda) - 1.0).abs() < 1e-6, "{queue}");
        }
    }
}
