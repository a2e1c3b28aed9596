//! Scenes in which a thread inside `blocking` calls the pool whose seat it keeps, and no other thread can do
//! what it waits for: it must come back to the seat.

use super::waits::{guests, in_pool, spawn, task};
use super::{Scene, block, pool, scene};
use crate::program::{End, Global, Program, Verb};
use Verb::{Await, Blocking, Broadcast, Handle, Install, Join, Refuse, Set, Work};

/// A thread of a global pool does this inside `blocking`.
fn inside(threads: usize, before: Option<Verb>, verb: Verb) -> Program {
    let job = before.into_iter().chain([Blocking(block([verb])), Set(0)]);
    guests(threads, false, vec![block([spawn(block(job)), Await(0)])])
}

fn in_place(verb: Verb) -> Verb {
    Verb::Scope {
        fifo: false,
        in_place: true,
        body: block([verb]),
    }
}

pub(super) fn all() -> Vec<Scene> {
    let call = || block([Install(0, block([Work(100)]))]);
    let broadcast = || Broadcast(block([Work(100)]));
    vec![
        // The only seat is the caller's, and there is no other thread.
        scene(
            "inside-a-call",
            in_pool(pool(1), [Refuse(0), Blocking(call())]),
        ),
        // The same from a join of the global pool, where the thread is a guest.
        scene(
            "inside-a-call-of-a-guest",
            Program {
                global: Some(Global {
                    threads: 1,
                    lazy: true,
                }),
                ..in_pool(
                    pool(1),
                    [Refuse(0), Blocking(block([Join(call(), call())]))],
                )
            },
        ),
        // A call of the global pool, where other seats are free: a letter comes to the seat that the thread
        // keeps.
        scene("inside-a-call-that-writes-to-all", {
            let inside = [Join(block([broadcast()]), block([Work(100)]))];
            let outside = Join(block([Blocking(block(inside))]), block([Work(100)]));
            guests(3, true, vec![block([outside])])
        }),
        // The letter to its own seat.
        scene("inside-a-broadcast", inside(1, None, broadcast())),
        scene("inside-broadcasts-of-two", {
            let job = || spawn(block([Blocking(block([broadcast()])), Set(0)]));
            guests(2, false, vec![block([job(), job(), Await(0)])])
        }),
        // The job that it waits for writes to its seat.
        scene(
            "inside-a-handle",
            inside(1, None, Handle(End::Join, block([broadcast()]))),
        ),
        scene(
            "inside-a-scope-in-place",
            inside(2, None, in_place(task([broadcast()]))),
        ),
        // A task of the scope, run here, leaves another task here.
        scene(
            "inside-a-scope-whose-tasks-spawn",
            inside(1, Some(Refuse(0)), in_place(task([task([Work(100)])]))),
        ),
    ]
}
