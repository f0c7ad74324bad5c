#!/usr/bin/env bash
# Tests every verb that writes a file with crashes and faults, and prints a table of violations:
#
#   bench/crash.sh [TRIALS] [SEED]     2000 trials by default
#
# Each trial prepares files, causes a fault at a random moment, and checks the files that are left.
# The kinds of violations:
#
# damaged: the file is missing, or is neither the old file nor a complete new file.
#
# lost: a change that the program acknowledged is not in the file.
#
# left: a temporary file that the next run does not remove. After any fault except SIGKILL, every
# temporary file is a violation.
#
# lied: the exit code does not say what happened. The exit code is 0 without the change, or it is
# not 0 although the change was made and no message says so. A panic (101) and a signal that the
# program raises itself (134, 139) also count.
#
# The exit code is 1 if there was a violation. The program is $TRUEBLOOM; by default,
# target/release/truebloom is built. The script needs bash and coreutils. If it is allowed to mount
# a small tmpfs, this is used as the full disk.
set -u
trials=${1:-2000} RANDOM=${2:-1}
root=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${TRUEBLOOM:-}" ]; then
    cargo build --quiet --release -p truebloom-cli --manifest-path "$root/Cargo.toml" || exit 2
    TRUEBLOOM=${CARGO_TARGET_DIR:-$root/target}/release/truebloom
fi
T=$TRUEBLOOM
folder=$(mktemp -d) && cd "$folder" || exit 2
disk=
clean() { [ -z "$disk" ] || umount "$disk"; rm -rf "$folder"; }
trap clean EXIT

declare -A done_of bad_of
examples=()
violation() { # case kind details
    bad_of["$1 $2"]=$((${bad_of["$1 $2"]:-0} + 1))
    [ ${#examples[@]} -ge 20 ] || examples+=("$1, $2: ${*:3}")
}

# The files with which every trial begins; they are made once.
mkdir made
(cd made && seq 20000 > in && seq 20001 20100 > more && for n in 1 2; do "$T" count -o s$n --seed 5 --memory 4MiB in; done
    "$T" create -m 4MiB -n 1M --seed 1 F in; "$T" copy F G; seq 30000 30999 | "$T" insert G; seq 20000 | "$T" dedup --memory 4MiB --seed 1 --state S) > /dev/null 2>&1
verbs=(insert clear copy merge create count count-merge dedup)
file_of() { case $1 in count|count-merge) echo N ;; dedup) echo S ;; *) echo F ;; esac; }
# Replaces the subshell by the verb, so that the process id of the subshell can be used to kill it.
verb() {
    case $1 in
    insert) exec "$T" insert F more ;;
    clear) exec "$T" clear F ;;
    copy) exec "$T" copy --force G F ;;
    merge) exec "$T" merge --force F F G ;;
    create) exec "$T" create --force -m 4MiB -n 1M --seed 2 F more ;;
    count) exec "$T" count --force -o N --seed 5 --memory 4MiB more ;;
    count-merge) exec "$T" count merge --force N s1 s2 ;;
    dedup) exec "$T" dedup --state S --checkpoint 20ms more ;;
    esac
}
# Whether the file has the contents that the verb writes.
changed() { # verb
    case $1 in
    insert) [ "$("$T" check -c F more)" = 100 ] ;;
    clear) [ "$("$T" info --json F | grep -c '"offered":0,')" = 1 ] ;;
    copy | merge) [ "$(echo 30500 | "$T" check -c F)" = 1 ] ;;
    create) [ "$(echo 5 | "$T" check -c F)" = 0 ] ;;
    count | count-merge) ! cmp -s N before ;;
    dedup) [ "$("$T" dedup --state S --count more 2> /dev/null)" = 0 ] ;;
    esac
}
prepare() { # verb
    rm -rf trial && cp -R made trial && cd trial || exit 2
    cp s1 N
    cp "$(file_of "$1")" before
}
temporaries() { find . -maxdepth 1 -name '.truebloom-*' | wc -l; }
# Checks that the file is complete. It must be the old file if the exit code says that nothing was
# written, and the new file if the exit code is 0.
judge() { # case verb code
    local file
    file=$(file_of "$2")
    case $3 in 101 | 134 | 135 | 136 | 139) violation "$1" lied "$2: exit $3" ;; esac
    if ! "$T" doctor "$file" > /dev/null 2>&1; then violation "$1" damaged "$2: exit $3"; return; fi
    if [ "$3" = 0 ]; then
        changed "$2" || violation "$1" lied "$2: exit 0, but nothing changed"
    elif [ "$3" != 137 ] && [ "$2" != dedup ] && ! cmp -s "$file" before && ! grep -qs "written all the same\|has them all" told; then
        violation "$1" lied "$2: exit $3, but the file changed"
    fi
}
moment() { sleep "0.$(printf %04d $((RANDOM % 1200)))"; }

kills() {
    local v=$1 code
    ( verb "$v" ) > out 2> told & moment; kill -KILL $! 2> /dev/null; wait $! 2> /dev/null; code=$?
    judge kill "$v" $code
    # The next run in the folder.
    "$T" copy --force G H > /dev/null
    [ "$(temporaries)" = 0 ] || violation kill left "$v"
}
signals() {
    local v=$1 signals=(INT TERM HUP) code
    ( verb "$v" ) > out 2> told & moment; kill -${signals[RANDOM % 3]} $! 2> /dev/null; wait $! 2> /dev/null; code=$?
    judge signal "$v" $code
    # If the signal comes before the program has set up its handlers, it ends the program at once.
    # At this time there is no temporary file.
    [ "$(temporaries)" = 0 ] || violation signal left "$v: exit $code"
}
full() {
    local v=$1 code
    if [ -n "$disk" ]; then
        rm -rf "${disk:?}"/* && cp -R . "$disk/t" || exit 2
        local room=$(( $(df --output=avail -k "$disk" | tail -1) - 1 - RANDOM % 6000 ))
        [ $room -gt 0 ] && head -c "${room}K" /dev/zero > "$disk/filler"
        pushd "$disk/t" > /dev/null || exit 2
        ( verb "$v" ) > /dev/null 2> "$folder/told"; code=$?
        cp "$folder/told" told 2> /dev/null
    else
        pushd . > /dev/null
        ( ulimit -f $((RANDOM % 2000)); verb "$v" ) > /dev/null 2> told; code=$?
    fi
    judge full "$v" $code
    [ "$(temporaries)" = 0 ] || violation full left "$v"
    popd > /dev/null || exit 2
}
memory() {
    local v=$1 code
    ( ulimit -v $((12000 + RANDOM * 2)); verb "$v" ) > out 2> told; code=$?
    # If there is no memory for the program's libraries, the loader exits with 127.
    case $code in 0 | 2 | 127) ;; *) violation memory lied "$v: exit $code" ;; esac
    "$T" doctor "$(file_of "$v")" > /dev/null 2>&1 || violation memory damaged "$v"
    "$T" copy --force G H > /dev/null
    [ "$(temporaries)" = 0 ] || violation memory left "$v"
}
replaced() {
    local v=$1 file code inode
    file=$(file_of "$v")
    cp before other && printf 'x' >> other
    inode=$(stat -c %i "$file")
    ( verb "$v" ) > out 2> told &
    # Wait until the verb has locked the file. Before that, a verb with --force may replace any
    # file.
    until grep -q ":$inode " /proc/locks || ! kill -0 $! 2> /dev/null; do :; done
    moment; mv other "$file"; wait $! 2> /dev/null; code=$?
    # The other file must still be there, whether the verb finished before it came or noticed it.
    [ "$(tail -c 1 "$file" | tr -d '\0')" = x ] || violation replaced lost "$v: exit $code, and the other's file is gone"
    [ "$(temporaries)" = 0 ] || violation replaced left "$v"
}
vanishing() {
    local v=$1 code
    ( verb "$v" ) > out 2> told & moment; rm -f more; wait $! 2> /dev/null; code=$?
    cp ../made/more .
    case $code in 0 | 2) ;; *) violation vanishing lied "$v: exit $code" ;; esac
    "$T" doctor "$(file_of "$v")" > /dev/null 2>&1 || violation vanishing damaged "$v"
}
closed() {
    local v=$1 code
    if ((RANDOM % 2)); then ( verb "$v" ) >&- 2> told; code=$?; else ( verb "$v" ) > /dev/full 2> told; code=$?; fi
    [ $code = 2 ] || violation closed lied "$v: exit $code"
    if [ "$v" = dedup ]; then
        [ "$("$T" dedup --state S --count more 2> /dev/null)" = 100 ] || violation closed lost "dedup: lines that nobody received are known"
    else
        judge closed "$v" $code
    fi
}
writers() {
    local pids=() acknowledged=() i
    for i in 1 2 3 4; do
        (for try in 1 2 3 4 5 6; do echo "writer $i try $try" | "$T" insert F > /dev/null 2>&1 && echo "writer $i try $try"; done > "acknowledged$i") & pids+=($!)
    done
    wait "${pids[@]}"
    [ "$(cat acknowledged* | "$T" check -v -c F)" = 0 ] || violation writers lost "$(cat acknowledged* | "$T" check -v F | head -2 | tr '\n' ' ')"
    "$T" doctor F > /dev/null || violation writers damaged F
}

if [ "$(id -u)" = 0 ]; then
    disk=$folder/disk && mkdir "$disk" && mount -t tmpfs -o size=80m tmpfs "$disk" 2> /dev/null || disk=
fi
cases=(kills signals kills full memory replaced vanishing closed)
for ((i = 0; i < trials; i++)); do
    v=${verbs[RANDOM % ${#verbs[@]}]} c=${cases[i % ${#cases[@]}]}
    if ((i % 40 == 39)); then c=writers v=insert; fi
    (prepare "$v") && cd trial || exit 2
    "$c" "$v"
    done_of[$c]=$((${done_of[$c]:-0} + 1))
    cd "$folder" || exit 2
done

printf '%-10s %7s %8s %5s %5s %5s\n' fault trials damaged lost left lied
total=0
for c in kills signals full memory replaced vanishing closed writers; do
    name=${c/kills/kill} name=${name/signals/signal}
    row=()
    for kind in damaged lost left lied; do row+=("${bad_of["$name $kind"]:-0}"); total=$((total + ${bad_of["$name $kind"]:-0})); done
    printf '%-10s %7d %8d %5d %5d %5d\n' "$name" "${done_of[$c]:-0}" "${row[@]}"
done
printf '%s\n' "${examples[@]:+${examples[@]}}"
[ -n "$disk" ] || echo "(no tmpfs could be mounted: the full disk is a limit on the size of files)"
exit $((total > 0))
