//! The kit for adapters with exactly one item out for each item in: `map`, `inspect`, `update`,
//! `cloned`, `copied`, `map_init`, `map_with`, `panic_fuse`. They keep an iterator indexed. So each
//! is a consumer for the iterator before it, and a producer for the one after it.

use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::{
    Again, Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer, Went,
};

/// What happens to an item on its way.
pub(crate) trait Each<T>: Sync {
    /// The state of a contiguous piece, made once.
    type State;
    /// The type of the items out.
    type Out;
    /// Whether making the state is costly, so that a producer should be cut as seldom as possible.
    const COSTLY: bool = false;
    /// Whether `done` can ever return `true`.
    const ENDS: bool = false;
    /// Whether an item may be mapped a second time.
    const AGAIN: Again = Again::Never;
    /// Whether the program cannot notice that an item is not made.
    const IS_UNSEEN: bool = !Self::ENDS && matches!(Self::AGAIN, Again::Always);

    /// Begins a piece.
    fn start(&self) -> Self::State;

    /// Turns one item into another.
    fn each(&self, state: &mut Self::State, item: T) -> Self::Out;

    /// Whether no further item should be handed on. A producer has promised how many items there
    /// are, so it still hands on those of the block that has begun.
    #[inline]
    fn done(&self) -> bool {
        false
    }
}

/// A consumer of the items in, made of a consumer of the items out.
pub(crate) struct EachConsumer<'e, E, C> {
    each: &'e E,
    base: C,
}

impl<'e, E, C> EachConsumer<'e, E, C> {
    pub(crate) fn new(each: &'e E, base: C) -> Self {
        EachConsumer { each, base }
    }
}

impl<'e, T, E: Each<T>, C: Consumer<E::Out>> Consumer<T> for EachConsumer<'e, E, C> {
    type Folder = EachFolder<'e, E, E::State, C::Folder>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    const ADVANCES: bool = C::ADVANCES;
    const RESUMES: bool = C::RESUMES;
    const ENDS: bool = E::ENDS || C::ENDS;
    const STEADY: bool = !E::ENDS && C::STEADY;

    fn worth(&self) -> u64 {
        self.base.worth()
    }

    fn expect(&mut self, items: usize) {
        self.base.expect(items);
    }

    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let (left, right, reducer) = self.base.split_at(index);
        let with = |base| EachConsumer::new(self.each, base);
        (with(left), with(right), reducer)
    }

    fn into_folder(self) -> Self::Folder {
        EachFolder::new(self.each, self.base.into_folder())
    }

    fn full(&self) -> bool {
        self.each.done() || self.base.full()
    }

    fn resume(self, so_far: C::Result) -> Self {
        EachConsumer::new(self.each, self.base.resume(so_far))
    }

    fn advance(self, index: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let (folder, rest) = match folder {
            Some(EachFolder { each, state, base }) => {
                let (base, rest) = self.base.advance(index, Some(base));
                (EachFolder { each, state, base }, rest)
            }
            None => {
                let (base, rest) = self.base.advance(index, None);
                (EachFolder::new(self.each, base), rest)
            }
        };
        (folder, EachConsumer::new(self.each, rest))
    }
}

impl<T, E: Each<T>, C: UnindexedConsumer<E::Out>> UnindexedConsumer<T> for EachConsumer<'_, E, C> {
    fn split_off_left(&self) -> Self {
        EachConsumer::new(self.each, self.base.split_off_left())
    }

    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

/// An `Each` at work on one contiguous piece.
pub(crate) struct EachFolder<'e, E, S, F> {
    each: &'e E,
    state: S,
    base: F,
}

impl<'e, E, S, F> EachFolder<'e, E, S, F> {
    fn new<T>(each: &'e E, base: F) -> Self
    where
        E: Each<T, State = S>,
    {
        let state = each.start();
        EachFolder { each, state, base }
    }
}

impl<T, E: Each<T>, F: Folder<E::Out>> Folder<T> for EachFolder<'_, E, E::State, F> {
    type Result = F::Result;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        let out = self.each.each(&mut self.state, item);
        self.base = self.base.consume(out);
        self
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(self, items: I) -> Self {
        let EachFolder {
            each,
            mut state,
            base,
        } = self;
        let items = items.into_iter();
        let base = if E::ENDS {
            let going = items.take_while(|_| !each.done());
            base.consume_iter(going.map(|item| each.each(&mut state, item)))
        } else {
            base.consume_iter(items.map(|item| each.each(&mut state, item)))
        };
        EachFolder { each, state, base }
    }

    #[inline]
    fn consume_block<I: IntoIterator<Item = T>>(self, items: I) -> Self {
        let EachFolder {
            each,
            mut state,
            base,
        } = self;
        let items = items.into_iter();
        let base = base.consume_block(items.map(|item| each.each(&mut state, item)));
        EachFolder { each, state, base }
    }

    fn complete(self) -> F::Result {
        // If dropping the state panics, the result has not been made yet, and so is not leaked.
        drop(self.state);
        self.base.complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.each.done() || self.base.full()
    }
}

/// Runs `base` behind the items that `folder` has taken.
pub(crate) fn go_on<I, E, C>(
    base: I,
    each: &E,
    to: impl FnOnce() -> C,
    folder: Option<C::Folder>,
) -> Went<C::Folder, C::Result>
where
    I: ParallelIterator,
    E: Each<I::Item>,
    C: UnindexedConsumer<E::Out>,
{
    let folder = folder.map(|folder| EachFolder::new(each, folder));
    let went = base.go_on(|| EachConsumer::new(each, to()), folder);
    went.map(|EachFolder { state, base, .. }| {
        // If dropping the state panics, there is no result yet.
        drop(state);
        base
    })
}

/// Turns the producer of `base` into one of the items out, and passes that to `callback`.
pub(crate) fn with_producer<I, E, CB>(base: I, each: &E, callback: CB) -> CB::Output
where
    I: IndexedParallelIterator,
    E: Each<I::Item>,
    CB: ProducerCallback<E::Out>,
{
    base.with_producer(Callback { each, callback })
}

/// As [`with_producer`], for a base that may not know its length: see
/// `ParallelIterator::with_items`.
pub(crate) fn with_items<I, E, CB>(base: I, each: &E, make: impl FnOnce(usize) -> CB) -> CB::Output
where
    I: ParallelIterator,
    E: Each<I::Item>,
    CB: ProducerCallback<E::Out>,
{
    base.with_items(|len| {
        let callback = make(len);
        Callback { each, callback }
    })
}

struct Callback<'e, E, CB> {
    each: &'e E,
    callback: CB,
}

impl<T, E: Each<T>, CB: ProducerCallback<E::Out>> ProducerCallback<T> for Callback<'_, E, CB> {
    type Output = CB::Output;

    fn callback<P: Producer<Item = T>>(self, base: P) -> CB::Output {
        let each = self.each;
        self.callback.callback(EachProducer { each, base })
    }
}

struct EachProducer<'e, E, P> {
    each: &'e E,
    base: P,
}

impl<'e, E: Each<P::Item>, P: Producer> Producer for EachProducer<'e, E, P> {
    type Item = E::Out;
    type IntoIter = EachIter<'e, E, E::State, P::IntoIter>;

    const WHOLE: bool = E::COSTLY || P::WHOLE;
    const AGAIN: Again = E::AGAIN.and(P::AGAIN);

    fn again(&self) -> Self {
        let base = self.base.again();
        EachProducer { base, ..*self }
    }

    fn into_iter(self) -> Self::IntoIter {
        EachIter {
            each: self.each,
            state: self.each.start(),
            base: self.base.into_iter(),
        }
    }

    fn min_len(&self) -> usize {
        self.base.min_len()
    }

    fn max_len(&self) -> usize {
        self.base.max_len()
    }

    fn is_over(&self) -> bool {
        self.each.done() || self.base.is_over()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(index);
        let with = |base| EachProducer {
            each: self.each,
            base,
        };
        (with(left), with(right))
    }

    fn fold_with<F: Folder<E::Out>>(self, folder: F) -> F {
        // An `EachFolder` would end, and the consumer behind this one relies on the length.
        if const { E::ENDS } {
            return folder.consume_iter(self.into_iter());
        }
        let folder = EachFolder::new(self.each, folder);
        let EachFolder { state, base, .. } = self.base.fold_with(folder);
        drop(state);
        base
    }
}

struct EachIter<'e, E, S, I> {
    each: &'e E,
    state: S,
    base: I,
}

impl<E: Each<I::Item>, I: Iterator> Iterator for EachIter<'_, E, E::State, I> {
    type Item = E::Out;

    #[inline]
    fn next(&mut self) -> Option<E::Out> {
        let item = self.base.next()?;
        Some(self.each.each(&mut self.state, item))
    }

    /// As quick as the base's, where the program cannot notice that an item is not made: `step_by`
    /// uses it.
    #[inline]
    fn nth(&mut self, n: usize) -> Option<E::Out> {
        if const { E::IS_UNSEEN } {
            let item = self.base.nth(n)?;
            return Some(self.each.each(&mut self.state, item));
        }
        for _ in 0..n {
            drop(self.next()?);
        }
        self.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }

    #[inline]
    fn fold<A, F: FnMut(A, E::Out) -> A>(self, init: A, mut f: F) -> A {
        let EachIter {
            each,
            mut state,
            base,
        } = self;
        base.fold(init, |acc, item| f(acc, each.each(&mut state, item)))
    }
}

impl<E: Each<I::Item>, I: DoubleEndedIterator> DoubleEndedIterator
    for EachIter<'_, E, E::State, I>
{
    #[inline]
    fn next_back(&mut self) -> Option<E::Out> {
        let item = self.base.next_back()?;
        Some(self.each.each(&mut self.state, item))
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<E::Out> {
        if const { E::IS_UNSEEN } {
            let item = self.base.nth_back(n)?;
            return Some(self.each.each(&mut self.state, item));
        }
        for _ in 0..n {
            drop(self.next_back()?);
        }
        self.next_back()
    }
}

impl<E: Each<I::Item>, I: ExactSizeIterator> ExactSizeIterator for EachIter<'_, E, E::State, I> {}

/// The end of an `Each`, while the result can still be dropped: what the user handed in may panic here.
pub(crate) fn end<E>(_: E) {}

/// Implements both traits for an adapter `X<I, …>` with a field `base: I`: its items and their
/// bounds, its base and its `Each`.
macro_rules! each {
    ([$($generics:tt)*] $Adapter:ty => $Item:ty, where [$($bounds:tt)*],
     |$adapter:pat_param| ($base:expr, $each:expr)) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $Adapter
        where
            I: $crate::iter::ParallelIterator,
            $($bounds)*
        {
            type Item = $Item;

            const KNOWS_LEN: Option<bool> = I::KNOWS_LEN;
            const KEEPS_ALL: bool = I::KEEPS_ALL;

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::UnindexedConsumer<$Item>,
            {
                let $adapter = self;
                let each = $each;
                let made = $base.drive_unindexed($crate::kit::each::EachConsumer::new(&each, consumer));
                $crate::kit::each::end(each);
                made
            }

            $crate::kit::go_on::goes_on! {
                |$adapter, to, folder| {
                    let each = $each;
                    let went = $crate::kit::each::go_on($base, &each, to, folder);
                    $crate::kit::each::end(each);
                    went
                }
            }

            fn opt_len(&self) -> Option<usize> {
                self.base.opt_len()
            }

            fn with_items<CB>(self, make: impl FnOnce(usize) -> CB) -> CB::Output
            where
                CB: $crate::plumbing::ProducerCallback<$Item>,
            {
                let $adapter = self;
                let each = $each;
                let made = $crate::kit::each::with_items($base, &each, make);
                $crate::kit::each::end(each);
                made
            }
        }

        impl<$($generics)*> $crate::iter::IndexedParallelIterator for $Adapter
        where
            I: $crate::iter::IndexedParallelIterator,
            $($bounds)*
        {
            fn drive<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::Consumer<$Item>,
            {
                let $adapter = self;
                let each = $each;
                let made = $base.drive($crate::kit::each::EachConsumer::new(&each, consumer));
                $crate::kit::each::end(each);
                made
            }

            fn len(&self) -> usize {
                self.base.len()
            }

            fn with_producer<CB>(self, callback: CB) -> CB::Output
            where
                CB: $crate::plumbing::ProducerCallback<$Item>,
            {
                let $adapter = self;
                let each = $each;
                let made = $crate::kit::each::with_producer($base, &each, callback);
                $crate::kit::each::end(each);
                made
            }
        }
    };
}

pub(crate) use each;
