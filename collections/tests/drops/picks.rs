//! One or two items from all: extremes and searches.

use crate::kit::{DROPS, KINDS, Ledger, Val, item, key, uses};
use tine_iter::algorithms::ParallelAccumulate;
use tine_iter::prelude::*;

/// Items in an order in which the least and the greatest change often. The last item is the greatest of all.
fn items(n: u32) -> Vec<Val> {
    let middle = (0..n / 2).rev().zip(n / 2..).map(|(a, b)| [a, b]);
    middle.flatten().map(item).collect()
}

fn with(n: u32, kinds: &'static [&'static str]) {
    let mut ledger = Ledger::new(kinds);
    let own = |v: &Val| key(v.id);
    uses! { ledger, n,
        "min": |v| v.into_par_iter().min();
        "max": |v| v.into_par_iter().max();
        "min_by": |v| v.into_par_iter().min_by(Val::cmp);
        "max_by": |v| v.into_par_iter().max_by(Val::cmp);
        "min_by_key": |v| v.into_par_iter().min_by_key(own);
        "max_by_key": |v| v.into_par_iter().max_by_key(own);
        "min_max": |v| v.into_par_iter().min_max();
        "min_max, of an odd number": |v| v.into_par_iter().skip(1).min_max();
        "min_max, filtered": |v| v.into_par_iter().filter(|_| true).min_max();
        "min_max, reversed": |v| v.into_par_iter().rev().min_max();
        "min_max_by": |v| v.into_par_iter().min_max_by(Val::cmp);
        "min_max_by_key": |v| v.into_par_iter().min_max_by_key(own);
        "min_max_by_key, reversed": |v| v.into_par_iter().rev().min_max_by_key(own);
        "find_any": |v| v.into_par_iter().find_any(|v| v.id == n - 1);
        "find_first": |v| v.into_par_iter().find_first(|v| v.id > n / 2);
        "find_last": |v| v.into_par_iter().find_last(|v| v.id > n / 2);
        "find_last, filtered": |v| v.into_par_iter().filter(|v| v.id > 2).find_last(|v| v.id < n / 2);
        "find_map_first": |v| v.into_par_iter().find_map_first(|v| twin(v, n / 2));
        "find_map_last": |v| v.into_par_iter().find_map_last(|v| twin(v, n / 2));
        "position_any": |v| v.into_par_iter().position_any(|v| v.id == n / 3);
        "position_last": |v| v.into_par_iter().position_last(|v| v.id == n / 3);
    }
    ledger.end();
}

/// A clone of the greater item. The item itself is dropped before the return.
fn twin(v: Val, than: u32) -> Option<Val> {
    let twin = (v.id > than).then(|| v.clone());
    drop(v);
    twin
}

#[test]
fn few() {
    with(12, &KINDS);
}

#[test]
fn some() {
    with(700, DROPS);
}
