//! The scatter: values go to buckets by the position of their keys between two bounds. Every thread counts the
//! digits of its parts. The counts of all threads tell each thread where its own values of each bucket begin.
//!
//! ```text
//!   from: [ part 0 | part 1 | ... ]
//!             ╲  ╱ ╲ ╱
//!   to:   [ below | 0 | 1 | 2 | ... | above ]
//! ```
//!
//! A sample sets the bounds. A few keys may be far from the others: a zero among times of day, the
//! exponents of floats. They would send all others to one bucket. So there is a bucket on each side
//! for keys outside the bounds.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::plumbing::halves;
use crate::sort::fork;
use tine_pool::loops::requested;

use super::word::{RadixBits, Varying};

/// The size of bucket aimed at: `2^12` values, which fit a cache of the second level together with
/// their copies.
const BUCKET_LOG: u32 = 12;
/// The most values there should be in the bucket of a typical value.
const CROWD: u64 = 3 << BUCKET_LOG;
/// More buckets than this at once outgrow the table of page addresses.
const WIDEST: u32 = 11;
/// If more than one key in `FEW` is out of bounds, the sample was not like the rest.
const FEW: usize = 8;
/// The number of parts for each thread, if there are several threads.
const PARTS: usize = 2;
/// After this many values a thread asks whether it is to stop.
const STRETCH: usize = 1 << 16;

/// The values that a cut sends to buckets, of any type. So the cut is compiled once for each type of word, and
/// within this crate for the usual word; a program contains the methods below for each type of value and key.
pub(super) trait Values<B>: Sync {
    /// The key of a value.
    ///
    /// # Safety
    /// The value is there, and no other thread looks at it.
    unsafe fn key(&self, at: usize) -> B;
    /// Counts the digits of these values, and notes which bits vary.
    ///
    /// # Safety
    /// As for [`key`](Values::key), for each of them.
    unsafe fn count(
        &self,
        these: Range<usize>,
        digits: Digits<B>,
        counts: &mut [usize],
        varying: &mut Varying<B>,
    );
    /// Copies each of these values to the next place of its digit. Returns `false` as soon as a value comes to
    /// the end of its digit's places.
    ///
    /// # Safety
    /// As for [`key`](Values::key), for each of them. They were counted, there are as many places from `next`
    /// to `ends` as were counted, and no other thread uses the places. Without `ends`, a key depends on nothing
    /// but the bytes of the value.
    unsafe fn scatter(
        &self,
        these: Range<usize>,
        digits: Digits<B>,
        next: &mut [usize],
        ends: &[usize],
    ) -> bool;
}

/// [`Values::count`] of a slice.
#[inline]
pub(super) fn count<T, B: RadixBits>(
    these: &[T],
    key: &impl Fn(&T) -> B,
    digits: Digits<B>,
    counts: &mut [usize],
    varying: &mut Varying<B>,
) {
    let mut noted = *varying;
    for value in these {
        let key = key(value);
        noted.note(key);
        counts[digits.of(key)] += 1;
    }
    *varying = noted;
}

/// [`Values::scatter`] of a slice.
///
/// # Safety
/// As there, with the places from `to` on.
#[inline]
pub(super) unsafe fn scatter<const CHECKED: bool, T, B: RadixBits>(
    these: &[T],
    key: &impl Fn(&T) -> B,
    digits: Digits<B>,
    next: &mut [usize],
    ends: &[usize],
    to: *mut T,
) -> bool {
    for value in these {
        let digit = digits.of(key(value));
        let next = &mut next[digit];
        if CHECKED && *next == ends[digit] {
            return false;
        }
        let place = to.wrapping_add(*next);
        // SAFETY: this part counted a value under this digit that it has not met yet: by the check,
        // or because this is that value. So the place is one of those that the caller vouches for.
        unsafe { ptr::copy_nonoverlapping(value, place, 1) };
        *next += 1;
    }
    true
}

/// Some keys from all over a slice.
struct Sample<B> {
    keys: Vec<B>,
    /// The number of values that the sample stands for.
    of: usize,
}

impl<B: RadixBits> Sample<B> {
    /// A sample of some values.
    ///
    /// # Safety
    /// They are there, and no other thread looks at them.
    unsafe fn of(values: &dyn Values<B>, these: Range<usize>) -> Self {
        const SAMPLE: usize = 256;
        let of = these.len();
        let some = these.step_by((of / SAMPLE).max(1));
        // SAFETY: the caller vouches for it.
        let keys = some.map(|at| unsafe { values.key(at) });
        Sample {
            keys: keys.collect(),
            of,
        }
    }

    /// Bounds that most keys are between, if the rest is like the sample.
    fn bounds(&self) -> (B, B) {
        let first = (self.keys[0], self.keys[0]);
        let all = self.keys.iter();
        let (low, high) = all.fold(first, |(low, high), &key| (low.min(key), high.max(key)));
        B::stretched(low, high)
    }

    /// The number of buckets, as a power of two. Where keys are spread evenly, buckets get the size
    /// aimed at; where keys crowd, there are more buckets.
    fn width(&self, bounds: (B, B)) -> u32 {
        let even = self.of.ilog2().saturating_sub(BUCKET_LOG).clamp(4, WIDEST);
        // How often two values share a bucket, scaled to the sample.
        let likely = self.keys.len().pow(2) as u64 * CROWD;
        let light = |width: &u32| self.pairs(bounds, *width) * self.of as u64 <= likely;
        (even..WIDEST).find(light).unwrap_or(WIDEST)
    }

    /// The number of pairs of keys that share one of `2^width` buckets.
    fn pairs(&self, bounds: (B, B), width: u32) -> u64 {
        let digits = Digits::new(bounds, width);
        let mut counts = vec![0; digits.buckets()];
        let mut pairs = 0;
        for &key in &self.keys {
            let count = &mut counts[digits.of(key)];
            pairs += 2 * *count;
            *count += 1;
        }
        pairs
    }
}

/// The digit of each key: its bits from `shift` up, clamped to bounds; the least digit of a key within the
/// bounds is 1.
#[derive(Clone, Copy)]
pub(super) struct Digits<B> {
    low: B,
    high: B,
    /// Bits below this one are ignored.
    shift: u32,
    /// `low` without the ignored bits.
    base: usize,
}

impl<B: RadixBits> Digits<B> {
    /// About `2^width` digits between the bounds.
    fn new((low, high): (B, B), width: u32) -> Self {
        let shift = high.less(low).bit_len().saturating_sub(width);
        Digits {
            low,
            high,
            shift,
            base: low.down(shift),
        }
    }

    /// The number of digits: those of keys between the bounds, and one on each side.
    fn buckets(&self) -> usize {
        self.high.down(self.shift).wrapping_sub(self.base) + 3
    }

    /// Never less for a greater key.
    #[inline(always)]
    fn of(&self, key: B) -> usize {
        let within = key.max(self.low).min(self.high);
        let digit = within.down(self.shift).wrapping_sub(self.base);
        digit + usize::from(key >= self.low) + usize::from(key > self.high)
    }
}

/// How some values are cut into parts and buckets, and the counts of each part.
pub(super) struct Cut<B> {
    digits: Digits<B>,
    buckets: usize,
    /// For each part, for each bucket.
    counts: Vec<usize>,
}

/// The places of the buckets when all values have been scattered.
pub(super) struct Buckets {
    /// The start of each bucket, and the end of the last.
    starts: Vec<usize>,
    /// No bit from here up varies within a bucket, except within the first and the last.
    pub(super) height: u32,
}

impl Buckets {
    /// The starts of the buckets within the bounds, and their end.
    pub(super) fn within(&self) -> &[usize] {
        &self.starts[1..self.starts.len() - 1]
    }

    /// The values whose keys are below the bounds, and those above.
    pub(super) fn outside(&self) -> [Range<usize>; 2] {
        let ends = self.starts.len() - 1;
        [
            self.starts[0]..self.starts[1],
            self.starts[ends - 1]..self.starts[ends],
        ]
    }
}

impl<B: RadixBits> Cut<B> {
    /// Cuts one or more values, and counts. `None` if all keys are the same, or if the thread is to stop.
    ///
    /// # Safety
    /// They are there, and no other thread looks at them meanwhile.
    pub(super) unsafe fn of(
        values: &dyn Values<B>,
        these: Range<usize>,
        threads: usize,
    ) -> Option<Self> {
        // SAFETY: the caller vouches for the values.
        let sample = unsafe { Sample::of(values, these.clone()) };
        let mut cut = Cut::new(&sample, sample.bounds(), threads);
        // SAFETY: as above.
        let varying = unsafe { cut.count(values, these.clone()) }?;
        if varying.height() == 0 {
            return None;
        }
        if cut.outside() > these.len() / FEW {
            cut = Cut::new(&sample, varying.bounds(), threads);
            // SAFETY: as above.
            unsafe { cut.count(values, these) }?;
        }
        Some(cut)
    }

    fn new(sample: &Sample<B>, bounds: (B, B), threads: usize) -> Self {
        let digits = Digits::new(bounds, sample.width(bounds));
        let buckets = digits.buckets();
        let parts = if threads == 1 { 1 } else { PARTS * threads };
        Cut {
            digits,
            buckets,
            counts: vec![0; parts * buckets],
        }
    }

    /// Counts the digits of every part, and returns which bits vary. `None` if it did not get through, because
    /// the thread is to stop.
    ///
    /// # Safety
    /// As for [`of`](Cut::of).
    unsafe fn count(&mut self, values: &dyn Values<B>, these: Range<usize>) -> Option<Varying<B>> {
        let mut counts = std::mem::take(&mut self.counts);
        let digits = self.digits;
        // SAFETY: the caller vouches for it.
        let first = unsafe { values.key(these.start) };
        let whole = Mutex::new(Varying::new(first));
        let through = each_part(&mut counts, self.buckets, these, &|counts, part| {
            let mut varying = Varying::new(first);
            let through = each_stretch(part, &mut |stretch| {
                // SAFETY: as above, and each part belongs to one thread.
                unsafe { values.count(stretch, digits, counts, &mut varying) };
                true
            });
            // No code panics under the lock.
            let mut whole = whole.lock().unwrap_or_else(PoisonError::into_inner);
            *whole = whole.merge(varying);
            through
        });
        self.counts = counts;
        through.then(|| whole.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many of the counted values are outside the bounds.
    fn outside(&self) -> usize {
        let counts = self.counts.chunks_exact(self.buckets);
        counts.map(|part| part[0] + part[self.buckets - 1]).sum()
    }

    /// Turns the counts into places, from the place `first` on. Within a bucket the values of the
    /// first part come first.
    pub(super) fn place(&mut self, first: usize) -> Buckets {
        // Part by part: the counts of one part lie side by side. Going from part to part, each look would be at
        // another page, and with many threads there are many parts.
        let mut starts = vec![0; self.buckets + 1];
        for part in self.counts.chunks_exact_mut(self.buckets) {
            for (sum, count) in starts.iter_mut().zip(part) {
                *sum += std::mem::replace(count, *sum);
            }
        }
        let mut at = first;
        for start in &mut starts {
            at += std::mem::replace(start, at);
        }
        for part in self.counts.chunks_exact_mut(self.buckets) {
            for (start, count) in starts.iter().zip(part) {
                *count += start;
            }
        }
        Buckets {
            starts,
            height: self.digits.shift,
        }
    }

    /// Copies every one of these values, which were counted and then placed, into its bucket. Returns `false`
    /// if it did not get through: if the thread is to stop, and, if `checked`, at a key that is not the key
    /// that was counted. If not `checked`, there must be no such key.
    ///
    /// # Safety
    /// These are the values that were cut, and `place` has been called. It is `checked`, or a key depends on
    /// nothing but the bytes of the value. The places are free, and no other thread uses them or the values.
    pub(super) unsafe fn scatter(
        &mut self,
        values: &dyn Values<B>,
        these: Range<usize>,
        end: usize,
        checked: bool,
    ) -> bool {
        let mut numbers = std::mem::take(&mut self.counts);
        let ends = match checked {
            true => self.ends(&numbers, end),
            false => vec![],
        };
        let (first, digits) = (numbers.as_ptr().addr(), self.digits);
        each_part(&mut numbers, self.buckets, these, &|next, part| {
            let ends = match checked {
                true => {
                    let at = (next.as_ptr().addr() - first) / size_of::<usize>();
                    &ends[at..][..next.len()]
                }
                false => &[],
            };
            each_stretch(part, &mut |stretch| {
                // SAFETY: the caller vouches for values and places. Each part belongs to one thread, and the
                // places of each part and digit are its own.
                unsafe { values.scatter(stretch, digits, next, ends) }
            })
        })
    }

    /// For places that begin at `places`: where the places of each part end; the last ends at `end`.
    fn ends(&self, places: &[usize], end: usize) -> Vec<usize> {
        let later = |at: usize| match at + self.buckets {
            same if same < places.len() => places[same],
            // The last part ends where the first part of the next bucket begins.
            next => places.get(next - places.len() + 1).copied().unwrap_or(end),
        };
        let last = places.len() - 1;
        (0..=last)
            .map(|at| if at == last { end } else { later(at) })
            .collect()
    }
}

/// Calls `f` for stretches of a part, until it returns `false` or the thread is to stop. Returns
/// whether it got through.
fn each_stretch(part: Range<usize>, f: &mut dyn FnMut(Range<usize>) -> bool) -> bool {
    let mut at = part.start;
    while at < part.end {
        let end = part.end.min(at + STRETCH);
        if requested() || !f(at..end) {
            return false;
        }
        at = end;
    }
    true
}

/// The function that is called for each part, with the part's numbers and its range.
type EachPart<'a> = &'a (dyn Fn(&mut [usize], Range<usize>) -> bool + Sync);

/// Calls `f` with each part and its numbers, in parallel: `buckets` numbers for each part. Returns
/// whether all the calls returned `true`.
fn each_part(numbers: &mut [usize], buckets: usize, these: Range<usize>, f: EachPart<'_>) -> bool {
    let parts = numbers.len() / buckets;
    if parts == 1 {
        return f(numbers, these);
    }
    if !fork::claims(parts / PARTS) {
        let (n0, n1) = numbers.split_at_mut(parts / 2 * buckets);
        let middle = these.start + these.len() / parts * (parts / 2);
        let (mut a, mut b) = (false, false);
        halves(
            || a = each_part(n0, buckets, these.start..middle, f),
            || b = each_part(n1, buckets, middle..these.end, f),
        );
        return a && b;
    }
    let (size, larger) = (these.len() / parts, these.len() % parts);
    let mut at = these.start;
    let mut rest = numbers.chunks_exact_mut(buckets).enumerate();
    let next = move || {
        let (nth, numbers) = rest.next()?;
        let start = at;
        at += size + usize::from(nth < larger);
        Some((numbers, start..at))
    };
    let through = AtomicBool::new(true);
    fork::claimed(parts / PARTS, next, &|(numbers, part)| {
        if !f(numbers, part) {
            // Relaxed: read after all threads have come back.
            through.store(false, Relaxed);
        }
    });
    through.into_inner()
}

#[cfg(test)]
mod tests {
    use super::{Digits, RadixBits, WIDEST};
    use crate::sort::tests::Random;

    /// A greater key never has a lesser digit, each digit has a bucket, and a bucket within the
    /// bounds holds nothing from outside them.
    fn check<B: RadixBits + std::fmt::Debug>(bounds: (B, B), width: u32, keys: &mut [B]) {
        let digits = Digits::new(bounds, width);
        let last = digits.buckets() - 1;
        assert!(last <= (1 << width) + 2, "{bounds:?}, {width}");
        keys.sort_unstable();
        assert!(keys.is_sorted_by_key(|&key| digits.of(key)), "{bounds:?}");
        for pair in keys.windows(2) {
            let (a, b) = (digits.of(pair[0]), digits.of(pair[1]));
            assert!(b <= last, "{bounds:?}");
            assert_eq!(a == 0, pair[0] < bounds.0, "{bounds:?}, {pair:?}");
            assert_eq!(b == last, pair[1] > bounds.1, "{bounds:?}, {pair:?}");
            if a == b && a > 0 && b < last {
                let (a, b) = (pair[0].above(digits.shift), pair[1].above(digits.shift));
                assert_eq!(a, b, "{bounds:?}, {pair:?}");
            }
        }
    }

    #[test]
    fn digits_are_in_order() {
        let mut random = Random(11);
        for round in 0..2000 {
            let narrow = random.below(64) as u32;
            let from = random.next();
            let mut keys: Vec<u64> = (0..60)
                .map(|_| from.wrapping_add(random.next() >> narrow))
                .collect();
            keys.extend([0, 1, u64::MAX]);
            let (a, b) = (keys[random.below(60)], keys[random.below(60)]);
            let width = 4 + random.below(WIDEST as usize - 3) as u32;
            let plain = (a.min(b), a.max(b));
            let bounds = match round % 3 {
                0 => plain,
                1 => u64::stretched(plain.0, plain.1),
                _ => (0, u64::MAX),
            };
            check(bounds, width, &mut keys);
            let wide = |x: u64| u128::from(x) << (round % 65);
            let mut wide_keys: Vec<u128> = keys.iter().map(|&x| wide(x)).collect();
            check((wide(bounds.0), wide(bounds.1)), width, &mut wide_keys);
            let mut bytes: Vec<u8> = keys.iter().map(|&x| x as u8).collect();
            let (a, b) = (bytes[0].min(bytes[1]), bytes[0].max(bytes[1]));
            check((a, b), width, &mut bytes);
        }
    }
}
