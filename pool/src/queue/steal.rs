//! What a thief comes back with.
#![forbid(unsafe_code)]

/// What a thief found at the end of a deque that it looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steal<T> {
    /// It is the thief's now.
    Taken(T),
    /// Nothing here for this thief.
    Empty,
    /// Work, but none that is public: ask the owner.
    Private,
    /// Another thread was faster; there may be more.
    Retry,
}

impl<T> Steal<T> {
    #[inline]
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> Steal<U> {
        match self {
            Self::Taken(taken) => Steal::Taken(f(taken)),
            Self::Empty => Steal::Empty,
            Self::Private => Steal::Private,
            Self::Retry => Steal::Retry,
        }
    }
}
