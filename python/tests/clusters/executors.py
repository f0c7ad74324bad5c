"""Spark with executors of their own: local-cluster[2,1,1024]. The filter and its bits, in processes that have the wheel and nothing else of ours."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from spark_session import session

import truebloom.spark as tbs
from truebloom import BloomFilter
from truebloom.parts import PartedFilter


def main() -> None:
    spark = session("local-cluster[2,1,1024]")
    rows = spark.range(300_000, numPartitions=4)
    built = tbs.build(rows, "id", 300_000, 0.01, seed=1)
    alone = BloomFilter(300_000, 0.01, seed=1)
    alone.update(range(300_000))
    assert built == alone and built.is_merged
    assert rows.filter(tbs.contains(built, "id")).count() == 300_000
    passed = spark.range(300_000, 600_000).filter(tbs.contains(built, "id")).count()
    assert passed == built.count_contained(range(300_000, 600_000)) > 0
    with tempfile.TemporaryDirectory() as folder:
        parts = tbs.build_parts(rows, "id", 300_000, 0.01, folder, parts=3, seed=1)
        assert PartedFilter.open(folder) == parts and parts.fpr().upper <= 0.01
        assert tbs.contains_parts(parts, rows, "id").filter("contained").count() == 300_000
    executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
    assert executors == 2, "executors of their own"
    spark.stop()
    print(f"executors of their own: {executors}\n5 passed, 0 failed")


if __name__ == "__main__":
    main()
