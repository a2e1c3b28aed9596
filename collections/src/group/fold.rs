//! The trait that `count_by`, `fold_by` and `distinct` implement: what is folded by key, and how.
#![forbid(unsafe_code)]

use crate::partition::Scatter;
use crate::tag::Tagged;
use hashbrown::HashTable;
use std::hash::Hash;
use std::mem;

/// A fold by key.
pub(super) trait Fold: Sync {
    type Item: Send;
    type Key: Hash + Eq + Send;
    /// The rest of an item once its key is taken out, before it is folded.
    type Raw: Send;
    type Sum: Send;
    /// Whether the order of items does not matter. Then a worker goes on with the table of its last
    /// piece, whichever piece that was.
    const COMMUTES: bool = false;

    /// Takes an item apart; it is the `nth` of its piece.
    fn read(&self, item: Self::Item, nth: usize) -> (Self::Key, Self::Raw);
    fn start(&self, raw: Self::Raw) -> Self::Sum;
    fn add(&self, sum: &mut Self::Sum, raw: Self::Raw);
    fn merge(&self, sum: &mut Self::Sum, later: Self::Sum);
    /// Tells a sum that its piece begins at place `base` of the whole.
    fn shift(&self, _sum: &mut Self::Sum, _base: usize) {}
}

/// A table of sums.
pub(super) type Sums<F> = HashTable<(<F as Fold>::Key, <F as Fold>::Sum)>;

/// Items on their way to their parts.
pub(super) type Loose<G, F> = Scatter<Tagged<G, <F as Fold>::Key, <F as Fold>::Raw>>;

/// The key of an item that is not needed itself. If dropping the item panics, the key is dropped too.
#[inline]
pub(super) fn key_alone<T, K>(key: impl Fn(&T) -> K, item: T) -> (K, ()) {
    let key = key(&item);
    drop(item);
    (key, ())
}

/// A fold whose items become sums as soon as they are read. It must not be a fold whose sums have to be
/// [shifted](Fold::shift).
pub(super) struct AtOnce<'a, F>(pub(super) &'a F);

impl<F: Fold> Fold for AtOnce<'_, F> {
    type Item = F::Item;
    type Key = F::Key;
    type Raw = F::Sum;
    type Sum = F::Sum;
    const COMMUTES: bool = F::COMMUTES;

    #[inline]
    fn read(&self, item: F::Item, nth: usize) -> (F::Key, F::Sum) {
        let (key, raw) = self.0.read(item, nth);
        (key, self.0.start(raw))
    }

    #[inline]
    fn start(&self, sum: F::Sum) -> F::Sum {
        sum
    }

    #[inline]
    fn add(&self, sum: &mut F::Sum, later: F::Sum) {
        self.0.merge(sum, later);
    }

    #[inline]
    fn merge(&self, sum: &mut F::Sum, later: F::Sum) {
        self.0.merge(sum, later);
    }
}

/// Whether an item may become a sum as soon as it is read. Plain sums that are no larger than items are as
/// cheap to scatter. An item that is a reference points to memory that was just read; later, that memory would
/// have to be fetched again, in random order. An item that owns memory would keep it until all items have come.
pub(super) const fn sums_at_once<T, A>() -> bool {
    let small = mem::size_of::<A>() <= 16 || mem::needs_drop::<T>();
    !mem::needs_drop::<A>() && mem::size_of::<A>() <= mem::size_of::<T>() && small
}
