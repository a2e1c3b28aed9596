//! Shuffling: the same order for the same seed, whatever the number of threads.
//!
//! A longer slice is dealt to buckets at random, and then each bucket is shuffled by itself. So
//! every order is as likely as any other. Only the seed and its position decide where an element
//! goes.
#![forbid(unsafe_code)]

use super::scatter::scatter;
use crate::convert::IntoParallelIterator;
use crate::iter::{IndexedParallelIterator, ParallelIterator};

/// Slices up to this length are shuffled by one thread.
const ALONE: usize = if cfg!(miri) { 1 << 8 } else { 1 << 16 };
/// About how many elements a bucket should have, and the greatest number of buckets.
const IN_BUCKET: usize = if cfg!(miri) { 1 << 5 } else { 1 << 13 };
const BUCKETS: usize = 256;

/// The numbers below `len`, in an order that depends only on `seed` and `len`. Each order is as
/// likely as any other.
///
/// ```
/// use tine::algorithms::random_permutation;
///
/// let mut order = random_permutation(1000, 7);
/// assert_eq!(order, random_permutation(1000, 7));
/// assert_ne!(order, random_permutation(1000, 8));
/// order.sort();
/// assert!(order.into_iter().eq(0..1000));
/// ```
// Inline, so that its loops are compiled where they are used.
#[inline]
pub fn random_permutation(len: usize, seed: u64) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..len).into_par_iter().collect();
    shuffle(&mut numbers, seed);
    numbers
}

/// Shuffles a slice.
pub(super) fn shuffle<T: Send>(v: &mut [T], seed: u64) {
    if v.len() <= ALONE {
        return alone(v, seed);
    }
    let buckets = (v.len() / IN_BUCKET).next_power_of_two().min(BUCKETS);
    let bits = buckets.trailing_zeros();
    let key = stirred(seed);
    let deal = |at: usize, _: &T| (random(key, at as u64) >> (u64::BITS - bits)) as usize;
    let starts = scatter(v, buckets, &deal);
    let mut rest = v;
    let mut cut = |pair: &[usize]| {
        let bucket = rest.split_off_mut(..pair[1] - pair[0]);
        bucket.expect("a bucket is a part of the slice")
    };
    let parts: Vec<&mut [T]> = starts.windows(2).map(&mut cut).collect();
    let parts = parts.into_par_iter().enumerate();
    // Each bucket has its own seed, of another kind than the seeds of the elements.
    let key = stirred(!seed);
    parts.for_each(|(at, part)| shuffle(part, random(key, at as u64)));
}

/// Shuffles a slice on this thread: each place gets one of the elements not yet given away.
fn alone<T>(v: &mut [T], seed: u64) {
    let key = stirred(seed);
    for left in (2..=v.len()).rev() {
        let random = u128::from(random(key, left as u64));
        let at = (random * left as u128) >> u64::BITS;
        v.swap(left - 1, at as usize);
    }
}

/// The `n`-th number of the stream that `key` names. It joins the halves of a product; each of
/// their bits depends on most bits of the factors.
#[inline]
fn random(key: u64, n: u64) -> u64 {
    let state = key.wrapping_add(n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let product = u128::from(state) * u128::from(state ^ 0xD6E8_FEB8_6659_FD93);
    (product >> u64::BITS) as u64 ^ product as u64
}

/// A key of which each bit depends on all of the seed.
fn stirred(mut bits: u64) -> u64 {
    for _ in 0..2 {
        bits = (bits ^ bits >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    }
    bits ^ bits >> 32
}
