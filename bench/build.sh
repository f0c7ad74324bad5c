#!/usr/bin/env bash
# Measures the CPU seconds of a clean release build of the library as a dependency, compared with
# fastbloom: `bench/build.sh [ROUNDS]` takes some minutes. The builds of the two libraries
# alternate, so that other work on the machine affects both equally.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CARGO_INCREMENTAL=0

# Makes a program with one dependency, which is the second argument.
program() {
    mkdir -p "$work/$1/src"
    echo 'fn main() {}' >"$work/$1/src/main.rs"
    printf '[package]\nname = "program"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n[dependencies]\n%s\n' "$2" >"$work/$1/Cargo.toml"
    (cd "$work/$1" && cargo fetch --quiet)
}

program fastbloom 'fastbloom = "0.17"'
program truebloom "truebloom = { path = \"$root/crates/filter\" }"
program truebloom-alone "truebloom = { path = \"$root/crates/filter\", default-features = false }"

for ((round = 0; round < ${1:-3}; round++)); do
    for name in fastbloom truebloom truebloom-alone; do
        rm -rf "$work/target"
        before=$(cut -d' ' -f16,17 "/proc/$$/stat" | awk '{ print $1 + $2 }')
        (cd "$work/$name" && cargo build --quiet --release --offline --target-dir "$work/target")
        after=$(cut -d' ' -f16,17 "/proc/$$/stat" | awk '{ print $1 + $2 }')
        crates=$(cd "$work/$name" && cargo tree --offline --edges normal,build --prefix none --no-dedupe | sort -u | wc -l)
        awk -v name="$name" -v ticks="$((after - before))" -v hz="$(getconf CLK_TCK)" -v crates="$((crates - 1))" 'BEGIN { printf "%-16s %5.1f CPU s (%d crates)\n", name, ticks / hz, crates }'
    done
done
