//! Fails on purpose, in the way that the variable FAULT names: for the tests, and to
//! see what each failure looks like.
//!
//!     FAULT=panic TINE_RANKS=4 cargo run -p tine-cluster --example faults

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::time::Duration;
use std::{env, process, thread};
use tine::prelude::*;
use tine::{StopToken, with_token};
use tine_cluster::prelude::*;

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("what a rank has thrown is dropped");
    }
}

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
            // The rank that has the error, and the first rank, go on as if it were mended.
            "got over" => {
                let written = if c.rank() == 1 {
                    Err("disk full")
                } else {
                    Ok(())
                };
                let agreed = c.agree(written);
                if c.rank() > 1 {
                    return agreed;
                }
                return Ok(());
            }
            // The last rank alone sends points as their memory.
            "plain" => {
                if last {
                    c.plain::<[f32; 3]>();
                }
                c.generate(9, |i| [i as f32; 3]).all_gather();
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
            // The value that it throws panics when it is dropped.
            "bomb" if c.rank() == 3 => panic_any(Bomb),
            // The last rank panics when it meets items of another rank, catches that, and goes on.
            "caught" => {
                let ids = v();
                let here = ids.local().len();
                let sorted = catch_unwind(AssertUnwindSafe(|| {
                    ids.sort_by(|a, b| {
                        assert!(!last || a / here == b / here, "items of two ranks");
                        a.cmp(b)
                    })
                }));
                assert!(sorted.is_err() || !last);
            }
            // Its own pool stops early; the others do not know.
            "stopped" if c.rank() == 2 => {
                let token = StopToken::new();
                token.stop();
                let sum = with_token(&token, || v().local().par_iter().sum::<usize>());
                return Err(Error::new(sum.expect_err("the token is stopped")));
            }
            "stuck" if c.rank() == 1 => return Err(Error::new("the others do not look")),
            "stuck" => thread::sleep(Duration::from_secs(3600)),
            _ => {}
        }
        let count = v().par_iter().count();
        assert_eq!(count, 1000);
        Ok(())
    })
}
