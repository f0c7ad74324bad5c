"""What functions and methods give back, field by field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Rate:
    """A false-positive rate with its bracket: `lower <= truth <= upper`, with `value` between them.

    The natural logarithms stay finite where the rate is too small for a float. `method` says what the bracket is worth: "exact" (proven), "validated" (tested, not
    proven), "bound" (proven, wide), "simulation" (a confidence interval), or the name of an approximation.
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
    """How many distinct keys a filter holds: an estimate, and the ends of an interval. None stands for "cannot be said"."""

    value: float | None
    lower: int
    upper: int | None
    method: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found.

    `holds` is the verdict: nothing contradicts the promise. `expected` is the proven mean over seeds for the keys it may hold, and `expected_verdict` compares it with the rate asked for
    ("met", "exceeded", "undetermined" or "nothing asked"). `fill_holds` says that the set bits are as the law predicts, where that could be tested. `own` is this
    filter's rate from its bits, and `measured` the share of random keys that passed, with its 99% interval and the p-value of `own`.
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
    """What the textbook formulas give, and the rate that size really has."""

    bits: int
    probes: int
    items: int
    fpr: Rate


@dataclass(frozen=True, slots=True)
class Count:
    """A key of a list of frequent keys, and what is certain of its count, whatever came by."""

    key: Any
    at_least: int
    at_most: int | None


@dataclass(frozen=True, slots=True)
class WrongDrops:
    """How many new keys a recycling filter has taken for repeats: expected over seeds, and at most, with the confidence asked for."""

    expected: float
    at_most: int


@dataclass(frozen=True, slots=True)
class Audited:
    """What another library gives for the same question.

    `fpr` is the expected rate of its arithmetic on ideal hashes: exact where a law fits, a simulation with its 99% interval elsewhere. `kept` says whether that is at
    most the rate asked for (None: too close to tell), and `share` how many of its filters keep it, at least (None where nothing is proven).
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
    """The list of frequent keys with these bytes, for pickle."""
    from truebloom import HeavyHitters

    kinds: dict[str, Any] = {"str": str, "int": int, "bytes": bytes}
    return HeavyHitters.from_bytes(data, keys=kinds[keys])


def plan_again(arguments: dict[str, Any]) -> Any:
    """The plan of these arguments, for pickle."""
    from truebloom import plan

    return plan(**arguments)
