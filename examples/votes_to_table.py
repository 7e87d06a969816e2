"""Joins the log of a council to the results of its games: a table that `evalcurve calibrate` reads.

    python votes_to_table.py votes.jsonl results.csv > table.csv
    evalcurve calibrate table.csv

results.csv has the columns game_id and winner (black, white or draw), a row a game. Every vote with an exact score becomes a row: its
voter is the engine, the score is in the view of the side to move. Standard library only.
"""

import csv
import json
import sys

MATE_CP = 100_000  # what evalcurve writes for a mate without a number


def centipawns(score):
    """A score of the log in centipawns, and whether it is a mate: 52, "mate 5", "mate -"."""
    if isinstance(score, str):
        return (-MATE_CP if score.split()[1].startswith("-") else MATE_CP), True
    return score, False


def main(votes, results):
    with open(results, newline="", encoding="utf-8") as file:
        winners = {row["game_id"]: row["winner"] for row in csv.DictReader(file)}
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["game", "engine", "color", "ply", "score_cp", "mate", "result"])
    without = set()
    with open(votes, encoding="utf-8") as file:
        for line in map(json.loads, filter(str.strip, file)):
            if "format" in line:  # the header of a session
                continue
            winner = winners.get(line["game_id"])
            if winner is None:
                without.add(line["game_id"])
                continue
            result = 0.5 if winner == "draw" else float(winner == line["side"])
            for vote in line["votes"]:
                if "score" not in vote or "bound" in vote:
                    continue
                score, mate = centipawns(vote["score"])
                out.writerow([line["game_id"], vote["voter"], line["side"], line["ply"], score, str(mate).lower(), result])
    if without:
        print(f"{len(without)} games of the log have no result and are left out", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
