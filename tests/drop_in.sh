#!/usr/bin/env bash
# Published crates that depend on rayon, run on tine: their own tests, their own
# sources, only `[patch.crates-io]` in between.
#
#   tests/drop_in.sh                 every client below
#   tests/drop_in.sh ndarray         one of them, or one of those that run only when named
#   tests/drop_in.sh --control ...   the same without the patch, on the real
#                                    rayon: tells whose fault a failing test is
#
# For each client it fetches the published source through cargo, copies it to
# target/drop-in, runs its tests there with the two shim packages patched in (of
# the examples in its documentation, those that have to do with rayon: each is
# compiled by itself), and looks at `cargo tree`: a client in whose tree the real
# rayon is left, or in whose tree no rayon is at all, has shown nothing and fails.
#
# `rayon-tests` is the tests that rayon itself is published with, as a package that
# depends on it.
#
# SHIMS=<dir>   where the packages `rayon` and `rayon-core` are (default: compat)
# LIMIT=<s>     seconds for one client's tests, their build included (default: 600)
set -u

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit 1
work=$root/target/drop-in
shims=$(cd "${SHIMS:-$root/compat}" && pwd) || exit 1
limit=${LIMIT:-600}
export CARGO_TARGET_DIR=$work/target
exec </dev/null

# client, version, features, what the paths of its examples about rayon contain
clients='
hashbrown 0.17.1 rayon rayon
indexmap 2.14.2 rayon rayon
ndarray 0.17.2 rayon parallel
indicatif 0.18.6 rayon rayon
rayon-tests 1.12.0
'
# The same for those that are tried only when they are named: they take long to build.
more='
petgraph 0.8.3 rayon rayon
im 15.1.0 rayon rayon
'

control=
if [ "${1:-}" = --control ]; then
    control=yes
    shift
fi
wanted=" $* "
[ "$wanted" = "  " ] || clients+=$more

patch=()
if [ -z "$control" ]; then
    patch=(--config "patch.crates-io.rayon.path=\"$shims/rayon\""
        --config "patch.crates-io.rayon-core.path=\"$shims/rayon-core\"")
fi

# Leaves the published source of client $1, version $2, in $work/$1.
unpack() {
    local scratch=$work/fetch/$1 source
    rm -rf "$scratch" "${work:?}/$1"
    mkdir -p "$scratch/src"
    : >"$scratch/src/lib.rs"
    cat >"$scratch/Cargo.toml" <<END
[package]
name = "fetch-$1"
version = "0.0.0"
edition = "2024"
[dependencies]
$1 = "=$2"
[workspace]
END
    timeout -k 10 "$limit" cargo fetch --quiet --manifest-path "$scratch/Cargo.toml" || return
    source=$(ls -d "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"$1-$2" | head -n 1)
    [ -n "$source" ] || return
    cp -R "$source" "$work/$1"
    # a package below another's directory must say that it stands alone
    grep -q '^\[workspace\]' "$work/$1/Cargo.toml" || printf '\n[workspace]\n' >>"$work/$1/Cargo.toml"
}

# The same for the tests of rayon $2 in a package of their own, $1.
unpack_tests() {
    unpack rayon "$2" || return
    rm -rf "${work:?}/$1"
    mkdir -p "$work/$1/src"
    : >"$work/$1/src/lib.rs"
    cp -R "$work/rayon/tests" "$work/$1/tests"
    cat >"$work/$1/Cargo.toml" <<END
[package]
name = "$1"
version = "0.0.0"
edition = "2021"
[dependencies]
rayon = "1.12"
[dev-dependencies]
rand = "0.9"
rand_xorshift = "0.4"
[workspace]
END
}

# A lock file that came with $1 may name a rayon that is older than the shims.
unlock() {
    [ -z "$control" ] && grep -qs '^name = "rayon"' "$work/$1/Cargo.lock" || return 0
    (cd "$work/$1" && cargo "${patch[@]}" update --quiet rayon rayon-core)
}

# Every rayon and rayon-core in the tree of $1 (features $2) is the one that was asked for.
only_ours() {
    local lines stray
    lines=$(cd "$work/$1" &&
        cargo "${patch[@]}" tree --features "$2" --edges all --prefix none --format '{p}' \
            2>"$work/$1.tree.log") || { cat "$work/$1.tree.log"; return 1; }
    lines=$(grep -E '^rayon(-core)? v' <<<"$lines" | sed 's/ (\*)$//' | sort -u)
    if [ -n "$control" ]; then
        stray=$(grep -F '(/' <<<"$lines")
    else
        stray=$(grep -vF "($shims/" <<<"$lines")
    fi
    sed 's/^/    /' <<<"$lines"
    [ -n "$lines" ] || { echo "no rayon in the tree of $1: nothing would be tried"; return 1; }
    [ -z "$stray" ] || { echo "the wrong rayon in the tree of $1: $stray"; return 1; }
}

# Runs the tests of $1 with features $2, and the examples in its documentation
# whose path contains $3; how many ran must not be none.
suite() {
    local log=$work/$1.log begun=$SECONDS rc ran
    (
        cd "$work/$1" || exit
        timeout -k 10 "$limit" cargo "${patch[@]}" test --features "$2" --lib --tests || exit
        left=$((limit - (SECONDS - begun)))
        timeout -k 10 $((left > 0 ? left : 1)) cargo "${patch[@]}" test --features "$2" --doc "$3"
    ) >"$log" 2>&1
    rc=$?
    ran=$(awk '/^test result:/ { n += $4 } END { print n + 0 }' "$log")
    if [ $rc -ne 0 ]; then
        grep -E '^(error|test .* FAILED|thread .* panicked)|^failures:' "$log" | head -n 30
        tail -n 15 "$log"
        [ $rc -ne 124 ] || echo "$1: over its limit of $limit s"
        return 1
    fi
    echo "    $ran tests passed, $((SECONDS - begun)) s with the build; log: $log"
    [ "$ran" -gt 0 ]
}

failed=()
tried=0
while read -r name version features examples; do
    [ -n "$name" ] || continue
    [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || continue
    tried=$((tried + 1))
    echo "== $name $version${features:+, features $features}"
    unpack=unpack
    [ "$name" != rayon-tests ] || unpack=unpack_tests
    $unpack "$name" "$version" && unlock "$name" && only_ours "$name" "$features" && suite "$name" "$features" "$examples" || failed+=("$name")
done <<<"$clients"

[ $tried -gt 0 ] || { echo "no such client:$wanted"; exit 1; }
if [ ${#failed[@]} -gt 0 ]; then
    echo "drop-in: FAILED: ${failed[*]}"
    exit 1
fi
[ -n "$control" ] && on="the real rayon (control)" || on=tine
echo "drop-in: $tried clients passed on $on"
