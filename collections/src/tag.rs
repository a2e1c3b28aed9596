//! How much of a hash is kept between scattering and building: all of it, or nothing if computing
//! it again costs less than carrying it.
#![forbid(unsafe_code)]

use std::mem;

/// A hash that travels beside its key, or nothing.
pub(crate) trait Tag: Copy + Send {
    fn keep(hash: u64) -> Self;
    fn hash(self, again: impl FnOnce() -> u64) -> u64;
}

/// A keyed value on its way, with its tag.
pub(crate) type Tagged<G, K, V> = (G, (K, V));

/// Carries nothing.
impl Tag for () {
    #[inline]
    fn keep(_: u64) -> Self {}

    #[inline]
    fn hash(self, again: impl FnOnce() -> u64) -> u64 {
        again()
    }
}

/// Carries the hash.
impl Tag for u64 {
    #[inline]
    fn keep(hash: u64) -> Self {
        hash
    }

    #[inline]
    fn hash(self, _: impl FnOnce() -> u64) -> u64 {
        self
    }
}

/// Whether a key is most likely a number, so that hashing it takes a nanosecond.
pub(crate) const fn is_cheap<K>() -> bool {
    mem::size_of::<K>() <= 8 && !mem::needs_drop::<K>()
}
