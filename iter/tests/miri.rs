//! Iterators and sorts at sizes that an interpreter of Rust can run; every place with unsafe code
//! is reached. Under Miri the sorts take their long ways from some hundred elements on. See
//! `tests/miri.sh`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tine_iter::iter::ParallelUntil as _;
use tine_iter::pipeline;
use tine_iter::prelude::*;
use tine_iter::readers::ParallelRead as _;
use tine_iter::sort::{ParallelDedup as _, ParallelSort as _, ParallelSorted as _};
use tine_pool::{StopToken, ThreadPoolBuilder, with_token};

/// Runs `f` on a pool of two threads.
fn two<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(f)
}

/// Numbers without an order.
fn numbers(len: usize) -> Vec<u32> {
    let next = |x: &u32| Some(x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(7), next)
        .map(|x| x >> 8)
        .take(len)
        .collect()
}

/// Values that own memory and are counted.
fn boxes(len: usize, counter: &Arc<()>) -> Vec<(Box<u32>, Arc<()>)> {
    let own = |x| (Box::new(x), Arc::clone(counter));
    numbers(len).into_iter().map(own).collect()
}

#[test]
fn vectors_are_taken_apart() {
    let all = Arc::new(());
    two(|| {
        let sum: u64 = boxes(40, &all)
            .into_par_iter()
            .with_max_len(7)
            .map(|b| u64::from(*b.0))
            .sum();
        assert_eq!(sum, numbers(40).iter().map(|&x| u64::from(x)).sum());
        // Left in the middle.
        let found = boxes(40, &all)
            .into_par_iter()
            .with_max_len(5)
            .find_any(|b| *b.0 % 7 == 3);
        assert!(found.is_some());
        let mut left = boxes(40, &all);
        let taken: Vec<_> = left.par_drain(10..30).with_max_len(6).collect();
        assert_eq!((taken.len(), left.len()), (20, 20));
        drop(left.par_drain(5..));
        assert_eq!(left.len(), 5);
    });
    assert_eq!(Arc::strong_count(&all), 1);
}

#[test]
fn vectors_are_built() {
    two(|| {
        let v: Vec<String> = (0..50)
            .into_par_iter()
            .with_max_len(6)
            .map(|i| i.to_string())
            .collect();
        assert!(v.iter().enumerate().all(|(i, s)| *s == i.to_string()));
        let odd: Vec<String> = v
            .par_iter()
            .with_max_len(6)
            .filter(|s| s.len() == 2)
            .cloned()
            .collect();
        assert_eq!(odd.len(), 40);
        let many: Vec<Box<usize>> = (0..10_usize)
            .into_par_iter()
            .with_max_len(2)
            .flat_map_iter(|i| (0..i).map(Box::new))
            .collect();
        assert_eq!(many.len(), 45);
        let in_place: Vec<u32> = numbers(60)
            .into_par_iter()
            .with_max_len(8)
            .map(|x| x ^ 1)
            .collect();
        assert_eq!(in_place.len(), 60);
        let (even, odd): (Vec<&u32>, Vec<&u32>) = in_place.par_iter().partition(|x| **x % 2 == 0);
        assert_eq!(even.len() + odd.len(), 60);
        let (a, b): (Vec<_>, Vec<_>) = in_place.par_iter().map(|x| (*x, Box::new(*x))).unzip();
        assert!(a.iter().zip(&b).all(|(a, b)| *a == **b));
        let mut more = vec![0];
        more.par_extend(a);
        assert_eq!(more.len(), 61);
        let text: String = ["ab", "c", "def"].par_iter().copied().collect();
        assert_eq!(text, "abcdef");
    });
}

#[test]
fn a_panic_leaves_nothing_behind() {
    let all = Arc::new(());
    for at in [0, 17, 39] {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            two(|| {
                let one = |(i, b): (usize, (Box<u32>, Arc<()>))| {
                    assert!(i != at, "as planned");
                    b
                };
                let v = boxes(40, &all).into_par_iter().with_max_len(5);
                v.enumerate().map(one).collect::<Vec<_>>()
            })
        }));
        assert!(caught.is_err());
        assert_eq!(Arc::strong_count(&all), 1);
    }
}

#[test]
fn slices_are_cut() {
    two(|| {
        let mut v: Vec<Box<u32>> = numbers(50).into_iter().map(Box::new).collect();
        v.par_iter_mut().with_max_len(7).for_each(|b| **b += 1);
        v.par_chunks_mut(7)
            .for_each(|c| c.iter_mut().for_each(|b| **b -= 1));
        assert!(v.iter().map(|b| **b).eq(numbers(50)));
        assert_eq!(v.par_windows(3).with_max_len(9).count(), 48);
        assert_eq!(v.par_rchunks(8).map(<[_]>::len).sum::<usize>(), 50);
        v.par_split_mut(|b| **b % 5 == 0).for_each(|p| p.reverse());
        let zipped = v.par_iter().zip(numbers(50)).rev().skip(3).step_by(2);
        assert_eq!(zipped.with_max_len(4).count(), 24);
        let text = "some words, and päckchen  of them";
        assert_eq!(text.par_chars().count(), text.chars().count());
        assert_eq!(text.par_split_whitespace().count(), 6);
        let array: [Box<u32>; 3] = [1, 2, 3].map(Box::new);
        assert_eq!(array.into_par_iter().map(|b| *b).sum::<u32>(), 6);
        assert_eq!(('a'..='z').into_par_iter().with_max_len(3).count(), 26);
    });
}

#[test]
fn bridges() {
    two(|| {
        let unordered = numbers(20).into_iter().map(Box::new).par_bridge();
        assert_eq!(unordered.count(), 20);
        let ordered = numbers(20).into_iter().map(Box::new);
        let ordered: Vec<_> = ordered.par_bridge_ordered(4).map(|b| *b).collect();
        assert_eq!(ordered.len(), 20);
    });
}

#[test]
fn streams() {
    two(|| {
        let squares: Vec<Box<u32>> = pipeline(0..30_u32, 4)
            .map(|n| Box::new(n * n))
            .filter(|n| **n % 2 == 0)
            .in_order(|n| n)
            .collect();
        assert!(
            squares
                .iter()
                .map(|n| **n)
                .eq((0..30).step_by(2).map(|n| n * n))
        );
        let failed: Result<Vec<Box<u32>>, Box<u32>> = pipeline(0..30_u32, 3)
            .try_map(|n| {
                if n < 9 {
                    Ok(Box::new(n))
                } else {
                    Err(Box::new(n))
                }
            })
            .collect();
        assert_eq!(failed, Err(Box::new(9)));
        let ended = catch_unwind(AssertUnwindSafe(|| {
            pipeline(0..30_u32, 3)
                .map(|n| {
                    assert!(n < 9, "on purpose");
                    Box::new(n)
                })
                .for_each(drop);
        }));
        assert!(ended.is_err());
        let text: &[u8] = b"one\ntwo\n\nfour\nfive";
        let lengths: Vec<usize> = text
            .par_lines()
            .block_size(5)
            .map(str::len)
            .collect()
            .expect("a text");
        assert_eq!(lengths, [3, 3, 0, 4, 4]);
    });
}

#[test]
fn loops_and_sorts_that_are_stopped() {
    let counter = Arc::new(());
    two(|| {
        let token = StopToken::new();
        let some: Result<Vec<_>, _> = boxes(64, &counter)
            .into_par_iter()
            .map(|item| {
                if *item.0 == 0 {
                    token.stop();
                }
                item
            })
            .until(&token)
            .collect();
        drop(some);
        assert_eq!(Arc::strong_count(&counter), 1);
        for after in [0, 20, 300] {
            let (token, looks) = (StopToken::new(), AtomicUsize::new(0));
            let mut v = boxes(2 * LEN, &counter);
            let _ = with_token(&token, || {
                v.par_sort_by(|a, b| {
                    if looks.fetch_add(1, Relaxed) == after {
                        token.stop();
                    }
                    b.0.cmp(&a.0)
                });
            });
            let (token, looks) = (StopToken::new(), AtomicUsize::new(0));
            let _ = with_token(&token, || {
                v.par_sort_by_key(|item| {
                    if looks.fetch_add(1, Relaxed) == after {
                        token.stop();
                    }
                    *item.0
                });
            });
            assert_eq!(v.len(), 2 * LEN);
            assert_eq!(Arc::strong_count(&counter), 1 + 2 * LEN);
        }
    });
    assert_eq!(Arc::strong_count(&counter), 1);
}

fn assert_sorted<T>(mut given: Vec<T>, sort: impl FnOnce(&mut [T]) + Send)
where
    T: Ord + Clone + Send + std::fmt::Debug,
{
    let mut wanted = given.clone();
    wanted.sort();
    two(|| sort(&mut given));
    assert_eq!(given, wanted);
}

const LEN: usize = if cfg!(miri) { 200 } else { 3000 };

#[test]
fn stable_sorts() {
    let texts = || numbers(LEN).into_iter().map(|x| (x % 40).to_string());
    assert_sorted(texts().collect(), |v| v.par_sort());
    assert_sorted(texts().map(Box::new).collect(), |v| {
        v.par_sort_by(|a, b| a.cmp(b))
    });
    assert_sorted(numbers(LEN), |v| v.par_sort());
    assert_sorted((0..LEN as u32).rev().map(Box::new).collect(), |v| {
        v.par_sort()
    });
}

#[test]
fn sorts_by_kept_keys() {
    let texts = || numbers(LEN).into_iter().map(|x| x.to_string());
    assert_sorted(texts().collect::<Vec<_>>(), |v| {
        v.par_sort_by_cached_key(|s| s.clone())
    });
    assert_sorted(numbers(LEN), |v| v.par_sort_by_cached_key(|x| *x));
    let all = Arc::new(());
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let mut v = boxes(LEN, &all);
        let last = *v[LEN - 5].0;
        two(|| {
            v.par_sort_by_cached_key(|b| {
                assert!(*b.0 != last, "as planned");
                (b.0.clone(), Arc::clone(&all)).0
            })
        });
    }));
    assert!(caught.is_err());
    assert_eq!(Arc::strong_count(&all), 1);
}

#[test]
fn unstable_sorts() {
    let boxed = || numbers(LEN).into_iter().map(Box::new).collect::<Vec<_>>();
    assert_sorted(boxed(), |v| v.par_sort_unstable());
    assert_sorted(numbers(LEN), |v| v.par_sort_unstable());
    assert_sorted(boxed(), |v| v.par_sort_unstable_by_key(|b| Box::new(**b)));
}

#[test]
fn radix_sorts() {
    assert_sorted(numbers(LEN), |v| v.par_sort_radix());
    let pair = |x| (x, Box::new(x));
    let pairs = || numbers(LEN).into_iter().map(pair).collect::<Vec<_>>();
    assert_sorted(pairs(), |v| v.par_sort_radix_by_key(|p| p.0));
    assert_sorted(pairs(), |v| v.par_sort_by_key(|p| p.0));
    assert_sorted(pairs(), |v| v.par_sort_unstable_by_key(|p| p.0));
}

#[test]
fn merges_parts_and_selects() {
    two(|| {
        let mut v: Vec<Box<u32>> = numbers(LEN).into_iter().map(Box::new).collect();
        let mid = LEN / 3;
        v[..mid].sort();
        v[mid..].sort();
        v.par_merge(mid);
        assert!(v.is_sorted() && v.par_is_sorted());
        let evens = v.iter().filter(|b| ***b % 2 == 0).count();
        assert_eq!(v.par_partition(|b| **b % 2 == 0), evens);
        v.par_select_nth_unstable(LEN / 2);
        let mut repeats: Vec<_> = (0..LEN).map(|i| Box::new(i / 3)).collect();
        repeats.par_dedup();
        assert_eq!(repeats.len(), LEN.div_ceil(3));
        let (a, b) = v.par_partition_stable(|b| **b % 3 == 0);
        assert_eq!(a.len() + b.len(), LEN);
    });
}

/// By its name the last. A pool that is dropped does not wait for its threads, but the program may
/// not end before them under Miri.
#[test]
fn z_threads_end() {
    if cfg!(miri) {
        std::thread::sleep(std::time::Duration::from_secs(15));
    }
}
