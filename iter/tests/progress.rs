//! Loops whose items wait for each other, and loops whose items differ: while an item blocks, other threads run
//! the items of the other even pieces, at a site's first call and at its ten-thousandth, and wherever the loop
//! was begun.
#![cfg(not(miri))]

#[path = "../../pool/tests/common/watched.rs"]
mod watchdog;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Barrier, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tine_iter::prelude::*;
use tine_pool::ThreadPoolBuilder;
use watchdog::Watched;

/// Ends the process if `body` takes longer than any of these should take on a busy machine.
fn watched(name: &'static str, body: impl FnOnce()) {
    let _watch = Watched::new(name, Duration::from_secs(300));
    body();
}

/// Runs `body` on pools of several sizes, from within.
fn in_pools(name: &'static str, body: impl Fn() + Sync) {
    watched(name, || {
        for threads in [2, 3, 4, 8] {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(&body);
            let (send, receive) = mpsc::channel();
            // Begun inside a job.
            pool.scope(|s| {
                s.spawn(|_| {
                    body();
                    send.send(()).unwrap();
                });
            });
            receive.recv().unwrap();
        }
    });
}

/// The first and the last item meet.
fn meets<'a>(meeting: &'a Barrier, last: usize) -> impl Fn(usize) + Sync + 'a {
    move |i| {
        if i == 0 || i == last {
            meeting.wait();
        }
    }
}

#[test]
fn a_site_is_called_for_the_first_time() {
    in_pools("for_each of 1000", || {
        let meeting = Barrier::new(2);
        (0..1000_usize)
            .into_par_iter()
            .for_each(meets(&meeting, 999));
    });
    in_pools("for_each of 100", || {
        let meeting = Barrier::new(2);
        (0..100_usize).into_par_iter().for_each(meets(&meeting, 99));
    });
    in_pools("map and collect", || {
        let meeting = Barrier::new(2);
        let meets = meets(&meeting, 999);
        let all: Vec<usize> = (0..1000_usize)
            .into_par_iter()
            .map(|i| {
                meets(i);
                i
            })
            .collect();
        assert!(all.into_iter().eq(0..1000));
    });
    in_pools("filter and collect", || {
        let meeting = Barrier::new(2);
        let meets = meets(&meeting, 999);
        let even: Vec<usize> = (0..1000_usize)
            .into_par_iter()
            .filter(|&i| {
                meets(i);
                i % 2 == 0
            })
            .collect();
        assert!(even.into_iter().eq((0..1000).step_by(2)));
    });
    in_pools("chunks", || {
        let meeting = Barrier::new(2);
        let meets = meets(&meeting, 99_900);
        let items: Vec<usize> = (0..100_000).collect();
        items.par_chunks(100).for_each(|chunk| meets(chunk[0]));
    });
    in_pools("a message from the last item to the first", || {
        let (send, receive) = mpsc::channel();
        let (send, receive) = (Mutex::new(send), Mutex::new(receive));
        let items: Vec<usize> = (0..1000).collect();
        items.par_iter().for_each(|&i| match i {
            0 => receive.lock().unwrap().recv().unwrap(),
            999 => send.lock().unwrap().send(()).unwrap(),
            _ => {}
        });
    });
    in_pools("a sum", || {
        let meeting = Barrier::new(2);
        let meets = meets(&meeting, 4999);
        let sum: usize = (0..5000_usize)
            .into_par_iter()
            .map(|i| {
                meets(i);
                i
            })
            .sum();
        assert_eq!(sum, 4999 * 2500);
    });
}

#[test]
fn a_site_is_known_to_be_short() {
    fn go(meeting: Option<&Barrier>, len: usize) {
        (0..len).into_par_iter().for_each(|i| {
            if let Some(meeting) = meeting
                && (i == 0 || i == len - 1)
            {
                meeting.wait();
            }
        });
    }
    in_pools("a known short loop", || {
        for len in [2, 3, 4, 20, 80, 1000] {
            for _ in 0..2000 {
                go(None, len);
            }
            go(Some(&Barrier::new(2)), len);
        }
    });
    watched("the same from an ordinary thread", || {
        if tine_pool::current_num_threads() < 2 {
            return;
        }
        for _ in 0..10_000 {
            go(None, 80);
        }
        go(Some(&Barrier::new(2)), 80);
    });
}

/// Calls of at most as many items as a large pool could begin at once, known to take microseconds; then two
/// items wait for each other.
#[test]
fn a_call_of_few_items_is_known_to_be_brief() {
    fn go(meeting: Option<&Barrier>, len: usize) {
        (0..len).into_par_iter().for_each(|i| {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_nanos(200) {}
            if let Some(meeting) = meeting
                && (i == 0 || i == len - 1)
            {
                meeting.wait();
            }
        });
    }
    watched("a brief call in a large pool", || {
        let pool = ThreadPoolBuilder::new().num_threads(16).build().unwrap();
        for len in [2, 17, 30, 32] {
            pool.install(|| {
                (0..1000).for_each(|_| go(None, len));
                go(Some(&Barrier::new(2)), len);
            });
        }
    });
}

/// As many items as there are threads, and each waits for all others.
#[test]
fn all_items_of_a_known_short_loop_meet() {
    fn go(meeting: Option<&Barrier>, len: usize) -> usize {
        let meet = |i: usize| {
            meeting.map(Barrier::wait);
            i
        };
        (0..len).into_par_iter().map(meet).sum()
    }
    // Every thread is wanted, so none may wait for the loop from within the pool.
    watched("a meeting of all", || {
        for threads in [2, 3, 4, 8] {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                for _ in 0..3 {
                    for _ in 0..2000 {
                        go(None, threads);
                    }
                    let sum = go(Some(&Barrier::new(threads)), threads);
                    assert_eq!(sum, threads * (threads - 1) / 2);
                }
            });
        }
    });
}

/// As many items as there are threads wait for each other, and each has other items next to it. So the last
/// thread that does not block may be a thread that waits for its own part of the loop.
#[test]
fn items_meet_beside_others() {
    watched("a meeting of some", || {
        for threads in [2, 3, 5, 8] {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            for every in [2, 8, 60] {
                let run = |meeting: Option<&Barrier>| {
                    (0..threads * every).into_par_iter().for_each(|i| {
                        if i % every == 0 {
                            meeting.map(Barrier::wait);
                        }
                    });
                };
                pool.install(|| {
                    for _ in 0..6 {
                        (0..500).for_each(|_| run(None));
                        run(Some(&Barrier::new(threads)));
                    }
                });
            }
        }
    });
}

/// The same in a loop of unknown length, which is cut in advance: in twice as many pieces as there are threads,
/// if their number is a power of two. The thief of the farther half has soon done its own share, waits for the
/// last piece, and is needed in the nearer half.
#[test]
fn characters_meet_beside_others() {
    watched("a meeting of characters", || {
        for threads in [2, 4, 8] {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            for every in [2, 8, 60] {
                let text = "x".repeat(2 * threads * every);
                let run = |meeting: Option<&Barrier>| {
                    text.par_char_indices().for_each(|(i, _)| {
                        let piece = i / every;
                        if i % every == 0 && (piece + 1 < threads || piece + 1 == 2 * threads) {
                            meeting.map(Barrier::wait);
                        }
                    });
                };
                pool.install(|| {
                    for _ in 0..20 {
                        (0..20).for_each(|_| run(None));
                        run(Some(&Barrier::new(threads)));
                    }
                });
            }
        }
    });
}

/// A thread that waits long for a part of its loop takes other parts of the loop, and nothing else: its caller
/// holds a lock that other threads want.
#[test]
fn a_waiting_loop_runs_no_strangers() {
    watched("a lock held across a long loop", || {
        for threads in [2, 4, 6] {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            for _ in 0..6 {
                let lock = Mutex::new(0);
                let want = || *lock.lock().unwrap() += 1;
                let all = Barrier::new(threads);
                pool.scope(|s| {
                    let held = lock.lock().unwrap();
                    (0..8 * threads).into_par_iter().for_each(|i| {
                        // Once every thread is in the loop: a task that wants the lock would keep one from it.
                        if i % 8 == 0 {
                            all.wait();
                            (0..4).for_each(|_| s.spawn(|_| want()));
                        }
                        // Those that gave it away wait for long enough to look farther.
                        if i + 8 == 8 * threads {
                            thread::sleep(Duration::from_millis(60));
                        }
                    });
                    drop(held);
                });
                assert_eq!(lock.into_inner().unwrap(), 4 * threads);
            }
        }
    });
}

/// One item of each of the outermost even pieces waits for the rest.
#[test]
fn all_other_pieces_are_run_while_an_item_blocks() {
    in_pools("an item waits for all that are not in its piece", || {
        let threads = tine_pool::current_num_threads();
        for blocked in [0, 999] {
            // A loop that is known to be a very short one is laid out in that number of pieces, and any other in no fewer.
            let piece = 1000_usize.div_ceil(2 * threads);
            let (done, told) = (AtomicUsize::new(0), Mutex::new(()));
            (0..1000_usize).into_par_iter().for_each(|i| {
                if i != blocked {
                    done.fetch_add(1, SeqCst);
                    return;
                }
                let _told = told.lock().unwrap();
                while done.load(SeqCst) < 1000 - piece - 1 {
                    thread::sleep(Duration::from_micros(100));
                }
            });
            assert_eq!(done.into_inner(), 999);
        }
    });
}

/// A thread that waits for half of a loop takes part in the rest of it, again and again: no thread runs much
/// more than its share of a loop whose last items are the long ones.
///
/// A machine that is busy with other work keeps threads from their shares. So what counts is the time that
/// passed in items, and each loop that was shared badly is outweighed by half of a loop that was shared well.
/// If pieces are not shared again, four threads share one loop in five like this by chance: then the score
/// falls by twenty loops long before it rises by ten.
#[test]
fn a_skewed_loop_is_shared_again_and_again() {
    fn shares(threads: usize) -> Vec<usize> {
        let micros: Vec<_> = (0..threads).map(|_| AtomicUsize::new(0)).collect();
        (0..300_u32).into_par_iter().for_each(|i| {
            let x = f64::from(i) / 300.0;
            let begun = Instant::now();
            thread::sleep(Duration::from_micros((x.powi(4) * 3_000.0) as u64 + 5));
            let index = tine_pool::current_thread_index().unwrap();
            micros[index].fetch_add(begun.elapsed().as_micros() as usize, SeqCst);
        });
        micros.iter().map(|n| n.load(SeqCst)).collect()
    }
    in_pools("a skewed loop", || {
        let threads = tine_pool::current_num_threads();
        let (mut score, mut bad) = (0, Vec::new());
        while score < 20 {
            let shares = shares(threads);
            let (most, all) = (shares.iter().max().unwrap(), shares.iter().sum::<usize>());
            // Half of the loop would be more than nine tenths of its length.
            if most * threads * 10 < all * 16 {
                score += 2;
            } else {
                score -= 1;
                bad.push(shares);
            }
            assert!(score > -20, "{bad:?}");
        }
    });
}

#[test]
fn the_last_match_is_found_in_a_range_without_end() {
    watched("find_last", || {
        for threads in [2, 3, 8] {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                let last = (-2..i64::MAX).into_par_iter().find_last(|_| true);
                assert_eq!(last, Some(i64::MAX - 1));
                let last = (0..usize::MAX).into_par_iter().find_last(|_| true);
                assert_eq!(last, Some(usize::MAX - 1));
                // Halves of halves of halves: places must last for them all.
                let bits = || (0..1_u64 << 20).into_par_iter();
                let pairs = bits().flat_map(|i| bits().map(move |j| i << 20 | j));
                assert_eq!(pairs.find_last(|_| true), Some((1 << 40) - 1));
                let triples = bits()
                    .flat_map(|i| bits().map(move |j| i << 20 | j))
                    .flat_map(|i| bits().map(move |j| i << 20 | j));
                assert_eq!(triples.find_last(|_| true), Some((1 << 60) - 1));
            });
        }
    });
}

/// Loops whose items take long, all of them or a few: they are cut to single items, whose owners offer them
/// before they begin one. Each item is run once, the results are in order, and a search ends where std's search
/// does.
#[test]
fn long_items_are_each_run_once_and_in_order() {
    /// Computes for this many microseconds, or a little less.
    fn spin(micros: u64) {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_micros(micros) {
            std::hint::spin_loop();
        }
    }
    in_pools("long_items_are_each_run_once_and_in_order", || {
        for round in 0..4_usize {
            for items in [1, 2, 3, 17, 64, 150 + round] {
                let all_long = |i: usize| {
                    spin(30);
                    i * 7
                };
                let few_long = |i: usize| {
                    spin(if i % 40 == round { 300 } else { 2 });
                    i * 7
                };
                let expected: Vec<usize> = (0..items).map(|i| i * 7).collect();
                let made: Vec<usize> = (0..items).into_par_iter().map(all_long).collect();
                assert_eq!(made, expected);
                let made: Vec<usize> = (0..items).into_par_iter().map(few_long).collect();
                assert_eq!(made, expected);
                let least = (0..items)
                    .into_par_iter()
                    .with_min_len(5)
                    .map(few_long)
                    .find_first(|&x| x >= 70);
                assert_eq!(least, expected.iter().copied().find(|&x| x >= 70));
            }
        }
    });
}

/// The other thread never sleeps: it yields until the loop is over, so no thread looks after the others.
#[test]
fn an_item_that_waits_beside_a_thread_that_yields_goes_on() {
    watched("an item waits beside a thread that yields", || {
        for _ in 0..5 {
            let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
            let (there, over, waits, last) = (
                AtomicBool::new(false),
                AtomicBool::new(false),
                AtomicBool::new(false),
                AtomicBool::new(false),
            );
            let call = || {
                (0..64_usize).into_par_iter().for_each(|i| match i {
                    0 if waits.load(SeqCst) => {
                        while !last.load(SeqCst) {
                            thread::yield_now();
                        }
                    }
                    63 if waits.load(SeqCst) => last.store(true, SeqCst),
                    _ => {}
                });
            };
            pool.install(|| (0..1_000).for_each(|_| call()));
            pool.scope(|s| {
                s.spawn(|_| {
                    there.store(true, SeqCst);
                    while !over.load(SeqCst) {
                        tine_pool::yield_now();
                    }
                });
                s.spawn(|_| {
                    while !there.load(SeqCst) {
                        thread::yield_now();
                    }
                    (0..100).for_each(|_| call());
                    waits.store(true, SeqCst);
                    call();
                    over.store(true, SeqCst);
                });
            });
        }
    });
}

/// Runs two halves in a task of a scope; the first half waits for the second, which sets `done` too.
fn halves_in_a_scope(done: &AtomicBool) {
    let second = AtomicBool::new(false);
    let halves = || {
        tine_pool::join(
            || spin_until(&second),
            || {
                done.store(true, SeqCst);
                second.store(true, SeqCst);
            },
        );
    };
    tine_pool::scope(|s| s.spawn(|_| halves()));
}

fn spin_until(flag: &AtomicBool) {
    while !flag.load(SeqCst) {
        thread::yield_now();
    }
}

/// What an item has begun counts as part of the item: the root of the loop, which waits for another part, may
/// run a half in a task of a scope in an item, and so may a waiter outside the loop.
#[test]
fn a_thread_that_waits_for_a_loop_runs_what_its_items_have_begun() {
    let pause = || thread::sleep(Duration::from_millis(2));
    watched("a half in a scope in an item", || {
        for round in 0..40 {
            let pool = ThreadPoolBuilder::new()
                .num_threads(3 + round % 2)
                .build()
                .unwrap();
            let done = AtomicBool::new(false);
            let item = |i| match i {
                0 => pause(),
                1 => spin_until(&done),
                _ => halves_in_a_scope(&done),
            };
            pool.install(|| (0..3).into_par_iter().with_max_len(1).for_each(item));
            let (done, there) = (AtomicBool::new(false), AtomicBool::new(false));
            let item = |i| match i {
                0 => halves_in_a_scope(&done),
                _ => {
                    there.store(true, SeqCst);
                    spin_until(&done);
                }
            };
            pool.scope(|s| {
                s.spawn(|_| (0..2).into_par_iter().with_max_len(1).for_each(item));
                spin_until(&there);
                pause();
            });
        }
    });
}
