//! A reader-writer lock in four bytes.
//!
//! The word holds the number of readers, or `WRITER`. With either it may hold `PARKED`: a thread
//! sleeps in the lock's lot, or is about to. The eight bits above them are the *streak*: how often
//! readers have entered since the last writer left, modulo 256. The exchange by which a reader
//! enters counts it; a carry out of the word is lost. No thread waits for the streak, so the table
//! below leaves it out.
//!
//! | actor | from | to |
//! |---|---|---|
//! | reader enters | n readers, no thread parked | n + 1 readers |
//! | writer enters | free, parked or not | `WRITER`, parked or not |
//! | sleeper that holds the lot's mutex | held | held and `PARKED` |
//! | last thread to leave | held and `PARKED` | free; then wakes the lot |
//!
//! No wake-up is lost. A sleeper sees `PARKED` in the word of a held lock, and blocks without
//! releasing the lot's mutex in between. The thread that clears `PARKED` passes through that mutex
//! afterwards. A thread that enters between a release and the clearing inherits `PARKED`, and with
//! it the duty to wake the lot.
//!
//! Locks may share a lot: a woken thread looks at its own word again. Readers give way to parked
//! threads, so writers do not starve. `nested` readers are the exception: a thread that already
//! reads must not wait for a writer that waits for it.

#![allow(unsafe_code)]

use super::gate::{Announced, Gate, Mark, Name, STREAK};
use super::lot::Lot;
use crate::sync::{AtomicU32, Ordering, spin_loop};
use std::cell::UnsafeCell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A reader that has entered, in the streak.
const ENTRANCE: u32 = 1 << 24;
/// All but the streak.
const STATE: u32 = ENTRANCE - 1;
const PARKED: u32 = 1 << 23;
const WRITER: u32 = 1 << 22;
const READERS: u32 = WRITER - 1;
/// What a reader adds.
const READER: u32 = ENTRANCE + 1;

/// The lock without the value that it protects.
pub(crate) struct RawLock {
    word: AtomicU32,
    #[cfg(loom)]
    lot: Lot,
}

#[cfg(not(loom))]
impl RawLock {
    pub(crate) const fn new() -> Self {
        RawLock {
            word: AtomicU32::new(0),
        }
    }

    fn lot(&self) -> &'static Lot {
        Lot::of(self)
    }
}

#[cfg(loom)]
impl RawLock {
    pub(crate) fn new() -> Self {
        RawLock {
            word: AtomicU32::new(0),
            lot: Lot::new(),
        }
    }

    fn lot(&self) -> &Lot {
        &self.lot
    }

    /// For a model: this many readers have entered and left.
    pub(crate) fn after(readers: u32) -> Self {
        RawLock {
            word: AtomicU32::new(readers.wrapping_mul(ENTRANCE)),
            lot: Lot::new(),
        }
    }
}

/// Whether a reader may enter a lock with this word.
fn admits_reader(word: u32, nested: bool) -> bool {
    word & WRITER == 0 && (nested || word & PARKED == 0 || word & READERS == 0)
}

/// Whether a writer may enter.
fn admits_writer(word: u32) -> bool {
    word & STATE & !PARKED == 0
}

/// Whether the reader whose entrance made this word is the last of a streak.
fn ends_streak(word: u32) -> bool {
    (word / ENTRANCE).is_multiple_of(STREAK)
}

impl RawLock {
    /// Enters as a reader. Returns the word that this has made.
    #[inline]
    pub(crate) fn read(&self, nested: bool) -> u32 {
        let admits = |word| admits_reader(word, nested);
        self.try_enter(admits, READER)
            .unwrap_or_else(|| self.wait(admits, READER))
    }

    /// Enters as a reader if nothing is in the way: no writer, no sleeper, and no other reader that comes just now. Returns
    /// the word that this has made.
    #[inline(always)]
    fn try_read(&self) -> Option<u32> {
        let word = self.word.load(Ordering::Relaxed);
        let next = word.wrapping_add(READER);
        // Acquire pairs with the Release of the thread that was inside before.
        let (there, not) = (Ordering::Acquire, Ordering::Relaxed);
        let is_in = word & STATE < READERS
            && self
                .word
                .compare_exchange_weak(word, next, there, not)
                .is_ok();
        is_in.then_some(next)
    }

    /// Enters as the writer. Returns `true` if it had to wait.
    #[inline]
    pub(crate) fn write(&self) -> bool {
        // Relaxed: the exchange decides. The cache line was read before, for the chart.
        let word = self.word.load(Ordering::Relaxed);
        // Acquire pairs with the Release of the thread that was inside before.
        let (there, not) = (Ordering::Acquire, Ordering::Relaxed);
        let is_free = word & STATE == 0;
        if is_free && self.word.compare_exchange(word, WRITER, there, not).is_ok() {
            return false;
        }
        self.wait(admits_writer, WRITER);
        true
    }

    /// Tries as long as the word admits this thread and other threads keep changing it. Returns the
    /// word that this has made.
    #[inline]
    fn try_enter(&self, admits: impl Fn(u32) -> bool, add: u32) -> Option<u32> {
        let mut word = self.word.load(Ordering::Relaxed);
        while admits(word) {
            assert!(
                word & READERS < READERS,
                "more than four million readers of one shard"
            );
            let next = word.wrapping_add(add);
            // Acquire pairs with the Release of the thread that was inside before.
            let (there, not) = (Ordering::Acquire, Ordering::Relaxed);
            match self.word.compare_exchange_weak(word, next, there, not) {
                Ok(_) => return Some(next),
                Err(now) => word = now,
            }
        }
        None
    }

    /// Spins for about a microsecond, then sleeps.
    #[cold]
    fn wait(&self, admits: impl Fn(u32) -> bool + Copy, add: u32) -> u32 {
        let rounds = if cfg!(loom) { 1 } else { 6 };
        for round in 0..rounds {
            if let Some(word) = self.try_enter(admits, add) {
                return word;
            }
            (0..1 << round).for_each(|_| spin_loop());
        }
        loop {
            match self.try_enter(admits, add) {
                Some(word) => return word,
                None => self.park(admits),
            }
        }
    }

    /// Sleeps until the lock admits this thread.
    fn park(&self, admits: impl Fn(u32) -> bool) {
        self.lot().wait_while(|| {
            let mut word = self.word.load(Ordering::Relaxed);
            while !admits(word) && word & PARKED == 0 {
                let parked = word | PARKED;
                let (there, not) = (Ordering::Relaxed, Ordering::Relaxed);
                match self.word.compare_exchange_weak(word, parked, there, not) {
                    Ok(_) => return true,
                    Err(now) => word = now,
                }
            }
            !admits(word)
        });
    }

    /// Enters as a reader, unless it would have to wait. Returns the word that this has made.
    pub(crate) fn read_if_free(&self, nested: bool) -> Option<u32> {
        let admits = |word| word & READERS < READERS && admits_reader(word, nested);
        self.try_enter(admits, READER)
    }

    /// Enters as the writer, unless it would have to wait. Returns the word that this has made.
    pub(crate) fn write_if_free(&self) -> Option<u32> {
        self.try_enter(admits_writer, WRITER)
    }

    /// Leaves as a reader.
    #[inline]
    pub(crate) fn unread(&self) {
        // Release pairs with the Acquire of the next writer.
        let before = self.word.fetch_sub(1, Ordering::Release);
        debug_assert!(
            before & WRITER == 0 && before & READERS != 0,
            "left a lock never entered"
        );
        if before & STATE == PARKED | 1 {
            self.hand_on(before - 1);
        }
    }

    /// Called by the last reader to leave while a thread sleeps, with the word that it left. If that has changed, the thread that
    /// changed it has entered, and has this duty.
    #[cold]
    fn hand_on(&self, left: u32) {
        let relaxed = Ordering::Relaxed;
        if self
            .word
            .compare_exchange(left, 0, relaxed, relaxed)
            .is_ok()
        {
            self.lot().wake();
        }
    }

    /// Leaves as the writer.
    #[inline]
    pub(crate) fn unwrite(&self) {
        // Release pairs with the Acquire of the thread that enters next.
        let before = self.word.swap(0, Ordering::Release);
        debug_assert!(
            before & STATE & !PARKED == WRITER,
            "left a lock never entered"
        );
        if before & PARKED != 0 {
            self.lot().wake();
        }
    }

    /// Whether no writer is inside: asked by readers that enter without the lock.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        // Acquire pairs with the Release of the writer that was inside before.
        self.word.load(Ordering::Acquire) & WRITER == 0
    }

    /// Enters as a reader. The last of a streak may open the gate.
    #[inline(never)]
    fn read_and_count(&self, nested: bool, door: Door<'_>) {
        if ends_streak(self.read(nested)) {
            door.gate.consider(door.shard);
        }
    }
}

/// A lock and the value that it protects.
///
/// There is a second way in: readers that the map's gate has let in (`gate`) do not touch the word.
/// So each entrance gets the gate, and the name by which the gate knows this lock: always the same
/// two.
pub(crate) struct Lock<T> {
    raw: RawLock,
    /// When a writer last found that the gate had let in no reader of this lock.
    mark: Mark,
    cell: UnsafeCell<T>,
}

// SAFETY: readers share `&T` across threads, which needs `T: Sync`. A writer takes `&mut T` in its
// own thread, which needs `T: Send`.
unsafe impl<T: Send + Sync> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Lock {
            raw: RawLock::new(),
            mark: Mark::new(),
            cell: UnsafeCell::new(value),
        }
    }

    #[inline]
    pub(crate) fn read<'a>(&'a self, nested: bool, door: Door<'a>) -> ReadGuard<'a, T> {
        let announced = door.gate.enter(door.shard, || self.raw.is_free());
        if announced.is_none() {
            self.raw.read_and_count(nested, door);
        }
        ReadGuard {
            lock: self,
            gate: door.gate,
            announced,
        }
    }

    /// Enters as a reader if the gate lets it in at once, and if `is_right` agrees once it is in.
    /// The thread is inside nothing else.
    #[inline]
    pub(crate) fn peek<'a>(
        &'a self,
        door: Door<'a>,
        is_right: impl FnOnce() -> bool,
    ) -> Option<ReadGuard<'a, T>> {
        let may_stay = || self.raw.is_free() && is_right();
        let announced = door.gate.enter_alone(door.shard, may_stay)?;
        Some(ReadGuard {
            lock: self,
            gate: door.gate,
            announced: Some(announced),
        })
    }

    /// Enters as a reader by the lock, if nothing is in the way, and if `is_right` says so once it is in. The guard is put
    /// together last: one that may be dropped here lies in memory, written word by word and read in larger pieces.
    #[inline(always)]
    pub(crate) fn read_at_once<'a>(
        &'a self,
        door: Door<'a>,
        is_right: impl FnOnce() -> bool,
    ) -> Option<ReadGuard<'a, T>> {
        let word = self.raw.try_read()?;
        if ends_streak(word) {
            door.gate.consider(door.shard);
        }
        if !is_right() {
            self.raw.unread();
            return None;
        }
        Some(ReadGuard {
            lock: self,
            gate: door.gate,
            announced: None,
        })
    }

    /// The guard, and whether the thread had to wait.
    #[inline]
    #[track_caller]
    pub(crate) fn write(&self, door: Door<'_>) -> (WriteGuard<'_, T>, bool) {
        let waited = self.raw.write();
        let guard = WriteGuard { lock: self };
        if door.gate.is_shut() {
            return (guard, waited);
        }
        let (guard, waited_for_reader) = self.clear(guard, door);
        (guard, waited | waited_for_reader)
    }

    /// Closes the readers' way in. Says whether it had to wait for a reader.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn clear<'a>(
        &'a self,
        mut guard: WriteGuard<'a, T>,
        door: Door<'_>,
    ) -> (WriteGuard<'a, T>, bool) {
        let mut waited = false;
        while !door.gate.is_clear(door.shard, &self.mark, true) {
            drop(guard);
            door.gate.wait(door.shard);
            self.raw.write();
            guard = WriteGuard { lock: self };
            waited = true;
        }
        (guard, waited)
    }

    /// As [`read`](Self::read), but gives up where that would wait.
    pub(crate) fn try_read<'a>(&'a self, nested: bool, door: Door<'a>) -> Option<ReadGuard<'a, T>> {
        let announced = door.gate.enter(door.shard, || self.raw.is_free());
        if announced.is_none() && ends_streak(self.raw.read_if_free(nested)?) {
            door.gate.consider(door.shard);
        }
        Some(ReadGuard {
            lock: self,
            gate: door.gate,
            announced,
        })
    }

    /// As [`write`](Self::write), but gives up where that would wait: for the lock, or for a reader without the lock. Such a
    /// reader shuts the gate when it leaves.
    #[track_caller]
    pub(crate) fn try_write(&self, door: Door<'_>) -> Option<WriteGuard<'_, T>> {
        self.raw.write_if_free()?;
        let guard = WriteGuard { lock: self };
        let is_clear = door.gate.is_shut() || door.gate.is_clear(door.shard, &self.mark, false);
        is_clear.then_some(guard)
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.cell.get_mut()
    }

    pub(crate) fn into_inner(self) -> T {
        self.cell.into_inner()
    }
}

/// How a lock is entered: by the gate of its map, under the name that the lock has there.
#[derive(Clone, Copy)]
pub(crate) struct Door<'a> {
    pub(crate) gate: &'a Gate,
    pub(crate) shard: Name,
}

impl<T> fmt::Debug for Lock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").finish_non_exhaustive()
    }
}

/// Shared access to a lock's value.
pub(crate) struct ReadGuard<'a, T> {
    lock: &'a Lock<T>,
    gate: &'a Gate,
    /// `None`: it has the lock.
    announced: Option<Announced>,
}

/// Shared access to a part of a lock's value.
pub(crate) struct Part<'a, T, U> {
    part: NonNull<U>,
    _guard: ReadGuard<'a, T>,
}

// SAFETY: a shared reference to a part gives no more than `&U`, which needs `U: Sync`. The part is dropped by
// its owner's thread: it comes with a `Hold`, which is not `Send`.
unsafe impl<'a, T, U: Sync> Sync for Part<'a, T, U> where ReadGuard<'a, T>: Sync {}

/// Sole access to a lock's value.
pub(crate) struct WriteGuard<'a, T> {
    lock: &'a Lock<T>,
}

impl<'a, T> ReadGuard<'a, T> {
    /// The part of the value that `find` finds, if any. The lock is left otherwise.
    #[inline(always)]
    pub(crate) fn part<U>(self, find: impl FnOnce(&T) -> Option<&U>) -> Option<Part<'a, T, U>> {
        Some(Part {
            part: NonNull::from(find(&self)?),
            _guard: self,
        })
    }
}

impl<T, U> Deref for Part<'_, T, U> {
    type Target = U;

    #[inline]
    fn deref(&self) -> &U {
        // SAFETY: the part was found in the lock's value under the guard. The guard is still there, so no
        // thread has changed the value since, and a lock that is borrowed does not move.
        unsafe { self.part.as_ref() }
    }
}

impl<T> Deref for ReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: until it is dropped, this guard is one of the lock's readers, or a reader that the gate has
        // let in. No writer enters before all of the lock's readers have left, and no writer goes on before all
        // of the gate's readers have left.
        unsafe { &*self.lock.cell.get() }
    }
}

impl<T> Deref for WriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard is the lock's only holder until it is dropped, and the gate said that no thread
        // reads without the lock.
        unsafe { &*self.lock.cell.get() }
    }
}

impl<T> DerefMut for WriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `&mut self` is the only way to it.
        unsafe { &mut *self.lock.cell.get() }
    }
}

impl<T> ReadGuard<'_, T> {
    /// Drops it in line, which a drop by itself may not be.
    #[inline(always)]
    pub(crate) fn leave(self) {
        ManuallyDrop::new(self).end();
    }

    #[inline(always)]
    fn end(&mut self) {
        match self.announced.take() {
            Some(announced) => self.gate.leave(announced),
            None => self.lock.raw.unread(),
        }
    }
}

impl<T> Drop for ReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.end();
    }
}

impl<T> Drop for WriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.raw.unwrite();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{ENTRANCE, PARKED, READERS, RawLock, STATE, STREAK, WRITER, ends_streak};
    use std::panic::catch_unwind;
    use std::sync::atomic::Ordering;

    fn word(lock: &RawLock) -> u32 {
        lock.word.load(Ordering::Relaxed)
    }

    #[test]
    fn a_streak_carries_nothing_into_the_state() {
        let lock = RawLock::new();
        let readers = 3 * 256;
        for nth in 1..=readers {
            let now = if nth % 2 == 0 {
                lock.read(false)
            } else {
                // A weak exchange may fail without a cause.
                let mut tries = (0..100).filter_map(|_| lock.try_read());
                tries.next().expect("nothing is in the way")
            };
            assert_eq!((now, now & STATE), (word(&lock), nth));
            assert_eq!(ends_streak(now), nth % STREAK == 0, "{nth}");
        }
        for left in (0..readers).rev() {
            lock.unread();
            assert_eq!(word(&lock) & STATE, left);
        }
    }

    #[test]
    fn a_writer_ends_a_streak() {
        for before in [0, 1, STREAK - 1, STREAK, 255] {
            let lock = RawLock::new();
            (0..before).for_each(|_| _ = lock.read(false));
            (0..before).for_each(|_| lock.unread());
            assert!(!lock.write(), "it waited, after {before} readers");
            assert_eq!(word(&lock), WRITER);
            assert_eq!(lock.try_read(), None);
            lock.unwrite();
            let ends = (1..=STREAK).map(|_| ends_streak(lock.read(true)));
            assert_eq!(ends.filter(|&ends| ends).count(), 1, "after {before}");
            assert_eq!(word(&lock) & STATE, STREAK);
        }
    }

    #[test]
    fn too_many_readers_are_refused() {
        for streak in [0, 255 * ENTRANCE] {
            for parked in [0, PARKED] {
                let lock = RawLock::new();
                lock.word
                    .store(streak | parked | READERS, Ordering::Relaxed);
                let before = word(&lock);
                assert_eq!(lock.try_read(), None);
                assert!(catch_unwind(|| lock.read(true)).is_err());
                assert_eq!(word(&lock), before);
            }
        }
    }

    /// The last reader to leave takes `PARKED` away, whatever the streak.
    #[test]
    fn a_sleeper_is_handed_on_to_by_any_streak() {
        for streak in [0, 1, 254, 255] {
            let lock = RawLock::new();
            lock.word.store(streak * ENTRANCE, Ordering::Relaxed);
            lock.read(false);
            lock.read(false);
            lock.word.fetch_or(PARKED, Ordering::Relaxed);
            assert_eq!(lock.try_read(), None, "it passed a sleeper");
            lock.unread();
            assert_eq!(word(&lock) & STATE, PARKED | 1);
            lock.unread();
            assert_eq!(word(&lock) & STATE, 0);
        }
    }
}
