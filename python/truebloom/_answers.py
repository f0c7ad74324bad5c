"""Answers as what the keys came in."""

from __future__ import annotations

from typing import Any


def numpy_of(answers: Any) -> Any:
    import numpy

    return numpy.frombuffer(answers.to_bytes(), dtype=bool)


def pandas_of(answers: Any, keys: Any) -> Any:
    import pandas

    if isinstance(keys, pandas.Series | pandas.DataFrame):
        return pandas.Series(numpy_of(answers), index=keys.index)
    return numpy_of(answers)


def pyarrow_of(answers: Any) -> Any:
    """A column of pyarrow where that is installed: DuckDB has no type of columns of its own."""
    try:
        import pyarrow
    except ImportError:
        return answers
    return pyarrow.array(answers)


def polars_of(answers: Any, keys: Any) -> Any:
    import polars

    return polars.Series(getattr(keys, "name", None) or "", answers)


def give_back(answers: Any, keys: Any) -> Any:
    """The answers as what the keys came in: by the library that the type of the keys is from, or the first of its base classes that is from one (geopandas is pandas)."""
    for kind in type(keys).__mro__:
        match kind.__module__.partition(".")[0]:
            case "numpy":
                return numpy_of(answers)
            case "pandas":
                return pandas_of(answers, keys)
            case "pyarrow" | "duckdb" | "_duckdb":
                return pyarrow_of(answers)
            case "polars":
                return polars_of(answers, keys)
    if hasattr(keys, "__arrow_c_array__") or hasattr(keys, "__arrow_c_stream__"):
        return answers
    return answers.tolist()
