//! Panics, errors, early returns and ranks that part, at each collective.

use crate::files::Dir;
use crate::verbs::{CLOSURES, Stage, verbs};
use crate::watch::{LESS, ThreadRanks, run_threads};
use std::cmp::Reverse;
use std::sync::Mutex;
use tine_cluster::{Cluster, Error};

/// The answer does not matter.
fn done<T>(_: T) {}

fn failure(ranks: usize, body: impl Fn(&Cluster) -> Result<(), Error> + Sync) -> String {
    let ran = ThreadRanks::new(ranks).round(1024).run(body);
    ran.expect_err("the job fails").to_string()
}

#[test]
fn a_panic_ends_all() {
    let stage = Stage::new(done);
    for (name, verb) in verbs() {
        let said = failure(4, |c| {
            verb(c, &stage)();
            if c.rank() == 2 {
                panic!("item 600");
            }
            verb(c, &stage)();
            Ok(())
        });
        assert_eq!(said, "rank 2 of 4 panicked: item 600", "{name}");
    }
}

#[test]
fn an_error_ends_all() {
    let stage = Stage::new(done);
    for (name, verb) in verbs() {
        let said = failure(3, |c| {
            if c.rank() == 1 {
                return Err("x".parse::<u32>().unwrap_err().into());
            }
            verb(c, &stage)();
            Ok(())
        });
        assert_eq!(
            said, "rank 1 of 3 failed: invalid digit found in string",
            "{name}"
        );
    }
}

#[test]
fn who_leaves_early_is_named() {
    let stage = Stage::new(done);
    for (name, verb) in verbs() {
        let said = failure(3, |c| {
            c.barrier();
            let call = verb(c, &stage);
            if c.rank() != 1 {
                call();
            }
            Ok(())
        });
        assert!(
            said.starts_with("rank 0 of 3: the ranks have parted: "),
            "{said}"
        );
        assert!(
            said.contains(&format!("ranks 0, 2 are in `{name}` at ")),
            "{said}"
        );
        assert!(said.contains("verbs.rs:"), "{said}");
        // A map takes another to prepare.
        let ends = ["1", "2"].map(|n| format!("; rank 1 is at its end (after {n} collectives)"));
        assert!(ends.iter().any(|end| said.ends_with(end)), "{said}");
    }
}

#[test]
fn ranks_that_part_are_told_apart() {
    let stage = Stage::new(done);
    for ((one, first), (other, second)) in verbs().zip(verbs().skip(1)) {
        let said = failure(5, |c| {
            let (first, second) = (first(c, &stage), second(c, &stage));
            match c.rank() {
                3 => second(),
                _ => first(),
            }
            Ok(())
        });
        assert!(
            said.contains(&format!("ranks 0, 1, 2, 4 are in `{one}` at")),
            "{said}"
        );
        assert!(
            said.contains(&format!("rank 3 is in `{other}` at")),
            "{said}"
        );
    }
}

/// Whichever rank meets the item.
#[test]
fn a_panic_in_a_closure_ends_all() {
    let stage = Stage::new(|item| assert!(item != 77, "item 77"));
    for (name, verb) in CLOSURES {
        let said = failure(3, |c| {
            verb(c, &stage)();
            Ok(())
        });
        assert!(
            said.starts_with("rank ") && said.ends_with(" of 3 panicked: item 77"),
            "{name}: {said}"
        );
    }
}

/// The same collective from two lines counts as two.
#[test]
#[expect(
    clippy::if_same_then_else,
    reason = "the lines differ, and that is the point"
)]
fn places_count() {
    let said = failure(2, |c| {
        if c.is_root() {
            c.barrier();
        } else {
            c.barrier();
        }
        Ok(())
    });
    assert_eq!(said.matches("`barrier` at").count(), 2, "{said}");
}

#[test]
fn agreed_errors_end_well() {
    let said = failure(4, |c| {
        let opened = match c.rank() {
            0 => Ok(()),
            rank => Err(format!("no file {rank}")),
        };
        c.agree(opened)
    });
    assert_eq!(said, "rank 1 of 4 failed: no file 1");
    // An error that is handled ends nothing.
    let ran = run_threads(4, |c| {
        assert!(c.agree(Err::<(), _>(c.rank())).is_err());
        Ok(())
    });
    ran.unwrap();
}

/// The rank that had the error may go on: it is enough if one rank returns the error.
#[test]
fn agreed_errors_fail_whichever_rank_returns_them() {
    let agreed = |c: &Cluster| {
        c.agree(match c.rank() {
            2 => Err("disk full"),
            _ => Ok(()),
        })
    };
    for returning in [0, 1, 3] {
        let said = failure(4, |c| match agreed(c) {
            Err(error) if c.rank() >= returning && c.rank() != 2 => Err(error),
            _ => Ok(()),
        });
        assert_eq!(
            said,
            format!("rank {returning} of 4 failed: disk full (an error of rank 2)")
        );
    }
    // An error of an earlier job, with ranks that this one does not have.
    let earlier = Mutex::new(None);
    let ran = run_threads(4, |c| {
        let error = agreed(c).unwrap_err();
        earlier.lock().unwrap().replace(error);
        Ok(())
    });
    ran.unwrap();
    let said = failure(2, |c| match c.is_root() {
        true => Err(earlier.lock().unwrap().take().expect("it is there")),
        false => Ok(()),
    });
    assert_eq!(said, "rank 0 of 2 failed: disk full (an error of rank 2)");
}

#[test]
fn closures_panic_everywhere() {
    let cases: &[fn(&Cluster)] = &[
        |c| done(c.generate(100, |i| assert!(i != 77, "item {i}"))),
        |c| {
            done(c.generate(100, |i| i).sort_by(|a, b| {
                assert!(*a != 77 && *b != 77, "item 77");
                a.cmp(b)
            }))
        },
        |c| {
            done(c.generate(100, |i| i).sort_by_key(|i| {
                assert!(*i != 77, "item 77");
                *i
            }))
        },
        |c| {
            done(
                c.generate(100, |i| i)
                    .into_par_iter()
                    .map(|i| {
                        assert!(i != 77, "item 77");
                        i
                    })
                    .sum::<usize>(),
            )
        },
        |c| {
            done(
                c.generate(100, |i| i as f64)
                    .into_par_iter()
                    .map(|i| {
                        assert!(i != 77.0, "item 77");
                        i
                    })
                    .deterministic()
                    .sum::<f64>(),
            )
        },
    ];
    for case in cases {
        let said = failure(3, |c| {
            case(c);
            Ok(())
        });
        // Comparisons may meet the item on several ranks.
        assert!(
            said.starts_with("rank ") && said.ends_with(" of 3 panicked: item 77"),
            "{said}"
        );
    }
}

#[test]
fn values_of_failed_jobs_are_dropped() {
    use std::sync::atomic::{AtomicIsize, Ordering};

    static ALIVE: AtomicIsize = AtomicIsize::new(0);

    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(from = "u32", into = "u32")]
    struct Counted(u32);
    impl From<u32> for Counted {
        fn from(n: u32) -> Self {
            ALIVE.fetch_add(1, Ordering::Relaxed);
            Counted(n)
        }
    }
    impl Clone for Counted {
        fn clone(&self) -> Self {
            Counted::from(self.0)
        }
    }
    impl From<Counted> for u32 {
        fn from(counted: Counted) -> u32 {
            counted.0
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            ALIVE.fetch_sub(1, Ordering::Relaxed);
        }
    }

    for fails in [false, true] {
        let ran = ThreadRanks::new(4).round(256).run(|c| {
            let v = c.generate(1000, |i| Counted::from((i * 7 % 1000) as u32));
            let v = v.sort_by_key(|item| item.0);
            if fails && c.rank() == 3 {
                panic!("now");
            }
            let v = v.sort_by_key(|item| Reverse(item.0)).rebalance();
            assert_eq!(v.all_gather()[0].0, 999);
            Ok(())
        });
        assert_eq!(ran.is_err(), fails);
        assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
    }
}

/// A rank does not wait again for what it has waited for in vain.
#[test]
fn nobody_gets_over_a_failure() {
    let said = failure(2, |c| {
        if c.is_root() {
            return Err(Error::new("at once"));
        }
        loop {
            let waits = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| c.barrier()));
            if let Err(stopped) = waits {
                std::panic::resume_unwind(stopped);
            }
        }
    });
    assert_eq!(said, "rank 0 of 2 failed: at once");
}

/// A value that a rank has thrown or returned panics when it is dropped, and throws such a value again.
struct Bomb(u32);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 > 0 {
            std::panic::panic_any(Bomb(self.0 - 1));
        }
    }
}

#[derive(Debug)]
struct BombError(Bomb);

impl std::fmt::Display for BombError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} seconds left", self.0.0)
    }
}

impl std::fmt::Debug for Bomb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bomb")
    }
}

impl std::error::Error for BombError {}

#[test]
fn destructors_panic_in_what_a_rank_leaves() {
    for nested in 1..4 {
        let said = failure(4, |c| {
            if c.rank() == 2 {
                std::panic::panic_any(Bomb(nested));
            }
            c.barrier();
            Ok(())
        });
        assert_eq!(said, "rank 2 of 4 panicked: a value that is no text");
        let said = failure(4, |c| {
            if c.rank() == 1 {
                return Err(BombError(Bomb(nested)).into());
            }
            c.barrier();
            Ok(())
        });
        assert_eq!(said, format!("rank 1 of 4 failed: {nested} seconds left"));
        let said = failure(4, |c| {
            c.agree(match c.rank() {
                3 => Err(BombError(Bomb(nested))),
                _ => Ok(()),
            })
        });
        assert_eq!(said, "rank 3 of 4 panicked: a value that is no text");
    }
}

fn caught(f: impl FnOnce()) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).is_err()
}

/// A rank that catches a panic and goes on is no longer where the others are, if they are in the middle of a
/// collective. The next header cannot tell, so the rank itself does.
#[test]
fn a_caught_panic_ends_all() {
    // Each rank sorts its hundred items, and panics when it meets those of another.
    let sort = |c: &Cluster| {
        c.generate(300, |i| i).sort_by(|a, b| {
            assert_eq!(a / 100, b / 100, "items of two ranks");
            a.cmp(b)
        });
    };
    let is_told = |said: &str| {
        assert!(
            said.contains(" of 3: its body has caught a panic that came out of `sort_by` at "),
            "{said}"
        );
        assert!(said.contains("faults.rs:"), "{said}");
    };
    for tries in 1..3 {
        is_told(&failure(3, |c| {
            for _ in 0..tries {
                caught(|| sort(c));
            }
            // As long a course of the engine as that of a sort.
            for _ in 0..20 {
                c.generate(300, |i| 300 - i).sort();
            }
            Ok(())
        }));
    }
    // Nor may it leave.
    is_told(&failure(3, |c| {
        caught(|| sort(c));
        Ok(())
    }));
}

/// A panic that is caught outside a collective, or on the only rank, does not hurt other ranks.
#[test]
fn bodies_may_catch_their_own_panics() {
    for ranks in [1, 3] {
        let ran = ThreadRanks::new(ranks).run(|c| {
            assert!(caught(|| panic!("here")));
            assert!(caught(|| done(
                c.generate(9, |_| -> u8 { panic!("there") })
            )));
            c.barrier();
            if ranks == 1 {
                let all = c.generate(9, |i| i);
                assert!(caught(|| done(all.sort_by(|_, _| panic!("in a sort")))));
            }
            assert_eq!(c.generate(9, |i| i).par_iter().count(), 9);
            Ok(())
        });
        ran.unwrap();
    }
}

/// A collective in a destructor, run while a panic unwinds, is complete.
#[test]
fn collectives_in_destructors() {
    struct AtLast<'c>(&'c Cluster);
    impl Drop for AtLast<'_> {
        fn drop(&mut self) {
            self.0.barrier();
        }
    }
    let ran = ThreadRanks::new(3).run(|c| {
        assert!(caught(|| {
            let _at_last = AtLast(c);
            panic!("on all ranks");
        }));
        assert_eq!(c.generate(9, |i| i).par_iter().count(), 9);
        Ok(())
    });
    ran.unwrap();
}

/// A rank that catches the news of another rank's failure adds no failure of its own.
#[test]
fn caught_failures_of_others_are_theirs() {
    for _ in 0..20 {
        let said = failure(4, |c| {
            if c.rank() == 3 {
                panic!("the third");
            }
            caught(|| c.barrier());
            caught(|| c.barrier());
            Ok(())
        });
        assert_eq!(said, "rank 3 of 4 panicked: the third");
    }
}

/// A closure's thread may have its own handle, and an item's `Display` finds it: no collective begins in the
/// middle of another.
#[test]
fn collectives_within_others_are_refused() {
    use std::cell::RefCell;
    use std::fmt;

    thread_local! {
        static HANDLE: RefCell<Option<Cluster>> = const { RefCell::new(None) };
    }
    struct Sly;
    impl fmt::Display for Sly {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            HANDLE.with_borrow(|c| {
                if let Some(c) = c {
                    c.barrier();
                }
            });
            f.write_str("an item")
        }
    }

    let dir = Dir::new();
    for ranks in [1, 3] {
        let said = failure(ranks, |c| {
            HANDLE.set(Some(c.clone()));
            let part = if c.is_root() { vec![Sly] } else { vec![] };
            c.from_local(part).write_parts(&dir.0)
        });
        let (begin, rest) = said.split_once(": `barrier` at ").expect(&said);
        assert!(["the only rank", "rank 0 of 3"].contains(&begin), "{said}");
        let (inner, outer) = rest
            .split_once(" is called in the midst of `write_parts` at ")
            .expect(&said);
        assert!(
            inner.contains("faults.rs:") && outer.contains("faults.rs:"),
            "{said}"
        );
    }
}

/// With a limit of a few milliseconds, in a separate process: this test, started again.
#[test]
#[cfg(unix)]
fn jobs_that_stand_still_are_ended() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    if std::env::var_os(LESS).is_some() {
        done(run_threads(2, |c| {
            while c.rank() == 1 {
                std::thread::park();
            }
            c.barrier();
            Ok(())
        }));
        return;
    }
    let name = "faults::jobs_that_stand_still_are_ended";
    let mut again = Command::new(std::env::current_exe().unwrap());
    let again = again
        .args([name, "--exact"])
        .env(LESS, "50")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains(&format!("{name} stands still")), "{said}");
    assert!(again.status.signal().is_some(), "{}", again.status);
}
