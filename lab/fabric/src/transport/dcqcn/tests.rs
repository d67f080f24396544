use super::*;
use crate::transport::congestion_control::tests::{tuning, window};
use proptest::prelude::*;

const RATE_BPS: f64 = 10e9;

/// What happens, at a time in microseconds.
#[derive(Clone, Copy, Debug)]
enum Event {
    Sent(u64),
    AckReceived { is_marked: bool },
}

/// The rate after each event, bits per second, and alpha at the end.
fn rates(events: &[(u64, Event)]) -> (Vec<f64>, f64) {
    let (mut flow, mut window) = (Dcqcn::new(&tuning(8_000)), window());
    flow.begin(&mut window);
    let mut happened = |&(us, event): &(u64, Event)| {
        let now_ns = us * 1_000;
        match event {
            Event::Sent(bytes) => flow.sent(&mut window, bytes, now_ns),
            Event::AckReceived { is_marked } => {
                let (acknowledged, round_trip_ns, hops) = (0, 0, &[][..]);
                let ack = Feedback { acknowledged, round_trip_ns, now_ns, is_marked, hops };
                flow.ack_received(&mut window, &ack);
            }
        }
        assert_eq!(window.pace_bps, flow.rate_bps as u64);
        flow.rate_bps
    };
    let rates = events.iter().map(&mut happened).collect();
    (rates, flow.alpha)
}

/// Section 3.1's increase: the new R_T and R_C.
fn raised((r_t, r_c): (f64, f64), t: i32, bc: i32) -> (f64, f64) {
    let (f, r_ai, r_hai) = (5, 40e6, 200e6);
    let r_t = if i32::max(t, bc) < f {
        r_t
    } else if i32::min(t, bc) > f {
        r_t + f64::from(i32::min(t, bc) - f) * r_hai
    } else {
        r_t + r_ai
    };
    let r_t = f64::min(r_t, RATE_BPS);
    (r_t, (r_t + r_c) / 2.0)
}

/// The paper's section 3.1 written down again, microsecond by microsecond.
fn by_the_book(events: &[(u64, Event)]) -> (Vec<f64>, f64) {
    let g = 1.0 / 256.0;
    let (mut r_c, mut r_t, mut alpha) = (RATE_BPS, RATE_BPS, 1.0);
    let (mut t, mut bc, mut bytes) = (0, 0, 0);
    let mut notified_us = None;
    let mut rates = Vec::new();
    for now_us in 0..=events.last().map_or(0, |&(us, _)| us) {
        if notified_us.is_some_and(|at| now_us > at && (now_us - at) % 55 == 0) {
            alpha *= 1.0 - g;
            t += 1;
            (r_t, r_c) = raised((r_t, r_c), t, bc);
        }
        for &(_, event) in events.iter().filter(|&&(us, _)| us == now_us) {
            match event {
                Event::Sent(sent) if notified_us.is_some() => {
                    bytes += sent;
                    if bytes >= 10_000_000 {
                        bytes -= 10_000_000;
                        bc += 1;
                        (r_t, r_c) = raised((r_t, r_c), t, bc);
                    }
                }
                Event::AckReceived { is_marked: true } => {
                    r_t = r_c;
                    r_c = f64::max(r_c * (1.0 - alpha / 2.0), 100e6);
                    alpha = (1.0 - g) * alpha + g;
                    (t, bc, bytes, notified_us) = (0, 0, 0, Some(now_us));
                }
                _ => {}
            }
            rates.push(r_c);
        }
    }
    (rates, alpha)
}

/// Segments, notifications and acknowledgements without one; bytes are so many that the byte counter counts.
fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let event = prop_oneof![
        30 => (1_u64..4_000_000).prop_map(Event::Sent),
        1 => Just(Event::AckReceived { is_marked: true }),
        4 => Just(Event::AckReceived { is_marked: false }),
    ];
    prop::collection::vec((0_u64..200, event), 1..200).prop_map(|steps| {
        let mut now_us = 0;
        let mut at = |(us, event)| {
            now_us += us;
            (now_us, event)
        };
        steps.into_iter().map(&mut at).collect()
    })
}

proptest! {
    #[test]
    fn rates_are_those_of_the_paper(events in events()) {
        let ((rates, alpha), (expected, expected_alpha)) = (rates(&events), by_the_book(&events));
        prop_assert!((alpha - expected_alpha).abs() < 1e-9, "{alpha} {expected_alpha}");
        for (nth, (rate, expected)) in rates.iter().zip(&expected).enumerate() {
            prop_assert!((rate - expected).abs() <= 1e-9 * expected, "{nth}: {rate} {expected}");
        }
    }
}

/// The first notification halves the rate. Four increases halve what is missing, the fifth is additive.
#[test]
fn rates_are_those_computed_by_hand() {
    let marked = Event::AckReceived { is_marked: true };
    let unmarked = Event::AckReceived { is_marked: false };
    let at = |us: u64| (100 + us, unmarked);
    let events = [(100, marked), at(54), at(55), at(110), at(165), at(220), at(275), at(330)];
    let (rates, alpha) = rates(&events);
    let gbps: Vec<f64> = rates.iter().map(|rate| rate / 1e9).collect();
    // The target is the line's rate, which an additive increase does not pass.
    assert_eq!(gbps, [5.0, 5.0, 7.5, 8.75, 9.375, 9.6875, 9.84375, 9.921875]);
    assert!((alpha - (255.0_f64 / 256.0).powi(6)).abs() < 1e-12, "{alpha}");
}

/// Equation 2: without marks alpha becomes 0, and a later notification hardly cuts the rate.
#[test]
fn alpha_decays_without_marks() {
    let marked = Event::AckReceived { is_marked: true };
    let events =
        [(0, marked), (100_000, Event::AckReceived { is_marked: false }), (100_001, marked)];
    let (rates, alpha) = rates(&events);
    // 1,818 times 55 us.
    let expected = (255.0_f64 / 256.0).powi(1_818);
    assert_eq!(rates[1], RATE_BPS);
    assert!((rates[2] / RATE_BPS - (1.0 - expected / 2.0)).abs() < 1e-9, "{rates:?}");
    assert!((alpha - ((255.0 / 256.0) * expected + 1.0 / 256.0)).abs() < 1e-9, "{alpha}");
}
