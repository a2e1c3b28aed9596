//! forte: heartbeat and lazy scheduling, at most 32 members.
#![forbid(unsafe_code)]

use super::{Peer, Spawns};
use forte::{ThreadPool, Worker};

static POOL: ThreadPool = ThreadPool::new();

/// forte. The calling thread becomes a member: it is one of the `threads`.
#[derive(Debug)]
pub enum Forte {}

impl Peer for Forte {
    const NAME: &'static str = "forte";
    type Cx<'a> = &'a Worker;

    fn start(threads: usize) -> bool {
        POOL.resize_to(threads - 1) == threads - 1
    }

    fn enter<R: Send>(body: impl FnOnce(&Worker) -> R + Send) -> R {
        POOL.with_worker(body)
    }

    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        worker: &Worker,
        a: impl FnOnce(&Worker) -> RA + Send,
        b: impl FnOnce(&Worker) -> RB + Send,
    ) -> (RA, RB) {
        worker.join(a, b)
    }

    fn lend<'s>(worker: &'s mut &Worker) -> &'s Worker {
        worker
    }
}

impl Spawns for Forte {
    fn spawn_each(count: usize, task: impl Fn() + Send + Sync) {
        let task = &task;
        POOL.scope(|scope| (0..count).for_each(|_| scope.spawn(move |_: &Worker| task())));
    }
}
