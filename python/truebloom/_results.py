"""The types of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Rate:
    """A false-positive rate with its bracket: `lower <= truth <= upper`, with `value` between them.

    The natural logarithms stay finite even if the rate is too small for a float. `method` says how reliable the bracket is: "exact" (proven), "validated" (tested,
    not proven), "bound" (proven, but wide), "simulation" (a confidence interval), or the name of an approximation.
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
    """How many distinct keys a filter holds: an estimate, and the ends of an interval. None means "not known"."""

    value: float | None
    lower: int
    upper: int | None
    method: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of `verify`.

    `holds` is the verdict: whether nothing contradicts the promise. `expected` is the proven mean rate over seeds for the keys that the filter may hold. `expected_verdict`
    compares it with the requested rate: "met", "exceeded", "undetermined" or "nothing asked". `fill_tested` says whether the number of set bits could be tested, and
    `fill_holds` whether it is as predicted. `own` is this filter's rate, computed from its bits. `measured` is the share of random keys that passed, `interval` its 99%
    interval, and `p_value` the p-value of `own`.
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
    """The size that the textbook formulas give, and the real rate of that size."""

    bits: int
    probes: int
    items: int
    fpr: Rate


@dataclass(frozen=True, slots=True)
class Count:
    """A frequent key, with guaranteed lower and upper bounds on its count."""

    key: Any
    at_least: int
    at_most: int | None


@dataclass(frozen=True, slots=True)
class WrongDrops:
    """How many new keys a recycling filter has wrongly reported as repeats: the expected number over seeds, and an upper bound with the requested confidence."""

    expected: float
    at_most: int


@dataclass(frozen=True, slots=True)
class Audited:
    """The result of an audit of a library.

    `fpr` is the expected rate of the library's arithmetic on ideal hashes: exact if a formula applies, otherwise a simulation with its 99% interval. `kept` says whether this rate is at
    most the requested rate (None: too close to tell). `share` is a lower bound on the share of filters that keep the requested rate (None if nothing is proven).
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
    """Rebuilds a list of frequent keys from its bytes, for pickle."""
    from truebloom import HeavyHitters

    kinds: dict[str, Any] = {"str": str, "int": int, "bytes": bytes}
    return HeavyHitters.from_bytes(data, keys=kinds[keys])


def plan_again(arguments: dict[str, Any]) -> Any:
    """Rebuilds a plan from its arguments, for pickle."""
    from truebloom import plan

    return plan(**arguments)
