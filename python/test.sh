#!/usr/bin/env bash
# The Python package, from an empty folder: an environment, the wheel, and everything that is
# promised of it. `python/test.sh quick` leaves Spark and Dask out. What is missing is an error: a
# test that is left out must not look like one that passed.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd .. && pwd)
work=$root/target/python
mode=${1:-all}
[[ $mode == all || $mode == quick ]] || { echo "\`$mode\` is no mode: all (the default) or quick" >&2; exit 1; }

step() {
    printf '\n=== python: %s\n' "$1"
}

fail() {
    echo "$1" >&2
    exit 1
}

command -v python3 >/dev/null || fail 'python3 is missing: the package is built for it and tested in it'
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "python3 is $(python3 -V), but must be 3.11 or newer"
python3 -c 'import ensurepip, venv' 2>/dev/null || fail 'python3 cannot make environments (Debian: apt-get install python3-venv)'
command -v cargo >/dev/null || fail 'cargo is missing: half of the package is Rust'
if [[ $mode == all ]]; then
    java=$(java -version 2>&1 | sed -nE '1s/.*"([0-9]+).*/\1/p') || true
    [[ ${java:-0} -ge 17 ]] || fail 'java 17 or newer is missing: Spark runs in it (Debian: apt-get install openjdk-17-jre-headless); `python/test.sh quick` needs none'
fi

step 'an environment with binary packages'
python3 -m venv --clear "$work/venv"
. "$work/venv/bin/activate"
# Binary packages alone: a source package would be compiled for a long time without a word. pyspark
# has no binary one.
python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-binary pyspark -r requirements-test.txt

step 'formats and lints'
# With the profile of the wheel: its build scripts and macros are built once.
(cd tests/rust && cargo fmt -- --check)
(cd "$root/crates/python" && cargo fmt -- --check && CARGO_TARGET_DIR="$work/cargo" cargo clippy --release --quiet --locked --all-targets -- -D warnings)

step 'the wheel'
./build.sh
wheel=$(ls -t "$work"/wheels/truebloom-*.whl | head -n 1)
ls -l "$wheel"
# Into an environment that has nothing else: it needs nothing.
python3 -m venv --clear "$work/bare"
"$work/bare/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
(cd "$work" && bare/bin/python -c 'import truebloom; f = truebloom.BloomFilter(10, 0.01); assert f.add("a") and "a" in f and f.contains_many(["a"]) == [True]')
(cd "$work" && bare/bin/python -m truebloom --version)
pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "$wheel"
[[ ! -e truebloom/_truebloom.abi3.so ]] || rm truebloom/_truebloom.abi3.so
# One wheel for every later Python: those that are here.
for newer in python3.12 python3.13 python3.14; do
    "$newer" -c 'import ensurepip' 2>/dev/null || continue
    "$newer" -m venv --clear "$work/newer" && "$work/newer/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
    (cd "$work" && newer/bin/python -c 'import sys, truebloom; f = truebloom.BloomFilter(10, 0.01); assert f.add("a") and ("b", 1) not in f; print("also in Python", sys.version.split()[0])')
done

step 'a program in Rust, for keys that all languages have'
CARGO_TARGET_DIR="$work/cargo" cargo build --quiet --locked --manifest-path tests/rust/Cargo.toml
export TRUEBLOOM_KEYS_IN_RUST=$work/cargo/debug/keys-in-rust

# From here on the installed package, not the folder: the tests run elsewhere.
cd "$work"
export PYTHONPATH= TRUEBLOOM_ROOT=$root
tests=$root/python/tests

step 'types'
mypy --strict --config-file "$root/python/pyproject.toml" -p truebloom
mypy --strict --config-file "$root/python/pyproject.toml" "$tests/typed.py"
stubtest --mypy-config-file "$root/python/pyproject.toml" --allowlist "$tests/stubtest.txt" truebloom._truebloom

step 'unit tests, the examples of the docs, the border'
pytest -c "$root/python/pyproject.toml" --rootdir "$root/python" "$tests" --ignore "$tests/clusters"
python3 "$tests/run_examples.py" "$root/python/README.md"
python3 "$tests/fuzz_border.py" 200000 1

finish() {
    printf '\n=== python: all passed, in %d s (%s)\n' "$SECONDS" "$mode"
    exit 0
}

[[ $mode == all ]] || finish
step 'Dask, with two processes'
pytest -c "$root/python/pyproject.toml" --rootdir "$root/python" "$tests/clusters/test_dask.py"
step 'Spark, in this process and with executors of their own'
pytest -c "$root/python/pyproject.toml" --rootdir "$root/python" "$tests/clusters/test_spark.py"
python3 "$tests/clusters/executors.py"
finish
