"""Writes observations.csv: generated samples of three engines with known curves, the same on every run."""

import math
import random
import sys

ENGINES = [
    # name, 1/w1, w2, standard deviation of a game's advantage
    ("calm", 400.0, 0.15, 800.0),
    ("loud", 1000.0, -0.30, 2000.0),
    ("mates", 450.0, 0.40, 900.0),
]


def main(out):
    rng = random.Random(20180707)
    out.write("game,engine,color,ply,score_cp,mate,result\n")
    for index, (engine, ponanza, w2, deviation) in enumerate(ENGINES):
        for game in range(80):
            # the samples of a game share an advantage, so they are not independent
            shared = rng.gauss(0.0, deviation)
            z = (shared + rng.gauss(0.0, 0.3 * deviation)) / ponanza - w2
            draw = rng.random() < 0.08
            win = rng.random() < 1.0 / (1.0 + math.exp(-z))
            result = "0.5" if draw else ("1" if win else "0")
            for k in range(rng.randint(1, 4)):
                score = round(shared + rng.gauss(0.0, 0.4 * deviation))
                mate = 0
                if engine == "mates" and k == 3 and not draw:
                    # a mate announced near the end, by the winner
                    score, mate = (30000 if win else -30000), 1
                out.write(f"{1000 * index + game},{engine},black,{40 + 60 * k},{score},{mate},{result}\n")
        if engine == "mates":
            # wrong-sided: a mate for the side that lost
            out.write(f"{1000 * index + 80},{engine},black,40,-250,0,0\n")
            out.write(f"{1000 * index + 80},{engine},black,100,30000,1,0\n")


if __name__ == "__main__":
    with open(sys.argv[1] if len(sys.argv) > 1 else "observations.csv", "w", newline="\n") as file:
        main(file)
