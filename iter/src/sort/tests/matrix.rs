//! Types, patterns and sizes, each sort against its std twin.
#![forbid(unsafe_code)]

use std::cmp::Reverse;
use std::fmt::Debug;

use super::{PATTERNS, SLOW, all, pattern, with_threads};
use crate::sort::scratch::starve;
use crate::sort::{
    ParallelSort, Total, par_sort, par_sort_by, par_sort_by_cached_key, par_sort_by_key,
    par_sort_unstable, par_sort_unstable_by, par_sort_unstable_by_key,
};

/// The input of a sort, and what std makes of it: sorted once, for all the ways.
struct Twin<'a, T> {
    given: &'a [T],
    expected: Vec<T>,
    note: &'a str,
}

impl<'a, T: Ord + Clone> Twin<'a, T> {
    fn new(given: &'a [T], note: &'a str) -> Self {
        let mut expected = given.to_vec();
        expected.sort();
        Twin {
            given,
            expected,
            note,
        }
    }

    /// Whether `f` sorts as std does.
    fn same(&self, way: &str, f: &dyn Fn(&mut [T])) {
        let mut sorted = self.given.to_vec();
        f(&mut sorted);
        assert!(
            sorted == self.expected,
            "{way} of {} {}",
            sorted.len(),
            self.note
        );
    }
}

impl<T: Ord + Clone + Send> Twin<'_, T> {
    /// Sorts in the two ways that look at the type.
    fn plain(&self) {
        self.same("sort", &|v| par_sort(v));
        self.same("sort_unstable", &|v| par_sort_unstable(v));
    }
}

/// Sorts `v` in the two ways that look at the type.
fn check_plain<T: Ord + Clone + Send>(v: &[T], note: &str) {
    Twin::new(v, note).plain();
}

/// Sorts `v` in every way there is.
fn check<T: Ord + Clone + Send + Sync + Debug>(v: &[T], note: &str) {
    let twin = Twin::new(v, note);
    twin.plain();
    twin.same("sort_by", &|v| par_sort_by(v, &T::cmp));
    twin.same("sort_unstable_by", &|v| par_sort_unstable_by(v, &T::cmp));
    twin.same("sort_by_cached_key", &|v| {
        par_sort_by_cached_key(v, &T::clone)
    });
}

/// Sorts pairs of a key and a number: equal keys must keep their order.
fn check_keys<T, K>(
    keys: &[K],
    note: &str,
    make: impl Fn(K, u32) -> T,
    of: impl Fn(&T) -> (K, u32) + Sync,
) where
    T: Send + Clone,
    K: Ord + Clone + Send + Debug,
{
    let tagged: Vec<T> = keys
        .iter()
        .cloned()
        .zip(0..)
        .map(|(k, i)| make(k, i))
        .collect();
    let mut expected: Vec<(K, u32)> = tagged.iter().map(&of).collect();
    expected.sort();
    let check = |way: &str, stable: bool, f: &dyn Fn(&mut [T])| {
        let mut sorted = tagged.clone();
        f(&mut sorted);
        let mut got: Vec<(K, u32)> = sorted.iter().map(&of).collect();
        if !stable {
            assert!(
                got.is_sorted_by(|a, b| a.0 <= b.0),
                "{way} of {} {note}",
                keys.len()
            );
            got.sort();
        }
        assert!(got == expected, "{way} of {} {note}", keys.len());
    };
    let key = |t: &T| of(t).0;
    check("by_key", true, &|v| par_sort_by_key(v, &key));
    check("by_cached_key", true, &|v| par_sort_by_cached_key(v, &key));
    check("by", true, &|v| par_sort_by(v, &|a, b| key(a).cmp(&key(b))));
    check("unstable_by_key", false, &|v| {
        par_sort_unstable_by_key(v, &key)
    });
    check("unstable_by", false, &|v| {
        par_sort_unstable_by(v, &|a, b| key(a).cmp(&key(b)))
    });
}

macro_rules! primitives {
    ($($name:ident: $type:ty, $check:ident, $turn:literal, $from:expr;)*) => {$(
        #[test]
        fn $name() {
            let from: fn(u64) -> $type = $from;
            all($turn, |note, v| {
                let v: Vec<$type> = v.iter().map(|&x| from(x)).collect();
                $check(&v, note);
            });
        }
    )*};
}
// A sort by a comparison is the same code for all types of one size.
primitives! {
    u8s: u8, check, 0, |x| (x >> 3) as u8;
    u16s: u16, check_plain, 1, |x| (x >> 7) as u16;
    u32s: u32, check_plain, 0, |x| (x >> 7) as u32;
    u64s: u64, check, 1, |x| x;
    u128s: u128, check, 0, |x| (u128::from(x) << 64) | u128::from(!x);
    i8s: i8, check_plain, 1, |x| (x >> 3) as i8;
    i16s: i16, check_plain, 0, |x| (x >> 7) as i16;
    i32s: i32, check_plain, 1, |x| (x >> 7) as i32;
    i64s: i64, check_plain, 0, |x| x.wrapping_sub(1 << 63) as i64;
    i128s: i128, check_plain, 1, |x| i128::from(x as i64) << 3;
    usizes: usize, check_plain, 0, |x| x as usize;
    isizes: isize, check_plain, 1, |x| x as isize;
    bools: bool, check_plain, 0, |x| x % 3 == 0;
    chars: char, check_plain, 1, |x| char::from_u32((x % 0xD000) as u32).unwrap();
    total_f64: Total<f64>, check_plain, 1, |x| Total(f64::from_bits(x));
    total_f32: Total<f32>, check, 0, |x| Total((x as i64) as f32);
    pairs: (u32, u64), check, 1, |x| (x as u32, x >> 9);
    boxes: Box<u64>, check, 0, Box::new;
    units: (), check, 1, |_| ();
}

macro_rules! strings {
    ($($name:ident: $type:ty, $from:expr;)*) => {$(
        #[test]
        fn $name() {
            let from: fn(u64) -> $type = $from;
            for threads in [1, 3, 6] {
                with_threads(threads, || {
                    for (turn, name) in ["random", "few", "swapped", "small"].iter().enumerate() {
                        for len in [0, 1, 100, 2047, 2048, 5000, 20_000, 40_000] {
                            // The largest is for optimised builds.
                            let turns = SLOW && len > 5000;
                            if turns && (len > 20_000 || (turn + threads) % 2 > 0) {
                                continue;
                            }
                            let v: Vec<$type> =
                                pattern(name, len).into_iter().map(from).collect();
                            check(&v, name);
                        }
                    }
                });
            }
        }
    )*};
}
strings! {
    hex: String, |x| format!("{x:x}");
    prefixed: String, |x| format!("https://example.com/{}/{}", x % 3, x >> 5);
    zeros: Vec<u8>, |x| vec![0; (x % 40) as usize];
    zeros_and_ones: Vec<u8>, |x| (0..x % 21).map(|i| (x >> i) as u8 & 1).collect();
    growing: Vec<u8>, |x| vec![b'a'; (x % 300) as usize];
    statics: &'static str, |x| ["", "a", "aa", "a\0", "b", "equal equal equal", "equal equal"][(x % 7) as usize];
    boxed: Box<str>, |x| x.to_string().into();
}

#[test]
fn borrowed_strings_and_slices() {
    let owned: Vec<String> = pattern("random", 40_000)
        .iter()
        .map(u64::to_string)
        .collect();
    with_threads(2, || {
        check(
            &owned.iter().map(String::as_str).collect::<Vec<_>>(),
            "&str",
        );
        check(
            &owned.iter().map(String::as_bytes).collect::<Vec<_>>(),
            "&[u8]",
        );
    });
}

#[test]
fn strings_are_sorted_stably() {
    // Equal strings are told apart by where they live.
    let owned: Vec<String> = pattern("zipf", 60_000).iter().map(u64::to_string).collect();
    let mut sorted: Vec<&str> = owned.iter().map(String::as_str).collect();
    let mut expected = sorted.clone();
    expected.sort();
    with_threads(3, || par_sort(&mut sorted));
    assert!(
        sorted
            .iter()
            .zip(&expected)
            .all(|(a, b)| std::ptr::eq(*a, *b))
    );
}

#[test]
fn keys_of_every_kind() {
    all(0, |note, v| {
        check_keys(v, note, |k, i| (k, i), |t| *t);
        let v: Vec<_> = v.iter().map(|&x| Reverse(x as i32)).collect();
        check_keys(&v, note, |k, i| [(k, i)], |t| t[0]);
    });
}

#[test]
fn keys_in_wide_elements() {
    all(1, |note, v| {
        if v.len() <= if SLOW { 33_000 } else { 70_000 } {
            let v: Vec<i16> = v.iter().map(|&x| x as i16).collect();
            check_keys(&v, note, |k, i| (k, i, [k; 40]), |t| (t.0, t.1));
            let v: Vec<_> = v.iter().map(|&x| Total(f64::from(x))).collect();
            check_keys(&v, note, |k, i| (k, Box::new(i)), |t| (t.0, *t.1));
            let v: Vec<String> = v.iter().map(|x| format!("{x:?}")).collect();
            check_keys(&v, note, |k, i| (k, i), |t| t.clone());
        }
    });
}

/// Sorts elements by themselves, seen as another type. The keys are `dyn` so that the sorts are
/// compiled once for each pair of types.
fn check_by<T: Clone + Send, K: Ord>(v: &[T], note: &str, key: &(dyn Fn(&T) -> K + Sync)) {
    let mut expected = v.to_vec();
    expected.sort_by_key(key);
    let check = |way: &str, f: &dyn Fn(&mut [T])| {
        let mut sorted = v.to_vec();
        f(&mut sorted);
        let same = sorted.iter().map(key).eq(expected.iter().map(key));
        assert!(same, "{way} of {} {note}", v.len());
    };
    check("by_key", &|v| par_sort_by_key(v, &key));
    check("unstable_by_key", &|v| par_sort_unstable_by_key(v, &key));
}

/// Those are sorted as words, if each is its own key indeed.
#[test]
fn elements_that_are_their_keys() {
    all(1, |note, v| {
        check_by(v, note, &|&x| Reverse(x));
        check_by(v, note, &|&x| x);
        // Nearly all.
        check_by(v, note, &|&x| if x % 1000 == 1 { 5 } else { x });
        let floats: Vec<f64> = v.iter().map(|&x| f64::from_bits(x)).collect();
        check_by(&floats, note, &|&x| Total(x));
        let small: Vec<char> = v.iter().map(|&x| (b'a' + (x % 26) as u8) as char).collect();
        check_by(&small, note, &|&x| Reverse(x));
        let turned: Vec<Reverse<i16>> = v.iter().map(|&x| Reverse((x >> 9) as i16)).collect();
        check_plain(&turned, note);
        check_by(&turned, note, &|x| x.0);
    });
}

/// Alignment beyond a word.
#[derive(Clone)]
#[repr(align(32))]
struct Aligned(u16, u32);

#[test]
fn keys_in_aligned_elements() {
    with_threads(4, || {
        let keys: Vec<u16> = pattern("random", 50_000)
            .iter()
            .map(|&x| x as u16)
            .collect();
        check_keys(&keys, "aligned", Aligned, |t| (t.0, t.1));
    });
}

#[test]
fn without_memory() {
    with_threads(4, || {
        starve(1 << 12, || {
            for (turn, name) in PATTERNS.iter().enumerate() {
                for len in [20_000, 40_000] {
                    if SLOW && (turn + len / 20_000) % 3 > 0 {
                        continue;
                    }
                    let v = pattern(name, len);
                    check(&v, name);
                    check_keys(&v, name, |k, i| (k, i), |t| *t);
                    check_keys(&v, name, |k, i| (k, i, [0; 5]), |t| (t.0, t.1));
                }
            }
        });
    });
}

#[test]
fn radix_on_request() {
    with_threads(4, || {
        for name in PATTERNS {
            let v = pattern(name, 70_000);
            let mut floats: Vec<f64> = v.iter().map(|&x| f64::from_bits(x)).collect();
            let mut expected = floats.clone();
            expected.sort_by(f64::total_cmp);
            floats.par_sort_radix();
            assert!(
                floats
                    .iter()
                    .zip(&expected)
                    .all(|(a, b)| a.to_bits() == b.to_bits())
            );

            let mut triples: Vec<(u16, [u8; 3], usize)> = v
                .iter()
                .enumerate()
                .map(|(i, &x)| (x as u16, [x as u8, (x >> 8) as u8, 1], i))
                .collect();
            let mut expected = triples.clone();
            expected.sort();
            triples.par_sort_radix_by_key(|t| (Reverse(t.0), t.1));
            expected.sort_by_key(|t| (Reverse(t.0), t.1));
            assert!(triples == expected, "{name}");
        }
    });
}

#[test]
fn quicksort_killer() {
    // Each comparison decides as late as it can, so that pivots are as bad as can be.
    use std::sync::Mutex;
    struct Adversary {
        values: Vec<usize>,
        solid: usize,
        candidate: usize,
    }
    let len = 60_000;
    let gas = usize::MAX;
    let state = Mutex::new(Adversary {
        values: vec![gas; len],
        solid: 0,
        candidate: 0,
    });
    let mut v: Vec<usize> = (0..len).collect();
    let compare = |a: &usize, b: &usize| {
        let mut state = state.lock().unwrap();
        let Adversary {
            values,
            solid,
            candidate,
        } = &mut *state;
        if values[*a] == gas && values[*b] == gas {
            let freeze = if a == candidate { *a } else { *b };
            values[freeze] = *solid;
            *solid += 1;
        }
        if values[*a] == gas {
            *candidate = *a;
        } else if values[*b] == gas {
            *candidate = *b;
        }
        values[*a].cmp(&values[*b])
    };
    with_threads(2, || par_sort_unstable_by(&mut v, &compare));
    let killer = state.into_inner().unwrap().values;
    with_threads(2, || {
        check(&killer, "killer");
        check_keys(&killer, "killer", |k, i| (k, i), |t| *t);
    });
}
