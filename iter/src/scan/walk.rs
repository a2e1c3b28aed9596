//! A producer of running values, for adapters that need them by position: `zip`, `enumerate`, `rev`
//! …
//!
//! The items of its blocks can be walked twice. All blocks were tallied, so each has its carry. A
//! part that begins in the middle of a block runs that block's beginning once more.

use std::collections::VecDeque;
use std::mem::take;

use super::op::Operation;
use super::run::{Run, Tally};
use crate::convert::IntoParallelRefMutIterator;
use crate::iter::ParallelIterator;
use crate::plumbing::{Again, Producer};

/// Some neighbouring running values.
pub(super) struct Walk<'s, P: Producer, O, const EXCLUSIVE: bool> {
    op: &'s O,
    blocks: VecDeque<Block<P>>,
    len: usize,
}

/// A block of items, or a part of it.
struct Block<P: Producer> {
    /// The items from the beginning of the block on, perhaps beyond the end of the part.
    items: P,
    carry: P::Item,
    /// The first `skip` items are before the part; the part has `len`.
    skip: usize,
    len: usize,
}

/// Tallies all blocks of `size` items. Returns the running values, and leaves the result of all in
/// `total`.
pub(super) fn walk<'s, P, O, const EXCLUSIVE: bool>(
    len: usize,
    size: usize,
    producer: P,
    op: &'s O,
    total: Option<&mut P::Item>,
) -> Walk<'s, P, O, EXCLUSIVE>
where
    P: Producer<Item: Clone + Send>,
    O: Operation<P::Item>,
{
    // The values kept for all blocks must fit into memory.
    let size = size.max(len >> 26);
    let mut tallied = Vec::with_capacity(len.div_ceil(size));
    let (mut producer, mut left) = (producer, len);
    while left > size {
        let (items, behind) = producer.split_at(size);
        tallied.push((items, None));
        producer = behind;
        left -= size;
    }
    tallied.par_iter_mut().for_each(|(items, tally)| {
        *tally = Some(fold(op, op.identity(), items.again().into_iter()));
    });

    let mut carry = op.identity();
    let mut blocks = VecDeque::with_capacity(tallied.len() + 1);
    for (items, tally) in tallied {
        let begins = carry.clone();
        carry = match tally {
            Some(tally) => op.join(carry, tally),
            None => carry,
        };
        blocks.push_back(Block {
            items,
            carry: begins,
            skip: 0,
            len: size,
        });
    }
    if let Some(total) = total {
        *total = fold(op, carry.clone(), producer.again().into_iter());
    }
    blocks.push_back(Block {
        items: producer,
        carry,
        skip: 0,
        len: left,
    });
    Walk { op, blocks, len }
}

fn fold<T>(op: &impl Operation<T>, from: T, items: impl Iterator<Item = T>) -> T {
    items.fold(from, |acc, item| op.join(acc, item))
}

impl<'s, P, O, const EXCLUSIVE: bool> Producer for Walk<'s, P, O, EXCLUSIVE>
where
    P: Producer<Item: Clone + Send>,
    O: Operation<P::Item>,
{
    type Item = P::Item;
    type IntoIter = WalkIter<'s, P, O, EXCLUSIVE>;

    const WHOLE: bool = true;
    const AGAIN: Again = Again::IfPure;

    fn again(&self) -> Self {
        let again = |block: &Block<P>| Block {
            items: block.items.again(),
            carry: block.carry.clone(),
            ..*block
        };
        Walk {
            blocks: self.blocks.iter().map(again).collect(),
            ..*self
        }
    }

    fn into_iter(self) -> Self::IntoIter {
        let Walk { op, blocks, len } = self;
        WalkIter {
            op,
            front: None,
            blocks,
            back: VecDeque::new(),
            len,
        }
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let Walk {
            op,
            mut blocks,
            len,
        } = self;
        assert!(index <= len, "{len} running values were cut at {index}");
        let mut before = 0;
        let cut = blocks.iter().position(|block| {
            let beyond = before + block.len > index;
            before += if beyond { 0 } else { block.len };
            beyond
        });
        let mut behind = blocks.split_off(cut.unwrap_or(blocks.len()));
        let here = index - before;
        if let Some(first) = behind.front_mut().filter(|_| here > 0) {
            blocks.push_back(Block {
                items: first.items.again(),
                carry: first.carry.clone(),
                skip: first.skip,
                len: here,
            });
            first.skip += here;
            first.len -= here;
        }
        let with = |blocks, len| Walk { op, blocks, len };
        (with(blocks, index), with(behind, len - index))
    }
}

/// The sequential iterator over running values.
pub(super) struct WalkIter<'s, P: Producer, O, const EXCLUSIVE: bool> {
    op: &'s O,
    /// What is left of the block that was begun at the front.
    front: Option<Begun<P>>,
    blocks: VecDeque<Block<P>>,
    /// The values of the last block, once one was taken from the back.
    back: VecDeque<P::Item>,
    len: usize,
}

struct Begun<P: Producer> {
    items: std::iter::Take<P::IntoIter>,
    acc: Tally<P::Item>,
}

impl<P: Producer> Block<P> {
    fn begin<O: Operation<P::Item>>(self, op: &O) -> Begun<P> {
        let (before, items) = self.items.split_at(self.skip);
        Begun {
            acc: Tally::new(fold(op, self.carry, before.into_iter())),
            items: items.into_iter().take(self.len),
        }
    }
}

impl<P: Producer<Item: Clone>> Begun<P> {
    fn run<'r, O: Operation<P::Item>, const EXCLUSIVE: bool>(
        &'r mut self,
        op: &'r O,
    ) -> Run<'r, &'r mut std::iter::Take<P::IntoIter>, O, P::Item, EXCLUSIVE> {
        Run {
            items: &mut self.items,
            op,
            acc: &mut self.acc,
        }
    }
}

impl<P, O, const EXCLUSIVE: bool> Iterator for WalkIter<'_, P, O, EXCLUSIVE>
where
    P: Producer<Item: Clone + Send>,
    O: Operation<P::Item>,
{
    type Item = P::Item;

    #[inline]
    fn next(&mut self) -> Option<P::Item> {
        loop {
            if let Some(begun) = &mut self.front
                && let Some(value) = begun.run::<O, EXCLUSIVE>(self.op).next()
            {
                self.len -= 1;
                return Some(value);
            }
            self.front = match self.blocks.pop_front() {
                Some(block) => Some(block.begin(self.op)),
                None => break,
            };
        }
        self.front = None;
        let value = self.back.pop_front()?;
        self.len -= 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }

    #[inline]
    fn fold<A, G: FnMut(A, P::Item) -> A>(self, init: A, mut g: G) -> A {
        let op = self.op;
        let begun = self.blocks.into_iter().map(|block| block.begin(op));
        let result = self
            .front
            .into_iter()
            .chain(begun)
            .fold(init, |result, begun| {
                let Begun { items, mut acc } = begun;
                let acc = &mut acc;
                Run::<_, _, _, EXCLUSIVE> { items, op, acc }.fold(result, &mut g)
            });
        self.back.into_iter().fold(result, g)
    }
}

impl<P, O, const EXCLUSIVE: bool> DoubleEndedIterator for WalkIter<'_, P, O, EXCLUSIVE>
where
    P: Producer<Item: Clone + Send>,
    O: Operation<P::Item>,
{
    fn next_back(&mut self) -> Option<P::Item> {
        while self.back.is_empty() {
            let mut last = match self.blocks.pop_back() {
                Some(block) => block.begin(self.op),
                None => take(&mut self.front)?,
            };
            self.back.extend(last.run::<O, EXCLUSIVE>(self.op));
        }
        let value = self.back.pop_back()?;
        self.len -= 1;
        Some(value)
    }
}

impl<P, O, const EXCLUSIVE: bool> ExactSizeIterator for WalkIter<'_, P, O, EXCLUSIVE>
where
    P: Producer<Item: Clone + Send>,
    O: Operation<P::Item>,
{
}
