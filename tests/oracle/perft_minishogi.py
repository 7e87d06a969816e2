"""Numbers of legal moves in 5x5 shogi by pyffish, the rules of Fairy-Stockfish.

    python tests/oracle/perft_minishogi.py > tests/oracle/perft_minishogi.expected.json

Written with pyffish 0.0.90. The positions after the initial one come from games of random moves with a fixed seed, so
that hands, promotions, checks and pins occur.
"""

import json
import random

import pyffish

GAME = "minishogi"


def perft(fen, depth):
    moves = pyffish.legal_moves(GAME, fen, [])
    if depth == 1:
        return len(moves)
    return sum(perft(pyffish.get_fen(GAME, fen, [move]), depth - 1) for move in moves)


def positions():
    random.seed(5)
    start = pyffish.start_fen(GAME)
    yield start, 4
    for game in range(60):
        fen = start
        for _ in range(10 + 2 * game):
            moves = pyffish.legal_moves(GAME, fen, [])
            if not moves:
                break
            fen = pyffish.get_fen(GAME, fen, [random.choice(moves)])
        yield fen, 2


rows = []
for fen, depth in positions():
    sfen = pyffish.get_fen(GAME, fen, [], False, True)
    counts = [perft(fen, d) for d in range(1, depth + 1)] if pyffish.legal_moves(GAME, fen, []) else [0]
    rows.append({"sfen": sfen, "counts": counts})
print('{"tool": "pyffish 0.0.90", "positions": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]}")
