//! Which sort is the right one: by the type of the elements or keys, looked at
//! without asking for it in a bound, and by their number.

use std::any::TypeId;
use std::cmp::{Ordering, Reverse};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::radix::key::Total;
use super::radix::{keyed, plain, scattered, word::RadixBits};
use super::words::{Kind, Words};
use super::{fork, runs, shape::Shape, stable, strings, unstable};

/// Whether `T` is `U`, lifetimes aside.
fn is<T: ?Sized, U: ?Sized + 'static>() -> bool {
    typeid::of::<T>() == TypeId::of::<U>()
}

/// The kind of a primitive, and whether it is wrapped in `Reverse`.
fn kind<K>() -> Option<(Kind, bool)> {
    macro_rules! any {
        ($($type:ty)*) => { $(is::<K, $type>())||* };
    }
    macro_rules! any_reversed {
        ($($type:ty)*) => { $(is::<K, Reverse<$type>>())||* };
    }
    if any!(u64 u32 usize u16 u8 u128 bool char) {
        Some((Kind::Unsigned, false))
    } else if any!(i64 i32 isize i16 i8 i128) {
        Some((Kind::Signed, false))
    } else if any!(f64 f32 Total<f64> Total<f32>) {
        Some((Kind::Float, false))
    } else if any_reversed!(u64 u32 usize u16 u8 u128 bool char) {
        Some((Kind::Unsigned, true))
    } else if any_reversed!(i64 i32 isize i16 i8 i128) {
        Some((Kind::Signed, true))
    } else if any_reversed!(Total<f64> Total<f32>) {
        Some((Kind::Float, true))
    } else {
        None
    }
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

/// Sorts a slice by the order of its elements if their type has a faster way
/// than comparing; says whether it did.
pub(super) fn by_type<T: Send>(v: &mut [T]) -> bool {
    macro_rules! bytes {
        ($($type:ty;)*) => {$(
            if is::<T, $type>() {
                // Not generic, so that it is compiled once and here.
                fn sort(v: &mut [$type]) -> bool {
                    strings::sort(v)
                }
                // SAFETY: `T` is this type. Lifetimes may differ; no reference
                // leaves the slice, which is only permuted.
                return sort(unsafe { cast::<T, $type>(v) });
            }
        )*};
    }
    if v.len() < plain::SHORTEST {
        return false;
    }
    if let Some((kind, reversed)) = kind::<T>() {
        // The conditions are `const` so that only one of the five is compiled.
        return if const { size_of::<T>() == 1 } {
            by_bytes::<T, u8>(v, kind, reversed)
        } else if const { size_of::<T>() == 2 } {
            by_bytes::<T, u16>(v, kind, reversed)
        } else if const { size_of::<T>() == 4 } {
            by_bytes::<T, u32>(v, kind, reversed)
        } else if const { size_of::<T>() == 8 } {
            by_bytes::<T, u64>(v, kind, reversed)
        } else {
            by_bytes::<T, u128>(v, kind, reversed)
        };
    }
    if v.len() < strings::SHORTEST {
        return false;
    }
    bytes! { String; &'static str; Vec<u8>; &'static [u8]; Box<str>; Box<[u8]>; }
    false
}

/// Sorts elements that have a [`kind`] as if their bytes were of this one; no two of
/// them that are equal then can be told apart.
fn by_bytes<T: Send, W: Words>(v: &mut [T], like: Kind, reversed: bool) -> bool {
    assert!(kind::<T>().is_some(), "primitives");
    // SAFETY: all bits of a primitive make a word, and words are only permuted.
    let sorted = W::sort(unsafe { cast::<T, W>(v) }, like);
    if sorted && reversed {
        runs::reverse(v);
    }
    sorted
}

/// The bits of a primitive.
///
/// # Safety
/// `K` is a primitive, or a transparent wrapper of one.
unsafe fn raw<K, W: RadixBits>(key: &K) -> W {
    assert!(size_of::<K>() == size_of::<W>(), "a word of the key's size");
    // SAFETY: of one size, and all bits of a primitive make a word.
    unsafe { std::mem::transmute_copy::<K, W>(key) }
}

/// Whether the elements are primitives each of which is, byte by byte, its own key, as by
/// `Total(*x)` or by `Reverse(*x)`.
fn are_keys<T: Send, K, W: RadixBits>(v: &mut [T], key: &(impl Fn(&T) -> K + Sync)) -> bool {
    assert!(kind::<K>().is_some(), "a primitive key");
    if kind::<T>().is_none() || size_of::<T>() != size_of::<W>() {
        return false;
    }
    let is_key = |value: &T| {
        // SAFETY: `kind` finds `K` to be a primitive.
        let key = unsafe { raw::<K, W>(&key(value)) };
        // SAFETY: and `T`.
        key == unsafe { raw::<T, W>(value) }
    };
    let other = AtomicBool::new(false);
    let grain = fork::grain(v.len(), keyed::threads(v.len()));
    fork::each_slice(v, grain, &|_, piece: &mut [T]| {
        if !other.load(Relaxed) && !piece.iter().all(is_key) {
            other.store(true, Relaxed);
        }
    });
    !other.into_inner()
}

/// How often each element may be asked for its key.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Asked {
    /// No more than once, at the price of the room for a record of each, twice.
    Once,
    /// A few times.
    AFew,
    /// A few times, and equal elements may end in any order.
    Loosely,
}

/// Sorts by key, stably, if the key is a primitive; says whether it did.
pub(super) fn by_key_type<T, K, F>(v: &mut [T], asked: Asked, key: &F) -> bool
where
    T: Send,
    K: Ord,
    F: Fn(&T) -> K + Sync,
{
    if v.len() < plain::SHORTEST || size_of::<T>() == 0 {
        return false;
    }
    let Some((kind, reversed)) = kind::<K>() else {
        return false;
    };
    fn go<T: Send, K: Ord, W: Words>(
        v: &mut [T],
        asked: Asked,
        key: &(impl Fn(&T) -> K + Sync),
        kind: Kind,
        reversed: bool,
    ) -> bool {
        let order = |a: &T, b: &T| key(a).cmp(&key(b));
        if asked != Asked::Once && are_keys::<T, K, W>(v, key) {
            let settled = reversed && runs::settle(v, &order);
            return settled || by_bytes::<T, W>(v, kind, reversed);
        }
        if v.len() < keyed::SHORTEST {
            return false;
        }
        // The word is `(bits ^ top) ^ (sign & low)`, and all of that turned round.
        let flip = if matches!(kind, Kind::Unsigned) {
            W::default()
        } else {
            W::TOP
        };
        let fold = if matches!(kind, Kind::Float) {
            W::ALL ^ W::TOP
        } else {
            W::default()
        };
        let turn = if reversed { W::ALL } else { W::default() };
        let bits = |value: &T| {
            // SAFETY: `kind` has found `K` to be a primitive.
            let raw = unsafe { raw::<K, W>(&key(value)) };
            raw ^ flip ^ (raw.negative() & fold) ^ turn
        };
        by_bits(v, asked, &bits, &order)
    }
    // The conditions are `const` so that only one of the five is compiled.
    if const { size_of::<K>() == 1 } {
        go::<T, K, u8>(v, asked, key, kind, reversed)
    } else if const { size_of::<K>() == 2 } {
        go::<T, K, u16>(v, asked, key, kind, reversed)
    } else if const { size_of::<K>() == 4 } {
        go::<T, K, u32>(v, asked, key, kind, reversed)
    } else if const { size_of::<K>() == 8 } {
        go::<T, K, u64>(v, asked, key, kind, reversed)
    } else if const { size_of::<K>() == 16 } {
        go::<T, K, u128>(v, asked, key, kind, reversed)
    } else {
        false
    }
}

/// In shorter slices even runs of a few hundred elements are worth merging.
const MERGED: usize = 1 << 16;

/// Sorts by words; says no if there is no memory for it, or if words are
/// not the same each time.
fn by_bits<T: Send, B: RadixBits>(
    v: &mut [T],
    asked: Asked,
    bits: &(impl Fn(&T) -> B + Sync),
    order: &(impl Fn(&T, &T) -> Ordering + Sync),
) -> bool {
    let threads = keyed::threads(v.len());
    if asked == Asked::Once {
        return keyed::sort(v, threads, bits, None::<&fn(&mut [T])>);
    }
    if runs::settle(v, order) {
        return true;
    }
    let ends = if v.len() < MERGED { 8 } else { 1 };
    match (Shape::of(v, ends, order), asked) {
        (Shape::Random, _) | (Shape::Tidy, Asked::AFew) => {}
        (Shape::Runs, _) | (Shape::Few | Shape::Same, Asked::AFew) => {
            stable::sort_by(v, order);
            return true;
        }
        (Shape::Tidy | Shape::Few | Shape::Same, _) => {
            unstable::sort_by(v, order);
            return true;
        }
    }
    scattered::sort(v, threads, bits)
}

/// Sorts by radix where the caller has asked for it.
pub(super) fn by_radix<T, B, F>(v: &mut [T], bits: &F)
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
{
    let order = |a: &T, b: &T| bits(a).cmp(&bits(b));
    let long = v.len() >= keyed::SHORTEST && size_of::<T>() != 0;
    if !(long && by_bits(v, Asked::AFew, bits, &order)) {
        stable::sort_by(v, &order);
    }
}
