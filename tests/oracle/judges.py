"""Compares forecasts of engines on the same positions with statsmodels and scipy, to check evalcurve's tests.

    python judges.py judges.csv > judges.expected.json

Writes judges.csv: generated logits of four engines at one to three positions of each game, with the result. One
engine sees another's logits with more noise, so that a stack does without it. Engines are in the order of their log
losses. The script prints the differences of mean log loss of each pair with its standard error clustered by game
(statsmodels, OLS on a constant), p with Holm's correction (statsmodels), the weights of the stack (scipy, L-BFGS-B with
bounds, then Newton's method on the weights that are not 0), and partial correlations of win rates and results by
residuals of OLS.
"""

import json
import sys

import numpy as np
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests


def generate(path):
    random = np.random.default_rng(35)
    rows = []
    for game in range(400):
        truth = 2 * random.standard_normal()
        win = 1 / (1 + np.exp(-truth))
        result = 0.5 if random.random() < 0.1 else float(random.random() < win)
        for _ in range(random.integers(1, 4)):
            first, second, fourth = truth + np.array([1.0, 1.3, 1.8]) * random.standard_normal(3)
            third = first + 1.4 * random.standard_normal()
            rows.append([game, result, 0.8 * first + 0.1, 0.7 * second, 0.6 * third, 0.6 * fourth])
    table = np.round(np.array(rows), 6)
    loss = [np.mean(losses(logit, table[:, 1])) for logit in table[:, 2:].T]
    table[:, 2:] = table[:, 2:][:, np.argsort(loss)]
    with open(path, "w") as file:
        print("game,result,A,B,C,D", file=file)
        for row in table:
            print(f"{int(row[0])},{row[1]:g}," + ",".join(f"{x:.6f}" for x in row[2:]), file=file)
    return table[:, 0].astype(int), table[:, 1], table[:, 2:]


def losses(logit, result):
    return result * np.logaddexp(0, -logit) + (1 - result) * np.logaddexp(0, logit)


def pair(a, b, games, result, logits):
    difference = losses(logits[:, b], result) - losses(logits[:, a], result)
    options = dict(cov_type="cluster", cov_kwds={"groups": games})
    fit = sm.OLS(difference, np.ones(len(difference))).fit(**options)
    value, error = fit.params[0], fit.bse[0]
    return {"difference": value, "standard_error": error, "p": 2 * norm.sf(abs(value / error))}


def stack(result, logits):
    design = np.c_[logits, np.ones(len(logits))]
    loss = lambda at: np.mean(losses(design @ at, result))
    slope = lambda at: design.T @ (1 / (1 + np.exp(-design @ at)) - result) / len(result)
    bounds = [(0, None)] * logits.shape[1] + [(None, None)]
    found = minimize(loss, np.r_[np.full(logits.shape[1], 0.3), 0.0], jac=slope, bounds=bounds, method="L-BFGS-B",
                     options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10000})
    free = (found.x > 0) | (np.arange(len(found.x)) == logits.shape[1])
    at = np.where(free, found.x, 0.0)
    at[free] = sm.Logit(result, design[:, free]).fit(start_params=at[free], method="newton", tol=1e-14, disp=0).params
    # the conditions of a minimum with bounds
    assert (at[:-1] >= 0).all() and (slope(at)[~free] > 0).all() and np.abs(slope(at)[free]).max() < 1e-12
    return at[:-1].tolist(), at[-1]


def partial(first, second, given, columns):
    def left(column):
        design = np.c_[columns[:, given], np.ones(len(columns))]
        return sm.OLS(columns[:, column], design).fit().resid

    value = np.corrcoef(left(first), left(second))[0, 1]
    return {"first": first, "second": second, "given": given, "value": value}


def main(path):
    games, result, logits = generate(path)
    k = logits.shape[1]
    pairs = [pair(a, b, games, result, logits) for a in range(k) for b in range(a + 1, k)]
    for one, p in zip(pairs, multipletests([one["p"] for one in pairs], method="holm")[1]):
        one["p_holm"] = p
    weights, constant = stack(result, logits)
    columns = np.c_[1 / (1 + np.exp(-logits)), result]
    others = lambda *out: [e for e in range(k) if e not in out]
    both = [(a, b) for a in range(k) for b in range(a + 1, k)]
    correlations = [partial(a, b, given, columns) for a, b in both for given in ([], others(a, b))]
    correlations += [partial(e, k, others(e), columns) for e in range(k)]
    found = {"pairs": pairs, "weights": weights, "constant": constant, "correlations": correlations}
    json.dump(found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(sys.argv[1])
