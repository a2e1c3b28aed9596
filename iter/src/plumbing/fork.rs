//! Where a bridge meets the pool.
//!
//! The pool gets parts behind references, and the parts put their results into the frame of the
//! caller. Bringing a call inside, lending, stealing and waiting are much code. In this way a
//! program holds that code once, and not once for each pipeline; a call through a reference costs
//! nothing beside it. What a bridge does for each block of items is compiled for its types.

use tine_pool::loops::{self, Part};
use tine_pool::{Scope, scope};

/// A closure to be called once, and what it came to.
pub(super) struct Call<F, R> {
    op: Option<F>,
    result: Option<R>,
}

impl<F, R> Call<F, R> {
    pub(super) fn new(op: F) -> Self {
        let result = None;
        Call {
            op: Some(op),
            result,
        }
    }

    pub(super) fn result(self) -> R {
        done(self.result)
    }
}

impl<F: FnOnce(bool) -> R, R> Part for Call<F, R> {
    fn run(&mut self, migrated: bool) {
        if let Some(op) = self.op.take() {
            self.result = Some(op(migrated));
        }
    }
}

/// The result of a part that the pool has done.
#[inline]
pub(super) fn done<R>(result: Option<R>) -> R {
    match result {
        Some(result) => result,
        None => unreachable!("the pool came back from what it had not done"),
    }
}

/// Runs `op` on a thread of a pool: this one, if it is.
pub(crate) fn enter<R: Send>(op: impl FnOnce() -> R + Send) -> R {
    let mut call = Call::new(|_| op());
    loops::enter(&mut call);
    call.result()
}

/// Does all of a loop on a thread of a pool: this one, if it is.
#[inline]
pub(super) fn enter_part(call: loops::Call, part: &mut (dyn Part + Send)) {
    loops::enter_loop(call, part);
}

/// The same on this thread, if it is of a pool; else false, and nothing is done.
pub(super) fn enter_part_here(call: loops::Call, part: &mut dyn Part) -> bool {
    loops::enter_loop_here(call, part)
}

/// Runs both halves of a loop that was entered by [`enter_part`], in parallel if another thread is
/// free. Each is told whether it migrated to another thread.
pub(super) fn halves_told<A: Send, B: Send>(
    a: impl FnOnce(bool) -> A + Send,
    b: impl FnOnce(bool) -> B + Send,
) -> (A, B) {
    let (mut a, mut b) = (Call::new(a), Call::new(b));
    loops::halves(&mut a, &mut b);
    (a.result(), b.result())
}

/// Runs both closures, in parallel if another thread is free.
pub(crate) fn both<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut a, mut b) = (Call::new(|_| a()), Call::new(|_| b()));
    loops::both(&mut a, &mut b);
    (a.result(), b.result())
}

/// A closure that comes to nothing. The pool calls it once.
struct Bare<F>(F);

impl<F: FnMut()> Part for Bare<F> {
    fn run(&mut self, _: bool) {
        (self.0)();
    }
}

/// [`both`] of closures that come to nothing, in less code. A sort forks at many places, and each
/// is compiled with the program that sorts.
pub(crate) fn halves(a: impl FnMut() + Send, b: impl FnMut() + Send) {
    loops::both(&mut Bare(a), &mut Bare(b));
}

/// Calls `work` once on this thread, and once on each other thread that comes in time, on `threads` in all at most.
/// For work that threads claim piece by piece: a thread that comes late finds less, and none holds pieces that it
/// has not begun.
pub(crate) fn crew(threads: usize, work: &(dyn Fn() + Sync)) {
    enter_part(loops::Call::NONE, &mut Bare(|| call_crew(threads, work)));
}

fn call_crew(threads: usize, work: &(dyn Fn() + Sync)) {
    if threads < 2 {
        return work();
    }
    let far = threads / 2;
    loops::lend(
        true,
        || call_crew(threads - far, work),
        &mut Bare(|| call_crew(far, work)),
    );
}

/// Calls `work` here with a closure. Each time `work` calls that closure, `work` is called once
/// more, on any thread that comes. So `work` may return when it has nothing to do, and is called
/// again later: nothing nests in it.
pub(super) fn members(work: &(dyn Fn(&dyn Fn()) + Sync)) {
    scope(|s| call_member(s, work));
}

fn call_member<'s>(scope: &Scope<'s>, work: &'s (dyn Fn(&dyn Fn()) + Sync)) {
    work(&|| scope.spawn(move |scope| call_member(scope, work)));
}

/// Calls `work` as the whole of a loop.
pub(crate) fn course(work: impl FnOnce() + Send) {
    enter_part(loops::Call::NONE, &mut Call::new(|_| work()));
}

/// Both, in a [`course`]; the second is offered in public at once.
pub(crate) fn open(a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    let mut b = Call::new(|_| b());
    loops::lend(true, a, &mut b);
    // Unless another thread has taken it.
    b.run(false);
}

/// Offers what is laid out behind a piece and has not begun; false if there is no such thing.
pub(super) fn offer() -> bool {
    loops::offer()
}
