"""Bloom filters on Dask: built by all workers, asked by all workers, and the same file as everywhere else.

    import truebloom.dask as tbd

    seen = tbd.build(clicks["user_id"], fpr=0.01)                 # a BloomFilter, here
    kept = orders[tbd.contains(seen, orders["user_id"])]          # lazy, as everything of Dask
    joined = tbd.prefilter(orders, small, on="user_id")           # a bloom join

The workers need this package and nothing else. Missing values are not inserted, and are never contained.
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
    """A partition without its missing values; integers that pandas keeps as floats because of them are integers again."""
    keys = keys.dropna()
    if isinstance(keys, pd.DataFrame):
        return zip(*(_present(keys[name]) for name in keys.columns), strict=True)
    if keys.dtype.kind == "f" and np.all(keys == np.floor(keys)):
        return keys.astype("int64")
    return keys if keys.dtype.kind in "iu" else keys.astype("str") if _all_text(keys) else list(keys)


def _all_text(keys: Any) -> bool:
    return bool(pd.api.types.is_string_dtype(keys.dtype)) and keys.dtype != object


def _tree(parts: Iterable[Any], width: int = 8) -> Any:
    """One filter of all, merged in a tree: no worker holds more than so many at once."""
    level = list(parts)
    while len(level) > 1:
        level = [dask.delayed(_merge.union)(level[start : start + width]) for start in range(0, len(level), width)]
    return level[0]


def build(keys: Any, items: float | None = None, fpr: Any = 0.01, **options: Any) -> BloomFilter:
    """The filter of a Dask series, or of a table whose rows are tuples.

    Without `items`, the distinct keys are counted first, approximately (a pass over the data), and the filter is planned for 8% more. With it, a CapacityWarning says when there were more.
    `options` are those of BloomFilter. The bits are those that one process would build with that seed.
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
    """Whether keys are contained: a lazy series of booleans with the index of the keys, for `frame[...]`."""
    return keys.map_partitions(_asked, dask.delayed(filter), meta=(None, bool))


def _kinds(frame: Any, names: list[str]) -> list[str]:
    """What the columns are hashed as; integers with missing values are floats in pandas."""
    return ["integers" if frame[name].dtype.kind in "iufb" else "text" for name in names]


def prefilter(big: Any, small: Any, on: str | list[str], fpr: Any = 0.01, items: float | None = None, **options: Any) -> Any:
    """A bloom join, in one call: the rows of `big` that may have a partner in `small` by the columns `on`, before the merge that needs them.

    No row with a partner is lost; of the others a share of `fpr` at most stays.
    """
    names = [on] if isinstance(on, str) else on
    _merge.same_types(_kinds(big, names), _kinds(small, names), names)
    return big[contains(build(small[on], items, fpr, **options), big[on])]
