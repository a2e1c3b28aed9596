//! Plain records, most of which equal one of a few words. Those are counted and not moved, since equal words
//! cannot be told apart.
//!
//! ```text
//! v       7 3 7 7 9 3 7 7 3        a sample has met 3 and 7 more than once
//! counts  3: three, 7: five        others: 9, which are sorted by themselves
//! v       3 3 3 7 7 7 7 7 9        written anew, in stretches
//! ```
//!
//! The slice is only read until everything is known, so giving up costs only the time. Extra
//! memory: the other records, a quarter at most, and as much again to sort them.
#![forbid(unsafe_code)]

use std::ops::Range;

use crate::plumbing::both;

use super::plain;
use super::word::{OwnKey, RadixBits};
use crate::sort::fork;

/// At most this many records are looked at to learn which words are frequent.
const SAMPLE: usize = 1024;
/// In short slices, one record in this many.
const SAMPLED: usize = 16;
/// The table of frequent words stays in the first cache with its counts.
const SLOTS_LOG: u32 = 10;
const SLOTS: usize = 1 << SLOTS_LOG;
/// At most one record in `RARE` may differ from all frequent words.
const RARE: usize = 4;

/// Sorts `v`, whose equal words have equal bytes, if most of its records equal one of a few hundred
/// words. Returns whether it did.
pub(crate) fn sort<R: OwnKey>(v: &mut [R], threads: usize) -> bool {
    let Some(table) = Table::of(v) else {
        return false;
    };
    let grain = fork::grain(v.len(), threads);
    let Some(Tally { counts, mut others }) = table.count_all(v, grain) else {
        return false;
    };
    if others.len() < plain::SHORTEST || !plain::sort(&mut others, || threads) {
        others.sort_unstable_by(R::cmp);
    }
    let stretches = table.stretches(&counts, &others);
    fork::each_slice(v, grain, &|at, piece: &mut [R]| {
        write(at, piece, &stretches, &others);
    });
    true
}

/// The frequent words, each in one of the two slots of its pair.
struct Table<R: OwnKey> {
    words: Vec<R::Bits>,
    /// The record of each word, where the slot is taken.
    records: Vec<Option<R>>,
}

/// The counts of a piece.
struct Tally<R> {
    /// How often the word of each slot occurs.
    counts: Vec<usize>,
    others: Vec<R>,
}

/// The first slot of a word's pair.
#[inline(always)]
fn slot<B: RadixBits>(word: B) -> usize {
    let folded = word.down(0) ^ word.down(B::WIDTH / 2);
    let mixed = (folded as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (u64::BITS - SLOTS_LOG)) as usize & !1
}

impl<R: OwnKey> Table<R> {
    /// The words that occur more than once in a sample of `v`, if they make up most of it.
    fn of(v: &[R]) -> Option<Self> {
        let size = (v.len() / SAMPLED).clamp(SAMPLE / 16, SAMPLE);
        let sample = v.iter().step_by((v.len() / size).max(1));
        let mut sample: Vec<R> = sample.copied().collect();
        sample.sort_unstable_by(R::cmp);
        // Free slots hold any word; the loop below gives them a word that no lookup finds there.
        let mut table = Table {
            words: vec![sample.first()?.bits(); SLOTS],
            records: vec![None; SLOTS],
        };
        let mut met = 0;
        for equal in sample.chunk_by(|a, b| a.bits() == b.bits()) {
            let pair = slot(equal[0].bits());
            let free = (pair..pair + 2).find(|&at| table.records[at].is_none());
            if let (2.., Some(free)) = (equal.len(), free) {
                table.words[free] = equal[0].bits();
                table.records[free] = Some(equal[0]);
                met += equal.len();
            }
        }
        // A lookup must not find a free slot: the slot's word must belong to another pair.
        for at in 0..SLOTS {
            if table.records[at].is_none() {
                let pair = at & !1;
                let taken = table.records[pair].is_some().then(|| table.words[pair]);
                let elsewhere = || table.taken_outside(pair);
                table.words[at] = taken.or_else(elsewhere)?;
            }
        }
        (met > sample.len() - sample.len() / RARE).then_some(table)
    }

    /// The slot of a frequent word.
    fn slot(&self, word: R) -> usize {
        let first = slot(word.bits());
        first + usize::from(self.words[first] != word.bits())
    }

    /// A word that belongs to another pair.
    fn taken_outside(&self, pair: usize) -> Option<R::Bits> {
        let mut taken = self.records.iter().flatten().map(R::bits);
        taken.find(|&word| slot(word) != pair)
    }

    /// Counts in each piece, in parallel; `None` if a piece has too many others.
    fn count_all(&self, v: &[R], grain: usize) -> Option<Tally<R>> {
        if v.len() <= grain {
            return self.count(v);
        }
        let (left, right) = v.split_at(v.len() / 2);
        let (left, right) = both(
            || self.count_all(left, grain),
            || self.count_all(right, grain),
        );
        let (mut left, right) = (left?, right?);
        for (sum, count) in left.counts.iter_mut().zip(&right.counts) {
            *sum += count;
        }
        left.others.try_reserve(right.others.len()).ok()?;
        left.others.extend_from_slice(&right.others);
        Some(left)
    }

    fn count(&self, v: &[R]) -> Option<Tally<R>> {
        let words: &[R::Bits; SLOTS] = self.words[..].try_into().expect("a word for each slot");
        let most = v.len() / RARE;
        let mut others = Vec::new();
        others.try_reserve_exact(most).ok()?;
        // Two counters for each word, so that the second of two equal neighbours does not wait for the first.
        let mut counts = [[0_usize; SLOTS]; 2];
        for pair in v.chunks(2) {
            for (record, counts) in pair.iter().zip(&mut counts) {
                let word = record.bits();
                let at = slot(word);
                if words[at] == word {
                    counts[at] += 1;
                } else if words[at + 1] == word {
                    counts[at + 1] += 1;
                } else if others.len() == most {
                    return None;
                } else {
                    others.push(*record);
                }
            }
        }
        let counts = counts[0].iter().zip(&counts[1]).map(|(a, b)| a + b);
        Some(Tally {
            counts: counts.collect(),
            others,
        })
    }

    /// What the sorted slice consists of.
    fn stretches(&self, counts: &[usize], others: &[R]) -> Vec<Stretch<R>> {
        let mut counted: Vec<R> = self.records.iter().flatten().copied().collect();
        counted.sort_unstable_by(R::cmp);
        let (mut start, mut seen) = (0, 0);
        let mut stretches = Vec::with_capacity(counted.len() + 1);
        for record in counted {
            let count = counts[self.slot(record)];
            let before = others.partition_point(|other| other.bits() < record.bits());
            stretches.push(Stretch {
                start,
                others: seen..before,
                then: Some((record, count)),
            });
            start += before - seen + count;
            seen = before;
        }
        stretches.push(Stretch {
            start,
            others: seen..others.len(),
            then: None,
        });
        stretches
    }
}

/// Some other records, then one word repeated.
struct Stretch<R> {
    /// Where it starts in the sorted slice.
    start: usize,
    others: Range<usize>,
    then: Option<(R, usize)>,
}

/// Writes the part of the sorted slice that starts at `at`.
fn write<R: OwnKey>(mut at: usize, mut piece: &mut [R], stretches: &[Stretch<R>], others: &[R]) {
    let first = stretches.partition_point(|stretch| stretch.start <= at) - 1;
    for stretch in &stretches[first..] {
        let within = at - stretch.start;
        let listed = &others[stretch.others.clone()];
        let listed = &listed[within.min(listed.len())..];
        let (some, rest) = piece.split_at_mut(listed.len().min(piece.len()));
        some.copy_from_slice(&listed[..some.len()]);
        at += some.len();
        piece = rest;
        if let Some((record, count)) = stretch.then {
            let end = stretch.start + stretch.others.len() + count;
            let (some, rest) = piece.split_at_mut((end - at).min(piece.len()));
            some.fill(record);
            at += some.len();
            piece = rest;
        }
        if piece.is_empty() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sort;
    use crate::sort::tests::{PATTERNS, Random, pattern, sorts_or_leaves, with_threads};

    fn check(note: &str, input: &[u64]) -> bool {
        sorts_or_leaves(note, input, |v| sort(v, 4))
    }

    #[test]
    fn sorts_or_leaves_everything_where_it_is() {
        with_threads(2, || {
            for name in PATTERNS {
                for len in [0, 1, 2, 9, 100, 5000, 20_000] {
                    check(name, &pattern(name, len));
                }
            }
            for name in ["few", "zipf", "equal"] {
                assert!(check(name, &pattern(name, 20_000)), "{name}");
            }
        });
    }

    /// All numbers of frequent words: from a single one, whose neighbours in the table are free, to too many.
    #[test]
    fn counts_any_number_of_words_with_others_among_them() {
        let mut random = Random(5);
        with_threads(2, || {
            for round in 0..120 {
                let len = 1 + random.below(12_000);
                let words = 1 + random.below(1 << (round % 10));
                let one_in = 2 + random.below(40);
                let number = |_| match random.below(one_in) {
                    0 => random.next() >> 40,
                    _ => (random.below(words) as u64) << 20,
                };
                let v: Vec<u64> = (0..len).map(number).collect();
                check("words", &v);
            }
        });
    }
}
