#!/usr/bin/env bash
# Puts each fault that the pool once had back into a copy of it, and counts after how many schedules its
# scene finds it: tests/mutants/faults.mutants.
#
#   tests/faults.sh                 all, from five seeds each
#   tests/faults.sh "fault n"       this one
#   SEEDS=20 tests/faults.sh        from that many seeds
#
# Fails if a scene does not find its fault within 10,000 schedules from each of the seeds. Linux only.
set -u

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
: "${SEEDS:=5}"
missed=0
while IFS= read -r heading; do
    fault=${heading%%:*} scene=${heading#*: } scene=${scene%%:*}
    tests/mutants.sh --put "$fault:" || exit 1
    if ! (cd target/mutants/put && timeout 400 tests/schedules.sh --scenes --scene "$scene" --most 0) >/dev/null 2>target/mutants/log; then
        echo "$fault: it does not compile"; tail -n 20 target/mutants/log; missed=1; continue
    fi
    found=()
    for ((seed = 0; seed < SEEDS; seed++)); do
        said=$(timeout 300 target/mutants/put/target/sched/release/tine-sched --scenes --scene "$scene" \
            --seed $((seed * 10000)) --most 10000 --seconds 240 2>&1)
        count=$(sed -n "s/^$scene: FAILED.* of \([0-9]*\)$/\1/p" <<<"$said" | head -n 1)
        found+=("${count:-missed}")
        [ -n "$count" ] || missed=1
    done
    echo "$heading: ${found[*]}"
done < <(sed -n 's/^== //p' tests/mutants/faults.mutants | grep -F -- "${1:-fault}")
exit $missed
