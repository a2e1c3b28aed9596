//! An estimate of how much work a job is: for a thief that may choose among the offers of several
//! owners.
//!
//! A part of a loop says how long it will take. For half of a join that is not known. There, the
//! depth in the tree of joins stands for it: each level counts half as much as the level above. Any
//! such half outweighs any part of a loop (a thief that meets both takes the half). All of this is
//! a guess. Only speed depends on it.
#![forbid(unsafe_code)]

use crate::base::sync::{Hint, Ordering};

/// A job's weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Weight(u32);

impl Weight {
    /// Of a job of which nothing is known: as if it was the root of all.
    pub(crate) const ROOT: Self = Self(1 << 24);

    /// How many bits of a word it takes; all of them, and the greatest of a time.
    pub(crate) const BITS: u32 = 6;
    const ALL: u32 = (1 << Self::BITS) - 1;
    const TIMES: u32 = 40;

    /// The least weight of a job that does not say how long it takes.
    const UNTIMED: u32 = 1 << 16;

    /// Of a job that takes that long: a doubling is one more.
    #[inline]
    pub(crate) fn of_nanos(nanos: u64) -> Self {
        Self(u64::BITS - (nanos | 1).leading_zeros())
    }

    /// In [`BITS`](Self::BITS) bits: all times above twenty minutes look the same, and so do all depths beyond 22 levels.
    #[inline]
    pub(crate) fn bits(self) -> u64 {
        let bits = match self.0.checked_sub(Self::UNTIMED) {
            None => self.0.min(Self::TIMES),
            Some(_) => {
                let levels = Self::ROOT.0.saturating_sub(self.0);
                (Self::ALL - levels.min(Self::ALL)).max(Self::TIMES + 1)
            }
        };
        u64::from(bits)
    }

    /// What those bits say.
    #[inline]
    pub(crate) fn from_bits(bits: u64) -> Self {
        match bits as u32 & Self::ALL {
            time @ ..=Self::TIMES => Self(time),
            more => Self(Self::ROOT.0 - (Self::ALL - more)),
        }
    }

    /// Whether it was made of a time.
    pub(crate) fn is_timed(self) -> bool {
        self.0 < Self::UNTIMED
    }

    /// Of what lies that far further in.
    pub(crate) fn below(self, levels: usize) -> Self {
        let least = if self.is_timed() { 1 } else { Self::UNTIMED };
        let levels = u32::try_from(levels).unwrap_or(u32::MAX);
        Self(self.0.saturating_sub(levels).max(least))
    }
}

/// What the owner of a stack of nested jobs knows of their weights. A thread that publishes for it reads this too.
#[derive(Debug)]
pub(crate) struct Weights<const DEPTHS: usize> {
    /// What a job at depth 0 would weigh, by the weight of the job that runs here and the depth at which it began; 0 if that
    /// is not known.
    rank: Hint,
    /// The weight of the job that this thread is about to begin; 0 if it is not known.
    next: Hint,
    /// Of the jobs that say how long they take, by depth; 0 for the others.
    at: [Hint; DEPTHS],
}

/// The job that ran here before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outer(u32);

impl<const DEPTHS: usize> Weights<DEPTHS> {
    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Self {
            rank: Hint::new(0),
            next: Hint::new(0),
            at: std::array::from_fn(|_| Hint::new(0)),
        }
    }

    /// This thread has taken a job of that weight, and will run it next.
    pub(crate) fn took(&self, weight: Weight) {
        self.next.store(weight.0, Ordering::Relaxed);
    }

    /// A job begins at that depth. One that was not taken from such a stack goes by the weight of what lies below it.
    #[inline(always)]
    pub(crate) fn begin(&self, base: usize) -> Outer {
        let outer = Outer(self.rank.load(Ordering::Relaxed));
        let next = self.next.load(Ordering::Relaxed);
        if next != 0 {
            self.rank
                .store(next.saturating_add(base as u32), Ordering::Relaxed);
            self.next.store(0, Ordering::Relaxed);
        }
        outer
    }

    /// It has ended.
    #[inline(always)]
    pub(crate) fn end(&self, outer: Outer) {
        self.rank.store(outer.0, Ordering::Relaxed);
    }

    /// The job that is about to be pushed at this depth has that weight, or (`None`) the one that lay there is gone.
    #[inline(always)]
    pub(crate) fn set(&self, depth: usize, weight: Option<Weight>) {
        let weight = weight.map_or(0, |weight| weight.0);
        // The mask changes nothing; it spares a bounds check.
        self.at[depth & (DEPTHS - 1)].store(weight, Ordering::Relaxed);
    }

    /// The weight of the job at this depth.
    pub(crate) fn of(&self, depth: usize) -> Weight {
        let said = self.at[depth].load(Ordering::Relaxed);
        if said != 0 {
            return Weight(said);
        }
        match self.rank.load(Ordering::Relaxed) {
            0 => Weight::ROOT.below(depth),
            rank => Weight(rank).below(depth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Weight;

    #[test]
    fn a_doubling_of_the_time_is_one_more() {
        let weights = [0, 1, 2, 1_000, 2_000, u64::MAX].map(Weight::of_nanos);
        assert_eq!(weights.map(|w| w.0), [1, 1, 2, 10, 11, 64]);
        assert!(weights.iter().all(|w| w.is_timed()));
        assert!(weights.iter().all(|&w| w < Weight::ROOT));
    }

    #[test]
    fn bits_keep_the_order() {
        let times = (0..=40).map(|n| Weight::of_nanos((1 << n) - 1));
        let levels = (0..23).rev().map(|n| Weight::ROOT.below(n));
        let all: Vec<_> = times.skip(1).chain(levels).collect();
        assert!(all.windows(2).all(|two| two[0] < two[1]));
        for weight in &all {
            assert_eq!(Weight::from_bits(weight.bits()), *weight);
        }
        assert_eq!(all.len(), Weight::ALL as usize);
        for (weight, same) in [
            (Weight::of_nanos(u64::MAX), Weight::of_nanos((1 << 40) - 1)),
            (Weight::ROOT.below(4096), Weight::ROOT.below(22)),
            (Weight(u32::MAX), Weight::ROOT),
        ] {
            assert_eq!(Weight::from_bits(weight.bits()), same);
        }
    }

    #[test]
    fn what_lies_further_in_weighs_less_and_is_of_the_same_kind() {
        for weight in [Weight::ROOT, Weight::of_nanos(1 << 40)] {
            assert_eq!(weight.below(0), weight);
            assert!(weight.below(1) < weight);
            assert_eq!(weight.below(3), weight.below(1).below(2));
            for levels in [64, 4096, usize::MAX] {
                assert_eq!(weight.below(levels).is_timed(), weight.is_timed());
            }
        }
    }
}
