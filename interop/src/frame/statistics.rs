//! What values features have, of packets that LQD accepts and of those that it drops.

use super::columns::{flags, integers};
use super::error::FrameError;
use polars::prelude::{DataFrame, Engine, LazyFrame, col, len};
use serde::Serialize;

/// What values the features of labelled rows have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// Rows.
    pub rows: u64,
    /// Rows that LQD dropped.
    pub drops: u64,
    /// Each feature.
    pub features: Vec<FeatureStatistics>,
}

/// What values a feature has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeatureStatistics {
    /// Its name.
    pub name: String,
    /// How many different values it has.
    pub distinct: u64,
    /// Its values in rows that LQD accepted; null if there are none.
    pub accepted: Option<Values>,
    /// Its values in rows that LQD dropped; null if there are none.
    pub dropped: Option<Values>,
}

/// Some numbers about values. A quantile is the smallest value that so large a share of the rows
/// does not exceed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "names of quantiles")]
pub struct Values {
    pub mean: f64,
    pub min: u32,
    pub p01: u32,
    pub p25: u32,
    pub p50: u32,
    pub p75: u32,
    pub p99: u32,
    pub max: u32,
}

/// Counts the values of `features` by label, in a streaming pass over two columns for each.
///
/// All numbers are exact. Memory is bounded by the different values of a feature: no more than there
/// are rows, nor than its range has (docs/features.md).
///
/// # Errors
/// [`FrameError`] where a feature or `drop` is missing, of another type, has nulls, or values beyond
/// 32 bits.
pub fn statistics(rows: &LazyFrame, features: &[String]) -> Result<Statistics, FrameError> {
    let schema = rows.clone().collect_schema()?;
    let mut names = features.iter().map(String::as_str).chain(["drop"]);
    if let Some(name) = names.find(|name| !schema.contains(name)) {
        return Err(FrameError::missing(name, schema.iter_names()));
    }
    let [accepted, dropped] = totals(rows)?;
    let features = features.iter().map(|name| feature(rows, name));
    Ok(Statistics {
        rows: accepted + dropped,
        drops: dropped,
        features: features.collect::<Result<_, _>>()?,
    })
}

/// How many rows were accepted and dropped.
fn totals(rows: &LazyFrame) -> Result<[u64; 2], FrameError> {
    let counted = collect(rows.clone().group_by([col("drop")]).agg([len()]))?;
    let counts = integers::<u64>(&counted, "len")?;
    let mut totals = [0, 0];
    for (drop, count) in flags(&counted, "drop")?.into_iter().zip(counts) {
        totals[usize::from(drop)] += count;
    }
    Ok(totals)
}

fn feature(rows: &LazyFrame, name: &str) -> Result<FeatureStatistics, FrameError> {
    let by = [col(name), col("drop")];
    let counted = collect(rows.clone().group_by(by).agg([len().alias(COUNT)]))?;
    let values = integers::<u32>(&counted, name)?;
    let drops = flags(&counted, "drop")?;
    let counts = integers::<u64>(&counted, COUNT)?;
    let mut counted: Vec<(u32, bool, u64)> = values
        .into_iter()
        .zip(drops)
        .zip(counts)
        .map(|((value, drop), count)| (value, drop, count))
        .collect();
    counted.sort_unstable();
    let distinct = counted.chunk_by(|(one, ..), (next, ..)| one == next).count() as u64;
    let of = |label: bool| {
        let rows = counted.iter().filter(|(_, drop, _)| *drop == label);
        Values::from_counts(&rows.map(|&(value, _, count)| (value, count)).collect::<Vec<_>>())
    };
    Ok(FeatureStatistics {
        name: name.to_owned(),
        distinct,
        accepted: of(false),
        dropped: of(true),
    })
}

/// A column that no feature is called.
const COUNT: &str = "(rows)";

fn collect(rows: LazyFrame) -> Result<DataFrame, FrameError> {
    Ok(rows.collect_with_engine(Engine::Streaming)?.unwrap_single())
}

impl Values {
    /// Of different values in ascending order, each with its number of rows.
    fn from_counts(counted: &[(u32, u64)]) -> Option<Self> {
        let (&(min, _), &(max, _)) = (counted.first()?, counted.last()?);
        let rows: u64 = counted.iter().map(|&(_, count)| count).sum();
        let sum: u128 =
            counted.iter().map(|&(value, count)| u128::from(value) * u128::from(count)).sum();
        let quantile = |percent: u64| {
            let needed = (u128::from(rows) * u128::from(percent)).div_ceil(100);
            let mut seen = 0_u128;
            let mut reached = counted.iter().filter(|&&(_, count)| {
                seen += u128::from(count);
                seen >= needed
            });
            reached.next().map_or(max, |&(value, _)| value)
        };
        Some(Values {
            mean: sum as f64 / rows as f64,
            min,
            p01: quantile(1),
            p25: quantile(25),
            p50: quantile(50),
            p75: quantile(75),
            p99: quantile(99),
            max,
        })
    }
}
