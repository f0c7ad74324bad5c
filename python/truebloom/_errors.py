"""What can go wrong, under one base: each class is also the built-in exception that one would expect."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Everything that truebloom raises of its own accord."""


class PlanError(Error, ValueError):
    """A number or a combination of numbers that no filter can have, such as a rate out of reach.

    Where one argument is at fault, `name`, `found` and `expected` say which.
    """

    name: str | None = None
    found: object = None
    expected: str | None = None


class MergeError(Error, ValueError):
    """Two filters or sketches that cannot be merged: `field` is the first thing in which they differ, `ours` and `theirs` are the two values."""

    field: str | None = None
    ours: object = None
    theirs: object = None


class FormatError(Error, ValueError):
    """Bytes that are no filter of this kind, or that were damaged; `filename` is their file, if they came from one."""

    filename: object = None


class FileError(Error, OSError):
    """A file that cannot be read or written. What was there before is untouched. `filename` and `errno` are those of every OSError."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> Any:
        return _file_error, (type(self), str(self), self.filename, self.errno)


def _file_error(kind: type[FileError], message: str, filename: object, errno: int | None) -> FileError:
    """The error again, for pickle: an OSError alone would lose its attributes."""
    error = kind(message)
    error.filename, error.errno = filename, errno
    return error


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class ForbiddenFileError(FileError, PermissionError):
    """The file may not be read or written."""


class ExistingFileError(FileError, FileExistsError):
    """The file exists, and was not to be overwritten."""


class KeyTypeError(Error, TypeError):
    """An object that is not a key: keys are str, bytes-like objects, int, uuid.UUID and tuples of them."""


class KeyRangeError(Error, OverflowError):
    """An integer that does not fit into 64 bits."""


class ReadOnlyError(Error, TypeError):
    """A filter in a mapped file was to be changed."""


class OutOfMemoryError(Error, MemoryError):
    """There is no memory for this; `bytes` says how much it would take."""

    bytes: int | None = None


class CapacityWarning(UserWarning):
    """A filter holds, or is about to hold, more keys than it was planned for, so that its rate is above the one asked for."""
