#!/usr/bin/env python3
"""Compares evalcurve with other tools: cshogi's CSA parser, scoreWDLstat, tsshogi, statsmodels' Logit and zstd.

    python3 -m venv peers && peers/bin/pip install cshogi==1.1.0 numpy scipy statsmodels
    cargo build --release --locked
    cargo bench --bench fitting -- --rows rows.bin
    peers/bin/python benches/peers.py --evalcurve target/release/evalcurve --csa big.csa --rows rows.bin --zst games.tar.zst

    python3 benches/fishtest_like.py --repeat 80 TCEC*.pgn > like.pgn   # and build scoreWDLstat of official-stockfish/WDL_model
    … --evalcurve target/release/evalcurve --pgn like.pgn --scorewdlstat ./scoreWDLstat
    npm install tsshogi@2.2.0 && cp benches/tsshogi.mjs .               # FOLDER holds KIF files in UTF-8
    … --evalcurve target/release/evalcurve --kif FOLDER --tsshogi ./tsshogi.mjs

Both programs of a pair run alternately on the same machine, and the medians are printed. A comparison whose inputs are
missing is skipped with a message.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile, time


def seconds(work, runs):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return times


def alternate(a, b, runs):
    ta, tb = [], []
    for _ in range(runs):
        ta += seconds(a, 1)
        tb += seconds(b, 1)
    return statistics.median(ta), statistics.median(tb)


def run(*command):
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("evalcurve", "csa", "rows", "zst", "pgn", "scorewdlstat", "kif", "tsshogi"):
        p.add_argument("--" + name)
    p.add_argument("--runs", type=int, default=15)
    a = p.parse_args()

    if a.csa and a.evalcurve:
        import cshogi.CSA
        size = os.path.getsize(a.csa) / 1e6

        def parse():
            # read and parse the file, and look at the scores, which is what evalcurve is after
            return sum(len(game.scores) for game in cshogi.CSA.Parser.parse_file(a.csa))

        theirs = statistics.median(seconds(parse, 5))
        with tempfile.TemporaryDirectory() as d:
            out = os.path.join(d, "s.parquet")
            ours = statistics.median(seconds(run(a.evalcurve, "sample", a.csa, "--threads", "1", "--out", out, "--force"), a.runs))
        print(f"CSA: cshogi {theirs:.2f} s ({size / theirs:.0f} MB/s); evalcurve sample, the whole program with the table written, "
              f"one thread {ours:.3f} s ({size / ours:.0f} MB/s): {theirs / ours:.1f} times as fast")
    else:
        print("SKIPPED: CSA against cshogi (--csa and --evalcurve)")

    if a.pgn and a.evalcurve and a.scorewdlstat:
        size = os.path.getsize(a.pgn) / 1e6
        for n in ("1", "2"):
            with tempfile.TemporaryDirectory() as d:
                theirs, ours = alternate(
                    run(a.scorewdlstat, "--file", a.pgn, "--concurrency", n, "-o", os.path.join(d, "x.json")),
                    run(a.evalcurve, "sample", a.pgn, "--threads", n, "--out", os.path.join(d, "s.parquet"), "--force", "-q"),
                    max(3, a.runs // 3))
            print(f"PGN, {n} thread(s): scoreWDLstat {theirs:.2f} s ({size / theirs:.0f} MB/s); evalcurve sample with the table written "
                  f"{ours:.2f} s ({size / ours:.0f} MB/s): {theirs / ours:.1f} times as fast")
        said = subprocess.run([a.scorewdlstat, "--file", a.pgn, "-o", os.devnull], capture_output=True, text=True).stdout
        found = json.loads(subprocess.run([a.evalcurve, "inspect", a.pgn, "--json", "-q"], capture_output=True, text=True).stdout)
        print(f"     positions: {said.splitlines()[-1]}; evalcurve {found['scores']['scored']}")
    else:
        print("SKIPPED: PGN against scoreWDLstat (--pgn, --scorewdlstat and --evalcurve)")

    if a.kif and a.evalcurve and a.tsshogi:
        files = [os.path.join(a.kif, f) for f in os.listdir(a.kif) if f.endswith((".kif", ".kifu"))]
        size = sum(map(os.path.getsize, files)) / 1e6
        said = json.loads(subprocess.run(["node", a.tsshogi, a.kif, "5"], check=True, capture_output=True, text=True).stdout)
        ours = statistics.median(seconds(run(a.evalcurve, "inspect", a.kif, "--threads", "1", "-q"), a.runs))
        theirs = said["seconds"]
        print(f"KIF: tsshogi {theirs:.2f} s ({size / theirs:.1f} MB/s, parsing alone); evalcurve inspect, the whole program over {len(files)} "
              f"files, one thread {ours:.3f} s ({size / ours:.0f} MB/s): {theirs / ours:.0f} times as fast")
    else:
        print("SKIPPED: KIF against tsshogi (--kif, --tsshogi and --evalcurve)")

    if a.zst and a.evalcurve:
        zstd, ours = alternate(run("zstd", "-dc", a.zst), run(a.evalcurve, "inspect", a.zst, "--json"), a.runs)
        print(f"archive: zstd -dc {zstd * 1e3:.0f} ms, evalcurve inspect {ours * 1e3:.0f} ms: ratio {ours / zstd:.2f}")
    else:
        print("SKIPPED: archive against zstd (--zst and --evalcurve)")

    if a.rows:
        import numpy as np, statsmodels.api as sm
        rows = np.fromfile(a.rows, dtype=[("game", "<u8"), ("score", "<i4"), ("result2", "<i4")])
        y = rows["result2"] / 2.0
        x = np.column_stack([rows["score"] / 1000.0, -np.ones(len(rows))])

        def logit():
            global fitted
            fitted = sm.Logit(y, x).fit(disp=0)

        t = statistics.median(seconds(logit, 3))
        print(f"statsmodels Logit, {len(rows)} rows: {t:.2f} s without clustered covariance; w1 {fitted.params[0] / 1000:.9e}, w2 {fitted.params[1]:.9e}")
        print("compare with the line of maximum_likelihood that the fitting bench printed")
    else:
        print("SKIPPED: statsmodels (--rows)")


main()
