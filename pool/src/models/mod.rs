//! Models: the real code of the layers below the workers, in every interleaving up to a bound.
//!
//! ```text
//! tests/models.sh -p tine-pool models
//! ```
//!
//! What a worker does around that code is repeated here in a few lines, since workers keep more state than can
//! be explored. If a rule was found by leaving it out, a **twin** leaves it out, in a small copy or by leaving
//! out one call of the real code, and must fail. A copy that leaves nothing out must pass, so that it is the
//! rule that makes the difference.
//! A lost wake-up shows as a deadlock. A job that was run twice, or seen too early, shows as a
//! forbidden access to its [`Load`].

mod census;
mod injector;
mod job;
mod latch;
mod letters;
mod nested;
mod park;
mod scope;
mod seats;
mod slab;
mod sleep;
mod spares;
mod spawned;
mod stop;

use crate::base::park::{Lease, Parker};
use crate::base::sync::Ordering::Relaxed;
use crate::base::sync::{AtomicUsize, UnsafeCell};
use loom::model::Builder;
use loom::thread;
use std::ptr;
use std::sync::{Arc, atomic};

/// Explores a model up to `LOOM_MAX_PREEMPTIONS`, or two.
fn check(model: impl Fn() + Send + Sync + 'static) {
    explore(Builder::new().preemption_bound.unwrap_or(2), model);
}

/// Explores a model up to this many preemptions. A model whose threads never meet would show nothing, so there
/// must be more than one interleaving.
fn explore(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let ways = ways(preemptions, model);
    assert!(ways > 1, "the threads of this model do not meet");
}

/// Runs a model that has a single thread.
fn alone(model: impl Fn() + Send + Sync + 'static) {
    assert_eq!(ways(0, model), 1, "this model has more than one thread");
}

/// Explores, and returns the number of interleavings.
fn ways(preemptions: usize, model: impl Fn() + Send + Sync + 'static) -> usize {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 5_000;
    let ways = Arc::new(atomic::AtomicUsize::new(0));
    let count = Arc::clone(&ways);
    builder.check(move || {
        count.fetch_add(1, atomic::Ordering::Relaxed);
        model();
    });
    ways.load(atomic::Ordering::Relaxed)
}

/// A thread that reads its own atomic does not hide what other threads do. In the published loom it does, so
/// this fails without `tests/models.sh`.
#[test]
fn all_interleavings_are_explored() {
    let seen = Arc::new(atomic::AtomicUsize::new(0));
    let all = Arc::clone(&seen);
    explore(2, move || {
        let word = Arc::new(AtomicUsize::new(0));
        let other = beside(&word, |word| word.store(word.load(Relaxed) + 1, Relaxed));
        all.fetch_or(1 << word.load(Relaxed), atomic::Ordering::Relaxed);
        other.join().unwrap();
    });
    assert_eq!(seen.load(atomic::Ordering::Relaxed), 0b11);
}

/// Runs `f` on another thread, next to the model's first.
fn beside<T, R>(shared: &Arc<T>, f: impl FnOnce(&T) -> R + Send + 'static) -> thread::JoinHandle<R>
where
    T: ?Sized + Send + Sync + 'static,
    R: 'static,
{
    let shared = Arc::clone(shared);
    thread::spawn(move || f(&shared))
}

/// A parker that is never freed.
fn parker() -> &'static Parker {
    let lease = Lease::new();
    let parker = lease.parker();
    std::mem::forget(lease);
    parker
}

/// The content of a job: its owner fills it, and one thread runs it, once.
#[derive(Debug)]
struct Load(UnsafeCell<u32>);

// SAFETY: the model checker watches each access.
unsafe impl Sync for Load {}
// SAFETY: as above.
unsafe impl Send for Load {}

impl Load {
    const EMPTY: u32 = 0;
    const FULL: u32 = 1;
    const SPENT: u32 = 2;

    fn new() -> Self {
        Self(UnsafeCell::new(Self::EMPTY))
    }

    /// The owner, before it pushes.
    fn fill(&self) {
        self.step(Self::EMPTY, Self::FULL);
    }

    /// Called by the thread that gets the job.
    fn spend(&self) {
        self.step(Self::FULL, Self::SPENT);
    }

    /// At the end, when everything that was done must be visible.
    fn assert_spent(&self) {
        // SAFETY: watched.
        let state = self.0.with(|p| unsafe { *p });
        assert_eq!(state, Self::SPENT, "a job was lost");
    }

    fn step(&self, from: u32, to: u32) {
        self.0.with_mut(|p| {
            // SAFETY: watched.
            let state = unsafe { ptr::replace(p, to) };
            assert_eq!(state, from, "a job was run twice, or before it was there");
        });
    }

    /// As a word for a deque.
    fn erase(&self) -> *mut () {
        ptr::from_ref(self).cast_mut().cast()
    }

    /// Runs the job that came out of a deque.
    fn spend_erased(job: *mut ()) {
        // SAFETY: made by `erase`; models keep their loads until the end.
        unsafe { &*job.cast_const().cast::<Self>() }.spend();
    }
}
