//! A report small enough to work out by hand.

#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod tiny;

use dropcast_data::RowOrder;
use dropcast_measure::{Gain, ModelSource, PredictionSection, ReportBuilder};
use dropcast_pipeline::ReportError;

#[test]
fn numbers_worked_by_hand() {
    let report = tiny::report(RowOrder::Arrival);
    // Rows and scores are listed in `tiny`: the model predicts a drop from queue length 3 on.
    let counts = report.prediction.confusion;
    assert_eq!((counts.tp, counts.fp, counts.tn, counts.fn_), (2, 1, 6, 1));
    assert_eq!(report.prediction.accuracy, Some(0.8));
    assert_eq!(report.prediction.precision, Some(2.0 / 3.0));
    assert_eq!(report.prediction.recall, Some(2.0 / 3.0));
    assert_eq!(report.prediction.f1, Some(4.0 / 6.0));
    assert_eq!(report.labels.drop_share, Some(0.3));
    assert_eq!((report.labels.pushed_out, report.labels.rejected), (Some(2), Some(1)));
    // Scores 200 (1 drop of 1), 100 (1 of 2), 0 (1 of 7): 1/3 * 1 + 1/3 * 2/3 + 1/3 * 3/10.
    let average_precision = report.curve.average_precision.unwrap();
    assert!((average_precision - (1.0 + 2.0 / 3.0 + 0.3) / 3.0).abs() < 1e-12);
    let thresholds: Vec<u32> = report.curve.points.iter().map(|p| p.vote_threshold).collect();
    assert_eq!(thresholds, [0, 100, 200]);
    assert_eq!(report.curve.points[2].precision, None, "nothing scores above 200");
    assert_eq!(report.features[0].dropped.rows, 3);
    assert_eq!(report.features[0].dropped.max, Some(5));
}

#[test]
fn the_replay_counts_every_arrival() {
    let report = tiny::report(RowOrder::Arrival);
    let replay = report.replay.expect("arrival order is replayed");
    let total = &replay.total;
    assert_eq!(total.arrived.packets, 10);
    assert_eq!(total.confusion, report.prediction.confusion);
    assert_eq!(total.lqd_agreement.confusion.total(), 10);
    assert_eq!(total.eta.bound, total.confusion.eta_bound(2), "two ports");
    let lqd = total.policies[0].sent;
    assert_eq!(lqd, total.eta.lqd);
    let kept = 10 - total.confusion.tp - total.confusion.fp;
    assert!(total.eta.follow_lqd.packets <= kept);
    assert_eq!(replay.switches.len(), 1);
    assert_eq!(&replay.switches[0].results, total);
}

#[test]
fn the_gain_is_the_difference_of_what_is_transmitted() {
    let report = tiny::report(RowOrder::Arrival);
    let gain = report.gain.expect("arrival order is replayed");
    // LQD 8 packets of 12 bytes, Credence 8 of 10; the others are in the golden text of reports/.
    assert_eq!((gain.lqd.packets, gain.lqd.bytes), (8, 12));
    assert_eq!(gain.follow_lqd, Gain { packets: -1, bytes: -2 });
    assert_eq!(gain.complete_sharing, Gain { packets: -1, bytes: -2 });
    let mut model = tiny::model();
    // No score is above the highest: the model never predicts a drop.
    model.forest.vote_threshold = 255;
    let mut builder = ReportBuilder::new("test", &model, ModelSource::default());
    builder.begin_trace(tiny::source(RowOrder::Arrival)).unwrap();
    builder.add(&tiny::batch()).unwrap();
    let gain = builder.finish().gain.expect("replayed");
    assert_eq!(gain.always_accept, Gain { packets: 0, bytes: 0 });
}

#[test]
fn a_model_without_provenance_does_not_say_what_it_was_trained_on() {
    assert!(!tiny::report(RowOrder::Arrival).model.training_rows_known);
}

#[test]
fn rows_in_order_of_departure_are_scored_but_not_replayed() {
    let arrival = tiny::report(RowOrder::Arrival);
    let report = tiny::report(RowOrder::Departure);
    let scores = PredictionSection { intervals: None, ..arrival.prediction };
    assert!(arrival.prediction.intervals.is_some() && report.prediction == scores);
    assert_eq!((report.replay, report.gain), (None, None));
    assert!(report.replay_omitted.as_ref().unwrap().contains("order of departure"));
}

#[test]
fn undefined_numbers_are_null() {
    let model = tiny::model();
    let mut builder = ReportBuilder::new("test", &model, ModelSource::default());
    builder.begin_trace(tiny::source(RowOrder::Arrival)).unwrap();
    let report = builder.finish();
    let json = serde_json::to_value(&report).unwrap();
    for field in ["accuracy", "precision", "recall", "f1"] {
        assert!(json["prediction"][field].is_null(), "{field}");
    }
    assert!(json["curve"]["average_precision"].is_null());
    assert!(json["curve"]["best_f1"].is_null());
    assert!(json["labels"]["drop_share"].is_null());
    assert!(json["features"][0]["dropped"]["mean"].is_null());
    assert!(json["replay"].is_null() && json["gain"].is_null());
    assert_eq!(json["replay_omitted"], "there are no arrivals");
}

#[test]
fn tables_of_the_forest_are_counted() {
    let report = tiny::leaf::report();
    let resources = report.resources.as_ref().expect("it can be exported");
    assert_eq!(report.resources_omitted, None);
    // Each tree splits by occupancy once and by queue length once, always at 40.
    let counted: Vec<(&str, usize, usize)> = resources
        .features
        .iter()
        .map(|feature| (feature.feature.as_str(), feature.thresholds, feature.code_bits))
        .collect();
    assert_eq!(counted, [("queue_length", 1, 3), ("occupancy", 3, 3)]);
    assert!(resources.trees.iter().all(|tree| (tree.key_bits, tree.ternary_entries) == (2, 3)));
    let names: Vec<&str> = resources.encodings.iter().map(|of| of.name.as_ref()).collect();
    assert_eq!(names, ["dropcast", "Flowrest", "Planter (encode-based)", "NetBeacon"]);
}

#[test]
fn a_forest_that_cannot_be_exported_has_a_report_without_tables() {
    let mut model = tiny::model();
    model.forest.trees.clear();
    let mut builder = ReportBuilder::new("test", &model, ModelSource::default());
    builder.begin_trace(tiny::source(RowOrder::Arrival)).unwrap();
    let report = builder.finish();
    assert_eq!(report.resources, None);
    assert!(report.resources_omitted.is_some());
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let model = tiny::model();
    let mut builder = ReportBuilder::new("test", &model, ModelSource::default());
    assert_eq!(builder.add(&tiny::batch()), Err(ReportError::NoTrace));

    let mut lacking = tiny::source(RowOrder::Arrival);
    lacking.columns = vec!["occupancy".to_owned()];
    let error = builder.begin_trace(lacking).unwrap_err();
    assert_eq!(
        error.to_string(),
        "trace tiny.parquet has no feature queue_length, which the model needs; it has occupancy"
    );

    builder.begin_trace(tiny::source(RowOrder::Arrival)).unwrap();
    let mut uneven = tiny::batch();
    uneven.features[0].pop();
    let error = builder.add(&uneven).unwrap_err();
    assert_eq!(error.to_string(), "trace tiny.parquet: a batch of 10 rows has a column of 9");

    let mut backwards = tiny::batch();
    backwards.arrivals.as_mut().unwrap().time_ns[3] = 0;
    backwards.arrivals.as_mut().unwrap().time_ns[2] = 9;
    let error = builder.add(&backwards).unwrap_err();
    assert!(error.to_string().starts_with("trace tiny.parquet, row 3: "), "{error}");
}

#[test]
fn batches_may_be_cut_anywhere() {
    let whole = tiny::report(RowOrder::Arrival);
    let model = tiny::model();
    let mut builder = ReportBuilder::new("dropcast test", &model, tiny::model_source());
    builder.begin_trace(tiny::source(RowOrder::Arrival)).unwrap();
    for batch in tiny::single_rows() {
        builder.add(&batch).unwrap();
    }
    builder.end_trace(tiny::input());
    assert_eq!(builder.finish(), whole);
}
