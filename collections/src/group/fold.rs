//! What is folded by key, and how: the trait that `count_by`, `fold_by` and `distinct` implement.
#![forbid(unsafe_code)]

use crate::partition::Scatter;
use crate::tag::Tagged;
use hashbrown::HashTable;
use std::hash::Hash;

/// What is folded, and how.
pub(super) trait Fold: Sync {
    type Item: Send;
    type Key: Hash + Eq + Send;
    /// What an item is reduced to before it is folded.
    type Raw: Send;
    type Sum: Send;
    /// Does the order of items not matter? Then a worker goes on with the table
    /// of its last piece, whichever that was.
    const COMMUTES: bool = false;

    /// Takes an item apart; it is the `nth` of its piece.
    fn read(&self, item: Self::Item, nth: usize) -> (Self::Key, Self::Raw);
    fn start(&self, raw: Self::Raw) -> Self::Sum;
    fn add(&self, sum: &mut Self::Sum, raw: Self::Raw);
    fn merge(&self, sum: &mut Self::Sum, later: Self::Sum);
    /// The piece turns out to begin at `base` of the whole.
    fn shift(&self, _sum: &mut Self::Sum, _base: usize) {}
}

/// A table of sums.
pub(super) type Sums<F> = HashTable<(<F as Fold>::Key, <F as Fold>::Sum)>;

/// Items on their way to their parts.
pub(super) type Loose<G, F> = Scatter<Tagged<G, <F as Fold>::Key, <F as Fold>::Raw>>;
