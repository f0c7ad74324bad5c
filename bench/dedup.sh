#!/bin/bash
# Compares dedup with other tools, and tests it for a long time. All files are made below target/.
#
#   bench/dedup.sh compare   CPU seconds and peak memory of dedup, huniq, runiq, sort and awk, on
#                            8 million lines, half of them distinct
#   bench/dedup.sh layouts   CPU seconds and peak memory of both layouts, in half a minute
#   bench/dedup.sh soak [N]  N distinct lines (1,000,000,000 by default): prints how many are lost,
#                            and the peak memory, which must not grow with N
#   bench/dedup.sh kills     kills a hundred processes at random moments
#
# To include huniq and runiq: cargo install --root target/peers huniq runiq
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
target=${CARGO_TARGET_DIR:-target}
work=$target/dedup
truebloom=$target/release/truebloom
mkdir -p "$work"

lines() {
    [ -s "$work/lines.txt" ] && return
    # The numbers are random, below 5,020,000; 4.0 million distinct numbers occur. The generator
    # must not change.
    awk 'BEGIN { x = 7; for (i = 0; i < 8000000; i++) { x = (x * 16807) % 2147483647; k = x % 5020000;
        printf "https://example.org/%06d/article-%07d.html?from=%07d\n", (k * 7919) % 999983, k, (k * 31) % 9999991 } }' > "$work/lines.txt"
}

# Prints a row: name, CPU seconds, megabytes per CPU second, peak memory, and the number of printed
# lines, for the best of three runs.
row() {
    local name=$1 bytes best
    shift
    bytes=$(stat -c %s "$work/lines.txt")
    best=$(for _ in 1 2 3; do
        /usr/bin/time -o "$work/time" -f '%U %S %M' "$@" < "$work/lines.txt" | wc -l > "$work/count"
        awk -v bytes="$bytes" -v count="$(cat "$work/count")" '{ printf "%.2f %.0f %.1f %d\n", $1 + $2, bytes / 1e6 / ($1 + $2), $3 / 1024, count }' "$work/time"
    done | sort -n | head -1)
    # shellcheck disable=SC2086
    printf '| %-48s | %6s | %6s | %8s | %8s |\n' "$name" $best
}

compare() {
    lines
    echo "$(wc -l < "$work/lines.txt") lines, $(sort -u "$work/lines.txt" | wc -l) distinct, $(($(stat -c %s "$work/lines.txt") / 1000000)) MB"
    printf '| %-48s | %6s | %6s | %8s | %8s |\n|-|-|-|-|-|\n' tool 'CPU s' MB/s 'peak MiB' printed
    row 'truebloom dedup -n 5M -p 0.1%' "$truebloom" dedup -n 5M -p 0.1%
    row 'truebloom dedup -n 5M -p 1e-6' "$truebloom" dedup -n 5M -p 1e-6
    row 'truebloom dedup -n 5M -p 0.1% --layout blocked' "$truebloom" dedup -n 5M -p 0.1% --layout blocked
    row 'truebloom dedup -n 5M -p 1e-6 --layout blocked' "$truebloom" dedup -n 5M -p 1e-6 --layout blocked
    row 'truebloom dedup (64 MiB, 1e-6)' "$truebloom" dedup
    row 'truebloom dedup --remember 5M -p 0.1%' "$truebloom" dedup --remember 5M -p 0.1%
    for peer in huniq 'runiq -f quick' 'runiq -f simple' 'runiq -f sorted' 'runiq -f compact'; do
        # shellcheck disable=SC2086
        if [ -x "$target/peers/bin/${peer%% *}" ]; then row "$peer" "$target/peers/bin/"$peer; fi
    done
    row 'sort -u' sort -u --parallel=1
    row "awk '!seen[\$0]++'" awk '!seen[$0]++'
}

layouts() {
    echo '| lines | rate | layout | CPU s | peak MiB |'
    echo '|---|---|---|---|---|'
    for count in 2000000 20000000; do
        seq $((1000000000 + 1)) $((1000000000 + count)) > "$work/numbers.txt"
        for rate in 0.1% 1e-6; do
            for layout in standard blocked; do
                for _ in 1 2 3; do
                    /usr/bin/time -o "$work/time" -f '%U %S %M' "$truebloom" dedup -n "$count" -p "$rate" --layout "$layout" < "$work/numbers.txt" > "$work/kept"
                    awk '{ printf "%.2f %.0f\n", $1 + $2, $3 / 1024 }' "$work/time"
                done | sort -n | head -1 | awk -v row="| $count | $rate | $layout" '{ print row " | " $1 " | " $2 " |" }'
            done
        done
    done
    rm "$work/numbers.txt"
}

soak() {
    local count=${1:-1000000000}
    seq "$count" | /usr/bin/time -f '%U user %S system seconds, peak %M KiB' "$truebloom" dedup --memory 16MiB -p 0.1% -c --report > "$work/kept"
    echo "lost: $((count - $(cat "$work/kept")))"
}

case ${1:-} in
    compare) compare ;;
    layouts) layouts ;;
    soak) soak "${2:-}" ;;
    kills) DEDUP_KILLS=100 cargo test -p truebloom-cli --test dedup kill ;;
    *) sed -n '2,9s/^# \{0,1\}//p' "$0" ;;
esac
