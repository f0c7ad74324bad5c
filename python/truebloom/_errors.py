"""The exceptions. All derive from `Error`, and each also from the corresponding built-in exception."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """The base class of all exceptions that truebloom defines."""


class PlanError(Error, ValueError):
    """A number or a combination of numbers that no filter can have, such as an impossible rate.

    If a single argument is wrong, `name`, `found` and `expected` describe it.
    """

    name: str | None = None
    found: object = None
    expected: str | None = None


class MergeError(Error, ValueError):
    """Two filters or sketches that cannot be merged: `field` is the first parameter in which they differ, `ours` and `theirs` are its two values."""

    field: str | None = None
    ours: object = None
    theirs: object = None


class FormatError(Error, ValueError):
    """Bytes that are not a filter of this kind, or that are damaged; `filename` is the file from which they came, if any."""

    filename: object = None


class FileError(Error, OSError):
    """A file that cannot be read or written. An existing file stays unchanged. `filename` and `errno` are as in every OSError."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> Any:
        return _file_error, (type(self), str(self), self.filename, self.errno)


def _file_error(kind: type[FileError], message: str, filename: object, errno: int | None) -> FileError:
    """Rebuilds the error for pickle: a plain OSError would lose its attributes."""
    error = kind(message)
    error.filename, error.errno = filename, errno
    return error


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class ForbiddenFileError(FileError, PermissionError):
    """The file may not be read or written."""


class ExistingFileError(FileError, FileExistsError):
    """The file exists, and overwriting it was not allowed."""


class KeyTypeError(Error, TypeError):
    """An object that is not a key: keys are str, bytes-like objects, int, uuid.UUID and tuples of them."""


class KeyRangeError(Error, OverflowError):
    """An integer that does not fit into 64 bits."""


class ReadOnlyError(Error, TypeError):
    """A filter in a mapped file cannot be changed."""


class OutOfMemoryError(Error, MemoryError):
    """Memory cannot be allocated; `bytes` is the number of bytes that are needed."""

    bytes: int | None = None


class CapacityWarning(UserWarning):
    """A filter holds, or will hold, more keys than planned, so its rate is above the requested rate."""
