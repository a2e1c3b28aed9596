//! The bridges: where a producer meets a consumer and work is shared.
//!
//! There are three ways to go.
//!
//! - *Lazily*, where the consumer can carry one folder on from block to block
//!   ([`Consumer::advance`]). The loop is laid out as nested halves, which stay
//!   private until they are wanted or this thread is stuck in an item. The
//!   nearest piece is run in blocks; between two of them the `Pace` may ask for
//!   part of what is left to be given away. What no thread takes, this thread
//!   goes on with, and with the same folder; so folders, and what is made with
//!   them, are as few as the pieces that really changed hands, and one.
//! - *In advance*, into about as many pieces as a thread and each thief should
//!   have to choose from: calls of a few items, which may be heavy or even wait
//!   for each other; calls with a greatest length; consumers and producers that
//!   are cut only at a cost.
//! - *By splitting*, for producers that do not know their length.

use tine_pool::current_num_threads;

use super::fork::{Lent, both_told, enter, lend, offer};
use super::looks::{Looked, check, is_under, look};
use super::pace::{Laid, Pace, Plain, Seed, Step};
use super::traits::{
    Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer, UnindexedProducer,
};
use crate::iter::IndexedParallelIterator;

/// Runs an indexed parallel iterator into a consumer.
///
/// This is what `drive` and `drive_unindexed` of an indexed source come to.
///
/// ```
/// use tine::iter::plumbing::{Consumer, Folder, Reducer, bridge};
/// use tine::prelude::*;
///
/// struct Sum(u32); // consumer, folder and reducer at once
///
/// impl Consumer<u32> for Sum {
///     type Folder = Sum;
///     type Reducer = Sum;
///     type Result = u32;
///     fn split_at(self, _: usize) -> (Sum, Sum, Sum) { (Sum(0), Sum(0), Sum(0)) }
///     fn into_folder(self) -> Sum { self }
///     fn full(&self) -> bool { false }
/// }
/// impl Folder<u32> for Sum {
///     type Result = u32;
///     fn consume(self, item: u32) -> Sum { Sum(self.0 + item) }
///     fn complete(self) -> u32 { self.0 }
///     fn full(&self) -> bool { false }
/// }
/// impl Reducer<u32> for Sum {
///     fn reduce(self, left: u32, right: u32) -> u32 { left + right }
/// }
///
/// assert_eq!(bridge((1..101_u32).into_par_iter(), Sum(0)), 5050);
/// ```
pub fn bridge<I, C>(par_iter: I, consumer: C) -> C::Result
where
    I: IndexedParallelIterator,
    C: Consumer<I::Item>,
{
    struct Bridge<C> {
        len: usize,
        consumer: C,
    }

    impl<T, C: Consumer<T>> ProducerCallback<T> for Bridge<C> {
        type Output = C::Result;

        fn callback<P: Producer<Item = T>>(self, producer: P) -> C::Result {
            bridge_producer_consumer(self.len, producer, self.consumer)
        }
    }

    let len = par_iter.len();
    par_iter.with_producer(Bridge { len, consumer })
}

/// Runs a producer of `len` items into a consumer.
///
/// ```
/// use tine::iter::plumbing::{
///     Consumer, Producer, ProducerCallback, UnindexedConsumer, bridge_producer_consumer,
/// };
/// use tine::prelude::*;
///
/// /// The first half of the items.
/// struct Half<I>(I);
/// struct Cut<C>(usize, C);
///
/// impl<I: IndexedParallelIterator> ParallelIterator for Half<I> {
///     type Item = I::Item;
///     fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
///         let len = self.0.len() / 2;
///         self.0.with_producer(Cut(len, consumer))
///     }
/// }
///
/// impl<T, C: Consumer<T>> ProducerCallback<T> for Cut<C> {
///     type Output = C::Result;
///     fn callback<P: Producer<Item = T>>(self, producer: P) -> C::Result {
///         let Cut(len, consumer) = self;
///         bridge_producer_consumer(len, producer.split_at(len).0, consumer)
///     }
/// }
///
/// assert_eq!(Half((0..7).into_par_iter()).collect::<Vec<_>>(), [0, 1, 2]);
/// ```
pub fn bridge_producer_consumer<P, C>(len: usize, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let (min, max) = (producer.min_len().max(1), producer.max_len().max(1));
    let rest = Rest {
        producer,
        consumer,
        len,
    };
    if rest.consumer.full() || len / 2 < min {
        return rest.whole();
    }
    let _look = look();
    let threads = current_num_threads();
    let at_will = C::ADVANCES && !P::WHOLE && max == usize::MAX;
    if at_will && len > threads.saturating_mul(2) {
        enter(|| {
            let site = work::<P, C> as *const () as usize;
            let mut pace = Pace::start(site, len);
            // Under a token it is run in blocks, which look at that.
            if let Some(plain) = pace.plain().filter(|_| !is_under()) {
                return chain(rest, plain, &pace, min);
            }
            pace.set_kind(C::WORTH, C::ENDS);
            work(rest, None, &mut pace, min).close(&mut pace)
        })
    } else {
        let cuts = threads;
        run(rest, false, Pieces { cuts, min, max })
    }
}

/// Runs a producer of an unknown number of items into a consumer.
///
/// ```
/// use tine::iter::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
/// use tine::prelude::*;
///
/// /// What cannot be split is still a source.
/// struct CountDown(u32);
///
/// impl UnindexedProducer for CountDown {
///     type Item = u32;
///     fn split(self) -> (Self, Option<Self>) {
///         (self, None)
///     }
///     fn fold_with<F: Folder<u32>>(self, folder: F) -> F {
///         folder.consume_iter((0..self.0).rev())
///     }
/// }
///
/// impl ParallelIterator for CountDown {
///     type Item = u32;
///     fn drive_unindexed<C: UnindexedConsumer<u32>>(self, consumer: C) -> C::Result {
///         bridge_unindexed(self, consumer)
///     }
/// }
///
/// assert_eq!(CountDown(3).collect::<Vec<_>>(), [2, 1, 0]);
/// ```
pub fn bridge_unindexed<P, C>(producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    let _look = look();
    let pieces = Pieces {
        cuts: current_num_threads(),
        min: 1,
        max: usize::MAX,
    };
    run_unindexed(false, pieces, producer, consumer)
}

/// What is left of a piece.
struct Rest<P, C> {
    producer: P,
    consumer: C,
    len: usize,
}

impl<P: Producer, C: Consumer<P::Item>> Rest<P, C> {
    /// Runs all of it with one folder.
    #[inline(never)]
    fn in_one(self) -> C::Result {
        if self.consumer.full() {
            return self.nothing();
        }
        let folder = self.consumer.into_folder();
        match Self::BLOCKS {
            true => self.producer.fold_with(folder).complete(),
            false => self.producer.fold_with(Looked::new(folder)).complete(),
        }
    }

    /// Whether it may be run in blocks.
    const BLOCKS: bool = C::ADVANCES && !P::WHOLE;

    /// Runs all of it with one folder, and looks at tokens in between.
    #[inline]
    fn whole(self) -> C::Result {
        if Self::BLOCKS && is_under() {
            return self.in_blocks();
        }
        self.in_one()
    }

    #[cold]
    #[inline(never)]
    fn in_blocks(self) -> C::Result {
        let _look = look();
        let mut pace = Pace::alone(Self::in_blocks as *const () as usize);
        work(self, None, &mut pace, usize::MAX).close(&mut pace)
    }

    /// What it comes to if no item is wanted any more.
    ///
    /// Here and elsewhere, what is left is dropped before there is a result to return: should a
    /// destructor panic later, nobody would drop that.
    fn nothing(self) -> C::Result {
        drop(self.producer);
        self.consumer.into_folder().complete()
    }

    fn halve(self) -> (Self, Self, C::Reducer) {
        let mid = self.len / 2;
        self.cut(mid)
    }

    #[inline]
    fn cut(self, mid: usize) -> (Self, Self, C::Reducer) {
        let (producer, far_producer) = self.producer.split_at(mid);
        let (consumer, far_consumer, reducer) = self.consumer.split_at(mid);
        let near = Rest {
            producer,
            consumer,
            len: mid,
        };
        let far = Rest {
            producer: far_producer,
            consumer: far_consumer,
            len: self.len - mid,
        };
        (near, far, reducer)
    }

    /// Runs the next `n` items; what is left is none if that was all.
    fn run_block(self, n: usize, folder: Option<C::Folder>) -> (C::Folder, Option<Self>) {
        let (folder, consumer) = self.consumer.advance(n, folder);
        let (block, rest) = if n == self.len {
            (self.producer, None)
        } else {
            let (block, producer) = self.producer.split_at(n);
            let len = self.len - n;
            let rest = Rest {
                producer,
                consumer,
                len,
            };
            (block, Some(rest))
        };
        // The one place of the loop over the items, which may be large.
        (block.fold_with(Block(folder)).0, rest)
    }
}

/// How far a piece has come: to where it can be carried on, or to an end.
enum Progress<F, R> {
    Open(F),
    Closed(R),
}

impl<F, R> Progress<F, R> {
    fn close<T>(self, pace: &mut Pace) -> R
    where
        F: Folder<T, Result = R>,
    {
        pace.flush();
        match self {
            Progress::Open(folder) => folder.complete(),
            Progress::Closed(result) => result,
        }
    }
}

/// Runs a piece lazily, going on with `folder` if there is one.
fn work<P, C>(
    mut rest: Rest<P, C>,
    mut folder: Option<C::Folder>,
    pace: &mut Pace,
    min: usize,
) -> Progress<C::Folder, C::Result>
where
    P: Producer,
    C: Consumer<P::Item>,
{
    if rest.len / 2 >= min
        && let Some(laid) = pace.lay_out(rest.len)
    {
        return share(laid, rest, folder, pace, min);
    }
    loop {
        check();
        let n = match pace.next(rest.len) {
            Step::Share if offer() => continue,
            Step::Share if rest.len / 2 >= min => {
                let laid = pace.share(rest.len - rest.len / 2);
                return share(laid, rest, folder, pace, min);
            }
            Step::Share => pace.block(rest.len),
            Step::Run(n) => n,
        };
        let (carried, left) = rest.run_block(n, folder);
        match left {
            // How far the last block came is not known.
            left if carried.full() => {
                pace.flush_all_but_the_last();
                drop(left);
                return Progress::Open(carried);
            }
            Some(left) => (rest, folder) = (left, Some(carried)),
            None => {
                pace.pause();
                return Progress::Open(carried);
            }
        }
    }
}

/// Runs a loop that is known to be a very short one. It is laid out as any other, but from piece to
/// piece: all that is left lies behind the piece that runs, and comes back to the same folder.
fn chain<P, C>(mut rest: Rest<P, C>, plain: Plain, pace: &Pace, min: usize) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let (len, seed) = (rest.len, pace.seed());
    let mut folder = None;
    for left in (2..=plain.pieces.min(len / min)).rev() {
        let n = rest.len / left;
        let (near, far, reducer) = rest.cut(n);
        let (carried, lent) = lend(
            false,
            far,
            || near.run_block(n, folder).0,
            |far| take_over(far, seed, min),
        );
        match lent {
            Lent::Taken(far) => return reducer.reduce(carried.complete(), far),
            Lent::Back(far) if carried.full() => {
                drop(far);
                return carried.complete();
            }
            Lent::Back(far) => (rest, folder) = (far, Some(carried)),
        }
    }
    let n = rest.len;
    let folder = rest.run_block(n, folder).0;
    if plain.start != 0 && !folder.full() {
        pace.record(len, plain.start);
    }
    folder.complete()
}

/// What a thread does that takes a part of a loop over.
fn take_over<P, C>(far: Rest<P, C>, seed: Seed, min: usize) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    if far.consumer.full() {
        return far.nothing();
    }
    let mut pace = seed.grow();
    work(far, None, &mut pace, min).close(&mut pace)
}

/// Lends the farther half of what is left, and goes on with the nearer; then
/// with the farther one too, if it was not taken.
fn share<P, C>(
    laid: Laid,
    rest: Rest<P, C>,
    folder: Option<C::Folder>,
    pace: &mut Pace,
    min: usize,
) -> Progress<C::Folder, C::Result>
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let (near, far, reducer) = rest.halve();
    let seed = pace.seed();
    let (near, far) = lend(
        laid.is_open(),
        far,
        || work(near, folder, pace, min),
        |far| take_over(far, seed, min),
    );
    match (near, far) {
        (near, Lent::Taken(far)) => Progress::Closed(reducer.reduce(near.close(pace), far)),
        (Progress::Open(folder), Lent::Back(far)) if folder.full() => {
            drop(far);
            Progress::Open(folder)
        }
        (Progress::Open(folder), Lent::Back(far)) => {
            pace.go_on(laid);
            work(far, Some(folder), pace, min)
        }
        (Progress::Closed(near), Lent::Back(far)) if far.consumer.full() => {
            Progress::Closed(reducer.reduce(near, far.nothing()))
        }
        (Progress::Closed(near), Lent::Back(far)) => {
            pace.flush();
            pace.go_on(laid);
            let far = work(far, None, pace, min).close(pace);
            Progress::Closed(reducer.reduce(near, far))
        }
    }
}

/// A folder that is fed a block of a piece.
pub(crate) struct Block<F>(pub(crate) F);

impl<T, F: Folder<T>> Folder<T> for Block<F> {
    type Result = F::Result;

    #[inline]
    fn consume(self, item: T) -> Self {
        Block(self.0.consume(item))
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(self, items: I) -> Self {
        Block(self.0.consume_block(items))
    }

    #[inline]
    fn consume_block<I: IntoIterator<Item = T>>(self, items: I) -> Self {
        Block(self.0.consume_block(items))
    }

    fn complete(self) -> F::Result {
        self.0.complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.0.full()
    }
}

/// How often a piece may still be cut, and how small and how large the pieces
/// may be.
#[derive(Clone, Copy)]
struct Pieces {
    cuts: usize,
    min: usize,
    max: usize,
}

impl Pieces {
    /// Whether a piece of `len` items is to be cut once more. A piece that has
    /// just migrated shows that a thread was idle: it is worth new cuts.
    #[inline]
    fn cut(&mut self, len: usize, migrated: bool) -> bool {
        if migrated {
            self.cuts = self.cuts.max(current_num_threads());
        }
        let cut = len > self.max || self.cuts > 0;
        self.cuts /= 2;
        cut && len / 2 >= self.min
    }
}

fn run<P, C>(rest: Rest<P, C>, migrated: bool, mut pieces: Pieces) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    check();
    if rest.consumer.full() || !pieces.cut(rest.len, migrated) {
        return rest.whole();
    }
    let (near, far, reducer) = rest.halve();
    let (near, far) = both_told(
        |migrated| run(near, migrated, pieces),
        |migrated| run(far, migrated, pieces),
    );
    reducer.reduce(near, far)
}

fn run_unindexed<P, C>(migrated: bool, mut pieces: Pieces, producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    check();
    if consumer.full() {
        drop(producer);
        return consumer.into_folder().complete();
    }
    let (producer, right) = if pieces.cut(usize::MAX, migrated) {
        producer.split()
    } else {
        (producer, None)
    };
    let Some(right) = right else {
        let folder = Looked::new(consumer.into_folder());
        return producer.fold_with(folder).complete();
    };
    let reducer = consumer.to_reducer();
    let to_left = consumer.split_off_left();
    let (a, b) = both_told(
        |migrated| run_unindexed(migrated, pieces, producer, to_left),
        |migrated| run_unindexed(migrated, pieces, right, consumer),
    );
    reducer.reduce(a, b)
}
