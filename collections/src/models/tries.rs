//! Entries that are only tried: a thread that would have to wait goes away, and leaves nothing behind.

use super::Gated;

/// A look, unless the thread would have to wait for it.
fn try_read(map: &Gated, shard: usize, nested: bool) -> bool {
    let (lock, cell) = &map.shards[shard];
    let guard = lock.try_read(nested, map.door(shard));
    let is_in = guard.is_some();
    if is_in {
        // SAFETY: read under the guard.
        let value = cell.with(|value| unsafe { *value });
        super::thread::yield_now();
        // SAFETY: as above.
        assert_eq!(cell.with(|value| unsafe { *value }), value);
    }
    drop(guard);
    is_in
}

/// A write, which is taken back at once, so that each run ends with the same values.
fn try_write(map: &Gated, shard: usize) -> bool {
    let (lock, cell) = &map.shards[shard];
    let guard = lock.try_write(map.door(shard));
    let is_in = guard.is_some();
    if is_in {
        // SAFETY: written under the guard.
        cell.with_mut(|value| unsafe { *value += 1 });
        super::thread::yield_now();
        // SAFETY: as above.
        cell.with_mut(|value| unsafe { *value -= 1 });
    }
    drop(guard);
    is_in
}

/// By the lock: a writer that tries, beside a writer that waits.
#[test]
fn a_try_beside_a_writer() {
    Gated::run(
        false,
        3,
        &[
            |map| map.write(0),
            |map| {
                try_write(map, 0);
                try_read(map, 0, false);
            },
        ],
        [1, 0],
    );
}

/// Through the gate: a reader that is let in, and a writer that tries. If it goes away, the reader shuts the gate when it leaves.
#[test]
fn a_try_beside_a_reader_without_a_lock() {
    Gated::run(
        true,
        3,
        &[
            |map| _ = try_write(map, 0),
            |map| {
                map.read(0, true);
            },
        ],
        [0, 0],
    );
}

/// Both only try, while a third writes.
#[test]
fn tries_beside_a_writer_and_a_gate() {
    Gated::run(
        true,
        2,
        &[
            |map| map.write(0),
            |map| _ = try_write(map, 0),
            |map| _ = try_read(map, 0, false),
        ],
        [1, 0],
    );
}

/// A writer of another shard waits for nothing that a try has left behind.
#[test]
fn a_try_and_a_writer_of_another_shard() {
    Gated::run(
        true,
        2,
        &[
            |map| _ = try_write(map, 0),
            |map| map.write(1),
            |map| {
                map.read(0, false);
            },
        ],
        [0, 1],
    );
}

/// Where nothing is in the way, a try is let in.
#[test]
fn a_try_that_is_alone() {
    for open in [false, true] {
        super::explore(2, move || {
            let map = Gated::new(open);
            assert!(try_read(&map, 0, false) && try_write(&map, 0) && try_read(&map, 0, false));
            let outer = map.shards[0].0.read(false, map.door(0));
            assert!(try_read(&map, 0, true) && !try_write(&map, 0));
            assert!(try_write(&map, 1));
            drop(outer);
            assert!(try_write(&map, 0));
        });
    }
}
