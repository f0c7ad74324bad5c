#!/usr/bin/env bash
# Plants one fault in each scheme and shows that the contract test rejects it. The tree itself is not touched: a copy is broken.
#
#   crates/filter/tests/faults/run.sh [SCHEME...]      all of them take some minutes
#
# Each fault changes the rate or the set of positions at the sizes of the test by more than the power printed there; a fault that only renames positions (h2 -> -h2, or i^2 scaled by
# a unit) would change no rate, and no statistical test could see it: the golden positions do.
set -euo pipefail
cd "$(dirname "$0")/../../../.."
project=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$project/target}/faults

# scheme, test, file, what stands there, what is planted, why it must show
faults() {
    cat <<'LIST'
standard~unconditional~standard.rs~Ok(Standard { law, bits, probes, draws~let bits = bits - bits / 12; Ok(Standard { law, bits, probes, draws~a twelfth of the bits is never used
classic~unconditional~classic.rs~if self.drawn.insert(position) {~if self.drawn.insert(position) || position > 0 {~positions may repeat
partitioned~unconditional~partitioned.rs~words.below(length)~words.below(length) / 2 * 2 % length~odd positions of a slice are never taken
double~residues_are_uniform_together unconditional~progression.rs~(h1, lowest + words.below(bits - lowest))~(h1, lowest + h1 % (bits - lowest))~h2 follows from h1
double-nonzero~all_pairs residues_are_uniform unconditional~double.rs~DoubleNonzero, 1,~DoubleNonzero, 0,~h2 may be 0
square~all_pairs unconditional~square.rs~[1, 2, 0]~[1, 0, 0]~plain double hashing
cube~all_pairs unconditional~cube.rs~[1, 6, 6]~[1, 6, 0]~squares
enhanced~all_pairs unconditional~enhanced.rs~[0, 1, 1]~[0, 1, 0]~squares
blocked~hits_follow blocks_and_positions~in_lines.rs~let (line, rest) = digit(hash.h1, self.lines);~let (line, rest) = digit(hash.h1, self.lines); let line = line / 2 * 2;~odd blocks are never drawn
partition-double~unconditional~partition_double.rs~self.in_slices(self.residues(hash))~self.in_slices((self.residues(hash).0, 0))~h2 is never used
LIST
}

# With their times, so that only what is broken is built anew.
git ls-files -z Cargo.toml Cargo.lock rustfmt.toml crates bench | xargs -0 cp -p --parents -t "$copy"
missed=0
while IFS='~' read -r scheme tests file stands planted why <&3; do
    if [ $# -gt 0 ] && [[ " $* " != *" $scheme "* ]]; then continue; fi
    source=$copy/crates/filter/src/scheme/$file
    grep -qF -- "$stands" "$source" || { echo "$scheme: the place of the fault is gone from $file" >&2; exit 2; }
    STANDS=$stands PLANTED=$planted perl -0pi -e 's/\Q$ENV{STANDS}\E/$ENV{PLANTED}/' "$source"
    # The contract test of blocked filters is a suite of its own.
    suite=acceptance
    if [ "$scheme" = blocked ]; then suite=blocked_law; fi
    (cd "$copy" && cargo test -q -p truebloom --test $suite --no-run)
    status=0
    # shellcheck disable=SC2086 # several names of tests
    (cd "$copy" && ACCEPTANCE_SCHEME=$scheme cargo test -q -p truebloom --test $suite -- $tests) > "$copy/log" 2>&1 || status=$?
    cp "crates/filter/src/scheme/$file" "$source"
    if [ $status = 0 ]; then
        echo "MISSED   $scheme: $why"
        missed=1
    else
        grep -q 'test result: FAILED' "$copy/log" || { cat "$copy/log" >&2; exit 2; }
        echo "rejected $scheme: $why ($(grep -cE '^ +[a-z_:]+$' "$copy/log") of the tests $tests fail)"
    fi
done 3< <(faults)
exit $missed
