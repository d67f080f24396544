//! Credence that falls back while its oracle is wrong.

use crate::traffic::{Arrivals, LINE_RATE_BPS};
use dropcast_data::{Outcome, SwitchSpec};
use dropcast_runtime::{DriftMonitor, DriftRule};
use dropcast_switch::{
    AlwaysAccept, Buffer, CredencePolicy, Fit, LineRate, Lqd, Observer, Packet, Predictor,
    Recorded, Removal, Switch, Victim,
};
use std::collections::BTreeSet;

const PACKETS: u64 = 20_000;

/// A port gets twice what it sends, another one a quarter of what it sends.
fn overload() -> (SwitchSpec, Arrivals) {
    let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 20_000, 1_000);
    let packet = |id| {
        let queue = usize::from(id % 9 == 8);
        (id * 450, Packet::new(id, queue, 1_000))
    };
    (spec, (0..PACKETS).map(packet).collect())
}

/// The packets that LQD drops.
#[derive(Default)]
struct Dropped(BTreeSet<u64>);

impl Observer for Dropped {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        if removal.outcome == Outcome::PushedOut {
            self.0.insert(removal.packet.id);
        }
    }
}

fn dropped_by_lqd(spec: &SwitchSpec, arrivals: &Arrivals) -> BTreeSet<u64> {
    let mut switch = Switch::new(spec, Fit::Exact, Lqd::new(Victim::Tail), LineRate::new(spec));
    let mut dropped = Dropped::default();
    for (now, packet) in arrivals {
        switch.advance(*now, &mut dropped);
        if !switch.admit(packet, *now, &mut dropped) {
            dropped.0.insert(packet.id);
        }
    }
    dropped.0
}

fn credence<P: Predictor>(spec: &SwitchSpec, predictor: P) -> CredencePolicy<LineRate, P> {
    CredencePolicy::new(spec, Victim::Tail, Fit::Exact, LineRate::new(spec), predictor)
}

/// Whether each packet is accepted, and the monitor at the end.
fn falling_back(
    spec: &SwitchSpec,
    arrivals: &Arrivals,
    predicts: impl FnMut(u64) -> bool,
) -> (Vec<bool>, DriftMonitor) {
    let policy = credence(spec, Recorded(predicts)).falling_back(DriftRule::default());
    let mut switch = Switch::new(spec, Fit::Exact, policy, LineRate::new(spec));
    let accepted = arrivals.iter().map(|(now, packet)| switch.arrive(packet, *now)).collect();
    (accepted, *switch.policy().drift().expect("it is measured"))
}

#[test]
fn a_right_oracle_is_followed_once_it_has_proved_itself() {
    let (spec, arrivals) = overload();
    let dropped = dropped_by_lqd(&spec, &arrivals);
    let (accepted, monitor) = falling_back(&spec, &arrivals, |id| dropped.contains(&id));
    assert!(monitor.is_trusted(), "{monitor:?}");
    assert!(monitor.precision() > DriftMonitor::ONE / 10 * 9, "{monitor:?}");
    let always = crate::traffic::accepted(&spec, &arrivals, credence(&spec, AlwaysAccept));
    let followed = crate::traffic::accepted(
        &spec,
        &arrivals,
        credence(&spec, Recorded(|id| dropped.contains(&id))),
    );
    let half = PACKETS as usize / 2;
    assert_eq!(accepted[half..], followed[half..], "trusted by then");
    assert_ne!(accepted, always);
    assert_eq!(accepted[..100], always[..100], "not yet trusted");
}

#[test]
fn a_wrong_oracle_changes_nothing() {
    let (spec, arrivals) = overload();
    let dropped = dropped_by_lqd(&spec, &arrivals);
    let (accepted, monitor) = falling_back(&spec, &arrivals, |id| !dropped.contains(&id));
    assert_eq!(monitor.precision(), 0);
    let always = crate::traffic::accepted(&spec, &arrivals, credence(&spec, AlwaysAccept));
    assert_eq!(accepted, always);
    let wrong = credence(&spec, Recorded(|id| !dropped.contains(&id)));
    assert_ne!(crate::traffic::accepted(&spec, &arrivals, wrong), always, "it would do harm");
}

#[test]
fn an_oracle_that_gets_wrong_loses_trust() {
    let (spec, arrivals) = overload();
    let dropped = dropped_by_lqd(&spec, &arrivals);
    let change = PACKETS / 2;
    let mut asked = 0_u32;
    let policy = credence(
        &spec,
        Recorded(|id: u64| {
            asked += u32::from(id >= change);
            dropped.contains(&id) == (id < change)
        }),
    )
    .falling_back(DriftRule::default());
    let mut switch = Switch::new(&spec, Fit::Exact, policy, LineRate::new(&spec));
    let (mut seen_after, mut transmitted) = (None, 0);
    for (now, packet) in &arrivals {
        transmitted += u64::from(switch.arrive(packet, *now));
        let monitor = switch.policy().drift().expect("it is measured");
        if packet.id >= change && !monitor.is_trusted() && seen_after.is_none() {
            seen_after = Some(packet.id - change);
        }
    }
    let monitor = *switch.policy().drift().expect("it is measured");
    assert!(!monitor.is_trusted(), "{monitor:?}");
    drop(switch);
    assert!(asked > DriftRule::default().window(), "{asked} predictions after the change");
    // The bars are 10,000 packets and 0.1% of what always accepting transmits.
    assert!(seen_after.is_some_and(|packets| packets < 100), "{seen_after:?}");
    let always = crate::traffic::accepted(&spec, &arrivals, credence(&spec, AlwaysAccept));
    let always = always.into_iter().map(u64::from).sum::<u64>();
    assert!(transmitted * 1000 >= always * 999, "{transmitted} of {always}");
}
