#!/usr/bin/env bash
# Compile time and binary size of a program with twenty pipelines, on tine and
# on rayon: a release build after a touch, the least of several, in seconds, and
# the stripped size in bytes. Usage: benches/compile.sh [ROUNDS]
set -euo pipefail
house=$(cd "$(dirname "$0")/.." && pwd)
rounds=${1:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The twenty pipelines, the same text for both.
program() {
    echo "use $1::prelude::*;"
    for number in $(seq 20); do
        cat <<END
#[inline(never)]
fn pipeline$number(v: &[u64]) -> u64 {
    let most = v.par_iter().map(|x| x.wrapping_mul($number)).filter(|x| x % 3 != 0).max();
    let kept: Vec<u64> = v.par_iter().filter(|x| **x % $number == 0).map(|x| x + $number).collect();
    let pairs: Vec<(usize, u64)> = kept.into_par_iter().enumerate().collect();
    let any = v.par_iter().zip(&pairs).any(|(x, pair)| *x == pair.1 + $number);
    let folded = v.par_chunks($number).map(|c| c.iter().sum::<u64>()).reduce(|| 0, |a, b| a ^ b);
    most.unwrap_or(0) ^ folded ^ u64::from(any)
}
END
    done
    echo 'fn main() {'
    echo '    let v: Vec<u64> = (0..100_000).collect();'
    echo "    let all = [$(seq -s, -f 'pipeline%.0f(&v)' 20)];"
    echo '    println!("{}", all.iter().fold(0, |a, b| a ^ b));'
    echo '}'
}

# A package that depends on one of them.
package() {
    mkdir -p "$scratch/$1/src"
    cat >"$scratch/$1/Cargo.toml" <<END
[package]
name = "pipelines"
version = "0.0.0"
edition = "2024"
[dependencies]
$2
[profile.release]
strip = true
[workspace]
END
    program "$3" >"$scratch/$1/src/main.rs"
    (cd "$scratch/$1" && cargo build --release --quiet)
}

# Seconds that a build takes after a touch.
build() {
    touch "$scratch/$1/src/main.rs"
    local begun=$EPOCHREALTIME
    (cd "$scratch/$1" && cargo build --release --quiet)
    awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f\n", b - a }'
}

package tine "tine-iter = { path = \"$house/iter\" }" tine_iter
package rayon 'rayon = "=1.12"' rayon
for _ in $(seq "$rounds"); do
    for who in tine rayon; do build "$who" >>"$scratch/$who/times"; done
done
printf '|       | seconds |   bytes |\n|-------|---------|---------|\n'
for who in tine rayon; do
    (cd "$scratch/$who" && ./target/release/pipelines >"$scratch/$who/answer")
    printf '| %-5s | %7s | %7s |\n' "$who" "$(sort -n "$scratch/$who/times" | head -1)" \
        "$(stat -c %s "$scratch/$who/target/release/pipelines")"
done
cmp "$scratch/tine/answer" "$scratch/rayon/answer"
