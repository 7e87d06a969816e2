#!/usr/bin/env python3
"""Does the best member of a council differ by what is known before the search? (docs/does-a-council-pay.md)

    zstd -dc data/positions/chess-judge.epd.zst > positions.epd
    peers/bin/python benches/route.py search data/experiments/route/chess.json positions.epd --out votes.jsonl --most 3200
    peers/bin/python benches/route.py report votes.jsonl

`search`: every member searches every position once with an empty hash table, and the judge searches the position after every
move that a member chose, where they do not agree. Positions come in a random order with a fixed seed; a run that was
stopped goes on. Both need PyPI chess; `report` needs numpy and scikit-learn, too.
"""

import argparse
import json
import math
import os
import random
import sys

SEED = 36
FOLDS = 10


def search(a):
    import chess
    from searches import Engine, judgement

    config = json.load(open(a.files[0], encoding="utf-8"))
    members = [Engine(m, False) for m in config["members"]]
    judge = Engine(config["judge"], False)
    todo = open(a.files[1], encoding="utf-8").read().splitlines()
    random.Random(SEED).shuffle(todo)
    done = sum(1 for _ in open(a.out, encoding="utf-8")) if os.path.exists(a.out) else 0
    with open(a.out, "a", encoding="utf-8") as out:
        for line in todo[done : a.most]:
            fen = " ".join(line.split()[:6])
            row = {"game": line.split('id "')[1].split('"')[0], "fen": fen, "votes": {}, "cpu": {}, "judged": {}}
            try:
                for engine in members:
                    _, move, seconds = engine.search("fen " + fen, engine.spec["go"])
                    row["votes"][engine.spec["name"]], row["cpu"][engine.spec["name"]] = move, seconds
                moves = sorted(set(row["votes"].values()))
                for move in moves if len(moves) > 1 else []:
                    row["judged"][move] = judgement(judge, config, "fen " + fen, chess.Board(fen), move)
            except (TimeoutError, EOFError, BrokenPipeError) as error:
                print(fen, repr(error), file=sys.stderr)
                row["votes"] = {}
                for engine in [*members, judge]:
                    engine.restart()
            out.write(json.dumps(row, separators=(",", ":")) + "\n")
            out.flush()
    for engine in [*members, judge]:
        engine.process.kill()


def features(fen):
    """What is known before the search."""
    import chess

    board = chess.Board(fen)
    me, worth = board.turn, {1: 1, 2: 3, 3: 3, 4: 5, 5: 9}
    material = lambda color: sum(w * len(board.pieces(p, color)) for p, w in worth.items())
    pawns = lambda color: len(board.pieces(1, color))

    def king(color):
        around = chess.SquareSet(chess.BB_KING_ATTACKS[board.king(color)])
        shield = sum(1 for s in around if s in board.pieces(1, color))
        return [shield, sum(len(board.attackers(not color, s)) for s in around), board.has_castling_rights(color)]

    blocked = sum(1 for s in board.pieces(1, True) if s + 8 in board.pieces(1, False))
    pieces = [len(board.pieces(p, c)) for p in (2, 3, 4, 5) for c in (me, not me)]
    return [board.ply(), material(me) + material(not me), material(me) - material(not me), pawns(me) + pawns(not me), blocked,
            *pieces, *king(me), *king(not me), board.legal_moves.count(), board.is_check(),
            sum(1 for m in board.legal_moves if board.is_capture(m))]


def report(a):
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import GroupKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rows = [row for row in map(json.loads, open(a.files[0], encoding="utf-8")) if row["votes"]]
    names = list(rows[0]["votes"])

    def rate(cp):
        """Points of win rate, by lichess's formula."""
        return 100 / (1 + math.exp(-0.00368208 * max(-2000, min(2000, cp))))

    regret, agree = np.zeros((len(rows), len(names))), 0
    for at, row in enumerate(rows):
        if len(set(row["votes"].values())) == 1:
            agree += 1
            continue
        rates = {move: rate(cp) for move, cp in row["judged"].items()}
        regret[at] = [max(rates.values()) - rates[row["votes"][name]] for name in names]
    game = np.unique([row["game"] for row in rows], return_inverse=True)[1]
    x = np.array([features(row["fen"]) for row in rows], float)

    def interval(values):
        """Mean and half of its 95% interval, clustered by game."""
        sums = np.bincount(game, values - values.mean())
        return f"{values.mean():+.3f} ± {1.96 * math.sqrt((sums**2).sum()) / len(values):.3f}"

    print(f"{len(rows)} positions of {game.max() + 1} games; all members agree in {agree}")
    for at, name in enumerate(names):
        seconds = np.mean([row["cpu"][name] for row in rows])
        print(f"{name}: {1000 * seconds:.1f} ms, regret {interval(regret[:, at])} points of win rate")

    def routed(model, x, seed):
        """The regret of the member that is chosen out of fold, and of the one that is best in the other folds."""
        chosen, best = np.zeros(len(rows)), np.zeros(len(rows))
        for train, test in GroupKFold(FOLDS, shuffle=True, random_state=seed).split(x, groups=game):
            # what a member does beyond the mean of all
            beyond = regret[train] - regret[train].mean(axis=1, keepdims=True)
            said = np.column_stack([model().fit(x[train], beyond[:, m]).predict(x[test]) for m in range(len(names))])
            chosen[test] = regret[test, said.argmin(axis=1)]
            best[test] = regret[test, regret[train].mean(axis=0).argmin()]
        return chosen - best

    ridge = lambda: make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(0, 5, 11)))
    trees = lambda: HistGradientBoostingRegressor(max_iter=60, learning_rate=0.05, max_leaf_nodes=8, min_samples_leaf=100,
                                                  random_state=SEED)
    order = np.random.default_rng(SEED)
    for name, model, times in (("ridge", ridge, 99), ("boosted trees", trees, 19)):
        found = routed(model, x, SEED)
        # what comes out where features say nothing: those of another position
        null = [routed(model, x[order.permutation(len(rows))], SEED).mean() for _ in range(times)]
        p = (1 + sum(v <= found.mean() for v in null)) / (1 + times)
        print(f"route by {name}: {interval(found)} points a move against the best member; by shuffled features "
              f"{np.mean(null):+.3f}, p {p:.2f}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["search", "report"])
    p.add_argument("files", nargs="+")
    p.add_argument("--out")
    p.add_argument("--most", type=int)
    a = p.parse_args()
    (search if a.what == "search" else report)(a)


if __name__ == "__main__":
    main()
