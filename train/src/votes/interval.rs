//! How sure a gain is: an interval over episodes of congestion.

use dropcast_forest::{GainWindow, WindowGain};

/// By degrees of freedom from 1 on, how many standard errors of the gain its lower end is below it: the 0.975 quantiles
/// of Student's t, so that of 40 thresholds that gain nothing one passes. From any table; computed elsewhere they might
/// differ in the last digit from platform to platform.
const STANDARD_ERRORS: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// Those of more degrees of freedom, a little more than of 31.
const MANY: f64 = 2.04;

/// The lower ends of a gain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GainEnds {
    pub(super) packets: f64,
    pub(super) bytes: f64,
}

impl GainEnds {
    /// Whether more bytes and no fewer packets are transmitted, beyond noise.
    pub(super) fn are_sure(&self) -> bool {
        self.bytes > 0.0 && self.packets >= 0.0
    }
}

/// The lower ends of the sum of these gains, in the order of windows; `None` if they are of fewer than two episodes,
/// which are too few.
///
/// The packets of one episode share their fate, those of different ones hardly do. So each episode is one observation:
/// windows without a window between them that has no gain or loss.
pub(super) fn low_ends(gains: &[WindowGain]) -> Option<GainEnds> {
    let follows = |a: &GainWindow, b: &GainWindow| {
        (a.run, a.switch) == (b.run, b.switch) && b.window - a.window == 1
    };
    let episodes = || gains.chunk_by(|a, b| follows(&a.0, &b.0));
    let low = |of: fn(&WindowGain) -> i64| {
        low_end(episodes().map(|episode| episode.iter().map(of).sum::<i64>() as f64))
    };
    Some(GainEnds { packets: low(|of| of.1.packets)?, bytes: low(|of| of.1.bytes)? })
}

/// The sum less [`STANDARD_ERRORS`] of it. Basic operations only: the same on every platform.
fn low_end(gains: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let episodes = gains.clone().count();
    let errors = STANDARD_ERRORS.get(episodes.checked_sub(2)?).copied().unwrap_or(MANY);
    let count = episodes as f64;
    let sum: f64 = gains.clone().sum();
    let mean = sum / count;
    let squares: f64 = gains.map(|gain| (gain - mean) * (gain - mean)).sum();
    // Of n gains with variance s^2 the sum has the standard error s * sqrt(n).
    Some(sum - errors * (squares / (count - 1.0) * count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_forest::VoteGain;

    fn gains(windows: &[(u16, u64, i64)]) -> Vec<WindowGain> {
        let gain = |&(switch, window, packets): &(u16, u64, i64)| {
            (GainWindow { run: 1, switch, window }, VoteGain { packets, bytes: 1_000 * packets })
        };
        windows.iter().map(gain).collect()
    }

    #[test]
    fn one_episode_shows_nothing_however_much_it_gains() {
        assert_eq!(low_ends(&gains(&[])), None);
        assert_eq!(low_ends(&gains(&[(0, 7, 900), (0, 8, 5), (0, 9, 70)])), None);
        let two = low_ends(&gains(&[(0, 7, 900), (0, 9, 900)])).unwrap();
        assert_eq!(two, GainEnds { packets: 1_800.0, bytes: 1_800_000.0 });
        assert!(low_ends(&gains(&[(0, 7, 900), (1, 8, 900)])).unwrap().are_sure(), "two switches");
    }

    #[test]
    fn a_gain_of_one_of_many_episodes_is_noise_and_one_of_most_is_not() {
        let of = |gain: &dyn Fn(u64) -> i64| {
            low_ends(&gains(&Vec::from_iter((0..20).map(|at| (0, 2 * at, gain(at)))))).unwrap()
        };
        assert!(!of(&|at| if at == 3 { 1_000 } else { 1 }).are_sure());
        assert!(of(&|at| if at == 3 { -10 } else { 9 }).are_sure());
        assert!(!of(&|_| 0).are_sure(), "no gain");
        let few = low_ends(&gains(&[(0, 1, 9), (0, 3, 5)])).unwrap();
        assert!(!few.are_sure(), "two episodes show little, even if both gain");
        // Worked by hand: the sum is 40, s^2 = 20 * 4 / 19, and 19 degrees of freedom take 2.093 sqrt(20 s^2).
        let low = of(&|at| if at % 2 == 0 { 4 } else { 0 });
        assert!((low.packets - (40.0 - 2.093 * (20.0_f64 * 80.0 / 19.0).sqrt())).abs() < 1e-9);
    }
}
