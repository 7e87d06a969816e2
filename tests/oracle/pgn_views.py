"""From whose point of view are the scores in comments of PGN files?

    python3 tests/oracle/pgn_views.py master-archive/*.pgn

with the PGN files of https://github.com/TCEC-Chess/tcecgames (June 2026). For every form of comment and either side it
counts the scores of 300 centipawns and more, and the announced mates, whose sign as White's agrees with the result. By
White's point of view nearly all agree; by the mover's, those of Black are the other way round. Needs no package.
"""

import collections
import re
import sys

WINNER = {"1-0": 1, "0-1": -1}
MOVE = re.compile(r"(?:\d+\.(?:\.\.)?)?\s*([A-Za-z][A-Za-z0-9+#=\-]*)\s*\{([^}]*)\}")
FORMS = {
    "ev= alone": re.compile(r"^\s*ev=([^,\s]*)(?!.*\bwv=)", re.S),
    "ev= beside wv=": re.compile(r"^\s*ev=([^,\s]*)(?=.*\bwv=)", re.S),
    "ChessBase": re.compile(r"^\s*(-?(?:\d+\.\d+|#\d+))/\d+ \d+(?: ?\([^)]*\))?\s*$"),
}


def sign(text):
    """The sign of a score that decides, and whether it is a mate; None for another."""
    if "#" in text:
        return (-1 if text.startswith("-") else 1), True
    try:
        score = float(text)
    except ValueError:
        return None
    return ((1 if score > 0 else -1), False) if abs(score) >= 3 else None


def main(files):
    counts = collections.Counter()
    for name in files:
        with open(name, encoding="latin1") as file:
            games = re.split(r"\n(?=\[Event )", file.read())
        for game in games:
            result = re.search(r'\[Result "([^"]*)"', game)
            winner = WINNER.get(result.group(1)) if result else None
            if winner is None:
                continue
            body = re.sub(r"^\s*\{[^}]*\}", "", game[game.rfind("]\n") + 1 :])
            # lines may be wrapped after a point and a slash
            body = re.sub(r"(?<=[./])\s(?=\d)", "", body) if "Annotator" in game else body
            for ply, move in enumerate(MOVE.finditer(body)):
                for form, pattern in FORMS.items():
                    found = pattern.match(move.group(2).replace("\n", " "))
                    decided = found and sign(found.group(1))
                    if decided:
                        side = "Black" if ply % 2 else "White"
                        kind = "mates" if decided[1] else "scores"
                        counts[form, kind, side, decided[0] == winner] += 1
    for form, kind, side in sorted({key[:3] for key in counts}):
        agree, other = counts[form, kind, side, True], counts[form, kind, side, False]
        print(f"{form:15} {kind:7} {side}: {agree:6} agree with the result as White's, {other:6} do not")


main(sys.argv[1:])
