"""Training data by cshogi: random positions as HCPE and PSV, and what evalcurve reads and rescales.

    pip install cshogi==1.1.0 numpy
    python tests/oracle/packed.py target/release/evalcurve 100000

Every position is written by cshogi with a score and a result. `sample` must give the same colour, score, result and ply,
and after `rescale` cshogi must read twice the score (mates and clipped scores apart) and nothing else changed.
"""

import csv
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import cshogi
import numpy as np

program, count = str(Path(sys.argv[1]).resolve()), int(sys.argv[2])
MATE = 20_000
draw = random.Random(7)


def positions():
    board = cshogi.Board()
    while True:
        board.reset()
        for ply in range(1, 200):
            moves = list(board.legal_moves)
            if not moves:
                break
            move = draw.choice(moves)
            yield board, move, ply
            board.push(move)


hcpe = np.zeros(count, cshogi.HuffmanCodedPosAndEval)
psv = np.zeros(count, cshogi.PackedSfenValue)
expected = []
for i, (board, move, ply) in zip(range(count), positions()):
    score = draw.choice([0, draw.randint(-32_000, 32_000), draw.randint(-3_000, 3_000)])
    # who wins: 0 for nobody, 1 for Black, 2 for White, as in cshogi
    winner = draw.randint(0, 2)
    board.to_hcp(hcpe[i]["hcp"])
    board.to_psfen(psv[i]["sfen"])
    hcpe[i]["eval"], hcpe[i]["bestMove16"], hcpe[i]["gameResult"] = score, cshogi.move16(move), winner
    own = 0 if winner == 0 else 1 if winner - 1 == board.turn else -1
    psv[i]["score"], psv[i]["gamePly"], psv[i]["game_result"] = score, ply, own
    expected.append(("black" if board.turn == cshogi.BLACK else "white", score, (own + 1) / 2, ply))

with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    for name, data, field in [("a.hcpe", hcpe, "eval"), ("a.psv", psv, "score")]:
        file = folder / name
        data.tofile(file)
        out = folder / (name + ".csv")
        options = ["--annotator", "X", "--window", "1", "--mate-threshold", "40000", "--out", str(out)]
        subprocess.run([program, "sample", str(file), *options, "--quiet"], check=True)
        rows = list(csv.DictReader(out.open(encoding="utf-8")))
        read = [(row["color"], int(row["score_cp"]), float(row["result"]), int(row["ply"])) for row in rows]
        wanted = expected if name == "a.psv" else [(*row[:3], None) for row in expected]
        read = read if name == "a.psv" else [(*row[:3], None) for row in read]
        different = sum(a != b for a, b in zip(sorted(read, key=str), sorted(wanted, key=str)))
        print(f"{name}: {len(rows)} of {count} positions read, {different} different")
        new = ["--from-scale", "300", "--to-scale", "600", "--out", str(folder / "new")]
        subprocess.run([program, "rescale", str(file), *new, "--quiet"], check=True)
        after = np.fromfile(folder / "new" / name, data.dtype)
        old = data[field].astype(int)
        twice = np.where(abs(old) >= MATE, old, np.clip(2 * old, 1 - MATE, MATE - 1))
        wrong = int((after[field] != twice).sum())
        after[field] = data[field]
        print(f"{name}: {wrong} rescaled scores wrong, the rest {'the same' if after.tobytes() == data.tobytes() else 'CHANGED'}")
