#!/usr/bin/env bash
# Makes the planner page, which is a single file: `site/build.sh [FILE]`. By default, FILE is
# target/site/planner.html.
#
# The library is compiled to WebAssembly (.ci/wasm/toolchain chooses the compiler), made smaller by
# wasm-opt if it is available, compressed, and included in the page as text. The file can have at
# most 400 kB.
set -euo pipefail
cd "$(dirname "$0")/.."
page=$(realpath -m "${1:-target/site/planner.html}")
work=$PWD/target/site
mkdir -p "$work" "$(dirname "$page")"
. .ci/wasm/toolchain
[ -z "$wasm_missing" ] || { echo "cannot build for WebAssembly: $wasm_missing" >&2; exit 1; }

# The messages of panics contain the paths of source files. Without the folder of the project and of
# Cargo, the size of the page does not depend on where it is built.
flags=("--remap-path-prefix=$PWD/=" "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/=")
# WebAssembly cannot print the message of a panic. If the standard library is compiled here, these
# messages, which take 4% of the page, can be left out. A panic stops the library either way.
if [ -n "${std[*]}" ]; then flags+=(-Zunstable-options -Cpanic=immediate-abort); fi
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; echo "${flags[*]}") CARGO_TARGET_DIR=$PWD/target/wasm \
    cargo build --quiet "${std[@]}" --release --lib --target $target --manifest-path site/Cargo.toml
module=$PWD/target/wasm/$target/release/truebloom_site.wasm

# The features of WebAssembly that Rust uses. No other features are allowed, so that browsers that
# are some years old can load the page.
features=(--enable-bulk-memory --enable-sign-ext --enable-mutable-globals --enable-nontrapping-float-to-int --enable-multivalue --enable-reference-types)
# The wasm-opt of the system is used, or else Debian's, which is unpacked and not installed.
tools=$PWD/target/wasm/tools
if ! command -v wasm-opt >/dev/null && [ ! -x "$tools/usr/bin/wasm-opt" ]; then unpack "$tools" binaryen || true; fi
if command -v wasm-opt >/dev/null; then
    smaller=(wasm-opt)
elif [ -x "$tools/usr/bin/wasm-opt" ]; then
    smaller=(env "LD_LIBRARY_PATH=$tools/usr/lib/x86_64-linux-gnu" "$tools/usr/bin/wasm-opt")
fi
if [ -n "${smaller+there}" ] && "${smaller[@]}" "${features[@]}" -Oz --converge --strip-debug --strip-producers "$module" -o "$work/planner.wasm"; then
    by="$wasm_by and wasm-opt"
else
    cp "$module" "$work/planner.wasm"
    by="$wasm_by, without wasm-opt"
fi
# lp=0 and pb=0 are for data without alignment: the instructions of WebAssembly have different
# lengths. lc=4 uses four bits of the previous byte as context.
xz --format=lzma --lzma1=preset=9e,lc=4,lp=0,pb=0,nice=273 "$work/planner.wasm" --stdout > "$work/packed"
# Two characters, from an alphabet of 91, store thirteen bits. This takes about 1% less than five
# characters for four bytes. The alphabet does not contain `"`, `<` and `&`, which have a meaning in
# HTML.
od -An -v -tu1 -w1 "$work/packed" | awk '
    BEGIN { for (code = 33; code < 127; code += 1) if (code != 34 && code != 38 && code != 60) letters[count++] = sprintf("%c", code) }
    function put(value) { printf "%s%s", letters[int(value / 91)], letters[value % 91] }
    {
        bits = bits * 256 + $1
        held += 8
        if (held >= 13) {
            held -= 13
            value = int(bits / 2 ^ held)
            bits -= value * 2 ^ held
            put(value)
        }
    }
    END { if (held) put(bits * 2 ^ (13 - held)) }' > "$work/wasm"

# Replaces each line `@include FILE` by the contents of the file, and removes indentation and
# comments.
awk -v work="$work" '
    function put(file,    line, is_code) {
        is_code = file ~ /\.(js|css)$/
        while ((getline line < file) > 0) {
            if (line ~ /^@include /) { put(line ~ / wasm$/ ? work "/wasm" : "site/page/" substr(line, 10)); continue }
            sub(/^ +/, "", line)
            if (line ~ /^<!--.*-->$/) continue
            if (is_code && (line == "" || line ~ /^\/\/ / || line ~ /^\/\*.*\*\/$/)) continue
            if (is_code && line ~ /^\/\*\*/) { while (line !~ /\*\//) getline line < file; continue }
            # Type annotations in comments are removed.
            if (is_code) gsub(/\/\*\*[^*]*\*\/ ?/, "", line)
            if (file ~ /\.css$/) {
                gsub(/: /, ":", line); gsub(/; /, ";", line); gsub(/, /, ",", line)
                gsub(/ ?\{ ?/, "{", line); gsub(/;? ?\}/, "}", line)
            }
            print line
        }
    }
    BEGIN { put("site/page/index.html") }' > "$page"
bytes=$(wc -c < "$page")
echo "$page: $bytes bytes, of which $(wc -c < "$work/wasm") are the library (compiled with $by)"
[ "$bytes" -le 400000 ] || { echo "the page has more than 400,000 bytes" >&2; exit 1; }
