//! Whether a pipeline can fail.
#![forbid(unsafe_code)]

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;

/// What the ends of a pipeline return: see [`Sure`] and [`Fails`].
pub trait Ending {
    /// The error of its stages.
    type Error: Send;
    /// What is returned in place of a value.
    type Result<T>;

    /// The value, unless there was an error.
    #[doc(hidden)]
    fn give<T>(value: T, error: Option<Self::Error>) -> Self::Result<T>;
}

/// The mark of a pipeline without a stage that can fail: its ends return plain values.
#[derive(Clone, Copy, Debug)]
pub struct Sure;

impl Ending for Sure {
    type Error = Infallible;
    type Result<T> = T;

    fn give<T>(value: T, error: Option<Infallible>) -> T {
        match error {
            None => value,
            Some(never) => match never {},
        }
    }
}

/// The mark of a pipeline with a stage that can fail: its ends return a `Result`.
pub struct Fails<E>(PhantomData<fn() -> E>);

impl<E> Clone for Fails<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Fails<E> {}

impl<E> fmt::Debug for Fails<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fails")
    }
}

impl<E: Send> Ending for Fails<E> {
    type Error = E;
    type Result<T> = Result<T, E>;

    fn give<T>(value: T, error: Option<E>) -> Result<T, E> {
        match error {
            None => Ok(value),
            Some(error) => {
                // Before there is a result: see `kit::keep`.
                drop(value);
                Err(error)
            }
        }
    }
}
