"""Classes of users that are filters, and columns of users that are columns."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from truebloom import BloomFilter, FormatError, PlanError, ScalableFilter, plan


class Named(BloomFilter):
    """With an attribute, and a constructor that asks for more than a filter does."""

    def __new__(cls, name, *arguments, **named):
        return super().__new__(cls, *arguments, **named)

    def __init__(self, name, *_, **__):
        self.name, self.notes = name, ["a note"]


class Growing(ScalableFilter):
    pass


def test_a_subclass_stays_one(tmp_path):
    f = Named("urls", 1000, 0.01, seed=1)
    f.update(range(100))
    f.save(tmp_path / "f.tbl")
    made = [f.copy(), copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f)), Named.from_bytes(f.to_bytes()), Named.open(tmp_path / "f.tbl")]
    made += [Named.open(tmp_path / "f.tbl", mmap=True), f | f.to_empty()]
    for other in made:
        assert type(other) is Named and other.count_contained(range(100)) == 100
    assert all(other == f for other in made[:-1])
    assert type(f.to_empty()) is type(f & f) is Named and f.to_empty().is_empty
    assert type(Named.from_plan(plan(100, 0.1))) is Named and type(Named.with_size(512, 3)) is Named
    assert type(BloomFilter.from_bytes(f.to_bytes())) is BloomFilter


def test_its_attributes_are_kept():
    f = Named("urls", 1000, 0.01, seed=1)
    for other, shared in ((f.copy(), True), (copy.copy(f), True), (copy.deepcopy(f), False), (pickle.loads(pickle.dumps(f)), False)):
        assert other.name == "urls" and other.notes == ["a note"] and (other.notes is f.notes) is shared
    assert not hasattr(f.to_empty(), "name")


def test_a_subclass_that_grows(tmp_path):
    f = Growing(0.01, first_items=64, seed=1)
    f.update(range(1000))
    f.save(tmp_path / "f.tbl")
    for other in (f.copy(), pickle.loads(pickle.dumps(f)), Growing.open(tmp_path / "f.tbl")):
        assert type(other) is Growing and other == f and other.layers == f.layers > 1
    assert type(BloomFilter.open(tmp_path / "f.tbl")) is ScalableFilter
    with pytest.raises(FormatError, match="truebloom.ScalableFilter"):
        Named.open(tmp_path / "f.tbl")
    with pytest.raises(FormatError, match="truebloom.BloomFilter"):
        Growing.from_bytes(BloomFilter(10, 0.1).to_bytes())
    for make in (lambda: Growing.with_size(512, 3), lambda: ScalableFilter.from_plan(plan(100, 0.1))):
        with pytest.raises(PlanError, match="no fixed size"):
            make()


class GeoSeries(pd.Series):
    """What geopandas does."""


class Quantity(np.ndarray):
    """What astropy does."""


GeoSeries.__module__, Quantity.__module__ = "geopandas.geoseries", "astropy.units"


def test_answers_to_subclasses_of_columns():
    f = BloomFilter(100, 1e-6, seed=1)
    f.update([1, 2])
    series = f.contains_many(GeoSeries([1, 5], index=["x", "y"]))
    assert isinstance(series, pd.Series) and series.to_dict() == {"x": True, "y": False}
    array = f.contains_many(np.array([1, 5]).view(Quantity))
    assert isinstance(array, np.ndarray) and array.tolist() == [True, False]


def test_pandas_columns_without_an_arrow_type():
    f = BloomFilter(100, 1e-6, seed=1)
    assert f.update(pd.Series([("a", 1), ("b", 2)])) == 2 and ("a", 1) in f
    assert f.update(pd.Series(["x", 5], dtype=object)) == 2 and "x" in f and 5 in f
    assert f.update(GeoSeries([("c", 3)])) == 1 and ("c", 3) in f
    assert f.contains_many(pd.Series(["x", 6], dtype=object, index=[3, 4])).to_dict() == {3: True, 4: False}


def test_a_table_of_mixed_columns_is_refused():
    """Its items are the names of its columns: no keys that anybody means."""
    f = BloomFilter(100, 0.01, seed=1)
    with pytest.raises(TypeError, match="one type"):
        f.update(pd.DataFrame({"a": ["x", 5]}))
    assert f.is_empty
