#!/usr/bin/env bash
# Builds the wheel of the Python package, and nothing else: target/python/wheels/truebloom-*.whl.
# Needs Rust and Python 3.11 or newer; maturin, the builder, is installed into a folder of its own.
# Two to five minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")"
work=$(cd .. && pwd)/target/python

fail() {
    echo "$1" >&2
    exit 1
}

command -v cargo >/dev/null || fail 'cargo is missing: half of the package is Rust'
command -v python3 >/dev/null || fail 'python3 is missing: the package is built for it'
python3 -c 'import ensurepip, venv' 2>/dev/null || fail 'python3 cannot make environments (Debian: apt-get install python3-venv)'
python3 -m venv "$work/builder"
"$work/builder/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$(grep '^maturin==' requirements-test.txt)"
rm -rf "$work/wheels"
CARGO_TARGET_DIR="$work/cargo" "$work/builder/bin/maturin" build --release --quiet --locked --out "$work/wheels"
ls "$work"/wheels/truebloom-*.whl
