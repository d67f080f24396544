//! Flow-size distributions: published or user-defined tables.

use rand::Rng;
use serde::{Deserialize, Serialize};

/// Largest size a table may hold, bytes: up to here an `f64` holds every integer.
const MAX_BYTES: u64 = 1 << 53;

/// Header of the text form.
const HEADER: &str = "size_bytes,cumulative";

/// The distributions that ship with dropcast, in `collect/arrivals/flow_sizes/`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlowSizeName {
    /// A web search cluster (DCTCP, SIGCOMM 2010).
    #[default]
    Websearch,
    /// A data mining cluster (VL2, SIGCOMM 2009).
    Datamining,
    /// A Hadoop cluster at Facebook (Roy et al., SIGCOMM 2015).
    Hadoop,
}

impl FlowSizeName {
    /// Every shipped distribution.
    pub const ALL: [FlowSizeName; 3] =
        [FlowSizeName::Websearch, FlowSizeName::Datamining, FlowSizeName::Hadoop];

    /// The distribution's file, with its source.
    pub fn text(self) -> &'static str {
        match self {
            FlowSizeName::Websearch => include_str!("../flow_sizes/websearch.csv"),
            FlowSizeName::Datamining => include_str!("../flow_sizes/datamining.csv"),
            FlowSizeName::Hadoop => include_str!("../flow_sizes/hadoop.csv"),
        }
    }
}

/// The source of a workload's flow sizes: `"websearch"`, or the points of a table, `[[0, 0.0],
/// [10000, 1.0]]`, so that a configuration with a user's table is self-contained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected \"websearch\", \"datamining\", \"hadoop\" or a list of \
                 [size_bytes, cumulative] points"
)]
pub enum FlowSizeChoice {
    /// A shipped distribution.
    Named(FlowSizeName),
    /// `(size_bytes, cumulative)`, checked when the workload is.
    Points(Vec<(u64, f64)>),
}

impl Default for FlowSizeChoice {
    fn default() -> Self {
        FlowSizeChoice::Named(FlowSizeName::default())
    }
}

impl FlowSizeChoice {
    /// The distribution chosen.
    ///
    /// # Errors
    /// The points are not a distribution.
    pub fn load(&self) -> Result<FlowSizes, FlowSizesError> {
        match self {
            FlowSizeChoice::Named(name) => FlowSizes::from_text(name.text()),
            FlowSizeChoice::Points(points) => FlowSizes::from_points(points),
        }
    }
}

/// What is wrong with a flow-size table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlowSizesError {
    /// A line of the text cannot be read or breaks the table's order.
    #[error("flow sizes: line {line}: {problem}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// A point of a list breaks the table's order.
    #[error("flow sizes: point {point}: {problem}")]
    Point {
        /// Position in the list, from 1.
        point: usize,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// The table is empty.
    #[error("flow sizes: no points, expected lines of `{HEADER}`")]
    Empty,
}

/// A distribution of flow sizes, in whole bytes of payload.
///
/// A table of cumulative shares, linear between its points: a size is the inverse of the table at
/// a uniform number, rounded up to a whole byte, so that the share of flows of at most `k` bytes is
/// exactly the table's value at `k`. A share above 0 at the first point is the share of flows of
/// exactly that size.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSizes {
    sizes: Vec<u64>,
    cumulative: Vec<f64>,
}

impl FlowSizes {
    /// Reads a table: one point per line, `size_bytes,cumulative` (or separated by spaces, as in
    /// the tables of common traffic generators), sizes strictly ascending, shares from 0 to 1 not
    /// descending, the last 1. Empty lines, a header and lines that start with `#` are skipped.
    ///
    /// # Errors
    /// Names the first invalid line.
    pub fn from_text(text: &str) -> Result<Self, FlowSizesError> {
        let mut table = Builder::default();
        let mut last_line = 0;
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.trim();
            if content.is_empty() || content.starts_with('#') || content == HEADER {
                continue;
            }
            parse_point(content)
                .and_then(|(size, share)| table.push(size, share))
                .map_err(|problem| FlowSizesError::Line { line, problem })?;
            last_line = line;
        }
        table.finish()?.map_err(|problem| FlowSizesError::Line { line: last_line, problem })
    }

    /// The distribution with these `(size_bytes, cumulative)` points, as in [`Self::from_text`].
    ///
    /// # Errors
    /// Names the first invalid point.
    fn from_points(points: &[(u64, f64)]) -> Result<Self, FlowSizesError> {
        let mut table = Builder::default();
        for (point, &(size, share)) in (1..).zip(points) {
            table.push(size, share).map_err(|problem| FlowSizesError::Point { point, problem })?;
        }
        table.finish()?.map_err(|problem| FlowSizesError::Point { point: points.len(), problem })
    }

    /// The points of the table.
    pub fn points(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        self.sizes.iter().copied().zip(self.cumulative.iter().copied())
    }

    /// Draws a size, bytes; at least 1.
    pub fn sample(&self, rng: &mut impl Rng) -> u64 {
        // In (0, 1]: the first point whose share reaches it exists, the last is 1.
        let share = 1.0 - rng.random::<f64>();
        let upper = self.cumulative.partition_point(|&cumulative| cumulative < share);
        if upper == 0 {
            return self.sizes[0];
        }
        let (from, to) = (self.sizes[upper - 1], self.sizes[upper]);
        let (low, high) = (self.cumulative[upper - 1], self.cumulative[upper]);
        let inside = (share - low) / (high - low) * (to - from) as f64;
        from + (inside.ceil() as u64).clamp(1, to - from)
    }

    /// Share of flows of at most `size_bytes`.
    pub fn cumulative(&self, size_bytes: u64) -> f64 {
        let upper = self.sizes.partition_point(|&size| size <= size_bytes);
        if upper == 0 {
            return 0.0;
        }
        let (low, from) = (self.cumulative[upper - 1], self.sizes[upper - 1]);
        match (self.cumulative.get(upper), self.sizes.get(upper)) {
            (Some(high), Some(to)) => {
                low + (high - low) * (size_bytes - from) as f64 / (to - from) as f64
            }
            _ => 1.0,
        }
    }

    /// Exact mean of the sizes drawn, bytes.
    pub fn mean_bytes(&self) -> f64 {
        self.mean_packets(1)
    }

    /// Exact mean number of packets of a flow whose packets carry up to `payload_bytes`, which is
    /// not 0.
    pub(crate) fn mean_packets(&self, payload_bytes: u32) -> f64 {
        // E[ceil(X / p)] is the sum over k >= 0 of P(X > k p): 1 for each k below the first
        // point, then an arithmetic series in each segment.
        let payload = u64::from(payload_bytes);
        let mut first = self.sizes[0].div_ceil(payload);
        let mut mean = first as f64;
        for upper in 1..self.sizes.len() {
            let end = self.sizes[upper].div_ceil(payload);
            let terms = (end - first) as f64;
            if end > first {
                let slope = (self.cumulative[upper] - self.cumulative[upper - 1])
                    / (self.sizes[upper] - self.sizes[upper - 1]) as f64;
                let longer_than_first = 1.0 - self.cumulative(first * payload);
                let step = slope * payload as f64;
                mean += terms * longer_than_first - step * terms * (terms - 1.0) / 2.0;
            }
            first = end;
        }
        mean
    }
}

/// A table under construction, always in order.
#[derive(Default)]
struct Builder {
    sizes: Vec<u64>,
    cumulative: Vec<f64>,
}

impl Builder {
    fn push(&mut self, size: u64, share: f64) -> Result<(), String> {
        if size > MAX_BYTES {
            return Err(format!("size {size} is above {MAX_BYTES} bytes"));
        }
        if !(0.0..=1.0).contains(&share) {
            return Err(format!("cumulative share {share} is not between 0 and 1"));
        }
        match (self.sizes.last(), self.cumulative.last()) {
            (Some(&last_size), _) if size <= last_size => {
                return Err(format!("size {size} does not exceed the one before, {last_size}"));
            }
            (_, Some(&last_share)) if share < last_share => {
                return Err(format!("cumulative share {share} is below {last_share} before it"));
            }
            (None, _) if size == 0 && share > 0.0 => {
                return Err(format!("a share {share} of flows of 0 bytes, a flow has at least 1"));
            }
            _ => {}
        }
        self.sizes.push(size);
        self.cumulative.push(share);
        Ok(())
    }

    /// The outer error: no points. The inner: the last point is not the end of a table.
    fn finish(self) -> Result<Result<FlowSizes, String>, FlowSizesError> {
        let Some(&last) = self.cumulative.last() else {
            return Err(FlowSizesError::Empty);
        };
        Ok(if last == 1.0 {
            Ok(FlowSizes { sizes: self.sizes, cumulative: self.cumulative })
        } else {
            Err(format!("the last cumulative share is {last}, expected 1"))
        })
    }
}

fn parse_point(line: &str) -> Result<(u64, f64), String> {
    let mut fields =
        line.split(|c: char| c == ',' || c.is_whitespace()).filter(|field| !field.is_empty());
    let (Some(size), Some(share), None) = (fields.next(), fields.next(), fields.next()) else {
        return Err(format!("{line:?} is not two numbers, expected `{HEADER}`"));
    };
    let size = size.parse().map_err(|_| format!("size {size:?} is not a whole number"))?;
    let share = share.parse().map_err(|_| format!("cumulative share {share:?} is not a number"))?;
    Ok((size, share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn shipped(name: FlowSizeName) -> FlowSizes {
        FlowSizes::from_text(name.text()).expect("shipped tables are valid")
    }

    #[test]
    fn shipped_means() {
        // By hand from the tables: the sum over segments of share * midpoint, plus half a byte
        // for rounding up (exact wherever a segment is as long as these).
        for name in FlowSizeName::ALL {
            let sizes = shipped(name);
            let points: Vec<_> = sizes.points().collect();
            let midpoints: f64 = points
                .windows(2)
                .map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) as f64 / 2.0)
                .sum();
            let error = sizes.mean_bytes() - (midpoints + 0.5);
            assert!(error.abs() < 1e-6 * midpoints, "{name:?}: {error}");
        }
        assert!((shipped(FlowSizeName::Websearch).mean_bytes() - 1_711_250.5).abs() < 1e-3);
    }

    #[test]
    fn samples_follow_the_table() {
        // Kolmogorov-Smirnov: the distance exceeds 1.95 / sqrt(n) once in 1000 seeds.
        const DRAWS: usize = 100_000;
        for (seed, name) in (1..).zip(FlowSizeName::ALL) {
            let sizes = shipped(name);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut draws: Vec<u64> = (0..DRAWS).map(|_| sizes.sample(&mut rng)).collect();
            draws.sort_unstable();
            let distance = (0..DRAWS)
                .filter(|&i| draws.get(i + 1) != Some(&draws[i]))
                .map(|i| ((i + 1) as f64 / DRAWS as f64 - sizes.cumulative(draws[i])).abs())
                .fold(0.0, f64::max);
            assert!(distance < 1.95 / (DRAWS as f64).sqrt(), "{name:?}: {distance}");
        }
    }

    #[test]
    fn a_share_at_the_first_point_is_an_exact_size() {
        let sizes = FlowSizes::from_points(&[(500, 0.25), (999, 0.25), (1000, 1.0)]).expect("ok");
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let draws: Vec<u64> = (0..10_000).map(|_| sizes.sample(&mut rng)).collect();
        assert!(draws.iter().all(|&size| size == 500 || size == 1000));
        assert!((sizes.mean_bytes() - 875.0).abs() < 1e-9);
        assert!((sizes.mean_packets(600) - 1.75).abs() < 1e-9);
    }

    #[test]
    fn mistakes_are_named() {
        let check = |text: &str, says: &str| {
            let error = FlowSizes::from_text(text).expect_err(text).to_string();
            assert!(error.contains(says), "{error:?} should say {says:?}");
        };
        check("# nothing\n\n", "no points");
        check("size_bytes,cumulative\n0,0\n10,0.5", "line 3: the last cumulative share is 0.5");
        check("0,0\n10,0.5\n10,1", "line 3: size 10 does not exceed");
        check("0,0\n10,0.5\n20,0.4", "line 3: cumulative share 0.4 is below 0.5");
        check("0 0\n10 50\n20 100", "line 2: cumulative share 50 is not between");
        check("0,0\nx,1", "line 2: size \"x\"");
        check("0,0\n5,NaN", "line 2: cumulative share NaN is not between");
        check("0,0\n5", "line 2: \"5\" is not two numbers");
        check("0,0.5\n5,1", "line 1: a share 0.5 of flows of 0 bytes");
        check("0,0\n99999999999999999,1", "line 2: size 99999999999999999 is above");
        let error = FlowSizes::from_points(&[(3, 0.0), (1, 1.0)]).expect_err("falls");
        assert!(error.to_string().contains("point 2: size 1 does not exceed"));
    }

    #[test]
    fn spaces_do_as_separators() {
        let table = [(1, 0.5), (3, 1.0)];
        assert_eq!(FlowSizes::from_text("1   0.5\r\n3\t1\n"), FlowSizes::from_points(&table));
    }

    proptest! {
        /// The closed form of the mean against the sum it abbreviates.
        #[test]
        fn mean_packets_is_the_sum_of_the_tail(
            steps in prop::collection::vec((1u64..400, 0u32..5), 1..8),
            start in 0u64..50,
            payload in 1u32..90,
        ) {
            let total: u32 = steps.iter().map(|step| step.1).sum();
            prop_assume!(total > 0);
            let (mut size, mut share) = (start, 0);
            let mut points = vec![(start, 0.0)];
            for (length, weight) in steps {
                size += length;
                share += weight;
                points.push((size, f64::from(share) / f64::from(total)));
            }
            let sizes = FlowSizes::from_points(&points).expect("in order");
            let slow: f64 = (0..)
                .map(|k| k * u64::from(payload))
                .take_while(|&bytes| bytes < size)
                .map(|bytes| 1.0 - sizes.cumulative(bytes))
                .sum();
            prop_assert!((sizes.mean_packets(payload) - slow).abs() < 1e-9 * slow.max(1.0));
        }
    }
}
