#!/usr/bin/env python3
"""Compares the errors of `truebloom compare` and of theta sketches of Apache DataSketches of the same size. Both estimate the number of items common to seven sets, for many seeds.

    python3 -m venv E; E/bin/pip install datasketches==5.2.0; E/bin/python bench/theta.py [TRUEBLOOM] [REPEATS]

The sets are the visitors of seven days. Each day has 6,000 visitors: 2,000 come every day, and 4,000 on this day only. The same is measured with ten times as many visitors, and with a hundred times as many, with a quarter of the repeats. 20 repeats take a minute. The seeds are 1, 2 and so on.
"""
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from datasketches import theta_a_not_b, theta_intersection, theta_union, update_theta_sketch

DAYS = 7
# The binary logarithm of the nominal number of entries of a theta sketch. An entry has 8 bytes.
LG_ENTRIES = 12


def days(every, only):
    return [list(range(every)) + [every + day * only + i for i in range(only)] for day in range(DAYS)]


def by_filters(truebloom, sets, seed, entries):
    with tempfile.TemporaryDirectory() as folder:
        run = lambda *args, **more: subprocess.run([truebloom, *args], cwd=folder, check=True, capture_output=True, **more).stdout
        names = [f"{day}.tbl" for day in range(DAYS)]
        run("create", "--empty", "-n", str(len(sets[0])), "--bits", str(64 * entries), "--seed", f"{seed:x}", names[0])
        for name in names[1:]:
            run("copy", "--empty", names[0], name)
        for name, keys in zip(names, sets):
            run("insert", name, input="".join(f"visitor {key}\n" for key in keys).encode())
        found = json.loads(run("compare", "--json", *names))
        return {
            "one day": found["filters"][0]["items"]["value"],
            "any day": found["union"]["value"],
            "every day": found["intersection"]["value"],
            "this day only": found["filters"][0]["own"]["value"],
        }


def by_theta(sets, seed, lg_entries):
    sketches = []
    for keys in sets:
        sketch = update_theta_sketch(lg_entries, 1.0, seed)
        for key in keys:
            sketch.update(f"visitor {key}")
        # Without this, the sketch could keep more entries than the nominal number.
        sketch.trim()
        sketches.append(sketch.compact())
    union, common, others = theta_union(lg_entries, 1.0, seed), theta_intersection(seed), theta_union(lg_entries, 1.0, seed)
    for day, sketch in enumerate(sketches):
        union.update(sketch)
        common.update(sketch)
        if day > 0:
            others.update(sketch)
    return {
        "one day": sketches[0].get_estimate(),
        "any day": union.get_result().get_estimate(),
        "every day": common.get_result().get_estimate(),
        "this day only": theta_a_not_b(seed).compute(sketches[0], others.get_result()).get_estimate(),
    }


def main():
    truebloom = str(Path(sys.argv[1] if len(sys.argv) > 1 else "target/release/truebloom").resolve())
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    print("| visitors per day | bytes per day | visitors on | true number | error of theta sketches | error of Bloom filters | theta error / Bloom error |\n|---|---|---|---|---|---|---|")
    for every, only, repeats in [(2_000, 4_000, repeats), (20_000, 40_000, repeats), (200_000, 400_000, max(repeats // 4, 1))]:
        sets, entries = days(every, only), 1 << LG_ENTRIES
        true = {"one day": every + only, "any day": every + DAYS * only, "every day": every, "this day only": only}
        squares = {name: [0.0, 0.0] for name in true}
        for seed in range(1, repeats + 1):
            for which, found in enumerate([by_theta(sets, seed, LG_ENTRIES), by_filters(truebloom, sets, seed, entries)]):
                for name, value in found.items():
                    # A full filter has no estimate, which counts as an error of 100%.
                    squares[name][which] += ((true[name] if value is None else value - true[name]) / true[name]) ** 2
        for name, sums in squares.items():
            theta, filters = (math.sqrt(total / repeats) for total in sums)
            ratio = f"{theta / filters:.2g}" if filters > 0 else "the filter has no error"
            print(f"| {every + only:,} | {8 * entries:,} | {name} | {true[name]:,} | {theta:.2%} | {filters:.2%} | {ratio} |")


main()
