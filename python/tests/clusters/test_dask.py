"""Dask with two worker processes."""

import sys
import warnings
from pathlib import Path

import dask.dataframe as dd
import pandas as pd
import pytest
import truebloom.dask as tbd
from dask.distributed import Client
from truebloom import BloomFilter, CapacityWarning, KeyTypeError

sys.path.insert(0, str(Path(__file__).parents[1]))
from binomial import ALPHA, p_value


@pytest.fixture(scope="module")
def client():
    with Client(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as client:
        yield client


def frame(name, keys, parts=5):
    return dd.from_pandas(pd.DataFrame({name: keys}), npartitions=parts)


def test_the_bits_are_those_of_one_process(client):
    for keys in ([f"key {i % 8000}" for i in range(20_000)], list(range(20_000))):
        built = tbd.build(frame("k", keys)["k"], 20_000, 0.01, seed=7)
        alone = BloomFilter(20_000, 0.01, seed=7)
        alone.update(keys)
        assert built == alone and built.is_merged and built.offered == 20_000


def test_contained_rows_stay_and_the_rate_is_kept(client):
    """100,000 strangers at the filter's own rate, by an exact test."""
    built = tbd.build(frame("k", range(50_000))["k"], fpr=0.01, seed=3)
    assert 50_000 <= built.capacity < 62_000
    rows = frame("k", range(150_000))
    kept = rows[tbd.contains(built, rows["k"])].compute()["k"]
    own, false = built.fpr().value, int((kept >= 50_000).sum())
    assert (kept < 50_000).sum() == 50_000 and own < 0.01
    assert p_value(false, 100_000, own) > ALPHA


def test_missing_values(client):
    keys = frame("k", ["a", None, "b", None, "c", "d"], 2)["k"]
    built = tbd.build(keys, 100, 1e-6, seed=1)
    assert built.offered == 4 and tbd.contains(built, keys).compute().tolist() == [True, False, True, False, True, True]
    numbers = frame("k", [1.0, None, 3.0], 1)["k"]
    built = tbd.build(numbers, 100, 1e-6, seed=1)
    assert 1 in built and 3 in built and tbd.contains(built, numbers).compute().tolist() == [True, False, True]


def test_a_bloom_join(client):
    small = dd.from_pandas(pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), npartitions=1)
    big = dd.from_pandas(pd.DataFrame({"a": ["x", "x", "y", None], "b": [1, 2, 2, 1], "v": [1, 2, 3, 4]}), npartitions=2)
    assert tbd.prefilter(big, small, ["a", "b"], 1e-6, items=10, seed=1).compute()["v"].tolist() == [1, 3]
    numbers = dd.from_pandas(pd.DataFrame({"a": [1, 2]}), npartitions=1)
    with pytest.raises(KeyTypeError, match="text and integers"):
        tbd.prefilter(big, numbers, "a", items=10)
    gaps = dd.from_pandas(pd.DataFrame({"a": ["x", "y", "x"], "b": [1, None, 2]}), npartitions=1)
    assert tbd.contains(tbd.build(small[["a", "b"]], 10, 1e-6, seed=1), gaps[["a", "b"]]).compute().tolist() == [True, False, False]
    assert tbd.prefilter(big, small, "a", 1e-6, items=10, seed=1).compute()["v"].tolist() == [1, 2, 3]


def test_a_count_for_who_gives_none(client):
    """Of one column, and of a table, whose rows are keys."""
    pairs = dd.from_pandas(pd.DataFrame({"a": [f"k{i % 500}" for i in range(20_000)], "b": range(20_000)}), npartitions=4)
    built = tbd.build(pairs, fpr=1e-3, seed=1)
    assert 20_000 <= built.capacity < 24_000 and ("k3", 3) in built and ("k3", 4) not in built
    assert 500 <= tbd.build(pairs["a"], fpr=1e-3, seed=1).capacity < 600


def test_too_many_keys_are_noticed(client):
    with pytest.warns(CapacityWarning, match="planned for 100 keys"):
        tbd.build(frame("k", range(5000))["k"], 100, 0.01, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tbd.build(frame("k", range(100))["k"], 100, 0.01, seed=1)
