//! `map_init` and `map_with`: `op(&mut state, item)`, with a state made once for
//! each contiguous piece, by a closure or as a clone.

use crate::kit::debug_base;
use crate::kit::each::{Each, each};
use crate::kit::seed::clones_of;

/// What [`map_init`](crate::iter::ParallelIterator::map_init) returns.
///
/// ```
/// use tine::{iter::MapInit, prelude::*};
///
/// let lengths: MapInit<_, _, _> = (0..3).into_par_iter().map_init(String::new, |text, n| {
///     text.clear();
///     text.push_str(&"x".repeat(n));
///     text.len()
/// });
/// assert_eq!(lengths.collect::<Vec<_>>(), [0, 1, 2]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct MapInit<I, INIT, F> {
    base: I,
    init: INIT,
    op: F,
}

impl<I, INIT, F> MapInit<I, INIT, F> {
    pub(crate) fn new(base: I, init: INIT, op: F) -> Self {
        MapInit { base, init, op }
    }
}

debug_base!(MapInit<I, INIT, F>);

/// What [`map_with`](crate::iter::ParallelIterator::map_with) returns.
///
/// ```
/// use tine::{iter::MapWith, prelude::*};
///
/// let raised: MapWith<_, _, _> = (0..3).into_par_iter().map_with(10, |ten, n| *ten + n);
/// assert_eq!(raised.collect::<Vec<i32>>(), [10, 11, 12]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct MapWith<I, T, F> {
    base: I,
    value: T,
    op: F,
}

impl<I, T, F> MapWith<I, T, F> {
    pub(crate) fn new(base: I, value: T, op: F) -> Self {
        MapWith { base, value, op }
    }
}

debug_base!(MapWith<I, T, F>);

struct CallWith<INIT, F> {
    init: INIT,
    op: F,
}

impl<T, S, R, INIT, F> Each<T> for CallWith<INIT, F>
where
    INIT: Fn() -> S + Sync,
    F: Fn(&mut S, T) -> R + Sync,
{
    type State = S;
    type Out = R;

    const COSTLY: bool = true;

    fn start(&self) -> S {
        (self.init)()
    }

    #[inline]
    fn each(&self, state: &mut S, item: T) -> R {
        (self.op)(state, item)
    }
}

each! {
    [I, INIT, T, F, R] MapInit<I, INIT, F> => R,
    where [
        INIT: Fn() -> T + Sync + Send,
        F: Fn(&mut T, I::Item) -> R + Sync + Send,
        R: Send
    ],
    |MapInit { base, init, op }| (base, CallWith { init, op })
}

each! {
    [I, T, F, R] MapWith<I, T, F> => R,
    where [T: Send + Clone, F: Fn(&mut T, I::Item) -> R + Sync + Send, R: Send],
    |MapWith { base, value, op }| (base, CallWith { init: clones_of(value), op })
}
