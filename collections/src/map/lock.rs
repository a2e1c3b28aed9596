//! A reader-writer lock in four bytes.
//!
//! The word holds the number of readers, or `WRITER`. Beside either it may hold `PARKED`: a thread
//! sleeps in the lock's lot, or is about to.
//!
//! | actor | from | to |
//! |---|---|---|
//! | reader enters | n readers, no thread parked | n + 1 readers |
//! | writer enters | free, parked or not | `WRITER`, parked or not |
//! | sleeper that holds the lot's mutex | held | held and `PARKED` |
//! | last one to leave | held and `PARKED` | free; then wakes the lot |
//!
//! No wake-up is lost. A sleeper sees `PARKED` in the word of a held lock, and blocks without
//! releasing the lot's mutex in between. The thread that clears `PARKED` passes through that mutex
//! afterwards. A thread that enters between a release and its clearing inherits `PARKED`, and the
//! duty with it.
//!
//! A lot is a mutex and a condition variable chosen by the lock's address, so locks may share a
//! lot: a woken thread looks at its own word again. Readers give way to parked threads, so writers
//! do not starve. The exception are `nested` readers: a thread that already reads must not wait for
//! a writer that waits for it.

#![allow(unsafe_code)]

use crate::sync::{AtomicU32, Condvar, Mutex, Ordering, spin_loop};
use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};

const PARKED: u32 = 1 << 31;
const WRITER: u32 = 1 << 30;
const READERS: u32 = WRITER - 1;

/// Where the threads sleep that wait for a lock.
struct Lot {
    mutex: Mutex<()>,
    condvar: Condvar,
}

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
        const LOTS: usize = 64;
        static TOWN: [Lot; LOTS] = [const {
            Lot {
                mutex: Mutex::new(()),
                condvar: Condvar::new(),
            }
        }; LOTS];
        // Neighbouring shards lie 64 bytes apart: the bits above tell them apart.
        &TOWN[(self as *const Self as usize >> 6) % LOTS]
    }
}

#[cfg(loom)]
impl RawLock {
    pub(crate) fn new() -> Self {
        RawLock {
            word: AtomicU32::new(0),
            lot: Lot {
                mutex: Mutex::new(()),
                condvar: Condvar::new(),
            },
        }
    }

    fn lot(&self) -> &Lot {
        &self.lot
    }
}

/// Whether a reader may enter a lock with this word.
fn admits_reader(word: u32, nested: bool) -> bool {
    word & WRITER == 0 && (nested || word & PARKED == 0 || word & READERS == 0)
}

/// Whether a writer may enter.
fn admits_writer(word: u32) -> bool {
    word & !PARKED == 0
}

impl RawLock {
    /// Enters as a reader.
    #[inline]
    pub(crate) fn read(&self, nested: bool) {
        if !self.try_enter(|word| admits_reader(word, nested), 1) {
            self.wait(|word| admits_reader(word, nested), 1);
        }
    }

    /// Enters as the writer. Returns `true` if it had to wait.
    #[inline]
    pub(crate) fn write(&self) -> bool {
        // Acquire pairs with the Release of the thread that was inside before.
        let free = self
            .word
            .compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed);
        if free.is_ok() {
            return false;
        }
        self.wait(admits_writer, WRITER);
        true
    }

    /// Tries as long as the word admits this thread and others keep changing it.
    #[inline]
    fn try_enter(&self, admits: impl Fn(u32) -> bool, add: u32) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while admits(word) {
            assert!(
                word & READERS < READERS,
                "more than a thousand million readers of one shard"
            );
            // Acquire pairs with the Release of the thread that was inside before.
            match self.word.compare_exchange_weak(
                word,
                word + add,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Spins for about a microsecond, then sleeps.
    #[cold]
    fn wait(&self, admits: impl Fn(u32) -> bool + Copy, add: u32) {
        let rounds = if cfg!(loom) { 1 } else { 6 };
        for round in 0..rounds {
            if self.try_enter(admits, add) {
                return;
            }
            (0..1 << round).for_each(|_| spin_loop());
        }
        while !self.try_enter(admits, add) {
            self.park(admits);
        }
    }

    /// Sleeps until the lock is released, unless it already admits this thread.
    fn park(&self, admits: impl Fn(u32) -> bool) {
        let lot = self.lot();
        let quiet = lot
            .mutex
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if admits(word) {
                return;
            }
            if word & PARKED != 0 {
                break;
            }
            match self.word.compare_exchange_weak(
                word,
                word | PARKED,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        drop(lot.condvar.wait(quiet));
    }

    /// Wakes all threads in the lot, after `PARKED` was cleared.
    #[cold]
    fn wake(&self) {
        let lot = self.lot();
        drop(
            lot.mutex
                .lock()
                .unwrap_or_else(|broken| broken.into_inner()),
        );
        lot.condvar.notify_all();
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
        if before == PARKED | 1 {
            self.hand_on();
        }
    }

    /// Called by the last reader to leave while a thread sleeps.
    #[cold]
    fn hand_on(&self) {
        let cleared = self
            .word
            .compare_exchange(PARKED, 0, Ordering::Relaxed, Ordering::Relaxed);
        if cleared.is_ok() {
            self.wake();
        }
    }

    /// Leaves as the writer.
    #[inline]
    pub(crate) fn unwrite(&self) {
        // Release pairs with the Acquire of the thread that enters next.
        let before = self.word.swap(0, Ordering::Release);
        debug_assert!(before & !PARKED == WRITER, "left a lock never entered");
        if before & PARKED != 0 {
            self.wake();
        }
    }
}

/// A lock and the value that it protects.
pub(crate) struct Lock<T> {
    raw: RawLock,
    cell: UnsafeCell<T>,
}

// SAFETY: readers share `&T` across threads, which needs `T: Sync`. A writer takes `&mut T` in its
// own thread, which needs `T: Send`.
unsafe impl<T: Send + Sync> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Lock {
            raw: RawLock::new(),
            cell: UnsafeCell::new(value),
        }
    }

    #[inline]
    pub(crate) fn read(&self, nested: bool) -> ReadGuard<'_, T> {
        self.raw.read(nested);
        ReadGuard { lock: self }
    }

    /// The guard, and whether the thread had to wait.
    #[inline]
    pub(crate) fn write(&self) -> (WriteGuard<'_, T>, bool) {
        let waited = self.raw.write();
        (WriteGuard { lock: self }, waited)
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.cell.get_mut()
    }

    pub(crate) fn into_inner(self) -> T {
        self.cell.into_inner()
    }
}

impl<T> fmt::Debug for Lock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").finish_non_exhaustive()
    }
}

/// Shared access to a lock's value.
pub(crate) struct ReadGuard<'a, T> {
    lock: &'a Lock<T>,
}

/// Sole access to a lock's value.
pub(crate) struct WriteGuard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Deref for ReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard is one of the lock's readers until it is dropped,
        // and no writer enters before all of them have left.
        unsafe { &*self.lock.cell.get() }
    }
}

impl<T> Deref for WriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard is the lock's only holder until it is dropped.
        unsafe { &*self.lock.cell.get() }
    }
}

impl<T> DerefMut for WriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the lock's only holder until it is dropped,
        // and `&mut self` is the only way to it.
        unsafe { &mut *self.lock.cell.get() }
    }
}

impl<T> Drop for ReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.raw.unread();
    }
}

impl<T> Drop for WriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.raw.unwrite();
    }
}
