//! `model.json`: round trips, faults are refused, and the example on its page is true.

use dropcast_forest::ModelError;
use dropcast_runtime::DropOracle;
use dropcast_train::TrainedModel;

/// The example of the format's page.
fn example() -> &'static str {
    include_str!("../../../docs/programs/model.json")
}

fn fault(from: &str, to: &str) -> String {
    assert!(example().contains(from), "the example no longer has {from}");
    TrainedModel::from_json(&example().replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn the_documented_example_is_what_is_written() {
    let model = TrainedModel::from_json(example()).unwrap();
    assert_eq!(model.to_json(), example());
}

#[test]
fn the_documented_example_predicts_as_the_page_says() {
    let model = TrainedModel::from_json(example()).unwrap();
    assert_eq!(model.forest.score(&[60_000, 200_001]), 204 + 102);
    assert!(DropOracle::predicts_drop(&model.forest, &[60_000, 200_001]));
    assert!(!DropOracle::predicts_drop(&model.forest, &[60_000, 200_000]));
}

#[test]
fn its_metrics_follow_from_its_confusion_matrices() {
    let metrics = TrainedModel::from_json(example()).unwrap().metrics.unwrap();
    for part in [&metrics.train, metrics.test.as_ref().unwrap()] {
        let confusion = part.confusion;
        assert_eq!(part.rows, confusion.total());
        assert_eq!(part.drops, confusion.tp + confusion.fn_);
        assert_eq!(part.accuracy, confusion.accuracy());
        assert_eq!(part.precision, confusion.precision());
        assert_eq!(part.recall, confusion.recall());
        assert_eq!(part.f1, confusion.f1());
        assert_eq!(part.eta_bound, confusion.eta_bound(20));
    }
}

#[test]
fn another_version_is_refused_as_such_whatever_else_it_holds() {
    assert_eq!(
        fault("\"format_version\": 1", "\"format_version\": 4, \"new\": []"),
        "the model has format_version 4, but this dropcast reads 1; train or import it again"
    );
    assert_eq!(
        fault("\"format_version\": 1", "\"format_version\": \"1\""),
        "not a dropcast model: invalid type: string \"1\", expected a JSON number at line 2 column 23"
    );
    let other = TrainedModel::from_json("{\"trees\": []}").unwrap_err();
    assert!(matches!(other, ModelError::NoVersion), "{other}");
}

#[test]
fn texts_that_are_no_model_are_refused_with_their_place() {
    let torn = &example()[..example().len() / 2];
    let error = TrainedModel::from_json(torn).unwrap_err().to_string();
    assert!(error.starts_with("not a dropcast model: EOF while parsing"), "{error}");
    assert!(error.contains("at line "), "{error}");
    assert!(fault("\"weight\": 204", "\"weight\": 256").contains("invalid value: integer `256`"));
    assert!(fault("\"weight\": 204", "\"weight\": 0.8").contains("invalid type: floating point"));
    assert!(fault("\"provenance\"", "\"provenence\"").contains("unknown field `provenence`"));
    assert!(fault("\"n_estimators\": 2", "\"n_estimators\": 0").contains("expected 1 to 128"));
}

#[test]
fn unsound_forests_are_refused_with_their_place() {
    assert_eq!(
        fault("\"left\": 1", "\"left\": 0"),
        "the model's forest is not sound: tree 0: node 0 has child 0, expected a number above 0 and below 3"
    );
    assert_eq!(
        fault("\"left\": 1", "\"left\": 2"),
        "the model's forest is not sound: tree 0: node 1 is the child of 0 nodes, expected one"
    );
    assert_eq!(
        fault("{\"feature\": 0, \"threshold\"", "{\"feature\": 2, \"threshold\""),
        "the model's forest is not sound: tree 0: node 0 splits on feature 2, but there are only 2 (from 0)"
    );
}

#[test]
fn features_that_we_do_not_compute_as_described_are_refused() {
    assert!(
        fault("\"name\": \"occupancy\"", "\"name\": \"weather\"").contains("describes features")
    );
    let renamed = example().replace("\"occupancy\"", "\"weather\"");
    let error = TrainedModel::from_json(&renamed).unwrap_err().to_string();
    assert!(error.contains("unknown feature \"weather\""), "{error}");
    assert_eq!(
        fault("\"average\": \"ns3-trunc\"", "\"average\": \"shift\""),
        "the model's feature avg_queue_length has average shift, but this dropcast computes ns3-trunc"
    );
}

#[test]
fn all_features_have_a_range_or_none() {
    assert_eq!(
        fault("{\"lowest\": 0, \"highest\": 214310}", "null"),
        "the model's feature occupancy has no range, expected one from lowest to highest"
    );
    assert_eq!(
        fault("\"lowest\": 0, \"highest\": 214310", "\"lowest\": 214311, \"highest\": 214310"),
        "the model's feature occupancy has the range from 214311 to 214310, expected one from lowest to highest"
    );
    // A model of another tool has none.
    let model = TrainedModel::from_json(example()).unwrap();
    let elsewhere = TrainedModel { ranges: None, leaf_rows: None, metrics: None, ..model };
    assert_eq!(TrainedModel::from_json(&elsewhere.to_json()).unwrap(), elsewhere);
}

#[test]
fn rows_of_leaves_are_those_of_the_forest() {
    assert_eq!(
        fault("{\"rows\": 50, \"drops\": 40}", "{\"rows\": 50, \"drops\": 51}"),
        "the model's leaf_rows have 51 drops of 50 rows for tree 0, whose leaves are 2"
    );
    assert_eq!(
        fault(", {\"rows\": 100, \"drops\": 40}", ""),
        "the model's leaf_rows have 1 for tree 1, whose leaves are 2"
    );
}
