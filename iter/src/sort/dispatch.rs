//! Which sort is the right one: by the type of the elements or keys, looked at
//! without asking for it in a bound, and by their number.

use std::any::TypeId;
use std::cmp::{Ordering, Reverse};
use std::mem::ManuallyDrop;

use tine_pool::current_num_threads;

use super::radix::key::Total;
use super::radix::plain::{self, FLOAT, Plain, SIGNED, UNSIGNED};
use super::radix::{counted, keyed, scattered, strays, word::RadixBits, word::Record};
use super::{runs, shape::FEW_CUTOFF, shape::Shape, stable, strings, unstable};

/// Whether `T` is `U`, lifetimes aside.
fn is<T: ?Sized, U: ?Sized + 'static>() -> bool {
    typeid::of::<T>() == TypeId::of::<U>()
}

/// Sees a slice of `T` as one of `U`.
///
/// # Safety
/// Every `T` is a `U`: the types are one, or `U` is a transparent wrapper.
unsafe fn cast<T, U>(v: &mut [T]) -> &mut [U] {
    assert!(
        size_of::<T>() == size_of::<U>(),
        "types that are one have one size"
    );
    let v = std::ptr::from_mut(v) as *mut [U];
    // SAFETY: the caller vouches for it.
    unsafe { &mut *v }
}

/// Sorts a slice by the order of its elements if their type has a faster way
/// than comparing; says whether it did.
pub(super) fn by_type<T: Send>(v: &mut [T]) -> bool {
    macro_rules! plain {
        ($($type:ty: $word:ty, $kind:ident;)*) => {$(
            if is::<T, $type>() {
                // Not generic, so that it is compiled once and here.
                fn sort(v: &mut [Plain<$word, $kind>]) -> bool {
                    plain_records(v)
                }
                // SAFETY: `T` is this type, and `Plain` wraps its bits, all of
                // which are a word.
                return sort(unsafe { cast::<T, Plain<$word, $kind>>(v) });
            }
        )*};
    }
    macro_rules! bytes {
        ($($type:ty;)*) => {$(
            if is::<T, $type>() {
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
    plain! {
        u64: u64, UNSIGNED; u32: u32, UNSIGNED; u16: u16, UNSIGNED; u8: u8, UNSIGNED;
        i64: u64, SIGNED; i32: u32, SIGNED; i16: u16, SIGNED; i8: u8, SIGNED;
        u128: u128, UNSIGNED; i128: u128, SIGNED; bool: u8, UNSIGNED; char: u32, UNSIGNED;
        f64: u64, FLOAT; f32: u32, FLOAT; Total<f64>: u64, FLOAT; Total<f32>: u32, FLOAT;
    }
    #[cfg(target_pointer_width = "64")]
    plain! { usize: u64, UNSIGNED; isize: u64, SIGNED; }
    #[cfg(target_pointer_width = "32")]
    plain! { usize: u32, UNSIGNED; isize: u32, SIGNED; }
    if v.len() < strings::SHORTEST {
        return false;
    }
    bytes! { String; &'static str; Vec<u8>; &'static [u8]; Box<str>; Box<[u8]>; }
    false
}

/// Shorter slices that are nearly in order, or of few distinct elements, are left to
/// sorts that take no memory.
const SPECIAL: usize = if cfg!(test) { 512 } else { 8192 };

/// Sorts records that are their own keys, by radix unless they are in such an
/// order already that comparing is faster.
fn plain_records<R: Record>(v: &mut [R]) -> bool {
    let order = |a: &R, b: &R| a.bits().cmp(&b.bits());
    if runs::settle(v, &order) {
        return true;
    }
    let special = v.len() >= SPECIAL;
    match Shape::of(v, &order) {
        // Equal words cannot be told apart, so any sort is stable.
        Shape::Runs => stable::sort_by(v, &order),
        Shape::Tidy if special && strays::sort(v, current_num_threads()) => {}
        Shape::Few if special && counted::sort(v, few_threads(v.len())) => {}
        Shape::Few => unstable::sort_by(v, &order),
        Shape::Tidy | Shape::Random => return plain::sort(v, current_num_threads),
    }
    true
}

/// How many threads count few distinct records.
fn few_threads(len: usize) -> usize {
    if len < FEW_CUTOFF {
        return 1;
    }
    current_num_threads()
}

/// How the bits of a key become a word in its order.
#[derive(Clone, Copy)]
enum Kind {
    Unsigned,
    Signed,
    Float,
}

/// A primitive key: its kind, and whether it is wrapped in `Reverse`.
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
    } else if any!(Total<f64> Total<f32>) {
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

/// The bits of a key of a primitive type.
///
/// # Safety
/// `K` is a primitive, or a transparent wrapper of one.
unsafe fn raw<K, W: RadixBits>(key: K) -> W {
    assert!(size_of::<K>() == size_of::<W>(), "a word of the key's size");
    let key = ManuallyDrop::new(key);
    // SAFETY: of one size, and all bits of a primitive make a word.
    unsafe { std::mem::transmute_copy::<K, W>(&key) }
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
    if v.len() < keyed::SHORTEST || size_of::<T>() == 0 {
        return false;
    }
    let Some((kind, reversed)) = kind::<K>() else {
        return false;
    };
    fn go<T: Send, K: Ord, W: RadixBits>(
        v: &mut [T],
        asked: Asked,
        key: &(impl Fn(&T) -> K + Sync),
        kind: Kind,
        reversed: bool,
    ) -> bool {
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
            let raw = unsafe { raw::<K, W>(key(value)) };
            raw ^ flip ^ (raw.negative() & fold) ^ turn
        };
        by_bits(v, asked, &bits, &|a: &T, b: &T| key(a).cmp(&key(b)))
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

/// From this many elements on radix is ahead of a stable sort by comparison even
/// where nearly all neighbours are in order.
const TIDY: usize = 1 << 16;

/// Sorts by words; says no if there is no memory for it, or if words are
/// not the same each time.
fn by_bits<T: Send, B: RadixBits>(
    v: &mut [T],
    asked: Asked,
    bits: &(impl Fn(&T) -> B + Sync),
    order: &(impl Fn(&T, &T) -> Ordering + Sync),
) -> bool {
    let threads = if v.len() < keyed::CUTOFF {
        1
    } else {
        current_num_threads()
    };
    if asked == Asked::Once {
        return keyed::sort(v, threads, bits, None::<&fn(&mut [T])>);
    }
    if runs::settle(v, order) {
        return true;
    }
    match (Shape::of(v, order), asked) {
        (Shape::Random, _) => {}
        (Shape::Runs, _) | (Shape::Few, Asked::AFew) => {
            stable::sort_by(v, order);
            return true;
        }
        (Shape::Tidy, Asked::AFew) if v.len() >= TIDY => {}
        (Shape::Tidy, Asked::AFew) => {
            v.sort_by(order);
            return true;
        }
        (Shape::Tidy | Shape::Few, _) => {
            unstable::sort_by(v, order);
            return true;
        }
    }
    if v.len() <= scattered::HEAVY {
        return keyed::sort(v, 1, bits, None::<&fn(&mut [T])>);
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
