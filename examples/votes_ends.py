"""Adds results to a vote log without them, so that the log can calibrate the members. (UCI has no command for results.)

    python votes_ends.py votes.jsonl results.csv > with-results.jsonl
    evalcurve calibrate with-results.jsonl

results.csv has the columns game_id and winner (black, white or draw), one row per game. Needs only the standard library.
"""

import csv
import json
import sys


def main(votes, results):
    with open(results, newline="", encoding="utf-8") as file:
        winners = {row["game_id"]: row["winner"] for row in csv.DictReader(file)}
    last, without = None, set()

    def end():
        """The end of the game whose last decision is `last`."""
        if last is None or "end" in last:
            return
        winner = winners.get(last["game_id"])
        if winner is None:
            without.add(last["game_id"])
            return
        word = "draw" if winner == "draw" else "win" if winner == last["side"] else "loss"
        line = {"game_id": last["game_id"], "end": word, "side": last["side"], "ply": last["ply"]}
        print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))

    with open(votes, encoding="utf-8") as file:
        for text in filter(str.strip, file):
            line = json.loads(text)
            if "format" not in line:  # not the header of a session
                if last is not None and line["game_id"] != last["game_id"]:
                    end()
                last = line
            print(text.rstrip("\n"))
    end()
    if without:
        print(f"{len(without)} games have no result", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.stdout.reconfigure(encoding="utf-8")
    main(*sys.argv[1:])
