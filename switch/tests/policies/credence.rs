//! Credence with other features and predictors than in its paper's theorems.

use crate::traffic::{Arrivals, switch_and_arrivals};
use dropcast_data::{Outcome, SwitchSpec};
use dropcast_features::{FeatureSet, History};
use dropcast_switch::policies::oracle::Oracle;
use dropcast_switch::{
    AlwaysAccept, Asked, Buffer, CredencePolicy, Fit, Flipped, LineRate, Observer, Packet,
    Predictor, Recorded, Removal, Switch, Victim, VirtualLqd,
};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

/// A predictor's inputs: packet and features.
type Questions = Vec<(u64, Vec<u32>)>;

/// Predicts drops by packet number, and records its inputs.
#[derive(Clone)]
struct Showing {
    asked: Rc<RefCell<Questions>>,
    drops: u64,
}

impl Predictor for Showing {
    fn features(&self) -> FeatureSet {
        FeatureSet::all()
    }

    fn predicts_drop(&mut self, asked: Asked<'_>) -> bool {
        self.asked.borrow_mut().push((asked.packet.id, asked.features.to_vec()));
        asked.packet.id % 8 < self.drops
    }
}

/// The features of a switch's own queues, kept beside it.
struct Beside {
    history: History,
}

impl Observer for Beside {
    fn removed(&mut self, removal: &Removal, buffer: &Buffer) {
        assert_eq!(removal.outcome, Outcome::Departed);
        self.history.removed(buffer, removal.queue, removal.time);
    }
}

/// A predictor's inputs with the features of the switch's own queues, and the expected ones, for
/// every packet.
fn asked_and_expected(
    spec: &SwitchSpec,
    arrivals: &Arrivals,
    drops: u64,
) -> (Questions, Vec<Vec<u32>>) {
    let showing = Showing { asked: Rc::default(), drops };
    let asked = showing.asked.clone();
    let features = FeatureSet::all();
    let service = LineRate::new(spec);
    let base = CredencePolicy::new(spec, Victim::Tail, Fit::Exact, service.clone(), AlwaysAccept);
    let policy = Oracle::new(spec, base, showing, spec.base_rtt_ns);
    let mut switch = Switch::new(spec, Fit::Exact, policy, service);
    let each_port = usize::from(spec.queues_per_port);
    let rates = (0..spec.queues()).map(|queue| spec.line_rate_bps[queue / each_port]);
    let mut beside = Beside { history: features.history(rates, spec.base_rtt_ns) };
    let mut expected = Vec::new();
    for (now, packet) in arrivals {
        switch.advance(*now, &mut beside);
        let mut values = vec![0; features.len()];
        features.observe(switch.buffer(), &beside.history, packet.queue, &mut values);
        expected.push(values);
        switch.admit(packet, *now, &mut beside);
        beside.history.arrived(switch.buffer(), packet.queue, packet.size_bytes, *now);
    }
    (asked.take(), expected)
}

/// Whether each packet is accepted by Credence with this predictor.
fn accepted(spec: &SwitchSpec, arrivals: &Arrivals, predictor: impl Predictor) -> Vec<bool> {
    let policy =
        CredencePolicy::new(spec, Victim::Tail, Fit::Exact, LineRate::new(spec), predictor);
    crate::traffic::accepted(spec, arrivals, policy)
}

proptest! {
    /// The features of the real queues are those of the one definition, on the real buffer.
    #[test]
    fn real_queues_have_the_same_features((spec, arrivals) in switch_and_arrivals(), drops in 0_u64..8) {
        let (asked, expected) = asked_and_expected(&spec, &arrivals, drops);
        for (packet, values) in asked {
            prop_assert_eq!(&values, &expected[packet as usize], "packet {}", packet);
        }
    }

    /// Credence is the oracle over FollowLQD with the safeguard (Credence without a model) that sees virtual LQD's queues:
    /// the same questions with the same features, and the same packets.
    #[test]
    fn credence_is_an_oracle_over_follow_lqd((spec, arrivals) in switch_and_arrivals(), drops in 0_u64..8) {
        let showing = || Showing { asked: Rc::default(), drops };
        let service = || LineRate::new(&spec);
        let (whole, wrapped) = (showing(), showing());
        let questions = (whole.asked.clone(), wrapped.asked.clone());
        let by_credence = accepted(&spec, &arrivals, whole);
        let base = CredencePolicy::new(&spec, Victim::Tail, Fit::Exact, service(), AlwaysAccept);
        let oracle = Oracle::over_virtual_lqd(&spec, base, wrapped, |features| {
            VirtualLqd::new(&spec, Victim::Tail, Fit::Exact, service(), features)
        });
        prop_assert_eq!(by_credence, crate::traffic::accepted(&spec, &arrivals, oracle));
        prop_assert_eq!(questions.0.take(), questions.1.take());
    }

    #[test]
    fn always_accepting_is_never_predicting_a_drop((spec, arrivals) in switch_and_arrivals()) {
        let never = accepted(&spec, &arrivals, Recorded(|_| false));
        prop_assert_eq!(accepted(&spec, &arrivals, AlwaysAccept), never);
    }

    /// Flips with probability 0 and 1.
    #[test]
    fn certain_flips((spec, arrivals) in switch_and_arrivals(), seed: u64) {
        let predicted = |id: u64| id.is_multiple_of(3);
        let as_is = accepted(&spec, &arrivals, Recorded(predicted));
        let never = Flipped::new(Recorded(predicted), 0.0, seed);
        prop_assert_eq!(accepted(&spec, &arrivals, never), as_is);
        let inverse = accepted(&spec, &arrivals, Recorded(|id| !predicted(id)));
        let always = Flipped::new(Recorded(predicted), 1.0, seed);
        prop_assert_eq!(accepted(&spec, &arrivals, always), inverse);
    }
}

/// Not vacuous: the test above calls its predictor.
#[test]
fn predictors_of_real_queues_are_asked() {
    let spec = SwitchSpec::uniform(4, crate::traffic::LINE_RATE_BPS, 40_000, 2_000);
    let arrivals = crate::traffic::overload(&[0, 1], 4, 100);
    let (asked, expected) = asked_and_expected(&spec, &arrivals, 0);
    assert!(asked.len() > 20, "{}", asked.len());
    assert!(asked.iter().any(|(packet, _)| expected[*packet as usize][1] > 0), "averages move");
}

#[test]
fn flips_as_often_as_given() {
    let packet = Packet::new(0, 0, 1);
    let flips = |seed| -> Vec<bool> {
        let mut predictor = Flipped::new(Recorded(|_| false), 0.1, seed);
        let asked = Asked { packet: &packet, features: &[] };
        (0..10_000).map(|_| predictor.predicts_drop(asked)).collect()
    };
    let count = flips(1).iter().filter(|&&flipped| flipped).count();
    // Four standard deviations.
    assert!(count.abs_diff(1_000) < 120, "{count}");
    assert_eq!(flips(1), flips(1));
    assert_ne!(flips(1), flips(2));
}
