//! Comparisons and set algebra of two maps or sets: of all sizes against std's, while other threads change both, and with an
//! `Eq` that panics.

#[path = "../../pool/tests/common/watched.rs"]
mod watched;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use tine_collections::{ParHashMap, ParHashSet};
use watched::watched;

/// Of one table; of many; and with more entries than a cache holds.
const SIZES: &[u64] = if cfg!(any(miri, tine_asan, tine_tsan)) {
    &[0, 5, 1_500, 3_000]
} else {
    &[0, 5, 1_500, 3_000, 20_000, 200_000]
};

fn check<T: Clone + Eq + Hash>(make: impl Fn(u64) -> T, sizes: &[u64]) {
    for &size in sizes {
        let shifts = [0, size / 2, 1, size];
        for &shift in &shifts[..if size < 100_000 { 4 } else { 2 }] {
            let keys = |from: u64| (from..from + size).map(&make);
            let (a, b): (ParHashSet<T>, ParHashSet<T>) = (keys(0).collect(), keys(shift).collect());
            let (x, y): (HashSet<T>, HashSet<T>) = (keys(0).collect(), keys(shift).collect());
            let what = format!("{size}, {shift}");
            assert_eq!(a == b, x == y, "{what}");
            assert_eq!(a.is_subset(&b), x.is_subset(&y), "{what}");
            assert_eq!(a.is_disjoint(&b), x.is_disjoint(&y), "{what}");
            assert!(a == x && (a == y) == (x == y), "{what}");
            assert!(&a & &b == &x & &y, "{what}");
            assert!(&a - &b == &x - &y, "{what}");
            assert!(&a | &b == &x | &y, "{what}");
            assert!(&a ^ &b == &x ^ &y, "{what}");
            assert!(a.intersection(&b).is_subset(&b) && a.union(&b).is_superset(&a));
        }
        let map = || -> ParHashMap<T, u64> { (0..size).map(|n| (make(n), n)).collect() };
        let (a, b) = (map(), map());
        let twin: HashMap<T, u64> = (0..size).map(|n| (make(n), n)).collect();
        assert!(a == b && a == twin);
        if size > 0 {
            b.insert(make(size / 2), u64::MAX);
            assert!([a != b, b != twin, b != a].iter().all(|&differ| differ));
        }
    }
}

#[test]
fn of_all_sizes() {
    check(|n| n, SIZES);
    check(|n| n.to_string(), &SIZES[..4]);
}

/// Says that all is over, also if there was a panic.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Both ways round at once, beside writers: locks are taken in both orders.
#[test]
fn while_others_change_both() {
    let _watched = watched();
    let set = || -> ParHashSet<u64> { (0..10_000).collect() };
    let (a, b, over) = (set(), set(), AtomicBool::new(false));
    thread::scope(|s| {
        for (this, that) in [(&a, &b), (&b, &a)] {
            let over = &over;
            s.spawn(move || {
                let _over = Over(over);
                for _ in 0..50 {
                    // 0 to 4 come and go, and the others stay.
                    assert!(this.intersection(that).len() >= 9_995);
                    assert!(this.difference(that).len() <= 5);
                    assert!(!this.is_disjoint(that));
                    _ = this == that;
                    _ = this.is_subset(that);
                }
            });
        }
        s.spawn(|| {
            while !over.load(Relaxed) {
                for n in 0..5 {
                    a.remove(&n);
                    b.remove(&n);
                    a.insert(n);
                    b.insert(n);
                }
            }
        });
    });
    assert!(a == b);
}

/// An item whose `Eq` panics when it is told to.
#[derive(Clone, Copy, Debug)]
struct Item(u64);

thread_local! {
    static BOMB: Cell<bool> = const { Cell::new(false) };
}

impl PartialEq for Item {
    fn eq(&self, other: &Item) -> bool {
        if BOMB.get() && self.0 == 700 {
            resume_unwind(Box::new(()));
        }
        self.0 == other.0
    }
}

impl Eq for Item {}

impl Hash for Item {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

#[test]
fn a_panic_leaves_no_lock() {
    for size in [1_000, 10_000] {
        let set = || -> ParHashSet<Item> { (0..size).map(Item).collect() };
        let (a, b) = (set(), set());
        let calls: [&dyn Fn(); 4] = [
            &|| assert!(a == b),
            &|| assert!(a.is_subset(&b)),
            &|| assert!(a.intersection(&b).len() > 1),
            &|| assert!(a.difference(&b).is_empty()),
        ];
        for call in calls {
            BOMB.set(true);
            assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
            BOMB.set(false);
            // All shards of both are free.
            for set in [&a, &b] {
                (0..size).for_each(|n| assert!(set.remove(&Item(n)) && set.insert(Item(n))));
            }
            call();
        }
    }
}
