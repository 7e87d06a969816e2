"""What a match runner adds to each move: evalcurve play and cshogi.cli with the same engine, which answers at once.

    python benches/play_peers.py [GAMES]

Needs the cshogi package, and evalcurve and evalcurve-testkit on PATH. The engine is evalcurve-testkit's, which plays
random legal moves. Five rounds in turn; printed are the medians per move of wall time and of CPU time, that of the
engines included.
"""

import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ENGINE = "#!/bin/sh\nexec evalcurve-testkit scripted-engine --think-ms 0\n"
TOURNAMENT = """
game = "shogi"
pairs = {pairs}
concurrency = 1
max-plies = 200
openings = {{ plies = 0 }}
[[engine]]
name = "A"
command = "./engine"
limit = {{ depth = 1 }}
[[engine]]
name = "B"
command = "./engine"
limit = {{ depth = 1 }}
"""


def run(command, folder):
    """Wall and CPU seconds, and what the command printed."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ran = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ran.stdout.decode()


def moves(folder, printed):
    """Moves played. The records of cshogi.cli have names by the second, so those of fast games replace each other."""
    ends = re.findall(r"まで(\d+)手", printed)
    record = folder / "t-games" / "games.csa"
    ours = len(re.findall(r"^[+-]\d{4}[A-Z]{2}", record.read_text(), re.M)) if record.exists() else 0
    return ours + sum(int(number) for number in ends)


def main(games):
    rates = {"evalcurve": [], "cshogi.cli": []}
    for _ in range(5):
        for name, seconds in rates.items():
            folder = pathlib.Path(tempfile.mkdtemp())
            engine = folder / "engine"
            engine.write_text(ENGINE)
            engine.chmod(0o755)
            (folder / "t.toml").write_text(TOURNAMENT.format(pairs=games // 2))
            (folder / "csa").mkdir()
            command = {
                "evalcurve": ["evalcurve", "play", "t.toml", "--quiet"],
                "cshogi.cli": [sys.executable, "-m", "cshogi.cli", engine, engine, "--name1", "A", "--name2", "B",
                               "--games", str(games), "--byoyomi", "1000", "--draw", "200", "--keep-process",
                               "--csa", "csa"],
            }[name]
            wall, cpu, printed = run([os.fspath(word) for word in command], folder)
            played = moves(folder, printed)
            seconds.append((1000 * wall / played, 1000 * cpu / played, played))
            shutil.rmtree(folder)
    print(f"runner      ms per move  CPU ms per move  moves  ({games} games, 5 rounds, one at a time)")
    for name, seconds in rates.items():
        wall, cpu, played = (statistics.median(column) for column in zip(*seconds))
        print(f"{name:10}  {wall:11.2f}  {cpu:15.2f}  {played:5}")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
