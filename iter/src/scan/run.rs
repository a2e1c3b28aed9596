//! One thread at work on consecutive items: the running value, and the blocks.
//!
//! Items are cut into *blocks*, whose size depends only on the number of items. The *tally* of a
//! block is the result of its items by themselves. A block begins with a *carry*: the carry of the
//! block before, joined with that block's tally. From there the running value takes one item after
//! the other. So the brackets of the operation do not depend on which thread does what, nor does
//! any bit of a float result.

use std::any::TypeId;
use std::mem::take;

use super::op::Operation;

/// Up to this many items are one block: they are scanned as in a loop.
const ONE: usize = if cfg!(miri) { 16 } else { 4096 };

/// The number of blocks that items are cut into...
const BLOCKS: usize = 128;

/// ...but a block has at least this many,
const LEAST: usize = if cfg!(miri) { 4 } else { 512 };

/// and at most this many.
const MOST: usize = 8192;

/// The items of a window for each thread: few enough to stay in the caches.
pub(super) const WINDOW: usize = 1 << 16;

/// The size of a block, where there are `len` items.
pub(super) fn block_size(len: usize) -> usize {
    if len <= ONE {
        return len.max(1);
    }
    (len / BLOCKS).clamp(LEAST, MOST)
}

/// How items are cut, and what a thread does while no other helps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// The size of a block.
    pub(super) size: usize,
    /// Whether the operation is associative to the last bit. Then a thread that goes ahead need not
    /// use the brackets of the blocks: it applies the operation once for an item, as a loop does.
    pub(super) once: bool,
}

/// Whether brackets make no difference to values of this type. They make none for integers and
/// texts, and some for floats; for other types it is not known.
#[inline]
pub(crate) fn is_exact<T>() -> bool {
    let is = |id| typeid::of::<T>() == id;
    macro_rules! any {
        ($($Type:ty),*) => { $(is(TypeId::of::<$Type>()))||* };
    }
    any!(
        u8,
        u16,
        u32,
        u64,
        u128,
        usize,
        i8,
        i16,
        i32,
        i64,
        i128,
        isize,
        bool,
        char,
        (),
        String
    )
}

/// A value that an operation takes and gives back. It is missing only if the operation panicked.
pub(super) struct Tally<T>(Option<T>);

impl<T> Tally<T> {
    pub(super) fn new(value: T) -> Self {
        Tally(Some(value))
    }

    #[inline]
    pub(super) fn take(&mut self) -> T {
        match take(&mut self.0) {
            Some(value) => value,
            None => unreachable!("an operation that panicked was used again"),
        }
    }

    #[inline]
    pub(super) fn put(&mut self, value: T) {
        self.0 = Some(value);
    }

    #[inline]
    pub(super) fn add(&mut self, op: &impl Operation<T>, item: T) {
        let value = self.take();
        self.put(op.join(value, item));
    }
}

/// The running values of `items`, from `acc` on.
pub(super) struct Run<'r, I, O, T, const EXCLUSIVE: bool> {
    pub(super) items: I,
    pub(super) op: &'r O,
    pub(super) acc: &'r mut Tally<T>,
}

/// The running value after `item`, and the value that is handed on for it.
#[inline]
fn step<T: Clone, O: Operation<T>, const EXCLUSIVE: bool>(op: &O, acc: T, item: T) -> (T, T) {
    if EXCLUSIVE {
        let out = acc.clone();
        (op.join(acc, item), out)
    } else {
        let acc = op.join(acc, item);
        let out = acc.clone();
        (acc, out)
    }
}

impl<I, O, T, const EXCLUSIVE: bool> Iterator for Run<'_, I, O, T, EXCLUSIVE>
where
    I: Iterator<Item = T>,
    O: Operation<T>,
    T: Clone,
{
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let item = self.items.next()?;
        let (acc, out) = step::<T, O, EXCLUSIVE>(self.op, self.acc.take(), item);
        self.acc.put(acc);
        Some(out)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }

    #[inline]
    fn fold<A, G: FnMut(A, T) -> A>(self, init: A, mut g: G) -> A {
        let Run { items, op, acc } = self;
        let start = (init, acc.take());
        let (result, end) = items.fold(start, |(result, acc), item| {
            let (acc, out) = step::<T, O, EXCLUSIVE>(op, acc, item);
            (g(result, out), acc)
        });
        acc.put(end);
        result
    }
}
