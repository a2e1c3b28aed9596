//! Two destinations for one iterator: the kit of `unzip` and `partition`.
//!
//! A collection shows its consumer only while it extends itself. So the first collection is extended by a false
//! iterator. When that iterator is driven, it keeps the consumer that it gets, and extends the second
//! collection by another false iterator. When the second one is driven, both consumers are known, and it drives
//! the real iterator with the pair.
#![forbid(unsafe_code)]

use crate::iter::{ParallelExtend, ParallelIterator};
use crate::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};

/// How an item is dealt to two sides.
pub(crate) trait Deal<T>: Sync + Send {
    /// What the first side receives.
    type Left: Send;
    /// What the second side receives.
    type Right: Send;

    /// Whether each side receives exactly one item for each item.
    const BOTH: bool = false;

    /// Deals an item.
    fn deal<L, R>(&self, item: T, left: L, right: R) -> (L, R)
    where
        L: Folder<Self::Left>,
        R: Folder<Self::Right>;
}

/// Pairs are taken apart.
pub(crate) struct Halves;

impl<A: Send, B: Send> Deal<(A, B)> for Halves {
    type Left = A;
    type Right = B;

    const BOTH: bool = true;

    #[inline(always)] // a call would take both folders through memory
    fn deal<L: Folder<A>, R: Folder<B>>(&self, (a, b): (A, B), left: L, right: R) -> (L, R) {
        (left.consume(a), right.consume(b))
    }
}

/// Extends two collections by the items that `deal` deals to each.
pub(crate) fn extend_both<I, D, A, B>(iter: I, deal: D, left: &mut A, right: &mut B)
where
    I: ParallelIterator,
    D: Deal<I::Item>,
    A: ParallelExtend<D::Left>,
    B: Send + ParallelExtend<D::Right>,
{
    left.par_extend(ForLeft { iter, deal, right });
}

/// Makes two collections of the items that `deal` deals to each.
pub(crate) fn collect_both<I, D, A, B>(iter: I, deal: D) -> (A, B)
where
    I: ParallelIterator,
    D: Deal<I::Item>,
    A: Default + ParallelExtend<D::Left>,
    B: Default + Send + ParallelExtend<D::Right>,
{
    let mut both = (A::default(), B::default());
    extend_both(iter, deal, &mut both.0, &mut both.1);
    both
}

/// The false iterator that extends the left collection.
struct ForLeft<'r, I, D, B> {
    iter: I,
    deal: D,
    right: &'r mut B,
}

impl<I, D, B> ParallelIterator for ForLeft<'_, I, D, B>
where
    I: ParallelIterator,
    D: Deal<I::Item>,
    B: Send + ParallelExtend<D::Right>,
{
    type Item = D::Left;

    fn drive_unindexed<C: UnindexedConsumer<D::Left>>(self, left: C) -> C::Result {
        let mut result = None;
        let for_right = ForRight {
            iter: self.iter,
            deal: self.deal,
            left,
            result: &mut result,
        };
        self.right.par_extend(for_right);
        result.expect("a collection was extended without driving the iterator it was given")
    }

    fn opt_len(&self) -> Option<usize> {
        self.iter.opt_len().filter(|_| D::BOTH)
    }
}

/// The false iterator that extends the right collection, once the left one's consumer is known.
struct ForRight<'r, I, D, C, R> {
    iter: I,
    deal: D,
    left: C,
    result: &'r mut Option<R>,
}

impl<I, D, L> ParallelIterator for ForRight<'_, I, D, L, L::Result>
where
    I: ParallelIterator,
    D: Deal<I::Item>,
    L: UnindexedConsumer<D::Left>,
{
    type Item = D::Right;

    fn drive_unindexed<C: UnindexedConsumer<D::Right>>(self, right: C) -> C::Result {
        let pair = Pair::new(&self.deal, self.left, right);
        let (left, right) = self.iter.drive_unindexed(pair);
        *self.result = Some(left);
        right
    }

    fn opt_len(&self) -> Option<usize> {
        self.iter.opt_len().filter(|_| D::BOTH)
    }
}

/// Two consumers, folders or reducers as one.
pub(crate) struct Pair<'d, D, L, R> {
    deal: &'d D,
    left: L,
    right: R,
}

impl<'d, D, L, R> Pair<'d, D, L, R> {
    pub(crate) fn new(deal: &'d D, left: L, right: R) -> Self {
        Pair { deal, left, right }
    }
}

impl<'d, T, D, L, R> Consumer<T> for Pair<'d, D, L, R>
where
    D: Deal<T>,
    L: Consumer<D::Left>,
    R: Consumer<D::Right>,
{
    type Folder = Pair<'d, D, L::Folder, R::Folder>;
    type Reducer = Pair<'d, D, L::Reducer, R::Reducer>;
    type Result = (L::Result, R::Result);

    const ADVANCES: bool = L::ADVANCES && R::ADVANCES;
    const ENDS: bool = L::ENDS && R::ENDS;
    const STEADY: bool = L::STEADY || R::STEADY;

    fn worth(&self) -> u64 {
        self.left.worth().max(self.right.worth())
    }

    fn expect(&mut self, items: usize) {
        self.left.expect(items);
        self.right.expect(items);
    }

    fn split_at(self, index: usize) -> (Self, Self, Self::Reducer) {
        let deal = self.deal;
        let (left_a, left_b, left) = self.left.split_at(index);
        let (right_a, right_b, right) = self.right.split_at(index);
        (
            Pair::new(deal, left_a, right_a),
            Pair::new(deal, left_b, right_b),
            Pair::new(deal, left, right),
        )
    }

    fn into_folder(self) -> Self::Folder {
        Pair::new(self.deal, self.left.into_folder(), self.right.into_folder())
    }

    fn full(&self) -> bool {
        self.left.full() && self.right.full()
    }

    fn advance(self, index: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let deal = self.deal;
        let (left, right) = match folder {
            Some(folder) => (Some(folder.left), Some(folder.right)),
            None => (None, None),
        };
        let (left, left_rest) = self.left.advance(index, left);
        let (right, right_rest) = self.right.advance(index, right);
        (
            Pair::new(deal, left, right),
            Pair::new(deal, left_rest, right_rest),
        )
    }
}

impl<T, D, L, R> UnindexedConsumer<T> for Pair<'_, D, L, R>
where
    D: Deal<T>,
    L: UnindexedConsumer<D::Left>,
    R: UnindexedConsumer<D::Right>,
{
    fn split_off_left(&self) -> Self {
        Pair::new(
            self.deal,
            self.left.split_off_left(),
            self.right.split_off_left(),
        )
    }

    fn to_reducer(&self) -> Self::Reducer {
        Pair::new(self.deal, self.left.to_reducer(), self.right.to_reducer())
    }
}

impl<T, D, L, R> Folder<T> for Pair<'_, D, L, R>
where
    D: Deal<T>,
    L: Folder<D::Left>,
    R: Folder<D::Right>,
{
    type Result = (L::Result, R::Result);

    #[inline]
    fn consume(self, item: T) -> Self {
        let (left, right) = self.deal.deal(item, self.left, self.right);
        Pair::new(self.deal, left, right)
    }

    /// Both folders stay in the frame of the loop.
    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(self, items: I) -> Self {
        let Pair {
            deal,
            mut left,
            mut right,
        } = self;
        for item in items {
            (left, right) = deal.deal(item, left, right);
            if left.full() && right.full() {
                break;
            }
        }
        Pair::new(deal, left, right)
    }

    fn complete(self) -> Self::Result {
        (self.left.complete(), self.right.complete())
    }

    fn full(&self) -> bool {
        self.left.full() && self.right.full()
    }
}

impl<D, L, R, A, B> Reducer<(A, B)> for Pair<'_, D, L, R>
where
    L: Reducer<A>,
    R: Reducer<B>,
{
    fn reduce(self, left: (A, B), right: (A, B)) -> (A, B) {
        (
            self.left.reduce(left.0, right.0),
            self.right.reduce(left.1, right.1),
        )
    }
}
