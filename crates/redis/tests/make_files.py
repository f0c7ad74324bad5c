"""Writes tests/files/spark.tbl and tests/files/python.tbl: the environment is the one that python/test.sh leaves.

    target/python/venv/bin/python crates/redis/tests/make_files.py
"""
import os
import sys
from pathlib import Path

import truebloom
import truebloom.spark as tbs
from pyspark.sql import SparkSession

FILES = Path(__file__).resolve().parent / "files"
ITEMS = [f"item-{number}" for number in range(1_000)]


def main() -> None:
    seen = truebloom.BloomFilter(1_000, 0.01, seed=7)
    seen.update(ITEMS)
    (FILES / "python.tbl").write_bytes(seen.to_bytes())
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    frame = spark.createDataFrame([(item,) for item in ITEMS], "item string").repartition(4)
    (FILES / "spark.tbl").write_bytes(tbs.build(frame, "item", items=1_000, fpr=0.01, seed=7).to_bytes())
    spark.stop()


main()
