//! Iterators and sorts at sizes that an interpreter of Rust can run; every place with unsafe code is reached.
//! Under Miri, sorts use the paths for long slices from some hundred elements on. See `tests/miri.sh`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tine_iter::algorithms::{
    ParallelAccumulate as _, ParallelBytes as _, ParallelFlat as _, ParallelGrid as _,
    ParallelGridMut as _, ParallelRetain as _, ParallelSliceChange as _, for_each_fed,
};
use tine_iter::iter::ParallelUntil as _;
use tine_iter::pipeline;
use tine_iter::prelude::*;
use tine_iter::scan::{ParallelScan as _, ParallelScanMut as _};
use tine_iter::sort::{ParallelDedup as _, ParallelSort as _, ParallelSorted as _};
use tine_pool::{StopToken, ThreadPoolBuilder, with_token};

/// Runs `f` on a pool of two threads.
fn two<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(f)
}

/// Numbers in no particular order.
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
    use tine_iter::readers::ParallelRead as _;
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
        let lengths: Vec<usize> = std::io::Cursor::new(text)
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

/// Enough for several blocks under Miri, where blocks are small.
const SCANNED: usize = 20;

/// Yields, so that another thread comes meanwhile.
fn slow<T>(x: T) -> T {
    std::thread::yield_now();
    x
}

fn longer(mut a: String, b: String) -> String {
    a.push_str(&b);
    slow(a)
}

#[test]
fn scans_in_place() {
    two(|| {
        let mut sums = [3_u64; SCANNED];
        assert_eq!(sums.par_prefix_sum(), 3 * SCANNED as u64);
        assert!(sums.iter().copied().eq((1..=SCANNED as u64).map(|n| 3 * n)));

        let letters = || -> Vec<String> { (0..SCANNED).map(|n| (n % 10).to_string()).collect() };
        let whole = letters().concat();
        let mut texts = letters();
        assert_eq!(texts.par_scan_by(String::new, longer), whole);
        assert!(texts.iter().enumerate().all(|(n, t)| *t == whole[..n + 1]));
        let mut texts = letters();
        texts.par_scan_exclusive_by(String::new, longer);
        assert!(texts.iter().enumerate().all(|(n, t)| *t == whole[..n]));

        // Of a type that is not known to be exact, and so with tallies of blocks.
        let mut boxes: Vec<Box<usize>> = (0..SCANNED).map(Box::new).collect();
        boxes.par_scan_by(|| Box::new(0), |a, b| slow(Box::new(*a + *b)));
        assert!((0..SCANNED).all(|n| *boxes[n] == n * (n + 1) / 2));

        let keys: Vec<usize> = (0..SCANNED).map(|n| n / 7).collect();
        let flags: Vec<bool> = (0..SCANNED).map(|n| n % 7 == 0).collect();
        let mut texts = letters();
        texts.par_scan_by_key(&keys, String::new, longer);
        assert!((0..SCANNED).all(|n| texts[n] == whole[n / 7 * 7..n + 1]));
        let mut texts = letters();
        texts.par_scan_exclusive_by_flags(&flags, String::new, longer);
        assert!((0..SCANNED).all(|n| texts[n] == whole[n / 7 * 7..n]));
    });
}

#[test]
fn scans_into_others() {
    two(|| {
        let boxed = || (0..SCANNED).map(Box::new).collect::<Vec<_>>();
        let sum = |a: Box<usize>, b: Box<usize>| slow(Box::new(*a + *b));
        let zero = || Box::new(0);
        let kept: Vec<_> = boxed().into_par_iter().scan_inclusive(zero, sum).collect();
        assert!((0..SCANNED).all(|n| *kept[n] == n * (n + 1) / 2));
        let of = boxed();
        let twice = of.par_iter().cloned().pure().scan_exclusive(zero, sum);
        let zipped = twice.zip(boxed()).rev();
        let all: Vec<_> = zipped.filter(|(a, _)| **a % 2 == 0).collect();
        assert!(
            all.iter()
                .all(|(a, b)| **a == **b * (b.saturating_sub(1)) / 2 && **a % 2 == 0)
        );
    });
}

#[test]
fn a_scan_that_panics_drops_each_value_once() {
    let all = Arc::new(());
    for at in [1, SCANNED - 2] {
        let mut v = boxes(SCANNED, &all);
        let bad = *v[at].0;
        let join = |a: (Box<u32>, Arc<()>), b: (Box<u32>, Arc<()>)| {
            assert!(*b.0 != bad, "as planned");
            slow((Box::new(a.0.wrapping_add(*b.0)), a.1))
        };
        let zero = || (Box::new(0), Arc::clone(&all));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            two(|| v.par_scan_by(zero, join));
        }));
        assert!(caught.is_err());
        drop(v);
        let v = boxes(SCANNED, &all);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            two(|| {
                let scan = v.into_par_iter().scan_inclusive(zero, join);
                scan.collect::<Vec<_>>()
            })
        }));
        assert!(caught.is_err());
        assert_eq!(Arc::strong_count(&all), 1);
    }
}

#[test]
fn elements_are_moved() {
    two(|| {
        const LEN: usize = if cfg!(miri) { 60 } else { 3000 };
        let mut v: Vec<Box<usize>> = (0..LEN).map(Box::new).collect();
        v.par_reverse();
        v.par_rotate_left(LEN / 3);
        v.par_shuffle(1);
        let starts = v.par_counting_sort_by_key(3, |x| **x % 3);
        assert_eq!(starts.len(), 4);
        v.par_partial_sort(LEN / 2);
        assert!((0..LEN / 2).all(|n| *v[n] == n));
        v.par_retain(|x| slow(**x % 2 == 0));
        assert_eq!(v.len(), LEN / 2);
        assert_eq!([&v[..], &v].par_concat().len(), LEN);
        v.par_tiles_mut(10, (4, 3)).for_each(|mut tile| {
            for (_, row) in tile.rows_mut() {
                row.iter_mut().for_each(|x| **x += 1);
            }
        });
        assert!(
            v.par_rows(10, 1)
                .all(|row| row.row().iter().all(|x| **x % 2 == 1))
        );
        let counts = v.par_iter().accumulate(
            || [0_usize; 40],
            |counts, x| counts[**x % 40] += 1,
            |counts, more| counts.iter_mut().zip(more).for_each(|(a, b)| *a += b),
        );
        assert_eq!(counts.iter().sum::<usize>(), LEN / 2);
        for_each_fed(boxes(9, &Arc::new(())), |(n, all), feeder| {
            feeder.feed_all((0..*n % 3).map(|_| (Box::new(0), Arc::clone(&all))));
        });
    });
}

#[test]
fn texts_are_cut() {
    let text = "zwölf Gabeln,\n\nund jede\u{2003}hat   Zinken\r\n".repeat(2);
    two(|| {
        let words: Vec<_> = text.par_split_whitespace().collect();
        assert_eq!(words, text.split_whitespace().collect::<Vec<_>>());
        let lines: Vec<_> = text.par_lines().map(slow).collect();
        assert_eq!(lines, text.lines().collect::<Vec<_>>());
        assert_eq!(text.as_bytes().par_lines().count(), lines.len());
        let fields: Vec<_> = text.par_split(['l', 'd']).collect();
        assert_eq!(fields, text.split(['l', 'd']).collect::<Vec<_>>());
        let mut v: Vec<Box<usize>> = (0..60).map(|n| Box::new(n / 4)).collect();
        let runs = v.par_chunk_by_mut(|a, b| a == b);
        runs.for_each(|run| *run[0] += 100);
        assert_eq!(v.iter().filter(|x| ***x >= 100).count(), 15);
    });
}

/// Its name makes it the last. A pool that is dropped does not wait for its threads, but under Miri the program
/// must not end before them.
#[test]
fn z_threads_end() {
    if cfg!(miri) {
        std::thread::sleep(std::time::Duration::from_secs(15));
    }
}
