"""Functions that Spark and Dask share: filters are built in parts and then merged."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from functools import reduce
from typing import Any

from truebloom._errors import CapacityWarning, KeyTypeError, PlanError
from truebloom._truebloom import BloomFilter, plan

# The margin for errors of an approximate count. The standard error of the count is 2%. HyperLogLog
# is wrong by more than four standard errors once in sixteen thousand counts.
COUNT_ERROR = 0.02
MARGIN = 4 * COUNT_ERROR


def planned_items(counted: int) -> int:
    """The number of keys to plan for: an approximate count plus its margin of error."""
    return max(1, math.ceil(counted * (1 + MARGIN)))


# The largest filter, in bytes, that fits in one value of a binary column.
MOST_BYTES = 2**31 - 2**12


def recipe(items: float, fpr: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments from which every task makes its filter, so that all filters have the same size and seed. The arguments take some hundred bytes; an empty filter would take more."""
    shape = {name: value for name, value in options.items() if name not in ("seed", "untrusted")}
    needed = plan(items, fpr, **shape).nbytes
    if needed > MOST_BYTES:
        raise PlanError(f"the filter takes {needed:,} bytes, but only filters of up to {MOST_BYTES:,} bytes can be sent between machines; for larger filters, use truebloom.spark.build_parts")
    seed = BloomFilter(1, 0.5, seed=options.get("seed")).seed
    return {"items": items, "fpr": fpr, **options, "seed": seed}


def same_types(ours: list[str], theirs: list[str], names: list[str]) -> None:
    """Raises an error if the columns have keys of different types. A join would find nothing, because the number 1 and the text "1" are different keys."""
    for name, one, other in zip(names, ours, theirs, strict=True):
        if one != other:
            raise KeyTypeError(f"the two columns {name} hold keys of different types, {one} and {other}; cast one of the columns")


def union(filters: Iterable[bytes]) -> bytes:
    """Returns the union of filters. The filters and the result are in the form of bytes."""
    return reduce(lambda ours, theirs: ours | theirs, map(BloomFilter.from_bytes, filters)).to_bytes()


def checked(built: BloomFilter) -> BloomFilter:
    """Warns if the filter holds more keys than planned."""
    if built.capacity is not None and built.is_over_capacity:
        estimate = built.estimated_items().value
        found = f"about {estimate:,.0f} distinct keys" if estimate is not None else f"more than {built.capacity:,} distinct keys"
        warnings.warn(
            f"the filter was planned for {built.capacity:,} keys, but holds {found}; its rate is {built.fpr().value:.3g}, but {built.asked_fpr} was requested; build it for more keys",
            CapacityWarning,
            stacklevel=3,
        )
    return built
