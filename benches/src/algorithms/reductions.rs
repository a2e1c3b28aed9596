//! `accumulate`, histograms, the least and the greatest at once.

use crate::inputs::{bytes, numbers};
use crate::table::{Table, run};
use tine_iter::algorithms::ParallelAccumulate;
use tine_iter::prelude::*;

fn sum_up<const N: usize>(mut counts: [u64; N], others: [u64; N]) -> [u64; N] {
    counts.iter_mut().zip(others).for_each(|(a, b)| *a += b);
    counts
}

fn by_loop(bytes: &[u8]) -> [u64; 256] {
    let mut counts = [0; 256];
    bytes
        .iter()
        .for_each(|&byte| counts[usize::from(byte)] += 1);
    counts
}

/// As users write it where a fold by value costs too much.
fn by_chunks(bytes: &[u8]) -> [u64; 256] {
    use rayon::prelude::*;
    let chunk = bytes.len().div_ceil(16).max(1);
    rayon::slice::ParallelSlice::par_chunks(bytes, chunk)
        .map(by_loop)
        .reduce(|| [0; 256], sum_up)
}

pub fn rows(table: &mut Table) {
    for len in [10_000_000 / table.scale, 10_000, 1000] {
        let bytes = bytes(len);
        let name = format!("accumulate into [u64; 256], {len} bytes");
        if table.wants(&name) {
            table.row(
                &name,
                run(|| {
                    bytes.par_iter().accumulate(
                        || [0_u64; 256],
                        |counts, &byte| counts[usize::from(byte)] += 1,
                        |counts, others| counts.iter_mut().zip(others).for_each(|(a, b)| *a += b),
                    )
                }),
                run(|| by_chunks(&bytes)),
                run(|| by_loop(&bytes)),
            );
        }
        let name = format!("histogram_array, {len} bytes");
        if table.wants(&name) {
            let ours = || {
                bytes
                    .par_iter()
                    .histogram_array::<256, _>(|&byte| byte.into())
            };
            table.row(
                &name,
                run(ours),
                run(|| by_chunks(&bytes)),
                run(|| by_loop(&bytes)),
            );
        }
    }
    let len = 12_000_000 / table.scale;
    let name = format!("histogram_channels, {len} pixels of 3 bytes");
    if table.wants(&name) {
        let pixels: Vec<[u8; 3]> = bytes(3 * len).as_chunks().0.to_vec();
        let by_loop = |pixels: &[[u8; 3]]| {
            let mut counts = [[0_u64; 256]; 3];
            for pixel in pixels {
                for (counts, &value) in counts.iter_mut().zip(pixel) {
                    counts[usize::from(value)] += 1;
                }
            }
            counts
        };
        table.row(
            &name,
            run(|| {
                let pixels = pixels.par_iter();
                pixels.histogram_channels::<3, 256, _>(|pixel| pixel.map(usize::from))
            }),
            run(|| {
                use rayon::prelude::*;
                let chunk = pixels.len().div_ceil(16);
                rayon::slice::ParallelSlice::par_chunks(&pixels[..], chunk)
                    .map(by_loop)
                    .reduce(
                        || [[0; 256]; 3],
                        |[a, b, c], [x, y, z]| [sum_up(a, x), sum_up(b, y), sum_up(c, z)],
                    )
            }),
            run(|| by_loop(&pixels)),
        );
    }
    for len in [10_000_000 / table.scale, 10_000] {
        let v = numbers(len, 1 << 40);
        let name = format!("min_max, {len} u64");
        if table.wants(&name) {
            table.row(
                &name,
                run(|| v.par_iter().copied().min_max()),
                run(|| {
                    use rayon::prelude::*;
                    let both = |(a, b): (u64, u64), (x, y): (u64, u64)| (a.min(x), b.max(y));
                    rayon::iter::IntoParallelRefIterator::par_iter(&v)
                        .map(|&x| (x, x))
                        .reduce_with(both)
                }),
                run(|| {
                    let both = |(a, b): (u64, u64), &x: &u64| (x.min(a), x.max(b));
                    v.iter().fold((u64::MAX, 0), both)
                }),
            );
        }
    }
}
