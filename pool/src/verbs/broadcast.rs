//! `broadcast`: a closure once on each thread of a pool.
//!
//! Closure *k* goes into the mailbox of seat *k*. That seat's own thread empties the mailbox before
//! it looks for any other work, and in every wait. A guest never takes mail: while it waits, it
//! lends the seat to the seat's own thread for as long as the mail takes. If the system refused the
//! thread, the caller runs the closure itself. Spare threads get no closure.

use super::pool::{self, ThreadPool};
use crate::base::stop::{self, Chain};
use crate::base::unwind::{self, AbortOnUnwind, Payload};
use crate::queue::job::{AtRest, Borrowed, QueuedJob};
use crate::queue::latch::CountLatch;
use crate::work::attend::read_letters;
use crate::work::errand;
use crate::work::kin::LatchWait;
use crate::work::shared::Shared;
use crate::work::stand_in::Replaced;
use crate::work::under::{apart, ended};
use crate::work::worker::Worker;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

/// Tells a broadcast closure where it runs.
///
/// ```
/// # use tine_pool as tine;
/// let firsts = tine::broadcast(|context| context.index() == 0);
/// assert_eq!(firsts.iter().filter(|first| **first).count(), 1);
/// ```
#[derive(Debug)]
pub struct BroadcastContext<'a> {
    index: usize,
    threads: usize,
    marker: PhantomData<&'a mut dyn Fn()>,
}

impl BroadcastContext<'_> {
    fn new(index: usize, threads: usize) -> Self {
        Self {
            index,
            threads,
            marker: PhantomData,
        }
    }

    /// The index of the thread, which is the index of its seat.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let all = tine::broadcast(|context| context.index());
    /// assert!(all.into_iter().eq(0..tine::current_num_threads()));
    /// ```
    pub fn index(&self) -> usize {
        self.index
    }

    /// How many closures this broadcast runs.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let all = tine::broadcast(|context| context.num_threads());
    /// assert!(all.iter().all(|&n| n == all.len()));
    /// ```
    pub fn num_threads(&self) -> usize {
        self.threads
    }
}

/// Runs `op` once on each thread of the current pool and returns the results, by index of the
/// thread.
///
/// # Panics
///
/// If closures panic, one of the panics resumes in the caller once all closures have ended.
///
/// ```
/// # use tine_pool as tine;
/// let squares = tine::broadcast(|context| context.index().pow(2));
/// assert_eq!(squares[0], 0);
/// ```
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    pool::with_current(|shared, _| broadcast_in(shared, op))
}

/// Sends `op` to each thread of the current pool and does not wait. Panics go to the panic
/// handler.
///
/// ```
/// # use tine_pool as tine;
/// let (send, receive) = std::sync::mpsc::channel();
/// let send = std::sync::Mutex::new(send);
/// tine::spawn_broadcast(move |context| send.lock().unwrap().send(context.index()).unwrap());
/// assert_eq!(receive.iter().count(), tine::current_num_threads());
/// ```
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    pool::with_current(|shared, _| spawn_broadcast_in(shared, op));
}

impl ThreadPool {
    /// [`broadcast`](crate::broadcast) in this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    /// assert_eq!(pool.broadcast(|context| context.index()), [0, 1, 2]);
    /// ```
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        broadcast_in(self.shared(), op)
    }

    /// [`spawn_broadcast`](crate::spawn_broadcast) in this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// pool.spawn_broadcast(|_| ());
    /// pool.shutdown();
    /// ```
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        spawn_broadcast_in(self.shared(), op);
    }
}

fn broadcast_in<R: Send>(shared: &Shared, op: impl Fn(BroadcastContext<'_>) -> R + Sync) -> Vec<R> {
    errand::at_home(shared, || broadcast_here(shared, op))
}

fn broadcast_here<R: Send>(
    shared: &Shared,
    op: impl Fn(BroadcastContext<'_>) -> R + Sync,
) -> Vec<R> {
    Worker::with(|here| match here {
        Some(worker) => {
            let parker = worker.seat.wait_parker();
            let inside = worker.is_of(shared);
            // No closure is for a spare thread.
            let spare = inside && worker.seat.index >= shared.len();
            let own = (inside && !spare && !worker.guest).then_some(worker.seat.index);
            // So that the caller may help with the tasks that the others' closures begin.
            let tag = if inside { worker.open_scope() } else { 0 };
            run_on_all(
                shared,
                tag,
                CountLatch::with_count(shared.len(), parker),
                own,
                op,
                |latch| {
                    if inside {
                        // The thread whose place this spare thread takes may block for a job that no other
                        // thread is left to run, and has a closure to run itself when it is back.
                        let _replaced = spare.then(|| Replaced::new(worker));
                        let latch = latch.latch();
                        errand::wait_inside(
                            worker,
                            &LatchWait {
                                latch,
                                letters: Some(tag),
                            },
                        );
                    } else {
                        errand::wait_abroad(worker, latch.latch());
                    }
                },
            )
        }
        None => errand::with_parker(|parker| {
            let latch = CountLatch::with_count(shared.len(), parker);
            run_on_all(shared, 0, latch, None, op, |latch| {
                errand::wait_outside(shared, latch.latch());
            })
        }),
    })
}

/// Delivers to all seats but `own`, whose closure runs here, and waits by `wait`.
fn run_on_all<R: Send>(
    shared: &Shared,
    tag: u64,
    latch: CountLatch,
    own: Option<usize>,
    op: impl Fn(BroadcastContext<'_>) -> R + Sync,
    wait: impl FnOnce(&CountLatch),
) -> Vec<R> {
    let threads = shared.len();
    let results: Vec<_> = (0..threads).map(|_| Mutex::new(None)).collect();
    let chain = stop::to_go_on_with();
    let run = |index: usize| {
        let result = unwind::catch(|| {
            apart(chain.clone(), || {
                stop::check();
                op(BroadcastContext::new(index, threads))
            })
        });
        *results[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(result);
    };
    let run = &run;
    let letter = |index| {
        move || {
            begin_letter(tag);
            run(index);
        }
    };
    let bodies: Vec<_> = (0..threads).map(letter).collect();
    let jobs = bodies.iter().map(|body| Borrowed::new(tag, body, &latch));
    let jobs: Vec<_> = jobs.collect();
    let guard = AbortOnUnwind;
    // SAFETY: jobs, bodies and all that they borrow stay until the latch is set; the code below waits for that
    // without unwinding. `op` is `Sync` and results are `Send`.
    let parcel = |index: usize| unsafe { jobs[index].parcel() };
    let alone = shared.deliver_all(own, parcel);
    alone
        .into_iter()
        .for_each(|index| read_letters(shared, index));
    if let Some(index) = own {
        run(index);
        // SAFETY: this closure's own count of a latch that is waited for below.
        unsafe { CountLatch::decrement(&raw const latch, 1) };
    }
    wait(&latch);
    guard.disarm();
    let results = results
        .into_iter()
        .map(|r| r.into_inner().unwrap_or_else(PoisonError::into_inner));
    let results: Vec<Result<R, Payload>> = results
        .map(|r| r.expect("every thread has had its turn"))
        .collect();
    let mut panic = None;
    let mut values = Vec::with_capacity(threads);
    for result in results {
        match result {
            Ok(value) => values.push(value),
            // The user's panic counts for more than an end.
            Err(payload) if panic.as_ref().is_none_or(stop::is_end) => {
                if let Some(end) = panic.replace(payload) {
                    unwind::discard(end);
                }
            }
            Err(payload) => unwind::discard(payload),
        }
    }
    if let Some(payload) = panic {
        // One by one: the drops of values are the user's code, and a second panic cannot be passed on.
        for value in values {
            if let Err(second) = unwind::catch(|| drop(value)) {
                stop::set_aside(chain.as_ref(), &payload, second);
            }
        }
        stop::resume(payload);
    }
    values
}

/// A letter with this tag is read here, by a worker or by an ordinary thread.
fn begin_letter(tag: u64) {
    Worker::with(|worker| worker.into_iter().for_each(|w| w.begin_letter(tag)));
}

fn spawn_broadcast_in(shared: &Shared, op: impl Fn(BroadcastContext<'_>) + Send + Sync + 'static) {
    let op = Arc::new(op);
    let chain = stop::current();
    let pool = shared.keep();
    let letter = || {
        let (op, pool) = (Arc::clone(&op), Arc::clone(&pool));
        let chain = chain.as_ref().map(Chain::fork);
        move |context: BroadcastContext<'_>| {
            // The closure goes inside: its drop may panic as well.
            let called = unwind::catch(|| {
                let op = op;
                ended(chain, || op(context));
            });
            // If it is read for a thread that is not there, the reader is no worker, or a worker of another
            // pool.
            if let Err(payload) = called {
                pool.handle_panic(payload);
            }
        }
    };
    // SAFETY: the closure borrows nothing.
    unsafe { send_to_all(shared, 0, letter) };
}

/// Delivers to every seat a letter made by `letter`, without waiting. The letters are parts of the
/// scope `tag`, or of no scope (0). No letter panics.
///
/// # Safety
/// What the letters borrow lives until all have been run.
pub(crate) unsafe fn send_to_all<L>(shared: &Shared, tag: u64, letter: impl Fn() -> L)
where
    L: FnOnce(BroadcastContext<'_>) + Send,
{
    let threads = shared.len();
    let parcel = |index| {
        let letter = AtRest::new(letter());
        let job = move || {
            begin_letter(tag);
            letter.wake()(BroadcastContext::new(index, threads));
        };
        // SAFETY: handed on; the letter is `Send`.
        unsafe { QueuedJob::parcel(tag, job) }
    };
    let alone = shared.deliver_all(None, parcel);
    alone
        .into_iter()
        .for_each(|index| read_letters(shared, index));
}
