//! Guards of a map that other threads use by reference, and very many guards of one thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use tine_collections::{ParHashMap, ParHashSet};
use tine_iter::prelude::*;

#[test]
fn a_loop_uses_a_guard_of_its_caller() {
    let map: ParHashMap<u64, Vec<u64>> = [(7, (0..1000).collect())].into_iter().collect();
    let guard = map.get(&7).unwrap();
    let sum: u64 = (0..guard.len()).into_par_iter().map(|n| guard[n]).sum();
    assert_eq!(sum, 499_500);
    drop(guard);
    let mut guard = map.entry(7).or_default();
    guard.push(1000);
    let sum: u64 = (0..guard.len()).into_par_iter().map(|n| guard[n]).sum();
    assert_eq!(sum, 500_500);
}

/// One thread holds more guards of two maps than its short list has places for, and drops them in other orders.
#[test]
fn guards_of_two_maps_in_any_order() {
    let count = if cfg!(miri) { 40 } else { 2000 };
    let one: ParHashMap<u64, u64> = (0..count).map(|n| (n, n)).collect();
    let other: ParHashMap<u64, u64> = (0..count).map(|n| (n, 2 * n)).collect();
    for stride in [1, 7, 13] {
        let mut guards: Vec<_> = (0..count)
            .flat_map(|n| [one.get(&n).unwrap(), other.get(&n).unwrap()])
            .collect();
        assert!(catch_unwind(AssertUnwindSafe(|| one.insert(count, 0))).is_err());
        while !guards.is_empty() {
            let at = guards.len() * stride / 17 % guards.len();
            drop(guards.swap_remove(at));
        }
        assert_eq!(one.insert(0, 0), Some(0));
        assert_eq!(other.insert(0, 0), Some(0));
    }
}

/// A forgotten guard leaves its note behind. The thread may still use each map that it makes later.
#[test]
fn notes_of_forgotten_guards_hold_up_no_other_map() {
    for n in 0..if cfg!(miri) { 20 } else { 500 } {
        let map: ParHashMap<u64, u64> = [(n, n)].into_iter().collect();
        std::mem::forget(map.get(&n));
        let fresh = ParHashSet::new();
        assert!(fresh.insert(n) && fresh.contains(&n));
        std::mem::forget(map);
    }
}
