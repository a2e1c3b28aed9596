//! `spawn`: jobs that no thread waits for. And the two ways to yield.

use super::pool::{self, ThreadPool};
use super::scope::run_first;
use crate::base::stop::{self, Chain};
use crate::base::unwind;
use crate::queue::job::QueuedJob;
use crate::work::attend::attend_if_deserted;
use crate::work::shared::Shared;
use crate::work::under::ended;
use crate::work::worker::Worker;

/// Starts a job on the current pool and does not wait for it.
///
/// Jobs that one thread spawns and runs itself run newest first; see [`spawn_fifo`] for the
/// opposite. Jobs from an ordinary thread queue up behind other work from outside. In a pool of one
/// thread, the jobs of one ordinary thread begin in the order in which it spawned them. While the
/// pool's thread is inside [`blocking`](crate::blocking()), a second thread may run jobs beside it.
///
/// # Panics
///
/// A panic of the job goes to the pool's panic handler; where there is none, the process aborts.
///
/// ```
/// # use tine_pool as tine;
/// let (send, receive) = std::sync::mpsc::channel();
/// tine::spawn(move || send.send(6 * 7).unwrap());
/// assert_eq!(receive.recv(), Ok(42));
/// ```
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    pool::with_current(|shared, _| spawn_in(shared, func));
}

/// As [`spawn`], but jobs that one thread spawns and runs itself run oldest first.
///
/// ```
/// # use tine_pool as tine;
/// let (send, receive) = std::sync::mpsc::channel();
/// tine::spawn_fifo(move || send.send(1).unwrap());
/// assert_eq!(receive.recv(), Ok(1));
/// ```
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    pool::with_current(|shared, _| spawn_fifo_in(shared, func));
}

/// Starts a batch of jobs, and notifies the pool's threads once for all of them.
///
/// The jobs start when the iterator has come to its end. If the iterator panics, no job starts.
///
/// ```
/// # use tine_pool as tine;
/// let (send, receive) = std::sync::mpsc::channel();
/// tine::spawn_many((0..10).map(|i| {
///     let send = send.clone();
///     move || send.send(i).unwrap()
/// }));
/// drop(send);
/// assert_eq!(receive.iter().sum::<i32>(), 45);
/// ```
pub fn spawn_many<F>(funcs: impl IntoIterator<Item = F>)
where
    F: FnOnce() + Send + 'static,
{
    pool::with_current(|shared, _| spawn_many_in(shared, funcs));
}

impl ThreadPool {
    /// [`spawn`](crate::spawn) in this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// pool.spawn(|| println!("from the pool"));
    /// pool.shutdown();
    /// ```
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn_in(self.shared(), op);
    }

    /// [`spawn_fifo`](crate::spawn_fifo) in this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// pool.spawn_fifo(|| println!("from the pool"));
    /// pool.shutdown();
    /// ```
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn_fifo_in(self.shared(), op);
    }

    /// [`spawn_many`](crate::spawn_many) in this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// pool.spawn_many((0..3).map(|i| move || println!("{i}")));
    /// pool.shutdown();
    /// ```
    pub fn spawn_many<F>(&self, funcs: impl IntoIterator<Item = F>)
    where
        F: FnOnce() + Send + 'static,
    {
        spawn_many_in(self.shared(), funcs);
    }
}

/// Wraps a job whose panic no thread waits for.
fn caught(func: impl FnOnce() + Send + 'static) -> impl FnOnce() + Send + 'static {
    let chain = stop::current().as_ref().map(Chain::fork);
    move || {
        if let Err(payload) = unwind::catch(|| ended(chain, func)) {
            Worker::with(|worker| match worker {
                Some(worker) => worker.shared.handle_panic(payload),
                None => unreachable!("a spawned job was run by no worker"),
            });
        }
    }
}

fn with_worker_of<R>(shared: &Shared, f: impl FnOnce(Option<&Worker<'_>>) -> R) -> R {
    Worker::with(|worker| f(worker.filter(|w| w.is_of(shared))))
}

pub(crate) fn spawn_in(shared: &Shared, func: impl FnOnce() + Send + 'static) {
    with_worker_of(shared, |worker| match worker {
        Some(worker) => {
            // SAFETY: borrows nothing.
            unsafe { worker.push_new(0, caught(func)) };
            shared.announce();
        }
        None => {
            // SAFETY: borrows nothing.
            shared.inject_task(unsafe { QueuedJob::parcel(0, caught(func)) });
            attend_if_deserted(shared);
        }
    });
}

fn spawn_fifo_in(shared: &Shared, func: impl FnOnce() + Send + 'static) {
    // SAFETY: borrows nothing.
    let parcel = unsafe { QueuedJob::parcel(0, caught(func)) };
    with_worker_of(shared, |worker| match worker {
        Some(worker) => {
            let seat = worker.seat.index;
            shared.desks[seat].fifo.push(parcel);
            let ticket = move || {
                Worker::with(|worker| match worker {
                    Some(worker) => run_first(&worker.shared.desks[seat].fifo),
                    None => unreachable!("a ticket was run by no worker"),
                });
            };
            // SAFETY: borrows nothing.
            unsafe { worker.push_new(0, ticket) };
            shared.announce();
        }
        None => {
            shared.inject_task(parcel);
            attend_if_deserted(shared);
        }
    });
}

fn spawn_many_in<F>(shared: &Shared, funcs: impl IntoIterator<Item = F>)
where
    F: FnOnce() + Send + 'static,
{
    // The iterator is the user's code: it may panic, or call back into the pool. So it is run to its end before
    // any job is made, since a job that is not run is not dropped.
    let funcs: Vec<_> = funcs.into_iter().map(caught).collect();
    with_worker_of(shared, |worker| match worker {
        Some(worker) => {
            for func in funcs {
                // SAFETY: borrows nothing.
                unsafe { worker.push_new(0, func) };
            }
            shared.announce();
        }
        None => {
            let funcs = funcs.into_iter();
            // SAFETY: borrows nothing.
            let parcels: Vec<_> = funcs.map(|f| unsafe { QueuedJob::parcel(0, f) }).collect();
            shared.injector.push_all(parcels);
            shared.announce_tasks();
        }
    });
    attend_if_deserted(shared);
}

/// What [`yield_now`] and [`yield_local`] found to do.
///
/// ```
/// # use tine_pool as tine;
/// let pool = tine::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// pool.install(|| {
///     tine::spawn(|| ());
///     assert_eq!(tine::yield_now(), Some(tine::Yield::Executed));
///     assert_eq!(tine::yield_now(), Some(tine::Yield::Idle));
/// });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yield {
    /// A job was run.
    Executed,
    /// There was none.
    Idle,
}

/// Runs one job of the current pool, whatever it is; `None` if the calling thread is no worker.
///
/// The job may wait for something that the caller has yet to do: to release a lock, or to send the next item to a
/// channel. Then the job waits for ever. Other waits run only what they depend on, apart from the few that
/// [the crate's page](crate) names.
///
/// ```
/// # use tine_pool as tine;
/// assert_eq!(tine::yield_now(), None);
/// ```
pub fn yield_now() -> Option<Yield> {
    Worker::with(|worker| worker.map(|w| outcome(w.yield_to_any())))
}

/// Runs one job that was spawned on the seat of the calling thread; `None` if it is no worker.
///
/// ```
/// # use tine_pool as tine;
/// assert_eq!(tine::yield_local(), None);
/// ```
pub fn yield_local() -> Option<Yield> {
    Worker::with(|worker| worker.map(|w| outcome(w.run_own())))
}

impl ThreadPool {
    /// [`yield_now`](crate::yield_now); `None` if the calling thread is no worker of this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.yield_now(), None);
    /// ```
    pub fn yield_now(&self) -> Option<Yield> {
        self.with_worker(|worker| worker.map(|w| outcome(w.yield_to_any())))
    }

    /// [`yield_local`](crate::yield_local); `None` if the calling thread is no worker of this
    /// pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.yield_local(), None);
    /// ```
    pub fn yield_local(&self) -> Option<Yield> {
        self.with_worker(|worker| worker.map(|w| outcome(w.run_own())))
    }
}

fn outcome(ran: bool) -> Yield {
    if ran { Yield::Executed } else { Yield::Idle }
}
