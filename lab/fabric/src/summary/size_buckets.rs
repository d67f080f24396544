//! Buckets of flow sizes.

use serde::{Deserialize, Serialize};

/// Bounds, at most: each bucket has metrics and pictures of its own.
const MOST_BOUNDS: usize = 50;

/// Sizes from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SizeBucket {
    /// The smallest, bytes.
    pub from_bytes: u64,
    /// The largest, bytes; null for no end.
    pub to_bytes: Option<u64>,
}

impl SizeBucket {
    /// Its name, as metrics and rows of files begin with it: `10001-100000-bytes`.
    pub fn name(&self) -> String {
        match self.to_bytes {
            Some(to_bytes) => format!("{}-{to_bytes}-bytes", self.from_bytes),
            None => format!("{}-or-more-bytes", self.from_bytes),
        }
    }

    /// The bucket of this name.
    pub(super) fn named(name: &str) -> Option<SizeBucket> {
        let sizes = name.strip_suffix("-bytes")?;
        let (from, to) = match sizes.strip_suffix("-or-more") {
            Some(from) => (from, None),
            None => sizes.split_once('-').map(|(from, to)| (from, Some(to)))?,
        };
        let to_bytes = to.map(str::parse).transpose().ok()?;
        Some(SizeBucket { from_bytes: from.parse().ok()?, to_bytes })
    }

    /// Its flows, in words: `flows of 10001 to 100000 bytes`.
    pub fn words(&self) -> String {
        match self.to_bytes {
            Some(to_bytes) => format!("flows of {} to {to_bytes} bytes", self.from_bytes),
            None => format!("flows of {} bytes or more", self.from_bytes),
        }
    }
}

/// Buckets that hold every size once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeBuckets {
    all: Vec<SizeBucket>,
}

impl SizeBuckets {
    /// Buckets that end at these sizes, and one for what is larger; none without bounds.
    ///
    /// # Errors
    /// The bounds do not ascend, begin with 0, or are too many.
    pub fn new(bounds_bytes: &[u64]) -> Result<Self, String> {
        if bounds_bytes.len() > MOST_BOUNDS {
            let count = bounds_bytes.len();
            return Err(format!("has {count} sizes, expected at most {MOST_BOUNDS}"));
        }
        let mut all = Vec::new();
        let mut from_bytes = 1;
        for &to_bytes in bounds_bytes {
            if to_bytes < from_bytes {
                let last = from_bytes - 1;
                return Err(format!("has {to_bytes} after {last}, expected ascending sizes"));
            }
            if to_bytes == u64::MAX {
                return Err(format!("has {to_bytes}, expected sizes of flows in bytes"));
            }
            all.push(SizeBucket { from_bytes, to_bytes: Some(to_bytes) });
            from_bytes = to_bytes + 1;
        }
        if !all.is_empty() {
            all.push(SizeBucket { from_bytes, to_bytes: None });
        }
        Ok(SizeBuckets { all })
    }

    /// The buckets, from the smallest sizes.
    pub fn all(&self) -> &[SizeBucket] {
        &self.all
    }

    /// The number of the bucket that a size is in; none without buckets.
    pub fn place(&self, size_bytes: u64) -> Option<usize> {
        let place = self.all.partition_point(|own| own.to_bytes.is_some_and(|to| to < size_bytes));
        (place < self.all.len()).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bounds_must_ascend() {
        for wrong in [&[0][..], &[10, 10], &[10, 9], &[u64::MAX], &[1; 51]] {
            assert!(SizeBuckets::new(wrong).is_err(), "{wrong:?}");
        }
        let buckets = SizeBuckets::new(&[10_000, 1_000_000]).expect("ascending");
        let names: Vec<String> = buckets.all().iter().map(SizeBucket::name).collect();
        assert_eq!(names, ["1-10000-bytes", "10001-1000000-bytes", "1000001-or-more-bytes"]);
        for bucket in buckets.all() {
            assert_eq!(SizeBucket::named(&bucket.name()), Some(*bucket));
        }
        assert_eq!(SizeBuckets::new(&[]).expect("none").place(5), None);
    }

    proptest! {
        #[test]
        fn every_size_is_in_one_bucket(
            mut bounds in prop::collection::vec(1_u64..50, 1..8),
            size in 1_u64..60,
        ) {
            bounds.sort_unstable();
            bounds.dedup();
            let buckets = SizeBuckets::new(&bounds).expect("ascending");
            let holds = |own: &SizeBucket| {
                own.from_bytes <= size && own.to_bytes.is_none_or(|to| size <= to)
            };
            let holding: Vec<usize> = (0..buckets.all().len())
                .filter(|&place| holds(&buckets.all()[place]))
                .collect();
            prop_assert_eq!(holding, vec![buckets.place(size).expect("a bucket")]);
        }
    }
}
