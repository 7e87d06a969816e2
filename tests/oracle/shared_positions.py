"""Compares calibrations from own games (folder OWN) with those from shared positions (folder SHARED) on tables that
`evalcurve analyse` made of other games, in which the same two engines scored every position.

    python3 shared_positions.py OWN SHARED TABLE.csv…

Prints, with 95% intervals by 500 resamples of the games: the slope of the results on the calibrated logits of each
engine; the ratio of the two slopes, 1 where the engines agree; the log loss, and its difference own - shared.
"""

import csv
import json
import sys

import numpy as np

LAPSES = 0.03  # results that follow no score: one share for all, so that only the scales are compared


def load(path):
    rows = {}
    for row in csv.DictReader(open(path)):
        score = float(row["score_cp"])
        if row["mate"] != "true" and abs(score) < 20000:
            rows.setdefault((row["game"], row["ply"]), {})[row["engine"]] = (score, float(row["result"]))
    engines = sorted({engine for scores in rows.values() for engine in scores})
    rows = {place: scores for place, scores in rows.items() if len(scores) == len(engines)}
    games, game = np.unique([place[0] for place in rows], return_inverse=True)
    scores = np.array([[found[e][0] for e in engines] for found in rows.values()])
    results = np.array([found[engines[0]][1] for found in rows.values()])
    return engines, scores, results, game, len(games)


def slope(logit, result, weight):
    columns, at = np.c_[np.ones_like(logit), logit], np.zeros(2)
    for _ in range(30):
        p = 1 / (1 + np.exp(-columns @ at))
        hessian = (columns * (weight * p * (1 - p))[:, None]).T @ columns
        at += np.linalg.solve(hessian, columns.T @ (weight * (result - p)))
    return at[1]


def loss(logit, result, weight):
    p = 0.5 + (1 - LAPSES) * (1 / (1 + np.exp(-logit)) - 0.5)
    return -np.sum(weight * (result * np.log(p) + (1 - result) * np.log(1 - p))) / np.sum(weight)


def main(folders, tables):
    random = np.random.default_rng(1)
    for table in tables:
        engines, scores, results, game, games = load(table)
        w1 = [[json.load(open(f"{f}/{e}.json"))["model"]["w1"] for e in engines] for f in folders]

        def found(weight):
            slopes = [[slope(scores[:, i] * w, results, weight) for i, w in enumerate(of)] for of in w1]
            losses = [[loss(scores[:, i] * w, results, weight) for i, w in enumerate(of)] for of in w1]
            ratios = [of[0] / of[1] for of in slopes]
            return np.r_[np.ravel(slopes), ratios, np.ravel(losses), np.subtract(*losses)]

        each = [f"{way} {e}" for way in ("own", "shared") for e in engines]
        names = [f"slope, {n}" for n in each] + ["ratio, own", "ratio, shared"] + [f"log loss, {n}" for n in each]
        names += [f"log loss own - shared, {e}" for e in engines]
        draws = [found(random.multinomial(games, np.full(games, 1 / games))[game].astype(float)) for _ in range(500)]
        print(f"{table}: {len(results)} positions of {games} games")
        for name, value, (low, high) in zip(names, found(np.ones(len(results))), np.percentile(draws, [2.5, 97.5], 0).T):
            print(f"  {name:38} {value:.4f} [{low:.4f}, {high:.4f}]")


if __name__ == "__main__":
    main(sys.argv[1:3], sys.argv[3:])
