//! Our trainer inside linfa: cross-validation, metrics, and errors that say what is wrong.

use crate::rows::rows;
use dropcast_interop::linfa_traits::{EstimatorError, ForestEstimator};
use dropcast_train::{ForestParams, MaxFeatures};
use linfa::prelude::*;
use ndarray::{Array1, Array2};

fn dataset(count: usize) -> Dataset<f64, bool, ndarray::Ix1> {
    let batch = rows(count).batch;
    let records =
        Array2::from_shape_fn((count, 4), |(row, column)| f64::from(batch.features[column][row]));
    Dataset::new(records, Array1::from_vec(batch.drop))
}

fn estimator(depth: u8) -> ForestEstimator {
    let params = ForestParams {
        max_depth: depth,
        max_features: MaxFeatures::All,
        ..ForestParams::default()
    };
    ForestEstimator::new("paper4".parse().unwrap()).with_params(params.check().unwrap())
}

#[test]
fn cross_validation_prefers_the_deeper_forest() {
    let mut dataset = dataset(2_000);
    let models = [estimator(1), estimator(5)];
    let scores: Result<Array1<f32>, EstimatorError> =
        dataset.cross_validate_single(5, &models, |predicted: &Array1<bool>, truth| {
            Ok(predicted.confusion_matrix(truth)?.f1_score())
        });
    let scores = scores.unwrap();
    assert!(scores[1] > 0.8 && scores[1] > scores[0] + 0.1, "{scores}");
}

#[test]
fn linfas_metrics_are_those_of_the_model() {
    let dataset = dataset(2_000);
    let forest = estimator(4).fit(&dataset).unwrap();
    let confusion = forest.predict(&dataset).confusion_matrix(&dataset).unwrap();
    let metrics = forest.model().metrics.as_ref().unwrap();
    let ours = [metrics.train.accuracy, metrics.train.f1].map(Option::unwrap);
    let theirs = [confusion.accuracy(), confusion.f1_score()].map(f64::from);
    for (ours, theirs) in ours.into_iter().zip(theirs) {
        assert!((ours - theirs).abs() < 1e-6, "{ours} {theirs}");
    }
}

#[test]
fn fractions_are_compared_as_they_are() {
    let dataset = dataset(2_000);
    let forest = estimator(4).fit(&dataset).unwrap();
    let whole = forest.predict(dataset.records());
    let fractions = dataset.records() + 0.75;
    assert_eq!(forest.predict(&fractions), whole);
}

#[test]
fn what_cannot_be_fitted_says_why() {
    let fault = |dataset: Dataset<f64, bool, ndarray::Ix1>| {
        estimator(2).fit(&dataset).map(|_| ()).unwrap_err().to_string()
    };
    let mut fraction = dataset(10);
    fraction.records[(3, 2)] = 0.5;
    assert!(fault(fraction).starts_with("row 3, column 2 is 0.5, expected a whole number"));
    let mut large = dataset(10);
    large.records[(1, 0)] = 4_294_967_296.0;
    assert!(fault(large).starts_with("row 1, column 0 is 4294967296"));
    assert_eq!(
        fault(dataset(10).with_weights(Array1::ones(10))),
        EstimatorError::Weights.to_string()
    );
    let narrow = Dataset::new(Array2::zeros((3, 2)), Array1::from_elem(3, true));
    assert_eq!(fault(narrow), "the records have 2 columns, but the estimator has 4 features");
    let calm = Dataset::new(Array2::zeros((3, 4)), Array1::from_elem(3, false));
    assert!(fault(calm).starts_with("none of the 3 training rows is a drop"));
}
