//! `blocking`: blocks outside this library without keeping the pool from its work.
#![forbid(unsafe_code)]

use crate::work::stand_in::Replaced;
use crate::work::worker::Worker;

/// Calls `op`, which may block outside this library: on a channel, a lock, a file. Meanwhile, another thread works
/// in place of this one.
///
/// Without this call, other threads can still take the jobs of a blocked worker, but it runs none itself. If every
/// worker waits for a job that has not begun, the pool deadlocks. Inside `op` the calling thread is no worker: it
/// has no index, and all threads may take its pending work. Until `op` ends, the pool has one more seat, with a
/// *spare thread* on it. On a thread that is no worker, this is a plain call.
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
/// * `op` may wait for any job that was given to the pool, before `op` or meanwhile. There are two exceptions.
///   They wait until the thread leaves `op`, or waits inside `op` for a call, a handle or a scope of this pool:
///   * work that this thread has itself begun and goes on with after `op`;
///   * this thread's own closure of a broadcast.
///
///   So if `op` waits for the pool, a broadcast's closure must wait neither for a broadcast nor for the
///   other closures of its own broadcast. It may run on top of the very job that `op` waits for, and would then
///   wait for this thread.
/// * When `op` ends, this call waits for no other thread. So locks may be taken inside `op` and
///   held after it.
/// * A panic of `op` resumes in the caller.
///
/// # What to know
///
/// * A closure that runs on a spare thread sees an index of [`current_num_threads`] or above; no
///   two see the same index at the same time. Start and exit handlers are called on such threads
///   too. A spare thread finishes its job even after `op` has ended.
/// * Parallel calls inside `op` work as on any ordinary thread, that is, in the global pool. Calls of a pool in
///   which this thread has a seat never wait for another thread to begin them: if no seat is free, they run on
///   this thread's seat. Waits for handles, scopes and broadcasts of that pool run what they depend on, on this
///   thread. Tasks may be spawned into scopes of this pool.
/// * A pool has 64 spare seats. So up to 64 of its threads that are inside `blocking` at the same time are
///   replaced, as long as the system grants threads. No thread is replaced in a pool with a [`spawn_handler`] or
///   of [`build_scoped`], or on a target without threads. Other threads can take the jobs of a blocked thread in
///   any case.
/// * A spare seat stays taken as long as its spare thread works on a job, even after the `op` that it was opened
///   for has ended. If such jobs take all 64 spare seats, a further thread that blocks is not replaced until one
///   of these jobs has ended. If that thread waits for a job that no other thread is free to run, its wait lasts
///   until then as well.
/// * The call costs about as much as waking a thread. It is not for locks that are held only for a moment.
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
