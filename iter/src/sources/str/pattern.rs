//! The characters that a string is searched for.
#![forbid(unsafe_code)]

use crate::plumbing::Folder;
use std::iter::FusedIterator;

/// A character, several of them, or a predicate. Public in name only: the
/// trait bounds public methods and cannot be reached from outside.
pub trait Pattern: Sized + Sync + Send {
    /// Where the first match begins.
    fn first_in(&self, text: &str) -> Option<usize>;

    /// Where the last match begins.
    fn last_in(&self, text: &str) -> Option<usize>;

    /// `text` without the match at its end, if there is one.
    fn strip_end<'t>(&self, text: &'t str) -> Option<&'t str>;

    /// The pieces between matches.
    fn between<'t>(&self, text: &'t str) -> impl FusedIterator<Item = &'t str>;

    /// The pieces that end after a match.
    fn after<'t>(&self, text: &'t str) -> impl FusedIterator<Item = &'t str>;

    /// Feeds the matches to a folder.
    fn fold_matches<'t, F: Folder<&'t str>>(&self, text: &'t str, folder: F) -> F;

    /// Feeds the matches to a folder, with their positions counted from `base`.
    fn fold_match_indices<'t, F>(&self, text: &'t str, base: usize, folder: F) -> F
    where
        F: Folder<(usize, &'t str)>;
}

/// std's own trait cannot be named yet, so each type that implements it gets
/// the same code.
macro_rules! pattern {
    ([$($gen:tt)*] $ty:ty, $me:ident => $std:expr) => {
        impl<$($gen)*> Pattern for $ty {
            #[inline]
            fn first_in(&$me, text: &str) -> Option<usize> {
                text.find($std)
            }

            #[inline]
            fn last_in(&$me, text: &str) -> Option<usize> {
                text.rfind($std)
            }

            #[inline]
            fn strip_end<'t>(&$me, text: &'t str) -> Option<&'t str> {
                text.strip_suffix($std)
            }

            #[inline]
            fn between<'t>(&$me, text: &'t str) -> impl FusedIterator<Item = &'t str> {
                text.split($std)
            }

            #[inline]
            fn after<'t>(&$me, text: &'t str) -> impl FusedIterator<Item = &'t str> {
                text.split_inclusive($std)
            }

            fn fold_matches<'t, F: Folder<&'t str>>(&$me, text: &'t str, folder: F) -> F {
                folder.consume_iter(text.matches($std))
            }

            fn fold_match_indices<'t, F>(&$me, text: &'t str, base: usize, folder: F) -> F
            where
                F: Folder<(usize, &'t str)>,
            {
                let matches = text.match_indices($std);
                folder.consume_iter(matches.map(|(at, found)| (base + at, found)))
            }
        }
    };
}

pattern! { [] char, self => *self }
pattern! { [] &[char], self => *self }
pattern! { [const N: usize] [char; N], self => *self }
pattern! { [const N: usize] &[char; N], self => *self }
pattern! { [P: Fn(char) -> bool + Sync + Send] P, self => self }
