//! What is said of counters holds of every policy on the packets behind them, whatever these are.

use dropcast_data::{Scheduler, SwitchSpec};
use dropcast_features::BufferView;
use dropcast_pipeline::counters::{
    CounterConclusion, Poll, PolledQueue, Polls, QueueId, Reading, arrivals, judge_counters,
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

/// How a switch is polled.
#[derive(Clone, Copy, Debug)]
struct Polling {
    every_ns: u64,
    /// From one queue to the next.
    row_gap_ns: u64,
    has_pool: bool,
}

/// What a switch counts, until it is empty.
fn polled(spec: &SwitchSpec, arrivals: &[(u64, usize, u32)], polling: Polling) -> Polls {
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
    let span_ns = polling.row_gap_ns * (spec.queues() as u64 - 1);
    let mut polls = Polls { queues: ids.collect(), stale_ns: span_ns, ..Polls::default() };
    let (mut pool, mut peaks) = (0, vec![0; spec.queues()]);
    let last = arrivals.last().map_or(0, |arrival| arrival.0) + 2 * spec.drain_ns() + 10_000;
    let mut next = 0;
    for number in 0..=last.div_ceil(polling.every_ns) {
        let mut poll = Poll::default();
        for queue in 0..spec.queues() {
            let time_ns = number * polling.every_ns + queue as u64 * polling.row_gap_ns;
            while let Some(&(at, to, size_bytes)) =
                arrivals.get(next).filter(|arrival| arrival.0 < time_ns)
            {
                switch.advance(at, &mut meter);
                let packet = Packet::new(next as u64, to, size_bytes);
                if !switch.admit(&packet, at, &mut NoObserver) {
                    meter.0[to][2] += 1;
                    meter.0[to][3] += u64::from(size_bytes);
                }
                pool = pool.max(switch.buffer().occupancy_bytes());
                let lengths = switch.buffer().shared_lengths();
                peaks.iter_mut().zip(lengths).for_each(|(peak, &now)| *peak = now.max(*peak));
                next += 1;
            }
            switch.advance(time_ns, &mut meter);
            let of = meter.0[queue];
            poll.time_ns = Some(time_ns);
            poll.queues.push(PolledQueue {
                queue,
                time_ns: Some(time_ns),
                counters: Some(Reading {
                    sent_packets: Some(of[0]),
                    sent_bytes: of[1],
                    dropped_packets: of[2],
                    dropped_bytes: Some(of[3]),
                    trimmed_packets: None,
                }),
                watermark_bytes: Some(u64::from(peaks[queue])),
                queue_bytes: Some(u64::from(switch.buffer().lengths()[queue])),
            });
            peaks[queue] = switch.buffer().shared_lengths()[queue];
        }
        poll.pool_watermark_bytes = polling.has_pool.then_some(u64::from(pool));
        polls.polls.push(poll);
        pool = switch.buffer().occupancy_bytes();
    }
    polls
}

/// What is taken from counters.
#[derive(Clone, Debug, Default)]
struct Damage {
    /// Polls without the first and last, as shares of them all.
    polls: Vec<f64>,
    /// Rows: of poll and queue.
    rows: Vec<(f64, f64)>,
    port: Option<usize>,
    /// When counters are cleared, and whether before or after what was counted since the poll before.
    reset: Option<(f64, bool)>,
}

fn damages() -> impl Strategy<Value = Damage> {
    let share = 0.0..1.0;
    (
        prop::collection::vec(share.clone(), 0..3),
        prop::collection::vec((share.clone(), share.clone()), 0..4),
        prop::option::weighted(0.2, 0..usize::from(PORTS)),
        prop::option::weighted(0.4, (share, any::<bool>())),
    )
        .prop_map(|(polls, rows, port, reset)| Damage { polls, rows, port, reset })
}

impl Damage {
    /// Damages polls. Says whether a reset shows, if there is one: a counter goes back.
    fn apply(&self, polls: &mut Polls) -> bool {
        let mut shows = true;
        let count = polls.polls.len();
        let inside = |share: f64| 1 + (share * (count - 2) as f64) as usize;
        if let Some((share, is_late)) = self.reset.filter(|_| count > 2) {
            let at = inside(share);
            let cleared = polls.polls[if is_late { at } else { at - 1 }].clone();
            for poll in &mut polls.polls[at..] {
                for (polled, cleared) in poll.queues.iter_mut().zip(&cleared.queues) {
                    let (Some(now), Some(old)) = (&mut polled.counters, cleared.counters) else {
                        continue;
                    };
                    now.sent_bytes -= old.sent_bytes;
                    now.sent_packets = now.sent_packets.zip(old.sent_packets).map(|(a, b)| a - b);
                    now.dropped_packets -= old.dropped_packets;
                    now.dropped_bytes =
                        now.dropped_bytes.zip(old.dropped_bytes).map(|(a, b)| a - b);
                }
            }
        }
        let queues = polls.queues.len();
        for &(poll, queue) in &self.rows {
            let (poll, queue) = ((poll * count as f64) as usize, (queue * queues as f64) as usize);
            polls.polls[poll].queues.retain(|polled| polled.queue != queue);
        }
        if let Some(port) = self.port {
            for poll in &mut polls.polls {
                poll.queues.retain(|polled| polls.queues[polled.queue].port != port);
            }
        }
        // So few that the usual time between polls stays what it is.
        if count > 8 {
            let mut removed: Vec<usize> = self.polls.iter().map(|&share| inside(share)).collect();
            removed.sort_unstable();
            removed.dedup();
            removed.iter().rev().for_each(|&at| drop(polls.polls.remove(at)));
        }
        if self.reset.is_some() && count > 2 {
            let mut before: Vec<Option<Reading>> = vec![None; queues];
            shows = false;
            for polled in polls.polls.iter().flat_map(|poll| &poll.queues) {
                let Some(now) = polled.counters else { continue };
                if let Some(old) = before[polled.queue].replace(now) {
                    shows |= now.sent_bytes < old.sent_bytes
                        || now.dropped_packets < old.dropped_packets;
                }
            }
        }
        shows
    }

    /// Whether something is gone that can be seen, but for polls.
    fn removes_rows(&self) -> bool {
        !self.rows.is_empty() || self.port.is_some()
    }
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
        is_row_by_row: bool,
        damage in prop::option::of(damages()),
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
        // All queues were read once before anything arrives.
        let arrivals: Vec<_> =
            arrivals.into_iter().map(|(at, queue, bytes)| (at + every_ns, queue, bytes)).collect();
        let row_gap_ns = if is_row_by_row { every_ns / 20 } else { 0 };
        let mut polls = polled(&spec, &arrivals, Polling { every_ns, row_gap_ns, has_pool });
        let damage = damage.unwrap_or_default();
        // A reset that no counter shows cannot be known.
        prop_assume!(damage.apply(&mut polls));
        let is_whole = !damage.removes_rows() && damage.polls.is_empty() && damage.reset.is_none();
        let report = judge_counters(&polls, &spec, MTU_BYTES);
        let real = transmitted(&spec, &arrivals, DynamicThresholds::new(spec.dt_alpha[0]));
        for (bounds, real) in [(report.sent_bytes, real.0), (report.dropped_packets, real.1)] {
            prop_assert!(bounds.at_least <= real, "{:?} {}", bounds, real);
            prop_assert!(bounds.at_most.is_none_or(|most| most >= real), "{:?} {}", bounds, real);
            prop_assert!(!is_whole || bounds.at_most == Some(bounds.at_least));
        }
        let is_covered = report.coverage.intervals_covered == report.intervals;
        prop_assert_eq!(is_covered, report.unknown.is_empty());
        prop_assert!(is_covered || !is_whole);
        if damage.removes_rows() || damage.reset.is_some() && polls.polls.len() > 2 {
            prop_assert!(!is_covered);
        }
        if report.conclusion == CounterConclusion::NothingDropped {
            prop_assert!(is_covered && real.1 == 0);
        }
        if !is_covered {
            let is_open = matches!(
                report.conclusion,
                CounterConclusion::NothingCounted | CounterConclusion::Undecided
            );
            prop_assert!(is_open && report.dropped_packets.at_most.is_none());
        }
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
            let most = real.0 + saved.at_most.expect("the time is known");
            prop_assert!(bytes <= most, "{} {} {:?}", name, bytes, saved);
        }
        let mut optimum = FluidOptimum::new(&spec, arrivals.iter().copied());
        arrivals.iter().for_each(|&(at, queue, size_bytes)| optimum.arrive(at, queue, size_bytes));
        prop_assert!(real.0 + saved.at_least <= optimum.most_bytes());
        prop_assert!(saved.at_most.is_some_and(|most| saved.at_least <= most));
    }
}

const EVERY_100_US: Polling = Polling { every_ns: 100_000, row_gap_ns: 0, has_pool: true };

/// A queue that was not read for some polls has its bytes over all this time, at no more than its port's rate.
#[test]
fn arrivals_of_a_gap_are_spread_over_it() {
    let spec = spec(1_000_000, 8.0);
    // 500 bytes each microsecond: half of the rate.
    let packets: Vec<_> = (0..2_750).map(|packet| (1_000 * packet, 0, 500)).collect();
    let mut polls = polled(&spec, &packets, EVERY_100_US);
    let all = |polls: &Polls| -> Vec<(u64, u32)> {
        let events = arrivals(polls, &spec, MTU_BYTES).expect("there are polls");
        events.map(|event| event.expect("few")).map(|e| (e.time_ns, e.size_bytes)).collect()
    };
    let whole = all(&polls);
    for poll in 5..25 {
        polls.polls[poll].queues.retain(|polled| polled.queue != 0);
    }
    let spread = all(&polls);
    for events in [&whole, &spread] {
        assert_eq!(events.iter().map(|event| u64::from(event.1)).sum::<u64>(), 2_750 * 500);
        assert!(events.is_sorted());
        for start_ns in (0..2_800_000).step_by(50_000) {
            let within = |event: &&(u64, u32)| (start_ns..start_ns + 50_000).contains(&event.0);
            let bytes: u32 = events.iter().filter(within).map(|event| event.1).sum();
            assert!(bytes <= 30_000, "{bytes} bytes in 50 us from {start_ns} ns");
        }
    }
}

#[test]
fn a_burst_that_a_threshold_cut_off_says_which_alpha_is_enough() {
    // 40 packets of 1,000 bytes at once for one port: alpha 0.5 of 100,000 bytes lets it have a third.
    let arrivals: Vec<_> = (0..40).map(|_| (1_000, 0, 1_000)).collect();
    let spec = spec(100_000, 0.5);
    let report = judge_counters(&polled(&spec, &arrivals, EVERY_100_US), &spec, MTU_BYTES);
    assert!(report.dropped_packets.at_least >= 4, "{report:?}");
    assert_eq!(report.conclusion, CounterConclusion::LargerAlpha { alpha: Some(1.0) });
    assert_eq!(report.saved_by_the_best.at_least, report.dropped_bytes.at_least);
    // Other thresholds than the description's: the queue was never near its own.
    let other = SwitchSpec { dt_alpha: vec![8.0], ..spec.clone() };
    let report = judge_counters(&polled(&spec, &arrivals, EVERY_100_US), &other, MTU_BYTES);
    assert_eq!(report.conclusion, CounterConclusion::OtherCause);
}
