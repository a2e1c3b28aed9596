//! [`RadixKey`]: keys that radix sorts can sort by.
#![forbid(unsafe_code)]

use std::cmp::{Ordering, Reverse};
use std::fmt;

use super::word::RadixBits;

/// A key that can be sorted without comparing, because it can be written as an unsigned integer in
/// the order of the keys.
///
/// All primitive numbers, `bool` and `char` are such keys; floats take the order of
/// [`f64::total_cmp`]. So are [`Reverse`] of such a key, and tuples and arrays whose bits fit a
/// `u128`.
///
/// # Examples
///
/// An implementation puts what is compared first into the highest bits:
///
/// ```
/// use tine::sort::{ParallelSort, RadixKey};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Date {
///     year: i16,
///     month: u8,
///     day: u8,
/// }
///
/// impl RadixKey for Date {
///     type Bits = u32;
///     fn radix_bits(&self) -> u32 {
///         (self.year, (self.month, self.day)).radix_bits()
///     }
/// }
///
/// let (may, june) = (Date { year: 1968, month: 5, day: 3 }, Date { year: -44, month: 6, day: 1 });
/// let mut dates = [may, june];
/// dates.par_sort_radix();
/// assert_eq!(dates, [june, may]);
/// ```
pub trait RadixKey {
    /// The unsigned integer that stands for the key; the narrowest integer is the fastest.
    type Bits: RadixBits;

    /// The bits that stand for this key. Of two keys, the key with the lesser bits comes first.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// assert!((-1_i32).radix_bits() < 1_i32.radix_bits());
    /// assert_eq!((2_u8, 1_u8).radix_bits(), 0x0201_u16);
    /// ```
    fn radix_bits(&self) -> Self::Bits;
}

macro_rules! unsigned {
    ($($key:ty as $bits:ty),*) => {$(
        impl RadixKey for $key {
            type Bits = $bits;
            #[inline]
            fn radix_bits(&self) -> $bits {
                *self as $bits
            }
        }
    )*};
}
unsigned!(
    u8 as u8,
    u16 as u16,
    u32 as u32,
    u64 as u64,
    u128 as u128,
    bool as u8,
    char as u32
);

#[cfg(target_pointer_width = "64")]
unsigned!(usize as u64);
#[cfg(not(target_pointer_width = "64"))]
unsigned!(usize as u32);

macro_rules! signed {
    ($($key:ty as $bits:ty),*) => {$(
        impl RadixKey for $key {
            type Bits = $bits;
            #[inline]
            fn radix_bits(&self) -> $bits {
                *self as $bits ^ <$bits>::TOP
            }
        }
    )*};
}
signed!(i8 as u8, i16 as u16, i32 as u32, i64 as u64, i128 as u128);

#[cfg(target_pointer_width = "64")]
signed!(isize as u64);
#[cfg(not(target_pointer_width = "64"))]
signed!(isize as u32);

macro_rules! floats {
    ($($key:ty as $bits:ty),*) => {$(
        impl RadixKey for $key {
            type Bits = $bits;
            #[inline]
            fn radix_bits(&self) -> $bits {
                let bits = self.to_bits();
                // If the sign is set, all other bits count in reverse.
                bits ^ (bits.negative() | <$bits>::TOP)
            }
        }
    )*};
}
floats!(f32 as u32, f64 as u64);

impl<K: RadixKey> RadixKey for Reverse<K> {
    type Bits = K::Bits;
    #[inline]
    fn radix_bits(&self) -> K::Bits {
        self.0.radix_bits() ^ K::Bits::ALL
    }
}

impl<K: RadixKey> RadixKey for &K {
    type Bits = K::Bits;
    #[inline]
    fn radix_bits(&self) -> K::Bits {
        K::radix_bits(self)
    }
}

/// Words that fit side by side into a wider word.
///
/// ```
/// use tine::sort::Beside;
///
/// let both: <u8 as Beside<u16>>::Both = 0_u32; // 24 bits fit no narrower one
/// assert_eq!(both, 0);
/// ```
pub trait Beside<Low: RadixBits>: RadixBits {
    /// The narrowest word for both.
    type Both: RadixBits;
    /// The word that is ordered by `self` first and by `low` second.
    #[doc(hidden)]
    fn beside(self, low: Low) -> Self::Both;
}

macro_rules! beside {
    ($($high:ty, $low:ty => $both:ty;)*) => {$(
        impl Beside<$low> for $high {
            type Both = $both;
            #[inline]
            fn beside(self, low: $low) -> $both {
                (<$both>::from(self) << <$low>::BITS) | <$both>::from(low)
            }
        }
    )*};
}
beside! {
    u8, u8 => u16; u8, u16 => u32; u8, u32 => u64; u8, u64 => u128;
    u16, u8 => u32; u16, u16 => u32; u16, u32 => u64; u16, u64 => u128;
    u32, u8 => u64; u32, u16 => u64; u32, u32 => u64; u32, u64 => u128;
    u64, u8 => u128; u64, u16 => u128; u64, u32 => u128; u64, u64 => u128;
}

impl<A, B> RadixKey for (A, B)
where
    A: RadixKey<Bits: Beside<B::Bits>>,
    B: RadixKey,
{
    type Bits = <A::Bits as Beside<B::Bits>>::Both;
    #[inline]
    fn radix_bits(&self) -> Self::Bits {
        self.0.radix_bits().beside(self.1.radix_bits())
    }
}

macro_rules! arrays {
    ($($bits:ty, $len:literal => $all:ty;)*) => {$(
        impl<K: RadixKey<Bits = $bits>> ArrayBits<[K; $len]> for $bits {
            type All = $all;
            #[inline]
            fn all(keys: &[K; $len]) -> $all {
                keys.iter().fold(0, |bits, key| {
                    (bits << (<$bits>::BITS % <$all>::BITS)) | <$all>::from(key.radix_bits())
                })
            }
        }
    )*};
}

/// Words that fit as an array into a wider word.
///
/// ```
/// use tine::sort::ArrayBits;
///
/// let all: <u8 as ArrayBits<[u8; 5]>>::All = 0_u64; // 40 bits fit no narrower one
/// assert_eq!(all, 0);
/// ```
pub trait ArrayBits<Array> {
    /// The narrowest word for all of them.
    type All: RadixBits;
    /// The word that is ordered as the array is.
    #[doc(hidden)]
    fn all(keys: &Array) -> Self::All;
}

arrays! {
    u8, 1 => u8; u8, 2 => u16; u8, 3 => u32; u8, 4 => u32;
    u8, 5 => u64; u8, 6 => u64; u8, 7 => u64; u8, 8 => u64;
    u8, 9 => u128; u8, 10 => u128; u8, 11 => u128; u8, 12 => u128;
    u8, 13 => u128; u8, 14 => u128; u8, 15 => u128; u8, 16 => u128;
    u16, 1 => u16; u16, 2 => u32; u16, 3 => u64; u16, 4 => u64;
    u16, 5 => u128; u16, 6 => u128; u16, 7 => u128; u16, 8 => u128;
    u32, 1 => u32; u32, 2 => u64; u32, 3 => u128; u32, 4 => u128;
    u64, 1 => u64; u64, 2 => u128; u128, 1 => u128;
}

impl<K: RadixKey, const LEN: usize> RadixKey for [K; LEN]
where
    K::Bits: ArrayBits<[K; LEN]>,
{
    type Bits = <K::Bits as ArrayBits<[K; LEN]>>::All;
    #[inline]
    fn radix_bits(&self) -> Self::Bits {
        K::Bits::all(self)
    }
}

/// A float in total order, as by [`f64::total_cmp`]: a key that is [`Ord`].
///
/// Sorts that take a key take this one by radix.
///
/// # Examples
///
/// ```
/// use tine::sort::Total;
///
/// let mut v = vec![Total(1.5), Total(f64::NAN), Total(-0.0), Total(0.0)];
/// v.sort();
/// assert_eq!(v[0], Total(-0.0));
/// assert!(v[3].0.is_nan());
/// ```
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Total<F>(pub F);

macro_rules! total {
    ($($float:ty)*) => {$(
        impl Ord for Total<$float> {
            #[inline]
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.total_cmp(&other.0)
            }
        }
        impl PartialOrd for Total<$float> {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
        impl PartialEq for Total<$float> {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other).is_eq()
            }
        }
        impl Eq for Total<$float> {}
    )*};
}
total!(f32 f64);

impl<F: RadixKey> RadixKey for Total<F> {
    type Bits = F::Bits;
    #[inline]
    fn radix_bits(&self) -> F::Bits {
        self.0.radix_bits()
    }
}

impl<F: fmt::Debug> fmt::Debug for Total<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
