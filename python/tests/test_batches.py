"""Many keys at a time: every form gives what one key after the other gives."""

import array
import decimal
import random
import resource
import threading

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from truebloom import Answers, BloomFilter, FormatError, KeyTypeError, RecyclingFilter, ScalableFilter

WORDS = [f"word {i}" * (1 + i % 4) for i in range(10_000)]


def filter_of(keys):
    f = BloomFilter(20_000, 0.01, seed=7)
    for key in keys:
        f.add(key)
    return f


def sources(words):
    yield words
    yield tuple(words)
    yield iter(words)
    yield dict.fromkeys(words)
    yield np.array(words)
    yield np.array(words, dtype=object)
    yield pa.array(words)
    yield pa.array(words, pa.large_string())
    yield pa.array(words, pa.string_view())
    yield pa.array([word.encode() for word in words], pa.binary())
    yield pa.array([word.encode() for word in words], pa.large_binary())
    yield pa.array([word.encode() for word in words], pa.binary_view())
    yield pa.array(words).dictionary_encode()
    yield pa.chunked_array([words[:1], words[1:1], words[1:777], words[777:]])
    yield pa.array(["sliced away", *words, "too"]).slice(1, len(words))
    yield pa.table({"a": words})
    yield pa.table({"a": words}).to_reader(max_chunksize=1000)
    yield pa.record_batch({"a": words})
    yield pl.Series("a", words)
    yield pl.DataFrame({"a": words})
    yield pl.Series("a", words, dtype=pl.Categorical)
    yield pd.Series(words)
    yield pd.Series(words, dtype="category")
    yield duckdb.sql("select a from t") if (t := pa.table({"a": words})) else None


@pytest.mark.parametrize("number", range(24))
@pytest.mark.parametrize("threads", [1, 3])
def test_all_sources_are_the_same(number, threads):
    expected = filter_of(WORDS)
    t = pa.table({"a": WORDS})  # noqa: F841 (what DuckDB looks up by name)
    source = list(sources(WORDS))[number]
    f = BloomFilter(20_000, 0.01, seed=7)
    new = f.update(source, threads=threads)
    assert f == expected and new == f.surely_new == expected.surely_new and f.offered == len(WORDS)
    again = list(sources(WORDS))[number]
    assert f.count_contained(again, threads=threads) == len(WORDS)


def test_answers_come_in_kind():
    f = filter_of(["a", "b"])
    keys = ["a", "x", "b"]
    expected = [True, False, True]
    assert f.contains_many(keys) == expected and type(f.contains_many(iter(keys))) is list
    found = f.contains_many(np.array(keys))
    assert isinstance(found, np.ndarray) and found.dtype == bool and found.tolist() == expected and found.flags.writeable
    column = pa.array(keys)
    assert column.filter(f.contains_many(column)).to_pylist() == ["a", "b"]
    table = pa.table({"k": pa.chunked_array([keys[:1], keys[1:]])})
    assert table.filter(f.contains_many(table["k"])).to_pydict() == {"k": ["a", "b"]}
    frame = pl.DataFrame({"k": keys})
    assert frame.filter(f.contains_many(frame["k"])).to_dict(as_series=False) == {"k": ["a", "b"]}
    frame = pd.DataFrame({"k": keys}, index=[10, 20, 30])
    assert frame[f.contains_many(frame["k"])]["k"].tolist() == ["a", "b"]
    assert frame[~f.contains_many(frame["k"])].index.tolist() == [20]


class Foreign:
    """A library that is not known."""

    def __init__(self, column):
        self.column = column

    def __arrow_c_array__(self, requested_schema=None):
        return self.column.__arrow_c_array__(requested_schema)


def test_answers_of_unknown_libraries_have_the_interface():
    found = filter_of(["a"]).contains_many(Foreign(pa.array(["a", None, "x"])))
    assert isinstance(found, Answers) and len(found) == 3 and list(found) == [True, None, False] == found.tolist()
    assert found[-1] is False and found.count() == 1 and pa.array(found).to_pylist() == [True, None, False]
    for row in (3, -4, 10**18, -(10**18)):
        with pytest.raises(IndexError):
            found[row]


def test_nulls_are_left_out_and_answered_with_null():
    column = pa.array(["a", None, "b", None, "a"])
    f = BloomFilter(100, 0.01, seed=1)
    assert f.add_many(column).to_pylist() == [True, None, True, None, False]
    assert f.offered == 3
    assert f.contains_many(column).to_pylist() == [True, None, True, None, True]
    assert f.contains_many(pl.Series([None, "a"])).to_list() == [None, True]
    assert f.contains_many(pd.Series(["a", None])).tolist() == [True, False]
    numbers = pa.array([1, None, 3], pa.int32())
    assert f.update(numbers) == 2 and f.contains_many(numbers).to_pylist() == [True, None, True]
    assert f.contains_many(pa.nulls(3)).to_pylist() == [None] * 3 and f.update(pa.nulls(3)) == 0
    encoded = pa.array(["a", None, "q"]).dictionary_encode()
    assert f.contains_many(encoded).to_pylist() == [True, None, False]
    with pytest.raises(KeyTypeError):
        f.update(["a", None])


def test_nulls_anywhere():
    """Blocks, slices, chunks and threads put the answers where their rows are."""
    random.seed(5)
    keys = [None if random.random() < 0.3 else random.randrange(4000) for _ in range(30_000)]
    f = BloomFilter(4000, 1e-9, seed=1)
    f.update(pa.array(range(2000)))
    expected = [None if key is None else key in f for key in keys]
    for threads in (1, 2, 5):
        assert f.contains_many(pa.array(keys), threads=threads).to_pylist() == expected
        chunks = pa.chunked_array([keys[:7], keys[7:7], keys[7:1000], keys[1000:20_001], keys[20_001:]])
        assert f.contains_many(chunks, threads=threads).to_pylist() == expected
    texts = pa.array([None if key is None else str(key) for key in keys])
    g, h = (BloomFilter(4000, 0.01, seed=1) for _ in range(2))
    assert g.add_many(texts).to_pylist() == h.add_many(texts, threads=3).to_pylist() and g == h


def test_tables_are_tuples():
    table = pa.table({"a": ["x", "y", None, "z"], "b": [1, 2, 3, None]})
    f = BloomFilter(100, 0.01, seed=1)
    assert f.update(table) == 2 and ("x", 1) in f and ("y", 2) in f and ("z", 1) not in f
    assert f.contains_many(table).to_pylist() == [True, True, None, None]
    nested = pa.array([{"p": "x", "q": {"r": 1, "s": b"t"}}, None])
    g = BloomFilter(100, 0.01, seed=1)
    assert g.update(nested) == 1 and ("x", (1, b"t")) in g
    # A part of a column of structs, whose fields are whole.
    rows = pa.array([{"p": f"k{i}", "q": i} for i in range(10)])
    h = BloomFilter(100, 1e-6, seed=1)
    assert h.update(rows.slice(6)) == 4 and ("k6", 6) in h and ("k9", 9) in h and ("k0", 0) not in h
    assert h.contains_many(rows.slice(5, 3)).to_pylist() == [False, True, True]
    # Parts of a table whose columns are cut apart.
    assert f.contains_many(table.slice(1, 2)).to_pylist() == [True, None]
    assert g.contains_many(nested.slice(1)).to_pylist() == [None]


def test_a_table_of_one_column_is_that_column_with_nulls_too():
    for keys in (["x", "y", "z"], [1, 2, 3]):
        plain = pa.array([{"a": key} for key in keys])
        with_nulls = pa.array([{"a": keys[0]}, None, {"a": keys[1]}, {"a": None}, {"a": keys[2]}])
        nested = pa.array([{"n": {"a": keys[0]}}, {"n": None}, {"n": {"a": keys[1]}}, None, {"n": {"a": keys[2]}}])
        expected = BloomFilter(100, 1e-6, seed=1)
        expected.update(keys)
        for column in (plain, with_nulls, nested, pa.chunked_array([with_nulls[:1], with_nulls[1:]])):
            f = BloomFilter(100, 1e-6, seed=1)
            assert f.update(column) == 3 and f == expected and (keys[0],) in f
        assert expected.contains_many(with_nulls).to_pylist() == [True, None, True, None, True]
        assert expected.contains_many(nested.slice(1, 3)).to_pylist() == [None, True, None]
        f = BloomFilter(100, 1e-6, seed=1)
        assert f.update(pa.array([{"a": keys[0], "b": 1}, None])) == 1 and (keys[0], 1) in f


def test_long_rows_of_structs_are_cut_into_blocks():
    """Rows beyond the bytes of a block: the answers, the nulls and the bits are those of single keys. Memory stays that of a block, although the rows together have 800 MB: a dictionary has each long text once."""
    texts = pa.array(["x" * 200_000, "y" * 200_000, None])
    indexes = np.tile(np.array([0, 1, 2], "i4"), 2000)
    column = pa.StructArray.from_arrays([pa.DictionaryArray.from_arrays(indexes, texts), pa.array(indexes % 2)], ["a", "b"])
    expected = [True, True, None] * 2000
    one = BloomFilter(100, 1e-9, seed=1)
    assert one.add(("x" * 200_000, 0)) and one.add(("y" * 200_000, 1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for threads in (1, 2):
        many = one.to_empty()
        assert many.update(column, threads=threads) == 2 and many.offered == 4000 and many.ones == one.ones
        assert many.contains_many(column, threads=threads).to_pylist() == expected
    # In KiB; a block and its hashes take a few thousand.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_booleans_and_fixed_widths():
    f = BloomFilter(100, 0.01, seed=1)
    f.update(pa.array([True, None]))
    assert 1 in f and True in f and 0 not in f
    f.update(pa.array([b"abcd"], pa.binary(4)))
    assert "abcd" in f
    f.update(np.array([False]))
    assert 0 in f
    assert f.contains_many(pa.array([b""], pa.binary(0)).slice(0)).to_pylist() == [False]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.5]),
        pa.array([[1]]),
        pa.array([decimal.Decimal("1.5")]),
        pa.array([0], pa.timestamp("s")),
        pa.array([0], pa.date32()),
        pa.array([0], pa.duration("s")),
        pa.array([{"a": 1.5}]),
        pa.array([1.5, 1.5]).dictionary_encode(),
        pa.RunEndEncodedArray.from_arrays([1], ["a"]),
        pl.Series([1.5]),
        pd.Series([1.5]),
        np.array([1.5]),
        np.ma.masked_array([1, 2, 3], mask=[False, True, False]),
        pl.Series(["a", "b"], dtype=pl.Object),
        pd.Series(pd.period_range("2020", periods=2, freq="Y")),
        pd.Series(pd.interval_range(0, 2)),
        np.array(["2020-01-01"], "datetime64[D]"),
        np.array([[1, 2]]),
        [b"a", 1.5],
    ],
)
def test_columns_without_keys_are_refused(column):
    f = BloomFilter(100, 0.01)
    with pytest.raises(KeyTypeError):
        f.update(column)
    with pytest.raises(KeyTypeError):
        f.contains_many(column)


def test_what_is_empty_is_nothing():
    f = BloomFilter(100, 0.01)
    for keys in ([], iter([]), pa.array([], pa.string()), pa.chunked_array([], pa.int64()), np.array([], "i8"), pl.Series([], dtype=pl.String)):
        assert f.update(keys) == 0 and len(f.contains_many(keys)) == 0
    assert f.contains_many(array.array("q", [])) == []


def test_keys_before_the_wrong_one_are_in_it():
    f = BloomFilter(20_000, 0.01, seed=1)
    with pytest.raises(KeyTypeError):
        f.update([*range(5000), 1.5, 9999])
    assert f.count_contained(range(5000)) == 5000 and f.offered == 5000

    def failing():
        yield "a"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        f.update(failing())
    assert "a" in f


def test_broken_arrow_is_an_error():
    class Broken:
        def __init__(self, answer):
            self.answer = answer

        def __arrow_c_array__(self, requested_schema=None):
            return self.answer

    f = BloomFilter(100, 0.01)
    for answer in (None, 1, (), (1, 2), pa.array([1]).__arrow_c_array__()[::-1], (object(), object())):
        with pytest.raises(KeyTypeError):
            f.update(Broken(answer))
    once = pa.array(["a"]).__arrow_c_array__()
    assert f.update(Broken(once)) == 1
    with pytest.raises(FormatError, match="released"):
        f.update(Broken(once))

    class Failing:
        def __arrow_c_stream__(self, requested_schema=None):
            def batches():
                yield pa.record_batch({"a": ["x"]})
                raise ValueError("the source is gone")

            schema = pa.schema([("a", pa.string())])
            return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__(requested_schema)

    with pytest.raises(FormatError, match="the source is gone"):
        f.update(Failing())
    assert "x" in f


def test_threads_with_one_capsule():
    """One of them gets the column, the others an error that says so."""

    class Same:
        def __init__(self):
            self.answer = pa.array(["a", "b"]).__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.answer

    f, found = BloomFilter(10_000, 0.01, seed=1), []
    for _ in range(200):
        same, barrier = Same(), threading.Barrier(4)

        def hand_in(same=same, barrier=barrier):
            barrier.wait()
            try:
                f.update(same)
                found.append("taken")
            except FormatError as error:
                assert "released" in str(error)

        threads = [threading.Thread(target=hand_in) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join(60) for thread in threads]
    assert len(found) == 200 and f.offered == 400


@pytest.mark.parametrize("offsets", [[0, 2**31 - 1, 3], [0, -1, 3], [0, 5, 3], [0, 3, 1, 3]])
def test_offsets_out_of_order_are_an_error(offsets):
    """The last offset says how many bytes there are; one beyond it, or before the one before, is noticed before it is followed."""
    column = pa.Array.from_buffers(pa.string(), len(offsets) - 1, [None, pa.py_buffer(np.array(offsets, "i4")), pa.py_buffer(b"abc")])
    f = BloomFilter(100, 0.01)
    with pytest.raises(FormatError, match="not in order"):
        f.update(column)


def test_an_offset_beyond_the_bytes_is_noticed_before_the_next_block():
    """Blocks are read one after the other: in this one all offsets are in order, and the last is beyond what the column's last offset says."""
    offsets = np.arange(5001, dtype="i4")
    offsets[4096] = 2**31 - 1
    column = pa.Array.from_buffers(pa.string(), 5000, [None, pa.py_buffer(offsets), pa.py_buffer(b"x" * 5000)])
    with pytest.raises(FormatError, match="not in order"):
        BloomFilter(10_000, 0.01).update(column)


def test_views_and_indexes_beyond_their_buffers_are_errors():
    view = np.array([100, 0, 0, 0], "i4")
    column = pa.Array.from_buffers(pa.string_view(), 1, [None, pa.py_buffer(view), pa.py_buffer(b"x" * 50)])
    with pytest.raises(FormatError, match="beyond its buffers"):
        BloomFilter(100, 0.01).update(column)
    indexes = pa.array([0, 7], pa.int8())
    column = pa.DictionaryArray.from_arrays(indexes, pa.array(["a"]), safe=False)
    with pytest.raises(FormatError, match="beyond its dictionary"):
        BloomFilter(100, 0.01).update(column)


def test_threads_have_a_range():
    f = BloomFilter(100, 0.01)
    for threads in (0, 257):
        with pytest.raises(ValueError, match="from 1 to 256"):
            f.update([1], threads=threads)


@pytest.mark.parametrize("make", [lambda: ScalableFilter(0.01, seed=3), lambda: BloomFilter(50_000, 0.01, seed=3, layout="lines")])
def test_layouts_that_differ_take_the_same_batches(make):
    one, many, threaded = make(), make(), make()
    column = pa.array(range(30_000)).cast(pa.string())
    for key in column.to_pylist():
        one.add(key)
    new = many.add_many(column)
    assert threaded.add_many(column, threads=4).equals(new)
    assert one == many == threaded and one.surely_new == new.true_count
    assert many.contains_many(column, threads=2).true_count == 30_000


def test_recycling_takes_batches_as_one_by_one():
    one, many = (RecyclingFilter(1000, 0.01, seed=3) for _ in range(2))
    keys = [f"k{i % 3000}" for i in range(10_000)]
    answers = [one.add(key) for key in keys]
    assert many.add_many(pa.array(keys)).to_pylist() == answers and one == many and one.cycles > 2
