//! The compiler's message for a program that misuses tine names the way out.
//!
//! Each program in `tests/misuse/` has a `mistake` and, behind `cfg(mended)`, the same done right.
//! The mistake must not compile, and the message must hold every line that the program's first
//! lines ask for (`//@ says: …`). Mended it must compile, so that nothing else is wrong with it.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[test]
fn messages_name_the_way_out() {
    let programs = programs();
    assert!(programs.len() >= 6, "the programs were not found");
    let mut wrong = Vec::new();
    for program in &programs {
        let (compiles, _) = check(&program.path, "--cfg mended");
        if !compiles {
            wrong.push(format!("{}: mended, it does not compile", program.name));
        }
    }
    for program in &programs {
        let (compiles, said) = check(&program.path, "");
        if compiles {
            wrong.push(format!("{}: the mistake compiles", program.name));
        }
        let missing = program.says.iter().filter(|line| !said.contains(*line));
        wrong.extend(
            missing.map(|line| format!("{}: does not say {line:?}:\n{said}", program.name)),
        );
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

struct Program {
    name: String,
    path: PathBuf,
    says: Vec<String>,
}

fn programs() -> Vec<Program> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/misuse");
    let mut paths: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let program = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let says = text
            .lines()
            .filter_map(|line| line.strip_prefix("//@ says: "));
        let says: Vec<_> = says.map(str::to_owned).collect();
        assert!(!says.is_empty(), "{}: asks for nothing", path.display());
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        Program { name, path, says }
    };
    paths.into_iter().map(program).collect()
}

/// Whether a program compiles against the tine that this test was built with, and what the compiler
/// says.
fn check(program: &Path, flags: &str) -> (bool, String) {
    let libraries = env::current_exe().unwrap().parent().unwrap().to_owned();
    let output = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "bin",
            "--emit",
            "metadata",
        ])
        .args(["--cap-lints", "allow", "--color", "never"])
        .args(flags.split_whitespace())
        .arg("--extern")
        .arg(format!("tine={}", newest_tine(&libraries).display()))
        .arg("-L")
        .arg(format!("dependency={}", libraries.display()))
        .arg("--out-dir")
        .arg(env!("CARGO_TARGET_TMPDIR"))
        .arg(program)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), said)
}

/// There may be several, with other features: any is good enough, and the newest is made from this source.
fn newest_tine(libraries: &Path) -> PathBuf {
    let is_tine = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libtine-") && name.ends_with(".rlib")
    };
    let paths = fs::read_dir(libraries)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let built = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).unwrap();
    paths
        .filter(is_tine)
        .max_by_key(built)
        .expect("tine was built for this test")
}
