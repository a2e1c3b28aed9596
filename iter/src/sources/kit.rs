//! The code that every source would otherwise repeat: the two iterator traits, written once.
//!
//! A source says how long it is and what it becomes: a producer (which is bridged), an action
//! `with` the callback that wants a producer, or an inner iterator (which does the work). The
//! macros write the rest. Each generic list stands in brackets. The name in parentheses stands for
//! `self` in the expression after it.
#![forbid(unsafe_code)]

/// Both iterator traits, for a source whose length is known.
macro_rules! indexed {
    ([$($gen:tt)*] $ty:ty => $item:ty;
     len($me:ident) $len:expr;
     producer($own:ident) $producer:expr $(;)?) => {
        impl<$($gen)*> $ty {
            /// Apart from `with_producer`: a closure in that would have another type for each
            /// callback, and a nest of `zip`s exponential size.
            fn into_producer(self) -> impl $crate::plumbing::Producer<Item = $item> {
                let $own = self;
                $producer
            }
        }

        $crate::sources::kit::indexed! {
            [$($gen)*] $ty => $item;
            len($me) $len;
            with(it, callback) callback.callback(it.into_producer());
        }
    };
    ([$($gen:tt)*] $ty:ty => $item:ty;
     len($me:ident) $len:expr;
     with($own:ident, $callback:ident) $with:expr $(;)?) => {
        impl<$($gen)*> $crate::iter::ParallelIterator for $ty {
            type Item = $item;

            const KNOWS_LEN: Option<bool> = Some(true);
            const KEEPS_ALL: bool = true;

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::UnindexedConsumer<Self::Item>,
            {
                $crate::plumbing::bridge(self, consumer)
            }

            $crate::kit::go_on::goes_on! { |it, to, folder| $crate::plumbing::go_on(it, to, folder) }

            fn opt_len(&self) -> Option<usize> {
                Some($crate::iter::IndexedParallelIterator::len(self))
            }

            fn with_items<CB>(self, make: impl FnOnce(usize) -> CB) -> CB::Output
            where
                CB: $crate::plumbing::ProducerCallback<Self::Item>,
            {
                let len = $crate::iter::IndexedParallelIterator::len(&self);
                $crate::iter::IndexedParallelIterator::with_producer(self, make(len))
            }
        }

        impl<$($gen)*> $crate::iter::IndexedParallelIterator for $ty {
            fn drive<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::Consumer<Self::Item>,
            {
                $crate::plumbing::bridge(self, consumer)
            }

            fn len(&self) -> usize {
                let $me = self;
                $len
            }

            fn with_producer<CB>(self, $callback: CB) -> CB::Output
            where
                CB: $crate::plumbing::ProducerCallback<Self::Item>,
            {
                let $own = self;
                $with
            }
        }
    };
    ([$($gen:tt)*] $ty:ty => $item:ty;
     len($me:ident) $len:expr;
     inner($own:ident) $inner:expr $(;)?) => {
        impl<$($gen)*> $crate::iter::ParallelIterator for $ty {
            type Item = $item;

            const KNOWS_LEN: Option<bool> = Some(true);
            const KEEPS_ALL: bool = true;

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::UnindexedConsumer<Self::Item>,
            {
                let $own = self;
                $crate::iter::ParallelIterator::drive_unindexed($inner, consumer)
            }

            $crate::kit::go_on::goes_on! { |$own, to, folder| $crate::iter::ParallelIterator::go_on($inner, to, folder) }

            fn opt_len(&self) -> Option<usize> {
                Some($crate::iter::IndexedParallelIterator::len(self))
            }

            fn with_items<CB>(self, make: impl FnOnce(usize) -> CB) -> CB::Output
            where
                CB: $crate::plumbing::ProducerCallback<Self::Item>,
            {
                let len = $crate::iter::IndexedParallelIterator::len(&self);
                $crate::iter::IndexedParallelIterator::with_producer(self, make(len))
            }
        }

        impl<$($gen)*> $crate::iter::IndexedParallelIterator for $ty {
            fn drive<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::Consumer<Self::Item>,
            {
                let $own = self;
                $crate::iter::IndexedParallelIterator::drive($inner, consumer)
            }

            fn len(&self) -> usize {
                let $me = self;
                $len
            }

            fn with_producer<CB>(self, callback: CB) -> CB::Output
            where
                CB: $crate::plumbing::ProducerCallback<Self::Item>,
            {
                let $own = self;
                $crate::iter::IndexedParallelIterator::with_producer($inner, callback)
            }
        }
    };
}
pub(crate) use indexed;

/// `ParallelIterator` alone, for a source whose pieces have no known length.
macro_rules! unindexed {
    ([$($gen:tt)*] $ty:ty, where [$($bound:tt)*] => $item:ty;
     producer($own:ident) $producer:expr $(;)?) => {
        impl<$($gen)*> $crate::iter::ParallelIterator for $ty
        where
            $($bound)*
        {
            type Item = $item;

            const KEEPS_ALL: bool = true;

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::UnindexedConsumer<Self::Item>,
            {
                let $own = self;
                $crate::plumbing::bridge_unindexed($producer, consumer)
            }
        }
    };
    ([$($gen:tt)*] $ty:ty => $item:ty;
     producer($own:ident) $producer:expr $(;)?) => {
        impl<$($gen)*> $crate::iter::ParallelIterator for $ty {
            type Item = $item;

            const KEEPS_ALL: bool = true;

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::UnindexedConsumer<Self::Item>,
            {
                let $own = self;
                $crate::plumbing::bridge_unindexed($producer, consumer)
            }
        }
    };
    ([$($gen:tt)*] $ty:ty => $item:ty;
     stretch($own:ident) $stretch:expr $(;)?) => {
        impl<$($gen)*> $crate::iter::ParallelIterator for $ty {
            type Item = $item;

            const KEEPS_ALL: bool = true;

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::UnindexedConsumer<Self::Item>,
            {
                let $own = self;
                $crate::sources::stretch::bridge_stretch($stretch, consumer)
            }

            $crate::kit::go_on::goes_on! { |$own, to, folder| $crate::sources::stretch::stretch_behind($stretch, to, folder) }
        }
    };
    ([$($gen:tt)*] $ty:ty => $item:ty;
     $(opt_len($me:ident) $len:expr;)?
     inner($own:ident) $inner:expr $(;)?) => {
        impl<$($gen)*> $crate::iter::ParallelIterator for $ty {
            type Item = $item;

            const KEEPS_ALL: bool = true;

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::UnindexedConsumer<Self::Item>,
            {
                let $own = self;
                $crate::iter::ParallelIterator::drive_unindexed($inner, consumer)
            }

            $crate::kit::go_on::goes_on! { |$own, to, folder| $crate::iter::ParallelIterator::go_on($inner, to, folder) }

            $(fn opt_len(&self) -> Option<usize> {
                let $me = self;
                $len
            })?
        }
    };
}
pub(crate) use unindexed;

/// How a collection becomes its iterator: the name in parentheses is the collection.
macro_rules! into_par {
    ([$($gen:tt)*] $ty:ty => $iter:ty: $item:ty; ($own:ident) $make:expr $(;)?) => {
        impl<$($gen)*> $crate::convert::IntoParallelIterator for $ty {
            type Item = $item;
            type Iter = $iter;

            fn into_par_iter(self) -> Self::Iter {
                let $own = self;
                $make
            }
        }
    };
}
pub(crate) use into_par;

/// `Clone` without a bound on the parameters, for iterators that only borrow.
macro_rules! clone_inner {
    ([$($gen:tt)*] $ty:ty) => {
        impl<$($gen)*> Clone for $ty {
            fn clone(&self) -> Self {
                Self { inner: self.inner.clone() }
            }
        }
    };
}
pub(crate) use clone_inner;
