//! Credence that pays back, and FollowMax: policies that follow the queues of virtual drop-tail switches.

use crate::traffic::{Arrivals, accepted, switch_and_arrivals};
use dropcast_data::SwitchSpec;
use dropcast_features::{BufferView, FeatureSet};
use dropcast_switch::{
    AlwaysAccept, Asked, Buffer, Decision, Fit, FollowLqd, FollowMax, Harmonic, LineRate,
    NoObserver, Packet, PaybackCredence, Policy, PolicySite, PolicySpec, Predictor, Recorded,
    Switch, Victim, VirtualLqd,
};
use proptest::prelude::*;

/// Both policies, written from their definition: the virtual switches are run again from the first arrival
/// for every packet.
struct Slow {
    spec: SwitchSpec,
    drops: fn(u64) -> bool,
    /// FollowMax with this much for Harmonic; else the policy that pays back.
    harmonic_bytes: Option<u32>,
    so_far: Arrivals,
}

impl Slow {
    /// What the queues of a switch have in its shared buffer, by running it from the first arrival; it sees
    /// the packets that are `shown`.
    fn lengths(
        &self,
        buffer_bytes: u32,
        shown: impl Fn(&Packet) -> bool,
        policy: impl FnOnce(&SwitchSpec) -> Box<dyn Policy>,
    ) -> Vec<u32> {
        let spec = SwitchSpec { buffer_bytes, ..self.spec.clone() };
        let mut switch = Switch::new(&spec, Fit::Exact, policy(&spec), LineRate::new(&spec));
        for (now, packet) in &self.so_far {
            switch.advance(*now, &mut NoObserver);
            if shown(packet) {
                switch.admit(packet, *now, &mut NoObserver);
            }
        }
        switch.buffer().shared_lengths().to_vec()
    }

    fn follow_lqd(&self, buffer_bytes: u32) -> Vec<u32> {
        let queues = Buffer::new(&self.spec, Fit::Exact);
        let shown = |packet: &Packet| !queues.shares(packet.queue) || !(self.drops)(packet.id);
        self.lengths(buffer_bytes, shown, |spec| {
            Box::new(FollowLqd::new(spec, Victim::Tail, Fit::Exact, LineRate::new(spec)))
        })
    }
}

impl Policy for Slow {
    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.so_far.push((now, *packet));
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let queue = packet.queue;
        let after = buffer.shared_lengths()[queue] + packet.size_bytes;
        let capacity = buffer.capacity_bytes();
        let is_followed = match self.harmonic_bytes {
            Some(bytes) => {
                let robust = self.lengths(bytes, |_| true, |_| Box::new(Harmonic::default()));
                after <= self.follow_lqd(capacity - bytes)[queue] || after <= robust[queue]
            }
            None => {
                let held: u64 = buffer.shared_lengths().iter().map(|&bytes| u64::from(bytes)).sum();
                after <= self.follow_lqd(capacity)[queue]
                    || held * (self.spec.ports() as u64) < u64::from(capacity)
            }
        };
        let accepts = is_followed && buffer.fits(packet.size_bytes);
        if accepts { Decision::Accept } else { Decision::Reject }
    }
}

/// Some queues have reserved bytes, and some draw on no shared buffer.
fn switches() -> impl Strategy<Value = (SwitchSpec, Arrivals)> {
    (switch_and_arrivals(), any::<bool>(), any::<bool>()).prop_map(
        |((mut spec, mut arrivals), reserves, is_apart)| {
            if reserves {
                spec.reserved_bytes = vec![2_000; usize::from(spec.queues_per_port)];
            }
            if is_apart && spec.queues_per_port > 1 {
                spec.shared[0] = false;
                spec.pushable[0] = false;
            }
            arrivals.truncate(120);
            (spec, arrivals)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn they_are_their_definitions((spec, arrivals) in switches(), share in 0_u32..=4) {
        let predictions: [fn(u64) -> bool; 3] =
            [|_| false, |id| id.is_multiple_of(3), |id| !id.is_multiple_of(4)];
        let bytes = spec.buffer_bytes / 4 * share;
        for drops in predictions {
            let slow = |harmonic_bytes| {
                let so_far = Arrivals::new();
                accepted(&spec, &arrivals, Slow { spec: spec.clone(), drops, harmonic_bytes, so_far })
            };
            let (victim, fit, service) = (Victim::Tail, Fit::Exact, || LineRate::new(&spec));
            let pays_back = PaybackCredence::new(&spec, victim, fit, service(), Recorded(drops));
            prop_assert_eq!(accepted(&spec, &arrivals, pays_back), slow(None));
            let max = FollowMax::new(&spec, victim, fit, service(), Recorded(drops), bytes);
            prop_assert_eq!(accepted(&spec, &arrivals, max), slow(Some(bytes)));
        }
    }

    /// Predictors see what Credence shows them: the features of LQD on all packets, with the whole buffer.
    #[test]
    fn predictors_see_the_features_of_labels((spec, arrivals) in switch_and_arrivals()) {
        let mut lqd = VirtualLqd::new(
            &spec, Victim::Tail, Fit::Exact, LineRate::new(&spec), FeatureSet::all(),
        );
        let mut values = vec![0; FeatureSet::all().len()];
        let sums = arrivals.iter().map(|(now, packet)| {
            lqd.advance(*now, |_, _| {});
            let sum = sum(lqd.observe(packet, *now, &mut values));
            lqd.admit(packet, *now, |_, _| {});
            sum
        });
        let expected: Vec<bool> = sums.map(|sum| !sum.is_multiple_of(3)).collect();
        let (victim, fit, service) = (Victim::Tail, Fit::Exact, || LineRate::new(&spec));
        let by_features = PaybackCredence::new(&spec, victim, fit, service(), ByFeatures);
        let by_number = Recorded(|id: u64| expected[id as usize]);
        let by_number = PaybackCredence::new(&spec, victim, fit, service(), by_number);
        prop_assert_eq!(
            accepted(&spec, &arrivals, by_features),
            accepted(&spec, &arrivals, by_number)
        );
        let bytes = spec.buffer_bytes / 4;
        let by_features = FollowMax::new(&spec, victim, fit, service(), ByFeatures, bytes);
        let by_number = Recorded(|id: u64| expected[id as usize]);
        let by_number = FollowMax::new(&spec, victim, fit, service(), by_number, bytes);
        prop_assert_eq!(
            accepted(&spec, &arrivals, by_features),
            accepted(&spec, &arrivals, by_number)
        );
    }
}

fn sum(values: &[u32]) -> u32 {
    values.iter().fold(0, |sum: u32, &value| sum.wrapping_add(value))
}

/// Two of three packets, by their features.
struct ByFeatures;

impl Predictor for ByFeatures {
    fn features(&self) -> FeatureSet {
        FeatureSet::all()
    }

    fn predicts_drop(&mut self, asked: Asked<'_>) -> bool {
        !sum(asked.features).is_multiple_of(3)
    }
}

/// Two ports share 10,000 bytes; each packet has 1,000.
fn two_ports(queues: &[usize]) -> (SwitchSpec, Arrivals) {
    let spec = SwitchSpec::uniform(2, 8_000_000_000, 10_000, 4_000);
    let packets = queues.iter().zip(0..);
    (spec, packets.map(|(&queue, id)| (0, Packet::new(id, queue, 1_000))).collect())
}

fn how_many(accepted: &[bool]) -> usize {
    accepted.iter().filter(|&&is| is).count()
}

/// Whatever is predicted, FollowMax takes what Harmonic does, with its part of the buffer.
#[test]
fn follow_max_keeps_harmonics_part() {
    let (spec, arrivals) = two_ports(&[0; 12]);
    let with = |share: &str| {
        let policy: PolicySpec = format!("follow-max:{share}").parse().expect("a policy");
        let site = PolicySite::new(&spec, 1);
        how_many(&accepted(&spec, &arrivals, policy.build(site).expect("valid")))
    };
    // All predictions flipped: every packet is a predicted drop. One is on the wire; two thirds of
    // Harmonic's bytes are for the longest of two queues.
    assert_eq!(with("flip_probability=1,harmonic_share=0.3"), 1 + 2);
    assert_eq!(with("flip_probability=1,harmonic_share=0.75"), 1 + 5);
    // By default a quarter: 2,500 bytes. FollowLQD has the rest.
    assert_eq!(with("flip_probability=1"), 1 + 1);
    assert_eq!(with("flip_probability=0"), 1 + 7);
}

/// A packet of the safeguard stands in for the next one that FollowLQD takes.
#[test]
fn a_packet_of_the_safeguard_is_paid_back() {
    let (spec, arrivals) = two_ports(&[0, 0, 0, 0, 0]);
    let drops = |id| id < 3;
    let policy = PaybackCredence::new(
        &spec,
        Victim::Tail,
        Fit::Exact,
        LineRate::new(&spec),
        Recorded(drops),
    );
    let mut switch = Switch::new(&spec, Fit::Exact, policy, LineRate::new(&spec));
    for (now, packet) in &arrivals {
        switch.arrive(packet, *now);
    }
    // Five packets are below B/N: all are taken. FollowLQD saw two and has sent one of them on the wire.
    assert_eq!(switch.buffer().lengths(), [4_000, 0]);
    assert_eq!(switch.policy().reference(), [1_000, 0]);
}

/// Reserved bytes are beside the shared buffer: what a queue has there is compared, not its length.
#[test]
fn reserved_bytes_are_not_followed() {
    let (mut spec, arrivals) = two_ports(&[0; 20]);
    spec.reserved_bytes = vec![3_000];
    let (victim, fit, service) = (Victim::Tail, Fit::Exact, || LineRate::new(&spec));
    let follow = FollowLqd::new(&spec, victim, fit, service());
    let pays_back = PaybackCredence::new(&spec, victim, fit, service(), AlwaysAccept);
    let followed = accepted(&spec, &arrivals, follow);
    assert_eq!(accepted(&spec, &arrivals, pays_back), followed);
    assert_eq!(how_many(&followed), 1 + 3 + 10);
}
