#!/usr/bin/env bash
# The models, every interleaving up to two preemptions: cargo's arguments go behind `cargo test`.
#
#   tests/models.sh -p tine-pool models
#   tests/models.sh -p tine-collections models
#
# Of the loads of a word loom 0.7.2 remembers the last alone. So where a thread loads a word and then
# stores to it, loom takes that load for the last access, forgets what another thread had loaded before,
# and never tries the store before that (tokio-rs/loom, issues 166 and 392). Some models were explored in
# one interleaving alone. `tests/models.patch` has it remember the last load of each thread.
#
# The patched copy lies in target/models, and beside it a workspace that names it: links to what lies
# here, so nothing here is changed, Cargo.lock included. A link that leads elsewhere, as in a `target` copied from
# another checkout, is made anew.
set -eu

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
tree=$root/target/models
mkdir -p "$tree"

if ! cmp -s tests/models.patch "$tree/applied"; then
    cargo fetch --quiet --locked
    version=$(awk '/^name = "loom"$/ { getline; gsub(/[^0-9.]/, ""); print; exit }' Cargo.lock)
    source=$(find "${CARGO_HOME:-$HOME/.cargo}/registry/src" -maxdepth 2 -type d -name "loom-$version" | head -n 1)
    rm -rf "$tree/loom"
    cp -r "$source" "$tree/loom"
    chmod -R u+w "$tree/loom"
    (cd "$tree/loom" && rm -rf .git* Cargo.lock && GIT_CEILING_DIRECTORIES=$tree git apply -p1 "$root/tests/models.patch")
    cp tests/models.patch "$tree/applied"
fi

# Written anew only when it differs, so that nothing is built again for nothing.
put() {
    cmp -s - "$1" <<<"$2" || cat >"$1" <<<"$2"
}
for entry in *; do
    case $entry in
    target | Cargo.toml | Cargo.lock) ;;
    *) [ "$(readlink "$tree/tree/$entry")" = "$root/$entry" ] || { mkdir -p "$tree/tree" && ln -sfn "$root/$entry" "$tree/tree/$entry"; } ;;
    esac
done
put "$tree/tree/Cargo.toml" "$(cat Cargo.toml; printf '\n[patch.crates-io]\nloom = { path = "../loom" }\n')"
cp Cargo.lock "$tree/tree/Cargo.lock"

cd "$tree/tree"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target/loom}"
export RUSTFLAGS="--cfg loom" CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true
export LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-2}"
exec cargo test --release --lib "$@"
