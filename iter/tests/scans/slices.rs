//! Slices in place: whole, by keys and by flags.

use quickcheck::quickcheck;
use tine_iter::scan::ParallelScanMut;

use crate::{Affine, SAME, affine, in_pools, looped, then};

const LENGTHS: &[usize] = if cfg!(miri) {
    &[0, 1, 2, 16, 17, 60]
} else {
    &[0, 1, 2, 100, 4097, 9000, 150_001]
};

/// The same by a loop; segments begin at the given indices.
fn segments<T: Clone>(
    items: &[T],
    begins: impl Fn(usize) -> bool,
    exclusive: bool,
    identity: impl Fn() -> T,
    op: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut acc = identity();
    let mut values = Vec::new();
    for (i, item) in items.iter().enumerate() {
        if begins(i) {
            acc = identity();
        }
        let before = acc.clone();
        acc = op(acc, item.clone());
        values.push(if exclusive { before } else { acc.clone() });
    }
    values
}

#[test]
fn whole_slices() {
    for &len in LENGTHS {
        let v: Vec<_> = (0..len as u64).map(affine).collect();
        for exclusive in [false, true] {
            let want = looped(v.iter().copied(), exclusive, SAME(), then);
            for made in in_pools(&|| {
                let mut v = v.clone();
                let total = if exclusive {
                    v.par_scan_exclusive_by(SAME, then)
                } else {
                    v.par_scan_by(SAME, then)
                };
                (v, total)
            }) {
                assert!(made == want, "{len} elements, exclusive: {exclusive}");
            }
        }
    }
}

#[test]
fn sums() {
    for &len in LENGTHS {
        let v: Vec<u64> = (0..len as u64).collect();
        let ends = looped(v.iter().copied(), false, 0, |a, b| a + b);
        let starts = looped(v.iter().copied(), true, 0, |a, b| a + b);
        in_pools(&|| {
            let mut a = v.clone();
            let total = a.par_prefix_sum();
            assert!((a, total) == ends);
            let mut b = v.clone();
            let total = b.par_prefix_sum_exclusive();
            assert!((b, total) == starts);
        });
    }
}

#[test]
fn segments_of_many_lengths() {
    for &len in LENGTHS {
        for every in [1, 2, 50, 5000, usize::MAX] {
            let v: Vec<_> = (0..len as u64).map(affine).collect();
            let keys: Vec<_> = (0..len).map(|i| i / every).collect();
            let flags: Vec<_> = (0..len).map(|i| i > 0 && i % every == 0).collect();
            for exclusive in [false, true] {
                let want = segments(&v, |i| flags[i], exclusive, SAME, then);
                for made in in_pools(&|| {
                    let (mut by_key, mut by_flags) = (v.clone(), v.clone());
                    if exclusive {
                        by_key.par_scan_exclusive_by_key(&keys, SAME, then);
                        by_flags.par_scan_exclusive_by_flags(&flags, SAME, then);
                    } else {
                        by_key.par_scan_by_key(&keys, SAME, then);
                        by_flags.par_scan_by_flags(&flags, SAME, then);
                    }
                    [by_key, by_flags]
                }) {
                    assert!(
                        made.iter().all(|values| *values == want),
                        "{len} by {every}"
                    );
                }
            }
        }
    }
}

/// As above, if a thread that goes ahead applies the operation once.
#[test]
fn segments_of_integers() {
    let join = |a: u64, b: u64| a.wrapping_add(b);
    for &len in LENGTHS {
        for every in [1, 50, 5000, usize::MAX] {
            let v: Vec<_> = (0..len as u64).map(|n| affine(n).1).collect();
            let flags: Vec<_> = (0..len).map(|i| i > 0 && i % every == 0).collect();
            for exclusive in [false, true] {
                let want = segments(&v, |i| flags[i], exclusive, || 0, join);
                for made in in_pools(&|| {
                    let mut made = v.clone();
                    if exclusive {
                        made.par_scan_exclusive_by_flags(&flags, || 0, join);
                    } else {
                        made.par_scan_by_flags(&flags, || 0, join);
                    }
                    made
                }) {
                    assert!(made == want, "{len} by {every}");
                }
            }
        }
    }
}

quickcheck! {
    fn any_flags(items: Vec<u64>, flags: Vec<bool>) -> bool {
        let times = if cfg!(miri) { 1 } else { 300 };
        let items: Vec<Affine> = items.repeat(times).into_iter().map(affine).collect();
        let flags: Vec<_> = flags.iter().copied().chain([false]).cycle().take(items.len()).collect();
        let want = segments(&items, |i| flags[i], false, SAME, then);
        in_pools(&|| {
            let mut items = items.clone();
            items.par_scan_by_flags(&flags, SAME, then);
            items
        })
        .into_iter()
        .all(|values| values == want)
    }
}

#[test]
fn keys_that_lie_lose_nothing() {
    /// Equal to nothing, not even to itself; or equal to everything, as it likes.
    struct Liar(std::sync::atomic::AtomicUsize);
    impl PartialEq for Liar {
        fn eq(&self, _: &Liar) -> bool {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 3 == 1
        }
    }
    let len = if cfg!(miri) { 60 } else { 20_000 };
    in_pools(&|| {
        let keys: Vec<_> = (0..len).map(|_| Liar(0.into())).collect();
        let mut words = vec![String::from("x"); len];
        words.par_scan_by_key(
            &keys,
            String::new,
            |a, b| if a.len() > 9 { b } else { a + &b },
        );
        assert!(
            words
                .iter()
                .all(|word| !word.is_empty() && word.len() <= 10)
        );
    });
}

#[test]
#[should_panic(expected = "3 elements cannot be scanned by 2 keys or flags")]
fn too_few_keys() {
    [1, 2, 3].par_scan_by_key(&[1, 1], || 0, |a, b| a + b);
}

#[test]
#[should_panic(expected = "1 elements cannot be scanned by 2 keys or flags")]
fn too_many_flags() {
    [1].par_scan_exclusive_by_flags(&[true, false], || 0, |a, b| a + b);
}

/// An operation that takes long enough for other threads to come, on elements for which brackets do
/// not matter: an affine map over a small field, packed into a word, whose order matters.
fn slow(a: u64, b: u64) -> u64 {
    const P: u64 = 251;
    for i in 0..200_u64 {
        std::hint::black_box(i);
    }
    let ((a1, a0), (b1, b0)) = ((a >> 8, a & 0xff), (b >> 8, b & 0xff));
    ((b1 * a1 % P) << 8) | ((b1 * a0 + b0) % P)
}

const SLOW: fn() -> u64 = || 1 << 8;

#[test]
fn threads_meet_in_slices_of_words() {
    let len = if cfg!(miri) { 60 } else { 20_000 };
    let v: Vec<u64> = (0..len)
        .map(|i| ((i % 250 + 1) << 8) | (i * 7 % 251))
        .collect();
    for exclusive in [false, true] {
        let want = looped(v.iter().copied(), exclusive, SLOW(), slow);
        for made in in_pools(&|| {
            let mut v = v.clone();
            let total = if exclusive {
                v.par_scan_exclusive_by(SLOW, slow)
            } else {
                v.par_scan_by(SLOW, slow)
            };
            (v, total)
        }) {
            assert!(made == want, "exclusive: {exclusive}");
        }
    }
    let flags: Vec<bool> = (0..len).map(|i| i * i % 97 == 5).collect();
    let want = segments(&v, |i| flags[i], false, SLOW, slow);
    for made in in_pools(&|| {
        let mut v = v.clone();
        v.par_scan_by_flags(&flags, SLOW, slow);
        v
    }) {
        assert!(made == want);
    }
}

/// Wherever the operation panics, the panic comes out, and the slice may be used afterwards.
#[test]
fn an_operation_panics_where_threads_meet() {
    let len = if cfg!(miri) { 60 } else { 20_000 };
    for at in [1, len / 3, len / 2, 2 * len / 3, len - 1] {
        let calls = std::sync::atomic::AtomicU64::new(0);
        let mut v: Vec<u64> = vec![(1 << 8) | 1; len as usize];
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            v.par_scan_by(SLOW, |a, b| {
                let call = calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                assert!(call != at, "planned");
                slow(a, b)
            })
        }));
        assert!(caught.is_err(), "call {at}");
        assert_eq!(v.len(), len as usize);
        v.fill(1);
        assert_eq!(v.par_prefix_sum(), len);
    }
}
