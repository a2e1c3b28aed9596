//! The keys by which entries are asked for: owned, or borrowed until an owned key is needed.
#![forbid(unsafe_code)]

use std::borrow::Borrow;
use std::hash::Hash;

/// The kinds of keys that an [`Entry`](super::Entry) may have: [`Owned`] and [`Borrowed`]. No other type is one.
///
/// A function that takes entries of both kinds asks for it:
///
/// ```
/// use std::hash::BuildHasher;
/// use tine::ParHashMap;
/// use tine::map::{Entry, Given};
///
/// fn count<S, F, G>(entry: Entry<'_, String, u32, S, F, G>)
/// where
///     S: BuildHasher,
///     F: FnOnce(&mut u32),
///     G: Given<String>,
/// {
///     *entry.or_default() += 1;
/// }
///
/// let words = ParHashMap::new();
/// count(words.entry(String::from("fork")));
/// count(words.entry_ref("fork"));
/// assert_eq!(words.get_cloned("fork"), Some(2));
/// ```
pub trait Given<K>: Lookup<K, <Self as Given<K>>::Key> {
    /// What the key is looked up as.
    type Key: Hash + ?Sized;
}

/// What an entry does with its key. It cannot be named outside this crate, so no other type has it.
pub trait Lookup<K, Q: ?Sized> {
    /// The key, for looking it up.
    fn key(&self) -> &Q;

    /// Whether it is equal to a key of the map.
    fn is(&self, key: &K) -> bool;

    /// The key of a new entry.
    fn into_key(self) -> K;
}

/// An owned key, as [`ParHashMap::entry`](super::ParHashMap::entry) got it.
///
/// ```
/// use std::hash::RandomState;
/// use tine::ParHashMap;
/// use tine::map::{Entry, Owned};
///
/// type OfWord<'a> = Entry<'a, String, u32, RandomState, fn(&mut u32), Owned<String>>;
/// let words = ParHashMap::with_hasher(RandomState::new());
/// let entry: OfWord<'_> = words.entry(String::from("fork"));
/// assert_eq!(*entry.or_insert(4), 4);
/// ```
#[derive(Debug)]
pub struct Owned<K>(pub(super) K);

/// A borrowed key, as [`ParHashMap::entry_ref`](super::ParHashMap::entry_ref) got it.
///
/// ```
/// use std::hash::RandomState;
/// use tine::ParHashMap;
/// use tine::map::{Borrowed, Entry};
///
/// type OfWord<'a> = Entry<'a, String, u32, RandomState, fn(&mut u32), Borrowed<'a, str>>;
/// let words = ParHashMap::with_hasher(RandomState::new());
/// let entry: OfWord<'_> = words.entry_ref("fork");
/// assert_eq!(*entry.or_insert(4), 4);
/// ```
#[derive(Debug)]
pub struct Borrowed<'q, Q: ?Sized>(pub(super) &'q Q);

impl<K: Eq + Hash> Given<K> for Owned<K> {
    type Key = K;
}

impl<K: Eq + Hash> Lookup<K, K> for Owned<K> {
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
}

impl<'q, K, Q> Lookup<K, Q> for Borrowed<'q, Q>
where
    K: Borrow<Q> + From<&'q Q>,
    Q: Eq + Hash + ?Sized,
{
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
