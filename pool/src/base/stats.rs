//! Counters: what each seat has done. Only the holder of the seat writes them, with plain loads and
//! stores, so they cost next to nothing. Any thread may read them, roughly.
#![forbid(unsafe_code)]

use crate::base::sync::{AtomicU64, Ordering};
use std::fmt::{self, Display, Formatter};

/// A number that one thread counts up and others read.
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

        /// Counts what has been done on one seat, or on all seats together.
        ///
        /// ```
        /// # use tine_pool as tine;
        /// # let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        /// pool.install(|| tine::join(|| (), || ()));
        /// let total = pool.stats().total();
        /// assert!(total.jobs >= 1);
        /// assert!(total.to_string().contains(", wakes "), "{total}");
        /// ```
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct SeatStats { $($(#[$doc])* pub $name: u64,)* }

        impl SeatStats {
            fn plus(self, other: &Self) -> Self {
                Self { $($name: self.$name + other.$name,)* }
            }
            const NAMES: &[&str] = &[$(stringify!($name),)*];
            fn numbers(&self) -> impl Iterator<Item = u64> + use<> {
                [$(self.$name,)*].into_iter()
            }
        }
    };
}

counters! {
    /// Jobs that ran here, other than those of this seat's own joins: stolen, spawned, injected.
    jobs,
    /// Jobs taken from another seat.
    stolen,
    /// Jobs of joins that were made visible to other seats.
    published,
    /// How often the thread of this seat has gone to sleep because there was no work.
    parks,
    /// How often the holder of this seat has woken another thread.
    wakes,
    /// How often an ordinary thread has held this seat.
    guests,
}

/// Counts what a pool has done so far; see [`ThreadPool::stats`](crate::ThreadPool::stats). Prints
/// as a table.
///
/// The numbers are read one after the other while the pool may be at work, so they may differ by a
/// few jobs.
///
/// ```
/// # use tine_pool as tine;
/// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// let stats = pool.stats();
/// assert_eq!((stats.seats.len(), stats.refused_threads), (2, 0));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// An entry for each seat, then one for each spare seat that has been in use; see
    /// [`blocking`](crate::blocking()).
    pub seats: Vec<SeatStats>,
    /// Threads that the system refused to start.
    pub refused_threads: usize,
}

impl PoolStats {
    /// All seats together.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.stats().seats.len(), 2);
    /// assert_eq!(pool.stats().total().guests, 0);
    /// ```
    pub fn total(&self) -> SeatStats {
        self.seats
            .iter()
            .fold(SeatStats::default(), SeatStats::plus)
    }
}

/// In a line: `jobs 12, stolen 3, ...`.
impl Display for SeatStats {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for (name, number) in Self::NAMES.iter().zip(self.numbers()) {
            write!(f, "{comma}{name} {number}")?;
            comma = ", ";
        }
        Ok(())
    }
}

/// As a table, 76 columns wide: a row for each seat, and one for all.
///
/// ```
/// # use tine_pool as tine;
/// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// pool.install(|| tine::join(|| (), || ()));
/// let table = pool.stats().to_string();
/// println!("{table}");
/// // seat        jobs      stolen   published       parks       wakes      guests
/// //    0           1           0           0           1           0           0
/// //    1           0           0           0           1           0           0
/// //  all           1           0           0           2           0           0
/// assert_eq!(table.lines().count(), 4);
/// assert!(table.lines().all(|line| line.len() <= 80));
/// ```
impl Display for PoolStats {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("seat")?;
        for name in SeatStats::NAMES {
            write!(f, "{name:>12}")?;
        }
        for (index, seat) in self.seats.iter().enumerate() {
            write!(f, "\n{index:>4}{}", Cells(seat))?;
        }
        write!(f, "\n all{}", Cells(&self.total()))?;
        if self.refused_threads > 0 {
            write!(f, "\nthreads that were refused: {}", self.refused_threads)?;
        }
        Ok(())
    }
}

/// Numbers under each other, rounded to millions or more where they are too long.
struct Cells<'a>(&'a SeatStats);

impl Display for Cells<'_> {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for number in self.0.numbers() {
            match number {
                0..=9_999_999_999 => write!(f, "{number:>12}")?,
                10_000_000_000..=9_999_999_999_999_999 => {
                    write!(f, "{:>11}M", number / 1_000_000)?;
                }
                _ => write!(f, "{:>11}T", number / 1_000_000_000_000)?,
            }
        }
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{PoolStats, SeatStats};

    #[test]
    fn the_table_keeps_its_width_whatever_the_numbers() {
        let seat = |jobs| SeatStats {
            jobs,
            ..SeatStats::default()
        };
        let stats = PoolStats {
            seats: vec![seat(9_999_999_999), seat(20_000_000_000), seat(1 << 62)],
            refused_threads: 2,
        };
        let table = stats.to_string();
        let lines: Vec<_> = table.lines().collect();
        assert!(lines[..5].iter().all(|line| line.len() == 76), "{table}");
        assert!(lines[1].starts_with("   0  9999999999 "), "{table}");
        assert!(lines[2].starts_with("   1      20000M "), "{table}");
        assert!(lines[3].starts_with("   2    4611686T "), "{table}");
        assert_eq!(lines[5], "threads that were refused: 2");
    }
}
