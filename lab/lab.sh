#!/usr/bin/env bash
# Builds the laboratory twice, and runs it: see README.md.
#
#   lab/lab.sh run --rows join --cores 1,8,64     on the computed machine
#   lab/lab.sh real run --rows join               the same rows on the machine at hand
#   lab/lab.sh real costs                         what the costs are here
set -eu

cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ "${1:-}" = real ]; then
    shift
    cargo build --quiet --release --manifest-path lab/Cargo.toml --target-dir target/lab-real </dev/null
    exec target/lab-real/release/tine-lab "$@"
fi
RUSTFLAGS="--cfg tine_sched" cargo build --quiet --release --manifest-path lab/Cargo.toml \
    --target-dir target/lab </dev/null
exec target/lab/release/tine-lab "$@"
