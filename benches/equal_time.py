#!/usr/bin/env python3
"""Is a council ahead of its best member at equal total time? Tables and curves for docs/experiments.md.

    zstd -dk data/experiments/learned-weights/*.zst data/experiments/equal-time/*.zst
    python3 benches/equal_time.py data/experiments/learned-weights/chess.jsonl --deeper data/experiments/equal-time/chess-deeper.jsonl \\
        --teacher Stockfish --members Ethereal,Glaurung,Toga --out chess.csv
    python3 benches/equal_time.py --units data/experiments/equal-time/chess-units.jsonl --out chess-units.csv

The first form reads a vote log in which every member judged every voted move, and what each member says with more time
(the lines of a longer search, with their nodes). The second reads searches of many lengths (`collect`). Games with an odd number choose the
weights and the thresholds of the budgets, games with an even number confirm. The time of a search is its nodes, by the
processor time per node of its engine.
"""

import argparse
import csv
import itertools
import json
import math

from votelog import clustered, logit_of, positions, rate

MATE = 100_000
UNITS = [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7]
JUDGED_UNITS = [0.5, 1, 2, 3]
LICHESS = 0.00368208
GAP = 0.3


class Position:
    """Votes and judgements as logits, the moves of each member by time, and what each move loses by the judge."""

    def __init__(self, game, own, scores, curve, truth):
        self.game, self.own, self.scores, self.curve = game, own, scores, curve
        top = max(truth.values(), default=0)
        self.loss = {m: 100 * (top - p) for m, p in truth.items()}

    def lost(self, move):
        # a move that the judge was not asked for is the only one that anybody played
        return self.loss.get(move, 0.0)

    def at(self, name, point):
        """The move of a member at a point of its curve."""
        return self.curve[name][point]


class Data:
    """Positions, the time of each member's searches of a vote and of a judgement, and of the points of its curve."""

    def __init__(self, rows, ms, judge_ms, times):
        self.rows, self.ms, self.judge_ms, self.times = rows, ms, judge_ms, times
        self.names = list(ms)
        self.halves = [r for r in rows if r.game % 2], [r for r in rows if r.game % 2 == 0]


def from_log(log, deeper, teacher, names, points, nodes):
    """A vote log with the searches of --deeper; times in ms. A point is an amount of nodes, in votes of that member."""
    extra, voters = {}, header_calibrations(log)
    for r in (json.loads(text) for path in deeper for text in open(path, encoding="utf-8")):
        known = extra.setdefault((r["game_id"], r["ply"]), {"said": {}, "cpu": {}, "judged": {}})
        for name, lines in r["said"].items():
            known["said"][name] = sorted(known["said"].get(name, []) + lines)
            known["cpu"][name] = max(known["cpu"].get(name, [0]), r["cpu"][name], key=lambda cpu: cpu[0])
        known["judged"] |= r["judged"]
    found = []
    for row in positions(log, teacher, names):
        more = extra.get((row["game"], row["ply"]))
        if more and len(row["own"]) == len(names) and more["said"].get(names[0]):
            found.append((row, more))
    base, per_node = {}, {}
    for n in names:
        # the line of the vote is the last one with its move and score
        known = [(row, more) for row, more in found if more["said"].get(n)]
        line = lambda row, more: [c for c, m, s in more["said"][n] if m == row["own"][n][0] and s == row["cp"][n]][-1:]
        base[n] = nodes.get(n) or mean_of(c for row, more in known for c in line(row, more))
        per_node[n] = 1000 * sum(more["cpu"][n][0] for _, more in known) / sum(more["said"][n][-1][0] for _, more in known)
    rows, spent = [], {n: [0.0] * len(points) for n in names}
    for row, more in found:
        truth = dict(row["truth"])
        for m, score in more["judged"].items():
            truth[m] = rate(10.0 if score >= MATE else -10.0 if score <= -MATE else logit_of(voters[teacher], score))
        told = [n for n in names if more["said"].get(n)]
        curve = {n: [row["own"][n][0], *(at(more["said"][n], k * base[n]) for k in points)] for n in told}
        if all(m in truth for moves in curve.values() for m in moves):
            rows.append(Position(int(row["game"].rsplit("-", 1)[1]), row["own"], row["scores"], curve, truth))
            for n in told:
                for i, k in enumerate(points):
                    spent[n][i] += min(k * base[n], more["said"][n][-1][0])
    count = {n: sum(n in r.curve for r in rows) for n in names}
    times = {n: [base[n] * per_node[n], *(per_node[n] * s / count[n] for s in spent[n])] for n in names}
    ms = {n: times[n][0] for n in names}
    return Data(rows, ms, ms, times)


def at(lines, nodes):
    """The move of the last line that was printed by then."""
    return ([m for count, m, _ in lines if count <= nodes] or [lines[0][1]])[-1]


def header_calibrations(log):
    header = json.loads(open(log, encoding="utf-8").readline())
    return {v["name"]: v["calibration"] for v in header["voters"]}


def from_units(path, members, scale):
    """Searches of many lengths; times in units. Each member's calibration is one constant, by the judge's win rates of the first half."""
    raw = [r for r in map(json.loads, open(path, encoding="utf-8")) if all(s and all(s) for s in r["said"].values())]
    names = members or list(raw[0]["said"])
    odd = [r for r in raw if r["game"] % 2 and r["truth"]]
    constant = {n: calibrated([(r["said"][n][1][1], rate(scale * r["truth"][r["said"][n][1][0]])) for r in odd if r["said"][n][1][0] in r["truth"]]) for n in names}
    rows = []
    for r in raw:
        logit = lambda n, x: max(-10.0, min(10.0, constant[n] * x))
        own = {n: (r["said"][n][1][0], logit(n, r["said"][n][1][1])) for n in names}
        scores = {n: {m: logit(n, s[1]) for m, s in r["judged"].get(n, {}).items() if s[1] is not None} for n in names}
        for n in names:
            scores[n][own[n][0]] = own[n][1]
        truth = {m: rate(max(-10.0, min(10.0, scale * s))) for m, s in r["truth"].items() if s is not None}
        curve = {n: [s[0] for s in r["said"][n][1:len(UNITS)]] for n in names}
        if not truth or all(m in truth for moves in curve.values() for m in moves):
            rows.append(Position(r["game"], own, scores, curve, truth))
    times = {n: UNITS[1:] for n in names}
    one = dict.fromkeys(names, 1.0)
    return Data(rows, one, one, times)


def calibrated(points):
    """The constant with the least squared error of win rates."""
    points = [(x, p) for x, p in points if abs(x) < 10_000]
    constants = [0.0002 * 1.05**i for i in range(90)]
    return min(constants, key=lambda c: sum((rate(max(-10, min(10, c * x))) - p) ** 2 for x, p in points))


def mean_of(values):
    values = list(values)
    return sum(values) / len(values)


def majority(row, expert):
    count = {}
    for m, _ in row.own.values():
        count[m] = count.get(m, 0) + 1
    top = max(count.values())
    tied = [m for m in count if count[m] == top]
    return row.own[expert][0] if row.own[expert][0] in tied else tied[0]


def budget(data, row, weights, expert, agreed, decided, close, doubt, point):
    """The rule `budget` (docs/rules.md): the move, the time of all, and the wall time. `point` is how far the expert goes on."""
    ms, own, names = data.ms, row.own, data.names
    total, wall = sum(ms[n] for n in names), max(ms[n] for n in names)

    def handed():
        more = data.times[expert][point] - ms[expert]
        return row.at(expert, point), total + more, wall + more

    p = mean_of(rate(own[n][1]) for n in names)
    sure = max(p, 1 - p)
    moves = list(dict.fromkeys(own[n][0] for n in names))
    if len(moves) == 1:
        return handed() if doubt and sure < agreed else (moves[0], total, wall)
    if sure >= decided:
        return majority(row, expert), total, wall
    all_weights = sum(weights.values())
    highest = {m: max(own[n][1] for n in names if own[n][0] == m) for m in moves}
    top = max(highest.values())
    asked = sorted((m for m in moves if top - highest[m] < close), key=lambda m: -highest[m])[:3]

    def logit(n, m):
        if m == own[n][0]:
            return own[n][1]
        return row.scores[n].get(m, own[n][1] - GAP) if m in asked and len(asked) > 1 else own[n][1] - GAP

    kept = asked if len(asked) > 1 else moves
    value = {m: sum(weights[n] * logit(n, m) for n in names) / all_weights for m in kept}
    if len(asked) > 1:
        each = [data.judge_ms[n] * sum(m != own[n][0] for m in asked) for n in names if weights[n] > 0]
        total, wall = total + sum(each), wall + max(each)
    order = sorted(kept, key=lambda m: (-round(value[m], 9), m != own[expert][0]))
    if doubt and value[order[0]] - value[order[1]] < doubt:
        return handed()
    return order[0], total, wall


def evaluate(rows, policy):
    found = [policy(r) for r in rows]
    return [r.lost(m) for r, (m, _, _) in zip(rows, found)], mean_of(t for _, t, _ in found), mean_of(w for _, _, w in found)


def alone(data, rows, name, time):
    """What a member alone loses with this mean time, linear between two points of its curve; None beyond it."""
    times = data.times[name]
    if time > times[-1]:
        return None
    later = next(i for i, t in enumerate(times) if t >= time)
    if later == 0:
        return [r.lost(r.at(name, 0)) for r in rows]
    share = (time - times[later - 1]) / (times[later] - times[later - 1])
    return [(1 - share) * r.lost(r.at(name, later - 1)) + share * r.lost(r.at(name, later)) for r in rows]


def learned(data, rows, expert):
    """The weights of cross-examination with the least regret; of equal ones those nearest to equal."""
    steps = range(4)
    best = None
    for w in itertools.product(steps, repeat=len(data.names)):
        if sum(w) == 0 or math.gcd(*w) != 1:
            continue
        weights = dict(zip(data.names, map(float, w)))
        regret = mean_of(evaluate(rows, lambda r: budget(data, r, weights, expert, 0.5, 2, 99, 0, 0))[0])
        mean = sum(w) / len(w)
        key = (round(regret, 6), sum((x / mean - 1) ** 2 for x in w))
        if best is None or key < best[0]:
            best = key, weights
    return best[1]


def thresholds(data, rows, weights, expert):
    """Regret and time of each choice of thresholds on the first half."""
    found = []
    for agreed, decided, close, doubt in itertools.product([0.5, 0.7, 1.0], [0.9, 2], [0, 99], [0, 0.05, 0.15, 0.4, 99]):
        if doubt == 0 and agreed > 0.5:
            continue
        for point in range(1, len(data.times[expert])) if doubt else [1]:
            numbers = (agreed, decided, close, doubt, point)
            losses, time, _ = evaluate(rows, lambda r: budget(data, r, weights, expert, *numbers))
            found.append((mean_of(losses), time, numbers))
    return found


def arms(data, file):
    first, _ = data.halves
    names = data.names
    # the best member: the least regret on the first half over the points of its curve, of those with a whole curve
    full = [n for n in names if all(n in r.curve for r in data.rows)]
    expert = min(full, key=lambda n: mean_of(r.lost(r.at(n, i)) for r in first for i in range(len(data.times[n]))))
    equal, weights = dict.fromkeys(names, 1.0), learned(data, first, expert)
    base = sum(data.ms.values()), max(data.ms.values())
    found = [
        ("majority", "", lambda r: (majority(r, expert), *base)),
        ("winrate-optimistic", "", lambda r: (max(r.own.values(), key=lambda v: v[1])[0], *base)),
        ("cross-examination", "", lambda r: budget(data, r, equal, expert, 0.5, 2, 99, 0, 0)),
        ("cross-examination, learned weights", shown(weights), lambda r: budget(data, r, weights, expert, 0.5, 2, 99, 0, 0)),
    ]
    if file:
        of = {m["name"]: m["weight"] for m in json.load(open(file, encoding="utf-8"))["members"]}
        found.append(("cross-examination, weights of replay", shown(of), lambda r, of=of: budget(data, r, of, expert, 0.5, 2, 99, 0, 0)))
    cross = evaluate(first, found[2][2])[1]
    for name, of in (("budget", equal), ("budget, learned weights", weights)):
        tried = thresholds(data, first, of, expert)
        for share in (0.6, 0.8, 1.0, 1.3):
            numbers = min((regret, numbers) for regret, time, numbers in tried if time <= share * cross)[1]
            if numbers:
                text = "agreed {} decided {} close {} doubt {} point {}".format(*numbers)
                found.append((f"{name}, at most {share:.0%} of cross-examination", text, lambda r, of=of, numbers=numbers: budget(data, r, of, expert, *numbers)))
    return expert, found


def shown(weights):
    mean = sum(weights.values()) / len(weights)
    return " ".join(f"{n} {w / mean:.2f}" for n, w in weights.items())


def report(data, weights, out, figure, title):
    expert, policies = arms(data, weights)
    first, second = data.halves
    print(f"{len(data.rows)} positions, {len(first)} choose and {len(second)} confirm; the best member is {expert}")
    rows = [["arm", "chosen", "time_of_all", "wall_time", "regret", "half_95", "against_best_equal_total", "half_95", "against_best_equal_wall", "half_95", "p_equal_total", "p_equal_wall"]]
    for n in data.names:
        for i, time in enumerate(data.times[n]):
            mean, half = clustered((r.game, r.lost(r.at(n, i))) for r in second if n in r.curve)
            rows.append([f"{n} alone", i, f"{time:.2f}", f"{time:.2f}", f"{mean:.3f}", f"{half:.3f}", "", "", "", "", "", ""])
    for name, chosen, policy in policies:
        losses, total, wall = evaluate(second, policy)
        mean, half = clustered((r.game, x) for r, x in zip(second, losses))
        row = [name, chosen, f"{total:.2f}", f"{wall:.2f}", f"{mean:.3f}", f"{half:.3f}"]
        ps = []
        for time in (total, wall):
            other = alone(data, second, expert, time)
            difference = clustered((r.game, x - y) for r, x, y in zip(second, losses, other)) if other else None
            row += [f"{difference[0]:+.3f}", f"{difference[1]:.3f}"] if difference else ["", ""]
            ps.append(f"{math.erfc(abs(difference[0]) / difference[1] * 1.96 / math.sqrt(2)):.2g}" if difference else "")
        rows.append(row + ps)
    best, half = clustered((r.game, min(r.lost(m) for m, _ in r.own.values())) for r in second)
    rows.append(["the best vote", "", f"{sum(data.ms.values()):.2f}", "", f"{best:.3f}", f"{half:.3f}", "", "", "", "", "", ""])
    if figure:
        # lines for draw_lines in crates/figures: the best member, and the council, by multiples of the member's time
        unit = data.ms[expert]
        point = lambda row: [f"{float(row[2]) / unit:.3f}", row[4], f"{float(row[5]) / 1.96:.3f}"]
        lines = [[f"{title}: {expert} alone", *point(row)] for row in rows if row[0] == f"{expert} alone"]
        council = [row for row in rows[1:] if not row[0].endswith(" alone") and row[4] and row[0] != "the best vote"]
        for name in ("majority", "cross-examination", "cross-examination, learned weights"):
            lines += [[f"{title}: {name}", *point(row)] for row in council if row[0] == name]
        budgets = {tuple(point(row)) for row in council if row[0].startswith("budget, learned")}
        lines += [[f"{title}: budget, learned weights", *p] for p in sorted(budgets, key=lambda p: float(p[0]))]
        with open(figure, "a", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)
    with open(out, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    for row in rows:
        print("  ".join(str(x) for x in row))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("log", nargs="?")
    p.add_argument("--deeper", nargs="+", help="what members say with more time")
    p.add_argument("--teacher")
    p.add_argument("--members", type=lambda text: text.split(","))
    p.add_argument("--points", type=lambda text: [float(k) for k in text.split(",")], default=[1.5, 2, 3, 4, 6, 8], help="amounts of time, in votes")
    p.add_argument("--nodes", nargs="*", default=[], help="MEMBER=NODES of a vote, for engines that print one line only")
    p.add_argument("--units")
    p.add_argument("--scale", type=float, default=LICHESS, help="logits per centipawn of the judge, with --units")
    p.add_argument("--out", required=True)
    p.add_argument("--weights", help="weights that `replay --learn` has learned on the choosing half")
    p.add_argument("--swap", action="store_true", help="even numbers choose, and odd ones confirm")
    p.add_argument("--figure", help="append the lines of the figure to this file")
    p.add_argument("--title", default="", help="what the lines of the figure begin with")
    a = p.parse_args()
    if a.units:
        data = from_units(a.units, a.members, a.scale)
    else:
        data = from_log(a.log, a.deeper, a.teacher, a.members, a.points, {n: float(x) for n, x in (pair.split("=") for pair in a.nodes)})
    if a.swap:
        data.halves = data.halves[::-1]
    report(data, a.weights, a.out, a.figure, a.title)


main()
