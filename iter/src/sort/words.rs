//! Slices whose elements are plain words, sorted in the order of the primitives that the words stand for. They
//! are counted, merged or scattered, whichever suits the input.
//!
//! There is one sort for each width, and it knows only unsigned words. Other primitives are turned into their
//! *unsigned images* in place, sorted, and turned back. So a program that sorts `i64`, `f64` and `usize`
//! contains the sort of eight bytes once, and a program that sorts none of them does not contain it.
//!
//! The sort of eight bytes is used most. It is compiled with this crate, and a program that uses it contains
//! only a call. The others are compiled where they are used.
#![forbid(unsafe_code)]

use std::any::TypeId;
use std::cmp::{Ordering, Reverse};

use tine_pool::current_num_threads;

use super::radix::key::Total;
use super::radix::{counted, plain, strays, word::OwnKey, word::RadixBits};
use super::{fork, runs, shape::FEW_CUTOFF, shape::Shape, stable};

/// The type that the bits of a word come from.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Unsigned,
    Signed,
    Float,
}

/// How the bits of a primitive become a word in its order: `bits ^ flip`, and, for a float with its
/// sign set, the other bits inverted.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Image<W> {
    flip: W,
    fold: W,
}

impl<W: RadixBits> Image<W> {
    /// For primitives of this kind, in reverse order if `reversed`.
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

    /// The bits whose image this is; folding has left the sign alone.
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
    /// The kind of the primitive with this type id, if it has this width, and whether it is wrapped
    /// in `Reverse`.
    fn kind(id: TypeId) -> Option<(Kind, bool)>;
    /// Sorts words by the order of their images.
    fn sort(v: &mut [Self], image: Image<Self>);
}

macro_rules! words {
    ($($(#[$where:meta])? $word:ty: [$($unsigned:ty),*] [$($signed:ty),*] [$($float:ty),*];)*) => {$(
        impl Words for $word {
            // Without the attribute this is compiled in this crate.
            $(#[$where])?
            fn sort(v: &mut [Self], image: Image<Self>) {
                by_image(v, image);
            }

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
    #[inline]
    u8: [u8, bool] [i8] [];
    #[inline]
    u16: [u16] [i16] [];
    #[inline]
    u128: [u128] [i128] [];
}
#[cfg(target_pointer_width = "64")]
words! {
    #[inline]
    u32: [u32, char] [i32] [f32];
    u64: [u64, usize] [i64, isize] [f64];
}
#[cfg(not(target_pointer_width = "64"))]
words! {
    #[inline]
    u32: [u32, usize, char] [i32, isize] [f32];
    u64: [u64] [i64] [f64];
}

/// Shorter slices that are nearly in order, or have few distinct elements, are left to sorts that
/// take no memory.
const SPECIAL: usize = if cfg!(test) { 512 } else { 8192 };
/// Shorter slices are turned by one thread.
const SHARED: usize = if cfg!(test) { 1 << 12 } else { 1 << 16 };

/// Sorts words by the order of their images.
fn by_image<W: OwnKey>(v: &mut [W], image: Image<W>) {
    if v.len() < plain::SHORTEST {
        return by_std(v, image);
    }
    if image.is_identity() {
        return by_own_order(v);
    }
    // If the images are in order already, nothing is turned.
    if settle(v, image) {
        return;
    }
    turn(v, image, &|bits| image.of(bits));
    by_own_order(v);
    turn(v, image, &|word| image.back(word));
}

/// Sorts a short slice of words by the order of their images. Equal words cannot be told apart, so
/// any sort is stable.
fn by_std<W: OwnKey>(v: &mut [W], image: Image<W>) {
    if image.is_identity() {
        return v.sort_unstable_by(W::cmp);
    }
    if image == Image::new(Kind::Signed, false) {
        // If the words are in order, turning them would take longer than the sort.
        return v.sort_unstable_by(|a, b| {
            let image = Image::new(Kind::Signed, false);
            image.of(*a).cmp(&image.of(*b))
        });
    }
    v.iter_mut().for_each(|word| *word = image.of(*word));
    v.sort_unstable_by(W::cmp);
    v.iter_mut().for_each(|word| *word = image.back(*word));
}

/// Whether the images are in order now, because they already were in order or in reverse. For the usual images
/// the image is known to the compiler, which halves the time.
fn settle<W: OwnKey>(v: &mut [W], image: Image<W>) -> bool {
    #[inline(always)]
    fn order<W: OwnKey>(image: Image<W>, a: W, b: W) -> Ordering {
        image.of(a).cmp(&image.of(b))
    }
    // Closures that capture nothing: their image is a constant in their code.
    if image == Image::new(Kind::Signed, false) {
        runs::settle(v, &|a: &W, b: &W| {
            order(Image::new(Kind::Signed, false), *a, *b)
        })
    } else if image == Image::new(Kind::Float, false) {
        runs::settle(v, &|a: &W, b: &W| {
            order(Image::new(Kind::Float, false), *a, *b)
        })
    } else {
        runs::settle(v, &|a: &W, b: &W| order(image, *a, *b))
    }
}

/// Replaces every word by `f` of it; if the image has no fold, `f` is replaced by flipping bits.
fn turn<W: OwnKey>(v: &mut [W], image: Image<W>, f: &(impl Fn(W) -> W + Sync)) {
    if image.fold == W::default() {
        each(v, &|word| word ^ image.flip);
    } else {
        each(v, f);
    }
}

/// Replaces every word by `f` of it.
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

/// Sorts words that are their own keys: by radix, unless they are already in an order for which
/// comparing is faster.
fn by_own_order<W: OwnKey>(v: &mut [W]) {
    if runs::settle(v, &W::cmp) {
        return;
    }
    let special = v.len() >= SPECIAL;
    let done = match Shape::of_words(v) {
        // Equal words cannot be told apart, so any sort is stable.
        Shape::Runs => {
            stable::sort_runs(v);
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
