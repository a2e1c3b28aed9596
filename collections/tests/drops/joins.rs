//! Joins, with every kind of right side.
//!
//! Not with a reduction of `inner_with` at the end: std's `Map::fold` drops its closure, which owns the left
//! item, after there is a result (rust-lang/rust#47949).

use crate::kit::{DROPS, KINDS, Ledger, Start, Val, item, key};
use tine_collections::prelude::*;
use tine_collections::{FrozenMap, Groups, ParHashMap};
use tine_iter::prelude::*;

type Pair = (Val, Val);

/// Pairs of a key and an item; half of the keys come twice.
fn pairs(from: u32, count: u32) -> Vec<Pair> {
    let id = |at| from + at / 2 * 2 + at % 2 * (at / 2 % 2);
    (0..count).map(|at| (key(id(at)), item(at))).collect()
}

fn groups(count: u32) -> Groups<Val, Val> {
    pairs(0, count).into_par_iter().group_pairs()
}

fn frozen(count: u32) -> FrozenMap<Val, Val> {
    map(count).freeze()
}

fn map(count: u32) -> ParHashMap<Val, Val> {
    pairs(0, count).into_iter().collect()
}

fn own(pair: &Pair) -> Val {
    pair.0.clone()
}

fn number(pair: &Pair) -> u32 {
    pair.0.id
}

/// All ways to end a join of what was made.
macro_rules! ends {
    ($ledger:ident, $name:literal: $made:expr => |$left:ident, $right:ident| $join:expr) => {
        ends! { @ $ledger, $name: $made, $left, $right, $join;
            "inner": |join| join.inner();
            "left": |join| join.left();
            "semi": |join| join.semi();
            "anti": |join| join.anti();
            "outer": |join| join.outer();
            "inner_with": |join| join.inner_with(|l, r| (l.clone(), r.clone())).collect::<Vec<_>>();
            "left_with": |join| join.left_with(|l, r| (l.clone(), r.cloned())).collect::<Vec<_>>();
            "find_first": |join| join.inner_with(|l, _| l.clone()).find_first(|l| l.1.id > 3);
        }
    };
    (@ $ledger:ident, $name:literal: $made:expr, $left:ident, $right:ident, $join:expr;
        $($end:literal: |$it:ident| $use:expr;)*) => {
        $($ledger.check(concat!($name, ", ", $end), |start: Start| {
            #[allow(unused_mut)] // some are joined as they are
            let ($left, mut $right) = $made;
            start.now();
            let $it = $join;
            drop($use);
        });)*
    };
}

fn joins(n: u32, kinds: &'static [&'static str]) {
    let mut ledger = Ledger::new(kinds);
    ends!(ledger, "owned keys": (pairs(1, n / 2), pairs(0, n)) => |l, r| {
        l.into_par_iter().join_by(r.into_par_iter(), own, own)
    });
    ends!(ledger, "keys that are numbers": (pairs(1, n / 2), pairs(0, n)) => |l, r| {
        l.into_par_iter().join_by(r.into_par_iter(), number, number)
    });
    ends!(ledger, "groups": (pairs(1, n / 2), groups(n)) => |l, r| l.into_par_iter().join_on(r, own));
    ends!(ledger, "lent groups": (pairs(1, n / 2), groups(n)) => |l, r| l.into_par_iter().join_on(&r, own));
    ends!(ledger, "frozen": (pairs(1, n / 2), frozen(n)) => |l, r| l.into_par_iter().join_on(r, own));
    ends!(ledger, "lent frozen": (pairs(1, n / 2), frozen(n)) => |l, r| l.into_par_iter().join_on(&r, own));
    ends!(ledger, "map": (pairs(1, n / 2), map(n)) => |l, r| l.into_par_iter().join_on(&mut r, own));
    ledger.end();
}

#[test]
fn few() {
    joins(12, &KINDS);
}

#[test]
fn some() {
    joins(1200, DROPS);
}
