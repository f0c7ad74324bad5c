#!/usr/bin/env python3
"""Plants faults, and shows what rejects them: a fault in each function that docs/PAPERS.md names, rejected by the tests named beside it in functions.txt and by a test of each of its rows; and for each claim of
`reproduce` a fault that overturns it (claims.txt has those that take one of their own).

    crates/math/tests/faults/run.py              all of it (half an hour of processor time)
    crates/math/tests/faults/run.py NAME...      some functions only, without rows and claims
    crates/math/tests/faults/run.py --rows       the rows of docs/PAPERS.md only
    crates/math/tests/faults/run.py --claims     the claims only; writes overturned.txt anew

A claim is overturned where it still has an answer, with another verdict: a fault that makes a paper fail as a whole shows nothing.

The tree itself is not touched: a copy gets all faults at once, each behind a switch that an environment variable turns on, so that one build serves them all. Exits with 1 where a fault is missed by a test that is
named, no test of a row rejects the faults of the row's functions, or a claim is overturned by no fault.
"""

import csv
import io
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[3]
TARGET = PROJECT / "target/papers-faults"
PAPERS = ["burns", "grandi", "lehr", "kirsch-mitzenmacher", "dozier"]
SWITCH = '''
/// Faults for tests, planted by a script.
#[doc(hidden)]
#[allow(missing_docs)]
pub mod fault {
    extern crate std;
    use core::cell::Cell;
    use std::io::Write;
    std::thread_local! { static INSIDE: Cell<bool> = const { Cell::new(false) }; }
    static NAME: std::sync::OnceLock<std::string::String> = std::sync::OnceLock::new();
    static SEEN: std::sync::Mutex<std::collections::BTreeSet<std::string::String>> = std::sync::Mutex::new(std::collections::BTreeSet::new());
    /// Whether this fault is on, and not at work already. With a file to write to, only which faults were met.
    pub fn enter(name: &str) -> bool {
        let on = NAME.get_or_init(|| std::env::var("TRUEBLOOM_FAULT").unwrap_or_default());
        if let Some(file) = on.strip_prefix("trace:") {
            if SEEN.lock().unwrap().insert(std::string::String::from(name)) {
                let mut file = std::fs::File::options().create(true).append(true).open(file).unwrap();
                file.write_all(std::format!("{name}\\n").as_bytes()).unwrap();
            }
            return false;
        }
        on == name && INSIDE.with(|inside| !inside.replace(true))
    }
    pub fn leave() {
        INSIDE.with(|inside| inside.set(false));
    }
}
'''


class Fault:
    """A line of a list: name ~ file below crates/math/src (or from crates/ on) and the function in it ~ what it gives instead ~ tests, or claims."""

    def __init__(self, line):
        self.name, place, self.instead, rejecting = line.split(" ~ ")
        file, self.function = place.split()
        self.file = file if file.startswith("crates/") else f"crates/math/src/{file}"
        self.rejecting = [name.strip() for name in rejecting.split(",")]

    @property
    def of(self):
        """The function that is broken: several faults of one are told apart by what stands after #."""
        return self.name.split("#")[0]


def listed(file):
    return [Fault(line) for line in (HERE / file).read_text().splitlines() if line and not line.startswith("#")]


def plant(root, faults):
    """Each fault at the head of its function. What is as it was keeps its time, so that it is not built again."""
    texts = {}
    for fault in faults:
        text = texts.get(fault.file) or (PROJECT / fault.file).read_text()
        # The signature ends with the first brace after its return type, at the end of a line.
        head = re.search(r"\n *(?:pub(?:\([a-z]+\))? )?fn " + fault.function + r"(?:<.+?>)?\([^{};]*?-> [^{}\n]*(?:\{\n)", text)
        if not head:
            sys.exit(f"{fault.name}: no function `{fault.function}` in {fault.file}")
        switch = "crate::fault" if fault.file.startswith("crates/math/") else "truebloom_math::fault"
        body = f'if {switch}::enter("{fault.name}") {{ let found = {fault.instead}; {switch}::leave(); return found; }}\n'
        texts[fault.file] = text[: head.end()] + body + text[head.end() :]
    library = "crates/math/src/lib.rs"
    texts[library] = (texts.get(library) or (PROJECT / library).read_text()) + SWITCH
    for file, text in texts.items():
        source = root / file
        source.parent.mkdir(parents=True, exist_ok=True)
        if not source.exists() or source.read_text() != text:
            source.write_text(text)


def copy(root, faults):
    planted = {fault.file for fault in faults} | {"crates/math/src/lib.rs"}
    wanted = ["Cargo.toml", "Cargo.lock", "rustfmt.toml", "README.md", "CHANGELOG.md", "LICENSE-*", "crates", "bench", "docs", "fuzz", "data"]
    root.mkdir(parents=True, exist_ok=True)
    files = subprocess.run(["git", "ls-files", "-z", *wanted], cwd=PROJECT, check=True, stdout=subprocess.PIPE).stdout.decode()
    plain = [file for file in files.split("\0") if file and file not in planted and (PROJECT / file).exists()]
    subprocess.run(["xargs", "-0", "cp", "-pu", "--parents", "-t", str(root)], input="\0".join(plain).encode(), cwd=PROJECT, check=True)
    plant(root, faults)


def cargo(root, *arguments):
    environment = dict(os.environ, CARGO_TARGET_DIR=str(TARGET), CARGO_INCREMENTAL="0")
    return subprocess.run(["cargo", *arguments], cwd=root, env=environment, check=True, text=True, stdout=subprocess.PIPE).stdout


def binaries(root, names):
    """The test programs of these files, built once."""
    chosen = [part for name in sorted(names) for part in ("--test", name)]
    found = {}
    for line in cargo(root, "test", "-q", "-p", "truebloom-math", "--all-features", "--no-run", "--message-format=json", *chosen).splitlines():
        match = re.search(r'"executable":"([^"]+)"', line)
        kind = re.search(r'"kind":\["test"\].*?"name":"([^"]+)"', line)
        if match and kind:
            found[kind.group(1)] = match.group(1)
    return found


def fails(program, test, fault):
    environment = dict(os.environ, TRUEBLOOM_FAULT=fault)
    arguments = [program] + ([test, "--exact"] if test else [])
    done = subprocess.run(arguments, env=environment, cwd=PROJECT / "crates/math", text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    if "running 0 tests" in done.stdout:
        sys.exit(f"{test}: there is no such test")
    return done.returncode != 0


def traced(run):
    """The faults that are met by what is run with this value of the switch."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "met"
        run(f"trace:{file}")
        return set(file.read_text().split("\n")) if file.exists() else set()


def split(test):
    file, _, name = test.partition("::")
    return file, name


def functions(programs, faults):
    """Faults that a test named beside them misses."""
    bad = False
    for fault in faults:
        for test in fault.rejecting:
            file, name = split(test)
            if fails(programs[file], name, ""):
                sys.exit(f"{test} fails without a fault")
            rejected = fails(programs[file], name, fault.name)
            bad |= not rejected
            print(f"{'rejected' if rejected else 'MISSED  '} {fault.name} by {test}", flush=True)
    return bad


def rows():
    """Each row of docs/PAPERS.md: its name, functions and tests."""
    found = []
    for line in (PROJECT / "docs/PAPERS.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if len(cells) == 5 and re.fullmatch(r"\S.* \d+", cells[0]):
            found.append((cells[0], re.findall(r"`([^`]+)`", cells[3]), re.findall(r"`([^`]+)`", cells[4])))
    return found


def rows_reject(programs, faults):
    """Rows with a function whose faults pass all tests of the row."""
    by_function = {}
    for fault in faults:
        by_function.setdefault(fault.of, []).append(fault.name)
    met, answers, bad = {}, {}, False

    def rejects(test, fault):
        file, name = split(test)
        if test not in met:
            met[test] = traced(lambda value: fails(programs[file], name, value))
        if (test, fault) not in answers:
            answers[test, fault] = fault in met[test] and fails(programs[file], name, fault)
        return answers[test, fault]

    for row, named, tests in rows():
        for function in named:
            found = [f"{fault} by {test}" for test in tests for fault in by_function[function] if rejects(test, fault)]
            bad |= not found
            print(f"{'rejects ' if found else 'MISSES  '} {row}: {function}{'; ' + found[0] if found else ''}", flush=True)
    return bad


def verdicts(program, fault, papers=PAPERS):
    """Claims with their verdicts; none of a paper where a number could not be found."""
    environment = dict(os.environ, TRUEBLOOM_FAULT=fault)
    found = {}
    for paper in papers:
        arguments = [program, "reproduce", paper, "--csv", "--no-progress", "-j", "1"]
        done = subprocess.run(arguments, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=900)
        for row in csv.DictReader(io.StringIO(done.stdout)):
            found[paper, row["id"]] = row["verdict"]
    return found


def claims(root, faults):
    """Whether some claim has the same verdict whatever is broken, or one that a fault is listed to overturn. A paper is left alone once all of its claims are overturned."""
    cargo(root, "build", "-q", "-p", "truebloom-cli")
    program = str(TARGET / "debug/truebloom")
    sound = verdicts(program, "")
    met = {paper: traced(lambda value, paper=paper: verdicts(program, value, [paper])) for paper in PAPERS}
    overturning = {claim: [] for claim in sound}
    by_name = {fault.name: fault for fault in faults}

    def is_wanted(fault, paper):
        listed_here = any(claim.startswith(f"{paper} ") for claim in fault.rejecting)
        return fault.name in met[paper] and (listed_here or any(not found for (of, _), found in overturning.items() if of == paper))

    def one_paper(paper):
        for fault in faults:
            if not is_wanted(fault, paper):
                continue
            broken = verdicts(program, fault.name, [paper])
            others = [claim for claim, verdict in broken.items() if verdict != sound[claim]]
            for claim in others:
                overturning[claim].append(fault.name)
            print(f"{paper}, {fault.name}: {len(broken)} answers, {len(others)} of them others", flush=True)

    with ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        list(pool.map(one_paper, PAPERS))
    bad = False
    lines = ["# Made by run.py --claims: each claim of `reproduce`, and faults that change its verdict while it still has an answer (not all: a paper is left alone once each of its claims has one)."]
    for (paper, claim), found in overturning.items():
        bad |= not found
        print(f"{'overturned' if found else 'STANDS    '} {paper} {claim}: {', '.join(found)}")
        lines.append(f"{paper} {claim}: {', '.join(found)}")
    for name, fault in by_name.items():
        for claim in fault.rejecting:
            if "::" not in claim and name not in overturning.get(tuple(claim.split()), []):
                bad = True
                print(f"MISSED   {name} is listed to overturn {claim}")
    (HERE / "overturned.txt").write_text("\n".join(lines) + "\n")
    return bad


def main():
    names = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    wants = lambda what: not sys.argv[1:] or what in sys.argv[1:]
    of_functions, of_claims = listed("functions.txt"), listed("claims.txt")
    every = of_functions + of_claims
    root = TARGET / "tree"
    bad = False
    try:
        copy(root, every)
        tested = of_functions if wants("--functions") else [fault for fault in of_functions if fault.of in names]
        files = {split(test)[0] for fault in tested for test in fault.rejecting}
        if wants("--rows"):
            files |= {split(test)[0] for _, _, tests in rows() for test in tests}
        programs = binaries(root, files) if files else {}
        bad |= functions(programs, tested)
        if wants("--rows"):
            bad |= rows_reject(programs, of_functions)
        if wants("--claims"):
            bad |= claims(root, of_claims + of_functions)
    except subprocess.CalledProcessError as error:
        sys.exit(str(error))
    sys.exit(bad)


if __name__ == "__main__":
    main()
