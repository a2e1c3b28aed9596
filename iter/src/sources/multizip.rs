//! Tuples of parallel iterators, walked in step.
#![forbid(unsafe_code)]

use crate::convert::{IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator};
use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::{Consumer, ProducerCallback, UnindexedConsumer};

/// Parallel iterator over tuples of items, one from each of up to twelve iterators, until the
/// shortest ends.
///
/// ```
/// use tine::prelude::*;
///
/// let (mut out, a, b) = ([0; 3], [1, 2, 3], [10, 20, 30]);
/// (&mut out, &a, &b).into_par_iter().for_each(|(out, a, b)| *out = a + b);
/// assert_eq!(out, [11, 22, 33]);
/// ```
#[derive(Debug, Clone)]
pub struct MultiZip<T> {
    tuple: T,
}

/// One `zip` after the other, and a closure that flattens the nested pairs.
macro_rules! zipped {
    ($tuple:expr; $first:ident $($rest:ident)*) => {{
        #[allow(non_snake_case)]
        let ($first, $($rest,)*) = $tuple;
        zipped!(@ $first; $first; $first; $($rest)*)
    }};
    (@ $zip:expr; $pattern:tt; $($all:ident)*; $next:ident $($rest:ident)*) => {
        zipped!(@ $zip.zip($next); ($pattern, $next); $($all)* $next; $($rest)*)
    };
    (@ $zip:expr; $pattern:tt; $($all:ident)*;) => {
        $zip.map(
            #[allow(non_snake_case)]
            |$pattern| ($($all,)*),
        )
    };
}

macro_rules! multizip {
    ($($T:ident)*) => {
        impl<$($T),*> IntoParallelIterator for ($($T,)*)
        where
            $($T: IntoParallelIterator<Iter: IndexedParallelIterator>,)*
        {
            type Item = ($($T::Item,)*);
            type Iter = MultiZip<($($T::Iter,)*)>;

            #[allow(non_snake_case)]
            fn into_par_iter(self) -> Self::Iter {
                let ($($T,)*) = self;
                MultiZip { tuple: ($($T.into_par_iter(),)*) }
            }
        }

        impl<'a, $($T),*> IntoParallelIterator for &'a ($($T,)*)
        where
            $($T: IntoParallelRefIterator<'a, Iter: IndexedParallelIterator>,)*
        {
            type Item = ($($T::Item,)*);
            type Iter = MultiZip<($($T::Iter,)*)>;

            #[allow(non_snake_case)]
            fn into_par_iter(self) -> Self::Iter {
                let ($($T,)*) = self;
                MultiZip { tuple: ($($T.par_iter(),)*) }
            }
        }

        impl<'a, $($T),*> IntoParallelIterator for &'a mut ($($T,)*)
        where
            $($T: IntoParallelRefMutIterator<'a, Iter: IndexedParallelIterator>,)*
        {
            type Item = ($($T::Item,)*);
            type Iter = MultiZip<($($T::Iter,)*)>;

            #[allow(non_snake_case)]
            fn into_par_iter(self) -> Self::Iter {
                let ($($T,)*) = self;
                MultiZip { tuple: ($($T.par_iter_mut(),)*) }
            }
        }

        impl<$($T: IndexedParallelIterator),*> ParallelIterator for MultiZip<($($T,)*)> {
            type Item = ($($T::Item,)*);

            fn drive_unindexed<CONSUMER>(self, consumer: CONSUMER) -> CONSUMER::Result
            where
                CONSUMER: UnindexedConsumer<Self::Item>,
            {
                self.drive(consumer)
            }

            fn opt_len(&self) -> Option<usize> {
                Some(self.len())
            }

            fn with_items<CB>(self, make: impl FnOnce(usize) -> CB) -> CB::Output
            where
                CB: ProducerCallback<Self::Item>,
            {
                zipped!(self.tuple; $($T)*).with_items(make)
            }
        }

        impl<$($T: IndexedParallelIterator),*> IndexedParallelIterator for MultiZip<($($T,)*)> {
            fn drive<CONSUMER>(self, consumer: CONSUMER) -> CONSUMER::Result
            where
                CONSUMER: Consumer<Self::Item>,
            {
                zipped!(self.tuple; $($T)*).drive(consumer)
            }

            #[allow(non_snake_case)]
            fn len(&self) -> usize {
                let ($($T,)*) = &self.tuple;
                let lens = [$($T.len()),*];
                lens.into_iter().fold(usize::MAX, usize::min)
            }

            fn with_producer<CB>(self, callback: CB) -> CB::Output
            where
                CB: ProducerCallback<Self::Item>,
            {
                zipped!(self.tuple; $($T)*).with_producer(callback)
            }
        }
    };
}

multizip! { A }
multizip! { A B }
multizip! { A B C }
multizip! { A B C D }
multizip! { A B C D E }
multizip! { A B C D E F }
multizip! { A B C D E F G }
multizip! { A B C D E F G H }
multizip! { A B C D E F G H I }
multizip! { A B C D E F G H I J }
multizip! { A B C D E F G H I J K }
multizip! { A B C D E F G H I J K L }
