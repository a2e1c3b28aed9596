//! Chooses the sort by the number of elements and by the type of the elements or keys. The type is looked at
//! without a bound.

use std::any::TypeId;
use std::cmp::Ordering;
use std::mem::needs_drop;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::radix::{keyed, plain, scattered, word::RadixBits};
use super::words::{Image, Kind, Words};
use super::{fork, runs, shape::Shape, stable, strings, unstable};

/// Whether a `T` may be a primitive as large as this word. Only size, alignment and the need to drop decide,
/// since those are known before anything is compiled. A type that fails the test brings no sort of words into
/// the program.
const fn like_word<T, W>() -> bool {
    size_of::<T>() == size_of::<W>() && align_of::<T>() == align_of::<W>() && !needs_drop::<T>()
}

/// Calls one of the functions with the word that `T` may be, or evaluates to the last argument. The
/// conditions are `const` so that at most one call is compiled.
macro_rules! as_word {
    ($type:ty, $word:ident => $call:expr, else $other:expr) => {
        if const { like_word::<$type, u8>() } {
            type $word = u8;
            $call
        } else if const { like_word::<$type, u16>() } {
            type $word = u16;
            $call
        } else if const { like_word::<$type, u32>() } {
            type $word = u32;
            $call
        } else if const { like_word::<$type, u64>() } {
            type $word = u64;
            $call
        } else if const { like_word::<$type, u128>() } {
            type $word = u128;
            $call
        } else {
            $other
        }
    };
}

/// The kind of a primitive, and whether it is wrapped in `Reverse`.
#[inline(always)]
fn kind<K, W: Words>() -> Option<(Kind, bool)> {
    W::kind(typeid::of::<K>())
}

/// Sees a slice of `T` as one of `U`.
///
/// # Safety
/// Every `T` is a `U`, or bits that make one; and any of these `U`s is a `T`.
unsafe fn cast<T, U>(v: &mut [T]) -> &mut [U] {
    assert!(
        size_of::<T>() == size_of::<U>() && align_of::<T>() >= align_of::<U>(),
        "values of one size in the place of the others"
    );
    let v = std::ptr::from_mut(v) as *mut [U];
    // SAFETY: the caller vouches for it.
    unsafe { &mut *v }
}

/// Sorts a slice by the order of its elements if their type has a faster way than comparing.
/// Returns whether it did.
#[inline(always)]
pub(super) fn by_type<T: Send>(v: &mut [T]) -> bool {
    as_word!(T, W => by_words::<T, W>(v), else by_bytes(v))
}

/// Sorts elements that are their own keys.
#[inline(always)]
fn by_words<T: Send, W: Words>(v: &mut [T]) -> bool {
    let Some((kind, reversed)) = kind::<T, W>() else {
        return false;
    };
    // SAFETY: all bits of a primitive make a word. The words are permuted, and turned into
    // their images and back.
    W::sort(unsafe { cast::<T, W>(v) }, Image::new(kind, reversed));
    true
}

/// Sorts strings and their like.
fn by_bytes<T: Send>(v: &mut [T]) -> bool {
    macro_rules! like {
        ($($type:ty;)*) => {$(
            if const { like_bytes::<T, $type>() } && is::<T, $type>() {
                // SAFETY: `T` is this type. Lifetimes may differ; no reference
                // leaves the slice, which is only permuted.
                return strings::sort(unsafe { cast::<T, $type>(v) });
            }
        )*};
    }
    if v.len() < strings::SHORTEST {
        return false;
    }
    like! { String; &'static str; Vec<u8>; &'static [u8]; Box<str>; Box<[u8]>; }
    false
}

/// Whether a `T` may be this kind of bytes. As for words, only facts known before compiling decide.
const fn like_bytes<T, U>() -> bool {
    size_of::<T>() == size_of::<U>()
        && align_of::<T>() == align_of::<U>()
        && size_of::<Option<T>>() == size_of::<Option<U>>()
        && needs_drop::<T>() == needs_drop::<U>()
}

/// Whether `T` is `U`, lifetimes aside.
fn is<T: ?Sized, U: ?Sized + 'static>() -> bool {
    typeid::of::<T>() == TypeId::of::<U>()
}

/// The bits of a primitive.
///
/// # Safety
/// `K` is a primitive, or a transparent wrapper of one.
unsafe fn raw<K, W: RadixBits>(key: &K) -> W {
    assert!(size_of::<K>() == size_of::<W>(), "a word of the key's size");
    // SAFETY: both have the same size, and all bits of a primitive make a word.
    unsafe { std::mem::transmute_copy::<K, W>(key) }
}

/// Sorts primitives that are, byte by byte, their own keys, as in `Total(*x)` or `Reverse(*x)`.
/// Returns whether they are.
fn by_own_key<T: Send, K, W: Words>(
    v: &mut [T],
    key: &(impl Fn(&T) -> K + Sync),
    image: Image<W>,
) -> bool {
    assert!(kind::<K, W>().is_some(), "a primitive key");
    if kind::<T, W>().is_none() {
        return false;
    }
    let is_key = |value: &T| {
        // SAFETY: `kind` finds `K` to be a primitive.
        let key = unsafe { raw::<K, W>(&key(value)) };
        // SAFETY: `kind` finds `T` to be a primitive too.
        key == unsafe { raw::<T, W>(value) }
    };
    let other = AtomicBool::new(false);
    let grain = fork::grain(v.len(), keyed::threads(v.len()));
    fork::each_slice(v, grain, &|_, piece: &mut [T]| {
        if !other.load(Relaxed) && !piece.iter().all(is_key) {
            other.store(true, Relaxed);
        }
    });
    if other.into_inner() {
        return false;
    }
    // SAFETY: as in `by_words`.
    W::sort(unsafe { cast::<T, W>(v) }, image);
    true
}

/// How often each element may be asked for its key.
pub(super) const ONCE: u8 = 0;
/// A few times.
pub(super) const A_FEW: u8 = 1;
/// A few times, and equal elements may end in any order.
pub(super) const LOOSELY: u8 = 2;

/// Sorts by key if the key is a primitive, and returns whether it did. Stable unless `LOOSELY`. If each key is
/// asked for `ONCE`, this takes room for two records of each element.
///
/// `order` is the order of the keys. The caller passes it because it sorts by it if this returns
/// `false`. Two closures that do the same are two types, and each sort by comparison would be
/// compiled for both.
#[inline]
pub(super) fn by_key_type<const ASKED: u8, T, K, F, C>(v: &mut [T], key: &F, order: &C) -> bool
where
    T: Send,
    K: Ord,
    F: Fn(&T) -> K + Sync,
    C: Fn(&T, &T) -> Ordering + Sync,
{
    if v.len() < plain::SHORTEST || size_of::<T>() == 0 {
        return false;
    }
    as_word!(K, W => by_key_like::<ASKED, T, K, W, F, C>(v, key, order), else false)
}

fn by_key_like<const ASKED: u8, T, K, W, F, C>(v: &mut [T], key: &F, order: &C) -> bool
where
    T: Send,
    K: Ord,
    W: Words,
    F: Fn(&T) -> K + Sync,
    C: Fn(&T, &T) -> Ordering + Sync,
{
    let Some((kind, reversed)) = kind::<K, W>() else {
        return false;
    };
    let image = Image::new(kind, reversed);
    let may_be_own = const { ASKED != ONCE && like_word::<T, W>() };
    if may_be_own && by_own_key::<T, K, W>(v, key, image) {
        return true;
    }
    if v.len() < keyed::SHORTEST {
        return false;
    }
    let bits = move |value: &T| {
        // SAFETY: `kind` has found `K` to be a primitive.
        image.of(unsafe { raw::<K, W>(&key(value)) })
    };
    if const { ASKED == ONCE } {
        let threads = keyed::threads(v.len());
        return keyed::sort::<true, _, _, _, _>(v, threads, &bits, None::<&fn(&mut [T])>);
    }
    by_bits::<ASKED, _, _, _, _>(v, &bits, order)
}

/// In shorter slices even runs of a few hundred elements are worth merging.
const MERGED: usize = 1 << 16;

/// Sorts by words. Returns `false` if there is no memory for it, or if a key's word is not the same each time.
fn by_bits<const ASKED: u8, T, B, F, C>(v: &mut [T], bits: &F, order: &C) -> bool
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
    C: Fn(&T, &T) -> Ordering + Sync,
{
    if runs::settle(v, order) {
        return true;
    }
    let ends = if v.len() < MERGED { 8 } else { 1 };
    let shape = Shape::of(v, ends, order);
    // The condition is `const` so that only the wanted sort is compiled.
    if const { ASKED == LOOSELY } {
        if let Shape::Tidy | Shape::Few | Shape::Same = shape {
            unstable::sort_by(v, order);
            return true;
        }
    } else if let Shape::Few | Shape::Same = shape {
        stable::sort_by(v, order);
        return true;
    }
    let in_runs = shape == Shape::Runs;
    scattered::sort(v, keyed::threads(v.len()), in_runs, bits)
}

/// Sorts by radix if the caller has asked for it.
pub(super) fn by_radix<T, B, F>(v: &mut [T], bits: &F)
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
{
    let order = |a: &T, b: &T| bits(a).cmp(&bits(b));
    let long = v.len() >= keyed::SHORTEST && size_of::<T>() != 0;
    if !(long && by_bits::<A_FEW, _, _, _, _>(v, bits, &order)) {
        stable::sort_by(v, &order);
    }
}
