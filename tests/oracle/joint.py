"""Fits the joint model with numpy from its equations in docs/method.md, to check evalcurve's own fit.

    python joint.py samples > joint.csv
    python joint.py fit joint.csv > joint.expected.json

The first command invents games of four players with ratings, of which 7% are won and 7% lost by a coin and 5% are
drawn at any score; the other games are drawn in a width of 0.8 logits on either side. The second fits them: players
with ten games have a strength with the prior sd 0.2, since every game is rated. Gradients are complex steps, Hessians
differences of them. The covariance is the cluster jackknife in one Newton step, computed here as it is defined: a game's rows are taken out of the Hessian.
Without the game no share is below 0.
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
        advantage = walk + strengths[a] - strengths[b]
        chances = np.cumsum([1 / (1 + np.exp(0.8 - advantage)), 1 / (1 + np.exp(0.8 + advantage))])
        luck = rng.random()
        result = 1 if luck < chances[0] else 0 if luck < chances[1] else 0.5
        at_random = rng.random()
        result = 0.5 if at_random < 0.05 else result if at_random > 0.19 else float(rng.random() < 0.5)
        for row in rows:
            out.writerow(row[:5] + [format(result if row[5] > 0 else 1 - result, "g")])


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
    # columns: strengths, slopes, optimism, w3; then the share drawn at any score, the half width of the draws, lapse
    design = np.zeros((n, 2 * k + 2))
    design[np.arange(n), own] += 1
    design[np.arange(n), opponent] -= 1
    design[np.arange(n), k + own] = x
    design[:, 2 * k], design[:, 2 * k + 1] = -1, d
    size = 2 * k + 5
    sigma = lambda z: 1 / (1 + np.exp(-z))

    def losses(at):
        """The loss of every row."""
        drawn, width, lapse = at[-3:]
        u, body = design @ at[:-3], 1 - 2 * lapse - drawn
        win, lost = sigma(u - width), sigma(-u - width)
        chances = [lapse + body * lost, drawn + body * (1 - win - lost), lapse + body * win]
        return -np.log(np.choose((2 * y).astype(int), chances))

    def of_draws(at, weight=0.02):
        return -weight * np.log(at[-3]) - weight * np.log(np.tanh(at[-2] / 2))

    def prior(at):
        """That of the prior: normal strengths, and 0.02 draws at any score and as many at an even score."""
        return 0.5 * SD**-2 * (at[:k] ** 2).sum() + of_draws(at)

    def derivatives(of, at):
        """The gradient and the Hessian of each of some numbers."""
        unit = np.eye(size)
        gradient = lambda at: np.stack([np.imag(of(at + 1e-30j * e)) / 1e-30 for e in unit], -1)
        h = 1e-5
        hessian = np.stack([(gradient(at + h * e) - gradient(at - h * e)) / (2 * h) for e in unit], -1)
        return gradient(at), 0.5 * (hessian + np.swapaxes(hessian, -1, -2))

    at = np.zeros(size)
    at[k : 2 * k], at[2 * k + 1], at[-3:] = 2, 0.8, [0.02, 0.5, 0.02]
    value = lambda at: losses(at).sum() + prior(at)
    for _ in range(200):
        (gradient, hessian), (of_prior, bend) = derivatives(losses, at), derivatives(prior, at)
        g, h = gradient.sum(0) + of_prior, hessian.sum(0) + bend
        lowest = np.linalg.eigvalsh(h)[0]
        step = np.linalg.solve(h + max(0, 1e-3 - lowest) * np.eye(size), g)
        length = 1.0
        while not ((at - length * step)[-3:] > 0).all() or value(at - length * step) > value(at) + 1e-12:
            length /= 2
            if length < 1e-12:
                break
        at = at - length * step
        if np.abs(g).max() < 1e-10:
            break
    (gradient, hessian), (_, bend) = derivatives(losses, at), derivatives(prior, at)
    # as an observation the prior of the draws counts as one of each
    observed = bend + derivatives(lambda at: of_draws(at, 0.98), at)[1]
    loss = losses(at)
    h = hessian.sum(0) + bend
    inverse = np.linalg.inv(h)
    covariance = inverse @ observed @ inverse
    for game in np.unique(games):
        rows_of = games == game
        rest, score = h - hessian[rows_of].sum(0), gradient[rows_of].sum(0)
        moved, gone = np.linalg.solve(rest, score), []
        for share in [size - 3, size - 2, size - 1]:
            if moved[share] < -at[share]:
                gone.append(share)
                others = np.setdiff1d(np.arange(size), gone)
                right = score[others] + rest[np.ix_(others, gone)] @ at[gone]
                moved = -at * np.isin(np.arange(size), gone)
                moved[others] = np.linalg.solve(rest[np.ix_(others, others)], right)
        covariance += np.outer(moved, moved)
    out = {}
    for e, name in enumerate(engines):
        of, mine = np.zeros((9, size)), own == e
        z, width = design[mine] @ at[:-3], at[-2]
        # the curve by the score alone whose expected results are those against the opponents, on average and on
        # average over the scores
        scores, curve = np.column_stack([x[mine], -np.ones(mine.sum())]), np.array([at[k + e], 0.0])
        sides = [-width, width]
        for _ in range(50):
            p = [sigma(scores @ curve + side) for side in sides]
            bend = scores.T @ (sum(p * (1 - p) for p in p)[:, None] * scores)
            curve += np.linalg.solve(bend, scores.T @ sum(sigma(z + side) - p for side, p in zip(sides, p)))
        q = [sigma(z + side) for side in sides]
        of[[8, 1], :-3] = np.linalg.solve(bend, scores.T @ (sum(q * (1 - q) for q in q)[:, None] * design[mine]))
        by_width = sum(s * (q * (1 - q) - p * (1 - p)) for s, q, p in zip([-1, 1], q, p))
        of[[8, 1], -2] = np.linalg.solve(bend, scores.T @ by_width)
        of[8] /= 1000
        of[0, k + e] = 1e-3
        of[2, 2 * k + 1], of[6, 2 * k] = 1, 1
        of[3, -1], of[3, -3], of[4, -3], of[5, -2] = 1, 0.5, 1, 1
        of[7, :k] = design[mine][:, :k].mean(0)
        parameters = of @ at
        parameters[[8, 1]] = curve / [1000, 1]
        out[name] = {
            "parameters": list(parameters),
            "standard_errors": list(np.sqrt(np.diag(of @ covariance @ of.T))),
            "mean_loss": loss[mine].mean(),
        }
    json.dump(out, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    samples() if sys.argv[1] == "samples" else fit(sys.argv[2])
