//! Workers driven by hand: what several of them produce, compared with a map of std.
use super::merging::{Plan, Run};
use super::spent::Drops;
use super::worker::State;
use crate::group::fold::Fold;
use crate::hasher::DefaultHashBuilder;
use crate::parts::{breadth, part_of};
use crate::tag::Tag;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// The places of all items of a key, in order.
struct Places;

impl Fold for Places {
    type Item = (u64, usize);
    type Key = u64;
    type Raw = usize;
    type Sum = Vec<usize>;

    fn read(&self, (key, at): (u64, usize), _: usize) -> (u64, usize) {
        (key, at)
    }

    fn start(&self, at: usize) -> Vec<usize> {
        vec![at]
    }

    fn add(&self, places: &mut Vec<usize>, at: usize) {
        places.push(at);
    }

    fn merge(&self, places: &mut Vec<usize>, mut later: Vec<usize>) {
        places.append(&mut later);
    }
}

/// Counts how often each of a few kinds of run was made.
#[derive(Default, Debug)]
struct Made {
    tables: usize,
    entries: usize,
    items: usize,
    /// Items and entries in all runs.
    held: usize,
}

/// What `workers` workers make from the keys, each from a stretch of them, in `parts` parts. Checks where each
/// key is, and the order of its items.
fn check<G: Tag>(keys: &[u64], workers: usize, parts: usize, block: usize) -> Made {
    check_within::<G>((100_000, usize::MAX), keys, workers, parts, block)
}

/// The same, but the two limits say how many entries a worker's table may have, and how many items a worker may
/// hold at first.
fn check_within<G: Tag>(
    (limit, held): (usize, usize),
    keys: &[u64],
    workers: usize,
    parts: usize,
    block: usize,
) -> Made {
    let hasher = DefaultHashBuilder::default();
    let plan = Plan {
        fold: &Places,
        hasher: &hasher,
        limit,
        parts,
        held,
        alone: false,
        share: Some(keys.len() / workers),
        expected: keys.len(),
        two: false,
        workers: AtomicUsize::new(0),
        scattered: AtomicBool::new(false),
        drops: Drops::default(),
    };
    let stretch = keys.len().div_ceil(workers).max(1);
    let items: Vec<(u64, usize)> = keys.iter().copied().zip(0..).collect();
    // Each worker begins later than the worker before it. After each block a worker may change its way.
    let mut states: Vec<State<'_, _, _, G>> = Vec::new();
    let mut blocks: Vec<_> = items
        .chunks(stretch)
        .map(|items| items.chunks(block))
        .collect();
    blocks.resize_with(workers, || [].chunks(block));
    while blocks.iter().any(|blocks| blocks.len() != 0) || states.len() < workers {
        if states.len() < workers {
            states.push(State::new(&plan));
        }
        for (state, blocks) in states.iter_mut().zip(&mut blocks) {
            for block in blocks.by_ref().take(7) {
                state.put_all(block.iter().copied());
            }
        }
    }
    let mut made = Made::default();
    let mut whole = states.remove(0).finish();
    whole
        .runs
        .extend(states.into_iter().flat_map(|state| state.finish().runs));
    for (_, run) in &whole.runs {
        match run {
            Run::Table(table) => {
                (made.tables, made.held) = (made.tables + 1, made.held + table.len())
            }
            Run::Entries(all) => {
                (made.entries, made.held) = (made.entries + 1, made.held + all.len())
            }
            Run::Items(all) => (made.items, made.held) = (made.items + 1, made.held + all.len()),
        }
    }
    let count = whole.runs.len();
    let (tables, _) = plan.finish(whole);
    assert_eq!(tables.len(), if count < 2 { 1 } else { breadth() });
    let mut expected: HashMap<u64, Vec<usize>> = HashMap::new();
    items
        .iter()
        .for_each(|&(key, at)| expected.entry(key).or_default().push(at));
    for (nth, table) in tables.iter().enumerate() {
        for (key, places) in table {
            assert_eq!(nth, part_of(hasher.hash_one(key), tables.len()));
            assert_eq!(expected.remove(key).as_ref(), Some(places));
        }
    }
    assert!(expected.is_empty());
    made
}

fn keys(count: usize, of: u64) -> Vec<u64> {
    let mut x = count as u64 ^ of << 20 | 1;
    let mut next = move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x % of
    };
    (0..count).map(|_| next()).collect()
}

const COUNT: usize = if cfg!(miri) { 5_000 } else { 20_000 };

#[test]
fn parts_are_right_for_any_number_of_them() {
    for parts in [8, 16, 64, breadth()] {
        for workers in [1, 2, 5] {
            for of in [1, 100, 3_000, 1 << 40] {
                check::<()>(&keys(COUNT, of), workers, parts, 500);
                check::<u64>(&keys(COUNT, of), workers, parts, COUNT);
            }
        }
    }
    check::<()>(&[], 3, 8, 1);
    check::<()>(&[7], 3, 8, 1);
}

/// Workers that are not alone scatter items whose keys are nearly all new; workers that begin later do so from
/// their first item on. They keep tables of few keys.
#[test]
fn tables_are_kept_where_keys_come_again() {
    let made = check::<()>(&keys(COUNT, 1 << 40), 4, 8, 200);
    assert_eq!((made.tables, made.items), (0, 4), "{made:?}");
    assert_eq!(made.entries, 1, "what the first one had in its table");
    let made = check::<()>(&keys(COUNT, 100), 4, 8, 200);
    assert_eq!((made.tables, made.items, made.entries), (4, 0, 0));
    let made = check::<()>(&keys(COUNT, 1 << 40), 1, 8, 200);
    assert_eq!((made.tables, made.items, made.entries), (1, 0, 0), "alone");
}

/// Workers that hold much fold it before the end: then each key is there once, and the order of its items is
/// the same.
#[test]
fn what_gathers_is_folded() {
    let limits = if cfg!(miri) { (200, 600) } else { (200, 1_000) };
    let count = COUNT / 4;
    for (workers, parts, block) in [(1, 8, 1), (1, breadth(), 70), (3, 8, 300), (3, 32, count)] {
        for of in [1, 500, 1 << 40] {
            check_within::<()>(limits, &keys(count, of), workers, parts, block);
            check_within::<u64>(limits, &keys(count, of), workers, parts, block);
        }
    }
    // Few items are held at the end: the folded ones, those that have come since with a block, a table, and the
    // hot table in front of it.
    let (of, block) = (500, 500);
    let most = of + limits.1 + block + limits.0 + of;
    let some = keys(COUNT, of as u64);
    let made = check_within::<()>(limits, &some, 1, 8, block);
    assert!(made.held <= most, "{made:?}");
    // Otherwise there are many, unless a hasher happens to crowd them in front of the table.
    let held = || check_within::<()>((200, usize::MAX), &some, 1, 8, block).held;
    assert!((0..8).any(|_| held() > most));
    // New keys are not folded in vain: otherwise there would be a single run.
    let made = check_within::<()>(limits, &keys(COUNT, 1 << 40), 1, 8, 500);
    assert!(made.items > 2 && made.held == COUNT, "{made:?}");
}
