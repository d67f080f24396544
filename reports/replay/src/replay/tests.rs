//! Replays against a switch that is so small and slow that it is obviously right.

use super::*;
use proptest::prelude::*;

/// One queue per port, a packet of one byte takes one nanosecond: time runs in steps of 1 ns, in
/// which every free port may start one packet.
fn tiny() -> SwitchSpec {
    SwitchSpec::uniform(3, 8_000_000_000, 6, 1_000)
}

fn arrival(time_ns: u64, port: u16, size_bytes: u32) -> Arrival {
    Arrival {
        time_ns,
        switch_id: 0,
        port,
        queue: 0,
        size_bytes,
        flow_hash: 0,
        first_rtt: false,
        dropped: false,
        predicted: false,
        counted: true,
    }
}

fn replay(spec: SwitchSpec, arrivals: &[Arrival]) -> Replayed {
    let mut replay = Replay::new(SwitchSpecs::Same(spec), ReplayOptions::default());
    for arrival in arrivals {
        replay.arrive(arrival).expect("sound arrivals");
    }
    replay.finish().remove(&0).expect("switch 0")
}

fn sent(replayed: &Replayed, policy: ReplayPolicy) -> Sent {
    let at = ReplayPolicy::ALL.iter().position(|&of| of == policy).expect("listed");
    replayed.sent[at]
}

/// Queues are lists of (size, label); ports are the time until which they are busy.
#[derive(Default)]
struct Slow {
    queues: [Vec<(u32, usize)>; 3],
    busy_until: [u64; 3],
    sent: Sent,
    transmitted: Vec<usize>,
}

impl Slow {
    fn length(&self, port: usize) -> u32 {
        self.queues[port].iter().map(|packet| packet.0).sum()
    }

    fn occupancy(&self) -> u32 {
        (0..3).map(|port| self.length(port)).sum()
    }

    /// One packet at a time, the earliest start first, all starts up to `now`.
    fn serve(&mut self, now: u64, arrived_at: &[u64]) {
        for port in 0..3 {
            while let Some(&(size, number)) = self.queues[port].first() {
                let start = self.busy_until[port].max(arrived_at[number]);
                if start > now {
                    break;
                }
                self.queues[port].remove(0);
                self.busy_until[port] = start + u64::from(size);
                self.sent.add(Sent { packets: 1, bytes: u64::from(size) });
                self.transmitted.push(number);
            }
        }
    }
}

/// Runs a slow switch; `admits` decides with the virtual LQD's lengths (after the arrival).
fn slow(arrivals: &[Arrival], admits: impl Fn(&Slow, &[u32; 3], &Arrival) -> bool) -> [Slow; 2] {
    let (mut lqd, mut own) = (Slow::default(), Slow::default());
    let arrived_at: Vec<u64> = arrivals.iter().map(|arrival| arrival.time_ns).collect();
    for (number, arrival) in arrivals.iter().enumerate() {
        let port = usize::from(arrival.port);
        lqd.serve(arrival.time_ns, &arrived_at);
        own.serve(arrival.time_ns, &arrived_at);
        while lqd.occupancy() + arrival.size_bytes > 6 {
            let lengths: Vec<u32> = (0..3).map(|port| lqd.length(port)).collect();
            let longest = (0..3).rev().max_by_key(|&port| lengths[port]).expect("three ports");
            if lqd.queues[longest].pop().is_none() {
                break;
            }
        }
        if lqd.occupancy() + arrival.size_bytes <= 6 {
            lqd.queues[port].push((arrival.size_bytes, number));
        }
        let thresholds = [0, 1, 2].map(|port| lqd.length(port));
        if own.occupancy() + arrival.size_bytes <= 6 && admits(&own, &thresholds, arrival) {
            own.queues[port].push((arrival.size_bytes, number));
        }
    }
    lqd.serve(u64::MAX, &arrived_at);
    own.serve(u64::MAX, &arrived_at);
    [lqd, own]
}

fn below(own: &Slow, thresholds: &[u32; 3], arrival: &Arrival) -> bool {
    let port = usize::from(arrival.port);
    own.length(port) + arrival.size_bytes <= thresholds[port]
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let one = (0_u64..3, 0_u16..3, 1_u32..4, any::<bool>(), prop::bool::weighted(0.3));
    prop::collection::vec(one, 0..60).prop_map(|rows| {
        let mut time_ns = 0;
        let with_time = |(gap, port, size, dropped, predicted)| {
            time_ns += gap;
            Arrival { dropped, predicted, ..arrival(time_ns, port, size) }
        };
        rows.into_iter().map(with_time).collect()
    })
}

fn credence(own: &Slow, thresholds: &[u32; 3], arrival: &Arrival) -> bool {
    let longest = (0..3).map(|port| own.length(port)).max().unwrap_or(0);
    longest * 3 < 6 || (below(own, thresholds, arrival) && !arrival.predicted)
}

/// Packets and bytes of the counted ones among the arrivals with these numbers.
fn counted(arrivals: &[Arrival], numbers: &[usize]) -> Sent {
    let mut sum = Sent::default();
    for arrival in numbers.iter().map(|&number| &arrivals[number]).filter(|of| of.counted) {
        sum.add(Sent { packets: 1, bytes: u64::from(arrival.size_bytes) });
    }
    sum
}

proptest! {
    /// Earlier packets took up buffer without predictions; later ones still push out.
    #[test]
    fn a_stretch_is_measured_among_all_arrivals(
        mut arrivals in arrivals(),
        from in 0_usize..60,
        length in 1_usize..60,
    ) {
        prop_assume!(from < arrivals.len());
        for (number, arrival) in arrivals.iter_mut().enumerate() {
            arrival.counted = (from..from + length).contains(&number);
        }
        let fast = replay(tiny(), &arrivals);
        for (number, arrival) in arrivals.iter_mut().enumerate() {
            arrival.predicted &= number >= from;
        }
        let [lqd, follow] = slow(&arrivals, below);
        let sent = |policy| sent(&fast, policy);
        prop_assert_eq!(sent(ReplayPolicy::Lqd), counted(&arrivals, &lqd.transmitted));
        prop_assert_eq!(sent(ReplayPolicy::FollowLqd), counted(&arrivals, &follow.transmitted));
        let [_, credence] = slow(&arrivals, credence);
        prop_assert_eq!(sent(ReplayPolicy::Credence), counted(&arrivals, &credence.transmitted));
        let kept: Vec<Arrival> = arrivals.iter().copied().filter(|a| !a.predicted).collect();
        let [_, followed] = slow(&kept, below);
        prop_assert_eq!(fast.followed, counted(&kept, &followed.transmitted));
        let total = arrivals.iter().filter(|arrival| arrival.counted).count() as u64;
        prop_assert_eq!((fast.arrived.packets, fast.agreement.total()), (total, total));
    }

    #[test]
    fn fast_and_slow_switches_transmit_the_same(arrivals in arrivals()) {
        prop_assume!(!arrivals.is_empty());
        let fast = replay(tiny(), &arrivals);
        let sent = |policy| sent(&fast, policy);
        let [lqd, follow] = slow(&arrivals, below);
        prop_assert_eq!(sent(ReplayPolicy::Lqd), lqd.sent);
        prop_assert_eq!(sent(ReplayPolicy::FollowLqd), follow.sent);

        let mut agreement = Confusion::default();
        for (number, arrival) in arrivals.iter().enumerate() {
            agreement.add(arrival.dropped, !lqd.transmitted.contains(&number));
        }
        prop_assert_eq!(fast.agreement, agreement);

        let kept: Vec<Arrival> = arrivals.iter().copied().filter(|a| !a.predicted).collect();
        prop_assert_eq!(fast.followed, slow(&kept, below)[1].sent);

        let [_, credence] = slow(&arrivals, credence);
        prop_assert_eq!(sent(ReplayPolicy::Credence), credence.sent);
        let perfect: Vec<Arrival> =
            arrivals.iter().map(|of| Arrival { predicted: of.dropped, ..*of }).collect();
        let [_, perfect] = slow(&perfect, self::credence);
        prop_assert_eq!(fast.perfect_oracle, perfect.sent);
        let unpredicted: Vec<Arrival> =
            arrivals.iter().map(|arrival| Arrival { predicted: false, ..*arrival }).collect();
        let [_, always_accept] = slow(&unpredicted, self::credence);
        prop_assert_eq!(sent(ReplayPolicy::AlwaysAccept), always_accept.sent);

        let [_, sharing] = slow(&arrivals, |_, _, _| true);
        prop_assert_eq!(sent(ReplayPolicy::CompleteSharing), sharing.sent);

        let [_, dynamic] = slow(&arrivals, |own, _, arrival| {
            2 * own.length(usize::from(arrival.port)) < 6 - own.occupancy()
        });
        prop_assert_eq!(sent(ReplayPolicy::DynamicThresholds), dynamic.sent);

        let [_, harmonic] = slow(&arrivals, |own, _, arrival| {
            let mut lengths = [0, 1, 2].map(|port| own.length(port));
            lengths[usize::from(arrival.port)] += arrival.size_bytes;
            lengths.sort_unstable_by(|a, b| b.cmp(a));
            // B / H_3 = 6 / (11/6): k times the k-th longest queue stays within it.
            lengths.iter().zip(1_u32..).all(|(&bytes, k)| bytes * k * 11 <= 36)
        });
        prop_assert_eq!(sent(ReplayPolicy::Harmonic), harmonic.sent);

        let [_, parts] = slow(&arrivals, |own, _, arrival| {
            own.length(usize::from(arrival.port)) + arrival.size_bytes <= 2
        });
        prop_assert_eq!(sent(ReplayPolicy::CompletePartitioning), parts.sent);
    }
}

#[test]
fn without_predictions_the_others_are_the_same() {
    let mut rows: Vec<Arrival> = (0..5).map(|_| arrival(0, 0, 1)).collect();
    rows[4].dropped = true;
    let all = replay(tiny(), &rows);
    let mut without = Replay::new(SwitchSpecs::Same(tiny()), ReplayOptions::default());
    without = without.without_predictions();
    for row in &rows {
        without.arrive(row).expect("sound arrivals");
    }
    let without = without.finish().remove(&0).expect("switch 0");
    assert!(
        all.perfect_oracle.bytes < sent(&all, ReplayPolicy::AlwaysAccept).bytes,
        "wrong labels cost packets"
    );
    assert_eq!(without.perfect_oracle, all.perfect_oracle);
    for policy in ReplayPolicy::ALL.into_iter().filter(|&of| of != ReplayPolicy::Credence) {
        assert_eq!(sent(&without, policy), sent(&all, policy), "{policy:?}");
    }
    assert_eq!(sent(&without, ReplayPolicy::Credence), Sent::default());
}

#[test]
fn a_burst_worked_by_hand() {
    // Six bytes of buffer. Port 0 takes a burst of 8 single bytes at time 0: when the last one
    // arrives, only the first has left, at its own arrival. LQD holds 6 and pushes its own tail out
    // for the eighth.
    let burst: Vec<Arrival> = (0..8).map(|_| arrival(0, 0, 1)).collect();
    let replayed = replay(tiny(), &burst);
    assert_eq!(replayed.arrived, Sent { packets: 8, bytes: 8 });
    assert_eq!(replayed.sent[0], Sent { packets: 7, bytes: 7 });
    assert_eq!(replayed.agreement, Confusion { tn: 7, fp: 1, ..Confusion::default() });
}

#[test]
fn predicted_drops_are_kept_from_the_denominator_of_eta() {
    let mut rows: Vec<Arrival> = (0..4).map(|_| arrival(0, 0, 1)).collect();
    rows[1].predicted = true;
    let replayed = replay(tiny(), &rows);
    assert_eq!(replayed.followed, Sent { packets: 3, bytes: 3 });
    assert_eq!(replayed.confusion, Confusion { tn: 3, fp: 1, ..Confusion::default() });
}

#[test]
fn arrivals_that_do_not_fit_are_refused() {
    let mut replay = Replay::new(SwitchSpecs::Same(tiny()), ReplayOptions::default());
    let error = replay.arrive(&arrival(0, 3, 1)).unwrap_err();
    assert!(matches!(error, ReplayError::UnknownQueue { port: 3, ports: 3, .. }));
    replay.arrive(&arrival(5, 0, 1)).unwrap();
    let error = replay.arrive(&arrival(4, 0, 1)).unwrap_err();
    assert_eq!(error.to_string(), "an arrival at switch 0 at 4 ns, after one at 5 ns");
    let mut none = Replay::new(SwitchSpecs::Each(BTreeMap::new()), ReplayOptions::default());
    assert_eq!(none.arrive(&arrival(0, 0, 1)), Err(ReplayError::UnknownSwitch(0)));
    // A check without a replay says the same.
    let mut replay = Replay::new(SwitchSpecs::Same(tiny()), ReplayOptions::default());
    let mut checker = crate::ArrivalChecker::new(SwitchSpecs::Same(tiny()));
    for one in [(0, 3, 1), (0, 0, 0), (5, 0, 1), (4, 0, 1), (5, 1, u32::MAX), (5, 2, 1)] {
        let one = arrival(one.0, one.1, one.2);
        assert_eq!(checker.check(&one), replay.arrive(&one).map(|_| ()), "{one:?}");
    }
}

#[test]
fn what_leaves_after_the_end_of_time_is_sent_as_labels_count_it() {
    // A byte takes eight seconds; the last packets would leave after 2^64 ns.
    let spec = SwitchSpec::uniform(1, 1, 1_000, 1_000);
    let begin = u64::MAX - 20_000_000_000;
    let arrivals: Vec<Arrival> = (0..5).map(|at| arrival(begin + at, 0, 1)).collect();
    let replayed = replay(spec, &arrivals);
    for (policy, sent) in ReplayPolicy::ALL.iter().zip(replayed.sent) {
        assert_eq!(sent, Sent { packets: 5, bytes: 5 }, "{policy:?}");
    }
    assert_eq!(replayed.followed.packets, 5);
}
