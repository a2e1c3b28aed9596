//! How a thread waits for a lock that is held for nanoseconds, or for long.

use crate::kit::sync::{Mutex, MutexGuard, spin_loop};
use std::sync::TryLockError;

/// How one thread waits for a lock that others hold for nanoseconds, or for
/// as long as it takes.
///
/// A thread that hands the iterator to itself is much faster than two that
/// take turns. So the more often a thread finds the lock taken, the longer it
/// stays away before it looks again; the more often it finds it free, the less.
/// A holder that stays for long waits for something itself, and then there is
/// no point in looking.
#[derive(Default)]
pub(super) struct Patience(u32);

impl Patience {
    /// The longest wait between two looks, as a power of two: microseconds.
    const MOST: u32 = 8;

    /// How often to look, at that, before going to sleep.
    const LOOKS: u32 = 3;

    /// Locks, or returns `None` if the lock is poisoned.
    pub(super) fn lock<'l, T>(&mut self, lock: &'l Mutex<T>) -> Option<MutexGuard<'l, T>> {
        let mut looks = 0;
        loop {
            match lock.try_lock() {
                Ok(guard) => {
                    self.0 = self.0.saturating_sub(1);
                    return Some(guard);
                }
                Err(TryLockError::Poisoned(_)) => return None,
                Err(TryLockError::WouldBlock) if looks == Self::LOOKS => return lock.lock().ok(),
                Err(TryLockError::WouldBlock) => (0..1 << self.0).for_each(|_| spin_loop()),
            }
            looks += u32::from(self.0 == Self::MOST);
            self.0 = (self.0 + 1).min(Self::MOST);
        }
    }
}
