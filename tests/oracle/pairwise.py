"""Compares engines with statsmodels and pandas, to check evalcurve's own table and tests.

    python pairwise.py SAMPLES.csv > EXPECTED.json

The CSV is that of fits.py, with mates excluded. One Logit holds a slope and an offset for each engine. Its covariance is
clustered by game (cov_type="cluster"), so engines that met in a game are not treated as independent. The script prints
the Wald tests of equal slopes and of equal slopes and offsets, for all engines and for each pair. It prints the score
of one engine that is equivalent to SCORE of another, with its interval by the delta method (numeric gradient), and the
scale mismatch of the raw scores, computed with pandas.
"""

import json
import sys

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.optimize import approx_fprime
from scipy.stats import norm

SCALE = 1000.0
SCORE = 200.0


def wald(fit, engines, pairs, parameters):
    """Of equal parameters (0: slope, 1: offset) of the two engines of each pair."""
    contrasts = []
    for a, b in pairs:
        for i in parameters:
            row = np.zeros(2 * len(engines))
            row[2 * a + i], row[2 * b + i] = 1.0, -1.0
            contrasts.append(row)
    test = fit.wald_test(np.array(contrasts), use_f=False, scalar=True)
    return {"statistic": float(test.statistic), "df": len(contrasts), "p": float(test.pvalue)}


def mismatch(table):
    """M^2 of the raw scores over 20 quantile bins, cells of fewer than 5 samples left out."""
    edges = np.quantile(table["score_cp"], np.arange(1, 20) / 20, method="lower")
    bins = np.searchsorted(edges, table["score_cp"], side="left")
    weighted, total = 0.0, 0
    for _, of_bin in table.groupby(bins):
        sizes = of_bin.groupby("engine")["result"].transform("size")
        used = of_bin[sizes >= 5]
        if used.empty:
            continue
        n, mean, variance = len(used), used["result"].mean(), used["result"].var(ddof=1)
        cells = used.groupby("engine")["result"].agg(["size", "mean"])
        excess = (cells["mean"] - mean) ** 2 - variance * (1 / cells["size"] - 1 / n)
        weighted += (cells["size"] * excess).sum()
        total += n
    return {"m_squared": weighted / total, "samples": total}


def main(path):
    table = pd.read_csv(path, dtype={"game": str, "engine": str, "mate": str})
    table = table[~table["mate"].str.lower().isin(["1", "true"])].reset_index(drop=True)
    engines = sorted(table["engine"].unique())
    # the engines of the invented samples never met: let the n-th game of one be the n-th of the others
    table["game"] = table.groupby("engine")["game"].transform(lambda games: pd.factorize(games)[0])
    design = np.zeros((len(table), 2 * len(engines)))
    for e, engine in enumerate(engines):
        of_engine = (table["engine"] == engine).to_numpy()
        design[of_engine, 2 * e] = table.loc[of_engine, "score_cp"] / SCALE
        design[of_engine, 2 * e + 1] = -1.0
    options = dict(cov_type="cluster", cov_kwds={"groups": pd.factorize(table["game"])[0]})
    fit = sm.Logit(table["result"].to_numpy(dtype=float), design).fit(
        start_params=np.zeros(2 * len(engines)), method="newton", tol=1e-14, maxiter=200, disp=0, **options
    )
    others = [(e, 0) for e in range(1, len(engines))]
    pairs = [(a, b) for a in range(len(engines)) for b in range(a + 1, len(engines))]
    result = {
        "engines": engines,
        "games": int(table["game"].nunique()),
        "equal_slopes": wald(fit, engines, others, [0]),
        "equal_curves": wald(fit, engines, others, [0, 1]),
        "pairs": [
            {
                "first": a,
                "second": b,
                "equal_slopes": wald(fit, engines, [(a, b)], [0]),
                "equal_curves": wald(fit, engines, [(a, b)], [0, 1]),
            }
            for a, b in pairs
        ],
        "raw_mismatch": mismatch(table),
    }
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(sys.argv[1])
