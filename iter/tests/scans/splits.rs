//! The producer of a scan, split at every triple of places and read in every way.

use tine_iter::prelude::*;
use tine_iter::scan::ParallelScan;

use crate::{SAME, affine, kit, looped, then};

const LEN: usize = if cfg!(miri) { 4 } else { 9 };

#[test]
fn of_items_that_are_walked_twice() {
    let v: Vec<_> = (0..LEN as u64).map(affine).collect();
    for size in 1..=LEN + 1 {
        let want = looped(v.iter().copied(), false, SAME(), then).0;
        kit::indexed_twin!(
            v.par_iter()
                .copied()
                .scan_inclusive(SAME, then)
                .blocks_of(size),
            want.clone()
        );
        let want = looped(v.iter().copied(), true, SAME(), then).0;
        kit::indexed_twin!(
            v.par_iter()
                .copied()
                .scan_exclusive(SAME, then)
                .blocks_of(size),
            want.clone()
        );
    }
}

#[test]
fn of_items_that_are_kept() {
    let v: Vec<_> = (0..LEN as u64).map(affine).collect();
    let want = looped(v.iter().copied(), true, SAME(), then).0;
    kit::indexed_twin!(
        v.clone()
            .into_par_iter()
            .scan_exclusive(SAME, then)
            .blocks_of(2),
        want.clone()
    );
}

#[test]
fn of_scans_in_a_row() {
    let v: Vec<_> = (0..LEN as u64).map(affine).collect();
    let once = looped(v.iter().copied(), true, SAME(), then).0;
    let twice = looped(once, false, SAME(), then).0;
    kit::indexed_twin!(
        v.par_iter()
            .copied()
            .scan_exclusive(SAME, then)
            .blocks_of(2)
            .pure()
            .scan_inclusive(SAME, then)
            .blocks_of(3),
        twice.clone()
    );
}
