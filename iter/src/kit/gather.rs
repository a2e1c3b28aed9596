//! The kit for making one value of a contiguous piece. It is half of every
//! reducing sink (see `sink`), and all of `fold`, `try_fold` and `fold_chunks`,
//! which hand on one such value for each piece.

use crate::plumbing::{Consumer, Folder, UnindexedConsumer};

/// The state of a piece at work, and the value that it becomes.
pub(crate) trait Gather<T>: Sync {
    /// The state of a piece at work.
    type State;
    /// The value of a piece.
    type Out;
    /// Whether `full` can ever return `true`.
    const ENDS: bool = false;

    /// Begins a piece.
    fn start(&self) -> Self::State;

    /// Takes one item.
    fn take(&self, state: Self::State, item: T) -> Self::State;

    /// Takes many items, without looking whether another thread has ended the search. Worth
    /// overriding where `std::iter` has a better loop.
    #[inline]
    fn take_all(&self, mut state: Self::State, items: impl Iterator<Item = T>) -> Self::State {
        if !Self::ENDS {
            return items.fold(state, |state, item| self.take(state, item));
        }
        for item in items {
            state = self.take(state, item);
            if self.full(&state) {
                break;
            }
        }
        state
    }

    /// Ends a piece.
    fn finish(&self, state: Self::State) -> Self::Out;

    /// Whether no piece needs a further item.
    #[inline]
    fn done(&self) -> bool {
        false
    }

    /// Whether this piece needs no further item.
    #[inline]
    fn full(&self, state: &Self::State) -> bool {
        let _ = state;
        self.done()
    }
}

/// A consumer of items, made of a consumer of the pieces' values.
pub(crate) struct GatherConsumer<'g, G, C> {
    gather: &'g G,
    base: C,
}

impl<'g, G, C> GatherConsumer<'g, G, C> {
    pub(crate) fn new(gather: &'g G, base: C) -> Self {
        GatherConsumer { gather, base }
    }
}

impl<'g, T, G: Gather<T>, C: Consumer<G::Out>> Consumer<T> for GatherConsumer<'g, G, C> {
    type Folder = GatherFolder<'g, G, G::State, C::Folder>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    /// A piece hands on its value when it ends. If one value may be enough, as before `find_any`,
    /// many short pieces are better than few long ones.
    const ADVANCES: bool = C::ADVANCES && (G::ENDS || !C::ENDS);
    const ENDS: bool = G::ENDS || C::ENDS;
    const STEADY: bool = !G::ENDS && C::STEADY;

    fn worth(&self) -> u64 {
        self.base.worth()
    }

    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let (left, right, reducer) = self.base.split_at(index);
        let with = |base| GatherConsumer::new(self.gather, base);
        (with(left), with(right), reducer)
    }

    fn into_folder(self) -> Self::Folder {
        GatherFolder::new(self.gather, self.base.into_folder())
    }

    fn full(&self) -> bool {
        self.gather.done() || self.base.full()
    }

    fn advance(self, index: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let gather = self.gather;
        let (state, folder) = folder.map(|f| (f.state, f.base)).unzip();
        let (base, rest) = self.base.advance(index, folder);
        let state = state.unwrap_or_else(|| gather.start());
        let folder = GatherFolder {
            gather,
            state,
            base,
        };
        (folder, GatherConsumer::new(gather, rest))
    }
}

impl<T, G: Gather<T>, C: UnindexedConsumer<G::Out>> UnindexedConsumer<T>
    for GatherConsumer<'_, G, C>
{
    fn split_off_left(&self) -> Self {
        GatherConsumer::new(self.gather, self.base.split_off_left())
    }

    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

/// A `Gather` at work on one contiguous piece.
pub(crate) struct GatherFolder<'g, G, S, F> {
    gather: &'g G,
    state: S,
    base: F,
}

impl<'g, G, S, F> GatherFolder<'g, G, S, F> {
    fn new<T>(gather: &'g G, base: F) -> Self
    where
        G: Gather<T, State = S>,
    {
        let state = gather.start();
        GatherFolder {
            gather,
            state,
            base,
        }
    }
}

impl<T, G: Gather<T>, F: Folder<G::Out>> Folder<T> for GatherFolder<'_, G, G::State, F> {
    type Result = F::Result;

    #[inline]
    fn consume(self, item: T) -> Self {
        let state = self.gather.take(self.state, item);
        GatherFolder { state, ..self }
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(self, items: I) -> Self {
        let GatherFolder {
            gather,
            mut state,
            base,
        } = self;
        // The state alone is moved for each item, and not the folder.
        for item in items {
            state = gather.take(state, item);
            if gather.full(&state) || base.full() {
                break;
            }
        }
        GatherFolder {
            gather,
            state,
            base,
        }
    }

    #[inline]
    fn consume_block<I: IntoIterator<Item = T>>(self, items: I) -> Self {
        let state = self.gather.take_all(self.state, items.into_iter());
        GatherFolder { state, ..self }
    }

    fn complete(self) -> F::Result {
        let out = self.gather.finish(self.state);
        self.base.consume(out).complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.gather.full(&self.state) || self.base.full()
    }
}

/// Implements `ParallelIterator` for an adapter: the value of a piece and its bounds, its base and
/// its `Gather`.
macro_rules! gather {
    ([$($generics:tt)*] $Adapter:ty => $Item:ty, where [$($bounds:tt)*],
     |$adapter:pat_param| ($base:expr, $gather:expr)) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $Adapter
        where
            I: $crate::iter::ParallelIterator,
            $($bounds)*
        {
            type Item = $Item;

            const KEEPS_ALL: bool = I::KEEPS_ALL;

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::UnindexedConsumer<$Item>,
            {
                let $adapter = self;
                $base.drive_unindexed($crate::kit::gather::GatherConsumer::new(&$gather, consumer))
            }
        }
    };
}

pub(crate) use gather;
