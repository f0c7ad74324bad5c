#!/usr/bin/env bash
# Plants faults, one at a time, and shows that the tests named beside each reject it. The tree
# itself is not touched: a copy is broken.
#
#   crates/filter/tests/faults/run.sh schemes [NAME...] the contract test: one fault in each scheme
#   (some minutes), and faults that the families of structured keys reject
#   crates/filter/tests/faults/run.sh adoption [NAME...] views, packs, updates in
#   place, builders, families, serde, snapshots (a quarter of an hour)
#
# Each fault of a scheme changes the rate or the set of positions at the sizes of the test by more
# than the power printed there; a fault that only renames positions (h2 -> -h2, or i^2 scaled by a
# unit) would change no rate, and no statistical test could see it: the golden positions do.
set -euo pipefail
cd "$(dirname "$0")/../../../.."
project=$PWD
list=$project/crates/filter/tests/faults/${1:-schemes}.txt
shift || true
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$project/target}/faults

# With their times, so that only what is broken is built anew.
git ls-files -z Cargo.toml Cargo.lock rustfmt.toml README.md crates bench | xargs -0 cp -p --parents -t "$copy"
missed=0
while IFS='~' read -r name suites tests file stands planted why <&3; do
    case $name in '#'*) continue ;; esac
    if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
    source=$copy/crates/filter/src/$file
    broken=$(STANDS=${stands//\\n/$'\n'} PLANTED=${planted//\\n/$'\n'} perl -0pe '$found += s/\Q$ENV{STANDS}\E/$ENV{PLANTED}/; END { exit !$found }' "$source") ||
        { echo "$name: the place of the fault is gone from $file" >&2; exit 2; }
    printf '%s\n' "$broken" > "$source"
    # shellcheck disable=SC2086 # several words
    (cd "$copy" && cargo test -q -p truebloom --all-features $suites --no-run)
    status=0
    # shellcheck disable=SC2086
    (cd "$copy" && ACCEPTANCE_SCHEME=$name timeout 300 cargo test -q -p truebloom --all-features --no-fail-fast $suites -- $tests) > "$copy/log" 2>&1 || status=$?
    cp "crates/filter/src/$file" "$source"
    if [ $status = 0 ]; then
        echo "MISSED   $name: $why"
        missed=1
    else
        grep -qE 'test result: FAILED|SIGABRT|overflow' "$copy/log" || { cat "$copy/log" >&2; exit 2; }
        echo "rejected $name: $why ($(grep -cE '^ +[a-z_:]+$' "$copy/log") of the tests $tests fail)"
    fi
done 3< "$list"
exit $missed
