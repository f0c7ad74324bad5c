#!/bin/bash
# Runs the jobs of docs/JOBS.md on a million lines each, with truebloom and with the usual tools.
# Prints the CPU seconds, the peak memory and the number of printed lines. All files are made below
# target/.
#
#   bench/jobs.sh            takes a minute or two
#   TRUEBLOOM=target/debug/truebloom bench/jobs.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
target=${CARGO_TARGET_DIR:-target}
truebloom=${TRUEBLOOM:-$target/release/truebloom}
truebloom=$(realpath "$truebloom")
work=$target/jobs
mkdir -p "$work"
cd "$work"

# The inputs, which must not change: a million URLs, about 632,000 of them distinct; a million old
# customers; a million customers, half of them new; and a million addresses with skewed frequencies.
[ -s urls.txt ] || awk 'BEGIN { x = 7; for (i = 0; i < 1000000; i++) { x = (x * 16807) % 2147483647; k = x % 1000000; printf "https://example.org/%06d/article-%07d.html\n", (k * 7919) % 999983, k } }' > urls.txt
[ -s old.txt ] || seq -f 'customer %.0f' 1000000 > old.txt
[ -s new.txt ] || seq -f 'customer %.0f' 500001 1500000 > new.txt
[ -s skewed.txt ] || awk 'BEGIN { x = 3; for (i = 0; i < 1000000; i++) { x = (x * 16807) % 2147483647; u = x / 2147483647; printf "10.%d.0.1\n", u * u * u * 100000 } }' > skewed.txt
"$truebloom" create --force -p 1e-4 --seed 1 old.tbl old.txt > made.txt

# Prints a row: the job, the command, the CPU seconds, the peak memory and the number of printed
# lines of the best of three runs, and a remark.
row() {
    local job=$1 command=$2 remark=$3 best
    best=$(for _ in 1 2 3; do
        /usr/bin/time -o time -f '%U %S %M' bash -c "$command" > out
        awk -v lines="$(wc -l < out)" '{ printf "%.2f %.1f %d\n", $1 + $2, $3 / 1024, lines }' time
    done | sort -n | head -1)
    # shellcheck disable=SC2086
    command=${command//$truebloom/truebloom}
    # A pipe character would end the table cell.
    printf '| %s | `%s` | %s | %s | %s | %s |\n' "$job" "${command//|/\\|}" $best "$remark"
}

echo '| job | command | CPU s | peak MiB | lines printed | faults of the output |'
echo '|---|---|---|---|---|---|'
row 'each line once' "$truebloom dedup urls.txt" 'on average, at most one of a million different lines is missing'
row 'each line once' "$truebloom dedup -p 0.1% urls.txt" 'on average, at most one of a thousand different lines is missing'
row 'each line once' "$truebloom dedup --layout blocked urls.txt" 'on average, at most one of a million different lines is missing'
row 'each line once' "$truebloom dedup -p 0.1% --layout blocked urls.txt" 'on average, at most one of a thousand different lines is missing'
row 'each line once' "awk '!seen[\$0]++' urls.txt" 'none, until memory runs out'
row 'each line once' 'sort -u --parallel=1 urls.txt' 'the output is sorted, and begins only after the end of the input'
row 'only in new.txt' "$truebloom check -v old.tbl new.txt" 'on average, omits at most one new line in ten thousand'
row 'only in new.txt' 'sort --parallel=1 old.txt > a; sort --parallel=1 new.txt > b; comm -13 a b' 'the output is sorted'
row 'only in new.txt' 'grep -vxFf old.txt new.txt' 'none'
row 'only in new.txt' "awk 'NR == FNR { seen[\$0]; next } !(\$0 in seen)' old.txt new.txt" 'none, until memory runs out'
row 'ten most frequent lines' "$truebloom count -k 10 skewed.txt 2> told" 'bounds instead of exact counts if the memory is too small'
row 'ten most frequent lines' 'sort --parallel=1 skewed.txt | uniq -c | sort -rn | head' 'none'
row 'ten most frequent lines' "awk '{ n[\$0]++ } END { for (k in n) print n[k], k }' skewed.txt | sort -rn | head" 'none, until memory runs out'
row 'build a filter' "$truebloom create --force -n 1M -p 0.1% --seed 1 new.tbl new.txt" 'none'
row 'query a filter' "$truebloom check -c old.tbl new.txt" 'on average, counts at most one absent line in ten thousand as present'
