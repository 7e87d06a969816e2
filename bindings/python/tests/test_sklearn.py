"""The estimator, by scikit-learn's own checks and in scikit-learn's tools."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.calibration import CalibrationDisplay
from sklearn.model_selection import GroupKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import evalcurve
from evalcurve.sklearn import EvalCurve



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
