//! Algorithms that only read slices.

use crate::inputs::{bytes, numbers, sorted};
use crate::table::{Table, run};
use rayon::iter::IntoParallelRefIterator as _;
use rayon::prelude::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSlice as _;
use tine_iter::algorithms::{ParallelFlat, ParallelSliceLook};

pub fn rows(table: &mut Table) {
    for len in [10_000_000 / table.scale, 10_000, 1000] {
        let v = numbers(len, 1 << 40);
        let name = format!("par_mismatch, {len} equal u64");
        if table.wants(&name) {
            let other = v.clone();
            table.row(
                &name,
                run(|| v.par_mismatch(&other)),
                run(|| v.par_iter().zip(&other).position_first(|(a, b)| a != b)),
                run(|| v.iter().zip(&other).position(|(a, b)| a != b)),
            );
        }
        let name = format!("par_adjacent_find, none in {len} u64");
        if table.wants(&name) {
            table.row(
                &name,
                run(|| v.par_adjacent_find(|a, b| a == b)),
                run(|| v.par_windows(2).position_first(|w| w[0] == w[1])),
                run(|| v.windows(2).position(|w| w[0] == w[1])),
            );
        }
        let name = format!("par_adjacent_difference, {len} u64");
        if table.wants(&name) {
            table.row(
                &name,
                run(|| v.par_adjacent_difference(|a, b| a.wrapping_sub(*b))),
                run(|| {
                    let differences = v.par_windows(2).map(|w| w[1].wrapping_sub(w[0]));
                    differences.collect::<Vec<_>>()
                }),
                run(|| {
                    let differences = v.windows(2).map(|w| w[1].wrapping_sub(w[0]));
                    differences.collect::<Vec<_>>()
                }),
            );
        }
        let name = format!("par_deduped, {len} u64");
        if table.wants(&name) {
            let few = numbers(len, 3);
            table.row(
                &name,
                run(|| few.par_deduped()),
                run(|| {
                    few.par_chunk_by(|a, b| a == b)
                        .map(|run| run[0])
                        .collect::<Vec<_>>()
                }),
                run(|| {
                    few.chunk_by(|a, b| a == b)
                        .map(|run| run[0])
                        .collect::<Vec<_>>()
                }),
            );
        }
        let name = format!("par_find_slice, 16 bytes at the end of {}", 5 * len);
        if table.wants(&name) {
            let hay = bytes(5 * len);
            let needle = &hay[hay.len() - 16..];
            table.row(
                &name,
                run(|| hay.par_find_slice(needle)),
                run(|| hay.par_windows(16).position_first(|w| w == needle)),
                run(|| hay.windows(16).position(|w| w == needle)),
            );
        }
        let name = format!("par_lower_bounds, {} keys in {len} u64", len / 10);
        if table.wants(&name) {
            let hay = sorted(len, 1 << 40);
            let keys = numbers(len / 10, 1 << 40);
            table.row(
                &name,
                run(|| hay.par_lower_bounds(&keys)),
                run(|| {
                    let bounds = keys.par_iter().map(|key| hay.partition_point(|x| x < key));
                    bounds.collect::<Vec<_>>()
                }),
                run(|| {
                    let bounds = keys.iter().map(|key| hay.partition_point(|x| x < key));
                    bounds.collect::<Vec<_>>()
                }),
            );
        }
        let name = format!("par_concat, {len} u64 in slices of 100");
        if table.wants(&name) {
            let rows: Vec<&[u64]> = v.chunks(100).collect();
            table.row(
                &name,
                run(|| rows.par_concat()),
                run(|| {
                    rows.par_iter()
                        .flat_map_iter(|row| row.iter().copied())
                        .collect::<Vec<_>>()
                }),
                run(|| rows.concat()),
            );
        }
    }
}
