//! Sorts, in place, elements that are in order except for a few. The elements that are out of order are
//! gathered behind the rest, sorted, and rotated in again.
//!
//! ```text
//! v       1 2 9 3 4 5 6 0 7 8
//! kept    1 2 3 4 5 6 7 8 | 9 0       in order, then the strays
//! v       0 1 2 3 4 5 6 7 8 9
//! ```
//!
//! Extra memory: the stack. Whatever the comparison says, elements only change places.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

use super::flat::rotate_left;
use super::leaf;

/// At most one element in `RARE` may be a stray.
const RARE: usize = 16;
/// After this many strays in a row, the element kept before them is taken for the stray.
const IN_A_ROW: usize = 8;

/// Sorts `v` if all but a few of its elements are in order. Returns whether it did.
pub(super) fn sort<T, F: Fn(&T, &T) -> Ordering>(v: &mut [T], compare: &F) -> bool {
    let Some(kept) = gather(v, compare) else {
        return false;
    };
    leaf::unstable(&mut v[kept..], compare);
    rotate_in(v, kept, compare);
    true
}

/// Moves the strays behind the elements that are in order, and returns the number of elements in order; `None`
/// if there are too many strays.
fn gather<T, F: Fn(&T, &T) -> Ordering>(v: &mut [T], compare: &F) -> Option<usize> {
    let most = v.len() / RARE + IN_A_ROW;
    // `v[..kept]` are in order; of `v[kept..at]`, the strays, the last `row` have just
    // been met.
    let (mut kept, mut row, mut at) = (0, 0, 0);
    let mut returns = 0;
    while at < v.len() {
        if kept == 0 || compare(&v[at], &v[kept - 1]).is_ge() {
            v.swap(kept, at);
            (kept, row, at) = (kept + 1, 0, at + 1);
            continue;
        }
        if row == 0 && (kept == 1 || compare(&v[at], &v[kept - 2]).is_ge()) {
            // The last kept element was too large: without it all is in order.
            v.swap(kept - 1, at);
            at += 1;
        } else if row == IN_A_ROW {
            // An element some strays ago was too large, and perhaps some before it. Those of the row that are
            // in order with the kept elements may stay; the others may be strays indeed.
            at -= row;
            let mut most_in_row = at;
            for i in at..=at + row {
                if compare(&v[i], &v[most_in_row]).is_gt() {
                    most_in_row = i;
                }
            }
            while kept > 0 && at - kept <= most && compare(&v[kept - 1], &v[most_in_row]).is_gt() {
                kept -= 1;
            }
            row = 0;
            // Only a comparison that contradicts itself comes back to the same place again and again.
            returns += 1;
        } else {
            (row, at) = (row + 1, at + 1);
        }
        if at - kept > most || returns > most {
            return None;
        }
    }
    Some(kept)
}

/// Merges the few sorted elements `v[mid..]` into the sorted `v[..mid]`. One rotation brings the middle one of
/// the few to its final place.
fn rotate_in<T, F: Fn(&T, &T) -> Ordering>(v: &mut [T], mid: usize, compare: &F) {
    let few = v.len() - mid;
    if mid == 0 || few == 0 {
        return;
    }
    let j = few / 2;
    let i = v[..mid].partition_point(|x| compare(x, &v[mid + j]).is_le());
    rotate_left(&mut v[i..=mid + j], mid - i);
    let (front, back) = v.split_at_mut(i + j);
    rotate_in(front, i, compare);
    rotate_in(&mut back[1..], mid - i, compare);
}

#[cfg(test)]
mod tests {
    use super::{gather, sort};
    use crate::sort::tests::{PATTERNS, Random, pattern, rows_of_strays};

    fn check(note: &str, input: &[u64]) -> bool {
        let (mut v, mut expected) = (input.to_vec(), input.to_vec());
        let done = sort(&mut v, &u64::cmp);
        if !done {
            v.sort_unstable();
        }
        expected.sort_unstable();
        assert_eq!(v, expected, "{note}, {}, {done}", input.len());
        done
    }

    #[test]
    fn sorts_or_gives_up() {
        for name in PATTERNS {
            for len in [0, 1, 2, 9, 100, 5000] {
                check(name, &pattern(name, len));
            }
        }
        assert!(check("swapped", &pattern("swapped", 20_000)));
    }

    /// Rows of strays that are too large or too small, at any place.
    #[test]
    fn finds_strays_in_rows() {
        let mut random = Random(7);
        for _ in 0..200 {
            check("rows", &rows_of_strays(&mut random, 3000));
        }
    }

    #[test]
    fn ends_whatever_a_comparison_says() {
        let random = std::cell::RefCell::new(Random(3));
        for _ in 0..50 {
            let mut v: Vec<u64> = (0..2000).collect();
            gather(&mut v, &|a, b| {
                let roll = random.borrow_mut().below(40);
                if roll == 0 { b.cmp(a) } else { a.cmp(b) }
            });
            v.sort_unstable();
            assert!(v.into_iter().eq(0..2000));
        }
    }
}
