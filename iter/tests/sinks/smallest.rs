//! The few smallest: the same as sorting and taking, whatever the order of the input, and whether or not the
//! comparison is honest.

use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tine_iter::prelude::*;
use tine_iter::smallest::Smallest;

#[test]
fn as_sorting_and_taking_in_every_order_of_the_input() {
    for len in [0, 1, 64, 200, 30_000_u32] {
        let ascending: Vec<u32> = (0..len).collect();
        let descending = ascending.iter().rev().copied().collect();
        let equal = vec![7; len as usize];
        let scattered = ascending
            .iter()
            .map(|n| n.wrapping_mul(0x9e37_79b9) >> 20)
            .collect();
        for input in [ascending, descending, equal, scattered] {
            let mut sorted = input.clone();
            sorted.sort_unstable();
            for k in [0, 1, 3, 64, 1000, usize::MAX] {
                let wanted = &sorted[..k.min(sorted.len())];
                assert_eq!(
                    input.par_iter().copied().k_smallest(k),
                    wanted,
                    "{k} of {len}"
                );
                let wanted: Vec<u32> = sorted.iter().rev().take(k).copied().collect();
                assert_eq!(
                    input.par_iter().copied().k_largest(k),
                    wanted,
                    "{k} of {len}"
                );
            }
        }
    }
}

/// Counts itself.
struct Counted<'a>(u32, &'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Relaxed);
    }
}

#[test]
fn every_item_is_dropped_once_whatever_the_comparison_does() {
    let alive = AtomicUsize::new(0);
    let calls = AtomicUsize::new(0);
    let items = || {
        (0..5_000_u32).into_par_iter().map(|n| {
            alive.fetch_add(1, Relaxed);
            Counted(n.wrapping_mul(0x9e37_79b9), &alive)
        })
    };
    let honest = |a: &Counted<'_>, b: &Counted<'_>| a.0.cmp(&b.0);
    let liar = |a: &Counted<'_>, b: &Counted<'_>| match (a.0 ^ b.0.rotate_left(3)) % 3 {
        0 => Ordering::Less,
        1 => Ordering::Equal,
        _ => Ordering::Greater,
    };
    let breaking = |a: &Counted<'_>, b: &Counted<'_>| {
        assert!(calls.fetch_add(1, Relaxed) < 3_000, "enough");
        a.0.cmp(&b.0)
    };
    for k in [1, 10, 100, 3_000] {
        assert_eq!(items().k_smallest_by(k, honest).len(), k);
        assert_eq!(alive.load(Relaxed), 0);
        // A comparison that is no order may panic, as in std's sorts.
        let some = catch_unwind(AssertUnwindSafe(|| items().k_smallest_by(k, liar)));
        assert!(some.is_err() || some.is_ok_and(|some| some.len() == k));
        assert_eq!(alive.load(Relaxed), 0);
        calls.store(0, Relaxed);
        let broken = catch_unwind(AssertUnwindSafe(|| items().k_smallest_by(k, breaking)));
        assert!(broken.is_err());
        drop(broken);
        assert_eq!(alive.load(Relaxed), 0);
    }
}

/// The best so far are also dropped if an item that is not among them panics.
#[test]
fn a_destructor_that_panics_loses_no_items() {
    struct Touchy<'a>(u32, &'a AtomicUsize, &'a AtomicUsize);

    impl Drop for Touchy<'_> {
        fn drop(&mut self) {
            self.1.fetch_sub(1, Relaxed);
            let burns = !std::thread::panicking() && self.2.fetch_sub(1, Relaxed) == 1;
            assert!(!burns, "on purpose");
        }
    }

    for nth in [1, 2, 50, 200, 600, 1000] {
        let (alive, fuse) = (AtomicUsize::new(0), AtomicUsize::new(nth));
        let result = catch_unwind(AssertUnwindSafe(|| {
            let items = (0..2000_u32).into_par_iter().map(|n| {
                alive.fetch_add(1, Relaxed);
                Touchy(n, &alive, &fuse)
            });
            items.k_smallest_by(20, |a, b| a.0.cmp(&b.0)).len()
        }));
        assert!(result.is_err());
        assert_eq!(alive.into_inner(), 0, "after drop {nth} panicked");
    }
}
