//! A worker in the middle of a piece: what it folds into, and when it changes to scattering.
#![forbid(unsafe_code)]

use super::super::fold::{Fold, Loose, Sums};
use super::super::hot::{Hot, Met};
use super::condensing::Held;
use super::merging::{Done, DoneOf, Plan, Run, TABLE_BYTES};
use super::spent::Spent;
use crate::foresight::{headroom, new_keys};
use crate::gather::fits;
use crate::map::table::grow;
use crate::partition::Scatter;
use crate::parts::part_of;
use crate::tag::Tag;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::mem;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// A table pays if at least this many items went into each entry.
const WORTH: usize = 4;
/// After scattering the items of this many full tables, the table is tried again.
const PATIENCE: usize = 16;
/// After this many items, a small table gets a hot table in front of it.
pub(super) const SETTLED: usize = 1 << 14;
/// A table of keys that own memory is looked at when it has this many keys: scattered keys are freed later, but
/// side by side.
const LOOK: usize = 1 << 14;
/// The table is then given up unless one item in this many had a known key.
const KNOWN: usize = 13;
/// After this many items a worker that is not alone checks whether its own table pays, and again each time the
/// number of items has doubled.
const PROBE: usize = 1 << 10;
/// A table pays if at most one item in this many will have a new key. A new key takes as long as
/// several other items, and is inserted once more when the tables are merged.
const SELDOM: usize = 3;
/// The answer is guessed from at least this part of the worker's items: among fewer items, too few have equal
/// keys.
const GUESSED: usize = 16;
/// A table with no more entries than this is small.
const HANDFUL: usize = 256;

/// The fold, the hasher, and an upper bound of the number of items that all workers together get.
type With<'a, F, S> = (&'a F, &'a S, usize);

/// Folds one item into a table, after `seen` others; returns `true` if its key is new there. A call would copy
/// the key several times.
#[inline(always)]
fn add<F: Fold, S: BuildHasher>(
    with: With<'_, F, S>,
    sums: &mut Sums<F>,
    spent: &mut Spent<'_, F::Key>,
    hash: u64,
    (key, raw): (F::Key, F::Raw),
    seen: usize,
) -> bool {
    let (fold, _, _) = with;
    match sums.find_mut(hash, |(k, _)| *k == key) {
        Some((_, sum)) => {
            fold.add(sum, raw);
            spent.push(key);
            false
        }
        None => {
            insert::<F, S>(with, sums, hash, (key, fold.start(raw)), seen);
            true
        }
    }
}

/// A full table of N keys gets room for at most this number of times N more keys: room that is made is kept.
const MOST: usize = 3;

/// A separate function, so that the loop around `add` is short. A full table gets room for the keys that the
/// items `seen` foretell, but for no more than the items that are still to come.
#[cold]
#[inline(never)]
fn insert<F: Fold, S: BuildHasher>(
    (_, hasher, expected): With<'_, F, S>,
    sums: &mut Sums<F>,
    hash: u64,
    entry: (F::Key, F::Sum),
    seen: usize,
) {
    let rehash = |(key, _): &(F::Key, F::Sum)| hasher.hash_one(key);
    if sums.len() == sums.capacity() {
        // Larger tables are given up, or they double.
        let most = TABLE_BYTES / mem::size_of::<(F::Key, F::Sum)>().max(1);
        let most = most.saturating_sub(sums.len()).min(MOST * sums.len());
        let rest = expected.saturating_sub(seen);
        let more = headroom(sums.len(), seen).min(rest).min(most);
        // No entry was ever removed from it alone, so growing loses nothing if a hasher panics.
        grow(sums, more.max(1), rehash).expect("capacity overflow, or no memory for the entries");
    }
    sums.insert_unique(hash, entry, rehash);
}

/// The surroundings of a worker's table.
struct Around<'t, 'a, K> {
    /// The greatest number of entries that the table may have.
    limit: usize,
    /// The number of items that have come, and the number at which to stop.
    count: usize,
    settled: usize,
    spent: &'t mut Spent<'a, K>,
}

/// Folds all items into a table, without a stop: the place in a block stays in a register. (A closure would
/// hold its place, and other values that it needs, in memory, wherever it is not inlined.)
#[inline(never)] // the compiler knows that nothing else uses an argument
fn fold_block<F: Fold, S: BuildHasher>(
    with: With<'_, F, S>,
    sums: &mut Sums<F>,
    spent: &mut Spent<'_, F::Key>,
    count: usize,
    items: impl Iterator<Item = F::Item>,
) -> usize {
    let mut nth = count;
    for item in items {
        let (key, raw) = with.0.read(item, nth);
        nth += 1;
        let hash = with.1.hash_one(&key);
        add(with, sums, spent, hash, (key, raw), nth - 1);
    }
    nth
}

/// Folds items into a table. Stops at `settled` items, or if it gets too large.
#[inline(never)] // as above
fn fold_all<F: Fold, S: BuildHasher>(
    with: With<'_, F, S>,
    sums: &mut Sums<F>,
    around: &mut Around<'_, '_, F::Key>,
    items: &mut impl Iterator<Item = F::Item>,
) -> ControlFlow<Stop> {
    let mut nth = around.count;
    let stopped = items.try_for_each(|item| {
        let (key, raw) = with.0.read(item, nth);
        nth += 1;
        let hash = with.1.hash_one(&key);
        if add(with, sums, around.spent, hash, (key, raw), nth - 1) && sums.len() > around.limit {
            return ControlFlow::Break(Stop::Overflow);
        }
        if nth == around.settled {
            return ControlFlow::Break(Stop::Settle);
        }
        ControlFlow::Continue(())
    });
    around.count = nth;
    stopped
}

/// Folds items into a table with a hot table in front. Stops if one of the two should not go on.
#[inline(never)] // as above
fn fold_hot<F: Fold, S: BuildHasher>(
    with: With<'_, F, S>,
    hot: &mut Hot<F::Key, F::Sum>,
    sums: &mut Sums<F>,
    around: &mut Around<'_, '_, F::Key>,
    items: &mut impl Iterator<Item = F::Item>,
) -> ControlFlow<Stop> {
    let (fold, hasher, _) = with;
    let mut nth = around.count;
    let stopped = items.try_for_each(|item| {
        let (key, raw) = fold.read(item, nth);
        nth += 1;
        let hash = hasher.hash_one(&key);
        let pair = (key, raw);
        match hot.put(hash, pair, |r| fold.start(r), |sum, r| fold.add(sum, r)) {
            Met::Taken => ControlFlow::Continue(()),
            Met::Again(key) => {
                around.spent.push(key);
                ControlFlow::Continue(())
            }
            Met::Missed(key, raw) => {
                if add(with, sums, around.spent, hash, (key, raw), nth - 1)
                    && sums.len() > around.limit
                {
                    return ControlFlow::Break(Stop::Overflow);
                }
                if hot.is_due() {
                    return ControlFlow::Break(Stop::Judge);
                }
                ControlFlow::Continue(())
            }
        }
    });
    around.count = nth;
    stopped
}

/// Why a loop over items stops, so that something is decided.
enum Stop {
    /// Many items have come: is the table small?
    Settle,
    /// Does the hot table pay?
    Judge,
    /// The table has outgrown the cache.
    Overflow,
    /// Enough items were scattered.
    Seal,
}

/// A worker in the middle of a piece.
pub(super) struct State<'a, F: Fold, S, G> {
    plan: &'a Plan<'a, F, S>,
    table: Sums<F>,
    /// The number of entries at which the table is looked at.
    limit: usize,
    /// The number of items that had come when the table was last empty.
    since: usize,
    items: Option<Loose<G, F>>,
    /// The hot table in front of the table or of the items.
    hot: Option<Hot<F::Key, F::Sum>>,
    /// Whether a hot table was tried in front of this table and did not pay.
    cold: bool,
    /// The number of items to scatter before the table is tried.
    ahead: usize,
    /// From `probe` items on, each block checks whether other workers make scattering pay. At `guessed` items
    /// the answer is found anew. `scatters` is the answer.
    probe: usize,
    guessed: usize,
    scatters: bool,
    /// The number of items to scatter after the next failure.
    patience: usize,
    held: Held,
    spent: Spent<'a, F::Key>,
    pub(super) done: DoneOf<G, F>,
}

impl<'a, F: Fold, S: BuildHasher + Sync, G: Tag> State<'a, F, S, G> {
    pub(super) fn new(plan: &'a Plan<'a, F, S>) -> Self {
        let patience = PATIENCE * plan.limit;
        // A hint: nothing is ordered by it.
        let scattered = plan.scattered.load(Ordering::Relaxed);
        plan.workers.fetch_add(1, Ordering::Relaxed);
        State {
            plan,
            table: HashTable::new(),
            limit: Self::first_look(plan),
            since: 0,
            items: scattered.then(|| Scatter::new(plan.parts)),
            // If few items come, the table was given up because all their keys are rare.
            hot: (scattered && !plan.is_small())
                .then(|| Hot::new(0))
                .flatten(),
            cold: false,
            probe: plan.share.map_or(usize::MAX, |_| PROBE),
            guessed: PROBE,
            scatters: false,
            ahead: if scattered {
                patience.min(plan.held)
            } else {
                0
            },
            patience,
            held: Held::new(plan.held),
            spent: Spent::new(&plan.drops),
            done: Done::new(),
        }
    }

    fn first_look(plan: &Plan<'a, F, S>) -> usize {
        match const { mem::needs_drop::<F::Key>() } {
            true => plan.limit.min(LOOK),
            false => plan.limit,
        }
    }

    /// Folds or scatters items, changing from one to the other and back.
    #[inline]
    pub(super) fn put_all(&mut self, items: impl IntoIterator<Item = F::Item>) {
        let mut items = items.into_iter();
        if self.done.count >= self.probe {
            self.consider();
        }
        if self.is_calm(&items) {
            let (sums, count) = (&mut self.table, self.done.count);
            self.done.count = fold_block(self.plan.with(), sums, &mut self.spent, count, items);
            return;
        }
        loop {
            let stopped = if self.items.is_some() {
                self.scatter(&mut items)
            } else {
                self.fold(&mut items)
            };
            match stopped {
                ControlFlow::Continue(()) => return,
                ControlFlow::Break(Stop::Settle) => self.settle(),
                ControlFlow::Break(Stop::Judge) => self.judge(),
                ControlFlow::Break(Stop::Overflow) => self.overflow(),
                ControlFlow::Break(Stop::Seal) => self.seal_items(),
            }
        }
    }

    /// Whether items go into the table, and nothing need be decided before all of them have come.
    /// (If an iterator has more items than it says, it is decided later.)
    #[inline]
    fn is_calm(&self, items: &impl Iterator) -> bool {
        let room = self.limit.saturating_sub(self.table.len());
        let room = room.min(self.settled() - self.done.count - 1);
        self.items.is_none() && self.hot.is_none() && fits(items, room)
    }

    /// The number of items at which the table is looked at.
    #[inline]
    fn settled(&self) -> usize {
        match self.cold {
            true => usize::MAX,
            false => (self.since + SETTLED).max(self.done.count + 1),
        }
    }

    /// Folds items into the table until something has to be decided.
    #[inline]
    fn fold(&mut self, items: &mut impl Iterator<Item = F::Item>) -> ControlFlow<Stop> {
        let mut around = Around {
            limit: self.limit,
            count: self.done.count,
            settled: self.settled(),
            spent: &mut self.spent,
        };
        let (with, sums) = (self.plan.with(), &mut self.table);
        let stopped = match &mut self.hot {
            Some(hot) => fold_hot(with, hot, sums, &mut around, items),
            None => fold_all(with, sums, &mut around, items),
        };
        self.done.count = around.count;
        stopped
    }

    /// Scatters items until something has to be decided.
    #[inline]
    fn scatter(&mut self, items: &mut impl Iterator<Item = F::Item>) -> ControlFlow<Stop> {
        let Some(loose) = &mut self.items else {
            return ControlFlow::Continue(());
        };
        let plan = self.plan;
        let parts = plan.parts;
        let mut hot = self.hot.as_mut();
        let spent = &mut self.spent;
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
                    Met::Again(key) => {
                        spent.push(key);
                        return ControlFlow::Continue(());
                    }
                    Met::Missed(k, r) => (key, raw) = (k, r),
                }
                due = hot.is_due();
            }
            loose.push(part_of(hash, parts), (G::keep(hash), (key, raw)));
            ahead -= 1;
            if ahead == 0 {
                return ControlFlow::Break(Stop::Seal);
            }
            if due {
                return ControlFlow::Break(Stop::Judge);
            }
            ControlFlow::Continue(())
        });
        self.done.count = count;
        self.ahead = ahead;
        stopped
    }

    /// Gives the table up if other workers have tables too, and each of them would meet nearly all
    /// keys. Notes as a hint, for workers that begin later, that scattering pays.
    #[cold]
    fn consider(&mut self) {
        let count = self.done.count;
        if self.items.is_some() || self.hot.is_some() || self.since != 0 {
            self.probe = usize::MAX;
            return;
        }
        let share = self.plan.share.unwrap_or(0);
        if count >= self.guessed && count >= share / GUESSED {
            self.guessed = 2 * count;
            let rest = share.saturating_sub(count);
            let more = new_keys(count, self.table.len(), rest);
            // A table that will outgrow the cache will be given up then, and so it is a detour.
            let outgrows = self.table.len() + more > self.plan.limit;
            self.scatters = outgrows || more > rest / SELDOM;
            if self.scatters {
                // Relaxed: a hint.
                self.plan.scattered.store(true, Ordering::Relaxed);
            }
        }
        if self.scatters && self.plan.is_shared() {
            self.give_up();
        }
    }

    /// Scatters the entries of the table, and then items.
    fn give_up(&mut self) {
        self.flush();
        self.table = HashTable::new();
        self.limit = Self::first_look(self.plan);
        self.plan.scattered.store(true, Ordering::Relaxed);
        // If a key came often, the table would have been kept.
        self.begin_items(None);
        self.be_patient();
    }

    /// Scatters the entries of the table.
    fn flush(&mut self) {
        self.held.add(self.table.len());
        let entries = self.plan.flush(&mut self.table);
        self.done.runs.push((0, Run::Entries(entries)));
    }

    /// Sets the number of items to scatter before the table is tried again.
    fn be_patient(&mut self) {
        self.ahead = self.patience.min(self.held.room());
        self.patience = self.patience.saturating_mul(4);
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
        // Scattering costs several times as much as a lookup in vain; a table costs about as much as the
        // lookup.
        if self.items.is_some() {
            if missed > items / 4 * 3 {
                self.begin_items(None);
            }
        } else if missed > items / 8 {
            self.cool();
            self.cold = true;
        }
    }

    /// Folds the hot table's entries into the table: they hold later items.
    fn cool(&mut self) {
        for (key, sum) in self.hot.take().into_iter().flat_map(Hot::into_entries) {
            let hash = self.plan.hasher.hash_one(&key);
            drop(self.plan.merge(&mut self.table, hash, (key, sum)));
        }
    }

    /// Begins another run of items.
    fn begin_items(&mut self, hot: Option<Hot<F::Key, F::Sum>>) {
        self.end_items();
        self.items = Some(Scatter::new(self.plan.parts));
        self.hot = hot;
    }

    /// Ends the run of items and the run of the hot table.
    fn end_items(&mut self) {
        let runs = &mut self.done.runs;
        if let Some(items) = self.items.take() {
            self.held.add(items.len());
            runs.push((0, Run::Items(items)));
        }
        if let Some(hot) = self.hot.take() {
            let entries = self.plan.scatter(hot.into_entries(), self.plan.parts);
            runs.push((0, Run::Entries(entries)));
        }
    }

    fn seal_items(&mut self) {
        self.since = self.done.count;
        self.end_items();
    }

    /// Decides whether the table, which has outgrown the cache, has paid or will pay.
    #[cold]
    fn overflow(&mut self) {
        let items = self.done.count - self.since;
        let met = items.saturating_sub(self.table.len());
        if self.table.len() <= self.plan.limit && met >= items / KNOWN {
            self.limit = self.plan.limit;
            return;
        }
        let keys = self.table.len();
        let worth = items >= WORTH * keys;
        self.flush();
        self.end_items();
        if self.held.is_due(items, keys) {
            self.condense();
        }
        self.cold = false;
        self.plan.scattered.store(!worth, Ordering::Relaxed);
        if worth {
            self.since = self.done.count;
            self.patience = PATIENCE * self.plan.limit;
        } else {
            self.table = HashTable::new();
            self.limit = Self::first_look(self.plan);
            self.begin_items(Hot::new(self.done.count));
            self.be_patient();
        }
    }

    fn condense(&mut self) {
        let runs = mem::take(&mut self.done.runs);
        let entries = self.plan.condense(runs, |key| self.spent.push(key));
        self.held.condensed(entries.len());
        self.done.runs.push((0, Run::Entries(entries)));
    }

    /// The number of entries in the worker's table.
    pub(super) fn entries(&self) -> usize {
        self.table.len()
    }

    pub(super) fn finish(mut self) -> DoneOf<G, F> {
        if self.items.is_some() {
            self.end_items();
        } else {
            self.cool();
        }
        if !self.table.is_empty() {
            self.done.runs.push((0, Run::Table(self.table)));
        }
        let mut done = self.done;
        // Before the return: a result is not dropped if a destructor panics after it.
        done.kept.append(&mut self.spent.into_kept());
        done
    }
}
