#!/bin/bash
# Measures the command on 488 MB of lines. All files are made below target/.
#
#   bench/command.sh threads [ROUNDS]  elapsed and CPU seconds: medians of 7 or ROUNDS rounds
#   bench/command.sh shares            CPU seconds in total and of the busiest thread, by `perf`
#   bench/command.sh memory            peak memory of each verb, with 64 MiB of bits or counters
# `threads` and `shares` measure each verb with -j 1 and -j 2.
#
# `threads` interleaves the rounds, and also prints the least times. The busiest thread of `shares`
# shows the elapsed time on free processors; other work on the machine hardly affects this number.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
work=${CARGO_TARGET_DIR:-target}/command
truebloom=$(realpath "${CARGO_TARGET_DIR:-target}/release/truebloom")
mkdir -p "$work"
cd "$work"

# Makes 8 million lines, half of them distinct, as in bench/dedup.sh. The first 4 million lines are
# also written in other formats.
inputs() {
    [ -s lines.gz ] && return
    awk 'BEGIN { x = 7; for (i = 0; i < 8000000; i++) { x = (x * 16807) % 2147483647; k = x % 5020000;
        printf "https://example.org/%06d/article-%07d.html?from=%07d\n", (k * 7919) % 999983, k, (k * 31) % 9999991 } }' > lines.txt
    head -4000000 lines.txt | awk '{ printf "{\"id\":%d,\"url\":\"%s\",\"t\":1.5}\n", NR, $0 }' > lines.json
    head -4000000 lines.txt | awk 'BEGIN { print "id,url" } { printf "%d,%s\n", NR, $0 }' > lines.csv
    head -c 20000000 /dev/zero | tr '\0' '\n' > blank.txt
    gzip -1 -c lines.txt > lines.gz
}

filters() {
    for size in small:5M large:60M; do
        "$truebloom" create --force -n "${size#*:}" -p 1% --seed 1 "${size%:*}.tbl" lines.txt > made
    done
}

# Prints the median and the least of a column of numbers.
figure() {
    sort -n | awk '{ x[NR] = $1 } END { printf " %5.2f (%.2f) |", x[int((NR + 1) / 2)], x[1] }'
}

load() {
    awk '{ print $1 }' /proc/loadavg
}

# Prints a row for a verb with its options. The runs with -j 1 and -j 2 alternate.
row() {
    local verb=$1 round threads
    rm -f times.*
    shift
    for ((round = 0; round < rounds; round++)); do
        for threads in 1 2; do
            /usr/bin/time -q -o "times.$threads" -a -f '%e %U %S' "$truebloom" "$verb" -j "$threads" "$@" > /dev/null 2> told || true
        done
    done
    printf '| %-52s |' "$verb $*"
    for threads in 1 2; do
        awk '{ print $1 }' "times.$threads" | figure
        awk '{ print $2 + $3 }' "times.$threads" | figure
    done
    echo
}

rows() {
    "$1" check small.tbl lines.txt
    "$1" check -v small.tbl lines.txt
    "$1" check large.tbl lines.txt
    "$1" check small.tbl --json-field .url lines.json
    "$1" check small.tbl --csv --column url lines.csv
    "$1" check small.tbl lines.gz
    "$1" create --force -n 5M -p 1% made.tbl lines.txt
    "$1" create --force -n 5M -p 1% made.tbl --json-field .url lines.json
    "$1" create --force -n 60M -p 1% made.tbl lines.txt
    "$1" dedup -n 5M -p 0.1% lines.txt
    "$1" dedup --memory 64MiB -p 1e-6 lines.txt
    "$1" dedup -n 5M -p 0.1% --json-field .url lines.json
    "$1" count -k 10 lines.txt
    "$1" count -k 10 --json-field .url lines.json
}

threads() {
    rounds=${1:-7}
    inputs
    filters
    echo "$(nproc) processors, load $(load) before; medians of $rounds rounds (and the least)"
    echo '| | -j 1: elapsed s | CPU s | -j 2: elapsed s | CPU s |'
    echo '|-|-|-|-|-|'
    rows row
    echo "load $(load) after"
}

# Prints a row: CPU seconds in total and of the busiest thread, in the fastest of three runs.
share() {
    local verb=$1 threads
    shift
    printf '| %-52s |' "$verb $*"
    for threads in 1 2; do
        for _ in 1 2 3; do
            perf record -q -e cpu-clock -F 4000 -o samples "$truebloom" "$verb" -j "$threads" "$@" > /dev/null 2> told || true
            perf script -i samples -F tid 2> told | sort | uniq -c | awk '{ all += $1; if ($1 > most) most = $1 } END { printf " %5.2f | %5.2f |\n", all / 4000, most / 4000 }'
        done | sort -n | head -1 | tr -d '\n'
    done
    echo
}

shares() {
    inputs
    filters
    echo '| | CPU s -j 1 | busiest thread | CPU s -j 2 | busiest thread |'
    echo '|-|-|-|-|-|'
    rows share
}

# Prints a row: the peak memory of a verb.
peak() {
    /usr/bin/time -q -o peak -f '%M' "$truebloom" "$@" > /dev/null 2> told || true
    printf '| %-70s | %7.1f |\n' "$*" "$(awk 'END { print $1 / 1024 }' peak)"
}

memory() {
    inputs
    # The filter has 64 MiB of bits. dedup and count get the same memory.
    echo '| | peak MiB |'
    echo '|-|-|'
    peak --version
    peak create --force -m 64MiB -n 50M one.tbl lines.txt
    peak create --force -m 64MiB -n 50M one.tbl lines.txt -j 2
    peak create --force -m 64MiB -n 50M one.tbl lines.txt -j 8
    peak create --force -m 64MiB -n 50M one.tbl lines.gz
    peak create --force -m 64MiB -n 50M blocked.tbl --layout blocked lines.txt
    peak insert one.tbl lines.txt
    peak insert one.tbl lines.txt -j 2
    peak check one.tbl lines.txt
    peak check one.tbl lines.txt -j 2
    peak check one.tbl lines.txt -j 8
    peak check one.tbl blank.txt
    peak check one.tbl blank.txt -j 8
    peak info one.tbl
    peak verify one.tbl
    "$truebloom" copy --force --empty one.tbl two.tbl > made
    peak merge --force merged.tbl one.tbl two.tbl
    peak copy --force one.tbl two.tbl
    peak dedup --memory 64MiB lines.txt
    peak dedup --memory 64MiB lines.txt -j 2
    peak dedup --memory 64MiB --state state.tbl lines.txt
    rm -f state.tbl
    peak count --memory 64MiB lines.txt
    peak count --memory 64MiB lines.txt -j 2
}

case ${1:-} in
    threads) threads "${2:-}" ;;
    shares) shares ;;
    memory) memory ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$OLDPWD/bench/command.sh" ;;
esac
