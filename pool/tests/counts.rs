//! The counts of scopes, whichever thread keeps them: no scope is left before its last task has ended, and every
//! scope is left.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use tine_pool::{Scope, ThreadPool, ThreadPoolBuilder};

fn pool(threads: usize) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    builder.build().expect("threads")
}

/// What the tasks of one scope tell its owner. It lies in the frame that the scope must not outlive.
struct Board {
    begun: AtomicUsize,
    ended: AtomicUsize,
    left: AtomicBool,
}

impl Board {
    fn new() -> Self {
        Self {
            begun: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            left: AtomicBool::new(false),
        }
    }

    /// Counts a task that runs, also if it panics.
    fn task(&self) -> impl Drop {
        struct Ends<'b>(&'b Board);
        impl Drop for Ends<'_> {
            fn drop(&mut self) {
                assert!(!self.0.left.load(SeqCst), "a task after its scope");
                self.0.ended.fetch_add(1, SeqCst);
            }
        }
        assert!(!self.left.load(SeqCst), "a task after its scope");
        self.begun.fetch_add(1, SeqCst);
        Ends(self)
    }

    /// Notes that the scope has been left.
    fn close(&self, tasks: usize) {
        self.left.store(true, SeqCst);
        assert_eq!(self.begun.load(SeqCst), tasks);
        assert_eq!(self.ended.load(SeqCst), tasks);
    }
}

/// Spawns two trees of tasks, half as deep, and now and then opens its own scope, whose tasks spawn into this
/// one as well. Some tasks of the inner scope panic.
fn grow<'s>(scope: &Scope<'s>, board: &'s Board, depth: u32) {
    let _task = board.task();
    if depth == 0 {
        return;
    }
    for _ in 0..2 {
        scope.spawn(move |scope| grow(scope, board, depth - 1));
    }
    if depth.is_multiple_of(2) {
        let inner = Board::new();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            tine_pool::scope(|within| {
                for i in 0..4 {
                    let inner = &inner;
                    within.spawn(move |_| {
                        let _task = inner.task();
                        scope.spawn(move |_| drop(board.task()));
                        if i == 3 && depth == 4 {
                            resume_unwind(Box::new(7_u8));
                        }
                    });
                }
            });
        }));
        inner.close(4);
        assert_eq!(caught.is_err(), depth == 4);
    }
}

/// How many tasks that makes in the outer scope.
fn size(depth: u32) -> usize {
    match depth {
        0 => 1,
        _ => 1 + 2 * size(depth - 1) + if depth.is_multiple_of(2) { 4 } else { 0 },
    }
}

#[test]
fn tasks_that_spawn_into_two_scopes() {
    let (depth, rounds) = if cfg!(miri) { (4, 2) } else { (8, 60) };
    for threads in [1, 2, 3, 8] {
        let pool = pool(threads);
        for _ in 0..rounds {
            let board = Board::new();
            pool.scope(|scope| grow(scope, &board, depth));
            board.close(size(depth));
        }
    }
}

#[test]
fn scopes_side_by_side_share_the_threads() {
    let (pool, rounds) = (pool(4), if cfg!(miri) { 2 } else { 40 });
    std::thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| {
                for _ in 0..rounds {
                    let board = Board::new();
                    pool.in_place_scope(|scope| {
                        for _ in 0..20 {
                            scope.spawn(|scope| grow(scope, &board, 2));
                        }
                    });
                    board.close(20 * size(2));
                }
            });
        }
    });
}

#[test]
fn joins_within_tasks_spawn_for_their_scope() {
    fn split<'s>(scope: &Scope<'s>, board: &'s Board, leaves: usize) {
        if leaves == 1 {
            return scope.spawn(move |_| drop(board.task()));
        }
        tine_pool::join(
            || split(scope, board, leaves / 2),
            || split(scope, board, leaves - leaves / 2),
        );
    }
    let leaves = if cfg!(miri) { 9 } else { 1_000 };
    let pool = pool(4);
    for _ in 0..if cfg!(miri) { 1 } else { 30 } {
        let board = Board::new();
        pool.scope(|scope| {
            split(scope, &board, leaves);
            scope.spawn(|scope| split(scope, &board, leaves));
        });
        board.close(2 * leaves);
    }
}

/// A single thread spawns: there are never more unfinished tasks than it allows, including tasks from before
/// the bound.
#[test]
fn a_bound_holds_beside_threads_that_keep_counts() {
    let (tasks, limit) = (if cfg!(miri) { 40 } else { 20_000 }, 16);
    for threads in [1, 2, 4] {
        let [pending, most, done] = [(); 3].map(|()| AtomicUsize::new(0));
        pool(threads).scope(|scope| {
            for _ in 0..limit / 2 {
                scope.spawn(|_| ());
            }
            for _ in 0..tasks {
                most.fetch_max(pending.fetch_add(1, SeqCst), SeqCst);
                scope.spawn_bounded(limit, |_| {
                    done.fetch_add(1, SeqCst);
                    pending.fetch_sub(1, SeqCst);
                });
            }
        });
        assert_eq!(done.into_inner(), tasks);
        assert!(most.into_inner() <= limit);
    }
}

/// The body counts next to the tasks as long as it runs, and no longer.
#[test]
fn a_bound_holds_when_the_body_has_ended() {
    let rounds = if cfg!(miri) { 2 } else { 300 };
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for _ in 0..rounds {
            let (ended, in_time) = (AtomicBool::new(false), AtomicBool::new(false));
            let (ended, in_time) = (&ended, &in_time);
            pool.scope(|scope| {
                // The one unfinished task, whether the body has ended or not.
                scope.spawn(|scope| {
                    scope.spawn_bounded(1, |_| in_time.store(!ended.load(SeqCst), SeqCst));
                    ended.store(true, SeqCst);
                });
            });
            assert!(in_time.load(SeqCst), "done here, with {threads} threads");
        }
    }
    // And where there is room, it is used.
    let ended = &AtomicBool::new(false);
    pool(1).scope(|scope| {
        scope.spawn(|scope| {
            scope.spawn_bounded(2, |_| assert!(ended.load(SeqCst), "not done here"));
            ended.store(true, SeqCst);
        });
    });
}
