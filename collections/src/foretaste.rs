//! Fetching what a key owns before it is compared or dropped.
//!
//! A key cannot say where its memory is. But it hands its memory to a hasher, and a hasher need not
//! read it: the hasher here only tells the processor to fetch it.
#![forbid(unsafe_code)]

use crate::pages::expect_read;
use std::hash::{Hash, Hasher};
use std::mem;

/// How many keys are fetched ahead of the one that is dropped.
const AHEAD: usize = 16;

/// Fetches the memory that the key owns, as far as its hash would read it.
#[inline]
pub(crate) fn expect_key<K: Hash>(key: &K) {
    if const { mem::needs_drop::<K>() } {
        key.hash(&mut Foretaste);
    }
}

/// Drops a row of keys, and fetches what they own some keys before their turn: an allocator writes
/// to the memory that it takes back. The row keeps its own memory.
pub(crate) fn drop_ahead<K: Hash>(row: &mut Vec<K>) {
    row.iter().take(AHEAD).for_each(expect_key);
    let mut row = row.drain(..);
    while let Some(key) = row.next() {
        row.as_slice()
            .iter()
            .skip(AHEAD - 1)
            .take(1)
            .for_each(expect_key);
        drop(key);
    }
}

/// Where the key's memory is, if it hands any to a hasher, else 0; and whether what it hands over may be all that it owns.
pub(crate) fn place<K: Hash>(key: &K) -> (usize, bool) {
    let mut finder = Finder { at: 0, pieces: 0 };
    key.hash(&mut finder);
    // A piece of memory has an address, a length, and a capacity, and may stand beside a number.
    let is_all = mem::size_of::<K>() <= 4 * mem::size_of::<usize>() * finder.pieces;
    (finder.at, is_all)
}

/// A hasher that reads nothing: it notes where the last bytes are that it is given, and how many pieces it is given.
struct Finder {
    at: usize,
    pieces: usize,
}

impl Hasher for Finder {
    fn write(&mut self, bytes: &[u8]) {
        self.at = bytes.as_ptr().addr();
        self.pieces += 1;
    }
    fn write_u8(&mut self, _: u8) {}
    fn write_u16(&mut self, _: u16) {}
    fn write_u32(&mut self, _: u32) {}
    fn write_u64(&mut self, _: u64) {}
    fn write_u128(&mut self, _: u128) {}
    fn write_usize(&mut self, _: usize) {}
    fn finish(&self) -> u64 {
        0
    }
}

/// How many bytes the key owns, as far as its hash would read them, and how many it is itself.
pub(crate) fn weight<K: Hash>(key: &K) -> usize {
    let mut scales = Scales(mem::size_of::<K>());
    key.hash(&mut scales);
    scales.0
}

/// A hasher that reads nothing: it counts the bytes of texts and of slices.
struct Scales(usize);

impl Hasher for Scales {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = self.0.saturating_add(bytes.len());
    }
    fn finish(&self) -> u64 {
        0
    }
}

/// A hasher that reads nothing: it asks for the memory of the first bytes it is given.
struct Foretaste;

impl Hasher for Foretaste {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        expect_read(bytes.as_ptr().addr());
    }
    #[inline]
    fn write_u8(&mut self, _: u8) {}
    #[inline]
    fn write_u16(&mut self, _: u16) {}
    #[inline]
    fn write_u32(&mut self, _: u32) {}
    #[inline]
    fn write_u64(&mut self, _: u64) {}
    #[inline]
    fn write_u128(&mut self, _: u128) {}
    #[inline]
    fn write_usize(&mut self, _: usize) {}
    #[inline]
    fn finish(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::{AHEAD, drop_ahead};
    use std::hash::{Hash, Hasher};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::Rc;

    /// A key whose hash panics at one place of the row.
    struct Touchy(
        usize,
        usize,
        #[expect(dead_code, reason = "it counts")] Rc<()>,
    );

    impl Hash for Touchy {
        fn hash<H: Hasher>(&self, state: &mut H) {
            assert_ne!(self.0, self.1, "on purpose");
            "some text".hash(state);
        }
    }

    #[test]
    fn a_row_is_dropped_once() {
        let token = Rc::new(());
        for len in [0, 1, AHEAD, AHEAD + 1, 100] {
            for at in [0, AHEAD - 1, AHEAD, 99, 100] {
                let key = |i| Touchy(i, at, token.clone());
                let mut row: Vec<_> = (0..len).map(key).collect();
                let dropped = catch_unwind(AssertUnwindSafe(|| drop_ahead(&mut row)));
                assert_eq!(dropped.is_err(), at < len);
                // If a hash panics before the first drop, the owner of the row drops what is left.
                drop(row);
                assert_eq!(Rc::strong_count(&token), 1);
            }
        }
    }
}
