//! Ranks that `mpirun` starts: the examples say what they say on one rank, and the
//! table of faults.
//!
//! Built with the feature `mpi`. Where there is no `mpirun` the tests say so and
//! pass, unless TINE_NEED_MPI=1.
#![cfg(feature = "mpi")]

#[path = "examples/started.rs"]
mod started;

use started::{EXAMPLES, Started, example, finish, start};
use std::env;
use std::process::Command;

/// How ranks are started here; nothing if they cannot be.
fn launcher() -> Option<Vec<&'static str>> {
    let version = Command::new("mpirun").arg("--version").output();
    let Ok(version) = version else {
        assert!(env::var_os("TINE_NEED_MPI").is_none(), "there is no mpirun");
        eprintln!("not run: there is no mpirun");
        return None;
    };
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    Some(
        if version.contains("Open MPI") || version.contains("OpenRTE") {
            vec![
                "--allow-run-as-root",
                "--oversubscribe",
                "--bind-to",
                "none",
            ]
        } else {
            vec!["-bind-to", "none"]
        },
    )
}

fn mpirun(options: &[&str], ranks: usize, name: &str, variables: &[(&str, &str)]) -> Started {
    let mut command = Command::new("mpirun");
    command
        .args(options)
        .args(["-n", &ranks.to_string()])
        .arg(example(name));
    finish(
        command
            .env("TINE_NUM_THREADS", "1")
            .envs(variables.iter().copied()),
    )
}

#[test]
fn examples_say_what_one_rank_says() {
    let Some(options) = launcher() else { return };
    for name in EXAMPLES {
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
            "part",
            101,
            "rank 0 of 4: the ranks have parted: ranks 0, 1, 2 are in `sum` at ",
        ),
        (
            "leave",
            101,
            "rank 0 of 4: the ranks have parted: ranks 0, 1, 2 are in `count` at ",
        ),
        ("stuck", 101, "rank 1 of 4 failed: the others do not look"),
    ];
    for (fault, code, begin) in cases {
        let failed = mpirun(&options, 4, "faults", &[("FAULT", fault)]);
        let first = failed
            .err
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default();
        assert!(first.starts_with(begin), "{fault}: {}", failed.err);
        assert_eq!(failed.code, Some(code), "{fault}: {}", failed.err);
    }
    // These end without a word of ours: the launcher ends the job.
    for fault in ["exit", "killed", "memory"] {
        let failed = mpirun(&options, 4, "faults", &[("FAULT", fault)]);
        assert!(
            !matches!(failed.code, Some(0 | 124 | 137) | None),
            "{fault}: {:?} {}",
            failed.code,
            failed.err
        );
    }
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
