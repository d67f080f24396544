//! The moving average `ns3-trunc` in integers, bit for bit as double precision computes it.

/// A value's moving average, and when it was updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Average {
    updated_ns: u64,
    value: u32,
}

impl Average {
    /// 0, updated at time 0.
    pub const ZERO: Self = Average { updated_ns: 0, value: 0 };

    pub(crate) fn value(self) -> u32 {
        self.value
    }

    /// The averaged value is `x` from `now_ns` on. `docs/features.md` defines the average;
    /// `docs/runtime.md` says why integers suffice.
    pub(crate) fn update(&mut self, x: u32, now_ns: u64, tau_ns: u64) {
        let elapsed_ns = now_ns.saturating_sub(self.updated_ns);
        self.value = averaged(self.value, x, elapsed_ns, tau_ns);
        self.updated_ns = now_ns;
    }
}

/// `trunc(g * x + (1 - g) * average)` with `g = min(elapsed, tau) / tau`; `tau` is below 2^32.
fn averaged(average: u32, x: u32, elapsed_ns: u64, tau_ns: u64) -> u32 {
    if elapsed_ns >= tau_ns {
        return x;
    }
    let sum = elapsed_ns * u64::from(x) + (tau_ns - elapsed_ns) * u64::from(average);
    // The rounding errors of double precision reach no further than this.
    let reach = tau_ns >> 18;
    let rest = sum % tau_ns;
    if (rest > reach && tau_ns - rest > reach) || elapsed_ns == 0 || sum == 0 {
        return (sum / tau_ns) as u32;
    }
    rounded(average, x, elapsed_ns, tau_ns)
}

/// The same with every step rounded as a double is; `0 < elapsed < tau`.
fn rounded(average: u32, x: u32, elapsed_ns: u64, tau_ns: u64) -> u32 {
    // g = gain * 2^-(52 + shift), gain of 53 bits.
    let shift = (0..32).find(|&shift| elapsed_ns << shift >= tau_ns).unwrap_or(32);
    let scaled = u128::from(elapsed_ns) << (52 + shift);
    let gain =
        nearest(scaled / u128::from(tau_ns), scaled % u128::from(tau_ns), u128::from(tau_ns));
    // 1 - g = keep * 2^-53.
    let cut = shift - 1;
    let keep = (1 << 53) - nearest(gain >> cut, gain & ((1 << cut) - 1), 1 << cut);
    let sum = product(gain, 52 + shift, x) + product(keep, 53, average);
    // The sum is rounded too: up to the next integer from half a unit in the last place below it.
    let (whole, fraction) = (sum >> POINT, sum & ((1 << POINT) - 1));
    let bits = u128::BITS - whole.leading_zeros();
    (whole + ((fraction + (1 << bits)) >> POINT)) as u32
}

/// Binary places of a [`product`].
const POINT: u32 = 54;

/// `quotient` and `rest / divisor`, rounded to the nearest integer, ties to the even one.
fn nearest(quotient: u128, rest: u128, divisor: u128) -> u128 {
    quotient + u128::from(2 * rest + (quotient & 1) > divisor)
}

/// `m * 2^-point * v` as a double rounds it, in units of 2^-54, truncated.
fn product(m: u128, point: u32, v: u32) -> u128 {
    let exact = m * u128::from(v);
    let excess = (u128::BITS - exact.leading_zeros()).saturating_sub(53);
    let kept = nearest(exact >> excess, exact & ((1 << excess) - 1), 1 << excess);
    let point = point - excess;
    if point <= POINT { kept << (POINT - point) } else { kept >> (point - POINT) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn in_floating_point(average: u32, x: u32, elapsed_ns: u64, tau_ns: u64) -> u32 {
        let g = elapsed_ns.min(tau_ns) as f64 / tau_ns as f64;
        (g * f64::from(x) + (1.0 - g) * f64::from(average)) as u32
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn agrees_with_double_precision(
            tau_ns in prop_oneof![1_u64..100, Just(25_200), Just(32_000), 1..1_u64 << 32],
            share in 0.0..1.1_f64, average: u32, near in 0_u32..8, x: u32,
            is_near: bool,
        ) {
            let elapsed_ns = (tau_ns as f64 * share) as u64;
            let x = if is_near { average.saturating_add(near) } else { x };
            let expected = in_floating_point(average, x, elapsed_ns, tau_ns);
            prop_assert_eq!(averaged(average, x, elapsed_ns, tau_ns), expected);
            if elapsed_ns > 0 && elapsed_ns < tau_ns {
                prop_assert_eq!(rounded(average, x, elapsed_ns, tau_ns), expected);
            }
        }
    }
}
