//! Slices whose elements are plain words, in the order of what those are the bits of:
//! counted, merged or scattered, whichever the input calls for.
//!
//! There is one sort for each width, which knows unsigned words alone. Other primitives
//! are turned into their *unsigned images* where they are, sorted, and turned back. So a
//! program that sorts `i64`, `f64` and `usize` holds the sort of eight bytes once, and one
//! that sorts none of them holds nothing.
#![forbid(unsafe_code)]

use std::any::TypeId;
use std::cmp::Reverse;

use tine_pool::current_num_threads;

use super::radix::key::Total;
use super::radix::{counted, plain, strays, word::OwnKey, word::RadixBits};
use super::{fork, runs, shape::FEW_CUTOFF, shape::Shape, stable};

/// What a word is the bits of.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Unsigned,
    Signed,
    Float,
}

/// How the bits of a primitive become a word in its order: `bits ^ flip`, and the other bits
/// of that turned round where the sign was set and this is a float.
#[derive(Clone, Copy)]
pub(super) struct Image<W> {
    flip: W,
    fold: W,
}

impl<W: RadixBits> Image<W> {
    /// Of primitives of this kind, in the reverse order if so wanted.
    #[inline]
    pub(super) fn new(kind: Kind, reversed: bool) -> Self {
        let none = W::default();
        let top = if kind == Kind::Unsigned { none } else { W::TOP };
        let fold = if kind == Kind::Float {
            W::ALL ^ W::TOP
        } else {
            none
        };
        let turn = if reversed { W::ALL } else { none };
        Image {
            flip: top ^ turn,
            fold,
        }
    }

    /// The image of these bits.
    #[inline(always)]
    pub(super) fn of(self, bits: W) -> W {
        bits ^ self.flip ^ (bits.negative() & self.fold)
    }

    /// The bits of which this is the image: folding has left the sign alone.
    #[inline(always)]
    fn back(self, image: W) -> W {
        let bits = image ^ self.flip;
        bits ^ (bits.negative() & self.fold)
    }

    fn is_identity(self) -> bool {
        self.flip == W::default() && self.fold == W::default()
    }
}

/// Words that a slice may consist of.
pub(super) trait Words: OwnKey {
    /// The kind of the primitive of this width whose type this is, and whether it is wrapped in
    /// `Reverse`.
    fn kind(id: TypeId) -> Option<(Kind, bool)>;
}

macro_rules! words {
    ($($word:ty: [$($unsigned:ty),*] [$($signed:ty),*] [$($float:ty),*];)*) => {$(
        impl Words for $word {
            #[inline]
            fn kind(id: TypeId) -> Option<(Kind, bool)> {
                let is = |other: TypeId| id == other;
                $(if is(TypeId::of::<$unsigned>()) {
                    return Some((Kind::Unsigned, false));
                })*
                $(if is(TypeId::of::<$signed>()) {
                    return Some((Kind::Signed, false));
                })*
                $(if is(TypeId::of::<$float>()) || is(TypeId::of::<Total<$float>>()) {
                    return Some((Kind::Float, false));
                })*
                $(if is(TypeId::of::<Reverse<$unsigned>>()) {
                    return Some((Kind::Unsigned, true));
                })*
                $(if is(TypeId::of::<Reverse<$signed>>()) {
                    return Some((Kind::Signed, true));
                })*
                $(if is(TypeId::of::<Reverse<Total<$float>>>()) {
                    return Some((Kind::Float, true));
                })*
                None
            }
        }
    )*};
}
words! {
    u8: [u8, bool] [i8] [];
    u16: [u16] [i16] [];
    u128: [u128] [i128] [];
}
#[cfg(target_pointer_width = "64")]
words! {
    u32: [u32, char] [i32] [f32];
    u64: [u64, usize] [i64, isize] [f64];
}
#[cfg(not(target_pointer_width = "64"))]
words! {
    u32: [u32, usize, char] [i32, isize] [f32];
    u64: [u64] [i64] [f64];
}

/// Shorter slices that are nearly in order, or of few distinct elements, are left to
/// sorts that take no memory.
const SPECIAL: usize = if cfg!(test) { 512 } else { 8192 };
/// Shorter slices are turned by one thread.
const SHARED: usize = if cfg!(test) { 1 << 12 } else { 1 << 16 };

/// Sorts words by the order of their images.
pub(super) fn sort<W: OwnKey>(v: &mut [W], image: Image<W>) {
    if image.is_identity() {
        return by_own_order(v);
    }
    // Where there is nothing to do nothing is turned.
    if runs::settle(v, &|a: &W, b: &W| image.of(*a).cmp(&image.of(*b))) {
        return;
    }
    each(v, &|bits| image.of(bits));
    by_own_order(v);
    each(v, &|word| image.back(word));
}

/// Puts `f` of every word in its place.
fn each<W: RadixBits>(v: &mut [W], f: &(impl Fn(W) -> W + Sync)) {
    let grain = if v.len() < SHARED {
        v.len()
    } else {
        fork::grain(v.len(), current_num_threads())
    };
    fork::each_slice(v, grain, &|_, piece: &mut [W]| {
        piece.iter_mut().for_each(|word| *word = f(*word));
    });
}

/// Sorts words that are their own keys, by radix unless they are in such an order already that
/// comparing is faster.
fn by_own_order<W: OwnKey>(v: &mut [W]) {
    if runs::settle(v, &W::cmp) {
        return;
    }
    let special = v.len() >= SPECIAL;
    let done = match Shape::of_words(v) {
        // Equal words cannot be told apart, so any sort is stable.
        Shape::Runs => {
            stable::sort_by(v, &W::cmp);
            true
        }
        Shape::Tidy => special && strays::sort(v, current_num_threads()),
        Shape::Few | Shape::Same if special => counted::sort(v, few_threads(v.len())),
        Shape::Few | Shape::Same => {
            v.sort_unstable_by(W::cmp);
            true
        }
        Shape::Random => false,
    };
    if !done && !plain::sort(v, current_num_threads) {
        v.sort_unstable_by(W::cmp);
    }
}

/// How many threads count few distinct words.
fn few_threads(len: usize) -> usize {
    if len < FEW_CUTOFF {
        return 1;
    }
    current_num_threads()
}
