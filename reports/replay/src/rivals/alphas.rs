//! Policies that are an alpha of Dynamic Thresholds: they share switches.

use crate::alpha_lanes::{AlphaLanes, COMPLETE_SHARING};
use crate::arrival::{Arrival, ReplayError};
use crate::rival_switch::{RivalSent, Site, packet};
use dropcast_switch::{Alphas, PolicySpec};

/// The alpha that a policy is; none if it is another policy.
pub(super) fn alpha_of(policy: &PolicySpec) -> Option<Alphas> {
    match policy {
        PolicySpec::DynamicThresholds(parameters) => Some(parameters.alpha.clone()),
        PolicySpec::CompleteSharing(_) => Alphas::try_from(COMPLETE_SHARING).ok(),
        _ => None,
    }
}

/// Some alphas, which one thread replays.
pub(super) struct AlphaRivals {
    lanes: AlphaLanes,
    arrived: RivalSent,
    /// By alpha.
    dropped: Vec<RivalSent>,
    /// By alpha: which of the last arrivals it dropped.
    rejected: Vec<Vec<bool>>,
}

impl AlphaRivals {
    pub(super) fn new(alphas: Vec<Alphas>) -> Self {
        AlphaRivals {
            dropped: vec![RivalSent::default(); alphas.len()],
            rejected: vec![Vec::new(); alphas.len()],
            lanes: AlphaLanes::new(alphas),
            arrived: RivalSent::default(),
        }
    }

    pub(super) fn rejected(&self, alpha: usize) -> &[bool] {
        &self.rejected[alpha]
    }

    pub(super) fn add(&mut self, arrivals: &[Arrival], site: &Site<'_>) -> Result<(), ReplayError> {
        let AlphaRivals { lanes, arrived, dropped, rejected } = self;
        for rejected in &mut *rejected {
            rejected.clear();
            rejected.resize(arrivals.len(), false);
        }
        for (row, arrival) in arrivals.iter().enumerate() {
            let &Arrival { switch_id, time_ns, size_bytes, counted, .. } = arrival;
            let spec = site.specs.get(switch_id).ok_or(ReplayError::UnknownSwitch(switch_id))?;
            let queue = spec.queue_index(arrival.port, arrival.queue);
            arrived.count(size_bytes, counted);
            let packet = packet(queue, size_bytes, counted);
            lanes.arrive(site, (switch_id, spec), &packet, time_ns, |alpha| {
                dropped[alpha].count(size_bytes, counted);
                rejected[alpha][row] = true;
            });
        }
        Ok(())
    }

    /// What each transmits: in the end all that it accepts.
    pub(super) fn finish(self) -> Vec<RivalSent> {
        self.dropped.iter().map(|&dropped| self.arrived.without(dropped)).collect()
    }
}
