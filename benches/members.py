#!/usr/bin/env python3
"""Councils for docs/experiments.md out of one vote log: with a member twice, with a useless one, or without some.

    python3 benches/members.py votes.jsonl --copy MEMBER > doubled.jsonl
    python3 benches/members.py votes.jsonl --useless MEMBER > useless.jsonl
    python3 benches/members.py votes.jsonl --without MEMBER > without.jsonl
    python3 benches/members.py votes.jsonl --half 1 > first.jsonl

A copy votes and judges as its model does. A useless member has the calibration of its model, votes for one of the
voted moves at random, and scores every one of them at random, as widely as its model does. --half keeps every second
game. The generator has a fixed seed, so that the output is always the same.
"""

import argparse
import copy
import json
import random
import sys


def cp(score):
    return score if isinstance(score, (int, float)) else None


def useless(line, model, draw):
    votes = [v for v in line["votes"] if "move" in v]
    moves = sorted({v["move"] for v in votes})
    own = next((v for v in votes if v["voter"] == model), None)
    if own is None or cp(own.get("score")) is None:
        return None
    scores = {m: round(cp(own["score"]) + draw.gauss(0, 150)) for m in moves}
    best = draw.choice(moves)
    judged = [{"move": m, "score": s} for m, s in scores.items() if m != best]
    return {"voter": "useless", "move": best, "score": scores[best], "judged": judged}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("log")
    p.add_argument("--copy")
    p.add_argument("--useless")
    p.add_argument("--without", action="append", default=[])
    p.add_argument("--half", type=int, choices=[1, 2])
    a = p.parse_args()
    model, draw, games = a.copy or a.useless, random.Random(201806), {}
    for text in open(a.log, encoding="utf-8"):
        line = json.loads(text)
        if "format" in line and model:
            voter = copy.deepcopy(next(v for v in line["voters"] if v["name"] == model))
            voter.update(name=f"{model} again" if a.copy else "useless", role="member")
            line["voters"].append(voter)
        elif "votes" in line:
            if a.half and games.setdefault(line["game_id"], len(games)) % 2 != a.half - 1:
                continue
            added = None
            if a.copy:
                own = next((v for v in line["votes"] if v["voter"] == model), None)
                added = own and dict(own, voter=f"{model} again")
            elif a.useless:
                added = useless(line, model, draw)
            line["votes"] += [added] if added else []
        for key, name in (("voters", "name"), ("votes", "voter")):
            if key in line:
                line[key] = [x for x in line[key] if x[name] not in a.without]
        sys.stdout.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


main()
