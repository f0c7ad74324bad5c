#!/usr/bin/env python3
"""Runs fixed streams of lines through `truebloom dedup`. For each policy, compares the number of
lost lines with the report of `dedup`. The streams were defined before the seed was chosen.

    bench/streams.py [TRUEBLOOM] > docs/STREAMS.md

A line is lost if it is brand-new (its key did not occur before) and is not printed. The numbers that
`dedup` reports also include forgotten keys that occur again. A run takes some minutes.
"""
import json
import random
import subprocess
import sys
import textwrap

LINES = 600_000
ITEMS = 20_000
RATE = 0.01
INTRO = f"""\
A recycling filter remembers the lines of a stream, and forgets some or all of them when it is full.
This page measures how many lines `dedup` loses with such a filter.
`bench/streams.py target/release/truebloom > docs/STREAMS.md` makes the page. The streams were
defined before the seed (1) was chosen, so they were not picked to give good results with it.

Every filter is made for {ITEMS:,} lines and a rate of {100 * RATE:g}%. A filter with one phase is emptied when it
is full. The time until it is full again is a *cycle*. A line is *new to a cycle* if its key has not
yet occurred in that cycle. In a filter with two phases, only the older phase is emptied when the
newer phase is full.

- *Memory* is in bytes.
- *Promised* is the bound on the rate in the report of `dedup`, for input that was chosen without
  knowing the seed. With one phase, it bounds the average rate in the long run. With two phases, it
  bounds the rate for every new line.
- *Brand-new* is the number of lines whose key had not occurred before.
- *Lost* is the number of brand-new lines that `dedup` did not print.
- *Share* is *lost* divided by *brand-new*.
- *Expected* is the filter's estimate of the number of lines that `dedup` wrongly did not print:
  their keys were brand-new or forgotten.
- *At most* is an upper bound on that number, with a confidence of 99.9999%.
- *Average* is *expected* divided by the estimated number of lines whose keys were brand-new or
  forgotten.

With one phase, *share* can exceed *promised* if brand-new lines come late in a cycle, when the
filter is nearly full. The expected average rate for all lines that are new to a cycle never exceeds
*promised*.
"""


def new():
    """Every line has a new key."""
    yield from range(LINES)


def periodic():
    """20,000 keys come again and again in the same order, and every fifth line is new. Between two occurrences of a key come 24,999 other keys, more than the 20,000 lines that each filter is made for."""
    for i in range(LINES):
        yield LINES + i if i % 5 == 0 else i % 25_000


def hot_first():
    """The stream has 29 periods of 20,283 lines. The first 2% of each period are new, the next 88% come from a fixed set of keys, and the last 10% are new."""
    fresh = 10_000_000
    for _ in range(LINES // 20_283):
        for count, hot in [(405, False), (17_849, True), (2_029, False)]:
            for i in range(count):
                if not hot:
                    fresh += 1
                yield i if hot else fresh


def tripled():
    """Every line comes three times in a row."""
    for i in range(LINES):
        yield i // 3


def sorted_passes():
    """The stream passes over sorted keys several times. In each pass, a tenth of the keys are new."""
    fresh = 0
    for start in range(LINES // 24_000):
        keys = [10 * i for i in range(21_600)]
        keys += [10 * random.randrange(21_600) + 1 + (fresh + i) % 9 + 1_000_000_000 * (start + 1) for i in range(2_400)]
        yield from sorted(keys, key=lambda key: key % 1_000_000_000)


def sliding():
    """Each line is drawn from a set of 5,000 keys. After every third line, a new key replaces the oldest key of the set."""
    for i in range(LINES):
        yield i // 3 + random.randrange(5_000)


def popular():
    """Half of the lines are new. The other half are drawn from 100,000 keys; the probability of the i-th key is roughly proportional to 1/i."""
    for i in range(LINES):
        yield 1_000_000 + i if i % 2 else int(100_000 ** random.random())


STREAMS = [new, periodic, hot_first, tripled, sorted_passes, sliding, popular]
POLICIES = [
    ("one phase", ["-n", str(ITEMS)]),
    ("one phase, blocked", ["-n", str(ITEMS), "--layout", "blocked"]),
    ("two phases", ["--remember", str(ITEMS)]),
]


def run(command, keys, options):
    """The number of brand-new lines, how many of them were lost, and the report."""
    text = "".join(f"{key}\t{place}\n" for place, key in enumerate(keys))
    options = [command, "dedup", "-f", "1", "-p", f"{100 * RATE:g}%", "--seed", "1", "--json", *options]
    done = subprocess.run(options, input=text.encode(), capture_output=True, check=True)
    printed = {int(line.rsplit(b"\t", 1)[1]) for line in done.stdout.splitlines()}
    seen, fresh, lost = set(), 0, 0
    for place, key in enumerate(keys):
        if key not in seen:
            seen.add(key)
            fresh += 1
            lost += place not in printed
    return fresh, lost, json.loads(done.stderr)


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else "truebloom"
    random.seed(7)
    streams = [(stream, list(stream())) for stream in STREAMS]
    print("# Streams through recycling filters\n")
    print(INTRO)
    print("| stream | policy | memory | promised | brand-new | lost | share | average | expected | at most |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for stream, keys in streams:
        for name, options in POLICIES:
            fresh, lost, report = run(command, keys, options)
            drops, promised = report["wrong_drops"], report["promised_fpr"]["upper"]
            print(
                f"| {stream.__name__.replace('_', ' ')} | {name} | {report['memory_bytes']:,} | {100 * promised:.3f}% | {fresh:,} | {lost:,} | {100 * lost / fresh:.3f}% "
                f"| {100 * report['average_fpr']:.3f}% | {drops['expected']:,.1f} | {drops['at_most']:,} |"
            )
    print("\nThe streams:\n")
    for stream in STREAMS:
        print(textwrap.fill(f"- *{stream.__name__.replace('_', ' ')}*: {stream.__doc__}", 100, subsequent_indent="  "))


main()
