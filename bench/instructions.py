#!/usr/bin/env python3
"""Counts instructions per key with valgrind, for each filter, operation and rate. The filters have 64 KiB.

    cargo build --release -p truebloom-bench --bin instructions && bench/instructions.py target/release/instructions

Each cell of the table is measured with one round and with three rounds. The difference is divided by
the number of keys in two rounds, so that building the filter does not count. A round of insertions
also copies the filter, which takes about 1,000 instructions. Valgrind does not support AVX-512, so
batches and blocked filters use their AVX2 or scalar code here. Single operations of standard filters
have no vector code.
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
