//! What Dynamic Thresholds transmit of the arrivals that count.

use super::lanes_sent::AlphasSent;
use super::pending::{Arrived, ReadyRows};
use crate::alpha_lanes::{AlphaLanes, COMPLETE_SHARING};
use crate::arrival::is_counted;
use crate::rival_switch::Site;
use dropcast_forest::Sent;
use dropcast_switch::Alphas;

/// Several alphas, the last of them infinite.
pub(super) struct CountedAlphas {
    lanes: AlphaLanes,
    least: Option<f64>,
    arrived: Sent,
    /// By alpha.
    dropped: Vec<Sent>,
}

impl CountedAlphas {
    /// # Panics
    /// If one is not a positive number.
    pub(super) fn new(alphas: &[f64]) -> Self {
        let all = alphas.iter().copied().chain([COMPLETE_SHARING]);
        let all: Vec<Alphas> =
            all.map(|alpha| Alphas::try_from(alpha).expect("a positive alpha")).collect();
        CountedAlphas {
            dropped: vec![Sent::default(); all.len()],
            lanes: AlphaLanes::new(all),
            least: alphas.iter().copied().reduce(f64::min),
            arrived: Sent::default(),
        }
    }

    pub(super) fn least(&self) -> Option<f64> {
        self.least
    }

    /// The next rows.
    pub(super) fn arrive(&mut self, rows: &ReadyRows, site: &Site<'_>) {
        let CountedAlphas { lanes, arrived, dropped, .. } = self;
        for same in rows.packets.chunk_by(|a, b| a.switch_id == b.switch_id) {
            let switch_id = same[0].switch_id;
            let Some(spec) = site.specs.get(switch_id) else { continue };
            for Arrived { packet, time_ns, .. } in same {
                let counted = u64::from(is_counted(packet.id));
                let sent = Sent { packets: counted, bytes: counted * u64::from(packet.size_bytes) };
                arrived.add(sent);
                let drops = |lane: usize| dropped[lane].add(sent);
                lanes.arrive(site, (switch_id, spec), packet, *time_ns, drops);
            }
        }
    }

    /// What is accepted is transmitted in the end.
    pub(super) fn finish(self) -> AlphasSent {
        let mut by_alpha: Vec<Sent> =
            self.dropped.iter().map(|&dropped| self.arrived.without(dropped)).collect();
        let complete_sharing = by_alpha.pop().unwrap_or_default();
        AlphasSent { by_alpha, complete_sharing }
    }
}
