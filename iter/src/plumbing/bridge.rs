//! The bridges: where a producer meets a consumer and work is shared.
//!
//! There are three ways to go.
//!
//! - *Lazily*, where the consumer can carry one folder on from block to block
//!   ([`Consumer::advance`]). The loop is laid out as nested halves, which stay private until
//!   another thread wants them or this thread is stuck in an item. The nearest piece is run in
//!   blocks. Between two blocks the `Pace` may say that part of what is left should be given away.
//!   This thread goes on with whatever no thread takes, and with the same folder. So there is one
//!   folder, and one more for each piece that another thread took.
//! - *In advance*, into enough pieces for this thread and the thieves to choose from. That is for
//!   calls of a few items, which may be heavy or even wait for each other, unless they are known to
//!   be short; for inner calls of a recursion that take little on average; for calls with a
//!   greatest length; for consumers and producers whose cuts are costly.
//! - *By splitting*, for producers that do not know their length: see [`splits`](super::splits).

use tine_pool::current_num_threads;

use tine_pool::loops::{self, Part, Site, Timer};

use super::fork::{done, enter_part, enter_part_here};
use super::lazy::{Forked, Kind, Piece, Ran, Task, Way};
use super::looks::{Looked, check, is_under, look};
use super::pace::Start;
use super::traits::{Consumer, Folder, Producer, ProducerCallback, Reducer, Went};
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
    let mut rest = Rest {
        producer,
        consumer,
        len,
    };
    if const { Rest::<P, C>::BLOCKS } {
        rest.consumer.expect(len);
    }
    if rest.is_full() || len / 2 < min {
        return rest.whole(|address| Site::here(address, len));
    }
    let _look = look();
    let blocks = Rest::<P, C>::BLOCKS && max == usize::MAX;
    let site = Site::here(Rest::<P, C>::address(), len);
    let cuts = match blocks {
        true => site.cuts(len, rest.consumer.worth() == 0),
        false => Some(site.threads()),
    };
    let Some(cuts) = cuts else {
        let kind = Kind {
            worth: rest.consumer.worth(),
            ends: C::ENDS,
            // Under a token the loop runs in blocks, which look at the token.
            plain: !is_under(),
        };
        let task = Task::Start { site, kind, min };
        let mut job = Job::new(rest, &task);
        enter_part(site.call(), &mut job);
        return job.result();
    };
    let many = cuts.saturating_add(1).next_power_of_two().min(len);
    let timer = blocks.then(|| Timer::start(site.key(), many)).flatten();
    let pieces = Pieces { cuts, min, max };
    let mut cut = Cut::new(rest, pieces, timer.as_ref());
    enter_part(site.call(), &mut cut);
    let result = done(cut.result);
    if let Some(timer) = timer {
        timer.end();
    }
    result
}

/// Runs a producer of `len` items with the folder of the items before, if it is there; `to` makes the consumer:
/// see [`go_on`](super::go_on).
pub(crate) fn bridge_behind<P, C>(
    len: usize,
    producer: P,
    to: impl FnOnce() -> C,
    folder: Option<C::Folder>,
) -> Went<C::Folder, C::Result>
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let (min, max) = (producer.min_len().max(1), producer.max_len());
    let blocks = const { Rest::<P, C>::BLOCKS } && max == usize::MAX;
    let site = (blocks && len > 1).then(|| Site::here(Rest::<P, C>::address(), len));
    if C::ADVANCES && (len < 2 || site.is_some_and(|site| site.is_tiny(len))) {
        check();
        let folder = folder.unwrap_or_else(|| to().into_folder());
        // A source that counts places, and not items, may have an item at none: the one piece of an empty text.
        if folder.full() || producer.is_over() {
            drop(producer);
            return Went::Open(folder);
        }
        let timer = site.and_then(|site| Timer::start(site.key(), 1));
        return Went::Open(feed_timed(len, producer, folder, timer));
    }
    let rest = Rest {
        producer,
        consumer: to(),
        len,
    };
    let Some(site) = site.filter(|_| len / 2 >= min && !rest.is_full()) else {
        return apart(rest, folder);
    };
    let worth = rest.consumer.worth();
    if site.cuts(len, worth == 0).is_some() {
        return apart(rest, folder);
    }
    let _look = look();
    let kind = Kind {
        worth,
        ends: C::ENDS,
        plain: !is_under(),
    };
    let task = Task::Start { site, kind, min };
    let mut behind = Behind {
        rest: Some(rest),
        folder,
        task: &task,
        went: None,
    };
    match enter_part_here(site.call(), &mut behind) {
        true => done(behind.went),
        false => apart(done(behind.rest), behind.folder),
    }
}

/// [`feed`], timed if there is a timer.
fn feed_timed<P: Producer, F: Folder<P::Item>>(
    len: usize,
    producer: P,
    folder: F,
    timer: Option<Timer>,
) -> F {
    let Some(timer) = timer else {
        return feed(producer, folder);
    };
    let folder = timer.time(len, || feed(producer, folder));
    timer.end();
    folder
}

/// Runs a rest apart from the items before.
fn apart<P, C>(rest: Rest<P, C>, folder: Option<C::Folder>) -> Went<C::Folder, C::Result>
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let Rest {
        producer,
        mut consumer,
        len,
    } = rest;
    let Some(folder) = folder else {
        return Went::Closed(bridge_producer_consumer(len, producer, consumer));
    };
    let so_far = folder.complete();
    if const { C::RESUMES } {
        consumer = consumer.resume(so_far);
        return Went::Closed(bridge_producer_consumer(len, producer, consumer));
    }
    // At index 0: nothing comes before what the consumer is for.
    let (_, to, reducer) = consumer.split_at(0);
    let came_to = bridge_producer_consumer(len, producer, to);
    Went::Closed(reducer.reduce(so_far, came_to))
}

/// What is left of a piece.
struct Rest<P, C> {
    producer: P,
    consumer: C,
    len: usize,
}

impl<P: Producer, C: Consumer<P::Item>> Rest<P, C> {
    /// Whether it may be run in blocks.
    const BLOCKS: bool = C::ADVANCES && !P::WHOLE;

    /// Whether a closure with a piece and its folder is so large that borrowing it is better than
    /// copying it on its way through the pool.
    const LARGE: bool = size_of::<Self>() + size_of::<Option<C::Folder>>() > 64;

    /// The address by which the pace knows loops of these types.
    fn address() -> usize {
        Self::in_blocks as *const () as usize
    }

    /// Runs all of it with one folder, and looks at tokens in between. `site` tells where the call is made.
    fn whole(self, site: impl FnOnce(usize) -> Site) -> C::Result {
        if Self::BLOCKS && is_under() {
            return self.in_blocks(site(Self::address()));
        }
        if self.is_full() {
            return self.nothing();
        }
        // A loop that no item ends is compiled only for blocks.
        if const { Self::BLOCKS && C::STEADY } {
            return self.all(None).complete();
        }
        self.in_one()
    }

    /// The same, where the time of the items is told. That of folders says nothing of the items.
    fn timed(self, timer: &Timer) -> C::Result {
        let len = self.len;
        if is_under() {
            return timer.time(len, || self.whole(Site::inside));
        }
        let (folder, _) = self.consumer.advance(len, None);
        let producer = self.producer;
        let fed = timer.time(len, || match const { C::STEADY } {
            true => feed(producer, folder),
            false => producer.fold_with(folder),
        });
        fed.complete()
    }

    #[inline(never)]
    fn in_one(self) -> C::Result {
        let folder = self.consumer.into_folder();
        match const { Self::BLOCKS } {
            true => self.producer.fold_with(folder).complete(),
            false => self.producer.fold_with(Looked::new(folder)).complete(),
        }
    }

    #[cold]
    #[inline(never)]
    fn in_blocks(self, site: Site) -> C::Result {
        let _look = look();
        let task = Task::Alone { site };
        let mut job = Job::new(self, &task);
        job.run(false);
        job.result()
    }

    /// Whether no item is wanted any more.
    fn is_full(&self) -> bool {
        self.consumer.full() || self.producer.is_over()
    }

    /// The result if no further item is wanted.
    ///
    /// Here and elsewhere, the rest is dropped before there is a result to return: if a destructor
    /// panicked later, no thread would drop the result.
    fn nothing(self) -> C::Result {
        drop(self.producer);
        self.consumer.into_folder().complete()
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

    #[inline]
    fn lazily(self, task: &Task<'_>, folder: Option<C::Folder>) -> Went<C::Folder, C::Result> {
        let Task::Start { site, kind, min } = *task else {
            return Strand::new(Some(self), folder).work(task, None);
        };
        let mut start = Start::new(site, self.len, kind.worth, !kind.ends);
        let strand = match start.plain() {
            Some(pieces) if kind.plain => match self.chain(pieces, &mut start, min, folder) {
                Ok(went) => return went,
                Err(strand) => strand,
            },
            _ => Strand::new(Some(self), folder),
        };
        strand.work(task, Some(&start))
    }

    /// Runs the next `n` items; the rest is `None` if these were all.
    fn run_block(self, n: usize, folder: Option<C::Folder>) -> (C::Folder, Option<Self>) {
        if n == self.len {
            return (self.all(folder), None);
        }
        let (folder, consumer) = self.consumer.advance(n, folder);
        let (block, producer) = self.producer.split_at(n);
        let rest = Rest {
            producer,
            consumer,
            len: self.len - n,
        };
        (feed(block, folder), Some(rest))
    }

    /// Runs all of it as one block.
    fn all(self, folder: Option<C::Folder>) -> C::Folder {
        let (folder, _) = self.consumer.advance(self.len, folder);
        feed(self.producer, folder)
    }

    /// Runs a loop that is known to be very short. It is laid out like any other, but piece by
    /// piece: all that is left lies behind the piece that runs, and comes back to the same folder.
    /// If the first piece takes far longer than expected, the rest is run as a strand.
    fn chain(
        mut self,
        pieces: usize,
        start: &mut Start,
        min: usize,
        mut folder: Option<C::Folder>,
    ) -> Result<Went<C::Folder, C::Result>, Strand<P, C>> {
        let len = self.len;
        // Most loops have no least length, and a division takes long.
        let most = if min == 1 { len } else { len / min };
        let pieces = pieces.min(most);
        for left in (2..=pieces).rev() {
            // The last but one piece is the first of most loops.
            let n = if left == 2 {
                self.len / 2
            } else {
                self.len / left
            };
            let (near, far, reducer) = self.cut(n);
            let task = Task::TakeOverShort { start, min };
            let mut far = Job::new(far, &task);
            if const { Self::LARGE } {
                let mut near = Some(near);
                let keep = || folder = near.take().map(|near| near.all(folder.take()));
                loops::lend(false, keep, &mut far);
            } else {
                folder = Some(loops::lend(false, || near.all(folder), &mut far));
            }
            if let Some(right) = far.result {
                return Ok(Went::Closed(reducer.reduce(done(folder).complete(), right)));
            }
            self = done(far.rest);
            if folder.as_ref().is_some_and(Folder::full) || self.producer.is_over() {
                drop(self);
                return Ok(Went::Open(done(folder)));
            }
            if left == pieces && start.is_timed() && start.overturns(n) {
                return Err(Strand::new(Some(self), folder));
            }
        }
        let folder = self.all(folder);
        if start.is_timed() && !folder.full() {
            start.record(len);
        }
        Ok(Went::Open(folder))
    }
}

/// The one place of the loop over the items, which may be large.
fn feed<P: Producer, F: Folder<P::Item>>(block: P, folder: F) -> F {
    block.fold_with(Block(folder)).0
}

/// A piece at work: what is left of it, and the folder of what was run, or the result.
struct Strand<P: Producer, C: Consumer<P::Item>> {
    rest: Option<Rest<P, C>>,
    folder: Option<C::Folder>,
    result: Option<C::Result>,
}

impl<P: Producer, C: Consumer<P::Item>> Strand<P, C> {
    fn new(rest: Option<Rest<P, C>>, folder: Option<C::Folder>) -> Self {
        let result = None;
        Strand {
            rest,
            folder,
            result,
        }
    }

    /// Runs it lazily to its end.
    fn work(mut self, task: &Task<'_>, start: Option<&Start>) -> Went<C::Folder, C::Result> {
        let len = self.rest.as_ref().map_or(0, |rest| rest.len);
        task.run(&mut self, len, start);
        self.finish()
    }

    /// The folder or the result, after what is left has been dropped.
    fn finish(self) -> Went<C::Folder, C::Result> {
        drop(self.rest);
        match self.result {
            Some(result) => Went::Closed(result),
            None => Went::Open(done(self.folder)),
        }
    }
}

impl<P: Producer, C: Consumer<P::Item>> Piece for Strand<P, C> {
    fn run(&mut self, n: usize) -> Ran {
        let rest = done(self.rest.take());
        let (folder, left) = rest.run_block(n, self.folder.take());
        let full = folder.full() || left.as_ref().is_some_and(|left| left.producer.is_over());
        self.folder = Some(folder);
        self.rest = left;
        match self.rest {
            _ if full => Ran::Full,
            Some(_) => Ran::More,
            None => Ran::End,
        }
    }

    fn fork(&mut self, mid: usize, way: &mut Way<'_>) -> Forked {
        let (near, far, reducer) = done(self.rest.take()).cut(mid);
        let mut near = Strand::new(Some(near), self.folder.take());
        let mut far = Job::new(far, way.task);
        way.lend(&mut near, &mut far);
        let right = match (far.result, near.result.is_some()) {
            (Some(right), _) => {
                way.taken();
                right
            }
            (None, false) => {
                let folder = done(near.folder.take());
                let full =
                    folder.full() || far.rest.as_ref().is_some_and(|far| far.producer.is_over());
                self.folder = Some(folder);
                if full {
                    return Forked::Full;
                }
                self.rest = far.rest;
                return Forked::Back;
            }
            (None, true) => match done(far.rest) {
                rest if rest.is_full() => rest.nothing(),
                rest => {
                    let mut far = Strand::new(Some(rest), None);
                    way.go_on(&mut far);
                    far.finish().close()
                }
            },
        };
        self.result = Some(reducer.reduce(near.finish().close(), right));
        Forked::Closed
    }
}

/// A piece that a thread is to do lazily, and its result.
struct Job<'a, P: Producer, C: Consumer<P::Item>> {
    rest: Option<Rest<P, C>>,
    task: &'a Task<'a>,
    result: Option<C::Result>,
}

impl<'a, P: Producer, C: Consumer<P::Item>> Job<'a, P, C> {
    fn new(rest: Rest<P, C>, task: &'a Task<'a>) -> Self {
        Job {
            rest: Some(rest),
            task,
            result: None,
        }
    }

    fn result(self) -> C::Result {
        done(self.result)
    }
}

/// A loop that goes on with a folder, and what that becomes. It stays on its thread, as the folder does.
struct Behind<'a, P: Producer, C: Consumer<P::Item>> {
    rest: Option<Rest<P, C>>,
    folder: Option<C::Folder>,
    task: &'a Task<'a>,
    went: Option<Went<C::Folder, C::Result>>,
}

impl<P: Producer, C: Consumer<P::Item>> Part for Behind<'_, P, C> {
    fn run(&mut self, _: bool) {
        let mut rest = done(self.rest.take());
        rest.consumer.expect(rest.len);
        self.went = Some(rest.lazily(self.task, self.folder.take()));
    }
}

impl<P: Producer, C: Consumer<P::Item>> Part for Job<'_, P, C> {
    fn run(&mut self, _: bool) {
        let rest = done(self.rest.take());
        self.result = Some(match Rest::<P, C>::BLOCKS {
            _ if rest.is_full() => rest.nothing(),
            true => rest.lazily(self.task, None).close(),
            false => rest.in_one(),
        });
    }
}

/// A piece that is cut in advance into `Pieces`, which a timer may watch; and its result.
///
/// This is a type of its own with separate functions, since items may call loops: then the deep
/// stack holds, for each call, only the frames of the way that the call went.
struct Cut<'a, P: Producer, C: Consumer<P::Item>> {
    rest: Option<Rest<P, C>>,
    pieces: Pieces,
    timer: Option<&'a Timer>,
    result: Option<C::Result>,
}

impl<'a, P: Producer, C: Consumer<P::Item>> Cut<'a, P, C> {
    fn new(rest: Rest<P, C>, pieces: Pieces, timer: Option<&'a Timer>) -> Self {
        Cut {
            rest: Some(rest),
            pieces,
            timer,
            result: None,
        }
    }

    #[inline(never)]
    fn halves(&mut self) {
        let rest = done(self.rest.take());
        let mid = rest.len / 2;
        let (near, far, reducer) = rest.cut(mid);
        let mut near = Cut::new(near, self.pieces, self.timer);
        let mut far = Cut::new(far, self.pieces, self.timer);
        loops::halves(&mut near, &mut far);
        self.result = Some(reducer.reduce(done(near.result), done(far.result)));
    }

    #[inline(never)]
    fn one(&mut self) {
        let rest = done(self.rest.take());
        self.result = Some(match self.timer {
            // Otherwise it would be recorded that the items take no time.
            _ if rest.is_full() => rest.nothing(),
            Some(timer) => rest.timed(timer),
            None => rest.whole(Site::inside),
        });
    }
}

impl<P: Producer, C: Consumer<P::Item>> Part for Cut<'_, P, C> {
    fn run(&mut self, migrated: bool) {
        let (len, is_full) = self
            .rest
            .as_ref()
            .map_or((0, true), |rest| (rest.len, rest.is_full()));
        if !is_full {
            check();
        }
        match !is_full && self.pieces.cut(len, migrated) {
            true => self.halves(),
            false => self.one(),
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
pub(super) struct Pieces {
    pub(super) cuts: usize,
    pub(super) min: usize,
    pub(super) max: usize,
}

impl Pieces {
    /// Whether a piece of `len` items is to be cut once more. A piece that has
    /// just migrated shows that a thread was idle: it is worth new cuts.
    #[inline]
    pub(super) fn cut(&mut self, len: usize, migrated: bool) -> bool {
        if migrated {
            self.cuts = self.cuts.max(current_num_threads());
        }
        let cut = len > self.max || self.cuts > 0;
        self.cuts /= 2;
        cut && len / 2 >= self.min
    }
}
