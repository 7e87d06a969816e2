"""Reads the scores of PGN files with python-chess, for comparison with evalcurve's reader.

    pip install chess==1.11.2
    python pgn_scores.py FILE…            one line per file: games, scored positions, book moves, checksum
    python pgn_scores.py --list FILE…     one line per position: game, ply, colour, centipawns, mate, analysis

Scores are from the point of view of the side to move; a mate is 100000. The checksum is the sum of ply * centipawns over all
scored positions (analyses counted twice), modulo 2^64.
"""
import re, sys
from decimal import ROUND_HALF_UP, Decimal

import chess.pgn

OWN = re.compile(r"\s*([+-]?)(?:(\d+\.\d+)|[M#](\d+))/(\d+)(?=[\s,]|$)")
TCEC = re.compile(r"(?:^|[\s,])wv=([+-]?)(?:(\d+\.\d+)|[M#]([+-]?\d+))")
EVAL = re.compile(r"\[%eval ([+-]?)(?:(\d+\.\d+)|#([+-]?\d+))")


def value(sign, pawns, mate):
    """Centipawns from the writer's point of view, and whether it is a mate."""
    turn = -1 if sign == "-" else 1
    if mate is None:
        return turn * int((Decimal(pawns) * 100).quantize(Decimal(1), rounding=ROUND_HALF_UP)), False
    return (-turn if mate.startswith("-") else turn) * 100_000, True


def scores_of(game):
    """Yields (ply, white to move, centipawns, mate, analysis); None for a book move."""
    for ply, node in enumerate(game.mainline(), 1):
        white = node.parent.turn() == chess.WHITE
        comment = node.comment
        if found := OWN.match(comment):
            cp, mate = value(*found.groups()[:3])
            if cp != 0 or int(found.group(4)) > 0:
                yield ply, white, cp, mate, False
        elif re.match(r"\s*book\b", comment):
            yield None
        elif found := TCEC.search(comment):
            cp, mate = value(*found.groups())
            if cp != 0 or not re.search(r"(?:^|\s)d=1,", comment):
                yield ply, white, cp if white else -cp, mate, False
        elif found := EVAL.search(comment):
            cp, mate = value(*found.groups())
            yield ply + 1, not white, -cp if white else cp, mate, True


def main():
    listed = sys.argv[1] == "--list"
    for path in sys.argv[2 if listed else 1:]:
        games = scores = book = checksum = 0
        with open(path, encoding="utf-8", errors="replace") as file:
            while game := chess.pgn.read_game(file):
                games += 1
                for found in scores_of(game):
                    if found is None:
                        book += 1
                        continue
                    ply, white, cp, mate, analysis = found
                    scores += 1
                    checksum += ply * cp * (2 if analysis else 1)
                    if listed:
                        print(games, ply, "white" if white else "black", cp, int(mate), int(analysis))
        if not listed:
            print(path.rsplit("/", 1)[-1], games, scores, book, checksum % 2**64)


main()
