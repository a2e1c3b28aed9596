#!/usr/bin/env bash
# The tour that Miri takes: pool, iterators, sorts and collections at small sizes, interpreted, so
# that each access is held to the rules of the language. Under both models of aliasing, Stacked
# Borrows and Tree Borrows, at once.
#
#   tests/miri.sh                       the tour once, with a seed of its own under each model
#   SEEDS=0..64 tests/miri.sh pool      one part, and more seeds: orders of threads, weak memory
#   PARTS: pool iter collections
#
# Needs rustup and a network; fetches a nightly toolchain with Miri if there is none.
#
# The tour is tests/miri.rs of each package. What Miri cannot do is left out of it, or done in
# another way (`cfg(miri)`):
#
#   fork                  there is no fork under Miri: pool/tests/fork.rs
#   stuck owners          a waiter publishes for them with the system's barrier (membarrier); the
#                         protocol is in the models, the call in pool/tests/waiting.rs
#   stack that is left    guests are asked for none (pthread_getattr_np)
#   affinity              calls of Linux: sched_setaffinity
#   the global pool       its threads never end, which Miri calls an error: own pools only, but for
#                         pool/tests/guests.rs, where leaks are not looked for
#   huge pages            advice to Linux (madvise): sort/scratch.rs, sinks/huge.rs
#   long inputs           sorts take their long ways from some hundred elements on
set -u

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
nightly=${NIGHTLY:-nightly}
if ! cargo "+$nightly" miri --version >/dev/null 2>&1; then
    rustup toolchain install "$nightly" --profile minimal --component miri --component rust-src ||
        exit 1
fi

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(pool iter collections)
logs=target/miri-tour
mkdir -p $logs
# Panics are part of the tour, and to trace each of them takes Miri seconds.
export RUST_BACKTRACE=0

# walk <part> <model> [test…]
walk() {
    cargo "+$nightly" miri test -p "tine-$1" --test miri --target-dir "target/miri-$2" -- --test-threads=1 "${@:3}"
}

# again <part> <model> <flags>: what lies where something else lay before. Each address comes again as soon as it can, also on
# other threads, which takes away from other tests some of what they find. Four seeds show the fault that this is for.
again() {
    local flags="$3 -Zmiri-address-reuse-rate=1 -Zmiri-address-reuse-cross-thread-rate=1 -Zmiri-preemption-rate=0.001"
    echo "== $1, $2 Borrows, addresses that come again"
    MIRIFLAGS="$flags -Zmiri-many-seeds=${SEEDS:-0..4}" walk "$1" "$2" addresses_come_again z_threads_end
}

# guests <model> <flags>: ordinary threads on the seats of the global pool.
guests() {
    echo "== guests, $1 Borrows"
    MIRIFLAGS="$2 -Zmiri-ignore-leaks" cargo "+$nightly" miri test -p tine-pool --test guests --target-dir "target/miri-$1"
}

# tour <model> <seed> <flags>: all parts, one after the other. Miri is not told to leave its isolation, so its clock is
# computed: a slow machine takes longer, but does the same.
tour() {
    # Links of a queue are read as addresses: injector.rs says why.
    local flags="-Zmiri-permissive-provenance -Zmiri-num-cpus=2 $3" seed="-Zmiri-seed=$2" part
    [ -z "${SEEDS:-}" ] || seed="-Zmiri-many-seeds=$SEEDS"
    for part in "${parts[@]}"; do
        echo "== $part, $1 Borrows"
        MIRIFLAGS="$flags $seed" walk "$part" "$1" || return 1
    done
    [[ " ${parts[*]} " != *" pool "* ]] || guests "$1" "$flags $seed" || return 1
    for part in "${parts[@]}"; do
        [ "$part" = iter ] || again "$part" "$1" "$flags" || return 1
    done
}

tour stacked 0 "" >$logs/stacked.log 2>&1 &
stacked=$!
tour tree 1 "-Zmiri-tree-borrows" >$logs/tree.log 2>&1 &
tree=$!
failed=
wait $stacked || failed+=" stacked"
wait $tree || failed+=" tree"
for model in stacked tree; do
    # What many seeds print at once stands in one line at times.
    grep -hE '^(== |test result|error)|Undefined Behavior' $logs/$model.log
    [[ $failed != *$model* ]] || tail -n 60 $logs/$model.log
done
[ -z "$failed" ] || { echo "FAILED:$failed"; exit 1; }
