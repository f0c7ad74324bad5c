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
    """Converts the answers to a pyarrow column if pyarrow is installed. DuckDB has no column type of its own, so it also gets a pyarrow column."""
    try:
        import pyarrow
    except ImportError:
        return answers
    return pyarrow.array(answers)


def polars_of(answers: Any, keys: Any) -> Any:
    import polars

    return polars.Series(getattr(keys, "name", None) or "", answers)


def give_back(answers: Any, keys: Any) -> Any:
    """Converts the answers to a type of the library that the keys come from.

    A subclass counts as its nearest base class from a known library: a geopandas series is treated as a pandas series. For Arrow columns of other libraries, the answers are
    returned as they are. For other iterables, they are returned as a list.
    """
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
