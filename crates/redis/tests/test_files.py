"""Files of the project go to a server and back, byte for byte: those of the command and those of the server."""
import os
import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND, call, command


def lines(items):
    return b"".join(b"%s\n" % item for item in items)


FORMS = {
    "fixed": ["-n", "2000", "-p", "0.01"],
    "growing": ["-p", "0.01", "--grow"],
    "large": ["-n", "3000000", "-p", "0.01"],
    "blocked": ["-n", "2000", "-p", "0.01", "--layout", "blocked"],
    "classic": ["-n", "2000", "-p", "0.01", "--scheme", "classic"],
    "untrusted": ["-n", "2000", "-p", "0.01", "--untrusted"],
}


@pytest.mark.parametrize("form", FORMS)
def test_from_the_command_and_back(server, tmp_path, form):
    client = server.client()
    client.flushall()
    items = [b"item-%d" % number for number in range(1_500)]
    path = tmp_path / "seen.tbl"
    command("create", *FORMS[form], path, input=lines(items))
    file = path.read_bytes()
    assert call(client, "BF.LOAD", "f", file) == b"OK"
    assert call(client, "BF.MEXISTS", "f", *items) == [1] * len(items)
    assert call(client, "BF.DUMP", "f") == file, "as it came"
    client.restore("g", 0, client.dump("f"))
    call(client, "DEBUG", "RELOAD")
    assert call(client, "BF.DUMP", "g") == file, "after DUMP, RESTORE and a reload"
    # What the server adds, the command finds; and the other way round both agree on every answer.
    more = [b"more-%d" % number for number in range(300)]
    call(client, "BF.MADD", "f", *more)
    path.write_bytes(call(client, "BF.DUMP", "f"))
    assert command("check", path, input=lines(items + more)) == lines(items + more)
    strangers = [b"stranger-%d" % number for number in range(5_000)]
    found = subprocess.run([COMMAND, "check", path], input=lines(strangers), capture_output=True).stdout.splitlines()
    assert [item for item, reply in zip(strangers, call(client, "BF.MEXISTS", "f", *strangers)) if reply] == found
    assert len(found) < 100
    # Fails unless the promise is kept.
    assert b"kept" in command("verify", "--queries", "1M", path)


def test_the_server_makes_the_filter_that_the_command_makes(server, tmp_path):
    """One plan, one seed, the same items: the same bits."""
    client = server.client()
    client.flushall()
    items = [b"item-%d" % number for number in range(1_000)]
    path = tmp_path / "seen.tbl"
    command("create", "-n", "1000", "-p", "0.01", "--seed", "2a", path, input=lines(items))
    call(client, "BF.RESERVE", "f", "0.01", "1000", "NONSCALING", "SEED", "2a")
    call(client, "BF.MADD", "f", *items)
    ours, theirs = call(client, "BF.DUMP", "f"), path.read_bytes()
    assert len(ours) == len(theirs) and ours[256:] == theirs[256:]


GOLDEN = Path(__file__).parents[2] / "filter/tests/golden"
# What a key can hold as a file; packs, sketches, compressed files and filters that forget in the
# classic scheme it cannot.
HELD = ["v1-blocked", "v1-recycling-blocked", "v1-recycling-one", "v1-recycling-shared", "v1-recycling-two", "v1-scalable", "v1-scheme-blocked", "v1-siphash-merged", "v1-xxh3"]


def test_frozen_files_of_every_kind(server):
    """Files written by a second implementation in Python, and frozen: each comes out as it went in, or is refused with a reason."""
    client = server.client()
    client.flushall()
    files = sorted(path for path in GOLDEN.glob("*.tb[lz]"))
    assert set(HELD) <= {path.stem for path in files if path.suffix == ".tbl"}
    for path in files:
        file, key = path.read_bytes(), path.name
        reply = call(client, "BF.LOAD", key, file)
        if path.suffix == ".tbl" and path.stem in HELD:
            assert reply == b"OK", (key, reply)
            assert call(client, "BF.DUMP", key) == file, key
            client.restore("again", 0, client.dump(key), replace=True)
            assert call(client, "BF.DUMP", "again") == file, key
        elif path.suffix == ".tbl":
            assert isinstance(reply, Exception) and len(str(reply)) > 20, key
    call(client, "DEBUG", "RELOAD")
    for name in HELD:
        assert call(client, "BF.DUMP", f"{name}.tbl") == (GOLDEN / f"{name}.tbl").read_bytes(), name


@pytest.mark.parametrize("writer", ["python", "spark"])
def test_files_that_python_and_spark_wrote(server, tmp_path, writer):
    """`make_files.py` wrote them: the package in one process, and Spark's executors, whose parts were merged. Both go to a server and back, byte for byte."""
    client = server.client()
    client.flushall()
    file = (Path(__file__).parent / f"files/{writer}.tbl").read_bytes()
    items = [f"item-{number}" for number in range(1_000)]
    assert call(client, "BF.LOAD", "f", file) == b"OK"
    assert call(client, "BF.MEXISTS", "f", *items) == [1] * len(items)
    assert sum(call(client, "BF.MEXISTS", "f", *(f"stranger-{number}" for number in range(5_000)))) < 100
    assert call(client, "BF.INFO", "f", "ASKED") == [b"0.01"]
    call(client, "DEBUG", "RELOAD")
    client.restore("g", 0, client.dump("f"))
    assert call(client, "BF.DUMP", "f") == call(client, "BF.DUMP", "g") == file
    # The bits are those that the server sets itself; the headers differ, as Spark's says merged.
    call(client, "BF.RESERVE", "h", "0.01", "1000", "NONSCALING", "SEED", "7")
    call(client, "BF.MADD", "h", *items)
    assert call(client, "BF.DUMP", "h")[256:] == file[256:]
    # What the server adds to it, the command finds.
    call(client, "BF.RESERVE", "one", "0.01", "1000", "NONSCALING", "SEED", "7")
    call(client, "BF.ADD", "one", "one-more")
    assert call(client, "BF.MERGE", "f", "one") == b"OK"
    (tmp_path / "back.tbl").write_bytes(call(client, "BF.DUMP", "f"))
    assert command("check", tmp_path / "back.tbl", input=b"one-more\nitem-7\n") == b"one-more\nitem-7\n"


PYTHON = os.environ.get("TRUEBLOOM_PYTHON")


@pytest.mark.skipif(not PYTHON, reason="the Python package is not built: `python/test.sh` builds it, and this environment does not demand it")
@pytest.mark.parametrize("made", ["BloomFilter(2_000, 0.01)", "BloomFilter(300_000, 1e-6)", "BloomFilter(2_000, 0.01, layout='blocked')", "ScalableFilter(0.01)"])
def test_from_the_python_package_and_back(server, tmp_path, made):
    """A filter of the package, as it is now, goes to a server; what the server adds, the package finds."""
    client = server.client()
    client.flushall()
    path = tmp_path / "seen.tbl"
    package = lambda code: subprocess.run([PYTHON, "-c", f"import sys, truebloom; {code}", path], check=True, capture_output=True, cwd=tmp_path).stdout
    package(f"f = truebloom.{made}; f.update(f'item-{{n}}' for n in range(1_000)); open(sys.argv[1], 'wb').write(f.to_bytes())")
    file = path.read_bytes()
    items = [f"item-{number}" for number in range(1_000)]
    assert call(client, "BF.LOAD", "f", file) == b"OK" and call(client, "BF.DUMP", "f") == file
    assert call(client, "BF.MEXISTS", "f", *items) == [1] * len(items)
    call(client, "BF.MADD", "f", *(f"more-{number}" for number in range(500)))
    path.write_bytes(call(client, "BF.DUMP", "f"))
    found = package("f = truebloom." + made.split("(")[0] + ".from_bytes(open(sys.argv[1], 'rb').read()); "
                    "print(sum(f.contains_many([f'item-{n}' for n in range(1_000)] + [f'more-{n}' for n in range(500)])), f.to_bytes() == open(sys.argv[1], 'rb').read())")
    assert found.split() == [b"1500", b"True"]


def test_what_is_no_filter_is_said(server, tmp_path):
    client = server.client()
    client.flushall()
    for wrong in (b"", b"nothing", b"\x89TBL\r\n\x1a\n", os.urandom(1000)):
        reply = call(client, "BF.LOAD", "f", wrong)
        assert isinstance(reply, Exception) and str(reply)
    call(client, "BF.ADD", "f", "a")
    file = call(client, "BF.DUMP", "f")
    assert str(call(client, "BF.LOAD", "f", file)).endswith("item exists")
    assert call(client, "BF.LOAD", "f", file, "REPLACE") == b"OK"
