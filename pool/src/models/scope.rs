//! Waiters that sleep only on their own event are told of new work that only they can do.

use super::{beside, check, explore, parker};
use crate::base::park::Parker;
use crate::base::sync::{AtomicUsize, Ordering, UnsafeCell, fence, yield_now};
use crate::queue::job::{StackJob, State, Taken, execute};
use crate::queue::kept::Kept;
use crate::queue::latch::{CountLatch, Latch, ScopeCount};
use crate::queue::spawned::{Entry, Lot, Spawned};
use crate::queue::steal::Steal;
use crate::seat::Seat;
use crate::seat::sleep::Sleep;
use crate::seat::word::Holder;
use loom::thread;
use std::sync::Arc;

/// An owner's wait for its latch, looking for work by `look`.
fn wait(latch: &Latch, owner: &Parker, look: impl Fn() -> bool) {
    let sleep = Sleep::new(1, 0);
    while !latch.is_set() {
        if look() {
            continue;
        }
        if latch.fall_asleep() {
            sleep.before_last_look();
            if !look() {
                owner.park();
            }
        }
        latch.wake_up();
    }
}

/// A task of a scope, which runs on another thread, spawns a task that only the scope's owner can run.
/// `fence_first` says whether the spawner fences between its push and its look at the latch.
fn spawn_into_a_scope(fence_first: bool) {
    const TAG: u64 = 5;
    struct Scope {
        owner: &'static Parker,
        latch: CountLatch,
        deque: Spawned,
        run: AtomicUsize,
        told: &'static Parker,
    }
    explore(3, move || {
        let owner = parker();
        let scope = Arc::new(Scope {
            owner,
            // The running task.
            latch: CountLatch::new(owner),
            deque: Spawned::new(),
            run: AtomicUsize::new(0),
            told: parker(),
        });
        let task = beside(&scope, move |scope| {
            scope.latch.increment(1);
            let entry = Entry {
                job: std::ptr::without_provenance_mut(8),
                tag: TAG,
            };
            // SAFETY: called only by this thread.
            unsafe { scope.deque.push(entry) };
            if fence_first {
                fence(Ordering::SeqCst);
            }
            if let Some(sleeper) = scope.latch.latch().sleeper() {
                sleeper.unpark();
            }
            // The task goes on as long as the other task has not run.
            while scope.run.load(Ordering::Acquire) == 0 {
                scope.told.park();
            }
            // SAFETY: kept until the end; its own count.
            unsafe { CountLatch::decrement(&raw const scope.latch, 1) };
        });
        let latch = scope.latch.latch();
        let look = || match scope.deque.steal_if(|tag| tag == TAG) {
            Steal::Taken(_) => {
                scope.run.store(1, Ordering::Release);
                scope.told.unpark();
                // SAFETY: kept until the end; the spawned task's count.
                unsafe { CountLatch::decrement(&raw const scope.latch, 1) };
                true
            }
            _ => false,
        };
        wait(latch, owner, look);
        task.join().unwrap();
        assert_eq!(scope.run.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn an_owner_hears_of_a_spawn() {
    spawn_into_a_scope(true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn twin_whose_spawn_does_not_fence() {
    spawn_into_a_scope(false);
}

/// A thread runs a task of a scope, which spawns another task, and runs that too; until then it keeps the
/// counts of both. `settle` says whether it gives them back then. The owner sees what both tasks did, and the
/// latch goes.
fn counts_that_are_kept(settle: bool) {
    const TAG: u64 = 5;
    explore(3, move || {
        let latch = Arc::new(CountLatch::with_count(1, parker()));
        let done = Arc::new([UnsafeCell::new(0), UnsafeCell::new(0)].map(Watched));
        let thread = {
            let (latch, done) = (Arc::clone(&latch), Arc::clone(&done));
            thread::spawn(move || {
                let kept = Kept::new();
                for (i, cell) in done.iter().enumerate() {
                    kept.turn_to(TAG);
                    kept.keeping(|| {
                        if i == 0 {
                            kept.count_up(&latch, TAG);
                        }
                        // SAFETY: watched.
                        cell.0.with_mut(|p| unsafe { *p = 1 });
                        // SAFETY: the task's own count.
                        assert!(unsafe { kept.keep(Arc::as_ptr(&latch), TAG) });
                    });
                }
                if settle {
                    kept.settle();
                    // Counts that were given back are not given back again.
                    kept.settle();
                }
            })
        };
        latch.latch().wait();
        assert_eq!(latch.count(), 0);
        // SAFETY: watched.
        let seen = done.iter().map(|cell| cell.0.with(|p| unsafe { *p }));
        assert_eq!(seen.sum::<u32>(), 2);
        thread.join().unwrap();
        assert_eq!(latch.count(), 0);
    });
}

/// A scope with a task that ends on another thread: the owner leaves once the task has ended, and sees what it
/// did. `settles` says whether the owner has then given back the counts that it took in advance, as it does
/// before it sleeps.
fn a_scope_is_left(settles: bool) {
    explore(3, move || {
        let count = Arc::new(ScopeCount::at_home(parker()));
        let done = Arc::new(Watched(UnsafeCell::new(0)));
        count.count_up_at_home();
        let thread = {
            let (count, done) = (Arc::clone(&count), Arc::clone(&done));
            thread::spawn(move || {
                // SAFETY: watched.
                done.0.with_mut(|p| unsafe { *p = 1 });
                // SAFETY: the task's own count.
                unsafe { CountLatch::decrement(&raw const count.latch, 1) };
            })
        };
        count.end_body(true);
        if settles {
            count.settle();
        }
        while !count.is_done() {
            if settles {
                count.latch.latch().wait();
            } else {
                yield_now();
            }
        }
        // No thread is about to set the latch, which goes now.
        assert!(count.latch.count() > 0 || count.latch.latch().is_set());
        // SAFETY: watched.
        assert_eq!(done.0.with(|p| unsafe { *p }), 1);
        thread.join().unwrap();
        assert_eq!(count.latch.latch().is_set(), settles);
    });
}

#[test]
fn an_owner_leaves_by_its_credit() {
    a_scope_is_left(false);
}

#[test]
fn an_owner_that_has_settled_waits_for_the_latch() {
    a_scope_is_left(true);
}

struct Watched(UnsafeCell<u32>);
// SAFETY: the model checker watches the cell.
unsafe impl Send for Watched {}
// SAFETY: as above.
unsafe impl Sync for Watched {}

#[test]
fn kept_counts_are_given_back_at_once() {
    counts_that_are_kept(true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn twin_that_keeps_counts_for_good() {
    counts_that_are_kept(false);
}

/// A thread runs a task of a scope, and then a job of another scope that waits for what the first scope's owner
/// does next. `turn` says whether the thread gives its kept counts back in between.
fn a_stranger_after_a_task(turn: bool) {
    const TAG: u64 = 5;
    explore(3, move || {
        let latch = Arc::new(CountLatch::with_count(1, parker()));
        let after: &'static Parker = parker();
        let thread = beside(&latch, move |latch| {
            let kept = Kept::new();
            kept.turn_to(TAG);
            kept.keeping(|| {
                // SAFETY: the task's own count.
                assert!(unsafe { kept.keep(&raw const *latch, TAG) });
            });
            if turn {
                kept.turn_to(0);
            }
            kept.keeping(|| after.park());
            kept.settle();
        });
        latch.latch().wait();
        after.unpark();
        thread.join().unwrap();
    });
}

#[test]
fn a_stranger_begins_when_counts_are_given_back() {
    a_stranger_after_a_task(true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn twin_whose_stranger_begins_at_once() {
    a_stranger_after_a_task(false);
}

/// How a thief tells the owner about tasks that it has moved.
#[derive(Clone, Copy, PartialEq)]
enum Tell {
    Never,
    Always,
    /// And records only then that they have strayed.
    AndNotes,
    /// Unless there is a token; there is a token in the beginning.
    Once {
        fence: bool,
    },
}

/// A thief takes two tasks of a scope with one exchange, puts the second into its own deque, and is busy with
/// the first until the owner has run another task. `tell` says how it tells the owner. Without that, the owner
/// may have looked for the second task while it was being moved, and sleep.
fn a_lot_on_its_way(tell: Tell) {
    const TAG: u64 = 5;
    const TASKS: usize = 3;
    struct Scope {
        latch: CountLatch,
        home: Spawned,
        away: Spawned,
        /// The owner looks there only once a task is known to have been moved there.
        strays: AtomicUsize,
        run_at_home: AtomicUsize,
        told: &'static Parker,
    }
    explore(2, move || {
        let owner = parker();
        let scope = Arc::new(Scope {
            strays: AtomicUsize::new(0),
            latch: CountLatch::with_count(TASKS, owner),
            home: Spawned::new(),
            away: Spawned::new(),
            run_at_home: AtomicUsize::new(0),
            told: parker(),
        });
        if matches!(tell, Tell::Once { .. }) {
            owner.unpark();
        }
        for task in 1..=TASKS {
            let job = std::ptr::without_provenance_mut(8 * task);
            // SAFETY: called by the one thread that owns this deque.
            unsafe { scope.home.push(Entry { job, tag: TAG }) };
        }
        // SAFETY: kept until the end; each task has its count.
        let done = |scope: &Scope| unsafe { CountLatch::decrement(&raw const scope.latch, 1) };
        let thief = beside(&scope, move |scope| {
            let mut lot = Lot::new();
            let Steal::Taken(()) = scope.home.steal_lot(&mut lot) else {
                return;
            };
            let note = || scope.strays.store(1, Ordering::Relaxed);
            for entry in &lot.entries()[1..] {
                if tell != Tell::AndNotes {
                    note();
                }
                // SAFETY: called by the one thread that owns this deque.
                unsafe { scope.away.push(*entry) };
                match tell {
                    Tell::Never => {}
                    Tell::Always => _ = owner.unpark(),
                    Tell::AndNotes => {
                        owner.unpark();
                        note();
                    }
                    Tell::Once { fence: fenced } => {
                        if fenced {
                            fence(Ordering::SeqCst);
                        }
                        owner.unpark_once();
                    }
                }
            }
            while scope.run_at_home.load(Ordering::Acquire) < TASKS - 1 {
                scope.told.park();
            }
            done(scope);
        });
        let latch = scope.latch.latch();
        let look = || {
            // SAFETY: called by the one thread that owns this deque.
            let own = unsafe { scope.home.pop() };
            let away = || match scope.strays.load(Ordering::Relaxed) {
                0 => false,
                _ => matches!(scope.away.steal_if(|tag| tag == TAG), Steal::Taken(_)),
            };
            let found = own.is_some() || away();
            if found {
                scope.run_at_home.fetch_add(1, Ordering::Release);
                scope.told.unpark();
                done(&scope);
            }
            found
        };
        wait(latch, owner, look);
        thief.join().unwrap();
    });
}

#[test]
fn an_owner_hears_of_tasks_that_were_on_their_way() {
    a_lot_on_its_way(Tell::Always);
}

#[test]
fn an_owner_that_has_a_token_hears_of_them_too() {
    a_lot_on_its_way(Tell::Once { fence: true });
}

#[test]
#[should_panic(expected = "deadlock")]
fn twin_whose_thief_notes_strays_too_late() {
    a_lot_on_its_way(Tell::AndNotes);
}

#[test]
#[should_panic(expected = "deadlock")]
fn twin_whose_thief_does_not_fence() {
    a_lot_on_its_way(Tell::Once { fence: false });
}

#[test]
#[should_panic(expected = "deadlock")]
fn twin_whose_thief_tells_nobody() {
    a_lot_on_its_way(Tell::Never);
}

/// A join waits for a job whose thief publishes a piece of it, and goes on only after another thread has run
/// that piece. `leave_word` says whether the waiter leaves word before its last look.
fn wait_for_a_thief(leave_word: bool) {
    check(move || {
        let thief = Arc::new(Seat::new(1, 2, Holder::Awake));
        let (waiter, between) = (parker(), parker());
        let awaited = Arc::new(StackJob::new({
            let seat = Arc::clone(&thief);
            move |_| {
                let piece = StackJob::new(move |_| {
                    between.unpark();
                });
                seat.nested.push(0, piece.erase());
                seat.nested.publish(1);
                fence(Ordering::SeqCst);
                if seat.take_waiters() != 0 {
                    waiter.unpark();
                }
                while piece.head().word().state() != State::Done {
                    between.park();
                    while piece.head().word().state() == State::Taken {
                        yield_now();
                    }
                }
                seat.nested.pop(0);
                seat.nested.retire(0);
            }
        }));
        let running = {
            let (seat, job) = (Arc::clone(&thief), Arc::clone(&awaited));
            thread::spawn(move || {
                let (inner, outer) = seat.begin(0);
                let by = Taken {
                    seat: 1,
                    base: inner.base,
                    since: inner.since,
                };
                // SAFETY: run here alone, and kept until the end.
                unsafe { execute(job.erase(), by) };
                seat.end(outer);
            })
        };
        let word = awaited.head().word();
        let help = |by: Taken| {
            let still = || word.state() == State::Taken;
            let found = thief.nested.steal_if(by.base, still).map(|won| won.job);
            if let Steal::Taken(job) = found {
                // SAFETY: stolen; its owner waits for it.
                unsafe { execute(job, by) };
            }
            matches!(found, Steal::Taken(_))
        };
        loop {
            match word.state() {
                State::Done => break,
                State::Untaken => yield_now(),
                State::Taken => {
                    // SAFETY: seen to be taken.
                    let by = unsafe { awaited.head().taken() };
                    if leave_word {
                        thief.add_waiter(0);
                        thief.nested.want();
                    }
                    fence(Ordering::SeqCst);
                    if !help(by) && word.sleep_on(waiter) {
                        waiter.park();
                    }
                }
            }
        }
        running.join().unwrap();
        // SAFETY: seen to be done, and taken out once.
        unsafe { awaited.take_result() }.unwrap();
    });
}

#[test]
fn a_waiter_hears_of_a_piece() {
    wait_for_a_thief(true);
}

#[test]
// A deadlock. The job itself catches the panic that reports it, and another panic follows.
#[should_panic]
fn twin_that_leaves_no_word() {
    wait_for_a_thief(false);
}
