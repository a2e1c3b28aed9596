//! Moving the elements of a slice into numbered buckets, each keeping the old order.
//!
//! The elements are counted in pieces of a few thousand. So each piece knows its stretch of each
//! bucket in a spare vector, and moves its elements there without asking the other pieces. Moves
//! are copies of bits until everything is in place. If anything panics before that, the slice is as
//! it was, and the spare vector holds nothing. So a stopped token may end it as well.

use std::iter;
use std::mem::MaybeUninit;
use std::ptr;
use std::slice::IterMut;

use tine_pool::current_num_threads;
use tine_pool::loops::sheltered;

use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::{Strides, look};
use crate::sources::slice::ParallelSliceMut;

/// The fewest elements of a piece, and how many times as many as buckets it has.
const PIECE: usize = if cfg!(miri) { 1 << 6 } else { 1 << 14 };
const PER_BUCKET: usize = 8;
/// The message when the second answer differs.
pub(super) const CHANGED: &str = "the bucket of an element should not change";
/// The most pieces for each thread.
const PER_THREAD: usize = 4;

/// Moves every element to the bucket that `bucket` names for it and its position. Returns where the
/// buckets begin, with the length at the end. Asks twice about each element.
///
/// # Panics
/// If a number is not less than `buckets`, or differs the second time; the slice is then as it was.
pub(super) fn scatter<T, B>(v: &mut [T], buckets: usize, bucket: &B) -> Vec<usize>
where
    T: Send,
    B: Fn(usize, &T) -> usize + Sync,
{
    let len = v.len();
    let size = (len / (current_num_threads() * PER_THREAD))
        .max(PIECE)
        .max(buckets.saturating_mul(PER_BUCKET));
    if len <= size {
        return alone(v, buckets, bucket);
    }
    let counts = count(v, size, buckets, bucket);
    let mut starts = vec![0; buckets + 1];
    for (at, start) in starts.iter_mut().skip(1).enumerate() {
        *start = counts.iter().map(|counts| counts[at]).sum();
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut spare = Vec::with_capacity(len);
    hand_out(
        v,
        size,
        &counts,
        &mut spare.spare_capacity_mut()[..len],
        bucket,
    );
    // SAFETY: `hand_out` has filled the room with the bits of the elements of `v`, each once.
    unsafe { take_back(v, spare.spare_capacity_mut()) };
    starts
}

/// [`scatter`] on one thread.
fn alone<T, B>(v: &mut [T], buckets: usize, bucket: &B) -> Vec<usize>
where
    T: Send,
    B: Fn(usize, &T) -> usize + Sync,
{
    let _look = look();
    let len = v.len();
    let mut starts = vec![0; buckets + 1];
    for (from, stretch) in stretches_of(v) {
        for (i, element) in stretch.iter().enumerate() {
            let bucket = bucket(from + i, element);
            assert!(bucket < buckets, "bucket {bucket} of {buckets}");
            starts[bucket + 1] += 1;
        }
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut next = starts.clone();
    let mut spare = Vec::with_capacity(len);
    let room = &mut spare.spare_capacity_mut()[..len];
    for (from, stretch) in stretches_of(v) {
        for (i, element) in stretch.iter().enumerate() {
            let bucket = bucket(from + i, element);
            let place = next[bucket];
            assert!(place < starts[bucket + 1], "{CHANGED}");
            next[bucket] += 1;
            // SAFETY: the bits of an element, which is not dropped as a value unless it is copied back
            // over those in `v`.
            room[place] = MaybeUninit::new(unsafe { ptr::read(element) });
        }
    }
    // SAFETY: as many places were written as there are, each once: none beyond its bucket.
    unsafe { take_back(v, spare.spare_capacity_mut()) };
    starts
}

/// All of `v`, in stretches with a look at tokens before each, and where each begins.
fn stretches_of<T>(v: &[T]) -> impl Iterator<Item = (usize, &[T])> {
    let mut strides = Strides::new();
    let mut from = 0;
    iter::from_fn(move || {
        let start = from;
        let rest = v.get(start..).filter(|rest| !rest.is_empty())?;
        from += strides.next(rest.len());
        Some((start, &v[start..from]))
    })
}

/// How many elements of each piece go into each bucket.
fn count<T, B>(v: &mut [T], size: usize, buckets: usize, bucket: &B) -> Vec<Vec<usize>>
where
    T: Send,
    B: Fn(usize, &T) -> usize + Sync,
{
    let pieces = v.par_chunks_mut(size).enumerate();
    let count = |(number, piece): (usize, &mut [T])| {
        let mut counts = vec![0; buckets];
        for (from, stretch) in stretches_of(piece) {
            for (i, element) in stretch.iter().enumerate() {
                let bucket = bucket(number * size + from + i, element);
                assert!(bucket < buckets, "bucket {bucket} of {buckets}");
                counts[bucket] += 1;
            }
        }
        counts
    };
    pieces.map(count).collect()
}

/// Copies every element to the next place of its bucket.
///
/// # Panics
/// If `bucket` does not name the same buckets as often as when the elements of the piece were
/// counted. Otherwise each place of `room` is written.
fn hand_out<T, B>(
    v: &mut [T],
    size: usize,
    counts: &[Vec<usize>],
    mut room: &mut [MaybeUninit<T>],
    bucket: &B,
) where
    T: Send,
    B: Fn(usize, &T) -> usize + Sync,
{
    let buckets = counts.first().map_or(0, Vec::len);
    let mut stretches: Vec<Vec<IterMut<'_, MaybeUninit<T>>>> =
        counts.iter().map(|_| Vec::with_capacity(buckets)).collect();
    for bucket in 0..buckets {
        for (counts, stretches) in counts.iter().zip(&mut stretches) {
            let stretch = room.split_off_mut(..counts[bucket]);
            let stretch = stretch.expect("as many places as were counted");
            stretches.push(stretch.iter_mut());
        }
    }
    assert!(room.is_empty(), "each element was counted");
    let pieces = v.par_chunks_mut(size).zip(stretches).enumerate();
    pieces.for_each(|(number, (piece, mut stretches))| {
        for (from, stretch) in stretches_of(piece) {
            for (i, element) in stretch.iter().enumerate() {
                let bucket = bucket(number * size + from + i, element);
                let place = stretches.get_mut(bucket).and_then(Iterator::next);
                let place = place.expect(CHANGED);
                // SAFETY: the bits of an element, which is not dropped as a value unless it is copied
                // back over those in `v`.
                *place = MaybeUninit::new(unsafe { ptr::read(element) });
            }
        }
        // There are as many places as elements, and none lies beyond its stretch: all have been written.
    });
}

/// Copies everything back.
///
/// # Safety
/// `room` holds, in some order, the bits of each element of `v` once.
unsafe fn take_back<T: Send>(v: &mut [T], room: &mut [MaybeUninit<T>]) {
    let some = PIECE.max(1);
    let pieces = v.par_chunks_mut(some).zip(room.par_chunks_mut(some));
    let copy = |(piece, room): (&mut [T], &mut [MaybeUninit<T>])| {
        let from = room.as_ptr().cast::<T>();
        // SAFETY: initialised: the caller vouches for it. The values that are overwritten live on at another
        // place. `zip` cuts both alike, and `len` is the length of the shorter.
        unsafe { ptr::copy_nonoverlapping(from, piece.as_mut_ptr(), piece.len().min(room.len())) };
    };
    // All or nothing: no stopped token ends the copy in the middle.
    sheltered(|| pieces.for_each(copy));
}
