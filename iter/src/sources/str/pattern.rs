//! The characters that a string is searched for.
#![forbid(unsafe_code)]

use crate::plumbing::Folder;

/// A character, several of them, or a predicate. Public in name only: the
/// trait bounds public methods and cannot be reached from outside.
pub trait Pattern: Sized + Sync + Send {
    /// Where the first match begins.
    fn first_in(&self, text: &str) -> Option<usize>;

    /// `text` without the match at its end, if there is one.
    fn strip_end<'t>(&self, text: &'t str) -> Option<&'t str>;

    /// Feeds the pieces between matches to a folder.
    fn fold_between<'t, F: Folder<&'t str>>(&self, text: &'t str, folder: F) -> F;

    /// Feeds the pieces that end after a match to a folder.
    fn fold_after<'t, F: Folder<&'t str>>(&self, text: &'t str, folder: F) -> F;

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
            fn strip_end<'t>(&$me, text: &'t str) -> Option<&'t str> {
                text.strip_suffix($std)
            }

            fn fold_between<'t, F: Folder<&'t str>>(&$me, text: &'t str, folder: F) -> F {
                folder.consume_iter(text.split($std))
            }

            fn fold_after<'t, F: Folder<&'t str>>(&$me, text: &'t str, folder: F) -> F {
                folder.consume_iter(text.split_inclusive($std))
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
