//! Searching a slice for a run of elements, and a sorted slice for many keys.
#![forbid(unsafe_code)]

use crate::convert::IntoParallelIterator;
use crate::iter::ParallelIterator;

/// The fewest places of a piece at which the run may begin, and the least multiple of its length.
const PIECE: usize = if cfg!(miri) { 1 << 4 } else { 1 << 12 };
const LENGTHS: usize = 8;

/// This many keys are looked up side by side: while memory fetches for one key, the next is asked
/// for.
pub(super) const ABREAST: usize = 16;

/// Where `needle` first occurs.
pub(super) fn find<T: PartialEq + Sync>(hay: &[T], needle: &[T]) -> Option<usize> {
    let beyond = hay.len().checked_sub(needle.len())?;
    if needle.is_empty() {
        return Some(0);
    }
    let falls = falls(needle);
    // The run may begin at any place up to `beyond`.
    let size = PIECE.max(needle.len().saturating_mul(LENGTHS));
    let pieces = beyond / size + 1;
    let find = |piece: usize| {
        let start = piece * size;
        // Runs that begin in this piece may end in the next.
        let end = (start + size + needle.len() - 1).min(hay.len());
        first(&hay[start..end], needle, &falls).map(|at| start + at)
    };
    match pieces {
        1 => find(0),
        _ => (0..pieces).into_par_iter().find_map_first(find),
    }
}

/// For every length of a beginning of `needle` (less one): the length of the longest shorter
/// beginning that is also an end of it.
fn falls<T: PartialEq>(needle: &[T]) -> Vec<usize> {
    let mut falls = vec![0; needle.len()];
    let mut matched = 0;
    for at in 1..needle.len() {
        while matched > 0 && needle[at] != needle[matched] {
            matched = falls[matched - 1];
        }
        matched += usize::from(needle[at] == needle[matched]);
        falls[at] = matched;
    }
    falls
}

/// Where `needle` first occurs. Looks at no element twice, except where it falls back.
fn first<T: PartialEq>(hay: &[T], needle: &[T], falls: &[usize]) -> Option<usize> {
    let (head, tail) = needle.split_first()?;
    let mut at = 0;
    loop {
        at += hay[at..].iter().position(|element| element == head)? + 1;
        let mut matched = 1;
        while matched > 0 {
            if matched > tail.len() {
                return Some(at - needle.len());
            }
            let element = hay.get(at)?;
            if *element == needle[matched] {
                matched += 1;
                at += 1;
            } else {
                matched = falls[matched - 1];
            }
        }
    }
}

/// For each of at most [`ABREAST`] keys, how many elements come `before` it.
pub(super) fn bounds<T, K, F>(hay: &[T], keys: &[K], bounds: &mut [usize], before: &F)
where
    F: Fn(&T, &K) -> bool,
{
    bounds.fill(0);
    let mut len = hay.len();
    if len == 0 {
        return;
    }
    // All keys take steps of the same length, each from its own place.
    while len > 1 {
        let half = len / 2;
        for (start, key) in bounds.iter_mut().zip(keys) {
            let mid = *start + half;
            *start = if before(&hay[mid], key) { mid } else { *start };
        }
        len -= half;
    }
    for (start, key) in bounds.iter_mut().zip(keys) {
        *start += usize::from(before(&hay[*start], key));
    }
}
