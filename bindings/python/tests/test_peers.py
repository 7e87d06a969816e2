"""The same numbers from statsmodels, scikit-learn and betacal."""

import numpy as np
import pytest

import evalcurve


def without_draws(samples):
    scores, results, games = samples
    kept = results != 0.5
    return scores[kept], results[kept], games[kept]


def test_statsmodels_has_the_same_clustered_covariance(samples):
    statsmodels = pytest.importorskip("statsmodels.api")
    scores, results, games = without_draws(samples)
    fit = evalcurve.fit(scores, results, games)
    # scores in thousands, so that its Newton steps converge to the last digit
    design = np.column_stack([scores / 1000, np.ones(len(scores))])
    theirs = statsmodels.Logit(results, design).fit(
        disp=False, method="newton", tol=1e-14, maxiter=100, cov_type="cluster", cov_kwds={"groups": games}
    )
    unit = np.array([1000.0, 1.0])
    assert [fit.w1, -fit.w2] == pytest.approx(theirs.params / unit, rel=1e-9)
    signs = np.array([[1, -1], [-1, 1]])
    assert fit.cov_params() * signs == pytest.approx(theirs.cov_params() / np.outer(unit, unit), rel=1e-8)
    assert (fit.nobs, fit.games) == (len(scores), len(np.unique(games)))


def test_draws_are_half_a_win_as_in_a_binomial_model(samples):
    statsmodels = pytest.importorskip("statsmodels.api")
    scores, results, games = samples
    fit = evalcurve.fit(scores, results, games)
    design = np.column_stack([scores / 1000, np.ones(len(scores))])
    theirs = statsmodels.GLM(results, design, family=statsmodels.families.Binomial()).fit(tol=1e-14)
    assert [1000 * fit.w1, -fit.w2] == pytest.approx(theirs.params, rel=1e-8)


def test_scikit_learn_without_a_penalty_has_the_same_curve(samples):
    linear_model = pytest.importorskip("sklearn.linear_model")
    scores, results, _ = without_draws(samples)
    fit = evalcurve.fit(scores, results)
    theirs = linear_model.LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(scores[:, None] / 1000, results)
    assert 1000 * fit.w1 == pytest.approx(theirs.coef_[0, 0], rel=1e-5)
    assert -fit.w2 == pytest.approx(theirs.intercept_[0], rel=1e-4)


def test_beta_calibration_of_the_forecasts_changes_nothing(samples):
    betacal = pytest.importorskip("betacal")
    scores, results, _ = without_draws(samples)
    fit = evalcurve.fit(scores, results)
    p = fit.win_rate(scores)
    again = betacal.BetaCalibration(parameters="am").fit(p.reshape(-1, 1), results).predict(p)
    assert again == pytest.approx(p, abs=0.01)


def test_least_squares_is_scipys(samples):
    optimize = pytest.importorskip("scipy.optimize")
    scores, results, games = samples
    fit = evalcurve.fit(scores, results, games, method="least_squares")
    residuals = lambda w: 1 / (1 + np.exp(-w[0] * scores / 1000 + w[1])) - results
    theirs = optimize.least_squares(residuals, [1, 0], xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert [1000 * fit.w1, fit.w2] == pytest.approx(theirs.x, rel=1e-6)


def test_what_a_fit_refuses():
    for scores, results, words in [
        ([1, 2], [1, 0], "2 sample.s., a fit needs 30"),
        ([1, 2, 3], [1, 0], "3 scores, 2 results and 3 groups"),
        ([1, float("nan")], [1, 0], "score 1 is NaN: give centipawns"),
        ([1, 2], [1, 0.3], "result 1 is 0.3: give 1, 0.5 or 0"),
    ]:
        with pytest.raises(evalcurve.EvalcurveError, match=words):
            evalcurve.fit(scores, results)
    with pytest.raises(evalcurve.EvalcurveError, match="'magic' is not a method"):
        evalcurve.fit([1], [1], method="magic")
