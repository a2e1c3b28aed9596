#!/usr/bin/env bash
# What the feature `timeline` costs on joins around a microsecond of work: a build without it, a
# build with it, and that one while it records, by turns. Medians. Takes a minute.
# Usage: benches/recording.sh [TURNS]
set -euo pipefail
cd "$(dirname "$0")/.."

turns=${1:-5}
target=${CARGO_TARGET_DIR:-target}
build() { # build <directory> <features…>
    cargo build --release --quiet -p tine-pool --example recording --target-dir "$target/$1" "${@:2}"
}
build recording-off
build recording-on --features timeline
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

median() { # median <what> <file>
    awk -v what="$1" '$1 == what { print $2 }' "$2" | sort -n |
        awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

printf '| threads | built without | built with it | while it records | with ÷ without | recording ÷ without |\n'
printf '|---|---|---|---|---|---|\n'
for threads in 1 "$(nproc)"; do
    : >"$scratch/samples"
    for _ in $(seq "$turns"); do
        for side in off on; do
            TINE_NUM_THREADS=$threads "$target/recording-$side/release/examples/recording" \
                >>"$scratch/samples"
        done
    done
    awk -v n="$threads" -v off="$(median off "$scratch/samples")" \
        -v ready="$(median ready "$scratch/samples")" \
        -v recording="$(median recording "$scratch/samples")" 'BEGIN {
            printf "| %d | %.0f ns | %.0f ns | %.0f ns | %.3f | %.3f |\n",
                n, off, ready, recording, ready / off, recording / off }'
done
