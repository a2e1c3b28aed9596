//! The kit for adapters that move positions, and so need indexed iterators.
//! Such an adapter is a producer made of one producer (`enumerate`, `rev`,
//! `skip`, `step_by`, `chunks` …) or woven of two (`zip`, `chain`,
//! `interleave`).

use std::marker::PhantomData;

use crate::iter::IndexedParallelIterator;
use crate::plumbing::{Producer, ProducerCallback};

/// Makes a producer of `U`s of a producer of `T`s.
///
/// The items out are a parameter and not an associated type: in a deep nest of
/// adapters the compiler would look each of those up again and again.
pub(crate) trait Reshape<T, U> {
    /// Calls `callback` with the new producer.
    fn reshape<P, CB>(self, base: P, callback: CB) -> CB::Output
    where
        P: Producer<Item = T>,
        CB: ProducerCallback<U>;
}

/// Makes a producer of `U`s of two producers.
pub(crate) trait Weave<A, B, U> {
    /// Calls `callback` with the new producer.
    fn weave<P, Q, CB>(self, a: P, b: Q, callback: CB) -> CB::Output
    where
        P: Producer<Item = A>,
        Q: Producer<Item = B>,
        CB: ProducerCallback<U>;
}

/// The end of the first `items` groups of `step` elements each, among `len`
/// elements. The last group may be short.
#[inline]
pub(crate) fn reach(items: usize, step: usize, len: usize) -> usize {
    let Some(whole) = items.checked_sub(1) else {
        return 0;
    };
    match whole.checked_mul(step) {
        Some(last) if last < len => last.saturating_add(step).min(len),
        _ => cut_behind(items, step, len),
    }
}

#[cold]
#[inline(never)]
fn cut_behind(items: usize, step: usize, len: usize) -> ! {
    panic!("groups of {step} among {len} were cut behind their end, at {items}")
}

/// The most groups of `step` items that a piece may have, if it may have `max` items. If there is
/// no bound, none is returned: the bridge takes any other number for a bound that the user has set.
pub(crate) fn most_groups(max: usize, step: usize) -> usize {
    match max {
        usize::MAX => max,
        _ => max / step,
    }
}

/// Calls `callback` with the producer of `base` reshaped by `shape`.
pub(crate) fn reshape<I, U, R, CB>(base: I, shape: R, callback: CB) -> CB::Output
where
    I: IndexedParallelIterator,
    R: Reshape<I::Item, U>,
    CB: ProducerCallback<U>,
{
    struct Callback<R, CB, U> {
        shape: R,
        callback: CB,
        makes: PhantomData<U>,
    }

    impl<T, U, R, CB> ProducerCallback<T> for Callback<R, CB, U>
    where
        R: Reshape<T, U>,
        CB: ProducerCallback<U>,
    {
        type Output = CB::Output;

        fn callback<P: Producer<Item = T>>(self, base: P) -> CB::Output {
            self.shape.reshape(base, self.callback)
        }
    }

    base.with_producer(Callback {
        shape,
        callback,
        makes: PhantomData,
    })
}

/// Calls `callback` with the producers of `a` and `b` woven by `weft`.
pub(crate) fn weave<A, B, U, W, CB>(a: A, b: B, weft: W, callback: CB) -> CB::Output
where
    A: IndexedParallelIterator,
    B: IndexedParallelIterator,
    W: Weave<A::Item, B::Item, U>,
    CB: ProducerCallback<U>,
{
    /// Has the second iterator, and waits for the producer of the first.
    struct First<B, W, CB, U> {
        b: B,
        weft: W,
        callback: CB,
        makes: PhantomData<U>,
    }

    impl<T, U, B, W, CB> ProducerCallback<T> for First<B, W, CB, U>
    where
        B: IndexedParallelIterator,
        W: Weave<T, B::Item, U>,
        CB: ProducerCallback<U>,
    {
        type Output = CB::Output;

        fn callback<P: Producer<Item = T>>(self, a: P) -> CB::Output {
            self.b.with_producer(Second {
                a,
                weft: self.weft,
                callback: self.callback,
                makes: PhantomData,
            })
        }
    }

    /// Has the first producer, and waits for the second.
    struct Second<P, W, CB, U> {
        a: P,
        weft: W,
        callback: CB,
        makes: PhantomData<U>,
    }

    impl<S, T, U, P, W, CB> ProducerCallback<T> for Second<P, W, CB, U>
    where
        P: Producer<Item = S>,
        W: Weave<S, T, U>,
        CB: ProducerCallback<U>,
    {
        type Output = CB::Output;

        fn callback<Q: Producer<Item = T>>(self, b: Q) -> CB::Output {
            self.weft.weave(self.a, b, self.callback)
        }
    }

    a.with_producer(First {
        b,
        weft,
        callback,
        makes: PhantomData,
    })
}

/// Implements both traits for an adapter of indexed iterators: its items and
/// their bounds, their number, and how a producer reaches the callback.
macro_rules! reshape {
    ([$($generics:tt)*] $Adapter:ty => $Item:ty, where [$($bounds:tt)*],
     |$this:ident| $len:expr, |$adapter:pat_param, $callback:ident| $with_producer:expr) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $Adapter
        where
            $($bounds)*
        {
            type Item = $Item;

            const KNOWS_LEN: Option<bool> = Some(true);
            const KEEPS_ALL: bool = true;

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::UnindexedConsumer<$Item>,
            {
                $crate::plumbing::bridge(self, consumer)
            }

            $crate::kit::go_on::goes_on! { |it, to, folder| $crate::plumbing::go_on(it, to, folder) }

            fn opt_len(&self) -> Option<usize> {
                Some($crate::iter::IndexedParallelIterator::len(self))
            }

            fn with_items<CB>(self, make: impl FnOnce(usize) -> CB) -> CB::Output
            where
                CB: $crate::plumbing::ProducerCallback<$Item>,
            {
                let len = $crate::iter::IndexedParallelIterator::len(&self);
                $crate::iter::IndexedParallelIterator::with_producer(self, make(len))
            }
        }

        impl<$($generics)*> $crate::iter::IndexedParallelIterator for $Adapter
        where
            $($bounds)*
        {
            fn drive<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::Consumer<$Item>,
            {
                $crate::plumbing::bridge(self, consumer)
            }

            fn len(&self) -> usize {
                let $this = self;
                $len
            }

            fn with_producer<CB>(self, $callback: CB) -> CB::Output
            where
                CB: $crate::plumbing::ProducerCallback<$Item>,
            {
                let $adapter = self;
                $with_producer
            }
        }
    };
}

pub(crate) use reshape as reshaped;
