//! The parker, over a futex that is made from a lock: no token is lost, what came before a token is seen, and a
//! sleeper that was woken without a token sleeps on.

use super::{Load, alone, beside, check, explore, parker};
use crate::base::park::Parker;
use crate::base::sync::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;
use std::time::Duration;

fn unpark_from(parker: &'static Parker, load: &Arc<Load>) -> thread::JoinHandle<()> {
    beside(load, move |load| {
        load.fill();
        parker.unpark();
    })
}

#[test]
fn a_token_wakes_and_hands_over() {
    check(|| {
        let (parker, load) = (parker(), Arc::new(Load::new()));
        let other = unpark_from(parker, &load);
        parker.park();
        load.spend();
        other.join().unwrap();
    });
}

/// One token for each park, in turn. The first wake may come when the sleeper has lain down again.
#[test]
fn a_late_wake_is_no_token() {
    check(|| {
        let (parker, tokens) = (parker(), Arc::new(AtomicUsize::new(0)));
        let other = beside(&tokens, move |tokens| {
            tokens.store(1, Ordering::Relaxed);
            parker.unpark();
            while tokens.load(Ordering::Acquire) != 2 {
                thread::yield_now();
            }
            tokens.store(3, Ordering::Relaxed);
            parker.unpark();
        });
        parker.park();
        assert_eq!(tokens.load(Ordering::Relaxed), 1, "there was no token");
        tokens.store(2, Ordering::Release);
        parker.park();
        assert_eq!(tokens.load(Ordering::Relaxed), 3, "there was no token");
        other.join().unwrap();
    });
}

/// Two threads leave a token at the same time. Either there is one token, and both came before it, or another
/// token follows.
#[test]
fn two_who_wake() {
    check(|| {
        let (parker, done) = (parker(), Arc::new(AtomicUsize::new(0)));
        let others = [0, 1].map(|_| {
            beside(&done, move |done| {
                done.fetch_add(1, Ordering::Relaxed);
                parker.unpark();
            })
        });
        while done.load(Ordering::Relaxed) < 2 {
            parker.park();
        }
        others.into_iter().for_each(|o| o.join().unwrap());
    });
}

/// The time may be up at any moment: this sleep or the next finds the token.
#[test]
fn a_limit_loses_no_token() {
    check(|| {
        let (parker, load) = (parker(), Arc::new(Load::new()));
        let other = unpark_from(parker, &load);
        let found = (0..2).any(|_| parker.park_timeout(Duration::ZERO));
        if !found {
            parker.park();
        }
        load.spend();
        other.join().unwrap();
    });
}

/// A thread that leaves a token is told whether there was a sleeper for it.
#[test]
fn tells_whether_it_woke() {
    alone(|| {
        let parker = parker();
        assert!(!parker.unpark());
        assert!(
            !parker.unpark(),
            "a token that lies there sleeps on nothing"
        );
        assert!(parker.park_timeout(Duration::ZERO));
        assert!(!parker.park_timeout(Duration::ZERO), "one token came twice");
    });
}

/// Twins: the parker in a few lines, with rules that can be left out.
mod twin {
    use super::{Load, beside, explore, thread};
    use crate::base::sync::{AtomicU32, AtomicUsize, Condvar, Mutex, Ordering};
    use std::sync::Arc;

    const EMPTY: u32 = 0;
    const TOKEN: u32 = 1;
    const ASLEEP: u32 = 2;

    #[derive(Clone, Copy)]
    struct Rules {
        /// The futex compares the word before it sleeps, under its lock.
        compare: bool,
        /// A sleeper that finds no token sleeps on.
        again: bool,
        /// A token is left by a swap, and not by a load and a store.
        swap: bool,
        /// What a token hands on.
        release: Ordering,
    }

    const ALL: Rules = Rules {
        compare: true,
        again: true,
        swap: true,
        release: Ordering::Release,
    };

    struct Parker {
        rules: Rules,
        word: AtomicU32,
        lock: Mutex<()>,
        woken: Condvar,
    }

    impl Parker {
        fn wait(&self) {
            let held = self.lock.lock().unwrap();
            if !self.rules.compare || self.word.load(Ordering::Relaxed) == ASLEEP {
                drop(self.woken.wait(held).unwrap());
            }
        }

        fn park(&self) {
            let (from, to) = (EMPTY, ASLEEP);
            let now = Ordering::Relaxed;
            if self.word.compare_exchange(from, to, now, now).is_ok() {
                self.wait();
                while self.rules.again && self.word.load(Ordering::Relaxed) != TOKEN {
                    self.wait();
                }
            }
            self.word.swap(EMPTY, Ordering::Acquire);
        }

        fn unpark(&self) {
            let old = if self.rules.swap {
                self.word.swap(TOKEN, self.rules.release)
            } else {
                let old = self.word.load(Ordering::Relaxed);
                self.word.store(TOKEN, self.rules.release);
                old
            };
            if old == ASLEEP {
                drop(self.lock.lock().unwrap());
                self.woken.notify_one();
            }
        }
    }

    /// One token, or two; the second only after the first was taken.
    fn model(rules: Rules, two: bool) {
        explore(3, move || {
            let shared = Arc::new((
                Parker {
                    rules,
                    word: AtomicU32::new(EMPTY),
                    lock: Mutex::new(()),
                    woken: Condvar::new(),
                },
                [Load::new(), Load::new()],
                AtomicUsize::new(0),
            ));
            let other = beside(&shared, move |shared| {
                let (parker, loads, taken) = shared;
                loads[0].fill();
                parker.unpark();
                if !two {
                    return;
                }
                while taken.load(Ordering::Relaxed) == 0 {
                    thread::yield_now();
                }
                loads[1].fill();
                parker.unpark();
            });
            let (parker, loads, taken) = &*shared;
            parker.park();
            loads[0].spend();
            if two {
                taken.store(1, Ordering::Relaxed);
                parker.park();
                loads[1].spend();
            }
            other.join().unwrap();
        });
    }

    #[test]
    fn with_all_rules() {
        model(ALL, false);
        model(ALL, true);
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn sleeps_without_a_look() {
        let compare = false;
        model(Rules { compare, ..ALL }, false);
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn stores_its_token() {
        let swap = false;
        model(Rules { swap, ..ALL }, false);
    }

    /// The sleeper goes on before the second token is there.
    #[test]
    #[should_panic(expected = "Causality violation")]
    fn believes_every_wake() {
        let again = false;
        model(Rules { again, ..ALL }, true);
    }

    #[test]
    #[should_panic(expected = "Causality violation")]
    fn hands_nothing_over() {
        let release = Ordering::Relaxed;
        model(Rules { release, ..ALL }, false);
    }
}
