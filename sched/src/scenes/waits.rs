//! Scenes in which a wait depends on one step of a protocol: if that step is left out, no other
//! mechanism replaces it. Events say which part has begun where, and a part that awaits an event
//! blocks, as user code may.

use super::{Scene, block, global, pool, scene};
use crate::program::{Block, End, Global, Loop, Meeting, Pool, Program, Verb};
use Verb::{Await, Refuse, Set, Work};
use std::iter;

/// A job that no thread waits for, in a pool that then ends.
fn left_alone(threads: usize, job: impl IntoIterator<Item = Verb>) -> Program {
    let job = block(job);
    in_pool(pool(threads), [spawn(job)])
}

pub(super) fn in_pool(pool: Pool, job: impl IntoIterator<Item = Verb>) -> Program {
    Program {
        global: None,
        pools: vec![pool],
        threads: vec![block([Verb::Install(0, block(job))])],
    }
}

pub(super) fn guests(threads: usize, lazy: bool, blocks: Vec<Block>) -> Program {
    Program {
        global: Some(Global { threads, lazy }),
        pools: Vec::new(),
        threads: blocks,
    }
}

pub(super) fn spawn(body: Block) -> Verb {
    Verb::Spawn { fifo: false, body }
}

fn scope(body: impl IntoIterator<Item = Verb>) -> Verb {
    Verb::Scope {
        fifo: false,
        in_place: false,
        body: block(body),
    }
}

pub(super) fn task(body: impl IntoIterator<Item = Verb>) -> Verb {
    Verb::Task(block(body))
}

fn join<const N: usize, const M: usize>(a: [Verb; N], b: [Verb; M]) -> Verb {
    Verb::Join(block(a), block(b))
}

fn items_meet(len: u64, before: u64) -> Verb {
    Verb::LoopMeet {
        kind: Meeting::Collect,
        len,
        before,
    }
}

/// 18 tasks first: then, if the other threads are awake meanwhile, the following jobs are pushed in a lull.
fn in_a_lull() -> Verb {
    let before = (0..18).map(|_| task([Work(1000)]));
    scope(before.chain([task([Set(0)]), Await(0), task([Set(1)]), Await(1)]))
}

/// So deep inside joins that a half is private at first, although a thread has asked for work.
fn deep(innermost: Verb) -> Verb {
    (0..10).fold(innermost, |inner, _| join([inner], []))
}

/// Then computes long enough for other threads to get far (the number of steps counts), and at each of many joins
/// a job may become public.
fn in_many_joins(first: Verb) -> Block {
    let steps = || iter::repeat_n(Work(100), 100);
    let joins = (0..12).flat_map(|_| iter::once(join([], [])).chain(steps()));
    block(iter::once(first).chain(joins))
}

pub(super) fn all() -> Vec<Scene> {
    vec![
        // The items of a known short loop wait for each other, while other guests come and go: the thread of
        // the seat that they leave was never started, or sleeps without looking after the others.
        scene(
            "a-guest-leaves-no-looker",
            guests(
                2,
                true,
                vec![
                    block([items_meet(3, 6)]),
                    block([join([], [])]),
                    block([Work(20_000), Work(1000), Work(20_000)]),
                ],
            ),
        ),
        scene(
            "guests-leave-no-looker",
            guests(
                3,
                true,
                vec![
                    block([items_meet(4, 6)]),
                    block([items_meet(3, 6)]),
                    block([join([], []), Work(20_000), join([Work(1000)], [])]),
                    block([join([Work(1000)], [join([], [])])]),
                ],
            ),
        ),
        // The thief blocks next to a half that only the owner, which waits for it, can run.
        scene(
            "wait-thief-stuck-beside-a-half",
            left_alone(
                2,
                [join(
                    [Await(1)],
                    // The first of these joins answers an earlier request to the thief.
                    [join([], []), Set(1), join([Await(0)], [Set(0)])],
                )],
            ),
        ),
        // The same, so deep inside other joins that the thief keeps the half private.
        scene(
            "wait-thief-stuck-deep-inside",
            left_alone(
                2,
                [join([Await(1)], [Set(1), deep(join([Await(0)], [Set(0)]))])],
            ),
        ),
        // The same with a task: the owner is told because it left its name with the thief.
        scene(
            "wait-thief-stuck-beside-a-task",
            left_alone(
                2,
                [join(
                    [Await(1)],
                    [Set(1), scope([task([Set(0)]), Await(0)])],
                )],
            ),
        ),
        scene(
            "wait-thief-stuck-beside-late-tasks",
            left_alone(
                2,
                [join(
                    [Await(1)],
                    [
                        Set(1),
                        scope([task([Set(0)]), Await(0), task([Set(2)]), Await(2)]),
                    ],
                )],
            ),
        ),
        // A spawner relies on no thread being asleep, and waits for a task that another thread has to run;
        // that thread goes to sleep just then.
        scene("lull-and-a-sleeper", in_pool(pool(2), [in_a_lull()])),
        scene(
            "lull-of-a-guest-and-a-sleeper",
            guests(2, false, vec![block([in_a_lull()]), block([join([], [])])]),
        ),
        // The jobs below the awaited piece on the thief's seat wait for the jobs below the wait. The other thread
        // is kept busy until its first choice is the task; the thread here waits until the task has begun there.
        // Then it takes the task's half, which goes on until all jobs below it are public. If the other thread
        // takes the jobs below at once, no thread waits.
        scene(
            "wait-below-the-base",
            left_alone(
                2,
                [join(
                    [
                        Await(1),
                        deep(join(
                            [
                                scope([
                                    task([
                                        Set(3),
                                        Verb::Join(block([Await(4)]), in_many_joins(Set(4))),
                                    ]),
                                    Set(2),
                                    Await(3),
                                ]),
                                Set(0),
                            ],
                            [Set(3), Set(4), Await(0)],
                        )),
                    ],
                    [Set(1), Await(2)],
                )],
            ),
        ),
        // A task comes from a thread that has stepped aside from its seat, and there are no more threads.
        scene(
            "wait-scope-owner-is-told",
            in_pool(
                pool(2),
                [
                    Refuse(0),
                    scope([
                        task([Set(1), Verb::Blocking(block([task([Set(0)]), Await(0)]))]),
                        Await(1),
                    ]),
                ],
            ),
        ),
        // A task was stolen and has not begun when its scope's owner goes to sleep; then it spawns tasks for
        // the owner.
        scene(
            "wait-scope-for-a-task-on-its-way",
            left_alone(
                2,
                [scope([
                    task([scope([task([Set(0)]), Await(0)])]),
                    Work(3000),
                ])],
            ),
        ),
        // An ordinary thread waits for a task of a scope in place, and the job that blocks the only seat waits
        // for that task too.
        scene(
            "scope-in-place-beside-a-blocked-seat",
            guests(
                1,
                false,
                vec![block([
                    spawn(block([Set(1), Await(0)])),
                    Await(1),
                    Verb::Scope {
                        fifo: false,
                        in_place: true,
                        body: block([task([Set(0)])]),
                    },
                ])],
            ),
        ),
        // A job comes while the only thread goes to sleep in another pool.
        scene(
            "job-for-a-thread-abroad",
            Program {
                global: global(1),
                pools: vec![pool(1)],
                threads: vec![block([
                    spawn(block([Set(1), Verb::Install(0, block([Await(0)])), Set(2)])),
                    Await(1),
                    Verb::Sleep(14_000),
                    spawn(block([Set(0)])),
                    Await(2),
                ])],
            },
        ),
        // The first job of a stolen lot waits for the second, and all others for both.
        scene(
            "lot-whose-jobs-wait",
            in_pool(
                pool(3),
                [
                    spawn(block([Await(0), Set(2)])),
                    spawn(block([Set(0)])),
                    spawn(Vec::new()),
                    Await(2),
                ],
            ),
        ),
        // The same from outside.
        scene(
            "batch-whose-jobs-wait",
            guests(
                2,
                false,
                vec![block([
                    spawn(block([Await(0)])),
                    spawn(block([Set(0)])),
                    spawn(Vec::new()),
                    spawn(Vec::new()),
                    spawn(Vec::new()),
                ])],
            ),
        ),
        // A job comes from outside while a guest takes the seat of the thread that looked.
        scene(
            "guest-on-the-seat-of-a-searcher",
            guests(
                2,
                false,
                vec![
                    block([join([Await(0)], [])]),
                    block([spawn(block([Set(0)]))]),
                ],
            ),
        ),
        // The same with a single seat: the guest is asked to look after the job when it leaves.
        scene(
            "guest-on-the-only-seat",
            guests(
                1,
                false,
                vec![
                    block([join([Work(500)], []), join([Work(500)], [])]),
                    block([Work(200), spawn(Vec::new())]),
                ],
            ),
        ),
        // All seats are blocked, and the system has no thread to give: the waiter itself takes a spare seat.
        scene(
            "refused-seats-blocked",
            Program {
                global: global(2),
                pools: Vec::new(),
                threads: vec![block([Verb::Lock(
                    0,
                    block([
                        Refuse(0),
                        spawn(block([Verb::Lock(0, Vec::new())])),
                        spawn(block([Verb::Lock(0, Vec::new())])),
                        Verb::Sleep(100_000_000),
                        Verb::Loop(Loop::Sum, 100, 10),
                    ]),
                )])],
            },
        ),
        // The same; the errand has come along with the job that blocks.
        scene(
            "refused-errand-beside-what-blocks",
            guests(
                1,
                false,
                vec![
                    block([
                        spawn(block([Set(0), Await(1)])),
                        Await(0),
                        Verb::Lock(
                            0,
                            block([
                                Refuse(0),
                                spawn(block([Verb::Lock(0, Vec::new())])),
                                Verb::Loop(Loop::Sum, 100, 10),
                            ]),
                        ),
                    ]),
                    block([Await(0), Verb::Sleep(4_000_000), Set(1)]),
                ],
            ),
        ),
        // Two letters to a thread that is refused while the second is written.
        scene(
            "refused-thread-and-two-letters",
            guests(
                2,
                true,
                vec![
                    block([Refuse(0), Verb::Broadcast(Vec::new())]),
                    block([Verb::Broadcast(Vec::new())]),
                ],
            ),
        ),
        scene(
            "refused-thread-that-a-job-calls",
            guests(
                3,
                true,
                vec![
                    block([Refuse(1), Verb::Broadcast(Vec::new()), join([], [])]),
                    block([spawn(Vec::new()), Verb::Broadcast(Vec::new())]),
                ],
            ),
        ),
        // A job calls a thread that is refused while a letter to it is written, and no guest comes later.
        scene(
            "refused-thread-and-a-late-letter",
            guests(
                3,
                true,
                vec![block([
                    Refuse(1),
                    spawn(block([Set(0), Await(1), Verb::Broadcast(Vec::new())])),
                    Await(0),
                    Set(1),
                    spawn(Vec::new()),
                ])],
            ),
        ),
        // Every thread is refused, and each verb is done by guests.
        scene(
            "refused-all",
            guests(
                2,
                true,
                vec![
                    block([
                        Refuse(0),
                        scope([task([]), Verb::TaskToAll(Vec::new()), join([], [])]),
                        Verb::Handle(End::Cancel, Vec::new()),
                        Verb::SpawnBroadcast(block([spawn(Vec::new())])),
                    ]),
                    block([
                        Verb::Handle(End::Join, block([join([], [])])),
                        Verb::Blocking(block([scope([task([])])])),
                        spawn(block([spawn(Vec::new())])),
                    ]),
                ],
            ),
        ),
        // A spare thread is refused: its seat is closed, and no longer counted.
        scene(
            "refused-spare-thread",
            in_pool(
                pool(1),
                [
                    Refuse(0),
                    spawn(Vec::new()),
                    Verb::Blocking(block([Work(100)])),
                    spawn(Vec::new()),
                    Verb::Blocking(block([Work(100)])),
                ],
            ),
        ),
        // Exit handlers that spawn and write, where spare threads are refused.
        scene(
            "refused-while-a-pool-ends",
            in_pool(
                Pool {
                    exit: Some(block([
                        spawn(Vec::new()),
                        Verb::Blocking(block([Work(100)])),
                        scope([Verb::TaskToAll(Vec::new())]),
                    ])),
                    ..pool(2)
                },
                [
                    Refuse(1),
                    Verb::Broadcast(block([Verb::Blocking(block([Work(50)]))])),
                ],
            ),
        ),
        // A token inside a scope inside a broadcast, beside a thread that blocks.
        scene(
            "token-in-a-broadcast",
            in_pool(
                pool(2),
                [Verb::Broadcast(block([scope([
                    task([Verb::Under(block([scope([
                        task([Verb::Blocking(block([Work(50)]))]),
                        task([join([Work(20)], [Work(20)])]),
                    ])]))]),
                    Verb::Under(block([Verb::Handle(End::Drop, block([Work(100)]))])),
                ])]))],
            ),
        ),
        // A start handler that panics, one that spawns, and letters to the thread that runs it.
        scene(
            "start-handler-panics",
            in_pool(
                Pool {
                    start: Some(block([spawn(Vec::new()), Verb::Panic])),
                    ..pool(2)
                },
                [
                    Verb::Broadcast(Vec::new()),
                    spawn(Vec::new()),
                    Verb::Blocking(block([Work(100)])),
                ],
            ),
        ),
    ]
}
