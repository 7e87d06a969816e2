"""The estimator, by scikit-learn's own checks and in scikit-learn's tools."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.calibration import CalibrationDisplay
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import evalcurve
from evalcurve.sklearn import EvalCurve, neg_log_loss


class OfFirstFeature(EvalCurve):
    """Fits the first of several features: the checks give several, and EvalCurve itself refuses all but one."""

    def _check_features(self, X):
        pass

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # one feature of several does not tell classes apart well
        tags.classifier_tags.poor_score = True
        return tags


SEPARABLE = "the first feature of its data separates the classes, and a fit without a penalty has no finite slope there"
EXCEPTIONS = dict.fromkeys(
    [
        "check_classifiers_classes",
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit2d_1feature",
        "check_fit2d_predict1d",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_pipeline_consistency",
    ],
    SEPARABLE,
)


@parametrize_with_checks([OfFirstFeature()], expected_failed_checks=lambda _: EXCEPTIONS)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_what_the_exceptions_would_check(samples):
    scores, results, _ = samples
    X, y = scores[:, None], (results > 0).astype(int)
    curve = EvalCurve().fit(X, y)
    p = curve.predict_proba(X)
    assert np.array_equal(pickle.loads(pickle.dumps(curve)).predict_proba(X), p)
    assert np.array_equal(curve.predict_proba(X[100:200]), p[100:200])
    order = np.random.default_rng(1).permutation(len(y))
    assert np.array_equal(EvalCurve().fit(np.asfortranarray(X[order]), y[order]).predict_proba(X), p)
    assert np.array_equal(make_pipeline(EvalCurve()).fit(X, y).predict_proba(X), p)
    assert set(EvalCurve().fit(X, np.where(y == 1, "win", "loss")).predict(X)) == {"win", "loss"}
    with pytest.raises(ValueError, match="Expected 2D array|Reshape your data"):
        curve.predict_proba(0.0)


def test_a_falling_curve_is_warned_about(samples):
    scores, results, _ = samples
    with pytest.warns(evalcurve.EvalcurveWarning, match="higher scores win less often"):
        falling = EvalCurve().fit(-scores, results)
    assert falling.coef_ == -EvalCurve().fit(scores, results).coef_


def test_the_fit_is_that_of_the_package(samples):
    scores, results, games = samples
    curve = EvalCurve().fit(scores, results, groups=games)
    fit = evalcurve.fit(scores, results, games)
    assert (curve.coef_[0, 0], curve.intercept_[0]) == (fit.w1, -fit.w2)
    assert np.array_equal(curve.fit_.cov_params(), fit.cov_params())
    assert curve.predict_proba(scores[:5])[:, 1] == pytest.approx(fit.win_rate(scores[:5]))
    assert clone(curve).set_params(model="least_squares").fit(scores, results).coef_ != curve.coef_


def test_pawns_are_a_unit_like_any_other(samples):
    scores, results, games = samples
    pawns = EvalCurve().fit(scores / 100, results, groups=games)
    centipawns = EvalCurve().fit(scores, results, groups=games)
    assert pawns.coef_[0, 0] == pytest.approx(100 * centipawns.coef_[0, 0], rel=1e-9)
    assert pawns.intercept_ == pytest.approx(centipawns.intercept_, rel=1e-9)


@pytest.mark.parametrize("model", ["joint", "lapse", "isotonic", "wdl", "phase"])
def test_every_model_of_the_program_is_fitted(samples, model):
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    scores, results, games = samples
    frame = pandas.DataFrame({"score_cp": scores, "result": results, "ply": 1 + np.arange(len(scores)) % 90})
    columns = {"ply": frame["ply"]} if model == "phase" else None
    curve = EvalCurve(model=model).fit(frame["score_cp"], frame["result"], groups=games, columns=columns)
    assert curve.fit_.model == model
    p = curve.predict_proba(frame["score_cp"])[:, 1]
    # the truth of the samples; of wdl, that of equal players
    truth = 1 / (1 + np.exp(-scores / 400 + (0.0 if model == "wdl" else 0.3)))
    assert np.abs(p - truth).mean() < 0.03
    table = {"engine": ["engine"] * len(scores), "score_cp": scores, "result": results, "game": games.astype(str)}
    if model == "phase":
        table["ply"] = frame["ply"]
    (found,) = evalcurve.calibrate(table, model=model, min_samples=3, bands=0).values()
    assert p == pytest.approx(found.calibration.win_rate(scores, field=True), abs=1e-9)


def test_a_series_is_a_column(samples):
    pandas = pytest.importorskip("pandas")
    scores, results, _ = samples
    curve = EvalCurve().fit(pandas.Series(scores), pandas.Series(results))
    assert curve.coef_ == EvalCurve().fit(scores, results).coef_
    assert np.array_equal(curve.predict_proba(pandas.Series(scores)), curve.predict_proba(list(scores)))
    with pytest.raises(evalcurve.EvalcurveError, match="invalid value 'magic' for"):
        EvalCurve(model="magic").fit(scores, results)


def test_it_is_cross_validated_and_displayed(samples):
    scores, results, games = samples
    kept = results != 0.5
    X, y, games = scores[kept, None], results[kept].astype(int), games[kept]
    p = cross_val_predict(EvalCurve(), X, y, groups=games, cv=GroupKFold(5), method="predict_proba")
    assert p.shape == (len(y), 2) and p.sum(axis=1) == pytest.approx(1)
    losses = cross_val_score(EvalCurve(), X, y, groups=games, cv=GroupKFold(5), scoring="neg_log_loss")
    # the entropy of a fair coin is 0.693
    assert (losses > -0.69).all()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    display = CalibrationDisplay.from_estimator(EvalCurve().fit(X, y), X, y, n_bins=10)
    assert display.prob_true == pytest.approx(display.prob_pred, abs=0.05)


def test_what_it_refuses():
    with pytest.raises(ValueError, match="takes one, the score"):
        EvalCurve().fit(np.zeros((4, 2)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="3 classes"):
        EvalCurve().fit(np.arange(6), [0, 1, 2, 0, 1, 2])
    with pytest.raises(evalcurve.EvalcurveError, match="a single score separates the wins from the losses"):
        EvalCurve().fit(np.arange(6), [0, 0, 0, 1, 1, 1])


@pytest.fixture(scope="module")
def by_phase():
    """Scores that mean more late in a game: w1 is 1/900 at ply 0 and 1/300 at ply 150."""
    random = np.random.default_rng(3)
    games = np.repeat(np.arange(1500), 3)
    ply = random.integers(1, 150, len(games))
    scores = np.round(random.normal(0, 500, len(games)))
    p = 1 / (1 + np.exp(-scores * (1 / 900 + ply / 150 * (1 / 300 - 1 / 900))))
    result = np.where(random.random(len(games)) < 0.1, 0.5, (random.random(len(games)) < p).astype(float))
    return {"score_cp": scores, "ply": ply}, result, games


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_has_the_covariates(by_phase, library):
    frames = pytest.importorskip(library)
    columns, result, games = by_phase
    X = frames.DataFrame(columns)
    curve = EvalCurve(model="phase").fit(X, result, groups=games)
    assert curve.n_features_in_ == 2 and list(curve.feature_names_in_) == ["score_cp", "ply"]
    p = curve.predict_proba(frames.DataFrame({"score_cp": [300, 300], "ply": [20, 140]}))[:, 1]
    assert (
        p == pytest.approx(curve.fit_.win_rate(300, ply=np.array([20, 140]), field=True), abs=1e-9)
        and p[1] - p[0] > 0.05
    )
    # the same with the columns apart
    old = EvalCurve(model="phase").fit(columns["score_cp"], result, groups=games, columns={"ply": columns["ply"]})
    assert old.fit_ == curve.fit_
    # the plain model takes the score alone
    plain = EvalCurve().fit(X, result)
    assert plain.coef_ == EvalCurve().fit(columns["score_cp"], result).coef_
    with pytest.raises(ValueError, match="'elo' is none of them"):
        EvalCurve().fit(frames.DataFrame({**columns, "elo": columns["ply"]}), result)
    with pytest.raises(ValueError, match="there is no score"):
        EvalCurve().fit(frames.DataFrame({"ply": columns["ply"], "material": columns["ply"]}), result)
    with pytest.raises(ValueError, match="feature names"):
        curve.predict_proba(frames.DataFrame({"score_cp": [300], "material": [20]}))
    with pytest.raises(ValueError, match="NaN"):
        curve.predict_proba(frames.DataFrame({"score_cp": [float("nan")], "ply": [20]}))


def test_ratings_and_opponents_are_covariates(games):
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    table = evalcurve.sample(games, mate_threshold="auto").to_pandas()
    table = table[(table["engine"] == "sekirei") & ~table["mate"]]
    X = table[["score_cp", "opponent"]]
    curve = EvalCurve(model="joint").fit(X, table["result"], groups=table["game"])
    p = curve.predict_proba(pandas.DataFrame({"score_cp": [0, 0], "opponent": ["zshogi", "nobody"]}))[:, 1]
    assert p == pytest.approx(curve.fit_.forecast({"score_cp": [0, 0], "opponent": ["zshogi", "nobody"]}))


def test_models_are_compared_with_their_covariates(by_phase):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    columns, result, games = by_phase
    X = pandas.DataFrame(columns)
    grid = {"model": ["maximum_likelihood", "phase"]}
    search = GridSearchCV(EvalCurve(), grid, scoring=neg_log_loss, cv=GroupKFold(5)).fit(X, result, groups=games)
    plain, phase = search.cv_results_["mean_test_score"]
    assert search.best_params_ == {"model": "phase"} and phase - plain > 0.004
    # without ply the models are one
    alone = GridSearchCV(
        EvalCurve(), {"model": ["maximum_likelihood", "lapse"]}, scoring=neg_log_loss, cv=GroupKFold(5)
    )
    scores = alone.fit(X[["score_cp"]], result, groups=games).cv_results_["mean_test_score"]
    assert scores[0] == pytest.approx(plain) and scores[1] == pytest.approx(plain, abs=0.003)


def test_draws_have_a_log_loss(samples):
    scores, results, games = samples
    curve = EvalCurve().fit(scores, results)
    p = curve.predict_proba(scores)[:, 1]
    expected = (results * np.log(p) + (1 - results) * np.log1p(-p)).mean()
    assert neg_log_loss(curve, scores, results) == pytest.approx(expected)
    losses = cross_val_score(
        EvalCurve(), scores[:, None], results, groups=games, cv=GroupKFold(3), scoring=neg_log_loss
    )
    assert np.isfinite(losses).all() and losses.mean() == pytest.approx(expected, abs=0.01)
    words = EvalCurve().fit(scores[results != 0.5], np.where(results[results != 0.5] == 1, "won", "lost"))
    assert neg_log_loss(words, scores[:2], np.array(["won", "lost"])) == pytest.approx(
        np.log([words.predict_proba(scores[:1])[0, 1], words.predict_proba(scores[1:2])[0, 0]]).mean()
    )


@pytest.mark.parametrize("model", ["maximum_likelihood", "least_squares", "lapse"])
def test_weights_are_repetitions(samples, model):
    pytest.importorskip("pyarrow")
    scores, results, games = samples
    weights = np.random.default_rng(2).integers(0, 4, len(scores))
    weighted = EvalCurve(model=model).fit(scores, results, groups=games, sample_weight=weights)
    at = np.repeat(np.arange(len(scores)), weights)
    repeated = EvalCurve(model=model).fit(scores[at], results[at], groups=games[at])
    assert np.array_equal(weighted.fit_.params, repeated.fit_.params)
    assert np.array_equal(weighted.fit_.cov_params(), repeated.fit_.cov_params())
    with pytest.raises(ValueError, match="no whole number"):
        EvalCurve(model=model).fit(scores, results, sample_weight=weights + 0.5)


def test_metadata_is_routed(by_phase):
    import sklearn

    pandas = pytest.importorskip("pandas")
    columns, result, games = by_phase
    X = pandas.DataFrame(columns)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = EvalCurve().set_fit_request(groups=True, sample_weight=True)
        weights = np.ones(len(result), int)
        found = sklearn.model_selection.cross_validate(
            make_pipeline(estimator),
            X,
            result,
            cv=GroupKFold(3),
            scoring=neg_log_loss,
            return_estimator=True,
            params={"groups": games, "sample_weight": weights},
        )
    assert [len(np.unique(games)) * 2 // 3] * 3 == [one[-1].fit_.games for one in found["estimator"]]
