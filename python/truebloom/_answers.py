"""Converts answers to the type in which the keys were given."""

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
    """A pyarrow column if pyarrow is installed, because DuckDB has no column type of its own."""
    try:
        import pyarrow
    except ImportError:
        return answers
    return pyarrow.array(answers)


def polars_of(answers: Any, keys: Any) -> Any:
    import polars

    return polars.Series(getattr(keys, "name", None) or "", answers)


def give_back(answers: Any, keys: Any) -> Any:
    """The answers in a type of the library to which the type of the keys, or its nearest base class, belongs (geopandas counts as pandas)."""
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
