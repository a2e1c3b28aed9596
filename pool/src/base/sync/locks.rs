//! `std`'s locks as a harness sees them, for the crates above: an operation on a word before each
//! step, and the look again and again that precedes sleep. Sleep itself goes to the system, for
//! which the harness answers.
#![forbid(unsafe_code)]

use super::scheduled::{Point, spin_loop, touch};
use std::ops::{Deref, DerefMut};
use std::sync::{self as real, LockResult, PoisonError, TryLockError, TryLockResult};

/// The number of looks that a thread takes before it sleeps, as `std`'s lock does.
const LOOKS: u32 = 100;

/// `std`'s mutex.
#[derive(Debug, Default)]
pub struct Mutex<T>(real::Mutex<T>);

/// What holds it.
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    // `None` while a condition variable has it.
    held: Option<real::MutexGuard<'a, T>>,
    of: &'a Mutex<T>,
}

#[allow(missing_docs)]
impl<T> Mutex<T> {
    pub const fn new(value: T) -> Self {
        Self(real::Mutex::new(value))
    }

    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        touch(Point::Exchange, self.word());
        for look in 0..LOOKS {
            match self.0.try_lock() {
                Ok(held) => return Ok(self.guard(held)),
                Err(TryLockError::Poisoned(held)) => {
                    return Err(PoisonError::new(self.guard(held.into_inner())));
                }
                Err(TryLockError::WouldBlock) => {
                    if look == 0 {
                        touch(Point::Refused, self.word());
                    }
                    touch(Point::Load, self.word());
                    spin_loop();
                }
            }
        }
        touch(Point::Exchange, self.word());
        match self.0.lock() {
            Ok(held) => Ok(self.guard(held)),
            Err(held) => Err(PoisonError::new(self.guard(held.into_inner()))),
        }
    }

    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        touch(Point::Exchange, self.word());
        match self.0.try_lock() {
            Ok(held) => Ok(self.guard(held)),
            Err(TryLockError::Poisoned(held)) => Err(TryLockError::Poisoned(PoisonError::new(
                self.guard(held.into_inner()),
            ))),
            Err(TryLockError::WouldBlock) => {
                touch(Point::Refused, self.word());
                Err(TryLockError::WouldBlock)
            }
        }
    }

    pub fn into_inner(self) -> LockResult<T> {
        self.0.into_inner()
    }

    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.0.get_mut()
    }

    /// The word of `std`'s lock is its first.
    fn word(&self) -> *const u32 {
        std::ptr::from_ref(&self.0).cast()
    }

    fn guard<'a>(&'a self, held: real::MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        MutexGuard {
            held: Some(held),
            of: self,
        }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.held.as_ref().expect("held")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.held.as_mut().expect("held")
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if self.held.is_some() {
            touch(Point::Exchange, self.of.word());
        }
    }
}

/// `std`'s condition variable.
#[derive(Debug, Default)]
pub struct Condvar(real::Condvar);

#[allow(missing_docs)]
impl Condvar {
    pub const fn new() -> Self {
        Self(real::Condvar::new())
    }

    #[track_caller]
    pub fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        touch(Point::Load, self);
        touch(Point::Exchange, guard.of.word());
        let (of, held) = (guard.of, guard.held.take().expect("held"));
        match self.0.wait(held) {
            Ok(held) => Ok(of.guard(held)),
            Err(held) => Err(PoisonError::new(of.guard(held.into_inner()))),
        }
    }

    #[track_caller]
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    #[track_caller]
    pub fn notify_one(&self) {
        touch(Point::Exchange, self);
        self.0.notify_one();
    }

    #[track_caller]
    pub fn notify_all(&self) {
        touch(Point::Exchange, self);
        self.0.notify_all();
    }
}
