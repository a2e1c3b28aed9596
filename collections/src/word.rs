//! Keys that are numbers, as words: a table of words is smaller than one of keys with what belongs to them,
//! and keeps a copy where a key itself cannot be copied by code that does not know its type.
#![forbid(unsafe_code)]

use std::any::TypeId;
use std::hash::{Hash, Hasher};

/// Whether keys of this type are equal just if their words are.
#[inline]
pub(crate) fn has_word<K>() -> bool {
    let is = |id| typeid::of::<K>() == id;
    is(TypeId::of::<u64>())
        || is(TypeId::of::<u32>())
        || is(TypeId::of::<usize>())
        || is(TypeId::of::<i64>())
        || is(TypeId::of::<i32>())
        || is(TypeId::of::<isize>())
        || is(TypeId::of::<u16>())
        || is(TypeId::of::<i16>())
        || is(TypeId::of::<u8>())
        || is(TypeId::of::<i8>())
        || is(TypeId::of::<char>())
        || is(TypeId::of::<bool>())
}

/// The word of a key: what it hands to a hasher.
#[inline]
pub(crate) fn word<K: Hash>(key: &K) -> u64 {
    let mut word = Word(0);
    key.hash(&mut word);
    word.0
}

/// A hasher that keeps the last number it was given.
struct Word(u64);

/// Keeps each width.
macro_rules! keep {
    ($($write:ident: $int:ty),*) => {
        impl Hasher for Word {
            $(#[inline]
            fn $write(&mut self, int: $int) {
                self.0 = int as u64;
            })*

            fn write(&mut self, _: &[u8]) {
                unreachable!("a number hands itself over");
            }

            fn finish(&self) -> u64 {
                self.0
            }
        }
    };
}

keep! { write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_usize: usize }

#[cfg(test)]
mod tests {
    use super::{has_word, word};
    use std::collections::HashSet;
    use std::hash::Hash;

    fn differ<K: Hash + Eq>(keys: impl IntoIterator<Item = K>) {
        assert!(has_word::<K>());
        let mut words = HashSet::new();
        let all = keys.into_iter().map(|key| words.insert(word(&key)));
        assert!(all.fold(true, |all, fresh| all & fresh));
    }

    #[test]
    fn different_numbers_have_different_words() {
        differ([0, 1, u64::MAX, 1 << 63, 1 << 32]);
        differ([0, 1, usize::MAX]);
        differ([0, 1, -1, i64::MIN, i64::MAX]);
        differ([0, 1, -1, isize::MIN, isize::MAX]);
        differ([0, 1, -1, i32::MIN, i32::MAX]);
        differ([0, 1, u32::MAX]);
        differ(i16::MIN..=i16::MAX);
        differ(u16::MIN..=u16::MAX);
        differ(i8::MIN..=i8::MAX);
        differ(u8::MIN..=u8::MAX);
        differ(['a', '\0', char::MAX]);
        differ([false, true]);
    }

    #[test]
    fn other_keys_have_none() {
        assert!(!has_word::<&u64>() && !has_word::<(u8, u8)>() && !has_word::<String>());
        assert!(!has_word::<u128>() && !has_word::<[u8; 4]>() && !has_word::<Option<u32>>());
    }
}
