"""Compares truebloom with rbloom, pybloom-live and Spark's own filter, with equal numbers of items and equal measured rates. All measurements are in one run, and rounds of both sides alternate.

    python3 python/bench/compare.py [KEYS] [--spark] [--threads] [--record FILE]

Only the ratios are meaningful. Times are nanoseconds of processor time per key (with --threads, which needs an idle machine, of elapsed time), the best of nine rounds. Needs the environment of `python/test.sh` and, for
pybloom-live, `pip install --only-binary bitarray,xxhash pybloom_live==4.0.0`.
"""

import argparse
import importlib.metadata
import platform
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import rbloom
from truebloom import BloomFilter

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import hash_for_rbloom
from binomial import p_value

ROUNDS = 9
RATE = 0.01
STRANGERS = 1_000_000
OUT = []


def say(line=""):
    print(line, flush=True)
    OUT.append(line)


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines() if sys.platform == "linux" else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def nothing():
    pass


def race(keys, mine, theirs, before_mine=nothing, before_theirs=nothing, rounds=ROUNDS, clock=time.thread_time):
    """Nanoseconds per key of the best rounds of both sides. The result of the function called before a round, if any, is the argument of the round."""

    def once(work, before):
        given = before()
        start = clock()
        work() if given is None else work(given)
        return (clock() - start) / keys * 1e9

    found = [(once(mine, before_mine), once(theirs, before_theirs)) for _ in range(rounds)]
    return min(ours for ours, _ in found), min(others for _, others in found)


def row(what, times):
    ours, others = times
    say(f"| {what} | {ours:.1f} | {others:.1f} | **{others / ours:.2f}** |")


def table(title, library="rbloom"):
    say(f"\n### {title}\n\n| | truebloom, ns | {library}, ns | times as fast |\n|---|---|---|---|")


def loop_in(filter, keys):
    for key in keys:
        key in filter  # noqa: B015


def loop_add(filter, keys):
    add = filter.add
    for key in keys:
        add(key)


def texts_of(host, n):
    return [f"https://example.{host}/{i}" for i in range(n)]


def equal_rates(n, ours, make, name):
    """Another library's filter of the same texts with the same measured rate as this one; its requested rate is adjusted until the rates agree."""
    say("| filter | rate measured with a million texts that were not added | p-value for equal rates |\n|---|---|---|")
    members, strangers = texts_of("org", n), texts_of("net", STRANGERS)
    ours.update(members)
    hits, asked, other, passed = ours.count_contained(strangers), RATE, None, 0
    say(f"| truebloom, requested rate {RATE:.4%}, which is a proven upper bound | {hits / STRANGERS:.4%} | |")
    for _ in range(5):
        other = make(asked, members)
        passed = sum(text in other for text in strangers)
        alike = p_value(min(hits, passed), hits + passed, 0.5)
        if alike > 0.1:
            break
        asked *= hits / passed
    say(f"| {name}, requested rate {asked:.4%} | {passed / STRANGERS:.4%} | p {alike:.2g} |")
    return asked, other


def beside_rbloom(n, layout, threads):
    say(f"\n## {n:,} keys, layout `{layout}`, compared with rbloom {importlib.metadata.version('rbloom')}\n")
    mine = BloomFilter(n, RATE, seed=1, layout=layout)

    def make(asked, members):
        other = rbloom.Bloom(n, asked)
        other.update(members)
        return other

    _, theirs = equal_rates(n, mine, make, "rbloom")
    portable = rbloom.Bloom(n, RATE, hash_for_rbloom.hash_of)
    say(f"\nBits per key: truebloom {mine.bits / n:.2f}, rbloom {theirs.size_in_bits / n:.2f}.")

    texts, others = texts_of("org", n), texts_of("net", n)
    column, other_column = pa.array(texts), pa.array(others)
    clears = {"before_mine": mine.clear, "before_theirs": theirs.clear}
    [hash(text) for text in texts + others]

    table("From an Arrow column of texts, which rbloom must convert to Python objects first (`to_pylist`)")
    row("`update`, compared with a loop of rbloom's `add`", race(n, lambda: mine.update(column), lambda: loop_add(theirs, column.to_pylist()), **clears))
    row("`update`, compared with rbloom's `update`", race(n, lambda: mine.update(column), lambda: theirs.update(column.to_pylist()), **clears))
    if threads:
        two = race(n, lambda: mine.update(column, threads=2), lambda: theirs.update(column.to_pylist()), **clears, clock=time.perf_counter)
        row("`update(threads=2)`, compared with rbloom's `update`, elapsed time", two)
    mine.update(column), theirs.update(texts)
    row("`contains_many` of contained keys, compared with a loop of rbloom's `in`", race(n, lambda: mine.contains_many(column), lambda: loop_in(theirs, column.to_pylist())))
    row("`contains_many` of other keys, compared with a loop of rbloom's `in`", race(n, lambda: mine.contains_many(other_column), lambda: loop_in(theirs, other_column.to_pylist())))

    table("From an Arrow column, compared with rbloom on an existing list of texts that Python has already hashed (rbloom's best case, because a str stores its hash)")
    row("`update`, compared with a loop of rbloom's `add`", race(n, lambda: mine.update(column), lambda: loop_add(theirs, texts), **clears))
    row("`update`, compared with rbloom's `update`", race(n, lambda: mine.update(column), lambda: theirs.update(texts), **clears))
    portables = race(n, lambda: mine.update(column), lambda: loop_add(portable, texts), mine.clear, portable.clear, rounds=2)
    row("`update`, compared with a loop of rbloom's `add` with a hash that is the same in all processes", portables)

    table("From lists")
    row("`update`, texts that Python has already hashed", race(n, lambda: mine.update(texts), lambda: theirs.update(texts), **clears))

    def fresh(filter):
        filter.clear()
        return column.to_pylist()

    fresh_texts = race(n, lambda texts: mine.update(texts), lambda texts: theirs.update(texts), lambda: fresh(mine), lambda: fresh(theirs))
    row("`update`, texts that Python has not hashed yet", fresh_texts)
    numbers = np.arange(n)
    row("`update` of numbers from numpy, compared with rbloom's `update(numbers.tolist())`", race(n, lambda: mine.update(numbers), lambda: theirs.update(numbers.tolist()), **clears))

    mine.clear(), theirs.clear(), mine.update(texts), theirs.update(texts)
    table("One key at a time, texts that Python has already hashed")
    row("`in`, contained keys", race(n, lambda: loop_in(mine, texts), lambda: loop_in(theirs, texts)))
    row("`in`, other keys", race(n, lambda: loop_in(mine, others), lambda: loop_in(theirs, others)))
    row("`add`", race(n, lambda: loop_add(mine, texts), lambda: loop_add(theirs, texts), **clears))


def beside_pybloom(n=20_000):
    try:
        import pybloom_live
    except ImportError:
        say("\npybloom-live is not installed; see the head of compare.py.")
        return
    say(f"\n## {n:,} keys, compared with pybloom-live {importlib.metadata.version('pybloom_live')}\n")
    mine = BloomFilter(n, RATE, seed=1)

    def make(asked, members):
        other = pybloom_live.BloomFilter(n, asked)
        loop_add(other, members)
        return other

    asked, theirs = equal_rates(n, mine, make, "pybloom-live")
    texts = texts_of("org", n)
    column = pa.array(texts)
    table("Texts", "pybloom-live")

    def new():
        return pybloom_live.BloomFilter(n, asked)

    added = race(n, lambda: loop_add(mine, texts), lambda other: loop_add(other, texts), mine.clear, new, rounds=3)
    row("`add`", added)
    row("`update` from Arrow, compared with a loop of pybloom-live's `add`", race(n, lambda: mine.update(column), lambda other: loop_add(other, texts), mine.clear, new, rounds=3))
    row("`in`, contained keys", race(n, lambda: loop_in(mine, texts), lambda: loop_in(theirs, texts), rounds=3))


def beside_spark():
    """Building and querying through Spark, in seconds, at sizes below the limit of Spark's own filter."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/clusters"))
    import pyspark
    import truebloom.spark as tbs
    from spark_session import session

    spark = session("local[2]")
    spark.range(1000).mapInArrow(lambda batches: batches, "id long").count()
    asked = 20_000
    say(f"\n## Compared with the filter of the JVM, pyspark {pyspark.__version__}, `local[2]`, numbers at {RATE:.0%}\n")
    say("| keys | truebloom: bits per key | rate measured with a million other keys, by `contains` | by SQL | the filter's exact rate (proven) | JVM: bits per key | rate measured with 20,000 other keys | p-value of the JVM's hits at truebloom's exact rate |\n|---|---|---|---|---|---|---|---|")
    lines = []
    for n in (2_000_000, 5_000_000):
        building, mine, theirs = [], None, None
        for _ in range(3):
            start = time.perf_counter()
            mine = tbs.build(spark.range(n), "id", n, RATE, seed=1)
            middle = time.perf_counter()
            theirs = spark.range(n)._jdf.stat().bloomFilter("id", n, RATE)
            building.append((middle - start, time.perf_counter() - middle))
        strangers = spark.range(n, n + STRANGERS)
        start = time.perf_counter()
        passed = strangers.filter(tbs.contains(mine, "id")).count()
        asking = time.perf_counter() - start
        tbs.register(spark, "seen", mine)
        strangers.createOrReplaceTempView("strangers")
        by_sql = spark.sql("select count(*) from strangers where seen(id)").first()[0]
        hits = sum(theirs.mightContainLong(number) for number in range(n, n + asked))
        alike = p_value(hits, asked, mine.fpr().value)
        ours = f"{mine.bits / n:.2f} | {passed / STRANGERS:.4%} | {by_sql / STRANGERS:.4%} | {mine.fpr().value:.4%}"
        say(f"| {n:,} | {ours} | {theirs.bitSize() / n:.2f} | {hits / asked:.2%} | p {alike:.2g} |")
        one, other = min(ours for ours, _ in building), min(others for _, others in building)
        lines.append(f"| {n:,} | {one:.2f} | {other:.2f} | **{other / one:.2f}** | {asking:.2f} |")
    say("\n| keys | built by truebloom, s | built by the JVM, s | times as fast | a million queries by `contains`, s |\n|---|---|---|---|---|")
    [say(line) for line in lines]
    capped = spark.range(10)._jdf.stat().bloomFilter("id", 20_000_000, RATE).bitSize()
    say(f"\nThe JVM's filter for 20 million keys has {capped:,} bits, because Spark limits the size of its filters without a message. truebloom's filter for 20 million keys has {BloomFilter(20_000_000, RATE).bits:,} bits.")
    spark.stop()


HEAD = """
Speeds are compared at equal rates: the requested rate of the other library is adjusted until the measured rates agree. A rate of 1% that is measured with a million keys has a standard error of 0.01 percentage points.

`spread` and `lines` are truebloom's two layouts. In `spread` (the default), the bits of a key are spread over the whole filter. In `lines`, all bits of a key are in one cache line.
"""

ACCOUNT = """
## The goals, and what limits the speed

There were three goals:

1. From an Arrow column, `update` is at least 10 times as fast as a loop of rbloom's `add`.
2. From an Arrow column, `update` is at least 2.5 times as fast as rbloom's `update`.
3. A single `in` takes at most as long as rbloom's `in`.

| goal | layout `spread` | layout `lines` |
|---|---|---|
| 1: a factor of 10 | not reached: 7.6 to 7.8 | nearly reached: 9.4 to 10.4 in four runs |
| 2: a factor of 2.5 | reached | reached |
| 3: single `in` | reached | reached |

- *Queries of a column*: in the layout `lines`, `contains_many` is more than 10 times as fast as a loop of rbloom's `in`. In the layout `spread`, it is more than 10 times as fast only for keys that are not contained.
- *A list of texts that Python has already hashed*: with such data, rbloom is too fast for goals 1 and 2. rbloom hashes nothing, but reads the hash that each text object stores. truebloom hashes each text itself, because the stored hash differs from process to process. If rbloom uses a hash that is the same in all processes, it takes about fifty times as long as truebloom.
- *Where truebloom spends its time*: about nine tenths of the time are spent on hashing, on positions and on memory in the Rust crate. The table shows shares of the processor cycles within the package, measured with `perf` on an unstripped build. `bench/record` has more measurements of these parts. Reading a column's strings without an intermediate block of keys took the same time, so this change was not adopted.

  | part | `spread` | `lines` |
  |---|---|---|
  | setting and counting bits | 48% | 48% |
  | XXH3 with 128 bits | 24% | 32% |
  | exactly uniform positions | 17% | 7% |
  | reading offsets and strings of the column | 8% | 10% |

- *A single `in`*: truebloom hashes the text each time, and still takes at most as long as rbloom.
- *`threads=2`* uses a second thread for hashing. The gain was not measured, because this measurement needs an idle machine (`--threads`).
- *Spark*: building a filter takes as long as building the JVM's filter. The JVM's filter has no interface for Python, no sizes above 8 MiB, and no file that other programs read.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("keys", type=int, nargs="?", default=200_000)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--threads", action="store_true", help="also with two threads, on an idle machine")
    parser.add_argument("--record", type=Path, help="also write the record into this file")
    given = parser.parse_args()
    say("# The Python package compared with others\n")
    arguments = " ".join(sys.argv[1:])
    say(f"{processor()}, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}. Made by `python3 python/bench/compare.py {arguments}`. Times are nanoseconds of processor time per key, in the best of several rounds; rounds of both sides alternate. Only the ratios are meaningful.")
    say(HEAD.rstrip())
    for layout in ("spread", "lines"):
        beside_rbloom(given.keys, layout, given.threads)
    beside_pybloom()
    if given.spark:
        beside_spark()
    say(ACCOUNT.rstrip())
    if given.record:
        given.record.write_text("\n".join(OUT) + "\n")


if __name__ == "__main__":
    main()
