//! Keys that were met again, and that own memory.
//!
//! A key is dropped on the spot as long as that is quick: if a worker is alone, or if the thread
//! made the key itself. If two threads give memory back to one arena of the allocator, they wait
//! for each other's cache line at each piece. So once there are two workers, each times some of its
//! drops. If drops are slow, keys are kept in rows. They are kept to the end of the call, where the
//! caller drops them, who most likely made them. By then the source of the keys has given its
//! memory back; a large piece that comes back to glibc while many small pieces are free costs as
//! much as all their drops. If the keys weigh too much, or the system has no memory for them, each
//! row is dropped while no other thread drops one.
//!
//! The weight of a key is the number of bytes that it hands to a hasher. If a key seems to own more
//! than that, no keys are kept. A drop that takes as long as the drop of a large piece does not
//! show that threads wait for each other.
#![forbid(unsafe_code)]

use crate::farewell::Kept;
use crate::foretaste::{drop_ahead, place, weight};
use std::hash::Hash;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

/// This many keys make a row.
const ROW: usize = 256;
/// A row of this many keys is dropped whatever other threads do.
const MOST: usize = 1 << 13;
/// The keys that one call keeps to its end weigh at most this many bytes.
const HEAVIEST: usize = if cfg!(test) { 1 << 20 } else { 1 << 27 };
/// A worker keeps its first keys in a room of the first number of bytes. Each further room is four times as
/// large, up to the second number: that is enough for the system to give huge pages. Without huge pages, the
/// first touch of a page would cost as much as dropping the keys there.
const ROOM: (usize, usize) = (1 << 16, 1 << 22);
/// After this many drops a worker that was alone checks whether it still is.
const ALONE: usize = 128;
/// If each of N keys lies elsewhere than the key that was dropped before it, all keys were made earlier; this
/// is N.
const LOOKS: usize = 16;
/// One drop in this many is timed: the first figure until it is known whether drops are slow, then the second.
const TIMED: (usize, usize) = (16, 512);
/// After this many timed drops it is decided whether keys are kept in rows.
const TRIAL: usize = 32;
/// They are if more than one in this many was slow.
const SLOWED: usize = 4;
/// A drop that takes longer than this is slow; the time of two looks at the clock comes on top.
const SLOW: Duration = Duration::from_nanos(30);
/// A drop that takes longer than this is slow because of what it drops.
const HEAVY: Duration = Duration::from_micros(1);

/// What the workers of one call know of each other's drops.
#[derive(Default)]
pub(super) struct Drops {
    /// How many workers have begun.
    workers: AtomicUsize,
    /// Held while a row is dropped. No thread waits for it.
    turn: Mutex<()>,
    /// Whether a worker found drops to be slow.
    slow: AtomicBool,
    /// The weight of the keys that are kept to the end of the call.
    weight: AtomicUsize,
}

/// Keys of one worker that are to be dropped.
pub(super) struct Spent<'a, K> {
    way: Way<K>,
    row: Vec<K>,
    /// The row's length, or the number of keys dropped on the spot, at which `act` is called.
    due: usize,
    count: usize,
    /// Full rooms.
    kept: Vec<Kept<K>>,
    drops: &'a Drops,
}

/// How keys are dropped.
enum Way<K> {
    Alone,
    /// Checks whether a key lies where the last dropped key lay.
    Looking {
        last: usize,
        looks: usize,
    },
    /// A drop is slow if it takes longer than `limit`.
    Timed {
        timed: usize,
        slow: usize,
        limit: Duration,
    },
    /// Keys are kept to the end of the call.
    Kept(Kept<K>),
    InRows,
}

/// A timed drop is slow if it takes longer than this: reading a clock may itself take longer than a drop.
fn limit() -> Duration {
    let look = |_| Instant::now().elapsed();
    let least = (0..4).map(look).min();
    least.unwrap_or_default() + SLOW
}

impl<'a, K: Hash> Spent<'a, K> {
    pub(super) fn new(drops: &'a Drops) -> Self {
        // Relaxed: a hint that orders nothing.
        drops.workers.fetch_add(1, Ordering::Relaxed);
        Spent {
            way: Way::Alone,
            row: Vec::new(),
            // Some systems without threads have no clock.
            due: if cfg!(target_family = "wasm") {
                usize::MAX
            } else {
                ALONE
            },
            count: 0,
            kept: Vec::new(),
            drops,
        }
    }

    /// The keys that are left to be dropped at the end of the call.
    pub(super) fn into_kept(self) -> Vec<Kept<K>> {
        // Before there is a result: it is not dropped if a destructor panics after it.
        drop(self.row);
        let mut kept = self.kept;
        if let Way::Kept(last) = self.way {
            kept.push(last);
        }
        kept
    }

    /// Drops the key, now or later.
    #[inline(always)] // as what calls it
    pub(super) fn push(&mut self, key: K) {
        if const { !mem::needs_drop::<K>() } {
            return;
        }
        self.count += 1;
        if self.count >= self.due {
            self.act(key);
        } else {
            match &mut self.way {
                Way::Kept(room) => room.push(key),
                Way::InRows => self.row.push(key),
                Way::Alone | Way::Looking { .. } | Way::Timed { .. } => drop(key),
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn act(&mut self, key: K) {
        match &mut self.way {
            Way::Alone => {
                drop(key);
                self.count = 0;
                // Relaxed: as above.
                if self.drops.workers.load(Ordering::Relaxed) > 1 {
                    (self.way, self.due) = (Way::Looking { last: 0, looks: 0 }, 1);
                }
            }
            Way::Looking { last, looks } => {
                let (place, is_all) = place(&key);
                drop(key);
                self.count = 0;
                if !is_all || place == *last {
                    self.due = TIMED.0;
                    self.way = Way::Timed {
                        timed: 0,
                        slow: 0,
                        limit: limit(),
                    };
                } else if *looks == LOOKS {
                    self.keep();
                } else {
                    (*last, *looks) = (place, *looks + 1);
                }
            }
            Way::Timed { timed, slow, limit } => {
                let (_, is_all) = place(&key);
                let start = Instant::now();
                drop(key);
                let took = start.elapsed();
                *slow += usize::from(took > *limit && took < HEAVY);
                *timed += 1;
                self.due = if *timed < TRIAL { TIMED.0 } else { TIMED.1 };
                self.count = 0;
                // Relaxed: a hint, as above.
                if *timed % TRIAL == 0 && mem::take(slow) > TRIAL / SLOWED {
                    self.drops.slow.store(true, Ordering::Relaxed);
                }
                if self.drops.slow.load(Ordering::Relaxed) {
                    match is_all {
                        true => self.keep(),
                        false => (self.way, self.due) = (Way::InRows, ROW),
                    }
                }
            }
            Way::Kept(room) => {
                // Relaxed: only a count.
                let weight = weight(&key).saturating_mul(ROW).min(HEAVIEST);
                let before = self.drops.weight.fetch_add(weight, Ordering::Relaxed);
                room.push(key);
                self.count = 0;
                if before > HEAVIEST || room.left() < ROW {
                    self.keep();
                }
            }
            Way::InRows => {
                self.row.push(key);
                self.drop_row();
            }
        }
    }

    /// Begins to keep keys to the end of the call, or goes on with another room; if that is not possible, keeps
    /// keys in rows.
    fn keep(&mut self) {
        (self.count, self.due) = (0, ROW);
        let full = match &self.way {
            Way::Kept(_) => self.kept.len() + 1,
            _ => 0,
        };
        let bytes = ROOM.1.min(ROOM.0 << (2 * full).min(6));
        // Relaxed: only a count.
        let weight = self.drops.weight.load(Ordering::Relaxed);
        let room = (weight <= HEAVIEST).then(|| Kept::of_bytes(bytes));
        let way = room.flatten().map_or(Way::InRows, Way::Kept);
        if let Way::Kept(full) = mem::replace(&mut self.way, way) {
            self.kept.push(full);
        }
    }

    fn drop_row(&mut self) {
        let _turn = match self.drops.turn.try_lock() {
            Ok(turn) => Some(turn),
            Err(TryLockError::Poisoned(broken)) => Some(broken.into_inner()),
            Err(TryLockError::WouldBlock) if self.row.len() < MOST => {
                self.due = self.count + ROW;
                return;
            }
            Err(TryLockError::WouldBlock) => None,
        };
        (self.count, self.due) = (0, ROW);
        drop_ahead(&mut self.row);
    }
}

#[cfg(test)]
mod tests {
    use super::{ALONE, Drops, HEAVIEST, LOOKS, MOST, ROW, Spent, Way};
    use crate::farewell::{Kept, drop_kept};
    use std::hash::Hash;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    fn in_rows(drops: &Drops) -> Spent<'_, Arc<usize>> {
        let mut spent = Spent::new(drops);
        (spent.way, spent.due) = (Way::InRows, ROW);
        spent
    }

    #[test]
    fn keys_are_dropped_once() {
        let drops = Drops::default();
        let key = Arc::new(0);
        for count in [0, 1, ROW - 1, ROW, 3 * ROW + 1] {
            let mut spent = in_rows(&drops);
            (0..count).for_each(|_| spent.push(key.clone()));
            assert_eq!(Arc::strong_count(&key), 1 + count % ROW);
            drop(spent);
            let mut spent = Spent::new(&drops);
            (0..count).for_each(|_| spent.push(key.clone()));
            drop(spent);
            assert_eq!(Arc::strong_count(&key), 1);
        }
    }

    /// A worker that is alone does not look further at its drops. Of two workers, one whose keys were made
    /// earlier keeps them, and the other times its drops.
    #[test]
    fn keys_that_were_made_before_are_kept() {
        let drops = Drops::default();
        let mut spent = Spent::new(&drops);
        (0..3 * ALONE).for_each(|i| spent.push(i.to_string()));
        assert!(matches!(spent.way, Way::Alone));
        let mut other: Spent<'_, String> = Spent::new(&drops);
        let before: Vec<_> = (0..ALONE + LOOKS + 1).map(|i| i.to_string()).collect();
        before.into_iter().for_each(|key| spent.push(key));
        let is_kept = matches!(spent.way, Way::Kept(_));
        assert_eq!(is_kept, Kept::<String>::of_bytes(1).is_some());
        (0..ALONE).for_each(|_| other.push(String::new()));
        other.push(String::new());
        other.push(String::new());
        assert!(matches!(other.way, Way::Timed { .. }));
        // All empty strings lie at the same place.
        let numbers = Drops::default();
        let mut third: Spent<'_, Box<u8>> = Spent::new(&numbers);
        let _fourth: Spent<'_, Box<u8>> = Spent::new(&numbers);
        (0..=ALONE).for_each(|_| third.push(Box::new(0)));
        assert!(matches!(third.way, Way::Timed { .. }));
    }

    #[test]
    fn what_is_kept_is_dropped_once() {
        let key = Arc::new(0);
        for count in [0, 1, ROW - 1, ROW, 3 * ROW + 1, 100 * ROW] {
            let drops = Drops::default();
            let mut spent = Spent::new(&drops);
            spent.keep();
            if !matches!(spent.way, Way::Kept(_)) {
                return;
            }
            (0..count).for_each(|_| spent.push(key.clone()));
            assert_eq!(Arc::strong_count(&key), 1 + count);
            let kept = spent.into_kept();
            assert_eq!(Arc::strong_count(&key), 1 + count);
            drop_kept(kept);
            assert_eq!(Arc::strong_count(&key), 1);
        }
    }

    /// Also if the destructor of a key that is left in a row panics.
    #[test]
    fn what_is_kept_is_dropped_once_beside_a_panic() {
        struct Key {
            _alive: Arc<()>,
            angry: bool,
        }
        impl Hash for Key {
            fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
        }
        impl Drop for Key {
            fn drop(&mut self) {
                assert!(!self.angry, "on purpose");
            }
        }
        let (alive, drops) = (Arc::new(()), Drops::default());
        let key = |angry| Key {
            _alive: alive.clone(),
            angry,
        };
        let mut spent = Spent::new(&drops);
        spent.keep();
        spent.push(key(false));
        drops.weight.store(2 * HEAVIEST, Ordering::Relaxed);
        (1..=ROW).for_each(|_| spent.push(key(false)));
        spent.row.push(key(true));
        let left = catch_unwind(AssertUnwindSafe(|| spent.into_kept().len()));
        assert!(left.is_err());
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    /// Keys that weigh much are kept only up to a limit.
    #[test]
    fn not_any_weight_is_kept() {
        let drops = Drops::default();
        let mut spent = Spent::new(&drops);
        spent.keep();
        let key = "much".repeat(1 << 10);
        let most = 4 * HEAVIEST / key.len();
        (0..most).for_each(|_| spent.push(key.clone()));
        assert!(matches!(spent.way, Way::InRows));
        let kept = spent.into_kept();
        assert!(kept.iter().map(Kept::len).sum::<usize>() < most);
    }

    /// While another thread has the turn, keys are kept; but only up to a limit.
    #[test]
    fn rows_wait_for_their_turn() {
        let drops = Drops::default();
        let key = Arc::new(0);
        let mut spent = in_rows(&drops);
        let held = drops.turn.lock();
        (1..MOST).for_each(|_| spent.push(key.clone()));
        assert_eq!(Arc::strong_count(&key), MOST);
        spent.push(key.clone());
        assert_eq!(Arc::strong_count(&key), 1);
        (0..ROW).for_each(|_| spent.push(key.clone()));
        assert_eq!(Arc::strong_count(&key), 1 + ROW);
        drop(held);
        (0..ROW).for_each(|_| spent.push(key.clone()));
        assert_eq!(Arc::strong_count(&key), 1);
    }
}
