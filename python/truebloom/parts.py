"""Filters that consist of many parts, for filters that are too large for a single machine. Each part has its own file and its own range of hashes.

A hash with a separate seed assigns each key to one part. Each part is an ordinary filter with its own seed, which can be built, copied, opened and queried anywhere. A key that was never
added is assigned to each part with the same probability, so the rate of the whole filter is exactly the mean of the parts' rates.

The number of keys in a part is binomially distributed. A part is planned for a number of keys that is exceeded with a probability of at most fpr / 10^6 (by Bernstein's inequality). The
rate for which it is planned is lower than the requested rate by a millionth. So the expected rate of the whole filter is at most the requested rate.
"""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from truebloom._errors import ExistingFileError, FormatError, PlanError
from truebloom._results import Rate
from truebloom._truebloom import BloomFilter, plan, route

DESCRIPTION = "truebloom-parts.json"
SLACK = 1e-6


@dataclass(frozen=True)
class PartedFilter:
    """A filter whose parts are in a folder. `truebloom.spark.build_parts` builds such a filter, and `open` opens it. To build the parts yourself, start with `begin` and end with `finish`."""

    folder: str
    items: int
    asked_fpr: float
    parts: int
    part_items: int
    seed: str
    options: dict[str, Any]
    built: tuple[int, ...] = ()

    @staticmethod
    def begin(folder: str | os.PathLike[str], items: float, fpr: Any, *, parts: int, seed: int | str | None = None, **options: Any) -> PartedFilter:
        """Writes the description of a new filter into an empty folder, and makes the folder if necessary. Call `finish` when all parts are built."""
        if not 1 <= parts <= 2**20:
            raise PlanError(f"parts is {parts}, but must be from 1 to 2^20")
        # This raises the same errors as for a single filter.
        asked = plan(items, fpr, mean=True)
        number = BloomFilter(1, 0.5, seed=seed).seed
        rate = asked.asked_fpr or 0.0
        begun = PartedFilter(os.fspath(folder), asked.items, rate, parts, part_items(asked.items, rate, parts), f"{number:032x}", options)
        Path(folder).mkdir(parents=True, exist_ok=True)
        if any(Path(folder).glob("part-*.tbl")) or (Path(folder) / DESCRIPTION).exists():
            raise ExistingFileError(f"{folder} already contains parts of a filter; choose an empty folder, or remove the parts")
        begun._describe(complete=False)
        return begun

    @staticmethod
    def open(folder: str | os.PathLike[str]) -> PartedFilter:
        """Opens the filter whose parts were built in this folder."""
        try:
            found = json.loads((Path(folder) / DESCRIPTION).read_text())
            complete = found.pop("complete")
            found["built"] = tuple(found["built"])
            filter = PartedFilter(folder=os.fspath(folder), **found)
        except (ValueError, TypeError, KeyError) as error:
            raise FormatError(f"{Path(folder) / DESCRIPTION} does not describe the parts of a filter: {error}") from error
        if not complete:
            raise FormatError(f"the parts in {folder} were not all built; build them again")
        missing = [part for part in filter.built if not os.path.exists(filter.path(part))]
        if missing:
            raise FormatError(f"parts are missing in {folder}: {len(missing)} of {len(filter.built)}, the first is {filter.path(missing[0])}; build the parts again")
        return filter

    def finish(self, built: Iterable[int]) -> PartedFilter:
        """Records that all parts are built. `built` lists the parts that have keys; only these parts have a file. Returns the filter, as `open` would."""
        finished = replace(self, built=tuple(sorted(set(built))))
        finished._describe(complete=True)
        return finished

    def _describe(self, complete: bool) -> None:
        fields = {name: value for name, value in asdict(self).items() if name != "folder"}
        target = Path(self.folder) / DESCRIPTION
        draft = target.with_suffix(f".{secrets.token_hex(6)}.tmp")
        draft.write_text(json.dumps({**fields, "complete": complete}))
        draft.replace(target)

    def path(self, part: int) -> str:
        """The file of a part."""
        return os.path.join(self.folder, f"part-{part:07}.tbl")

    def empty_part(self, part: int) -> BloomFilter:
        """A new filter for this part, without keys. All parts have the same size, but each part has its own seed."""
        return BloomFilter(self.part_items, self.asked_fpr * (1 - SLACK), seed=self._seed(part), **self.options)

    def _seed(self, part: int) -> int:
        return (int(self.seed, 16) + part + 1) % 2**128

    def part_of_many(self, keys: Any) -> Any:
        """The number of each key's part, as a numpy array. The number is 0 for nulls."""
        import numpy

        return numpy.frombuffer(route(keys, int(self.seed, 16), self.parts, bool(self.options.get("untrusted"))), dtype=numpy.int32)

    def part(self, number: int) -> BloomFilter | None:
        """The filter of this part, mapped from its file; None if the part has no keys."""
        if number not in self.built:
            return None
        part = BloomFilter.open(self.path(number), mmap=True)
        if part.seed != self._seed(number):
            raise FormatError(f"{self.path(number)} is not a part of this filter: it has another seed; build the parts again")
        return part

    def contains_many(self, keys: Any) -> Any:
        """Whether each key is contained, as an Arrow column of booleans; null if the key is null. Each part is opened once."""
        import pyarrow

        if not isinstance(keys, pyarrow.Array | pyarrow.ChunkedArray):
            keys = pyarrow.array(keys)
        return self.contains_routed(keys, self.part_of_many(keys), {})

    def contains_routed(self, keys: Any, part_of: Any, opened: dict[int, BloomFilter | None]) -> Any:
        """Like `contains_many`, for keys whose part numbers (`part_of`) are known. Parts that this call opens are added to `opened`, so later calls with the same dict do not open them again."""
        import numpy
        import pyarrow

        answers = numpy.zeros(len(part_of), dtype=bool)
        for number in numpy.unique(part_of).tolist():
            if number not in opened:
                opened[number] = self.part(number)
            part = opened[number]
            if part is not None:
                rows = numpy.flatnonzero(part_of == number)
                found = part.contains_many(keys.take(pyarrow.array(rows)))
                answers[rows] = found.fill_null(False).to_numpy(zero_copy_only=False)
        nulls = keys.is_null().to_numpy(zero_copy_only=False) if isinstance(keys, pyarrow.Array) else keys.is_null().to_numpy()
        return pyarrow.array(answers, mask=nulls)

    def __contains__(self, key: Any) -> bool:
        part = self.part(int(self.part_of_many([key])[0]))
        return part is not None and key in part

    def fpr(self) -> Rate:
        """The current rate of the whole filter, with its bracket: the mean of the parts' rates. Reads all parts, one after the other."""
        found = [part.fpr() for part in (self.part(number) for number in range(self.parts)) if part is not None]
        lower, value, upper = (math.fsum(getattr(rate, end) for rate in found) / self.parts for end in ("lower", "value", "upper"))
        # The sum and the quotient are each rounded once, so each bound is moved outward by two
        # floats.
        lower, upper = math.nextafter(math.nextafter(lower, 0), 0), math.nextafter(math.nextafter(upper, 1), 1)
        method = "exact" if all(rate.method == "exact" for rate in found) else "bound"
        return Rate(value, lower, upper, _ln(value), _ln(lower), _ln(upper), method)


def _ln(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def part_items(items: int, fpr: float, parts: int) -> int:
    """The number of keys for which each part is planned. A part gets more keys with a probability of at most fpr / 10^6.

    Bernstein's inequality: a binomial variable with mean mu exceeds mu + t with a probability of at most exp(-t^2 / (2 (mu + t / 3))).
    """
    if parts == 1:
        return max(1, items)
    mean, level = items / parts, math.log(1 / (fpr * SLACK))
    return math.ceil(mean + level / 3 + math.sqrt(level * level / 9 + 2 * mean * level)) or 1
