#!/usr/bin/env bash
# What programs on tine and on rayon cost to build: CPU seconds of all that cargo
# starts, and bytes. Prints a table; every cell comes from this run.
#
#   benches/compile.sh [ROUNDS]          all rows but the last; ROUNDS (default 3) of those after a touch
#   benches/compile.sh --tests           only the last: `cargo test --workspace` of a fresh clone
#
# The programs are in benches/compile/. A cold build has an empty target directory; what is
# downloaded is there already. Of repeated builds the least counts. Times are of one machine
# at one time: read the ratios.
set -euo pipefail
house=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset CARGO_TARGET_DIR
TIMEFORMAT='%U %S'

# The CPU seconds of a command.
cpu() {
    { time "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }; } 2>"$scratch/time" ||
        { cat "$scratch/time" >&2; exit 1; }
    tail -1 "$scratch/time" | awk '{ printf "%.2f\n", $1 + $2 }'
}

if [ "${1:-}" = --tests ]; then
    git clone --quiet "$house" "$scratch/clone"
    cargo fetch --quiet --manifest-path "$scratch/clone/Cargo.toml"
    cd "$scratch/clone"
    echo "cargo test --workspace --no-run, fresh clone: $(cpu cargo test --workspace --no-run) CPU s"
    echo "cargo test --workspace, after that:           $(cpu cargo test --workspace) CPU s"
    exit
fi
rounds=${1:-3}

# package WHO NAME [MORE]: a package of one program, whose text comes from stdin. MORE is said of the
# dependency on tine.
package() {
    local dependency="tine = { path = \"$house\"${3:+, $3} }"
    [ "$1" = tine ] || dependency='rayon = "=1.12"'
    mkdir -p "$scratch/$1/$2/src"
    cat >"$scratch/$1/$2/Cargo.toml" <<END
[package]
name = "$2"
version = "0.0.0"
edition = "2024"
[dependencies]
$dependency
[workspace]
END
    sed "s/library/$1/g" >"$scratch/$1/$2/src/main.rs"
}

# build WHO NAME DIR [FLAG]: builds in a target directory; gives CPU seconds.
build() {
    cd "$scratch/$1/$2"
    cpu cargo build --quiet --offline --target-dir "$scratch/$1/$3" ${4:+"$4"}
}

# again WHO NAME: after a touch; gives the least of several.
again() {
    for _ in $(seq "$rounds"); do
        touch "$scratch/$1/$2/src/main.rs"
        build "$1" "$2" warm --release
    done | sort -n | head -1
}

# The twenty pipelines, after the pattern of many small functions.
pipelines() {
    echo 'use library::prelude::*;'
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

stripped() {
    strip -o "$scratch/stripped" "$scratch/$1/warm/release/$2"
    stat -c %s "$scratch/stripped"
}

text() {
    size -A "$scratch/$1/warm/release/$2" | awk '$1 == ".text" { print $2 }'
}

less() {
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f\n", a - b }'
}

here=$house/benches/compile
for who in tine rayon; do
    package $who minimal <"$here/minimal.rs"
    package $who bare 'default-features = false' <"$here/minimal.rs"
    package $who eight <"$here/eight.rs"
    package $who plain <"$here/plain.rs"
    sed 's|// HERE|numbers.par_sort_unstable();|' "$here/plain.rs" | package $who words
    sed 's|// HERE|people.par_sort_unstable_by_key(\|person\| person.born);|' "$here/plain.rs" |
        package $who keyed
    pipelines | package $who pipelines
    (cd "$scratch/$who/minimal" && cargo fetch --quiet)
    for name in bare eight plain words keyed pipelines; do
        cp "$scratch/$who/minimal/Cargo.lock" "$scratch/$who/$name/"
        sed -i "s/name = \"minimal\"/name = \"$name\"/" "$scratch/$who/$name/Cargo.lock"
    done
done

declare -A cell
for who in tine rayon; do
    cell[$who:cold]=$(build $who minimal warm --release)
    cell[$who:dev]=$(build $who minimal dev)
    cell[$who:bare]=$(build $who bare bare --release)
    cell[$who:baredev]=$(build $who bare bare)
done
for name in minimal eight plain words keyed pipelines; do
    for who in tine rayon; do
        cell[$who:$name]=$(again $who $name)
        "$scratch/$who/warm/release/$name" >"$scratch/$who/answer-$name"
    done
    # Both libraries must come to the same; only unstable sorts by key may differ.
    cmp "$scratch/tine/answer-$name" "$scratch/rayon/answer-$name"
done

row() {
    printf '| %-58s | %9s | %9s | %5s |\n' "$1" "$2" "$3" \
        "$(awk -v a="$2" -v b="$3" 'BEGIN { if (b > 0) printf "%.2f", a / b; else print "–" }')"
}
printf '| %-58s | %9s | %9s | %5s |\n' what tine rayon ratio
printf '|%s|%s|%s|%s|\n' "$(printf -- '-%.0s' {1..60})" ----------: ----------: ------:
row 'cold release build of a minimal program, CPU s' "${cell[tine:cold]}" "${cell[rayon:cold]}"
row 'the same, dev profile' "${cell[tine:dev]}" "${cell[rayon:dev]}"
row 'cold release build without the collections, CPU s' "${cell[tine:bare]}" "${cell[rayon:bare]}"
row 'the same, dev profile' "${cell[tine:baredev]}" "${cell[rayon:baredev]}"
row 'release build after a touch, minimal' "${cell[tine:minimal]}" "${cell[rayon:minimal]}"
row 'the same, eight small programs in one' "${cell[tine:eight]}" "${cell[rayon:eight]}"
row 'the same, twenty pipelines' "${cell[tine:pipelines]}" "${cell[rayon:pipelines]}"
for name in minimal eight pipelines; do
    row "stripped binary, $name, bytes" "$(stripped tine $name)" "$(stripped rayon $name)"
done
for name in words keyed; do
    case $name in
        words) what='par_sort_unstable of u64' ;;
        keyed) what='par_sort_unstable_by_key of a struct by u64' ;;
    esac
    row "$what adds, CPU s" "$(less "${cell[tine:$name]}" "${cell[tine:plain]}")" \
        "$(less "${cell[rayon:$name]}" "${cell[rayon:plain]}")"
    row "$what adds, bytes of text" "$(($(text tine $name) - $(text tine plain)))" \
        "$(($(text rayon $name) - $(text rayon plain)))"
done
