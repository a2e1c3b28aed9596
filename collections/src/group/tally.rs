//! Folding values by key: the machine under `count_by`, `fold_by` and `distinct`.
//!
//! A worker folds into a table of its own for as long as that pays. When the
//! table has outgrown the cache, two cases differ by how many items went into
//! each entry. Several: the entries are flushed, scattered by hash, and the
//! table begins again; heavy keys keep being folded on the spot. Hardly more
//! than one: the table was a detour, and items are scattered as they come, for
//! a while; then the table is tried again, and each failure makes that while
//! longer. In front of either stands a small table for the keys that keep coming
//! (`hot.rs`), as long as enough of them do.
//!
//! In the end each part has, in the order of the input, lists of items and of
//! flushed entries; one job for each part folds them into its table.
//!
//! ```text
//! piece 1   [table] flush  [items ……… ] [table] flush      each scattered
//! piece 2   [items ………………… ]                              into parts
//! part k    ──┴──────────────┴──────────────┴──→  table k, in order
//! ```
#![forbid(unsafe_code)]

use super::hot::{Hot, Met};
use crate::collect::Foresight;
use crate::map::shard::{breadth, part_of};
use crate::partition::{List, Scatter, par_map};
use crate::tag::{Tag, Tagged};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use std::hash::{BuildHasher, Hash};
use std::iter::once;
use std::marker::PhantomData;
use std::mem;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use tine_iter::iter::ParallelIterator;
use tine_iter::iter::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use tine_pool::{current_num_threads, current_thread_index};

/// What is folded, and how.
pub(super) trait Fold: Sync {
    type Item: Send;
    type Key: Hash + Eq + Send;
    /// What an item is reduced to before it is folded.
    type Raw: Send;
    type Sum: Send;
    /// Does the order of items not matter? Then a worker goes on with the table
    /// of its last piece, whichever that was.
    const COMMUTES: bool = false;

    /// Takes an item apart; it is the `nth` of its piece.
    fn read(&self, item: Self::Item, nth: usize) -> (Self::Key, Self::Raw);
    fn start(&self, raw: Self::Raw) -> Self::Sum;
    fn add(&self, sum: &mut Self::Sum, raw: Self::Raw);
    fn merge(&self, sum: &mut Self::Sum, later: Self::Sum);
    /// The piece turns out to begin at `base` of the whole.
    fn shift(&self, _sum: &mut Self::Sum, _base: usize) {}
}

/// A table of sums.
type Sums<F> = HashTable<(<F as Fold>::Key, <F as Fold>::Sum)>;

/// Items on their way to their parts.
type Loose<G, F> = Scatter<Tagged<G, <F as Fold>::Key, <F as Fold>::Raw>>;

/// So large a worker's table may grow: its own cache, and a share of the one
/// that cores have in common.
const TABLE_BYTES: usize = 4 << 20;
/// Not more entries than this are merged table by table; more go by parts.
const LITTLE: usize = 1 << 16;
/// So many keys of one table are looked for in another.
const SAMPLE: usize = 64;
/// A table is worth it from so many items for each entry on.
const WORTH: usize = 4;
/// After so many tables' worth of scattered items the table is tried again.
const PATIENCE: usize = 16;
/// A hot table stands in front of a table from so many items on, if that has
/// not more entries than this.
const SETTLED: usize = 1 << 14;
const HANDFUL: usize = 256;

/// Folds all items by key: one small table, or one for each of
/// [`breadth()`] parts.
pub(super) fn tally<G, I, F, S>(items: I, fold: &F, hasher: &S) -> Vec<Sums<F>>
where
    G: Tag,
    I: ParallelIterator<Item = F::Item>,
    F: Fold,
    S: BuildHasher + Sync,
{
    let entry = mem::size_of::<(F::Key, F::Sum)>() + 1;
    let buckets = (TABLE_BYTES / entry).max(1024);
    let limit = (1 << buckets.ilog2().min(17)) / 8 * 7 - 1;
    let plan = Plan {
        fold,
        hasher,
        limit,
        scattered: AtomicBool::new(false),
    };
    let idle = Idle {
        seats: OnceLock::new(),
        others: Mutex::new(Vec::new()),
    };
    let consumer = TallyConsumer {
        plan: &plan,
        idle: &idle,
        tag: PhantomData::<G>,
    };
    let mut whole = items.drive_unindexed(consumer);
    let states = idle.take_all();
    let two = states.len() == 2;
    for mut done in par_map(states, &|state| state.finish()) {
        plan.join(&mut whole, &mut done, two);
        whole.runs.append(&mut done.runs);
    }
    plan.finish(whole)
}

/// What all workers share.
struct Plan<'a, F, S> {
    fold: &'a F,
    hasher: &'a S,
    limit: usize,
    /// Did some table turn out a detour last time? A hint for new pieces.
    scattered: AtomicBool,
}

/// Part of a piece, folded or not.
enum Run<G, F: Fold> {
    Table(Sums<F>),
    Entries(Scatter<Tagged<G, F::Key, F::Sum>>),
    Items(Loose<G, F>),
}

/// Some pieces in a row: their runs, each with where its piece begins.
struct Done<G, F: Fold> {
    runs: Vec<(usize, Run<G, F>)>,
    count: usize,
}

/// One part of a run.
enum Share<G, F: Fold> {
    Entries(List<Tagged<G, F::Key, F::Sum>>),
    Items(List<Tagged<G, F::Key, F::Raw>>),
}

impl<G, F: Fold> Share<G, F> {
    fn len(&self) -> usize {
        match self {
            Share::Entries(list) => list.len(),
            Share::Items(list) => list.len(),
        }
    }
}

impl<F: Fold, S: BuildHasher + Sync> Plan<'_, F, S> {
    fn rehash(&self) -> impl Fn(&(F::Key, F::Sum)) -> u64 + '_ {
        |(key, _)| self.hasher.hash_one(key)
    }

    /// Folds a later sum into a table.
    #[inline]
    fn merge(&self, table: &mut Sums<F>, hash: u64, key: F::Key, sum: F::Sum) {
        match table.entry(hash, |(k, _)| *k == key, self.rehash()) {
            Slot::Occupied(slot) => self.fold.merge(&mut slot.into_mut().1, sum),
            Slot::Vacant(slot) => drop(slot.insert((key, sum))),
        }
    }

    /// Scatters a table's entries; the table keeps its memory.
    fn flush<G: Tag>(&self, table: &mut Sums<F>) -> Scatter<Tagged<G, F::Key, F::Sum>> {
        self.scatter(table.drain())
    }

    fn scatter<G: Tag>(
        &self,
        entries: impl Iterator<Item = (F::Key, F::Sum)>,
    ) -> Scatter<Tagged<G, F::Key, F::Sum>> {
        let parts = breadth();
        let mut scatter = Scatter::new(parts);
        for entry in entries {
            let hash = self.hasher.hash_one(&entry.0);
            scatter.push(part_of(hash, parts), (G::keep(hash), entry));
        }
        scatter
    }

    /// Are most keys of one table in the other too, as far as a few can tell?
    fn are_alike(&self, table: &Sums<F>, more: &Sums<F>) -> bool {
        let is_known = |(key, _): &&(F::Key, F::Sum)| {
            let hash = self.hasher.hash_one(key);
            table.find(hash, |(k, _)| k == key).is_some()
        };
        let known = more.iter().take(SAMPLE).filter(is_known).count();
        known > SAMPLE / 2
    }

    /// Folds a table into the one before it, if both are small, or are the only
    /// `two` and alike.
    fn join<G>(&self, into: &mut Done<G, F>, later: &mut Done<G, F>, two: bool) {
        let (Some((left, Run::Table(table))), Some((right, Run::Table(more)))) =
            (into.runs.last_mut(), later.runs.first_mut())
        else {
            return;
        };
        // Two tables of the same keys make one that is no larger than they were.
        if table.len() + more.len() <= LITTLE || (two && self.are_alike(table, more)) {
            for (key, mut sum) in mem::take(more) {
                self.fold.shift(&mut sum, *right + into.count - *left);
                let hash = self.hasher.hash_one(&key);
                self.merge(table, hash, key, sum);
            }
            later.runs.remove(0);
        }
    }

    /// Folds all pieces into the tables of the whole.
    fn finish<G: Tag>(&self, mut done: Done<G, F>) -> Vec<Sums<F>> {
        if let [(base, Run::Table(table))] = &mut done.runs[..] {
            table
                .iter_mut()
                .for_each(|(_, sum)| self.fold.shift(sum, *base));
            return vec![mem::take(table)];
        }
        if done.runs.is_empty() {
            return vec![HashTable::new()];
        }
        let runs = par_map(done.runs, &|(base, run)| match run {
            Run::Table(mut table) => (base, Run::Entries(self.flush(&mut table))),
            run => (base, run),
        });
        let mut parts: Vec<Vec<(usize, Share<G, F>)>> = Vec::new();
        parts.resize_with(breadth(), Vec::new);
        for (base, run) in runs {
            match run {
                Run::Entries(scatter) => hand_out(&mut parts, base, scatter, Share::Entries),
                Run::Items(scatter) => hand_out(&mut parts, base, scatter, Share::Items),
                Run::Table(_) => unreachable!("tables were flushed"),
            }
        }
        par_map(parts, &|part| self.fold_part(part))
    }

    fn fold_part<G: Tag>(&self, part: Vec<(usize, Share<G, F>)>) -> Sums<F> {
        let (mut rows, mut least) = (0, 0);
        for (_, share) in &part {
            rows += share.len();
            // The entries of one table all have keys of their own.
            least = least.max(if let Share::Entries(list) = share {
                list.len()
            } else {
                0
            });
        }
        let mut foresight = Foresight::new(rows);
        let mut table = HashTable::with_capacity(least);
        for (base, share) in part {
            match share {
                Share::Entries(list) => list.for_each(|(tag, (key, mut sum))| {
                    let hash = tag.hash(|| self.hasher.hash_one(&key));
                    self.fold.shift(&mut sum, base);
                    self.merge(&mut table, hash, key, sum);
                    foresight.step(&mut table, self.rehash());
                }),
                Share::Items(list) => list.for_each(|(tag, (key, raw))| {
                    let hash = tag.hash(|| self.hasher.hash_one(&key));
                    match table.entry(hash, |(k, _)| *k == key, self.rehash()) {
                        Slot::Occupied(slot) => self.fold.add(&mut slot.into_mut().1, raw),
                        Slot::Vacant(slot) => {
                            let mut sum = self.fold.start(raw);
                            self.fold.shift(&mut sum, base);
                            slot.insert((key, sum));
                        }
                    }
                    foresight.step(&mut table, self.rehash());
                }),
            }
        }
        table
    }
}

/// A worker's table, and how many entries it may have.
struct Growing<'a, F: Fold> {
    sums: &'a mut Sums<F>,
    limit: usize,
}

impl<F: Fold> Growing<'_, F> {
    /// Folds one item; `true` if that made the table too large.
    #[inline]
    fn add<S: BuildHasher>(
        &mut self,
        fold: &F,
        hasher: &S,
        hash: u64,
        key: F::Key,
        raw: F::Raw,
    ) -> bool {
        match self.sums.find_mut(hash, |(k, _)| *k == key) {
            Some((_, sum)) => {
                fold.add(sum, raw);
                false
            }
            None => self.insert(hash, (key, fold.start(raw)), hasher),
        }
    }

    /// Apart, so that the loop around `add` is short.
    #[cold]
    #[inline(never)]
    fn insert<S: BuildHasher>(&mut self, hash: u64, entry: (F::Key, F::Sum), hasher: &S) -> bool {
        self.sums
            .insert_unique(hash, entry, |(key, _)| hasher.hash_one(key));
        self.sums.len() > self.limit
    }
}

/// Folds items into a table. Stops at `settled` items, or if it gets too large.
#[inline(never)] // what is an argument is known to be nobody else's
fn fold_all<F: Fold, S: BuildHasher>(
    fold: &F,
    hasher: &S,
    table: &mut Growing<'_, F>,
    settled: usize,
    count: &mut usize,
    items: &mut impl Iterator<Item = F::Item>,
) -> ControlFlow<Turn> {
    let mut nth = *count;
    let stopped = items.try_for_each(|item| {
        let (key, raw) = fold.read(item, nth);
        nth += 1;
        let hash = hasher.hash_one(&key);
        if table.add(fold, hasher, hash, key, raw) {
            return ControlFlow::Break(Turn::Overflow);
        }
        if nth == settled {
            return ControlFlow::Break(Turn::Settle);
        }
        ControlFlow::Continue(())
    });
    *count = nth;
    stopped
}

/// Folds items into a table behind a hot one. Stops if either should not go on.
#[inline(never)] // as above
fn fold_hot<F: Fold, S: BuildHasher>(
    fold: &F,
    hasher: &S,
    hot: &mut Hot<F::Key, F::Sum>,
    table: &mut Growing<'_, F>,
    count: &mut usize,
    items: &mut impl Iterator<Item = F::Item>,
) -> ControlFlow<Turn> {
    let mut nth = *count;
    let stopped = items.try_for_each(|item| {
        let (key, raw) = fold.read(item, nth);
        nth += 1;
        let hash = hasher.hash_one(&key);
        let pair = (key, raw);
        match hot.put(hash, pair, |r| fold.start(r), |sum, r| fold.add(sum, r)) {
            Met::Taken => ControlFlow::Continue(()),
            Met::Missed(key, raw) => {
                if table.add(fold, hasher, hash, key, raw) {
                    return ControlFlow::Break(Turn::Overflow);
                }
                if hot.is_due() {
                    return ControlFlow::Break(Turn::Judge);
                }
                ControlFlow::Continue(())
            }
        }
    });
    *count = nth;
    stopped
}

/// Appends a run's lists to the parts.
fn hand_out<G, F: Fold, T>(
    parts: &mut [Vec<(usize, Share<G, F>)>],
    base: usize,
    scatter: Scatter<T>,
    share: impl Fn(List<T>) -> Share<G, F>,
) {
    for (part, list) in parts.iter_mut().zip(scatter.into_lists()) {
        if list.len() != 0 {
            part.push((base, share(list)));
        }
    }
}

/// What workers fold into, between two blocks, if order does not matter.
///
/// A thread that waits for a piece in other hands takes up another piece
/// meanwhile. It finds its table here, and does not begin one more.
struct Idle<'a, F: Fold, S, G> {
    /// One for each thread, once there is a large table.
    seats: OnceLock<Box<[Seat<'a, F, S, G>]>>,
    /// Those of ended pieces, and what found its seat taken.
    #[allow(clippy::vec_box)] // they travel by value
    others: Mutex<Vec<Box<State<'a, F, S, G>>>>,
}

/// On a cache line of its own.
#[repr(align(64))]
struct Seat<'a, F: Fold, S, G>(Mutex<Option<Box<State<'a, F, S, G>>>>);

impl<'a, F: Fold, S: BuildHasher + Sync, G: Tag> Idle<'a, F, S, G> {
    /// The seat of this thread.
    fn seat<'s>(seats: &'s [Seat<'a, F, S, G>]) -> &'s Seat<'a, F, S, G> {
        &seats[current_thread_index().unwrap_or(0) % seats.len()]
    }

    #[inline]
    fn take(&self, plan: &'a Plan<'a, F, S>) -> Box<State<'a, F, S, G>> {
        let seats = self.seats.get();
        seats
            .and_then(|seats| lock(&Self::seat(seats).0).take())
            .or_else(|| lock(&self.others).pop())
            .unwrap_or_else(|| Box::new(State::new(plan)))
    }

    /// Puts one away between two blocks.
    #[inline]
    fn put(&self, state: Box<State<'a, F, S, G>>) {
        let seats = self.seats.get_or_init(|| {
            let seat = |_| Seat(Mutex::new(None));
            (0..current_num_threads()).map(seat).collect()
        });
        let before = lock(&Self::seat(seats).0).replace(state);
        before.into_iter().for_each(|before| self.put_aside(before));
    }

    /// Puts one away at the end of its piece.
    fn put_aside(&self, state: Box<State<'a, F, S, G>>) {
        lock(&self.others).push(state);
    }

    #[allow(clippy::vec_box)] // as above
    fn take_all(&self) -> Vec<Box<State<'a, F, S, G>>> {
        let seated = self
            .seats
            .get()
            .into_iter()
            .flatten()
            .filter_map(|seat| lock(&seat.0).take());
        seated.chain(mem::take(&mut *lock(&self.others))).collect()
    }
}

struct TallyConsumer<'a, F: Fold, S, G> {
    plan: &'a Plan<'a, F, S>,
    idle: &'a Idle<'a, F, S, G>,
    tag: PhantomData<G>,
}

struct TallyFolder<'a, F: Fold, S, G> {
    plan: &'a Plan<'a, F, S>,
    /// On the heap, since folders travel by value. A large one is with the idle
    /// ones between blocks, if order does not matter.
    state: Option<Box<State<'a, F, S, G>>>,
    idle: &'a Idle<'a, F, S, G>,
}

impl<'a, F: Fold, S: BuildHasher + Sync, G: Tag> TallyFolder<'a, F, S, G> {
    /// Folds items that come one by one: what they are folded into is not put away.
    #[inline]
    fn put_one(&mut self, item: F::Item) {
        let mut state = self.take();
        state.put_all(once(item));
        self.state = Some(state);
    }

    #[inline]
    fn put_all(&mut self, items: impl IntoIterator<Item = F::Item>) {
        let mut state = self.take();
        state.put_all(items);
        // One that is still small is soon filled again: that is the cheaper way.
        if F::COMMUTES && state.done.count >= SETTLED {
            self.idle.put(state);
        } else {
            self.state = Some(state);
        }
    }

    #[inline]
    fn take(&mut self) -> Box<State<'a, F, S, G>> {
        match self.state.take() {
            Some(state) => state,
            None if F::COMMUTES => self.idle.take(self.plan),
            None => Box::new(State::new(self.plan)),
        }
    }
}

/// What has to be decided between two items.
enum Turn {
    /// Is the table small after many items?
    Settle,
    /// Does the hot table pay?
    Judge,
    /// The table has outgrown the cache.
    Overflow,
    /// Enough items were scattered.
    Seal,
}

/// A worker in the middle of a piece.
struct State<'a, F: Fold, S, G> {
    plan: &'a Plan<'a, F, S>,
    table: Sums<F>,
    /// How many items there had been when the table was last empty.
    since: usize,
    items: Option<Loose<G, F>>,
    /// What stands in front of either.
    hot: Option<Hot<F::Key, F::Sum>>,
    /// Did one not pay in front of this table?
    cold: bool,
    /// Items to scatter before the table is tried.
    ahead: usize,
    /// Items to scatter after the next failure.
    patience: usize,
    done: Done<G, F>,
}

impl<'a, F: Fold, S: BuildHasher + Sync, G: Tag> State<'a, F, S, G> {
    fn new(plan: &'a Plan<'a, F, S>) -> Self {
        let patience = PATIENCE * plan.limit;
        // A hint: nothing is ordered by it.
        let scattered = plan.scattered.load(Ordering::Relaxed);
        State {
            plan,
            table: HashTable::new(),
            since: 0,
            items: scattered.then(|| Scatter::new(breadth())),
            hot: if scattered { Hot::new(0) } else { None },
            cold: false,
            ahead: if scattered { patience } else { 0 },
            patience,
            done: Done {
                runs: Vec::new(),
                count: 0,
            },
        }
    }

    /// Folds or scatters items, going from one to the other and back.
    #[inline]
    fn put_all(&mut self, items: impl IntoIterator<Item = F::Item>) {
        let mut items = items.into_iter();
        loop {
            let stopped = if self.items.is_some() {
                self.scatter(&mut items)
            } else {
                self.fold(&mut items)
            };
            match stopped {
                ControlFlow::Continue(()) => return,
                ControlFlow::Break(Turn::Settle) => self.settle(),
                ControlFlow::Break(Turn::Judge) => self.judge(),
                ControlFlow::Break(Turn::Overflow) => self.overflow(),
                ControlFlow::Break(Turn::Seal) => self.seal_items(),
            }
        }
    }

    /// Folds items into the table until something has to be decided.
    #[inline]
    fn fold(&mut self, items: &mut impl Iterator<Item = F::Item>) -> ControlFlow<Turn> {
        let Plan { fold, hasher, .. } = *self.plan;
        let mut table = Growing {
            sums: &mut self.table,
            limit: self.plan.limit,
        };
        let mut count = self.done.count;
        let stopped = match &mut self.hot {
            Some(hot) => fold_hot(fold, hasher, hot, &mut table, &mut count, items),
            None => {
                let settled = match self.cold {
                    true => usize::MAX,
                    false => (self.since + SETTLED).max(count + 1),
                };
                fold_all(fold, hasher, &mut table, settled, &mut count, items)
            }
        };
        self.done.count = count;
        stopped
    }

    /// Scatters items until something has to be decided.
    #[inline]
    fn scatter(&mut self, items: &mut impl Iterator<Item = F::Item>) -> ControlFlow<Turn> {
        let Some(loose) = &mut self.items else {
            return ControlFlow::Continue(());
        };
        let plan = self.plan;
        let parts = breadth();
        let mut hot = self.hot.as_mut();
        let mut count = self.done.count;
        let mut ahead = self.ahead;
        let stopped = items.try_for_each(|item| {
            let (mut key, mut raw) = plan.fold.read(item, count);
            count += 1;
            let hash = plan.hasher.hash_one(&key);
            let mut due = false;
            if let Some(hot) = &mut hot {
                let fold = plan.fold;
                match hot.put(
                    hash,
                    (key, raw),
                    |r| fold.start(r),
                    |sum, r| fold.add(sum, r),
                ) {
                    Met::Taken => return ControlFlow::Continue(()),
                    Met::Missed(k, r) => (key, raw) = (k, r),
                }
                due = hot.is_due();
            }
            loose.push(part_of(hash, parts), (G::keep(hash), (key, raw)));
            ahead -= 1;
            if ahead == 0 {
                return ControlFlow::Break(Turn::Seal);
            }
            if due {
                return ControlFlow::Break(Turn::Judge);
            }
            ControlFlow::Continue(())
        });
        self.done.count = count;
        self.ahead = ahead;
        stopped
    }

    /// Puts a hot table in front of a table that has few entries after many items.
    #[cold]
    fn settle(&mut self) {
        if self.table.len() <= HANDFUL {
            self.hot = Hot::new(self.done.count);
        }
        self.cold = self.hot.is_none();
    }

    /// Takes the hot table away if too many items miss it.
    #[cold]
    fn judge(&mut self) {
        let Some(hot) = &mut self.hot else { return };
        let (items, missed) = hot.trial(self.done.count);
        // Scattering costs several times what looking in vain does; a table, as much.
        if self.items.is_some() {
            if missed > items / 4 * 3 {
                self.begin_items(None);
            }
        } else if missed > items / 8 {
            self.cool();
            self.cold = true;
        }
    }

    /// Folds the hot table's entries into the table: they are later ones.
    fn cool(&mut self) {
        for (key, sum) in self.hot.take().into_iter().flat_map(Hot::into_entries) {
            let hash = self.plan.hasher.hash_one(&key);
            self.plan.merge(&mut self.table, hash, key, sum);
        }
    }

    /// Begins another run of items.
    fn begin_items(&mut self, hot: Option<Hot<F::Key, F::Sum>>) {
        self.end_items();
        self.items = Some(Scatter::new(breadth()));
        self.hot = hot;
    }

    /// Ends the run of items, and with it the hot table's.
    fn end_items(&mut self) {
        let runs = &mut self.done.runs;
        runs.extend(self.items.take().map(|items| (0, Run::Items(items))));
        if let Some(hot) = self.hot.take() {
            let entries = self.plan.scatter(hot.into_entries());
            runs.push((0, Run::Entries(entries)));
        }
    }

    fn seal_items(&mut self) {
        self.since = self.done.count;
        self.end_items();
    }

    /// The table has outgrown the cache: was it worth it?
    #[cold]
    fn overflow(&mut self) {
        let worth = self.done.count - self.since >= WORTH * self.table.len();
        let entries = self.plan.flush(&mut self.table);
        self.done.runs.push((0, Run::Entries(entries)));
        self.end_items();
        self.cold = false;
        self.plan.scattered.store(!worth, Ordering::Relaxed);
        if worth {
            self.since = self.done.count;
            self.patience = PATIENCE * self.plan.limit;
        } else {
            self.table = HashTable::new();
            self.begin_items(Hot::new(self.done.count));
            self.ahead = self.patience;
            self.patience = self.patience.saturating_mul(4);
        }
    }

    fn finish(mut self) -> Done<G, F> {
        if self.items.is_some() {
            self.end_items();
        } else {
            self.cool();
        }
        if !self.table.is_empty() {
            self.done.runs.push((0, Run::Table(self.table)));
        }
        self.done
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}

struct InOrder<'a, F, S>(&'a Plan<'a, F, S>);

impl<F: Fold, S: BuildHasher + Sync, G: Tag> Reducer<Done<G, F>> for InOrder<'_, F, S> {
    fn reduce(self, mut left: Done<G, F>, mut right: Done<G, F>) -> Done<G, F> {
        self.0.join(&mut left, &mut right, false);
        left.runs.extend(
            right
                .runs
                .into_iter()
                .map(|(base, run)| (base + left.count, run)),
        );
        left.count += right.count;
        left
    }
}

impl<'a, F: Fold, S: BuildHasher + Sync, G: Tag> Consumer<F::Item> for TallyConsumer<'a, F, S, G> {
    type Folder = TallyFolder<'a, F, S, G>;
    type Reducer = InOrder<'a, F, S>;
    type Result = Done<G, F>;

    fn split_at(self, _: usize) -> (Self, Self, InOrder<'a, F, S>) {
        let left = self.split_off_left();
        let reducer = InOrder(self.plan);
        (left, self, reducer)
    }

    // One table from block to block, and another only for what really leaves.
    const ADVANCES: bool = true;
    // Another table is filled from nothing, and merged.
    const WORTH: u64 = 100_000;

    fn advance(
        self,
        _: usize,
        folder: Option<TallyFolder<'a, F, S, G>>,
    ) -> (TallyFolder<'a, F, S, G>, Self) {
        let folder = folder.unwrap_or_else(|| self.split_off_left().into_folder());
        (folder, self)
    }

    fn into_folder(self) -> TallyFolder<'a, F, S, G> {
        TallyFolder {
            plan: self.plan,
            state: None,
            idle: self.idle,
        }
    }

    fn full(&self) -> bool {
        false
    }
}

impl<'a, F: Fold, S: BuildHasher + Sync, G: Tag> UnindexedConsumer<F::Item>
    for TallyConsumer<'a, F, S, G>
{
    fn split_off_left(&self) -> Self {
        TallyConsumer {
            plan: self.plan,
            idle: self.idle,
            tag: PhantomData,
        }
    }

    fn to_reducer(&self) -> InOrder<'a, F, S> {
        InOrder(self.plan)
    }
}

impl<F: Fold, S: BuildHasher + Sync, G: Tag> Folder<F::Item> for TallyFolder<'_, F, S, G> {
    type Result = Done<G, F>;

    fn consume(mut self, item: F::Item) -> Self {
        self.put_one(item);
        self
    }

    fn consume_iter<I: IntoIterator<Item = F::Item>>(mut self, items: I) -> Self {
        self.put_all(items);
        self
    }

    fn complete(self) -> Done<G, F> {
        match self.state {
            Some(state) if !F::COMMUTES => return state.finish(),
            Some(state) => self.idle.put_aside(state),
            None => {}
        }
        Done {
            runs: Vec::new(),
            count: 0,
        }
    }

    fn full(&self) -> bool {
        false
    }
}
