//! Starting programs, and ending them when they do not end.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Examples whose output is the same on any number of ranks.
pub(crate) const EXAMPLES: &[&str] = &[
    "word_count",
    "sort_files",
    "page_rank",
    "join_logs",
    "k_means",
];

/// The output of a program, and how it ended.
pub(crate) struct Started {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The executable of an example: cargo builds it before it runs the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let mut dir = env::current_exe().unwrap();
    dir.pop();
    if dir.ends_with("deps") {
        dir.pop();
    }
    let path = dir
        .join("examples")
        .join(name)
        .with_extension(env::consts::EXE_EXTENSION);
    assert!(
        path.exists(),
        "{} has not been built: `cargo build -p tine-cluster --examples`",
        path.display()
    );
    path
}

/// Runs a command to its end, for at most a minute.
pub(crate) fn finish(command: &mut Command) -> Started {
    finish_within(60, command)
}

/// The same for this number of seconds. Status 124 means that the time was not enough.
pub(crate) fn finish_within(seconds: u32, command: &mut Command) -> Started {
    let ended = limited(seconds, command).output().unwrap();
    Started {
        code: ended.status.code(),
        out: String::from_utf8(ended.stdout).unwrap(),
        err: String::from_utf8(ended.stderr).unwrap(),
    }
}

/// The status of a command, whose output goes where the command says.
#[allow(dead_code, reason = "not every test that shares this needs it")]
pub(crate) fn code_of(command: &mut Command) -> Option<i32> {
    command.stdout(Stdio::null()).status().unwrap().code()
}

/// A command that is ended after this number of seconds.
pub(crate) fn limited(seconds: u32, command: &Command) -> Command {
    let mut limited = Command::new("timeout");
    limited
        .args(["-k", "5", &seconds.to_string()])
        .arg(command.get_program())
        .args(command.get_args());
    limited.envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    for name in ["RUST_BACKTRACE", "TINE_RANKS", "TINE_ROUND"] {
        if command.get_envs().all(|(known, _)| known != name) {
            limited.env_remove(name);
        }
    }
    limited.stdin(Stdio::null());
    limited
}

/// Starts a program with these variables.
pub(crate) fn start(program: &Path, variables: &[(&str, &str)]) -> Started {
    finish(Command::new(program).envs(variables.iter().copied()))
}
