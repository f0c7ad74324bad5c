"""A key is the same key in Rust, the shell and Python."""

import os
import signal
import subprocess
import sys
import time
import uuid

import numpy as np
import pytest
import truebloom
from everywhere import KEYS, by_python, by_rust, by_shell, digits, rust, shell
from truebloom import BloomFilter, KeyRangeError, KeyTypeError, ScalableFilter, key_bytes

SEED = 0x0F1E2D3C4B5A69788796A5B4C3D2E1F0

# What Rust calls the key (crates/filter/tests/golden/keys.txt, which Rust's tests hold its own keys
# to), and the same in Python.
SAME = {
    "u8 5": 5,
    "i16 -2": -2,
    "usize max32": 0xFFFFFFFF,
    "isize -1": -1,
    "u64 max": 2**64 - 1,
    "bool true": True,
    "nonzero 7": np.int64(7),
    "str": "café",
    "empty str": "",
    "byte array": bytes([1, 2, 3]),
    "one-tuple of a str": ("a",),
    "pair": (1, 2),
    "pair of str ab, c": ("ab", "c"),
    "pair of str a, bc": ("a", "bc"),
}


def golden_keys(golden):
    lines = (golden / "keys.txt").read_text().splitlines()
    return {name: bytes.fromhex(found) for name, found in (line.split("\t") for line in lines)}


def test_the_bytes_of_keys_are_those_of_rust(golden):
    rust = golden_keys(golden)
    assert {name: key_bytes(key).hex() for name, key in SAME.items()} == {name: rust[name].hex() for name in SAME}


def test_bytes_like_objects_are_one_key():
    forms = [b"key", "key", bytearray(b"key"), memoryview(b"key"), np.bytes_(b"key"), np.str_("key"), (b"key",), (("key",),)]
    assert {key_bytes(form) for form in forms} == {b"key"}
    some = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
    assert key_bytes(some) == some.bytes == key_bytes((some,))
    assert key_bytes((some, 1)) == key_bytes((some.bytes, True))


def mixed_keys():
    yield from (f"key {i}" for i in range(230))
    yield from (i - 100 for i in range(230))
    yield from (bytes(range(256))[:length] for length in (0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 256))


def test_python_builds_the_file_that_rust_builds(golden):
    """The golden file holds what a filter in Rust is, bit for bit; here the same keys go in one by one, and as a list."""
    rust = (golden / "v1-scalable.tbl").read_bytes()
    one_by_one, batch = (ScalableFilter("2%", first_items=64, seed=SEED) for _ in range(2))
    for key in mixed_keys():
        one_by_one.add(key)
    batch.update(mixed_keys())
    assert one_by_one.to_bytes() == rust
    assert batch.to_bytes() == rust
    opened = BloomFilter.open(golden / "v1-scalable.tbl")
    assert type(opened) is ScalableFilter and opened == batch and all(key in opened for key in mixed_keys())


def test_a_key_is_one_key_in_rust_the_shell_and_python(tmp_path):
    """Texts, bytes, numbers, tuples and UUIDs, typed as each has them: the same bits from all, and each finds what the others put in. `clusters/test_spark.py` has the same with Spark."""
    made = by_python()
    assert made == by_rust(tmp_path) == by_shell(tmp_path) and made.offered == len(KEYS)
    made.save(tmp_path / "python.tbl")
    assert rust(str(tmp_path / "python.tbl"), "has") == str(len(KEYS))
    assert shell("check", "--hex", str(tmp_path / "python.tbl"), lines=[*digits(), "beef"]) == digits()


def test_the_shell_python_and_rust_share_a_file(tmp_path):
    """The command is Rust: it builds a filter from lines, and Python from the same lines of text, as bytes, and as an Arrow column."""
    import pyarrow as pa

    lines = [f"https://example.org/{i}" for i in range(1000)] + ["café", ""]
    (tmp_path / "lines.txt").write_text("".join(line + "\n" for line in lines))
    shell = [sys.executable, "-m", "truebloom"]
    command = [*shell, "create", "-n", "2000", "-p", "0.01", "--seed", "2a", str(tmp_path / "shell.tbl"), str(tmp_path / "lines.txt")]
    subprocess.run(command, check=True, capture_output=True)
    made = BloomFilter.open(tmp_path / "shell.tbl")
    for keys in (lines, [line.encode() for line in lines], pa.array(lines), pa.array(lines, pa.large_string()), pa.array(lines, pa.string_view())):
        mine = BloomFilter(2000, 0.01, seed="2a")
        mine.update(keys)
        assert mine == made
    mine.save(tmp_path / "python.tbl")
    found = subprocess.run([*shell, "check", str(tmp_path / "python.tbl")], input="café\nnever\n", capture_output=True, text=True, check=True)
    assert found.stdout == "café\n"


def test_integers_are_the_same_from_every_source():
    import pyarrow as pa

    expected = BloomFilter(100, 0.01, seed=1)
    expected.update([0, 1, 2, 100])
    types = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
    sources = [pa.array([0, 1, 2, 100], t) for t in types]
    sources += [np.array([0, 1, 2, 100], d) for d in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i8", ">i4")]
    sources += [np.array([0, 9, 1, 9, 2, 9, 100, 9])[::2], np.array([100, 2, 1, 0])[::-1], memoryview(np.array([0, 1, 2, 100]))]
    for source in sources:
        mine = BloomFilter(100, 0.01, seed=1)
        mine.update(source)
        assert mine == expected, source
    negative = BloomFilter(100, 0.01, seed=1)
    negative.update([-1, -128])
    for source in (pa.array([-1, -128], pa.int8()), np.array([-1, -128], "i2"), [2**64 - 1, 2**64 - 128]):
        mine = BloomFilter(100, 0.01, seed=1)
        mine.update(source)
        assert mine == negative


@pytest.mark.parametrize("key", [1.5, None, [], {}, set(), object(), np.float64(1), 1j, (), (1, ()), ("a", None), (1.5,), Ellipsis])
def test_what_is_no_key_is_refused(key):
    f = BloomFilter(100, 0.01)
    for offer in (f.add, f.__contains__, lambda key: f.update([key]), lambda key: f.contains_many([key]), key_bytes):
        with pytest.raises(KeyTypeError) as error:
            offer(key)
        assert isinstance(error.value, TypeError) and isinstance(error.value, truebloom.Error)
    assert f.is_empty


def test_messages_say_what_to_do():
    f = BloomFilter(100, 0.01)
    for key, advice in ((1.5, "x.hex()"), (None, "leave missing values out"), ([1], "a tuple"), (object(), "its text")):
        with pytest.raises(KeyTypeError, match=advice.replace("(", r"\(").replace(")", r"\)")):
            f.add(key)
    with pytest.raises(KeyRangeError, match="64 bits") as error:
        f.add(2**64)
    assert isinstance(error.value, OverflowError)
    with pytest.raises(KeyRangeError):
        f.add(-(2**63) - 1)
    assert f.add(-(2**63)) and f.add(2**64 - 1)


def test_tuples_have_a_bound():
    key = "x"
    for _ in range(10_000):
        key = (key, 1)
    with pytest.raises(KeyTypeError, match="levels of tuples"):
        key_bytes(key)
    key = "x"
    for _ in range(10_000):
        key = (key,)
    with pytest.raises(KeyTypeError, match="levels of tuples"):
        key_bytes(key)


def test_what_an_index_raises_is_raised():
    class Interrupted:
        def __index__(self):
            raise KeyboardInterrupt

    class Nonsense:
        def __index__(self):
            return "x"

    with pytest.raises(KeyboardInterrupt):
        key_bytes(Interrupted())
    with pytest.raises(KeyTypeError):
        key_bytes(Nonsense())


BEGUN = """
import sys
import truebloom.__main__ as program
command = program.command
program.command = lambda arguments: (print("begun", flush=True), command(arguments))[1]
sys.exit(program.main())
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["dedup", "-n", "1000", "-p", "0.01"],
        # Would take a day.
        ["simulate", "--bits", "1M", "-k", "4", "--sigma", "300000", "-n", "1T"],
    ],
)
def test_an_interrupt_ends_the_command(arguments):
    """The command is Rust and returns to Python only at its end: the signal reaches it all the same, and no traceback comes of it."""
    running = subprocess.Popen([sys.executable, "-c", BEGUN, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdin and running.stdout and running.stderr
    try:
        assert running.stdout.readline() == b"begun\n"
        time.sleep(0.3)  # For the test to mean something: the signal should come while Rust works. It is heard at any time.
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode != 0 and b"Traceback" not in errors


def test_a_lone_surrogate_has_no_bytes():
    f = BloomFilter(100, 0.01)
    for name in ("\ud800", os.fsdecode(b"caf\xe9")):
        for offer in (f.add, f.__contains__, lambda key: f.update([key]), lambda key: f.add((key, 1)), key_bytes):
            with pytest.raises(KeyTypeError, match=r"os.fsencode\(name\)") as error:
                offer(name)
            assert isinstance(error.value.__cause__, UnicodeEncodeError)
    assert f.is_empty and f.add(os.fsencode(name))


def test_one_key_is_not_many():
    f = BloomFilter(100, 0.01)
    for key in ("abc", b"abc", bytearray(b"abc"), memoryview(b"abc")):
        with pytest.raises(KeyTypeError, match="one key, not many"):
            f.update(key)
    with pytest.raises(KeyTypeError, match="does not hold keys"):
        f.update(5)
