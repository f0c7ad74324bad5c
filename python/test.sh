#!/usr/bin/env bash
# The Python package, from an empty folder: an environment, the wheel, and everything that is promised of it. `python/test.sh quick` leaves Spark and Dask out.
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
if [[ $mode == all ]] && ! command -v java >/dev/null; then
    # A test that is left out must not look like one that passed.
    fail 'java is missing: Spark runs in it (Debian: apt-get install openjdk-17-jre-headless); `python/test.sh quick` needs none'
fi

step 'an environment with binary packages'
python3 -m venv "$work/venv"
. "$work/venv/bin/activate"
# Binary packages alone: a source package would be compiled for a long time without a word. pyspark has no binary one.
python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-binary pyspark -r requirements-test.txt

step 'formats and lints'
(cd "$root/crates/python" && cargo fmt -- --check && CARGO_TARGET_DIR="$work/cargo" cargo clippy --quiet --locked --all-targets -- -D warnings)

step 'the wheel'
CARGO_TARGET_DIR="$work/cargo" maturin build --release --quiet --locked --out "$work/wheels"
wheel=$(ls -t "$work"/wheels/truebloom-*.whl | head -n 1)
ls -l "$wheel"
# Into an environment that has nothing else: it needs nothing.
python3 -m venv --clear "$work/bare"
"$work/bare/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
(cd "$work" && bare/bin/python -c 'import truebloom; f = truebloom.BloomFilter(10, 0.01); assert f.add("a") and "a" in f and f.contains_many(["a"]) == [True]')
(cd "$work" && bare/bin/python -m truebloom --version)
pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "$wheel"
[[ ! -e truebloom/_truebloom.abi3.so ]] || rm truebloom/_truebloom.abi3.so

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

[[ $mode == all ]] || exit 0
step 'Dask, with two processes'
pytest -c "$root/python/pyproject.toml" --rootdir "$root/python" "$tests/clusters/test_dask.py"
step 'Spark, in this process and with executors of their own'
pytest -c "$root/python/pyproject.toml" --rootdir "$root/python" "$tests/clusters/test_spark.py"
python3 "$tests/clusters/executors.py"
