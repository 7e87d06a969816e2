"""Fits the joint model with numpy from its equations in docs/scale.md, to check evalcurve's own fit.

    python joint.py samples > joint.csv
    python joint.py fit joint.csv > joint.expected.json

The first command invents games of four players with ratings and 7% lapses on either side, the second fits them: players with ten games
have a strength with the prior sd 0.2, since every game is rated. The covariance is the cluster jackknife in one Newton
step, computed here as it is defined: a game's rows are taken out of the Hessian. Without the game the share of lapses
is not below 0.
"""

import csv
import json
import sys

import numpy as np

SD = 0.2


def samples():
    rng = np.random.default_rng(6)
    constants, strengths = [300, 500, 900, 450], [0.5, 0.1, -0.2, -0.4]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["game", "engine", "opponent", "score_cp", "difference", "result"])
    for game in range(240):
        a, b = rng.choice(4, 2, replace=False)
        rated = strengths[a] - strengths[b] + rng.normal(0, 0.2)
        walk, rows = rng.normal(0, 2.5), []
        for _ in range(rng.integers(1, 4)):
            walk += rng.normal(0, 0.8)
            for engine, other, sign in [(a, b, 1), (b, a, -1)]:
                score = constants[engine] * (sign * walk + rng.normal(0, 0.4) + 0.3)
                rows.append([game, "ABCD"[engine], "ABCD"[other], round(score), round(sign * rated, 6), sign])
        won = rng.random() < 1 / (1 + np.exp(-walk - strengths[a] + strengths[b]))
        won = rng.random() < 0.5 if rng.random() < 0.14 else won
        drawn = rng.random() < 0.05
        for row in rows:
            out.writerow(row[:5] + [0.5 if drawn else int(won == (row[5] > 0))])


def fit(path):
    rows = list(csv.DictReader(open(path)))
    engines = sorted({r["engine"] for r in rows})
    place = {e: i for i, e in enumerate(engines)}
    n, k = len(rows), len(engines)
    x = np.array([float(r["score_cp"]) for r in rows]) / 1000
    y = np.array([float(r["result"]) for r in rows])
    d = np.array([float(r["difference"]) for r in rows])
    own, opponent = (np.array([place[r[c]] for r in rows]) for c in ["engine", "opponent"])
    games = np.array([int(r["game"]) for r in rows])
    # columns: strengths, slopes, optimism, w3; the lapse comes last
    design = np.zeros((n, 2 * k + 2))
    design[np.arange(n), own] += 1
    design[np.arange(n), opponent] -= 1
    design[np.arange(n), k + own] = x
    design[:, 2 * k], design[:, 2 * k + 1] = -1, d
    prior = np.zeros(2 * k + 3)
    prior[:k] = SD**-2

    def derivatives(at):
        """Loss, gradient and Hessian of every row."""
        lapse, p = at[-1], 1 / (1 + np.exp(-design @ at[:-1]))
        P = lapse + (1 - 2 * lapse) * p
        by_z, by_lapse = (1 - 2 * lapse) * p * (1 - p), 1 - 2 * p
        first, second = (1 - y) / (1 - P) - y / P, y / P**2 + (1 - y) / (1 - P) ** 2
        gradient = np.column_stack([(first * by_z)[:, None] * design, first * by_lapse])
        zz = second * by_z**2 + first * by_z * (1 - 2 * p)
        zl = second * by_z * by_lapse - 2 * first * p * (1 - p)
        hessian = np.zeros((n, 2 * k + 3, 2 * k + 3))
        hessian[:, :-1, :-1] = zz[:, None, None] * design[:, :, None] * design[:, None, :]
        hessian[:, :-1, -1] = hessian[:, -1, :-1] = zl[:, None] * design
        hessian[:, -1, -1] = second * by_lapse**2
        return -(y * np.log(P) + (1 - y) * np.log(1 - P)), gradient, hessian

    at = np.zeros(2 * k + 3)
    at[k : 2 * k], at[-2], at[-1] = 2, 0.8, 0.02
    value = lambda at: derivatives(at)[0].sum() + 0.5 * prior @ at**2
    for _ in range(200):
        _, gradient, hessian = derivatives(at)
        g, h = gradient.sum(0) + prior * at, hessian.sum(0) + np.diag(prior)
        lowest = np.linalg.eigvalsh(h)[0]
        step = np.linalg.solve(h + max(0, 1e-3 - lowest) * np.eye(len(at)), g)
        length = 1.0
        while not (0 <= (at - length * step)[-1] < 0.4 and value(at - length * step) <= value(at) + 1e-12):
            length /= 2
            if length < 1e-12:
                break
        at = at - length * step
        if np.abs(g).max() < 1e-11:
            break
    loss, gradient, hessian = derivatives(at)
    h = hessian.sum(0) + np.diag(prior)
    inverse = np.linalg.inv(h)
    covariance = inverse @ np.diag(prior) @ inverse
    for game in np.unique(games):
        rows_of = games == game
        rest, score = h - hessian[rows_of].sum(0), gradient[rows_of].sum(0)
        moved = np.linalg.solve(rest, score)
        if moved[-1] < -at[-1] or np.linalg.eigvalsh(rest)[0] <= 0:
            # the share of lapses does not fall below 0
            others = np.linalg.solve(rest[:-1, :-1], score[:-1] + rest[:-1, -1] * at[-1])
            moved = np.append(others, -at[-1])
        covariance += np.outer(moved, moved)
    drawn = drawn_share(1 / (1 + np.exp(-design @ at[:-1])), y, at[-1])
    out = {}
    for e, name in enumerate(engines):
        of, mine = np.zeros((7, 2 * k + 3)), own == e
        z, q = x[mine], 1 / (1 + np.exp(-design[mine] @ at[:-1]))
        # the curve by the score alone that is nearest to the win rates against the opponents
        scores, curve = np.column_stack([z, -np.ones(len(z))]), np.array([at[k + e], 0.0])
        for _ in range(50):
            p = 1 / (1 + np.exp(-scores @ curve))
            bend = scores.T @ ((p * (1 - p))[:, None] * scores)
            curve += np.linalg.solve(bend, scores.T @ (q - p))
        of[[6, 1], :-1] = np.linalg.solve(bend, scores.T @ ((q * (1 - q))[:, None] * design[mine]))
        of[6] /= 1000
        of[0, k + e] = 1e-3
        of[2, -2], of[3, -1], of[4, -3] = 1, 1, 1
        of[5, :k] = design[mine][:, :k].mean(0)
        parameters = of @ at
        parameters[[6, 1]] = curve / [1000, 1]
        out[name] = {
            "parameters": list(parameters),
            "standard_errors": list(np.sqrt(np.diag(of @ covariance @ of.T))),
            "mean_loss": loss[mine].mean(),
            "drawn": drawn,
        }
    json.dump(out, sys.stdout, indent=1)
    print()


def drawn_share(s, y, lapse, bins=64):
    """The part of 2 lapse that is drawn at any score: the largest likelihood, which is concave, on ever finer grids."""
    bin_of = np.minimum((s * bins).astype(int), bins - 1)
    mean = np.array([s[bin_of == b].mean() if (bin_of == b).any() else 0.5 for b in range(bins)])
    counts = np.array([[((bin_of == b) & (y == result)).sum() for b in range(bins)] for result in [0, 0.5, 1]])
    least = np.minimum(mean, 1 - mean)

    def likelihood(drawn, even):
        coin, body, half = lapse - drawn / 2, 1 - 2 * lapse, even[..., None] * least
        p = [coin + body * (1 - mean - half), drawn + 2 * body * half, coin + body * (mean - half)]
        return sum(np.where(c > 0, c * np.log(np.maximum(q, 1e-300)), 0).sum(-1) for c, q in zip(counts, p))

    centre, reach = np.array([lapse, 0.5]), np.array([lapse, 0.5])
    for _ in range(60):
        grid = [np.clip(c + r * np.linspace(-1, 1, 21), 0, top) for c, r, top in zip(centre, reach, [2 * lapse, 1])]
        drawn, even = np.meshgrid(*grid, indexing="ij")
        found = likelihood(drawn[..., None], even)
        best = np.unravel_index(found.argmax(), found.shape)
        centre, reach = np.array([drawn[best], even[best]]), reach * 0.7
    return centre[0]


if __name__ == "__main__":
    samples() if sys.argv[1] == "samples" else fit(sys.argv[2])
