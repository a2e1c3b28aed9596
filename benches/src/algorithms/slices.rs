//! Algorithms that change slices.

use crate::inputs::{numbers, sorted};
use crate::table::{Table, on_copy, run};
use rayon::prelude::{
    IndexedParallelIterator as _, IntoParallelRefMutIterator as _, ParallelIterator as _,
};
use rayon::slice::ParallelSliceMut as _;
use tine_iter::algorithms::{
    ParallelRetain, ParallelSliceChange, ParallelSortedSets, random_permutation,
};

/// What users without a shuffle write: a random key for each, sorted by.
fn shuffled_by_keys(v: &mut [u64]) {
    v.par_sort_by_cached_key(|x| x.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) ^ 5);
}

fn shuffle_loop(v: &mut [u64]) {
    let mut state = 9_u64;
    for left in (2..=v.len()).rev() {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        v.swap(
            left - 1,
            ((u128::from(state) * left as u128) >> 64) as usize,
        );
    }
}

fn counting_loop(v: &mut Vec<u64>) -> Vec<usize> {
    let mut starts = vec![0; 257];
    v.iter().for_each(|&x| starts[x as usize + 1] += 1);
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut places = starts.clone();
    let mut sorted = vec![0; v.len()];
    for &x in v.iter() {
        sorted[places[x as usize]] = x;
        places[x as usize] += 1;
    }
    *v = sorted;
    starts
}

pub fn rows(table: &mut Table) {
    for len in [10_000_000 / table.scale, 10_000, 1000] {
        let v = numbers(len, 1000);
        let name = format!("par_retain, a random half of {len} u64");
        if table.wants(&name) {
            let by_hand = |v: &mut Vec<u64>| {
                let old = std::mem::take(v);
                let kept = rayon::iter::IntoParallelIterator::into_par_iter(old);
                *v = kept.filter(|x| *x < 500).collect();
            };
            table.row(
                &name,
                on_copy(&v, |v| v.par_retain(|x| *x < 500)),
                on_copy(&v, by_hand),
                on_copy(&v, |v| v.retain(|x| *x < 500)),
            );
        }
        let name = format!("par_reverse, {len} u64");
        if table.wants(&name) {
            let by_hand = |v: &mut Vec<u64>| {
                let half = v.len() / 2;
                let (front, back) = v.split_at_mut(half);
                let at = back.len() - half;
                let pairs = front.par_iter_mut().zip(back[at..].par_iter_mut().rev());
                pairs.for_each(|(a, b)| std::mem::swap(a, b));
            };
            table.row(
                &name,
                on_copy(&v, |v| v.par_reverse()),
                on_copy(&v, by_hand),
                on_copy(&v, |v| v.reverse()),
            );
        }
        for (what, mid) in [("a third", len / 3), ("one", 1)] {
            let name = format!("par_rotate_left, {len} u64 by {what}");
            if table.wants(&name) {
                let by_hand = |v: &mut Vec<u64>| {
                    let mut new = vec![0; v.len()];
                    let (front, back) = new.split_at_mut(v.len() - mid);
                    let some = 1 << 14;
                    rayon::join(
                        || {
                            let from = rayon::slice::ParallelSlice::par_chunks(&v[mid..], some);
                            let pairs = front.par_chunks_mut(some).zip(from);
                            pairs.for_each(|(a, b)| a.copy_from_slice(b));
                        },
                        || {
                            let from = rayon::slice::ParallelSlice::par_chunks(&v[..mid], some);
                            let pairs = back.par_chunks_mut(some).zip(from);
                            pairs.for_each(|(a, b)| a.copy_from_slice(b));
                        },
                    );
                    *v = new;
                };
                table.row(
                    &name,
                    on_copy(&v, |v| v.par_rotate_left(mid)),
                    on_copy(&v, by_hand),
                    on_copy(&v, |v| v.rotate_left(mid)),
                );
            }
        }
        let name = format!("par_fill, {len} u64");
        if table.wants(&name) {
            table.row(
                &name,
                on_copy(&v, |v| v.par_fill(7)),
                on_copy(&v, |v| v.par_iter_mut().for_each(|x| *x = 7)),
                on_copy(&v, |v| v.fill(7)),
            );
        }
        let name = format!("par_tabulate, {len} u64");
        if table.wants(&name) {
            let make = |at: usize| (at as f64).sqrt().to_bits();
            table.row(
                &name,
                on_copy(&v, |v| v.par_tabulate(make)),
                on_copy(&v, |v| {
                    let places = v.par_iter_mut().enumerate();
                    places.for_each(|(at, x)| *x = make(at));
                }),
                on_copy(&v, |v| {
                    let places = v.iter_mut().enumerate();
                    places.for_each(|(at, x)| *x = make(at));
                }),
            );
        }
        let name = format!("par_shuffle, {len} u64");
        if table.wants(&name) {
            table.row(
                &name,
                on_copy(&v, |v| v.par_shuffle(1)),
                on_copy(&v, |v| shuffled_by_keys(v)),
                on_copy(&v, |v| shuffle_loop(v)),
            );
        }
        let name = format!("random_permutation, {len}");
        if table.wants(&name) {
            table.row(
                &name,
                run(|| random_permutation(len, 1)),
                run(|| {
                    let mut v: Vec<u64> = (0..len as u64).collect();
                    shuffled_by_keys(&mut v);
                    v
                }),
                run(|| {
                    let mut v: Vec<u64> = (0..len as u64).collect();
                    shuffle_loop(&mut v);
                    v
                }),
            );
        }
        let name = format!("par_partial_sort, 1 % of {len} u64");
        let wide = numbers(len, 1 << 40);
        if table.wants(&name) {
            let k = len / 100;
            table.row(
                &name,
                on_copy(&wide, |v| v.par_partial_sort(k)),
                on_copy(&wide, |v| {
                    v.select_nth_unstable(k);
                    v[..k].par_sort_unstable();
                }),
                on_copy(&wide, |v| {
                    v.select_nth_unstable(k);
                    v[..k].sort_unstable();
                }),
            );
        }
        let name = format!("par_counting_sort_by_key, {len} u64, 256 numbers");
        if table.wants(&name) {
            let keys = numbers(len, 256);
            table.row(
                &name,
                on_copy(&keys, |v| v.par_counting_sort_by_key(256, |x| *x as usize)),
                on_copy(&keys, |v| {
                    v.par_sort_by_key(|x| *x);
                    (0..257)
                        .map(|n| v.partition_point(|x| *x < n))
                        .collect::<Vec<_>>()
                }),
                on_copy(&keys, counting_loop),
            );
        }
        let name = format!("par_union, {len} and {} u64", len / 2);
        if table.wants(&name) {
            let (a, b) = (sorted(len, 1 << 24), sorted(len / 2, 1 << 24));
            table.row(
                &name,
                run(|| a.par_union(&b)),
                run(|| union_by_halves(&a, &b, 16)),
                run(|| union_loop(&a, &b)),
            );
        }
    }
}

fn union_loop(mut a: &[u64], mut b: &[u64]) -> Vec<u64> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    while let ([x, more_a @ ..], [y, more_b @ ..]) = (a, b) {
        out.push(*x.min(y));
        (a, b) = match x.cmp(y) {
            std::cmp::Ordering::Less => (more_a, b),
            std::cmp::Ordering::Equal => (more_a, more_b),
            std::cmp::Ordering::Greater => (a, more_b),
        };
    }
    out.extend_from_slice(a);
    out.extend_from_slice(b);
    out
}

fn union_by_halves(a: &[u64], b: &[u64], parts: usize) -> Vec<u64> {
    if parts == 1 || a.len() < 1000 {
        return union_loop(a, b);
    }
    let value = a[a.len() / 2];
    let (at_a, at_b) = (
        a.partition_point(|x| *x < value),
        b.partition_point(|x| *x < value),
    );
    let (mut left, right) = rayon::join(
        || union_by_halves(&a[..at_a], &b[..at_b], parts / 2),
        || union_by_halves(&a[at_a..], &b[at_b..], parts / 2),
    );
    left.extend_from_slice(&right);
    left
}
