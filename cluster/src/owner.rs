//! The rank that a key belongs to: the same on every rank, in every run,
//! whatever seeds a rank's tables have.
#![forbid(unsafe_code)]

use foldhash::quality::FixedState;
use std::hash::{BuildHasher, Hash};

/// The hash of a key, the same on all ranks. The tables of a rank have their own
/// seeds: with this hash, all keys of a rank would lie in one corner of the table.
#[inline]
pub(crate) fn hash_of<K: Hash + ?Sized>(key: &K) -> u64 {
    const SEED: u64 = 0x51_7C_C1_B7_27_22_0A_95;
    FixedState::with_seed(SEED).hash_one(key)
}

/// The rank that has the keys of this hash.
#[inline]
pub(crate) fn owner(hash: u64, ranks: usize) -> usize {
    ((u128::from(hash) * ranks as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::{hash_of, owner};

    #[test]
    fn keys_are_spread_evenly() {
        for ranks in [1, 2, 7, 100] {
            let mut counts = vec![0; ranks];
            (0..10_000_u64).for_each(|key| counts[owner(hash_of(&key), ranks)] += 1);
            let mean = 10_000 / ranks;
            assert!(
                counts.iter().all(|&n| n > mean / 2 && n < 2 * mean),
                "{counts:?}"
            );
        }
        assert_eq!(owner(u64::MAX, 100), 99);
    }
}
