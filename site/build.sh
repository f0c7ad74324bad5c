#!/usr/bin/env bash
# Makes planner.html, the planner in one file: `site/build.sh [FILE]`, by default
# target/site/planner.html.
#
# The library is compiled to WebAssembly with rustup's target where it is there, and else with
# Debian's compiler (see .ci/wasm/toolchain), made smaller by wasm-opt where that can be had,
# compressed and put into the page as base64. The file may have 400 kB.
set -euo pipefail
cd "$(dirname "$0")/.."
page=$(realpath -m "${1:-target/site/planner.html}")
work=$PWD/target/site
mkdir -p "$work" "$(dirname "$page")"
. .ci/wasm/toolchain
[ -z "$wasm_missing" ] || { echo "cannot build for WebAssembly: $wasm_missing" >&2; exit 1; }
CARGO_TARGET_DIR=$PWD/target/wasm cargo build --quiet "${std[@]}" --release --lib --target $target --manifest-path site/Cargo.toml
module=$PWD/target/wasm/$target/release/truebloom_site.wasm

# What Rust uses of WebAssembly; no more, so that browsers of some years ago load it.
features=(--enable-bulk-memory --enable-sign-ext --enable-mutable-globals --enable-nontrapping-float-to-int --enable-multivalue --enable-reference-types)
# wasm-opt of the system, or Debian's, unpacked and not installed.
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
# The literal coder of four bits and no alignment suit WebAssembly, whose instructions have any
# length.
xz --format=lzma --lzma1=preset=9e,lc=4,lp=0,pb=0,nice=273 "$work/planner.wasm" --stdout > "$work/packed"
# Thirteen bits in two of 91 letters, a hundredth less than four bytes in five; `"`, `<` and `&` are
# left to HTML.
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

# A line `@include FILE` stands for the file; indentation and lines that are comments are for those
# who read the sources.
awk -v work="$work" '
    function put(file,    line, is_code) {
        is_code = file ~ /\.(js|css)$/
        while ((getline line < file) > 0) {
            if (line ~ /^@include /) { put(line ~ / wasm$/ ? work "/wasm" : "site/page/" substr(line, 10)); continue }
            sub(/^ +/, "", line)
            if (is_code && (line == "" || line ~ /^\/\/ / || line ~ /^\/\*.*\*\/$/)) continue
            if (is_code && line ~ /^\/\*\*/) { while (line !~ /\*\//) getline line < file; continue }
            # Types are for those who check them.
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
echo "$page: $bytes bytes, of which $(wc -c < "$work/wasm") are the library, by $by"
[ "$bytes" -le 400000 ] || { echo "the page has more than 400,000 bytes" >&2; exit 1; }
