//! Counters: what each seat has done. Written by the holder of the seat alone, with plain loads
//! and stores, so they cost next to nothing; read by anybody, roughly.
#![forbid(unsafe_code)]

use crate::sync::{AtomicU64, Ordering};

/// One number that one thread counts up and others read.
#[derive(Debug)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.get().wrapping_add(n), Ordering::Relaxed);
    }
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters of one seat.
        #[derive(Debug)]
        pub(crate) struct Counters { $(pub(crate) $name: Counter,)* }

        impl Counters {
            pub(crate) fn new() -> Self {
                Self { $($name: Counter::new(),)* }
            }
            pub(crate) fn read(&self) -> SeatStats {
                SeatStats { $($name: self.$name.get(),)* }
            }
        }

        /// What has been done on one seat, or on all of them together.
        ///
        /// ```
        /// # let pool = tine_pool::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        /// pool.install(|| tine_pool::join(|| (), || ()));
        /// assert!(pool.stats().total().jobs >= 1);
        /// ```
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct SeatStats { $($(#[$doc])* pub $name: u64,)* }

        impl SeatStats {
            fn plus(self, other: &Self) -> Self {
                Self { $($name: self.$name + other.$name,)* }
            }
        }
    };
}

counters! {
    /// Jobs run that did not come from this seat's own joins: stolen, spawned, injected.
    jobs,
    /// Jobs taken from another seat.
    stolen,
    /// Jobs of joins that were made visible to other seats.
    published,
    /// Times that the thread of this seat went to sleep for want of work.
    parks,
    /// Times that the holder of this seat woke another thread.
    wakes,
    /// Times that an ordinary thread held this seat.
    guests,
}

/// What a pool has done so far; see [`ThreadPool::stats`](crate::ThreadPool::stats).
///
/// The numbers are taken one after the other while the pool may be at work, so they need not
/// fit each other to the last job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// One entry for each seat.
    pub seats: Vec<SeatStats>,
    /// Threads that the system refused to start.
    pub refused_threads: usize,
}

impl PoolStats {
    /// All seats together.
    ///
    /// ```
    /// let pool = tine_pool::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.stats().seats.len(), 2);
    /// assert_eq!(pool.stats().total().guests, 0);
    /// ```
    pub fn total(&self) -> SeatStats {
        self.seats
            .iter()
            .fold(SeatStats::default(), SeatStats::plus)
    }
}
