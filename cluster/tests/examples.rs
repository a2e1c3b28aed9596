//! The examples, as a user starts them: on one rank, and on several that are threads.
//!
//! Each checks its own answer; here: that they say the same on any number of ranks, and what a wrong launch and
//! a failing rank say.

#[path = "examples/started.rs"]
mod started;

use started::{EXAMPLES, Started, example, start};
#[cfg(target_os = "linux")]
use started::{code_of, limited};

#[test]
fn examples_say_the_same_on_any_number_of_ranks() {
    for name in EXAMPLES.iter().chain(&["verbs"]) {
        let alone = start(&example(name), &[]);
        assert_eq!(alone.code, Some(0), "{name}: {}", alone.err);
        assert!(!alone.out.is_empty(), "{name}");
        for ranks in ["1", "3", "4"] {
            let several = start(&example(name), &[("TINE_RANKS", ranks)]);
            assert_eq!(several.code, Some(0), "{name} on {ranks}: {}", several.err);
            assert_eq!(several.out, alone.out, "{name} on {ranks}");
        }
    }
}

#[test]
fn rounds_of_any_size_will_do() {
    let rounds = [("TINE_RANKS", "3"), ("TINE_ROUND", "2000")];
    let small = start(&example("word_count"), &rounds);
    assert_eq!(
        small.out,
        start(&example("word_count"), &[]).out,
        "{}",
        small.err
    );
}

fn refused(variables: &[(&str, &str)]) -> String {
    let Started { code, err, out } = start(&example("word_count"), variables);
    assert_eq!(code, Some(101), "{err}");
    assert_eq!(out, "");
    err
}

#[test]
fn wrong_launches_are_refused() {
    assert!(refused(&[("TINE_RANKS", "none")]).contains("TINE_RANKS=none is no number of ranks"));
    assert!(refused(&[("TINE_ROUND", "big")]).contains("TINE_ROUND=big is no number of bytes"));
    let both = refused(&[("TINE_RANKS", "2"), ("OMPI_COMM_WORLD_SIZE", "2")]);
    assert!(both.contains("unset TINE_RANKS"), "{both}");
    if !cfg!(feature = "mpi") {
        let without = refused(&[("OMPI_COMM_WORLD_SIZE", "4")]);
        assert!(
            without.contains("started 4 ranks") && without.contains("--features mpi"),
            "{without}"
        );
    }
}

/// The system has no room for the stack of a rank's thread.
#[test]
#[cfg(target_os = "linux")]
fn ranks_that_cannot_be_started_are_told() {
    let stack = (1_usize << (usize::BITS - 4)).to_string();
    let variables = [("TINE_RANKS", "3"), ("RUST_MIN_STACK", &*stack)];
    let refused = start(&example("word_count"), &variables);
    assert_eq!(refused.code, Some(101), "{}", refused.err);
    assert_eq!(refused.err.lines().count(), 1, "{}", refused.err);
    let begin = "rank 0 of 3 could not be started: ";
    assert!(refused.err.starts_with(begin), "{}", refused.err);
}

/// The table of faults, on ranks that are threads.
#[test]
fn the_first_line_says_rank_and_reason() {
    let cases = [
        ("panic", "rank 2 of 4 panicked at ", ": item 600"),
        (
            "panic-rank",
            "rank 2 of 4 panicked at ",
            ": on the rank's own thread",
        ),
        ("error", "rank 1 of 4 failed: ", "disk full"),
        ("agreed", "rank 1 of 4 failed: ", "disk full"),
        (
            "got over",
            "rank 2 of 4 failed: ",
            "disk full (an error of rank 1)",
        ),
        (
            "part",
            "rank 0 of 4: the ranks have parted: ranks 0, 1, 2 are in `sum` at ",
            "",
        ),
        (
            "leave",
            "rank 0 of 4: the ranks have parted: ranks 0, 1, 2 are in `count` at ",
            "rank 3 is at its end (after 0 collectives)",
        ),
        (
            "plain",
            "rank 0 of 4: `all_gather` at ",
            "rank 3 registered [f32; 3] and rank 0 registered none",
        ),
        (
            "bomb",
            "rank 3 of 4 panicked at ",
            ": a value that is no text",
        ),
        ("stopped", "rank 2 of 4 failed: ", ""),
        (
            "caught",
            "rank 3 of 4: its body has caught a panic ",
            ": the others may still be there",
        ),
    ];
    for (fault, begin, end) in cases {
        let failed = start(&example("faults"), &[("TINE_RANKS", "4"), ("FAULT", fault)]);
        assert_eq!(failed.code, Some(101), "{fault}: {}", failed.err);
        let line = failed.err.lines().next().unwrap_or_default();
        assert!(
            line.starts_with(begin) && line.ends_with(end),
            "{fault}: {}",
            failed.err
        );
        assert_eq!(failed.err.lines().count(), 1, "{fault}: {}", failed.err);
    }
    let left = start(
        &example("faults"),
        &[("TINE_RANKS", "4"), ("FAULT", "exit")],
    );
    assert_eq!(left.code, Some(3), "{}", left.err);
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        let said = "rank 3 of 4 left: its body has ended the process\n";
        assert_eq!(left.err, said);
    }
    // A rank that computes for ever does not keep the job.
    let stuck = start(
        &example("faults"),
        &[("TINE_RANKS", "4"), ("FAULT", "stuck")],
    );
    assert_eq!(stuck.code, Some(101));
    assert!(
        stuck.err.starts_with("rank 1 of 4 failed: "),
        "{}",
        stuck.err
    );
}

/// If the text cannot be written, a failing rank ends the job nevertheless.
#[test]
#[cfg(target_os = "linux")]
fn a_failure_that_cannot_be_told_ends_all() {
    use std::fs::File;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::{Command, Stdio};

    let full = || OwnedFd::from(File::options().write(true).open("/dev/full").unwrap());
    let closed = || OwnedFd::from(UnixStream::pair().unwrap().0);
    for (name, deaf) in [("full", &full as &dyn Fn() -> OwnedFd), ("closed", &closed)] {
        for ranks in ["1", "4"] {
            for fault in ["error", "panic", "agreed", "part", "exit"] {
                let mut program = Command::new(example("faults"));
                program.envs([("TINE_RANKS", ranks), ("FAULT", fault)]);
                let code = code_of(limited(20, &program).stderr(Stdio::from(deaf())));
                let ends = match (fault, ranks) {
                    ("exit", _) => 3,
                    // Only one rank; it meets no other.
                    ("error" | "agreed" | "part", "1") => 0,
                    _ => 101,
                };
                assert_eq!(code, Some(ends), "{name}, {fault} on {ranks}");
            }
        }
    }
    // A program that cannot be started ends like that, too.
    let mut program = Command::new(example("word_count"));
    program.env("TINE_RANKS", "none");
    let code = code_of(limited(20, &program).stderr(Stdio::from(full())));
    assert_eq!(code, Some(101));
}
