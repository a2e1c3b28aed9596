//! The seven traits of the plumbing.

/// A source that can be cut in two at any index.
///
/// The items of `into_iter` are those of the two halves of `split_at`, in this order.
///
/// ```
/// use tine::iter::plumbing::Producer;
///
/// /// The even numbers from `2 * first` on, `len` of them.
/// struct Evens { first: usize, len: usize }
///
/// impl Producer for Evens {
///     type Item = usize;
///     type IntoIter = std::iter::Map<std::ops::Range<usize>, fn(usize) -> usize>;
///
///     fn into_iter(self) -> Self::IntoIter {
///         (self.first..self.first + self.len).map(|n| 2 * n)
///     }
///
///     fn split_at(self, index: usize) -> (Self, Self) {
///         let Evens { first, len } = self;
///         (Evens { first, len: index }, Evens { first: first + index, len: len - index })
///     }
/// }
///
/// let (left, right) = Evens { first: 0, len: 5 }.split_at(2);
/// assert!(left.into_iter().eq([0, 2]));
/// assert_eq!((right.min_len(), right.max_len()), (1, usize::MAX));
/// assert!(right.into_iter().eq([4, 6, 8]));
/// ```
pub trait Producer: Send + Sized {
    /// The item type.
    type Item;

    /// The sequential iterator that an uncut producer becomes.
    type IntoIter: Iterator<Item = Self::Item> + DoubleEndedIterator + ExactSizeIterator;

    /// Turns the producer into a sequential iterator over its items.
    fn into_iter(self) -> Self::IntoIter;

    /// The least number of items worth a piece of its own.
    fn min_len(&self) -> usize {
        1
    }

    /// The greatest number of items a piece should hold.
    fn max_len(&self) -> usize {
        usize::MAX
    }

    /// Whether further items make no difference, since a panic is on its way to the caller: see
    /// [`panic_fuse`](crate::iter::ParallelIterator::panic_fuse).
    ///
    /// A loop asks between blocks. The producer itself goes on, since adapters behind it rely on
    /// its length; those that count items pass the question on to the producer before them.
    fn is_over(&self) -> bool {
        false
    }

    /// Cuts into the first `index` items and the rest.
    fn split_at(self, index: usize) -> (Self, Self);

    /// Feeds the items to `folder`, until it is full.
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>,
    {
        folder.consume_iter(self.into_iter())
    }

    /// Whether `into_iter` has to make a state for each cut, so that running whole is better than
    /// cutting into blocks.
    #[doc(hidden)]
    const WHOLE: bool = false;

    /// Whether [`again`](Producer::again) may be called.
    const AGAIN: Again = Again::Never;

    /// A second producer of the same items: equal ones, in the same order.
    ///
    /// A scan walks such a producer twice, and so keeps none of its items. It is called only if
    /// [`AGAIN`](Producer::AGAIN) allows that.
    fn again(&self) -> Self {
        unreachable!("a producer that cannot be walked twice was asked to be")
    }
}

/// Whether the items of a [`Producer`] can be made a second time.
///
/// ```
/// use tine::iter::plumbing::{Again, Producer, ProducerCallback};
/// use tine::prelude::*;
///
/// struct Ask;
/// impl<T> ProducerCallback<T> for Ask {
///     type Output = Again;
///     fn callback<P: Producer<Item = T>>(self, _: P) -> Again {
///         P::AGAIN
///     }
/// }
///
/// assert_eq!([1, 2, 3].par_iter().copied().rev().with_producer(Ask), Again::Always);
/// assert_eq!((0..9).into_par_iter().map(|n| n + 1).with_producer(Ask), Again::IfPure);
/// assert_eq!(vec![1, 2, 3].into_par_iter().with_producer(Ask), Again::Never);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// They are given away.
    Never,
    /// They can, by calling closures of the user, or `Clone`, a second time.
    IfPure,
    /// They can, without side effects.
    Always,
}

impl Again {
    /// The answer for two producers together: the lesser of both.
    ///
    /// ```
    /// use tine::iter::plumbing::Again;
    ///
    /// assert_eq!(Again::Always.and(Again::IfPure), Again::IfPure);
    /// assert_eq!(Again::IfPure.and(Again::Never), Again::Never);
    /// ```
    #[must_use]
    pub const fn and(self, other: Again) -> Again {
        match (self, other) {
            (Again::Never, _) | (_, Again::Never) => Again::Never,
            (Again::Always, Again::Always) => Again::Always,
            _ => Again::IfPure,
        }
    }
}

/// A destination that can be cut in two where its producer is cut. This one counts the items, with
/// its folder and its reducer:
///
/// ```
/// use tine::iter::plumbing::{Consumer, Folder, Reducer};
/// use tine::prelude::*;
///
/// struct Count;
/// struct SoFar(usize);
/// struct Plus;
///
/// impl<T> Consumer<T> for Count {
///     type Folder = SoFar;
///     type Reducer = Plus;
///     type Result = usize;
///
///     fn split_at(self, _index: usize) -> (Self, Self, Plus) {
///         (Count, Count, Plus)
///     }
///     fn into_folder(self) -> SoFar {
///         SoFar(0)
///     }
///     fn full(&self) -> bool {
///         false
///     }
/// }
///
/// impl<T> Folder<T> for SoFar {
///     type Result = usize;
///
///     fn consume(self, _item: T) -> Self {
///         SoFar(self.0 + 1)
///     }
///     fn complete(self) -> usize {
///         self.0
///     }
///     fn full(&self) -> bool {
///         false
///     }
/// }
///
/// impl Reducer<usize> for Plus {
///     fn reduce(self, left: usize, right: usize) -> usize {
///         left + right
///     }
/// }
///
/// assert_eq!((0..1000).into_par_iter().map(|n| n * n).drive(Count), 1000);
/// ```
pub trait Consumer<Item>: Send + Sized {
    /// The consumer, at work on one contiguous piece.
    type Folder: Folder<Item, Result = Self::Result>;

    /// Joins the results of two neighbouring pieces.
    type Reducer: Reducer<Self::Result>;

    /// The result of a piece.
    type Result: Send;

    /// Cuts into a consumer for the first `index` items, one for the rest, and
    /// the reducer that joins their results.
    fn split_at(self, index: usize) -> (Self, Self, Self::Reducer);

    /// Begins the work on one piece.
    fn into_folder(self) -> Self::Folder;

    /// Whether further items would make no difference.
    fn full(&self) -> bool;

    /// Whether [`advance`](Consumer::advance) may be called.
    #[doc(hidden)]
    const ADVANCES: bool = false;

    /// Whether items are expected to fill the consumer, as in a search. Without this, a consumer
    /// that is not `STEADY` may still be full, for a reason that has nothing to do with the items.
    /// Only asked of a consumer that `ADVANCES`.
    #[doc(hidden)]
    const ENDS: bool = false;

    /// Whether it is known that `full` never returns `true`, so that a piece may as well be run as one block.
    /// Only asked of a consumer that `ADVANCES`.
    #[doc(hidden)]
    const STEADY: bool = false;

    /// Where items are cheap: the nanoseconds of work below which one more folder costs more than
    /// another thread saves. Only asked of a consumer that `ADVANCES`.
    #[doc(hidden)]
    fn worth(&self) -> u64 {
        0
    }

    /// Tells the consumer, before the first item, how many items its source has. The consumer may ignore it.
    ///
    /// Only called on a consumer that says `ADVANCES`.
    #[doc(hidden)]
    fn expect(&mut self, items: usize) {
        let _ = items;
    }

    /// A folder for the next `index` items, and a consumer for the rest. The folder is the given
    /// one, if that has just finished the items before.
    ///
    /// This is how a piece is run in blocks with one folder. Only called on a consumer that says
    /// `ADVANCES`.
    #[doc(hidden)]
    fn advance(self, index: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let _ = (index, folder);
        unreachable!("a consumer that does not advance was asked to")
    }

    /// Whether [`resume`](Consumer::resume) may be called.
    #[doc(hidden)]
    const RESUMES: bool = false;

    /// This consumer, with the result of the items before its own to begin with. That is cheaper
    /// than joining the two results afterwards.
    ///
    /// Only called on a consumer that says `RESUMES`, and only if it is driven by an iterator that says
    /// `KEEPS_ALL`.
    #[doc(hidden)]
    fn resume(self, so_far: Self::Result) -> Self {
        drop(so_far);
        unreachable!("a consumer that does not resume was asked to")
    }
}

/// A consumer at work on one contiguous piece of the items.
///
/// ```
/// use tine::iter::plumbing::Folder;
///
/// /// Takes items until there is a zero among them.
/// struct UntilZero(Vec<i32>);
///
/// impl Folder<i32> for UntilZero {
///     type Result = Vec<i32>;
///
///     fn consume(mut self, item: i32) -> Self {
///         self.0.push(item);
///         self
///     }
///     fn complete(self) -> Vec<i32> {
///         self.0
///     }
///     fn full(&self) -> bool {
///         self.0.last() == Some(&0)
///     }
/// }
///
/// let folder = UntilZero(Vec::new()).consume(3).consume_iter([5, 0, 7]);
/// assert!(folder.full());
/// assert_eq!(folder.complete(), [3, 5, 0]);
/// ```
pub trait Folder<Item>: Sized {
    /// The result of the piece.
    type Result;

    /// Takes one item.
    fn consume(self, item: Item) -> Self;

    /// Takes items until they run out or the folder is full.
    fn consume_iter<I>(mut self, iter: I) -> Self
    where
        I: IntoIterator<Item = Item>,
    {
        for item in iter {
            self = self.consume(item);
            if self.full() {
                break;
            }
        }
        self
    }

    /// Takes items that are so few or so fast that it is not worth checking between them whether
    /// another thread has filled the folder.
    #[doc(hidden)]
    fn consume_block<I>(self, iter: I) -> Self
    where
        I: IntoIterator<Item = Item>,
    {
        self.consume_iter(iter)
    }

    /// Ends the work.
    fn complete(self) -> Self::Result;

    /// Whether further items would make no difference.
    fn full(&self) -> bool;
}

/// Joins the results of two neighbouring pieces, the left one first.
///
/// ```
/// use tine::iter::plumbing::Reducer;
///
/// struct Append;
///
/// impl<T> Reducer<Vec<T>> for Append {
///     fn reduce(self, mut left: Vec<T>, right: Vec<T>) -> Vec<T> {
///         left.extend(right);
///         left
///     }
/// }
///
/// assert_eq!(Append.reduce(vec![1, 2], vec![3]), [1, 2, 3]);
/// ```
pub trait Reducer<Result> {
    /// Joins `left` and `right`.
    fn reduce(self, left: Result, right: Result) -> Result;
}

/// A consumer that can be split without knowing where.
/// An adapter is a consumer for its base that wraps one of its own. This one sends the lengths of
/// words on, and leaves folding and joining to what it wraps:
///
/// ```
/// use tine::iter::plumbing::{Consumer, Folder, UnindexedConsumer};
/// use tine::prelude::*;
///
/// struct Lengths<I>(I);
/// struct Measure<C>(C);
///
/// impl<'a, I: ParallelIterator<Item = &'a str>> ParallelIterator for Lengths<I> {
///     type Item = usize;
///     fn drive_unindexed<C: UnindexedConsumer<usize>>(self, consumer: C) -> C::Result {
///         self.0.drive_unindexed(Measure(consumer))
///     }
/// }
///
/// impl<'a, C: Consumer<usize>> Consumer<&'a str> for Measure<C> {
///     type Folder = Measure<C::Folder>;
///     type Reducer = C::Reducer;
///     type Result = C::Result;
///     fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
///         let (left, right, reducer) = self.0.split_at(index);
///         (Measure(left), Measure(right), reducer)
///     }
///     fn into_folder(self) -> Self::Folder {
///         Measure(self.0.into_folder())
///     }
///     fn full(&self) -> bool {
///         self.0.full()
///     }
/// }
///
/// impl<'a, C: UnindexedConsumer<usize>> UnindexedConsumer<&'a str> for Measure<C> {
///     fn split_off_left(&self) -> Self {
///         Measure(self.0.split_off_left())
///     }
///     fn to_reducer(&self) -> C::Reducer {
///         self.0.to_reducer()
///     }
/// }
///
/// impl<'a, F: Folder<usize>> Folder<&'a str> for Measure<F> {
///     type Result = F::Result;
///     fn consume(self, word: &'a str) -> Self {
///         Measure(self.0.consume(word.len()))
///     }
///     fn complete(self) -> F::Result {
///         self.0.complete()
///     }
///     fn full(&self) -> bool {
///         self.0.full()
///     }
/// }
///
/// assert_eq!(Lengths("a fork has tines".par_split(' ')).collect::<Vec<_>>(), [1, 4, 3, 5]);
/// ```
pub trait UnindexedConsumer<I>: Consumer<I> {
    /// Splits off a consumer for items to the left of those that `self` keeps.
    fn split_off_left(&self) -> Self;

    /// The reducer for this consumer and one that was split off.
    fn to_reducer(&self) -> Self::Reducer;
}

/// A source that knows how to split, but not how many items it has.
///
/// ```
/// use tine::iter::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
/// use tine::prelude::*;
///
/// /// The numbers of a range, which is halved while another thread wants a part.
/// #[derive(Clone, Copy)]
/// struct Numbers { from: u64, to: u64 }
///
/// impl UnindexedProducer for Numbers {
///     type Item = u64;
///     fn split(self) -> (Self, Option<Self>) {
///         let Numbers { from, to } = self;
///         if to - from < 2 {
///             return (self, None);
///         }
///         let middle = from + (to - from) / 2;
///         (Numbers { from, to: middle }, Some(Numbers { from: middle, to }))
///     }
///     fn fold_with<F: Folder<u64>>(self, folder: F) -> F {
///         folder.consume_iter(self.from..self.to)
///     }
/// }
///
/// impl ParallelIterator for Numbers {
///     type Item = u64;
///     fn drive_unindexed<C: UnindexedConsumer<u64>>(self, consumer: C) -> C::Result {
///         bridge_unindexed(self, consumer)
///     }
/// }
///
/// assert_eq!(Numbers { from: 0, to: 100 }.sum::<u64>(), 4950);
/// ```
pub trait UnindexedProducer: Send + Sized {
    /// The item type.
    type Item;

    /// Splits off the items to the right, if there is a reason to.
    fn split(self) -> (Self, Option<Self>);

    /// The same for a left part that is split no further.
    #[doc(hidden)]
    fn split_off_first(self) -> (Self, Option<Self>) {
        self.split()
    }

    /// Feeds the items to `folder`, until it is full.
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>;
}

/// What a folder has become that went on with the items of another iterator.
#[doc(hidden)]
#[derive(Debug)]
pub enum Went<F, R> {
    /// It has taken all of them, and may take more.
    Open(F),
    /// Other folders took some: the result of these, and of what the folder had taken.
    Closed(R),
}

impl<F, R> Went<F, R> {
    /// The same with another folder, which comes to the same result.
    #[inline]
    pub fn map<G>(self, open: impl FnOnce(F) -> G) -> Went<G, R> {
        match self {
            Went::Open(folder) => Went::Open(open(folder)),
            Went::Closed(result) => Went::Closed(result),
        }
    }

    /// The result, if no more items come.
    pub(crate) fn close<T>(self) -> R
    where
        F: Folder<T, Result = R>,
    {
        match self {
            Went::Open(folder) => folder.complete(),
            Went::Closed(result) => result,
        }
    }
}

/// A closure that is generic over the producer that it is called with.
///
/// ```
/// use tine::iter::plumbing::{Producer, ProducerCallback};
/// use tine::prelude::*;
///
/// /// The first `at` items, and the rest.
/// struct CutAt(usize);
///
/// impl<T> ProducerCallback<T> for CutAt {
///     type Output = [Vec<T>; 2];
///     fn callback<P: Producer<Item = T>>(self, producer: P) -> [Vec<T>; 2] {
///         let (left, right) = producer.split_at(self.0);
///         [left.into_iter().collect(), right.into_iter().collect()]
///     }
/// }
///
/// assert_eq!((0..5).into_par_iter().with_producer(CutAt(2)), [vec![0, 1], vec![2, 3, 4]]);
/// ```
pub trait ProducerCallback<T> {
    /// The result of the call.
    type Output;

    /// Makes the call.
    fn callback<P>(self, producer: P) -> Self::Output
    where
        P: Producer<Item = T>;
}
