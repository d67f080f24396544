use super::*;
use crate::transport::congestion_control::tests::{tuning, window};
use proptest::prelude::*;

const RATE_BPS: u64 = 10_000_000_000;
/// 98 us, and two packets of 1250 bytes at 10 Gbps, which the line carries 125,000 bytes in.
const BASE_NS: f64 = 100_000.0;
const LINE_BYTES: f64 = 125_000.0;

fn hpcc() -> Hpcc {
    Hpcc::new(&tuning(98_000))
}

/// An acknowledgement: segments below `acknowledged` have arrived, those below `next` are sent.
#[derive(Clone, Debug)]
struct Report {
    acknowledged: u32,
    next: u32,
    hops: Vec<Hop>,
}

fn feedback(acknowledged: u32, hops: &[Hop]) -> Feedback<'_> {
    Feedback { acknowledged, round_trip_ns: 0, now_ns: 0, is_marked: false, hops }
}

/// The pace after each.
fn rates(reports: &[Report]) -> Vec<u64> {
    let (mut flow, mut window) = (hpcc(), window());
    flow.begin(&mut window);
    let mut reported = |report: &Report| {
        window.next = report.next;
        let Report { acknowledged, hops, .. } = report;
        flow.ack_received(&mut window, &feedback(*acknowledged, hops));
        window.pace_bps
    };
    reports.iter().map(&mut reported).collect()
}

/// Algorithm 1 written down again, line by line, in the paper's names and bytes per second.
fn by_the_book(reports: &[Report]) -> Vec<f64> {
    let (t, b_nic) = (BASE_NS / 1e9, RATE_BPS as f64 / 8.0);
    let (eta, max_stage, w_init) = (0.95, 5, b_nic * t);
    let w_ai = w_init * (1.0 - eta) / 100.0;
    let (mut u_all, mut w_c, mut inc_stage, mut w) = (1.0, w_init, 0, w_init);
    let mut last_update_seq = None;
    let mut paced = Vec::new();
    for (nth, ack) in reports.iter().enumerate() {
        let seq = *last_update_seq.get_or_insert(ack.next);
        let l = nth.checked_sub(1).map(|before| &reports[before].hops);
        let is_same =
            |l: &Vec<Hop>| l.iter().map(|l| l.link).eq(ack.hops.iter().map(|now| now.link));
        if let Some(l) = l.filter(|l| is_same(l)) {
            let (mut u, mut tau) = (0.0, 0.0);
            for (now, l) in ack.hops.iter().zip(l) {
                let b = now.rate_bps as f64 / 8.0;
                let ts = now.time_ns as f64 / 1e9 - l.time_ns as f64 / 1e9;
                let tx_rate = (now.sent_bytes as f64 - l.sent_bytes as f64) / ts;
                let qlen = f64::min(now.queue_bytes.into(), l.queue_bytes.into());
                let u_i = qlen / (b * t) + tx_rate / b;
                if u_i > u {
                    u = u_i;
                    tau = ts;
                }
            }
            tau = f64::min(tau, t);
            u_all = (1.0 - tau / t) * u_all + tau / t * u;
            let update_wc = ack.acknowledged > seq;
            let bounded = |w: f64| w.clamp(100e6 / 8.0 * t, w_init);
            if u_all >= eta || inc_stage >= max_stage {
                w = bounded(w_c / (u_all / eta) + w_ai);
                if update_wc {
                    (inc_stage, w_c) = (0, w);
                }
            } else {
                w = bounded(w_c + w_ai);
                if update_wc {
                    (inc_stage, w_c) = (inc_stage + 1, w);
                }
            }
            if update_wc {
                last_update_seq = Some(ack.next.max(seq));
            }
        }
        paced.push(w / t * 8.0);
    }
    paced
}

/// Reports of two links of 10 and 40 Gbps, of which the first is another one now and then.
fn reports() -> impl Strategy<Value = Vec<Report>> {
    let step =
        (1_u64..200_000, 0_u32..100_000, 0_u64..500_000, 0_u32..20, prop::bool::weighted(0.1));
    prop::collection::vec(step, 1..60).prop_map(|steps| {
        let (mut time_ns, mut sent_bytes, mut acknowledged, mut link) = (0, 0, 0, 0);
        let mut report = |(ns, queue_bytes, bytes, segments, moves): (u64, u32, u64, u32, bool)| {
            time_ns += ns;
            // At most what the line carries.
            sent_bytes += bytes.min(ns * RATE_BPS / 8_000_000_000);
            acknowledged += segments;
            link += u32::from(moves);
            let slow = Hop { queue_bytes, time_ns, sent_bytes, rate_bps: RATE_BPS, link };
            let fast = Hop {
                queue_bytes: queue_bytes / 3,
                time_ns: time_ns + 5,
                sent_bytes: 2 * sent_bytes,
                rate_bps: 4 * RATE_BPS,
                link: 1_000,
            };
            Report { acknowledged, next: acknowledged + 30, hops: vec![slow, fast] }
        };
        steps.into_iter().map(&mut report).collect()
    })
}

proptest! {
    #[test]
    fn rates_are_those_of_the_algorithm(reports in reports()) {
        let (rates, expected) = (rates(&reports), by_the_book(&reports));
        for (rate, expected) in rates.iter().zip(&expected) {
            prop_assert!((*rate as f64 - expected).abs() <= 1e-6 * expected + 1.0, "{rates:?}, {expected:?}");
        }
    }
}

/// A link that sends at its rate with a queue of a quarter of its product has U = 1.25, once a base RTT has passed.
#[test]
fn rates_are_those_computed_by_hand() {
    let report = |nth: u32, queue_bytes, share: f64| {
        let time_ns = u64::from(nth) * 100_000;
        let sent_bytes = (f64::from(nth) * LINE_BYTES * share) as u64;
        let hops = vec![Hop { queue_bytes, time_ns, sent_bytes, rate_bps: RATE_BPS, link: 7 }];
        Report { acknowledged: 100 * nth + 1, next: 100 * nth + 100, hops }
    };
    let reports = [
        report(0, 31_250, 1.0),
        // Not yet beyond what was sent at the first.
        Report { acknowledged: 50, ..report(1, 31_250, 1.0) },
        report(2, 50_000, 1.0),
        report(3, 0, 1.0),
    ];
    let increase = 0.0005 * RATE_BPS as f64;
    let whole = RATE_BPS as f64 / (1.25 / 0.95) + increase;
    // Of two queues the shorter counts: 31,250 bytes again, then none.
    let expected = [RATE_BPS as f64, whole, whole, whole * 0.95 + increase];
    for (rate, expected) in rates(&reports).iter().zip(expected) {
        assert!((*rate as f64 - expected).abs() < 2.0, "{rate}, {expected}");
    }
}

/// The paper's 80 bytes at 100 Gbps and 13 us.
#[test]
fn the_additive_increase_is_the_papers() {
    let wide = Tuning { line_rate_bps: 100_000_000_000, path_rtt_ns: 13_000, ..tuning(12_000) };
    let bytes = Hpcc::new(&wide).increase_bytes;
    assert!((bytes - 81.25).abs() < 1e-9, "{bytes}");
}

/// Section 3.3: flows with one link settle at equal windows, of eta of it in sum, without a queue. Here the link is a fluid.
#[test]
fn flows_settle_at_eta_and_share_evenly() {
    let mut flows = [hpcc(), hpcc()];
    let mut windows = [window(), window()];
    flows[0].begin(&mut windows[0]);
    flows[1].reference_bytes = LINE_BYTES / 5.0;
    flows[1].apply(&mut windows[1], LINE_BYTES / 5.0);
    let (mut queue, mut sent, step_ns) = (0.0, 0.0, 5_000_u64);
    for step in 1..80_000_u32 {
        let in_flight: f64 = windows.iter().map(|window| window.cwnd_bytes as f64).sum();
        queue = (in_flight - LINE_BYTES).max(0.0);
        sent += (in_flight / LINE_BYTES).min(1.0) * RATE_BPS as f64 / 8e9 * step_ns as f64;
        let hop = Hop {
            queue_bytes: queue as u32,
            time_ns: u64::from(step) * step_ns,
            sent_bytes: sent as u64,
            rate_bps: RATE_BPS,
            link: 0,
        };
        for (flow, window) in flows.iter_mut().zip(&mut windows) {
            window.next = step + 20;
            flow.ack_received(window, &feedback(step, &[hop]));
        }
    }
    let [one, other] = flows.map(|flow| flow.reference_bytes);
    assert!((one / other - 1.0).abs() < 0.05, "fair: {one}, {other}");
    assert!(((one + other) / LINE_BYTES - 0.95).abs() < 0.01, "{}", (one + other) / LINE_BYTES);
    assert_eq!(queue, 0.0);
}
