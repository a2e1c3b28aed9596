//! Scanning into a consumer.
//!
//! One thread goes ahead as a loop would, and hands on one running value after the other. If
//! brackets matter, it also keeps the tally of its block. Between two runs it asks its `Pace`
//! whether another thread would help. If so, the next blocks are a *window*:
//!
//! 1. every block of the window is tallied, in parallel;
//! 2. the carries follow from the tallies, one after the other;
//! 3. every block is run from its carry, in parallel, into its part of the consumer.
//!
//! If a block's items cannot be walked twice, they are kept between steps 1 and 3. A window is
//! small enough to stay in the caches, and the next window reuses its memory.
//!
//! If all items are one block, there is nothing to tally. Then the rest is made in parallel, run in
//! one go, and handed on in parallel.

use std::marker::PhantomData;

use tine_pool::current_num_threads;
use tine_pool::loops::Site;

use super::op::Operation;
use super::run::{Cut, Run, Tally, WINDOW};
use crate::convert::{IntoParallelIterator, IntoParallelRefMutIterator};
use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::{
    Again, Consumer, Folder, Pace, Producer, Reducer, Step, Strides, bridge_producer_consumer,
    enter, fold, is_under,
};
use crate::sinks::collect::in_place::write_in_place;

/// Scans `len` items of `producer` into `consumer`. If all are handed on, it leaves their result in
/// `total`.
pub(super) fn sweep<P, O, C, const EXCLUSIVE: bool>(
    len: usize,
    cut: Cut,
    producer: P,
    op: &O,
    consumer: C,
    total: &mut Option<P::Item>,
) -> C::Result
where
    P: Producer<Item: Clone + Send>,
    O: Operation<P::Item>,
    C: Consumer<P::Item>,
{
    if len == 0 || consumer.full() {
        *total = Some(op.identity()).filter(|_| len == 0);
        return consumer.into_folder().complete();
    }
    enter(move || Sweep::<P, O, C, EXCLUSIVE>::new(len, cut, producer, op, consumer).all(total))
}

/// The rest of a scan, and its results so far.
struct Sweep<'s, P: Producer, O, C: Consumer<P::Item>, const EXCLUSIVE: bool> {
    op: &'s O,
    /// `None` when all is done.
    rest: Option<(P, C)>,
    left: usize,
    /// The size of a block, and how much is left of the block under way. If the operation is to be
    /// applied once, everything that this thread scans alone is one block.
    size: usize,
    once: bool,
    in_block: usize,
    /// The running value; the carry and the tally so far of the block under way.
    acc: Tally<P::Item>,
    carry: Tally<P::Item>,
    tally: Tally<P::Item>,
    /// The folder of the last items, if more can follow.
    folder: Option<C::Folder>,
    /// The result of the items before those, and what joins it with the next.
    came_to: Option<(C::Result, C::Reducer)>,
    /// The result of the last items, if they went to no folder.
    last: Option<C::Result>,
    /// Some items were not scanned, since the consumer was full. Then there is no total.
    short: bool,
    slots: Vec<Slot<P>>,
}

impl<'s, P, O, C, const EXCLUSIVE: bool> Sweep<'s, P, O, C, EXCLUSIVE>
where
    P: Producer<Item: Clone + Send>,
    O: Operation<P::Item>,
    C: Consumer<P::Item>,
{
    fn new(len: usize, cut: Cut, producer: P, op: &'s O, consumer: C) -> Self {
        Sweep {
            op,
            rest: Some((producer, consumer)),
            left: len,
            size: cut.size,
            once: cut.once,
            in_block: if cut.once { len } else { cut.size.min(len) },
            acc: Tally::new(op.identity()),
            carry: Tally::new(op.identity()),
            tally: Tally::new(op.identity()),
            folder: None,
            came_to: None,
            last: None,
            short: false,
            slots: Vec::new(),
        }
    }

    fn all(mut self, total: &mut Option<P::Item>) -> C::Result {
        let mut pace = Pace::start(
            Site::flat(Self::all as *const () as usize, self.left),
            self.left,
            0,
            false,
        );
        pace.set_kind(0, true);
        let mut begun = false;
        let alone = current_num_threads() == 1;
        loop {
            let n = match pace.next(self.left) {
                Step::Share if begun && !alone => {
                    self.share();
                    0
                }
                Step::Share => pace.block(self.left),
                Step::Run(n) => n,
            };
            begun = true;
            if n > 0 {
                self.go_on(n);
            }
            let Some((producer, consumer)) = self.rest.take() else {
                pace.flush();
                *total = (!self.short).then(|| self.acc.take());
                return self.end();
            };
            let full = |folder: &C::Folder| folder.full();
            if consumer.full() || self.folder.as_ref().is_some_and(full) {
                pace.flush_all_but_the_last();
                drop(producer);
                return self.stop(consumer);
            }
            self.rest = Some((producer, consumer));
        }
    }

    /// Runs the next `n` items on this thread.
    fn go_on(&mut self, n: usize) {
        let Some((producer, consumer)) = self.rest.take() else {
            return;
        };
        let all = n == self.left;
        let (producer, rest) = if all {
            (producer, None)
        } else {
            let (producer, rest) = producer.split_at(n);
            (producer, Some(rest))
        };
        if C::ADVANCES {
            let (folder, consumer) = consumer.advance(n, self.folder.take());
            self.folder = Some(self.run(n, producer, folder));
            self.rest = rest.map(|rest| (rest, consumer));
        } else if let Some(rest) = rest {
            let (here, consumer, reducer) = consumer.split_at(n);
            let result = self.run(n, producer, here.into_folder()).complete();
            self.add(result, reducer);
            self.rest = Some((rest, consumer));
        } else {
            self.folder = Some(self.run(n, producer, consumer.into_folder()));
        }
        self.left -= n;
    }

    /// Runs `n` items into `folder`, block by block.
    fn run(&mut self, n: usize, producer: P, mut folder: C::Folder) -> C::Folder {
        let op = self.op;
        let mut rest = Some(producer);
        let mut left = n;
        let mut strides = Strides::new();
        while let Some(producer) = rest.take() {
            let here = strides.next(left.min(self.in_block));
            let items = if here == left {
                producer
            } else {
                let (items, behind) = producer.split_at(here);
                rest = Some(behind);
                items
            };
            let items = items.into_iter();
            let acc = &mut self.acc;
            let all;
            // The tally of the last block is not needed.
            (folder, all) = if self.left - (n - left) <= self.in_block {
                into::<_, _, C, EXCLUSIVE>(folder, items, op, acc)
            } else {
                let tally = &mut self.tally;
                let items = items.inspect(|item| tally.add(op, item.clone()));
                into::<_, _, C, EXCLUSIVE>(folder, items, op, acc)
            };
            self.short |= !all;
            left -= here;
            self.in_block -= here;
            if self.in_block == 0 && self.left > n - left {
                let tally = self.tally.take();
                self.tally.put(op.identity());
                self.begin_block(tally, n - left);
            }
            if folder.full() {
                self.short |= rest.is_some();
                break;
            }
        }
        folder
    }

    /// Begins the block that follows a block of this tally; `ahead` items of what is `left` are
    /// done.
    fn begin_block(&mut self, tally: P::Item, ahead: usize) {
        self.carry.add(self.op, tally);
        let carry = self.carry.take();
        self.acc.put(carry.clone());
        self.carry.put(carry);
        self.in_block = self.size.min(self.left - ahead);
    }

    /// Runs a window of blocks with other threads, or the rest of the only block.
    fn share(&mut self) {
        if self.left <= self.in_block.min(self.size) {
            return self.share_last();
        }
        if self.once {
            self.carry.put(self.acc.take());
        } else if self.in_block < self.size {
            self.go_on(self.in_block);
        }
        let full = |folder: &C::Folder| folder.full();
        if !self.folder.as_ref().is_some_and(full) {
            self.window();
        }
    }

    fn window(&mut self) {
        let Some((producer, consumer)) = self.rest.take() else {
            return;
        };
        let consumer = self.close(consumer);
        let most = WINDOW.saturating_mul(current_num_threads()) / self.size;
        let blocks = self.left.div_ceil(self.size).min(most.max(1));
        let items = self.left.min(blocks.saturating_mul(self.size));
        let rest = self.cut(producer, items);
        let (op, slots) = (self.op, &mut self.slots[..blocks]);
        let last = rest.is_none().then(|| blocks - 1);
        tally_all(slots, op, last);

        let mut carry = self.carry.take();
        for slot in &mut *slots {
            let begins = carry.clone();
            carry = match slot.value.replace(begins) {
                Some(tally) => op.join(carry, tally),
                None => carry,
            };
        }
        self.carry.put(carry);

        let (here, consumer, reducer) = match rest {
            Some(rest) => {
                let (here, consumer, reducer) = consumer.split_at(items);
                (here, Some((rest, consumer)), Some(reducer))
            }
            None => (consumer, None, None),
        };
        let slots = &mut self.slots[..blocks];
        let (size, left) = (self.size, items);
        let result = slots.par_iter_mut().drive(Blocks::<O, C, EXCLUSIVE> {
            op,
            base: here,
            size,
            left,
        });
        let end = slots.last_mut().and_then(Slot::end);
        self.left -= items;
        self.rest = consumer;
        match reducer {
            Some(reducer) => {
                self.add(result, reducer);
                let carry = self.carry.take();
                self.acc.put(carry.clone());
                self.carry.put(carry);
                self.in_block = match self.once {
                    true => self.left,
                    false => self.size.min(self.left),
                };
            }
            None => {
                match end {
                    Some(end) => self.acc.put(end),
                    None => self.short = true,
                }
                self.last = Some(result);
            }
        }
    }

    /// Cuts the next `items` items into slots, and returns the rest.
    fn cut(&mut self, producer: P, items: usize) -> Option<P> {
        let (mut producer, rest) = if items == self.left {
            (producer, None)
        } else {
            let (producer, rest) = producer.split_at(items);
            (producer, Some(rest))
        };
        let (mut k, mut left) = (0, items);
        loop {
            match self.slots.get_mut(k) {
                // The tally of the slot's last block means nothing for this block.
                Some(slot) => slot.value = None,
                None => self.slots.push(Slot::default()),
            }
            if left <= self.size {
                self.slots[k].block = Some(producer);
                self.slots[k].len = left;
                return rest;
            }
            let (block, behind) = producer.split_at(self.size);
            self.slots[k].block = Some(block);
            self.slots[k].len = self.size;
            producer = behind;
            left -= self.size;
            k += 1;
        }
    }

    /// All that is left is in one block. It is made in parallel, run, and handed on in parallel.
    fn share_last(&mut self) {
        let Some((producer, consumer)) = self.rest.take() else {
            return;
        };
        let consumer = self.close(consumer);
        let (op, len) = (self.op, self.left);
        let items = made(producer, len);
        let acc = &mut self.acc;
        let items = items.into_iter();
        let run = Run::<_, _, _, EXCLUSIVE> { items, op, acc };
        let values: Vec<_> = run.collect();
        let result = values.into_par_iter().drive(consumer);
        self.left = 0;
        self.last = Some(result);
    }

    /// Ends the folder or result of the last items, so that others can be joined with it.
    fn close(&mut self, consumer: C) -> C {
        let Some(folder) = self.folder.take() else {
            return consumer;
        };
        let (_, consumer, reducer) = consumer.split_at(0);
        self.add(folder.complete(), reducer);
        consumer
    }

    /// Joins the result so far with the result of what follows.
    fn add(&mut self, result: C::Result, next: C::Reducer) {
        let result = self.joined(result);
        self.came_to = Some((result, next));
    }

    fn joined(&mut self, result: C::Result) -> C::Result {
        match self.came_to.take() {
            Some((before, reducer)) => reducer.reduce(before, result),
            None => result,
        }
    }

    /// The result of all items.
    fn end(mut self) -> C::Result {
        let result = match (self.folder.take(), self.last.take()) {
            (Some(folder), _) => folder.complete(),
            (None, Some(last)) => last,
            (None, None) => unreachable!("a scan ended without its last items"),
        };
        self.finish(result)
    }

    /// The result of the items so far, when no more are wanted.
    fn stop(mut self, consumer: C) -> C::Result {
        let result = match self.folder.take() {
            Some(folder) => folder.complete(),
            None => consumer.into_folder().complete(),
        };
        self.finish(result)
    }

    /// Joins the result so far with the last one. Should dropping a carry panic, it is dropped too.
    fn finish(mut self, last: C::Result) -> C::Result {
        let result = self.joined(last);
        drop(self);
        result
    }
}

/// Hands running values on. If the consumer can be full, it looks for that between them. Says too
/// whether that was all of them.
#[inline]
fn into<I, O, C, const EXCLUSIVE: bool>(
    folder: C::Folder,
    mut items: I,
    op: &O,
    acc: &mut Tally<I::Item>,
) -> (C::Folder, bool)
where
    I: Iterator<Item: Clone>,
    O: Operation<I::Item>,
    C: Consumer<I::Item>,
{
    if C::ADVANCES && C::STEADY {
        let run = Run::<_, _, _, EXCLUSIVE> { items, op, acc };
        (folder.consume_block(run), true)
    } else {
        let here = &mut items;
        let run = Run::<_, _, _, EXCLUSIVE> {
            items: here,
            op,
            acc,
        };
        let folder = folder.consume_iter(run);
        // Iterators of other crates need not know their length. A folder takes all items unless it becomes
        // full.
        let all = items.size_hint().1 == Some(0) || !folder.full();
        // Before the return: the folder is not dropped if a destructor panics after it.
        drop(items);
        (folder, all)
    }
}

/// A block of a window.
struct Slot<P: Producer> {
    block: Option<P>,
    /// How many items the block has.
    len: usize,
    /// Its items, between the passes, if the block cannot be walked twice.
    kept: Vec<P::Item>,
    /// Its tally, then its carry, then its last running value, if all of it was run.
    value: Option<P::Item>,
}

// These two know neither the consumer nor the kind of scan, so that a program compiles their loops
// once for each producer.

/// Tallies the blocks; that of the `last` is not needed.
fn tally_all<P, O>(slots: &mut [Slot<P>], op: &O, last: Option<usize>)
where
    P: Producer<Item: Clone + Send>,
    O: Operation<P::Item>,
{
    slots
        .par_iter_mut()
        .enumerate()
        .for_each(|(k, slot)| slot.tally(op, Some(k) == last));
}

/// All items of a producer, made in parallel.
fn made<P: Producer<Item: Send>>(producer: P, len: usize) -> Vec<P::Item> {
    let mut items = Vec::new();
    write_in_place(&mut items, len, |place| {
        (bridge_producer_consumer(len, producer, place), ())
    });
    items
}

impl<P: Producer> Default for Slot<P> {
    fn default() -> Self {
        Slot {
            block: None,
            len: 0,
            kept: Vec::new(),
            value: None,
        }
    }
}

impl<P: Producer<Item: Clone>> Slot<P> {
    const TWICE: bool = matches!(P::AGAIN, Again::Always);

    /// The tally of the block; for the `last` block it is not needed.
    fn tally<O: Operation<P::Item>>(&mut self, op: &O, last: bool) {
        let block = match &self.block {
            Some(_) if last && Self::TWICE => return,
            Some(block) if Self::TWICE => block.again(),
            _ => match self.block.take() {
                Some(block) => block,
                None => return,
            },
        };
        let items = block.into_iter();
        let kept = &mut self.kept;
        if Self::TWICE {
            self.value = Some(fold(items, op.identity(), |tally, item| {
                op.join(tally, item)
            }));
        } else if last && !is_under() {
            kept.extend(items);
        } else if last {
            fold(items, (), |(), item| kept.push(item));
        } else {
            kept.reserve(items.size_hint().0);
            self.value = Some(fold(items, op.identity(), |tally, item| {
                kept.push(item.clone());
                op.join(tally, item)
            }));
        }
    }

    /// Hands on the running values of the block, from its carry.
    fn run<O, C, const EXCLUSIVE: bool>(&mut self, op: &O, folder: C::Folder) -> C::Folder
    where
        O: Operation<P::Item>,
        C: Consumer<P::Item>,
    {
        let Some(carry) = self.value.take() else {
            unreachable!("a block was run before its carry was known")
        };
        let mut tally = Tally::new(carry);
        let acc = &mut tally;
        let mut strides = Strides::new();
        let (mut folder, mut all) = (folder, true);
        let mut left = match self.block {
            Some(_) => self.len,
            None => self.kept.len(),
        };
        while all && left > 0 {
            let here = strides.next(left);
            left -= here;
            (folder, all) = match self.block.take() {
                Some(block) => {
                    let (block, rest) = match left {
                        0 => (block, None),
                        _ => {
                            let (block, rest) = block.split_at(here);
                            (block, Some(rest))
                        }
                    };
                    self.block = rest;
                    into::<_, _, C, EXCLUSIVE>(folder, block.into_iter(), op, acc)
                }
                None => into::<_, _, C, EXCLUSIVE>(folder, self.kept.drain(..here), op, acc),
            };
        }
        if !all {
            self.block = None;
            self.kept.clear();
        }
        self.value = all.then(|| tally.take());
        // Before the return, as above.
        drop(tally);
        folder
    }

    /// The last running value of the block, if all of it was run.
    fn end(&mut self) -> Option<P::Item> {
        let run = self.block.is_none() && self.kept.is_empty();
        self.value.take().filter(|_| run)
    }
}

/// A consumer of blocks, made of a consumer of running values.
struct Blocks<'s, O, C, const EXCLUSIVE: bool> {
    op: &'s O,
    base: C,
    /// The size of a block, of which the last may be short, and the number of items.
    size: usize,
    left: usize,
}

impl<'s, P, O, C, const EXCLUSIVE: bool> Consumer<&mut Slot<P>> for Blocks<'s, O, C, EXCLUSIVE>
where
    P: Producer<Item: Clone + Send>,
    O: Operation<P::Item>,
    C: Consumer<P::Item>,
{
    type Folder = BlocksFolder<'s, O, C, C::Folder, EXCLUSIVE>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    const ADVANCES: bool = C::ADVANCES;
    const ENDS: bool = C::ENDS;
    const STEADY: bool = C::STEADY;

    fn worth(&self) -> u64 {
        self.base.worth()
    }

    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let Blocks { op, size, left, .. } = self;
        let at = index.saturating_mul(size).min(left);
        let (base, behind, reducer) = self.base.split_at(at);
        let with = |base, left| Blocks {
            op,
            base,
            size,
            left,
        };
        (with(base, at), with(behind, left - at), reducer)
    }

    fn into_folder(self) -> Self::Folder {
        BlocksFolder {
            op: self.op,
            base: self.base.into_folder(),
            of: PhantomData,
        }
    }

    fn full(&self) -> bool {
        self.base.full()
    }

    fn advance(self, index: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let Blocks { op, size, left, .. } = self;
        let at = index.saturating_mul(size).min(left);
        let (base, behind) = self.base.advance(at, folder.map(|folder| folder.base));
        let of = PhantomData;
        let rest = Blocks {
            op,
            base: behind,
            size,
            left: left - at,
        };
        (BlocksFolder { op, base, of }, rest)
    }
}

/// The same at work.
struct BlocksFolder<'s, O, C, F, const EXCLUSIVE: bool> {
    op: &'s O,
    base: F,
    of: PhantomData<fn(C)>,
}

impl<P, O, C, const EXCLUSIVE: bool> Folder<&mut Slot<P>>
    for BlocksFolder<'_, O, C, C::Folder, EXCLUSIVE>
where
    P: Producer<Item: Clone + Send>,
    O: Operation<P::Item>,
    C: Consumer<P::Item>,
{
    type Result = C::Result;

    fn consume(mut self, slot: &mut Slot<P>) -> Self {
        self.base = slot.run::<O, C, EXCLUSIVE>(self.op, self.base);
        self
    }

    fn complete(self) -> C::Result {
        self.base.complete()
    }

    fn full(&self) -> bool {
        self.base.full()
    }
}
