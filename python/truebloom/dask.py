"""Bloom filters on Dask: all workers build and query them. The files of these filters can be read everywhere.

    import truebloom.dask as tbd

    seen = tbd.build(clicks["user_id"], fpr=0.01)                 # a BloomFilter in this process
    kept = orders[tbd.contains(seen, orders["user_id"])]          # lazy
    kept = tbd.prefilter(orders, small, on="user_id")             # rows that may be in a join

The workers need this package and nothing else. Missing values are not inserted, and `contains` returns False for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import dask
import numpy as np
import pandas as pd

from truebloom import _merge
from truebloom._truebloom import BloomFilter

__all__ = ["build", "contains", "prefilter"]


def _part(recipe: dict[str, Any], keys: Any) -> bytes:
    built = BloomFilter(**recipe)
    built.update(_present(keys))
    return built.to_bytes()


def _present(keys: Any) -> Any:
    """Returns a partition without its missing values. Integers that pandas stores as floats because of missing values become integers again."""
    keys = keys.dropna()
    if isinstance(keys, pd.DataFrame):
        return zip(*(_present(keys[name]) for name in keys.columns), strict=True)
    if keys.dtype.kind == "f" and np.all(keys == np.floor(keys)):
        return keys.astype("int64")
    return keys if keys.dtype.kind in "iu" else keys.astype("str") if _all_text(keys) else list(keys)


def _all_text(keys: Any) -> bool:
    return bool(pd.api.types.is_string_dtype(keys.dtype)) and keys.dtype != object


def _tree(parts: Iterable[Any], width: int = 8) -> Any:
    """Merges all parts into one filter, in a tree: each worker holds at most `width` filters at once."""
    level = list(parts)
    while len(level) > 1:
        level = [dask.delayed(_merge.union)(level[start : start + width]) for start in range(0, len(level), width)]
    return level[0]


def build(keys: Any, items: float | None = None, fpr: Any = 0.01, **options: Any) -> BloomFilter:
    """Builds a filter of the keys in a Dask series. In a Dask table, each row is one key: a tuple of its fields.

    Without `items`, the distinct keys are first counted approximately (a pass over the data), and the filter is planned for 8% more keys than this count. If there are more keys than planned, a
    CapacityWarning is issued. `options` are passed to BloomFilter. The bits are the same as if one process had built the filter with this seed.
    """
    if items is None:
        items = _merge.planned_items(int(keys.nunique_approx().compute()))
    recipe = _merge.recipe(items, fpr, options)
    merged = _tree(dask.delayed(_part)(recipe, part) for part in keys.to_delayed())
    return _merge.checked(BloomFilter.from_bytes(merged.compute()))


def _asked(keys: Any, filter: BloomFilter) -> Any:
    missing = keys.isna()
    missing = missing.any(axis=1) if isinstance(keys, pd.DataFrame) else missing
    answers = np.zeros(len(keys), dtype=bool)
    answers[~missing.to_numpy()] = np.fromiter(filter.contains_many(_present(keys)), dtype=bool)
    return pd.Series(answers, index=keys.index)


def contains(filter: BloomFilter, keys: Any) -> Any:
    """Reports for each key whether it is contained: a lazy series of booleans with the index of the keys, to select rows by `frame[...]`."""
    return keys.map_partitions(_asked, dask.delayed(filter), meta=(None, bool))


def _kinds(frame: Any, names: list[str]) -> list[str]:
    """The type as which each column is hashed. Floats count as integers, because pandas stores integers with missing values as floats."""
    return ["integers" if frame[name].dtype.kind in "iufb" else "text" for name in names]


def prefilter(big: Any, small: Any, on: str | list[str], fpr: Any = 0.01, items: float | None = None, **options: Any) -> Any:
    """Keeps the rows of `big` that may have a partner: a row of `small` with the same values in the columns `on`. Call this function before the join itself (a Bloom join).

    No row with a partner is lost. Of the other rows, a share of at most `fpr` is expected to stay.
    """
    names = [on] if isinstance(on, str) else on
    _merge.same_types(_kinds(big, names), _kinds(small, names), names)
    return big[contains(build(small[on], items, fpr, **options), big[on])]
