//! `ThreadPool`, the global pool, and the way into either.
#![forbid(unsafe_code)]

use crate::base::config::{Handlers, MAX_THREADS, Settings};
use crate::base::stats::PoolStats;
use crate::base::sys;
use crate::work::errand::{self, Errand};
use crate::work::guest::Guest;
use crate::work::shared::{Plan, Shared, Starter};
use crate::work::stand_in::Replaced;
use crate::work::thread;
use crate::work::worker::{self, Worker};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// The global pools, one for each process in a line of forks.
static GLOBALS: [OnceLock<Arc<Shared>>; PLACES] = [const { OnceLock::new() }; PLACES];
/// There is no fork under Miri.
const PLACES: usize = if cfg!(miri) { 1 } else { 64 };

#[inline]
fn place() -> &'static OnceLock<Arc<Shared>> {
    GLOBALS
        .get(sys::fork::generation())
        .expect("more than 64 processes in a line of forks have used tine")
}

/// The global pool, made by default settings if the program has not made it otherwise.
#[inline]
pub(crate) fn global() -> &'static Arc<Shared> {
    place().get().unwrap_or_else(make_global)
}

#[cold]
fn make_global() -> &'static Arc<Shared> {
    // First: a child that is forked while this thread makes the pool must have its own place.
    sys::fork::watch(worker::forget_pool);
    place().get_or_init(|| {
        let settings = Settings::default();
        let guests = settings.allows_guests(false);
        lazily(settings.threads(), guests)
    })
}

/// A pool whose threads are started when first needed.
fn lazily(threads: usize, guests: bool) -> Arc<Shared> {
    sys::fork::watch(worker::forget_pool);
    let starter = Some(thread::start_when_needed as Starter);
    let plan = Plan {
        threads,
        guests,
        greedy: false,
        stack_size: None,
        resident: false,
        starter,
        spare_starter: starter,
    };
    Shared::new(plan, Handlers::default())
}

/// Makes `shared` the global pool; gives it back if there is one already.
pub(crate) fn set_global(shared: Arc<Shared>) -> Result<(), Arc<Shared>> {
    place().set(shared)
}

/// Whether the global pool has been made.
pub(crate) fn has_global() -> bool {
    place().get().is_some()
}

/// Runs `op` on a worker: the current worker, or a worker of the global pool. The second argument
/// says whether the caller was no worker.
#[inline(always)]
pub(crate) fn in_worker<R: Send>(op: impl FnOnce(&Worker<'_>, bool) -> R + Send) -> R {
    Worker::with(|worker| match worker {
        Some(worker) => op(worker, false),
        None => from_outside(op),
    })
}

#[inline(never)]
fn from_outside<R: Send>(op: impl FnOnce(&Worker<'_>, bool) -> R + Send) -> R {
    errand::once(|worker| op(worker, true), in_global)
}

/// The same for a closure of any type. So a program holds the code that enters the pool only once.
#[inline(never)]
fn in_global(op: &mut Errand<'_>) {
    let shared = global();
    // A thread inside `blocking` has a seat. While it waited on another seat, no thread would read the letters
    // of the first.
    if worker::is_aside(Some(shared)) {
        return errand::send(shared, true, op);
    }
    match Guest::sit_down(shared) {
        Some(guest) => guest.worker().sit(|worker| op(worker)),
        None => errand::send(shared, true, op),
    }
}

/// The pool that the free functions work on, here: the current worker's, or the global one.
pub(crate) fn with_current<R>(f: impl FnOnce(&Shared, Option<&Worker<'_>>) -> R) -> R {
    Worker::with(|worker| match worker {
        Some(worker) => f(worker.shared, Some(worker)),
        None => f(global(), None),
    })
}

/// How many threads the current pool has. That is the calling worker's pool, or else the global
/// pool.
///
/// From within a closure that a pool runs, this is that pool's number. Outside, it is the global
/// pool's number, which this call fixes if it was not fixed before.
///
/// ```
/// # use tine_pool as tine;
/// assert!(tine::current_num_threads() >= 1);
/// ```
pub fn current_num_threads() -> usize {
    with_current(|shared, _| shared.len())
}

/// The index of the seat that the calling thread holds, or `None` if it holds none. No two closures that run at the
/// same time in one pool see the same index.
///
/// It is usually less than [`current_num_threads`]; on a spare seat it is equal or greater. Spare
/// seats are opened for [`blocking`](crate::blocking()), and for calls of ordinary threads that
/// find every seat taken while no job has begun for some time. On Linux that time is about 30 ms if
/// all holders of seats sleep, and 2 s otherwise. On other systems it is 200 ms.
///
/// ```
/// # use tine_pool as tine;
/// assert_eq!(tine::current_thread_index(), None);
/// tine::join(|| assert!(tine::current_thread_index().is_some()), || ());
/// ```
pub fn current_thread_index() -> Option<usize> {
    Worker::with(|worker| worker.map(|w| w.seat.index))
}

/// Whether jobs that were pushed on the calling thread's seat wait there; `None` if the thread
/// holds no seat.
///
/// ```
/// # use tine_pool as tine;
/// assert_eq!(tine::current_thread_has_pending_tasks(), None);
/// ```
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    Worker::with(|worker| worker.map(has_pending))
}

fn has_pending(worker: &Worker<'_>) -> bool {
    let seat = worker.seat;
    !seat.spawned.is_empty() || seat.nested.has_public() || seat.nested.has_private()
}

/// The most threads that a pool can have.
///
/// ```
/// # use tine_pool as tine;
/// assert!(tine::max_num_threads() >= 1000);
/// ```
pub fn max_num_threads() -> usize {
    MAX_THREADS
}

/// A pool of threads, apart from the global pool.
///
/// Closures given to its methods run on these threads. So do the joins and parallel iterators that
/// those closures call. Dropping the pool returns at once; its threads finish what was spawned and
/// end. See [`shutdown`](Self::shutdown) for waiting until they have.
///
/// | verb | its closure runs on | index there | a panic goes to |
/// |---|---|---|---|
/// | `install`, `join`, `scope` of a pool | a thread of that pool | its seat's | the caller |
/// | free `join`, `scope`, from a worker | that worker (`join`: the second closure perhaps elsewhere) | its seat's | the caller |
/// | the same, from an ordinary thread | the calling thread as a guest; a thread of the global pool if all seats are busy or guests are off | the seat's | the caller |
/// | `in_place_scope` | the calling thread | none, unless it is a worker | the caller |
/// | `spawn`, tasks of a scope | any thread of the pool (inline where there is none at all) | its seat's | the panic handler; the scope's caller |
/// | `blocking` | the calling thread | none inside | the caller |
/// | `broadcast`, closure *k* | the pool's own thread *k* | *k* | the caller |
///
/// While threads are inside [`blocking`](crate::blocking()), jobs may also run on spare threads,
/// whose indices are those from the number of threads up.
///
/// A child process made by `fork` has none of these threads. There, methods that need them panic,
/// and dropping the pool does nothing. (A child gets a new global pool when it first uses one. If
/// you fork inside a parallel call, the child must `exec` or exit; it must not return from that
/// call. The threads of a child's pools have no name. A closure in the child that starts a thread
/// with std may wait for ever: std takes a lock as a thread begins, and a thread of the parent may
/// have held that lock.)
///
/// ```
/// # use tine_pool as tine;
/// let pool = tine::ThreadPoolBuilder::new().num_threads(4).build()?;
/// assert_eq!(pool.install(tine::current_num_threads), 4);
/// # Ok::<_, tine::ThreadPoolBuildError>(())
/// ```
pub struct ThreadPool {
    shared: Arc<Shared>,
}

impl ThreadPool {
    pub(crate) fn from_shared(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// The pool, for a caller that needs none of its threads.
    pub(crate) fn as_it_is(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn shared(&self) -> &Shared {
        self.shared.must_be_here();
        &self.shared
    }

    /// Runs `op` on a thread of this pool and waits for it. Parallel calls inside `op` use this
    /// pool.
    ///
    /// From a thread of this pool it is a plain call. If the caller is a worker of another pool, it
    /// runs any job of its own pool while it waits.
    ///
    /// # Panics
    ///
    /// A panic of `op` resumes in the caller.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let (a, b) = pool.install(|| tine::join(|| 6, || 7));
    /// assert_eq!(a * b, 42);
    /// ```
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        errand::run_inside(self.shared(), |_| op())
    }

    /// How many threads this pool has.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    /// assert_eq!(pool.current_num_threads(), 3);
    /// ```
    pub fn current_num_threads(&self) -> usize {
        self.shared.len()
    }

    /// The index of the calling thread, if it is a worker of this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.current_thread_index(), None);
    /// assert!(pool.install(|| pool.current_thread_index()) < Some(2));
    /// ```
    pub fn current_thread_index(&self) -> Option<usize> {
        self.with_worker(|worker| worker.map(|w| w.seat.index))
    }

    /// Whether jobs that were pushed on the calling worker's seat wait there; `None` if the thread
    /// is no worker of this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.current_thread_has_pending_tasks(), None);
    /// assert_eq!(pool.install(|| pool.current_thread_has_pending_tasks()), Some(false));
    /// ```
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.with_worker(|worker| worker.map(has_pending))
    }

    /// What this pool has done so far.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// pool.install(|| ());
    /// let stats = pool.stats();
    /// assert_eq!((stats.seats.len(), stats.refused_threads), (2, 0));
    /// ```
    pub fn stats(&self) -> PoolStats {
        self.shared.stats()
    }

    /// Finishes what was spawned, ends the threads, and returns when they have ended. (Destructors
    /// of their thread-locals may still run for a moment.)
    ///
    /// A caller that is a thread of another pool waits as in [`blocking`](crate::blocking()): a
    /// spare thread works in its place. So the remaining jobs of this pool may wait for that other
    /// pool.
    ///
    /// # Panics
    ///
    /// If a thread of this pool calls it: the thread cannot wait for its own end.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    /// static DONE: AtomicU32 = AtomicU32::new(0);
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// for _ in 0..10 {
    ///     pool.spawn(|| drop(DONE.fetch_add(1, Relaxed)));
    /// }
    /// pool.shutdown();
    /// assert_eq!(DONE.load(Relaxed), 10);
    /// ```
    pub fn shutdown(self) {
        assert!(
            self.current_thread_index().is_none() && !worker::is_aside(Some(&self.shared)),
            "`shutdown` was called from a thread of the pool itself"
        );
        if !self.shared.is_here() {
            return;
        }
        self.shared.end();
        Worker::with(|here| match here {
            // Work that is left in this pool may need the worker's own pool.
            Some(worker) => {
                let _replaced = Replaced::new(worker);
                worker.stand_aside(|| self.shared.wait_until_ended());
            }
            None => self.shared.wait_until_ended(),
        });
    }

    pub(crate) fn with_worker<R>(&self, f: impl FnOnce(Option<&Worker<'_>>) -> R) -> R {
        Worker::with(|worker| f(worker.filter(|w| w.is_of(&self.shared))))
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        if self.shared.is_here() {
            self.shared.end();
        }
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("num_threads", &self.current_num_threads())
            .field("shared", &self.shared)
            .finish()
    }
}

/// What the global pool has done so far, if there is one yet.
///
/// ```
/// # use tine_pool as tine;
/// tine::join(|| (), || ());
/// assert!(tine::stats().is_some());
/// ```
pub fn stats() -> Option<PoolStats> {
    place().get().map(|shared| shared.stats())
}

/// A pool for a `static`. It is made at its first use, and its threads start when first needed.
///
/// If the system refuses a thread, the pool works with those it has.
///
/// ```
/// # use tine_pool as tine;
/// use tine::StaticPool;
/// static IMAGES: StaticPool = StaticPool::new(3);
/// assert_eq!(IMAGES.install(tine::current_num_threads), 3);
/// ```
pub struct StaticPool {
    threads: usize,
    pool: OnceLock<ThreadPool>,
}

impl StaticPool {
    /// A pool of this number of threads; 0 asks for the default number.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// static DEFAULT: tine::StaticPool = tine::StaticPool::new(0);
    /// assert!(DEFAULT.current_num_threads() >= 1);
    /// ```
    pub const fn new(threads: usize) -> Self {
        Self {
            threads,
            pool: OnceLock::new(),
        }
    }
}

impl Deref for StaticPool {
    type Target = ThreadPool;

    fn deref(&self) -> &ThreadPool {
        self.pool.get_or_init(|| {
            let settings = Settings {
                num_threads: self.threads,
                ..Settings::default()
            };
            ThreadPool::from_shared(lazily(settings.threads(), false))
        })
    }
}

impl fmt::Debug for StaticPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticPool")
            .field("threads", &self.threads)
            .field("pool", &self.pool.get())
            .finish()
    }
}
