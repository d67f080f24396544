//! How often each row is drawn into a tree's sample.

use crate::random::Purpose;
use crate::rows::row_kind::RowKind;
use serde::{Deserialize, Serialize};

/// Trees that share a hash: each uses 16 of its 64 bits.
pub(crate) const LANES: usize = 4;
/// Maximum draws of a row: [`Poisson::MOST`].
pub(crate) const MOST_DRAWS: u8 = Poisson::MOST as u8;

/// The draws of [`LANES`] trees.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bootstrap {
    pub(crate) seed: u64,
    /// The first tree's number is `LANES` times this.
    pub(crate) quad: u64,
    /// `None`: every row once.
    pub(crate) poisson: Option<Poisson>,
}

/// 1 in each lane.
pub(crate) const EVERY_LANE: u64 = 0x0001_0001_0001_0001;

/// Rows drawn at once.
const TOGETHER: usize = 64;

impl Bootstrap {
    /// Writes how often rows of a kind are drawn, from row number `first` on: 16 bits per lane, the
    /// lowest for the first lane.
    pub(crate) fn draw(&self, kind: &RowKind, first: u64, draws: &mut [u64]) {
        self.draw_each(kind, |nth| first + nth as u64, draws);
    }

    /// The same for some of the rows after `first`.
    pub(crate) fn draw_some(&self, kind: &RowKind, first: u64, rows: &[u16], draws: &mut [u64]) {
        let rows = &rows[..draws.len()];
        self.draw_each(kind, |nth| first + u64::from(rows[nth]), draws);
    }

    fn draw_each(&self, kind: &RowKind, number: impl Fn(usize) -> u64, draws: &mut [u64]) {
        let Some(poisson) = self.poisson else {
            draws.fill(EVERY_LANE);
            return;
        };
        let key = [self.quad, kind.run, u64::from(kind.switch), u64::from(kind.drop)];
        let stream = Purpose::Bootstrap.stream(self.seed, &key);
        for (nth, draws) in draws.chunks_mut(TOGETHER).enumerate() {
            for (at, draws) in draws.iter_mut().enumerate() {
                *draws = stream.at(number(nth * TOGETHER + at));
            }
            poisson.draw(draws);
        }
    }
}

/// Poisson draws.
///
/// `n` draws with replacement from `n` rows draw each row binomially (n, 1/n), which is Poisson(1)
/// in the limit; independent draws per row make sampling independent of row order (Oza and Russell,
/// Online bagging and boosting, 2001). Chances are rounded to 1/65,536.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Poisson {
    /// A draw is the number of these limits that 16 random bits exceed, both minus 2^15: every
    /// x86-64 has SIMD comparisons of signed numbers.
    limits: [i16; Poisson::MOST],
}

impl Poisson {
    /// Draws are capped here. For a mean of 1, one in 100,000 would be larger.
    pub(crate) const MOST: usize = 7;

    /// Draws with this mean, 0.001 to 1.
    pub(crate) fn new(mean: f64) -> Self {
        let mut probability = exp_minus(mean);
        let mut below = 0.0;
        let mut limits = [0; Poisson::MOST];
        for (count, limit) in (1_u32..).zip(&mut limits) {
            below += probability;
            probability *= mean / f64::from(count);
            // The count of the 65,536 numbers with fewer draws; the last of these is the limit.
            let last = ((below * 65_536.0 + 0.5) as u32).clamp(1, 65_536) - 1;
            *limit = with_sign(last as u16);
        }
        Poisson { limits }
    }

    /// Replaces random bits, 16 per lane, of at most [`TOGETHER`] rows by draws.
    fn draw(&self, rows: &mut [u64]) {
        let mut bits = [0_i16; LANES * TOGETHER];
        let mut draws = [0_i16; LANES * TOGETHER];
        for (bits, row) in bits.as_chunks_mut::<LANES>().0.iter_mut().zip(&*rows) {
            *bits = [0, 16, 32, 48].map(|lane| with_sign((row >> lane) as u16));
        }
        for (draws, bits) in draws.iter_mut().zip(&bits) {
            let exceeded = self.limits.iter().map(|limit| i16::from(bits > limit));
            *draws = exceeded.fold(0, i16::wrapping_add);
        }
        for (row, draws) in rows.iter_mut().zip(draws.as_chunks::<LANES>().0) {
            let [a, b, c, d] = draws.map(|draws| draws as u64);
            *row = a | b << 16 | c << 32 | d << 48;
        }
    }
}

/// Minus 2^15.
fn with_sign(bits: u16) -> i16 {
    (bits ^ 1 << 15) as i16
}

/// `exp(-x)` for 0 <= x <= 1 by its series: basic operations only, so bit-identical on every
/// platform, which neither `f64::exp` nor `libm` promises (from 0.2.16 on its `exp` is assembly on i586).
fn exp_minus(x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..=25_u32 {
        term *= -x / f64::from(n);
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Part;

    fn lane_of(row: u64, lane: usize) -> u16 {
        (row >> (16 * lane)) as u16
    }

    const KIND: RowKind = RowKind { run: 3, switch: 1, part: Part::Train, drop: false };

    fn bootstrap(mean: f64) -> Bootstrap {
        Bootstrap { seed: 7, quad: 0, poisson: Some(Poisson::new(mean)) }
    }

    #[test]
    fn draws_of_every_lane_have_their_distribution() {
        for mean in [1.0, 0.25, 0.01, 0.001] {
            let rows = 400_000;
            let mut draws = vec![0; rows];
            bootstrap(mean).draw(&KIND, 0, &mut draws);
            for lane in 0..LANES {
                let mut seen = [0_u32; Poisson::MOST + 1];
                draws.iter().for_each(|&row| seen[usize::from(lane_of(row, lane))] += 1);
                let mut expected = f64::exp(-mean) * rows as f64;
                for (count, &seen) in seen.iter().enumerate().take(6) {
                    let off = (f64::from(seen) - expected).abs();
                    // Rounding changes a probability by up to 2^-17.
                    let noise = 5.0 * expected.sqrt() + 1.0 + rows as f64 / 131_072.0;
                    assert!(off < noise, "{mean} {lane} {count}: {seen} {expected}");
                    expected *= mean / (count + 1) as f64;
                }
            }
        }
    }

    #[test]
    fn trees_of_one_hash_are_drawn_independently() {
        let mut draws = vec![0; 100_000];
        bootstrap(1.0).draw(&KIND, 0, &mut draws);
        for a in 0..LANES {
            for b in 0..a {
                let of = |lane: usize, row: &u64| f64::from(lane_of(*row, lane)) - 1.0;
                let sum: f64 = draws.iter().map(|row| of(a, row) * of(b, row)).sum();
                let correlation = sum / draws.len() as f64;
                assert!(correlation.abs() < 5.0 / (draws.len() as f64).sqrt(), "{correlation}");
            }
        }
    }

    #[test]
    fn a_row_is_drawn_alike_wherever_its_block_begins() {
        let draws = |first: u64, rows: usize| {
            let mut draws = vec![0; rows];
            bootstrap(1.0).draw(&KIND, first, &mut draws);
            draws
        };
        let all = draws(0, 1000);
        assert_eq!(all[77..277], draws(77, 200));
        assert_eq!(all[999..], draws(999, 1));
        let mut some = vec![0; 3];
        bootstrap(1.0).draw_some(&KIND, 700, &[9, 10, 299], &mut some);
        assert_eq!(some, [all[709], all[710], all[999]]);
        let mut others = vec![0; 1000];
        bootstrap(1.0).draw(&RowKind { drop: true, ..KIND }, 0, &mut others);
        assert_ne!(all, others);
    }

    #[test]
    fn the_series_of_exp_is_as_exact_as_a_double() {
        for x in [0.0, 0.1, 0.5, 0.632, 1.0] {
            assert!((exp_minus(x) - f64::exp(-x)).abs() < 1e-15, "{x}");
        }
    }
}
