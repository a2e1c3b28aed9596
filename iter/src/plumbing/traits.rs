//! The seven shapes of the plumbing.

/// A source that can be cut in two at any index.
///
/// What `into_iter` yields, in order, is what the two halves of `split_at`
/// yield one after the other.
pub trait Producer: Send + Sized {
    /// What the producer hands out.
    type Item;

    /// The sequential iterator that the producer becomes once it is cut no
    /// further.
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

    /// Cuts into the first `index` items and the rest.
    fn split_at(self, index: usize) -> (Self, Self);

    /// Feeds the items to `folder`, until it is full.
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>,
    {
        folder.consume_iter(self.into_iter())
    }

    /// Whether each cut costs a state that `into_iter` has to make, so that
    /// cutting into blocks is worse than running whole.
    #[doc(hidden)]
    const WHOLE: bool = false;
}

/// A destination that can be cut in two as its producer is.
pub trait Consumer<Item>: Send + Sized {
    /// The consumer at work on one contiguous piece.
    type Folder: Folder<Item, Result = Self::Result>;

    /// What joins the results of two neighbouring pieces.
    type Reducer: Reducer<Self::Result>;

    /// What a piece comes to.
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

    /// Whether `full` may ever say yes. Only a consumer that `ADVANCES` is asked.
    #[doc(hidden)]
    const ENDS: bool = false;

    /// Nanoseconds of work below which a folder more costs more than another
    /// thread saves. Only a consumer that `ADVANCES` is asked.
    #[doc(hidden)]
    const WORTH: u64 = 0;

    /// A folder that will take the next `index` items (the one given, if it
    /// has just finished the items before those), and a consumer for the rest.
    ///
    /// This is how a piece is run in blocks with one folder. Only a consumer
    /// that says `ADVANCES` is asked.
    #[doc(hidden)]
    fn advance(self, index: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let _ = (index, folder);
        unreachable!("a consumer that does not advance was asked to")
    }

    /// Whether [`resume`](Consumer::resume) may be called.
    #[doc(hidden)]
    const RESUMES: bool = false;

    /// This consumer, whose result is to begin with what the items before its
    /// own came to: that is cheaper than to join the two afterwards.
    ///
    /// Only a consumer that says `RESUMES` is asked.
    #[doc(hidden)]
    fn resume(self, so_far: Self::Result) -> Self {
        drop(so_far);
        unreachable!("a consumer that does not resume was asked to")
    }
}

/// A consumer at work on one contiguous piece of the items.
pub trait Folder<Item>: Sized {
    /// What the piece comes to.
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

    /// Takes items that are few enough, or fast enough, not to look between
    /// them whether somebody else has filled the folder.
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

/// Joins what two neighbouring pieces came to, the left one first.
pub trait Reducer<Result> {
    /// Joins `left` and `right`.
    fn reduce(self, left: Result, right: Result) -> Result;
}

/// A consumer that can be split without knowing where.
pub trait UnindexedConsumer<I>: Consumer<I> {
    /// Splits off a consumer for items to the left of those that are left to
    /// `self`.
    fn split_off_left(&self) -> Self;

    /// The reducer for this consumer and one that was split off.
    fn to_reducer(&self) -> Self::Reducer;
}

/// A source that knows how to split, but not how many items it has.
pub trait UnindexedProducer: Send + Sized {
    /// What the producer hands out.
    type Item;

    /// Splits off the items to the right, if there is reason to.
    fn split(self) -> (Self, Option<Self>);

    /// Feeds the items to `folder`, until it is full.
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>;
}

/// A closure that is generic over the producer that it is called with.
pub trait ProducerCallback<T> {
    /// What the call returns.
    type Output;

    /// Makes the call.
    fn callback<P>(self, producer: P) -> Self::Output
    where
        P: Producer<Item = T>;
}
