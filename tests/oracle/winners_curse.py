#!/usr/bin/env python3
"""Best-move rates of councils in the model of LFICS 2016-12: the table in docs/rules.md.

The best move is worth 0, the others -d with d = 1. Voter i sees each value with normal noise s_i and votes for the move
with the largest. With probability sigma the third voter copies the second's vote. 400,000 trials per row. Needs numpy
and scipy.
"""

import numpy as np
from scipy.stats import norm

TRIALS, D = 400_000, 1.0
ROWS = [(3, (1, 1, 1), 0), (2, (1, 1.5, 1.5), 0), (3, (1, 1.5, 1.5), 0), (3, (1, 2, 2), 0), (3, (1, 1.5, 1.5), 0.5)]


def rates(rng, n, s, sigma):
    s = np.array(s, float)
    truth = np.full(n, -D)
    truth[0] = 0
    values = truth + rng.normal(size=(TRIALS, len(s), n)) * s[:, None]
    copies = rng.random(TRIALS) < sigma
    values[copies, 2] = values[copies, 1]
    move, v = values.argmax(2), values.max(2)

    def rate(score):
        return (move[np.arange(TRIALS), score.argmax(1)] == 0).mean()

    same = move[:, :, None] == move[:, None, :]
    out = {"strongest": (move[:, 0] == 0).mean()}
    out["majority"] = rate(same.sum(2) + np.eye(len(s))[0] * 0.1)  # ties to the leader, who is first
    out["optimistic"] = rate(v)
    plain = v.mean(1, keepdims=True)
    precise = (v / s**2).sum(1, keepdims=True) / (1 / s**2).sum()
    shrunk = [rate(mu + (v - mu) * t * t / (t * t + s**2)) for mu in (plain, precise) for t in (0.25, 0.5, 1, 2)]
    out["shrunk, best"] = max(shrunk)
    for c in (1, 2):
        out[f"bound, c = {c}"] = rate(v - c * s)
    order = np.sort(move, 1)
    k = 1 + (order[:, 1:] != order[:, :-1]).sum(1)
    a = ((k - 1) / k * D)[:, None] + plain
    x = (v - a) / s
    y = x + D / s
    ratio = (y * y - x * x) / 2 + norm.logcdf(y) - norm.logcdf(x)
    out["optimal, A estimated"] = rate((same * ratio[:, None, :]).sum(2))
    return out


generator = np.random.default_rng(1)
for n, s, sigma in ROWS:
    print(f"{n}; {', '.join(map(str, s))}; {sigma}:", ", ".join(f"{k} {v:.3f}" for k, v in rates(generator, n, s, sigma).items()))
