//! Bins of rows, as training takes them.

use super::sketch::ValueSketch;
use crate::Part;
use crate::rows::training_marks::TrainingMarks;
use crate::source::RunRows;
use crate::splits::Parts;
use dropcast_forest::binning::Bins;
use proptest::prelude::*;

fn bins(rows: &[(u32, u8)], max_bins: usize) -> Bins {
    let values: Vec<u32> = rows.iter().map(|row| row.0).collect();
    let drop: Vec<bool> = rows.iter().map(|row| row.1 == 1).collect();
    let rows = RunRows { run: 0, arrivals: None, features: Vec::new(), drop: &drop };
    let mut sketch = ValueSketch::new();
    sketch.add(&values, &TrainingMarks::new(&rows, &Parts::All(Part::Train)));
    Bins::new(sketch.finish().edges(max_bins - 1))
}

#[test]
fn few_values_have_a_bin_each() {
    let bins = bins(&[(7, 0), (0, 1), (10, 0), (7, 1), (1, 0)], 255);
    assert_eq!(bins.edges(), [0, 4, 8]);
    assert_eq!([0, 1, 4, 5, 8, 9, u32::MAX].map(|x| bins.bin(x)), [0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(self::bins(&[(5, 1)], 255).edges(), [0; 0]);
}

#[test]
fn a_skewed_feature_is_resolved_where_rows_are_dropped() {
    let mut rows: Vec<(u32, u8)> = (0..100_000).map(|row| (row % 10 / 9 * row, 0)).collect();
    rows.extend((0..100).map(|row| (900_000 + 1000 * row, 1)));
    let bins = bins(&rows, 64);
    assert!(bins.edges().len() < 64);
    let among_drops = bins.edges().iter().filter(|&&edge| edge >= 900_000).count();
    assert!(among_drops >= 16, "{among_drops}");
    assert_eq!(bins.edges()[0], 5, "0 is nine tenths of the accepted rows and gets its own bin");
}

proptest! {
    #[test]
    fn edges_ascend_and_are_no_more_than_asked(
        rows in prop::collection::vec((0_u32..2000, 0_u8..2), 1..400),
        max_bins in 2_usize..40,
    ) {
        let bins = bins(&rows, max_bins);
        prop_assert!(bins.edges().len() < max_bins);
        prop_assert!(bins.edges().windows(2).all(|pair| pair[0] < pair[1]));
    }
}
