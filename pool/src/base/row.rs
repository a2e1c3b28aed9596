//! A row of things, one for each seat, that can grow once: by the spare seats.
//!
//! Spare seats that are never used cost nothing. The second part is made when it is first asked
//! for, and a thread that walks along the row sees no more of it than was ever in use.
#![forbid(unsafe_code)]

use crate::base::sync::{AtomicUsize, Ordering};
use std::iter::Chain;
use std::ops::Index;
use std::slice::{self, Iter};
use std::sync::OnceLock;

/// The row.
#[derive(Debug)]
pub(crate) struct Row<T> {
    first: Box<[T]>,
    spare: OnceLock<Box<[T]>>,
    /// The number of spare places that have been in use.
    used: AtomicUsize,
}

impl<T> Row<T> {
    pub(crate) fn new(first: impl IntoIterator<Item = T>) -> Self {
        Self {
            first: first.into_iter().collect(),
            spare: OnceLock::new(),
            used: AtomicUsize::new(0),
        }
    }

    /// The places that are always there.
    pub(crate) fn first(&self) -> &[T] {
        &self.first
    }

    /// Makes the spare part if there is none yet: `spare` places, which `make` makes from their
    /// indices.
    pub(crate) fn extend(&self, spare: usize, make: impl Fn(usize) -> T) -> &[T] {
        let start = self.first.len();
        self.spare
            .get_or_init(|| (start..start + spare).map(make).collect())
    }

    /// From now on every walk along the row includes the places up to `index`.
    pub(crate) fn show(&self, index: usize) {
        let used = (index + 1).saturating_sub(self.first.len());
        // Relaxed: a thread learns of a seat from what is pushed there, and from a fence.
        self.used.fetch_max(used, Ordering::Relaxed);
    }

    /// The spare places that have been in use.
    pub(crate) fn spare(&self) -> &[T] {
        match self.used.load(Ordering::Relaxed) {
            0 => &[],
            used => self.spare.get().map_or(&[], |spare| &spare[..used]),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.first.len() + self.spare().len()
    }

    pub(crate) fn iter(&self) -> Chain<Iter<'_, T>, Iter<'_, T>> {
        self.first.iter().chain(self.spare())
    }

    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        match index.checked_sub(self.first.len()) {
            None => self.first.get(index),
            Some(index) => self.spare.get()?.get(index),
        }
    }
}

impl<T> Index<usize> for Row<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        self.get(index).expect("the seat has been in use")
    }
}

impl<'a, T> IntoIterator for &'a Row<T> {
    type Item = &'a T;
    type IntoIter = Chain<slice::Iter<'a, T>, slice::Iter<'a, T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Row;

    #[test]
    fn a_row_shows_what_was_in_use() {
        let row = Row::new([0, 1]);
        assert_eq!((row.count(), row.get(2)), (2, None));
        assert_eq!(row.extend(3, |i| i), [2, 3, 4]);
        assert_eq!((row.count(), row[4]), (2, 4));
        row.show(3);
        assert!(row.iter().eq(&[0, 1, 2, 3]));
        row.show(1);
        assert_eq!((row.spare(), row.get(5)), (&[2, 3][..], None));
    }
}
