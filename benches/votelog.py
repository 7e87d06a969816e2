"""Vote logs in which every member and a teacher judged every voted move, for the tables of docs/experiments.md."""

import json
import math


def logit_of(calibration, score):
    if isinstance(score, str):
        return -10.0 if "-" in score else 10.0
    limit = (calibration.get("mates") or {}).get("threshold_cp") or math.inf
    if abs(score) >= limit:
        return math.copysign(10.0, score)
    return max(-10.0, min(10.0, calibration["model"]["w1"] * score))


def rate(logit):
    return 1 / (1 + math.exp(-logit))


def positions(log, teacher, members):
    """Votes and scores of the members as logits, and the win rates of the teacher, by position."""
    voters = {}
    for text in open(log, encoding="utf-8"):
        line = json.loads(text)
        if "format" in line:
            voters = {v["name"]: v["calibration"] for v in line["voters"]}
            continue
        votes = {v["voter"]: v for v in line.get("votes", []) if "move" in v and "score" in v}
        if teacher not in votes or not any(m in votes for m in members):
            continue
        scores = {}
        for name, vote in votes.items():
            of = {m["move"]: logit_of(voters[name], m["score"]) for m in vote.get("judged", [])}
            of.setdefault(vote["move"], logit_of(voters[name], vote["score"]))
            scores[name] = of
        truth = {m: rate(value) for m, value in scores[teacher].items()}
        own = {m: (votes[m]["move"], logit_of(voters[m], votes[m]["score"])) for m in members if m in votes}
        place = {"game": line["game_id"], "ply": line["ply"], "cp": {m: votes[m]["score"] for m in own}}
        yield {**place, "own": own, "scores": {m: scores[m] for m in own}, "truth": truth}


def clustered(pairs):
    games = {}
    for game, value in pairs:
        games.setdefault(game, []).append(value)
    n = sum(map(len, games.values()))
    mean = sum(map(sum, games.values())) / n
    squares = sum((sum(v) - mean * len(v)) ** 2 for v in games.values())
    return mean, 1.96 * math.sqrt(len(games) / (len(games) - 1) * squares) / n
