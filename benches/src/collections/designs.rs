//! Designs of a map in which reads write nothing. Each is built only as far as needed to measure
//! its reads and writes: none of them grows, forgets a key, or has zero as a key.

use crossbeam_epoch::{self as epoch, Atomic, Owned, Shared as Pointer};
use foldhash::fast::RandomState as Fold;
use std::hash::BuildHasher;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering, fence};

fn room(capacity: usize) -> usize {
    (capacity * 3 / 2).next_power_of_two()
}

/// Words that readers look at without a lock: no such table could cost less.
pub struct Words {
    pairs: Box<[(AtomicU64, AtomicU64)]>,
    hasher: Fold,
}

impl Words {
    pub fn new(capacity: usize) -> Self {
        let pair = || (AtomicU64::new(0), AtomicU64::new(0));
        Words {
            pairs: (0..room(capacity)).map(|_| pair()).collect(),
            hasher: Fold::default(),
        }
    }

    fn slots(&self, key: u64) -> impl Iterator<Item = &(AtomicU64, AtomicU64)> {
        let mask = self.pairs.len() - 1;
        let from = self.hasher.hash_one(key) as usize;
        (0..=mask).map(move |step| &self.pairs[(from + step) & mask])
    }

    pub fn put(&self, key: u64, value: u64) {
        for (there, slot) in self.slots(key + 1) {
            let found = there.load(Ordering::Relaxed);
            let mine = found == key + 1
                || found == 0
                    && match there.compare_exchange(0, key + 1, Ordering::AcqRel, Ordering::Acquire)
                    {
                        Ok(_) => true,
                        Err(now) => now == key + 1,
                    };
            if mine {
                return slot.store(value, Ordering::Release);
            }
        }
    }

    pub fn look(&self, key: u64) -> u64 {
        for (there, slot) in self.slots(key + 1) {
            match there.load(Ordering::Acquire) {
                0 => return 0,
                found if found == key + 1 => return slot.load(Ordering::Acquire),
                _ => {}
            }
        }
        0
    }
}

/// Inline entries with a version: three to a cache line, read word by word, and read again if a
/// writer was there meanwhile.
pub struct Versions {
    buckets: Box<[Bucket]>,
    hasher: Fold,
}

#[repr(align(64))]
#[derive(Default)]
struct Bucket {
    /// Odd while a writer is here.
    version: AtomicU64,
    pairs: [(AtomicU64, AtomicU64); 3],
}

impl Versions {
    pub fn new(capacity: usize) -> Self {
        let count = room(capacity).div_ceil(2);
        Versions {
            buckets: (0..count).map(|_| Bucket::default()).collect(),
            hasher: Fold::default(),
        }
    }

    fn buckets(&self, key: u64) -> impl Iterator<Item = &Bucket> {
        let mask = self.buckets.len() - 1;
        let from = self.hasher.hash_one(key) as usize;
        (0..=mask).map(move |step| &self.buckets[(from + step) & mask])
    }

    pub fn put(&self, key: u64, value: u64) {
        for bucket in self.buckets(key + 1) {
            let version = loop {
                let version = bucket.version.load(Ordering::Relaxed);
                let taken = bucket.version.compare_exchange_weak(
                    version & !1,
                    version | 1,
                    Ordering::Acquire,
                    Ordering::Relaxed,
                );
                if taken.is_ok() {
                    break version | 1;
                }
                spin_loop();
            };
            fence(Ordering::Release);
            let free = bucket.pairs.iter().find(|(there, _)| {
                let there = there.load(Ordering::Relaxed);
                there == key + 1 || there == 0
            });
            if let Some((there, slot)) = free {
                there.store(key + 1, Ordering::Relaxed);
                slot.store(value, Ordering::Relaxed);
            }
            bucket.version.store(version + 1, Ordering::Release);
            if free.is_some() {
                return;
            }
        }
    }

    pub fn look(&self, key: u64) -> u64 {
        for bucket in self.buckets(key + 1) {
            let (found, full) = loop {
                let before = bucket.version.load(Ordering::Acquire);
                let mut found = None;
                let mut full = true;
                for (there, slot) in &bucket.pairs {
                    let there = there.load(Ordering::Relaxed);
                    full &= there != 0;
                    if there == key + 1 {
                        found = Some(slot.load(Ordering::Relaxed));
                    }
                }
                fence(Ordering::Acquire);
                if before & 1 == 0 && bucket.version.load(Ordering::Relaxed) == before {
                    break (found, full);
                }
                spin_loop();
            };
            match found {
                Some(value) => return value,
                None if full => {}
                None => return 0,
            }
        }
        0
    }
}

/// A table of pointers to entries, which a pinned reader follows (`crossbeam-epoch`).
pub struct Pinned {
    entries: Box<[Atomic<(u64, u64)>]>,
    hasher: Fold,
}

impl Pinned {
    pub fn new(capacity: usize) -> Self {
        Pinned {
            entries: (0..room(capacity)).map(|_| Atomic::null()).collect(),
            hasher: Fold::default(),
        }
    }

    fn slots(&self, key: u64) -> impl Iterator<Item = &Atomic<(u64, u64)>> {
        let mask = self.entries.len() - 1;
        let from = self.hasher.hash_one(key) as usize;
        (0..=mask).map(move |step| &self.entries[(from + step) & mask])
    }

    pub fn put(&self, key: u64, value: u64) {
        let guard = epoch::pin();
        let mut fresh = Owned::new((key, value));
        for slot in self.slots(key) {
            loop {
                let there = slot.load(Ordering::Acquire, &guard);
                // SAFETY: what a slot points to is destroyed only after all that were pinned then.
                let other = unsafe { there.as_ref() };
                if other.is_some_and(|entry| entry.0 != key) {
                    break;
                }
                match slot.compare_exchange(
                    there,
                    fresh,
                    Ordering::AcqRel,
                    Ordering::Acquire,
                    &guard,
                ) {
                    Ok(_) if there.is_null() => return,
                    Ok(_) => {
                        // SAFETY: only this thread has taken it out of its slot.
                        unsafe { guard.defer_destroy(there) };
                        return;
                    }
                    Err(failed) => fresh = failed.new,
                }
            }
        }
    }

    pub fn look(&self, key: u64) -> u64 {
        let guard = epoch::pin();
        for slot in self.slots(key) {
            let there: Pointer<'_, (u64, u64)> = slot.load(Ordering::Acquire, &guard);
            // SAFETY: what a slot points to is destroyed only after all that were pinned then.
            match unsafe { there.as_ref() } {
                Some(entry) if entry.0 == key => return entry.1,
                Some(_) => {}
                None => return 0,
            }
        }
        0
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        for slot in &mut self.entries {
            let slot = std::mem::replace(slot, Atomic::null());
            // SAFETY: no other thread has the table, and each entry is in one slot.
            drop(unsafe { slot.try_into_owned() });
        }
    }
}
