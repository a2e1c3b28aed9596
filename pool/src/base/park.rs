//! One thread asleep on one word.
//!
//! A [`Parker`] holds one token. `unpark` leaves it there. `park` takes it away, and sleeps while
//! there is none. A token may be left for an outdated reason, so a thread that returns from `park`
//! checks again what it waited for.
//!
//! Parkers are never freed. A waker may reach one after its sleeper has gone on, and even after the
//! sleeper's pool or thread has ended. Parkers do not count references: they are lent from a free
//! list and go back to it ([`Lease`]). A late `unpark` then hits a living word, and at worst wakes
//! its next user once without need.

use self::futex::Futex;
use crate::base::sync::{AtomicU32, Ordering};
use std::time::Duration;

const EMPTY: u32 = 0;
const TOKEN: u32 = 1;
const ASLEEP: u32 = 2;

/// The word is EMPTY, holds a TOKEN, or says that its one sleeper is ASLEEP or about to be.
///
/// ```text
///         unpark            park
///   EMPTY ───────► TOKEN ──────────► EMPTY
///     │ park         ▲
///     ▼              │ unpark, which wakes
///   ASLEEP ──────────┘
/// ```
///
/// The futex sleeps only while the word still says ASLEEP, so a token that comes in between is
/// seen. A wake may come late, when the sleeper has taken its token and lain down again. So the
/// sleeper goes by the word, and not by having been woken.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Parker {
    word: AtomicU32,
    futex: Futex,
}

impl Parker {
    pub(crate) fn new() -> Self {
        Self {
            word: AtomicU32::new(EMPTY),
            futex: Futex::new(),
        }
    }

    pub(crate) fn park(&self) {
        self.park_until(None);
    }

    /// Sleeps for at most `limit`. Returns whether there was a token.
    pub(crate) fn park_timeout(&self, limit: Duration) -> bool {
        self.park_until(Some(limit))
    }

    fn park_until(&self, limit: Option<Duration>) -> bool {
        // Relaxed: what a token hands on is taken by the swap below.
        let empty = self
            .word
            .compare_exchange(EMPTY, ASLEEP, Ordering::Relaxed, Ordering::Relaxed);
        if empty.is_ok() {
            loop {
                self.futex.wait(&self.word, ASLEEP, limit);
                if limit.is_some() || self.word.load(Ordering::Relaxed) == TOKEN {
                    break;
                }
            }
        }
        // Acquire: pairs with the swap in `unpark`. A swap, since with a time limit the
        // token may come between the end of the wait and this line.
        self.word.swap(EMPTY, Ordering::Acquire) == TOKEN
    }

    /// Leaves a token, unless there is one. Before this, the caller writes what the sleeper is to
    /// see, and fences. If the sleeper takes the token, and fences before it looks, it sees what
    /// was written.
    pub(crate) fn unpark_once(&self) {
        // Relaxed: ordered by the fence.
        if self.word.load(Ordering::Relaxed) != TOKEN {
            self.unpark();
        }
    }

    /// Leaves a token if the sleeper sleeps.
    pub(crate) fn rouse(&self) {
        // Relaxed: a guess, for which nothing waits.
        if self.word.load(Ordering::Relaxed) == ASLEEP {
            self.unpark();
        }
    }

    /// Whether a sleeper sleeps, or was woken and has not gone on yet, or an old token lies there.
    pub(crate) fn is_in_use(&self) -> bool {
        self.word.load(Ordering::Relaxed) != EMPTY
    }

    /// Leaves a token. Returns whether it had to wake a sleeper for it.
    pub(crate) fn unpark(&self) -> bool {
        // Release: pairs with the swap in `park_until`. A swap and not a store: a store
        // could overtake the sleeper's own step to ASLEEP unseen.
        let asleep = self.word.swap(TOKEN, Ordering::Release) == ASLEEP;
        if asleep {
            self.futex.wake(&self.word);
        }
        asleep
    }
}

/// A parker on loan from the free list, given back when dropped.
#[derive(Debug)]
pub(crate) struct Lease(&'static Parker);

impl Lease {
    pub(crate) fn parker(&self) -> &'static Parker {
        self.0
    }
}

#[cfg(not(loom))]
mod pool_of_parkers {
    use super::{Lease, Parker};
    use crate::base::sync::yield_now;
    use crate::base::sys::fork;
    use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

    static FREE: Mutex<Vec<&'static Parker>> = Mutex::new(Vec::new());

    /// The list, unless it stays locked. It does so for ever in a child that was forked while
    /// another thread held the lock.
    fn free() -> Option<MutexGuard<'static, Vec<&'static Parker>>> {
        if fork::generation() == 0 {
            return Some(FREE.lock().unwrap_or_else(PoisonError::into_inner));
        }
        for _ in 0..1_000 {
            match FREE.try_lock() {
                Ok(free) => return Some(free),
                Err(TryLockError::Poisoned(free)) => return Some(free.into_inner()),
                Err(TryLockError::WouldBlock) => yield_now(),
            }
        }
        None
    }

    impl Lease {
        pub(crate) fn new() -> Self {
            let used = free().and_then(|mut free| free.pop());
            Self(used.unwrap_or_else(|| Box::leak(Box::new(Parker::new()))))
        }
    }

    impl Drop for Lease {
        fn drop(&mut self) {
            // A parker that finds no place is never used again.
            if let Some(mut free) = free() {
                free.push(self.0);
            }
        }
    }
}

#[cfg(loom)]
impl Lease {
    pub(crate) fn new() -> Self {
        Self(Box::leak(Box::new(Parker::new())))
    }
}

/// Linux's own.
#[cfg(all(target_os = "linux", not(loom)))]
mod futex {
    use super::Duration;
    use crate::base::sync::AtomicU32;

    /// The kernel has everything, by the word's address.
    #[derive(Debug)]
    pub(super) struct Futex;

    impl Futex {
        pub(super) fn new() -> Self {
            Self
        }

        /// Sleeps, if the word is as expected; for at most `limit`, and perhaps for no time.
        pub(super) fn wait(&self, word: &AtomicU32, expected: u32, limit: Option<Duration>) {
            let limit = limit.map(|d| libc::timespec {
                tv_sec: d.as_secs() as _,
                tv_nsec: d.subsec_nanos() as libc::c_long,
            });
            let limit = limit
                .as_ref()
                .map_or(std::ptr::null(), |t| t as *const libc::timespec);
            // SAFETY: the word and the time outlive the call; the kernel only reads them.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    word.as_ptr(),
                    libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                    expected,
                    limit,
                )
            };
        }

        /// Wakes the thread that sleeps on the word.
        pub(super) fn wake(&self, word: &AtomicU32) {
            // SAFETY: parkers are never freed, and the kernel uses the address as a name only.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    word.as_ptr(),
                    libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                    1,
                )
            };
        }
    }
}

/// Elsewhere, and in models: what the kernel does, by a lock and a condition variable.
#[cfg(any(not(target_os = "linux"), loom))]
mod futex {
    use super::{Duration, Ordering};
    use crate::base::sync::{AtomicU32, Condvar, Mutex};

    #[derive(Debug)]
    pub(super) struct Futex {
        lock: Mutex<()>,
        woken: Condvar,
    }

    impl Futex {
        pub(super) fn new() -> Self {
            Self {
                lock: Mutex::new(()),
                woken: Condvar::new(),
            }
        }

        /// Sleeps, if the word is as expected; for at most `limit`, and perhaps for no time.
        pub(super) fn wait(&self, word: &AtomicU32, expected: u32, limit: Option<Duration>) {
            // Nothing panics while it is held.
            let held = self.lock.lock().unwrap();
            // Under the lock, which `wake` takes after the word was changed. So either this thread
            // sees the change, or the wake comes when it sleeps.
            if word.load(Ordering::Relaxed) != expected {
                return;
            }
            match limit {
                None => drop(self.woken.wait(held).unwrap()),
                Some(limit) => sleep(&self.woken, held, limit),
            }
        }

        /// Wakes the thread that sleeps on the word.
        pub(super) fn wake(&self, _: &AtomicU32) {
            drop(self.lock.lock().unwrap());
            self.woken.notify_one();
        }
    }

    #[cfg(not(loom))]
    fn sleep(woken: &Condvar, held: std::sync::MutexGuard<'_, ()>, limit: Duration) {
        drop(woken.wait_timeout(held, limit).unwrap());
    }

    /// Models have no clock: the time is up as soon as another thread has had its turn.
    #[cfg(loom)]
    fn sleep(_: &Condvar, held: loom::sync::MutexGuard<'_, ()>, _: Duration) {
        drop(held);
        crate::base::sync::yield_now();
    }
}
