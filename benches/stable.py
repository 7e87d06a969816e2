#!/usr/bin/env python3
"""An engine that takes less time where its best move is stable and more where it is not (docs/does-a-council-pay.md).

    python3 benches/stable.py --low 30000 --high 110000 -- carp

speaks UCI or USI as the engine does. Any `go` becomes `go nodes HIGH`. The search is stopped after an iteration of LOW nodes
or more whose best move has been the same for --same iterations. So no time is lost in an iteration that does not end.
"""

import argparse
import subprocess
import sys
import threading


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--low", type=int, required=True, help="nodes after which a stable best move ends the search")
    p.add_argument("--high", type=int, required=True, help="nodes at most")
    p.add_argument("--same", type=int, default=3, help="iterations with the same best move (3)")
    p.add_argument("command", nargs="+")
    a = p.parse_args()
    engine = subprocess.Popen(a.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", errors="replace")
    lock = threading.Lock()

    def send(line):
        with lock:
            engine.stdin.write(line + "\n")
            engine.stdin.flush()

    def ask():
        for line in sys.stdin:
            send(f"go nodes {a.high}" if line.startswith("go") else line.rstrip("\n"))
        send("quit")

    threading.Thread(target=ask, daemon=True).start()
    best, same, stopped = None, 0, False
    for line in engine.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        words = line.split()
        if words[:1] == ["bestmove"]:
            best, same, stopped = None, 0, False
        elif words[:1] == ["info"] and "pv" in words and "nodes" in words and "upperbound" not in words and "lowerbound" not in words:
            move = words[words.index("pv") + 1]
            same = same + 1 if move == best else 0
            best = move
            if not stopped and same >= a.same and int(words[words.index("nodes") + 1]) >= a.low:
                stopped = True
                send("stop")


if __name__ == "__main__":
    main()
