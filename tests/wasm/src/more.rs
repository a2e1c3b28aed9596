//! Further checks, against std's answers: with a `usize` of 32 bits, and where no thread can wait.

use std::collections::BTreeSet;
use tine::algorithms::random_permutation;
use tine::prelude::*;
use tine::readers::ParallelRead;
use tine::{ParBitSet, ParVec};

/// Name and function of each.
pub(crate) const MORE: &[(&str, fn())] = &[
    ("ranges beyond 32 bits", ranges),
    ("lengths at the limit", lengths),
    ("sorts of every width", widths),
    ("sorts of every shape", shapes),
    ("selection and merges", selection),
    ("scans", scans),
    ("changes in place", changes),
    ("looks", looks),
    ("sets and searches in slices", sets),
    ("grids", grids),
    ("shuffles", shuffles),
    ("worklists and trees", worklists),
    ("bridges and pipelines", pipelines),
    ("readers", readers),
    ("folds and reductions", reductions),
    ("ends that hold many", ends),
];

/// Numbers in no particular order.
pub(crate) fn numbers(count: usize) -> Vec<u64> {
    let step = |x: &u64| {
        let x = x ^ x << 13;
        let x = x ^ x >> 7;
        Some(x ^ x << 17)
    };
    std::iter::successors(Some(88_172_645_463_325_252), step)
        .take(count)
        .collect()
}

const SIZES: [usize; 6] = [0, 1, 33, 1000, 20_000, 150_000];

fn ranges() {
    let far = 1_u64 << 40;
    assert_eq!(
        (0..u64::MAX).into_par_iter().find_first(|n| *n >= 5),
        Some(5)
    );
    assert_eq!(
        (far..far + 1000).into_par_iter().sum::<u64>(),
        (far..far + 1000).sum()
    );
    assert_eq!(
        (0..=u32::MAX).into_par_iter().find_any(|n| *n == 7),
        Some(7)
    );
    assert_eq!((0..=u32::MAX).into_par_iter().take_any(3).count(), 3);
    assert_eq!(
        (-5..=i64::MAX).into_par_iter().find_first(|n| *n > -2),
        Some(-1)
    );
    assert_eq!(
        (i128::MIN..0).into_par_iter().find_first(|_| true),
        Some(i128::MIN)
    );
    assert_eq!(
        (0..u128::MAX)
            .into_par_iter()
            .map(|n| n as u8)
            .any(|n| n == 200),
        true
    );
    assert_eq!((0..usize::MAX).into_par_iter().len(), usize::MAX);
    assert_eq!((i32::MIN..i32::MAX).into_par_iter().len(), usize::MAX);
    assert_eq!(
        (i32::MIN..i32::MAX)
            .into_par_iter()
            .skip(usize::MAX - 2)
            .collect::<Vec<_>>(),
        [i32::MAX - 2, i32::MAX - 1]
    );
    assert_eq!(
        (0..usize::MAX)
            .into_par_iter()
            .rev()
            .take(2)
            .collect::<Vec<_>>(),
        [usize::MAX - 1, usize::MAX - 2]
    );
    assert_eq!(
        (0..u64::from(u32::MAX) + 9)
            .into_par_iter()
            .chain(0..9)
            .find_first(|_| true),
        Some(0)
    );
    assert_eq!(('a'..='z').into_par_iter().collect::<String>().len(), 26);
}

fn lengths() {
    let all = 0..usize::MAX;
    assert_eq!(
        all.clone()
            .into_par_iter()
            .step_by(usize::MAX)
            .collect::<Vec<_>>(),
        [0]
    );
    assert_eq!(all.clone().into_par_iter().step_by(1 << 30).count(), 4);
    assert_eq!(all.clone().into_par_iter().chunks(usize::MAX).len(), 1);
    assert_eq!(all.clone().into_par_iter().zip(1..5).count(), 4);
    assert_eq!(
        all.into_par_iter()
            .enumerate()
            .take(3)
            .map(|(at, n)| at + n)
            .sum::<usize>(),
        6
    );
    let nothings = vec![(); usize::MAX];
    assert_eq!(nothings.par_iter().len(), usize::MAX);
    assert_eq!(
        nothings
            .par_chunks(1 << 31)
            .map(<[()]>::len)
            .collect::<Vec<_>>(),
        [1 << 31, (1 << 31) - 1]
    );
    assert_eq!(
        nothings
            .par_rchunks(1 << 31)
            .map(<[()]>::len)
            .collect::<Vec<_>>(),
        [1 << 31, (1 << 31) - 1]
    );
    let vec = ParVec::from(nothings);
    assert_eq!(vec.len(), usize::MAX);
    assert_eq!(vec.into_vec().len(), usize::MAX);
}

/// Sorts by every verb, as numbers of this type and by keys with this type.
macro_rules! width {
    ($($type:ty: $make:expr;)*) => {$(
        for count in SIZES {
            let make: fn(u64) -> $type = $make;
            let given: Vec<$type> = numbers(count).into_iter().map(make).collect();
            let mut wanted = given.clone();
            wanted.sort();
            let check = |sort: fn(&mut [$type])| {
                let mut ours = given.clone();
                sort(&mut ours);
                assert!(ours == wanted, "{count} of {}", stringify!($type));
            };
            check(|v| v.par_sort());
            check(|v| v.par_sort_unstable());
            check(|v| v.par_sort_by(|a, b| a.cmp(b)));
            check(|v| v.par_sort_by_key(|x| x.clone()));
            check(|v| v.par_sort_unstable_by_key(|x| x.clone()));
            check(|v| v.par_sort_by_cached_key(|x| x.clone()));
            let pairs: Vec<($type, usize)> = given.iter().cloned().zip(0..).collect();
            let (mut ours, mut stable) = (pairs.clone(), pairs);
            ours.par_sort_by_key(|pair| pair.0.clone());
            stable.sort_by_key(|pair| pair.0.clone());
            assert!(ours == stable, "{count} pairs of {}", stringify!($type));
        }
    )*};
}

fn widths() {
    width! {
        u8: |n| n as u8;
        i16: |n| n as i16;
        u32: |n| n as u32;
        u64: |n| n;
        i64: |n| n as i64;
        usize: |n| n as usize;
        isize: |n| n as isize;
        u128: |n| u128::from(n) << 64 | u128::from(!n);
        u64: |n| n % 100;
        u64: |n| n >> 40;
        (u8, u64): |n| (n as u8, n);
        [u32; 5]: |n| [n as u32 % 50, 1, 2, 3, n as u32];
        String: |n| (n % 5000).to_string();
        Option<char>: |n| char::from_u32(n as u32 % 0x20_0000);
    }
}

fn shapes() {
    for count in SIZES {
        let up: Vec<u64> = (0..count as u64).collect();
        let down: Vec<u64> = up.iter().rev().copied().collect();
        let waves = up.iter().map(|n| n % 1000).collect();
        let strays = up
            .iter()
            .map(|n| if n % 97 == 0 { n * 31 % 77 } else { *n })
            .collect();
        for given in [up, down, waves, strays] {
            let mut wanted: Vec<u64> = given.clone();
            wanted.sort_unstable_by(|a, b| b.cmp(a));
            let mut ours = given.clone();
            ours.par_sort_by(|a, b| b.cmp(a));
            assert!(ours == wanted);
            let mut ours = given.clone();
            ours.par_sort_unstable_by_key(|n| std::cmp::Reverse(*n));
            assert!(ours == wanted);
            let mut floats: Vec<f64> = given.iter().map(|&n| n as f64 - 500.5).collect();
            floats.par_sort_by(|a, b| b.total_cmp(a));
            assert!(floats.is_sorted_by(|a, b| a >= b));
        }
    }
}

fn selection() {
    for count in [1, 40, 3000, 120_000] {
        let given = numbers(count);
        let mut wanted = given.clone();
        wanted.sort_unstable();
        for nth in [0, count / 3, count - 1] {
            let mut ours = given.clone();
            assert_eq!(*ours.par_select_nth_unstable(nth).1, wanted[nth]);
            let mut ours = given.clone();
            ours.par_partial_sort(nth);
            assert!(ours[..nth] == wanted[..nth]);
            assert!(given.par_iter().copied().k_smallest(nth) == wanted[..nth]);
        }
        let mut halves = given.clone();
        let mid = count / 2;
        halves[..mid].sort_unstable();
        halves[mid..].sort_unstable();
        halves.par_merge(mid);
        assert!(halves == wanted);
        let mut counted: Vec<(usize, u64)> = given.iter().map(|&n| (n as usize % 300, n)).collect();
        let mut stable = counted.clone();
        stable.sort_by_key(|pair| pair.0);
        let starts = counted.par_counting_sort_by_key(300, |pair| pair.0);
        assert!(counted == stable && starts.len() == 301 && starts[300] == count);
    }
}

fn scans() {
    for count in SIZES {
        let given = numbers(count);
        let mut sum = 0_u64;
        let running = |n: &u64| {
            sum = sum.wrapping_add(*n);
            sum
        };
        let wanted: Vec<u64> = given.iter().map(running).collect();
        let add = |a: u64, b: u64| a.wrapping_add(b);
        let ours: Vec<u64> = given
            .par_iter()
            .copied()
            .scan_inclusive(|| 0, add)
            .collect();
        assert!(ours == wanted);
        let ours: Vec<u64> = given
            .par_iter()
            .copied()
            .scan_exclusive(|| 0, add)
            .collect();
        assert!(
            ours.len() == count
                && ours
                    .iter()
                    .skip(1)
                    .eq(wanted.iter().take(count.saturating_sub(1)))
        );
        let mut small: Vec<u32> = given.iter().map(|n| *n as u32 % 10).collect();
        let plain: Vec<u32> = small
            .iter()
            .scan(0, |sum, n| {
                *sum += n;
                Some(*sum)
            })
            .collect();
        small.par_prefix_sum();
        assert!(small == plain);
    }
}

fn changes() {
    for count in SIZES {
        let given = numbers(count);
        let (mut ours, mut wanted) = (given.clone(), given.clone());
        ours.par_retain(|n| n % 3 > 0);
        wanted.retain(|n| n % 3 > 0);
        assert!(ours == wanted);
        ours.par_reverse();
        wanted.reverse();
        ours.par_rotate_left(wanted.len() / 3);
        let third = wanted.len() / 3;
        wanted.rotate_left(third);
        assert!(ours == wanted);
        ours.par_tabulate(|at| at as u64);
        assert!(ours.iter().copied().eq(0..ours.len() as u64));
        ours.par_fill(7);
        assert!(ours.iter().all(|n| *n == 7));
        let rows = [given.clone(), Vec::new(), given];
        assert!(rows.par_concat() == rows.concat());
        assert!(rows.par_flat().len() == 2 * count);
    }
}

fn looks() {
    for count in SIZES {
        let given = numbers(count);
        assert_eq!(
            given.par_iter().min_max(),
            given.iter().min().zip(given.iter().max())
        );
        let mut sorted = given.clone();
        sorted.sort_unstable();
        let places = sorted.par_lower_bounds(&given);
        assert!(places.iter().zip(&given).all(|(&at, n)| sorted[at] == *n));
        let other = given.iter().map(|n| n & !1).collect::<Vec<_>>();
        assert_eq!(
            given.par_mismatch(&other),
            given.iter().zip(&other).position(|(a, b)| a != b)
        );
    }
}

fn sets() {
    for count in SIZES {
        let set = |from: u64| -> Vec<u64> {
            numbers(count)
                .iter()
                .map(|n| n % (2 * count as u64 + 1) + from)
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect()
        };
        let (a, b) = (set(0), set(count as u64 / 2));
        let [left, right]: [BTreeSet<u64>; 2] = [&a, &b].map(|set| set.iter().copied().collect());
        assert!(a.par_union(&b).into_iter().eq(left.union(&right).copied()));
        assert!(
            a.par_intersection(&b)
                .into_iter()
                .eq(left.intersection(&right).copied())
        );
        assert!(
            a.par_difference(&b)
                .into_iter()
                .eq(left.difference(&right).copied())
        );
        assert_eq!(
            a.par_find_slice(&a[a.len() / 2..]),
            Some(a.len() / 2).filter(|_| !a.is_empty()).or(Some(0))
        );
    }
}

fn grids() {
    let cells: Vec<u32> = (0..600).collect();
    let sums: Vec<u32> = cells
        .par_rows(30, 1)
        .map(|row| row.rows().flatten().sum())
        .collect();
    assert_eq!((sums.len(), sums[0]), (20, (0..60).sum()));
    assert_eq!(cells.par_tiles(30, (7, 7), 2).count(), 15);
    let mut changed = cells.clone();
    changed.par_rows_mut(30).for_each(|row| row.reverse());
    assert_eq!(changed[..2], [29, 28]);
}

fn shuffles() {
    let order = random_permutation(50_000, 7);
    assert!(!order.is_sorted());
    let mut sorted = order.clone();
    sorted.par_sort_unstable();
    assert!(sorted.into_iter().eq(0..50_000));
    let mut cards: Vec<usize> = (0..50_000).collect();
    cards.par_shuffle(7);
    cards.par_sort();
    assert!(cards.into_iter().eq(0..50_000));
}

fn worklists() {
    let seen = ParBitSet::new(5000);
    tine::algorithms::for_each_fed([0_usize], |n, feed| {
        for next in [2 * n + 1, 2 * n + 2] {
            if next < 5000 && seen.insert(next) {
                feed.feed(next);
            }
        }
    });
    assert_eq!(seen.count(), 4999);
    let children = |n: &u32| {
        (1..=3)
            .map(|k| 3 * n + k)
            .filter(|n| *n < 2000)
            .collect::<Vec<_>>()
    };
    assert_eq!(tine::iter::walk_tree(0_u32, children).count(), 2000);
    assert_eq!(
        tine::iter::walk_tree_prefix(0_u32, children)
            .map(u64::from)
            .sum::<u64>(),
        1_999_000
    );
}

fn pipelines() {
    let squares: Vec<u64> = (0..5000_u64)
        .par_bridge_ordered(64)
        .map(|n| n * n)
        .collect();
    assert!(squares.into_iter().eq((0..5000).map(|n| n * n)));
    assert_eq!(
        (0..5000_u64)
            .par_bridge()
            .batched()
            .map(|n| n * 2)
            .sum::<u64>(),
        24_995_000
    );
    // Long, so that their time is checked.
    let long = || (0..600_000_u64).par_bridge();
    assert_eq!(
        long().map(|n| n % 7).sum::<u64>(),
        (0..600_000).map(|n| n % 7).sum()
    );
    assert_eq!(
        long().batched().map(|n| n % 7).sum::<u64>(),
        (0..600_000).map(|n| n % 7).sum()
    );
    let mut last = 0;
    tine::pipeline(0..3000_u32, 32)
        .map(|n| n * 3)
        .in_order(|n| {
            assert!(n >= last);
            last = n;
            n
        })
        .for_each(|_| ());
    assert_eq!(last, 8997);
}

fn readers() {
    let text = "a line\nanother\r\n\nthe last".repeat(500);
    let bytes = || std::io::Cursor::new(text.clone());
    let lines = ParallelRead::par_lines(bytes()).block_size(100);
    let lines: Vec<usize> = lines.map(|line| line.len()).collect().expect("text");
    assert!(lines.into_iter().eq(text.lines().map(str::len)));
    let count = ParallelRead::par_byte_lines(bytes()).count();
    assert_eq!(count.expect("bytes"), text.lines().count() as u64);
}

fn reductions() {
    for count in SIZES {
        let given = numbers(count);
        assert_eq!(given.par_iter().max(), given.iter().max());
        assert_eq!(
            given.par_iter().min_by_key(|n| *n % 1009),
            given.iter().min_by_key(|n| *n % 1009)
        );
        assert_eq!(
            given.par_iter().max_by_key(|n| *n % 1009),
            given.iter().max_by_key(|n| *n % 1009)
        );
        assert_eq!(
            given.par_iter().copied().reduce_with(u64::wrapping_mul),
            given.iter().copied().reduce(u64::wrapping_mul)
        );
        let wide: u128 = given.par_iter().map(|n| u128::from(*n)).sum();
        assert_eq!(wide, given.iter().map(|n| u128::from(*n)).sum());
        let kept = given
            .par_iter()
            .try_fold(|| 0_u64, |a, b| a.checked_add(b >> 40))
            .try_reduce(|| 0, u64::checked_add);
        assert_eq!(kept, Some(given.iter().map(|n| n >> 40).sum()));
        let floats = || given.par_iter().map(|n| *n as f64).deterministic();
        assert_eq!(
            floats().sum::<f64>().to_bits(),
            floats().sum::<f64>().to_bits()
        );
        assert_eq!(
            given.par_iter().filter(|n| **n > 9).count(),
            given.iter().filter(|n| **n > 9).count()
        );
        let bins = given
            .par_iter()
            .histogram_array::<16, _>(|n| (*n >> 60) as usize);
        assert_eq!(bins.iter().sum::<usize>(), count);
    }
}

fn ends() {
    for count in SIZES {
        let given = numbers(count);
        let (even, odd): (Vec<u64>, Vec<u64>) = given.par_iter().partition(|n| *n % 2 == 0);
        let plain: (Vec<u64>, Vec<u64>) = given.iter().partition(|n| *n % 2 == 0);
        assert!((even, odd) == plain);
        let (left, right): (Vec<u64>, String) = given
            .par_iter()
            .map(|n| (*n, (*n as u8 % 26 + b'a') as char))
            .unzip();
        assert!(left == given && right.len() == count);
        let chunks: Vec<Vec<u64>> = given.par_iter().copied().chunks(7).collect();
        assert!(chunks.concat() == given);
        let sets: BTreeSet<u64> = given.par_iter().copied().collect();
        assert!(
            sets.into_iter()
                .eq(given.iter().copied().collect::<BTreeSet<_>>())
        );
        let flat: Vec<u64> = given
            .par_iter()
            .flat_map_iter(|n| [*n, !*n])
            .filter(|n| n % 5 > 0)
            .collect();
        assert!(
            flat.into_iter()
                .eq(given.iter().flat_map(|n| [*n, !*n]).filter(|n| n % 5 > 0))
        );
        let mut drained = given.clone();
        assert!(drained.par_drain(..count / 2).collect::<Vec<_>>() == given[..count / 2]);
        assert!(drained == given[count / 2..]);
        assert!(
            given
                .par_windows(3)
                .map(|w| w[0] ^ w[2])
                .collect::<Vec<_>>()
                .into_iter()
                .eq(given.windows(3).map(|w| w[0] ^ w[2]))
        );
        let pieces: Vec<&[u64]> = given.par_split(|n| n % 50 == 0).collect();
        assert!(pieces.into_iter().eq(given.split(|n| n % 50 == 0)));
    }
}
