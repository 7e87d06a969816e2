#!/usr/bin/env python3
"""Makes data/atlas from game records: what a pawn meant to engines that published their scores.

    python3 benches/atlas.py target/release/evalcurve TCEC_FOLDER FLOODGATE_ARCHIVE data/atlas WORK_FOLDER

Rows: a version with 60 games or more; and of each family and calendar year with two such versions or 100 games, all of
its builds pooled. Each row is a fit of its own, by the program's default model, on the games of that version or pool,
with the scores of the opponents that it met there. Games of a pool against itself are left out.

    python3 benches/atlas.py - data/atlas/engines.tsv - OUT -

writes the numbers of the figures of docs/atlas.md as CSV for the example draw_lines, and prints a table.

Each row is judged on games that it has not seen: half of its events against the other half (one event: games by the
hash of their id), and by event, where two events have 40 games or more of it. See docs/atlas.md.
"""
import collections, csv, hashlib, json, math, pathlib, re, subprocess, sys

PROGRAM, TCEC, FLOODGATE, OUT, WORK = sys.argv[1], *map(pathlib.Path, sys.argv[2:6])
VERSION_GAMES, POOL_GAMES, EVENT_GAMES, MATE = 60, 100, 40, 5000
COLUMNS = ["game", "engine", "opponent", "color", "ply", "window", "score_cp", "mate", "result", "termination",
           "rating", "opponent_rating", "start_time", "time_control"]
# other names of an engine, for those who write them; a name before the first space or underscore is a family
ALSO = {"Stockfish": "ストックフィッシュ", "LCZero": "Leela;Lc0;リーラ", "Komodo": "コモド", "KomodoDragon": "Dragon;コモドドラゴン",
        "Houdini": "フーディーニ", "Gikou": "技巧", "YaneuraOu": "やねうら王", "Bonanza": "ボナンザ", "gpsfish": "GPS将棋"}
# Stockfish's releases, which TCEC rarely plays: the builds of the same year stand for them, and each print says so
RELEASES = {"Stockfish": {2014: "5", 2015: "6", 2016: "7;8", 2018: "9;10", 2020: "11;12", 2021: "13;14",
                          2022: "15;15.1", 2023: "16", 2024: "16.1;17", 2025: "17.1"}}


def event(source, game):
    """The season or cup of a TCEC game; the quarter of a floodgate game."""
    if game == "shogi":
        return "quarter"
    name = pathlib.PurePath(source).name
    found = re.match(r"TCEC_((?:Cup|Season|Match|Tournament|Testing)_\w+?)(?:_|\.)", name)
    random = " FRC" if re.search(r"d?frc", name, re.I) else ""
    return (found.group(1).replace("_", " ") if found else name) + random


def family(name):
    """The first word of a name in which it is followed by a version; None for builds with a handicap."""
    found = re.match(r"([A-Za-z]+)[ ](?!.*Sufi|.*_CCRL|Latest)", name)
    return {"Lc": "LCZero", "lc": "LCZero"}.get(found.group(1), found.group(1)) if found else (
        "LCZero" if re.match(r"[Ll]c0 ", name) else None)


def samples(records, game):
    """The rows of the sample table that the program draws, with event and a copy of each game's id."""
    table = WORK / f"{game}.csv"
    if not table.exists():
        subprocess.run([PROGRAM, "sample", str(records), "--out", str(table), "--quiet"], check=True)
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    for row in rows:
        row["event"] = event(row["source"], game)
        if game == "shogi":
            row["event"] = f"quarter {(int(row['start_time'][5:7]) + 2) // 3}"
    return rows


def units(rows):
    """Name, kind, and the engine names of each row of the atlas, with the years of a pool."""
    games = collections.defaultdict(set)
    for row in rows:
        games[row["engine"], row["start_time"][:4]].add(row["game"])
    total, pools = collections.Counter(), collections.defaultdict(dict)
    for (name, year), of in games.items():
        total[name] += len(of)
        if family(name) and year:
            pools[family(name), year][name] = len(of)
    for name in sorted(total):
        if total[name] >= VERSION_GAMES:
            yield name, "version", {name}, None
    for (name, year), builds in sorted(pools.items()):
        if len(builds) > 1 and sum(builds.values()) >= POOL_GAMES:
            yield f"{name} {year}", "year", set(builds), year


def fit(parts, game):
    """Calibrates each part {key: rows of its games}; one run, in which parts share neither games nor players."""
    table, out = WORK / f"{game}-parts.csv", WORK / f"{game}-out"
    with table.open("w", newline="", encoding="utf-8") as file:
        write = csv.writer(file)
        write.writerow(COLUMNS)
        for key, (names, rows) in parts.items():
            for row in rows:
                own, met = row["engine"] in names, row["opponent"] in names
                if own and met:
                    continue
                row = dict(row, game=hashlib.sha256(f"{key} {row['game']}".encode()).hexdigest()[:16],
                           engine=key if own else f"{key}~{row['engine']}",
                           opponent=key if met else f"{key}~{row['opponent']}")
                write.writerow([row[column] for column in COLUMNS])
    # TCEC's engines print mates and tablebase wins as scores from 50 pawns on; a fit of Stockfish's games of 2020 with
    # those of 50 to 100 pawns does not converge
    threshold = f"{MATE}" if game == "chess" else "auto"
    for file in out.glob("*.json"):
        file.unlink()
    done = subprocess.run([PROGRAM, "calibrate", str(table), "--engine", "unit-????-?-??", "--bands", "0", "--no-plots",
                           "--min-samples", "60", "--force", "--quiet", "--mate-threshold", threshold, "--lang", "en",
                           "--out", str(out)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    found = {}
    for file in out.glob("*.json"):
        calibration = json.loads(file.read_text(encoding="utf-8"))
        if calibration.get("format") == "evalcurve-calibration":
            found[calibration["engine"]["name"]] = calibration
    return found


def constant(calibration):
    """The logarithm of the constant and its variance, by the delta method in w1 and the width of the draws."""
    joint = calibration["models"]["joint"]
    w1, width, of = joint["w1"], joint["draw_width"], joint["covariance"]

    def logits(width):
        h = math.cosh(width) * (math.e - 1) / 2
        return math.log(h + math.sqrt(h * h + math.e))

    u, gradient = logits(width), [-1 / w1, (logits(width + 1e-5) - logits(width - 1e-5)) / 2e-5 / logits(width)]
    at = [0, 5]
    variance = sum(gradient[i] * gradient[j] * of[at[i]][at[j]] for i in (0, 1) for j in (0, 1))
    return math.log(u / w1), max(variance, 1e-6)


def spread(groups):
    """Standard deviation of ln constant between members of a group beyond chance (DerSimonian and Laird), the number of
    groups and members."""
    excess = scale = members = used = 0
    for group in groups:
        if len(group) < 2:
            continue
        weights = [1 / variance for _, variance in group]
        total = sum(weights)
        mean = sum(w * y for w, (y, _) in zip(weights, group)) / total
        excess += sum(w * (y - mean) ** 2 for w, (y, _) in zip(weights, group)) - (len(group) - 1)
        scale += total - sum(w * w for w in weights) / total
        members, used = members + len(group), used + 1
    return math.sqrt(max(excess, 0) / scale) if scale else 0, used, members


def chance(group):
    """The chance of so different constants if they are one: the upper tail of chi squared (Wilson and Hilferty)."""
    weights = [1 / variance for _, variance in group]
    mean = sum(w * y for w, (y, _) in zip(weights, group)) / sum(weights)
    q, k = sum(w * (y - mean) ** 2 for w, (y, _) in zip(weights, group)), len(group) - 1
    z = ((q / k) ** (1 / 3) - (1 - 2 / (9 * k))) / math.sqrt(2 / (9 * k))
    return math.erfc(z / math.sqrt(2)) / 2


def log_loss(joint, rows):
    """Mean log loss of wins, draws and losses between equals."""
    total = count = 0
    for row in rows:
        score = float(row["score_cp"])
        if row["mate"] == "true" or abs(score) >= MATE:
            continue
        u, lapse, drawn = joint["w1"] * score, joint["lapse"] - joint["drawn"] / 2, joint["drawn"]
        of = lambda z: 1 / (1 + math.exp(min(max(-z, -500), 500)))
        b = 1 - 2 * lapse - drawn
        win, loss = lapse + b * of(u - joint["draw_width"]), lapse + b * of(-u - joint["draw_width"])
        share = {"1.0": win, "0.0": loss}.get(row["result"], 1 - win - loss)
        total, count = total - math.log(max(share, 1e-9)), count + 1
    return total / max(count, 1), count


def usable(calibration):
    return calibration and not {"slope_may_be_zero", "sign_inverted", "no_centipawns", "adjudicated",
                                "cut_scores"} & set(calibration["doubts"])


def atlas(records, game, pattern):
    rows = samples(records, game)
    by_name = collections.defaultdict(list)
    for row in rows:
        by_name[row["engine"]].append(row)
        by_name[row["opponent"]].append(row)
    chosen, parts = [], {}
    for name, kind, names, year in units(rows):
        if not re.search(pattern, name):
            continue
        own = list({id(row): row for n in names for row in by_name[n]
                    if not year or row["start_time"].startswith(year)}.values())
        key, events = f"unit-{len(chosen):04}", collections.defaultdict(set)
        for row in own:
            if row["engine"] in names:
                events[row["event"]].add(row["game"])
        order = sorted(events, key=lambda e: min(r["start_time"] for r in own if r["event"] == e))
        half = {e: i % 2 for i, e in enumerate(order)}
        if len(order) == 1:
            half = None
        side = lambda row: half[row["event"]] if half and row["event"] in half else int(
            hashlib.sha256(row["game"].encode()).hexdigest(), 16) % 2
        parts[f"{key}-w-00"] = names, own
        for part in (0, 1):
            parts[f"{key}-h-{part:02}"] = names, [row for row in own if side(row) == part]
        large = [e for e in order if len(events[e]) >= EVENT_GAMES]
        if len(large) > 1:
            for i, e in enumerate(large[:99]):
                parts[f"{key}-e-{i:02}"] = names, [row for row in own if row["event"] == e]
        chosen.append((key, name, kind, names, year, own, events, large))
    size = sum(len(r) for _, r in parts.values())
    print(game, len(chosen), "rows,", len(parts), "fits,", size, "samples", flush=True)
    fits = fit(parts, game)
    whole = {name: fits.get(f"{key}-w-00") for key, name, *_ in chosen}
    version = {next(iter(names)): constant(whole[name]) for _, name, kind, names, *_ in chosen
               if kind == "version" and usable(whole[name])}
    between_events = spread([constant(fits[f"{key}-e-{i:02}"]) for i in range(len(large))
                             if usable(fits.get(f"{key}-e-{i:02}"))] for key, *_, kind, _, _, _, _, large in
                            [(c[0], c[2], *c[3:]) for c in chosen] if kind == "version")
    builds = {name: [version[n] for n in sorted(names) if n in version] for _, name, kind, names, *_ in chosen
              if kind == "year"}
    between_builds = spread(builds.values())
    middle = lambda of: sorted(c["models"]["joint"][of] for c in whole.values() if usable(c))
    shared = {of: middle(of)[len(middle(of)) // 2] for of in ("w1", "draw_width", "lapse", "drawn")} if chosen else None
    table, judged = [], []
    for key, name, kind, names, year, own, events, large in chosen:
        found = whole[name]
        if not usable(found):
            continue
        first, second = (fits.get(f"{key}-h-{part:02}") for part in (0, 1))
        held = "cannot tell"
        if usable(first) and usable(second):
            (a, va), (b, vb) = constant(first), constant(second)
            held = "holds" if abs(a - b) <= 1.96 * math.sqrt(va + vb) else "differs"
            unseen = [row for row in parts[f"{key}-h-01"][1] if row["engine"] in names]
            judged.append((name, kind, len(events) > 1, math.exp(b - a), (b - a) / math.sqrt(va + vb), held,
                           *log_loss(first["models"]["joint"], unseen), log_loss(shared, unseen)[0]))
        joint, curve = found["models"]["joint"], found["curve"]
        group = builds.get(name, [])
        beyond = between_events[0] if kind == "version" else math.hypot(between_events[0], between_builds[0])
        base = family(name) or re.split(r"[ _]", name)[0]
        also = ALSO.get(base, "").split(";") if base in ALSO else []
        rest = name[len(base):] if name.startswith(base) else ""
        releases = RELEASES.get(base, {}).get(int(year), "") if year else ""
        provenance = found["provenance"]
        table.append([
            name, ";".join(a + rest for a in also if rest or game == "shogi"),
            ";".join(f"{b} {r}" for r in releases.split(";") if r for b in [base, *also]), game, kind, len(names),
            f"{chance(group):.2g}" if len(group) > 1 else "", provenance["dates"]["first"], provenance["dates"]["last"],
            provenance["games"], joint["games"], joint["samples"], len(events),
            " ".join(c for c, _ in collections.Counter(r["time_control"] or "unknown" for r in own).most_common(2)),
            *(joint[of] for of in HEAD[HEAD.index("w1"):HEAD.index("covariance")]),
            " ".join(f"{joint['covariance'][i][j]:.9g}" for i in range(9) for j in range(i, 9)),
            f"{beyond:.4f}", held, ";".join(found["doubts"]), found["mates"]["threshold_cp"] or "",
            f"{curve['bin_cp']} " + ";".join(f"{b['bin']} {b['wins']} {b['draws']} {b['losses']} {b['score_sum']}"
                                             for b in curve["bins"]),
            provenance["digest"]])
    with (WORK / f"{game}-judged.csv").open("w", encoding="utf-8") as file:
        csv.writer(file).writerows(judged)
    count, unseen = collections.Counter(j[5] for j in judged), sum(j[7] for j in judged)
    print(game, "rows", len(table), "| halves:", dict(count), "| of several events:",
          dict(collections.Counter(j[5] for j in judged if j[2])), "| log loss of unseen samples:",
          unseen, *(sum(j[i] * j[7] for j in judged) / max(unseen, 1) for i in (6, 8)), "(own, middle engine)")
    print(game, "between events of a version: sd of ln constant, versions, events", between_events)
    print(game, "between builds of a year", between_builds, "| pools that differ at 5%:",
          sum(len(g) > 1 and chance(g) < 0.05 for g in builds.values()), "of",
          sum(len(g) > 1 for g in builds.values()))
    return table


def lines(table, out):
    """Writes the numbers of the figures: what +1.00 wins, and the score that wins half, by year; with the tables."""
    head, *rows = (line.split("\t") for line in table.read_text(encoding="utf-8").splitlines())
    shown = {"Stockfish": "Stockfish", "LCZero": "LCZero", "Komodo": "Komodo, Dragon", "KomodoDragon": "Komodo, Dragon",
             "Houdini": "Houdini", "Rybka": "Rybka"}
    wins, halves, order = [], [], list(dict.fromkeys(shown.values()))
    for row in sorted(rows):
        row = dict(zip(head, row))
        base, year = row["name"].rsplit(" ", 1) if row["kind"] == "year" else (row["name"], "")
        w1, width, upper = float(row["w1"]), float(row["draw_width"]), [float(v) for v in row["covariance"].split()]
        place = lambda i, j: upper[9 * i - i * (i - 1) // 2 + j - i]
        variance = lambda a, b: a * a * place(0, 0) + b * b * place(5, 5) + 2 * a * b * place(0, 5)
        share = 1 / (1 + math.exp(width - 100 * w1))
        decided = 1 - 2 * float(row["lapse"])
        win = float(row["lapse"]) - float(row["drawn"]) / 2 + decided * share
        loss = float(row["lapse"]) - float(row["drawn"]) / 2 + decided / (1 + math.exp(width + 100 * w1))
        of_win = decided * share * (1 - share) * math.sqrt(variance(100, -1))
        # on the logit, so that no bar leaves 0 to 1
        logit, half = math.log(win / (1 - win)), 1.96 * of_win / (win * (1 - win))
        low, high = (1 / (1 + math.exp(-logit - side * half)) for side in (-1, 1))
        scale, of_scale = width / w1, math.sqrt(variance(-width / w1 ** 2, 1 / w1))
        shares = win, of_win, 1 - win - loss, loss, (win + 1 - loss) / 2
        print(row["name"], row["games"], *(f"{v:.2f}" for v in shares),
              f"{scale:.0f} {of_scale:.0f}", row["unseen"], row["doubts"], sep="|")
        # a bar as long as the axis says nothing
        if base in shown and of_win <= 0.15:
            place = order.index(shown[base])
            at = f"\"{shown[base]}\",{int(year) + 0.08 * (place - 2):.2f}"  # bars of one year are side by side
            wins.append((place, year, f"{at},{win:.4f},{low:.4f},{high:.4f}"))
            halves.append((place, year, f"{at},{scale:.1f},{of_scale:.1f}"))
    for name, columns, points in ("wins", "low,high", wins), ("halves", "error", halves):
        text = "\n".join([f"line,x,y,{columns}", *(line for *_, line in sorted(points))]) + "\n"
        (out / f"pawn-{name}.csv").write_text(text, encoding="utf-8")


HEAD = ["name", "also", "stands_for", "game", "kind", "builds", "builds_chance", "first", "last", "games",
        "fitted_games", "samples", "events", "controls", "w1", "w2", "w3", "lapse", "drawn", "draw_width",
        "optimism", "strength", "field_w1", "covariance", "elsewhere", "unseen", "doubts", "mate_threshold",
        "curve", "digest"]

if __name__ == "__main__":
    pattern = sys.argv[6] if len(sys.argv) > 6 else ""
    WORK.mkdir(parents=True, exist_ok=True)
    OUT.mkdir(parents=True, exist_ok=True)
    if TCEC.suffix == ".tsv":
        sys.exit(lines(TCEC, OUT))
    rows = atlas(TCEC, "chess", pattern) + atlas(FLOODGATE, "shogi", pattern)
    lines = ["\t".join(map(str, row)) + "\n" for row in [HEAD, *rows]]
    (OUT / "engines.tsv").write_text("".join(lines), encoding="utf-8")
