//! Comparisons with floats as comparisons of integers: exactly the same rows go left.

/// How another tool compares a feature's value with a threshold to go left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// `x <= threshold`.
    AtMost,
    /// `x < threshold`.
    Below,
}

/// As what the tool sees an integer feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// Rounded to the nearest `f32`: integers above 2^24 may become another.
    F32,
    /// As `f64`, which every 32-bit integer is.
    F64,
}

impl Values {
    fn number(self, x: u32) -> f64 {
        match self {
            Values::F32 => f64::from(x as f32),
            Values::F64 => f64::from(x),
        }
    }
}

/// The largest integer that goes left, so that `x <= largest` goes left exactly where the tool's
/// comparison does, for each of the 2^32 values of `x`. `None` if no value goes left.
///
/// Rounding to a float never changes the order of two integers, so those that go left are an
/// initial segment of all, and its end is found by bisection. `threshold` is not NaN.
pub(crate) fn largest_left(threshold: f64, comparison: Comparison, values: Values) -> Option<u32> {
    let goes_left = |x: u32| match comparison {
        Comparison::AtMost => values.number(x) <= threshold,
        Comparison::Below => values.number(x) < threshold,
    };
    if !goes_left(0) {
        return None;
    }
    // `left` goes left; nothing above `last` does.
    let (mut left, mut last) = (0, u32::MAX);
    while left < last {
        let middle = last - (last - left) / 2;
        if goes_left(middle) {
            left = middle;
        } else {
            last = middle - 1;
        }
    }
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_thresholds_are_rounded_down() {
        let at_most = |t| largest_left(t, Comparison::AtMost, Values::F64);
        let below = |t| largest_left(t, Comparison::Below, Values::F64);
        assert_eq!((at_most(2.0), below(2.0)), (Some(2), Some(1)));
        assert_eq!((at_most(2.5), below(2.5)), (Some(2), Some(2)));
        assert_eq!((at_most(0.0), below(0.0)), (Some(0), None));
        assert_eq!((at_most(-0.5), below(-0.5)), (None, None));
        assert_eq!(at_most(f64::INFINITY), Some(u32::MAX));
        assert_eq!(at_most(4_294_967_295.0), Some(u32::MAX));
        assert_eq!(below(4_294_967_295.0), Some(u32::MAX - 1));
        assert_eq!(at_most(1.000_000_018e-35), Some(0));
    }

    #[test]
    fn integers_that_no_f32_holds_go_where_their_neighbour_goes() {
        let f32 = |t, comparison| largest_left(t, comparison, Values::F32);
        // 2^24 + 1 is rounded to 2^24, and 2^24 + 3 to 2^24 + 4.
        assert_eq!(f32(16_777_216.0, Comparison::AtMost), Some(16_777_217));
        assert_eq!(f32(16_777_218.0, Comparison::Below), Some(16_777_217));
        assert_eq!(f32(16_777_218.0, Comparison::AtMost), Some(16_777_218));
        // Everything near the top becomes 2^32.
        assert_eq!(f32(4_294_967_295.0, Comparison::AtMost), Some(4_294_967_167));
    }

    proptest! {
        #[test]
        fn neighbours_of_a_threshold_go_where_the_tool_sends_them(
            bits in prop_oneof![
                any::<u32>().prop_map(f64::from),
                any::<u32>().prop_map(|x| f64::from(x as f32)),
                any::<u32>().prop_map(|x| f64::from(x) + 0.5),
                -2.0..5e9_f64,
                any::<f64>().prop_filter("a number", |x| !x.is_nan()),
            ],
            near in -600_i64..600,
        ) {
            for comparison in [Comparison::AtMost, Comparison::Below] {
                for values in [Values::F32, Values::F64] {
                    let largest = largest_left(bits, comparison, values);
                    let x = (bits as i64).saturating_add(near).clamp(0, i64::from(u32::MAX)) as u32;
                    for x in [x, 0, u32::MAX] {
                        let value = match values {
                            Values::F32 => f64::from(x as f32),
                            Values::F64 => f64::from(x),
                        };
                        let theirs = match comparison {
                            Comparison::AtMost => value <= bits,
                            Comparison::Below => value < bits,
                        };
                        prop_assert_eq!(largest.is_some_and(|t| x <= t), theirs);
                    }
                }
            }
        }
    }
}
