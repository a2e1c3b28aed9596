//! The default hasher of maps and sets.
#![forbid(unsafe_code)]

use foldhash::fast::{FoldHasher, RandomState};
use std::hash::{BuildHasher, Hasher};

/// The default hasher of maps and sets: foldhash, with a seed for each of them.
///
/// ```
/// use std::hash::BuildHasher;
/// use tine::{DefaultHashBuilder, ParHashMap};
///
/// let hasher = DefaultHashBuilder::default();
/// assert_eq!(hasher.hash_one("fork"), hasher.hash_one("fork"));
/// let map: ParHashMap<u32, u32, DefaultHashBuilder> = ParHashMap::with_hasher(hasher);
/// assert!(map.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct DefaultHashBuilder(RandomState);

impl BuildHasher for DefaultHashBuilder {
    type Hasher = DefaultHasher;

    #[inline(always)]
    fn build_hasher(&self) -> DefaultHasher {
        DefaultHasher(self.0.build_hasher())
    }
}

/// The hasher that [`DefaultHashBuilder`] makes for each key.
///
/// ```
/// use std::hash::{BuildHasher, Hasher};
///
/// let mut hasher = tine::DefaultHashBuilder::default().build_hasher();
/// hasher.write_u32(7);
/// let before = hasher.finish();
/// hasher.write_u32(7);
/// assert_ne!(hasher.finish(), before);
/// ```
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "its state is a secret")]
pub struct DefaultHasher(FoldHasher<'static>);

/// Forwards each width to foldhash's own method for it.
macro_rules! forward {
    ($($write:ident: $int:ty),*) => {
        impl Hasher for DefaultHasher {
            #[inline(always)]
            fn write(&mut self, bytes: &[u8]) {
                self.0.write(bytes);
            }

            $(#[inline(always)]
            fn $write(&mut self, int: $int) {
                self.0.$write(int);
            })*

            #[inline(always)]
            fn finish(&self) -> u64 {
                self.0.finish()
            }
        }
    };
}

forward! {
    write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128,
    write_usize: usize
}
