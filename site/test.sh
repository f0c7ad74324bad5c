#!/usr/bin/env bash
# Builds the planner page, compares its numbers in Node with those of the library, and tests the
# page in a browser.
#
# The script installs what is missing: Node and Chromium from Debian, and from npm, into
# target/site, a browser driver, a type checker and an accessibility checker. If something cannot be
# installed, the script fails with a message. It takes three to six minutes on two cores.
# Screenshots of the page are in target/site/shots.
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

echo '--- the driver and the checkers'
cp site/test/package.json site/test/package-lock.json "$work/node/"
(cd "$work/node" && npm ci --no-audit --no-fund --silent) || die 'npm cannot install playwright-core, axe-core and typescript'

echo '--- the page'
site/build.sh
# The rest is compiled for this machine, with the ordinary compiler.
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
