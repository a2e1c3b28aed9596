//! From any `RangeBounds<usize>` to a plain range inside a length.
#![forbid(unsafe_code)]

use std::ops::{Bound, Range, RangeBounds};

/// The positions of `0..len` that `range` names.
///
/// Panics if the range is reversed or reaches beyond `len`.
#[track_caller]
pub(crate) fn within(range: impl RangeBounds<usize>, len: usize) -> Range<usize> {
    let start = match range.start_bound() {
        Bound::Unbounded => Some(0),
        Bound::Included(&at) => Some(at),
        Bound::Excluded(&at) => at.checked_add(1),
    };
    let end = match range.end_bound() {
        Bound::Unbounded => Some(len),
        Bound::Excluded(&at) => Some(at),
        Bound::Included(&at) => at.checked_add(1),
    };
    match (start, end) {
        (Some(start), Some(end)) if start <= end && end <= len => start..end,
        _ => panic!(
            "range {:?}..{:?} is out of bounds for length {len}",
            range.start_bound(),
            range.end_bound(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::within;
    use std::ops::Bound;

    #[test]
    fn every_kind_of_bound() {
        assert_eq!(within(.., 4), 0..4);
        assert_eq!(within(1.., 4), 1..4);
        assert_eq!(within(4.., 4), 4..4);
        assert_eq!(within(..3, 4), 0..3);
        assert_eq!(within(..=3, 4), 0..4);
        assert_eq!(within(1..=2, 4), 1..3);
        assert_eq!(within((Bound::Excluded(0), Bound::Unbounded), 4), 1..4);
        assert_eq!(within((Bound::Excluded(3), Bound::Included(3)), 4), 4..4);
    }

    #[test]
    #[should_panic(expected = "out of bounds for length 4")]
    fn beyond_the_end() {
        within(2..5, 4);
    }

    #[test]
    #[should_panic(expected = "out of bounds for length 4")]
    fn reversed() {
        let (from, to) = (3, 2);
        within(from..to, 4);
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn no_wrap_at_the_largest_index() {
        within(..=usize::MAX, usize::MAX);
    }
}
