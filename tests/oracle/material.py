#!/usr/bin/env python3
"""Compares the material of every sampled position of PGN files with python-chess (GPL: run here, never shipped).

    python3 -m venv oracle && oracle/bin/pip install chess==1.11.2
    oracle/bin/python tests/oracle/material.py --program target/release/evalcurve --random 400 GAMES.pgn…

Compares every scored position (--window 1 --from-ply 1; analyses if a game has nothing else), prints how many agree, and
exits with 1 if one differs. --random N adds N games of random moves, half of them Chess960, which contain more pins,
promotions, en passant captures and castling than played games.
"""
import argparse, bisect, collections, csv, io, os, random, subprocess, sys, tempfile
import chess.pgn

VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}
p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--program", required=True)
p.add_argument("--random", type=int, default=0)
p.add_argument("files", nargs="*")
a = p.parse_args()


def invented(file, games):
    dice = random.Random(1)
    with open(file, "w") as out:
        for number in range(games):
            board = chess.Board.from_chess960_pos(dice.randrange(960)) if number % 2 else chess.Board()
            game = chess.pgn.Game()
            game.setup(board)
            game.headers.update(White="A", Black="B", Round=str(number), Result="1/2-1/2")
            node = game
            while not board.is_game_over() and len(board.move_stack) < 300:
                moves = list(board.legal_moves)
                rare = [m for m in moves if board.is_castling(m) or board.is_en_passant(m) or m.promotion]
                move = dice.choice(rare if rare and dice.random() < 0.5 else moves)
                board.push(move)
                node = node.add_variation(move, comment="+0.10/9 1s")
            game.headers["Result"] = "1/2-1/2"
            print(game, file=out, end="\n\n")


folder = tempfile.mkdtemp()
if a.random:
    a.files.append(os.path.join(folder, "random.pgn"))
    invented(a.files[-1], a.random)
wrong = 0
for file in a.files:
    table = os.path.join(folder, "samples.csv")
    analysed = ["--annotator", "analysis"] if "[%eval" in open(file, errors="replace").read() else []
    subprocess.run([a.program, "sample", file, "--material", "--window", "1", "--from-ply", "1", *analysed, "--quiet", "--force",
                    "--out", table], check=True)
    rows = list(csv.DictReader(open(table)))
    lines = open(file, encoding="utf-8", errors="replace").read().split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("[Event ")]
    games = collections.defaultdict(list)
    for row in rows:
        games[bisect.bisect_right(starts, int(row["line"]) - 1) - 1].append(row)
    agree, differ, empty = 0, 0, 0
    for index, of_game in games.items():
        end = starts[index + 1] if index + 1 < len(starts) else len(lines)
        game = chess.pgn.read_game(io.StringIO("\n".join(lines[starts[index]:end])))
        board = game.board()
        before, counts = board.ply(), []
        for move in [*game.mainline_moves(), None]:
            counts.append(sum(VALUES[piece.piece_type] for piece in board.piece_map().values()))
            if move:
                board.push(move)
        for row in of_game:
            if row.get("material", "") == "":
                empty += 1
            elif int(row["material"]) == counts[int(row["ply"]) - before - 1]:
                agree += 1
            else:
                differ += 1
                print(f"{file}:{row['line']}: ply {row['ply']}: {row['material']}, python-chess {counts[int(row['ply']) - before - 1]}")
    print(f"{file}: {len(games)} games, {agree} positions agree, {differ} differ, {empty} without material")
    wrong += differ + empty
sys.exit(1 if wrong else 0)
