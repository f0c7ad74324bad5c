"""What the engines share: filters that are built in parts and put together."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from functools import reduce
from typing import Any

from truebloom._errors import CapacityWarning
from truebloom._truebloom import BloomFilter

# Room for more keys than an approximate count says: HyperLogLog at 2% misses by more than four standard errors once in sixteen thousand.
COUNT_ERROR = 0.02
MARGIN = 4 * COUNT_ERROR


def planned_items(counted: int) -> int:
    """The number to plan for, with the margin of an approximate count."""
    return max(1, math.ceil(counted * (1 + MARGIN)))


def empty(items: float, fpr: Any, options: dict[str, Any]) -> bytes:
    """The file of the empty filter that all parts begin with: the same size and, above all, the same seed."""
    return BloomFilter(items, fpr, **options).to_bytes()


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
