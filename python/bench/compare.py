"""truebloom beside rbloom, pybloom-live and Spark's own filter, at equal items and the same rate asked for: nanoseconds a key, the best of several rounds, all in one run.

    python3 python/bench/compare.py [KEYS] [--spark]

Read the ratios: the times of one machine say little about another's. What a filter was asked for is not always what it gives, so the measured rate stands beside.
"""

import argparse
import time

import numpy as np
import pyarrow as pa
import rbloom
import hash_for_rbloom
from truebloom import BloomFilter

ROUNDS = 5


def best(work, keys, rounds=ROUNDS, before=lambda: None):
    """Nanoseconds a key of the fastest round."""
    found = []
    for _ in range(rounds):
        before()
        start = time.perf_counter()
        work()
        found.append((time.perf_counter() - start) / keys * 1e9)
    return min(found)


def loop_in(filter, keys):
    for key in keys:
        key in filter  # noqa: B015


def loop_add(filter, keys):
    add = filter.add
    for key in keys:
        add(key)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("keys", type=int, nargs="?", default=200_000)
    parser.add_argument("--spark", action="store_true")
    given = parser.parse_args()
    n, p = given.keys, 0.01
    texts, others = [f"https://example.org/{i}" for i in range(n)], [f"https://example.net/{i}" for i in range(n)]
    column, other_column = pa.array(texts), pa.array(others)
    numbers = np.arange(n)
    rows = []

    def row(what, mine, theirs, library):
        rows.append((what, mine, theirs, library))
        print(f"{what:44} {mine:8.1f} {theirs:8.1f}   {theirs / mine:6.2f} times   {library}", flush=True)

    spread, lines, theirs = BloomFilter(n, p, seed=1), BloomFilter(n, p, seed=1, layout="lines"), rbloom.Bloom(n, p)
    portable = rbloom.Bloom(n, p, hash_for_rbloom.hash_of)
    print(f"{n:,} keys of {len(texts[-1])} letters at {p:.0%}; nanoseconds a key\n{'':44} {'ours':>8} {'theirs':>8}")
    theirs_add = best(lambda: loop_add(theirs, texts), n, before=theirs.clear)
    theirs_update = best(lambda: theirs.update(texts), n, before=theirs.clear)
    theirs_portable = best(lambda: loop_add(portable, texts), n, 2, before=portable.clear)
    for name, mine in (("spread", spread), ("lines", lines)):
        row(f"{name}: update from Arrow, against their loop", best(lambda: mine.update(column), n, before=mine.clear), theirs_add, "rbloom, hash()")
        row(f"{name}: the same, against a portable hash", best(lambda: mine.update(column), n, before=mine.clear), theirs_portable, "rbloom, a hash in Python")
        row(f"{name}: update from Arrow, against update", best(lambda: mine.update(column), n, before=mine.clear), theirs_update, "rbloom, hash()")
        row(f"{name}: update from a list, against update", best(lambda: mine.update(texts), n, before=mine.clear), theirs_update, "rbloom, hash()")
        row(f"{name}: update from numpy, against update", best(lambda: mine.update(numbers), n, before=mine.clear), best(lambda: theirs.update(numbers.tolist()), n, before=theirs.clear), "rbloom, hash()")
        mine.clear()
        theirs.clear()
        mine.update(column)
        theirs.update(texts)
        miss, hit = best(lambda: loop_in(theirs, others), n), best(lambda: loop_in(theirs, texts), n)
        row(f"{name}: a single `in`, a miss", best(lambda: loop_in(mine, others), n), miss, "rbloom, hash()")
        row(f"{name}: a single `in`, a hit", best(lambda: loop_in(mine, texts), n), hit, "rbloom, hash()")
        row(f"{name}: misses from Arrow, against their loop", best(lambda: mine.contains_many(other_column), n), miss, "rbloom, hash()")
        row(f"{name}: hits from Arrow, against their loop", best(lambda: mine.contains_many(column), n), hit, "rbloom, hash()")
        row(f"{name}: a single add", best(lambda: loop_add(mine, texts), n, before=mine.clear), theirs_add, "rbloom, hash()")
        mine.update(column)
    print(f"\nmeasured rates, {n:,} strangers: spread {sum(spread.contains_many(others)) / n:.5f}, lines {sum(lines.contains_many(others)) / n:.5f}, rbloom {sum(other in theirs for other in others) / n:.5f}")
    print(f"bits: spread {spread.bits:,}, lines {lines.bits:,}, rbloom {theirs.size_in_bits:,}")
    try:
        import pybloom_live
    except ImportError:
        print("pybloom-live is not there (it comes as source alone)")
    else:
        few = texts[: n // 20]
        slow = pybloom_live.BloomFilter(len(few), p)
        row("spread: a single add", best(lambda: loop_add(spread, few), len(few), 2, spread.clear), best(lambda: loop_add(slow, few), len(few), 1), "pybloom-live")
        row("spread: a single `in`, a hit", best(lambda: loop_in(spread, few), len(few), 2), best(lambda: loop_in(slow, few), len(few), 1), "pybloom-live")
    if given.spark:
        beside_spark()


def beside_spark(n=2_000_000):
    """Building and asking, through Spark: seconds. Both filters have their size, as its caps do not bind here."""
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[1] / "tests/clusters"))
    import truebloom.spark as tbs
    from spark_session import session

    spark = session("local[2]")
    spark.range(1000).mapInArrow(lambda batches: batches, "id long").count()
    mine = theirs = None

    def timed(work):
        start = time.perf_counter()
        return work(), time.perf_counter() - start

    for _ in range(3):
        mine, ours = timed(lambda: tbs.build(spark.range(n), "id", n, 0.01, seed=1))
        theirs, own = timed(lambda: spark.range(n)._jdf.stat().bloomFilter("id", n, 0.01))
    kept, asking = timed(lambda: spark.range(2 * n).filter(tbs.contains(mine, "id")).count())
    strangers = 20_000
    passed = sum(theirs.mightContainLong(i) for i in range(n, n + strangers))
    print(f"\nSpark, {n:,} ids at 1%: built in {ours:.2f} s, by the JVM's own in {own:.2f} s; {2 * n:,} rows asked in {asking:.2f} s")
    print(f"rates: ours {(kept - n) / n:.5f} measured, {mine.fpr().value:.5f} proven, {mine.bits:,} bits; Spark's {passed / strangers:.5f} measured, {theirs.bitSize():,} bits")
    spark.stop()


if __name__ == "__main__":
    main()
