#!/usr/bin/env python3
"""Writes votes.jsonl, a log of made-up votes, and votes.expected.json, the decisions of each rule on it.

The script needs only Python's standard library. It implements the rules from the papers and uses no code of the project:
Sato 2013 eq. 2.27, Takeuchi 2018 section 3, LFICS 2016-12 appendix. The calibrations are those of data/published.

    python3 tests/oracle/votes.py
"""

import json
import math
import pathlib
import random
import statistics

HERE = pathlib.Path(__file__).parent
PUBLISHED = HERE / "../../data/published"
GAP, NOISE, CAUTION = 0.3, 0.6, 2.0
VOTERS = [  # name, file, role, weight, noise, strength, sd of its error in centipawns
    ("YaneuraOu", "yaneuraou", "leader", None, 0.5, 3000.0, 150),
    ("技巧", "gikou", "member", None, 0.6, 2990.0, 180),
    ("nozomi", "nozomi", "member", 0.8, None, 2940.0, 220),
]
NAMES = [v[0] for v in VOTERS]


def calibration(stem):
    c = json.loads((PUBLISHED / f"{stem}.json").read_text())
    c["models"] = {c["model"]["method"]: c["models"][c["model"]["method"]]}
    for field in ("curve", "scores", "sampling", "provenance", "proper_scores"):
        c[field] = None
    return c


CALIBRATIONS = {name: calibration(stem) for name, stem, *_ in VOTERS}


def win_rate(name, score):
    if isinstance(score, str):
        return 0.0 if score.startswith("mate -") else 1.0
    m = CALIBRATIONS[name]["model"]
    return 1 / (1 + math.exp(-m["w1"] * score + m["w2"]))


def logit(p):
    if p in (0.0, 1.0):
        return -10.0 if p == 0.0 else 10.0
    return max(-10.0, min(10.0, math.log(p) - math.log1p(-p)))


def make_lines():
    rng = random.Random(20181)
    lines = []
    for game in range(4):
        for turn in range(30):
            ply = 31 + 2 * turn
            side = ("black", "white")[game % 2]
            truth = {f"m{k}": rng.gauss(0, 150) for k in range(5)}
            drift = rng.gauss(0, 250)
            votes = []
            for name, _, _, _, _, _, sd in VOTERS:
                fault = rng.random()
                if fault < 0.02:
                    votes.append({"voter": name, "fault": "no bestmove before the deadline"})
                    continue
                if fault < 0.04:
                    votes.append({"voter": name, "move": rng.choice(sorted(truth)), "time_ms": 0})
                    continue
                seen = {m: round(v + drift + rng.gauss(0, sd)) for m, v in truth.items()}
                order = sorted(seen, key=lambda m: (-seen[m], m))
                vote = {"voter": name, "move": order[0], "score": seen[order[0]], "time_ms": 4000 + rng.randrange(900)}
                if fault > 0.97:
                    vote["score"] = "mate 7" if fault > 0.985 else "mate -6"
                elif fault > 0.94:
                    vote["bound"] = "lower"
                else:
                    vote["list"] = [{"move": m, "score": seen[m]} for m in order[:3]]
                votes.append(vote)
            lines.append({"game_id": f"game {game + 1}", "ply": ply, "position": f"position {game + 1}.{ply}", "side": side,
                          "time_ms": 5000 + rng.randrange(90), "votes": votes})
    return lines


def bare(votes):
    """(name, move, score or None, list) of those who vote, in the order of the voters."""
    found = {v["voter"]: v for v in votes if "move" in v}
    return [(n, found[n]["move"], found[n].get("score"), found[n].get("list", [])) for n in NAMES if n in found]


def pick(ballots, values):
    """The largest value; ties to the leader where its move is among the tied, else to the first in order."""
    top = max(values)
    near = 1e-12 * max(abs(top), 1) if math.isfinite(top) else 0
    tied = [b[1] for b, v in zip(ballots, values) if v == top or abs(v - top) <= near]
    if len(set(tied)) > 1:
        leader = [b[1] for b in EVERYBODY if b[0] == "YaneuraOu"]
        if leader and leader[0] in tied:
            return leader[0], True
        return tied[0], True
    return tied[0], False


def heads(ballots, weight=lambda name: 1.0):
    return pick(ballots, [sum(weight(o[0]) for o in ballots if o[1] == b[1]) for b in ballots])


def valued(ballots, value):
    with_value = [(b, value(b)) for b in ballots if value(b) is not None]
    if not with_value:
        return heads(ballots)
    return pick([b for b, _ in with_value], [v for _, v in with_value])


def mates_first(ballots, rule):
    wins = [(b, int(b[2][5:])) for b in ballots if isinstance(b[2], str) and not b[2].startswith("mate -")]
    if wins:
        shortest = min(n for _, n in wins)
        return pick([b for b, n in wins if n == shortest], [0.0 for _, n in wins if n == shortest])
    open_ones = [b for b in ballots if not isinstance(b[2], str)]
    if not open_ones:
        longest = max(int(b[2][6:]) for b in ballots)
        ones = [b for b in ballots if int(b[2][6:]) == longest]
        return pick(ones, [0.0] * len(ones))
    return rule(open_ones)


def raw(b):
    if isinstance(b[2], str):
        return -math.inf if b[2].startswith("mate -") else math.inf
    return b[2]


def standard(b):
    s = CALIBRATIONS[b[0]]["standardization"]
    return None if b[2] is None else (b[2] - s["mean"]) / s["sd"]


def rate(b):
    return None if b[2] is None else win_rate(b[0], b[2])


INFO = {v[0]: v for v in VOTERS}


def noise(name):
    return INFO[name][4] or NOISE


def weight(name):
    w = INFO[name][3]
    return 1.0 if w is None else w


def optimal(ballots):
    with_value = [(b[1], logit(rate(b)), noise(b[0]), b) for b in ballots if rate(b) is not None]
    if not with_value:
        return heads(ballots)
    k = len({m for m, *_ in with_value})
    a = (k - 1) / k * GAP + sum(v for _, v, _, _ in with_value) / len(with_value)

    def log_f(b, move, v, s):
        x = (v - a) / s
        y = x + GAP / s
        if b == move:
            return -x * x / 2 + math.log(1 + math.erf(y / math.sqrt(2)))
        return -y * y / 2 + math.log(1 + math.erf(x / math.sqrt(2)))

    values = [sum(log_f(b, m, v, s) for m, v, s, _ in with_value) for b, *_ in with_value]
    return pick([b for *_, b in with_value], values)


def logits_by_move(ballots):
    """For each ballot with a win rate: its name, and the logit of each move that it scored."""
    lists = []
    for b in ballots:
        if rate(b) is None:
            continue
        entries = {b[1]: logit(rate(b))}
        for e in b[3]:
            entries.setdefault(e["move"], logit(win_rate(b[0], e["score"])))
        lists.append((b[0], entries))
    return lists


def pool(ballots, scale, strength):
    strongest = max(INFO[n][5] for n in PRESENT)
    of = lambda name: weight(name) * (10 ** ((INFO[name][5] - strongest) / 400) if strength else 1.0)
    lists = [(of(name), entries) for name, entries in logits_by_move(ballots)]
    if not lists:
        return heads(ballots)
    moves = []
    for _, entries in lists:
        moves += [m for m in entries if m not in moves]
    on_scale = (lambda x: 1 / (1 + math.exp(-x))) if scale == "rate" else (lambda x: x)
    total = sum(w for w, _ in lists)
    values = [sum(w * on_scale(e.get(m, min(e.values()) - GAP)) for w, e in lists) / total for m in moves]
    return pick([(None, m) for m in moves], values)


def examined(ballots):
    """Before a second round of searches: the log has none."""
    lists = [(weight(name), entries) for name, entries in logits_by_move(ballots)]
    if not lists:
        return heads(ballots)
    total = sum(w for w, _ in lists)
    mean = lambda m: sum(w * e.get(m, min(e.values()) - GAP) for w, e in lists) / total
    return valued(ballots, lambda b: None if rate(b) is None else mean(b[1]))


def budget(ballots):
    """Cross-examination before a second round; by majority where the mean win rate is .9 or more, or .1 or less."""
    rates = [rate(b) for b in ballots if rate(b) is not None]
    differ = len({b[1] for b in ballots if rate(b) is not None}) > 1
    if differ and abs(sum(rates) / len(rates) - 0.5) >= 0.4:
        return heads(ballots)
    return examined(ballots)


def corrected(b):
    return None if b[2] is None else logit(rate(b)) - CAUTION * noise(b[0])


LEADER_WEIGHT = {"YaneuraOu": 1.5, "技巧": 1.0, "nozomi": 0.8}
RULES = {
    "majority": heads,
    "weighted": lambda bs: heads(bs, LEADER_WEIGHT.get),
    "optimistic": lambda bs: mates_first(bs, lambda o: valued(o, lambda b: None if b[2] is None else raw(b))),
    "pessimistic": lambda bs: valued(bs, lambda b: None if b[2] is None else -raw(b)),
    "standardized-optimistic": lambda bs: mates_first(bs, lambda o: valued(o, standard)),
    "winrate-optimistic": lambda bs: mates_first(bs, lambda o: valued(o, rate)),
    "mean-winrate": lambda bs: mates_first(bs, lambda o: pool(o, "rate", False)),
    "log-pool": lambda bs: mates_first(bs, lambda o: pool(o, "logit", False)),
    "optimal": lambda bs: mates_first(bs, optimal),
    "strongest": lambda bs: valued(bs, lambda b: INFO[b[0]][5]),
    "corrected-optimistic": lambda bs: mates_first(bs, lambda o: valued(o, corrected)),
    "cross-examination": lambda bs: mates_first(bs, examined),
    "budget": lambda bs: mates_first(bs, budget),
    "strength-pool": lambda bs: mates_first(bs, lambda o: pool(o, "logit", True)),
}


def decide(rule, votes, without=()):
    global EVERYBODY, PRESENT
    PRESENT = [n for n in NAMES if n not in without]
    EVERYBODY = [b for b in bare(votes) if b[0] not in without]
    return RULES[rule](EVERYBODY) if EVERYBODY else None


def over(rule, lines, without=(), judge=None):
    result = {"rule": rule, "decided": 0, "ties": 0, "as_logged": 0, "adopted": {}}
    losses, missing = {}, 0
    names = [n for n in NAMES if n not in without]
    result["adopted"] = {n: 0 for n in names}
    for line in lines:
        found = decide(rule, line["votes"], without)
        if found is None:
            continue
        move, tie = found
        result["decided"] += 1
        result["ties"] += tie
        result["as_logged"] += line["decision"] is not None and line["decision"]["move"] == move
        for b in bare(line["votes"]):
            if b[0] in names and b[1] == move:
                result["adopted"][b[0]] += 1
        if judge:
            loss = lost_by(line, judge, move)
            if loss is None:
                missing += 1
            else:
                losses[id(line)] = loss
    if judge:
        result["regret"] = {**clustered(lines, losses), "missing": missing}
        if not without:
            own = alone(lines, judge)
            best = min(own, key=lambda name: clustered(lines, own[name])["mean"])
            differences = {line: loss - own[best][line] for line, loss in losses.items() if line in own[best]}
            result["against_best"] = {"voter": best, **clustered(lines, differences)}
    return result


def alone(lines, judge):
    """By voter, what its own moves lose in each line; the judge does not judge itself."""
    found = {}
    for name in NAMES:
        if name != judge:
            moves = ((line, b[1]) for line in lines for b in bare(line["votes"]) if b[0] == name)
            of_lines = ((id(line), lost_by(line, judge, move)) for line, move in moves)
            found[name] = {line: loss for line, loss in of_lines if loss is not None}
    return found


def lost_by(line, judge, move):
    """What a move loses by the win rates of the judge; None if it did not score the move."""
    own = {}
    for b in bare(line["votes"]):
        if b[0] == judge and b[2] is not None:
            own = {e["move"]: win_rate(judge, e["score"]) for e in b[3]}
            own[b[1]] = rate(b)
    return max(own.values()) - own[move] if move in own else None


def clustered(lines, values):
    """Mean and standard error of values by line, with the games as clusters."""
    games = {}
    for line in lines:
        if id(line) in values:
            games.setdefault(line["game_id"], []).append(values[id(line)])
    mean = sum(values.values()) / len(values)
    g = len(games)
    meat = sum(sum(x - mean for x in game) ** 2 for game in games.values())
    return {"mean": mean, "standard_error": math.sqrt(g / (g - 1) * meat) / len(values), "judged": len(values)}


def main():
    lines = make_lines()
    for line in lines:
        found = decide("winrate-optimistic", line["votes"])
        if found is None:
            line["decision"], line["played"], line["faults"] = None, "resign", ["no member voted"]
            continue
        ballots = bare(line["votes"])
        carrier = None
        tied = found[1]
        values = [(b, rate(b)) for b in ballots]
        carrier = next(b[0] for b in ballots if b[1] == found[0])
        best = [b[0] for b, p in values if b[1] == found[0] and p is not None]
        if best:
            carrier = max(best, key=lambda n: next(p for b, p in values if b[0] == n))
        proven = any(isinstance(b[2], str) and not b[2].startswith("mate -") for b in ballots)
        scored = [b for b in ballots if b[2] is not None]
        lost = bool(scored) and all(isinstance(b[2], str) and b[2].startswith("mate -") for b in ballots)
        open_scored = any(b[2] is not None and not isinstance(b[2], str) for b in ballots)
        reason = "proven_win" if proven else "only_losses" if lost else "largest_value" if open_scored else "no_values"
        line["decision"] = {"move": found[0], "reason": reason, "carried_by": carrier}
        if tied:
            line["decision"]["tie_broken_by"] = "leader"
        line["played"] = found[0]
    header = {"format": "evalcurve-votes", "version": 1, "tool": {"name": "votes.py", "version": "1"}, "game": "made up",
              "rule": "winrate-optimistic", "tie": "leader", "mates": None, "gap": GAP, "noise": NOISE, "caution": CAUTION,
              "most_judged": 3, "reading": "field", "seed": 0,
              "voters": [{"name": n, "role": r, "weight": w, "noise": s, "strength": e, "calibration": CALIBRATIONS[n]}
                         for n, _, r, w, s, e, _ in VOTERS]}
    text = "".join(json.dumps(x, ensure_ascii=False, separators=(",", ":")) + "\n" for x in [header, *lines])
    (HERE / "votes.jsonl").write_text(text, encoding="utf-8")

    groups, splits, pairs = {}, {}, {}
    for line in lines:
        by_move = {}
        for b in bare(line["votes"]):
            by_move.setdefault(b[1], []).append(b[0])
        if not by_move:
            continue
        parts = sorted(by_move.values(), key=len, reverse=True)
        split = ":".join(str(len(p)) for p in parts)
        group = ", ".join("+".join(p) for p in parts)
        splits[split] = splits.get(split, 0) + 1
        groups[group] = groups.get(group, 0) + 1
        for i, a in enumerate(NAMES):
            for b in NAMES[i + 1:]:
                move = {x[0]: x[1] for x in bare(line["votes"])}
                if a in move and b in move:
                    pair = pairs.setdefault(f"{a} {b}", [0, 0])
                    pair[0] += 1
                    pair[1] += move[a] == move[b]
    # with three voters, the variances of V_i - V_j where both have the move give s_i^2 = (v_ij + v_ik - v_jk)/2
    def variance(a, b):
        differences = []
        for line in lines:
            votes = {v["voter"]: v for v in line["votes"] if isinstance(v.get("score"), int) and "bound" not in v}
            if a in votes and b in votes and votes[a]["move"] == votes[b]["move"]:
                differences.append(logit(win_rate(a, votes[a]["score"])) - logit(win_rate(b, votes[b]["score"])))
        return statistics.variance(differences), len(differences)

    noise = {}
    for i, name in enumerate(NAMES):
        j, k = NAMES[(i + 1) % 3], NAMES[(i + 2) % 3]
        (v_ij, n_ij), (v_ik, n_ik) = variance(name, j), variance(name, k)
        square = (v_ij + v_ik - variance(j, k)[0]) / 2
        noise[name] = {"pairs": n_ij + n_ik, "noise": math.sqrt(square) if square > 0 else None}
    expected = {
        "noise": noise,
        "decisions": len(lines), "splits": splits, "groups": groups, "pairs": pairs,
        "rules": [over(r, lines, judge="YaneuraOu") for r in RULES],
        "alone": {n: clustered(lines, of) for n, of in alone(lines, "YaneuraOu").items()},
        "without": {n: [over(r, lines, (n,), judge="YaneuraOu") for r in RULES] for n in NAMES},
    }
    (HERE / "votes.expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


main()
