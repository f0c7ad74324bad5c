"""Spark in this process: local[2]."""

import functools
import sys
import warnings
from pathlib import Path

import pytest
import truebloom.spark as tbs
from pyspark.sql import functions as F
from truebloom import BloomFilter, CapacityWarning, KeyTypeError, PlanError, ScalableFilter, plan
from truebloom.parts import PartedFilter

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
from binomial import ALPHA, p_value
from everywhere import KEYS, SIZE, by_python, by_rust, by_shell, digits, rust, shell
from spark_session import session


@pytest.fixture(scope="module")
def spark():
    spark = session("local[2]")
    yield spark
    spark.stop()


def alone(keys, items, fpr, seed):
    f = BloomFilter(items, fpr, seed=seed)
    f.update(keys)
    return f


def test_the_bits_are_those_of_one_process(spark):
    rows = spark.range(20_000, numPartitions=5)
    texts = rows.select(F.concat(F.lit("käse "), F.col("id")).alias("k"))
    assert tbs.build(rows, "id", 20_000, 0.01, seed=7) == alone(range(20_000), 20_000, 0.01, 7)
    assert tbs.build(texts, "k", 20_000, 0.01, seed=7) == alone([f"käse {i}" for i in range(20_000)], 20_000, 0.01, 7)
    assert tbs.build(texts.select(F.encode("k", "utf-8").alias("b")), "b", 20_000, 0.01, seed=7) == tbs.build(texts, "k", 20_000, 0.01, seed=7)
    assert tbs.build(rows, F.col("id").cast("int"), 20_000, 0.01, seed=7) == alone(range(20_000), 20_000, 0.01, 7)
    pairs = tbs.build(rows, F.struct("id", F.lit("x")), 20_000, 0.01, seed=7)
    assert pairs == alone([(i, "x") for i in range(20_000)], 20_000, 0.01, 7) and pairs.is_merged


# Each key of `everywhere.KEYS` as an expression of SQL, in a column of its own type. Numbers beyond
# 2^63 have no type in Spark; their bits do.
COLUMNS = [
    ["'café'", "''"],
    ["X'00ff'"],
    ["5", "-2", "cast(-9223372036854775808 as bigint)", "cast(-1 as bigint)"],
    ["true"],
    ["struct('a', 2)"],
    ["struct(struct('a', cast(-1 as tinyint)), 'b')"],
    ["X'00112233445566778899aabbccddeeff'"],
    ["struct(X'00112233445566778899aabbccddeeff', 7L)"],
]


def test_a_key_is_one_key_in_rust_the_shell_python_and_spark(spark, tmp_path):
    """The same bits from all four, and each finds what Spark put in. On Spark each type is a column, and their filters are united."""
    made = by_python()
    assert made == by_rust(tmp_path) == by_shell(tmp_path)
    frames = [spark.createDataFrame([(0,)]).selectExpr(f"explode(array({', '.join(expressions)})) as k") for expressions in COLUMNS]
    parts = [tbs.build(frame, "k", **SIZE) for frame in frames]
    built = functools.reduce(lambda ours, theirs: ours | theirs, parts)
    assert built == made and built.offered == len(KEYS)
    for frame, expressions in zip(frames, COLUMNS, strict=True):
        assert frame.filter(tbs.contains(made, "k")).count() == len(expressions)
    built.save(tmp_path / "spark.tbl")
    assert all(key in BloomFilter.open(tmp_path / "spark.tbl") for key in KEYS)
    assert rust(str(tmp_path / "spark.tbl"), "has") == str(len(KEYS))
    assert shell("check", "--hex", str(tmp_path / "spark.tbl"), lines=[*digits(), "beef"]) == digits()


def test_each_row_is_read_once(spark):
    """By one partition, where a reduction that begins with a look at the first one would compute all twice, and by several."""
    for partitions in (1, 5):
        read = spark.sparkContext.accumulator(0)

        def counted(batches, read=read):
            for batch in batches:
                read.add(batch.num_rows)
                yield batch

        rows = spark.range(10_000, numPartitions=partitions).mapInArrow(counted, "id long")
        assert tbs.build(rows, "id", 10_000, 0.01, seed=1).offered == 10_000
        assert read.value == 10_000


def test_what_cannot_be_sent_is_refused_at_once(spark):
    """Before anything is computed: this table would take hours."""
    with pytest.raises(PlanError, match="build_parts"):
        tbs.build(spark.range(10**13), "id", 3e9, 0.001)

    class Connected:
        __module__ = "pyspark.sql.connect.dataframe"

    for ask in (lambda: tbs.build(Connected(), "id", 10), lambda: tbs.register(Connected(), "f", BloomFilter(10, 0.1)), lambda: tbs.contains_parts(None, Connected(), "id")):
        with pytest.raises(NotImplementedError, match="Spark Connect"):
            ask()


def test_columns_and_sql(spark):
    seen = BloomFilter(1000, 1e-9, seed=1)
    seen.update(["a", "b"])
    rows = spark.createDataFrame([("a",), ("x",), (None,), ("b",)], "k string")
    assert [row.k for row in rows.filter(tbs.contains(seen, "k")).collect()] == ["a", "b"]
    flags = rows.withColumn("in", tbs.contains(seen, F.col("k"))).collect()
    assert [row["in"] for row in flags] == [True, False, None, True]
    tbs.register(spark, "seen", seen)
    rows.createOrReplaceTempView("rows")
    assert [row.k for row in spark.sql("select k from rows where not seen(k)").collect()] == ["x"]
    assert spark.sql("select count(*) from rows where seen(k) is null").first()[0] == 1
    # Two filters in one query, and one that grows.
    other = ScalableFilter(1e-9)
    other.update(["x"])
    either = rows.filter(tbs.contains(seen, "k") | tbs.contains(other, "k"))
    assert either.count() == 3


def test_nulls_and_nothing(spark):
    rows = spark.createDataFrame([("a",), (None,), ("b",)], "k string")
    assert tbs.build(rows, "k", 100, 0.01, seed=1) == alone(["a", "b"], 100, 0.01, 1)
    assert tbs.build(rows.filter("false"), "k", 100, 0.01, seed=1).is_empty


def test_a_count_for_who_gives_none(spark):
    built = tbs.build(spark.range(100_000), "id", fpr=0.01, seed=1)
    assert 100_000 <= built.capacity <= 117_000 and not built.is_over_capacity
    with pytest.warns(CapacityWarning, match="planned for 100 keys"):
        tbs.build(spark.range(5000), "id", 100, 0.01, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CapacityWarning)
        tbs.build(spark.range(100), "id", 100, 0.01, seed=1)


def test_a_bloom_join(spark):
    big = spark.range(200_000).select((F.col("id") % 100_000).alias("id"), F.col("id").alias("v"))
    small = spark.range(1000)
    joined = tbs.prefilter(big, small, "id", 0.01, items=1000, seed=1)
    plain = big.join(small, "id").count()
    assert joined.frame.join(small, "id").count() == plain == 2000
    report = joined.report()
    assert report["rows"] == 200_000 and report["kept"] + report["dropped"] == 200_000 and report["kept"] == joined.frame.count()
    # 2,000 rows have a partner; each number of the others comes twice, so that half of the rows
    # that stay by error are draws at the filter's rate.
    by_error = report["kept"] - 2000
    assert by_error % 2 == 0 and p_value(by_error // 2, 99_000, joined.expected_fpr) > ALPHA
    # What is expected by error is that rate of all rows without a partner, which themselves are
    # estimated by it.
    assert report["expected_by_error"] == pytest.approx(joined.expected_fpr * (200_000 - (report["kept"] - report["expected_by_error"])), rel=1e-9)
    with pytest.raises(KeyTypeError, match="integers and text"):
        tbs.prefilter(big, small.select(F.col("id").cast("string")), "id", items=1000)
    two = tbs.prefilter(big.withColumn("w", F.lit("x")), small.withColumn("w", F.lit("x")), ["id", "w"], 0.01, items=1000, seed=1)
    assert two.frame.join(small, "id").count() == 2000


def test_a_task_holds_one_part(spark, tmp_path, monkeypatch):
    """As many tasks write parts as there are parts, and each opens the one that it asks."""
    rows = spark.range(20_000, numPartitions=3)
    tasks = []

    def finish(self, built):
        tasks.extend(built)
        return original(self, tasks)

    original = PartedFilter.finish
    monkeypatch.setattr(PartedFilter, "finish", finish)
    built = tbs.build_parts(rows, "id", 20_000, 0.01, str(tmp_path / "parts"), parts=20, seed=3)
    assert sorted(tasks) == list(range(20)), "each part by one task"
    asked = tbs.contains_parts(built, rows, "id").select(F.spark_partition_id().alias("task"), "id", "contained")
    per_task = asked.groupBy("task").agg(F.count("*").alias("rows")).collect()
    assert len(per_task) == 20 and sum(row.rows for row in per_task) == 20_000


def test_a_filter_of_many_parts(spark, tmp_path):
    rows = spark.range(50_000).select(F.concat(F.lit("k"), F.col("id")).alias("k"), F.col("id"))
    built = tbs.build_parts(rows, "k", 50_000, 0.01, str(tmp_path / "parts"), parts=6, seed=3)
    opened = PartedFilter.open(tmp_path / "parts")
    assert opened == built and opened.fpr().upper <= 0.01 and opened.contains_many([f"k{i}" for i in range(50_000)]).true_count == 50_000
    strangers = spark.range(200_000).select(F.when(F.col("id") > 9, F.concat(F.lit("other"), F.col("id"))).alias("k"), "id")
    answers = tbs.contains_parts(opened, strangers, "k").groupBy("contained").count().collect()
    counts = {row.contained: row["count"] for row in answers}
    own = opened.fpr().value
    assert counts[None] == 10 and p_value(counts[True], 199_990, own) > ALPHA
    assert tbs.contains_parts(opened, rows, "k").filter("contained").count() == 50_000
    assert tbs.contains_parts(opened, rows, "k").columns == ["k", "id", "contained"] and rows.columns == ["k", "id"] == rows.schema.names


def test_five_million_keys_beside_the_filter_of_spark(spark):
    """Both are asked for 1%. By each path (a Column, SQL, the driver) a million strangers pass as often as our filter's own rate says, and that rate is proven to be at most 1%; 20,000 of the same pass the JVM's
    filter as often as 1% says. Exact tests, each of which an honest filter fails once in a million; a rate of 1.06% would be noticed in a million with a probability of 0.9, and one of 1.5% in 20,000."""
    keys, strangers = 5_000_000, 1_000_000
    built = tbs.build(spark.range(keys), "id", keys, 0.01, seed=5)
    others = spark.range(keys, keys + strangers)
    others.createOrReplaceTempView("strangers")
    tbs.register(spark, "is_built", built)
    own = built.fpr()
    assert own.method == "exact" and own.upper <= 0.01
    for path, count in {
        "column": others.filter(tbs.contains(built, "id")).count(),
        "sql": spark.sql("select count(*) from strangers where is_built(id)").first()[0],
        "driver": built.count_contained(range(keys, keys + strangers)),
    }.items():
        assert p_value(count, strangers, own.value) > ALPHA, path
    assert spark.range(keys).filter(tbs.contains(built, "id")).count() == keys
    theirs = spark.range(keys)._jdf.stat().bloomFilter("id", keys, 0.01)
    passed = sum(theirs.mightContainLong(i) for i in range(keys, keys + 20_000))
    assert p_value(passed, 20_000, 0.01) > ALPHA
    # Beyond that the JVM's is capped without a word, here at 3.4 bits a key; ours says how large it
    # is.
    assert spark.range(10)._jdf.stat().bloomFilter("id", 20_000_000, 0.01).bitSize() == 2**26 < plan(20_000_000, 0.01).bits / 2
