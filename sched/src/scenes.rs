//! Programs that are written by hand, not invented: one for each fault that was once found in the
//! pool, as small as possible.

mod bridges;
mod inside;
mod waits;

use crate::program::{Block, Flow, Global, Loop, Meeting, Node, Pool, Program, Verb};

/// A scene and its name.
pub(crate) struct Scene {
    pub(crate) name: &'static str,
    pub(crate) program: Program,
}

fn number(block: &mut Block, next: &mut usize) {
    for node in block {
        node.id = *next;
        *next += 1;
        for block in node.verb.blocks_mut() {
            number(block, next);
        }
    }
}

fn scene(name: &'static str, mut program: Program) -> Scene {
    let mut next = 0;
    program
        .threads
        .iter_mut()
        .for_each(|block| number(block, &mut next));
    for pool in &mut program.pools {
        let handlers = pool.start.iter_mut().chain(&mut pool.exit);
        handlers.for_each(|block| number(block, &mut next));
    }
    Scene { name, program }
}

fn block(verbs: impl IntoIterator<Item = Verb>) -> Block {
    verbs.into_iter().map(|verb| Node { id: 0, verb }).collect()
}

fn global(threads: usize) -> Option<Global> {
    Some(Global {
        threads,
        lazy: false,
    })
}

fn pool(threads: usize) -> Pool {
    Pool {
        threads,
        greedy: false,
        start: None,
        exit: None,
        shutdown: true,
    }
}

/// All scenes.
pub(crate) fn all() -> Vec<Scene> {
    let work = || block([Verb::Work(100)]);
    let scope = |body| Verb::Scope {
        fifo: false,
        in_place: false,
        body,
    };
    let meet = |len, before| Verb::LoopMeet {
        kind: Meeting::Each,
        len,
        before,
    };
    let in_place = |body| Verb::Scope {
        fifo: false,
        in_place: true,
        body,
    };
    let spawn = |body| Verb::Spawn { fifo: false, body };
    let blocking = Verb::Blocking;
    let line = |flow, len, limit| Verb::Line { flow, len, limit };
    let pipeline = |threads, verb| Program {
        global: global(threads),
        pools: Vec::new(),
        threads: vec![block([verb])],
    };
    let joins = || block((0..6).map(|_| Verb::Join(work(), work())));
    vec![
        // A scope's broadcast: its closure is dropped before the scope is left.
        scene(
            "a-closure-of-a-scopes-broadcast",
            Program {
                global: global(2),
                pools: Vec::new(),
                threads: vec![block([in_place(block([Verb::TaskToAll(Vec::new())]))])],
            },
        ),
        // A seat is lent: the guest and the seat's own thread both sleep.
        scene(
            "b-scope-on-a-lent-seat",
            Program {
                global: global(3),
                pools: Vec::new(),
                threads: vec![block([Verb::Join(
                    block([Verb::BroadcastHome(block([scope(block([
                        Verb::Task(block([Verb::Sleep(60_000_000)])),
                        Verb::Sleep(20_000_000),
                    ]))]))]),
                    Vec::new(),
                )])],
            },
        ),
        // A guest waits for another pool, which waits for all seats of the guest's pool.
        scene(
            "c-guest-abroad",
            Program {
                global: global(2),
                pools: vec![pool(1)],
                threads: vec![block([Verb::Join(
                    block([Verb::Install(
                        0,
                        block([Verb::Blocking(block([Verb::Broadcast(Vec::new())]))]),
                    )]),
                    Vec::new(),
                )])],
            },
        ),
        // Exit handlers go on working.
        scene(
            "e-exit-handlers-work",
            Program {
                global: None,
                pools: vec![Pool {
                    exit: Some(block([
                        Verb::Broadcast(Vec::new()),
                        scope(block([Verb::Task(work()), Verb::Task(work())])),
                    ])),
                    ..pool(2)
                }],
                threads: vec![block([Verb::Install(0, Vec::new())])],
            },
        ),
        scene(
            "f-exit-handler-spawns",
            Program {
                global: None,
                pools: vec![Pool {
                    exit: Some(block([spawn(Vec::new())])),
                    ..pool(1)
                }],
                threads: vec![block([Verb::Install(0, Vec::new())])],
            },
        ),
        // Threads that leave write to each other, and each letter belongs to its writer.
        scene(
            "letters-among-those-that-leave",
            Program {
                global: None,
                pools: vec![Pool {
                    exit: Some(block([spawn(block([Verb::Broadcast(Vec::new())]))])),
                    ..pool(4)
                }],
                threads: vec![Vec::new()],
            },
        ),
        // A thread that leaves reads the letter to a thread that has gone, and the letter writes to all.
        scene(
            "letter-that-writes-to-all",
            Program {
                global: None,
                pools: vec![Pool {
                    exit: Some(block([Verb::SpawnBroadcast(block([Verb::Broadcast(
                        Vec::new(),
                    )]))])),
                    ..pool(3)
                }],
                threads: vec![Vec::new()],
            },
        ),
        // A sleeper closes the seat of a spare thread that lies down as the pool ends.
        scene(
            "spare-seat-closed-at-the-end",
            Program {
                global: None,
                pools: vec![pool(2)],
                threads: vec![block([Verb::Install(
                    0,
                    block([blocking(work()), blocking(block([Verb::Work(20_000)]))]),
                )])],
            },
        ),
        // Letters to seats that guests come to and leave.
        scene(
            "h-broadcast-beside-guests",
            Program {
                global: global(3),
                pools: Vec::new(),
                threads: vec![
                    block([Verb::Broadcast(Vec::new()), Verb::Broadcast(Vec::new())]),
                    joins(),
                    joins(),
                ],
            },
        ),
        // Items that wait for each other, in the first call of a loop.
        scene(
            "loop-items-meet",
            Program {
                global: global(2),
                pools: Vec::new(),
                threads: vec![block([meet(100, 0)])],
            },
        ),
        scene(
            "loop-items-meet-far-apart",
            Program {
                global: global(4),
                pools: Vec::new(),
                threads: vec![block([meet(1000, 0)])],
            },
        ),
        scene(
            "loop-items-meet-in-a-pool",
            Program {
                global: None,
                pools: vec![pool(4)],
                threads: vec![block([Verb::Install(0, block([meet(1000, 0)]))])],
            },
        ),
        scene(
            "loop-known-to-be-short",
            Program {
                global: global(4),
                pools: Vec::new(),
                threads: vec![block([meet(80, 30)])],
            },
        ),
        // All seats are blocked by a lock that an ordinary thread holds across a call.
        scene(
            "seats-blocked",
            Program {
                global: global(2),
                pools: Vec::new(),
                threads: vec![block([Verb::Lock(
                    0,
                    block([
                        spawn(block([Verb::Lock(0, Vec::new())])),
                        spawn(block([Verb::Lock(0, Vec::new())])),
                        Verb::Sleep(100_000_000),
                        Verb::Loop(Loop::Sum, 100, 10),
                    ]),
                )])],
            },
        ),
        scene(
            "seats-blocked-in-a-pool",
            Program {
                global: None,
                pools: vec![pool(1)],
                threads: vec![
                    block([Verb::Lock(
                        0,
                        block([Verb::Sleep(100_000_000), Verb::Install(0, Vec::new())]),
                    )]),
                    block([
                        Verb::Sleep(1000),
                        Verb::Install(0, block([Verb::Lock(0, Vec::new())])),
                    ]),
                ],
            },
        ),
        // A half lies on a guest's seat, and no thread of the pool has been started yet.
        scene(
            "guest-leaves-beside-a-half",
            Program {
                global: Some(Global {
                    threads: 2,
                    lazy: true,
                }),
                pools: Vec::new(),
                threads: vec![
                    block([Verb::Meet(Vec::new(), Vec::new())]),
                    block([Verb::Loop(Loop::Each, 7, 10)]),
                ],
            },
        ),
        // The order buffer of a pipeline: full, with items that meet, with errors and panics in each
        // stage.
        scene("line-of-one", pipeline(2, line(Flow::Through, 4, 1))),
        scene("line-is-full", pipeline(3, line(Flow::Through, 9, 3))),
        scene("line-items-meet", pipeline(2, line(Flow::Meets, 5, 2))),
        scene("line-fails", pipeline(3, line(Flow::Fails(0, 2), 6, 4))),
        scene(
            "line-fails-in-order",
            pipeline(3, line(Flow::Fails(1, 1), 6, 2)),
        ),
        scene(
            "line-fails-in-any-order",
            pipeline(2, line(Flow::Fails(2, 3), 6, 3)),
        ),
        scene(
            "line-fails-at-the-end",
            pipeline(3, line(Flow::Fails(3, 2), 6, 3)),
        ),
        scene("line-panics", pipeline(3, line(Flow::Panics(0, 2), 6, 3))),
        scene(
            "line-panics-in-order",
            pipeline(2, line(Flow::Panics(1, 1), 6, 2)),
        ),
        scene(
            "line-panics-in-any-order",
            pipeline(3, line(Flow::Panics(2, 3), 6, 4)),
        ),
        scene(
            "line-panics-at-the-end",
            pipeline(2, line(Flow::Panics(3, 0), 6, 3)),
        ),
        // Two pipelines of two callers, in a pool of which one thread is away.
        scene(
            "lines-of-two-callers",
            Program {
                global: global(2),
                pools: Vec::new(),
                threads: vec![
                    block([line(Flow::Through, 5, 2)]),
                    block([blocking(block([line(Flow::Through, 5, 2)]))]),
                ],
            },
        ),
        // The thread that is back from blocking waits for a spare thread that is still inside `blocking`.
        scene(
            "blocking-below-a-wait",
            Program {
                global: global(1),
                pools: Vec::new(),
                threads: vec![block([spawn(block([Verb::Join(
                    block([blocking(Vec::new())]),
                    block([blocking(block([Verb::Join(Vec::new(), Vec::new())]))]),
                )]))])],
            },
        ),
        // A thread on a spare seat blocks when the thread that it replaced is back, and waits for that thread.
        scene(
            "spare-thread-blocks",
            Program {
                global: None,
                pools: vec![pool(1)],
                threads: vec![block([Verb::Install(
                    0,
                    block([scope(block([
                        Verb::Task(block([
                            Verb::Set(0),
                            Verb::Await(1),
                            spawn(block([Verb::Set(2)])),
                            blocking(block([Verb::Await(2)])),
                        ])),
                        blocking(block([Verb::Await(0)])),
                        Verb::Set(1),
                    ]))]),
                )])],
            },
        ),
        // A job that lay there before the scope makes room for the scope's own task.
        scene(
            "yield-inside-a-scope",
            Program {
                global: None,
                pools: vec![pool(1)],
                threads: vec![block([Verb::Install(
                    0,
                    block([
                        spawn(Vec::new()),
                        scope(block([Verb::Yield { local: true }, Verb::Task(work())])),
                    ]),
                )])],
            },
        ),
        // A start handler brings a spare thread, which runs the start handler.
        scene(
            "start-handler-blocks",
            Program {
                global: None,
                pools: vec![Pool {
                    start: Some(block([blocking(Vec::new())])),
                    shutdown: false,
                    ..pool(2)
                }],
                threads: Vec::new(),
            },
        ),
        // All threads are needed, one after the other, for jobs that stuck owners keep to themselves.
        scene(
            "all-items-meet",
            Program {
                global: None,
                pools: vec![pool(8)],
                threads: vec![block([Verb::Install(
                    0,
                    block([Verb::LoopMeet {
                        kind: Meeting::All,
                        len: 8,
                        before: 20,
                    }]),
                )])],
            },
        ),
        // The last thread that does not block waits for its part of the loop, and the items that the others
        // wait for lie elsewhere.
        scene(
            "some-items-meet",
            Program {
                global: None,
                pools: vec![pool(5)],
                threads: vec![block([Verb::Install(
                    0,
                    block([Verb::LoopMeet {
                        kind: Meeting::All,
                        len: 40,
                        before: 8,
                    }]),
                )])],
            },
        ),
    ]
    .into_iter()
    .chain(bridges::all())
    .chain(inside::all())
    .chain(waits::all())
    .collect()
}
