#!/usr/bin/env python3
"""How much thinking is a second round worth? Regret of cross-examination against the CPU time of its second round.

    python3 -m venv peers && peers/bin/pip install chess==1.11.2
    evalcurve council data/experiments/chess-council/council.toml --prepare
    peers/bin/python benches/second_round.py GAMES.pgn … --out votes.jsonl     # goes on where it was
    peers/bin/python benches/second_round.py --table data/experiments/chess-council/second-round.jsonl --out data/experiments/chess-council/second-round.csv

Members and depths are those of the council's configuration. At each position every member votes at its depth d, and alone
at d + 1 and d + 2. Every member then judges each move that another one voted for, in the position after it, at d, d - 1,
d - 2 and d - 3. A stronger engine (Stockfish, depth 11) evaluates every move that anybody chose, and its own. Regret is
the win rate that a move loses by that engine (1/(1+exp(-0.00368208 x)), as lichess has it).

Every job has processes of its own, and their CPU time is counted, so other work on the machine does not change the
figures. Moves and scores depend on the depths alone.
"""
import argparse, collections, csv, json, math, os, subprocess, sys, tomllib

JUDGED = [0, -1, -2, -3]
ALONE = [1, 2]
REFERENCE = ("stockfish", 11)
LICHESS = 0.00368208
MATE = 100_000

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("games", nargs="*")
p.add_argument("--config", default="data/experiments/chess-council/council.toml")
p.add_argument("--plies", default="28,52,76")
p.add_argument("--table", help="a file of votes: print the table instead of asking engines")
p.add_argument("--cpu", help="take CPU time from this file of votes, of a run that was not interrupted")
p.add_argument("--evalcurve", default="target/release/evalcurve")
p.add_argument("--out", required=True)
a = p.parse_args()
PLIES = [int(ply) for ply in a.plies.split(",")]
config = tomllib.load(open(a.config, "rb"))
members = config["engine"]


def cpu_seconds(pid):
    """User and system time of a process (Linux)."""
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def collect():
    import chess.engine

    def start(command, options):
        engine = chess.engine.SimpleEngine.popen_uci(command)
        engine.configure({k: v for k, v in options.items() if k in engine.options})
        return engine

    jobs = ["vote"] + [f"judge{o:+d}" for o in JUDGED] + [f"alone{o:+d}" for o in ALONE]
    engines = {(m["name"], job): start(m["command"], m.get("options", {})) for m in members for job in jobs}
    judge = start(REFERENCE[0], {"Threads": 1, "Hash": 16})
    cp = lambda score: score.score(mate_score=MATE)
    done = set()
    if os.path.exists(a.out):
        done = {(r["game"], r["ply"]) for r in map(json.loads, open(a.out)) if "game" in r}
    out = open(a.out, "a")
    try:
        for number, game in enumerate(games_of(a.games), 1):
            board = game.board()
            for ply, move in enumerate([*game.mainline_moves(), None]):
                if ply in PLIES and (number, ply) not in done and board.legal_moves.count() > 1:
                    out.write(json.dumps(position(engines, judge, board, number, ply, cp)) + "\n")
                    out.flush()
                if move is not None:
                    board.push(move)
    finally:
        times = {f"{name} {job}": round(cpu_seconds(e.transport.get_pid()), 2) for (name, job), e in engines.items()}
        out.write(json.dumps({"cpu_seconds": times}) + "\n")
        for engine in [*engines.values(), judge]:
            engine.quit()


def games_of(paths):
    import chess.pgn

    for path in paths:
        with open(path, errors="replace") as stream:
            while (game := chess.pgn.read_game(stream)) is not None:
                yield game


def position(engines, judge, board, number, ply, cp):
    import chess.engine

    limit = lambda depth: chess.engine.Limit(depth=max(depth, 1))
    def ask(engine, depth, **more):
        info = engine.analyse(board, limit(depth), **more)
        return info["pv"][0].uci(), cp(info["score"].pov(board.turn))
    votes = {m["name"]: ask(engines[m["name"], "vote"], m["limit"]["depth"]) for m in members}
    alone = {m["name"]: [ask(engines[m["name"], f"alone{o:+d}"], m["limit"]["depth"] + o)[0] for o in ALONE] for m in members}
    voted = sorted({move for move, _ in votes.values()})
    judged = {}
    for m in members if len(voted) > 1 else []:
        for move in voted:
            if move == votes[m["name"]][0]:
                continue
            after = board.copy(stack=False)
            after.push_uci(move)
            scores = []
            for o in JUDGED:
                if after.is_game_over():
                    scores.append(MATE if after.is_checkmate() else 0)
                    continue
                info = engines[m["name"], f"judge{o:+d}"].analyse(after, limit(m["limit"]["depth"] + o))
                scores.append(cp(info["score"].pov(board.turn)))
            judged.setdefault(m["name"], {})[move] = scores
    best, _ = ask(judge, REFERENCE[1])
    moves = {best, *voted, *(move for list_ in alone.values() for move in list_)}
    import chess
    values = {move: ask(judge, REFERENCE[1], root_moves=[chess.Move.from_uci(move)])[1] for move in sorted(moves)}
    return {"game": number, "ply": ply, "votes": votes, "alone": alone, "judged": judged, "best": best, "values": values}


def table():
    rows = [line for line in map(json.loads, open(a.table)) if "game" in line]
    cpu, measured = collections.Counter(), 0
    for line in map(json.loads, open(a.cpu or a.table)):
        cpu.update(line.get("cpu_seconds", {}))
        measured += "game" in line
    # the calibrated logits between equals, by the program itself
    logits = {}
    for m in members:
        name = m["name"]
        scores = {r["votes"][name][1] for r in rows} | {s for r in rows for list_ in r["judged"].get(name, {}).values() for s in list_}
        scores = sorted(s for s in scores if abs(s) < MATE // 2)
        path = os.path.join(os.path.dirname(a.config), m["calibration"])
        asked = "\n".join(map(str, scores)) + "\n"
        command = [a.evalcurve, "winrate", path, "-", "--json"]
        text = subprocess.run(command, input=asked, capture_output=True, text=True, check=True).stdout
        rates = [value["win_rate"] for value in json.loads(text)["values"]]
        assert len(rates) == len(scores), (len(rates), len(scores))
        logits[name] = {s: math.log(r / (1 - r)) for s, r in zip(scores, rates)}
    logit = lambda name, s: logits[name].get(s, math.copysign(8.0, s))
    rate = lambda x: 1 / (1 + math.exp(-LICHESS * max(-2000, min(2000, x))))

    choices = {f"{m['name']} alone": lambda r, n=m["name"]: r["votes"][n][0] for m in members}
    choices |= {f"{m['name']} alone, d {o:+d}": lambda r, n=m["name"], i=i: r["alone"][n][i] for i, o in enumerate(ALONE) for m in members}

    def majority(r):
        count = collections.Counter(move for move, _ in r["votes"].values())
        top = max(count.values())
        return r["votes"][members[0]["name"]][0] if top == 1 else max(count, key=count.get)

    def optimistic(r):
        return max(r["votes"].items(), key=lambda item: logit(item[0], item[1][1]))[1][0]

    def examined(r, i):
        def mean(move):
            values = [logit(n, s if m == move else r["judged"][n][move][i]) for n, (m, s) in r["votes"].items()]
            return sum(values) / len(values)
        voted = {move for move, _ in r["votes"].values()}
        return max(sorted(voted), key=mean) if len(voted) > 1 else voted.pop()

    choices["majority"] = majority
    choices["winrate-optimistic"] = optimistic
    for i, o in enumerate(JUDGED):
        choices[f"cross-examination, second round at d {o:+d}"] = lambda r, i=i: examined(r, i)

    def regrets(choose):
        return [rate(max(r["values"].values())) - rate(r["values"][choose(r)]) for r in rows]

    found = {name: regrets(choose) for name, choose in choices.items()}
    mean = {name: sum(x) / len(x) for name, x in found.items()}
    best = min((f"{m['name']} alone" for m in members), key=mean.get)
    games = [r["game"] for r in rows]

    def against(x, y):
        """The mean difference and its standard error, clustered by game."""
        d = [u - v for u, v in zip(x, y)]
        centre, sums = sum(d) / len(d), collections.Counter()
        for game, v in zip(games, d):
            sums[game] += v - centre
        k = len(sums)
        return centre, math.sqrt(k / (k - 1) * sum(s * s for s in sums.values())) / len(d)

    def seconds(name):
        vote = sum(cpu[f"{m['name']} vote"] for m in members)
        if name.startswith("cross"):
            o = name.rsplit(" ", 1)[1]
            return vote + sum(cpu[f"{m['name']} judge{o}"] for m in members)
        if " alone" in name:
            who, _, more = name.partition(" alone")
            return cpu[f"{who} alone{more.removeprefix(', d ')}" if more else f"{who} vote"]
        return vote

    differ = sum(len({move for move, _ in r["votes"].values()}) > 1 for r in rows)
    print(f"{len(rows)} positions of {len(set(games))} games; votes differ in {differ}; best member: {best}")
    table = [["choice", "regret_percent", "against_best_member", "standard_error", "cpu_ms_per_position", "second_round_share"]]
    vote = sum(cpu[f"{m['name']} vote"] for m in members)
    for name in choices:
        d, e = against(found[name], found[best])
        t = seconds(name)
        share = f"{(t - vote) / t:.3f}" if name.startswith("cross") and t > 0 else ""
        table.append([name, f"{100 * mean[name]:.3f}", f"{100 * d:+.3f}", f"{100 * e:.3f}", f"{1000 * t / measured:.1f}", share])
    for row in table:
        print("{:<44} {:>15} {:>20} {:>15} {:>20} {:>19}".format(*row))
    with open(a.out, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(table)


table() if a.table else collect()
