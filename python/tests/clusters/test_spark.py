"""Spark in this process: local[2]."""

import sys
import warnings
from pathlib import Path

import pytest
import truebloom.spark as tbs
from pyspark.sql import functions as F
from truebloom import BloomFilter, CapacityWarning, KeyTypeError, ScalableFilter
from truebloom.parts import PartedFilter

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
from binomial import ALPHA, p_value
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


def test_the_file_of_spark_is_that_of_the_shell(spark, tmp_path):
    """The same key in Rust, the shell, Python and Spark: the command builds the file from lines, and finds what Spark put in."""
    import subprocess

    lines = [f"https://example.org/{i}" for i in range(1000)] + ["café"]
    (tmp_path / "lines").write_text("".join(line + "\n" for line in lines))
    command = [sys.executable, "-m", "truebloom", "create", "-n", "2000", "-p", "0.01", "--seed", "2a", "shell.tbl", "lines"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    built = tbs.build(spark.createDataFrame([(line,) for line in lines], "k string"), "k", 2000, 0.01, seed="2a")
    assert built == BloomFilter.open(tmp_path / "shell.tbl")
    built.save(tmp_path / "spark.tbl")
    found = subprocess.run([*command[:3], "check", "spark.tbl"], cwd=tmp_path, input="café\nnever\n", text=True, capture_output=True)
    assert found.stdout == "café\n"


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
    assert abs(report["expected_by_error"] - (report["kept"] - 2000)) < 0.01 * report["kept"] + 1e-3 * 200_000
    with pytest.raises(KeyTypeError, match="integers and text"):
        tbs.prefilter(big, small.select(F.col("id").cast("string")), "id", items=1000)
    two = tbs.prefilter(big.withColumn("w", F.lit("x")), small.withColumn("w", F.lit("x")), ["id", "w"], 0.01, items=1000, seed=1)
    assert two.frame.join(small, "id").count() == 2000


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
    """Both at 1%: a million strangers pass as often as the filter's own rate says, by an exact test, and that rate is at most 1%. The JVM's filter is asked 20,000 of the same, and shown beside."""
    keys, strangers = 5_000_000, 1_000_000
    built = tbs.build(spark.range(keys), "id", keys, 0.01, seed=5)
    others = spark.range(keys, keys + strangers)
    for path, count in {
        "column": others.filter(tbs.contains(built, "id")).count(),
        "driver": built.count_contained(range(keys, keys + strangers)),
    }.items():
        own = built.fpr().value
        assert own <= 0.01 and p_value(count, strangers, own) > ALPHA, path
    assert spark.range(keys).filter(tbs.contains(built, "id")).count() == keys
    theirs = spark.range(keys)._jdf.stat().bloomFilter("id", keys, 0.01)
    passed = sum(theirs.mightContainLong(i) for i in range(keys, keys + 20_000))
    print(f"\n5 million keys at 1%: truebloom {built.bits:,} bits, proven {own:.5f}, measured {count / strangers:.5f}; Spark's own {theirs.bitSize():,} bits, measured {passed / 20_000:.4f}")
