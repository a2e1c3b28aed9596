//! The radix sort of many threads, and of one where a cache is too small: one
//! scatter by the top bits that vary, after which every bucket fits a cache and
//! is sorted by one thread. A bucket too large for that is scattered again.
//!
//! ```text
//!   here:   [ part 0 | part 1 | ... ]     each part counts its digits,
//!               ╲  ╱ ╲ ╱                  so each knows where its own
//!   there:  [ 0 | 1 | 2 | ... | 2^b ]     records of each bucket begin
//! ```

use std::mem::MaybeUninit;
use std::ops::Range;

use tine_pool::join;

use super::alone::{self, End};
use super::word::{RadixBits, Record, Varying};
use crate::sort::fork;

/// The buckets aimed at: `2^12` records each, with their copies in a cache of
/// the second level for any record.
const BUCKET_LOG: u32 = 12;
/// More buckets than this at once outgrow the table of page addresses.
const WIDEST: u32 = 11;
/// A bucket of more bytes than this is scattered again: it and its copy are to
/// stay in a cache of the second level.
const HEAVY: usize = 3 << 17;

/// Sorts `here`, stably, by way of `there`; the result is at the `end`. If it
/// is here, `there` may be left as it was. No bit from `height` up may vary.
pub(super) fn sort<R: Record>(
    here: &mut [R],
    there: &mut [MaybeUninit<R>],
    end: End,
    height: u32,
    threads: usize,
) {
    assert_eq!(here.len(), there.len());
    let stay = |here: &[R], there: &mut [_]| {
        if end == End::There {
            copy(here, there, threads);
        }
    };
    if here.is_empty() {
        return;
    }
    // The bits that a sample says vary are counted while all are looked at; if
    // the sample was wrong, the count is made again.
    let guess = sample(here).height().min(height);
    let mut cut = Cut::new(digit_width(here, guess), guess, threads);
    let varying = cut.count(here);
    if varying.height() == 0 {
        return stay(here, there);
    }
    if varying.height() != guess {
        let height = varying.height();
        cut = Cut::new(digit_width(here, height), height, threads);
        cut.count(here);
    }
    let shift = cut.shift;
    let (there, starts) = cut.scatter(here, there);
    let piece = fork::grain(here.len(), threads);
    buckets(
        there,
        here,
        &starts,
        &Finish {
            end: end.other(),
            height: shift,
            threads,
            piece,
        },
    );
}

/// The records of a sample: some from all over.
fn sampled<R: Record>(v: &[R]) -> impl Iterator<Item = &R> {
    const SAMPLE: usize = 256;
    v.iter().step_by((v.len() / SAMPLE).max(1))
}

/// Which bits vary in a sample.
fn sample<R: Record>(v: &[R]) -> Varying<R::Bits> {
    let mut varying = Varying::new(&v[0]);
    sampled(v).for_each(|r| varying.note(r));
    varying
}

/// How many bits below `height` to scatter by: as many as make buckets of the
/// size aimed at where keys are spread evenly, more where they crowd.
fn digit_width<R: Record>(v: &[R], height: u32) -> u32 {
    const CROWD: usize = 16;
    let even = v
        .len()
        .ilog2()
        .saturating_sub(BUCKET_LOG)
        .clamp(4, WIDEST)
        .min(height);
    let widest = WIDEST.min(height);
    let crowded = |bits: u32| {
        let mut counts = [0u16; 1 << WIDEST];
        sampled(v).any(|r| {
            let count = &mut counts[r.bits().down(height - bits) & ((1 << bits) - 1)];
            *count += 1;
            usize::from(*count) > CROWD
        })
    };
    if crowded(even) { widest } else { even }
}

fn copy<R: Record>(from: &[R], to: &mut [MaybeUninit<R>], threads: usize) {
    fork::each_slice(
        to,
        fork::grain(from.len(), threads),
        &|at, piece: &mut [_]| {
            let from = &from[at..at + piece.len()];
            for (to, from) in piece.iter_mut().zip(from) {
                to.write(*from);
            }
        },
    );
}

/// How a slice is cut into parts, and the counts of each part's digits.
struct Cut {
    bits: u32,
    shift: u32,
    parts: usize,
    /// For each part, for each digit.
    counts: Vec<usize>,
}

/// A place to write to that several threads share, each its own positions.
struct Places<R>(*mut R);
// SAFETY: only the address is shared; records are `Send`, and `scatter` writes
// every position once.
unsafe impl<R: Send> Sync for Places<R> {}

impl Cut {
    /// A cut by the top `bits` below `height`.
    fn new(bits: u32, height: u32, threads: usize) -> Self {
        let parts = if threads == 1 { 1 } else { 2 * threads };
        Cut {
            bits,
            shift: height - bits,
            parts,
            counts: vec![0; parts << bits],
        }
    }

    /// Counts the digits of every part, and says which bits vary.
    fn count<R: Record>(&mut self, v: &[R]) -> Varying<R::Bits> {
        let mut counts = std::mem::take(&mut self.counts);
        let varying = self.count_from(0, &mut counts, v);
        self.counts = counts;
        varying
    }

    fn count_from<R: Record>(
        &self,
        part: usize,
        counts: &mut [usize],
        v: &[R],
    ) -> Varying<R::Bits> {
        let parts = counts.len() >> self.bits;
        if parts > 1 {
            let (left, right) = counts.split_at_mut((parts / 2) << self.bits);
            let (a, b) = join(
                || self.count_from(part, left, v),
                || self.count_from(part + parts / 2, right, v),
            );
            return a.merge(b);
        }
        let mut varying = Varying::new(&v[0]);
        for r in &v[self.part(part, v.len())] {
            varying.note(r);
            counts[self.digit(r)] += 1;
        }
        varying
    }

    fn part(&self, part: usize, len: usize) -> Range<usize> {
        let size = len.div_ceil(self.parts);
        (part * size).min(len)..((part + 1) * size).min(len)
    }

    #[inline(always)]
    fn digit<R: Record>(&self, r: &R) -> usize {
        r.bits().down(self.shift) & ((1 << self.bits) - 1)
    }

    /// Turns the counts into places: those of a bucket's first part first.
    /// Returns where each bucket starts, and the end.
    fn place(&mut self) -> Vec<usize> {
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

    /// Moves every record of `from`, the slice that was counted, to its bucket.
    fn scatter<'a, R: Record>(
        mut self,
        from: &[R],
        to: &'a mut [MaybeUninit<R>],
    ) -> (&'a mut [R], Vec<usize>) {
        let starts = self.place();
        assert_eq!(starts.last(), Some(&to.len()), "every record has a place");
        let mut counts = std::mem::take(&mut self.counts);
        let places = Places(to.as_mut_ptr().cast::<R>());
        let places = &places;
        fork::each_slice(&mut counts, 1 << self.bits, &|at, next: &mut [usize]| {
            for r in &from[self.part(at >> self.bits, from.len())] {
                let next = &mut next[self.digit(r)];
                let place = places.0.wrapping_add(*next);
                // SAFETY: this part counted this record under this digit, so the
                // place is within `to`, and no other record has it.
                unsafe { place.write(*r) };
                *next += 1;
            }
        });
        // SAFETY: as many places as records, each written once: all of `to`.
        let to = unsafe { &mut *(std::ptr::from_mut(to) as *mut [R]) };
        (to, starts)
    }
}

/// What is known to those who sort the buckets.
struct Finish {
    end: End,
    /// No bit from here up varies within a bucket.
    height: u32,
    threads: usize,
    /// So many records are worth a fork.
    piece: usize,
}

/// Sorts every bucket of `here`; they start at `starts`, less the first of those.
fn buckets<R: Record>(here: &mut [R], there: &mut [R], starts: &[usize], finish: &Finish) {
    let number = starts.len() - 1;
    if number == 1 {
        return bucket(here, there, finish);
    }
    if here.len() <= finish.piece {
        let (mut here, mut there) = (here, there);
        for pair in starts.windows(2) {
            let (h, h_rest) = here.split_at_mut(pair[1] - pair[0]);
            let (t, t_rest) = there.split_at_mut(pair[1] - pair[0]);
            bucket(h, t, finish);
            (here, there) = (h_rest, t_rest);
        }
        return;
    }
    // Halve the records, as far as buckets allow, rather than the buckets.
    let half = starts[0] + here.len() / 2;
    let middle = starts
        .partition_point(|&start| start <= half)
        .clamp(1, number - 1);
    let (h0, h1) = here.split_at_mut(starts[middle] - starts[0]);
    let (t0, t1) = there.split_at_mut(starts[middle] - starts[0]);
    join(
        || buckets(h0, t0, &starts[..=middle], finish),
        || buckets(h1, t1, &starts[middle..], finish),
    );
}

fn bucket<R: Record>(here: &mut [R], there: &mut [R], finish: &Finish) {
    if size_of_val(here) <= HEAVY {
        return alone::sort(here, there, finish.end, finish.height);
    }
    // SAFETY: initialised places are places, and nothing but records is ever
    // written to them.
    let there = unsafe { &mut *(std::ptr::from_mut(there) as *mut [MaybeUninit<R>]) };
    sort(here, there, finish.end, finish.height, finish.threads);
}
