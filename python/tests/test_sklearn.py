"""dropcast's classifier in scikit-learn, and scikit-learn's forests in dropcast."""

import pickle

import numpy as np
import pytest
from needs import needed

import dropcast
from dropcast._settings import settings_names

sklearn = needed("sklearn")

from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import (  # noqa: E402
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from dropcast.sklearn import EXPECTED_FAILED_CHECKS, DropcastClassifier  # noqa: E402

FEATURES = ["queue_length", "occupancy", "longest_queue", "rank"]


@pytest.fixture(scope="module")
def rows():
    """Rows of integers, small and large, and labels that depend on them."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, [1_000_000, 2**32, 3_000, 40], size=(8_000, 4), dtype=np.uint64)
    chance = X[:, 0] / 1e6 + (X[:, 3] > 20) + rng.random(len(X)) / 3
    y = (chance > 1.2) ^ (rng.random(len(X)) < 0.05)
    return X.astype(np.uint32), y.astype(int)


@pytest.mark.filterwarnings("ignore")
def test_check_estimator():
    found = check_estimator(
        DropcastClassifier(), expected_failed_checks=EXPECTED_FAILED_CHECKS, on_fail=None
    )
    failed = {of["check_name"]: of["exception"] for of in found if of["status"] == "failed"}
    assert not failed
    # A reason for a check that passes is no reason.
    expected = {of["check_name"] for of in found if of["status"] == "xfail"}
    assert expected == set(EXPECTED_FAILED_CHECKS)


def test_a_class_weight_counts_where_leaves_have_rows_enough(rows):
    """What the expected failure of check_class_weight_classifiers is about."""
    X, y = rows
    forest = DropcastClassifier(class_weight={0: 1000, 1: 0.0001}, min_samples_leaf=1000)
    assert forest.fit(X, y).predict(X).mean() < 0.13


def test_parameters_are_the_commands_settings():
    given = DropcastClassifier(9, max_depth=2, bootstrap=False)
    assert given.get_params() == {
        **DropcastClassifier().get_params(), "n_estimators": 9, "max_depth": 2, "bootstrap": False
    }
    assert repr(sklearn.base.clone(given)) == "DropcastClassifier(bootstrap=False, max_depth=2, n_estimators=9)"
    with pytest.raises(TypeError, match="unexpected keyword argument 'depth'"):
        DropcastClassifier(depth=2)
    names = {"no_bootstrap": "bootstrap", "seed": "random_state"}
    has = {names.get(name, name) for name in settings_names()["train"]} | {"n_jobs"}
    lacks = {"trainer", "monotone", "seeds", "budget", "refit_leaves", *settings_names()["split"]}
    assert set(given.get_params()) == has - lacks


@pytest.mark.parametrize("seed", range(6))
def test_a_weight_is_how_often_a_row_is_there(rows, seed):
    X, y = rows
    rng = np.random.default_rng(seed)
    some = rng.choice(len(X), size=500, replace=False)
    X, y, weights = X[some], y[some], rng.integers(0, 5, size=500)
    settings = {"bootstrap": bool(seed % 2), "random_state": seed, "class_weight": [None, "balanced"][seed % 2]}
    weighted = DropcastClassifier(**settings).fit(X, y, sample_weight=weights)
    repeated = DropcastClassifier(**settings).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted._model == repeated._model
    assert weighted._model != DropcastClassifier(**settings).fit(X, y)._model


def test_weights_are_whole_numbers(rows):
    X, y = rows
    for weights in [0.5, -1.0]:
        with pytest.raises(dropcast.InputError, match=f"sample_weight: {weights} is no whole number"):
            DropcastClassifier().fit(X, y, sample_weight=np.full(len(X), weights))


def test_importances_are_shares_of_the_gini_decrease(rows):
    X, y = rows
    fitted = DropcastClassifier(max_depth=6).fit(X, y)
    theirs = RandomForestClassifier(4, max_depth=6, random_state=1).fit(X, y).feature_importances_
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    assert np.abs(fitted.feature_importances_ - theirs).max() < 0.15
    constant = DropcastClassifier().fit(np.zeros_like(X), y)
    assert (constant.feature_importances_ == 0).all()


@pytest.mark.parametrize("scale", [1, -0.37])
def test_trees_as_arrays_give_the_scores(rows, scale):
    X, y = rows
    X = (X * scale).astype(np.uint32 if scale == 1 else np.float32)
    X[::7, 1] = 0
    fitted = DropcastClassifier(3, max_depth=5).fit(X, y)
    shares = np.zeros(len(X))
    for tree in (of.tree_ for of in fitted.estimators_):
        for row, at in enumerate(np.zeros(len(X), dtype=int)):
            while tree.children_left[at] != -1:
                is_left = X[row, tree.feature[at]] <= tree.threshold[at]
                at = tree.children_left[at] if is_left else tree.children_right[at]
            shares[row] += tree.value[at, 0, 1] / 3
    assert np.abs(shares - fitted.predict_proba(X)[:, 1]).max() < 1e-12
    assert len(np.unique(shares)) > 10
    means = np.mean([of.predict_proba(X) for of in fitted.estimators_], axis=0)
    assert np.abs(means - fitted.predict_proba(X)).max() < 1e-12


def test_thresholds_of_floats_are_between_them():
    X = np.array([[-1.5], [-1e-45], [-0.0], [0.0], [1e-45], [np.float32(2.5)]], dtype=np.float32)
    for below in range(1, len(X)):
        y = np.arange(len(X)) >= below
        if below == 3:
            continue  # -0 and 0 are one number
        fitted = DropcastClassifier(1, max_depth=3, max_features=None, bootstrap=False).fit(X, y)
        (tree,) = fitted.estimators_
        assert (tree.predict_proba(X) == fitted.predict_proba(X)).all()
        assert (fitted.predict(X) == y).all()


@pytest.mark.filterwarnings("ignore:the model never predicts")
def test_rare_drops_are_ranked_as_by_scikit_learn():
    found = np.array([_areas_under_roc(seed) for seed in range(3)]).mean(axis=0)
    ours, theirs, rounded = found
    assert theirs > 0.85
    assert abs(ours - theirs) < 0.02
    assert ours > rounded + 0.1


def _areas_under_roc(seed):
    """Of our shares, of scikit-learn's and of our scores: expected on rows whose chance to be dropped is known."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 1_000_000, size=(400_000, 4)).astype(np.uint32)
    chance = 4e-3 * (X[:, 0] / 1e6) ** 8 * (1 - X[:, 2] / 1e6) ** 2
    y = rng.random(len(X)) < chance
    assert 5e-5 < y.mean() < 2e-4
    trains = np.arange(len(X)) % 2 == 0
    ours = DropcastClassifier(16, random_state=1).fit(X[trains], y[trains])
    theirs = RandomForestClassifier(16, max_depth=4, random_state=1).fit(X[trains], y[trains])
    X, chance = X[~trains], chance[~trains]
    classes, weights = np.repeat([1, 0], len(X)), np.concatenate([chance, 1 - chance])
    ranks = [of.predict_proba(X)[:, 1] for of in (ours, theirs)] + [ours._model.scores(X)]
    assert (pickle.loads(pickle.dumps(ours)).predict_proba(X)[:, 1] == ranks[0]).all()
    return [roc_auc_score(classes, np.tile(of, 2), sample_weight=weights) for of in ranks]


def test_columns_without_names_may_fall():
    X = np.arange(1000).reshape(-1, 1)
    for y in [X[:, 0] > 300, X[:, 0] < 300]:
        assert (DropcastClassifier().fit(X, y).predict(X) == y).mean() > 0.99


def test_more_columns_than_there_are_features(rows):
    X, y = rows
    wide = np.column_stack([np.zeros((len(X), 30), dtype=np.uint32), X])
    settings = {"max_features": None, "n_estimators": 2, "bootstrap": False}
    narrow = DropcastClassifier(**settings).fit(X, y)
    fitted = DropcastClassifier(**settings).fit(wide, y)
    assert (fitted.predict(wide) == narrow.predict(X)).all()
    assert (pickle.loads(pickle.dumps(fitted)).predict(wide) == fitted.predict(wide)).all()


def test_it_works_in_a_pipeline_and_a_search(rows):
    X, y = rows
    pipeline = make_pipeline(StandardScaler(), DropcastClassifier())
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.8
    search = GridSearchCV(DropcastClassifier(), {"n_estimators": [1, 4], "max_depth": [1, 4]}, cv=3)
    search.fit(X, y)
    assert search.best_params_["max_depth"] == 4 and search.best_score_ > 0.85


def test_it_trains_the_model_of_the_pipeline(trace):
    pa = needed("pyarrow")
    table = pa.table(trace)
    names = ["queue_length", "occupancy"]
    X = np.column_stack([np.array(table[name]) for name in names])
    y = np.array(table["drop"])
    fitted = DropcastClassifier(features=names, vote="f1", max_features=None).fit(X, y)
    rows = table.select([*names, "drop"]).replace_schema_metadata(None)
    model = dropcast.train(
        rows, features=names, split="none", vote="f1", max_features="all", seed=1
    )
    assert fitted.to_model().to_dict()["forest"]["features"] == names
    assert (fitted.predict(X) == model.predict(X)).mean() > 0.999
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict(X) == fitted.predict(X)).all()


def test_a_model_of_unnamed_columns_is_refused(rows):
    X, y = rows
    with pytest.raises(dropcast.InputError, match="which features the columns are is not known"):
        DropcastClassifier().fit(X, y).to_model()
    scaled = StandardScaler().fit_transform(X)
    fitted = DropcastClassifier(features=FEATURES).fit(scaled, y)
    with pytest.raises(dropcast.InputError, match="no 32-bit integers"):
        fitted.to_model()


def test_floats_are_decided_on_in_their_order(rows):
    """On a scale of floats, negative ones too, nearly the same rows go the same way: which of 255
    quantiles is a threshold depends on the scale."""
    X, y = rows
    X = X % 4_000_000  # Exact as 32-bit floats.
    whole = DropcastClassifier(random_state=3).fit(X, y)
    shifted = DropcastClassifier(random_state=3).fit(X.astype(float) - 0.5, y)
    assert (whole.predict(X) == shifted.predict(X.astype(float) - 0.5)).mean() > 0.95
    # Numbers between integers go where the trees' comparison sends them.
    assert (whole.predict(X + 0.25) == whole.predict(X)).all()
    assert (whole.predict(X * 0.0 - 5) == whole.predict(X * 0)).all()


SCALERS = [
    (),
    (StandardScaler(),),
    (MinMaxScaler(),),
    (MinMaxScaler(feature_range=(-3, 7), clip=True),),
    (MaxAbsScaler(),),
    (RobustScaler(),),
    (StandardScaler(), MinMaxScaler()),
]
FORESTS = [
    DecisionTreeClassifier(max_depth=8, random_state=1),
    RandomForestClassifier(n_estimators=5, max_depth=5, random_state=1, min_samples_leaf=40),
    RandomForestClassifier(n_estimators=2, max_depth=8, random_state=1, class_weight="balanced"),
    ExtraTreesClassifier(n_estimators=3, max_depth=6, random_state=1),
]


@pytest.mark.parametrize("scalers", SCALERS, ids=lambda of: "-".join(type(s).__name__ for s in of))
@pytest.mark.parametrize("forest", FORESTS, ids=lambda of: type(of).__name__)
def test_scalers_and_forests_become_integer_trees(rows, scalers, forest):
    X, y = rows
    pipeline = make_pipeline(*scalers, sklearn.base.clone(forest)).fit(X, y)
    model = dropcast.from_sklearn(pipeline, features=FEATURES, allow_rounding=True)
    agreement = model.to_dict()["imported"]["agreement"]
    # Rows that distinguish neighbours of every threshold, and random ones.
    rng = np.random.default_rng(9)
    tests = [X, rng.integers(0, 2**32, size=(5_000, 4), dtype=np.uint64)]
    splits = [
        node["split"]
        for tree in model.to_dict()["forest"]["trees"]
        for node in tree["nodes"]
        if "split" in node
    ]
    assert splits
    for split in splits:
        for value in (split["threshold"], split["threshold"] + 1):
            near = X[:50].astype(np.uint64)
            near[:, split["feature"]] = value
            tests.append(near)
    for test in tests:
        test = np.minimum(test, 2**32 - 1).astype(np.uint32)
        wrong = model.predict(test) != pipeline.predict(test).astype(bool)
        if agreement["differing"] == 0:
            assert not wrong.any()
        else:
            assert wrong.mean() < 0.01


def test_single_trees_are_proven(rows):
    X, y = rows
    tree = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=7)).fit(X, y)
    model = dropcast.from_sklearn(tree, features=FEATURES)
    assert model.to_dict()["imported"]["agreement"]["differing"] == 0
    assert (model.predict(X) == tree.predict(X).astype(bool)).all()


def test_frames_name_the_features(rows):
    pd = needed("pandas")
    X, y = rows
    forest = DecisionTreeClassifier(max_depth=3).fit(pd.DataFrame(X, columns=FEATURES), y)
    assert dropcast.from_sklearn(forest).features == FEATURES


def test_what_is_not_imported_is_named(rows):
    X, y = rows
    for estimator, says in [
        (LogisticRegression(), "LogisticRegression is not imported, expected one of Random"),
        (make_pipeline(Normalizer(), DecisionTreeClassifier(max_depth=2)), "Normalizer is not fold"),
    ]:
        fitted = estimator.fit(X, y)
        with pytest.raises(dropcast.InputError, match=says):
            dropcast.from_sklearn(fitted, features=FEATURES)
    three = DecisionTreeClassifier(max_depth=2).fit(X, np.arange(len(X)) % 3)
    with pytest.raises(dropcast.InputError, match="has classes"):
        dropcast.from_sklearn(three, features=FEATURES)


def test_boosters_in_memory(rows):
    lightgbm, xgboost = needed("lightgbm"), needed("xgboost")
    X, y = rows
    settings = {"n_estimators": 4, "max_depth": 3, "random_state": 1}
    of_lightgbm = lightgbm.LGBMClassifier(**settings, verbose=-1).fit(X, y)
    of_xgboost = xgboost.XGBClassifier(**settings).fit(X, y)
    for model, theirs in [
        (dropcast.from_lightgbm(of_lightgbm, features=FEATURES, allow_rounding=True), of_lightgbm),
        (
            dropcast.from_lightgbm(
                of_lightgbm.booster_, features=FEATURES, allow_rounding=True
            ),
            of_lightgbm,
        ),
        (dropcast.from_xgboost(of_xgboost, features=FEATURES, allow_rounding=True), of_xgboost),
    ]:
        assert (model.predict(X) == theirs.predict(X).astype(bool)).mean() > 0.999
    data = bytes(of_xgboost.get_booster().save_raw("json"))
    again = dropcast.import_forest(data, features=FEATURES, allow_rounding=True)
    assert again.to_dict()["forest"] == model.to_dict()["forest"]
