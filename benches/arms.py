#!/usr/bin/env python3
"""Win rates of the arms of gauntlets, from the results.csv of evalcurve play.

    python3 benches/arms.py RESULTS.csv … --games games.csv --arms arms.csv [--members]
    python3 benches/arms.py TOURNAMENT.csv MORE.csv … --against ARM [--between ARM=MS ARM=MS --at MS]
    python3 benches/arms.py --moves GAMES.csa … > moves.txt

Joins the results into one table (for evalcurve match-stats), prints wins, draws and losses of each arm against each
opponent, and writes each arm's win rate with its 95% Wilson interval (for the figure; see draw_forest in crates/figures).
With --members, arms that are opponents themselves count half a point per game against themselves, which was not played,
as Hanawa and Ito (2009, table 2) do.

The second form compares each arm of the further tables, of which the first may be one, with an arm of the first table
against the same opponent: in points per game and in Elo, with 95% intervals, and p corrected by Holm over these arms. The
unit is an opening with both colours. Each arm is averaged over all of its openings: these results do not correlate by
opening, so that pairing would buy nothing and cost the openings that only one arm has played (the correlation is printed).
Openings with a game that was lost on time or broken off are left out, and counted.
--between adds what lies between two of them at a time per move, linear in the logarithm of the time.

The third form writes games of shogi or 5x5 shogi in CSA, which begin from the usual position, as lines of USI moves
(for evalcurve council --positions).
"""
import argparse, collections, csv, math, re, sys

LETTER = {"KY": "L", "KE": "N", "FU": "P", "GI": "S", "KI": "G", "KA": "B", "HI": "R"}
POINTS = {"win": 0.0, "draw": 0.5, "loss": 1.0}  # of the arm, which is the opponent in the results
Z = 1.959963984540054


def usi_moves(game):
    # the squares of P1 to P9 from file 9 to 1, three characters each
    board = {(9 - i, int(rank)): row[3 * i + 1:3 * i + 3]
             for rank, row in re.findall(r"^P([1-9])(.*)$", game, re.M) for i in range(9)}
    moves = []
    for *squares, piece in re.findall(r"^[+-](\d)(\d)(\d)(\d)([A-Z]{2})", game, re.M):
        source, target = tuple(map(int, squares[:2])), tuple(map(int, squares[2:]))
        name = lambda square: f"{square[0]}{chr(96 + square[1])}"
        if source == (0, 0):
            moves.append(f"{LETTER[piece]}*{name(target)}")
        else:
            moves.append(name(source) + name(target) + ("+" if board.pop(source) != piece else ""))
        board[target] = piece
    return moves


def wilson(points, games):
    p, z2 = points / games, Z * Z / games
    middle, half = (p + z2 / 2) / (1 + z2), Z * math.sqrt(p * (1 - p) / games + z2 / (4 * games)) / (1 + z2)
    return p, middle - half, middle + half


UNFINISHED = {"time_up", "abnormal"}


def by_opening(path):
    """Points of each arm in each opening with both colours."""
    found, left_out = collections.defaultdict(lambda: collections.defaultdict(list)), collections.defaultdict(set)
    for row in csv.DictReader(open(path, encoding="utf-8")):
        place = row["player"], row["opening"]
        found[row["opponent"]][place].append(POINTS[row["result"]])
        if row["termination"] in UNFINISHED:
            left_out[row["opponent"]].add(place)
    for arm, places in left_out.items():
        print(f"{path}: {len(places)} openings of {arm} left out: a game was lost on time or broken off", file=sys.stderr)
    return {arm: {place: sum(points) / 2 for place, points in of.items()
                  if len(points) == 2 and place not in left_out[arm]} for arm, of in list(found.items())}


def correlation(a, b):
    both = [place for place in a if place in b]
    p, q = (sum(of[place] for place in both) / len(both) for of in (a, b))
    product = lambda x, y, p, q: sum((x[place] - p) * (y[place] - q) for place in both)
    return product(a, b, p, q) / math.sqrt(product(a, a, p, p) * product(b, b, q, q))


def compare(first, others, name, between, at):
    reference, rows = by_opening(first)[name], []
    arms = {arm: points for path in others for arm, points in by_opening(path).items() if arm != name}
    mean = lambda points: sum(points.values()) / len(points)
    variance = lambda points: sum((v - mean(points)) ** 2 for v in points.values()) / (len(points) - 1) / len(points)
    q, of_q = mean(reference), variance(reference)
    if between:
        (low, x), (high, y) = between
        share = math.log(at / x) / math.log(y / x)
        both = [place for place in arms[low] if place in arms[high]]
        arms[f"between at {at} ms"] = {place: (1 - share) * arms[low][place] + share * arms[high][place] for place in both}
    for arm, points in arms.items():
        p, of_p = mean(points), variance(points)
        elo = lambda x: 400 * math.log10(x / (1 - x))
        slope = lambda x: 400 / math.log(10) / (x * (1 - x))
        half, elo_half = Z * math.sqrt(of_p + of_q), Z * math.sqrt(slope(p) ** 2 * of_p + slope(q) ** 2 * of_q)
        value = math.erfc(abs((p - q) / half * Z) / math.sqrt(2)) if half else 1.0
        rows.append((value, arm, len(points), p, half, elo(p) - elo(q), elo_half, correlation(points, reference)))
    corrected = 0.0
    print(f"{name}: {q:.3f} in {len(reference)} openings")
    print("arm", "openings", "win rate", "difference", "Elo", "p", "Holm p", "correlation", sep=" | ")
    for rank, (value, arm, n, p, half, elo, elo_half, r) in enumerate(sorted(rows)):
        corrected = max(corrected, min(1.0, value * (len(rows) - rank)))
        print(arm, n, f"{p:.3f}", f"{p - q:+.3f} ± {half:.3f}", f"{elo:+.0f} ± {elo_half:.0f}", f"{value:.2g}", f"{corrected:.2g}", f"{r:+.2f}", sep=" | ")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+")
    p.add_argument("--games")
    p.add_argument("--arms")
    p.add_argument("--members", action="store_true")
    p.add_argument("--against")
    p.add_argument("--between", nargs=2, type=lambda text: (text.rpartition("=")[0], float(text.rpartition("=")[2])))
    p.add_argument("--at", type=float)
    p.add_argument("--moves", action="store_true")
    a = p.parse_args()
    if a.moves:
        for path in a.files:
            for game in open(path, encoding="utf-8").read().split("\n/\n"):
                moves = usi_moves(game)
                if moves:
                    print("startpos moves", *moves)
        return
    if a.against:
        compare(a.files[0], a.files[1:], a.against, a.between, a.at)
        return
    kept = ["pair", "game", "player", "opponent", "opening", "colour", "result", "termination", "plies"]
    rows, offset = [], 0
    for path in a.files:
        read = [{key: row[key] for key in kept} for row in csv.DictReader(open(path, encoding="utf-8"))]
        for row in read:
            row["pair"] = offset + int(row["pair"])
        offset = max(row["pair"] for row in read)
        rows += read
    if a.games:
        with open(a.games, "w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, kept, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    table = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        table[row["opponent"]][row["player"]].append(POINTS[row["result"]])
    opponents = list(dict.fromkeys(row["player"] for row in rows))
    print("arm", *opponents, "win rate", sep=" | ")
    arms = []
    for arm, against in table.items():
        all_points = [point for points in against.values() for point in points]
        rate = wilson(sum(all_points), len(all_points))
        if a.members and arm in opponents:
            share = len(against) / len(opponents)
            rate = [share * value + (1 - share) / 2 for value in rate]
        cells = ["{}-{}-{}".format(*(points.count(x) for x in (1.0, 0.5, 0.0))) if points else "–"
                 for points in (against.get(opponent, []) for opponent in opponents)]
        print(arm, *cells, "{:.3f} [{:.3f}, {:.3f}]".format(*rate), sep=" | ")
        arms.append((arm, *rate))
    if a.arms:
        with open(a.arms, "w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(["arm", "win_rate", "low", "high"])
            for arm, *rate in sorted(arms, key=lambda row: -row[1]):
                writer.writerow([arm] + [f"{value:.4f}" for value in rate])


main()
