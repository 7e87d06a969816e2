#!/usr/bin/env python3
"""Calibrates the engines of records with one or more builds of evalcurve and with the parts of it that peers do.

    python3 -m venv peers && peers/bin/pip install numpy pandas scikit-learn statsmodels
    peers/bin/python benches/speed_peers.py --evalcurve old/evalcurve target/release/evalcurve --records games/ --ordo ./ordo

statsmodels and scikit-learn fit one logistic regression for each engine with 30 games, statsmodels with a covariance
clustered by game. That is the part `maximum-likelihood` of what evalcurve does, without the joint fit, the scores out of
sample, the checks and the files; reading is not counted for them. Ordo (https://github.com/michiguel/Ordo) rates all
players of the games, beside `evalcurve match-stats`. All run one after the other; user CPU seconds are medians.
"""
import argparse, os, pathlib, resource, statistics, subprocess, sys, tempfile, time, warnings


def child(command):
    """User CPU and wall seconds and peak memory in MB of a program."""
    start = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{command} ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime, usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss / 1024


def own(work):
    """User CPU seconds of this process."""
    start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    work()
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime - start


def say(name, runs):
    user, system, wall, memory = (statistics.median(column) for column in zip(*runs))
    # a program begins with the memory of this process, which is much with the packages of the peers
    memory = f"{memory:.0f}" if "pandas" not in sys.modules else ""
    print(f"| {name} | {user:.2f} | {system:.2f} | {wall:.2f} | {memory} |", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--evalcurve", nargs="+", required=True)
    p.add_argument("--records", required=True)
    p.add_argument("--ordo")
    p.add_argument("--runs", type=int, default=3)
    a = p.parse_args()
    print("| program | user CPU s | system s | wall s | memory MB |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for plots in (["--no-plots"], []):
            runs = {program: [] for program in a.evalcurve}
            for i in range(a.runs):
                for program in a.evalcurve:
                    out = folder / f"out{i}{len(plots)}{a.evalcurve.index(program)}"
                    runs[program].append(child([program, "calibrate", a.records, *plots, "--out", out]))
            for program in a.evalcurve:
                say(" ".join([program, "calibrate", *plots]), runs[program])
        table = folder / "samples.csv"
        child([a.evalcurve[-1], "sample", a.records, "--out", table])

        import pandas, statsmodels.api
        from sklearn.linear_model import LogisticRegression

        samples = pandas.read_csv(table, low_memory=False)
        fitted = samples[~samples["mate"].astype(str).eq("true") & samples["mate"].astype(str).ne("True")]
        engines = [of for _, of in fitted.groupby("engine") if len(of) >= 30 and of["game"].nunique() >= 30]
        warnings.simplefilter("ignore")

        def logit():
            for of in engines:
                x = statsmodels.api.add_constant(of["score_cp"].to_numpy() / 1000)
                groups = of["game"].factorize()[0]
                model = statsmodels.api.GLM(of["result"].to_numpy(), x, family=statsmodels.api.families.Binomial())
                try:
                    model.fit(cov_type="cluster", cov_kwds={"groups": groups})
                except Exception:  # separated, or one result only
                    pass

        def sklearn():
            for of in engines:
                # a draw is half a win and half a loss
                x = of["score_cp"].to_numpy().reshape(-1, 1) / 1000
                y, n = of["result"].to_numpy(), len(of)
                both = [0] * n + [1] * n
                try:
                    LogisticRegression(C=1e9).fit([*x, *x], both, sample_weight=[*(1 - y), *y])
                except ValueError:
                    pass

        for name, work in ((f"statsmodels GLM, clustered, {len(engines)} engines", logit),
                           (f"scikit-learn LogisticRegression, {len(engines)} engines", sklearn)):
            print(f"| {name} | {statistics.median(own(work) for _ in range(a.runs)):.2f} | | | |", flush=True)

        games = samples.drop_duplicates("game")
        pgn = folder / "games.pgn"
        with pgn.open("w") as out:
            for engine, opponent, color, result in zip(games["engine"], games["opponent"], games["color"], games["result"]):
                white, black = (engine, opponent) if color == "black" else (opponent, engine)
                own_side = result if color == "black" else 1 - result
                word = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}[own_side]
                out.write(f'[White "{white}"]\n[Black "{black}"]\n[Result "{word}"]\n\n{word}\n\n')
        say(f"evalcurve match-stats of {len(games)} games",
            [child([a.evalcurve[-1], "match-stats", pgn]) for _ in range(a.runs)])
        if a.ordo:
            ratings = folder / "ordo.txt"
            say("Ordo of the same games", [child([a.ordo, "-G", "-M", "-q", "-p", pgn, "-o", ratings]) for _ in range(a.runs)])


main()
