//! The things that are cut into pieces: `&[T]`, `&mut [T]` and `&str` behind one trait, and the
//! producer of equal pieces.
#![forbid(unsafe_code)]

use crate::kit::reshape::reach;
use crate::plumbing::{Again, Producer};

/// Something contiguous that can be cut in two.
pub(crate) trait Body: Sized + Send {
    /// Its length, in elements or bytes.
    fn size(&self) -> usize;

    /// The first place from `at` on where a cut is allowed.
    fn boundary(&self, at: usize) -> usize {
        at
    }

    /// Both sides of the cut before `at`.
    fn cut(self, at: usize) -> (Self, Self);

    /// Whether it is borrowed for reading.
    const SHARED: bool;

    /// A second reference to it, if it is.
    fn shared(&self) -> Self {
        unreachable!("what is borrowed exclusively cannot be had twice")
    }
}

impl<T: Sync> Body for &[T] {
    const SHARED: bool = true;

    fn shared(&self) -> Self {
        self
    }

    fn size(&self) -> usize {
        self.len()
    }

    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at(at)
    }
}

impl<T: Send> Body for &mut [T] {
    const SHARED: bool = false;

    fn size(&self) -> usize {
        self.len()
    }

    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }
}

impl Body for &str {
    const SHARED: bool = true;

    fn shared(&self) -> Self {
        self
    }

    fn size(&self) -> usize {
        self.len()
    }

    fn boundary(&self, at: usize) -> usize {
        let mut at = at;
        while !self.is_char_boundary(at) {
            at += 1;
        }
        at
    }

    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at(at)
    }
}

/// Produces the results of `each` for parts of a body: items of `step` elements each, counted from
/// the front, or with `BACK` from the back.
pub(crate) struct Even<B, F, const BACK: bool> {
    pub(crate) body: B,
    pub(crate) step: usize,
    pub(crate) each: F,
}

impl<B, F, I, const BACK: bool> Producer for Even<B, F, BACK>
where
    B: Body,
    F: Fn(B, usize) -> I + Copy + Send,
    I: DoubleEndedIterator + ExactSizeIterator,
{
    type Item = I::Item;
    type IntoIter = I;

    const AGAIN: Again = if B::SHARED {
        Again::Always
    } else {
        Again::Never
    };

    fn again(&self) -> Self {
        let body = self.body.shared();
        Even { body, ..*self }
    }

    fn into_iter(self) -> I {
        (self.each)(self.body, self.step)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let Even { body, step, each } = self;
        let len = body.size();
        let reach = reach(index, step, len);
        let (first, second) = if BACK {
            let (second, first) = body.cut(len - reach);
            (first, second)
        } else {
            body.cut(reach)
        };
        let part = |body| Even { body, step, each };
        (part(first), part(second))
    }
}
