//! The radix sort of many threads, and of one where a cache is too small: one
//! scatter by the top bits that vary, after which every bucket fits a cache and
//! is sorted by one thread. A bucket too large for that is scattered again.

use std::mem::MaybeUninit;

use tine_pool::join;

use super::alone::{self, End};
use super::cut::{Cut, Sample};
use super::word::Record;
use crate::sort::fork;

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
    let bits = |r: &R| r.bits();
    let sample = Sample::of(here, &bits);
    let guess = sample.height().min(height);
    let mut cut = Cut::new(&sample, guess, threads);
    let height = cut.count(here, &bits).height();
    if height == 0 {
        return stay(here, there);
    }
    if height != guess {
        cut = Cut::new(&sample, height, threads);
        cut.count(here, &bits);
    }
    let starts = cut.place();
    let shift = cut.shift;
    // SAFETY: counted and placed above; a record's bits depend on nothing but its
    // bytes.
    let whole = unsafe { cut.scatter::<false, _, _, _>(here, there, &bits) };
    assert!(whole, "nothing was checked");
    // SAFETY: as many places as records, each written once: all of `there`.
    let there = unsafe { &mut *(std::ptr::from_mut(there) as *mut [R]) };
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
