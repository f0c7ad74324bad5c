#!/usr/bin/env python3
"""Plants a fault in each function that docs/PAPERS.md names, and shows what rejects it: the tests named beside it in functions.txt, and the claims of `reproduce`.

    crates/math/tests/faults/run.py              all of it (a quarter of an hour)
    crates/math/tests/faults/run.py NAME...      some functions only, without the claims
    crates/math/tests/faults/run.py --claims     the claims only

The tree itself is not touched: a copy gets all faults at once, each behind a switch that an environment variable turns on, so that one build serves them all. Exits with 1 where a fault is missed by a test that is
named, or a claim rejects no fault at all.
"""

import csv
import io
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[3]
SWITCH = '''
/// Faults for tests, planted by a script.
#[doc(hidden)]
#[allow(missing_docs)]
pub mod fault {
    extern crate std;
    use core::cell::Cell;
    std::thread_local! { static INSIDE: Cell<bool> = const { Cell::new(false) }; }
    static NAME: std::sync::OnceLock<std::string::String> = std::sync::OnceLock::new();
    /// Whether this fault is on, and not at work already.
    pub fn enter(name: &str) -> bool {
        NAME.get_or_init(|| std::env::var("TRUEBLOOM_FAULT").unwrap_or_default()) == name && INSIDE.with(|inside| !inside.replace(true))
    }
    pub fn leave() {
        INSIDE.with(|inside| inside.set(false));
    }
}
'''


def listed():
    for line in (HERE / "functions.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            function, place, instead, tests = line.split(" ~ ")
            path, name = place.split()
            yield function, path, name, instead, [test.strip() for test in tests.split(",")]


def plant(root, faults):
    """Each fault at the head of its function. What is as it was keeps its time, so that it is not built again."""
    texts = {}

    def text_of(source):
        return texts.get(source) or (PROJECT / source.relative_to(root)).read_text()

    for function, path, name, instead, _ in faults:
        source = root / "crates/math/src" / path
        text = text_of(source)
        # The signature ends with the first brace after its return type, at the end of a line.
        head = re.search(r"\n *(?:pub )?fn " + name + r"(?:<.+?>)?\([^{};]*?-> [^{}\n]*(?:\{\n)", text)
        if not head:
            sys.exit(f"{function}: no function `{name}` in {path}")
        body = f'if crate::fault::enter("{function}") {{ let found = {instead}; crate::fault::leave(); return found; }}\n'
        texts[source] = text[: head.end()] + body + text[head.end() :]
    library = root / "crates/math/src/lib.rs"
    texts[library] = text_of(library) + SWITCH
    for source, text in texts.items():
        source.parent.mkdir(parents=True, exist_ok=True)
        if not source.exists() or source.read_text() != text:
            source.write_text(text)


def cargo(root, *arguments, **options):
    environment = dict(os.environ, CARGO_TARGET_DIR=str(PROJECT / "target/papers-faults"), CARGO_INCREMENTAL="0", RUSTFLAGS="-Awarnings")
    return subprocess.run(["cargo", *arguments], cwd=root, env=environment, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


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


def verdicts(program, fault):
    """Claims with their verdicts; none where a number could not be found."""
    environment = dict(os.environ, TRUEBLOOM_FAULT=fault)
    found = {}
    for paper in ["burns", "grandi", "lehr", "kirsch-mitzenmacher", "dozier"]:
        done = subprocess.run([program, "reproduce", paper, "--csv"], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=600)
        for row in csv.DictReader(io.StringIO(done.stdout)):
            found[paper, row["id"]] = row["verdict"]
    return found


def main():
    only_claims = sys.argv[1:] == ["--claims"]
    faults = [fault for fault in listed() if len(sys.argv) < 2 or only_claims or fault[0] in sys.argv[1:]]
    root = PROJECT / "target/papers-faults/tree"
    planted = {root / "crates/math/src" / fault[1] for fault in listed()} | {root / "crates/math/src/lib.rs"}
    bad = False
    try:
        root.mkdir(parents=True, exist_ok=True)
        files = subprocess.run(["git", "ls-files", "-z", "Cargo.toml", "Cargo.lock", "rustfmt.toml", "README.md", "CHANGELOG.md", "LICENSE-*", "crates", "bench", "docs", "fuzz", "data"], cwd=PROJECT, check=True, stdout=subprocess.PIPE).stdout
        plain = [file for file in files.decode().split("\0") if file and root / file not in planted]
        subprocess.run(["xargs", "-0", "cp", "-pu", "--parents", "-t", str(root)], input="\0".join(plain).encode(), cwd=PROJECT, check=True)
        (root / "crates/math/src").mkdir(parents=True, exist_ok=True)
        plant(root, list(listed()))
        tested = [] if only_claims else faults
        programs = binaries(root, {test.split("::")[0] for fault in tested for test in fault[4]}) if tested else {}
        for function, _, _, _, tests in tested:
            for test in tests:
                file, _, name = test.partition("::")
                if fails(programs[file], name, ""):
                    sys.exit(f"{test} fails without a fault")
                rejected = fails(programs[file], name, function)
                bad |= not rejected
                print(f"{'rejected' if rejected else 'MISSED  '} {function} by {test}", flush=True)
        if len(sys.argv) < 2 or only_claims:
            bad |= claims(root, [fault[0] for fault in faults])
    except subprocess.CalledProcessError as error:
        sys.exit(str(error))
    sys.exit(bad)


def claims(root, faults):
    """Whether some claim has the same verdict whatever is broken."""
    cargo(root, "build", "-q", "-p", "truebloom-cli")
    program = str(PROJECT / "target/papers-faults/debug/truebloom")
    sound = verdicts(program, "")
    rejecting = {claim: [] for claim in sound}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        all_broken = list(pool.map(lambda fault: verdicts(program, fault), faults))
    for fault, broken in zip(faults, all_broken):
        for claim, verdict in sound.items():
            if broken.get(claim) != verdict:
                rejecting[claim].append(fault)
    for (paper, claim), found in rejecting.items():
        print(f"{'rejects ' if found else 'MISSES  '} {paper} {claim}: {', '.join(found) or 'every fault passes'}")
    return any(not found for found in rejecting.values())


if __name__ == "__main__":
    main()
