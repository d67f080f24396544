//! Our trainer as an estimator of linfa's, for its pipelines, cross-validation and metrics.
//!
//! ```
//! use dropcast_interop::linfa_traits::ForestEstimator;
//! use linfa::prelude::*;
//! use ndarray::{Array, Array1, Array2};
//!
//! // Queue length and occupancy, bytes; long queues in a full buffer are dropped.
//! let records: Array2<f64> = Array::from_shape_fn((1000, 2), |(row, column)| {
//!     ((row * [7919, 104_729][column]) % 100_000) as f64
//! });
//! let drop: Array1<bool> =
//!     records.rows().into_iter().map(|row| row[0] > 50_000.0 && row[1] > 30_000.0).collect();
//! let (train, test) = Dataset::new(records, drop).split_with_ratio(0.8);
//!
//! let forest = ForestEstimator::new("queue_length,occupancy".parse()?).fit(&train)?;
//! let confusion = forest.predict(&test).confusion_matrix(&test)?;
//! assert!(confusion.f1_score() > 0.9);
//! println!("{}", forest.model().to_json());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use dropcast_data::LabelledBatch;
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, SwitchContext};
use dropcast_train::{
    CheckedForestParams, FitTask, ForestParams, RunBatch, Split, TrainError, TrainedModel,
    VoteRule, fit,
};
use linfa::Float;
use linfa::dataset::{AsSingleTargets, DatasetBase};
use linfa::traits::{Fit, PredictInplace};
use ndarray::{Array1, ArrayBase, Data, Ix2};
use std::num::NonZeroUsize;

/// Our trainer with its parameters.
///
/// Records are features, whole numbers of 32 bits, one column for each of the estimator's features;
/// targets say whether the packet is dropped. All rows that it is given train: splitting is linfa's
/// part here, and the vote threshold is chosen on the same rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ForestEstimator {
    features: FeatureSet,
    params: CheckedForestParams,
    vote: VoteRule,
    switch: SwitchContext,
    threads: NonZeroUsize,
}

/// A forest that predicts rows of linfa's.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedForest {
    model: TrainedModel,
}

/// Why our trainer could not train on linfa's data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EstimatorError {
    /// linfa's own.
    #[error(transparent)]
    Linfa(#[from] linfa::Error),
    /// No forest can be trained on these rows.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The wrong number of columns.
    #[error("the records have {found} columns, but the estimator has {expected} features")]
    Columns {
        /// How many the records have.
        found: usize,
        /// How many features there are.
        expected: usize,
    },
    /// Features are whole numbers of 32 bits.
    #[error("row {row}, column {column} is {value}, expected a whole number of 0 to 4294967295")]
    Value {
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// What is there.
        value: f64,
    },
    /// Our rows have no weights, only our classes do.
    #[error("the rows have weights, which this trainer does not use; weigh classes (class_weight)")]
    Weights,
}

impl ForestEstimator {
    /// The trainer for these features, with default parameters, on one thread.
    pub fn new(features: FeatureSet) -> Self {
        let params = ForestParams::default().check();
        ForestEstimator {
            features,
            params: params.expect("defaults are in range"),
            vote: VoteRule::F1,
            switch: SwitchContext::default(),
            threads: NonZeroUsize::MIN,
        }
    }

    /// With these parameters.
    #[must_use]
    pub fn with_params(self, params: CheckedForestParams) -> Self {
        ForestEstimator { params, ..self }
    }

    /// With the vote threshold chosen by this rule.
    #[must_use]
    pub fn with_vote(self, vote: VoteRule) -> Self {
        ForestEstimator { vote, ..self }
    }

    /// For this switch.
    #[must_use]
    pub fn with_switch(self, switch: SwitchContext) -> Self {
        ForestEstimator { switch, ..self }
    }

    /// On this many threads; the forest is the same with any number.
    #[must_use]
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        ForestEstimator { threads, ..self }
    }

    /// The rows as our trainer takes them.
    fn rows<F: Float>(
        &self,
        records: &ArrayBase<impl Data<Elem = F>, Ix2>,
        drop: &ArrayBase<impl Data<Elem = bool>, ndarray::Ix1>,
    ) -> Result<RunBatch, EstimatorError> {
        let expected = self.features.len();
        if records.ncols() != expected {
            return Err(EstimatorError::Columns { found: records.ncols(), expected });
        }
        let mut features = vec![Vec::with_capacity(records.nrows()); expected];
        for ((row, column), value) in records.indexed_iter() {
            let value = value.to_f64().unwrap_or(f64::NAN);
            if !(value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value)) {
                return Err(EstimatorError::Value { row, column, value });
            }
            features[column].push(value as u32);
        }
        let drop = drop.to_vec();
        let batch = LabelledBatch { features, drop, ..LabelledBatch::default() };
        Ok(RunBatch { run: 0, batch })
    }
}

impl<F: Float, D: Data<Elem = F>, T: AsSingleTargets<Elem = bool>>
    Fit<ArrayBase<D, Ix2>, T, EstimatorError> for ForestEstimator
{
    type Object = FittedForest;

    fn fit(
        &self,
        dataset: &DatasetBase<ArrayBase<D, Ix2>, T>,
    ) -> Result<FittedForest, EstimatorError> {
        if dataset.weights().is_some() {
            return Err(EstimatorError::Weights);
        }
        let rows = self.rows(&dataset.records, &dataset.as_single_targets())?;
        let task = FitTask {
            features: self.features.clone(),
            params: self.params.clone(),
            split: Split::None,
            vote: self.vote,
            switch: self.switch.clone(),
            data: Vec::new(),
            threads: self.threads,
        };
        let fitted = fit(std::slice::from_ref(&rows), &task)?;
        Ok(FittedForest { model: fitted.model })
    }
}

impl FittedForest {
    /// The model, to be written or exported. Its origin names no data.
    pub fn model(&self) -> &TrainedModel {
        &self.model
    }

    fn forest(&self) -> &Forest {
        &self.model.forest
    }
}

impl<F: Float, D: Data<Elem = F>> PredictInplace<ArrayBase<D, Ix2>, Array1<bool>> for FittedForest {
    /// Compares values as they are with the forest's thresholds: fractions are no obstacle.
    ///
    /// # Panics
    /// As linfa's do, if `records` has other rows than `drop` or not as many columns as features.
    fn predict_inplace(&self, records: &ArrayBase<D, Ix2>, drop: &mut Array1<bool>) {
        let features = self.forest().features.len();
        assert_eq!(records.nrows(), drop.len(), "as many rows as targets");
        assert_eq!(records.ncols(), features, "as many columns as features");
        let mut row = vec![0; features];
        for (values, drop) in records.rows().into_iter().zip(drop) {
            // `x <= t` and `floor(x) <= t` are the same for whole `t`. Casts stay in range.
            row.iter_mut().zip(values).for_each(|(slot, value)| {
                *slot = value.to_f64().unwrap_or(0.0).floor() as u32;
            });
            *drop = self.forest().predicts_drop(&row);
        }
    }

    fn default_target(&self, records: &ArrayBase<D, Ix2>) -> Array1<bool> {
        Array1::from_elem(records.nrows(), false)
    }
}
