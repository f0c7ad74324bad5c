"""Exact rates, the sizes that they require, and related numbers.

Each function sends a query to `truebloom eval`; the fields of the query are the arguments, given by name. Sizes computed here meet the requested rate on average over seeds, whereas `plan` and
`BloomFilter` also guarantee the rate of a single filter. Rates are returned as `Rate`: a value, its lower and upper bound, and a word that says how reliable the bounds are.

>>> fpr(bits=9585, items=1000, probes=7).value
0.01004856521902597
>>> min_bits(items=1000, fpr=0.01).bits
9595
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from truebloom._results import ItemsEstimate, Rate
from truebloom._truebloom import evaluate

Variant = Literal["standard", "classic", "partitioned"]
Scheme = Literal["double", "double-nonzero", "square", "cube", "enhanced", "partition-double"]
Number = int | float
Probability = float | str | Decimal | Fraction

__all__ = [
    "BitsEstimate",
    "CountMinSize",
    "Cycle",
    "Efficiency",
    "Forgetting",
    "Hits",
    "Mode",
    "NBounded",
    "Occupancy",
    "OptimalProbes",
    "Recycling",
    "RecyclingSize",
    "Size",
    "approximation",
    "certificate",
    "count_min",
    "crossover",
    "efficiency",
    "estimate_bits",
    "estimate_items",
    "eval",
    "false_positives",
    "forgetting",
    "fpr",
    "fpr_at_fill",
    "max_efficiency",
    "max_items",
    "min_bits",
    "n_bounded",
    "occupancy",
    "optimal_probes",
    "peak_efficiency",
    "recycling",
    "recycling_capacity",
    "recycling_min_bits",
    "set_fpr",
]


@dataclass(frozen=True, slots=True)
class OptimalProbes:
    """The number of probes with the lowest expected rate. If several numbers are equally good, `probes` is the smallest of them, and `ties` lists all of them.

    `capped`: whether `probes` is the largest number that is tried, although one more probe would give a lower rate.
    """

    probes: int
    ties: list[int]
    fpr: Rate
    capped: bool


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a filter. One of `bits` and `items` was given; the other is computed. `probes` and `fpr` are None if not even one item fits."""

    bits: int
    items: int
    probes: int | None
    fpr: Rate | None


@dataclass(frozen=True, slots=True)
class Efficiency:
    """The highest value of items * log2(1 / fpr) / bits, and the items and probes at which it occurs."""

    items: int
    probes: int
    value: float
    proven: bool


@dataclass(frozen=True, slots=True)
class BitsEstimate:
    """An estimate of a filter's number of bits, computed from its number of set bits. `note` says whether the estimate is unbiased."""

    value: float
    relative_error: float
    note: str


@dataclass(frozen=True, slots=True)
class Hits:
    """The distribution of the number of false positives: its exact mean and variance, and proven upper bounds (`quantiles`) and lower bounds (`quantiles_lower`) on the requested quantiles."""

    mean: float
    variance: float
    quantiles: list[int]
    quantiles_lower: list[int]
    method: str


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The distribution of the number of set bits. If requested, `pmf` lists the probability of each number, and `raw`, `factorial` and `binomial` list the moments from order 1 on."""

    mean: float
    variance: float
    pmf: list[float] | None
    raw: list[float] | None
    factorial: list[float] | None
    binomial: list[float] | None


@dataclass(frozen=True, slots=True)
class Cycle:
    """The length of a cycle: the number of new items until a recycling filter is recycled. The fields are the mean, the variance, the requested quantiles, and the smallest possible length."""

    mean: float
    variance: float | None
    quantiles: list[int]
    shortest: int


@dataclass(frozen=True, slots=True)
class Recycling:
    """A recycling filter in the long run: its average rate over new items (`fpr`), its rate when it is fullest (`worst`), and the average number of new items per cycle."""

    fpr: Rate
    worst: Rate
    items_per_cycle: float
    cycle: Cycle | None


@dataclass(frozen=True, slots=True)
class RecyclingSize:
    """The design of a recycling filter. The filter is recycled when more than `sigma` bits are set."""

    bits: int
    probes: int
    sigma: int
    items_per_cycle: float
    fpr: Rate
    worst: Rate


@dataclass(frozen=True, slots=True)
class NBounded:
    """A filter that is emptied after a fixed number of items: its exact rate, and the rate by the formula of Dozier, Salamatian and Rubenstein (`printed`)."""

    fpr: Rate
    printed: float | None


@dataclass(frozen=True, slots=True)
class Forgetting:
    """How long a recycling filter remembers an item: the probability that the item is forgotten after a given number of new items, and two limits.

    Every item is remembered while fewer than `remembered_at_least` new items have come after it. After `remembered_at_most` new items, every item is forgotten. `remembered_at_most`
    is usually None, because a cycle can be arbitrarily long.
    """

    probability: float
    remembered_at_least: int
    remembered_at_most: int | None


@dataclass(frozen=True, slots=True)
class CountMinSize:
    """The size of a Count-Min sketch. `bound` is an upper bound on the probability that an estimate is too high by more than epsilon times the sum of all counts."""

    width: int
    depth: int
    copies: int
    hash_functions: int
    bound: float
    method: str


T = TypeVar("T")


def eval(query: dict[str, Any]) -> dict[str, Any]:
    """Sends a query to the command `truebloom eval`, and returns the unchanged answer. Use this function for queries and fields that the other functions of this module do not support.

    >>> eval({"fn": "crossover", "probes": 1})
    {'items_per_bit': 0.48121182505960347}
    """
    answer: dict[str, Any] = json.loads(evaluate(json.dumps(query)))
    return answer


def _ask(query: str, /, **given: Any) -> dict[str, Any]:
    return eval({"fn": query, **{field: _plain(value) for field, value in given.items() if value is not None}})


def _plain(value: Any) -> Any:
    """Converts numbers of other libraries to Python's numbers."""
    if isinstance(value, bool | int | float | str | dict):
        return value
    if isinstance(value, Decimal | Fraction):
        return float(value)
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return int(value) if hasattr(value, "__index__") else float(value)


def _probability(value: Probability) -> float:
    """Converts a rate to the nearest float, because queries contain only numbers."""
    if isinstance(value, str):
        return float(Fraction(value[:-1]) / 100) if value.endswith("%") else float(Fraction(value))
    return float(value)


def _number(value: Any) -> float:
    """Converts a number of an answer. Null stands for a logarithm of minus infinity."""
    return float("-inf") if value is None else float(value)


def _rate(answer: dict[str, Any], name: str = "value", prefix: str = "") -> Rate:
    logarithm = prefix + "ln"
    return Rate(
        value=_number(answer[name]),
        lower=_number(answer[prefix + "lower"]),
        upper=_number(answer[prefix + "upper"]),
        ln=_number(answer.get(logarithm)),
        ln_lower=_number(answer.get(logarithm + "_lower")),
        ln_upper=_number(answer.get(logarithm + "_upper")),
        method=answer[prefix + "method"],
    )


def _typed(kind: type[T], answer: dict[str, Any], **more: Any) -> T:
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    found = {name: value for name, value in answer.items() if name in names}
    missing = {name: None for name in names if name not in found and name not in more}
    return kind(**{**missing, **found, **more})


def fpr(
    *,
    items: Number,
    probes: int,
    bits: Number | None = None,
    variant: Variant | Literal["blocked"] | None = None,
    scheme: Scheme | None = None,
    offsets: Sequence[int] | None = None,
    slice_bits: Number | None = None,
    block_bits: int | None = None,
    in_block: Literal["independent", "distinct", "split"] | None = None,
    word_bits: int | None = None,
) -> Rate:
    """The exact expected rate of a filter of any variant or scheme.

    >>> fpr(bits=9585, items=1000, probes=7).method
    'exact'
    >>> fpr(bits=9585, items=1000, probes=7, scheme="double").value
    0.01018149727649335
    """
    if variant is None and scheme is None and offsets is None:
        variant = "standard"
    given = dict(variant=variant, scheme=scheme, offsets=offsets, bits=bits, slice_bits=slice_bits, items=items, probes=probes, block_bits=block_bits)
    return _rate(_ask("fpr", **given, in_block=in_block, word_bits=word_bits))


def fpr_at_fill(*, bits: Number, probes: int, ones: Number | Sequence[int], variant: Variant = "standard") -> Rate:
    """The rate of a filter with this number of set bits. For the partitioned variant, `ones` has one number for each slice."""
    return _rate(_ask("fpr_at_fill", variant=variant, bits=bits, probes=probes, ones=ones))


def approximation(name: Literal["severance-lohman", "knuth", "grandi", "bloom", "lower"], *, bits: Number, items: Number, probes: int) -> float:
    """The rate that a formula from the literature gives."""
    value: float = _ask("approximation", name=name, bits=bits, items=items, probes=probes)["value"]
    return value


def optimal_probes(*, bits: Number, items: Number, variant: Variant = "standard") -> OptimalProbes:
    """The number of probes with the lowest expected rate."""
    answer = _ask("optimal_probes", variant=variant, bits=bits, items=items)
    return _typed(OptimalProbes, answer, fpr=_rate(answer, "fpr"))


def max_items(*, bits: Number, fpr: Probability, variant: Variant = "standard") -> Size:
    """The largest number of items for which a filter with these bits has an expected rate of at most `fpr`."""
    answer = _ask("max_items", variant=variant, bits=bits, fpr=_probability(fpr))
    return _typed(Size, answer, bits=int(bits), fpr=None if answer["fpr"] is None else _rate(answer, "fpr"))


def min_bits(*, items: Number, fpr: Probability, variant: Variant = "standard") -> Size:
    """The smallest number of bits for which the expected rate is at most `fpr`: one bit less is not enough."""
    answer = _ask("min_bits", variant=variant, items=items, fpr=_probability(fpr))
    return _typed(Size, answer, items=int(items), fpr=_rate(answer, "fpr"))


def efficiency(*, bits: Number, items: Number, probes: int, variant: Variant = "standard") -> float:
    """The value of items * log2(1 / fpr) / bits; no data structure can exceed 1."""
    value: float = _ask("efficiency", variant=variant, bits=bits, items=items, probes=probes)["value"]
    return value


def peak_efficiency(*, bits: Number, probes: int, variant: Variant = "standard") -> Efficiency:
    """The number of items with the highest efficiency, for these bits and probes."""
    return _typed(Efficiency, _ask("peak_efficiency", variant=variant, bits=bits, probes=probes), probes=probes)


def max_efficiency(*, bits: Number, variant: Variant = "standard") -> Efficiency:
    """The numbers of items and probes with the highest efficiency, for these bits."""
    return _typed(Efficiency, _ask("max_efficiency", variant=variant, bits=bits))


def certificate(
    *,
    items: Number,
    fpr: Probability,
    bits: Number | None = None,
    probes: int | None = None,
    hash_bits: int | None = None,
    confidence: float | None = None,
) -> dict[str, Any]:
    """A certificate of a plan. With the certificate, the plan can be checked without this library; docs/CERTIFICATE.md explains how, and names a checker in plain Python.

    Without `bits`, the certificate is for the smallest filter that meets the rate. Without `confidence`, the filter meets the rate on average over seeds; with `confidence`, a single
    filter meets the rate with this probability.

    >>> certificate(items=1000, fpr=0.01)["claim"]["bits"]
    9595
    """
    given = dict(items=items, fpr=_probability(fpr), bits=bits, probes=probes, hash_bits=hash_bits, confidence=confidence)
    return _ask("certificate", **given)


def crossover(probes: int) -> float:
    """The number of items per bit at which `probes` probes and `probes + 1` probes give the same rate, by Knuth's approximation."""
    value: float = _ask("crossover", probes=probes)["items_per_bit"]
    return value


def estimate_items(*, bits: Number, probes: int, ones: Number, confidence: float = 0.99, variant: Variant = "standard") -> ItemsEstimate:
    """An estimate of the number of distinct items, and an interval, computed from the number of set bits."""
    return _typed(ItemsEstimate, _ask("estimate_items", variant=variant, bits=bits, probes=probes, ones=ones, confidence=confidence))


def estimate_bits(*, items: Number, probes: int, ones: Number, variant: Variant = "standard") -> BitsEstimate:
    """An estimate of a filter's number of bits, computed from its number of set bits."""
    return _typed(BitsEstimate, _ask("estimate_bits", variant=variant, items=items, probes=probes, ones=ones))


def false_positives(
    *, bits: Number, items: Number, probes: int, queries: Number, quantiles: Sequence[float] = (), variant: Variant = "standard"
) -> Hits:
    """The distribution of the number of false positives among `queries` new keys, over random filters and keys."""
    given = dict(variant=variant, bits=bits, items=items, probes=probes, queries=queries)
    return _typed(Hits, _ask("false_positives", **given, quantiles=list(quantiles)))


def set_fpr(op: Literal["union", "intersection"], *, bits: Number, probes: int, items: Sequence[int], variant: Variant = "standard") -> Rate:
    """The expected rate of the union or intersection of filters with disjoint sets of items, for keys in none of the sets."""
    return _rate(_ask("set_fpr", op=op, variant=variant, bits=bits, probes=probes, items=items))


def occupancy(
    law: Literal["standard", "classic", "union", "intersection"] = "standard",
    *,
    bits: Number,
    items: Number | None = None,
    probes: int | None = None,
    committees: Sequence[Sequence[int]] | None = None,
    departments: Sequence[Sequence[Sequence[int]]] | None = None,
    pmf: bool = False,
    moments: int | None = None,
) -> Occupancy:
    """The distribution of the number of set bits. The bits are set by items with a number of probes, or by committees (sets of distinct bits) of given sizes."""
    given = dict(bits=bits, items=items, probes=probes, committees=committees, departments=departments)
    return _typed(Occupancy, _ask("occupancy", law=law, **given, pmf=pmf, moments=moments))


class Mode(TypedDict, total=False):
    """The kind of a recycling filter. The functions for recycling filters take these arguments by name.

    `phases`: 1 (the default; the filter is emptied when full) or 2 (the previous phase is still queried).
    `colliding`: whether several probes of an item may hit the same bit (True by default).
    `retaining`: whether the item that fills the filter is inserted into the emptied filter (False by default; True is possible only with one phase).
    `trigger`: with two phases, whether the item that fills a phase stays in this phase ("included", the default) or is forgotten immediately ("excluded").
    `shared_hash`: whether all phases have the same seed (True by default).
    """

    phases: Literal[1, 2]
    colliding: bool
    retaining: bool
    trigger: Literal["included", "excluded"] | None
    shared_hash: bool


def _mode(given: Mode) -> dict[str, Any]:
    if unknown := given.keys() - Mode.__annotations__.keys():
        raise TypeError(f"{min(unknown)} is not an argument; the mode of a recycling filter has {', '.join(Mode.__annotations__)}")
    return {"phases": 1, "colliding": True, "retaining": False, "trigger": None, "shared_hash": True, **given}


def recycling(
    *, bits: Number, probes: int, sigma: Number, cycle: bool = False, quantiles: Sequence[float] = (), **mode: Unpack[Mode]
) -> Recycling:
    """The long-run rates of a filter that is recycled when more than `sigma` bits are set. With cycle=True, the result includes the length of a cycle. `bits` is the size of each phase."""
    more: dict[str, Any] = {"cycle": True, "quantiles": list(quantiles)} if cycle else {}
    answer = _ask("recycling", **_mode(mode), bits=bits, probes=probes, sigma=sigma, **more)
    rates = {"fpr": _rate(answer, "fpr"), "worst": _rate(answer, "worst", "worst_")}
    return _typed(Recycling, answer, **rates, cycle=_typed(Cycle, answer) if cycle else None)


def _recycling_size(answer: dict[str, Any]) -> RecyclingSize:
    return _typed(RecyclingSize, answer, fpr=_rate(answer, "fpr"), worst=_rate(answer, "worst", "worst_"))


def recycling_capacity(*, bits: Number, fpr: Probability, **mode: Unpack[Mode]) -> RecyclingSize:
    """The design with the most items per cycle, among the designs with this total number of bits and an average rate of at most `fpr`."""
    return _recycling_size(_ask("recycling_capacity", **_mode(mode), bits=bits, fpr=_probability(fpr)))


def recycling_min_bits(*, items_per_cycle: Number, fpr: Probability, **mode: Unpack[Mode]) -> RecyclingSize:
    """The design with the fewest bits in total, among the designs with this number of items per cycle and an average rate of at most `fpr`."""
    return _recycling_size(_ask("recycling_min_bits", **_mode(mode), items_per_cycle=items_per_cycle, fpr=_probability(fpr)))


def n_bounded(*, bits: Number, probes: int, items: Number, kind: Literal["worst", "oracle", "real"]) -> NBounded:
    """The rate of a filter that is emptied after this number of items.

    `kind`: "worst" is the rate just before the filter is emptied. "oracle" and "real" are average rates: with "oracle", all new items count towards the number; with "real", only the
    items that set a bit count.
    """
    answer = _ask("n_bounded", bits=bits, probes=probes, items=items, kind=kind)
    return _typed(NBounded, answer, fpr=_rate(answer, "fpr"))


def forgetting(*, bits: Number, probes: int, sigma: Number, gap: Number, **mode: Unpack[Mode]) -> Forgetting:
    """The probability that an item is no longer remembered after `gap` more new items, and the limits within which it is remembered."""
    return _typed(Forgetting, _ask("forgetting", **_mode(mode), bits=bits, probes=probes, sigma=sigma, gap=gap))


def count_min(*, epsilon: Probability, delta: Probability, two_hash: bool = False, family: Literal["ideal", "pairwise"] = "ideal") -> CountMinSize:
    """The size of a Count-Min sketch. With probability at least 1 - delta, an estimate of this sketch exceeds the true count by at most epsilon times the sum of all counts."""
    given = dict(epsilon=_probability(epsilon), delta=_probability(delta))
    return _typed(CountMinSize, _ask("count_min", **given, two_hash=two_hash, family=family))
