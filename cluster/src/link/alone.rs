//! One rank: it already has everything that it would ask of others.
#![forbid(unsafe_code)]

use super::Link;

/// The engine without others.
pub(crate) struct Alone;

impl Link for Alone {
    fn name(&self) -> &'static str {
        "one rank"
    }

    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn all_gather(&self, mine: &[u64]) -> Vec<u64> {
        mine.to_vec()
    }

    fn all_gather_bytes(&self, mine: &[u8], _: &[usize], all: &mut [u8]) {
        all.copy_from_slice(mine);
    }

    fn all_to_all(&self, mine: &[u64]) -> Vec<u64> {
        mine.to_vec()
    }

    fn all_sum(&self, _: &mut [u64]) {}

    fn broadcast(&self, _: usize, _: &mut [u8]) {}

    fn exchange(&self, _: &[&[u8]], _: &mut [&mut [u8]], _: usize) -> u64 {
        0
    }

    fn fail(&self, _: &str) {}
}
