#!/usr/bin/env bash
# Builds the laboratory twice, and runs it: see README.md.
#
#   lab/lab.sh run --rows join --cores 1,8,64     on the computed machine
#   lab/lab.sh real run --rows join               the same rows on the machine at hand
#   lab/lab.sh real costs                         what the costs are here
#   lab/lab.sh calibrate                          1 and 2 cores on both machines, side by side
#   lab/lab.sh rayon run --rows join              the same rows on a copy of rayon, computed as well
#   lab/lab.sh real rayon run --rows join         on rayon as it is, on the machine at hand
#   lab/lab.sh compare OLD NEW                    two revisions (or files of results), row by row
set -eu

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=target/lab-out
if [ "${1:-}" = calibrate ] && { [ $# = 1 ] || [[ $2 = --* ]]; }; then
    shift
    mkdir -p $out
    lab/lab.sh real run --seeds 3 "$@" --out $out/real.tsv >/dev/null
    lab/lab.sh run --cores 1,2 --seeds 3 "$@" --out $out/computed.tsv >/dev/null
    exec lab/lab.sh calibrate $out/real.tsv $out/computed.tsv
fi
if [ "${1:-}" = compare ] && [ $# -ge 3 ] && ! [ -f "$2" ]; then
    old=$2 new=$3
    shift 3
    mkdir -p $out
    at=
    trap 'git worktree remove --force "$at" 2>/dev/null || true' EXIT
    for rev in "$old" "$new"; do
        at=$out/tree-${rev//\//-}
        # What an interrupted comparison left.
        git worktree remove --force "$at" 2>/dev/null || true
        git worktree add --quiet --force --detach "$at" "$rev"
        "$at/lab/lab.sh" run "$@" --out "$PWD/$out/${rev//\//-}.tsv" >/dev/null
        git worktree remove --force "$at"
    done
    exec lab/lab.sh compare $out/"${old//\//-}".tsv $out/"${new//\//-}".tsv
fi
if [ "${1:-}" = rayon ]; then
    shift
    lab/rayon/make.sh
    exec target/lab-rayon/target/release/tine-lab "$@"
fi
if [ "${1:-}" = real ] && [ "${2:-}" = rayon ]; then
    shift 2
    lab/rayon/real.sh
    exec target/lab-rayon-real/target/release/tine-lab "$@"
fi
if [ "${1:-}" = real ]; then
    shift
    cargo build --quiet --release --manifest-path lab/Cargo.toml --target-dir target/lab-real </dev/null
    exec target/lab-real/release/tine-lab "$@"
fi
RUSTFLAGS="--cfg tine_sched --cfg tine_lab" cargo build --quiet --release --manifest-path lab/Cargo.toml \
    --target-dir target/lab </dev/null
exec target/lab/release/tine-lab "$@"
