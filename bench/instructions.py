#!/usr/bin/env python3
"""Instructions per key of every cell in the second-level cache, counted by valgrind.

    cargo build --release -p truebloom-bench --bin instructions && bench/instructions.py target/release/instructions

A cell is counted with one round and with three, and the difference is divided by the keys of two
rounds, so that building the filter does not count. A round of insertions also copies the filter of
64 KiB (about 1,000 instructions in all). Valgrind has no AVX-512, so batches and blocked filters
use their AVX2 or scalar code here; single operations of standard filters have no vector code.
"""
import re
import subprocess
import sys

KEYS = 8192


def counted(program, cell, rounds):
    run = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1", program, *cell, str(rounds)]
    told = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    return int(re.search(r"Collected : (\d+)", told)[1])


def main():
    program = sys.argv[1]
    print("| filter | insertion, hit, miss at 1% | at 0.1% |\n|---|---|---|")
    for kind, mode in [("standard", "single"), ("standard", "batch"), ("blocked", "single"), ("blocked", "batch"), ("fastbloom", "single")]:
        cells = []
        for rate in ["1%", "0.1%"]:
            numbers = []
            for operation in ["insert", "hit", "miss"]:
                cell = [kind, rate, operation, mode]
                numbers.append((counted(program, cell, 3) - counted(program, cell, 1)) / (2 * KEYS))
            cells.append(", ".join(f"{number:.0f}" for number in numbers))
        print(f"| {kind}, {mode} | " + " | ".join(cells) + " |", flush=True)


main()
