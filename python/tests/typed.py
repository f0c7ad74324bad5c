"""What a type checker knows of the package; never run."""

from typing import assert_type

import numpy as np
import numpy.typing as npt
import truebloom

f = truebloom.BloomFilter(1e6, "0.1%", layout="auto", seed=1)
assert_type(f.add(("a", 1)), bool)
assert_type(f.contains_many(["a"]), list[bool])
assert_type(f.contains_many(np.arange(3)), npt.NDArray[np.bool_])
assert_type(f.fpr(), truebloom.Rate)
assert_type(f.estimated_items().upper, int | None)
assert_type(f | f, truebloom.BloomFilter)
assert_type(truebloom.ScalableFilter.open("x"), truebloom.ScalableFilter)
assert_type(truebloom.laws.min_bits(items=1, fpr=0.1).bits, int)
assert_type(truebloom.HeavyHitters(0.1).top(3), list[truebloom.Count])
f.add(1.5)  # type: ignore[arg-type]
len(f)  # type: ignore[arg-type]
