//! Stopping whole computations: `with_token`, and the questions that code inside it may ask.
#![forbid(unsafe_code)]

use super::scope::{Scope, scope};
use crate::base::stop::{self as base, Chain};
use crate::work::under::in_chain;
use std::fmt;

pub use crate::base::stop::{StopToken, WhenStopped};

/// The error of a computation that was stopped before its end. `so_far` holds the partial result,
/// if there is one.
///
/// ```
/// # use tine_pool as tine;
/// use tine::{Stopped, StopToken, with_token};
/// let token = StopToken::new();
/// token.stop();
/// assert_eq!(with_token(&token, || 1), Err(Stopped { so_far: () }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Stopped<T = ()> {
    /// The partial result.
    pub so_far: T,
}

impl<T> fmt::Display for Stopped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the computation was stopped")
    }
}

impl<T: fmt::Debug> std::error::Error for Stopped<T> {}

/// Calls `op`; once `token` is stopped, every parallel call in it ends early.
///
/// That holds for calls at any depth and on any thread: loops, joins, sorts, tasks of scopes that
/// have not begun, jobs spawned inside, and calls inside that run in another pool. They end by
/// unwinding, so everything is dropped, once. Items and tasks that have begun run to their end. A
/// sort that is stopped leaves all elements in its slice, in some order. Your own code that takes
/// long without a parallel call, or that only spawns, may ask [`requested`](requested()). (A spawn
/// under a stopped token returns, and its task is dropped when a thread comes to it.) If `op` makes no parallel call after the
/// stop, `with_token` returns its result in `Ok`, as usual.
///
/// Calls of `with_token` may be nested: each token ends what is inside its own call. If the token
/// is stopped already, `op` is not called.
///
/// Where panics abort (`panic = "abort"`, and wasm) nothing can unwind: there, a call that has begun runs to its
/// end, and `until` and [`requested`](requested()) are the ways to stop.
///
/// # Panics
///
/// A panic of `op` resumes in the caller, even if the token was stopped at the same time.
///
/// A destructor that runs while its thread unwinds may call this too, and `op` ends there as
/// elsewhere. If `op` panics there, and a value dropped by that panic makes a
/// parallel call once the token is stopped, the process aborts: the thread cannot tell the new
/// panic from the old one, and ends the call. Such a value may use [`sheltered`].
///
/// ```
/// # use tine_pool as tine;
/// use tine::{StopToken, join, with_token};
///
/// fn fib(n: u32) -> u64 {
///     if n < 2 {
///         return u64::from(n);
///     }
///     let (a, b) = join(|| fib(n - 1), || fib(n - 2));
///     a + b
/// }
///
/// let token = StopToken::new();
/// assert_eq!(with_token(&token, || fib(15)), Ok(610));
///
/// let ends = token.clone();
/// let endless = with_token(&token, || loop {
///     if fib(10) == 55 {
///         ends.stop();
///     }
/// });
/// assert!(endless.is_err());
/// ```
pub fn with_token<R>(token: &StopToken, op: impl FnOnce() -> R) -> Result<R, Stopped> {
    if token.is_stopped() {
        return Err(Stopped::default());
    }
    let chain = Chain::inside(token.clone(), base::current());
    let result = in_chain(chain, op);
    match result {
        Ok(result) => Ok(result),
        Err(payload) if base::is_end(&payload) && token.is_stopped() => Err(Stopped::default()),
        // The end of an outer call, or a panic.
        Err(payload) => base::resume(payload),
    }
}

/// Calls `op`, which no stopped token ends: for what must be done as a whole.
///
/// ```
/// # use tine_pool as tine;
/// use tine::{StopToken, stop, with_token};
/// let token = StopToken::new();
/// let done = with_token(&token, || {
///     token.stop();
///     stop::sheltered(|| {
///         assert!(!stop::requested());
///         tine::join(|| 1, || 2)
///     })
/// });
/// assert_eq!(done, Ok((1, 2)));
/// ```
pub fn sheltered<R>(op: impl FnOnce() -> R) -> R {
    crate::work::under::sheltered(op)
}

/// Whether the calling code is to stop: it runs in a [`with_token`] whose token is stopped. For code that
/// takes long without a parallel call.
///
/// ```
/// # use tine_pool as tine;
/// use tine::{StopToken, stop, with_token};
/// let token = StopToken::new();
/// let found = with_token(&token, || {
///     let mut n = 0_u64;
///     while !stop::requested() {
///         n += 1;
///         if n == 1000 {
///             token.stop();
///         }
///     }
///     n
/// });
/// assert_eq!(found, Ok(1000));
/// assert!(!stop::requested()); // no longer inside
/// ```
#[must_use]
pub fn requested() -> bool {
    base::requested()
}

/// Whether a caught panic is no real panic, but only the end of a stopped computation. Code that
/// catches panics inside [`with_token`] should ask this, and pass such an end on with
/// [`resume_unwind`](std::panic::resume_unwind).
///
/// ```
/// # use tine_pool as tine;
/// use tine::{StopToken, join, stop, with_token};
/// let token = StopToken::new();
/// let ended = with_token(&token, || {
///     token.stop();
///     let caught = std::panic::catch_unwind(|| join(|| (), || ()));
///     let payload = caught.unwrap_err();
///     assert!(stop::is_end(&*payload));
///     std::panic::resume_unwind(payload)
/// });
/// # let ended: Result<(), _> = ended;
/// assert!(ended.is_err());
/// ```
#[must_use]
pub fn is_end(payload: &(dyn std::any::Any + Send)) -> bool {
    payload.is::<base::Unwound>()
}

/// Opens a [`scope()`] under a token: once the token is stopped, tasks that have not begun are dropped,
/// and tasks that have begun end at their next parallel call.
///
/// ```
/// # use tine_pool as tine;
/// use tine::{StopToken, scope_with};
/// let token = StopToken::new();
/// let result = scope_with(&token, |s| {
///     token.stop();
///     s.spawn(|_| unreachable!("not begun, and so dropped"));
/// });
/// assert!(result.is_err());
/// ```
pub fn scope_with<'scope, OP, R>(token: &StopToken, op: OP) -> Result<R, Stopped>
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    with_token(token, || scope(op))
}
