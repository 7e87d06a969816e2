#!/usr/bin/env python3
"""The material of every sampled position of PGN files beside that of python-chess (GPL: run here, no part of the product).

    python3 -m venv oracle && oracle/bin/pip install chess==1.11.2
    oracle/bin/python tests/oracle/material.py --program target/release/evalcurve GAMES.pgn…

Takes every scored position (--window 1 --from-ply 1), and says how many agree; ends with 1 where one does not.
"""
import argparse, bisect, collections, csv, io, os, subprocess, sys, tempfile
import chess.pgn

VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}
p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--program", required=True)
p.add_argument("files", nargs="+")
a = p.parse_args()
wrong = 0
for file in a.files:
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "samples.csv")
        subprocess.run([a.program, "sample", file, "--material", "--window", "1", "--from-ply", "1", "--annotator" if "lichess" in file else "--quiet",
                        *(["analysis", "--quiet"] if "lichess" in file else []), "--out", table], check=True)
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
