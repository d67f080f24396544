//! The oracle's gain, in sentences.

use crate::numbers::count;
use dropcast_measure::{Gain, GainSection};

/// Two sentences, in packets and in bytes: what Credence with the model transmits against Credence
/// without predictions, the best alpha of Dynamic Thresholds and Complete Sharing.
pub fn gain_sentences(gain: &GainSection) -> [String; 2] {
    [
        sentence(gain, "packet", gain.lqd.packets, |gain| gain.packets),
        sentence(gain, "byte", gain.lqd.bytes, |gain| gain.bytes),
    ]
}

fn sentence(gain: &GainSection, unit: &str, lqd: u64, of: fn(Gain) -> i64) -> String {
    let first = against(of(gain.always_accept), Some(unit), "with no oracle (always accept)");
    let best = gain.best_alpha.as_ref().and_then(|best| {
        let other = format!("Dynamic Thresholds with the best alpha ({})", best.alpha?);
        Some(format!("{}, ", against(of(best.gain), None, &other)))
    });
    // The best may be Complete Sharing.
    let second = best.unwrap_or_default();
    let third = against(of(gain.complete_sharing), None, "Complete Sharing");
    format!(
        "Credence with this model transmits {first}, {second}{third}, of {} {} that LQD transmits.",
        count(lqd),
        plural(unit, lqd)
    )
}

/// A difference against another policy; `unit` is left out after the first one of a sentence.
fn against(more: i64, unit: Option<&str>, other: &str) -> String {
    let size = more.unsigned_abs();
    let unit = |size| unit.map_or_else(String::new, |unit| format!(" {}", plural(unit, size)));
    match more {
        0 => format!("as many{} as {other} (no difference)", unit(0)),
        1.. => format!("{}{} more than {other}", count(size), unit(size)),
        _ => format!("{}{} fewer than {other}", count(size), unit(size)),
    }
}

fn plural(unit: &str, size: u64) -> String {
    if size == 1 { unit.to_owned() } else { format!("{unit}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_measure::AlphaGain;

    #[test]
    fn more_fewer_and_as_many_are_told_apart() {
        let gain = |packets| Gain { packets, bytes: packets * 1_000 };
        let section = GainSection {
            lqd: dropcast_replay::Sent { packets: 524_101, bytes: 700_000_000 },
            always_accept: gain(1_039),
            follow_lqd: gain(0),
            complete_sharing: gain(-7),
            best_alpha: Some(AlphaGain { alpha: Some(16.0), gain: gain(0) }),
        };
        assert_eq!(
            gain_sentences(&section),
            [
                "Credence with this model transmits 1,039 packets more than with no oracle \
                 (always accept), as many as Dynamic Thresholds with the best alpha (16) (no \
                 difference), 7 fewer than Complete Sharing, of 524,101 packets that LQD transmits.",
                "Credence with this model transmits 1,039,000 bytes more than with no oracle \
                 (always accept), as many as Dynamic Thresholds with the best alpha (16) (no \
                 difference), 7,000 fewer than Complete Sharing, of 700,000,000 bytes that LQD transmits."
            ]
        );
    }
}
