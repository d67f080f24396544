//! `dropcast-oracle`'s Credence, which runs in caller-owned memory, against the policy of the same
//! name: decision for decision, threshold for threshold, on random traffic in both time models.

use dropcast_data::{Outcome, SwitchSpec};
use dropcast_features::{BufferView, FeatureSet};
use dropcast_oracle::{DropOracle, VirtualLqd, VirtualPacket, VirtualQueue};
use dropcast_switch::{
    Buffer, Credence, Fit, LineRate, Live, Lqd, Observer, Packet, Removal, Service, Slotted,
    Switch, Victim,
};
use proptest::prelude::*;

/// An arrival: time, queue, bytes.
type Arrival = (u64, usize, u32);

/// A predictor that depends on every feature, and on nothing else.
#[derive(Clone, Copy, Debug)]
struct Hash {
    seed: u64,
    drops_in_256: u64,
}

impl DropOracle for Hash {
    fn predicts_drop(&self, features: &[u32]) -> bool {
        let mix = |hash: u64, &value: &u32| {
            (hash ^ u64::from(value)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
        };
        features.iter().fold(self.seed, mix) % 256 < self.drops_in_256
    }
}

/// Packets that left, and where from.
#[derive(Default)]
struct Left(Vec<(u64, usize, u32)>);

impl Observer for Left {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        if removal.outcome == Outcome::Departed {
            self.0.push((removal.time, removal.queue, removal.packet.size_bytes));
        }
    }
}

/// What the oracle's virtual LQD holds, as features see it.
struct View<'a, 'b>(&'a VirtualLqd<'b>);

impl BufferView for View<'_, '_> {
    fn queues(&self) -> usize {
        self.0.queues()
    }

    fn queue_bytes(&self, queue: usize) -> u32 {
        self.0.queue_bytes(queue)
    }

    fn occupancy_bytes(&self) -> u32 {
        self.0.occupancy_bytes()
    }

    fn longest_queue_bytes(&self) -> u32 {
        self.0.longest_queue_bytes()
    }

    fn queues_longer_than(&self, bytes: u32) -> u32 {
        self.0.queues_longer_than(bytes) as u32
    }

    fn bytes_up_to(&self, level_bytes: u32) -> u64 {
        self.0.bytes_up_to(level_bytes)
    }

    fn shares(&self, _: usize) -> bool {
        true
    }
}

/// Runs both; they must agree. Departures of the virtual LQD, which the oracle leaves to its
/// caller, are those of a virtual LQD that stands alone.
fn agree<S: Service + Clone>(
    spec: &SwitchSpec,
    service: &S,
    arrivals: &[Arrival],
    hash: Hash,
) -> Result<[usize; 2], TestCaseError> {
    let features = FeatureSet::all();
    let live = Live { features: features.clone(), oracle: hash };
    let policy = Credence::new(spec, Victim::Tail, Fit::Exact, service.clone(), live);
    let mut switch = Switch::new(spec, Fit::Exact, policy, service.clone());
    let mut lqd = Switch::new(spec, Fit::Exact, Lqd::new(Victim::Tail), service.clone());

    let (mut queues, mut lengths) =
        (vec![VirtualQueue::EMPTY; spec.queues()], vec![7; spec.queues()]);
    let mut packets = vec![VirtualPacket::FREE; arrivals.len()];
    let virtual_lqd = VirtualLqd::new(spec.buffer_bytes, &mut queues, &mut packets);
    let mut credence =
        dropcast_oracle::Credence::new(spec.ports() as u32, &mut lengths, virtual_lqd, hash);
    let rates = (0..spec.queues()).map(|_| spec.line_rate_bps[0]);
    let mut history = features.history(rates, spec.base_rtt_ns);

    let mut counts = [0; 2];
    for (id, &(now, queue, size_bytes)) in (0..).zip(arrivals) {
        let packet = Packet::new(id, queue, size_bytes);
        let (mut left, mut virtually_left) = (Left::default(), Left::default());
        switch.advance(now, &mut left);
        lqd.advance(now, &mut virtually_left);
        for (_, queue, size_bytes) in left.0 {
            credence.departs(queue, size_bytes);
        }
        for (time, queue, size_bytes) in virtually_left.0 {
            prop_assert_eq!(credence.virtual_departs(queue), Some(size_bytes));
            history.removed(&View(credence.lqd()), queue, time);
        }
        let mut values = vec![0; features.len()];
        features.observe(&View(credence.lqd()), &history, queue, &mut values);
        let verdict = credence.arrives(queue, size_bytes, &values, |lqd, queue| {
            history.removed(&View(lqd), queue, now);
        });
        history.arrived(&View(credence.lqd()), queue, size_bytes, now);
        let accepted = switch.admit(&packet, now, &mut Left::default());
        lqd.admit(&packet, now, &mut Left::default());
        prop_assert_eq!(verdict.accepts(), accepted, "packet {}: {:?}", id, verdict);
        for queue in 0..spec.queues() {
            let threshold = switch.policy().thresholds()[queue];
            prop_assert_eq!(credence.lqd().queue_bytes(queue), threshold, "packet {}", id);
            prop_assert_eq!(credence.queue_bytes(queue), switch.buffer().lengths()[queue]);
        }
        prop_assert_eq!(credence.occupancy_bytes(), switch.buffer().occupancy_bytes());
        counts[usize::from(accepted)] += 1;
    }
    Ok(counts)
}

/// Bursts: packets with their gaps, towards few queues.
fn arrivals(queues: usize, most_bytes: u32, most_gap: u64) -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![3 => Just(0), 1 => 0..=most_gap];
    prop::collection::vec((gap, 0..queues, 1..=most_bytes), 0..200).prop_map(|packets| {
        let mut now = 0;
        let at = |(gap, queue, bytes)| {
            now += gap;
            (now, queue, bytes)
        };
        packets.into_iter().map(at).collect()
    })
}

fn hashes() -> impl Strategy<Value = Hash> {
    (any::<u64>(), prop_oneof![Just(0), 0_u64..=256])
        .prop_map(|(seed, drops_in_256)| Hash { seed, drops_in_256 })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Appendix A: unit packets, every queue sends one per slot.
    #[test]
    fn decides_alike_in_slots(
        (ports, arrivals) in (1_usize..6).prop_flat_map(|n| (Just(n), arrivals(n, 1, 4))),
        buffer in 1_u32..20,
        hash in hashes(),
    ) {
        let spec = SwitchSpec::uniform(ports as u16, 1, buffer, 1);
        agree(&spec, &Slotted::default(), &arrivals, hash)?;
    }

    /// Packets of any size, even larger than the buffer, at line rate; several queues per port.
    #[test]
    fn decides_alike_at_line_rate(
        (ports, per_port, arrivals) in (1_u16..5, 1_u8..3).prop_flat_map(|(ports, per_port)| {
            let queues = usize::from(ports) * usize::from(per_port);
            (Just(ports), Just(per_port), arrivals(queues, 1500, 3000))
        }),
        buffer in 1000_u32..9000,
        hash in hashes(),
    ) {
        let mut spec = SwitchSpec::uniform(ports, 8_000_000_000, buffer, 2000);
        spec.queues_per_port = per_port;
        spec.shared = vec![true; usize::from(per_port)];
        spec.pushable = vec![true; usize::from(per_port)];
        spec.quantum_bytes = vec![1500; usize::from(per_port)];
        agree(&spec, &LineRate::new(&spec), &arrivals, hash)?;
    }
}

/// Not vacuous: a loaded switch accepts and drops many packets.
#[test]
fn a_long_incast_is_decided_alike() {
    let spec = SwitchSpec::uniform(8, 8_000_000_000, 60_000, 5_000);
    let arrivals: Vec<Arrival> = (0..60_000_u64)
        .map(|at| (at * 150, (at * at % 11 % 8) as usize, 64 + (at * 7919 % 1437) as u32))
        .collect();
    let hash = Hash { seed: 3, drops_in_256: 30 };
    let counts = agree(&spec, &LineRate::new(&spec), &arrivals, hash).expect("they agree");
    assert!(counts.iter().all(|&count| count > 2_000), "{counts:?}");
}

/// With too few slots for packets, thresholds are lower, and nothing else goes wrong.
#[test]
fn too_few_places_make_it_careful() {
    let mut queues = [VirtualQueue::EMPTY; 2];
    let mut packets = [VirtualPacket::FREE; 3];
    let mut lqd = VirtualLqd::new(100, &mut queues, &mut packets);
    for expected in [true, true, true, false] {
        assert_eq!(lqd.arrives(0, 10, |_, _| {}), expected);
    }
    assert_eq!((lqd.queue_bytes(0), lqd.occupancy_bytes()), (30, 30));
    assert_eq!(lqd.departs(0), Some(10));
    assert!(lqd.arrives(1, 70, |_, _| panic!("there is room")));
    let mut pushed_out = Vec::new();
    assert!(lqd.arrives(0, 90, |_, queue| pushed_out.push(queue)));
    assert_eq!(pushed_out, [1, 0]);
    assert_eq!((lqd.departs(1), lqd.departs(7)), (None, None));
    assert!(!lqd.arrives(7, 1, |_, _| {}));
}
