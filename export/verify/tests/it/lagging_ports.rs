//! Ports that transmit a packet later than virtual LQD's cost no packets, thanks to the slack of thresholds.

use dropcast_arrivals::LeafWorkload;
use dropcast_data::{Outcome, SwitchSpec};
use dropcast_runtime::Situation;
use dropcast_switch::{
    AlwaysAccept, Buffer, CredencePolicy, Fit, LineRate, Lqd, Observer, Packet, Policy, Removal,
    Switch, Victim,
};
use std::collections::BTreeSet;

/// The packets that LQD drops.
#[derive(Default)]
struct PushedOut(BTreeSet<u64>);

impl Observer for PushedOut {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        if removal.outcome == Outcome::PushedOut {
            self.0.insert(removal.packet.id);
        }
    }
}

/// The packets that a policy drops, in a switch whose ports are those of `spec`.
fn dropped<P: Policy>(workload: &LeafWorkload, spec: &SwitchSpec, policy: P) -> BTreeSet<u64> {
    let mut switch = Switch::new(spec, Fit::default(), policy, LineRate::new(spec));
    let mut dropped = PushedOut::default();
    let events = workload.arrivals().expect("valid").flat_map(|batch| batch.events);
    for (id, event) in (0..).zip(events) {
        let packet = Packet::new(id, spec.queue_index(event.port, event.queue), event.size_bytes);
        switch.advance(event.time_ns, &mut dropped);
        if !switch.admit(&packet, event.time_ns, &mut dropped) {
            dropped.0.insert(id);
        }
    }
    dropped.0
}

/// Virtual LQD's ports take a packet ahead of the wire, the switch's own do not: its queues are up to a
/// packet longer. Algorithm 1 then drops what arrives behind that packet.
#[test]
fn ports_that_are_a_packet_behind_drop_nothing_more() {
    let workload = LeafWorkload { duration_ns: 20_000_000, ..LeafWorkload::loaded() };
    let behind = workload.switch_spec().expect("valid");
    let ahead = SwitchSpec { transmit_ring_packets: 1, ..behind.clone() };
    let credence = |slack_bytes| {
        let service = LineRate::new(&ahead);
        CredencePolicy::new(&ahead, Victim::default(), Fit::default(), service, AlwaysAccept)
            .with_slack(slack_bytes)
    };
    let by_lqd = dropped(&workload, &ahead, Lqd::new(Victim::default()));
    // Packets that LQD transmits.
    let lost = |spec, slack_bytes| {
        dropped(&workload, spec, credence(slack_bytes)).difference(&by_lqd).count()
    };
    let in_step = lost(&ahead, 0);
    assert!(by_lqd.len() > 500 && in_step > 500, "{} {in_step}", by_lqd.len());
    let without_slack = lost(&behind, 0);
    assert!(without_slack > in_step + in_step / 2, "{without_slack}, in step {in_step}");
    let with_slack = lost(&behind, Situation::ONE_PACKET_BYTES);
    assert!(with_slack <= in_step + in_step / 20, "{with_slack}, in step {in_step}");
}
