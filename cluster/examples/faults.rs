//! What goes wrong, on purpose, as the variable FAULT says: for the tests, and to
//! see what each looks like.
//!
//!     FAULT=panic TINE_RANKS=4 cargo run -p tine-cluster --example faults

use std::time::Duration;
use std::{env, process, thread};
use tine_cluster::prelude::*;

fn main() -> ExitCode {
    let fault = env::var("FAULT").unwrap_or_default();
    tine_cluster::run(|c| {
        let last = c.rank() + 1 == c.size();
        let v = || c.generate(1000, |i| i);
        match fault.as_str() {
            "panic" => v().par_iter().for_each(|i| assert!(*i != 600, "item {i}")),
            "panic-rank" if c.rank() == 2 => panic!("on the rank's own thread"),
            "error" if c.rank() == 1 => return Err(Error::new("disk full")),
            "agreed" => {
                let written = if c.rank() == 1 {
                    Err("disk full")
                } else {
                    Ok(())
                };
                c.agree(written)?;
            }
            "part" if last => assert_eq!(v().par_iter().count(), 1000),
            "part" => assert!(v().par_iter().sum::<usize>() > 0),
            "leave" if last => return Ok(()),
            "exit" if last => process::exit(3),
            "aborted" if last => process::abort(),
            "killed" if last => {
                let me = process::id().to_string();
                assert!(
                    process::Command::new("kill")
                        .args(["-9", &me])
                        .status()
                        .is_ok()
                );
                thread::sleep(Duration::from_secs(3600));
            }
            "memory" if c.rank() == 1 => assert_eq!(vec![1_u8; 1 << 46].len(), 1 << 46),
            "stuck" if c.rank() == 1 => return Err(Error::new("the others do not look")),
            "stuck" => thread::sleep(Duration::from_secs(3600)),
            _ => {}
        }
        let count = v().par_iter().count();
        assert_eq!(count, 1000);
        Ok(())
    })
}
