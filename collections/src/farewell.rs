//! Dropping the entries of many tables, where they own memory.
//!
//! When a large piece comes back to glibc, it joins all small free pieces of the arena, and looks
//! at each of them for that. A table is a large piece. So entries first move from their tables to
//! memory outside the allocator. Then the tables are given back, while few small pieces are free.
//! Then the entries are dropped, in a row. An allocator writes to each piece that comes back to it,
//! so what an entry owns is fetched some entries before its turn.

#![allow(unsafe_code)]

use crate::pages::{Mapped, expect_owned};
use crate::partition::par_map;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::time::{Duration, Instant};
use tine_pool::loops::{Part, both, sheltered};

/// How many entries are fetched ahead of the one that is dropped.
const AHEAD: usize = 16;
/// A piece of N entries or fewer is dropped by one thread; this is N.
const PIECE: usize = if cfg!(miri) { 4 } else { 1 << 12 };
/// The drop of N entries by one thread, and of 4 × N by all, shows whether a second thread helps; this is N.
const TRIAL: usize = if cfg!(miri) { 16 } else { 1 << 12 };
/// N entries or fewer are dropped where they are; this is N.
const FEW: usize = if cfg!(miri) { 64 } else { 1 << 16 };
/// Larger entries are dropped where they are.
const LARGEST: usize = 256;
/// Entries of more bytes in all are dropped where they are, too: a drop must not need the memory of
/// the whole map once more.
const MOST: usize = if cfg!(test) { 1 << 24 } else { 1 << 28 };

/// Entries that are dropped in their order, also if the destructor of one panics.
struct Leaving<'a, T>(&'a mut [MaybeUninit<T>]);

impl<'a, T> Leaving<'a, T> {
    /// # Safety
    /// All of them are there, and no other reference leads to them.
    unsafe fn new(entries: &'a mut [MaybeUninit<T>]) -> Self {
        Leaving(entries)
    }

    /// The first of them.
    fn cut(&mut self, count: usize) -> Self {
        let (first, rest) = mem::take(&mut self.0).split_at_mut(count);
        self.0 = rest;
        Leaving(first)
    }

    fn halve(mut self) -> (Self, Self) {
        let entries = mem::take(&mut self.0);
        let (left, right) = entries.split_at_mut(entries.len() / 2);
        (Leaving(left), Leaving(right))
    }
}

impl<T> Leaving<'_, T> {
    fn drop_all(&mut self) {
        self.0.iter_mut().take(AHEAD).for_each(expect_owned);
        while let Some((first, rest)) = mem::take(&mut self.0).split_first_mut() {
            if let Some(coming) = rest.get_mut(AHEAD - 1) {
                expect_owned(coming);
            }
            self.0 = rest;
            // SAFETY: the entry is there, and is stepped over before it is dropped, so it is dropped once.
            unsafe { first.assume_init_drop() };
        }
    }
}

impl<T> Drop for Leaving<'_, T> {
    fn drop(&mut self) {
        /// Drops the rest, also once a destructor has panicked.
        struct Rest<'l, 'a, T>(&'l mut Leaving<'a, T>);

        impl<T> Drop for Rest<'_, '_, T> {
            fn drop(&mut self) {
                self.0.drop_all();
            }
        }

        let rest = Rest(self);
        rest.0.drop_all();
    }
}

/// Entries that one of two threads drops.
struct Half<'a, T>(Option<Leaving<'a, T>>);

impl<T: Send> Part for Half<'_, T> {
    fn run(&mut self, _: bool) {
        if let Some(entries) = self.0.take() {
            share(entries);
        }
    }
}

/// Drops the entries on all threads. This allocates nothing: giving memory back could cost as much
/// as giving a table back.
fn share<T: Send>(entries: Leaving<'_, T>) {
    if entries.0.len() <= PIECE {
        return drop(entries);
    }
    let (left, right) = entries.halve();
    both(&mut Half(Some(left)), &mut Half(Some(right)));
}

/// Drops the entries by all threads, if a trial says that this is quicker than by one thread. It is
/// not quicker if all give memory back to one arena of glibc: they wait for one another's cache
/// line at each piece.
///
/// Returns what the trial found, if there was one: whether all threads are quicker.
fn drop_at_best<T: Send>(mut entries: Leaving<'_, T>) -> Option<bool> {
    let mut found = None;
    let few = 64;
    // If destructors take longer than this, memory is not what they spend their time on.
    let dear = Duration::from_micros(few as u64);
    if entries.0.len() > 8 * TRIAL && time(|| drop(entries.cut(few))) < dear {
        drop(entries.cut(TRIAL / 4));
        let alone = time(|| drop(entries.cut(TRIAL)));
        let shared = time(|| share(entries.cut(4 * TRIAL)));
        found = Some(2 * shared <= 5 * alone);
    }
    end(entries, found != Some(false));
    found
}

fn end<T: Send>(entries: Leaving<'_, T>, by_all: bool) {
    match by_all {
        true => share(entries),
        false => drop(entries),
    }
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// What holds entries.
pub(crate) trait Holder: Sized {
    type Entry;

    fn count(&self) -> usize;

    /// All entries, each once. The holder gives its memory back, unless it is borrowed.
    fn leave(self, out: impl FnMut(Self::Entry));

    /// The same, with the entries dropped where they are.
    fn drop_inside(self);
}

impl<T> Holder for Vec<T> {
    type Entry = T;

    fn count(&self) -> usize {
        self.len()
    }

    fn leave(self, out: impl FnMut(T)) {
        self.into_iter().for_each(out);
    }

    fn drop_inside(self) {}
}

/// Memory for the entries to leave for, where that is worth it.
fn elsewhere<H: Holder>(holders: &[H]) -> Option<(Mapped, usize)> {
    let size = mem::size_of::<H::Entry>();
    let fits = (1..=LARGEST).contains(&size) && mem::align_of::<H::Entry>() <= Mapped::ALIGN;
    if !mem::needs_drop::<H::Entry>() || !fits {
        return None;
    }
    let count = holders.iter().map(H::count).sum::<usize>();
    if count <= FEW {
        return None;
    }
    let bytes = count.checked_mul(size).filter(|&bytes| bytes <= MOST)?;
    Some((Mapped::new(bytes)?, count))
}

/// Each holder, with room for its entries.
fn with_room<H: Holder>(
    holders: Vec<H>,
    mut room: &mut [MaybeUninit<H::Entry>],
) -> Vec<(H, &mut [MaybeUninit<H::Entry>])> {
    let mut pairs = Vec::with_capacity(holders.len());
    for holder in holders {
        let (here, rest) = mem::take(&mut room).split_at_mut(holder.count());
        room = rest;
        pairs.push((holder, here));
    }
    pairs
}

/// Moves the holder's entries into the room, which they fill.
fn fill<H: Holder>((holder, room): (H, &mut [MaybeUninit<H::Entry>])) {
    let mut places = room.iter_mut();
    holder.leave(|entry| {
        places.next().expect("room for each entry").write(entry);
    });
    assert!(places.len() == 0, "as many entries as were counted");
}

/// Empties all holders and drops their entries, by all threads. Borrowed holders keep their memory.
pub(crate) fn drop_shared<H: Holder + Send>(holders: Vec<H>)
where
    H::Entry: Send,
{
    let Some((mut mapped, count)) = elsewhere(&holders) else {
        // If it ended halfway, a destructor would unwind.
        sheltered(|| drop(par_map(holders, &H::drop_inside)));
        return;
    };
    let entries = &mut mapped.room()[..count];
    let pairs = with_room(holders, entries);
    // If it ended halfway, some entries would never be dropped.
    sheltered(|| drop(par_map(pairs, &fill)));
    // SAFETY: all of them were written, and are used only here.
    let entries = unsafe { Leaving::new(entries) };
    sheltered(|| _ = drop_at_best(entries));
}

/// The same by this thread alone.
pub(crate) fn drop_alone<H: Holder>(holders: Vec<H>) {
    let Some((mut mapped, count)) = elsewhere(&holders) else {
        return holders.into_iter().for_each(H::drop_inside);
    };
    let entries = &mut mapped.room()[..count];
    with_room(holders, entries).into_iter().for_each(fill);
    // SAFETY: all of them were written, and are used only here.
    drop(unsafe { Leaving::new(entries) });
}

/// Entries that wait to be dropped in memory outside the allocator.
pub(crate) struct Kept<T> {
    room: Mapped,
    /// The first N are there; this is N.
    len: usize,
    entries: PhantomData<T>,
}

impl<T> Kept<T> {
    /// Room for N entries, at least one. `None` where the system has none, or where entries are too large.
    pub(crate) fn with_room(count: usize) -> Option<Self> {
        Self::of_bytes(count.checked_mul(mem::size_of::<T>())?)
    }

    /// Room for as many entries as go into N bytes, at least one.
    pub(crate) fn of_bytes(bytes: usize) -> Option<Self> {
        let fits =
            (1..=LARGEST).contains(&mem::size_of::<T>()) && mem::align_of::<T>() <= Mapped::ALIGN;
        Some(Kept {
            room: fits.then(|| Mapped::new(bytes.max(LARGEST)))??,
            len: 0,
            entries: PhantomData,
        })
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How many more there is room for.
    pub(crate) fn left(&self) -> usize {
        self.room.count::<T>() - self.len
    }

    /// Takes an entry, for which there is room.
    #[inline]
    pub(crate) fn push(&mut self, entry: T) {
        self.room.room()[self.len].write(entry);
        self.len += 1;
    }

    /// Takes entries from an iterator until the room is full, or there are no more.
    pub(crate) fn fill(&mut self, entries: &mut impl Iterator<Item = T>) {
        for place in &mut self.room.room::<T>()[self.len..] {
            let Some(entry) = entries.next() else { return };
            place.write(entry);
            self.len += 1;
        }
    }

    /// All entries, to be dropped.
    fn leave(&mut self) -> Leaving<'_, T> {
        let len = mem::take(&mut self.len);
        let entries = &mut self.room.room()[..len];
        // SAFETY: `push` and `fill` wrote the first `len`, and nothing else refers to them any more.
        unsafe { Leaving::new(entries) }
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        drop(self.leave());
    }
}

/// Drops what was kept, by this thread alone or by all, as a trial says.
pub(crate) fn drop_kept<T: Send>(rows: Vec<Kept<T>>) {
    let mut by_all = None;
    sheltered(|| {
        for mut row in rows {
            match by_all {
                Some(by_all) => end(row.leave(), by_all),
                None => by_all = drop_at_best(row.leave()),
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{
        AHEAD, FEW, Kept, LARGEST, MOST, PIECE, TRIAL, drop_alone, drop_kept, drop_shared,
        elsewhere,
    };
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use std::time::{Duration, Instant};

    /// Counts its drops at its place, and panics if it is to.
    struct Touchy<'a, const N: usize> {
        at: usize,
        dropped: &'a [AtomicU32],
        angry: &'a [usize],
        slow: bool,
        _body: [u64; N],
    }

    impl<const N: usize> Drop for Touchy<'_, N> {
        fn drop(&mut self) {
            self.dropped[self.at].fetch_add(1, Relaxed);
            if self.slow {
                let start = Instant::now();
                while start.elapsed() < Duration::from_micros(2) {}
            }
            assert!(!self.angry.contains(&self.at), "on purpose");
        }
    }

    fn rows<'a, const N: usize>(
        sizes: &[usize],
        dropped: &'a [AtomicU32],
        angry: &'a [usize],
        slow: bool,
    ) -> Vec<Vec<Touchy<'a, N>>> {
        let mut places = 0..dropped.len();
        let mut row = |&size| {
            let touchy = |at| Touchy {
                at,
                dropped,
                angry,
                slow,
                _body: [0; N],
            };
            places.by_ref().take(size).map(touchy).collect()
        };
        sizes.iter().map(&mut row).collect()
    }

    fn all_once<const N: usize>(sizes: &[usize], angry: &[usize], slow: bool) {
        let count = sizes.iter().sum();
        for shared in [false, true] {
            let dropped: Vec<_> = (0..count).map(|_| AtomicU32::new(0)).collect();
            let rows = rows::<N>(sizes, &dropped, angry, slow);
            let ended = catch_unwind(AssertUnwindSafe(|| match shared {
                true => drop_shared(rows),
                false => drop_alone(rows),
            }));
            assert_eq!(ended.is_err(), angry.iter().any(|&at| at < count));
            assert!(dropped.iter().all(|drops| drops.load(Relaxed) == 1));
        }
    }

    #[test]
    fn each_entry_is_dropped_once() {
        for sizes in [
            &[][..],
            &[0],
            &[FEW],
            &[FEW + 1],
            &[0, PIECE, 0, FEW, 1],
            &[8 * TRIAL, AHEAD, 9],
        ] {
            all_once::<0>(sizes, &[], false);
            all_once::<1>(sizes, &[], false);
            all_once::<{ LARGEST }>(&sizes[..sizes.len().min(1)], &[], false);
        }
        all_once::<0>(&[FEW, FEW], &[], true);
    }

    /// More bytes than may leave: the entries are dropped where they are, also if a destructor panics.
    #[test]
    #[cfg_attr(miri, ignore = "large")]
    fn more_than_may_leave() {
        let most = MOST / size_of::<Touchy<'_, 8>>();
        for count in [most, most + 1] {
            let sizes = [count - 1000, 0, 1000];
            let dropped: Vec<_> = (0..count).map(|_| AtomicU32::new(0)).collect();
            let rows = rows::<8>(&sizes, &dropped, &[], false);
            assert_eq!(elsewhere(&rows).is_some(), count == most);
            drop_shared(rows);
            assert!(dropped.iter().all(|drops| drops.load(Relaxed) == 1));
            all_once::<8>(&sizes, &[count - 7], false);
        }
    }

    /// The same for those that were kept; also if they are dropped with what kept them.
    #[test]
    fn what_was_kept_is_dropped_once() {
        for angry in [usize::MAX, 0, 9, 10, 3 * FEW - 1] {
            for shared in [false, true] {
                let sizes = [10, 1, 3 * FEW - 12, 1];
                let dropped: Vec<_> = (0..3 * FEW).map(|_| AtomicU32::new(0)).collect();
                let angry = [angry];
                let ended = catch_unwind(AssertUnwindSafe(|| {
                    let rows = rows::<1>(&sizes, &dropped, &angry, false);
                    let mut kept = Vec::new();
                    for row in rows {
                        let mut row = row.into_iter();
                        let Some(mut room) = Kept::with_room(row.len()) else {
                            continue;
                        };
                        row.next().into_iter().for_each(|first| room.push(first));
                        room.fill(&mut row);
                        assert!(row.len() == 0, "room for as many as were asked for");
                        kept.push(room);
                    }
                    match shared {
                        true => drop_kept(kept),
                        false => drop(kept),
                    }
                }));
                assert_eq!(ended.is_err(), angry[0] < 3 * FEW);
                assert!(dropped.iter().all(|drops| drops.load(Relaxed) == 1));
            }
        }
    }

    /// A destructor that panics: wherever it is, nothing is lost, and nothing is dropped twice.
    #[test]
    fn nothing_is_lost_by_a_panic() {
        let count = 8 * TRIAL + FEW;
        let places = [0, 64, count - 1, 1, 63, TRIAL, 3 * TRIAL, 8 * TRIAL - 1];
        // Under Miri, a panic takes seconds.
        let some = if cfg!(miri) { 3 } else { places.len() };
        for at in places.into_iter().take(some) {
            all_once::<0>(&[count - 5, 5], &[at], false);
        }
    }
}
