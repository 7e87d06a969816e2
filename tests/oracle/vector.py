"""Reference values of exp, log and log1p by mpmath, for crates/fit/src/vector.rs: the nearest doubles, as bits.

    python3 tests/oracle/vector.py > tests/oracle/vector.csv
"""

import random
import struct

import mpmath

mpmath.mp.prec = 200
draw = random.Random(201806)


def bits(x):
    return struct.pack(">d", x).hex()


def arguments():
    """Near and far arguments of each function, and the borders between its ranges."""
    for i in range(600):
        yield "exp", -draw.random() * [1, 2, 40, 700][i % 4]
        yield "log", draw.random() * 2.0 ** -draw.choice([0, 0, 1, 10, 900])
        yield "log1p", draw.random() * 2.0 ** -draw.choice([0, 0, 1, 10, 60])
    for x in [0.0, 1.0, 0.41421356237309503, 0.4142135623730951, 0.41421318054199219, 2.0**-53, 2.0**-1022]:
        yield "log1p", x
    for x in [0.7071067811865475, 0.7071067811865476, 0.9999999999999999, 2.0**-1022, 1.0]:
        yield "log", x
    for k in range(1, 40):
        yield "exp", -(k - 0.5) * 0.6931471805599453
    for x in [0.0, -(2.0**-60), -707.9999]:
        yield "exp", x


print("function,argument,value")
for name, x in arguments():
    if name == "log" and x < 2.0**-1022:
        continue
    value = {"exp": mpmath.exp, "log": mpmath.log, "log1p": mpmath.log1p}[name](mpmath.mpf(x))
    print(name, bits(x), bits(float(value)), sep=",")
