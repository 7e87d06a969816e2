"""Ways to calibrate a new engine with few results by a well-known one that scored the same positions.

    python3 transfer.py                 simulates engines whose constants are known
    python3 transfer.py TABLE.csv…      takes few games of real tables, from `evalcurve sample TABLE.parquet`

The new engine has scores of M positions, and the results of R of them count. The well-known engine has scores of all
and a constant from all results. Prints by how much each way is wrong on average (bias), the standard deviation of its
error and how often its 95% interval holds the truth (coverage), all in percent. The truth is the constant that all
results give.

    results          the sigmoid of R results
    sizes            constant of the known engine times the ratio of the sizes (standard deviations) of the scores
    scores           the same times the slope of the regression of one's scores on the other's
    forecasts        the sigmoid fitted to the win rates that the known engine forecasts for M positions
    corrected        the same, less the error of the known engine's forecasts at R results (Angelopoulos and others,
                     Prediction-powered inference, Science 2023)
    beside           the results way, less what the same R results get wrong in the constant of the known engine
                     (a control variate, on logarithms)
"""

import csv
import sys

import numpy as np

WAYS = ["results", "sizes", "scores", "forecasts", "corrected", "beside"]
SPREAD = 2.0


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def fit(x, y, more=(None, None)):
    """w1 and offset by maximum likelihood of y on x, and the influence of each row on w1; y may be win rates. `more` has
    rows of x and corrections, whose mean is added to the equations."""
    columns, at = np.c_[x, np.ones(len(x))], np.zeros(2)
    extra = np.zeros(2)
    if more[0] is not None:
        extra = np.c_[more[0], np.ones(len(more[0]))].T @ more[1] / len(more[0]) * len(x)
    scale = np.array([np.std(x), 1.0])
    for _ in range(60):
        p = sigmoid(columns @ at)
        hessian = (columns * (p * (1 - p))[:, None]).T @ columns
        step = np.linalg.solve(hessian, columns.T @ (y - p) + extra)
        at += np.clip(step * scale, -2, 2) / scale
        if np.abs(step * scale).max() < 1e-10:
            break
    p = sigmoid(columns @ at)
    inverse = np.linalg.inv((columns * (p * (1 - p))[:, None]).T @ columns)
    pulls = (columns * (y - p)[:, None]) @ inverse[0]
    pulls_of_more = np.zeros(0)
    if more[0] is not None:
        each = np.c_[more[0], np.ones(len(more[0]))] * more[1][:, None]
        pulls_of_more = (each - each.mean(axis=0)) / len(more[0]) * len(x) @ inverse[0]
    return at, pulls, pulls_of_more


def clustered(pulls, game):
    return np.bincount(game, pulls)


def estimate(known, new, result, game, few, w_known, offset_known):
    """log of the constant of the new engine and its standard error by each way; `few` marks the R positions."""
    out = {}
    (w, _), pulls, _ = fit(new[few], result[few])
    own = clustered(pulls, game[few]) / w
    out["results"] = -np.log(w), np.sqrt(np.sum(own**2))
    c = -np.log(w_known)
    m = len(new)
    out["sizes"] = c + np.log(np.std(new) / np.std(known)), np.sqrt((1 - np.corrcoef(new, known)[0, 1] ** 2) / m)
    slope = np.cov(new, known)[0, 1] / np.var(new)
    out["scores"] = c - np.log(slope), np.std(known - slope * new) / np.std(new) / np.sqrt(m) / slope
    forecast = sigmoid(w_known * known + offset_known)
    (w, _), pulls, _ = fit(new, forecast)
    out["forecasts"] = -np.log(w), np.sqrt(np.sum((clustered(pulls, game) / w) ** 2))
    (w, _), pulls, more = fit(new, forecast, (new[few], result[few] - forecast[few]))
    both = clustered(np.r_[pulls, more], np.r_[game, game[few]])
    out["corrected"] = -np.log(w), np.sqrt(np.sum((both / w) ** 2))
    (w, _), pulls, _ = fit(known[few], result[few])
    beside = clustered(pulls, game[few]) / w
    beta = np.sum(own * beside) / np.sum(beside**2)
    error = np.sqrt(np.sum((own - beta * beside) ** 2))
    out["beside"] = out["results"][0] - beta * (-np.log(w) - c), error
    return out


def table(title, found, truth):
    print(title)
    for way in WAYS:
        value, error = np.array([one[way] for one in found]).T
        off = value - truth
        covered = np.mean(np.abs(off) < 1.96 * error)
        bias, deviation = 100 * np.mean(off), 100 * np.std(off)
        print(f"  {way:<10} bias {bias:+6.1f}  sd {deviation:5.1f}  coverage {100 * covered:5.1f}")


def simulate(random, size, noises):
    truth = SPREAD * random.standard_normal(size)
    scores = [truth + noise * random.standard_normal(size) for noise in noises]
    return scores, (random.random(size) < sigmoid(truth)).astype(float)


def simulated():
    for noises in [(0.5, 0.5), (1.5, 1.5), (0.5, 1.5), (1.5, 0.5), (1.0, 2.5)]:
        random = np.random.default_rng(35)
        scores, result = simulate(random, 1_000_000, noises)
        (w_known, offset), _, _ = fit(scores[0], result)
        truth = -np.log(fit(scores[1], result)[0][0])
        for results in (100, 400):
            found = []
            for _ in range(1000):
                (known, new), result = simulate(random, 2000, noises)
                few = np.arange(2000) < results
                found.append(estimate(known, new, result, np.arange(2000), few, w_known, offset))
            title = f"noise of the known engine {noises[0]}, of the new one {noises[1]}; results of {results} of 2,000"
            table(title, found, truth)


def real(path):
    rows = {}
    for row in csv.DictReader(open(path)):
        if row["mate"] != "true" and abs(float(row["score_cp"])) < 20000:
            found = float(row["score_cp"]), float(row["result"])
            rows.setdefault((row["game"], row["ply"]), {})[row["engine"]] = found
    engines = sorted({engine for scores in rows.values() for engine in scores})
    rows = {place: scores for place, scores in rows.items() if len(scores) == len(engines)}
    games, game = np.unique([place[0] for place in rows], return_inverse=True)
    scores = np.array([[found[e][0] for e in engines] for found in rows.values()]).T
    result = np.array([found[engines[0]][1] for found in rows.values()])
    fits = [fit(x, result)[0] for x in scores]
    random = np.random.default_rng(35)
    for known in range(len(engines)):
        for new in range(len(engines)):
            if known == new:
                continue
            found = []
            for _ in range(300):
                few = np.isin(game, random.choice(len(games), 300, replace=False))
                found.append(estimate(scores[known], scores[new], result, game, few, *fits[known]))
            title = f"{path}: {engines[new]} by {engines[known]}; 300 of {len(games)} games, {len(result)} positions"
            table(title, found, -np.log(fits[new][0]))


if __name__ == "__main__":
    for path in sys.argv[1:]:
        real(path)
    if not sys.argv[1:]:
        simulated()
