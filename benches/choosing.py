#!/usr/bin/env python3
"""Does more than weights tell which of the voted moves is best? Features of the position and of the judges, out of fold.

    zstd -dk data/experiments/learned-weights/*.zst
    python3 benches/choosing.py data/experiments/learned-weights/shogi.jsonl --teacher GPSShogi --members Fairy-Stockfish,sekirei,zshogi

Every candidate is a move that some member voted for. A model adds up features of a candidate, and is fitted to the
preferences of the teacher between two candidates, weighted by the difference of win rates (docs/council.md). `weights`
has the logits of the judges; the others add one group of features each: how many and who proposed the move, the judges'
spread and extremes, and the judges' logits again times the phase of the game or the openness 4p(1-p) of the position. Five folds by
game; the penalty (towards equal weights, for the added features towards 0) is the best of three within the training games.
"""

import argparse
import json
import math

from votelog import clustered, positions

FOLDS = 5
PENALTIES = [0.003, 0.03, 0.3]
GROUPS = ["weights", "proposers", "spread", "phase", "openness", "all"]


def features(group, names, own, scores, move, ply):
    judged = [scores[n].get(move, min(scores[n].values()) - 0.3) for n in names]
    mean = sum(judged) / len(judged)
    rates = [1 / (1 + math.exp(-own[n][1])) for n in names if n in own]
    p = sum(rates) / len(rates)
    found = list(judged)
    wanted = lambda name: group in (name, "all")
    if wanted("proposers"):
        voted = [float(n in own and own[n][0] == move) for n in names]
        found += [*voted, float(sum(voted) > 1)]
    if wanted("spread"):
        found += [math.sqrt(sum((x - mean) ** 2 for x in judged) / len(judged)), min(judged), max(judged)]
    if wanted("phase"):
        found += [x * (ply - 50) / 50 for x in judged]
    if wanted("openness"):
        found += [x * (4 * p * (1 - p) - 0.7) for x in judged]
    return found


def pairs(positions_, group, names):
    """Differences of features, and how much the teacher prefers the first move."""
    found = []
    for position in positions_:
        phi = {m: features(group, names, position["own"], position["scores"], m, position["ply"]) for m in position["moves"]}
        for i, a in enumerate(position["moves"]):
            for b in position["moves"][i + 1:]:
                d = position["truth"][a] - position["truth"][b]
                if d:
                    first, second = (a, b) if d > 0 else (b, a)
                    found.append((abs(d), [x - y for x, y in zip(phi[first], phi[second])]))
    return found


def fit(data, prior, penalty):
    """Newton's method for the weighted logistic loss with a penalty for the distance from the prior."""
    k = len(prior)
    total = sum(d for d, _ in data)
    theta = list(prior)
    for _ in range(12):
        gradient = [penalty * (t - p) for t, p in zip(theta, prior)]
        hessian = [[penalty * (i == j) for j in range(k)] for i in range(k)]
        for d, x in data:
            p = 1 / (1 + math.exp(max(-30, min(30, sum(t * v for t, v in zip(theta, x))))))
            w, c = d / total * p, d / total * p * (1 - p)
            for i, v in enumerate(x):
                gradient[i] -= w * v
                row, cv = hessian[i], c * v
                for j in range(i + 1):
                    row[j] += cv * x[j]
        for i in range(k):
            for j in range(i):
                hessian[j][i] = hessian[i][j]
        step = solve(hessian, gradient)
        theta = [t - s for t, s in zip(theta, step)]
        if max(map(abs, step)) < 1e-5:
            break
    return theta


def solve(a, b):
    a = [row[:] + [v] for row, v in zip(a, b)]
    n = len(b)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(a[r][i]))
        a[i], a[pivot] = a[pivot], a[i]
        for r in range(i + 1, n):
            f = a[r][i] / a[i][i]
            for c in range(i, n + 1):
                a[r][c] -= f * a[i][c]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (a[i][n] - sum(a[i][c] * x[c] for c in range(i + 1, n))) / a[i][i]
    return x


def loss(theta, position, group, names):
    def value(m):
        return sum(t * x for t, x in zip(theta, features(group, names, position["own"], position["scores"], m, position["ply"])))
    best = max(position["moves"], key=value)
    return 100 * (max(position["truth"].values()) - position["truth"][best])


def prior_of(group, names):
    return [1.0] * len(names) + [0.0] * (len(features(group, names, {n: ("", 0.0) for n in names}, {n: {"": 0.0} for n in names}, "", 50)) - len(names))


def fold_of(game, games):
    return games[game] % FOLDS


def choose(train, group, names, games):
    """The penalty with the least loss on a fifth of the training games that the fit has not seen."""
    last = sorted({fold_of(p["game"], games) for p in train})[-1]
    seen = pairs([p for p in train if fold_of(p["game"], games) != last], group, names)
    held = [p for p in train if fold_of(p["game"], games) == last]
    prior = prior_of(group, names)
    def of(penalty):
        theta = fit(seen, prior, penalty)
        return sum(loss(theta, p, group, names) for p in held)
    return min(PENALTIES, key=of)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("log")
    p.add_argument("--teacher", required=True)
    p.add_argument("--members", required=True)
    a = p.parse_args()
    names = a.members.split(",")
    data = []
    for row in positions(a.log, a.teacher, names):
        moves = [m for m in dict.fromkeys(m for m, _ in row["own"].values()) if m in row["truth"]]
        if len(row["own"]) == len(names) and moves:
            data.append({**row, "moves": moves, "truth": {m: row["truth"][m] for m in moves}})
    games = {g: i for i, g in enumerate(dict.fromkeys(r["game"] for r in data))}
    equal = [loss([1.0] * len(names), r, "weights", names) for r in data]
    found = {"equal": equal}
    for group in GROUPS:
        losses = {}
        for fold in range(FOLDS):
            train = [r for r in data if fold_of(r["game"], games) != fold]
            theta = fit(pairs(train, group, names), prior_of(group, names), choose(train, group, names, games))
            losses |= {id(r): loss(theta, r, group, names) for r in data if fold_of(r["game"], games) == fold}
        found[group] = [losses[id(r)] for r in data]
    print(f"{len(data)} positions of {len(games)} games")
    for name, losses in found.items():
        mean = sum(losses) / len(losses)
        against = [clustered((r["game"], x - y) for r, x, y in zip(data, losses, found[base])) for base in ("equal", "weights")]
        print(f"{name:10} {mean:.2f}%" + "".join(f"  {m:+.2f} ± {half:.2f}" for m, half in against))


main()
