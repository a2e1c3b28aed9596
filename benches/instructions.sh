#!/usr/bin/env bash
# Instructions per join, calls included, exactly: callgrind counts a tree of
# joins on one thread at two depths; the difference, divided by the difference
# in joins, is free of start-up and of everything that happens once.
# Needs valgrind. Takes a minute. Usage: benches/instructions.sh [PEER…]
set -euo pipefail
cd "$(dirname "$0")"

shallow=12 deep=16
peers=("$@")
[ ${#peers[@]} -gt 0 ] || peers=(sequential tine rayon chili forte)

cargo build --release --quiet --ignore-rust-version
program=$(cargo metadata --format-version 1 --no-deps |
    sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')/release/tine-bench
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The instructions of one whole process.
count() {
    valgrind --tool=callgrind --callgrind-out-file="$scratch/out" "$program" tree "$1" "$2" \
        >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; return 1; }
    sed -n 's/^\(summary\|totals\): \([0-9]*\).*/\2/p' "$scratch/out" | head -1
}

joins=$(((1 << deep) - (1 << shallow)))
printf '| %-10s | instructions per join |\n|------------|-----------------------|\n' peer
for peer in "${peers[@]}"; do
    few=$(count "$peer" "$shallow")
    many=$(count "$peer" "$deep")
    printf '| %-10s | %21s |\n' "$peer" \
        "$(awk -v few="$few" -v many="$many" -v n="$joins" 'BEGIN { printf "%.1f", (many - few) / n }')"
done
