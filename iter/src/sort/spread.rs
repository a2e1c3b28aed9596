//! The stable sort on many threads: chunks are sorted, and then all are merged at once.
//!
//! ```text
//!   v:    [ chunk | chunk | chunk | chunk ]     each sorted, and copied to the room
//!   room: [ x  :  | x  :  | x  :  | x  :  ]     a pivot parts every run in two
//!            └──┬──────┴───────┴───────┘
//!   v:    [ all x, in order | the rest    ]     each half by itself, and so on
//! ```
//!
//! Merging two by two takes a round for each doubling, and at the end of each round all threads wait for the
//! last. Here they meet twice: after the chunks, and at the end. A part of the merge is cut where a pivot of
//! its own would stand in each of its runs, until the part is short; then one thread merges its runs two by
//! two, in memory that stays near. Equal elements have the order of their places: elements equal to the pivot
//! belong before it if they lie to its left, and behind it if they lie to its right. So even many equal
//! elements are cut apart.
//!
//! The runs of a part belong to that part alone: no element is ever looked at by two threads. Until they are
//! merged, the values of a part are in the room, and `v` holds stale bytes. However a part ends, it brings them
//! home, sorted or not.

use std::cmp::Ordering;
use std::hint::select_unpredictable;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use tine_pool::loops::requested;

use super::{fork, merge, scratch::Scratch};

/// A pivot is the median of this many elements.
const SAMPLE: usize = 31;

/// Sorts `v` by `leaf` in `chunks` chunks and merges those through `room`, which is as long, in parts
/// that are no longer than `grain`. If a comparison panics, `v` holds all its elements, in some order.
pub(super) fn sort<T, F, L>(
    v: &mut [T],
    room: &mut [MaybeUninit<T>],
    (chunks, grain): (usize, usize),
    threads: usize,
    compare: &F,
    leaf: &L,
) where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
    L: Fn(&mut [T]) + Sync,
{
    assert_eq!(v.len(), room.len());
    let length = v.len().div_ceil(chunks).max(1);
    let mut all = v.chunks_mut(length).zip(room.chunks_mut(length));
    // Every chunk is copied, also if the sort is to stop: the code below relies on it.
    let chunk = |(chunk, copy): (&mut [T], &mut [MaybeUninit<T>])| {
        if !requested() {
            leaf(chunk);
        }
        merge::copy_out(chunk, copy, usize::MAX);
    };
    fork::claimed(threads, || all.next(), &chunk);
    let len = v.len();
    // SAFETY: as long as `room`, and every chunk of it was filled.
    let values = unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast::<T>(), len) };
    // SAFETY: a slice of values may be written as places; every `Part` leaves a value in each of its own
    // places, and together the parts have all places.
    let to = unsafe { std::slice::from_raw_parts_mut(v.as_mut_ptr().cast(), len) };
    let runs = values.chunks_mut(length).collect();
    fork::course(|| spread(Part { runs, to }, grain, compare, leaf));
}

/// Sorts a part: its halves in parallel, if it is long.
fn spread<T, F, L>(part: Part<'_, T>, grain: usize, compare: &F, leaf: &L)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
    L: Fn(&mut [T]) + Sync,
{
    // One run is in order once it is home.
    if part.runs.len() < 2 || requested() {
        return;
    }
    let cut = match part.to.len() <= grain.max(SAMPLE) {
        true => None,
        false => part.middle(compare),
    };
    match cut {
        None => match Scratch::new(part.to.len()) {
            Some(mut spare) => Rows::new(part, spare.room()).merge_all(compare),
            None => leaf(part.together()),
        },
        Some(ends) => {
            let (left, right) = part.cut(&ends);
            fork::open(
                || spread(left, grain, compare, leaf),
                || spread(right, grain, compare, leaf),
            );
        }
    }
}

/// Sorted runs, and the place where they go. When dropped, it puts their values there, one run after the other.
struct Part<'v, T> {
    runs: Vec<&'v mut [T]>,
    to: &'v mut [MaybeUninit<T>],
}

impl<'v, T> Part<'v, T> {
    /// Where each run is to be cut, so that the elements before the cuts belong before those behind; `None` if
    /// one side would be short.
    fn middle<F: Fn(&T, &T) -> Ordering>(&self, compare: &F) -> Option<Vec<usize>> {
        let (number, index) = self.pivot(compare);
        let pivot = &self.runs[number][index];
        let (left, right) = self.runs.split_at(number);
        let mut ends = search(left, &|x| compare(pivot, x).is_ge());
        ends.push(index);
        ends.append(&mut search(&right[1..], &|x| compare(x, pivot).is_lt()));
        let before: usize = ends.iter().sum();
        let least = before.min(self.to.len() - before);
        (least >= self.to.len() / 8).then_some(ends)
    }

    /// The run and the index of the median of a sample.
    fn pivot<F: Fn(&T, &T) -> Ordering>(&self, compare: &F) -> (usize, usize) {
        let mut sample = [(0, 0); SAMPLE];
        let part = self.to.len() / SAMPLE;
        let (mut number, mut start) = (0, 0);
        for i in 0..SAMPLE {
            // Anywhere in each part, since no run has its own place there.
            let at = i * part + (i.wrapping_mul(0x9E37_79B9) >> 8) % part;
            while at - start >= self.runs[number].len() {
                start += self.runs[number].len();
                number += 1;
            }
            let place = (number, at - start);
            let (mut low, mut high) = (0, i);
            while low < high {
                let middle = low + (high - low) / 2;
                let (number, index) = sample[middle];
                if compare(&self.runs[place.0][place.1], &self.runs[number][index]).is_lt() {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            sample.copy_within(low..i, low + 1);
            sample[low] = place;
        }
        sample[SAMPLE / 2]
    }

    /// Cuts each run at its entry in `ends`.
    fn cut(mut self, ends: &[usize]) -> (Self, Self) {
        let runs = std::mem::take(&mut self.runs);
        let to = std::mem::take(&mut self.to);
        let (mut left, mut right) = (
            Vec::with_capacity(runs.len()),
            Vec::with_capacity(runs.len()),
        );
        for (run, &end) in runs.into_iter().zip(ends) {
            let (before, behind) = run.split_at_mut(end);
            for (run, side) in [(before, &mut left), (behind, &mut right)] {
                if !run.is_empty() {
                    side.push(run);
                }
            }
        }
        let (before, behind) = to.split_at_mut(ends.iter().sum());
        let left = Part {
            runs: left,
            to: before,
        };
        let right = Part {
            runs: right,
            to: behind,
        };
        (left, right)
    }

    /// Brings the values home.
    fn together(mut self) -> &'v mut [T] {
        self.bring();
        self.runs.clear();
        let to = std::mem::take(&mut self.to);
        let len = to.len();
        // SAFETY: the runs are together as long as `to`, and they have filled all of it.
        unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr().cast(), len) }
    }

    fn bring(&mut self) {
        let mut to = self.to.as_mut_ptr().cast::<T>();
        for run in &mut self.runs {
            // SAFETY: the runs together are as long as `to`, and lie in other memory.
            unsafe { ptr::copy_nonoverlapping(run.as_ptr(), to, run.len()) };
            to = to.wrapping_add(run.len());
        }
    }
}

impl<T> Drop for Part<'_, T> {
    fn drop(&mut self) {
        self.bring();
    }
}

/// How many elements of each run are `before` the pivot. All runs are searched in step, since the processor can
/// wait for many elements at once; most of them are not in a near cache.
fn search<T>(runs: &[&mut [T]], before: &impl Fn(&T) -> bool) -> Vec<usize> {
    let mut ends = vec![0; runs.len()];
    let longest = runs.iter().map(|run| run.len()).max().unwrap_or(0);
    let mut step = (longest + 1).next_power_of_two() / 2;
    while step > 0 {
        for (end, run) in ends.iter_mut().zip(runs) {
            let further = *end + step;
            if let Some(last) = run.get(further - 1) {
                *end = select_unpredictable(before(last), further, *end);
            }
        }
        step /= 2;
    }
    ends
}

/// Runs that one thread merges two by two, from one place to the other:
///
/// ```text
///   runs:  [ a ] [ b ] [ c ] [ d ] [ e ]     wherever they are
///   spare: [   a+b   |   c+d   |   e   ]     each where it will be in the end, or its like
///   to:    [       a+b+c+d     |   e   ]
///   spare: [          all              ]
/// ```
///
/// The first target is chosen so that the last target is `to`. When dropped, it brings the values home.
struct Rows<'v, T> {
    /// Each run, in order: the merged runs of this round, and behind them those that the last round left.
    runs: Vec<(*mut T, usize)>,
    to: *mut T,
    spare: *mut T,
    places: PhantomData<&'v mut [T]>,
}

impl<'v, T> Rows<'v, T> {
    fn new(mut part: Part<'v, T>, spare: &'v mut [MaybeUninit<T>]) -> Self {
        assert_eq!(part.to.len(), spare.len());
        let runs = std::mem::take(&mut part.runs);
        let to = std::mem::take(&mut part.to).as_mut_ptr().cast();
        let runs = runs.into_iter().map(|run| (run.as_mut_ptr(), run.len()));
        let runs = runs.collect();
        let spare = spare.as_mut_ptr().cast();
        let places = PhantomData;
        Rows {
            runs,
            to,
            spare,
            places,
        }
    }

    fn merge_all<F>(mut self, compare: &F)
    where
        T: Send,
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        let rounds = self.runs.len().next_power_of_two().trailing_zeros();
        for left in (0..rounds).rev() {
            let home = left % 2 == 0;
            self.round(if home { self.to } else { self.spare }, compare);
        }
    }

    /// Merges pairs into `target`, where no run lies.
    fn round<F>(&mut self, target: *mut T, compare: &F)
    where
        T: Send,
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        let mut at = target;
        for pair in (0..self.runs.len()).step_by(2) {
            let (a, a_len) = self.runs[pair];
            let (b, b_len) = *self.runs.get(pair + 1).unwrap_or(&(ptr::dangling_mut(), 0));
            // SAFETY: a run is initialised, and no other reference leads there.
            let a = unsafe { std::slice::from_raw_parts_mut(a, a_len) };
            // SAFETY: as above, or the run is empty; the runs lie apart.
            let b = unsafe { std::slice::from_raw_parts_mut(b, b_len) };
            // SAFETY: all runs together are as long as the target, and those merged so far are as long as the
            // part before `at`; and none of the runs that are left lies there.
            let dst = unsafe { std::slice::from_raw_parts_mut(at.cast(), a_len + b_len) };
            merge::merge(a, b, dst, usize::MAX, compare);
            // From here on the values are there.
            self.runs[pair] = (at, a_len + b_len);
            if let Some(run) = self.runs.get_mut(pair + 1) {
                run.1 = 0;
            }
            at = at.wrapping_add(a_len + b_len);
        }
        self.runs.retain(|run| run.1 > 0);
    }
}

impl<T> Drop for Rows<'_, T> {
    fn drop(&mut self) {
        let mut to = self.to;
        for &(run, len) in &self.runs {
            // A run that already lies in its place is not copied.
            if run != to {
                // SAFETY: the runs together are as long as `to`, and this one lies in other memory.
                unsafe { ptr::copy_nonoverlapping(run, to, len) };
            }
            to = to.wrapping_add(len);
        }
    }
}
