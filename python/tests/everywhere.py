"""Keys as Python has them that are keys of Rust (`rust/src/main.rs`), of the shell and of Spark, too."""

import os
import subprocess
import sys
from pathlib import Path
from uuid import UUID

from truebloom import BloomFilter, key_bytes

ID = UUID("00112233-4455-6677-8899-aabbccddeeff")
KEYS = ["café", "", b"\x00\xff", 5, -2, -(2**63), 2**64 - 1, True, ("a", 2), (("a", -1), "b"), ID, (ID, 7)]
SIZE = {"items": 2000, "fpr": 1e-6, "seed": 0x2A}


def rust(*arguments: str) -> str:
    """What the program of Rust says; `python/test.sh` builds it."""
    done = subprocess.run([os.environ["TRUEBLOOM_KEYS_IN_RUST"], *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def shell(*arguments: str, lines: list[str]) -> list[str]:
    """What the command says to these lines."""
    done = subprocess.run(
        [sys.executable, "-m", "truebloom", *arguments], input="".join(line + "\n" for line in lines), capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.splitlines()


def digits() -> list[str]:
    """The keys as the shell gets those that are no text: the bytes that are hashed, in hexadecimal digits."""
    return [key_bytes(key).hex() for key in KEYS]


def by_rust(folder: Path) -> BloomFilter:
    rust(str(folder / "rust.tbl"))
    return BloomFilter.open(folder / "rust.tbl")


def by_shell(folder: Path) -> BloomFilter:
    """Without the label by which the file says that its keys were digits."""
    shell("create", "--hex", "-n", "2000", "-p", "1e-6", "--seed", "2a", str(folder / "shell.tbl"), lines=digits())
    made = BloomFilter.open(folder / "shell.tbl")
    made.label = None
    return made


def by_python() -> BloomFilter:
    made = BloomFilter(**SIZE)
    for key in KEYS:
        made.add(key)
    return made
