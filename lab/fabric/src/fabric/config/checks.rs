//! What a fabric's parameters may be, and what is odd among them.

use super::{FabricConfig, FabricError, MAX_NS, wrong};
use dropcast_data::Scheduler;
use dropcast_switch::AqmSpec;
use dropcast_switch::aqm::ecn_threshold::EcnThreshold;

/// Largest packet on the wire, bytes.
const MAX_WIRE_BYTES: u64 = 65_536;
/// Fastest link in a configuration, bits per second: traffic that loads it still fits into memory.
const MOST_RATE_BPS: u64 = 10_000_000_000_000;

impl FabricConfig {
    pub(super) fn check_counts(&self) -> Result<(), FabricError> {
        for (field, value) in [
            ("leaves", u64::from(self.leaves)),
            ("servers", u64::from(self.servers)),
            ("server_rate_bps", self.server_rate_bps),
            ("uplink_rate_bps", self.uplink_rate_bps),
            ("leaf_buffer_bytes", u64::from(self.leaf_buffer_bytes)),
            ("spine_buffer_bytes", u64::from(self.spine_buffer_bytes)),
            ("segment_bytes", u64::from(self.segment_bytes)),
            ("header_bytes", u64::from(self.header_bytes)),
            ("queues_per_port", u64::from(self.queues_per_port)),
            ("initial_window_segments", u64::from(self.initial_window_segments)),
            ("min_rto_ns", self.min_rto_ns),
            ("timestamp_ns", self.timestamp_ns),
            ("end_ns", self.end_ns),
        ] {
            if value == 0 {
                return Err(wrong(field, "is 0, expected at least 1"));
            }
            if field.ends_with("_rate_bps") && value > MOST_RATE_BPS {
                return Err(wrong(field, format!("is {value}, expected at most {MOST_RATE_BPS}")));
            }
        }
        if self.leaves > 1 && self.spines == 0 {
            return Err(wrong("spines", "is 0, expected at least 1 to connect several leaves"));
        }
        for (field, what, count) in [
            ("servers", "servers", u32::from(self.leaves) * u32::from(self.servers)),
            ("spines", "switches", u32::from(self.leaves) + u32::from(self.spines)),
            ("spines", "ports of a leaf", u32::from(self.servers) + u32::from(self.spines)),
        ] {
            if count > u32::from(u16::MAX) {
                return Err(wrong(field, format!("makes {count} {what}, at most 65535 are")));
            }
        }
        Ok(())
    }

    pub(super) fn check_sizes(&self) -> Result<(), FabricError> {
        let parts = [self.segment_bytes, self.header_bytes, self.wire_overhead_bytes];
        let wire_bytes: u64 = parts.into_iter().map(u64::from).sum();
        if wire_bytes > MAX_WIRE_BYTES {
            let problem = format!(
                "makes packets of {wire_bytes} bytes on the wire, at most {MAX_WIRE_BYTES}"
            );
            return Err(wrong("segment_bytes", problem));
        }
        let rate = self.unresponsive_rate;
        if !(rate > 0.0 && rate <= 1.0) {
            let problem = format!("is {rate}, expected above 0 and at most 1");
            return Err(wrong("unresponsive_rate", problem));
        }
        Ok(())
    }

    pub(super) fn check_times(&self) -> Result<(), FabricError> {
        for (field, value) in [
            ("server_delay_ns", self.server_delay_ns),
            ("uplink_delay_ns", self.uplink_delay_ns),
            ("min_rto_ns", self.min_rto_ns),
            ("timer_tick_ns", self.timer_tick_ns),
            ("jitter_ns", self.jitter_ns),
            ("timestamp_ns", self.timestamp_ns),
            ("sample_interval_ns", self.sample_interval_ns),
            ("end_ns", self.end_ns),
        ] {
            if value > MAX_NS {
                return Err(wrong(field, format!("is {value}, expected at most {MAX_NS}")));
            }
        }
        Ok(())
    }

    pub(super) fn check_queues(&self) -> Result<(), FabricError> {
        let wanted = match self.scheduler {
            Scheduler::Dwrr => usize::from(self.queues_per_port),
            Scheduler::RoundRobin | Scheduler::StrictPriority => 0,
        };
        if self.quantum_bytes.len() != wanted {
            let problem = format!("has {} values, expected {wanted}", self.quantum_bytes.len());
            return Err(wrong("quantum_bytes", problem));
        }
        if self.quantum_bytes.contains(&0) {
            return Err(wrong("quantum_bytes", "has a 0, expected at least 1 for each queue"));
        }
        Ok(())
    }

    /// Says, of a fabric with other rates than the default's, which sizes are still those of the default, and what they would be in
    /// proportion: buffers by the rates of all ports, the marking threshold by a server's rate and the base RTT.
    pub fn sizes_of_other_rates(&self) -> Option<String> {
        let plain = FabricConfig::default();
        let threshold = |of: &FabricConfig| match of.aqm {
            AqmSpec::Ecn(EcnThreshold { threshold_bytes, .. }) if of.aqm == plain.aqm => {
                threshold_bytes
            }
            _ => 0,
        };
        let window = |of: &FabricConfig| of.server_rate_bps as f64 * of.base_rtt_ns() as f64;
        let leaf_bps = |servers_bps: u64, uplinks_bps: u64| {
            f64::from(self.servers) * servers_bps as f64
                + f64::from(self.spines) * uplinks_bps as f64
        };
        let leaf = leaf_bps(self.server_rate_bps, self.uplink_rate_bps)
            / leaf_bps(plain.server_rate_bps, plain.uplink_rate_bps);
        let spine = match self.leaves {
            1 => 1.0,
            _ => self.uplink_rate_bps as f64 / plain.uplink_rate_bps as f64,
        };
        let is_other = self.server_rate_bps != plain.server_rate_bps;
        let window = if is_other { window(self) / window(&plain) } else { 1.0 };
        let sizes = [
            ("leaf_buffer_bytes", self.leaf_buffer_bytes, plain.leaf_buffer_bytes, leaf),
            ("spine_buffer_bytes", self.spine_buffer_bytes, plain.spine_buffer_bytes, spine),
            ("threshold_bytes of aqm", threshold(self), threshold(&plain), window),
        ];
        let kept = sizes.into_iter().filter_map(|(name, own, plain, ratio)| {
            let is_kept = own == plain && (ratio - 1.0).abs() > 0.01;
            is_kept.then(|| format!("{name} {own} (in proportion {:.0})", f64::from(own) * ratio))
        });
        let kept: Vec<String> = kept.collect();
        (!kept.is_empty()).then(|| {
            let FabricConfig { server_rate_bps, uplink_rate_bps, .. } = self;
            format!(
                "[fabric]: server_rate_bps is {server_rate_bps}, uplink_rate_bps {uplink_rate_bps}, but these are the defaults, for \
                 links of 10 Gbps: {}; set what your switches have",
                kept.join(", ")
            )
        })
    }

    /// Says what is wrong with a flow that starts at this time: the simulation is over by then.
    pub fn too_late(&self, start_ns: u64) -> Option<String> {
        let end_ns = self.end_ns;
        let is_late = start_ns > end_ns;
        is_late.then(|| {
            format!(
                "is {start_ns}, after the simulation's end; raise end_ns ({end_ns}) of [fabric]"
            )
        })
    }
}
