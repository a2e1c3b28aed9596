//! `blocking`: to block outside this library without keeping the pool from its work.
#![forbid(unsafe_code)]

use crate::work::stand_in::Replaced;
use crate::work::worker::Worker;

/// Calls `op`, which may block outside this library: on a channel, a lock, a file. While it does,
/// another thread works in place of this one.
///
/// Other threads can still take the jobs of a blocked worker, but it runs none itself. If every worker waits for a
/// job that has not begun, the pool deadlocks. Inside `op`
/// the calling thread is no worker: it has no index, its pending work is open to all, and the
/// pool has one more seat for as long as it takes, with a *spare thread* on it. On a thread that
/// is no worker, this is a plain call.
///
/// ```
/// # use tine_pool as tine;
/// use std::sync::mpsc;
/// let pool = tine::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let answer = pool.install(|| {
///     let (send, receive) = mpsc::channel();
///     tine::spawn(move || send.send(42).unwrap());
///     // The only thread of this pool: without `blocking`, no thread would run what it has spawned.
///     tine::blocking(|| receive.recv().unwrap())
/// });
/// assert_eq!(answer, 42);
/// ```
///
/// # What may be relied on
///
/// * Whatever `op` waits for may be a job that was given to the pool in any way, before or
///   meanwhile. There are two exceptions: what this thread has itself begun and would go on with
///   after `op`, and the closures of a broadcast that are for this very thread. These wait until
///   it is back, or waits inside `op` for a call, a handle or a scope of this pool. So if `op`
///   waits for the pool, a broadcast's closure must wait neither for a broadcast nor for the other
///   closures of its own: it may run on top of the very job that `op` waits for, and wait for this
///   thread.
/// * The end of `op` waits for no thread. So locks may be taken inside `op` and held after it.
/// * A panic of `op` goes on here.
///
/// # What to know
///
/// * A closure that runs on a spare thread sees an index of [`current_num_threads`] or above, no
///   two the same at the same time, and start and exit handlers are called on such threads too.
///   Until it is through with its job, a spare thread works on when `op` has ended.
/// * Parallel calls inside `op` work as on any ordinary thread, which is to say in the global
///   pool. Calls of a pool in which this thread has a seat never wait for another thread to begin
///   them: if no seat is free, they run on this one. Waits for handles, scopes and broadcasts of
///   that pool run on it what they depend on. Tasks may be spawned into scopes of this pool.
/// * A pool has 64 spare seats. So the first 64 of its threads that are inside `op` at the same time are
///   replaced, while the system gives threads; those of a pool with a [`spawn_handler`] or of
///   [`build_scoped`], or on a target without threads, are not. What they have pushed is open to the other threads all the same.
/// * A spare seat is taken for as long as the spare thread works on its job, also when the `op` that it
///   was opened for has ended. If all 64 are taken so, by jobs of calls that are over, a further thread
///   that blocks is not replaced until one of these jobs has ended. If it waits for a job that no other
///   thread is free to run, it waits for that as well.
/// * It costs about as much as waking a thread, and is not for locks that are held for a moment.
///
/// [`current_num_threads`]: crate::current_num_threads
/// [`spawn_handler`]: crate::ThreadPoolBuilder::spawn_handler
/// [`build_scoped`]: crate::ThreadPoolBuilder::build_scoped
pub fn blocking<OP, R>(op: OP) -> R
where
    OP: FnOnce() -> R,
{
    Worker::with(|worker| match worker {
        Some(worker) => {
            let _replaced = Replaced::new(worker);
            worker.stand_aside(op)
        }
        None => op(),
    })
}
