#!/usr/bin/env bash
# Everything at once, at random, under the thread sanitizer: tests/soak.rs for some time.
#
#   tests/soak.sh            for 120 s
#   tests/soak.sh 300 7      for 300 s, from seed 7 (it is printed; without one, from the clock)
#
# Needs the component rust-src: std is built with the sanitizer as well. That takes minutes
# once, into target/tsan; LIMIT=<s> bounds it all (default: the time asked for and 900).
set -eu

cd "$(dirname "${BASH_SOURCE[0]}")/.."
export TINE_SOAK=${1:-120}
[ $# -lt 2 ] || export TINE_SEED=$2
export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=thread --cfg tine_tsan"
export CARGO_TARGET_DIR=target/tsan CARGO_PROFILE_DEV_OPT_LEVEL=1
host=$(rustc -vV | sed -n 's/^host: //p')
exec timeout -k 10 "${LIMIT:-$((TINE_SOAK + 900))}" \
    cargo test -Zbuild-std --target "$host" -p tine --test soak </dev/null
