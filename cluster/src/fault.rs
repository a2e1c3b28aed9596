//! Failures: the error that bodies return, and the unwinding with which a collective gives up.
//!
//! A rank that panics or fails tells the engine so ([`Link::fail`]), and the
//! engine ends the others: MPI by killing them, thread ranks by unwinding from
//! the collective in which they wait. What unwinds there is a [`Stop`], which no
//! panic hook prints.
//!
//! [`Link::fail`]: crate::link::Link::fail
#![forbid(unsafe_code)]

use std::any::Any;
use std::fmt;
use std::io::{self, Write};
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The reason why a body, or a part of it, failed.
///
/// `?` turns every standard error into this type. Like other such types, it is not a
/// [`std::error::Error`] itself, but can be turned into a boxed one.
///
/// ```
/// use tine_cluster::Error;
///
/// fn parse(text: &str) -> Result<u32, Error> {
///     let number: u32 = text.parse()?;
///     if number > 9 {
///         return Err(Error::new(format!("{number} has two digits")));
///     }
///     Ok(number)
/// }
/// assert_eq!(parse("12").unwrap_err().to_string(), "12 has two digits");
/// assert!(parse("twelve").unwrap_err().to_string().contains("invalid digit"));
/// ```
pub struct Error {
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// The rank that failed, if all ranks have been told.
    agreed: Option<usize>,
}

impl Error {
    /// An error with this message.
    pub fn new(message: impl fmt::Display) -> Self {
        Error {
            message: message.to_string(),
            source: None,
            agreed: None,
        }
    }

    /// The rank whose error this is, if all ranks have been told of it by
    /// [`Cluster::agree`](crate::Cluster::agree) or by a source or sink.
    ///
    /// ```
    /// assert_eq!(tine_cluster::Error::new("no such line").agreed_rank(), None);
    /// ```
    pub fn agreed_rank(&self) -> Option<usize> {
        self.agreed
    }

    /// The error that was turned into this one, if there was one.
    ///
    /// ```
    /// let error: tine_cluster::Error = "x".parse::<u8>().unwrap_err().into();
    /// assert!(error.source().is_some());
    /// ```
    pub fn source(&self) -> Option<&(dyn std::error::Error + Send + Sync + 'static)> {
        self.source.as_deref()
    }

    pub(crate) fn agreed(rank: usize, message: String) -> Self {
        Error {
            message,
            source: None,
            agreed: Some(rank),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Error {
    fn from(source: E) -> Self {
        let mut message = source.to_string();
        let mut cause = source.source();
        while let Some(error) = cause {
            message = format!("{message}: {error}");
            cause = error.source();
        }
        Error {
            message,
            source: Some(Box::new(source)),
            agreed: None,
        }
    }
}

impl From<Error> for Box<dyn std::error::Error + Send + Sync> {
    fn from(error: Error) -> Self {
        error.message.into()
    }
}

impl From<Error> for Box<dyn std::error::Error> {
    fn from(error: Error) -> Self {
        error.message.into()
    }
}

/// The payload with which a collective unwinds.
#[derive(Clone)]
pub(crate) enum Stop {
    /// All ranks know, and report the same.
    Common(String),
    /// Only this rank knows.
    Alone(String),
    /// Another rank has failed, and reports it.
    Follows,
}

/// Unwinds without a message.
pub(crate) fn stop(why: Stop) -> ! {
    resume_unwind(Box::new(why))
}

/// Writes a line to the standard error output. If that is full or closed, the line is lost, and
/// nothing panics: the other ranks must still be ended.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// What a panic was about.
pub(crate) fn text_of(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return (*text).to_owned();
    }
    match payload.downcast_ref::<String>() {
        Some(text) => text.clone(),
        None => "a value that is no text".to_owned(),
    }
}

/// Drops what a body has returned or thrown. A panic of its destructor changes nothing: the rank
/// has failed, and must still say so.
pub(crate) fn let_go<T>(value: T) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // What the destructor threw is not dropped: it might throw again.
        forget(second);
    }
}
