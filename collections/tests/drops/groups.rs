//! Grouping, counting, folding by key.

use crate::kit::{DROPS, KINDS, Ledger, Val, item, key, uses};
use tine_collections::prelude::*;
use tine_iter::prelude::*;

/// Items whose keys come three times each.
fn items(n: u32) -> Vec<Val> {
    (0..n).map(|at| item(at % (n / 3))).collect()
}

fn pairs(n: u32) -> Vec<(Val, Val)> {
    (0..n).map(|at| (key(at % (n / 3)), item(at))).collect()
}

fn with(n: u32, kinds: &'static [&'static str]) {
    let mut ledger = Ledger::new(kinds);
    let own = |v: &Val| key(v.id);
    let number = |v: &Val| v.id;
    uses! { ledger,
        "count_by": items(n) => |v| v.into_par_iter().count_by(own);
        "count_by number": items(n) => |v| v.into_par_iter().count_by(number);
        "count_items": items(n) => |v| v.into_par_iter().count_items();
        "count_items, filtered": items(n) => |v| v.into_par_iter().filter(|_| true).count_items();
        "fold_by": items(n) => |v| {
            v.into_par_iter().fold_by(own, Vec::new, |all, v| all.push(v), |all, more| all.extend(more))
        };
        "fold_by, last": items(n) => |v| {
            v.into_par_iter().fold_by(number, || item(0), |last, v| *last = v, |last, more| *last = more)
        };
        "fold_pairs": pairs(n) => |v| {
            v.into_par_iter().fold_pairs(|v| vec![v], |all, v| all.push(v), |all, more| all.extend(more))
        };
        "fold_pairs, last": pairs(n) => |v| v.into_par_iter().fold_pairs(|v| v, |a, v| *a = v, |a, v| *a = v);
        "aggregate_by": items(n) => |v| {
            v.into_par_iter().aggregate_by(own).first(own).last(own).max(own).count().finish()
        };
        "aggregate_by number": items(n) => |v| v.into_par_iter().aggregate_by(number).last(own).min(own).finish();
        "group_by": items(n) => |v| v.into_par_iter().group_by(own);
        "group_by number": items(n) => |v| v.into_par_iter().group_by(number);
        "group_pairs": pairs(n) => |v| v.into_par_iter().group_pairs();
        "into_map": pairs(n) => |v| v.into_par_iter().group_pairs().into_map();
        "groups into_iter": pairs(n) => |v| v.into_par_iter().group_pairs().into_iter().next();
        "groups into_par_iter": pairs(n) => |v| {
            v.into_par_iter().group_pairs().into_par_iter().map(|(key, row)| { drop(key); row }).collect::<Vec<_>>()
        };
        "fold_groups": pairs(n) => |v| {
            let groups = v.into_par_iter().group_pairs();
            let all = groups.fold_groups(|| item(0), |a, v| *a = v.clone(), |a, v| *a = v);
            drop(all);
        };
        "distinct": items(n) => |v| v.into_par_iter().distinct();
        "distinct, filtered": items(n) => |v| v.into_par_iter().filter(|_| true).distinct();
        "distinct_by": items(n) => |v| v.into_par_iter().distinct_by(own);
        "distinct_by number": items(n) => |v| v.into_par_iter().distinct_by(number);
        "top_k_by_count": items(n) => |v| v.into_par_iter().top_k_by_count(3, own);
        "histogram": items(n) => |v| v.into_par_iter().histogram(500, |v| v.id as usize);
    }
    ledger.end();
}

#[test]
fn few() {
    with(12, &KINDS);
}

#[test]
fn some() {
    with(1500, DROPS);
}
