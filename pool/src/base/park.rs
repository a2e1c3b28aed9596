//! One thread asleep on one word.
//!
//! A [`Parker`] holds one token. `unpark` leaves it there, `park` takes it away and sleeps while
//! there is none. A token may be left by somebody whose reason is long gone, so whoever returns
//! from `park` looks again at what it waited for.
//!
//! Parkers are never freed. A waker may reach one after its sleeper has gone on, and even after
//! the sleeper's pool or thread has ended; instead of counting references, parkers are lent from
//! a free list and go back to it ([`Lease`]). A late `unpark` then hits a living word, and at
//! worst wakes its next user once for nothing.

use crate::base::sync::Ordering;
use std::time::Duration;

pub(crate) use self::imp::Parker;

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
    use std::sync::{Mutex, PoisonError};

    static FREE: Mutex<Vec<&'static Parker>> = Mutex::new(Vec::new());

    impl Lease {
        pub(crate) fn new() -> Self {
            let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
            Self(
                free.pop()
                    .unwrap_or_else(|| Box::leak(Box::new(Parker::new()))),
            )
        }
    }

    impl Drop for Lease {
        fn drop(&mut self) {
            FREE.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(self.0);
        }
    }
}

#[cfg(loom)]
impl Lease {
    pub(crate) fn new() -> Self {
        Self(Box::leak(Box::new(Parker::new())))
    }
}

/// Linux: the token is the futex word.
#[cfg(all(target_os = "linux", not(loom)))]
mod imp {
    use super::{Duration, Ordering};
    use crate::base::sync::AtomicU32;

    const EMPTY: u32 = 0;
    const TOKEN: u32 = 1;
    const ASLEEP: u32 = 2;

    #[derive(Debug)]
    #[repr(align(128))]
    pub(crate) struct Parker(AtomicU32);

    impl Parker {
        pub(crate) const fn new() -> Self {
            Self(AtomicU32::new(EMPTY))
        }

        pub(crate) fn park(&self) {
            self.park_until(None);
        }

        /// Sleeps for at most `limit`; says whether there was a token.
        pub(crate) fn park_timeout(&self, limit: Duration) -> bool {
            self.park_until(Some(limit))
        }

        fn park_until(&self, limit: Option<Duration>) -> bool {
            // Acquire: pairs with the swap in `unpark`.
            if self
                .0
                .compare_exchange(EMPTY, ASLEEP, Ordering::Acquire, Ordering::Acquire)
                .is_ok()
            {
                loop {
                    futex_wait(&self.0, ASLEEP, limit);
                    if limit.is_some() || self.0.load(Ordering::Relaxed) == TOKEN {
                        break;
                    }
                }
            }
            // Acquire: pairs with the swap in `unpark`. A swap, since with a time limit the
            // token may come between the end of the wait and this line.
            self.0.swap(EMPTY, Ordering::Acquire) == TOKEN
        }

        /// Leaves a token; says whether somebody had to be woken for it.
        pub(crate) fn unpark(&self) -> bool {
            // Release: pairs with the exchange in `park_until`. A swap and not a store: a store
            // could overtake the sleeper's own step to ASLEEP unseen.
            let asleep = self.0.swap(TOKEN, Ordering::Release) == ASLEEP;
            if asleep {
                futex_wake(&self.0);
            }
            asleep
        }
    }

    fn futex_wait(word: &AtomicU32, expected: u32, limit: Option<Duration>) {
        let limit = limit.map(|d| libc::timespec {
            tv_sec: d.as_secs() as libc::time_t,
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

    fn futex_wake(word: &AtomicU32) {
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

/// Elsewhere, and in models: a lock and a condition variable.
#[cfg(any(not(target_os = "linux"), loom))]
mod imp {
    use super::{Duration, Ordering};
    use crate::base::sync::{AtomicBool, Condvar, Mutex};

    #[derive(Debug)]
    pub(crate) struct Parker {
        token: AtomicBool,
        lock: Mutex<()>,
        changed: Condvar,
    }

    impl Parker {
        pub(crate) fn new() -> Self {
            Self {
                token: AtomicBool::new(false),
                lock: Mutex::new(()),
                changed: Condvar::new(),
            }
        }

        pub(crate) fn park(&self) {
            let mut held = self.lock.lock().unwrap();
            // Acquire: pairs with the swap in `unpark`.
            while !self.token.swap(false, Ordering::Acquire) {
                held = self.changed.wait(held).unwrap();
            }
        }

        /// Sleeps for at most `limit`; says whether there was a token.
        #[cfg(not(loom))]
        pub(crate) fn park_timeout(&self, limit: Duration) -> bool {
            let held = self.lock.lock().unwrap();
            // Acquire: pairs with the swap in `unpark`.
            let found = self.token.swap(false, Ordering::Acquire);
            if found {
                return true;
            }
            drop(self.changed.wait_timeout(held, limit).unwrap());
            // Acquire: as above.
            self.token.swap(false, Ordering::Acquire)
        }

        #[cfg(loom)]
        pub(crate) fn park_timeout(&self, _: Duration) -> bool {
            self.park();
            true
        }

        /// Leaves a token; says whether there was none before.
        pub(crate) fn unpark(&self) -> bool {
            // Release: pairs with the swaps above.
            let fresh = !self.token.swap(true, Ordering::Release);
            drop(self.lock.lock().unwrap());
            self.changed.notify_one();
            fresh
        }
    }
}
