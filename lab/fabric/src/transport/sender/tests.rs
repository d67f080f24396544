use super::*;
use crate::transport::Transport;

const SEGMENT: u64 = 1000;

fn tuning() -> Tuning {
    Tuning {
        line_rate_bps: 10_000_000_000,
        base_rtt_ns: 32_000,
        own_rtt_ns: 40_000,
        path_rtt_ns: 36_000,
        min_rto_ns: 10_000_000,
        dctcp_slow_start: false,
        recovery: Recovery::Ns3,
        ticks: Ticks::default(),
        timestamp_ns: 1,
        segment_bytes: SEGMENT as u32,
    }
}

/// A sender of this many segments, and its initial ones.
fn begin(transport: Transport, segments: u64, initial: u64) -> (Sender, Vec<u32>) {
    let mut sender =
        Sender::new(transport.control(&tuning()), segments * SEGMENT, initial, &tuning());
    let mut send = Vec::new();
    sender.fill_window(0, &mut send);
    (sender, numbers(&send))
}

fn numbers(send: &[Segment]) -> Vec<u32> {
    send.iter().map(|segment| segment.number).collect()
}

/// An acknowledgement arrives; the segments that are sent then.
fn acknowledge(
    sender: &mut Sender,
    now_ns: u64,
    next: u32,
    blocks: &[(u32, u32)],
    is_marked: bool,
) -> Vec<u32> {
    let mut sack = SackBlocks::default();
    sack[..blocks.len()].copy_from_slice(blocks);
    let echo_ns = now_ns.saturating_sub(40_000);
    let sack_count = blocks.len();
    let ack = Ack { next, echo_ns, is_marked, sack, sack_count, hops: &[] };
    let mut send = Vec::new();
    sender.acknowledge(&ack, now_ns, &mut send);
    numbers(&send)
}

#[test]
fn the_window_limits_what_is_in_flight_and_acknowledgements_let_more_out() {
    let (mut sender, first) = begin(Transport::NewReno, 100, 4);
    assert_eq!(first, [0, 1, 2, 3]);
    // Slow start: each acknowledgement lets two out.
    assert_eq!(acknowledge(&mut sender, 40_000, 1, &[], false), [4, 5]);
    assert_eq!(acknowledge(&mut sender, 41_000, 2, &[], false), [6, 7]);
    assert_eq!(sender.window_bytes(), (6 * SEGMENT, u64::from(u32::MAX), 6 * SEGMENT));
    assert_eq!(sender.deadline_ns(), Some(41_000 + 10_000_000));
    // A stale one changes nothing.
    assert_eq!(acknowledge(&mut sender, 42_000, 1, &[], false), [0_u32; 0]);
    assert_eq!(sender.timeouts() + sender.repeats(), 0);
}

/// Each acknowledgement lets two out until the first mark, afterwards one or none.
#[test]
fn dctcp_with_slow_start_doubles_its_flights_until_the_first_mark() {
    let tuning = Tuning { dctcp_slow_start: true, ..tuning() };
    let mut sender = Sender::new(Transport::Dctcp.control(&tuning), 1_000 * SEGMENT, 10, &tuning);
    let mut send = Vec::new();
    sender.fill_window(0, &mut send);
    let (mut sent, mut acknowledged) = (send.len() as u32, 0);
    for flight in [10, 20, 40] {
        assert_eq!(sent - acknowledged, flight);
        for _ in 0..flight {
            acknowledged += 1;
            let now_ns = 40_000 * u64::from(flight) + u64::from(acknowledged);
            sent += acknowledge(&mut sender, now_ns, acknowledged, &[], false).len() as u32;
        }
    }
    let (cwnd, _, _) = sender.window_bytes();
    acknowledge(&mut sender, 9_000_000, acknowledged + 1, &[], true);
    let (_, ssthresh, _) = sender.window_bytes();
    // Alpha, 1 at first, has been multiplied by 15/16 in three round trips.
    let alpha = (15.0_f64 / 16.0).powi(3);
    assert_eq!((cwnd, ssthresh), (80 * SEGMENT, ((1.0 - alpha / 2.0) * 80_000.0) as u64));
}

/// A handshake's window is not scaled: 65,535 bytes hold 65 segments of 1,000 until the first
/// acknowledgement.
#[test]
fn the_first_flight_fits_the_window_of_the_handshake() {
    let (mut sender, first) = begin(Transport::Dctcp, 70, 70);
    assert_eq!(first, (0..65).collect::<Vec<_>>());
    assert_eq!(acknowledge(&mut sender, 40_000, 1, &[], false), [65, 66, 67, 68, 69]);
    let (_, short) = begin(Transport::Dctcp, 65, 70);
    assert_eq!(short.len(), 65, "what fits goes out at once");
    // The last segment may be short: it need not fill one.
    let mut sender = Sender::new(Transport::Dctcp.control(&tuning()), 65_535, 70, &tuning());
    let mut send = Vec::new();
    sender.fill_window(0, &mut send);
    assert_eq!((send.len(), send[65].bytes), (66, 535));
    sender.time_out(10_000_000, &mut send);
    assert_eq!(send[66].number, 0);
}

/// Segment 0 of 10 is lost: NewReno halves to 5 (ssthresh), repeats it at the third duplicate, and
/// proportional rate reduction lets one segment out for every second delivered one.
#[test]
fn three_duplicates_begin_a_recovery_that_halves_the_window() {
    let (mut sender, first) = begin(Transport::NewReno, 100, 10);
    assert_eq!(first.len(), 10);
    assert_eq!(acknowledge(&mut sender, 40_000, 0, &[(1, 2)], false), [10], "limited transmit");
    assert_eq!(acknowledge(&mut sender, 41_000, 0, &[(1, 3)], false), [11]);
    let third = acknowledge(&mut sender, 42_000, 0, &[(1, 4)], false);
    assert_eq!(third, [0], "fast retransmit, and nothing else");
    let (_, ssthresh, in_flight) = sender.window_bytes();
    // 12 sent, 3 delivered, 1 lost: 8 in flight, 9 with the retransmission.
    assert_eq!((ssthresh, in_flight), (4 * SEGMENT, 9 * SEGMENT));
    let mut sent = Vec::new();
    for arrived in 5..=12 {
        let now_ns = 43_000 + u64::from(arrived) * 1_000;
        sent.extend(acknowledge(&mut sender, now_ns, 0, &[(1, arrived)], false));
    }
    // 8 more delivered of a flight of 12, to 4: 11 * 4 / 12 = 3.7, of which segment 0 was one.
    assert_eq!(sent, [12, 13, 14]);
    // Everything up to the recovery point arrives: the window is ssthresh, plus growth.
    let after = acknowledge(&mut sender, 90_000, 12, &[], false);
    let (cwnd, _, in_flight) = sender.window_bytes();
    assert!((4 * SEGMENT..5 * SEGMENT).contains(&cwnd), "{cwnd}");
    assert_eq!(after, [15]);
    assert_eq!(in_flight, 4 * SEGMENT);
    assert_eq!((sender.timeouts(), sender.repeats()), (0, 1));
}

#[test]
fn a_timeout_begins_anew_with_one_segment_and_doubles_the_timer() {
    let (mut sender, _) = begin(Transport::NewReno, 6, 6);
    let mut send = Vec::new();
    assert_eq!(sender.deadline_ns(), Some(10_000_000));
    sender.time_out(10_000_000, &mut send);
    assert_eq!(numbers(&send), [0]);
    assert_eq!(sender.deadline_ns(), Some(30_000_000), "20 ms later");
    send.clear();
    sender.time_out(30_000_000, &mut send);
    assert_eq!((numbers(&send), sender.deadline_ns()), (vec![0], Some(70_000_000)));
    // Segments received beyond it are not retransmitted.
    assert_eq!(acknowledge(&mut sender, 30_040_000, 4, &[], false), [4, 5]);
    assert_eq!(sender.deadline_ns(), Some(40_040_000), "the timer is back");
    assert_eq!(acknowledge(&mut sender, 30_080_000, 6, &[], false), [0_u32; 0]);
    assert!(sender.is_done());
    assert_eq!((sender.deadline_ns(), sender.timeouts()), (None, 2));
}

/// DCTCP with alpha 1 halves its window once per round trip, regardless of the number of marks.
#[test]
fn marks_reduce_the_window_once_per_round_trip() {
    let (mut sender, _) = begin(Transport::Dctcp, 200, 10);
    acknowledge(&mut sender, 40_000, 1, &[], true);
    assert_eq!(sender.window_bytes().1, 5 * SEGMENT);
    for next in 2..=10 {
        acknowledge(&mut sender, 40_000 + u64::from(next) * 1_000, next, &[], true);
        assert_eq!(sender.window_bytes().1, 5 * SEGMENT, "once");
    }
    let highest = sender.board.highest();
    acknowledge(&mut sender, 80_000, highest, &[], false);
    let (cwnd, _, in_flight) = sender.window_bytes();
    assert_eq!(in_flight, cwnd / SEGMENT * SEGMENT);
    assert!((5 * SEGMENT..=6 * SEGMENT).contains(&cwnd), "{cwnd}");
}

/// DCTCP's reduction has no floor, but a reduction always lets one segment out.
#[test]
fn a_sender_whose_segments_are_all_marked_sends_one_per_round_trip() {
    let (mut sender, _) = begin(Transport::Dctcp, 300, 2);
    for round in 1..100 {
        let next = sender.board.highest();
        let sent = acknowledge(&mut sender, round * 40_000, next, &[], true);
        assert!(sent.len() == 1 || round == 1, "round {round}: {sent:?}");
    }
    let (cwnd, ssthresh, _) = sender.window_bytes();
    assert!(cwnd == SEGMENT && ssthresh < SEGMENT, "{cwnd}, {ssthresh}");
}

#[test]
fn a_paced_sender_waits_between_segments() {
    let (mut sender, first) = begin(Transport::PowerTcp, 50, 10);
    assert_eq!(first, [0], "one, then it waits");
    let until_ns = sender.paced_until_ns(0).expect("more to send");
    assert_eq!(until_ns, 800, "1000 bytes at 10 Gbps");
    let mut send = Vec::new();
    sender.fill_window(until_ns, &mut send);
    assert_eq!(numbers(&send), [1]);
}

/// Segment 2 of 10 is lost after segment 0 was marked: a sender like ns-3's repeats it while it reduces its window, and does not
/// recover; by RFC 6675 it does, and a mark later on leaves that recovery alone.
#[test]
fn a_sender_that_reduces_its_window_recovers_from_losses_if_it_may() {
    let repeats = |recovery| {
        let tuning = Tuning { recovery, ..tuning() };
        let mut sender = Sender::new(Transport::Dctcp.control(&tuning), 10 * SEGMENT, 10, &tuning);
        sender.fill_window(0, &mut Vec::new());
        acknowledge(&mut sender, 40_000, 1, &[], true);
        acknowledge(&mut sender, 41_000, 2, &[], true);
        for arrived in 4..=10 {
            acknowledge(&mut sender, 42_000, 2, &[(3, arrived)], false);
        }
        let is_recovering = sender.state == State::Recovery;
        acknowledge(&mut sender, 43_000, 3, &[(4, 10)], true);
        (sender.repeats(), is_recovering, is_recovering && sender.state == State::Recovery)
    };
    assert_eq!(repeats(Recovery::Ns3), (1, false, false));
    // Segment 2, and three that were only not acknowledged yet (`NextSeg`, rule 3).
    assert_eq!(repeats(Recovery::Rfc6675), (4, true, true));
}

/// A sender and its receiver, 20 us apart; segments whose first `losses[number]` sendings are lost. Returns the time at which all
/// is acknowledged, ns, and the timeouts.
fn complete(recovery: Recovery, losses: &[u8]) -> (u64, u32) {
    const DELAY_NS: u64 = 20_000;
    let tuning = Tuning { recovery, ..tuning() };
    let segments = losses.len() as u64;
    let mut sender =
        Sender::new(Transport::NewReno.control(&tuning), segments * SEGMENT, segments, &tuning);
    let mut receiver = crate::transport::Receiver::default();
    let mut left = losses.to_vec();
    // What arrives at the receiver: when, number, sent at; and at the sender.
    let mut data: std::collections::VecDeque<(u64, u32, u64)> = Default::default();
    let mut acks: std::collections::VecDeque<(u64, Ack<'static>)> = Default::default();
    let mut now_ns = 0;
    let mut send = Vec::new();
    sender.fill_window(0, &mut send);
    while !sender.is_done() {
        for segment in send.drain(..) {
            let left = &mut left[segment.number as usize];
            if *left > 0 {
                *left -= 1;
            } else {
                data.push_back((now_ns + DELAY_NS, segment.number, now_ns));
            }
        }
        let times = [data.front().map(|at| at.0), acks.front().map(|at| at.0)];
        let next_ns = times.into_iter().chain([sender.deadline_ns()]).flatten().min();
        now_ns = next_ns.expect("something is under way, or a timer runs");
        if times[0] == Some(now_ns) {
            let (_, number, sent_ns) = data.pop_front().expect("just seen");
            receiver.receive(number, SEGMENT as u32, sent_ns);
            let (sack, sack_count) = receiver.sack();
            let (next, echo_ns) = (receiver.next(), receiver.echo_ns());
            let ack = Ack { next, echo_ns, is_marked: false, sack, sack_count, hops: &[] };
            acks.push_back((now_ns + DELAY_NS, ack));
        } else if times[1] == Some(now_ns) {
            let (_, ack) = acks.pop_front().expect("just seen");
            sender.acknowledge(&ack, now_ns, &mut send);
        } else {
            sender.time_out(now_ns, &mut send);
        }
    }
    assert_eq!(sender.deadline_ns(), None);
    (now_ns, sender.timeouts())
}

/// A tail of three is lost: by the older rules it waits for the timer, Linux's sender probes.
#[test]
fn a_lost_tail_is_probed() {
    let losses = [0, 0, 0, 0, 0, 0, 0, 1, 1, 1];
    assert_eq!(complete(Recovery::Rfc6675, &losses).1, 1);
    let (done_ns, timeouts) = complete(Recovery::RackTlp, &losses);
    // Two round trips after the last acknowledgement, and 2 ms, the probe; then a round trip for each of the three,
    // because the window is reduced.
    assert_eq!((done_ns, timeouts), (40_000 + 80_000 + 2_000_000 + 3 * 40_000, 0));
}

/// A segment is lost, and its repetition, too: only by time is that seen.
#[test]
fn a_repeated_segment_that_is_lost_is_repeated_again() {
    let mut losses = [0; 40];
    losses[2] = 2;
    losses[20] = 1;
    assert_eq!(complete(Recovery::Rfc6675, &losses).1, 1);
    let (done_ns, timeouts) = complete(Recovery::RackTlp, &losses);
    assert!(timeouts == 0 && done_ns < 500_000, "{done_ns} ns, {timeouts}");
}

/// One segment alone is probed when the timer would go off, as in Linux: its receiver might delay the acknowledgement.
#[test]
fn a_single_segment_is_probed_in_place_of_a_timeout() {
    assert_eq!(complete(Recovery::RackTlp, &[1]), (10_040_000 + 40_000, 0));
    assert_eq!(complete(Recovery::RackTlp, &[0, 0, 0, 0, 1]), (40_000 + 10_040_000 + 40_000, 0));
}

/// A lost segment that two follow waits for the clock: at `HZ=1000` three ticks and what is left of one.
#[test]
fn timers_of_linux_wait_for_ticks() {
    let tuning = Tuning {
        recovery: Recovery::RackTlp,
        ticks: Ticks { every_ns: 1_000_000, phase_ns: 0 },
        ..tuning()
    };
    let mut sender = Sender::new(Transport::NewReno.control(&tuning), 4 * SEGMENT, 4, &tuning);
    let mut send = Vec::new();
    sender.fill_window(0, &mut send);
    assert_eq!(sender.deadline_ns(), Some(4_000_000), "a probe: 2.08 ms, rounded up, and a tick");
    acknowledge(&mut sender, 40_000, 1, &[], false);
    acknowledge(&mut sender, 41_000, 1, &[(2, 3)], false);
    assert_eq!(sender.deadline_ns(), Some(4_000_000), "reordering: 2.009 ms");
    send.clear();
    sender.time_out(4_000_000, &mut send);
    assert_eq!(numbers(&send), [1], "lost");
}

proptest::proptest! {
    /// Every flow completes; with Linux's senders no loss of first sendings costs a timeout.
    #[test]
    fn flows_complete_whatever_is_lost(
        losses in proptest::collection::vec(proptest::prop_oneof![2 => 0_u8..1, 1 => 1_u8..2], 1..60),
        again in proptest::collection::vec((0_usize..60, 1_u8..4), 0..4),
    ) {
        let (_, timeouts) = complete(Recovery::RackTlp, &losses);
        proptest::prop_assert_eq!(timeouts, 0);
        let mut losses = losses;
        for (segment, more) in again {
            if let Some(lost) = losses.get_mut(segment) {
                *lost += more;
            }
        }
        for recovery in [Recovery::Ns3, Recovery::Rfc6675, Recovery::RackTlp] {
            complete(recovery, &losses);
        }
    }
}
