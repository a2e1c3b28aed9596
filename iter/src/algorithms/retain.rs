//! Removing elements of a vector in place, in order.
//!
//! The places of the vector are the items of a loop. A contiguous piece of them moves the elements
//! that stay towards its own first place as it goes. When it ends, even by a panic, it reports
//! which of its places are empty. There is one such gap for each piece that another thread took. So
//! little is left for the end, which moves the elements behind each gap over it. A lone piece
//! leaves nothing to move.

use std::mem::needs_drop;
use std::ops::Range;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use crate::convert::IntoParallelIterator;
use crate::kit::gather::Gather;
use crate::kit::sink::{Sink, drain};
use crate::plumbing::both;

/// Moves of fewer bytes are not shared.
const ALONE: usize = if cfg!(miri) { 1 << 8 } else { 1 << 18 };

/// Removing elements of vectors in place, in parallel and in order.
///
/// ```
/// use tine::algorithms::ParallelRetain;
///
/// let mut v: Vec<u32> = (0..10).collect();
/// v.par_retain(|x| x % 3 > 0);
/// assert_eq!(v, [1, 2, 4, 5, 7, 8]);
/// ```
pub trait ParallelRetain<T: Send> {
    /// Drops all elements that do not satisfy `keep`; the others stay in their order, as with
    /// [`Vec::retain`].
    ///
    /// If `keep` panics, or the `drop` of an element does, the elements that were not asked about
    /// yet stay.
    ///
    /// ```
    /// use tine::algorithms::ParallelRetain;
    ///
    /// let mut words = vec!["a", "fork", "has", "tines"];
    /// words.par_retain(|word| word.len() > 3);
    /// assert_eq!(words, ["fork", "tines"]);
    /// ```
    fn par_retain<F>(&mut self, keep: F)
    where
        F: Fn(&T) -> bool + Sync;

    /// [`par_retain`](ParallelRetain::par_retain) with a closure that may change the elements.
    ///
    /// ```
    /// use tine::algorithms::ParallelRetain;
    ///
    /// let mut lives = vec![3, 1, 2];
    /// lives.par_retain_mut(|left| {
    ///     *left -= 1;
    ///     *left > 0
    /// });
    /// assert_eq!(lives, [2, 1]);
    /// ```
    fn par_retain_mut<F>(&mut self, keep: F)
    where
        F: Fn(&mut T) -> bool + Sync;
}

impl<T: Send> ParallelRetain<T> for Vec<T> {
    fn par_retain<F>(&mut self, keep: F)
    where
        F: Fn(&T) -> bool + Sync,
    {
        retain(self, &|value: &mut T| keep(value));
    }

    fn par_retain_mut<F>(&mut self, keep: F)
    where
        F: Fn(&mut T) -> bool + Sync,
    {
        retain(self, &keep);
    }
}

fn retain<T: Send, F: Fn(&mut T) -> bool + Sync>(v: &mut Vec<T>, keep: &F) {
    let mut ranks = Ranks::new(v);
    let places = Places {
        start: ranks.vec.as_mut_ptr(),
        gaps: &ranks.gaps,
    };
    drain((0..ranks.len).into_par_iter(), &Retain { places, keep });
    ranks.shares = true;
}

/// A vector with gaps.
struct Ranks<'v, T: Send> {
    vec: &'v mut Vec<T>,
    /// How many elements it had.
    len: usize,
    gaps: Mutex<Vec<Range<usize>>>,
    /// Whether closing ranks may be shared: not while a panic is under way.
    shares: bool,
}

impl<'v, T: Send> Ranks<'v, T> {
    fn new(vec: &'v mut Vec<T>) -> Self {
        let len = vec.len();
        // SAFETY: fewer than before. `drop` speaks for the elements again.
        unsafe { vec.set_len(0) };
        Ranks {
            vec,
            len,
            gaps: Mutex::default(),
            shares: false,
        }
    }
}

impl<T: Send> Drop for Ranks<'_, T> {
    /// Closes ranks: every place outside the gaps holds an element.
    fn drop(&mut self) {
        let gaps = self.gaps.get_mut().unwrap_or_else(PoisonError::into_inner);
        gaps.sort_unstable_by_key(|gap| gap.start);
        let start = self.vec.as_mut_ptr();
        let mut end = gaps.first().map_or(self.len, |gap| gap.start);
        for (at, gap) in gaps.iter().enumerate() {
            let next = gaps.get(at + 1).map_or(self.len, |next| next.start);
            let block = Block {
                from: start.wrapping_add(gap.end),
                to: start.wrapping_add(end),
                len: next - gap.end,
            };
            // SAFETY: the elements between two gaps, all within the vector, move to an earlier place: over
            // empty places, and over places that they have left themselves.
            unsafe { block.slide(gap.end - end, self.shares) };
            end += next - gap.end;
        }
        // SAFETY: `end` elements stand side by side now, and none elsewhere.
        unsafe { self.vec.set_len(end) };
    }
}

/// Elements on their way to an earlier place.
struct Block<T> {
    from: *mut T,
    to: *mut T,
    len: usize,
}

// SAFETY: the thread that has the block may move its elements, as if they were in a vector.
unsafe impl<T: Send> Send for Block<T> {}

impl<T: Send> Block<T> {
    /// Moves all elements `by` places down.
    ///
    /// # Safety
    /// All places, old and new, are of one vector. Those of `from` hold elements, which are not
    /// used at their old place afterwards. Those of `to` that are not of `from` hold none.
    unsafe fn slide(self, by: usize, shares: bool) {
        if by == 0 {
            return;
        }
        let alone = ALONE / size_of::<T>().max(1);
        if !shares || self.len < alone || by < alone {
            // SAFETY: the caller vouches for it.
            return unsafe { ptr::copy(self.from, self.to, self.len) };
        }
        let mut rest = self;
        while rest.len > 0 {
            // They are as far apart as the number moved, so these places do not overlap.
            let (some, later) = rest.cut(by);
            // SAFETY: the lower places first, so each move is over places that are empty by now.
            unsafe { some.leap(alone) };
            rest = later;
        }
    }

    /// Moves all elements over places that are all empty.
    ///
    /// # Safety
    /// As for `slide`; and the two do not overlap.
    unsafe fn leap(self, alone: usize) {
        if self.len <= alone {
            // SAFETY: the caller vouches for it.
            return unsafe { ptr::copy_nonoverlapping(self.from, self.to, self.len) };
        }
        let half = self.len / 2;
        let (near, far) = self.cut(half);
        both(
            // SAFETY: a part of the places that the caller vouches for.
            move || unsafe { near.leap(alone) },
            // SAFETY: the other part.
            move || unsafe { far.leap(alone) },
        );
    }

    /// The first `n` elements (or all), and the others.
    fn cut(self, n: usize) -> (Self, Self) {
        let n = n.min(self.len);
        let later = Block {
            from: self.from.wrapping_add(n),
            to: self.to.wrapping_add(n),
            len: self.len - n,
        };
        (Block { len: n, ..self }, later)
    }
}

/// The places of a vector, and where pieces report their gaps.
struct Places<'r, T> {
    start: *mut T,
    gaps: &'r Mutex<Vec<Range<usize>>>,
}

impl<T> Clone for Places<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Places<'_, T> {}

/// The sink of places, which moves what they hold.
struct Retain<'r, T, F> {
    places: Places<'r, T>,
    keep: &'r F,
}

// SAFETY: elements are reached only through the places that a thread gets as items, each once, and through the
// places before them in the same piece. So elements change threads and are never shared.
unsafe impl<T: Send, F: Sync> Sync for Retain<'_, T, F> {}

/// A piece of the places. Those before `kept` hold elements that stay, those from `kept` to `next`
/// are empty, and those from `next` on hold elements that were not asked about yet.
struct Piece<'r, T> {
    places: Places<'r, T>,
    kept: usize,
    next: usize,
}

impl<T> Piece<'_, T> {
    /// Goes on at `at`, which is `next` unless the piece has just begun.
    #[inline]
    fn go_on(&mut self, at: usize) {
        if self.next != at {
            self.tell();
            (self.kept, self.next) = (at, at);
        }
    }

    /// Asks about the next element, and moves it up or drops it.
    #[inline]
    fn ask(&mut self, keep: &impl Fn(&mut T) -> bool) {
        let place = self.places.start.wrapping_add(self.next);
        // SAFETY: an element of this piece that was not asked about before.
        let element = unsafe { &mut *place };
        let stays = keep(element);
        let to = self.places.start.wrapping_add(self.kept);
        if needs_drop::<T>() && !stays {
            // The element does not belong to the piece any more, even if its `drop` panics.
            self.next += 1;
            // SAFETY: asked about, and not kept: `next` has passed it.
            unsafe { ptr::drop_in_place(place) };
            return;
        }
        // Without a branch: the place of an element that is dropped is overwritten by the next element that is
        // kept.
        // SAFETY: to the first empty place, or onto itself.
        unsafe { ptr::copy(place, to, 1) };
        self.kept += usize::from(stays);
        self.next += 1;
    }

    /// Reports which places are empty.
    fn tell(&self) {
        if self.kept < self.next {
            let gaps = self.places.gaps.lock();
            let mut gaps = gaps.unwrap_or_else(PoisonError::into_inner);
            gaps.push(self.kept..self.next);
        }
    }
}

impl<T> Drop for Piece<'_, T> {
    fn drop(&mut self) {
        self.tell();
    }
}

impl<'r, T: Send, F: Fn(&mut T) -> bool + Sync> Gather<usize> for Retain<'r, T, F> {
    type State = Piece<'r, T>;
    type Out = ();

    fn start(&self) -> Piece<'r, T> {
        Piece {
            places: self.places,
            kept: 0,
            next: 0,
        }
    }

    #[inline]
    fn take(&self, mut piece: Piece<'r, T>, at: usize) -> Piece<'r, T> {
        piece.go_on(at);
        piece.ask(self.keep);
        piece
    }

    #[inline]
    fn take_all(
        &self,
        mut piece: Piece<'r, T>,
        items: impl Iterator<Item = usize>,
    ) -> Piece<'r, T> {
        items.for_each(|at| {
            piece.go_on(at);
            piece.ask(self.keep);
        });
        piece
    }

    fn finish(&self, _: Piece<'r, T>) {}
}

impl<T: Send, F: Fn(&mut T) -> bool + Sync> Sink<usize> for Retain<'_, T, F> {
    fn merge(&self, (): (), (): ()) {}
}
