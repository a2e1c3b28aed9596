//! `spawn_join`: a spawned job with a handle to wait for it, by joining or by awaiting.
#![forbid(unsafe_code)]

use crate::job::Taken;
use crate::outside;
use crate::park::Parker;
use crate::pool::{self, ThreadPool};
use crate::shared::Shared;
use crate::spawn::spawn_in;
use crate::unwind;
use crate::worker::Worker;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

/// The handle to a job started by [`spawn_join`].
///
/// [`join`](Self::join), called by a worker of the pool, runs the job in place if nobody has begun
/// it, wherever it lies; else it helps whoever runs it, and sleeps when there is nothing to help
/// with. Other threads just sleep. As a future it is ready
/// when the job has ended. Dropping it, or [`detach`](Self::detach), lets the job run unwatched;
/// [`cancel`](Self::cancel) takes it back if it has not begun.
///
/// ```
/// let job = tine_pool::spawn_join(|| 6 * 7);
/// assert_eq!(job.join().unwrap(), 42);
/// ```
#[must_use = "a handle that is dropped waits for nothing"]
pub struct JoinHandle<T> {
    task: Arc<dyn Claim<T>>,
}

/// Starts a job on the current pool and gives a handle to wait for it.
///
/// ```
/// let jobs: Vec<_> = (0..4).map(|i| tine_pool::spawn_join(move || i * i)).collect();
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
    /// let pool = tine_pool::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
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
    let task = Arc::new(Task {
        pool: shared.keep(),
        body: Mutex::new(Some(func)),
        state: Mutex::new(Progress {
            by: None,
            result: None,
            done: false,
            waiting: Vec::new(),
        }),
    });
    let entry = Arc::clone(&task);
    // What lies in the deque when somebody else has claimed the task does nothing.
    spawn_in(shared, move || {
        entry.run();
    });
    JoinHandle { task }
}

/// A job, claimed by whoever takes its body.
struct Task<F, T> {
    pool: Arc<Shared>,
    body: Mutex<Option<F>>,
    state: Mutex<Progress<T>>,
}

struct Progress<T> {
    /// Who runs it, if a worker does.
    by: Option<Taken>,
    result: Option<thread::Result<T>>,
    done: bool,
    waiting: Vec<Waiting>,
}

enum Waiting {
    Thread(&'static Parker),
    Future(Waker),
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
    /// Runs the job unless somebody else has claimed it; says whether it did.
    fn run(&self) -> bool {
        let Some(body) = lock(&self.body).take() else {
            return false;
        };
        let by = Worker::with(|w| w.filter(|w| w.is_of(&self.pool)).map(Worker::here));
        self.state().by = by;
        let result = unwind::catch(body);
        let mut state = self.state();
        state.result = Some(result);
        state.done = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for one in waiting {
            match one {
                Waiting::Thread(parker) => drop(parker.unpark()),
                Waiting::Future(waker) => waker.wake(),
            }
        }
        true
    }

    /// Drops the job unless somebody else has claimed it; says whether it did.
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
    /// Waits for the job to end and gives what it returned, or the payload of its panic.
    ///
    /// ```
    /// assert!(tine_pool::spawn_join(|| panic!("oh")).join().is_err());
    /// ```
    pub fn join(self) -> thread::Result<T> {
        let pool = self.task.pool();
        // A pool's job runs on a worker of the pool: there is none to sleep for if it is deserted.
        let here = Worker::with(|worker| worker.is_some_and(|w| w.is_of(pool)));
        if !(here || pool.is_deserted()) || !self.task.run() {
            Worker::with(|worker| match worker {
                Some(worker) if worker.is_of(self.task.pool()) => self.wait_on(worker),
                Some(worker) => self.sleep(worker.seat.pillow()),
                None => outside::with_pillow(|pillow| self.sleep(pillow)),
            });
        }
        let result = self.task.state().result.take();
        result.expect("a task that has ended has a result")
    }

    /// Whether the job has ended.
    ///
    /// ```
    /// let job = tine_pool::spawn_join(|| ());
    /// while !job.is_finished() {
    ///     std::thread::yield_now();
    /// }
    /// ```
    pub fn is_finished(&self) -> bool {
        self.task.state().done
    }

    /// Takes the job back, if nobody has begun it, and drops it; says whether it did. A job that
    /// has begun goes on unwatched.
    ///
    /// ```
    /// let pool = tine_pool::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// pool.install(|| {
    ///     // The only thread is here, so nobody can have begun it.
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

    /// Lets the job run unwatched, as dropping the handle does. A panic of its own is then lost.
    ///
    /// ```
    /// let (send, receive) = std::sync::mpsc::channel();
    /// tine_pool::spawn_join(move || send.send("done").unwrap()).detach();
    /// assert_eq!(receive.recv(), Ok("done"));
    /// ```
    pub fn detach(self) {}

    /// Helps whoever runs the job, and sleeps in between.
    fn wait_on(&self, worker: &Worker<'_>) {
        let by = || self.task.state().by;
        worker.wait_for_task(|| self.is_finished(), by, |pillow| self.leave_word(pillow));
    }

    fn sleep(&self, pillow: &'static Parker) {
        while self.leave_word(pillow) {
            pillow.park();
        }
    }

    /// Asks to be woken; false if there is nothing to wait for.
    fn leave_word(&self, pillow: &'static Parker) -> bool {
        let mut state = self.task.state();
        if !state.done {
            let known = |w: &Waiting| matches!(w, Waiting::Thread(p) if std::ptr::eq(*p, pillow));
            if !state.waiting.iter().any(known) {
                state.waiting.push(Waiting::Thread(pillow));
            }
        }
        !state.done
    }
}

/// Ready when the job has ended. Polling never runs the job.
impl<T> Future for JoinHandle<T> {
    type Output = thread::Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.task.state();
        if state.done {
            let result = state.result.take();
            return Poll::Ready(result.expect("a handle was polled after it was ready"));
        }
        state.waiting.retain(|w| !matches!(w, Waiting::Future(_)));
        state.waiting.push(Waiting::Future(context.waker().clone()));
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
