"""The same sigmoid from evalcurve, statsmodels, scikit-learn and betacal: coefficients and seconds.

    python benches/python_peers.py [SAMPLES ...]

Scores are normal with standard deviation 600, results follow a sigmoid with 1/w1 = 400, and five samples share a game.
Each fit is run five times in turn with the others; printed is the median. statsmodels and evalcurve compute standard
errors clustered by game, scikit-learn none, betacal a calibration of evalcurve's win rates. The packages must be
installed.
"""

import statistics
import sys
import time

import evalcurve
import numpy as np
import statsmodels.api as sm
from betacal import BetaCalibration
from sklearn.linear_model import LogisticRegression


def fits(scores, results, games):
    x = scores / 1000
    design = np.column_stack([x, np.ones(len(x))])

    def ours():
        fit = evalcurve.fit(scores, results, games)
        return fit.w1, fit.w2, fit.bse[0]

    def statsmodels():
        options = {"cov_type": "cluster", "cov_kwds": {"groups": games}}
        fit = sm.Logit(results, design).fit(disp=False, tol=1e-12, **options)
        return fit.params[0] / 1000, -fit.params[1], fit.bse[0] / 1000

    def scikit_learn():
        fit = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(x[:, None], results)
        return fit.coef_[0, 0] / 1000, -fit.intercept_[0], None

    rates = evalcurve.fit(scores, results).win_rate(scores).reshape(-1, 1)

    def betacal():
        BetaCalibration(parameters="abm").fit(rates, results)
        return None, None, None

    return {"evalcurve": ours, "statsmodels Logit": statsmodels, "scikit-learn": scikit_learn, "betacal": betacal}


def main(sizes):
    print("samples  fit                seconds  w1        w2       standard error of w1")
    for size in sizes:
        random = np.random.default_rng(1)
        scores = np.rint(random.normal(0, 600, size)).astype(np.int32)
        results = (random.random(size) < 1 / (1 + np.exp(-scores / 400))).astype(float)
        games = np.arange(size) // 5
        ways = fits(scores, results, games)
        seconds = {name: [] for name in ways}
        found = {}
        for _ in range(5):
            for name, way in ways.items():
                began = time.perf_counter()
                found[name] = way()
                seconds[name].append(time.perf_counter() - began)
        for name, (w1, w2, error) in found.items():
            shown = [f"{value:.6f}" if value is not None else "–" for value in (w1, w2, error)]
            print(f"{size:<8} {name:<18} {statistics.median(seconds[name]):<8.4f} {shown[0]:<9} {shown[1]:<8} {shown[2]}")


main([int(size) for size in sys.argv[1:]] or [10_000, 100_000, 1_000_000])
