//! What all workers share, and the merging of their results: small tables into one another, everything else
//! part by part, with one job for each part.
#![forbid(unsafe_code)]

use super::super::fold::{Fold, Sums};
use super::spent::Drops;
use crate::farewell::Kept;
use crate::foresight::Foresight;
use crate::foretaste::expect_key;
use crate::partition::{List, Scatter, par_map};
use crate::parts::{breadth, breadth_of, interleave, part_of};
use crate::tag::{Tag, Tagged};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use std::hash::{BuildHasher, Hash};
use std::iter;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tine_pool::current_num_threads;

/// The limit of a worker's table: its core's cache, and a share of the cache that all cores have in common.
pub(super) const TABLE_BYTES: usize = 4 << 20;

/// Up to this many entries are merged table by table; more are merged by parts.
const LITTLE: usize = 1 << 16;
/// The same for all tables together, if more than two are merged pair by pair: parts are built by all threads
/// at once.
const FEWER: usize = 1 << 15;
/// One thread makes this many lists before other threads would have come.
const BRIEF: usize = 1 << 10;
/// The number of keys of one table that are looked up in another.
const SAMPLE: usize = 64;

/// What all workers share.
pub(super) struct Plan<'a, F, S> {
    pub(super) fold: &'a F,
    pub(super) hasher: &'a S,
    /// The most entries of a worker's table.
    pub(super) limit: usize,
    /// The number of parts that items and entries are scattered to.
    pub(super) parts: usize,
    /// How many items a worker holds at first before it folds them.
    pub(super) held: usize,
    /// Whether a single thread folds everything.
    pub(super) alone: bool,
    /// The number of items for each thread if all took equally many; `None` if that is not known.
    pub(super) share: Option<usize>,
    /// The number of items that come; `usize::MAX` if that is not known.
    pub(super) expected: usize,
    /// Whether two threads fold: then no third thread waits while two tables become one.
    pub(super) two: bool,
    /// How many workers have begun. A hint.
    pub(super) workers: AtomicUsize,
    /// Whether some table turned out a detour last time. A hint for new pieces.
    pub(super) scattered: AtomicBool,
    /// For workers that drop keys.
    pub(super) drops: Drops,
}

/// A part of a piece, folded or not. The type says which keys and sums the run has, not how they are folded: so
/// the code that handles runs is compiled once for all folds with these types.
pub(super) enum Run<G, K, R, A> {
    Table(HashTable<(K, A)>),
    Entries(Scatter<Tagged<G, K, A>>),
    Items(Scatter<Tagged<G, K, R>>),
}

/// Some consecutive pieces: their runs, each with the place where its piece begins.
pub(super) struct Done<G, K, R, A> {
    pub(super) runs: Vec<(usize, Run<G, K, R, A>)>,
    pub(super) count: usize,
    /// Keys that came again, for the caller to drop at the end.
    pub(super) kept: Vec<Kept<K>>,
}

/// A fold's run, and the result of its pieces.
pub(super) type RunOf<G, F> = Run<G, <F as Fold>::Key, <F as Fold>::Raw, <F as Fold>::Sum>;
pub(super) type DoneOf<G, F> = Done<G, <F as Fold>::Key, <F as Fold>::Raw, <F as Fold>::Sum>;

impl<G, K, R, A> Done<G, K, R, A> {
    pub(super) fn new() -> Self {
        Done {
            runs: Vec::new(),
            count: 0,
            kept: Vec::new(),
        }
    }

    /// Appends later runs whose places are counted from the same beginning.
    pub(super) fn append(&mut self, mut later: Self) {
        self.runs.append(&mut later.runs);
        self.kept.append(&mut later.kept);
    }

    /// Appends pieces whose places are counted from their own beginning.
    pub(super) fn follow(&mut self, later: Self) {
        for (base, run) in later.runs {
            self.runs.push((base + self.count, run));
        }
        self.count += later.count;
        self.kept.extend(later.kept);
    }
}

/// One part of a run.
pub(super) enum Share<G, K, R, A> {
    Entries(List<Tagged<G, K, A>>),
    Items(List<Tagged<G, K, R>>),
}

/// A fold's share of a run.
pub(super) type ShareOf<G, F> = Share<G, <F as Fold>::Key, <F as Fold>::Raw, <F as Fold>::Sum>;

/// The slot of a part of a run, empty if the part is; and the place where the run's piece begins.
type Handed<'a, G, F> = (usize, &'a mut Option<ShareOf<G, F>>);

impl<G, K, R, A> Share<G, K, R, A> {
    fn len(&self) -> usize {
        match self {
            Share::Entries(list) => list.len(),
            Share::Items(list) => list.len(),
        }
    }
}

impl<F: Fold, S: BuildHasher + Sync> Plan<'_, F, S> {
    /// The fold, the hasher and the expected number of items.
    #[inline]
    pub(super) fn with(&self) -> (&F, &S, usize) {
        (self.fold, self.hasher, self.expected)
    }

    fn rehash(&self) -> impl Fn(&(F::Key, F::Sum)) -> u64 + '_ {
        |(key, _)| self.hasher.hash_one(key)
    }

    /// Folds a later sum into a table. Hands the key back if it was there.
    #[inline]
    pub(super) fn merge(
        &self,
        table: &mut Sums<F>,
        hash: u64,
        (key, sum): (F::Key, F::Sum),
    ) -> Option<F::Key> {
        match table.entry(hash, |(k, _)| *k == key, self.rehash()) {
            Slot::Occupied(slot) => {
                self.fold.merge(&mut slot.into_mut().1, sum);
                return Some(key);
            }
            Slot::Vacant(slot) => drop(slot.insert((key, sum))),
        }
        None
    }

    /// Scatters a table's entries; the table keeps its memory.
    pub(super) fn flush<G: Tag>(&self, table: &mut Sums<F>) -> Scatter<Tagged<G, F::Key, F::Sum>> {
        self.scatter(table.drain(), self.parts)
    }

    pub(super) fn scatter<G: Tag>(
        &self,
        entries: impl Iterator<Item = (F::Key, F::Sum)>,
        parts: usize,
    ) -> Scatter<Tagged<G, F::Key, F::Sum>> {
        let mut scatter = Scatter::new(parts);
        for entry in entries {
            let hash = self.hasher.hash_one(&entry.0);
            scatter.push(part_of(hash, parts), (G::keep(hash), entry));
        }
        scatter
    }

    /// Whether most keys of one table are in the other too, judging by a few.
    fn are_alike(&self, table: &Sums<F>, more: &Sums<F>) -> bool {
        let is_known = |(key, _): &&(F::Key, F::Sum)| {
            let hash = self.hasher.hash_one(key);
            table.find(hash, |(k, _)| k == key).is_some()
        };
        let known = more.iter().take(SAMPLE).filter(is_known).count();
        known > SAMPLE / 2
    }

    /// Whether there is more than one worker.
    #[inline]
    pub(super) fn is_shared(&self) -> bool {
        // Relaxed: a hint.
        self.workers.load(Ordering::Relaxed) > 1
    }

    /// Whether so few items come that they go to fewer parts.
    pub(super) fn is_small(&self) -> bool {
        self.parts < breadth()
    }

    /// Whether tables of this number of entries in all, from this number of workers, are merged pair by pair.
    pub(super) fn in_pairs(&self, workers: usize, entries: usize) -> bool {
        workers <= 2 || entries <= FEWER
    }

    /// Folds a table into the table before it, if both are small, or if they are alike and at most `two`
    /// threads fold.
    pub(super) fn join<G>(&self, into: &mut DoneOf<G, F>, later: &mut DoneOf<G, F>, two: bool) {
        let (Some((left, Run::Table(table))), Some((right, Run::Table(more)))) =
            (into.runs.last_mut(), later.runs.first_mut())
        else {
            return;
        };
        // Two tables of the same keys make a table that is no larger than each was.
        if table.len() + more.len() <= LITTLE || (two && self.are_alike(table, more)) {
            let room = more.len();
            let mut again = mem::take(more).into_iter().filter_map(|(key, mut sum)| {
                self.fold.shift(&mut sum, *right + into.count - *left);
                let hash = self.hasher.hash_one(&key);
                self.merge(table, hash, (key, sum))
            });
            // If other keys are kept, these are kept too.
            if !(into.kept.is_empty() && later.kept.is_empty())
                && let Some(mut kept) = Kept::with_room(room)
            {
                kept.fill(&mut again);
                into.kept.push(kept);
            }
            again.for_each(drop);
            later.runs.remove(0);
        }
    }

    /// Folds all pieces into the tables of the whole. Hands back keys that own memory and came again, for
    /// the caller to drop.
    pub(super) fn finish<G: Tag>(
        &self,
        mut done: DoneOf<G, F>,
    ) -> (Vec<Sums<F>>, Vec<Vec<F::Key>>) {
        if let [(base, Run::Table(table))] = &mut done.runs[..] {
            if *base != 0 {
                table
                    .iter_mut()
                    .for_each(|(_, sum)| self.fold.shift(sum, *base));
            }
            return (vec![mem::take(table)], Vec::new());
        }
        if done.runs.is_empty() {
            return (vec![HashTable::new()], Vec::new());
        }
        let entries = done.runs.iter().map(|(_, run)| match run {
            Run::Table(table) => Some(table.len()),
            Run::Entries(_) | Run::Items(_) => None,
        });
        let is_table = entries.clone().any(|entries| entries.is_some());
        let parts = match entries.sum() {
            Some(entries) => breadth_of(Some(entries), current_num_threads()),
            None => self.parts,
        };
        let cut = |(base, run)| (base, self.cut(run, parts));
        let mut runs: Vec<_> = match done.runs.len() * parts <= BRIEF {
            true if !is_table => done.runs.into_iter().map(cut).collect(),
            _ => par_map(done.runs, &cut),
        };
        // Threads made the lists: handing out references to them reads none of them.
        let mut handed: Vec<Vec<Handed<'_, G, F>>> = Vec::new();
        handed.resize_with(parts, || Vec::with_capacity(runs.len()));
        for (base, shares) in &mut runs {
            for (part, share) in handed.iter_mut().zip(shares) {
                part.push((*base, share));
            }
        }
        let folded = par_map(handed, &|part| {
            let share = |(base, share): Handed<'_, G, F>| Some((base, share.take()?));
            self.fold_part(part.into_iter().filter_map(share).collect(), parts)
        });
        let (tables, spent): (Vec<_>, _) = folded.into_iter().unzip();
        (interleave(tables), spent)
    }

    /// The shares of all parts in a run. A single table may be cut into another number of parts than the plan
    /// has.
    pub(super) fn cut<G: Tag>(&self, run: RunOf<G, F>, parts: usize) -> Vec<Option<ShareOf<G, F>>> {
        let entries = |scatter| lists(scatter, Share::Entries);
        match run {
            Run::Table(table) => entries(self.scatter(table.into_iter(), parts)),
            Run::Entries(scatter) => entries(scatter),
            Run::Items(scatter) => lists(scatter, Share::Items),
        }
    }

    /// Folds one of `parts` parts into tables: as many as are needed for [`breadth()`] tables in all. Hands
    /// back the keys that own memory and were there before.
    pub(super) fn fold_part<G: Tag>(
        &self,
        part: Vec<(usize, ShareOf<G, F>)>,
        parts: usize,
    ) -> (Vec<Sums<F>>, Vec<F::Key>) {
        let breadth = breadth();
        let count = breadth / parts;
        let (mut rows, mut least) = (0, 0);
        for (_, share) in &part {
            rows += share.len();
            // The entries of one table all have different keys.
            least = least.max(if let Share::Entries(list) = share {
                list.len()
            } else {
                0
            });
        }
        let mut foresight = Foresight::new(rows);
        let table = || HashTable::with_capacity(least / count);
        let mut tables: Vec<Sums<F>> = iter::repeat_with(table).take(count).collect();
        let (parts, all) = (parts.trailing_zeros(), &mut tables[..]);
        let mut spent = Vec::new();
        let mut spend = |key| {
            if const { mem::needs_drop::<F::Key>() } {
                spent.push(key);
            }
        };
        for (base, share) in part {
            match share {
                Share::Entries(list) => walk(list, |(tag, (key, mut sum))| {
                    let hash = tag.hash(|| self.hasher.hash_one(&key));
                    self.fold.shift(&mut sum, base);
                    let table = &mut all[part_of(hash, breadth) >> parts];
                    match table.entry(hash, |(k, _)| *k == key, self.rehash()) {
                        Slot::Occupied(slot) => {
                            self.fold.merge(&mut slot.into_mut().1, sum);
                            spend(key);
                        }
                        Slot::Vacant(slot) => drop(slot.insert((key, sum))),
                    }
                    if foresight.is_due() {
                        foresight.decide(all, self.rehash());
                    }
                }),
                Share::Items(list) => walk(list, |(tag, (key, raw))| {
                    let hash = tag.hash(|| self.hasher.hash_one(&key));
                    let table = &mut all[part_of(hash, breadth) >> parts];
                    match table.entry(hash, |(k, _)| *k == key, self.rehash()) {
                        Slot::Occupied(slot) => {
                            self.fold.add(&mut slot.into_mut().1, raw);
                            spend(key);
                        }
                        Slot::Vacant(slot) => {
                            let mut sum = self.fold.start(raw);
                            self.fold.shift(&mut sum, base);
                            slot.insert((key, sum));
                        }
                    }
                    if foresight.is_due() {
                        foresight.decide(all, self.rehash());
                    }
                }),
            }
        }
        (tables, spent)
    }
}

/// Takes all rows of a list. Memory that keys own is fetched some rows ahead, since keys will be compared.
#[inline]
fn walk<G, K: Hash, V>(list: List<Tagged<G, K, V>>, take: impl FnMut(Tagged<G, K, V>)) {
    if const { mem::needs_drop::<K>() } {
        list.for_each_ahead(|(_, (key, _))| expect_key(key), take);
    } else {
        list.for_each(take);
    }
}

/// The lists of a run; `None` for an empty list.
fn lists<T, L>(scatter: Scatter<T>, share: impl Fn(List<T>) -> L) -> Vec<Option<L>> {
    let lists = scatter.into_lists().into_iter();
    lists
        .map(|list| (list.len() != 0).then(|| share(list)))
        .collect()
}
