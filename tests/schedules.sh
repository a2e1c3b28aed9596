#!/usr/bin/env bash
# Small programs over every verb of the pool, under schedules that a seed decides: sched/.
#
#   tests/schedules.sh            for 120 s, from a seed that it prints
#   tests/schedules.sh 3600 7     for an hour, from seed 7
#   tests/schedules.sh --program 7 --schedule 3      one schedule again
#
# All that it can be asked stands in sched/src/main.rs. Linux only.
set -eu

cd "$(dirname "${BASH_SOURCE[0]}")/.."
RUSTFLAGS="--cfg tine_sched" cargo build --quiet --release --manifest-path sched/Cargo.toml \
    --target-dir target/sched </dev/null
case ${1:-} in
'' | [0-9]*)
    set -- --seconds "${1:-120}" ${2:+--seed "$2"}
    ;;
esac
exec target/sched/release/tine-sched "$@"
