#!/usr/bin/env bash
# The planner page: built, its numbers in Node beside the library's own, and the page in a browser.
# Installs what it needs: Node and Chromium from Debian where they are not there, and a driver, a
# type checker and an accessibility checker from npm, into target/site. What cannot be had is said,
# and is a failure. Three to six minutes on two cores; pictures of the page are in
# target/site/shots.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$root/target/site
mkdir -p "$work/node"
die() {
    echo "the planner cannot be tested: $1" >&2
    exit 1
}
installed() {
    command -v "$1" >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${@:2}"; } >/dev/null 2>&1 || die "there is no $1, and Debian's package cannot be installed"
}
installed node nodejs npm
installed npm npm
installed xz xz-utils
installed "${CHROMIUM:-chromium}" chromium fonts-dejavu-core

echo '--- what the driver and the checkers need'
cp site/test/package.json site/test/package-lock.json "$work/node/"
(cd "$work/node" && npm ci --no-audit --no-fund --silent) || die 'npm cannot install playwright-core, axe-core and typescript'

echo '--- the page'
site/build.sh
# The ordinary compiler for what runs here.
cargo fmt --manifest-path site/Cargo.toml -- --check
CARGO_TARGET_DIR=$root/target/native cargo clippy --quiet --manifest-path site/Cargo.toml --all-targets -- -D warnings
CARGO_TARGET_DIR=$root/target/native cargo test --quiet --manifest-path site/Cargo.toml --lib --example native
CARGO_TARGET_DIR=$root/target/native cargo build --quiet --manifest-path site/Cargo.toml --example native

echo '--- types'
"$work/node/node_modules/.bin/tsc" --noEmit --checkJs --allowJs --strict --target es2022 --lib es2022,dom,dom.iterable site/page/unpack.js site/page/engine.js site/page/draw.js site/page/page.js

echo '--- numbers'
command=$root/target/debug/truebloom
[ -x "$command" ] || cargo build --quiet -p truebloom-cli
node site/test/numbers.mjs "$work/planner.html" "$work/planner.wasm" "$root/target/native/debug/examples/native" "$command"

echo '--- lines to copy'
node site/test/lines.mjs "$work/planner.html" "$work/lines" "$root" "$command"

echo '--- the page in a browser'
cp site/test/page.mjs "$work/node/"
(cd "$work/node" && CHROMIUM=$(command -v "${CHROMIUM:-chromium}") node page.mjs "$work/planner.html" "$work/shots")
