"""Computes split curves, shifts and the bootstrap over games with statsmodels, scipy and numpy, to check evalcurve.

    python splits.py SAMPLES.csv > splits.expected.json

The CSV is that of fits.py; mates are excluded. For each engine, split by phase (plies 30 to 89, 90 to 149, from 150)
and by ply >= 90:

- statsmodels' GLM with cov_type="cluster": logit p = w1 x - w2 + d_g + s_g x and the Wald tests of all d = s = 0 and of
  all s = 0; then logit p = w1 x - w2 + d_g and the shift d / w1 with its delta method interval;
- the bootstrap over games: game number i of resample r is floor(n · u / 2^64), with u from SplitMix64's finaliser over
  (seed, r, i), which is implemented again here. scipy fits each resample, and numpy.percentile gives the intervals of
  w1, of the win rate at +300, and of the mean result in the bin [0, 200).
"""

import json
import sys

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.optimize import least_squares
from scipy.special import expit

SCALE = 1000.0
Z_95 = 1.959963984540054
RESAMPLES = 200
SEED = 7

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
KEY = 0x626F6F7473747261


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def below(n, keys):
    state = GOLDEN
    for key in keys:
        state = mix(((state + GOLDEN) & MASK) ^ mix((key + GOLDEN) & MASK))
    return (state * n) >> 64


def glm(y, design, games):
    model = sm.GLM(y, design, family=sm.families.Binomial())
    return model.fit(tol=1e-14, maxiter=200, cov_type="cluster", cov_kwds={"groups": games})


def split(samples, column):
    levels = sorted(samples[column].unique())
    x = samples["score_cp"].to_numpy(dtype=float) / SCALE
    y = samples["result"].to_numpy(dtype=float)
    games = pd.factorize(samples["game"])[0]
    member = [(samples[column] == level).to_numpy(dtype=float) for level in levels[1:]]
    base = [x, -np.ones(len(x))]
    free = glm(y, np.column_stack(base + member + [m * x for m in member]), games)
    parallel = glm(y, np.column_stack(base + member), games)
    k = len(levels)

    def wald(columns):
        test = free.wald_test(np.eye(2 * k)[columns], use_f=False, scalar=True)
        return {"statistic": float(test.statistic), "df": len(columns), "p": float(test.pvalue)}

    shifts = []
    for j in range(2, k + 1):
        w1, d = parallel.params[0], parallel.params[j]
        v = parallel.cov_params()
        r = d / w1
        half = Z_95 * np.sqrt(v[j, j] - 2 * r * v[j, 0] + r * r * v[0, 0]) / w1
        shifts.append({"cp": SCALE * r, "low": SCALE * (r - half), "high": SCALE * (r + half)})
    return {
        "groups": [str(level) for level in levels],
        "any": wald(list(range(2, 2 * k))),
        "slopes": wald(list(range(k + 1, 2 * k))),
        "shifts": shifts,
    }


def fit_likelihood(x, y):
    design = np.column_stack([x, -np.ones(len(x))])
    w = np.zeros(2)
    for _ in range(60):
        p = expit(design @ w)
        step = np.linalg.solve((design * (p * (1 - p))[:, None]).T @ design, design.T @ (p - y))
        w = w - step
        if np.abs(step).max() < 1e-14:
            break
    return w


def fit_squares(x, y, start):
    design = np.column_stack([x, -np.ones(len(x))])
    residuals = lambda w: expit(design @ w) - y
    jacobian = lambda w: design * (expit(design @ w) * (1 - expit(design @ w)))[:, None]
    w = least_squares(residuals, start, jac=jacobian, method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    for _ in range(5):
        p = expit(design @ w)
        slope = p * (1 - p)
        first = 2 * (p - y) * slope
        second = 2 * slope**2 + 2 * (p - y) * slope * (1 - 2 * p)
        w = w - np.linalg.solve((design * second[:, None]).T @ design, design.T @ first)
    return w


def bootstrap(samples):
    x = samples["score_cp"].to_numpy(dtype=float) / SCALE
    y = samples["result"].to_numpy(dtype=float)
    codes, names = pd.factorize(samples["game"])
    rows = [np.flatnonzero(codes == game) for game in range(len(names))]
    whole = fit_likelihood(x, y)
    squares = fit_squares(x, y, whole)
    found = {"maximum_likelihood": [], "least_squares": []}
    in_bin = []
    for r in range(RESAMPLES):
        drawn = np.concatenate([rows[below(len(rows), [KEY ^ SEED, r, i])] for i in range(len(rows))])
        found["maximum_likelihood"].append(fit_likelihood(x[drawn], y[drawn]))
        found["least_squares"].append(fit_squares(x[drawn], y[drawn], squares))
        held = y[drawn][(x[drawn] >= 0) & (x[drawn] < 0.2)]
        if len(held):
            in_bin.append(held.mean())
    result = {"bin_0": np.percentile(in_bin, [2.5, 97.5]).tolist()}
    for method, curves in found.items():
        w = np.array(curves)
        result[method] = {
            "w1": np.percentile(w[:, 0] / SCALE, [2.5, 97.5]).tolist(),
            "w2": np.percentile(w[:, 1], [2.5, 97.5]).tolist(),
            # the order statistics of the logit, interpolated, then the win rate
            "win_rate_300": expit(np.percentile(0.3 * w[:, 0] - w[:, 1], [2.5, 97.5])).tolist(),
        }
    return result


def main(path):
    table = pd.read_csv(path, dtype={"game": str, "engine": str, "mate": str})
    table = table[~table["mate"].str.lower().isin(["1", "true"])].copy()
    table["phase"] = np.minimum((table["ply"] - 30) // 60, 2)
    table["ply >= 90"] = (table["ply"] >= 90).astype(int)
    result = {}
    for engine, samples in table.groupby("engine", sort=True):
        result[engine] = {
            "by": {column: split(samples, column) for column in ("phase", "ply >= 90")},
            "bootstrap": bootstrap(samples),
        }
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(sys.argv[1])
