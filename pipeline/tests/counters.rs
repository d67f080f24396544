//! What is said of counters holds of every policy on the packets behind them, whatever these are.

use dropcast_data::{Scheduler, SwitchSpec};
use dropcast_features::BufferView;
use dropcast_pipeline::counters::{
    CounterConclusion, Poll, Polls, QueueId, Reading, judge_counters,
};
use dropcast_switch::{
    CompleteSharing, DynamicThresholds, Fit, FluidOptimum, LineRate, Lqd, NoObserver, Observer,
    Packet, Policy, Removal, Switch, Victim,
};
use proptest::prelude::*;

const MTU_BYTES: u32 = 1_500;
const PORTS: u16 = 3;

/// Of each queue: sent and dropped, in packets and bytes.
type Counted = Vec<[u64; 4]>;

/// Counts what leaves, and keeps the time in which it did.
struct Meter(Counted);

impl Observer for Meter {
    fn removed(&mut self, removal: &Removal, _: &dropcast_switch::Buffer) {
        self.0[removal.queue][0] += 1;
        self.0[removal.queue][1] += u64::from(removal.packet.size_bytes);
    }
}

fn spec(buffer_bytes: u32, alpha: f64) -> SwitchSpec {
    SwitchSpec {
        dt_alpha: vec![alpha],
        ..SwitchSpec::uniform(PORTS, 8_000_000_000, buffer_bytes, 10_000)
    }
}

/// What a switch counts, polled every `every_ns`, until it is empty.
fn polled(
    spec: &SwitchSpec,
    arrivals: &[(u64, usize, u32)],
    every_ns: u64,
    has_pool: bool,
) -> Polls {
    let policy = DynamicThresholds::new(spec.dt_alpha[0]);
    let mut switch = Switch::new(spec, Fit::Exact, policy, LineRate::new(spec));
    let mut meter = Meter(vec![[0; 4]; spec.queues()]);
    let classes = usize::from(spec.queues_per_port);
    let ids = (0..spec.queues()).map(|queue| QueueId {
        port: queue / classes,
        port_name: (queue / classes).to_string(),
        queue_name: (queue % classes).to_string(),
        class: Some(queue % classes),
    });
    let mut polls = Polls { queues: ids.collect(), ..Polls::default() };
    let (mut pool, mut queues) = (0, vec![0; spec.queues()]);
    let last = arrivals.last().map_or(0, |arrival| arrival.0) + 2 * spec.drain_ns() + 10_000;
    let mut next = 0;
    for poll in 0..=last.div_ceil(every_ns) {
        let time_ns = poll * every_ns;
        while let Some(&(at, queue, size_bytes)) =
            arrivals.get(next).filter(|arrival| arrival.0 < time_ns)
        {
            switch.advance(at, &mut meter);
            let packet = Packet::new(next as u64, queue, size_bytes);
            if !switch.admit(&packet, at, &mut NoObserver) {
                meter.0[queue][2] += 1;
                meter.0[queue][3] += u64::from(size_bytes);
            }
            pool = pool.max(switch.buffer().occupancy_bytes());
            let lengths = switch.buffer().shared_lengths();
            queues.iter_mut().zip(lengths).for_each(|(peak, &now)| *peak = now.max(*peak));
            next += 1;
        }
        switch.advance(time_ns, &mut meter);
        let reading = |of: &[u64; 4]| Reading {
            sent_packets: Some(of[0]),
            sent_bytes: of[1],
            dropped_packets: of[2],
            dropped_bytes: Some(of[3]),
        };
        polls.polls.push(Poll {
            time_ns: Some(time_ns),
            counters: meter.0.iter().map(|of| Some(reading(of))).collect(),
            watermark_bytes: queues.iter().map(|&peak| Some(u64::from(peak))).collect(),
            queue_bytes: switch
                .buffer()
                .lengths()
                .iter()
                .map(|&now| Some(u64::from(now)))
                .collect(),
            pool_watermark_bytes: has_pool.then_some(u64::from(pool)),
        });
        pool = switch.buffer().occupancy_bytes();
        queues = switch.buffer().shared_lengths().to_vec();
    }
    polls
}

/// Bytes that a policy transmits, and packets that it rejects or pushes out.
fn transmitted(
    spec: &SwitchSpec,
    arrivals: &[(u64, usize, u32)],
    policy: impl Policy,
) -> (u64, u64) {
    struct PushedOut(u64, u64);
    impl Observer for PushedOut {
        fn removed(&mut self, removal: &Removal, _: &dropcast_switch::Buffer) {
            if removal.outcome == dropcast_data::Outcome::PushedOut {
                self.0 += u64::from(removal.packet.size_bytes);
                self.1 += 1;
            }
        }
    }
    let mut switch = Switch::new(spec, Fit::Exact, policy, LineRate::new(spec));
    let mut out = PushedOut(0, 0);
    let (mut accepted, mut rejected) = (0, 0);
    for (id, &(at, queue, size_bytes)) in (0..).zip(arrivals) {
        switch.advance(at, &mut out);
        match switch.admit(&Packet::new(id, queue, size_bytes), at, &mut out) {
            true => accepted += u64::from(size_bytes),
            false => rejected += 1,
        }
    }
    (accepted - out.0, rejected + out.1)
}

/// Bursts of packets for one of so many queues each, between pauses.
fn bursts(queues: usize) -> impl Strategy<Value = Vec<(u64, usize, u32)>> {
    let burst = (0_u64..20_000, 0..queues, 1_usize..30, 64_u32..=MTU_BYTES, 0_u64..400);
    prop::collection::vec(burst, 1..25).prop_map(|bursts| {
        let mut now = 0;
        let mut arrivals = Vec::new();
        for (pause_ns, queue, packets, size_bytes, gap_ns) in bursts {
            now += pause_ns;
            for _ in 0..packets {
                arrivals.push((now, queue, size_bytes));
                now += gap_ns;
            }
        }
        arrivals
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn bounds_hold_of_every_policy(
        (classes, arrivals) in (1..=2_u8).prop_flat_map(|classes| {
            (Just(classes), bursts(usize::from(PORTS) * usize::from(classes)))
        }),
        scheduler in prop::sample::select(vec![
            Scheduler::RoundRobin,
            Scheduler::StrictPriority,
            Scheduler::Dwrr,
        ]),
        wire in prop::sample::select(vec![(0, 0), (0, 0), (24, 0), (24, 2)]),
        buffer_bytes in 15_000_u32..120_000,
        power in -3_i32..4,
        every_ns in prop::sample::select(vec![3_000_u64, 20_000, 200_000]),
        has_pool: bool,
    ) {
        let alpha = 2_f64.powi(power);
        let spec = SwitchSpec {
            queues_per_port: classes,
            scheduler,
            wire_overhead_bytes: wire.0,
            transmit_ring_packets: wire.1,
            quantum_bytes: match scheduler {
                Scheduler::Dwrr => vec![MTU_BYTES; usize::from(classes)],
                _ => Vec::new(),
            },
            pushable: vec![true; usize::from(classes)],
            shared: vec![true; usize::from(classes)],
            dt_alpha: vec![alpha; usize::from(classes)],
            ..spec(buffer_bytes, alpha)
        };
        let polls = polled(&spec, &arrivals, every_ns, has_pool);
        let report = judge_counters(&polls, &spec, MTU_BYTES);
        let real = transmitted(&spec, &arrivals, DynamicThresholds::new(spec.dt_alpha[0]));
        prop_assert_eq!((report.sent_bytes, report.dropped_packets), real);
        prop_assert_eq!(report.dropped_of_other_cause, 0);
        let saved = report.saved_by_the_best;
        let mut others = vec![
            ("lqd", transmitted(&spec, &arrivals, Lqd::new(Victim::Tail))),
            ("complete sharing", transmitted(&spec, &arrivals, CompleteSharing)),
        ];
        for power in -7..=6 {
            let alpha = 2_f64.powi(power);
            others.push(("alpha", transmitted(&spec, &arrivals, DynamicThresholds::new(alpha))));
            if report.conclusion == (CounterConclusion::LargerAlpha { alpha: Some(alpha) }) {
                prop_assert_eq!(others.last().expect("an alpha").1.1, 0);
            }
        }
        if matches!(report.conclusion, CounterConclusion::LargerAlpha { .. }) {
            prop_assert_eq!(others[1].1.1, 0);
        }
        for (name, (bytes, _)) in others {
            prop_assert!(bytes <= real.0 + saved.at_most, "{} {} {:?}", name, bytes, saved);
        }
        let mut optimum = FluidOptimum::new(&spec, arrivals.iter().copied());
        arrivals.iter().for_each(|&(at, queue, size_bytes)| optimum.arrive(at, queue, size_bytes));
        prop_assert!(real.0 + saved.at_least <= optimum.most_bytes());
        prop_assert!(saved.at_least <= saved.at_most);
    }
}

#[test]
fn a_burst_that_a_threshold_cut_off_says_which_alpha_is_enough() {
    // 40 packets of 1,000 bytes at once for one port: alpha 0.5 of 100,000 bytes lets it have a third.
    let arrivals: Vec<_> = (0..40).map(|_| (1_000, 0, 1_000)).collect();
    let spec = spec(100_000, 0.5);
    let report = judge_counters(&polled(&spec, &arrivals, 100_000, true), &spec, MTU_BYTES);
    assert!(report.dropped_packets >= 4, "{report:?}");
    assert_eq!(report.conclusion, CounterConclusion::LargerAlpha { alpha: Some(1.0) });
    assert_eq!(report.saved_by_the_best.at_least, report.dropped_bytes.at_least);
    // Other thresholds than the description's: the queue was never near its own.
    let other = SwitchSpec { dt_alpha: vec![8.0], ..spec.clone() };
    let report = judge_counters(&polled(&spec, &arrivals, 100_000, true), &other, MTU_BYTES);
    assert_eq!(report.conclusion, CounterConclusion::OtherCause);
}
