#!/usr/bin/env python3
"""Measures the CPU seconds of each verb and of its parts, for one or several builds of the command.

    bench/account.py rows  [ROUNDS] PROGRAM...   user and system seconds of each verb, by getrusage: the
                                                 least and the median of alternating rounds (5 unless given)
    bench/account.py parts PROGRAM...            the CPU seconds and the share of each of its parts, by `perf`'s
                                                 samples of the clock; build with CARGO_PROFILE_RELEASE_DEBUG=1

The inputs are those of bench/command.sh, made below target/ if they are not there: 488 MB of lines,
half of them repeats; the first half of them as CSV, as CSV with quotes, and as JSON. The output of a
program goes to /dev/null, or through a pipe if the row says so.
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
# The part to which a function belongs: the first whose pattern matches. Inlined functions are
# matched from the innermost outwards. Functions of other crates, such as `memchr`, count for their
# callers, if the callers are known.
PARTS = [
    ("reading", r"^reader:.*\[kernel|records::source"),
    ("handing over", r"futex|mpmc|mpsc|schedule|finish_task_switch|spin_unlock|records::feed"),
    ("CSV, JSON", r"records::(json|csv|line|quotes|near)|serde"),
    ("hashing", r"xxh3|KeyHasher|answers::hashed|hash::portable"),
    ("look-up", r"^[^:]*: (?:.*<)?truebloom(?:_math)?::(?!hash|key|count_min)"),
    ("sketch", r"count_min"),
    ("writing", r"write_selected|output::|\[kernel.*|Batch::write|BufWriter|selected::"),
    ("splitting", r"records::|memchr"),
    ("copying", r"memmove|memcpy"),
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
    """User and system seconds of one run. For a pipe, the seconds of both programs are added."""
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
    print("| | | CPU s | " + " | ".join(names) + " |")
    print("|-|-|-|" + "-|" * len(names))
    for row in [row for row in ROWS if "|" not in row]:
        for program in programs:
            shares, spent = share(program, row)
            cells = [f"{spent * shares[name]:.2f} ({100 * shares[name]:.0f}%)" if name in shares else "" for name in names]
            print(f"| `{row}` | {Path(program).name} | {spent:.2f} | " + " | ".join(cells) + " |", flush=True)


def share(program, row):
    """The share of each part among the samples, and the CPU seconds of the run."""
    record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "4000", "-o", "samples", program, *row.split()]
    subprocess.run(record, cwd=WORK, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    script = ["perf", "script", "-i", "samples", "--show-mmap-events", "-F", "comm,ip,sym,dso"]
    told = subprocess.run(script, cwd=WORK, capture_output=True, text=True, check=True).stdout.splitlines()
    base, samples = 0, []
    for text in told:
        mapped = re.search(r"\[(0x[0-9a-f]+)\(0x[0-9a-f]+\) @ (0x[0-9a-f]+|0) .*r-xp (.*)", text)
        if mapped and mapped[3] == program:
            base = int(mapped[1], 16) - int(mapped[2], 16)
        sample = re.match(r"\s*(.*?)\s+([0-9a-f]+) (.*)", text)
        if sample and "PERF_RECORD" not in text:
            samples.append((sample[1], int(sample[2], 16), sample[3]))
    frames = inlined(program, {at - base for _, at, symbol in samples if program in symbol})
    counts = {}
    for thread, at, symbol in samples:
        thread = "reader" if thread == "reader" else "main"
        name = next(filter(None, (part(f"{thread}: {frame}") for frame in [*frames.get(at - base, []), symbol])), "else")
        counts[name] = counts.get(name, 0) + 1
    return {name: count / len(samples) for name, count in counts.items()}, len(samples) / 4000


def part(frame):
    return next((name for name, functions in PARTS if re.search(functions, frame)), None)


def inlined(program, places):
    """The functions at each address of a program, from the innermost outwards. Inlined functions are known only if
    the program was built with CARGO_PROFILE_RELEASE_DEBUG=1."""
    headers = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    loads = [[int(field, 16) for field in text.split()[1:6]] for text in headers.splitlines() if text.split()[:1] == ["LOAD"]]
    addresses = {}
    for place in places:
        start, address, _, size, _ = next(load for load in loads if load[0] <= place < load[0] + load[3])
        addresses[f"{place - start + address:#x}"] = place
    asked = ["addr2line", "-aifC", "-e", program, *addresses]
    frames, names = {}, None
    for text in subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines():
        if text.startswith("0x"):
            names = frames.setdefault(addresses[f"{int(text, 16):#x}"], [])
            is_name = True
        else:
            if is_name:
                names.append(text)
            is_name = not is_name
    return frames


def main():
    command, *rest = sys.argv[1:] or ["help"]
    rounds = int(rest.pop(0)) if rest and rest[0].isdigit() else 5
    programs = [str(Path(program).resolve()) for program in rest]
    if command not in ("rows", "parts") or not programs:
        sys.exit(__doc__)
    inputs(programs[0])
    rows(programs, rounds) if command == "rows" else parts(programs)


main()
