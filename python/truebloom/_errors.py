"""The exceptions. All derive from `Error`. Each also derives from the corresponding built-in exception."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """The base class of all exceptions that truebloom defines."""


class PlanError(Error, ValueError):
    """An invalid argument, or a combination of arguments that no filter can have.

    If a single argument is wrong, the attributes can describe it: `name` is the argument, `found` is its value, and `expected` says which values are allowed. Attributes that are
    not known are None.
    """

    name: str | None = None
    found: object = None
    expected: str | None = None


class MergeError(Error, ValueError):
    """Two filters or sketches that cannot be merged.

    `field` is the first parameter in which they differ. `ours` and `theirs` are its values in the two filters. Both are None if the values are not reported: seeds are secret.
    """

    field: str | None = None
    ours: object = None
    theirs: object = None


class FormatError(Error, ValueError):
    """Bytes that are damaged, or that are not a filter of the expected kind. `filename` is the file that contains them, or None."""

    filename: object = None


class FileError(Error, OSError):
    """A file that cannot be read or written. If a file cannot be replaced, it stays unchanged. `filename` and `errno` are as in every OSError."""

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
    """Reading or writing the file is not permitted."""


class ExistingFileError(FileError, FileExistsError):
    """The file exists, and overwriting it was not allowed."""


class KeyTypeError(Error, TypeError):
    """An object that cannot be a key. Keys are str, bytes-like objects, int, uuid.UUID and tuples of them."""


class KeyRangeError(Error, OverflowError):
    """An integer that does not fit into 64 bits."""


class ReadOnlyError(Error, TypeError):
    """A filter that was opened with mmap=True cannot be changed."""


class OutOfMemoryError(Error, MemoryError):
    """Memory cannot be allocated. `bytes` is the number of bytes that are needed."""

    bytes: int | None = None


class CapacityWarning(UserWarning):
    """A filter holds more keys than it was planned for, so its rate can be above the requested rate."""
