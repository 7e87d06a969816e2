"""The model of benches/simulation.rs in numpy and scipy: three engines, two candidates, the same six rules.

    python3 -m venv venv && venv/bin/pip install numpy scipy
    venv/bin/python benches/simulation_peer.py [--threads N]

Runs `cargo bench --bench simulation` first, unless its output is on standard input (--stdin), and prints the ratio.
"""

import subprocess
import sys
import time

import numpy as np
from scipy.special import log_ndtr

NOISE = np.array([1.0, 1.5, 1.5])
GAP = 1.0
BATCH = 200_000


def trials(rng, n):
    """Rates of best moves: singles, majority (leader, drawn), optimistic, pessimistic, optimal (A known, estimated)."""
    seen = rng.standard_normal((n, 3, 2)) * NOISE[:, None]
    seen[:, :, 1] -= GAP
    move = seen.argmax(axis=2)
    value = seen.max(axis=2)
    right = move == 0
    votes = right.sum(axis=1)
    row = np.arange(n)
    majority = votes >= 2
    # three voters and two moves never tie, but a general program checks
    counts = np.stack([votes, 3 - votes], axis=1)
    tied = counts == counts.max(axis=1, keepdims=True)
    leader = np.where(tied[row, move[:, 0]], move[:, 0], tied.argmax(axis=1)) == 0
    drawn = (rng.random((n, 2)) * tied).argmax(axis=1) == 0
    optimistic = right[row, value.argmax(axis=1)]
    pessimistic = right[row, value.argmin(axis=1)]

    def optimal(best):
        x = (value - best) / NOISE
        step = GAP / NOISE
        ratio = step * (x + 0.5 * step) + log_ndtr(x + step) - log_ndtr(x)
        return np.where(right, ratio, 0).sum(axis=1) > np.where(right, 0, ratio).sum(axis=1)

    different = 1 + ((votes > 0) & (votes < 3))
    estimated = (different - 1) / different * GAP + value.mean(axis=1)
    found = [right[:, 0], right[:, 1], leader, drawn, optimistic, pessimistic, optimal(0.0), optimal(estimated[:, None])]
    assert (leader == majority).all()
    return np.array([r.sum() for r in found])


def main():
    if "--stdin" in sys.argv:
        ours = sys.stdin.read()
    else:
        extra = sys.argv[1:]
        ours = subprocess.run(
            ["cargo", "bench", "--bench", "simulation", "--"] + extra, stdout=subprocess.PIPE, text=True, check=True
        ).stdout
    print(ours, end="")
    rng = np.random.default_rng(1)
    trials(rng, BATCH)
    fastest = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        sums = sum(trials(rng, BATCH) for _ in range(5))
        fastest = min(fastest, time.perf_counter() - start)
    rate = 5 * BATCH / fastest / 1e6
    print("numpy rates:", np.round(sums / (5 * BATCH), 4))
    print(f"numpy: {rate:.2f} million trials a second")
    line = next(l for l in ours.splitlines() if l.startswith("simulation engines 3 candidates 2:"))
    print(f"ratio: {float(line.split(':')[1].split()[0]) / rate:.1f}")


main()
