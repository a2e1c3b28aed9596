//! Every sort against std's, and against hostile comparisons.
#![forbid(unsafe_code)]

mod hostile;
mod keys;
mod kin;
mod matrix;
mod seen;
mod spread;

use tine_pool::ThreadPoolBuilder;

/// A generator good enough for patterns.
pub(crate) struct Random(pub(super) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ (mixed >> 29)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Runs `f` with a pool of `threads` threads.
pub(crate) fn with_threads<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("a small pool").install(f)
}

/// Checks that `sort` sorts, or returns `false` and leaves everything where it is. Returns which.
pub(crate) fn sorts_or_leaves(
    note: &str,
    input: &[u64],
    sort: impl FnOnce(&mut [u64]) -> bool,
) -> bool {
    let mut got = input.to_vec();
    let done = sort(&mut got);
    let mut expected = input.to_vec();
    if done {
        expected.sort_unstable();
    }
    assert_eq!(got, expected, "{note}, {}, {done}", input.len());
    done
}

/// At most `most` numbers in order, except for rows of strays, too large or too small.
pub(crate) fn rows_of_strays(random: &mut Random, most: usize) -> Vec<u64> {
    let len = 1 + random.below(most);
    let mut v: Vec<u64> = (0..len as u64).map(|i| 1000 + i / 3).collect();
    for _ in 0..random.below(1 + len / 100) {
        let (at, row) = (random.below(len), random.below(12));
        let stray = random.next() % (2000 + len as u64);
        v.iter_mut().skip(at).take(row).for_each(|n| *n = stray);
    }
    v
}

pub(crate) const PATTERNS: [&str; 15] = [
    "random", "sorted", "reversed", "equal", "few", "swapped", "organ", "saw", "zipf", "small",
    "outlier", "far", "crowds", "tail", "killer",
];

/// `len` numbers in some order.
pub(crate) fn pattern(name: &str, len: usize) -> Vec<u64> {
    let mut random = Random(len as u64 + 1);
    let n = len as u64;
    let number = |i: u64| -> u64 {
        match name {
            "random" => random.next(),
            "sorted" | "swapped" => i << 7,
            "reversed" => (n - i) << 7,
            "equal" => 7,
            "few" => (random.next() % 16).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            "organ" => i.min(n - i) << 20,
            "saw" => (i % 1000) << 30,
            "zipf" => 1_000_000 / (1 + random.next() % 1_000_000),
            "small" => random.next() % (n + 1),
            "outlier" => {
                if i == n / 3 {
                    u64::MAX
                } else {
                    random.next() % 1000
                }
            }
            // Some far below the others and some far above.
            "far" => match random.next() % 100 {
                0..3 => random.next() % 1000,
                3 => u64::MAX - random.next() % 1000,
                _ => (1 << 40) + random.next() % (1 << 20),
            },
            // Half of them in the upper half of the range, a quarter in the half below that …
            "crowds" => random.next() >> (random.next().trailing_zeros() * 3).min(63),
            "tail" => {
                if i < n - n / 100 {
                    i
                } else {
                    random.next() % n
                }
            }
            // The median of the first, middle and last is always next to the least.
            "killer" => match (i < n / 2, i % 2) {
                (true, 0) => i + 1,
                (true, _) => n / 2 + i,
                (false, _) => 2 * (i - n / 2 + 1),
            },
            _ => unreachable!("no such pattern"),
        }
    };
    let mut v: Vec<u64> = (0..n).map(number).collect();
    if name == "swapped" {
        for _ in 0..len / 200 {
            let (a, b) = (random.below(len), random.below(len));
            v.swap(a, b);
        }
    }
    v
}

/// Sizes around every cut-off.
const SIZES: [usize; 17] = [
    0, 1, 2, 3, 20, 21, 65, 511, 513, 1025, 2049, 4097, 16_385, 19_999, 20_001, 32_769, 70_003,
];

/// Whether this build is slow, so that fewer inputs must do.
pub(crate) const SLOW: bool = cfg!(debug_assertions);

/// Calls `f` with every pattern in every size, on four threads. A few also run on one thread, and
/// in a size that is scattered twice. In unoptimised builds the patterns take turns at the larger
/// sizes, and two of the four at the largest, those that `turn` says.
pub(crate) fn all(turn: usize, f: impl Fn(&str, &[u64]) + Sync) {
    let sizes = |turn: usize| {
        let sizes = SIZES.iter().enumerate();
        sizes.filter(move |&(i, &len)| !SLOW || len <= 600 || (i + turn).is_multiple_of(7))
    };
    with_threads(4, || {
        for (turn, name) in PATTERNS.into_iter().enumerate() {
            sizes(turn).for_each(|(_, &len)| f(name, &pattern(name, len)));
        }
        for (number, name) in ["random", "outlier", "far", "crowds"].iter().enumerate() {
            if !SLOW || number % 2 == turn % 2 {
                f(name, &pattern(name, if SLOW { 100_000 } else { 300_000 }));
            }
        }
    });
    with_threads(1, || {
        for (turn, name) in ["random", "organ"].into_iter().enumerate() {
            sizes(turn).for_each(|(_, &len)| f(name, &pattern(name, len)));
        }
    });
}
