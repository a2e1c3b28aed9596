//! Plain records, few of which are out of place. Those are taken out, sorted, and merged with the rest, which
//! is in order without them.
//!
//! ```text
//! v       1 2 9 3 4 | 5 6 0 7 8        pieces, one for each job
//! kept    1 2 3 4     5 6 7 8          in order, within a piece and across
//! strays  9           0                sorted: 0 9
//! v       0 1 2 3 4 | 5 6 7 8 9        each piece merged with its strays
//! ```
//!
//! The slice is only read until everything is known, so giving up costs only the time. Extra memory: the kept
//! records and the strays, together as many as all records; and, to sort the strays, twice their number again:
//! an eighth of the whole.
#![forbid(unsafe_code)]

use std::ops::Range;

use crate::plumbing::{both, halves};

use super::plain;
use super::word::OwnKey;
use crate::sort::fork;

/// At most one record in `RARE` may be a stray.
const RARE: usize = 16;
/// After this many strays in a row, the record kept before them is taken for the stray.
const IN_A_ROW: usize = 8;

/// Sorts `v` if all but a few of its records are in order. Returns whether it did.
pub(crate) fn sort<R: OwnKey>(v: &mut [R], threads: usize) -> bool {
    let grain = fork::grain(v.len(), threads);
    let Some(mut pieces) = divide_all(v, grain) else {
        return false;
    };
    for right in 1..pieces.len() {
        let (left, right) = pieces.split_at_mut(right);
        if !seam(&mut left[left.len() - 1], &mut right[0]) {
            return false;
        }
    }
    let count = pieces.iter().map(|piece| piece.strays.len()).sum::<usize>();
    let mut strays = Vec::new();
    if strays.try_reserve_exact(count).is_err() {
        return false;
    }
    for piece in &pieces {
        strays.extend_from_slice(&piece.strays);
    }
    if strays.len() < plain::SHORTEST || !plain::sort(&mut strays, || threads) {
        strays.sort_unstable_by(R::cmp);
    }
    merge_all(v, &pieces, &strays);
    true
}

/// The result for a piece.
struct Piece<R> {
    all: Vec<R>,
    /// The range of `all` that is kept.
    kept: Range<usize>,
    strays: Vec<R>,
}

impl<R: OwnKey> Piece<R> {
    fn kept(&self) -> &[R] {
        &self.all[self.kept.clone()]
    }
}

/// Divides each piece, in parallel.
fn divide_all<R: OwnKey>(v: &[R], grain: usize) -> Option<Vec<Piece<R>>> {
    if v.len() <= grain {
        return Some(vec![divide(v)?]);
    }
    let (left, right) = v.split_at(v.len() / 2);
    let (left, right) = both(|| divide_all(left, grain), || divide_all(right, grain));
    let mut pieces = left?;
    pieces.extend(right?);
    Some(pieces)
}

/// Divides records into those in order and strays; `None` if there are too many strays.
fn divide<R: OwnKey>(v: &[R]) -> Option<Piece<R>> {
    let most = v.len() / RARE + IN_A_ROW;
    let (mut all, mut strays) = (Vec::new(), Vec::new());
    all.try_reserve_exact(v.len()).ok()?;
    strays.try_reserve_exact(most + 2 * IN_A_ROW).ok()?;
    let mut row = 0;
    let mut at = 0;
    while at < v.len() {
        if all
            .last()
            .is_none_or(|last: &R| last.bits() <= v[at].bits())
        {
            // A stretch that goes on in order, as long as it lasts.
            let end = v[at..]
                .windows(2)
                .position(|pair| pair[1].bits() < pair[0].bits())
                .map_or(v.len(), |last| at + last + 1);
            all.extend_from_slice(&v[at..end]);
            (row, at) = (0, end);
            continue;
        }
        let before = all.len().checked_sub(2).map(|before| all[before]);
        if row == 0 && before.is_none_or(|before| before.bits() <= v[at].bits()) {
            // The last kept record was too large: without it all is in order.
            strays.extend(all.pop());
        } else if row == IN_A_ROW {
            // A record some strays ago was too large, and perhaps some before it. Those of the row that are in
            // order with the kept records may stay; the others may be strays indeed.
            at -= row;
            let most_in_row = v[at..=at + row].iter().map(R::bits).max();
            strays.truncate(strays.len() - row);
            row = 0;
            while all.last().map(R::bits) > most_in_row {
                strays.extend(all.pop());
                if strays.len() > most {
                    return None;
                }
            }
        } else {
            strays.push(v[at]);
            row += 1;
            at += 1;
        }
        if strays.len() > most {
            return None;
        }
    }
    let kept = 0..all.len();
    Some(Piece { all, kept, strays })
}

/// Makes strays of the records that are out of order where two pieces meet. Returns `false` if there are too
/// many.
fn seam<R: OwnKey>(left: &mut Piece<R>, right: &mut Piece<R>) -> bool {
    for _ in 0..IN_A_ROW {
        let (Some(&last), Some(&first)) = (left.kept().last(), right.kept().first()) else {
            return false;
        };
        if last.bits() <= first.bits() {
            return true;
        }
        left.strays.push(last);
        left.kept.end -= 1;
        right.strays.push(first);
        right.kept.start += 1;
    }
    false
}

/// Merges each piece with the strays that belong before the next piece, in parallel. There is room for exactly
/// the pieces and the strays together.
fn merge_all<R: OwnKey>(v: &mut [R], pieces: &[Piece<R>], strays: &[R]) {
    let [piece] = pieces else {
        let (left, right) = pieces.split_at(pieces.len() / 2);
        let first = right[0].kept()[0].bits();
        let (low, high) = strays.split_at(strays.partition_point(|stray| stray.bits() < first));
        let kept = left.iter().map(|piece| piece.kept.len()).sum::<usize>();
        let (below, above) = v.split_at_mut(kept + low.len());
        halves(
            || merge_all(below, left, low),
            || merge_all(above, right, high),
        );
        return;
    };
    merge(v, piece.kept(), strays);
}

/// Merges two rows into the room for both.
fn merge<R: OwnKey>(mut room: &mut [R], mut kept: &[R], strays: &[R]) {
    for &stray in strays {
        let run = kept
            .iter()
            .position(|record| record.bits() > stray.bits())
            .unwrap_or(kept.len());
        let (before, rest) = room.split_at_mut(run);
        before.copy_from_slice(&kept[..run]);
        kept = &kept[run..];
        rest[0] = stray;
        room = &mut rest[1..];
    }
    room.copy_from_slice(kept);
}

#[cfg(test)]
mod tests {
    use super::sort;
    use crate::sort::tests::{
        PATTERNS, Random, pattern, rows_of_strays, sorts_or_leaves, with_threads,
    };

    fn check(note: &str, input: &[u64]) -> bool {
        sorts_or_leaves(note, input, |v| sort(v, 4))
    }

    #[test]
    fn sorts_or_leaves_everything_where_it_is() {
        with_threads(2, || {
            for name in PATTERNS {
                for len in [1, 2, 9, 100, 5000, 20_000] {
                    check(name, &pattern(name, len));
                }
            }
            assert!(check("swapped", &pattern("swapped", 20_000)));
        });
    }

    /// Rows of strays that are too large or too small, on both sides of the ends of pieces.
    #[test]
    fn finds_strays_in_rows() {
        let mut random = Random(7);
        with_threads(2, || {
            for round in 0..200 {
                let mut v = rows_of_strays(&mut random, 12_000);
                if round % 2 == 0 {
                    let mid = v.len() / 2;
                    v[mid..].iter_mut().take(3).for_each(|n| *n = 0);
                    v[..mid]
                        .iter_mut()
                        .rev()
                        .take(3)
                        .for_each(|n| *n = u64::MAX);
                }
                check("rows", &v);
            }
        });
    }
}
