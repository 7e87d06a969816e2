"""Computes the other models and the proper scores with statsmodels and scikit-learn, to check evalcurve's own.

    python models.py SAMPLES.csv > EXPECTED.json

The CSV is that of fits.py. For each engine, with mates excluded, the script prints the phase-dependent sigmoid, isotonic
regression, and the proper scores of the forecasts 1/(1 + exp(-score/600)).

statsmodels' Logit accepts results of 0.5. scikit-learn gets such a sample twice, as a win and as a loss with half the
weight. No tool computes the CORP parts and the debiased calibration error: the script combines the first from
scikit-learn's isotonic regression and Brier score, and computes the second itself. Standard errors of means are those of
a regression on a constant, clustered by game.
"""

import json
import sys
import warnings

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.special import expit, log_expit
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss


def logit(design, y, games):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = sm.Logit(y, design).fit(
            disp=0, method="newton", maxiter=200, tol=1e-14, cov_type="cluster", cov_kwds={"groups": games})
    z = design @ np.asarray(fit.params)
    # llf of statsmodels takes a result of 0.5 as log(1/2)
    return np.asarray(fit.params), np.asarray(fit.cov_params()), np.mean(-y * log_expit(z) - (1 - y) * log_expit(-z))


def fit(design, scale, y, games):
    params, cov, loss = logit(design, y, games)
    scale = np.asarray(scale)
    return {"parameters": list(params / scale), "covariance": (cov / np.outer(scale, scale)).tolist(), "mean_loss": loss}


def halves(values, y):
    """Every sample as a win of weight y and a loss of weight 1 - y."""
    twice = np.concatenate([values, values])
    return twice, np.repeat([1, 0], len(y)), np.concatenate([y, 1 - y])


def mean(values, games):
    fit = sm.OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": games})
    return {"value": float(fit.params[0]), "standard_error": float(fit.bse[0])}


def calibration_error(p, y, games):
    """Over 15 quantile bins: mean square of the bins' mean residuals, less what chance adds, by the games' sums."""
    z, n = np.sort(p), len(p)
    edges = [z[j * (n - 1) // 15] for j in range(1, 15)]
    bins = np.searchsorted(edges, p, side="left")
    square = chance = 0.0
    for b in np.unique(bins):
        here = bins == b
        r = (y - p)[here]
        square += r.sum() ** 2 / len(r) / n
        sums = pd.Series(r - r.mean()).groupby(games[here]).sum()
        if len(sums) > 1:
            chance += len(sums) / (len(sums) - 1) * (sums**2).sum() / len(r) / n
    return float(np.sqrt(max(0.0, square - chance))), float(square), float(chance)


def main():
    samples = pd.read_csv(sys.argv[1])
    out = {}
    for engine, t in samples[samples["mate"] == 0].groupby("engine"):
        x, y, games = t["score_cp"].to_numpy() / 1000.0, t["result"].to_numpy(float), t["game"].to_numpy()
        one = np.ones(len(x))
        plies = t["ply"].to_numpy()
        low, high = np.sort(plies)[[int(0.01 * len(plies)), len(plies) - 1 - int(0.01 * len(plies))]]
        within = np.clip(plies, low, high).astype(float)
        middle = within.mean()
        found = {
            "phase": fit(np.column_stack([x, -one, x * (within - middle) / 100]), [1000, 1, 100000], y, games),
        }
        found["phase"].update(from_ply=int(low), to_ply=int(high), middle_ply=middle)
        xx, yy, ww = halves(x, y)
        keep = ww > 0
        pav = IsotonicRegression().fit(xx[keep], yy[keep], sample_weight=ww[keep])
        found["isotonic"] = [float(v) for v in pav.predict(x)]

        p = expit(x / 0.6)
        pp, yy, ww = halves(p, y)
        keep = ww > 0
        pp, yy, ww = pp[keep], yy[keep], ww[keep]
        recalibrated = IsotonicRegression().fit(pp, yy, sample_weight=ww).predict(pp)
        brier = brier_score_loss(yy, pp, sample_weight=ww)
        best = brier_score_loss(yy, recalibrated, sample_weight=ww)
        uncertainty = brier_score_loss(yy, np.full(len(yy), y.mean()), sample_weight=ww)
        params, cov, _ = logit(np.column_stack([x / 0.6, one]), y, games)
        term = (y - p) * (1 - 2 * p)
        by_game = pd.Series(term).groupby(games).sum()
        ece, square, chance = calibration_error(p, y, games)
        found["scores"] = {
            "log_loss": log_loss(yy, pp, sample_weight=ww),
            "log_loss_mean": mean(-y * log_expit(x / 0.6) - (1 - y) * log_expit(-x / 0.6), games),
            "brier": brier,
            "brier_mean": mean(y * (1 - p) ** 2 + (1 - y) * p**2, games),
            "miscalibration": brier - best,
            "discrimination": uncertainty - best,
            "uncertainty": uncertainty,
            "slope": [params[0], np.sqrt(cov[0, 0])],
            "intercept": [params[1], np.sqrt(cov[1, 1])],
            "ece": ece, "ece_square": square, "ece_chance": chance,
            "spiegelhalter_z": term.sum() / np.sqrt(((1 - 2 * p) ** 2 * p * (1 - p)).sum()),
            "spiegelhalter_z_clustered": term.sum() / np.sqrt((by_game**2).sum()),
        }
        out[engine] = found
    json.dump(out, sys.stdout, indent=1)
    print()


main()
