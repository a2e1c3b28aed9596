//! Entries that are only tried: a thread that would have to wait goes away, and leaves nothing behind.

use super::{Door, Gate, Gated, Lock, NAMES, Name, UnsafeCell};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};

/// A look, unless the thread would have to wait for it.
fn try_read(map: &Gated, shard: usize, nested: bool) -> bool {
    let (lock, cell) = &map.shards[shard];
    let guard = lock.try_read(nested, map.door(shard));
    let is_in = guard.is_some();
    if is_in {
        // SAFETY: read under the guard.
        let value = cell.with(|value| unsafe { *value });
        super::thread::yield_now();
        // SAFETY: as above.
        assert_eq!(cell.with(|value| unsafe { *value }), value);
    }
    drop(guard);
    is_in
}

/// A write, which is taken back at once, so that each run ends with the same values.
fn try_write(map: &Gated, shard: usize) -> bool {
    let (lock, cell) = &map.shards[shard];
    let guard = lock.try_write(map.door(shard));
    let is_in = guard.is_some();
    if is_in {
        // SAFETY: written under the guard.
        cell.with_mut(|value| unsafe { *value += 1 });
        super::thread::yield_now();
        // SAFETY: as above.
        cell.with_mut(|value| unsafe { *value -= 1 });
    }
    drop(guard);
    is_in
}

/// By the lock: a writer that tries, beside a writer that waits.
#[test]
fn a_try_beside_a_writer() {
    Gated::run(
        false,
        3,
        &[
            |map| map.write(0),
            |map| {
                try_write(map, 0);
                try_read(map, 0, false);
            },
        ],
        [1, 0],
    );
}

/// Through the gate: a reader that is let in, and a writer that tries. If it goes away, the reader shuts the gate when it leaves.
#[test]
fn a_try_beside_a_reader_without_a_lock() {
    Gated::run(
        true,
        3,
        &[
            |map| _ = try_write(map, 0),
            |map| {
                map.read(0, true);
            },
        ],
        [0, 0],
    );
}

/// Both only try, while a third writes.
#[test]
fn tries_beside_a_writer_and_a_gate() {
    Gated::run(
        true,
        2,
        &[
            |map| map.write(0),
            |map| _ = try_write(map, 0),
            |map| _ = try_read(map, 0, false),
        ],
        [1, 0],
    );
}

/// A writer of another shard waits for nothing that a try has left behind.
#[test]
fn a_try_and_a_writer_of_another_shard() {
    Gated::run(
        true,
        2,
        &[
            |map| _ = try_write(map, 0),
            |map| map.write(1),
            |map| {
                map.read(0, false);
            },
        ],
        [0, 1],
    );
}

/// Where nothing is in the way, a try is let in.
#[test]
fn a_try_that_is_alone() {
    for open in [false, true] {
        super::explore(2, move || {
            let map = Gated::new(open);
            assert!(try_read(&map, 0, false) && try_write(&map, 0) && try_read(&map, 0, false));
            let outer = map.shards[0].0.read(false, map.door(0));
            assert!(try_read(&map, 0, true) && !try_write(&map, 0));
            assert!(try_write(&map, 1));
            drop(outer);
            assert!(try_write(&map, 0));
        });
    }
}

/// A map whose stem is left at the second entry. The number of entries lies under each lock. As in `shard`, the stem
/// and the wide shard have the same name, and the move is said under the stem's lock.
struct Stemmed {
    gate: Gate,
    stem: (Lock<()>, UnsafeCell<usize>),
    wide: (Lock<()>, UnsafeCell<usize>),
    is_wide: AtomicBool,
}

// SAFETY: the numbers are used under their locks, or as the gate says; loom checks that.
unsafe impl Sync for Stemmed {}
// SAFETY: as above.
unsafe impl Send for Stemmed {}

impl Stemmed {
    fn new(open: bool) -> Arc<Self> {
        let [stem, wide] = [1, 0].map(|count| (Lock::new(()), UnsafeCell::new(count)));
        let map = Stemmed {
            gate: Gate::new(),
            stem,
            wide,
            is_wide: AtomicBool::new(false),
        };
        if open {
            map.gate.consider(map.door().shard);
        }
        Arc::new(map)
    }

    fn door(&self) -> Door<'_> {
        Door {
            gate: &self.gate,
            shard: Name::new(NAMES, 0),
        }
    }

    /// Whether the stem has been left. Acquire and Release, as a `OnceLock` has.
    fn is_wide(&self) -> bool {
        self.is_wide.load(Ordering::Acquire)
    }

    /// Moves what the stem has, under its lock.
    fn leave_stem(&self) {
        // SAFETY: the stem is locked, and no thread uses the wide shard yet.
        let count = self.stem.1.with_mut(|count| unsafe { count.replace(0) });
        // SAFETY: as above.
        self.wide.1.with_mut(|there| unsafe { *there = count });
        assert!(!self.is_wide.swap(true, Ordering::Release), "left twice");
    }

    /// One more entry, as by `try_write_to_add`, unless it would have to wait.
    fn try_add(&self) -> usize {
        let Some((guard, cell)) = self.try_write() else {
            return 0;
        };
        if self.is_wide() {
            // SAFETY: written under the guard.
            cell.with_mut(|count| unsafe { *count += 1 });
            return 1;
        }
        self.leave_stem();
        drop(guard);
        let Some((_guard, cell)) = self.try_write() else {
            return 0;
        };
        // SAFETY: written under the guard.
        cell.with_mut(|count| unsafe { *count += 1 });
        1
    }

    fn try_write(&self) -> Option<(impl Drop, &UnsafeCell<usize>)> {
        loop {
            if self.is_wide() {
                return Some((self.wide.0.try_write(self.door())?, &self.wide.1));
            }
            let guard = self.stem.0.try_write(self.door())?;
            if !self.is_wide() {
                return Some((guard, &self.stem.1));
            }
        }
    }

    /// One more entry, as by `write_to_add`.
    fn add(&self) {
        loop {
            if self.is_wide() {
                let _guard = self.wide.0.write(self.door());
                // SAFETY: written under the guard.
                return self.wide.1.with_mut(|count| unsafe { *count += 1 });
            }
            let _guard = self.stem.0.write(self.door());
            if !self.is_wide() {
                self.leave_stem();
            }
        }
    }

    /// The number of entries.
    fn read(&self) -> usize {
        loop {
            let is_wide = self.is_wide();
            let (lock, cell) = if is_wide { &self.wide } else { &self.stem };
            let _guard = lock.read(false, self.door());
            if is_wide || !self.is_wide() {
                // SAFETY: read under the guard.
                return cell.with(|count| unsafe { *count });
            }
        }
    }
}

/// A thread that waits, or reads, while another tries, and one of them leaves the stem: no entry is lost, and none is
/// seen in two places or in none.
#[test]
fn a_try_that_leaves_the_stem() {
    let beside: [fn(&Stemmed) -> usize; 2] = [
        |map| {
            map.add();
            1
        },
        |map| {
            assert!((1..=2).contains(&map.read()));
            0
        },
    ];
    for (open, beside) in [false, true]
        .into_iter()
        .flat_map(|open| beside.map(|job| (open, job)))
    {
        super::explore(2, move || {
            let map = Stemmed::new(open);
            let other = map.clone();
            let other = super::thread::spawn(move || beside(&other));
            let made = map.try_add() + other.join().unwrap();
            assert_eq!(map.read(), 1 + made);
        });
    }
}

/// Two threads that only try: one of them may find the other in its way, at the stem or behind it.
#[test]
fn two_tries_that_leave_the_stem() {
    super::explore(3, || {
        let map = Stemmed::new(false);
        let other = map.clone();
        let other = super::thread::spawn(move || other.try_add());
        let made = map.try_add() + other.join().unwrap();
        assert!(
            made > 0,
            "both gave up, though one thread at most was in the way"
        );
        assert_eq!(map.read(), 1 + made);
    });
}
