//! `panic_fuse`: after one item has panicked, each other piece stops at its next check.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use crate::kit::each::{Each, each};

/// What [`panic_fuse`](crate::iter::ParallelIterator::panic_fuse) returns.
///
/// ```
/// use tine::{iter::PanicFuse, prelude::*};
///
/// let fused: PanicFuse<_> = (0..3).into_par_iter().panic_fuse();
/// assert_eq!(fused.sum::<i32>(), 3);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct PanicFuse<I> {
    base: I,
}

impl<I> PanicFuse<I> {
    pub(crate) fn new(base: I) -> Self {
        PanicFuse { base }
    }
}

/// Whether an item has panicked.
struct Fuse<'f> {
    blown: &'f AtomicBool,
}

/// Goes with each piece, and blows the fuse if that unwinds.
struct Wire<'f> {
    blown: &'f AtomicBool,
    /// The thread already unwinds, and runs the piece in a destructor. Then a panic of the piece
    /// itself cannot be noticed.
    unwinds: bool,
}

impl Drop for Wire<'_> {
    fn drop(&mut self) {
        if thread::panicking() && !self.unwinds {
            self.blown.store(true, Relaxed);
        }
    }
}

impl<'f, T> Each<T> for Fuse<'f> {
    type State = Wire<'f>;
    type Out = T;

    const ENDS: bool = true;

    fn start(&self) -> Wire<'f> {
        Wire {
            blown: self.blown,
            unwinds: thread::panicking(),
        }
    }

    #[inline]
    fn each(&self, _: &mut Wire<'f>, item: T) -> T {
        item
    }

    #[inline]
    fn done(&self) -> bool {
        self.blown.load(Relaxed)
    }
}

each! {
    [I] PanicFuse<I> => I::Item, where [],
    |PanicFuse { base }| (base, Fuse { blown: &AtomicBool::new(false) })
}
