//! Sorts the lines of several files by their number, into as many files as there
//! are ranks.
//!
//!     cargo run --release -p tine-cluster --example sort_files

use std::fs;
use tine_cluster::prelude::*;

const FILES: usize = 7;
const LINES: usize = 3000;

fn main() -> ExitCode {
    tine_cluster::run(|c| {
        // All ranks need the same name for the directory: rank 0 chooses it.
        let name = format!("tine-sort-files-{}", std::process::id());
        let dir = std::env::temp_dir().join(c.broadcast(name));
        let written = c.is_root().then(|| {
            fs::create_dir_all(&dir)?;
            (0..FILES).try_for_each(|file| {
                let line =
                    |i: usize| format!("{} from {file}\n", (file * LINES + i) * 7919 % 10_007);
                fs::write(
                    dir.join(format!("in-{file}.txt")),
                    (0..LINES).map(line).collect::<String>(),
                )
            })
        });
        c.agree(written.unwrap_or(Ok::<(), std::io::Error>(())))?;

        let number = |line: &String| line.split(' ').next().map(str::parse::<u32>);
        let lines = c.read_lines(&dir.join("in-*.txt").to_string_lossy())?;
        assert!(
            lines
                .par_iter()
                .all(|line| matches!(number(line), Some(Ok(_))))
        );
        let sorted = lines.sort_by_key(|line| number(line).and_then(Result::ok));
        sorted.write_parts(dir.join("out"))?;

        // What was written is sorted, whole, and stable.
        let back = c.read_lines(&dir.join("out/part-*").to_string_lossy())?;
        let all = back.all_gather();
        assert_eq!(all.len(), FILES * LINES);
        let key = |line: &String| {
            (
                number(line).and_then(Result::ok),
                line[line.len() - 1..].to_owned(),
            )
        };
        assert!(all.is_sorted_by_key(key));
        if c.is_root() {
            println!(
                "{} lines, from `{}` to `{}`",
                all.len(),
                all[0],
                all[all.len() - 1]
            );
        }
        c.barrier();
        if c.is_root() {
            fs::remove_dir_all(&dir)?;
        }
        Ok(())
    })
}
