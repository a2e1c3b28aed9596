//! The scatter: values to buckets, by some of the highest bits of their keys.
//! Every thread counts the digits of its parts, and from the counts of all it
//! knows where its own values of each bucket begin.
//!
//! ```text
//!   from: [ part 0 | part 1 | ... ]
//!             ╲  ╱ ╲ ╱
//!   to:   [ 0 | 1 | 2 | ... | 2^b ]
//! ```

use std::mem::MaybeUninit;
use std::ptr;

use tine_pool::join;

use super::word::{RadixBits, Varying};

/// The buckets aimed at: `2^12` values each, which a cache of the second level
/// holds with their copies.
const BUCKET_LOG: u32 = 12;
/// More buckets than this at once outgrow the table of page addresses.
const WIDEST: u32 = 11;

/// Some keys from all over a slice.
pub(super) struct Sample<B> {
    keys: Vec<B>,
    /// How many values it stands for.
    of: usize,
}

impl<B: RadixBits> Sample<B> {
    /// A sample of a slice that is not empty.
    pub(super) fn of<T>(v: &[T], key: &impl Fn(&T) -> B) -> Self {
        const SAMPLE: usize = 256;
        let keys = v.iter().step_by((v.len() / SAMPLE).max(1)).map(key);
        Sample {
            keys: keys.collect(),
            of: v.len(),
        }
    }

    /// All bits that vary in the sample lie below this one.
    pub(super) fn height(&self) -> u32 {
        let mut varying = Varying::new(self.keys[0]);
        self.keys.iter().for_each(|&key| varying.note(key));
        varying.height()
    }

    /// How many bits below `height` to scatter by: as many as make buckets of the
    /// size aimed at where keys are spread evenly, more where they crowd.
    fn digit_width(&self, height: u32) -> u32 {
        const CROWD: usize = 16;
        let even = self.of.ilog2().saturating_sub(BUCKET_LOG);
        let even = even.clamp(4, WIDEST).min(height);
        let mut counts = [0; 1 << WIDEST];
        let mut crowd = 0;
        for key in &self.keys {
            let count = &mut counts[key.down(height - even) & ((1 << even) - 1)];
            *count += 1;
            crowd = crowd.max(*count);
        }
        if crowd > CROWD {
            WIDEST.min(height)
        } else {
            even
        }
    }
}

/// How a slice is cut into parts and buckets, and the counts of each part.
pub(super) struct Cut {
    bits: u32,
    /// The bits below this one are not looked at.
    pub(super) shift: u32,
    parts: usize,
    /// For each part, for each bucket.
    counts: Vec<usize>,
}

/// A place to write to that several threads share, each its own positions.
struct Places<T>(*mut T);
// SAFETY: only the address is shared; values are `Send`, and `scatter` writes
// every position once.
unsafe impl<T: Send> Sync for Places<T> {}

impl Cut {
    /// A cut by the highest bits below `height`.
    pub(super) fn new<B: RadixBits>(sample: &Sample<B>, height: u32, threads: usize) -> Self {
        let bits = sample.digit_width(height);
        let parts = if threads == 1 { 1 } else { 2 * threads };
        Cut {
            bits,
            shift: height - bits,
            parts,
            counts: vec![0; parts << bits],
        }
    }

    #[inline(always)]
    fn digit<B: RadixBits>(&self, key: B) -> usize {
        key.down(self.shift) & ((1 << self.bits) - 1)
    }

    /// Counts the digits of every part of `v`, and says which bits vary.
    pub(super) fn count<T, B, F>(&mut self, v: &mut [T], key: &F) -> Varying<B>
    where
        T: Send,
        B: RadixBits,
        F: Fn(&T) -> B + Sync,
    {
        let mut counts = std::mem::take(&mut self.counts);
        let first = key(&v[0]);
        let count = |counts: &mut [usize], part: &mut [T]| {
            let mut varying = Varying::new(first);
            for value in &*part {
                let key = key(value);
                varying.note(key);
                counts[self.digit(key)] += 1;
            }
            varying
        };
        let varying = self.each_part(&mut counts, v, &count, &Varying::merge);
        self.counts = counts;
        varying
    }

    /// Calls `f` with the numbers of every part and the part, in parallel, and
    /// merges what it says.
    fn each_part<T, R, F, M>(&self, numbers: &mut [usize], v: &mut [T], f: &F, merge: &M) -> R
    where
        T: Send,
        R: Send,
        F: Fn(&mut [usize], &mut [T]) -> R + Sync,
        M: Fn(R, R) -> R + Sync,
    {
        let parts = numbers.len() >> self.bits;
        if parts == 1 {
            return f(numbers, v);
        }
        let (n0, n1) = numbers.split_at_mut((parts / 2) << self.bits);
        let (v0, v1) = v.split_at_mut(v.len() / parts * (parts / 2));
        let (a, b) = join(
            || self.each_part(n0, v0, f, merge),
            || self.each_part(n1, v1, f, merge),
        );
        merge(a, b)
    }

    /// Turns the counts into places: those of a bucket's first part first.
    /// Returns where each bucket starts, and the end.
    pub(super) fn place(&mut self) -> Vec<usize> {
        let buckets = 1 << self.bits;
        let mut starts = Vec::with_capacity(buckets + 1);
        let mut at = 0;
        for bucket in 0..buckets {
            starts.push(at);
            for part in 0..self.parts {
                let count = &mut self.counts[(part << self.bits) + bucket];
                at += std::mem::replace(count, at);
            }
        }
        starts.push(at);
        starts
    }

    /// Copies every value of `from`, which was counted and then placed, into its
    /// bucket of `to`. If `CHECKED`, stops and says no where a key is not the one
    /// that was counted; otherwise that must not be.
    ///
    /// # Safety
    /// Of this slice `count` has been asked and then `place`. It is `CHECKED`, or
    /// `key` depends on nothing but the bytes of the value.
    pub(super) unsafe fn scatter<const CHECKED: bool, T, B, F>(
        &mut self,
        from: &mut [T],
        to: &mut [MaybeUninit<T>],
        key: &F,
    ) -> bool
    where
        T: Send,
        B: RadixBits,
        F: Fn(&T) -> B + Sync,
    {
        assert_eq!(from.len(), to.len());
        let mut numbers = std::mem::take(&mut self.counts);
        let ends = if CHECKED {
            self.ends(&numbers, to.len())
        } else {
            vec![]
        };
        let (first, ends) = (Places(numbers.as_mut_ptr()), &ends);
        let places = Places(to.as_mut_ptr().cast::<T>());
        let (places, first) = (&places, &first);
        let scatter = |next: &mut [usize], part: &mut [T]| {
            let ends = match CHECKED {
                true => {
                    let at = (next.as_ptr().addr() - first.0.addr()) / size_of::<usize>();
                    &ends[at..][..next.len()]
                }
                false => &[],
            };
            for value in &*part {
                let digit = self.digit(key(value));
                let next = &mut next[digit];
                if CHECKED && *next == ends[digit] {
                    return false;
                }
                let place = places.0.wrapping_add(*next);
                // SAFETY: this part counted a value under this digit that it has
                // not met yet: by the check, or because this is that value. So the
                // place is within `to`, and nobody else's.
                unsafe { ptr::copy_nonoverlapping(value, place, 1) };
                *next += 1;
            }
            true
        };
        self.each_part(&mut numbers, from, &scatter, &|a, b| a && b)
    }

    /// Where the places of each part end that start at `places`.
    fn ends(&self, places: &[usize], len: usize) -> Vec<usize> {
        let buckets = 1 << self.bits;
        let later = |at: usize| match at + buckets {
            same if same < places.len() => places[same],
            // The last part's end where the next bucket's first part begins.
            next => places.get(next - places.len() + 1).copied().unwrap_or(len),
        };
        let last = places.len() - 1;
        (0..=last)
            .map(|at| if at == last { len } else { later(at) })
            .collect()
    }
}
