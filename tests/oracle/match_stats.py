"""Computes statistics of matches with scipy, statsmodels and fishtest, and prints them as JSON.

    python3 match_stats.py FISHTEST > match_stats.expected.json

FISHTEST is the folder `server` of a checkout of https://github.com/official-stockfish/fishtest (its modules
fishtest.stats.LLRcalc and fishtest.stats.stat_util are imported; the rest of the package is not needed).
"""

import json
import math
import sys

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import power_proportions_2indep, proportion_confint

sys.path.insert(0, sys.argv[1])
from fishtest.stats import LLRcalc, stat_util  # noqa: E402

# wins, draws, losses: Takeuchi 2018, table 4, and others
GAMES = [[423, 8, 569], [409, 6, 585], [362, 34, 604], [306, 9, 685], [10, 3, 7], [5019, 15699, 5026], [52, 0, 48]]
# LL, LD, LW + DD, DW, WW; the first of fishtest's own examples
PAIRS = [[10789, 19328, 33806, 19402, 10543], [39, 2226, 31451, 2412, 40], [12, 90, 300, 120, 20], [0, 3, 20, 9, 1]]
BOUNDS = [[0.0, 5.0], [-3.0, 1.0], [0.5, 2.5]]


def row(w, d, l):
    frequencies = [l, d, w]
    elo, _, _ = stat_util.get_elo(frequencies)
    games, mu, var = stat_util.stats(LLRcalc.regularize(frequencies))
    half = stats.norm.ppf(0.975) * math.sqrt(var / games)
    low, high = proportion_confint(w + d / 2, w + d + l, method="wilson")
    return {
        "wdl": [w, d, l],
        "wilson": [low, high],
        "elo": elo,
        "elo_interval": [stat_util.elo(mu - half), stat_util.elo(mu + half)],
        "normalized_elo": (mu - 0.5) / math.sqrt(var) * LLRcalc.nelo_divided_by_nt,
        "los": stats.norm.cdf((w - l) / math.sqrt(w + l)),
        "sign_test": stats.binomtest(w, w + l).pvalue,
        "llr": [LLRcalc.LLR_logistic(a, b, frequencies) for a, b in BOUNDS],
        "llr_normalized": [LLRcalc.LLR_normalized(a, b, frequencies) for a, b in BOUNDS],
    }


def pair_row(counts):
    elo, _, los = stat_util.get_elo(counts)
    games, mu, var = stat_util.stats(LLRcalc.regularize(counts))
    half = stats.norm.ppf(0.975) * math.sqrt(var / games)
    return {
        "counts": counts,
        "elo": elo,
        "elo_interval": [stat_util.elo(mu - half), stat_util.elo(mu + half)],
        "normalized_elo": (mu - 0.5) / math.sqrt(var) * LLRcalc.nelo_divided_by_nt,
        "fishtest_los": los,
        "llr": [LLRcalc.LLR_logistic(a, b, counts) for a, b in BOUNDS],
        "llr_normalized": [LLRcalc.LLR_normalized(a, b, counts) for a, b in BOUNDS],
    }


def comparison(a, b):
    table = [[a[0], a[2]], [b[0], b[2]]]
    halves = [[r[0] + r[1] / 2, r[2] + r[1] / 2] for r in (a, b)]
    dropped = stats.chi2_contingency(table, correction=False)
    half = stats.chi2_contingency(halves, correction=False)
    points = [np.repeat([1.0, 0.5, 0.0], r) for r in (a, b)]
    difference = points[0].mean() - points[1].mean()
    # Newcombe 1998, method 10, with as many games without draws as have this variance
    games = [p.mean() * (1 - p.mean()) / p.var() * len(p) for p in points]
    wilson = [proportion_confint(p.mean() * n, n, method="wilson") for p, n in zip(points, games)]
    (low, high), (other_low, other_high) = ([abs(p.mean() - end) for end in w] for p, w in zip(points, wilson))
    return {
        "first": a,
        "second": b,
        "difference": difference,
        "interval": [difference - math.hypot(low, other_high), difference + math.hypot(high, other_low)],
        "chi_squared": dropped.statistic,
        "p": dropped.pvalue,
        "fisher": stats.fisher_exact(table).pvalue,
        "half_chi_squared": half.statistic,
        "half_p": half.pvalue,
    }


def power(p1, p2, n, alpha):
    # the null variance is that of the pooled rate, as in the test itself
    got = power_proportions_2indep(p1 - p2, p2, n, ratio=1, alpha=alpha, return_results=False)
    return {"first": p1, "second": p2, "games": n, "level": alpha, "power": float(got)}


pairs_of = [(0, 2), (1, 2), (0, 1), (2, 3), (4, 6), (5, 0)]
comparisons = [comparison(GAMES[i], GAMES[j]) for i, j in pairs_of]
raw = [c["p"] for c in comparisons[:3]]
document = {
    "bounds": BOUNDS,
    "games": [row(*g) for g in GAMES],
    "pairs": [pair_row(p) for p in PAIRS],
    "comparisons": comparisons,
    "corrections": {
        "p": raw,
        "bonferroni": list(multipletests(raw, method="bonferroni")[1]),
        "holm": list(multipletests(raw, method="holm")[1]),
    },
    "power": [power(0.427, 0.379, 1000, 0.05), power(0.427, 0.379, 1000, 0.05 / 3), power(0.55, 0.5, 400, 0.05)],
}
json.dump(document, sys.stdout, indent=1)
print()
