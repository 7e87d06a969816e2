#!/usr/bin/env python3
"""Searches for the section "Equal total time" of docs/experiments.md: what engines say at every amount of time.

    peers/bin/python benches/searches.py units data/experiments/equal-time/chess-units.json GAMES.pgn … --out chess-units.jsonl
    python3 benches/searches.py units data/experiments/equal-time/shogi-units.json games.txt --out shogi-units.jsonl
    python3 benches/searches.py deeper data/experiments/equal-time/chess-deeper.json chess.jsonl --out chess-deeper.jsonl

`units` draws positions from games (PGN with PyPI chess, or lines of USI moves). Each member searches each of them once, to 8 units
of nodes; what it had printed by then is what it says at less. It also judges each move that a member preferred within 3
units, in the position after it, to 3 units, and a stronger engine judges every preferred move. `deeper` takes the
positions of a vote log: each member searches longer, and the judge scores the moves that it has not judged in the log.

One engine searches at a time, at the lowest priority, each time with an empty hash table. A run that was stopped goes on.
"""

import argparse
import json
import os
import random
import select
import subprocess
import sys
import time

UNITS = [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8]
JUDGED_UNITS = [0.5, 1, 2, 3]
MATE = 100_000
SLOW_START = 600


class Engine:
    def __init__(self, spec, usi):
        self.spec, self.usi = spec, usi
        self.start()

    def start(self):
        command = ["nice", "-n", "19", *self.spec["command"]]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.buffer = b""
        self.send("usi" if self.usi else "uci")
        self.until(("usiok", "uciok"), SLOW_START)
        for name, value in self.spec.get("options", {}).items():
            self.send(f"setoption name {name} value {value}")
        self.send("isready")
        self.until(("readyok",), SLOW_START)

    def restart(self):
        self.process.kill()
        self.process.wait()
        self.start()

    def send(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def until(self, words, seconds):
        due, lines = time.time() + seconds, []
        while not lines or lines[-1].split(" ")[0] not in words:
            while b"\n" not in self.buffer:
                left = due - time.time()
                if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                    raise TimeoutError(self.spec["name"])
                got = os.read(self.process.stdout.fileno(), 65536)
                if not got:
                    raise EOFError(self.spec["name"])
                self.buffer += got
            line, _, self.buffer = self.buffer.partition(b"\n")
            lines.append(line.decode(errors="replace").strip())
        return lines

    def cpu(self):
        """Seconds of processor time (Linux)."""
        fields = open(f"/proc/{self.process.pid}/stat").read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def search(self, position, go):
        """(nodes, move, score) of every exact line of the best move, the answer, and the processor time."""
        before = self.cpu()
        new = "isready\nusinewgame" if self.usi else "ucinewgame"
        self.send(f"{new}\nposition {position}\n{go}")
        lines = [line.split() for line in self.until(("bestmove",), 120)]
        found = [line for words in lines if (line := self.line(words))]
        answer = lines[-1][1] if len(lines[-1]) > 1 else None
        return found, answer, round(self.cpu() - before, 3)

    def line(self, words):
        if words[:1] != ["info"] or not {"pv", "score"} <= set(words) or {"lowerbound", "upperbound"} & set(words):
            return None
        after = lambda word, at=1: words[words.index(word) + at]
        if "multipv" in words and after("multipv") != "1":
            return None
        value = after("score", 2)
        if after("score") == "mate":
            score = -MATE if value.startswith("-") else MATE
        else:
            score = int(value)
            if abs(score) >= self.spec.get("mate", 29_000):
                score = MATE if score > 0 else -MATE
        return int(after("nodes")) if "nodes" in words else 0, after("pv"), score


def at(found, nodes):
    """Move and score of the last line by then, or of the first one."""
    known = [line for line in found if line[0] <= nodes] or found[:1]
    return list(known[-1][1:]) if known else None


def after(position, move):
    return f"{position} {move}" if " moves " in position else f"{position} moves {move}"


def ended(board, move):
    """The score of a move that ends a game of chess."""
    if board is None:
        return None
    board = board.copy(stack=False)
    board.push_uci(move)
    if board.is_checkmate():
        return MATE
    return 0 if board.is_stalemate() or board.is_insufficient_material() else None


def positions(config, paths):
    if config["game"] == "chess":
        import chess.pgn

        number = 0
        for path in paths:
            with open(path, errors="replace") as stream:
                while (game := chess.pgn.read_game(stream)) is not None:
                    number += 1
                    board = game.board()
                    for ply, move in enumerate(game.mainline_moves()):
                        if ply in config["plies"] and board.legal_moves.count() > 1:
                            yield number, ply, "fen " + board.fen(), board.copy(stack=False)
                        board.push(move)
        return
    for number, line in enumerate(open(paths[0]), 1):
        moves = line.split()[2:]
        for ply in config["plies"]:
            if len(moves) > ply + 8:
                yield number, ply, "startpos moves " + " ".join(moves[:ply]), None


def in_units(config, members, judge, position, board):
    said, cpu, judged, truth = {}, {}, {}, {}
    for name, engine in members.items():
        unit, ask = engine.spec["unit"], engine.spec.get("ask", 1)
        found, _, cpu[name] = engine.search(position, f"go nodes {round(UNITS[-1] * unit * ask)}")
        said[name] = [at(found, unit * k) for k in UNITS]
    preferred = lambda most: list(dict.fromkeys(s[0] for who in said.values() for k, s in zip(UNITS, who) if s and k <= most))
    early, moves = preferred(3), preferred(8)
    for name, engine in members.items() if len(early) > 1 else []:
        unit, ask, scores = engine.spec["unit"], engine.spec.get("ask", 1), judged.setdefault(name, {})
        for move in early:
            end = ended(board, move)
            found, answer = [], None
            if end is None:
                found, answer, _ = engine.search(after(position, move), f"go nodes {round(JUDGED_UNITS[-1] * unit * ask)}")
                end = MATE if not found and answer in ("resign", "(none)") else None
            lines = [at(found, unit * k) for k in JUDGED_UNITS]
            scores[move] = [end if end is not None else s and -s[1] for s in lines]
    for move in moves if len(moves) > 1 else []:
        truth[move] = judgement(judge, config, position, board, move)
    return {"position": position, "said": said, "judged": judged, "truth": truth, "cpu": cpu}


def judgement(judge, config, position, board, move):
    end = ended(board, move)
    if end is None:
        found, _, _ = judge.search(after(position, move), config["judge"]["go"])
        end = -found[-1][2] if found else MATE
    return end


def deeper(config, members, judge, row, number):
    said, cpu = {}, {}
    for name, engine in members.items():
        if number % engine.spec.get("every", 1) == 0:
            found, answer, seconds = engine.search(row["position"], engine.spec["go"])
            said[name], cpu[name] = [line for line in found if line[0]], [seconds, answer]
    vote = next((v for v in row["votes"] if v["voter"] == config["judge"]["name"]), {})
    known = {m["move"] for m in vote.get("judged", [])} | {vote.get("move")}
    new = {move for lines in said.values() for _, move, _ in lines[-config["last"]:]} - known
    return {"said": said, "cpu": cpu, "judged": {m: judgement(judge, config, row["position"], None, m) for m in sorted(new)}}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["units", "deeper"])
    p.add_argument("config")
    p.add_argument("files", nargs="+")
    p.add_argument("--out", required=True)
    a = p.parse_args()
    config = json.load(open(a.config, encoding="utf-8"))
    usi = config["game"] != "chess"
    members = {m["name"]: Engine(m, usi) for m in config["members"]}
    judge = Engine(config["judge"], usi)
    if a.what == "units":
        todo = [({"game": number, "ply": ply}, (text, board)) for number, ply, text, board in positions(config, a.files)]
    else:
        rows = [row for row in map(json.loads, open(a.files[0], encoding="utf-8")) if "votes" in row]
        todo = [({"game_id": row["game_id"], "ply": row["ply"]}, row) for row in rows]
    random.Random(36).shuffle(todo)
    done = []
    if os.path.exists(a.out):
        done = [{key: row[key] for key in todo[0][0]} for row in map(json.loads, open(a.out, encoding="utf-8"))]
    with open(a.out, "a", encoding="utf-8") as out:
        for number, (place, what) in enumerate(todo):
            if place in done:
                continue
            try:
                found = in_units(config, members, judge, *what) if a.what == "units" else deeper(config, members, judge, what, number)
            except (TimeoutError, EOFError, BrokenPipeError) as error:
                print(place, repr(error), file=sys.stderr)
                for engine in [*members.values(), judge]:
                    engine.restart()
                continue
            out.write(json.dumps({**place, **found}, separators=(",", ":")) + "\n")
            out.flush()
    for engine in [*members.values(), judge]:
        engine.process.kill()


if __name__ == "__main__":
    main()
