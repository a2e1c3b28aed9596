//! Every source, the adapters before and after a scan, and lengths near the sizes of blocks.

use std::collections::{BTreeMap, LinkedList, VecDeque};

use quickcheck::quickcheck;
use tine_iter::iter::Either;
use tine_iter::prelude::*;
use tine_iter::scan::ParallelScan;

use crate::{Affine, SAME, affine, in_pools, looped, then};

/// Whether both scans of an iterator of `Affine`s equal the scans of a loop, driven, with blocks of several
/// sizes, in all pools; and whether the totals do. The result of `make` has one type for all of them, so that
/// its parts are compiled once.
fn driven<P: ParallelIterator<Item = Affine>>(make: &(dyn Fn() -> P + Sync), items: &[Affine]) {
    for size in [0, 3, 1000] {
        // Pairs of integers are not known to be exact, so that both ways are tried.
        let (want, all) = looped(items.iter().copied(), true, SAME(), then);
        let made = in_pools(&|| {
            let mut total = SAME();
            let scan = make().scan_exclusive(SAME, then);
            let scan = if size > 0 { scan.blocks_of(size) } else { scan };
            let scan = if size == 1000 { scan.exact() } else { scan };
            let values: Vec<Affine> = scan.total(&mut total).collect();
            (values, total)
        });
        agree(&made, &want, all, size);
        let (want, all) = looped(items.iter().copied(), false, SAME(), then);
        let made = in_pools(&|| {
            let mut total = SAME();
            let scan = make().scan_inclusive(SAME, then);
            let scan = if size > 0 { scan.blocks_of(size) } else { scan };
            let scan = if size == 1000 { scan.exact() } else { scan };
            let values: Vec<Affine> = scan.total(&mut total).collect();
            (values, total)
        });
        agree(&made, &want, all, size);
    }
}

fn agree(made: &[(Vec<Affine>, Affine)], want: &[Affine], all: Affine, size: usize) {
    for (values, total) in made {
        assert!(values == want, "{} values, blocks of {size}", want.len());
        assert_eq!(*total, all, "the total of {}", want.len());
    }
}

/// The same, by position.
fn placed<P>(make: &(dyn Fn() -> P + Sync), items: &[Affine])
where
    P: IndexedParallelIterator<Item = Affine>,
{
    for size in [2, 1000] {
        let (want, all) = looped(items.iter().copied(), false, SAME(), then);
        let made = in_pools(&|| {
            let mut total = SAME();
            let scan = make()
                .scan_inclusive(SAME, then)
                .blocks_of(size)
                .total(&mut total);
            assert_eq!(scan.len(), want.len());
            let values: Vec<_> = scan.rev().enumerate().collect();
            (values, total)
        });
        for (values, total) in made {
            let wanted = want.iter().copied().rev().enumerate();
            assert!(values.into_iter().eq(wanted), "{} by position", want.len());
            assert_eq!(total, all, "the total of {} by position", want.len());
        }
    }
}

/// An iterator driven, against its twin.
macro_rules! same {
    ($par:expr, $seq:expr) => {
        driven(&|| $par, &Vec::from_iter($seq))
    };
}

/// An iterator driven and by position, against its twin.
macro_rules! same_indexed {
    ($par:expr, $seq:expr) => {{
        let make = || $par;
        let items = Vec::from_iter($seq);
        driven(&make, &items);
        placed(&make, &items);
    }};
}

fn some(len: usize) -> Vec<Affine> {
    (0..len as u64).map(affine).collect()
}

const LENGTHS: &[usize] = if cfg!(miri) {
    &[0, 1, 2, 17, 40]
} else {
    &[0, 1, 2, 100, 4095, 4096, 4097, 20_000]
};

#[test]
fn slices_of_all_lengths() {
    for &len in LENGTHS {
        let v = some(len);
        same_indexed!(v.par_iter().copied(), v.iter().copied());
    }
}

#[test]
fn items_that_are_given_away() {
    for &len in LENGTHS {
        let v = some(len);
        same_indexed!(v.clone().into_par_iter(), v.iter().copied());
        same_indexed!(
            v.par_iter().map(|&x| then(x, x)),
            v.iter().map(|&x| then(x, x))
        );
    }
}

#[test]
fn several_windows() {
    let v = some(if cfg!(miri) { 40 } else { 300_001 });
    let (want, _) = looped(v.iter().copied(), false, SAME(), then);
    for made in in_pools(&|| {
        let walked: Vec<_> = v.par_iter().copied().scan_inclusive(SAME, then).collect();
        let kept = v.clone().into_par_iter().scan_inclusive(SAME, then);
        let kept = kept.filter(|_| true).collect::<Vec<_>>();
        let once = v.par_iter().copied().scan_inclusive(SAME, then).exact();
        let kept_once = v.clone().into_par_iter().scan_inclusive(SAME, then);
        [walked, kept, once.collect(), kept_once.exact().collect()]
    }) {
        assert!(made.iter().all(|values| *values == want));
    }
}

#[test]
fn items_of_unknown_number() {
    for &len in LENGTHS {
        let v = some(len);
        let odd = |x: &Affine| x.1 % 2 == 1;
        same!(
            v.par_iter().copied().filter(odd),
            v.iter().copied().filter(odd)
        );
        let twice = |&x: &Affine| [x, x];
        same!(v.par_iter().flat_map_iter(twice), v.iter().flat_map(twice));
        same!(
            v.par_iter().copied().filter(odd).map(|x| then(x, x)),
            v.iter().copied().filter(odd).map(|x| then(x, x))
        );
    }
}

const MIDDLE: usize = if cfg!(miri) { 40 } else { 9000 };

#[test]
fn ranges() {
    let n = MIDDLE as u64;
    same_indexed!(
        (0..n as u32).into_par_iter().map(|n| affine(n.into())),
        (0..n).map(affine)
    );
    same_indexed!(
        (0..n as usize)
            .into_par_iter()
            .map(|n| affine(n as u64))
            .pure(),
        (0..n).map(affine)
    );
    same!((0..n).into_par_iter().map(affine), (0..n).map(affine));
    same!((0..=n).into_par_iter().map(affine), (0..=n).map(affine));
    same!(
        (u64::MAX - n..=u64::MAX).into_par_iter().map(affine),
        (u64::MAX - n..=u64::MAX).map(affine)
    );
    same!(
        (-5..n as i128).into_par_iter().map(|n| affine(n as u64)),
        (-5..n as i128).map(|n| affine(n as u64))
    );
    let chars = 'a'..=char::from_u32(0xE100).unwrap();
    let of = |c| affine(u64::from(u32::from(c)));
    if !cfg!(miri) {
        same_indexed!(chars.clone().into_par_iter().map(of), chars.clone().map(of));
    }
}

#[test]
fn collections() {
    let v = some(MIDDLE);
    let deque: VecDeque<_> = v.iter().copied().collect();
    same_indexed!(deque.par_iter().copied(), v.iter().copied());
    let list: LinkedList<_> = v.iter().copied().collect();
    same!(list.par_iter().copied(), v.iter().copied());
    let map: BTreeMap<_, _> = v.iter().copied().enumerate().collect();
    same!(map.par_iter().map(|(_, &x)| x), v.iter().copied());
    let text = "ein Zinken, zwei Zinken, drei".repeat(MIDDLE / 20);
    let of = |c| affine(u64::from(u32::from(c)));
    same!(text.par_chars().map(of), text.chars().map(of));
    same!(
        text.par_split(' ').map(|word| affine(word.len() as u64)),
        text.split(' ').map(|word| affine(word.len() as u64))
    );
    same!(Some(v[1]).into_par_iter(), Some(v[1]));
    same!(
        tine_iter::iter::repeat_n(v[1], 5000.min(MIDDLE)),
        vec![v[1]; 5000.min(MIDDLE)]
    );
    let either: Either<_, tine_iter::iter::Empty<Affine>> = Either::Left(v.par_iter().copied());
    same_indexed!(either.clone(), v.iter().copied());
    same_indexed!(
        (&v, &v).into_par_iter().map(|(&a, &b)| then(a, b)),
        v.iter().map(|&a| then(a, a))
    );
}

#[test]
fn adapters_before() {
    let v = some(MIDDLE);
    let w = some(MIDDLE / 2);
    same_indexed!(v.par_chunks(3).map(|c| c[0]), v.chunks(3).map(|c| c[0]));
    same_indexed!(
        v.par_rchunks_exact(3).map(|c| c[1]),
        v.rchunks_exact(3).map(|c| c[1])
    );
    same_indexed!(
        v.par_windows(3).map(|c| then(c[0], c[2])),
        v.windows(3).map(|c| then(c[0], c[2]))
    );
    same_indexed!(v.par_iter().copied().rev(), v.iter().copied().rev());
    same_indexed!(v.par_iter().copied().skip(11), v.iter().copied().skip(11));
    same_indexed!(v.par_iter().copied().take(37), v.iter().copied().take(37));
    same_indexed!(
        v.par_iter().copied().step_by(5),
        v.iter().copied().step_by(5)
    );
    same_indexed!(
        v.par_iter().copied().chain(w.clone()),
        v.iter().chain(&w).copied()
    );
    same_indexed!(v.par_iter().chain(&w).copied(), v.iter().chain(&w).copied());
    same_indexed!(v.par_iter().cloned().with_min_len(9), v.iter().copied());
    same_indexed!(v.par_iter().cloned().with_max_len(9), v.iter().copied());
    same_indexed!(
        v.par_iter().copied().update(|x| x.1 += 1).pure(),
        v.iter().map(|x| (x.0, x.1 + 1))
    );
    same_indexed!(
        v.par_iter().zip(&w).map(|(&a, &b)| then(a, b)),
        v.iter().zip(&w).map(|(&a, &b)| then(a, b))
    );
    same_indexed!(
        v.par_iter()
            .enumerate()
            .map(|(i, &x)| then(x, affine(i as u64)))
            .pure(),
        v.iter()
            .enumerate()
            .map(|(i, &x)| then(x, affine(i as u64)))
    );
    let turns = v.iter().zip(&w).flat_map(|(&a, &b)| [a, b]);
    let turns = turns.chain([v[w.len()]]);
    same_indexed!(v.par_iter().interleave_shortest(&w).copied(), turns.clone());
    same_indexed!(
        v.par_iter()
            .copied()
            .map_init(|| 1, |one, x| then(x, (*one, 2))),
        v.iter().map(|&x| then(x, (1, 2)))
    );
    same_indexed!(
        v.par_iter().copied().chunks(7).map(|c| c[0]),
        v.chunks(7).map(|c| c[0])
    );
    same_indexed!(
        v.par_iter().copied().inspect(|_| ()).panic_fuse(),
        v.iter().copied()
    );
    same!(v.par_iter().copied().deterministic(), v.iter().copied());
}

#[test]
fn scans_in_a_row() {
    let lengths = if cfg!(miri) { &[2, 40] } else { &[2, 9000] };
    for &len in lengths {
        let v = some(len);
        let (once, _) = looped(v.iter().copied(), true, SAME(), then);
        let (twice, _) = looped(once.iter().copied(), false, SAME(), then);
        same_indexed!(
            v.par_iter().copied().scan_exclusive(SAME, then),
            once.clone()
        );
        same_indexed!(
            v.par_iter()
                .copied()
                .scan_exclusive(SAME, then)
                .blocks_of(9)
                .scan_inclusive(SAME, then),
            twice.clone()
        );
        same_indexed!(
            v.par_iter()
                .copied()
                .scan_exclusive(SAME, then)
                .blocks_of(9)
                .pure()
                .rev(),
            once.iter().copied().rev()
        );
        same!(
            v.par_iter()
                .copied()
                .scan_exclusive(SAME, then)
                .filter(|x| x.1 % 3 == 0),
            once.iter().copied().filter(|x| x.1 % 3 == 0)
        );
    }
}

#[test]
fn what_may_come_after() {
    for &len in LENGTHS {
        let v = some(len);
        let (want, _) = looped(v.iter().copied(), false, SAME(), then);
        let scan = || v.par_iter().copied().scan_inclusive(SAME, then);
        let kept = || {
            v.clone()
                .into_par_iter()
                .scan_inclusive(SAME, then)
                .blocks_of(13)
        };
        let sum = want.iter().fold(0_u64, |sum, x| sum.wrapping_add(x.1));
        let odd = want
            .iter()
            .filter(|x| x.1 % 2 == 1)
            .copied()
            .collect::<Vec<_>>();
        for made in in_pools(&|| {
            let add = |a: u64, b: u64| a.wrapping_add(b);
            assert_eq!(scan().map(|x| x.1).reduce(|| 0, add), sum);
            assert_eq!(kept().map(|x| x.1).reduce(|| 0, add), sum);
            assert_eq!(scan().count(), want.len());
            assert_eq!(scan().max(), want.iter().copied().max());
            assert_eq!(kept().opt_len(), Some(want.len()));
            assert_eq!(
                kept().find_first(|x| x.1 % 7 == 3),
                want.iter().copied().find(|x| x.1 % 7 == 3)
            );
            assert_eq!(
                scan().find_last(|x| x.1 % 7 == 3),
                want.iter().copied().rfind(|x| x.1 % 7 == 3)
            );
            assert_eq!(kept().any(|x| Some(&x) == want.last()), !want.is_empty());
            assert_eq!(scan().position_first(|x| x == (0, 0)), None);
            assert!(kept().zip(&want).all(|(x, y)| x == *y));
            let chunks = scan().chunks(5).collect::<Vec<_>>();
            assert!(chunks.iter().eq(want.chunks(5)));
            let list = scan().collect_vec_list();
            assert!(list.iter().flatten().eq(&want));
            let (small, large): (Vec<_>, Vec<_>) = kept().partition(|x| x.1 < u64::MAX / 2);
            assert_eq!(small.len() + large.len(), want.len());
            let (a, b): (Vec<_>, Vec<_>) = scan().unzip();
            assert!(a.into_iter().zip(b).eq(want.iter().copied()));
            let mut into = Vec::new();
            kept().collect_into_vec(&mut into);
            assert_eq!(into, want);
            scan().filter(|x| x.1 % 2 == 1).collect::<Vec<_>>()
        }) {
            assert_eq!(made, odd);
        }
    }
}

#[test]
fn sums() {
    let v: Vec<u32> = (0..10_000).collect();
    let want = looped(v.iter().map(|&n| u64::from(n)), false, 0, |a, b| a + b);
    let mut total = 0;
    let ends: Vec<u64> = v
        .par_iter()
        .map(|&n| u64::from(n))
        .prefix_sum()
        .total(&mut total)
        .collect();
    assert_eq!((ends, total), want);
    let starts: Vec<u32> = v.par_iter().prefix_sum_exclusive().collect();
    assert_eq!(starts[..4], [0, 0, 1, 3]);
    let spans = [std::time::Duration::from_secs(2); 3];
    let last = spans.par_iter().prefix_sum::<std::time::Duration>().max();
    assert_eq!(last.map(|d| d.as_secs()), Some(6));
}

quickcheck! {
    fn any_items_in_any_blocks(items: Vec<(u64, u64)>, size: u8, skip: usize, exclusive: bool) -> bool {
        let size = usize::from(size) + 1;
        let skip = skip % (items.len() + 1);
        let (want, _) = looped(items.iter().copied(), exclusive, SAME(), then);
        in_pools(&|| {
            let items = items.par_iter().copied();
            if exclusive {
                items.scan_exclusive(SAME, then).blocks_of(size).skip(skip).collect::<Vec<_>>()
            } else {
                items.scan_inclusive(SAME, then).blocks_of(size).skip(skip).collect()
            }
        })
        .into_iter()
        .all(|values| values == want[skip..])
    }

    fn words_in_any_blocks(words: Vec<String>, size: u8) -> bool {
        let size = usize::from(size % 9) + 1;
        let (want, _) = looped(words.clone(), false, String::new(), |a, b| a + &b);
        in_pools(&|| {
            let words = words.clone().into_par_iter();
            words.scan_inclusive(String::new, |a, b| a + &b).blocks_of(size).collect::<Vec<_>>()
        })
        .into_iter()
        .all(|texts| texts == want)
    }
}
