#!/usr/bin/env bash
# Writes a copy of rayon 1.12 and of what it is made of into target/lab-rayon/, whose atomics, locks and
# pauses are the laboratory's, and builds the laboratory's rows on it. Nothing of the copy is kept.
set -eu

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
at=target/lab-rayon
mkdir -p $at/seed/src
: >$at/seed/src/lib.rs
cat >$at/seed/Cargo.toml <<'TOML'
[package]
name = "seed"
version = "0.0.0"
edition = "2021"
[dependencies]
rayon = "=1.12.0"
[workspace]
TOML
# The sources as the registry has them.
rm -rf $at/vendor
(cd $at/seed && cargo vendor --quiet ../vendor >/dev/null </dev/null)

for crate in rayon rayon-core crossbeam-deque crossbeam-epoch crossbeam-utils; do
    dir=$at/vendor/$crate
    printf '\n[dependencies.tine-lab-doors]\npath = "../../../../lab/rayon/doors"\n' >>$dir/Cargo.toml
    # Of the utilities only pauses are used.
    if [ $crate = crossbeam-utils ]; then
        sed -i 's/core::hint::spin_loop/tine_lab_doors::hint::spin_loop/' $dir/src/lib.rs
        continue
    fi
    # All names of shared memory lead to the doors.
    find $dir/src -name '*.rs' -print0 | xargs -0 sed -i -E \
        -e 's/\b(::)?(std|core)::sync\b/tine_lab_doors::sync/g' \
        -e 's/\b(::)?(std|core)::hint::spin_loop\b/tine_lab_doors::hint::spin_loop/g' \
        -e 's/load_consume\(\)/load(Ordering::Acquire)/g' \
        -e '/^use crossbeam_utils::atomic::AtomicConsume;$/d'
done
# Crossbeam's jobs lie in plain memory: told to the laboratory as what they are, a store and a load.
sed -i -E \
    -e 's/^( *)(ptr::write_volatile\(self\.at\(index\).*)$/\1tine_lab_doors::touch(tine_lab_doors::Point::Store, self.at(index)); \2/' \
    -e 's/^( *)(ptr::read_volatile\(self\.at\(index\).*)$/\1tine_lab_doors::touch(tine_lab_doors::Point::Load, self.at(index)); \2/' \
    $at/vendor/crossbeam-deque/src/deque.rs
[ "$(grep -c 'tine_lab_doors::touch' $at/vendor/crossbeam-deque/src/deque.rs)" = 2 ]

cp lab/rayon/manifest.toml $at/Cargo.toml
cat >>$at/Cargo.toml <<'TOML'
[patch.crates-io]
rayon = { path = "vendor/rayon" }
rayon-core = { path = "vendor/rayon-core" }
crossbeam-deque = { path = "vendor/crossbeam-deque" }
crossbeam-epoch = { path = "vendor/crossbeam-epoch" }
crossbeam-utils = { path = "vendor/crossbeam-utils" }
TOML
RUSTFLAGS="--cfg tine_sched --cfg lab_rayon" cargo build --quiet --release \
    --manifest-path $at/Cargo.toml --target-dir $at/target </dev/null
