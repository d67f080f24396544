//! Untrainable inputs are refused with a reason.

use crate::support::{self, task};
use dropcast_train::{BatchSource, Batches, ForestParams, RunBatch, Split, fit};
use std::slice::from_ref;

/// A source that cannot be read to the end.
struct Broken;

impl BatchSource for Broken {
    type Error = std::io::Error;

    fn batches(&self) -> Result<Batches<'_, std::io::Error>, std::io::Error> {
        let torn = std::io::Error::other("the file is torn");
        Ok(Box::new([Ok(support::run_of(1, &[(vec![1], true)])), Err(torn)].into_iter()))
    }
}

#[test]
fn what_cannot_be_trained_on_says_why() {
    let default = || ForestParams::default().check().unwrap();
    let fault = |batches: &[RunBatch], split: Split| {
        fit(batches, &task(2, default(), split)).unwrap_err().to_string()
    };
    let row = |drop| (vec![1, 2], drop);
    let calm = support::run_of(1, &[row(false), row(false)]);
    let mixed = support::run_of(1, &[row(false), row(false), row(false), row(true)]);
    assert_eq!(fault(&[], Split::None), "no rows to train on: the labelled data is empty");
    assert_eq!(
        fault(from_ref(&mixed), Split::Runs { test: vec![1], validation: vec![] }),
        "no rows to train on: the split keeps all 4 rows for testing"
    );
    assert!(fault(&[calm], Split::None).starts_with("none of the 2 training rows is a drop"));
    assert!(fault(from_ref(&mixed), Split::time()).starts_with("none of the 2 training rows"));
    let calm_later = [mixed.clone(), support::run_of(2, &[row(false), row(false)])];
    let validated = Split::Runs { test: vec![], validation: vec![2] };
    assert!(fault(&calm_later, validated).starts_with("none of the 2 validation rows is a drop"));
    let apart = Split::Runs { test: vec![7], validation: vec![] };
    assert!(fault(from_ref(&mixed), apart).starts_with("there are no test rows"));
    let lost = support::run_of(3, &[row(true)]);
    assert!(fault(&[lost], Split::None).starts_with("all 1 training rows are drops"));
    let mut timeless = mixed.clone();
    timeless.batch.arrivals = None;
    assert!(fault(&[timeless], Split::time_blocks()).contains("needs arrival times"));
    let mut short = mixed;
    short.batch.features[1].pop();
    assert!(fault(&[short], Split::None).starts_with("run 1: a batch has 2 feature columns"));

    let error = fit(&Broken, &task(1, default(), Split::None)).unwrap_err();
    let source = std::error::Error::source(&error).map(ToString::to_string);
    assert_eq!(source.as_deref(), Some("the file is torn"));
}
