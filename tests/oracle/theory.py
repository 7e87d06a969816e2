"""Checks evalcurve-lab by other means: scipy's quadrature for single engines, enumeration of moves for councils.

    venv/bin/python theory.py > theory.expected.json
"""

import itertools
import json

from scipy.integrate import quad
from scipy.stats import binom, norm


def best_move_rate(noise, candidates, gap):
    """Probability that the best of n moves has the largest value: integral of phi(x) Phi(x + d/s)^(n-1)."""
    value, _ = quad(lambda x: norm.pdf(x) * norm.cdf(x + gap / noise) ** (candidates - 1), -12, 12, epsabs=1e-13, limit=200)
    return value


def majority(rates, candidates):
    """Probability that the council plays move 0: ties to the first voter in order, and drawn."""
    leader = drawn = 0.0
    for moves in itertools.product(range(candidates), repeat=len(rates)):
        p = 1.0
        for rate, move in zip(rates, moves):
            p *= rate if move == 0 else (1 - rate) / (candidates - 1)
        votes = {m: moves.count(m) for m in moves}
        tied = [m for m in votes if votes[m] == max(votes.values())]
        leader += p * (next(m for m in moves if m in tied) == 0)
        drawn += p * ((0 in tied) / len(tied))
    return [leader, drawn]


singles = [(1.0, 2, 1.0), (1.5, 2, 1.0), (1.0, 3, 1.0), (1.5, 3, 1.0), (0.3, 8, 0.5), (2.0, 30, 1.0)]
councils = [([1.0, 1.5, 1.5], 2), ([1.0, 1.5, 1.5], 3), ([1.0, 2.0, 2.0, 2.0, 1.2], 4)]
print(
    json.dumps(
        {
            "best_move_rate": [
                {"noise": s, "candidates": n, "gap": d, "rate": best_move_rate(s, n, d)} for s, n, d in singles
            ],
            "majority": [
                {"noise": noise, "candidates": n, "leader_drawn": majority([best_move_rate(s, n, 1.0) for s in noise], n)}
                for noise, n in councils
            ],
            "binomial": binom.sf(4, 9, 0.6),
        },
        indent=1,
    )
)
