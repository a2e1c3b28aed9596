//! The unsigned words that radix sorts look at, and what a record lets them see.

use std::ops::{BitAnd, BitOr, BitXor};

/// An unsigned integer that can stand for a key: the order of the words is
/// the order of the keys.
///
/// `u8`, `u16`, `u32`, `u64` and `u128` are the only implementations.
///
/// ```
/// use tine::sort::{RadixBits, RadixKey};
///
/// fn in_order<B: RadixBits>(a: impl RadixKey<Bits = B>, b: impl RadixKey<Bits = B>) -> bool {
///     a.radix_bits() <= b.radix_bits()
/// }
/// assert!(in_order(-0.5_f32, 2.0_f32));
/// ```
pub trait RadixBits:
    Copy
    + Ord
    + Default
    + Send
    + Sync
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + sealed::Sealed
    + 'static
{
    /// The number of bits.
    #[doc(hidden)]
    const WIDTH: u32;
    /// The highest bit.
    #[doc(hidden)]
    const TOP: Self;
    /// All bits.
    #[doc(hidden)]
    const ALL: Self;
    /// All bits if the highest is set, none otherwise.
    #[doc(hidden)]
    fn negative(self) -> Self;
    /// The word without its `shift` lowest bits, as far as that fits a `usize`.
    #[doc(hidden)]
    fn down(self, shift: u32) -> usize;
    /// The word as a `u64`, as far as it fits.
    #[doc(hidden)]
    fn wide(self) -> u64;
    /// The position of the highest bit that is set, counted from one.
    #[doc(hidden)]
    fn bit_len(self) -> u32;
    /// The word with all bits below `shift` cleared.
    #[doc(hidden)]
    fn above(self, shift: u32) -> Self;
    /// The difference between the word and `low`.
    #[doc(hidden)]
    fn less(self, low: Self) -> Self;
    /// Two bounds, moved apart by a small part of the distance between them.
    #[doc(hidden)]
    fn stretched(low: Self, high: Self) -> (Self, Self);
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! words {
    ($($word:ty)*) => {$(
        impl sealed::Sealed for $word {}
        // SAFETY: the word itself.
        unsafe impl Record for $word {
            type Bits = Self;
            #[inline(always)]
            fn bits(&self) -> Self {
                *self
            }
        }
        impl RadixBits for $word {
            const WIDTH: u32 = <$word>::BITS;
            const TOP: Self = 1 << (<$word>::BITS - 1);
            const ALL: Self = <$word>::MAX;
            #[inline(always)]
            fn negative(self) -> Self {
                (self.cast_signed() >> (<$word>::BITS - 1)).cast_unsigned()
            }
            #[inline(always)]
            fn down(self, shift: u32) -> usize {
                (self >> shift) as usize
            }
            #[inline(always)]
            fn wide(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn bit_len(self) -> u32 {
                Self::WIDTH - self.leading_zeros()
            }
            #[inline(always)]
            fn above(self, shift: u32) -> Self {
                self.checked_shr(shift).map_or(0, |high| high << shift)
            }
            #[inline(always)]
            fn less(self, low: Self) -> Self {
                self.wrapping_sub(low)
            }
            #[inline]
            fn stretched(low: Self, high: Self) -> (Self, Self) {
                let some = high.less(low) / 64;
                (low.saturating_sub(some), high.saturating_add(some))
            }
        }
    )*};
}
words!(u8 u16 u32 u64 u128);

/// What the radix sorts move about: plain bytes that know their own key.
///
/// # Safety
/// `bits` depends on nothing but the bytes of the record, and never panics: a record is counted by it, and then
/// placed by it, unchecked.
pub(crate) unsafe trait Record: Copy + Send + Sync {
    type Bits: RadixBits;
    fn bits(&self) -> Self::Bits;
}

/// A word that is its own key.
pub(crate) trait OwnKey: RadixBits + Record<Bits = Self> {}
impl<W: RadixBits + Record<Bits = W>> OwnKey for W {}

/// A key and its load.
#[derive(Clone, Copy)]
pub(crate) struct Keyed<B, P> {
    pub(crate) key: B,
    pub(crate) load: P,
}

// SAFETY: the key is a stored word.
unsafe impl<B: RadixBits, P: Copy + Send + Sync> Record for Keyed<B, P> {
    type Bits = B;
    #[inline(always)]
    fn bits(&self) -> B {
        self.key
    }
}

/// Which bits differ between any of some words.
#[derive(Clone, Copy)]
pub(super) struct Varying<B> {
    first: B,
    differs: B,
}

impl<B: RadixBits> Varying<B> {
    /// The varying bits of a single word: none.
    pub(super) fn new(first: B) -> Self {
        Varying {
            first,
            differs: B::default(),
        }
    }

    /// Takes one more word into account.
    #[inline(always)]
    pub(super) fn note(&mut self, word: B) {
        self.differs = self.differs | (word ^ self.first);
    }

    pub(super) fn merge(self, other: Self) -> Self {
        let differs = self.differs | other.differs | (self.first ^ other.first);
        Varying {
            first: self.first,
            differs,
        }
    }

    /// All bits that vary lie below this one.
    pub(super) fn height(self) -> u32 {
        self.differs.bit_len()
    }

    /// The least and the greatest word that these bits allow.
    pub(super) fn bounds(self) -> (B, B) {
        let low = self.first.above(self.height());
        (low, low | (B::ALL ^ B::ALL.above(self.height())))
    }

    /// Whether any bit below `shift` varies.
    pub(super) fn below(self, shift: u32) -> bool {
        self.differs != self.differs.above(shift)
    }
}
