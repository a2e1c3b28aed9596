//! Ranks that `mpirun` starts: the examples say what they say on one rank, and the table of faults.
//!
//! Built with the feature `mpi`. Where there is no `mpirun` the tests say so and
//! pass, unless TINE_NEED_MPI=1. With MPICH beside Open MPI:
//!
//!     MPICC=mpicc.mpich MPIRUN=mpirun.mpich cargo test -p tine-cluster --features mpi --test mpi
//!
//! One job runs at a time, so that the time limits are for one job.
#![cfg(feature = "mpi")]

#[path = "examples/started.rs"]
mod started;

use started::{EXAMPLES, Started, example, finish, finish_within, start};
use std::env;
use std::process::Command;
use std::sync::{Mutex, MutexGuard};

/// The launcher is that of Open MPI.
const OPEN_MPI: &str = "--allow-run-as-root";
/// Every failing job ends within this number of seconds.
const LIMIT: u32 = 10;

static TURN: Mutex<()> = Mutex::new(());

/// Waits until no other job runs.
fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(|broken| broken.into_inner())
}

fn mpirun_name() -> String {
    env::var("MPIRUN").unwrap_or_else(|_| "mpirun".to_owned())
}

/// How ranks are started here; nothing if they cannot be.
fn launcher() -> Option<Vec<&'static str>> {
    let version = Command::new(mpirun_name()).arg("--version").output();
    let Ok(version) = version else {
        assert!(env::var_os("TINE_NEED_MPI").is_none(), "there is no mpirun");
        eprintln!("not run: there is no mpirun");
        return None;
    };
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    Some(
        if version.contains("Open MPI") || version.contains("OpenRTE") {
            vec![OPEN_MPI, "--oversubscribe", "--bind-to", "none"]
        } else {
            vec!["-bind-to", "none"]
        },
    )
}

fn job(options: &[&str], ranks: usize, name: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(mpirun_name());
    command
        .args(options)
        .args(["-n", &ranks.to_string()])
        .arg(example(name))
        .env("TINE_NUM_THREADS", "1")
        .envs(variables.iter().copied());
    command
}

fn mpirun(options: &[&str], ranks: usize, name: &str, variables: &[(&str, &str)]) -> Started {
    let _turn = turn();
    finish(&mut job(options, ranks, name, variables))
}

/// A job of `verbs` on three ranks; only the first has a variable.
fn first_has(options: &[&str], name: &str, value: &str) -> Started {
    let _turn = turn();
    let first = format!("{name}={value}");
    let program = example("verbs");
    let program = program.to_str().unwrap();
    let mut command = Command::new(mpirun_name());
    command
        .args(options)
        .args(["-n", "1", "env", &first, program, ":"])
        .args(["-n", "2", "env", "-u", name, program]);
    if name != "TINE_NUM_THREADS" {
        command.env("TINE_NUM_THREADS", "1");
    }
    finish_within(LIMIT, &mut command)
}

/// A job that fails, on four ranks. If it did not end in time, its status is 124 or 137.
fn fails(options: &[&str], fault: &str) -> Started {
    let _turn = turn();
    finish_within(LIMIT, &mut job(options, 4, "faults", &[("FAULT", fault)]))
}

fn first_line(text: &str) -> &str {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.next().unwrap_or_default()
}

#[test]
fn examples_say_what_one_rank_says() {
    let Some(options) = launcher() else { return };
    for name in EXAMPLES.iter().chain(&["verbs"]) {
        let alone = start(&example(name), &[("TINE_RANKS", "1")]);
        assert_eq!(alone.code, Some(0), "{name}: {}", alone.err);
        for ranks in [1, 3, 4] {
            let several = mpirun(&options, ranks, name, &[]);
            assert_eq!(several.code, Some(0), "{name} on {ranks}: {}", several.err);
            assert_eq!(several.out, alone.out, "{name} on {ranks}");
        }
        let small = mpirun(&options, 3, name, &[("TINE_ROUND", "4000")]);
        assert_eq!(
            small.out, alone.out,
            "{name} in small rounds: {}",
            small.err
        );
    }
}

#[test]
fn without_a_launcher_there_is_one_rank() {
    if launcher().is_none() {
        return;
    }
    let alone = start(&example("verbs"), &[]);
    assert_eq!(alone.code, Some(0), "{}", alone.err);
    assert_eq!(
        alone.out,
        start(&example("verbs"), &[("TINE_RANKS", "2")]).out
    );
}

#[test]
fn the_first_line_says_rank_and_reason() {
    let Some(options) = launcher() else { return };
    let cases = [
        ("panic", 101, "rank 2 of 4 panicked at "),
        ("panic-rank", 101, "rank 2 of 4 panicked at "),
        ("error", 101, "rank 1 of 4 failed: disk full"),
        ("agreed", 101, "rank 1 of 4 failed: disk full"),
        (
            "got over",
            101,
            "rank 2 of 4 failed: disk full (an error of rank 1)",
        ),
        ("plain", 101, "rank 0 of 4: `all_gather` at "),
        (
            "part",
            101,
            "rank 0 of 4: the ranks have parted: ranks 0, 1, 2 are in `sum` at ",
        ),
        (
            "leave",
            101,
            "rank 0 of 4: the ranks have parted: ranks 0, 1, 2 are in `count` at ",
        ),
        ("exit", 3, "rank 3 of 4 left: "),
        ("bomb", 101, "rank 3 of 4 panicked at "),
        ("stopped", 101, "rank 2 of 4 failed: "),
        (
            "caught",
            101,
            "rank 3 of 4: its body has caught a panic that came out of `sort_by` at ",
        ),
        ("stuck", 101, "rank 1 of 4 failed: the others do not look"),
    ];
    for (fault, code, begin) in cases {
        let failed = fails(&options, fault);
        assert!(
            first_line(&failed.err).starts_with(begin),
            "{fault}: {}",
            failed.err
        );
        if options.contains(&OPEN_MPI) {
            assert_eq!(failed.code, Some(code), "{fault}: {}", failed.err);
        } else {
            // MPICH's launcher mixes in how it ended the others.
            let in_time = !matches!(failed.code, Some(0 | 124) | None);
            assert!(in_time, "{fault}: {:?} {}", failed.code, failed.err);
        }
    }
}

/// A rank that the system ends says nothing, or std's message about memory; the launcher names the rank.
#[test]
fn the_launcher_names_the_rank_that_is_gone() {
    let Some(options) = launcher() else { return };
    let signals = [("aborted", 3, 6), ("killed", 3, 9), ("memory", 1, 6)];
    for (fault, rank, signal) in signals {
        let failed = fails(&options, fault);
        let said = format!("{}{}", failed.out, failed.err);
        let by_system = !matches!(failed.code, Some(0 | 101 | 124) | None);
        assert!(by_system, "{fault}: {:?} {said}", failed.code);
        if options.contains(&OPEN_MPI) {
            let named = said.lines().any(|line| {
                line.contains(&format!("process rank {rank} "))
                    && line.contains(&format!("signal {signal} "))
            });
            assert!(named, "{fault}: {said}");
        } else {
            // MPICH's names a process, not its rank.
            assert!(said.contains("BAD TERMINATION"), "{fault}: {said}");
        }
        if fault == "memory" {
            assert!(failed.err.contains("memory allocation of "), "{said}");
        }
    }
}

#[test]
fn ranks_may_have_different_numbers_of_threads() {
    let Some(options) = launcher() else { return };
    let alone = start(&example("verbs"), &[("TINE_RANKS", "1")]);
    let several = first_has(&options, "TINE_NUM_THREADS", "1");
    assert_eq!(several.code, Some(0), "{}", several.err);
    assert_eq!(several.out, alone.out);
}

/// The length of a round decides in which operations the ranks meet.
#[test]
fn rounds_that_differ_are_refused() {
    let Some(options) = launcher() else { return };
    let refused = first_has(&options, "TINE_ROUND", "4000");
    assert!(!matches!(refused.code, Some(0 | 124 | 137) | None));
    let said = "tine-cluster: TINE_ROUND is 4000 bytes on rank 0 and 268435456 bytes on rank 1 of 3: \
                give all ranks the same.";
    assert_eq!(first_line(&refused.err), said, "{}", refused.err);
}

#[test]
fn wrong_launches_are_refused() {
    if launcher().is_none() {
        return;
    }
    // As if an mpirun of another make had started it: the library sees one rank.
    let alone = start(&example("verbs"), &[("PMI_SIZE", "3")]);
    assert_eq!(alone.code, Some(101), "{}", alone.err);
    assert!(alone.err.contains("of different makes"), "{}", alone.err);
}
