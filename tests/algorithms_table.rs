//! The lines of `docs/algorithms.md`, each next to its sequential meaning.
#![forbid(unsafe_code)]

use tine::algorithms::{Combine, for_each_fed, random_permutation};
use tine::iter::repeat_n;
use tine::prelude::*;

fn numbers() -> Vec<i64> {
    (0..2000_i64).map(|n| n * 7919 % 1009 - 300).collect()
}

fn sorted(mut v: Vec<i64>) -> Vec<i64> {
    v.sort();
    v
}

#[test]
fn looking() {
    let v = numbers();
    let p = |x: &i64| *x > 690;
    assert_eq!(v.par_iter().all(|x| *x < 709), v.iter().all(|x| *x < 709));
    assert_eq!(
        v.par_iter().filter(|x| p(x)).count(),
        v.iter().filter(|x| p(x)).count()
    );
    assert_eq!(v.par_iter().position_first(p), v.iter().position(p));
    assert_eq!(v.par_iter().position_first(|x| !p(x)), Some(0));
    let set = [5, 17];
    let first_of = v.par_iter().position_first(|x| set.contains(x));
    assert_eq!(first_of, v.iter().position(|x| set.contains(x)));
    let needle = &v[1100..1103];
    let end = v.par_windows(3).position_last(|w| w == needle);
    assert_eq!(end, v.windows(3).rposition(|w| w == needle));
    assert_eq!(
        v.par_find_slice(needle),
        v.windows(3).position(|w| w == needle)
    );
    let pairs: Vec<i64> = v.iter().map(|x| x / 8).collect();
    let n = pairs
        .par_windows(2)
        .position_first(|w| w.iter().all(|y| *y == 0));
    assert_eq!(n, pairs.windows(2).position(|w| w == [0, 0]));
    assert_eq!(
        pairs.par_adjacent_find(|a, b| a == b),
        n.min(n.map(|_| { pairs.windows(2).position(|w| w[0] == w[1]).unwrap() }))
    );
    assert_eq!(v.par_mismatch(&v[..70]), Some(70));
    assert!(v.par_iter().eq(&v) && v[..5].par_iter().lt(&v));
    assert_eq!(v.par_iter().min_max(), v.iter().min().zip(v.iter().max()));
    let until = |v: &[i64]| {
        v.par_adjacent_find(|a, b| a > b)
            .map_or(v.len(), |at| at + 1)
    };
    assert_eq!(until(&[1, 2, 2, 1]), 3);
    assert_eq!(until(&[1, 2]), 2);
    let partitioned = |v: &[i64]| v.par_adjacent_find(|a, b| !p(a) && p(b)).is_none();
    assert!(partitioned(&[700, 700, 1]) && !partitioned(&[700, 1, 700]));
    let no_heap = |v: &[i64]| {
        (1..v.len())
            .into_par_iter()
            .find_first(|&at| v[at] > v[(at - 1) / 2])
    };
    let heap = std::collections::BinaryHeap::from(v.clone()).into_vec();
    assert_eq!((no_heap(&heap), no_heap(&[3, 2, 1, 4])), (None, Some(3)));
    assert!(sorted(v.clone()).par_includes(&sorted(v[3..99].to_vec())));
    assert_eq!("a fork has tines".par_find_str("tine"), Some(11));
}

#[test]
fn reducing() {
    let v = numbers();
    let sum = v.iter().sum::<i64>();
    assert_eq!(v.par_iter().sum::<i64>(), sum);
    assert_eq!(v.par_iter().copied().deterministic().sum::<i64>(), sum);
    let product = v.par_iter().zip(&v).map(|(x, y)| x * y).sum::<i64>();
    assert_eq!(product, v.iter().map(|x| x * x).sum());
    let differences = v.par_adjacent_difference(|this, before| this - before);
    let between: Vec<i64> = v.par_array_windows().map(|[a, b]| b - a).collect();
    assert!(differences[0] == v[0] && differences[1..] == between);
}

#[test]
fn writing() {
    let v = numbers();
    let mut out = vec![0; v.len()];
    out.par_iter_mut().zip(&v).for_each(|(out, x)| *out = x + 1);
    assert!(out.iter().zip(&v).all(|(out, x)| *out == x + 1));
    out.par_iter_mut()
        .zip(&v)
        .for_each(|(out, x)| out.clone_from(x));
    assert_eq!(out, v);
    let sevens: Vec<i64> = repeat_n(7, 5).collect();
    out[..5].par_fill(7);
    assert_eq!(out[..5], sevens);
    out.par_fill_with(|| 4);
    assert_eq!(out, [4; 2000]);
    out.par_tabulate(|at| at as i64 - 1);
    assert!(out.iter().copied().eq(-1..1999));
    out.par_iter_mut().filter(|x| **x < 0).for_each(|x| *x = 9);
    assert_eq!(out[..2], [9, 0]);
    let (mut a, mut b) = (v.clone(), out.clone());
    a.par_swap_with_slice(&mut b);
    assert!(a == out && b == v);
}

#[test]
fn order() {
    let v = numbers();
    let mut w = v.clone();
    w.par_reverse();
    assert_eq!(w, v.par_iter().rev().cloned().collect::<Vec<_>>());
    w = v.clone();
    w.par_rotate_left(700);
    assert_eq!(
        w,
        v[700..]
            .par_iter()
            .chain(&v[..700])
            .cloned()
            .collect::<Vec<_>>()
    );
    w.par_rotate_right(700);
    assert_eq!(w, v);
    w.par_retain(|x| x % 2 == 0);
    assert_eq!(
        w,
        v.par_iter()
            .filter(|x| *x % 2 == 0)
            .cloned()
            .collect::<Vec<_>>()
    );
    let few: Vec<i64> = v.iter().map(|x| x / 500).collect();
    w = few.clone();
    w.par_dedup();
    assert_eq!(w, few.par_deduped());
    assert_eq!(w.len(), few.par_chunk_by(|a, b| a == b).count());
    w = v.clone();
    let less = w.par_partition(|x| *x < 0);
    assert!(w[..less].iter().all(|x| *x < 0) && w[less..].iter().all(|x| *x >= 0));
    w = v.clone();
    w.par_partial_sort(10);
    assert_eq!(w[..10], sorted(v.clone())[..10]);
    assert_eq!(w[..10], v.par_iter().copied().k_smallest(10));
    let (a, b) = (sorted(v[..900].to_vec()), sorted(v[700..].to_vec()));
    assert_eq!(a.par_merged(&b), sorted([&a[..], &b].concat()));
    let union = a.par_union(&b);
    assert_eq!(union, a.par_combined_by(&b, Combine::Union, i64::cmp));
    let both = a.par_intersection(&b).len();
    assert_eq!(union.len(), a.len() + b.len() - both);
    assert_eq!(a.par_difference(&b).len(), a.len() - both);
    assert_eq!(a.par_symmetric_difference(&b).len(), union.len() - both);
    w = v.clone();
    w.par_shuffle(5);
    assert!(w != v && sorted(w) == sorted(v));
}

#[test]
fn of_parlay_and_thrust() {
    let v = numbers();
    let hay = sorted(v.clone());
    let keys = [-500, 0, 300, 9000];
    let lower: Vec<usize> = keys
        .iter()
        .map(|k| hay.partition_point(|x| x < k))
        .collect();
    assert_eq!(hay.par_lower_bounds(&keys), lower);
    assert_eq!(hay.par_binary_searches(&keys)[0], Err(0));
    let flags: Vec<bool> = v.iter().map(|x| x % 3 == 0).collect();
    let pack: Vec<&i64> = v
        .par_iter()
        .zip(&flags)
        .filter(|(_, keep)| **keep)
        .map(|(x, _)| x)
        .collect();
    let indices: Vec<usize> = flags.par_iter().positions(|keep| *keep).collect();
    let gathered: Vec<&i64> = indices.par_iter().map(|&at| &v[at]).collect();
    assert_eq!(pack, gathered);
    let rows: Vec<&[i64]> = v.chunks(7).collect();
    assert_eq!(rows.par_concat(), v);
    let mut grouped = v.clone();
    let starts = grouped.par_counting_sort_by_key(10, |x| x.unsigned_abs() as usize % 10);
    let threes = grouped[starts[3]..starts[4]].iter();
    assert!(threes.eq(v.iter().filter(|x| x.abs() % 10 == 3)));
    let counts = v
        .par_iter()
        .histogram_array::<10, _>(|x| x.unsigned_abs() as usize % 10);
    assert!(starts.windows(2).map(|w| w[1] - w[0]).eq(counts));
    let mut set = tine::ParBitSet::new(1000);
    set.par_extend(v.par_iter().map(|x| (x + 300) as usize % 1000));
    let mut distinct: Vec<usize> = v.par_iter().map(|x| (x + 300) as usize % 1000).distinct();
    distinct.sort();
    assert!(set.iter().eq(distinct));
    let mut order: Vec<usize> = (0..v.len()).collect();
    order.par_sort_by_key(|&at| v[at]);
    assert!(order.iter().map(|&at| v[at]).eq(hay.iter().copied()));
    assert_eq!(random_permutation(9, 1).len(), 9);
    let words: Vec<&[u8]> = b" a  fork ".par_tokens(|b| *b == b' ').collect();
    assert_eq!(words, [&b"a"[..], b"fork"]);
    let reached = tine::ParBitSet::new(100);
    for_each_fed([1_usize], |n, feeder| {
        if n < 100 && reached.insert(n) {
            feeder.feed_all([2 * n, 3 * n]);
        }
    });
    assert_eq!(reached.count(), 20);
}

#[test]
fn images_and_text() {
    let src: Vec<u32> = (0..48).collect();
    let mut dst = [vec![0; 48], vec![0; 48]];
    let [by_rows, by_tiles] = &mut dst;
    by_rows
        .par_rows_mut(8)
        .zip(src.par_rows(8, 1))
        .for_each(|(dst, row)| {
            let (above, below) = (row.clamped(-1), row.clamped(1));
            dst.iter_mut()
                .enumerate()
                .for_each(|(x, cell)| *cell = above[x] + below[x]);
        });
    let tiles = by_tiles
        .par_tiles_mut(8, (3, 2))
        .zip(src.par_tiles(8, (3, 2), 1));
    tiles.for_each(|(mut dst, tile)| {
        let left = tile.x().start;
        for (y, row) in dst.rows_mut() {
            for (x, cell) in row.iter_mut().enumerate() {
                let (x, y) = ((left + x) as isize, y as isize);
                *cell = tile.clamped(x, y - 1) + tile.clamped(x, y + 1);
            }
        }
    });
    assert_eq!(by_rows, by_tiles);
    let lines: Vec<(usize, &str)> = "a\nb\r\nc".par_lines().enumerate().collect();
    assert_eq!(lines, [(0, "a"), (1, "b"), (2, "c")]);
    assert_eq!(b"a\nb".par_lines().enumerate().count(), 2);
}
