"""Bloom filters that meet the false-positive rate you ask for.

>>> import truebloom
>>> seen = truebloom.BloomFilter(1_000_000, 0.001)
>>> seen.add("https://example.org")
True
>>> "https://example.org" in seen
True

The Rust crate and the command `truebloom` (`python -m truebloom`) read the same files, and give the same answers for the same keys.
`truebloom.spark` and `truebloom.dask` build filters on clusters; `truebloom.laws` computes exact rates and sizes.
"""

from truebloom import laws
from truebloom._errors import (
    CapacityWarning,
    Error,
    ExistingFileError,
    FileError,
    ForbiddenFileError,
    FormatError,
    KeyRangeError,
    KeyTypeError,
    MergeError,
    MissingFileError,
    OutOfMemoryError,
    PlanError,
    ReadOnlyError,
)
from truebloom._results import Audited, Count, ItemsEstimate, Rate, Textbook, Verification, WrongDrops
from truebloom._truebloom import (
    Answers,
    BloomFilter,
    CountMin,
    HeavyHitters,
    Plan,
    RecyclingFilter,
    ScalableFilter,
    __version__,
    audit,
    key_bytes,
    plan,
)
from truebloom.laws import fpr

__all__ = [
    "Answers",
    "Audited",
    "BloomFilter",
    "CapacityWarning",
    "Count",
    "CountMin",
    "Error",
    "ExistingFileError",
    "FileError",
    "ForbiddenFileError",
    "FormatError",
    "HeavyHitters",
    "ItemsEstimate",
    "KeyRangeError",
    "KeyTypeError",
    "MergeError",
    "MissingFileError",
    "OutOfMemoryError",
    "Plan",
    "PlanError",
    "Rate",
    "ReadOnlyError",
    "RecyclingFilter",
    "ScalableFilter",
    "Textbook",
    "Verification",
    "WrongDrops",
    "__version__",
    "audit",
    "fpr",
    "key_bytes",
    "laws",
    "plan",
]
