"""Files: whole or not at all, the same everywhere, and mapped."""

import os
import pathlib
import pickle

import pytest
import truebloom
from truebloom import BloomFilter, FormatError, MissingFileError, ReadOnlyError, RecyclingFilter


@pytest.fixture
def filter():
    f = BloomFilter(1000, 0.01, seed=1)
    f.update(range(500))
    return f


class Path(os.PathLike):
    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        return self.path


def test_any_path(filter, tmp_path):
    for path in (tmp_path / "a.tbl", str(tmp_path / "b.tbl"), Path(str(tmp_path / "c.tbl"))):
        filter.save(path)
        assert BloomFilter.open(path) == filter
    assert pathlib.Path(tmp_path / "a.tbl").read_bytes() == filter.to_bytes()
    with pytest.raises(TypeError):
        filter.save(5)


def test_missing_and_forbidden(filter, tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        BloomFilter.open(tmp_path / "none.tbl")
    assert isinstance(error.value, MissingFileError) and isinstance(error.value, truebloom.Error)
    assert error.value.filename == tmp_path / "none.tbl" and error.value.errno == 2 and "none.tbl" in str(error.value) and "os error" not in str(error.value)
    again = pickle.loads(pickle.dumps(error.value))
    assert type(again) is MissingFileError and again.filename == error.value.filename and again.errno == 2 and str(again) == str(error.value)
    with pytest.raises(OSError, match="folder"):
        filter.save(tmp_path / "no folder" / "x.tbl")
    with pytest.raises(truebloom.FileError):
        BloomFilter.open(tmp_path)
    filter.save(tmp_path / "kept.tbl")
    (tmp_path / "kept.tbl").chmod(0o400)
    with pytest.raises(PermissionError):
        BloomFilter(10, 0.1).save(tmp_path / "kept.tbl")
    assert BloomFilter.open(tmp_path / "kept.tbl") == filter


def test_mapped(filter, tmp_path):
    filter.save(tmp_path / "f.tbl")
    mapped = BloomFilter.open(tmp_path / "f.tbl", mmap=True)
    assert mapped.is_mapped and 7 in mapped and mapped.count_contained(range(500)) == 500
    assert mapped == filter and filter == mapped and mapped.fpr() == filter.fpr() and mapped.to_bytes() == filter.to_bytes()
    assert mapped.ones == filter.ones and mapped.verify(1000).holds and mapped.estimated_items() == filter.estimated_items()
    for change in (lambda: mapped.add("x"), lambda: mapped.update(["x"]), lambda: mapped.add_many([]), mapped.clear, lambda: mapped.__ior__(filter)):
        with pytest.raises(ReadOnlyError) as error:
            change()
        assert isinstance(error.value, TypeError)
    with pytest.raises(ReadOnlyError):
        mapped.label = "x"
    union = mapped | filter
    assert union == filter and not union.is_mapped
    other = mapped.copy()
    assert other.add("x") and "read-only" in repr(mapped) and "size" in mapped._repr_html_()
    # Replacing the file leaves what is open as it was.
    BloomFilter(1000, 0.01, seed=1).save(tmp_path / "f.tbl")
    assert 7 in mapped


def test_damage_is_noticed(filter):
    whole = filter.to_bytes()
    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        with pytest.raises((FormatError, MemoryError)):
            BloomFilter.from_bytes(damaged)
    for length in range(0, len(whole), 13):
        with pytest.raises(FormatError):
            BloomFilter.from_bytes(whole[:length])
    with pytest.raises(FormatError):
        BloomFilter.from_bytes(whole + b"x")
    with pytest.raises(TypeError):
        BloomFilter.from_bytes("text")


def test_damage_in_a_mapped_file_is_noticed_when_it_is_read(filter, tmp_path):
    damaged = bytearray(filter.to_bytes())
    damaged[-9] ^= 1
    (tmp_path / "f.tbl").write_bytes(damaged)
    mapped = BloomFilter.open(tmp_path / "f.tbl", mmap=True)
    for read in (mapped.fpr, mapped.to_bytes, mapped.copy, lambda: mapped.fill):
        with pytest.raises(FormatError, match="damaged"):
            read()


def test_golden_files_open(golden):
    assert BloomFilter.open(golden / "v1-xxh3.tbl").capacity == 250
    assert RecyclingFilter.open(golden / "v1-recycling-two.tbl").phases == 2
    assert truebloom.CountMin.open(golden / "v1-count-min-full.tbl").total > 0
    with pytest.raises(FormatError, match="truebloom.RecyclingFilter.open"):
        BloomFilter.open(golden / "v1-recycling-one.tbl")
