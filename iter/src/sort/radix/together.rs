//! The radix sort of many threads, and of one where a cache is too small. After one scatter every
//! bucket fits a cache and is sorted by one thread. A bucket that is too large is scattered again,
//! and so is what the sample did not foresee. Once the calling thread is to stop, buckets stay as they are.

use std::mem::MaybeUninit;

use crate::plumbing::both;
use tine_pool::loops::requested;

use super::alone::{self, End};
use super::cut::Cut;
use super::word::{RadixBits, Record};
use crate::sort::fork;

/// A bucket of more bytes is scattered again, so that it and its copy stay in a cache of the second
/// level.
const HEAVY: usize = 3 << 17;

/// Sorts `here`, stably, through `there`. The result is at the `end`. If it is here, `there` may be
/// left as it was.
pub(super) fn sort<R: Record>(
    here: &mut [R],
    there: &mut [MaybeUninit<R>],
    end: End,
    threads: usize,
) {
    assert_eq!(here.len(), there.len());
    let bits = |r: &R| r.bits();
    let cut = match here {
        [] => None,
        _ => Cut::of(here, threads, &bits),
    };
    let leave = |here: &[R], there: &mut [MaybeUninit<R>]| {
        if end == End::There {
            copy(here, there, threads);
        }
    };
    let Some(mut cut) = cut else {
        return leave(here, there);
    };
    let places = cut.place();
    // SAFETY: cut and placed above; a record's bits depend on nothing but its
    // bytes.
    let whole = unsafe { cut.scatter::<false, _, _>(here, there, &bits) };
    if !whole {
        return leave(here, there);
    }
    // SAFETY: as many places as records, each written once: all of `there`.
    let there = unsafe { &mut *(std::ptr::from_mut(there) as *mut [R]) };
    let within = Finish {
        end: end.other(),
        height: places.height,
        threads,
        piece: fork::grain(here.len(), threads),
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
        both(sort_outside, sort_within);
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

/// Sorts every bucket of `here`. `starts` says where they start; the first of it counts as zero.
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
    // Halve the records as evenly as buckets allow, not the number of buckets.
    let half = starts[0] + here.len() / 2;
    let middle = starts
        .partition_point(|&start| start <= half)
        .clamp(1, number - 1);
    let (h0, h1) = here.split_at_mut(starts[middle] - starts[0]);
    let (t0, t1) = there.split_at_mut(starts[middle] - starts[0]);
    both(
        || buckets(h0, t0, &starts[..=middle], finish),
        || buckets(h1, t1, &starts[middle..], finish),
    );
}

fn bucket<R: Record>(here: &mut [R], there: &mut [R], finish: &Finish) {
    if size_of_val(here) <= HEAVY {
        // No height: stays as it is, at the end that is asked for.
        let height = if requested() { 0 } else { finish.height };
        return alone::sort(here, there, finish.end, height);
    }
    // SAFETY: initialised places are places, and nothing but records is ever
    // written to them.
    let there = unsafe { &mut *(std::ptr::from_mut(there) as *mut [MaybeUninit<R>]) };
    sort(here, there, finish.end, finish.threads);
}
