//! Adapters that forget positions.

use std::collections::BTreeMap;

use quickcheck::quickcheck;
use tine_iter::prelude::*;

use crate::{in_pools, same};

fn split_in_two(range: (u32, u32)) -> ((u32, u32), Option<(u32, u32)>) {
    let (start, end) = range;
    let mid = start + (end - start) / 2;
    if mid == start {
        return (range, None);
    }
    ((start, mid), Some((mid, end)))
}

/// A source that knows no length.
fn unknown(end: u32) -> impl ParallelIterator<Item = u32> + Clone {
    tine_iter::iter::split((0, end), split_in_two).flat_map_iter(|(start, end)| start..end)
}

const LENS: [u32; 8] = [0, 1, 2, 3, 10, 90, 300, 2000];

#[test]
fn any_number_out() {
    for len in LENS {
        same!(let () = (); (0..len).into_par_iter().filter(|n| n % 3 == 1), (0..len).filter(|n| n % 3 == 1));
        same!(let () = (); unknown(len).filter(|n| n % 3 == 1), (0..len).filter(|n| n % 3 == 1));
        let half = |n: u32| n.is_multiple_of(2).then_some(n / 2);
        same!(let () = (); (0..len).into_par_iter().filter_map(half), (0..len).filter_map(half));
        same!(let () = (); unknown(len).filter_map(half), (0..len).filter_map(half));
        let few = |n: u32| n..n + n % 4;
        same!(let () = (); (0..len).into_par_iter().flat_map_iter(few), (0..len).flat_map(few));
        same!(let () = (); (0..len).into_par_iter().flat_map(few), (0..len).flat_map(few));
        same!(let () = (); unknown(len).flat_map(few), (0..len).flat_map(few));
        same!(let () = (); (0..len).into_par_iter().map(few).flatten(), (0..len).flat_map(few));
        same!(let () = (); (0..len).into_par_iter().map(few).flatten_iter(), (0..len).flat_map(few));
        same!(let () = (); (0..len).into_par_iter().map(Some).while_some(), 0..len);
        same!(let () = (); (0..len).into_par_iter().take_any(usize::MAX), 0..len);
        same!(let () = (); (0..len).into_par_iter().skip_any(0), 0..len);
        same!(let () = (); (0..len).into_par_iter().take_any_while(|_| true), 0..len);
        same!(let () = (); (0..len).into_par_iter().skip_any_while(|_| false), 0..len);
        same!(let () = (); unknown(len).chain(unknown(len)), (0..len).chain(0..len));
        same!(let () = (); unknown(len).chain(0..len), (0..len).chain(0..len));
        same!(let () = (); (0..len).into_par_iter().by_exponential_blocks(), 0..len);
        same!(let () = (); (0..len).into_par_iter().by_uniform_blocks(7), 0..len);
        same!(let () = (); unknown(len).panic_fuse().map(|n| n + 1), 1..len + 1);
    }
}

#[test]
fn positions() {
    for len in LENS {
        same!(let () = (); (0..len).into_par_iter().positions(|n| n % 3 == 1),
            (0..len).enumerate().filter(|(_, n)| n % 3 == 1).map(|(i, _)| i));
    }
}

/// A gap is what lies between two items, and nothing else: however the items were cut, and however many pieces
/// held none.
#[test]
fn gaps() {
    for len in LENS {
        for keep in [1, 3, 50, 5000] {
            let wanted: Vec<u32> = (0..len).filter(|n| n % keep == keep - 1).collect();
            let mut wanted: Vec<u32> = wanted.into_iter().flat_map(|n| [n, 7]).collect();
            wanted.pop();
            same!(let () = (); (0..len).into_par_iter().filter(|n| n % keep == keep - 1).intersperse(7), wanted.iter());
            same!(let () = (); unknown(len).filter(|n| n % keep == keep - 1).intersperse(7), wanted.iter());
            let with_gaps = || unknown(len).filter(|n| n % keep == keep - 1).intersperse(7);
            for (first, last) in in_pools(|| {
                (
                    with_gaps().find_first(|_| true),
                    with_gaps().find_last(|_| true),
                )
            }) {
                assert_eq!(
                    (first.as_ref(), last.as_ref()),
                    (wanted.first(), wanted.last())
                );
            }
        }
    }
}

#[test]
fn so_many_of_any() {
    for len in LENS {
        for n in [0, 1, 5, 100, 1000, 5000] {
            let (all, n) = (len as usize, n as usize);
            for (taken, left) in in_pools(|| {
                let taken: Vec<u32> = (0..len).into_par_iter().take_any(n).collect();
                let left: Vec<u32> = unknown(len).skip_any(n).collect();
                (taken, left)
            }) {
                assert_eq!((taken.len(), left.len()), (n.min(all), all - n.min(all)));
                assert!(taken.is_sorted() && left.is_sorted());
            }
        }
    }
}

#[test]
fn until_one_fails() {
    for (taken, left, some) in in_pools(|| {
        let taken: Vec<u32> = (0..1000_u32)
            .into_par_iter()
            .take_any_while(|n| n % 300 != 299)
            .collect();
        let left: Vec<u32> = (0..1000_u32)
            .into_par_iter()
            .skip_any_while(|n| n % 300 != 299)
            .collect();
        let some: Vec<u32> = (0..1000_u32)
            .into_par_iter()
            .map(|n| (n % 300 != 299).then_some(n))
            .while_some()
            .collect();
        (taken, left, some)
    }) {
        assert!(taken.iter().all(|n| n % 300 != 299) && taken.is_sorted());
        assert!(left.contains(&299) || left.contains(&599) || left.contains(&899));
        assert!(some.iter().all(|n| n % 300 != 299) && some.is_sorted());
    }
}

#[test]
fn folds() {
    for len in LENS {
        let want: u32 = (0..len).sum();
        for sums in in_pools(|| {
            [
                (0..len)
                    .into_par_iter()
                    .fold(|| 0, |a, b| a + b)
                    .sum::<u32>(),
                (0..len).into_par_iter().fold_with(0, |a, b| a + b).sum(),
                unknown(len).fold_with(0, |a, b| a + b).sum(),
                (0..len)
                    .into_par_iter()
                    .try_fold(|| 0, |a, b| Some(a + b))
                    .map(Option::unwrap)
                    .sum(),
                (0..len)
                    .into_par_iter()
                    .try_fold_with(0, |a, b| Some(a + b))
                    .map(Option::unwrap)
                    .sum(),
            ]
        }) {
            assert_eq!(sums, [want; 5]);
        }
    }
}

#[test]
fn a_fold_that_fails() {
    for folds in in_pools(|| {
        let check = |a: u32, b: u32| if b == 777 { Err(b) } else { Ok(a + 1) };
        (0..1000_u32)
            .into_par_iter()
            .try_fold(|| 0, check)
            .collect::<Vec<_>>()
    }) {
        assert_eq!(folds.iter().filter(|fold| fold.is_err()).count(), 1);
        assert!(folds.iter().flatten().sum::<u32>() < 1000);
    }
}

quickcheck! {
    fn words(text: String, n: usize) -> bool {
        let n = n % 5;
        same!(let () = (); text.par_chars().filter(|c| *c as usize % 5 != n),
            text.chars().filter(|c| *c as usize % 5 != n));
        same!(let () = (); text.par_split(|c: char| c as usize % 5 == n).intersperse("--"),
            {
                let words: Vec<&str> = text.split(|c: char| c as usize % 5 == n).collect();
                let mut all: Vec<&str> = words.into_iter().flat_map(|word| [word, "--"]).collect();
                all.pop();
                all
            });
        true
    }

    fn maps(entries: BTreeMap<u8, u16>) -> bool {
        same!(let () = (); entries.par_iter().map(|(k, v)| (v, k)).filter(|(v, _)| *v % 3 != 0),
            entries.iter().map(|(k, v)| (v, k)).filter(|(v, _)| *v % 3 != 0));
        true
    }
}
