"""Draws samples from many archives on a Spark cluster, one shard per archive, and fits the shards together.

    pip install pyspark
    python spark_shards.py OUT ARCHIVE...

Every machine needs the program `evalcurve` on its PATH, and the archives under the same paths. The draw depends only on
the seed and the game, so the shards contain the samples that one machine would have drawn, and a game in two archives
counts once.
"""

import pathlib
import subprocess
import sys

from pyspark.sql import SparkSession


def sample(archive, out):
    shard = pathlib.Path(out, pathlib.Path(archive).name + ".parquet")
    command = ["evalcurve", "sample", archive, "--out", str(shard), "--force", "--threads", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    # 0: samples were drawn; 1: there were none
    return archive, done.returncode, done.stderr


def main(out, archives):
    pathlib.Path(out).mkdir(parents=True, exist_ok=True)
    spark = SparkSession.builder.appName("evalcurve").getOrCreate()
    rows = spark.sparkContext.parallelize(archives, len(archives)).map(lambda archive: sample(archive, out)).collect()
    spark.stop()
    for archive, code, messages in rows:
        if code != 0:
            print(f"{archive}: exit code {code}\n{messages}", file=sys.stderr)
    if any(code > 1 for _, code, _ in rows):
        sys.exit(2)
    return subprocess.run(["evalcurve", "calibrate", out, "--out", "calibrations", "--min-samples", "100"]).returncode


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
