"""Fuzz every target in turn, log what was run, and bring the table in fuzz/runs.md up to date.

    nice -n 19 python3 fuzz/run.py --seconds 400 --jobs 2 --rounds 1 [TARGET ...]
    python3 fuzz/run.py --table

Every turn adds a row to fuzz/runs.csv: time (UTC), commit, target, executions, CPU seconds of the process, and libFuzzer's
`cov` and `ft`. The first run unpacks fuzz/corpus.tar.gz. The table sums executions and CPU seconds and shows the highest `cov` and `ft`. Working corpora and failures
stay out of version control, in fuzz/target/corpora and fuzz/artifacts. Ctrl-C ends the turns and logs them. Needs cargo-fuzz,
nightly Rust, Linux or macOS, and no Python package.
"""

import argparse
import collections
import csv
import datetime
import itertools
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading

FUZZ = pathlib.Path(__file__).resolve().parent
TARGETS = re.findall(r'^name = "(\w+)"\npath', (FUZZ / "Cargo.toml").read_text(), re.M)
SHORT = {"chess", "shogi", "minishogi", "svg", "growth"}  # longer inputs cost time here and reach no more code
TIMEOUT = 20  # seconds of wall time, not 10: other work on the machine may come first
RUNS = FUZZ / "runs.csv"
CORPUS = FUZZ / "corpus.tar.gz"
ROW = re.compile(r"^\| (`(\w+)`|all) \|.*$", re.M)
stopping = threading.Event()
writing = threading.Lock()


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=FUZZ).stdout


def build():
    """Builds all targets, unpacks their inputs, and gives the folder of their programs."""
    if not (FUZZ / "corpus").exists():
        shutil.unpack_archive(CORPUS, FUZZ)
    subprocess.run(["cargo", "+nightly", "fuzz", "build", "-s", "none"], check=True, cwd=FUZZ.parent)
    host = re.search(r"^host: (.*)$", output("rustc", "+nightly", "-vV"), re.M)[1]
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", FUZZ / "target")) / host / "release"


def turn(programs, commit, target, seconds):
    """Runs one target and logs the turn. Gives whether it found nothing."""
    corpus, artifacts = FUZZ / "target" / "corpora" / target, FUZZ / "artifacts" / target
    for folder in (corpus, artifacts):
        folder.mkdir(parents=True, exist_ok=True)
    log = corpus.parent / f"{target}.log"
    began = datetime.datetime.now(datetime.timezone.utc)
    with log.open("wb") as file:
        process = subprocess.Popen(
            [programs / target, corpus, FUZZ / "corpus" / target, f"-artifact_prefix={artifacts}/",
             f"-dict={FUZZ}/dictionaries/{target}.dict", f"-max_total_time={seconds}", f"-timeout={TIMEOUT}",
             "-rss_limit_mb=1024", f"-max_len={1024 if target in SHORT else 8192}", "-print_final_stats=1"],
            stdout=file, stderr=file, stdin=subprocess.DEVNULL)  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    text = log.read_text(errors="replace")
    states = re.findall(r"^#(\d+)\s+\w+\s+cov: (\d+) ft: (\d+)", text, re.M)
    last = re.search(r"^stat::number_of_executed_units: (\d+)", text, re.M)
    executions = int(last[1]) if last else max((int(state[0]) for state in states), default=0)
    row = [began.strftime("%Y-%m-%dT%H:%M"), commit, target, executions, round(usage.ru_utime + usage.ru_stime)]
    row += [max(map(int, column)) for column in list(zip(*states))[1:]] or [0, 0]
    with writing, RUNS.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(row)
    quiet = status == 0 or stopping.is_set()
    print(*row[2:], "" if quiet else f"FAILED: see {log} and {artifacts}", flush=True)
    return quiet


def table():
    """Brings the figures of the table in runs.md up to date; what was found is kept."""
    sums = {}
    with RUNS.open(newline="") as file:
        for row in csv.DictReader(file):
            figures = sums.setdefault(row["target"], [0, 0, 0, 0])
            figures[0] += int(row["executions"])
            figures[1] += int(row["cpu_seconds"])
            figures[2:] = max(figures[2], int(row["cov"])), max(figures[3], int(row["ft"]))
    with tarfile.open(CORPUS) as archive:
        files = collections.Counter(name.split("/")[1] for name in archive.getnames())

    def row(match):
        target = match[2]
        if target is None:
            total = [sum(figures[column] for figures in sums.values()) for column in (0, 1)]
            return f"| all | {total[0]:,} | {total[1]:,} | | | {sum(files.values()):,} | |"
        executions, cpu, cov, ft = sums.get(target, [0, 0, 0, 0])
        found = match[0].rstrip("|").rsplit("|", 1)[1].strip()
        return f"| `{target}` | {executions:,} | {cpu:,} | {cov:,} | {ft:,} | {files[target]:,} | {found} |"

    page = FUZZ / "runs.md"
    head, rest = page.read_text(encoding="utf-8").split("| target | executions |")
    page.write_text(head + "| target | executions |" + ROW.sub(row, rest), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="default: all")
    parser.add_argument("--seconds", type=int, default=400, help="per turn (default 400)")
    parser.add_argument("--jobs", type=int, default=1, help="turns at a time (default 1)")
    parser.add_argument("--rounds", type=int, default=1, help="how often every target has its turn (default 1)")
    parser.add_argument("--table", action="store_true", help="only bring the table up to date")
    options = parser.parse_args()
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"there is no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    found = []
    if not options.table:
        programs = build()
        commit = output("git", "describe", "--always", "--dirty").strip()
        turns = queue.SimpleQueue()
        for target in itertools.chain(*[options.targets or TARGETS] * options.rounds):
            turns.put(target)

        def work():
            while not stopping.is_set():
                try:
                    target = turns.get_nowait()
                except queue.Empty:
                    return
                if not turn(programs, commit, target, options.seconds):
                    found.append(target)

        workers = [threading.Thread(target=work) for _ in range(options.jobs)]
        # the terminal sends Ctrl-C to the fuzzers too, which then print their figures
        signal.signal(signal.SIGINT, lambda *_: stopping.set())
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    table()
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
