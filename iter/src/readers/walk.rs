//! The parallel stage that walks through the records of blocks.
#![forbid(unsafe_code)]

use super::blocks::Block;
use super::cut::{Cut, Cutter};
use super::error::{Fault, ReadError};
use super::view::View;
use crate::pipeline::{Makes, Parallel};
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

/// What a closure makes of a record.
#[derive(Debug)]
pub enum Made<U, E> {
    /// An item.
    Item(U),
    /// Nothing.
    Nothing,
    /// An error.
    Failed(E),
}

/// A closure over records.
pub trait Op<V: View>: Send + Sync {
    /// What it makes.
    type Out: Send;
}

/// The same where an error is an `E`.
pub trait Call<V: View, E>: Op<V> {
    /// Calls it.
    fn call(&self, record: V::Of<'_>) -> Made<Self::Out, E>;
}

/// Makes one item of each record.
#[derive(Clone, Copy, Debug)]
pub struct One<F>(pub(super) F);

impl<V: View, F, U> Op<V> for One<F>
where
    F: for<'b> Fn(V::Of<'b>) -> U + Send + Sync,
    U: Send,
{
    type Out = U;
}

impl<V: View, F, U, E> Call<V, E> for One<F>
where
    F: for<'b> Fn(V::Of<'b>) -> U + Send + Sync,
    U: Send,
{
    #[inline]
    fn call(&self, record: V::Of<'_>) -> Made<U, E> {
        Made::Item((self.0)(record))
    }
}

/// Makes an item of each of some records.
#[derive(Clone, Copy, Debug)]
pub struct Perhaps<F>(pub(super) F);

impl<V: View, F, U> Op<V> for Perhaps<F>
where
    F: for<'b> Fn(V::Of<'b>) -> Option<U> + Send + Sync,
    U: Send,
{
    type Out = U;
}

impl<V: View, F, U, E> Call<V, E> for Perhaps<F>
where
    F: for<'b> Fn(V::Of<'b>) -> Option<U> + Send + Sync,
    U: Send,
{
    #[inline]
    fn call(&self, record: V::Of<'_>) -> Made<U, E> {
        (self.0)(record).map_or(Made::Nothing, Made::Item)
    }
}

/// Makes an item of each record, or fails.
#[derive(Clone, Copy, Debug)]
pub struct Trying<F>(pub(super) F);

impl<V: View, F, U, E> Op<V> for Trying<F>
where
    F: for<'b> Fn(V::Of<'b>) -> Result<U, E> + Send + Sync,
    U: Send,
{
    type Out = U;
}

impl<V: View, F, U, E> Call<V, E> for Trying<F>
where
    F: for<'b> Fn(V::Of<'b>) -> Result<U, E> + Send + Sync,
    U: Send,
{
    #[inline]
    fn call(&self, record: V::Of<'_>) -> Made<U, E> {
        (self.0)(record).map_or_else(Made::Failed, Made::Item)
    }
}

/// The stage: what `op` makes of each record.
pub struct Records<C, V, O> {
    pub(super) cutter: Arc<C>,
    pub(super) longest: usize,
    pub(super) op: O,
    pub(super) view: PhantomData<fn() -> V>,
}

impl<C, V, O> fmt::Debug for Records<C, V, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").finish_non_exhaustive()
    }
}

impl<B, C, V, O> Makes<Result<Block<B>, ReadError>> for Records<C, V, O>
where
    V: View,
    O: Op<V>,
{
    type Out = O::Out;
}

impl<B, C, V, O, E> Parallel<Result<Block<B>, ReadError>, E> for Records<C, V, O>
where
    B: AsRef<[u8]>,
    C: Cutter,
    V: View,
    O: Call<V, E>,
    E: From<io::Error>,
{
    fn over(
        &self,
        blocks: impl Iterator<Item = Result<Block<B>, ReadError>>,
        fail: impl Fn(E),
    ) -> impl Iterator<Item = O::Out> {
        Walk {
            stage: self,
            blocks,
            walked: None,
            fail,
            error: PhantomData,
        }
    }
}

/// A block, and how far it has been walked through.
struct Walked<B> {
    block: Block<B>,
    place: Place,
}

/// A place in a block.
#[derive(Clone, Copy, Default)]
struct Place {
    at: usize,
    /// How many records come before it.
    records: u64,
}

impl Place {
    /// Shows the next record of `block` to `op`; `known` is what is known about the whole block.
    #[inline]
    fn step<'b, B: AsRef<[u8]>, V: View, C: Cutter, R>(
        &mut self,
        block: &'b Block<B>,
        known: Option<V::Known<'b>>,
        (cutter, longest): (&C, usize),
        op: impl FnOnce(V::Of<'_>) -> R,
    ) -> Option<Result<R, ReadError>> {
        // All bytes that were seen are looked at, as when the block was cut: bytes behind an end may decide
        // where it is.
        let bytes = &block.bytes.as_ref()[self.at..block.seen];
        let left = block.len - self.at;
        if left == 0 {
            block.tally.note(block.index, self.records);
            return None;
        }
        // In the last block the last record may have no end. Even if a cutter answers otherwise than before, it
        // cuts off nothing that lies behind the block.
        let (record, next) = match cutter.first(bytes) {
            Some(Cut { record, next }) => (record.min(left), next.min(left)),
            None => (left, left),
        };
        if record > longest {
            return Some(Err(self.error(block, Fault::TooLong(longest))));
        }
        let number = block.records + self.records;
        let range = self.at..self.at + record;
        let shown = match known.and_then(|known| V::show_known(known, range, number)) {
            Some(shown) => shown,
            None => match V::show(&bytes[..record], number) {
                Err(error) => return Some(Err(self.error(block, Fault::Utf8(error)))),
                Ok(shown) => shown,
            },
        };
        self.at += next;
        self.records += 1;
        Some(Ok(op(shown)))
    }

    /// What is wrong with the next record.
    #[cold]
    fn error<B>(&self, block: &Block<B>, fault: Fault) -> ReadError {
        let offset = block.offset + self.at as u64;
        let place = (block.index, self.records + 1);
        ReadError::new(fault, offset, place, &block.tally)
    }
}

struct Walk<'s, I, B, C, V, O, Q, E> {
    stage: &'s Records<C, V, O>,
    blocks: I,
    walked: Option<Walked<B>>,
    fail: Q,
    error: PhantomData<fn() -> E>,
}

impl<I, B, C, V, O, Q, E> Iterator for Walk<'_, I, B, C, V, O, Q, E>
where
    I: Iterator<Item = Result<Block<B>, ReadError>>,
    B: AsRef<[u8]>,
    C: Cutter,
    V: View,
    O: Call<V, E>,
    Q: Fn(E),
    E: From<io::Error>,
{
    type Item = O::Out;

    #[inline]
    fn next(&mut self) -> Option<O::Out> {
        let Records {
            cutter,
            longest,
            op,
            ..
        } = self.stage;
        let error = loop {
            let Some(walked) = &mut self.walked else {
                match self.blocks.next()? {
                    Ok(block) => {
                        let place = Place::default();
                        self.walked = Some(Walked { block, place });
                    }
                    Err(error) => break io::Error::from(error).into(),
                }
                continue;
            };
            let Walked { block, place } = walked;
            let by = (&**cutter, *longest);
            match place.step::<_, V, _, _>(block, None, by, |record| op.call(record)) {
                None => self.walked = None,
                Some(Err(error)) => break io::Error::from(error).into(),
                Some(Ok(Made::Nothing)) => {}
                Some(Ok(Made::Item(item))) => return Some(item),
                Some(Ok(Made::Failed(error))) => break error,
            }
        };
        self.walked = None;
        (self.fail)(error);
        None
    }
}

/// The stage that makes one value of each block.
pub struct FoldRecords<C, V, N, F> {
    pub(super) cutter: Arc<C>,
    pub(super) longest: usize,
    pub(super) init: N,
    pub(super) op: F,
    pub(super) view: PhantomData<fn() -> V>,
}

impl<C, V, N, F> fmt::Debug for FoldRecords<C, V, N, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoldRecords").finish_non_exhaustive()
    }
}

impl<B, C, V, N, F, A> Makes<Result<Block<B>, ReadError>> for FoldRecords<C, V, N, F>
where
    V: View,
    N: Fn() -> A + Send + Sync,
    F: for<'b> Fn(A, V::Of<'b>) -> A + Send + Sync,
    A: Send,
{
    type Out = A;
}

impl<B, C, V, N, F, A, E> Parallel<Result<Block<B>, ReadError>, E> for FoldRecords<C, V, N, F>
where
    B: AsRef<[u8]>,
    C: Cutter,
    V: View,
    N: Fn() -> A + Send + Sync,
    F: for<'b> Fn(A, V::Of<'b>) -> A + Send + Sync,
    A: Send,
    E: From<io::Error>,
{
    fn over(
        &self,
        blocks: impl Iterator<Item = Result<Block<B>, ReadError>>,
        fail: impl Fn(E),
    ) -> impl Iterator<Item = A> {
        let fold = move |block: Block<B>| {
            let mut place = Place::default();
            // One look at all records is quicker than one look at each.
            let known = V::know(&block.bytes.as_ref()[..block.len]);
            let by = (&*self.cutter, self.longest);
            let mut folded = (self.init)();
            loop {
                // Each step that calls the closure puts the value back; otherwise the value is as it was.
                let mut before = Some(folded);
                let step = place.step::<_, V, _, _>(&block, known, by, |record| {
                    before.take().map(|value| (self.op)(value, record))
                });
                folded = match step {
                    Some(Ok(after)) => after?,
                    None => return before.map(|value| (value, None)),
                    Some(Err(error)) => return before.map(|value| (value, Some(error))),
                };
            }
        };
        let mut over = false;
        blocks.map_while(move |block| {
            if over {
                return None;
            }
            let (value, error) = match block {
                Ok(block) => fold(block)?,
                Err(error) => ((self.init)(), Some(error)),
            };
            if let Some(error) = error {
                over = true;
                fail(io::Error::from(error).into());
            }
            Some(value)
        })
    }
}
