"""What the engines share: filters that are built in parts and put together."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from functools import reduce
from typing import Any

from truebloom._errors import CapacityWarning, KeyTypeError, PlanError
from truebloom._truebloom import BloomFilter, plan

# Room for more keys than an approximate count says: HyperLogLog at 2% misses by more than four
# standard errors once in sixteen thousand.
COUNT_ERROR = 0.02
MARGIN = 4 * COUNT_ERROR


def planned_items(counted: int) -> int:
    """The number to plan for, with the margin of an approximate count."""
    return max(1, math.ceil(counted * (1 + MARGIN)))


# A column of bytes has no larger value.
MOST_BYTES = 2**31 - 2**12


def recipe(items: float, fpr: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What all parts are made by: the same size and, above all, the same seed. Some hundred bytes, where the empty filter itself would travel with every task."""
    shape = {name: value for name, value in options.items() if name not in ("seed", "untrusted")}
    needed = plan(items, fpr, **shape).nbytes
    if needed > MOST_BYTES:
        raise PlanError(f"the filter takes {needed:,} bytes, but can be sent between machines only up to {MOST_BYTES:,}; see truebloom.spark.build_parts")
    seed = BloomFilter(1, 0.5, seed=options.get("seed")).seed
    return {"items": items, "fpr": fpr, **options, "seed": seed}


def same_types(ours: list[str], theirs: list[str], names: list[str]) -> None:
    """A join finds nothing where one key is a number and the other its text."""
    for name, one, other in zip(names, ours, theirs, strict=True):
        if one != other:
            raise KeyTypeError(f"the two columns {name} hold different keys: {one} and {other}; cast one of them")


def union(filters: Iterable[bytes]) -> bytes:
    """The union of filters in their bytes."""
    return reduce(lambda ours, theirs: ours | theirs, map(BloomFilter.from_bytes, filters)).to_bytes()


def checked(built: BloomFilter) -> BloomFilter:
    """Warns when more keys went in than were planned for."""
    if built.capacity is not None and built.is_over_capacity:
        estimate = built.estimated_items().value
        found = f"about {estimate:,.0f} distinct keys" if estimate is not None else f"more than {built.capacity:,} distinct keys"
        warnings.warn(
            f"the filter was planned for {built.capacity:,} keys, but holds {found}: its rate is {built.fpr().value:.3g}, not {built.asked_fpr}; build it for more",
            CapacityWarning,
            stacklevel=3,
        )
    return built
