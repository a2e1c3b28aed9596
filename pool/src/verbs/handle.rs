//! `spawn_join`: a spawned job with a handle to wait for it, by joining or by awaiting.
#![forbid(unsafe_code)]

use super::pool::{self, ThreadPool};
use super::spawn::spawn_in;
use crate::base::park::Parker;
use crate::base::stop::{self, Chain};
use crate::base::unwind;
use crate::queue::job::Taken;
use crate::work::errand;
use crate::work::kin::{Task as Awaited, TaskWait};
use crate::work::shared::Shared;
use crate::work::under::{apart, in_chain};
use crate::work::worker::Worker;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

/// The handle to a job started by [`spawn_join`].
///
/// If a worker of the pool calls [`join`](Self::join) and no thread has begun the job, the worker
/// runs it in place, wherever it lies. Otherwise the worker helps the thread that runs the job, and
/// sleeps when there is nothing to help with. A thread that is no worker just sleeps. As a future,
/// the handle is ready when the job has ended. Dropping it, or [`detach`](Self::detach), lets the
/// job run unwatched; [`cancel`](Self::cancel) takes it back if it has not begun.
///
/// ```
/// # use tine_pool as tine;
/// let job = tine::spawn_join(|| 6 * 7);
/// assert_eq!(job.join().unwrap(), 42);
/// ```
#[must_use = "a handle that is dropped waits for nothing"]
pub struct JoinHandle<T> {
    task: Arc<dyn Claim<T>>,
}

/// Starts a job on the current pool and gives a handle to wait for it.
///
/// ```
/// # use tine_pool as tine;
/// let jobs: Vec<_> = (0..4).map(|i| tine::spawn_join(move || i * i)).collect();
/// let squares: Vec<i32> = jobs.into_iter().map(|job| job.join().unwrap()).collect();
/// assert_eq!(squares, [0, 1, 4, 9]);
/// ```
pub fn spawn_join<F, T>(func: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    pool::with_current(|shared, _| spawn_join_in(shared, func))
}

impl ThreadPool {
    /// [`spawn_join`](crate::spawn_join) in this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.spawn_join(|| "done").join().unwrap(), "done");
    /// ```
    pub fn spawn_join<F, T>(&self, func: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn_join_in(self.shared(), func)
    }
}

fn spawn_join_in<F, T>(shared: &Shared, func: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let chain = stop::current().as_ref().map(Chain::fork);
    let func = move || match chain {
        None => func(),
        Some(chain) => {
            let begin = || {
                stop::check();
                func()
            };
            in_chain(chain, begin).unwrap_or_else(|panic| unwind::resume(panic))
        }
    };
    let task = Arc::new(Task {
        pool: shared.keep(),
        body: Mutex::new(Some(func)),
        state: Mutex::new(Progress {
            by: None,
            result: None,
            done: false,
            threads: Vec::new(),
            future: None,
        }),
    });
    let entry = Arc::clone(&task);
    // If another thread has claimed the task, the entry in the deque does nothing.
    apart(None, || {
        spawn_in(shared, move || {
            entry.run();
        });
    });
    JoinHandle { task }
}

/// A job, claimed by the thread that takes its body.
struct Task<F, T> {
    pool: Arc<Shared>,
    body: Mutex<Option<F>>,
    state: Mutex<Progress<T>>,
}

struct Progress<T> {
    /// The worker that runs it, if a worker does.
    by: Option<Taken>,
    result: Option<thread::Result<T>>,
    done: bool,
    /// The threads to be woken at the end.
    threads: Vec<&'static Parker>,
    future: Option<Waker>,
}

/// A task without the type of its body.
trait Claim<T>: Send + Sync {
    fn run(&self) -> bool;
    fn cancel(&self) -> bool;
    fn state(&self) -> MutexGuard<'_, Progress<T>>;
    fn pool(&self) -> &Shared;
}

impl<F, T> Claim<T> for Task<F, T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    /// Runs the job unless another thread has claimed it; says whether it did.
    fn run(&self) -> bool {
        let Some(body) = lock(&self.body).take() else {
            return false;
        };
        let by = Worker::with(|w| w.filter(|w| w.is_of(&self.pool)).map(Worker::here));
        self.state().by = by;
        // Whichever thread runs the task, the task is no part of what that thread works under.
        let result = unwind::catch(|| apart(None, body));
        let mut state = self.state();
        state.result = Some(result);
        state.done = true;
        let threads = std::mem::take(&mut state.threads);
        let future = state.future.take();
        drop(state);
        for parker in threads {
            parker.unpark();
        }
        // The waker is the user's code: it is called outside the lock, and its panic does not concern the
        // caller of this.
        if let Some(waker) = future
            && let Err(panic) = unwind::catch(|| waker.wake())
        {
            unwind::discard(panic);
        }
        true
    }

    /// Drops the job unless another thread has claimed it; says whether it did.
    fn cancel(&self) -> bool {
        let body = lock(&self.body).take();
        body.is_some()
    }

    fn state(&self) -> MutexGuard<'_, Progress<T>> {
        lock(&self.state)
    }

    fn pool(&self) -> &Shared {
        &self.pool
    }
}

impl<T> JoinHandle<T> {
    /// Waits for the job to end and gives what it returned, or the payload of its panic. (A job
    /// that was started in [`with_token`](crate::with_token) may have been stopped with the token.
    /// If the caller works under a stopped token too, `join` then ends the caller as well.
    /// Otherwise `join` returns the payload, and [`stop::is_end`](crate::stop::is_end) returns
    /// `true` for it.)
    ///
    /// # Panics
    /// If a poll of this handle has already returned the result. Also in a child process made by
    /// `fork`, if the job had not ended before the fork.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// assert!(tine::spawn_join(|| panic!("oh")).join().is_err());
    /// ```
    #[track_caller]
    pub fn join(self) -> thread::Result<T> {
        if !self.pool().is_here() && !self.is_finished() {
            self.pool().must_be_here();
        }
        errand::at_home(self.pool(), || {
            if !(self.may_run() && self.task.run()) {
                wait(self.is_home(), &self, &|| {
                    self.task.run();
                });
            }
        });
        let result = self.task.state().result.take();
        let result = result.expect(TAKEN);
        if result.as_ref().err().is_some_and(stop::is_end) {
            // Both work under a stopped token, so this is also the end of the caller.
            stop::check();
        }
        result
    }

    /// Whether the job has ended.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let job = tine::spawn_join(|| ());
    /// while !job.is_finished() {
    ///     std::thread::yield_now();
    /// }
    /// ```
    pub fn is_finished(&self) -> bool {
        self.task.state().done
    }

    /// Takes the job back and drops it, if no thread has begun it. Returns whether it did. A job
    /// that has begun goes on unwatched.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// pool.install(|| {
    ///     // The only thread is here, so no thread can have begun it.
    ///     let job = pool.spawn_join(|| unreachable!());
    ///     assert!(job.cancel());
    /// });
    /// let done = pool.spawn_join(|| ());
    /// while !done.is_finished() {
    ///     std::thread::yield_now();
    /// }
    /// assert!(!done.cancel());
    /// ```
    pub fn cancel(self) -> bool {
        self.task.cancel()
    }

    /// Lets the job run unwatched, as dropping the handle does. A panic of the job is then lost.
    /// The thread that ran the job drops its result; a panic of that drop counts as a panic in a
    /// job of [`spawn`](crate::spawn).
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let (send, receive) = std::sync::mpsc::channel();
    /// tine::spawn_join(move || send.send("done").unwrap()).detach();
    /// assert_eq!(receive.recv(), Ok("done"));
    /// ```
    pub fn detach(self) {}
}

/// Waits for a task that cannot be run here, or has been begun. `at_home` says that the whole task
/// belongs to the pool that the caller works in.
pub(super) fn wait(at_home: bool, task: &dyn Awaited, run: &dyn Fn()) {
    Worker::with(|worker| match worker {
        Some(worker) if at_home => errand::wait_inside(worker, &TaskWait { task, at_home }),
        Some(worker) => worker.wait(&TaskWait { task, at_home }),
        None => errand::wait_for_task(task, run),
    });
}

impl<T> Awaited for JoinHandle<T> {
    fn is_done(&self) -> bool {
        self.is_finished()
    }

    fn by(&self) -> Option<Taken> {
        self.task.state().by
    }

    fn lies_in(&self) -> [Option<&Shared>; 2] {
        [Some(self.pool()).filter(|_| self.by().is_none()), None]
    }

    fn leave_word(&self, parker: &'static Parker) -> bool {
        let mut state = self.task.state();
        if !state.done && !state.threads.iter().any(|p| std::ptr::eq(*p, parker)) {
            state.threads.push(parker);
        }
        !state.done
    }
}

impl<T> JoinHandle<T> {
    /// A second handle to the same job.
    pub(super) fn share(&self) -> Self {
        let task = Arc::clone(&self.task);
        Self { task }
    }

    /// The pool that the job belongs to.
    pub(super) fn pool(&self) -> &Shared {
        self.task.pool()
    }

    /// Whether this thread works in that pool now.
    pub(super) fn is_home(&self) -> bool {
        Worker::with(|worker| worker.is_some_and(|w| w.is_of(self.pool())))
    }

    /// Whether this thread may run the job: only a worker of the job's pool may, or any thread if
    /// the pool has no threads.
    pub(super) fn may_run(&self) -> bool {
        self.is_home() || self.pool().is_deserted()
    }

    /// Runs the job here, unless it was begun; says whether it did.
    pub(super) fn run(&self) -> bool {
        self.task.run()
    }

    /// Registers `waker` to be woken at the end, in place of an earlier one, unless the job has
    /// ended.
    pub(super) fn wake_at_end(&self, waker: Waker) {
        let mut state = self.task.state();
        if !state.done {
            let old = state.future.replace(waker);
            // Outside the lock: it may be the user's code.
            drop(state);
            drop(old);
        }
    }

    /// Drops the job, unless it was begun.
    pub(super) fn take_back(&self) {
        self.task.cancel();
    }
}

/// Ready when the job has ended. Polling never runs the job.
///
/// A poll after the handle has been ready panics. So does a poll in a child process made by `fork`, if the job has
/// not ended.
impl<T> Future for JoinHandle<T> {
    type Output = thread::Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Cloned and dropped outside the lock: both are the user's code.
        let waker = context.waker().clone();
        let mut state = self.task.state();
        if state.done {
            let result = state.result.take();
            drop(state);
            return Poll::Ready(result.expect(TAKEN));
        }
        self.task.pool().must_be_here();
        let old = state.future.replace(waker);
        drop(state);
        drop(old);
        Poll::Pending
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("finished", &self.is_finished())
            .finish()
    }
}

/// Why there is no result.
const TAKEN: &str = "an earlier poll of this handle has taken the job's result";

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
