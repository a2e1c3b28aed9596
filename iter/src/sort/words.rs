//! Slices whose elements are plain words, in the order of what those are the bits of:
//! counted, merged or scattered, whichever the input calls for.
#![forbid(unsafe_code)]

use tine_pool::current_num_threads;

use super::radix::plain::{self, FLOAT, Plain, SIGNED, UNSIGNED};
use super::radix::{counted, strays, word::RadixBits, word::Record};
use super::{runs, shape::FEW_CUTOFF, shape::Shape, stable, unstable};

/// What a word is the bits of.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Unsigned,
    Signed,
    Float,
}

/// Words that a slice may consist of. Not generic, so that the sorts are compiled once and here.
pub(super) trait Words: RadixBits {
    /// Sorts words by what they are the bits of, unless there is no memory for it.
    fn sort(v: &mut [Self], kind: Kind) -> bool;
}

macro_rules! words {
    ($($word:ty: $($kind:ident $number:ident),*;)*) => {$(
        impl Words for $word {
            fn sort(v: &mut [$word], kind: Kind) -> bool {
                match kind {
                    $(Kind::$kind => records(Plain::<$word, $number>::all(v)),)*
                    #[allow(unreachable_patterns)]
                    _ => false,
                }
            }
        }
    )*};
}
words! {
    u8: Unsigned UNSIGNED, Signed SIGNED;
    u16: Unsigned UNSIGNED, Signed SIGNED;
    u32: Unsigned UNSIGNED, Signed SIGNED, Float FLOAT;
    u64: Unsigned UNSIGNED, Signed SIGNED, Float FLOAT;
    u128: Unsigned UNSIGNED, Signed SIGNED;
}

/// Shorter slices that are nearly in order, or of few distinct elements, are left to
/// sorts that take no memory.
const SPECIAL: usize = if cfg!(test) { 512 } else { 8192 };

/// Sorts records that are their own keys, by radix unless they are in such an
/// order already that comparing is faster.
fn records<R: Record>(v: &mut [R]) -> bool {
    let order = |a: &R, b: &R| a.bits().cmp(&b.bits());
    if runs::settle(v, &order) {
        return true;
    }
    let special = v.len() >= SPECIAL;
    match Shape::of(v, 1, &order) {
        // Equal words cannot be told apart, so any sort is stable.
        Shape::Runs => stable::sort_by(v, &order),
        Shape::Tidy if special && strays::sort(v, current_num_threads()) => {}
        Shape::Few if special && counted::sort(v, few_threads(v.len())) => {}
        Shape::Few | Shape::Same => unstable::sort_by(v, &order),
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
