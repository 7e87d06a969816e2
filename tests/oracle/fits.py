"""Fits p(x) = 1/(1 + exp(-w1 x + w2)) with scipy and statsmodels, to check evalcurve's own fits.

    python fits.py SAMPLES.csv > EXPECTED.json

The CSV needs the columns game, engine, score_cp, mate (0/1 or false/true) and result (1, 0.5 or 0). For each
engine, with mates excluded and kept, the script prints w1, w2 and the covariance of (w1, w2) clustered by game.

Maximum likelihood is statsmodels' Logit with cov_type="cluster", which accepts results of 0.5. Least squares is
scipy's least_squares. scipy has no clustered covariance, so the script computes it below, with the full Hessian. The
same code computes the covariance of the likelihood, which is compared with statsmodels' Logit and with GLM of the
binomial family.
"""

import json
import sys
import warnings

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.optimize import least_squares
from scipy.special import expit

SCALE = 1000.0  # centipawns per unit of x, so that both parameters have the same order of magnitude


def sandwich(design, first, second, games):
    """c A^-1 B A^-1 from the first and second derivatives of each sample's loss by its logit."""
    n, k = design.shape
    bread = np.linalg.inv((design * second[:, None]).T @ design)
    scores = pd.DataFrame(design * first[:, None]).groupby(games).sum().to_numpy()
    groups = len(scores)
    c = groups / (groups - 1) * (n - 1) / (n - k)
    return c * bread @ (scores.T @ scores) @ bread


def unscale(parameters, covariance):
    scale = np.array([1.0 / SCALE, 1.0])
    return parameters * scale, covariance * np.outer(scale, scale)


def by_likelihood(design, y, games):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = dict(cov_type="cluster", cov_kwds={"groups": games})
        start = [0.0, 0.0]
        fit = sm.Logit(y, design).fit(start_params=start, method="newton", tol=1e-14, maxiter=200, disp=0, **options)
        glm = sm.GLM(y, design, family=sm.families.Binomial()).fit(tol=1e-14, maxiter=200, **options)
    p = expit(design @ fit.params)
    by_hand = sandwich(design, p - y, p * (1 - p), games)
    np.testing.assert_allclose(fit.cov_params(), by_hand, rtol=1e-7)
    if np.isfinite(glm.cov_params()).all():
        np.testing.assert_allclose(fit.params, glm.params, rtol=1e-7)
        np.testing.assert_allclose(fit.cov_params(), glm.cov_params(), rtol=1e-6)
    else:
        # mates of a million centipawns have a win rate of exactly 1, by which GLM divides
        print("no second opinion by GLM: it gives no numbers for these scores", file=sys.stderr)
    loss = -np.mean(y * np.log(p) + (1 - y) * np.log1p(-p)) if ((0 < p) & (p < 1)).all() else None
    return fit.params, fit.cov_params(), loss


def by_least_squares(design, y, games, starts):
    def residuals(w):
        return expit(design @ w) - y

    def jacobian(w):
        p = expit(design @ w)
        return design * (p * (1 - p))[:, None]

    fits = [
        least_squares(residuals, start, jac=jacobian, method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15)
        for start in starts
    ]
    w = min(fits, key=lambda fit: fit.cost).x
    for _ in range(5):  # Newton, since least_squares stops a few digits early
        first, second = derivatives(design @ w, y)
        w = w - np.linalg.solve((design * second[:, None]).T @ design, design.T @ first)
    first, second = derivatives(design @ w, y)
    return w, sandwich(design, first, second, games), np.mean(residuals(w) ** 2)


def derivatives(z, y):
    """First and second derivative of (p - y)^2 by z; the second with the residual term."""
    p = expit(z)
    slope = p * (1 - p)
    return 2 * (p - y) * slope, 2 * slope**2 + 2 * (p - y) * slope * (1 - 2 * p)


def report(w, covariance, loss):
    w, covariance = unscale(np.asarray(w), np.asarray(covariance))
    return {"w1": w[0], "w2": w[1], "covariance": covariance.tolist(), "mean_loss": loss}


def fits(samples):
    y = samples["result"].to_numpy(dtype=float)
    games = pd.factorize(samples["game"])[0]
    # logit = a x - b
    design = np.column_stack([samples["score_cp"].to_numpy(dtype=float) / SCALE, -np.ones(len(samples))])
    likelihood = by_likelihood(design, y, games)
    starts = [likelihood[0]] + [[SCALE / ponanza, 0.0] for ponanza in (150.0, 600.0, 1200.0)]
    squares = by_least_squares(design, y, games, starts)
    return {
        "samples": len(samples),
        "games": int(samples["game"].nunique()),
        "maximum_likelihood": report(*likelihood),
        "least_squares": report(*squares),
    }


def main(path):
    table = pd.read_csv(path, dtype={"game": str, "engine": str, "mate": str})
    is_mate = table["mate"].str.lower().isin(["1", "true"])
    result = {}
    for engine in sorted(table["engine"].unique()):
        of_engine = table["engine"] == engine
        result[engine] = {
            "mates_excluded": fits(table[of_engine & ~is_mate]),
            "mates_kept": fits(table[of_engine]),
        }
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(sys.argv[1])
