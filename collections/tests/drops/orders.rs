//! Sorts, merges, scans, and methods that look at neighbours.

use crate::kit::{Ledger, Val, add, call, item, key, sizes, uses};
use tine_iter::algorithms::{ParallelRetain, ParallelSliceLook, ParallelSortedSets};
use tine_iter::prelude::*;
use tine_iter::scan::{ParallelScan, ParallelScanMut};
use tine_iter::smallest::Smallest;
use tine_iter::sort::{ParallelDedup, ParallelSort};

/// Items in no particular order; each comes three times.
fn items(n: u32) -> Vec<Val> {
    let id = |at: u32| at.wrapping_mul(7919) % (n / 3);
    (0..n).map(|at| item(id(at))).collect()
}

fn sorted(n: u32) -> Vec<Val> {
    (0..n).map(|at| item(at / 2)).collect()
}

fn two_runs(n: u32) -> Vec<Val> {
    (0..n / 2).chain(0..n / 2).map(item).collect()
}

fn own(v: &Val) -> Val {
    call();
    key(v.id)
}

fn same(a: &Val, b: &Val) -> bool {
    call();
    a == b
}

fn third(v: &Val) -> bool {
    call();
    v.id.is_multiple_of(3)
}

fn nothing() -> Val {
    call();
    Val::new(0, "identity")
}

fn sorts(n: u32, ledger: &mut Ledger) {
    let at = n as usize / 2;
    let number = |v: &Val| (call(), v.id).1;
    uses! { ledger, n,
        "par_sort": |mut v| v.par_sort();
        "par_sort_by_key": |mut v| v.par_sort_by_key(own);
        "par_sort_by_key, numbers": |mut v| v.par_sort_by_key(number);
        "par_sort_by_cached_key": |mut v| v.par_sort_by_cached_key(own);
        "par_sort_by_cached_key, numbers": |mut v| v.par_sort_by_cached_key(number);
        "par_sort_by_cached_key, pairs": |mut v| v.par_sort_by_cached_key(|v| (own(v), v.id));
        "par_sort_unstable": |mut v| v.par_sort_unstable();
        "par_sort_unstable_by_key": |mut v| v.par_sort_unstable_by_key(own);
        "par_partition": |mut v| v.par_partition(third);
        "par_partition_stable": |v| v.par_partition_stable(third);
        "par_select_nth_unstable": |mut v| { v.par_select_nth_unstable(at); };
        "k_smallest": |v| v.into_par_iter().k_smallest(5);
        "k_largest, filtered": |v| v.into_par_iter().filter(|_| true).k_largest(at);
    }
}

fn neighbours(n: u32, ledger: &mut Ledger) {
    uses! { ledger,
        "par_merge": two_runs(n) => |mut v| { let mid = v.len() / 2; v.par_merge(mid); };
        "par_merged": (sorted(n), sorted(n)) => |(a, b)| a.par_merged(&b);
        "par_union": (sorted(n), sorted(n)) => |(a, b)| a.par_union(&b);
        "par_symmetric_difference": (sorted(n), sorted(n / 2)) => |(a, b)| a.par_symmetric_difference(&b);
        "par_dedup": sorted(n) => |mut v| v.par_dedup();
        "par_dedup_by_key": sorted(n) => |mut v| v.par_dedup_by_key(|v| own(v));
        "par_deduped": sorted(n) => |v| v.par_deduped();
        "par_retain": items(n) => |mut v| v.par_retain(third);
        "par_chunk_by": sorted(n) => |v| v.par_chunk_by(same).map(<[_]>::to_vec).collect::<Vec<_>>();
        "par_chunk_by, first": sorted(n) => |v| v.par_chunk_by(same).map(<[_]>::to_vec).find_first(|c| third(&c[0]));
        "par_chunk_by_mut": sorted(n) => |mut v| v.par_chunk_by_mut(same).for_each(|c| c[0] = nothing());
        "par_adjacent_difference": items(n) => |v| v.par_adjacent_difference(|a, b| item((call(), a.id ^ b.id).1));
    }
}

fn scans(n: u32, ledger: &mut Ledger) {
    let keys: Vec<u32> = (0..n).map(|at| at / 5).collect();
    uses! { ledger, n,
        "scan_inclusive": |v| v.into_par_iter().scan_inclusive(nothing, add).collect::<Vec<_>>();
        "scan_exclusive": |v| v.into_par_iter().scan_exclusive(nothing, add).collect::<Vec<_>>();
        "scan_inclusive, clones": |v| v.par_iter().cloned().scan_inclusive(nothing, add).collect::<Vec<_>>();
        "scan_inclusive, pure": |v| v.par_iter().map(own).pure().scan_inclusive(nothing, add).collect::<Vec<_>>();
        "scan_exclusive, filtered": |v| v.into_par_iter().filter(third).scan_exclusive(nothing, add).collect::<Vec<_>>();
        "scan_inclusive, exact": |v| v.into_par_iter().scan_inclusive(nothing, add).exact().collect::<Vec<_>>();
        "scan_inclusive, first": |v| v.into_par_iter().scan_inclusive(nothing, add).find_first(|v| v.id > 40);
        "scan of a scan": |v| {
            v.into_par_iter().scan_inclusive(nothing, add).scan_exclusive(nothing, add).rev().collect::<Vec<_>>()
        };
        "par_scan_by": |mut v| v.par_scan_by(nothing, add);
        "par_scan_exclusive_by": |mut v| v.par_scan_exclusive_by(nothing, add);
        "par_scan_by_key": |mut v| v.par_scan_by_key(&keys, nothing, add);
        "par_scan_exclusive_by_key": |mut v| v.par_scan_exclusive_by_key(&keys, nothing, add);
    }
}

sizes!(sorts, neighbours, scans);
