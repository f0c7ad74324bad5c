#!/bin/sh
# Builds truebloom and keeps its promise on the 104,334 words of data/american-english.gz.
# The seeds are fixed so that everyone sees what the README shows; leave them out and the numbers will scatter.
set -eu
cd "$(dirname "$0")/.."
cargo build --release --package truebloom-cli
PATH="$(cd "${CARGO_TARGET_DIR:-target}" && pwd)/release:$PATH"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
gzip -dc data/american-english.gz > "$folder/words.txt"
cd "$folder"

show() {
    printf '$ %s\n' "$*"
    "$@"
    printf '\n'
}

show truebloom plan -n 104334 -p 0.1%
show truebloom create -n 104334 -p 0.1% --seed 1 words.tbl words.txt
printf '$ printf "bloom\\nblooom\\nfilter\\n" | truebloom check words.tbl\n'
printf 'bloom\nblooom\nfilter\n' | truebloom check words.tbl
printf '\n'
show truebloom verify --queries 20M --query-seed 1 words.tbl
