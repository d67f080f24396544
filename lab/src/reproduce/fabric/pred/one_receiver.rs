//! Flows that come and go, from all servers to one.

use super::simulated::{SAMPLE_NS, simulate};
use crate::reproduce::fabric::observed::Numbers;
use crate::reproduce::fabric::scale::Scale;
use dropcast_arrivals::{FlowSizeChoice, FlowSizeName};
use dropcast_fabric::{
    Fabric, FabricConfig, FabricObserver, FlowRecord, Occupancy, Pattern, PoissonFlows,
    TrafficConfig, Transport, quantile,
};
use dropcast_pipeline::PipelineError;
use dropcast_switch::AqmSpec;

/// Flows that start in this share of a run are not measured: PRED begins with its first setting.
const WARM_UP: f64 = 0.2;
/// Small flows are smaller, large ones larger, bytes (section 6.1).
const SMALL_BYTES: u64 = 100_000;
const LARGE_BYTES: u64 = 1_000_000;

/// A fabric in which all send to the first server.
pub(super) struct OneReceiver {
    pub(super) leaves: u16,
    /// Servers of each leaf.
    pub(super) servers: u16,
    pub(super) spines: u16,
    pub(super) rate_bps: u64,
    pub(super) link_delay_ns: u64,
    pub(super) sizes: Sizes,
    pub(super) initial_window_segments: u32,
}

/// Sizes of flows.
pub(super) enum Sizes {
    Named(FlowSizeName),
    /// Evenly, bytes.
    Between(u64, u64),
}

impl OneReceiver {
    /// One run: completion times of small, large and all flows, microseconds, and the queue at the receiver's link,
    /// packets of 1,432 bytes.
    pub(super) fn observe(
        &self,
        aqm: AqmSpec,
        load: f64,
        scale: &Scale,
        run: u32,
    ) -> Result<Numbers, PipelineError> {
        let seed = scale.seed.wrapping_add(run.into());
        let plain = FabricConfig::artifact();
        let packet_bytes = f64::from(plain.segment_bytes + plain.header_bytes);
        let fabric = Fabric::try_from(scale.begins(FabricConfig {
            leaves: self.leaves,
            servers: self.servers,
            spines: self.spines,
            server_rate_bps: self.rate_bps,
            uplink_rate_bps: self.rate_bps,
            server_delay_ns: self.link_delay_ns,
            uplink_delay_ns: self.link_delay_ns,
            // Nothing is dropped.
            leaf_buffer_bytes: 64_000_000,
            spine_buffer_bytes: 64_000_000,
            aqm,
            initial_window_segments: self.initial_window_segments,
            sample_interval_ns: SAMPLE_NS,
            seed,
            ..plain
        }))
        .map_err(PipelineError::stated)?;
        let sizes = match self.sizes {
            Sizes::Named(name) => FlowSizeChoice::Named(name),
            Sizes::Between(least, most) => {
                FlowSizeChoice::Points(vec![(least - 1, 0.0), (most, 1.0)])
            }
        };
        let flows = PoissonFlows {
            load,
            sizes,
            pattern: Pattern::OneReceiver,
            transport: Transport::Dctcp,
            ..PoissonFlows::default()
        };
        let traffic = TrafficConfig {
            duration_ns: scale.duration_ns,
            seed,
            flows: vec![flows],
            incasts: Vec::new(),
            collectives: Vec::new(),
        };
        let flows = traffic
            .mix(&fabric)
            .map_err(|error| PipelineError::setting("duration-ms", error.to_string()))?;
        let from_ns = (scale.duration_ns as f64 * WARM_UP) as u64;
        let mut times = Times::of_flows_from(from_ns, scale.duration_ns);
        simulate(&fabric, flows, &mut times)?;
        Ok(times.numbers(packet_bytes))
    }
}

/// Completion times and the receiver's queue.
#[derive(Default)]
pub(super) struct Times {
    /// Flows that start earlier do not count, nor does the queue, nanoseconds.
    from_ns: u64,
    /// The queue does not count from here on, nanoseconds.
    until_ns: u64,
    small_us: Vec<f64>,
    large_us: Vec<f64>,
    all_us: Vec<f64>,
    queue_bytes: Vec<f64>,
}

impl Times {
    pub(super) fn of_flows_from(from_ns: u64, until_ns: u64) -> Self {
        Times { from_ns, until_ns, ..Times::default() }
    }

    /// The mean and the p99 of each, as far as there is one.
    pub(super) fn numbers(self, packet_bytes: f64) -> Numbers {
        let queue_packets = self.queue_bytes.iter().map(|bytes| bytes / packet_bytes).collect();
        let mut numbers = Numbers::new();
        for (name, mut values) in [
            ("small_fct_us", self.small_us),
            ("large_fct_us", self.large_us),
            ("all_fct_us", self.all_us),
            ("queue_packets", queue_packets),
        ] {
            values.sort_unstable_by(f64::total_cmp);
            let Some(tail) = quantile(&values, values.len() as u64, 0.99) else { continue };
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            numbers.insert(format!("{name}_mean"), mean);
            numbers.insert(format!("{name}_p99"), tail);
        }
        numbers
    }
}

impl FabricObserver for Times {
    fn flow_ended(&mut self, record: &FlowRecord) {
        let Some(fct_ns) = record.fct_ns.filter(|_| record.flow.start_ns >= self.from_ns) else {
            return;
        };
        let us = fct_ns as f64 / 1e3;
        self.all_us.push(us);
        match record.flow.size_bytes {
            ..SMALL_BYTES => self.small_us.push(us),
            LARGE_BYTES.. => self.large_us.push(us),
            _ => {}
        }
    }

    /// The receiver is the first server, at the first leaf. Its queue is the leaf's longest: acknowledgements wait for
    /// nothing.
    fn sampled(&mut self, occupancy: &Occupancy) {
        if occupancy.switch_id == 0 && (self.from_ns..self.until_ns).contains(&occupancy.time_ns) {
            self.queue_bytes.push(f64::from(occupancy.longest_queue_bytes));
        }
    }
}
