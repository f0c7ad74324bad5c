"""A filter of many parts."""

import math
import os
from fractions import Fraction

import pyarrow as pa
import pytest
from binomial import ALPHA, p_value
from truebloom import FormatError, PlanError
from truebloom.parts import SLACK, PartedFilter, part_items


def filled(folder, keys, **options):
    plan = PartedFilter.begin(folder, len(keys), 0.01, **options)
    part_of = plan.part_of_many(pa.array(keys)).tolist()
    for number in set(part_of):
        part = plan.empty_part(number)
        part.update([key for key, own in zip(keys, part_of, strict=True) if own == number])
        part.save(plan.path(number))
    return plan.finish(set(part_of))


def test_no_key_is_lost_and_the_rate_is_kept(tmp_path):
    keys = [f"key {i}" for i in range(30_000)]
    built = filled(tmp_path / "f", keys, parts=7, seed=5)
    opened = PartedFilter.open(tmp_path / "f")
    assert opened == built and opened.contains_many(keys).true_count == 30_000 and keys[5] in opened
    own = opened.fpr()
    assert own.method == "exact" and own.lower <= own.value <= own.upper <= 0.01
    others = pa.array([f"other {i}" for i in range(200_000)])
    assert p_value(opened.contains_many(others).true_count, 200_000, own.value) > ALPHA
    assert opened.contains_many(pa.array(["key 1", None])).to_pylist() == [True, None]
    assert opened.contains_many(pa.chunked_array([["key 1"], [None, "key 2"]])).to_pylist() == [True, None, True]


def test_parts_are_as_likely(tmp_path):
    plan = PartedFilter.begin(tmp_path, 1000, 0.01, parts=10, seed=1)
    counts = [plan.part_of_many(range(100_000)).tolist().count(part) for part in range(10)]
    assert all(p_value(count, 100_000, 0.1) > ALPHA / 10 for count in counts), counts
    assert len({plan.empty_part(part).seed for part in range(10)}) == 10


@pytest.mark.parametrize(("items", "fpr", "parts"), [(100, 0.01, 3), (1000, 0.1, 10), (400, 0.5, 2)])
def test_the_bound_on_a_parts_keys_holds(items, fpr, parts):
    """By the binomial law itself, in fractions."""
    planned, share = part_items(items, fpr, parts), Fraction(1, parts)
    tail = sum(math.comb(items, n) * share**n * (1 - share) ** (items - n) for n in range(planned + 1, items + 1))
    assert tail <= fpr * SLACK


def test_what_is_not_whole_is_refused(tmp_path):
    PartedFilter.begin(tmp_path, 1000, 0.01, parts=2)
    with pytest.raises(FormatError, match="not all built"):
        PartedFilter.open(tmp_path)
    (tmp_path / "truebloom-parts.json").write_text("{}")
    with pytest.raises(FormatError):
        PartedFilter.open(tmp_path)
    with pytest.raises(ValueError, match="parts"):
        PartedFilter.begin(tmp_path, 1000, 0.01, parts=0)
    with pytest.raises(FileExistsError, match="already"):
        PartedFilter.begin(tmp_path, 1000, 0.01, parts=2)
    for wrong in ({"items": 0}, {"items": 1.5}, {"items": float("inf")}, {"seed": -1}):
        with pytest.raises(PlanError):
            PartedFilter.begin(tmp_path / "new", **{"items": 10, "fpr": 0.01, "parts": 2, **wrong})
    assert not (tmp_path / "new").exists()


def test_missing_and_foreign_parts_are_noticed(tmp_path):
    keys = [f"key {i}" for i in range(1000)]
    built, other = filled(tmp_path / "f", keys, parts=3, seed=5), filled(tmp_path / "g", keys, parts=3, seed=6)
    os.replace(other.path(1), built.path(1))
    with pytest.raises(FormatError, match="another seed"):
        built.contains_many(keys)
    os.remove(built.path(1))
    with pytest.raises(FileNotFoundError):
        built.fpr()
    with pytest.raises(FormatError, match="missing"):
        PartedFilter.open(tmp_path / "f")
