//! What the compiler says to `.scan(…)`.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Compiles a program that scans as `std` does, and looks for the names of the existing methods in the message.
#[test]
#[cfg_attr(miri, ignore = "Miri starts no compiler")]
fn a_scan_with_a_state_is_told_of_the_others() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hint");
    fs::create_dir_all(place.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"hint\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
         [dependencies]\ntine-iter = {{ path = {package:?} }}\n[workspace]\n"
    );
    fs::write(place.join("Cargo.toml"), manifest).unwrap();
    let lock = package.join("../Cargo.lock");
    if lock.exists() {
        fs::copy(lock, place.join("Cargo.lock")).unwrap();
    }
    let program = "use tine_iter::prelude::*;\nuse tine_iter::scan::ParallelScan;\n\
        fn main() {\n    let v = [1, 2, 3];\n    \
        let _ = v.par_iter().scan(0, |sum, n| { *sum += n; Some(*sum) });\n}\n";
    fs::write(place.join("src/main.rs"), program).unwrap();
    let check = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--color=never"])
        .current_dir(&place)
        .env("CARGO_TARGET_DIR", place.join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&check.stderr);
    assert!(!check.status.success(), "it compiled");
    for words in [
        "a parallel iterator has no `scan` with a state",
        "scan_inclusive",
        "scan_exclusive",
        "prefix_sum",
        "Iterator::scan",
    ] {
        assert!(said.contains(words), "no word of {words:?} in:\n{said}");
    }
}
