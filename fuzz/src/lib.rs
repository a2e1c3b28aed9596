//! What the fuzz targets run: bytes that the fuzzer invented become operations, and the answers are
//! compared with those of a model. CONTRIBUTING.md says how they are run.
//!
//! The files in `seeds/` are where the fuzzer starts from. They are run by `cargo test` too.

pub mod deques;
pub mod maps;
pub mod sorts;
pub mod text;

mod bytes;

// The deques are private to the pool: their files, and the files that they depend on, are compiled once more
// here.
#[allow(dead_code, unreachable_pub, unused_imports, unused_macros)]
#[allow(clippy::multiple_unsafe_ops_per_block)]
#[path = "../../pool/src/base"]
mod base {
    pub(crate) mod clock;
    pub(crate) mod sync;
    pub(crate) mod sys;
}
#[allow(dead_code, unreachable_pub)]
#[path = "../../pool/src/queue"]
mod queue {
    pub(crate) mod nested;
    pub(crate) mod spawned;
    pub(crate) mod steal;
    pub(crate) mod weight;
}

use std::sync::OnceLock;
use std::{env, fs};
use tine_pool::{ThreadPool, ThreadPoolBuilder};

/// Runs a target over the files that the command line names.
pub fn run_files(target: fn(&[u8])) {
    for path in env::args_os().skip(1) {
        eprintln!("{}", path.display());
        target(&fs::read(path).expect("a file to run"));
    }
}

/// Pools of several sizes, so that loops that are cut in advance are cut to several depths.
fn pools() -> &'static [ThreadPool] {
    static POOLS: OnceLock<Vec<ThreadPool>> = OnceLock::new();
    POOLS.get_or_init(|| {
        let build = |n| ThreadPoolBuilder::new().num_threads(n).build();
        [1, 3, 16]
            .map(|n| build(n).expect("a pool"))
            .into_iter()
            .collect()
    })
}

/// Runs a target over the seeds of this name.
#[cfg(test)]
fn run_seeds(name: &str, target: fn(&[u8])) {
    let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("seeds")
        .join(name);
    let mut count = 0;
    for seed in fs::read_dir(&seeds).expect("a directory of seeds") {
        let path = seed.expect("a seed").path();
        eprintln!("{}", path.display());
        target(&fs::read(path).expect("a seed"));
        count += 1;
    }
    assert!(count > 0, "no seeds in {}", seeds.display());
    // Inputs that no seed has: an empty one, and one byte repeated. Steps of five meet every
    // remainder by a power of two, and by three, that a target takes of a byte.
    target(&[]);
    (0..=255).step_by(5).for_each(|byte| target(&[byte; 64]));
}
