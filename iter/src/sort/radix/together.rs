//! The radix sort of many threads, and of one thread if the slice is larger than a cache. After one scatter
//! every bucket fits a cache and is sorted by one thread. A bucket that is too large is scattered again, and so
//! are keys that the sample did not foresee. If the calling thread is to stop, buckets stay as they are.

use std::mem::{self, MaybeUninit};
use std::ops::Range;

use crate::plumbing::halves;
use tine_pool::loops::requested;

use super::alone::{self, End};
use super::cut::{self, Buckets, Cut, Digits, Values};
use super::word::{RadixBits, Record, Varying};
use crate::sort::fork;

/// A bucket of more bytes is scattered again, so that it and its copy stay in a second-level cache.
const HEAVY: usize = 3 << 17;

/// Sorts `here`, stably, through `there`. The result is at the `end`. If that is here, `there` may be left as
/// it was.
pub(super) fn sort<R: Record>(
    here: &mut [R],
    there: &mut [MaybeUninit<R>],
    end: End,
    threads: usize,
) {
    assert_eq!(here.len(), there.len());
    let len = here.len();
    let leave = |here: &[R], there: &mut [MaybeUninit<R>]| {
        if end == End::There {
            copy(here, there, threads);
        }
    };
    let Some(places) = scattered(here, there, threads) else {
        return leave(here, there);
    };
    // SAFETY: there are as many places as records, each written once: all of `there`.
    let there = unsafe { &mut *(std::ptr::from_mut(there) as *mut [R]) };
    let within = Finish {
        end: end.other(),
        height: places.height,
        threads,
        piece: fork::grain(len, threads),
    };
    let outside = Finish {
        height: R::Bits::WIDTH,
        ..within
    };
    let [below, above] = places.outside();
    let (there, there_above) = there.split_at_mut(above.start);
    let (there_below, there) = there.split_at_mut(below.end);
    let (here, here_above) = here.split_at_mut(above.start);
    let (here_below, here) = here.split_at_mut(below.end);
    let mut sort_outside = || {
        bucket(there_below, here_below, &outside);
        bucket(there_above, here_above, &outside);
    };
    let mut sort_within = || buckets(there, here, places.within(), &within);
    if threads == 1 {
        sort_outside();
        sort_within();
    } else {
        halves(sort_outside, sort_within);
    }
}

/// Scatters all records. `None` if there is nothing to sort by, or if the thread is to stop.
fn scattered<R: Record>(
    here: &[R],
    there: &mut [MaybeUninit<R>],
    threads: usize,
) -> Option<Buckets> {
    let len = here.len();
    if len == 0 {
        return None;
    }
    let records = Records {
        here,
        there: there.as_mut_ptr().cast(),
    };
    // SAFETY: the records are there, and only read.
    let mut cut = unsafe { Cut::of(&records, 0..len, threads) }?;
    let places = cut.place(0);
    // SAFETY: cut and placed above; a record's bits depend on nothing but its bytes.
    let whole = unsafe { cut.scatter(&records, 0..len, len, false) };
    whole.then_some(places)
}

/// Records to be scattered, and their target.
struct Records<'a, R> {
    here: &'a [R],
    there: *mut R,
}
// SAFETY: records are `Send` and `Sync`, and each place is used by one thread.
unsafe impl<R: Record> Sync for Records<'_, R> {}

impl<R: Record> Values<R::Bits> for Records<'_, R> {
    // SAFETY: nothing is asked of the caller: the index is checked.
    unsafe fn key(&self, at: usize) -> R::Bits {
        self.here[at].bits()
    }

    // SAFETY: as above.
    unsafe fn count(
        &self,
        these: Range<usize>,
        digits: Digits<R::Bits>,
        counts: &mut [usize],
        varying: &mut Varying<R::Bits>,
    ) {
        cut::count(&self.here[these], &R::bits, digits, counts, varying);
    }

    // SAFETY: the duties are those that the trait states.
    unsafe fn scatter(
        &self,
        these: Range<usize>,
        digits: Digits<R::Bits>,
        next: &mut [usize],
        ends: &[usize],
    ) -> bool {
        let these = &self.here[these];
        // SAFETY: the caller vouches for the places, and the bits of a record never change.
        unsafe { cut::scatter::<false, _, _>(these, &R::bits, digits, next, ends, self.there) }
    }
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

/// What the threads that sort the buckets know.
struct Finish {
    end: End,
    /// No bit from here up varies within a bucket.
    height: u32,
    threads: usize,
    /// This many records are worth a fork.
    piece: usize,
}

/// Sorts every bucket of `here`. `starts` says where they start, relative to the first.
fn buckets<R: Record>(here: &mut [R], there: &mut [R], starts: &[usize], finish: &Finish) {
    let number = starts.len() - 1;
    if number == 1 || here.len() <= finish.piece {
        return row(here, there, starts, finish);
    }
    if !fork::claims(finish.threads) {
        // Halves the records as evenly as buckets allow, not the number of buckets.
        let half = starts[0] + here.len() / 2;
        let middle = starts
            .partition_point(|&start| start <= half)
            .clamp(1, number - 1);
        let (h0, h1) = here.split_at_mut(starts[middle] - starts[0]);
        let (t0, t1) = there.split_at_mut(starts[middle] - starts[0]);
        return halves(
            || buckets(h0, t0, &starts[..=middle], finish),
            || buckets(h1, t1, &starts[middle..], finish),
        );
    }
    let (piece, mut first) = (finish.piece, 0);
    let (mut here, mut there) = (here, there);
    let next = move || {
        let rest = &starts[first..];
        if rest.len() < 2 {
            return None;
        }
        // As many buckets as fit in a piece, or a single longer one.
        let end = rest.partition_point(|&start| start - rest[0] <= piece);
        let last = (end - 1).clamp(1, rest.len() - 1);
        let len = rest[last] - rest[0];
        first += last;
        let (h, h_rest) = mem::take(&mut here).split_at_mut(len);
        let (t, t_rest) = mem::take(&mut there).split_at_mut(len);
        (here, there) = (h_rest, t_rest);
        Some((h, t, &rest[..=last]))
    };
    fork::claimed(finish.threads, next, &|(here, there, starts)| {
        row(here, there, starts, finish);
    });
}

/// [`buckets`], on this thread.
fn row<R: Record>(mut here: &mut [R], mut there: &mut [R], starts: &[usize], finish: &Finish) {
    for pair in starts.windows(2) {
        let (h, h_rest) = here.split_at_mut(pair[1] - pair[0]);
        let (t, t_rest) = there.split_at_mut(pair[1] - pair[0]);
        bucket(h, t, finish);
        (here, there) = (h_rest, t_rest);
    }
}

fn bucket<R: Record>(here: &mut [R], there: &mut [R], finish: &Finish) {
    if size_of_val(here) <= HEAVY {
        // With height 0 the records stay unsorted; they still move to the wanted end.
        let height = if requested() { 0 } else { finish.height };
        return alone::sort(here, there, finish.end, height);
    }
    // SAFETY: initialised places are places, and nothing but records is ever
    // written to them.
    let there = unsafe { &mut *(std::ptr::from_mut(there) as *mut [MaybeUninit<R>]) };
    sort(here, there, finish.end, finish.threads);
}
