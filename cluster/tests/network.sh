#!/usr/bin/env bash
# Two ranks that see each other over a network only: a network namespace each, joined by a
# pair of virtual cards, so that Open MPI has nothing but TCP. Run by hand, as root, with Open MPI,
# iproute2 and (for the link that delays and drops) a kernel that has netem:
#
#     cluster/tests/network.sh [program]      a program of cluster/examples; `verbs` by default
#
# 1. a clean link       the program says what it says on one rank
# 2. 20 ms, 2 % lost    the same, later; skipped by name if the kernel has no netem
# 3. a rank is killed   the job ends within 10 s, and the launcher names the rank
# 4. the link goes down in the midst of an exchange: what is seen is printed; after 30 s
#    the job is ended from outside
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
program=${1:-verbs}
cargo build -q -p tine-cluster --features mpi --examples || exit 1
bin=$PWD/target/debug/examples
a=tine-a-$$ b=tine-b-$$
scratch=$(mktemp -d)
failed=0

tidy() {
    sweep
    ip netns del "$a" 2>/dev/null
    ip netns del "$b" 2>/dev/null
    rm -rf "$scratch"
}
trap tidy EXIT

ip netns add "$a" && ip netns add "$b" || {
    echo "not run: network namespaces cannot be made here"
    exit 77
}
ip link add tv0 netns "$a" type veth peer name tv0 netns "$b" || exit 77
ip -n "$a" addr add 10.77.0.1/24 dev tv0
ip -n "$b" addr add 10.77.0.2/24 dev tv0
for space in "$a" "$b"; do
    ip -n "$space" link set lo up
    ip -n "$space" link set tv0 up
done

# The launcher stands in the first namespace, and "logs in" to the second by entering it.
printf '#!/bin/sh\nshift\nexec ip netns exec %s unshare --uts sh -c "hostname other; $*"\n' "$b" >"$scratch/enter"
chmod +x "$scratch/enter"
job() {
    timeout -k 5 "$1" ip netns exec "$a" env TINE_NUM_THREADS=1 "${@:3}" mpirun --allow-run-as-root \
        --host 10.77.0.1,10.77.0.2 --map-by ppr:1:node --bind-to none -n 2 \
        --mca plm_rsh_agent "$scratch/enter" --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 \
        --mca oob_tcp_if_include 10.77.0.0/24 "$bin/$2"
}

# What a killed launcher leaves in the second namespace.
sweep() {
    ip netns pids "$b" | xargs -r kill -9
    ip netns pids "$a" | xargs -r kill -9
}

verdict() {
    echo "$1: $2"
    [ "$2" != "WRONG" ] || failed=1
}

same() {
    local begun=$SECONDS rc
    job 120 "$program" >"$scratch/two" 2>"$scratch/err"
    rc=$?
    if [ $rc -eq 0 ] && cmp -s "$scratch/one" "$scratch/two"; then
        verdict "$1" "the same as on one rank, $((SECONDS - begun)) s"
    else
        tail -5 "$scratch/err"
        verdict "$1" WRONG
    fi
}

TINE_RANKS=1 "$bin/$program" >"$scratch/one" || exit 1
same "a clean link"
if tc -n "$a" qdisc add dev tv0 root netem delay 20ms loss 2% 2>"$scratch/netem" &&
    tc -n "$b" qdisc add dev tv0 root netem delay 20ms loss 2%; then
    same "20 ms, 2 % lost"
    tc -n "$a" qdisc del dev tv0 root
    tc -n "$b" qdisc del dev tv0 root
else
    echo "20 ms, 2 % lost: not run: $(head -1 "$scratch/netem")"
fi

begun=$SECONDS
job 30 faults FAULT=killed >"$scratch/two" 2>"$scratch/err"
rc=$?
grep -h 'process rank' "$scratch/two" "$scratch/err"
if [ $rc -ne 0 ] && [ $rc -ne 124 ] && [ $((SECONDS - begun)) -le 10 ]; then
    verdict "a rank is killed" "status $rc, $((SECONDS - begun)) s"
else
    verdict "a rank is killed" WRONG
fi

begun=$SECONDS
job 30 "$program" TINE_ROUND=64 >"$scratch/two" 2>"$scratch/err" &
sleep 2
ip -n "$b" link set tv0 down
wait $!
echo "the link goes down: status $?, $((SECONDS - begun)) s; $(grep -v '^-*$' "$scratch/err" | head -2)"
exit $failed
