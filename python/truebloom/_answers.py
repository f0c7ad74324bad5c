"""Answers as what the keys came in."""

from __future__ import annotations

import sys
from typing import Any


def numpy_of(answers: Any) -> Any:
    import numpy

    return numpy.frombuffer(answers.to_bytes(), dtype=bool)


def give_back(answers: Any, keys: Any) -> Any:
    """The answers as what the keys came in: by the library that the type of the keys is from."""
    library = type(keys).__module__.partition(".")[0]
    match library:
        case "numpy":
            return numpy_of(answers)
        case "pandas":
            import pandas

            index = getattr(keys, "index", None)
            return pandas.Series(numpy_of(answers), index=index) if isinstance(keys, pandas.Series | pandas.DataFrame) else numpy_of(answers)
        case "pyarrow":
            import pyarrow

            return pyarrow.array(answers)
        case "polars":
            import polars

            return polars.Series(getattr(keys, "name", None) or "", answers)
        case "duckdb" | "_duckdb" if "pyarrow" in sys.modules:
            import pyarrow

            return pyarrow.array(answers)
    if hasattr(keys, "__arrow_c_array__") or hasattr(keys, "__arrow_c_stream__"):
        return answers
    return answers.tolist()
