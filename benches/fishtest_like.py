#!/usr/bin/env python3
"""Writes a PGN file like those of fishtest: the moves of real games with made-up scores in place of their comments.

    python3 benches/fishtest_like.py --repeat 80 TCEC*.pgn lichess*.pgn > fishtest-like.pgn

Use many different games: with few games the branch predictor learns them. Each comment is on the line of its move, as
fishtest writes it and as scoreWDLstat requires.
"""
import argparse, random, re, sys


def movetext(text):
    text = re.sub(r"\{[^}]*\}", " ", text)
    while re.search(r"\([^()]*\)", text):
        text = re.sub(r"\([^()]*\)", " ", text)
    words = re.sub(r"\$\d+|[!?]+|\d+\.+", " ", text).split()
    marks = ("1-0", "0-1", "1/2-1/2", "*")
    return [w for w in words if w not in marks], words[-1] if words and words[-1] in marks else "*"


def game(tags, moves, mark, draw):
    fen = re.search(r'\[FEN "\S+ (w|b) \S+ \S+ \d+ (\d+)"\]', tags)
    number, black = (int(fen[2]), fen[1] == "b") if fen else (1, False)
    score, tokens = draw.gauss(0, 60), []
    for i, move in enumerate(moves):
        if not black or i == 0:
            tokens.append(f"{number}..." if black else f"{number}.")
        score += draw.gauss(0, 20)
        own = (-score if black else score) / 100
        shown = f"{'+' if own > 0 else '-'}M{draw.randint(1, 30)}" if abs(own) > 30 else f"{own:+.2f}"
        seconds = draw.expovariate(1)
        time = f"{seconds:.2f}s" if seconds < 1 else f"{seconds:.1f}s"
        tokens.append(f"{move} {{{shown}/{draw.randint(10, 35)} {time}}}")
        number += black
        black = not black
    lines, line = [], ""
    for token in tokens + [mark]:
        if len(line) + len(token) + 1 > 80:
            lines.append(line)
            line = token
        else:
            line = f"{line} {token}" if line else token
    return tags.strip() + "\n\n" + "\n".join(lines + [line]) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--repeat", type=int, default=1)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("files", nargs="+")
    a = p.parse_args()
    draw, games = random.Random(a.seed), []
    for name in a.files:
        for text in re.split(r"\n(?=\[Event )", open(name, encoding="utf8", errors="replace").read()):
            tags, *rest = re.split(r"\n\s*\n", text, maxsplit=1)
            moves, mark = movetext(rest[0]) if rest else ([], "*")
            if len(moves) >= 20 and mark != "*":
                games.append(game(tags, moves, mark, draw))
    print(f"{len(games)} games", file=sys.stderr)
    for _ in range(a.repeat):
        print("\n".join(games))


if __name__ == "__main__":
    main()
