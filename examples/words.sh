#!/bin/sh
# Builds truebloom, and tries it on 1,000 words of data/american-english.gz: every 104th of 104,334
# words. The seeds are fixed, so the output is the same as in the README. Without fixed seeds, the
# numbers vary.
set -eu
cd "$(dirname "$0")/.."
cargo build --release --package truebloom-cli
PATH="$(cd "${CARGO_TARGET_DIR:-target}" && pwd)/release:$PATH"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
gzip -dc data/american-english.gz | awk 'NR % 104 == 0 && NR <= 104000' > "$folder/words.txt"
cd "$folder"

show() {
    printf '$ %s\n' "$1"
    sh -c "$1"
}

show 'truebloom plan -n 1000 -p 1e-6'
echo
show 'truebloom create -n 1000 -p 1e-6 --seed 1 words.tbl words.txt'
echo
show 'printf "backboards\nblooom\n" | truebloom check words.tbl'
echo
show 'truebloom verify --queries 100M --query-seed 1 words.tbl'
echo
show "truebloom audit --table -n 1000 -p 1e-6 | grep -E '^(library|guava|redisbloom |bloomfilter|rbloom|fastbloom|truebloom)'"
