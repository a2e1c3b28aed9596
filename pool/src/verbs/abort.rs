//! Handles whose jobs end when the handle is dropped: `spawn_async`, `abort_on_drop`, and the first
//! of two jobs.
#![forbid(unsafe_code)]

use super::handle::{JoinHandle, spawn_join, wait};
use super::pool::ThreadPool;
use super::stop::{StopToken, Stopped, with_token};
use crate::base::park::Parker;
use crate::queue::job::Taken;
use crate::work::errand;
use crate::work::kin::Task;
use crate::work::shared::Shared;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

/// Starts a job under `token`, as in [`with_token`]. Once the token is stopped, the job ends at its
/// next parallel call. If it has not begun, it never begins. If it makes no parallel call after the
/// stop, it returns its result in `Ok`, as usual.
///
/// ```
/// # use tine_pool as tine;
/// use tine::{StopToken, spawn_join_with};
/// let token = StopToken::new();
/// let job = spawn_join_with(&token, || tine::join(|| 1, || 2));
/// assert_eq!(job.join().unwrap(), Ok((1, 2)));
///
/// token.stop();
/// let job = spawn_join_with(&token, || unreachable!());
/// assert!(job.join().unwrap().is_err());
/// ```
pub fn spawn_join_with<F, T>(token: &StopToken, func: F) -> JoinHandle<Result<T, Stopped>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let token = token.clone();
    spawn_join(move || with_token(&token, func))
}

/// Starts a job that ends when its handle is dropped: for async code, where a future is dropped
/// once no caller wants its result any more.
///
/// The job works under a token of its own. Once the handle is dropped, the job ends at its next
/// parallel call or, in a loop, between two blocks, some microseconds later. A job that has not
/// begun never begins.
///
/// ```
/// # use tine_pool as tine;
/// use tine::{spawn_async, stop};
/// let (send, receive) = std::sync::mpsc::channel();
/// let job = spawn_async(move || {
///     send.send("begun").unwrap();
///     while !stop::requested() {
///         std::thread::yield_now();
///     }
///     send.send("ended").unwrap();
/// });
/// assert_eq!(receive.recv(), Ok("begun"));
/// drop(job); // the client has hung up
/// assert_eq!(receive.recv(), Ok("ended"));
/// ```
pub fn spawn_async<F, T>(func: F) -> AbortOnDrop<Result<T, Stopped>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_async_with(&StopToken::new(), func)
}

/// As [`spawn_async`], under a child of `token`. The token may be for all requests, say, or have a
/// deadline.
///
/// ```
/// # use tine_pool as tine;
/// use std::time::Duration;
/// use tine::{StopToken, spawn_async_with, stop};
/// let late = StopToken::new().with_timeout(Duration::from_millis(1));
/// let job = spawn_async_with(&late, || loop {
///     tine::join(|| (), || ());
/// });
/// # let job: tine::AbortOnDrop<Result<(), _>> = job;
/// assert!(job.join().unwrap().is_err());
/// ```
pub fn spawn_async_with<F, T>(token: &StopToken, func: F) -> AbortOnDrop<Result<T, Stopped>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let token = token.child();
    let handle = spawn_join_with(&token, func);
    handle.stopped_by(token)
}

impl ThreadPool {
    /// [`spawn_join_with`](crate::spawn_join_with) in this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let job = pool.spawn_join_with(&tine::StopToken::new(), || "done");
    /// assert_eq!(job.join().unwrap(), Ok("done"));
    /// ```
    pub fn spawn_join_with<F, T>(
        &self,
        token: &StopToken,
        func: F,
    ) -> JoinHandle<Result<T, Stopped>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let token = token.clone();
        self.spawn_join(move || with_token(&token, func))
    }

    /// [`spawn_async`](crate::spawn_async) in this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let job = pool.spawn_async(|| tine::current_num_threads());
    /// assert_eq!(job.join().unwrap(), Ok(2));
    /// ```
    pub fn spawn_async<F, T>(&self, func: F) -> AbortOnDrop<Result<T, Stopped>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.spawn_async_with(&StopToken::new(), func)
    }

    /// [`spawn_async_with`](crate::spawn_async_with) in this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let job = pool.spawn_async_with(&tine::StopToken::new(), || "done");
    /// assert_eq!(job.join().unwrap(), Ok("done"));
    /// ```
    pub fn spawn_async_with<F, T>(
        &self,
        token: &StopToken,
        func: F,
    ) -> AbortOnDrop<Result<T, Stopped>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let token = token.child();
        let handle = self.spawn_join_with(&token, func);
        handle.stopped_by(token)
    }
}

impl<T> JoinHandle<T> {
    /// A handle that takes the job back when it is dropped, if no thread has begun it. To end a job that
    /// has begun, a token is needed: see [`stopped_by`](Self::stopped_by) and [`spawn_async`].
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// pool.install(|| {
    ///     // The only thread is here, so no thread can have begun it.
    ///     drop(pool.spawn_join(|| unreachable!()).abort_on_drop());
    /// });
    /// ```
    pub fn abort_on_drop(self) -> AbortOnDrop<T> {
        AbortOnDrop {
            handle: self,
            token: None,
            armed: true,
        }
    }

    /// As [`abort_on_drop`](Self::abort_on_drop), but the handle also stops `token`, the token that
    /// the job was started under.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// use tine::{StopToken, spawn_join_with};
    /// let token = StopToken::new();
    /// let job = spawn_join_with(&token, || loop {
    ///     tine::join(|| (), || ());
    /// });
    /// # let job: tine::JoinHandle<Result<(), _>> = job;
    /// drop(job.stopped_by(token.clone()));
    /// assert!(token.is_stopped());
    /// ```
    pub fn stopped_by(self, token: StopToken) -> AbortOnDrop<T> {
        AbortOnDrop {
            handle: self,
            token: Some(token),
            armed: true,
        }
    }
}

/// The handle to a job that is stopped when the handle is dropped. See [`spawn_async`].
///
/// ```
/// # use tine_pool as tine;
/// let job: tine::AbortOnDrop<_> = tine::spawn_async(|| 6 * 7);
/// assert_eq!(job.join().unwrap(), Ok(42));
/// ```
#[must_use = "a handle that is dropped stops its job"]
pub struct AbortOnDrop<T> {
    handle: JoinHandle<T>,
    token: Option<StopToken>,
    armed: bool,
}

impl<T> AbortOnDrop<T> {
    /// Stops the job, and keeps the handle.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let job = tine::spawn_async(|| while !tine::stop::requested() {});
    /// job.stop();
    /// let _ = job.join();
    /// ```
    pub fn stop(&self) {
        if let Some(token) = &self.token {
            token.stop();
        }
    }

    /// Waits for the job to end; see [`JoinHandle::join`].
    ///
    /// ```
    /// # use tine_pool as tine;
    /// assert_eq!(tine::spawn_async(|| 1).join().unwrap(), Ok(1));
    /// ```
    #[track_caller]
    pub fn join(self) -> thread::Result<T> {
        self.keep().join()
    }

    /// Whether the job has ended.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let job = tine::spawn_async(|| ());
    /// while !job.is_finished() {
    ///     std::thread::yield_now();
    /// }
    /// ```
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }

    /// Turns this into a handle that stops nothing.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let job: tine::JoinHandle<_> = tine::spawn_async(|| 1).keep();
    /// assert_eq!(job.join().unwrap(), Ok(1));
    /// ```
    pub fn keep(mut self) -> JoinHandle<T> {
        self.armed = false;
        self.handle.share()
    }
}

impl<T> AbortOnDrop<T> {
    /// A waker that stops the job: it is woken when the `other` job has ended. It does so only if
    /// that job ended first.
    fn stopper(&self, other: u8, first: &Arc<AtomicU8>) -> Waker {
        struct Stopper(Option<StopToken>, u8, Arc<AtomicU8>);
        impl Wake for Stopper {
            fn wake(self: Arc<Self>) {
                let Self(token, other, first) = &*self;
                // Relaxed: a job that was stopped by this sees it by its token.
                let swapped =
                    first.compare_exchange(NEITHER, *other, Ordering::Relaxed, Ordering::Relaxed);
                if swapped.is_ok()
                    && let Some(token) = token
                {
                    token.stop();
                }
            }
        }
        let first = Arc::clone(first);
        Waker::from(Arc::new(Stopper(self.token.clone(), other, first)))
    }

    fn abort(&self) {
        if self.armed {
            self.stop();
            self.handle.take_back();
        }
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.abort();
    }
}

/// Ready when the job has ended.
impl<T> Future for AbortOnDrop<T> {
    type Output = thread::Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let ready = Pin::new(&mut self.handle).poll(context);
        if ready.is_ready() {
            self.armed = false;
        }
        ready
    }
}

impl<T> fmt::Debug for AbortOnDrop<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortOnDrop")
            .field("handle", &self.handle)
            .field("token", &self.token)
            .finish()
    }
}

/// The result of a [`select`]: which job ended first, and its result.
///
/// ```
/// # use tine_pool as tine;
/// use tine::{First, select, spawn_async};
/// match select(spawn_async(|| 1), spawn_async(|| "two")).join() {
///     First::Left(one) => assert_eq!(one.unwrap(), Ok(1)),
///     First::Right(two) => assert_eq!(two.unwrap(), Ok("two")),
/// }
/// ```
#[derive(Debug)]
pub enum First<A, B> {
    /// The first argument's job.
    Left(thread::Result<A>),
    /// The second argument's.
    Right(thread::Result<B>),
}

/// Waits for the first of two jobs to end, and stops the other job. Await the result, or
/// [`join`](Select::join) it.
///
/// Each job needs a thread of the pool to begin. If every thread runs a job that ends only by its
/// token, the other job cannot start, so no token is ever stopped. Call
/// [`yield_now`](crate::yield_now) in the loop of such a job.
///
/// ```
/// # use tine_pool as tine;
/// use tine::{First, select, spawn_async, stop};
/// let quick = spawn_async(|| "found");
/// let slow = spawn_async(|| while !stop::requested() {
///     std::thread::yield_now();
/// });
/// assert!(matches!(select(quick, slow).join(), First::Left(Ok(Ok("found")))));
/// ```
pub fn select<A, B>(left: AbortOnDrop<A>, right: AbortOnDrop<B>) -> Select<A, B> {
    Select { left, right }
}

/// What [`select`] returns. Dropping it stops both jobs.
///
/// ```
/// # use tine_pool as tine;
/// let both: tine::Select<_, _> = tine::select(
///     tine::spawn_async(|| 1),
///     tine::spawn_async(|| 2),
/// );
/// drop(both);
/// ```
#[must_use = "jobs are stopped when this is dropped"]
pub struct Select<A, B> {
    left: AbortOnDrop<A>,
    right: AbortOnDrop<B>,
}

/// Which of two jobs was the first to end.
const NEITHER: u8 = 0;
const LEFT: u8 = 1;
const RIGHT: u8 = 2;

impl<A, B> Select<A, B> {
    /// Waits for the first of the two jobs to end, as [`JoinHandle::join`] waits. A worker that
    /// waits runs whichever of the two jobs no thread has begun, the first before the second, if
    /// the job is of its own pool. It stops that job if the other job ends elsewhere meanwhile. The
    /// two jobs may be of different pools.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// use tine::{First, select, spawn_async};
    /// assert!(matches!(select(spawn_async(|| 1), spawn_async(|| 2)).join(), First::Left(_) | First::Right(_)));
    /// ```
    pub fn join(self) -> First<A, B> {
        let (left, right) = (&self.left, &self.right);
        let first = Arc::new(AtomicU8::new(NEITHER));
        let run = || {
            let (here, there) = (left.handle.may_run(), right.handle.may_run());
            if here || there {
                left.handle.wake_at_end(right.stopper(LEFT, &first));
                right.handle.wake_at_end(left.stopper(RIGHT, &first));
            }
            !self.is_done() && (here && left.handle.run() || there && right.handle.run())
        };
        let (one, other) = (left.handle.pool(), right.handle.pool());
        let same = std::ptr::eq(one, other);
        let ran = errand::at_home(one, run) || !same && errand::at_home(other, run);
        if !(ran || self.is_done()) {
            let home = || left.handle.is_home() && right.handle.is_home();
            let again = || {
                run();
            };
            if same {
                errand::at_home(one, || wait(home(), &self, &again));
            } else {
                wait(home(), &self, &again);
            }
        }
        // A job that was run here has also ended if the end of the other job has stopped it.
        match first.load(Ordering::Relaxed) {
            RIGHT => First::Right(self.right.join()),
            NEITHER if !left.is_finished() => First::Right(self.right.join()),
            _ => First::Left(self.left.join()),
        }
    }
}

impl<A, B> Task for Select<A, B> {
    fn is_done(&self) -> bool {
        self.left.is_finished() || self.right.is_finished()
    }

    fn by(&self) -> Option<Taken> {
        self.left.handle.by().or_else(|| self.right.handle.by())
    }

    fn lies_in(&self) -> [Option<&Shared>; 2] {
        let (left, right) = (&self.left.handle, &self.right.handle);
        let same = std::ptr::eq(left.pool(), right.pool());
        match (left.lies_in()[0], right.lies_in()[0]) {
            (left, right) if same => [left.or(right), None],
            both => both.into(),
        }
    }

    fn leave_word(&self, parker: &'static Parker) -> bool {
        self.left.handle.leave_word(parker) && self.right.handle.leave_word(parker)
    }
}

/// Ready when the first of the two has ended.
impl<A, B> Future for Select<A, B> {
    type Output = First<A, B>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(left) = Pin::new(&mut self.left).poll(context) {
            self.right.abort();
            return Poll::Ready(First::Left(left));
        }
        if let Poll::Ready(right) = Pin::new(&mut self.right).poll(context) {
            self.left.abort();
            return Poll::Ready(First::Right(right));
        }
        Poll::Pending
    }
}

impl<A, B> fmt::Debug for Select<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Select")
            .field(&self.left)
            .field(&self.right)
            .finish()
    }
}
