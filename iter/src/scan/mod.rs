//! Scans: for each item, the result of all items up to it.
//!
//! A scan is a parallel iterator like any other: lazy, fused with the steps before and after it,
//! and indexed if its source is. Its operation has to be associative. It need not be commutative.
//!
//! * **How often.** The operation is called at most twice for an item, and a few times for each
//!   block of items. It is called once for an item if no other thread helps and brackets do not
//!   matter: with integers, `String`, and after [`exact`](Scan::exact). The closures that make the
//!   items (`map` …) are called once. Slices, ranges, chunks, windows, and `copied`, `zip`, `rev`,
//!   `enumerate`, `chain` … of them can be walked twice, so the scan keeps only one value for each
//!   block. After [`pure`](ParallelScan::pure) the same holds with `map`, `cloned`, `update` and
//!   `inspect`. Other items are kept for a while, some hundreds of thousands at a time. (Adapters
//!   that need values by position, such as `zip` after a scan, then keep all of them.)
//! * **Floats.** Only the number of items decides where the blocks are cut. So results are the same
//!   to the last bit on any number of threads. Up to 4096 items, a loop has the same results.
//! * **Overflow**, where it panics, may panic for the sum of some neighbours even if no running
//!   value overflows; that needs items of both signs. Wrapping operations are exact.
//! * **Panics** in the operation or in `Clone` reach the caller; every value is dropped once.
#![forbid(unsafe_code)]

mod adapter;
mod inplace;
mod op;
mod run;
mod slice;
mod sweep;
mod walk;

pub use adapter::{Pure, Scan};
pub use slice::ParallelScanMut;

use std::iter::Sum;

use crate::iter::{IndexedParallelIterator, ParallelIterator};
use adapter::Summands;
use op::{Adding, Closures};
pub(crate) use run::is_exact;

/// Scans on any parallel iterator: for each item, the result of all items up to it.
///
/// ```
/// use tine::prelude::*;
///
/// let balance: Vec<i64> = [100, -30, -80, 50]
///     .into_par_iter()
///     .scan_inclusive(|| 0, |sum, n| sum + n)
///     .collect();
/// assert_eq!(balance, [100, 70, -10, 40]);
/// ```
pub trait ParallelScan: ParallelIterator {
    /// For each item, the result of `op` over all items up to and including it.
    ///
    /// `op` must be associative, and `identity` makes its neutral value. The operands are in the
    /// order of the items.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let heights = [3, 1, 4, 1, 5, 9, 2, 6];
    /// let highest = heights.par_iter().copied().scan_inclusive(|| 0, i32::max);
    /// let visible = highest.zip(&heights).filter(|(highest, height)| highest == *height);
    /// assert_eq!(visible.map(|(_, height)| *height).collect::<Vec<_>>(), [3, 4, 5, 9]);
    /// ```
    fn scan_inclusive<ID, F>(self, identity: ID, op: F) -> Scan<Self, Closures<ID, F>, false>
    where
        Self::Item: Clone,
        ID: Fn() -> Self::Item + Sync + Send,
        F: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
    {
        Scan::new(self, Closures { identity, op })
    }

    /// For each item, the result of `op` over all items before it: `identity` for the first.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let words = ["tine", " ", "fork"].par_iter().map(|word| word.to_string());
    /// let before = words.scan_exclusive(String::new, |text, word| text + &word);
    /// assert_eq!(before.collect::<Vec<_>>(), ["", "tine", "tine "]);
    /// ```
    fn scan_exclusive<ID, F>(self, identity: ID, op: F) -> Scan<Self, Closures<ID, F>, true>
    where
        Self::Item: Clone,
        ID: Fn() -> Self::Item + Sync + Send,
        F: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
    {
        Scan::new(self, Closures { identity, op })
    }

    /// For each item, the sum of all items up to and including it.
    ///
    /// As with `sum`, the type of the result has to be known.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let ends: Vec<u32> = [5, 0, 2].par_iter().prefix_sum().collect();
    /// assert_eq!(ends, [5, 5, 7]);
    /// ```
    fn prefix_sum<T>(self) -> Scan<Summands<Self, T>, Adding<T>, false>
    where
        T: Sum<Self::Item> + Sum<T> + Clone + Send,
    {
        Scan::new(Summands::new(self), Adding::new())
    }

    /// For each item, the sum of all items before it. If items are lengths, that is where each
    /// begins.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut room = 0;
    /// let lengths = ["tine", "fork", "prong"].par_iter().map(|word| word.len());
    /// let starts: Vec<usize> = lengths.prefix_sum_exclusive().total(&mut room).collect();
    /// assert_eq!((starts, room), (vec![0, 4, 8], 13));
    /// ```
    fn prefix_sum_exclusive<T>(self) -> Scan<Summands<Self, T>, Adding<T>, true>
    where
        T: Sum<Self::Item> + Sum<T> + Clone + Send,
    {
        Scan::new(Summands::new(self), Adding::new())
    }

    /// Not available: a call does not compile, and the error says why. Use `scan_inclusive`,
    /// `scan_exclusive` or `prefix_sum`.
    ///
    /// The `scan` of std hands its state from one item to the next, so no part of it can run at the
    /// same time as another. If states can be joined by an associative operation, they can be
    /// scanned in parallel.
    #[doc(hidden)]
    fn scan<St, B, F>(self, initial_state: St, f: F) -> Never
    where
        Self: ScansWithState,
        F: FnMut(&mut St, Self::Item) -> Option<B>,
    {
        let _ = (initial_state, f);
        unreachable!("nothing scans with a state")
    }

    /// Says that the closures before this are cheap and have no side effects. A scan that follows
    /// may call them a second time for an item, and then need not keep the item.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let squares = (0..1000_u32).into_par_iter().map(|n| u64::from(n) * u64::from(n)).pure();
    /// assert_eq!(squares.prefix_sum::<u64>().max(), Some(332_833_500));
    /// ```
    fn pure(self) -> Pure<Self>
    where
        Self: IndexedParallelIterator,
    {
        Pure::new(self)
    }
}

impl<I: ParallelIterator> ParallelScan for I {}

/// No parallel iterator implements this.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a parallel iterator has no `scan` with a state that goes from item to item",
    label = "`scan_inclusive`, `scan_exclusive` or `prefix_sum` may be what you look for",
    note = "for each item, `.scan_inclusive(|| identity, |a, b| …)` gives the result of all items \
            up to it, `.scan_exclusive(…)` that of all items before it, and `.prefix_sum()` the \
            sum of all items up to it; the operation must be associative",
    note = "if the state cannot be joined by such an operation, collect first and use `Iterator::scan`"
)]
pub trait ScansWithState {}

/// What [`ParallelScan::scan`] would return.
#[doc(hidden)]
#[derive(Debug)]
pub enum Never {}
