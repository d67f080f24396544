//! What lanes transmit.

use dropcast_forest::{LaneSent, Sent, WindowGain, add_gains};

/// Transmitted packets and bytes, over all switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LanesSent {
    /// By push-out Longest Queue Drop.
    pub lqd: Sent,
    /// By policies without predictions; none unless [asked for](super::ForestReplay::with_baselines).
    pub baselines: Option<BaselinesSent>,
    /// With alphas of Dynamic Thresholds; none unless [asked for](super::ForestReplay::with_alphas).
    pub alphas: Option<AlphasSent>,
    /// In each lane.
    pub lanes: Vec<Sent>,
    /// In each lane of Credence, what it transmits more than Credence that always accepts, by window of time.
    pub gains: Vec<Vec<WindowGain>>,
}

/// What policies without predictions transmit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BaselinesSent {
    /// Credence that always accepts.
    pub always_accept: Sent,
    /// FollowLQD.
    pub follow_lqd: Sent,
}

/// What Dynamic Thresholds transmit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlphasSent {
    /// With each alpha, in the order in which they were given.
    pub by_alpha: Vec<Sent>,
    /// With an infinite one.
    pub complete_sharing: Sent,
}

impl LanesSent {
    /// Adds packets that every policy transmits.
    pub(super) fn add_to_all(&mut self, sent: Sent) {
        self.lqd.add(sent);
        self.lanes.iter_mut().for_each(|lane| lane.add(sent));
        if let Some(baselines) = &mut self.baselines {
            baselines.each().into_iter().for_each(|sum| sum.add(sent));
        }
        if let Some(alphas) = &mut self.alphas {
            alphas.each().for_each(|sum| sum.add(sent));
        }
    }

    /// Adds the totals of the same lanes elsewhere.
    pub fn add(&mut self, more: &LanesSent) {
        self.lqd.add(more.lqd);
        if let Some(more) = &more.baselines {
            let own = self.baselines.get_or_insert_default();
            let mut more = *more;
            own.each().into_iter().zip(more.each()).for_each(|(sum, sent)| sum.add(*sent));
        }
        if let Some(more) = &more.alphas {
            let own = self.alphas.get_or_insert_default();
            own.by_alpha.resize(more.by_alpha.len(), Sent::default());
            let mut more = more.clone();
            own.each().zip(more.each()).for_each(|(sum, sent)| sum.add(*sent));
        }
        self.lanes.resize(self.lanes.len().max(more.lanes.len()), Sent::default());
        self.lanes.iter_mut().zip(&more.lanes).for_each(|(sum, sent)| sum.add(*sent));
        self.gains.resize(self.lanes.len(), Vec::new());
        self.gains.iter_mut().zip(&more.gains).for_each(|(sum, more)| add_gains(sum, more));
    }

    /// The same of this run: a replay of one trace does not know which it is.
    #[must_use]
    pub fn of_run(mut self, run: u64) -> Self {
        self.gains.iter_mut().flatten().for_each(|(window, _)| window.run = run);
        self
    }

    /// What each lane transmits, with its gains.
    pub fn by_lane(self) -> Vec<LaneSent> {
        let lanes = self.lanes.into_iter().zip(self.gains);
        lanes.map(|(sent, gains)| LaneSent { sent, gains }).collect()
    }

    /// LQD's packets over those of a lane: `eta` if it follows the predictions. `None` if
    /// it transmitted nothing or does not exist.
    pub fn lqd_to_lane(&self, lane: usize) -> Option<f64> {
        let sent = self.lanes.get(lane)?.packets;
        (sent > 0).then(|| self.lqd.packets as f64 / sent as f64)
    }
}

impl BaselinesSent {
    fn each(&mut self) -> [&mut Sent; 2] {
        [&mut self.always_accept, &mut self.follow_lqd]
    }
}

impl AlphasSent {
    fn each(&mut self) -> impl Iterator<Item = &mut Sent> {
        self.by_alpha.iter_mut().chain([&mut self.complete_sharing])
    }
}

/// What a lane has transmitted beyond a switch; negative if less.
#[derive(Clone, Copy, Default)]
pub(super) struct Lead {
    packets: i128,
    bytes: i128,
}

impl Lead {
    pub(super) fn new(lane: &Sent, other: &Sent) -> Self {
        let beyond = |a: u64, b: u64| i128::from(a) - i128::from(b);
        Lead {
            packets: beyond(lane.packets, other.packets),
            bytes: beyond(lane.bytes, other.bytes),
        }
    }

    pub(super) fn add(&mut self, more: Lead) {
        self.packets += more.packets;
        self.bytes += more.bytes;
    }

    pub(super) fn added_to(self, Sent { packets, bytes }: Sent) -> Sent {
        let sum = |sent: u64, lead: i128| (i128::from(sent) + lead) as u64;
        Sent { packets: sum(packets, self.packets), bytes: sum(bytes, self.bytes) }
    }
}
