//! Partitions a slice in place by a predicate, without a branch on its answer. Narrow elements are moved one by
//! one. Others are moved block by block: the positions of the misplaced elements are recorded, and then those
//! elements are exchanged in pairs.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

use crate::plumbing::halves;

use super::flat;

/// Positions within a block fit a byte, and two blocks of them a cache line or so.
const BLOCK: usize = 128;

/// An element this narrow is moved in less time than it takes to record its position.
const NARROW: usize = 8;

/// Puts the elements that satisfy `left` first and returns their number.
/// Whatever `left` says, or if it panics, elements only change places.
pub(super) fn partition<T>(v: &mut [T], left: impl FnMut(&T) -> bool) -> usize {
    if const { size_of::<T>() <= NARROW } {
        one_by_one(v, left)
    } else {
        by_blocks(v, left)
    }
}

/// Each element changes places with the first element of the right side, and then belongs to the right side or
/// not.
fn one_by_one<T>(v: &mut [T], mut left: impl FnMut(&T) -> bool) -> usize {
    let mut end = 0;
    for at in 0..v.len() {
        let goes_left = left(&v[at]);
        v.swap(end, at);
        end += usize::from(goes_left);
    }
    end
}

/// [`partition`] that leaves most elements where they are: it records the misplaced elements in a block at the
/// front and in a block at the back, and exchanges those.
pub(super) fn by_blocks<T>(v: &mut [T], mut left: impl FnMut(&T) -> bool) -> usize {
    let (mut l, mut r) = (0, v.len());
    let (mut on_left, mut on_right) = (Misplaced::default(), Misplaced::default());
    while r - l > 2 * BLOCK {
        if on_left.is_empty() {
            let block = &v[l..l + BLOCK];
            on_left.note(block.len(), |i| !left(&block[i]));
        }
        if on_right.is_empty() {
            let block = &v[r - BLOCK..r];
            on_right.note(block.len(), |i| left(&block[block.len() - 1 - i]));
        }
        let (front, back) = v[l..r].split_at_mut(BLOCK);
        exchange(front, back, &mut on_left, &mut on_right);
        if on_left.is_empty() {
            l += BLOCK;
        }
        if on_right.is_empty() {
            r -= BLOCK;
        }
    }
    // Two blocks are left, one of which may have been looked at.
    let rest = r - l;
    let middle = l + match (on_left.is_empty(), on_right.is_empty()) {
        (false, _) => BLOCK,
        (_, false) => rest - BLOCK,
        _ => rest / 2,
    };
    if on_left.is_empty() {
        let block = &v[l..middle];
        on_left.note(block.len(), |i| !left(&block[i]));
    }
    if on_right.is_empty() {
        let block = &v[middle..r];
        on_right.note(block.len(), |i| left(&block[block.len() - 1 - i]));
    }
    let (front, back) = v[l..r].split_at_mut(middle - l);
    exchange(front, back, &mut on_left, &mut on_right);
    // One side may have misplaced elements left. Those nearest to the middle go first, to the place next to the
    // middle, and the middle moves over them.
    let mut middle = middle;
    for i in on_left.take(on_left.len()).rev() {
        middle -= 1;
        v.swap(l + usize::from(i), middle);
    }
    for i in on_right.take(on_right.len()).rev() {
        v.swap(r - 1 - usize::from(i), middle);
        middle += 1;
    }
    middle
}

/// [`partition`] for few misplaced elements: nothing is recorded for stretches without any.
pub(super) fn sparse<T>(v: &mut [T], mut left: impl FnMut(&T) -> bool) -> usize {
    const STRETCH: usize = 16;
    let (mut l, mut r) = (0, v.len());
    loop {
        while r - l > STRETCH && sides(&v[l..l + STRETCH], &mut left).1 {
            l += STRETCH;
        }
        while r - l > STRETCH && !sides(&v[r - STRETCH..r], &mut left).0 {
            r -= STRETCH;
        }
        if r - l <= 2 * STRETCH {
            return l + partition(&mut v[l..r], left);
        }
        // One or more on both sides, with a branch for each: it is seldom taken.
        let (mut i, mut j) = (l, r - 1);
        let (l_end, r_end) = (l + STRETCH, r - STRETCH);
        loop {
            while i < l_end && left(&v[i]) {
                i += 1;
            }
            while j >= r_end && !left(&v[j]) {
                j -= 1;
            }
            if i == l_end || j < r_end {
                break;
            }
            v.swap(i, j);
            (i, j) = (i + 1, j - 1);
        }
        (l, r) = (i, j + 1);
    }
}

/// Whether any of these elements belong to the left, and whether all do. This is a loop, and not folds over an
/// iterator: their parts would be compiled for each type and closure.
#[inline(always)]
fn sides<T>(v: &[T], left: &mut impl FnMut(&T) -> bool) -> (bool, bool) {
    let (mut any, mut all) = (false, true);
    let mut i = 0;
    while i < v.len() {
        let is_left = left(&v[i]);
        any |= is_left;
        all &= is_left;
        i += 1;
    }
    (any, all)
}

/// Exchanges misplaced elements between the block at the start of `front` and the block at the end of `back`,
/// as many as have a partner.
#[inline(always)]
fn exchange<T>(front: &mut [T], back: &mut [T], on_left: &mut Misplaced, on_right: &mut Misplaced) {
    let pairs = on_left.len().min(on_right.len());
    let last = back.len().wrapping_sub(1);
    for (i, j) in on_left.take(pairs).zip(on_right.take(pairs)) {
        std::mem::swap(&mut front[usize::from(i)], &mut back[last - usize::from(j)]);
    }
}

/// The misplaced elements of a block, as distances from its outer end.
struct Misplaced {
    at: [u8; BLOCK],
    next: usize,
    end: usize,
}

impl Default for Misplaced {
    fn default() -> Self {
        Misplaced {
            at: [0; BLOCK],
            next: 0,
            end: 0,
        }
    }
}

impl Misplaced {
    fn len(&self) -> usize {
        self.end - self.next
    }

    fn is_empty(&self) -> bool {
        self.next == self.end
    }

    /// Records a new block of `len` elements, numbered from its outer end.
    #[inline(always)]
    fn note(&mut self, len: usize, mut misplaced: impl FnMut(usize) -> bool) {
        let mut end = 0;
        // Not by iterators: their parts are compiled for each type and closure.
        let mut i = 0;
        while i < len.min(BLOCK) {
            self.at[end % BLOCK] = i as u8;
            end += usize::from(misplaced(i));
            i += 1;
        }
        (self.next, self.end) = (0, end);
    }

    fn take(&mut self, number: usize) -> impl DoubleEndedIterator<Item = u8> + ExactSizeIterator {
        let from = self.next;
        self.next += number;
        self.at[from..self.next].iter().copied()
    }
}

/// Whether an element is less than the pivot. There is a single closure for all that partition by it, so that
/// each way of partitioning is compiled once.
pub(super) fn before<T, F>(compare: &F, pivot: &T) -> impl Fn(&T) -> bool
where
    F: Fn(&T, &T) -> Ordering,
{
    move |x| compare(x, pivot).is_lt()
}

/// Partitions `v` on two threads by its first element, and returns the index of the boundary: behind the
/// elements that are less, before the others. The other half needs a pivot equal to this one, since no two
/// threads may look at one element. If there is no equal element, returns `None` and leaves `v` alone.
pub(super) fn in_two<T, F>(v: &mut [T], compare: &F) -> Option<usize>
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    /// The number of elements that are searched for an equal one.
    const LOOKS: usize = 64;
    let half = v.len() / 2;
    if half == 0 {
        return None;
    }
    let mut places = (half..v.len()).step_by((half / LOOKS).max(1));
    let equal = places.find(|&at| compare(&v[0], &v[at]).is_eq())?;
    v.swap(half, equal);
    let (front, back) = v.split_at_mut(half);
    let grain = back.len() / 2;
    let part = |v: &mut [T]| {
        let (pivot, rest) = v.split_first_mut().expect("half of two or more");
        let less = partition(rest, before(compare, pivot));
        v.swap(0, less);
        less
    };
    let (mut a, mut b) = (0, 0);
    halves(|| a = part(front), || b = part(back));
    let exchanged = (half - a).min(b);
    flat::swap(
        &mut front[a..a + exchanged],
        &mut back[b - exchanged..b],
        grain.max(1),
    );
    // The front's pivot is the first of the exchanged elements, if any were exchanged.
    let pivot = match exchanged {
        0 => a,
        _ => half + b - exchanged,
    };
    v.swap(a + b, pivot);
    Some(a + b)
}

/// [`partition`] in parallel. The parts are partitioned; then the back of each left part changes places with
/// the front of the right part.
pub(super) fn par_partition<T, P>(v: &mut [T], grain: usize, left: &P) -> usize
where
    T: Send,
    P: Fn(&T) -> bool + Sync,
{
    if v.len() <= grain.max(2 * BLOCK) {
        return partition(v, left);
    }
    let half = v.len() / 2;
    let (front, back) = v.split_at_mut(half);
    let (mut a, mut b) = (0, 0);
    halves(
        || a = par_partition(front, grain, left),
        || b = par_partition(back, grain, left),
    );
    let exchanged = (half - a).min(b);
    flat::swap(
        &mut front[a..a + exchanged],
        &mut back[b - exchanged..b],
        grain,
    );
    a + b
}
