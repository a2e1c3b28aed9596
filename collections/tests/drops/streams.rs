//! Methods that may end early, methods that draw from an iterator, and reads of many keys in a row.

use std::vec;

use crate::kit::{Ledger, Val, add, call, item, key, sizes, uses};
use tine_collections::ParHashMap;
use tine_iter::pipeline;
use tine_iter::prelude::*;

fn items(n: u32) -> Vec<Val> {
    (0..n).map(|at| item(at % (n / 3))).collect()
}

/// An iterator that may panic.
struct Touchy(vec::IntoIter<Val>);

impl Iterator for Touchy {
    type Item = Val;

    fn next(&mut self) -> Option<Val> {
        call();
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        call();
        self.0.size_hint()
    }
}

fn touchy(n: u32) -> Touchy {
    Touchy(items(n).into_iter())
}

fn pass(v: Val) -> Val {
    call();
    v
}

/// All but one.
fn most(v: Val) -> Result<Val, Val> {
    call();
    if v.id == 3 { Err(v) } else { Ok(v) }
}

fn nothing(v: Val) -> Result<(), Val> {
    let v = most(v)?;
    drop(v);
    Ok(())
}

/// A sum, except for the item that is left out.
fn try_add(a: Val, b: Val) -> Result<Val, Val> {
    match most(b) {
        Ok(b) => Ok(add(a, b)),
        Err(b) => {
            drop(a);
            Err(b)
        }
    }
}

fn attempts(n: u32, ledger: &mut Ledger) {
    let zero = || item(0);
    uses! { ledger, n,
        "try_for_each": |v| v.into_par_iter().try_for_each(nothing);
        "try_for_each, filtered": |v| v.into_par_iter().filter(|_| true).try_for_each(nothing);
        "try_fold": |v| v.into_par_iter().try_fold(zero, try_add).try_reduce(zero, |a, b| Ok(add(a, b)));
        "try_reduce_with": |v| v.into_par_iter().map(most).try_reduce_with(|a, b| Ok(add(a, b)));
        "collect, Result": |v| v.into_par_iter().map(most).collect::<Result<Vec<_>, _>>();
        "while_some": |v| v.into_par_iter().map(|v| most(v).ok()).while_some().collect::<Vec<_>>();
        "take_any": |v| v.into_par_iter().map(pass).take_any(5).collect::<Vec<_>>();
        "blocks": |v| v.into_par_iter().by_exponential_blocks().map(pass).find_first(|v| v.id == 3);
    }
}

fn bridges(n: u32, ledger: &mut Ledger) {
    uses! { ledger,
        "par_bridge": touchy(n) => |v| v.par_bridge().map(pass).collect::<Vec<_>>();
        "par_bridge, find_any": touchy(n) => |v| v.par_bridge().find_any(|v| (call(), v.id == 3).1);
        "par_bridge, reduce_with": touchy(n) => |v| v.par_bridge().reduce_with(add);
        "par_bridge, try_for_each": touchy(n) => |v| v.par_bridge().try_for_each(nothing);
        "par_bridge, batched": touchy(n) => |v| v.par_bridge().batched().map(pass).collect::<Vec<_>>();
        "par_bridge, batched, find_any": touchy(n) => |v| v.par_bridge().batched().find_any(|v| (call(), v.id == 3).1);
        "par_bridge_ordered": touchy(n) => |v| v.par_bridge_ordered(9).map(pass).collect::<Vec<_>>();
    }
}

fn pipelines(n: u32, ledger: &mut Ledger) {
    uses! { ledger,
        "pipeline": touchy(n) => |v| pipeline(v, 8).map(pass).in_order(pass).map(pass).collect::<Vec<_>>();
        "any_order": touchy(n) => |v| pipeline(v, 8).one_by_one().map(pass).any_order(pass).collect::<Vec<_>>();
        "fold_parts": touchy(n) => |v| {
            pipeline(v, 8).fold_parts(Vec::new, |mut all, v| { all.push(pass(v)); all }).collect::<Vec<_>>()
        };
        "reduce": touchy(n) => |v| pipeline(v, 8).map(pass).reduce(|| item(0), add);
        "flat_map": touchy(n) => |v| pipeline(v, 8).flat_map(|v| [v.clone(), v]).collect::<Vec<_>>();
        "try_map": touchy(n) => |v| pipeline(v, 8).try_map(most).collect::<Vec<_>>();
        "try_in_order": touchy(n) => |v| pipeline(v, 8).try_in_order(most).map(pass).collect::<Vec<_>>();
        "try_any_order": touchy(n) => |v| pipeline(v, 8).map(pass).try_any_order(most).collect::<Vec<_>>();
        "pipeline, try_for_each": touchy(n) => |v| pipeline(v, 8).map(pass).try_for_each(nothing);
    }
}

fn many_keys(n: u32, ledger: &mut Ledger) {
    let map = |n: u32| {
        let entries = (0..n).map(|id| (key(id), item(id)));
        entries.collect::<ParHashMap<_, _>>()
    };
    let look = |v: &Val| (call(), v.clone()).1;
    uses! { ledger,
        "read_many": (map(n), items(n)) => |(m, keys)| m.read_many(&keys, look).collect::<Vec<_>>();
        "read_many, some": (map(n), items(n)) => |(m, keys)| drop(m.read_many(&keys, look).nth(7));
        "get_many": (map(n).freeze(), items(n)) => |(m, keys)| m.get_many(&keys).map(|v| v.map(look)).collect::<Vec<_>>();
    }
}

sizes!(attempts, bridges, pipelines, many_keys);
