//! The keys by which entries are asked for: owned, or borrowed until an owned key is needed.
//!
//! Nothing here can be named outside this crate, so no other type is such a key.
#![forbid(unsafe_code)]

use std::borrow::Borrow;
use std::hash::Hash;

/// A key as [`ParHashMap::entry`](super::ParHashMap::entry) got it.
#[derive(Debug)]
pub struct Owned<K>(pub(super) K);

/// A key as [`ParHashMap::entry_ref`](super::ParHashMap::entry_ref) got it.
#[derive(Debug)]
pub struct Borrowed<'q, Q: ?Sized>(pub(super) &'q Q);

/// A key of either kind, in a map of keys of type `K`.
pub trait Given<K> {
    /// What it is looked up as.
    type Key: Hash + ?Sized;

    /// The key, for looking it up.
    fn key(&self) -> &Self::Key;

    /// Whether it is equal to a key of the map.
    fn is(&self, key: &K) -> bool;

    /// The key of a new entry.
    fn into_key(self) -> K;
}

impl<K: Eq + Hash> Given<K> for Owned<K> {
    type Key = K;

    #[inline]
    fn key(&self) -> &K {
        &self.0
    }

    #[inline]
    fn is(&self, key: &K) -> bool {
        *key == self.0
    }

    #[inline]
    fn into_key(self) -> K {
        self.0
    }
}

impl<'q, K, Q> Given<K> for Borrowed<'q, Q>
where
    K: Borrow<Q> + From<&'q Q>,
    Q: Eq + Hash + ?Sized,
{
    type Key = Q;

    #[inline]
    fn key(&self) -> &Q {
        self.0
    }

    #[inline]
    fn is(&self, key: &K) -> bool {
        key.borrow() == self.0
    }

    #[inline]
    fn into_key(self) -> K {
        K::from(self.0)
    }
}
