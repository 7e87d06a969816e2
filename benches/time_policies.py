#!/usr/bin/env python3
"""What the second round of cross-examination costs and gains under policies that leave a part of it out.

    python3 benches/time_policies.py votes.jsonl --teacher GPSShogi --ms MEMBER=MS,… --weights weights.json

--ms is the mean time of a search of each member, as `council --prepare` prints it; a member without it is left out. The
policies are: no second round; a second round by all; by the judges with the largest weights only; and only where the
mean win rate of the votes is not within a margin of 0 or 1. The regret is by the teacher, in points of win rate, with
half of its 95% interval, clustered by game, against a second round by all. The time is that of all engines, and the
wall time if every member has a processor.
"""

import argparse
import json

from votelog import clustered, positions, rate


def decide(own, scores, weights, judges, gap=0.3):
    """The voted move with the largest mean logit; members that are no judges know their own move only."""
    moves = list(dict.fromkeys(m for m, _ in own.values()))

    def of(name, m):
        best, logit = own[name]
        if name in judges and m in scores[name]:
            return scores[name][m]
        return logit if m == best else logit - gap

    value = {m: sum(weights[n] * of(n, m) for n in own) for m in moves}
    return max(moves, key=lambda m: value[m])


def policy(kind, amount, own, scores, weights, ms):
    """The move, the time of all engines, and the wall time."""
    total, wall = sum(ms[m] for m in own), max(ms[m] for m in own)
    moves = {m for m, _ in own.values()}
    mean = sum(weights[n] * rate(logit) for n, (_, logit) in own.items()) / sum(weights[n] for n in own)
    judges = [n for n in own if weights[n] > 0]
    if kind == "judges":
        judges = sorted(judges, key=lambda n: -weights[n])[:amount]
    if kind == "none" or len(moves) == 1 or (kind == "margin" and min(mean, 1 - mean) < amount):
        return decide(own, scores, weights, []), total, wall
    time = {n: ms[n] * len(moves - {own[n][0]}) for n in judges}
    return decide(own, scores, weights, judges), total + sum(time.values()), wall + max(time.values())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("log")
    p.add_argument("--teacher", required=True)
    p.add_argument("--ms", required=True)
    p.add_argument("--weights")
    a = p.parse_args()
    ms = {name: float(time) for name, time in (pair.split("=") for pair in a.ms.split(","))}
    weights = dict.fromkeys(ms, 1.0)
    if a.weights:
        weights = {m["name"]: m["weight"] for m in json.load(open(a.weights, encoding="utf-8"))["members"]}
    kinds = [("all", 0), ("none", 0)] + [("judges", k) for k in range(1, len(ms))]
    kinds += [("margin", m) for m in (0.02, 0.05, 0.1, 0.2)]
    losses, times = {k: {} for k in kinds}, {k: [] for k in kinds}
    for at, row in enumerate(positions(a.log, a.teacher, ms)):
        game, own, scores, truth = (row[key] for key in ("game", "own", "scores", "truth"))
        for kind in kinds:
            best, total, wall = policy(*kind, own, scores, weights, ms)
            times[kind].append((total, wall))
            if best in truth:
                losses[kind][at] = (game, 100 * (max(truth.values()) - truth[best]))
    for kind in kinds:
        own, every = losses[kind], losses[kinds[0]]
        regret = clustered(own.values())[0]
        mean, half = clustered((game, loss - every[at][1]) for at, (game, loss) in own.items() if at in every)
        total, wall = (sum(t[i] for t in times[kind]) / len(times[kind]) for i in (0, 1))
        name = f"{kind[0]} {kind[1] or ''}".strip()
        print(f"{name:12} {regret:.2f}%  {mean:+.2f} ± {half:.2f}  {total:6.1f} ms  wall {wall:5.1f} ms")


main()
