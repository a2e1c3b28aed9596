//! The environment variables that name the number of threads. Each case is a process of its own.
#![cfg(not(any(miri, loom)))]

use std::env;
use std::process::Command;
use tine_pool::ThreadPoolBuilder;

const CHILD: &str = "TINE_TEST_PRINTS";
const NAMES: [&str; 3] = ["TINE_NUM_THREADS", "RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"];

/// How many threads a pool has if the variables have these values.
fn threads(values: [Option<&str>; 3]) -> usize {
    let mut child = Command::new(env::current_exe().unwrap());
    child
        .args(["--exact", "the_number_of_threads", "--nocapture"])
        .env(CHILD, "1");
    for (name, value) in NAMES.into_iter().zip(values) {
        match value {
            Some(value) => child.env(name, value),
            None => child.env_remove(name),
        };
    }
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let number = said.split("threads: ").nth(1).unwrap();
    number.split(';').next().unwrap().parse().unwrap()
}

#[test]
fn the_number_of_threads() {
    if env::var_os(CHILD).is_some() {
        let pool = ThreadPoolBuilder::new().build().unwrap();
        return println!("threads: {};", pool.current_num_threads());
    }
    let default = threads([None; 3]);
    assert!(default >= 1);
    assert_eq!(threads([Some("3"), Some("4"), Some("5")]), 3);
    assert_eq!(threads([None, Some("4"), Some("5")]), 4);
    assert_eq!(threads([None, None, Some("5")]), 5);
    // Zero asks for the default, whatever the others say.
    assert_eq!(threads([Some("0"), Some("7"), None]), default);
    assert_eq!(threads([None, Some("0"), Some("7")]), default);
    // What is not a number does not count.
    assert_eq!(threads([Some("many"), Some("-4"), Some("5")]), 5);
    assert_eq!(threads([Some(""), None, None]), default);
    // rayon ignores a number with spaces.
    assert_eq!(threads([Some(" 3\n"), None, None]), 3);
    assert_eq!(threads([None, Some(" 4"), Some("5")]), 5);
}
