#!/usr/bin/env bash
# One step of a protocol left out, weakened or swapped at a time: do the checks notice?
#
#   tests/mutants.sh                    every mutant; prints those that survive, and fails then
#   tests/mutants.sh pop_slow latch     those with one of these words in their heading
#   tests/mutants.sh --list             their headings, of all or of those with one of the words that follow
#   tests/mutants.sh --check            only whether each one's text is still to be found, once
#   JOBS=2 tests/mutants.sh             on this number of copies of the project at once
#   tests/mutants.sh --put WORD         puts the first of these into target/mutants/put, and leaves it there
#   EVERY=3 tests/mutants.sh            each third of all: the third, the sixth …
#   EVERY=3 OFFSET=1 tests/mutants.sh   the first, the fourth …
#   LEVELS=own tests/mutants.sh         own, unit, models, tests, schedules: only these, in this order
#   tests/mutants.sh --keep             puts what the last run found into tests/mutants/verdicts.tsv, and
#                                       what --table says into ARCHITECTURE.md
#   tests/mutants.sh --table            counts what lies there, a line for each protocol
#
# The mutants are data, tests/mutants/*.mutants:
#
#   == HEADING
#   FILE [FUNCTION] : CHECK…            a file of pool/src, iter/src or collections/src by its name, wherever it lies; then its own
#                                       checks: MODEL, @SCENE of the schedules, PACKAGE:TEST, or PACKAGE:lib for tests beside the code
#   - the text to find                  lines are trimmed, lines of comments do not count;
#   + the text to put                   the first and the last may be parts of a line
#   ! WHY                               nothing can notice it, and why
#
# The text stands once in the function (of one of the functions of that name), or once in the file
# if none is named. A text that is not found is an error that names its mutant. A mutant is put
# into a copy of the project, below target/mutants. Its own checks are asked first, then the tests
# beside the code, then all models, then the tests of the pool, then the schedules where there is a tests/schedules.sh, each within a
# limit of time. What is marked with `!` must survive all of them, or the mark is wrong.
#
# A check that ends in time and passes has not noticed. One that fails has. A model that gets over
# its limit gives no answer; a test that does so twice hangs, and has noticed. Before the first mutant
# all of these checks are asked about the copy as it is: if one fails there, or takes more than half
# of its limit, no mutant is tried.
set -u

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
root=$PWD
work=$root/target/mutants
mkdir -p "$work"
: "${JOBS:=1}" "${EVERY:=1}" "${OFFSET:=0}" "${LEVELS:=own unit models tests schedules}"
: "${MODEL_LIMIT:=60}" "${TEST_LIMIT:=120}" "${SCHEDULE_LIMIT:=60}" "${SCENE_MOST:=6000}"
models=(census nested spawned slab injector latch job park seats scope spares sleep)

# mutate <mutant's number> <file of mutants> <source>: the source with the mutant in it.
mutate() {
    awk -v wanted="$1" -f - "$2" "$3" <<'AWK'
function trim(s) { sub(/^[ \t]+/, "", s); sub(/[ \t]+$/, "", s); return s }
function complain(why) { print why >"/dev/stderr"; failed = 1; exit 1 }
FNR == NR {
    if (/^== /) { n++; next }
    if (n != wanted) next
    if (/^- /) { find = find (finds++ ? "\n" : "") trim(substr($0, 3)); next }
    if (/^\+/) { put = put (puts++ ? "\n" : "") trim(substr($0, 2)); next }
    if (/ : / && name == "" && finds == 0) {
        split($0, halves, " : ")
        if (split(halves[1], words, " ") > 1) name = words[2]
    }
    next
}
{ line[++lines] = $0 }
# Replaces in the lines from..to; says how often the text is there.
function look(from, to,    i, text, t, count, rest, at) {
    text = ""
    for (i = from; i <= to; i++) {
        t = trim(line[i])
        if (t ~ /^\/\// || t == "") continue
        text = text (text == "" ? "" : "\n") t
    }
    rest = text
    while ((at = index(rest, find)) > 0) { count++; rest = substr(rest, at + length(find)) }
    if (count == 1) {
        at = index(text, find)
        new = substr(text, 1, at - 1) put substr(text, at + length(find))
        new_from = from; new_to = to
    }
    return count
}
END {
    if (failed) exit 1
    if (find == "") complain("no text to find")
    if (name == "") total = look(1, lines)
    else {
        for (i = 1; i <= lines; i++) {
            if (line[i] !~ ("(^|[^a-z_])fn " name "[(<]")) continue
            match(line[i], /^ */)
            end = "^" substr(line[i], 1, RLENGTH) "}"
            for (j = i; j <= lines; j++) if (line[j] ~ end) break
            total += look(i, j)
            i = j
        }
    }
    if (total == 0) complain("its text is not to be found")
    if (total > 1) complain("its text is there " total " times")
    for (i = 1; i < new_from; i++) print line[i]
    print new
    for (i = new_to + 1; i <= lines; i++) print line[i]
}
AWK
}

# Where mutants are put, in this order.
crates="pool iter collections"

# source_of <copy> <name>: the path of the file of that name, below the src of the first of those crates that has it.
source_of() {
    local crate found
    for crate in $crates; do
        found=$(cd "$1" && find $crate/src -name models -prune -o -type f -path "*/$2" -print)
        [ -z "$found" ] || break
    done
    [ "$(wc -l <<<"$found")" -eq 1 ] && [ -n "$found" ] && echo "$found"
}

# The mutants, a line each: file of mutants, number, heading, source, models, mark.
mutants() {
    local data
    for data in tests/mutants/*.mutants; do
        awk -v data="$data" 'function flush() {
                if (heading != "") print data "\t" n "\t" heading "\t" source "\t" models "\t" mark
            }
            /^== / { flush(); n++; heading = substr($0, 4); source = models = mark = ""; next }
            /^! / { mark = substr($0, 3); next }
            / : / && source == "" {
                split($0, halves, " : "); split(halves[1], words, " ")
                source = words[1]; models = halves[2]
            }
            END { flush() }' "$data"
    done
}

chosen() {
    local all word
    all=$(mutants | awk -v every="$EVERY" -v offset="$OFFSET" 'NR % every == offset % every')
    [ $# -gt 0 ] || { echo "$all"; return; }
    for word in "$@"; do awk -F'\t' -v w="$word" 'index($3, w)' <<<"$all"; done | sort -u
}

# ask <limit> <log> <command...>: 0 if it passed, 1 if it failed, 2 if it took too long. It is not
# waited for once its output tells of a failed test.
ask() {
    local limit=$1 log=$2 pid rc begun=$SECONDS
    shift 2
    set -m
    timeout -k 5 "$limit" "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    set +m
    while kill -0 $pid 2>/dev/null; do
        if grep -q '^test .*FAILED$' "$log"; then
            kill -- -$pid 2>/dev/null
            wait $pid 2>/dev/null
            return 1
        fi
        sleep 0.2
    done
    wait $pid 2>/dev/null
    rc=$?
    [ $((2 * (SECONDS - begun))) -le "$limit" ] || echo "$* took $((SECONDS - begun)) s of $limit" >>"$copy/late"
    case $rc in 0) return 0 ;; 124 | 137) return 2 ;; *) return 1 ;; esac
}

# The same, asked again if it took too long: the machine may have been busy.
ask_twice() {
    ask "$@"
    case $? in
    0) return 0 ;;
    1) return 1 ;;
    *) ask "$@" ;;
    esac
}

# built <log> <command...>: builds, and names the program that cargo tells of.
built() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 </dev/null || return 1
    sed -n 's/.*Executable .*(\(.*\))$/\1/p' "$log"
}

# Each level says what noticed the mutant in <copy>, if anything did (0), that nothing did (1),
# that it does not compile (2).
level_own() {
    local word rc own=""
    for word in $1; do
        case $word in
        @*) ask_scene "${word#@}" ;;
        *:*) ask_test "${word%:*}" "${word#*:}" ;;
        *) own+=" $word"; continue ;;
        esac
        rc=$?
        [ $rc -eq 1 ] || return $rc
    done
    # shellcheck disable=SC2086
    ask_models $own
}

ask_scene() {
    (cd "$copy" && ask 400 "$copy/log" tests/schedules.sh --scenes --scene "$1" --seed 1 \
        --most "$SCENE_MOST" --jobs 1 --seconds 60)
    [ $? -ne 1 ] || { compiled || return 2; echo "scene $1"; return 0; }
    return 1
}

# Whether what failed was more than the build.
compiled() {
    ! grep -q '^error: could not compile' "$copy/log"
}

ask_test() {
    local program rc
    local which=(--test "$2")
    [ "$2" != lib ] || which=(--lib)
    program=$(CARGO_TARGET_DIR=$copy/target/tests built "$copy/log" cargo test -p "$1" "${which[@]}" \
        --no-run) || return 2
    program=$(realpath "$program")
    (cd "$copy" && ask_twice "$TEST_LIMIT" "$copy/log" "$program")
    rc=$?
    [ $rc -ne 0 ] || return 1
    [ $rc -ne 1 ] || { echo "test $2: $(failure "$copy/log")"; return 0; }
    echo "test $2: hangs"
}

level_models() {
    ask_models "${models[@]}"
}

ask_models() {
    local program model rc
    [ $# -gt 0 ] || return 1
    program=$(CARGO_TARGET_DIR=$copy/target/loom CARGO_INCREMENTAL=1 built "$copy/log" tests/models.sh \
        -p tine-pool --no-run) || return 2
    for model in "$@"; do
        [[ " $asked " != *" $model "* ]] || continue
        asked+=" $model"
        [ -e pool/src/models/"$model".rs ] || continue
        LOOM_MAX_PREEMPTIONS=2 ask "$MODEL_LIMIT" "$copy/log" "$program" "models::$model::"
        rc=$?
        [ $rc -ne 1 ] || { echo "model $model: $(failure "$copy/log")"; return 0; }
        [ $rc -ne 2 ] || slow+=" $model"
    done
    return 1
}

level_unit() {
    ask_tests --lib
}

level_tests() {
    ask_tests --tests
}

ask_tests() {
    local program programs
    programs=$(CARGO_TARGET_DIR=$copy/target/tests built "$copy/log" cargo test -p tine-pool "$@" \
        --no-run) || return 2
    for program in $programs; do
        # Cargo names what lies below the directory it was called in from there.
        program=$(realpath "$program")
        # From where they were built, as cargo does it.
        (cd "$copy/pool" && ask_twice "$TEST_LIMIT" "$copy/log" "$program")
        case $? in
        1) echo "tests, $(basename "${program%-*}"): $(failure "$copy/log")"; return 0 ;;
        2) echo "tests, $(basename "${program%-*}"): hangs"; return 0 ;;
        esac
    done
    return 1
}

level_schedules() {
    [ -x "$copy/tests/schedules.sh" ] || return 1
    (cd "$copy" && ask "$((SCHEDULE_LIMIT + 300))" "$copy/log" tests/schedules.sh "$SCHEDULE_LIMIT" 1)
    [ $? -ne 1 ] || { compiled || return 2; echo "schedules: $(tail -n 1 "$copy/log")"; return 0; }
    return 1
}

failure() {
    local name
    name=$(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$1" | head -n 1)
    echo "${name:-it ended badly}"
}

# Asks every level about the copy as it is, with the checks of all chosen mutants. If one of them says
# that something is wrong, or takes long, says which, and fails.
control() {
    local level first asked="" slow=""
    cd "$copy" || return
    : >"$copy/late"
    first=$(cut -f 5 "$list" | tr ' ' '\n' | sort -u | tr '\n' ' ')
    for level in $LEVELS; do
        "level_$level" "$first" >"$copy/said"
        case $? in
        0) echo "$level: $(cat "$copy/said")"; return 1 ;;
        2) echo "$level: $(grep -m1 '^error' "$copy/log")"; return 1 ;;
        esac
    done
    [ -z "$slow" ] || { echo "no answer in time:$slow"; return 1; }
    [ ! -s "$copy/late" ] || { head -n 1 "$copy/late"; return 1; }
}

# Puts a mutant into the copy, asks, takes it out, and prints a line: verdict, heading, why.
try() {
    local data=$1 number=$2 heading=$3 source=$4 first=$5 mark=$6 path level said rc
    local asked="" slow="" verdict=survived
    cd "$copy" || return
    path=$(source_of whole "$source")
    if ! mutate "$number" "$root/$data" "whole/$path" >"$copy/mutant" 2>"$copy/log"; then
        printf 'LOST\t%s\t%s\n' "$heading" "$(cat "$copy/log")"
        return
    fi
    cp "$copy/mutant" "$path"
    for level in $LEVELS; do
        said_to=$copy/said
        "level_$level" "$first" >"$said_to"
        rc=$?
        said=$(cat "$said_to")
        [ $rc -ne 2 ] || { verdict=BROKEN; said=$(grep -m1 '^error' "$copy/log"); break; }
        [ $rc -ne 0 ] || { verdict=noticed; break; }
    done
    cp "whole/$path" "$path"
    [ $verdict != survived ] || said="${slow:+no answer in time:$slow}"
    case $verdict,${mark:+marked} in
    survived,marked) verdict=equal said=$mark ;;
    survived,) verdict=SURVIVED ;;
    noticed,marked) verdict=UNEQUAL ;;
    esac
    printf '%s\t%s\t%s\n' "$verdict" "$heading" "$said"
}

# The sources as they are now, in a copy whose unchanged files keep their times.
make_copy() {
    mkdir -p "$1"
    git ls-files --cached --others --exclude-standard -z | tar -c --null -T - 2>/dev/null |
        tar -x -C "$1" --keep-newer-files 2>/dev/null
    # A mutant that an earlier run has left behind.
    local crate
    for crate in $crates; do
        (cd $crate && find src -type f) | while read -r file; do
            cmp -s "$crate/$file" "$1/$crate/$file" || cp "$crate/$file" "$1/$crate/$file"
        done
        (cd "$1/$crate" && find src -type f) | while read -r file; do
            [ -e "$crate/$file" ] || rm -f "$1/$crate/$file"
        done
    done
    # What is mutated, and put back: the project may be worked on meanwhile.
    rm -rf "$1/whole"
    for crate in $crates; do
        mkdir -p "$1/whole/$crate"
        cp -r $crate/src "$1/whole/$crate/src"
    done
}

verdicts=tests/mutants/verdicts.tsv

# How many mutants of each protocol were noticed by what.
table() {
    awk -F'\t' '
        BEGIN {
            count = split("nested=deque of joins;spawned=deque of spawns;injector=injector, job memory;" \
                "slab=injector, job memory;latch=latch, job word, parker;job=latch, job word, parker;" \
                "parker=latch, job word, parker;word=the word of a seat, its steps;" \
                "table=the word of a seat, its steps;census=the word of a seat, its steps;context=context;" \
                "sleep=sleep;lull=sleep;spares=spare seats;end=spare seats;scope=scopes;kept=scopes;mail=mail, posting;" \
                "ring=mail, posting;post=mail, posting;worker=workers, waits;wait=workers, waits;" \
                "course=workers, waits;errand=errands;bridge=bridges of iterators;split=splits, lines of splits;" \
                "unwind=workers, waits;family=workers, waits;kin=workers, waits;names=workers, waits;find=workers, waits;" \
                "choice=workers, waits;yield=workers, waits;patience=sleep;looker=sleep;place=mail, posting;" \
                "line=splits, lines of splits;search=splits, lines of splits;pace=pace of loops;whole=pace of loops;" \
                "site=pace of loops;start=pace of loops;trial=trials of joins;thinned=maps that collect;passed=maps that collect;" \
                "fault=faults of old", pairs, ";")
            for (i = 1; i <= count; i++) {
                split(pairs[i], pair, "=")
                name[pair[1]] = pair[2]
                if (!(pair[2] in rank)) { rank[pair[2]] = ++rows; row[rows] = pair[2] }
            }
            row[++rows] = "all"
        }
        FNR == 1 { file++ }
        file == 1 { verdict[$2] = $1; by[$2] = $3; next }
        {
            split($3, words, /[ :]/)
            kind = $6 != "" ? "equal" : verdict[$3] == "SURVIVED" ? "open" : verdict[$3] == "" ? "not run" : \
                by[$3] ~ /^model/ ? "models" : by[$3] ~ /^(schedules|scene)/ ? "schedules" : "tests"
            split(name[words[1]] ";all", both, ";")
            for (i in both) { sum[both[i]]++; of[both[i], kind]++ }
        }
        END {
            columns = split("models,schedules,tests,equal,open,not run", column, ",")
            line = "| protocol | mutants |"
            rule = "|---|---|"
            for (i = 1; i <= columns; i++) { line = line " " column[i] " |"; rule = rule "---|" }
            print line "\n" rule
            for (r = 1; r <= rows; r++) {
                line = "| " row[r] " | " sum[row[r]] " |"
                for (i = 1; i <= columns; i++) line = line " " of[row[r], column[i]] + 0 " |"
                print line
            }
        }' "$verdicts" <(mutants)
}

# ARCHITECTURE.md with that table in it.
page() {
    TABLE=$(table) awk '/^<!-- mutants: end/ { skip = 0 }
        !skip { print }
        /^<!-- mutants: from/ { skip = 1; print "\n" ENVIRON["TABLE"] "\n" }' ARCHITECTURE.md
}

case ${1:-} in
--table)
    table
    exit
    ;;
--list)
    chosen "${@:2}" | cut -f 3
    exit
    ;;
--check)
    wrong=0
    while IFS=$'\t' read -r data number heading source _; do
        path=$(source_of . "$source")
        why=$(mutate "$number" "$data" "${path:-/dev/null}" 2>&1 >/dev/null) ||
            { [ -n "$path" ] || why="there is no such file"; echo "$heading ($source): $why"; wrong=1; }
    done < <(mutants)
    page | cmp -s - ARCHITECTURE.md || { echo "ARCHITECTURE.md has another table than --table; --keep writes it"; wrong=1; }
    echo "$(mutants | wc -l) mutants, $(mutants | cut -f 6 | grep -c .) of them marked as equal"
    exit $wrong
    ;;
esac

# What was found, and what still is of mutants that are there.
if [ "${1:-}" = --keep ]; then
    # Without a run, only the table is written.
    mkdir -p "$work"
    [ -e "$work/results" ] || : >"$work/results"
    awk -F'\t' -v OFS='\t' 'FNR == 1 { file++ }
        file == 1 { there[$3] = 1; next }
        ($2 in there) && ($1 == "noticed" || $1 == "SURVIVED") { verdict[$2] = $1; by[$2] = $3 }
        END { for (heading in verdict) print verdict[heading], heading, by[heading] }' \
        <(mutants) "$verdicts" "$work/results" | sort -t$'\t' -k2 >"$work/verdicts"
    mv "$work/verdicts" "$verdicts"
    page >"$work/page"
    cp "$work/page" ARCHITECTURE.md
    exit
fi

if [ "${1:-}" = --put ]; then
    copy=$work/put
    make_copy "$copy"
    IFS= read -r line < <(chosen "$2")
    IFS=$'\x1f' read -r data number heading source _ <<<"${line//$'\t'/$'\x1f'}"
    path=$(source_of "$copy/whole" "$source") &&
        mutate "$number" "$data" "$copy/whole/$path" >"$copy/mutant" && cp "$copy/mutant" "$copy/$path"
    exit
fi

results=$work/results
: >"$results"
list=$work/list
chosen "$@" >"$list"
worker() {
    local copy=$work/copy-$1 data number heading source first mark
    make_copy "$copy"
    if ! (control >"$copy/control"); then
        printf 'CONTROL\tthe copy without a mutant\t%s\n' "$(cat "$copy/control")" | tee -a "$results"
        return
    fi
    # Every n-th, by what this one's number is. Fields may be empty, so not split by tabs.
    while IFS= read -r line; do
        IFS=$'\x1f' read -r data number heading source first mark <<<"${line//$'\t'/$'\x1f'}"
        (try "$data" "$number" "$heading" "$source" "$first" "$mark") | tee -a "$results"
    done < <(awk -v jobs="$JOBS" -v mine="$1" 'NR % jobs == mine - 1' "$list")
}
for ((job = 1; job <= JOBS; job++)); do worker $job & done
wait
echo
cut -f 1 "$results" | sort | uniq -c
! grep -E '^(CONTROL|SURVIVED|LOST|BROKEN|UNEQUAL)' "$results"
