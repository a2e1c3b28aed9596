//! The methods that change slices, against std's methods.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use quickcheck::quickcheck;
use tine_iter::algorithms::{ParallelSliceChange, random_permutation};

use crate::kit::{Census, LENGTHS, bomb, in_pools, message, numbers, panics};

quickcheck! {
    fn rotates_as_std(v: Vec<u16>, k: usize) -> bool {
        let k = if v.is_empty() { 0 } else { k % (v.len() + 1) };
        let (mut left, mut right) = (v.clone(), v.clone());
        left.par_rotate_left(k);
        right.par_rotate_right(k);
        let (mut std_left, mut std_right) = (v.clone(), v);
        std_left.rotate_left(k);
        std_right.rotate_right(k);
        left == std_left && right == std_right
    }

    fn partial_sort_as_sort(v: Vec<u16>, k: usize) -> bool {
        let k = k % (v.len() + 3);
        let mut sorted = v.clone();
        sorted.sort();
        let mut partial = v.clone();
        partial.par_partial_sort(k);
        let first = k.min(v.len());
        let prefix = partial[..first] == sorted[..first];
        partial.sort();
        let mut backwards = v;
        backwards.par_partial_sort_by(k, |a, b| b.cmp(a));
        let largest = sorted.iter().rev().take(first);
        prefix && partial == sorted && backwards[..first].iter().eq(largest)
    }

    fn counts_as_a_stable_sort(v: Vec<(u8, u16)>) -> bool {
        let mut sorted = v.clone();
        sorted.sort_by_key(|pair| pair.0);
        [256, 5000].into_iter().all(|buckets| {
            let mut counted = v.clone();
            let starts = counted.par_counting_sort_by_key(buckets, |pair| usize::from(pair.0));
            starts.len() == buckets + 1
                && starts[buckets] == v.len()
                && counted == sorted
                && (0..buckets).all(|n| {
                    counted[starts[n]..starts[n + 1]].iter().all(|pair| usize::from(pair.0) == n)
                })
        })
    }
}

#[test]
fn every_length() {
    for len in LENGTHS {
        let v = numbers(len, 1 << 30);
        in_pools(|| {
            let mut reversed = v.clone();
            reversed.par_reverse();
            assert!(reversed.iter().eq(v.iter().rev()), "reverse {len}");
            let (mut a, mut b) = (v.clone(), reversed.clone());
            a.par_swap_with_slice(&mut b);
            assert!(a == reversed && b == v, "swap {len}");
            for mid in [0, 1, len / 100, len / 3, len / 2, len - len / 50, len] {
                let mut rotated = v.clone();
                rotated.par_rotate_left(mid.min(len));
                let (front, back) = v.split_at(mid.min(len));
                assert!(
                    rotated.iter().eq(back.iter().chain(front)),
                    "{mid} of {len}"
                );
            }
            a.par_fill(7);
            assert!(a.iter().all(|&x| x == 7));
            let calls = AtomicUsize::new(0);
            a.par_fill_with(|| calls.fetch_add(1, SeqCst) as u64);
            a.sort();
            assert!(a.iter().copied().eq(0..len as u64));
            a.par_tabulate(|at| (at * at) as u64);
            assert!(a.iter().copied().eq((0..len as u64).map(|at| at * at)));
        });
    }
}

#[test]
fn a_long_slice_is_rotated_by_any_number() {
    let len = 1 << 18;
    let v: Vec<u32> = (0..len).collect();
    in_pools(|| {
        for mid in [
            1,
            4_000,
            4_096,
            4_097,
            100_000,
            len / 2,
            len / 2 + 1,
            len - 4_000,
            len - 1,
        ] {
            let mut rotated = v.clone();
            rotated.par_rotate_left(mid as usize);
            assert!(rotated.into_iter().eq((mid..len).chain(0..mid)), "by {mid}");
        }
    });
}

#[test]
fn a_shuffle_is_the_same_for_any_number_of_threads() {
    for len in LENGTHS {
        let expected = {
            let mut v: Vec<usize> = (0..len).collect();
            v.par_shuffle(42);
            v
        };
        in_pools(|| {
            let mut v: Vec<usize> = (0..len).collect();
            v.par_shuffle(42);
            assert!(v == expected, "{len}");
            assert!(random_permutation(len, 42) == expected);
            if len > 20 {
                assert!(random_permutation(len, 43) != expected);
                assert!(!v.is_sorted());
            }
            v.sort();
            assert!(v.into_iter().eq(0..len));
        });
    }
}

#[test]
fn every_order_of_a_few_is_about_as_likely() {
    // 24 orders, 24,000 shuffles: 1000 each, with a deviation of about 31.
    let mut counts = std::collections::HashMap::new();
    for seed in 0..24_000 {
        *counts.entry(random_permutation(4, seed)).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 24);
    assert!(
        counts.values().all(|n| (850..1150).contains(n)),
        "{counts:?}"
    );
}

#[test]
fn every_place_of_a_long_slice_is_about_as_likely() {
    // Where do the first elements go? Sixteenths of the slice, 3,000 of them: 187 each, deviation 13.
    let len = 200_000;
    let order = random_permutation(len, 1);
    let mut counts = [0; 16];
    for (at, &element) in order.iter().enumerate() {
        if element < 3_000 {
            counts[at * 16 / len] += 1;
        }
    }
    assert!(counts.iter().all(|n| (110..270).contains(n)), "{counts:?}");
}

#[test]
fn values_that_own_memory_stay_what_they_are() {
    in_pools(|| {
        for len in [0, 1, 1000, 100_000] {
            let census = Census::new();
            let mut v = census.values(len);
            v.par_shuffle(3);
            v.par_reverse();
            v.par_rotate_left(len / 3);
            let starts = v.par_counting_sort_by_key(10, |x| x.number % 10);
            assert!(v.is_sorted_by_key(|x| x.number % 10));
            assert_eq!(starts[10], len);
            v.sort_by_key(|x| x.number);
            assert!(v.iter().map(|x| x.number).eq(0..len));
            assert_eq!(census.alive(), len as isize);
            if len > 0 {
                v.par_fill(census.value(7));
                assert!(v.iter().all(|x| x.number == 7));
                v.par_fill_with(|| census.value(8));
                v.par_tabulate(|at| census.value(at));
                assert!(v.iter().map(|x| x.number).eq(0..len));
                assert_eq!(census.alive(), len as isize);
            }
            drop(v);
            assert_eq!(census.alive(), 0);
        }
    });
}

#[test]
fn panics_lose_nothing() {
    in_pools(|| {
        for len in [100, 100_000] {
            let census = Census::new();
            let mut v = census.values(len);
            let at = len * 2 / 3;
            let key = |x: &crate::kit::Counted<'_>| {
                bomb(x.number, at);
                x.number % 7
            };
            assert!(panics(|| v.par_counting_sort_by_key(7, key)));
            // The first time all is well: the panic comes while elements are on their way.
            let calls = AtomicUsize::new(0);
            assert!(panics(|| v.par_counting_sort_by_key(7, |x| {
                bomb(calls.fetch_add(1, SeqCst), len + len / 2);
                x.number % 7
            })));
            assert!(v.iter().map(|x| x.number).eq(0..len), "as it was");
            assert!(panics(|| v.par_counting_sort_by_key(7_000, key)));
            let calls = AtomicUsize::new(0);
            assert!(panics(|| v.par_partial_sort_by(len / 2, |a, b| {
                bomb(calls.fetch_add(1, SeqCst), len / 2);
                a.number.cmp(&b.number)
            })));
            assert!(panics(|| v.par_tabulate(|n| {
                bomb(n, at);
                census.value(n)
            })));
            let made = AtomicUsize::new(0);
            assert!(panics(|| v.par_fill_with(|| {
                bomb(made.fetch_add(1, SeqCst), at);
                census.value(0)
            })));
            let value = census.value(5);
            census.bomb(5);
            assert!(panics(|| v.par_fill(value)));
            census.bomb(usize::MAX);
            assert_eq!(census.alive(), len as isize);
            drop(v);
            assert_eq!(census.alive(), 0);
        }
    });
}

#[test]
fn keys_that_lie() {
    in_pools(|| {
        for (len, buckets) in [(100, 4), (100_000, 4), (100_000, 5_000)] {
            let census = Census::new();
            let mut v = census.values(len);
            let calls = AtomicUsize::new(0);
            // Another number each time.
            let lie = |_: &crate::kit::Counted<'_>| calls.fetch_add(1, SeqCst) * 7 / 3 % 4;
            let lied = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                v.par_counting_sort_by_key(buckets, lie)
            }));
            if let Ok(starts) = lied {
                assert_eq!((starts.len(), starts[buckets]), (buckets + 1, len));
                assert!(starts.is_sorted());
            }
            v.sort_by_key(|x| x.number);
            assert!(
                v.iter().map(|x| x.number).eq(0..len),
                "nothing lost, nothing twice"
            );
        }
    });
}

/// With more than 4096 buckets the elements are sorted, and asked once more where each number begins. The
/// result agrees with the last answers.
#[test]
fn keys_that_lie_in_the_end() {
    const BUCKETS: usize = 5_000;
    in_pools(|| {
        for (len, step) in [(2, 1), (100, 7), (30_000, 20_011)] {
            let mut refused = 0;
            for turn in (0..len * 40).step_by(step) {
                let calls = AtomicUsize::new(0);
                let mut v: Vec<_> = (0..len).map(|n| (n, AtomicUsize::new(n))).collect();
                // From the call with this number on, the other way round.
                let lie = |x: &(usize, AtomicUsize)| {
                    let number = x.0 % BUCKETS;
                    let turned = calls.fetch_add(1, SeqCst) >= turn;
                    let said = if turned { BUCKETS - 1 - number } else { number };
                    x.1.store(said, SeqCst);
                    said
                };
                let lied = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    v.par_counting_sort_by_key(BUCKETS, lie)
                }));
                match lied {
                    Ok(starts) => {
                        for number in 0..BUCKETS {
                            let here = &v[starts[number]..starts[number + 1]];
                            assert!(here.iter().all(|x| x.1.load(SeqCst) == number));
                        }
                        // All answers are the same from here on.
                        if turn > calls.into_inner() {
                            break;
                        }
                    }
                    Err(_) => refused += 1,
                }
                v.sort_by_key(|x| x.0);
                assert!(v.iter().map(|x| x.0).eq(0..len));
            }
            assert!(refused > 0 || len > 100);
        }
    });
}

#[test]
fn what_is_wrong_is_said() {
    let mut v = [1, 2, 3];
    assert!(message(|| v.par_rotate_left(4)).contains("should be <= len (is 3)"));
    assert!(message(|| v.par_rotate_right(4)).contains("should be <= len (is 3)"));
    assert!(message(|| v.par_swap_with_slice(&mut [1])).contains("lengths 3 and 1"));
    assert!(
        message(|| v.par_counting_sort_by_key(3, |&x| x))
            .contains("number 3 in a counting sort by 3")
    );
    assert!(
        message(|| v.par_counting_sort_by_key(5000, |&x| x * 5000)).contains("by 5000 buckets")
    );
    let none: &mut [usize] = &mut [];
    assert_eq!(none.par_counting_sort_by_key(0, |&x| x), [0]);
    assert_eq!(none.par_counting_sort_by_key(9_000, |&x| x).len(), 9_001);
}

#[test]
fn elements_without_size() {
    in_pools(|| {
        let mut v = [(); 100_000];
        v.par_reverse();
        v.par_rotate_left(40_000);
        v.par_shuffle(1);
        assert_eq!(v.par_counting_sort_by_key(1, |()| 0), [0, 100_000]);
    });
}
