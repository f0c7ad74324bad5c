#!/usr/bin/env python3
"""Where the CPU seconds of the command go, and those of two builds beside each other.

    bench/account.py rows  [ROUNDS] PROGRAM...   user and system seconds of each verb, by getrusage: the
                                                 least and the median of alternating rounds (5 unless given)
    bench/account.py parts PROGRAM...            the share of each part of it, by `perf`'s samples of the clock

The inputs are those of bench/command.sh, made below target/ if they are not there: 488 MB of lines,
half of them repeats; the first half of them as CSV, as CSV with quotes, and as JSON. What a program
prints goes to /dev/null, except where a row says that it goes through a pipe.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

WORK = Path(__file__).resolve().parent.parent / os.environ.get("CARGO_TARGET_DIR", "target") / "account"
LINES = 8_000_000
ROWS = [
    "dedup -n 5M -p 0.1% lines.txt",
    "dedup -n 5M -p 0.1% lines.txt | wc -l",
    "dedup -n 500k -p 0.1% lines.txt",
    "dedup -n 5M -p 0.1% --layout blocked lines.txt",
    "dedup -n 5M -p 0.1% --csv --column url lines.csv",
    "dedup -n 5M -p 0.1% --json-field .url lines.json",
    "check small.tbl lines.txt",
    "check small.tbl --csv --column url lines.csv",
    "check small.tbl --csv --column url quoted.csv",
    "check small.tbl --json-field .url lines.json",
    "create --force -n 5M -p 1% made.tbl lines.txt",
    "count -k 10 lines.txt",
]
# Functions by what they are for; the first that fits.
PARTS = [
    ("reading", r"copy_to_iter|filemap|reader\b|vfs_read|folio|page_cache"),
    ("handing over, waiting", r"finish_task_switch|spin_unlock|futex|mpsc|schedule"),
    ("splitting", r"memchr|Split|split|csv|quotes|line::|Csv|push_found"),
    ("JSON", r"json|serde"),
    ("hashing", r"xxh|Answers::hash|Fuse|hash_|check::run::\{\{closure"),
    ("filter", r"truebloom::(bits|arch|recycling|bloom|any_filter|bulk)|any_filter|sift::Sift<W>::batch|dedup::run|AnyFilter"),
    ("sketch", r"count::stream|count_min"),
    ("writing", r"write|memmove|Selection|found::Batch|print|memcmp"),
]


def line(state):
    state = state * 16807 % 2147483647
    k = state % 5_020_000
    return state, f"https://example.org/{k * 7919 % 999983:06d}/article-{k:07d}.html?from={k * 31 % 9999991:07d}"


def inputs(program):
    WORK.mkdir(parents=True, exist_ok=True)
    if not (WORK / "small.tbl").exists():
        state = 7
        with (WORK / "lines.txt").open("w") as lines, (WORK / "lines.csv").open("w") as plain, (WORK / "quoted.csv").open("w") as quoted, (
            WORK / "lines.json"
        ).open("w") as objects:
            plain.write("id,url\n")
            quoted.write('id,title,url\n')
            for number in range(1, LINES + 1):
                state, url = line(state)
                lines.write(url + "\n")
                if 2 * number <= LINES:
                    plain.write(f"{number},{url}\n")
                    quoted.write(f'{number},"Title, of ""{number % 100}""","{url}"\n')
                    objects.write(f'{{"id":{number},"url":"{url}","t":1.5}}\n')
        subprocess.run([program, "create", "-n", "5M", "-p", "1%", "--seed", "1", "small.tbl", "lines.txt"], cwd=WORK, check=True, stdout=subprocess.DEVNULL)


def seconds(program, row):
    """User and system seconds of one run; of a pipe, those of both ends."""
    out = os.open("/dev/null", os.O_WRONLY)
    child = os.fork()
    if child == 0:
        os.chdir(WORK)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.execvp("sh", ["sh", "-c", f"{'' if '|' in row else 'exec '}{program} {row}"])
    os.close(out)
    used = os.wait4(child, 0)[2]
    return used.ru_utime, used.ru_stime


def rows(programs, rounds):
    print("| | " + " | ".join(f"{Path(program).name}: least (user + system), median" for program in programs) + " | ratio of the least |")
    print("|-|" + "-|" * len(programs) + "-|")
    for row in ROWS:
        runs = {program: [] for program in programs}
        for _ in range(rounds):
            for program in programs:
                runs[program].append(seconds(program, row))
        cells = []
        for program in programs:
            ordered = sorted(runs[program], key=sum)
            least, median = ordered[0], ordered[len(ordered) // 2]
            cells.append(f"{sum(least):.2f} ({least[0]:.2f} + {least[1]:.2f}), {sum(median):.2f}")
        least = [min(map(sum, runs[program])) for program in programs]
        print(f"| `{row}` | " + " | ".join(cells) + f" | {least[0] / least[-1]:.2f} |", flush=True)


def parts(programs):
    names = [name for name, _ in PARTS] + ["else"]
    print("| | | " + " | ".join(names) + " |")
    print("|-|-|" + "-|" * len(names))
    for row in [row for row in ROWS if "|" not in row]:
        for program in programs:
            shares = share(program, row)
            print(f"| `{row}` | {Path(program).name} | " + " | ".join(f"{100 * shares.get(name, 0):.0f}%" for name in names) + " |", flush=True)


def share(program, row):
    record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "4000", "-o", "samples", program, *row.split()]
    subprocess.run(record, cwd=WORK, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    script = ["perf", "script", "-i", "samples", "-F", "comm,sym"]
    told = subprocess.run(script, cwd=WORK, capture_output=True, text=True, check=True).stdout.splitlines()
    counts = {}
    for sample in told:
        name = next((name for name, functions in PARTS if re.search(functions, sample)), "else")
        counts[name] = counts.get(name, 0) + 1
    return {name: count / len(told) for name, count in counts.items()}


def main():
    command, *rest = sys.argv[1:] or ["help"]
    rounds = int(rest.pop(0)) if rest and rest[0].isdigit() else 5
    programs = [str(Path(program).resolve()) for program in rest]
    if command not in ("rows", "parts") or not programs:
        sys.exit(__doc__)
    inputs(programs[0])
    rows(programs, rounds) if command == "rows" else parts(programs)


main()
