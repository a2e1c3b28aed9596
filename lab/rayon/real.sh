#!/usr/bin/env bash
# Builds the laboratory's rows on rayon as it is published, for the machine at hand: nothing is computed.
set -eu

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
at=target/lab-rayon-real
mkdir -p $at
cat >$at/Cargo.toml <<'TOML'
[package]
name = "tine-lab"
version = "0.0.0"
edition = "2024"
[[bin]]
name = "tine-lab"
path = "../../lab/src/main.rs"
[dependencies]
tine-pool = { path = "../../pool" }
rayon = "=1.12.0"
libc = "0.2"
[lints.rust]
unexpected_cfgs = { level = "warn", check-cfg = ["cfg(tine_sched)", "cfg(lab_rayon)"] }
[profile.release]
debug = "line-tables-only"
[workspace]
TOML
RUSTFLAGS="--cfg lab_rayon" cargo build --quiet --release \
    --manifest-path $at/Cargo.toml --target-dir $at/target </dev/null
