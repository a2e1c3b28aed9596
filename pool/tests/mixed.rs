//! Verbs that meet: a bound inside scopes, handles that are dropped next to handles that are awaited, handlers
//! that spawn, block or panic.

mod common;

use common::{Random, Watch, alone, budget, ignore, until};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tine_pool::{
    Bounded, First, Scope, ThreadPoolBuilder, Yield, blocking, broadcast, current_num_threads,
    join, picture, scope, select, spawn, spawn_async, spawn_broadcast, spawn_join, stats, stop,
    yield_now,
};

/// Counts what is made, and what of that is dropped.
#[derive(Clone, Default)]
struct Counts(Arc<[AtomicUsize; 2]>);

impl Counts {
    fn one(&self) -> Counted {
        self.0[0].fetch_add(1, SeqCst);
        Counted(self.clone())
    }

    fn is_even(&self) -> bool {
        self.0[0].load(SeqCst) == self.0[1].load(SeqCst)
    }
}

struct Counted(Counts);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0[1].fetch_add(1, SeqCst);
    }
}

#[test]
fn bounds_that_are_reached_inside_of_scopes() {
    /// Each task spawns three more into the scope, and some within its own bound.
    fn grow<'s>(s: &Scope<'s>, depth: u32, jobs: &'s Bounded, done: &'s AtomicUsize, all: &Counts) {
        done.fetch_add(1, SeqCst);
        for limit in 0..if depth == 0 { 0 } else { 3 } {
            let (counted, more) = (all.one(), all.clone());
            s.spawn_bounded(limit, move |s| {
                grow(s, depth - 1, jobs, done, &more);
                drop(counted);
            });
            let counted = all.one();
            jobs.spawn(move || join(|| (), || drop(counted)).0);
        }
    }
    let watch = Watch::new("bounds_that_are_reached_inside_of_scopes");
    let more = budget(1500);
    let mut round = 0;
    while more() {
        watch.step(round);
        let pool = watch.pool(1 + round as usize % 3);
        let (jobs, done, all) = (
            Bounded::new(round as usize % 4),
            AtomicUsize::new(0),
            Counts::default(),
        );
        let fails = round % 5 == 4;
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let tree = || {
                scope(|s| {
                    grow(s, 4, &jobs, &done, &all);
                    if fails {
                        s.spawn_bounded(1, |_| panic!("of a task"));
                    }
                    blocking(|| scope(|s| grow(s, 2, &jobs, &done, &all)));
                });
            };
            pool.install(|| join(tree, || broadcast(|_| blocking(|| ()))));
        }));
        assert_eq!(ended.is_err(), fails);
        assert_eq!(done.load(SeqCst), 121 + 13);
        pool.shutdown();
        until(|| all.is_even());
        // What was spawned inside `blocking` is of the global pool, where a job may still be about to end.
        until(|| jobs.pending() == 0);
        round += 1;
    }
}

#[test]
fn selects_beside_handles_that_are_dropped_or_taken_back() {
    let watch = Watch::new("selects_beside_handles_that_are_dropped_or_taken_back");
    let (more, all) = (budget(1500), Counts::default());
    let mut random = Random::new(3);
    while more() {
        watch.step(random.next());
        let pool = watch.pool(1 + random.below(3) as usize);
        let mut own = random.clone();
        let job = |counted: Counted, waits: bool| {
            spawn_async(move || {
                // Ends when it is stopped, or at once.
                while waits && !stop::requested() {
                    join(thread::yield_now, || ());
                }
                drop(counted);
            })
        };
        let mut mix = || {
            for _ in 0..20 {
                let (waits, fate) = (own.below(2) == 0, own.below(6));
                // The first has an end of its own; a worker may run it before the other has begun.
                let both = select(job(all.one(), false), job(all.one(), waits));
                let counted = all.one();
                let other = spawn_join(move || drop(counted));
                match fate {
                    0 => drop(both),
                    1 => ignore((other.cancel(), both.join())),
                    2 => drop((other, both)),
                    3 => scope(|s| s.spawn(|_| ignore((both.join(), other.join())))),
                    4 => ignore(join(|| both.join(), || blocking(|| other.join()))),
                    _ => match both.join() {
                        First::Right(_) if waits => unreachable!("it waits to be stopped"),
                        First::Left(end) | First::Right(end) => {
                            end.unwrap().unwrap();
                            other.join().unwrap();
                        }
                    },
                }
            }
        };
        if random.below(2) == 0 {
            pool.install(&mut mix);
        } else {
            pool.install(|| blocking(&mut mix));
        }
        pool.shutdown();
        random.next();
    }
    until(|| all.is_even());
}

#[test]
fn exit_handlers_spawn_wait_and_write() {
    let watch = Watch::new("exit_handlers_spawn_wait_and_write");
    let (more, all) = (budget(1500), Counts::default());
    let mut round = 0;
    while more() {
        watch.step(round);
        let (threads, exits) = (1 + round as usize % 3, Arc::new(AtomicUsize::new(0)));
        let (counts, count) = (all.clone(), Arc::clone(&exits));
        let handler = move |_| {
            let [a, b, c, d] = [(); 4].map(|()| counts.one());
            spawn(move || spawn(move || drop(a)));
            spawn_join(move || join(|| drop(b), || ())).join().unwrap();
            scope(|s| s.spawn_bounded(1, |_| drop(c)));
            ignore(select(spawn_async(|| ()), spawn_async(|| ())).join());
            spawn_broadcast(move |_| ignore(&d));
            Bounded::new(1).spawn(|| panic!("of a job"));
            count.fetch_add(1, SeqCst);
        };
        let builder = ThreadPoolBuilder::new()
            .num_threads(threads)
            .panic_handler(ignore)
            .exit_handler(handler);
        let pool = watch.watched(builder);
        if round % 2 == 0 {
            pool.install(|| broadcast(|_| blocking(|| ())));
        }
        pool.shutdown();
        // Spare threads have their exits as well.
        assert!(exits.load(SeqCst) >= threads);
        until(|| all.is_even());
        round += 1;
    }
}

#[test]
fn start_handlers_that_panic_leave_whole_threads() {
    let watch = Watch::new("start_handlers_that_panic_leave_whole_threads");
    let more = budget(1000);
    let mut round = 0;
    while more() {
        watch.step(round);
        let threads = 1 + round as usize % 3;
        let (starts, panics) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (begun, caught) = (Arc::clone(&starts), Arc::clone(&panics));
        let builder = ThreadPoolBuilder::new()
            .num_threads(threads)
            .panic_handler(move |_| ignore(caught.fetch_add(1, SeqCst)))
            .start_handler(move |_| {
                spawn(|| panic!("of a job"));
                begun.fetch_add(1, SeqCst);
                scope(|s| s.spawn(|_| panic!("of a start handler")));
            });
        let pool = watch.watched(builder);
        let seen = pool.broadcast(|_| join(|| 1, || blocking(|| 2)));
        assert_eq!(seen, vec![(1, 2); threads]);
        pool.install(|| spawn_join(|| scope(|s| s.spawn_broadcast(|_, _| ()))).join())
            .unwrap();
        pool.shutdown();
        assert!(starts.load(SeqCst) >= threads);
        assert_eq!(panics.load(SeqCst), 2 * starts.load(SeqCst));
        round += 1;
    }
}

#[test]
fn a_broadcast_whose_closures_block() {
    let watch = Watch::new("a_broadcast_whose_closures_block");
    let more = budget(1000);
    let mut round = 0;
    while more() {
        watch.step(round);
        let pool = watch.pool(1 + round as usize % 3);
        let run = || {
            broadcast(|context| {
                let (send, receive) = mpsc::channel();
                // Every thread of the pool is here, so a spare one runs this.
                spawn(move || {
                    scope(|s| s.spawn_bounded(0, |_| ()));
                    send.send(7).unwrap();
                });
                let (got, _) = join(move || blocking(|| receive.recv().unwrap()), || ());
                context.index() + got
            })
        };
        let got = match round % 2 {
            0 => pool.install(run),
            _ => pool.install(|| scope(|_| join(|| (), run).1)),
        };
        assert_eq!(got, (7..7 + pool.current_num_threads()).collect::<Vec<_>>());
        assert_eq!(pool.install(current_num_threads), got.len());
        pool.shutdown();
        round += 1;
    }
}

/// All seats are held by tasks when the callers come, so their calls are errands. When the tasks end, the
/// threads may run these errands or offer their seats; in both cases each call is made once, and its panic goes
/// to its caller.
#[test]
fn callers_sit_down_where_threads_offer_their_seats() {
    const THREADS: usize = 12;
    const ERRANDS: usize = 2;
    const NAME: &str = "callers_sit_down_where_threads_offer_their_seats";
    alone(NAME, THREADS, |watch| {
        let (at_home, more) = (AtomicUsize::new(0), budget(2500));
        for round in 0.. {
            if !more() && at_home.load(SeqCst) > 0 {
                break;
            }
            watch.step(round);
            let all = Counts::default();
            let [begun, over] = [(); 2].map(|()| AtomicUsize::new(0));
            let callers = 2 + round as usize % THREADS;
            let hold = || {
                begun.fetch_add(1, SeqCst);
                until(|| over.load(SeqCst) > 0);
            };
            thread::scope(|threads| {
                threads.spawn(|| broadcast(|_| hold()));
                until(|| begun.load(SeqCst) == THREADS);
                for caller in 0..callers {
                    let (all, at_home, over) = (&all, &at_home, &over);
                    threads.spawn(move || {
                        for call in 0..8 {
                            let own = call_by_join(caller, call, all);
                            let counts = own && call == 0 && over.load(SeqCst) == ERRANDS;
                            at_home.fetch_add(usize::from(counts), SeqCst);
                        }
                    });
                }
                // Callers whose errands lie there for long take them back.
                let (queued, since) = (format!(" {callers} injected"), Instant::now());
                let all_lie_there = || picture().contains(&queued);
                until(|| all_lie_there() || since.elapsed() > Duration::from_millis(20));
                over.store(if all_lie_there() { ERRANDS } else { 1 }, SeqCst);
            });
            assert!(all.is_even());
        }
    });
}

/// Whether the caller itself ran the call.
fn call_by_join(caller: usize, call: usize, all: &Counts) -> bool {
    let (me, counted) = (thread::current().id(), all.one());
    let here = move || {
        let _counted = counted;
        assert_ne!(caller + call, 6);
        thread::current().id() == me
    };
    match catch_unwind(AssertUnwindSafe(|| join(here, || caller))) {
        Ok((own, other)) => {
            assert!(caller + call != 6 && other == caller);
            own
        }
        Err(_) => {
            assert_eq!(caller + call, 6);
            false
        }
    }
}

const CALLS: u64 = 200;

/// How many jobs the threads of the global pool ran for calls of a thread that is not one of them.
fn jobs_for_calls() -> u64 {
    let jobs = || stats().map_or(0, |stats| stats.total().jobs);
    let before = jobs();
    let calls = || (0..CALLS).for_each(|_| scope(|_| ()));
    // Guests have as much stack as the pool's threads.
    let caller = thread::Builder::new().stack_size(8 << 20);
    caller.spawn(calls).unwrap().join().unwrap();
    jobs() - before
}

#[test]
fn no_seat_is_offered_to_a_caller_that_may_not_sit_down() {
    let name = "no_seat_is_offered_to_a_caller_that_may_not_sit_down";
    alone(name, 12, |_| {
        let builder = ThreadPoolBuilder::new().num_threads(12).guests(false);
        builder.build_global().unwrap();
        assert_eq!(jobs_for_calls(), CALLS);
    });
}

/// A thread that runs a call while it yields has no seat to give: it runs the call at once.
#[test]
fn no_seat_is_offered_in_the_middle_of_something_else() {
    const THREADS: usize = 12;
    let name = "no_seat_is_offered_in_the_middle_of_something_else";
    alone(name, THREADS, |_| {
        let [begun, over] = [(); 2].map(|()| AtomicUsize::new(0));
        let wait = || until(|| over.load(SeqCst) == 1);
        let yields = || until(|| yield_now() == Some(Yield::Idle) && over.load(SeqCst) == 1);
        thread::scope(|threads| {
            threads.spawn(|| {
                broadcast(|context| {
                    begun.fetch_add(1, SeqCst);
                    if context.index() == 0 {
                        yields();
                    } else {
                        wait();
                    }
                });
            });
            until(|| begun.load(SeqCst) == THREADS);
            let ran = jobs_for_calls();
            over.store(1, SeqCst);
            assert_eq!(ran, CALLS);
        });
    });
}
