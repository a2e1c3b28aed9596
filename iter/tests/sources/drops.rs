//! Each owned item is dropped exactly once, whatever took it and whatever panics.

use crate::kit::pools;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use tine_iter::iter::plumbing::{
    Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer,
};
use tine_iter::iter::{once, repeat_n, walk_tree, walk_tree_postfix, walk_tree_prefix};
use tine_iter::prelude::*;

const LEN: usize = 200;

/// How often each item was dropped.
#[derive(Default)]
struct Tally(Vec<AtomicUsize>);

/// An item that is counted when it is dropped.
struct Item {
    id: usize,
    tally: Arc<Tally>,
}

impl Drop for Item {
    fn drop(&mut self) {
        self.tally.0[self.id].fetch_add(1, Relaxed);
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Item {}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Item {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.id.cmp(&other.id)
    }
}

// The tally that an item points to takes no part in its hash.
impl std::hash::Hash for Item {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// Anything that owns items; what its parts are does not matter here.
trait Owns: Send {}

impl<T: Send> Owns for T {}

/// What the consumer does with its items.
#[derive(Clone, Copy, Debug)]
enum Plan {
    All,
    FullAfter(usize),
    PanicAt(usize),
}

const PLANS: [Plan; 7] = [
    Plan::All,
    Plan::FullAfter(0),
    Plan::FullAfter(1),
    Plan::FullAfter(77),
    Plan::PanicAt(0),
    Plan::PanicAt(1),
    Plan::PanicAt(77),
];

#[derive(Clone, Copy)]
struct Eater<'a> {
    plan: Plan,
    eaten: &'a AtomicUsize,
}

impl Eater<'_> {
    fn is_full(&self) -> bool {
        matches!(self.plan, Plan::FullAfter(n) if self.eaten.load(Relaxed) >= n)
    }
}

impl<T: Owns> Consumer<T> for Eater<'_> {
    type Folder = Self;
    type Reducer = Nothing;
    type Result = ();

    fn split_at(self, _: usize) -> (Self, Self, Nothing) {
        (self, self, Nothing)
    }

    fn into_folder(self) -> Self {
        self
    }

    fn full(&self) -> bool {
        self.is_full()
    }
}

impl<T: Owns> UnindexedConsumer<T> for Eater<'_> {
    fn split_off_left(&self) -> Self {
        *self
    }

    fn to_reducer(&self) -> Nothing {
        Nothing
    }
}

impl<T: Owns> Folder<T> for Eater<'_> {
    type Result = ();

    fn consume(self, _item: T) -> Self {
        let nth = self.eaten.fetch_add(1, Relaxed);
        if matches!(self.plan, Plan::PanicAt(n) if n == nth) {
            panic!("as planned");
        }
        self
    }

    fn complete(self) {}

    fn full(&self) -> bool {
        self.is_full()
    }
}

struct Nothing;

impl Reducer<()> for Nothing {
    fn reduce(self, (): (), (): ()) {}
}

fn tally() -> Arc<Tally> {
    Arc::new(Tally((0..LEN).map(|_| AtomicUsize::new(0)).collect()))
}

fn items(tally: &Arc<Tally>) -> impl Iterator<Item = Item> {
    (0..LEN).map(|id| Item {
        id,
        tally: Arc::clone(tally),
    })
}

fn assert_once(tally: &Tally, what: &dyn std::fmt::Debug) {
    let counts: Vec<usize> = tally.0.iter().map(|count| count.load(Relaxed)).collect();
    assert!(counts.iter().all(|&n| n == 1), "{what:?}: {counts:?}");
}

/// Runs `test` with every plan in every pool, with items that must all have been dropped once at the end.
fn check(test: impl Fn(&mut dyn Iterator<Item = Item>, Eater<'_>) + Sync) {
    for pool in pools() {
        for plan in PLANS {
            let tally = tally();
            let eaten = AtomicUsize::new(0);
            let result = catch_unwind(AssertUnwindSafe(|| {
                pool.install(|| {
                    test(
                        &mut items(&tally),
                        Eater {
                            plan,
                            eaten: &eaten,
                        },
                    )
                })
            }));
            assert_eq!(
                result.is_err(),
                matches!(plan, Plan::PanicAt(_)),
                "{plan:?}"
            );
            assert_once(&tally, &plan);
        }
    }
}

/// Whether the plan makes it impossible to check what was left behind.
fn quiet<R>(body: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(body)).ok()
}

#[test]
fn vectors_and_arrays() {
    check(|items, eater| {
        items
            .collect::<Vec<_>>()
            .into_par_iter()
            .drive_unindexed(eater)
    });
    check(|items, eater| items.collect::<Vec<_>>().into_par_iter().drive(eater));
    check(|items, eater| {
        items
            .collect::<Box<[_]>>()
            .into_par_iter()
            .drive_unindexed(eater);
    });
    check(|items, eater| {
        let array: [Item; LEN] = std::array::from_fn(|_| items.next().unwrap());
        array.into_par_iter().drive_unindexed(eater);
    });
}

#[test]
fn a_drained_vector() {
    for (start, end) in [(0, LEN), (0, LEN / 2), (LEN / 2, LEN), (20, 180), (50, 50)] {
        for pool in pools() {
            for plan in PLANS {
                let tally = tally();
                let eaten = AtomicUsize::new(0);
                let mut v: Vec<Item> = items(&tally).collect();
                let mut deque: VecDeque<Item> = VecDeque::new();
                let eater = Eater {
                    plan,
                    eaten: &eaten,
                };
                quiet(|| pool.install(|| v.par_drain(start..end).drive_unindexed(eater)));
                // Whatever happened, exactly the range is gone.
                let kept: Vec<usize> = v.iter().map(|item| item.id).collect();
                assert_eq!(kept, (0..start).chain(end..LEN).collect::<Vec<_>>());
                // What is left goes the same way through a deque.
                deque.extend(v);
                let middle = deque.len() / 2;
                eaten.store(0, Relaxed);
                quiet(|| pool.install(|| deque.par_drain(..middle).drive_unindexed(eater)));
                let rest: Vec<usize> = deque.iter().map(|item| item.id).collect();
                assert_eq!(rest, kept[middle..]);
                drop(deque);
                assert_once(&tally, &(plan, start, end));
            }
        }
    }
}

#[test]
fn collections() {
    check(|items, eater| {
        items
            .collect::<VecDeque<_>>()
            .into_par_iter()
            .drive_unindexed(eater)
    });
    check(|items, eater| {
        items
            .collect::<BinaryHeap<_>>()
            .into_par_iter()
            .drive_unindexed(eater)
    });
    check(|items, eater| {
        items
            .collect::<LinkedList<_>>()
            .into_par_iter()
            .drive_unindexed(eater)
    });
    check(|items, eater| {
        items
            .collect::<BTreeSet<_>>()
            .into_par_iter()
            .drive_unindexed(eater)
    });
    check(|items, eater| {
        items
            .collect::<HashSet<_>>()
            .into_par_iter()
            .drive_unindexed(eater)
    });
    check(|items, eater| {
        let map: BTreeMap<usize, Item> = items.enumerate().collect();
        map.into_par_iter().drive_unindexed(eater);
    });
    check(|items, eater| {
        let map: HashMap<usize, Item> = items.enumerate().collect();
        map.into_par_iter().drive_unindexed(eater);
    });
}

#[test]
#[allow(clippy::mutable_key_type)]
fn drained_collections_are_empty() {
    check(|items, eater| {
        let mut heap: BinaryHeap<Item> = items.collect();
        let result = catch_unwind(AssertUnwindSafe(|| heap.par_drain().drive_unindexed(eater)));
        assert!(heap.is_empty());
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    check(|items, eater| {
        let mut set: HashSet<Item> = items.collect();
        let result = catch_unwind(AssertUnwindSafe(|| set.par_drain().drive_unindexed(eater)));
        assert!(set.is_empty());
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    check(|items, eater| {
        let mut map: HashMap<usize, Item> = items.enumerate().collect();
        let result = catch_unwind(AssertUnwindSafe(|| map.par_drain().drive_unindexed(eater)));
        assert!(map.is_empty());
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

#[test]
fn never_driven() {
    let tally = tally();
    let mut v: Vec<Item> = items(&tally).collect();
    let mut rest: VecDeque<Item> = v.split_off(LEN / 2).into();
    drop(v.par_drain(10..20));
    assert_eq!(v.len(), LEN / 2 - 10);
    drop(v.into_par_iter());
    drop(rest.par_drain(..10));
    assert_eq!(rest.len(), LEN / 2 - 10);
    let mut heap: BinaryHeap<Item> = rest.into_iter().collect();
    drop(heap.par_drain());
    assert!(heap.is_empty());
    assert_once(&tally, &"never driven");
}

/// Forgets part of the producer's items, in every state that has an owner.
struct Forgetful(usize);

impl ProducerCallback<Item> for Forgetful {
    type Output = usize;

    /// Returns how many items were forgotten.
    fn callback<P: Producer<Item = Item>>(self, producer: P) -> usize {
        let (left, right) = producer.split_at(LEN / 2);
        match self.0 {
            0 => forget(left),
            1 => {
                drop(left);
                forget(right);
                return LEN - LEN / 2;
            }
            2 => {
                let mut iter = left.into_iter();
                drop((iter.next(), iter.next_back()));
                forget(iter);
                return LEN / 2 - 2;
            }
            _ => {
                let mut iter = left.into_iter();
                let taken = iter.next();
                drop(iter);
                forget(taken);
                return 1;
            }
        }
        LEN / 2
    }
}

/// The forgotten items' memory: kept, so that a leak detector finds no leak.
static KEPT: Mutex<Vec<Arc<Tally>>> = Mutex::new(Vec::new());

#[test]
fn what_is_forgotten_leaks_and_is_not_dropped_twice() {
    for state in 0..4 {
        let mut counts = Vec::new();
        let sources: [&dyn Fn(Vec<Item>) -> usize; 4] = [
            &|v| v.into_par_iter().with_producer(Forgetful(state)),
            &|mut v| {
                let forgotten = v.par_drain(..).with_producer(Forgetful(state));
                assert!(v.is_empty());
                forgotten
            },
            &|v| {
                let mut deque = VecDeque::from(v);
                let forgotten = deque.par_drain(..).with_producer(Forgetful(state));
                assert!(deque.is_empty());
                forgotten
            },
            &|v| {
                let mut v = v.into_iter();
                let array: [Item; LEN] = std::array::from_fn(|_| v.next().unwrap());
                array.into_par_iter().with_producer(Forgetful(state))
            },
        ];
        for source in sources {
            let tally = tally();
            let forgotten = source(items(&tally).collect());
            let dropped: Vec<usize> = tally.0.iter().map(|n| n.load(Relaxed)).collect();
            assert!(dropped.iter().all(|&n| n <= 1));
            counts.push((forgotten, LEN - dropped.iter().sum::<usize>()));
            KEPT.lock().unwrap().push(tally);
        }
        assert!(
            counts.iter().all(|(forgotten, lost)| forgotten == lost),
            "{counts:?}"
        );
    }
    // A drain that is itself forgotten leaves the vector whole.
    let tally = tally();
    let mut v: Vec<Item> = items(&tally).collect();
    forget(v.par_drain(10..20));
    assert_eq!(v.len(), LEN);
    drop(v);
    assert_once(&tally, &"forgotten drain");
}

/// An item whose destructor panics for one of them, after counting.
struct Bomb(Item);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0.id == 33 {
            panic!("a destructor that panics");
        }
    }
}

#[test]
fn a_panicking_destructor_does_not_keep_the_others_from_running() {
    for pool in pools() {
        let bombs = |tally| items(tally).map(Bomb).collect::<Vec<_>>();
        let eaten = AtomicUsize::new(0);
        let none = Eater {
            plan: Plan::FullAfter(0),
            eaten: &eaten,
        };

        let all = tally();
        let owned = bombs(&all);
        assert!(quiet(|| pool.install(|| owned.into_par_iter().drive_unindexed(none))).is_none());
        assert_once(&all, &"into_par_iter");

        let all = tally();
        let mut drained = bombs(&all);
        let result = quiet(|| pool.install(|| drained.par_drain(10..100).drive_unindexed(none)));
        assert!(result.is_none());
        assert_eq!(drained.len(), LEN - 90);
        drop(drained);
        assert_once(&all, &"par_drain");
    }
}

/// A clone that counts what is alive.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Relaxed);
        Alive(Arc::clone(count))
    }
}

impl Clone for Alive {
    fn clone(&self) -> Self {
        Alive::new(&self.0)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[test]
fn nothing_is_left_of_repeated_items_and_trees() {
    for pool in pools() {
        for plan in PLANS {
            let (alive, eaten) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
            let eater = Eater {
                plan,
                eaten: &eaten,
            };
            let eat = |drive: &(dyn Fn(Eater<'_>) + Sync)| {
                eaten.store(0, Relaxed);
                quiet(|| pool.install(|| drive(eater)));
                assert_eq!(alive.load(Relaxed), 0, "{plan:?}");
            };
            let new = || Alive::new(&alive);
            let children = |node: &(usize, Alive)| {
                let below = if node.0 < 8 { 2 } else { 0 };
                vec![(node.0 + 1, node.1.clone()); below]
            };
            eat(&|eater| repeat_n(new(), 300).drive_unindexed(eater));
            eat(&|eater| once(new()).drive_unindexed(eater));
            eat(&|eater| Some(new()).into_par_iter().drive_unindexed(eater));
            eat(&|eater| walk_tree((0, new()), children).drive_unindexed(eater));
            eat(&|eater| walk_tree_prefix((0, new()), children).drive_unindexed(eater));
            eat(&|eater| walk_tree_postfix((0, new()), children).drive_unindexed(eater));
        }
    }
    assert_eq!(repeat_n(String::from("x"), 0).len(), 0);
}
