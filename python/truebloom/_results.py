"""The types of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Rate:
    """A false-positive rate (`value`) with its bracket, a lower and an upper bound: `lower <= true rate <= upper`.

    `ln`, `ln_lower` and `ln_upper` are the natural logarithms, which stay finite even if the rate is too small for a float. `method` says how reliable the bracket is: "exact"
    (proven), "validated" (tested, not proven), "bound" (proven, but wide), "simulation" (a confidence interval), or the name of an approximation.
    """

    value: float
    lower: float
    upper: float
    ln: float
    ln_lower: float
    ln_upper: float
    method: str

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)


@dataclass(frozen=True, slots=True)
class ItemsEstimate:
    """The number of distinct keys in a filter: an estimate (`value`), and an interval from `lower` to `upper`. None means "not known"."""

    value: float | None
    lower: int
    upper: int | None
    method: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of `verify`. `holds` is the verdict: False if a check fails.

    `expected`: the mean rate over seeds, with proven bounds, for the largest number of distinct keys that may have been added.
    `expected_verdict`: the result of comparing the expected rate with the requested rate: "met", "exceeded", "undetermined" (the number of distinct keys is only known within
    bounds), or "nothing asked" (no rate was requested).
    `fill_tested`: whether the number of set bits could be tested.
    `fill_holds`: whether the number of set bits is as predicted; True if it could not be tested.
    `overfull`: whether a test shows that the filter holds too many keys; this is wrong at most once in a million.
    `own`: this filter's rate, computed from its bits.
    `queries`, `hits`: how many random keys were queried, and how many of them passed.
    `measured`, `interval`: the share of these keys that passed, and its 99% confidence interval.
    `p_value`: the p-value of the test of `measured` against `own`.
    """

    holds: bool
    expected: Rate
    expected_verdict: str
    fill_tested: bool
    fill_holds: bool
    overfull: bool
    own: Rate
    queries: int
    hits: int
    measured: float
    interval: tuple[float, float]
    p_value: float


@dataclass(frozen=True, slots=True)
class Textbook:
    """The size that the textbook formulas give, and the true expected rate (`fpr`) of a filter of this size."""

    bits: int
    probes: int
    items: int
    fpr: Rate


@dataclass(frozen=True, slots=True)
class Count:
    """A key, with guaranteed lower and upper bounds on its count. `at_most` is None if no upper bound is known."""

    key: Any
    at_least: int
    at_most: int | None


@dataclass(frozen=True, slots=True)
class WrongDrops:
    """The number of new keys that a recycling filter has wrongly reported as repeats: an estimate (`expected`), and an upper bound with the requested confidence (`at_most`).

    The mean of the estimate over seeds equals the mean of the true number.
    """

    expected: float
    at_most: int


@dataclass(frozen=True, slots=True)
class Audited:
    """The result of an audit of a library.

    `fpr` is the expected rate of the library's arithmetic, applied to ideal hashes. It is exact if a formula is known; otherwise, it is simulated and has a 99% confidence interval.
    `kept` says whether this rate is at most the requested rate; it is None if the two are too close to tell. `share` is a lower bound on the share of filters whose rate is at most
    the requested rate; it is None if nothing is proven.
    """

    library: str
    version: str
    bits: int
    probes: int
    fpr: Rate
    kept: bool | None
    share: float | None
    remark: str


def hitters_again(data: bytes, keys: str) -> Any:
    """Rebuilds a HeavyHitters object from its bytes, for pickle."""
    from truebloom import HeavyHitters

    kinds: dict[str, Any] = {"str": str, "int": int, "bytes": bytes}
    return HeavyHitters.from_bytes(data, keys=kinds[keys])


def plan_again(arguments: dict[str, Any]) -> Any:
    """Rebuilds a plan from its arguments, for pickle."""
    from truebloom import plan

    return plan(**arguments)
