//! Scenes in which threads wait for an iterator: a few threads, and a crowd that stands in line.

use super::{Scene, block, global, pool, scene};
use crate::program::{Draw, Program, Verb};

/// More threads than can wait without a line.
const CROWD: usize = 18;

pub(super) fn all() -> Vec<Scene> {
    let in_pool = |threads, draw, len, nanos| Program {
        global: None,
        pools: vec![pool(threads)],
        threads: vec![block([Verb::Install(
            0,
            block([Verb::Bridge(draw, len, nanos)]),
        )])],
    };
    let panics = |at, ahead| Draw::Panics { at, ahead };
    vec![
        scene("bridge-source-waits", in_pool(4, Draw::Waits, 40, 3000)),
        scene("bridge-items-meet", in_pool(4, Draw::Meets, 41, 100)),
        scene("bridge-panics", in_pool(4, panics(17, false), 40, 500)),
        // A thread draws for the waiting threads; one of these may go to sleep meanwhile.
        scene(
            "line-for-a-source-that-waits",
            in_pool(CROWD, Draw::Waits, 40, 9000),
        ),
        scene(
            "line-for-a-slow-source",
            in_pool(CROWD, Draw::Waits, 30, 90_000),
        ),
        scene(
            "line-whose-items-meet",
            in_pool(CROWD, Draw::Meets, 41, 100),
        ),
        scene("line-for-batches", in_pool(CROWD, Draw::Promised, 200, 300)),
        scene(
            "line-for-single-items",
            in_pool(CROWD, Draw::Singly, 60, 300),
        ),
        // Items that were drawn for other threads are dropped once, and threads that wait for more come back.
        scene(
            "line-for-a-panic",
            in_pool(CROWD, panics(37, false), 60, 500),
        ),
        scene(
            "line-for-a-panic-ahead",
            in_pool(CROWD, panics(137, true), 200, 500),
        ),
        scene(
            "line-for-a-panic-at-once",
            in_pool(CROWD, panics(0, false), 4, 500),
        ),
        // A caller is away from its pool.
        scene(
            "lines-beside-blocking",
            Program {
                global: global(CROWD),
                pools: Vec::new(),
                threads: vec![
                    block([Verb::Bridge(Draw::Waits, 20, 1000)]),
                    block([Verb::Blocking(block([Verb::Bridge(Draw::Meets, 20, 1000)]))]),
                ],
            },
        ),
        // The caller is a guest.
        scene(
            "lines-of-guests",
            Program {
                global: global(CROWD),
                pools: Vec::new(),
                threads: vec![
                    block([Verb::Bridge(Draw::Waits, 20, 1000)]),
                    block([Verb::Bridge(panics(5, true), 20, 1000)]),
                ],
            },
        ),
    ]
}
