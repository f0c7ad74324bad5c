#!/usr/bin/env bash
# Builds and tests the module for Redis and Valkey. The servers are downloaded and unpacked, but not
# installed. They run on loopback, and only while a test needs them. `crates/redis/test.sh quick`
# leaves out the long tests: rates, hostile bytes, and the cluster.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
root=$(cd ../.. && pwd)
work=$root/target/redis
mode=${1:-all}
[[ $mode == all || $mode == quick ]] || { echo "unknown mode \`$mode\`; choose all (the default) or quick" >&2; exit 1; }

step() {
    printf '\n=== redis: %s\n' "$1"
}

fail() {
    echo "$1" >&2
    exit 1
}

command -v python3 >/dev/null || fail 'python3 is missing: the tests are written in it'
command -v apt-get >/dev/null || fail 'apt-get is missing: the servers are unpacked from packages of Debian'

# Downloads packages of this system's release and of its backports. The package lists are in a
# separate folder, so the system is not changed.
apt=("apt-get" "-qq" "-o" "Dir::Etc::sourcelist=$work/apt/sources.list" "-o" "Dir::Etc::sourceparts=-" "-o" "Dir::State::lists=$work/apt/lists" "-o" "Dir::Cache=$work/apt/cache" "-o" "APT::Sandbox::User=root")

sources() {
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg name
    name=$(. /etc/os-release && echo "$VERSION_CODENAME")
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(ORIGIN)' 'Created-By: Packages' | sort -u |
        while read -r address codename origin; do
            [[ $origin == Debian && ( $codename == "$name" || $codename == "$name-security" ) ]] || continue
            echo "deb [signed-by=$keys] $address $codename main"
            if [[ $codename == "$name" ]]; then echo "deb [signed-by=$keys] $address $name-backports main"; fi
        done
}

unpack() {
    local engine=$1
    shift
    [[ -x $work/servers/usr/bin/$engine-server ]] && return
    mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/apt/$engine"
    sources > "$work/apt/sources.list"
    "${apt[@]}" update || true
    (cd "$work/apt/$engine" && "${apt[@]}" download "$@") || return
    for package in "$work/apt/$engine"/*.deb; do
        dpkg -x "$package" "$work/servers"
    done
}

step 'the servers'
engines=()
libraries=(libjemalloc2 liblzf1 libatomic1)
for engine in redis valkey; do
    if unpack "$engine" "$engine-server" "$engine-tools" "${libraries[@]}" && version=$(LD_LIBRARY_PATH=$work/servers/usr/lib/x86_64-linux-gnu "$work/servers/usr/bin/$engine-server" --version); then
        echo "$version"
        engines+=("$engine")
    else
        # Tests that are left out must not look like tests that passed.
        echo "$engine is not available here, so its tests are left out" >&2
        [[ -z ${CI:-} ]] || exit 1
    fi
done
[[ ${#engines[@]} -gt 0 ]] || fail 'there is no server to test on'

step 'an environment with binary packages'
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: -r tests/requirements.txt

# The tests send filters of the Python package to the servers and back. They use the package that
# `python/test.sh` has built.
wheel=$(ls -t "$root"/target/python/wheels/truebloom-*.whl 2>/dev/null | head -n 1 || true)
if [[ -n $wheel ]]; then
    "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "$wheel"
    export TRUEBLOOM_PYTHON=$work/venv/bin/python
else
    echo 'the Python package is not built, so the tests of its filters are left out; python/test.sh quick builds it' >&2
    [[ -z ${CI:-} ]] || exit 1
fi

step 'versions, formats, lints, unit tests'
python3 "$here/tests/same_versions.py" "$root/Cargo.lock" "$here/Cargo.lock"
export CARGO_TARGET_DIR=$work/cargo
cargo fmt -- --check
cargo clippy --quiet --locked --all-targets -- -D warnings
cargo test --quiet --locked

step 'the module'
cargo build --quiet --locked --release
ls -l "$CARGO_TARGET_DIR/release/libtruebloom_redis.so"
unset CARGO_TARGET_DIR
# The tests also send files of the command to the servers and back. They use the command in
# `TRUEBLOOM_COMMAND`; if it is not set, the same debug build as `.ci/run`.
if [[ -z ${TRUEBLOOM_COMMAND:-} ]]; then
    (cd "$root" && cargo build --quiet --locked -p truebloom-cli)
    export TRUEBLOOM_COMMAND=$root/target/debug/truebloom
fi

step "tests on ${engines[*]}"
export TRUEBLOOM_MODULE=$work/cargo/release/libtruebloom_redis.so TRUEBLOOM_SERVERS=$work/servers TRUEBLOOM_ENGINES="${engines[*]}"
left_out=()
[[ $mode == all ]] || left_out=(--ignore tests/test_rates.py --ignore tests/test_hostile.py --ignore tests/test_cluster.py)
"$work/venv/bin/python" -m pytest -q -p no:cacheprovider --durations 5 "${left_out[@]}" tests
