//! Whether readers of a map have to lock its shards.
//!
//! At first a map's gate is **shut**: a reader enters the lock of its shard, which takes that line from all
//! other cores twice. When a shard was read many times with no write between, the gate **opens**: a reader now announces in a
//! slot of its own thread (`records`) which shard it reads, and writes nothing that another thread reads.
//! The first writer shuts the gate again, for the whole map, and for a while.
//!
//! ```text
//!   SHUT ──► RISING ──► OPEN ──► FALLING ──► EMPTYING ──► SHUT, in the next epoch
//!     reader      barrier    writer      barrier     no reader is left
//! ```
//!
//! A reader is *in* if, after its announcement and a fence, the gate was OPEN and no writer had the shard's
//! lock. A writer first has the lock, and then looks at the gate:
//!
//! * **It is SHUT.** The writer goes on. A gate that opens later does so after a barrier, which the writer
//!   passed after it took the lock: had it passed before, it would have seen RISING. So a reader
//!   that sees OPEN sees the lock as well, and withdraws.
//! * **It is not.** The writer shuts it, has all threads pass a barrier, and looks at the slots. A reader that is
//!   in announced itself before it saw OPEN, so before that barrier, and is seen.
//!   If the shard is read, the writer leaves its lock, since a thread that reads may come to
//!   read again, and waits until the slot is cleared. Nobody comes in meanwhile.
//!
//! EMPTYING says that the barrier has been passed: later writers only look. The gate is SHUT once no slot names
//! any shard of the map. The number of the epoch keeps a writer that looked long ago from saying so.
//!
//! No wake-up is lost. A writer that waits holds the lot's mutex from its look at the slots until it sleeps. A
//! reader clears its slot, passes a fence, and looks whether the gate is OPEN. If not, it passes through that
//! mutex and wakes the lot. If it is, the writer's barrier came later, and the writer sees the slot cleared;
//! or the gate opened again since, and whoever shut it for good in between has woken the lot.
//!
//! A barrier takes some 20 µs and interrupts all cores. So a gate that was shut by a writer stays so for a
//! hundred times as long as its barrier took: opening and shutting cost a few parts of a hundred at most.
#![forbid(unsafe_code)]

use super::lock::Lot;
use super::records::{mine, registry, say};
use crate::sync::{AtomicUsize, Ordering, fence};
use std::sync::atomic::compiler_fence;

const SHUT: usize = 0;
const RISING: usize = 1;
const OPEN: usize = 2;
const FALLING: usize = 3;
const EMPTYING: usize = 4;
const PHASE: usize = 7;
const EPOCH: usize = 8;

/// Builds whose tools do not see a barrier of the system. All threads have fences there, so that what opens and
/// shuts is tested.
const FENCES: bool = cfg!(any(loom, miri, tine_tsan, tine_sched));

/// How often a shard is read, with no write between, before the gate may open.
pub(super) const STREAK: u32 = if cfg!(miri) { 8 } else { 256 };

/// How many times as long as the barrier took a gate stays shut.
const REST: usize = 100;

/// How many bits of a name say which shard of the map it is.
const SHARD: u32 = 20;

/// A shard of a map, as slots name it. Never 0.
#[derive(Clone, Copy)]
pub(crate) struct Name(usize);

impl Name {
    /// The shard with this number in a map. `map` is not 0.
    #[inline]
    pub(crate) fn new(map: usize, shard: usize) -> Self {
        Name(map.wrapping_shl(SHARD) | shard)
    }

    /// Whether no other name is the same.
    fn is_sole(self) -> bool {
        // Numbers of maps count up.
        usize::BITS == 64 && self.0 >> 63 == 0
    }
}

/// The gate of one map.
pub(crate) struct Gate {
    /// The phase, and above it the epoch.
    state: AtomicUsize,
    /// The µs, since some point in time, until which it stays shut.
    rest: AtomicUsize,
    #[cfg(loom)]
    lot: Lot,
}

/// A reader that is in. To be given back to [`Gate::leave`].
pub(crate) struct Announced(&'static AtomicUsize);

impl Gate {
    pub(crate) fn new() -> Self {
        Gate {
            state: AtomicUsize::new(SHUT),
            rest: AtomicUsize::new(0),
            #[cfg(loom)]
            lot: Lot::new(),
        }
    }

    #[cfg(not(loom))]
    fn lot(&self) -> &'static Lot {
        Lot::of(self)
    }

    #[cfg(loom)]
    fn lot(&self) -> &Lot {
        &self.lot
    }

    /// Goes in as a reader, if the gate is open, the thread has a free slot, and no writer has the shard.
    /// `is_free` looks at the shard's lock, with Acquire.
    #[inline]
    pub(crate) fn enter(&self, shard: Name, is_free: impl FnOnce() -> bool) -> Option<Announced> {
        // Relaxed: looked at again below.
        if self.state.load(Ordering::Relaxed) & PHASE != OPEN {
            return None;
        }
        let record = mine()?;
        // Relaxed: the thread's own.
        let is_empty = |slot: &&AtomicUsize| slot.load(Ordering::Relaxed) == 0;
        let slot = record.shards.iter().find(is_empty)?;
        // Release pairs with the Acquire in `reads`: what was read by this slot before is over.
        slot.store(shard.0, Ordering::Release);
        pass();
        let announced = Announced(slot);
        // Acquire pairs with the Release in `consider`: the barrier was before.
        if self.state.load(Ordering::Acquire) & PHASE == OPEN && is_free() {
            return Some(announced);
        }
        self.leave(announced);
        None
    }

    /// Ends what a reader did.
    #[inline]
    pub(crate) fn leave(&self, Announced(slot): Announced) {
        // Release pairs with the Acquire in `reads`: what was read is over.
        slot.store(0, Ordering::Release);
        pass();
        // Relaxed: the passing orders it behind the store.
        if self.state.load(Ordering::Relaxed) & PHASE != OPEN {
            self.lot().wake();
        }
    }

    /// After a writer has the shard's lock: whether all readers have locks.
    #[inline]
    pub(crate) fn is_shut(&self) -> bool {
        pass();
        // Acquire pairs with the Release in `is_clear` that shut it: what readers did is over.
        self.state.load(Ordering::Acquire) & PHASE == SHUT
    }

    /// Shuts the gate, for a writer that has the shard's lock. False if a reader of the shard is in: then the writer is to leave the lock,
    /// [`wait`](Self::wait), and begin anew.
    ///
    /// # Panics
    /// If the system refuses the barrier that it granted when the gate opened.
    #[track_caller]
    pub(crate) fn is_clear(&self, shard: Name) -> bool {
        pass();
        loop {
            // Acquire pairs with the Release below: the barrier was before, or the last reader.
            let now = self.state.load(Ordering::Acquire);
            let next = |phase: usize| now & !PHASE | phase;
            match now & PHASE {
                SHUT => return true,
                RISING | OPEN => self.turn(now, next(FALLING)),
                FALLING => {
                    let start = micros();
                    let passed = (0..100).any(|_| registry().pass_everywhere() || nap());
                    assert!(
                        passed,
                        "the system refuses the barrier (membarrier) that it granted before: a map that \
                         was read without locks cannot be changed"
                    );
                    let end = micros();
                    // Relaxed: a hint.
                    let rest = end + REST * (end - start);
                    self.rest.store(rest, Ordering::Relaxed);
                    self.turn(now, next(EMPTYING))
                }
                _ => {
                    let map = |name: usize| name >> SHARD == shard.0 >> SHARD;
                    if registry().reads(map) {
                        return !registry().reads(|name| name == shard.0);
                    }
                    if self.turn(now, next(SHUT) + EPOCH) {
                        // Who waits may have slept through the end of the reader it waited for.
                        self.lot().wake();
                    }
                    return true;
                }
            };
        }
    }

    /// Release pairs with the Acquire of readers and of writers that find the gate so.
    fn turn(&self, now: usize, next: usize) -> bool {
        let (there, not) = (Ordering::Release, Ordering::Relaxed);
        self.state.compare_exchange(now, next, there, not).is_ok()
    }

    /// Waits until the shard is read no more. The writer does not have its lock, and [`is_clear`](Self::is_clear) said no.
    #[cold]
    pub(crate) fn wait(&self, shard: Name) {
        self.lot().wait_while(|| {
            // Acquire as in `is_clear`.
            let phase = self.state.load(Ordering::Acquire) & PHASE;
            phase == EMPTYING && registry().reads(|name| name == shard.0)
        });
    }

    /// Opens the gate after a streak of reads, unless it was shut a short while ago.
    #[cold]
    pub(crate) fn consider(&self, shard: Name) {
        // Relaxed: the exchange below decides.
        let now = self.state.load(Ordering::Relaxed);
        let rest = self.rest.load(Ordering::Relaxed);
        if now & PHASE != SHUT || micros() < rest || !shard.is_sole() {
            return;
        }
        say();
        if (registry().is_light() || FENCES) && self.turn(now, now | RISING) {
            let (passed, rising) = (registry().pass_everywhere(), now | RISING);
            if passed && self.turn(rising, now | OPEN) {
                return;
            }
            // Refused; or a writer came, and shuts it.
            self.turn(rising, now + EPOCH);
        }
        // Relaxed: a hint.
        self.rest.store(micros() + 1000, Ordering::Relaxed);
    }
}

/// What readers pass, and writers before they look at the gate: a barrier of another thread is their fence.
#[inline]
fn pass() {
    if FENCES {
        fence(Ordering::SeqCst);
    } else {
        compiler_fence(Ordering::SeqCst);
    }
}

/// Sleeps a little; false.
fn nap() -> bool {
    #[cfg(not(loom))]
    std::thread::sleep(std::time::Duration::from_millis(1));
    false
}

/// µs since some point in time; 0 in builds in which no gate rests.
fn micros() -> usize {
    #[cfg(not(any(loom, miri, tine_tsan, tine_sched)))]
    {
        use std::sync::OnceLock;
        use std::time::Instant;
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_micros() as usize
    }
    #[cfg(any(loom, miri, tine_tsan, tine_sched))]
    0
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{FENCES, OPEN, PHASE, STREAK};
    use crate::ParHashMap;
    use crate::map::records::registry;
    use std::mem;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    type Map = ParHashMap<u32, (u32, u32)>;

    /// A map of the keys below `keys`, in a table or in shards, each with a number and the same number.
    fn map(keys: u32, wide: bool) -> Map {
        let map = Map::with_capacity(if wide { 5000 } else { 0 });
        (0..keys).for_each(|key| drop(map.insert(key, (0, 0))));
        map
    }

    fn is_open(map: &Map) -> bool {
        map.shards.gate.state.load(Ordering::Relaxed) & PHASE == OPEN
    }

    /// Reads one key until the gate is open. False where no gate opens.
    fn open(map: &Map) -> bool {
        for _ in 0..=STREAK {
            assert_eq!(map.read(&0, |pair| pair.0 == pair.1), Some(true));
        }
        assert_eq!(is_open(map), registry().is_light() || FENCES);
        is_open(map)
    }

    #[test]
    fn reads_open_and_a_writer_shuts() {
        for wide in [false, true] {
            let map = map(10, wide);
            assert!(!is_open(&map));
            if open(&map) {
                assert_eq!(map.len(), 10);
                assert!(map.get(&3).is_some() && is_open(&map));
                map.update(&3, |pair| *pair = (1, 1));
                assert!(!is_open(&map));
                assert_eq!(map.get_cloned(&3), Some((1, 1)));
            }
        }
    }

    /// What one thread holds keeps writers of that shard out, and of no other.
    #[test]
    fn a_guard_keeps_its_shard() {
        let map = map(1000, true);
        open(&map);
        let (done, is_done) = channel();
        let guard = map.get(&0).unwrap();
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                map.update(&0, |pair| *pair = (1, 1));
                done.send(()).unwrap();
            });
            // Other shards first, so that the gate is known to be shut; in those of `0` it would wait.
            let others = scope.spawn(|| {
                let shard =
                    |key: u32| crate::parts::part_of(map.hash(&key), crate::parts::breadth());
                let others = (0..1000).filter(|&key| shard(key) != shard(0));
                others.for_each(|key| drop(map.insert(key, (2, 2))));
            });
            others.join().unwrap();
            assert!(is_done.recv_timeout(Duration::from_millis(20)).is_err());
            assert_eq!(*guard, (0, 0));
            // The thread that waits must not keep this one from reading again.
            assert_eq!(map.get_cloned(&0), Some((0, 0)));
            drop(guard);
            writer.join().unwrap();
        });
        assert_eq!(map.get_cloned(&0), Some((1, 1)));
    }

    /// More guards than a thread has slots, put back in any order, and some never.
    #[test]
    fn more_guards_than_slots() {
        let maps: Vec<_> = (0..9).map(|nth| map(10, nth % 2 == 0)).collect();
        for map in &maps {
            open(map);
        }
        let mut guards: Vec<_> = maps.iter().map(|map| map.get(&1).unwrap()).collect();
        while guards.len() > 3 {
            drop(guards.swap_remove(guards.len() / 2));
        }
        guards.into_iter().for_each(mem::forget);
        thread::scope(|scope| {
            scope.spawn(|| {
                let all = maps.iter().map(|map| map.get_cloned(&1));
                assert_eq!(all.flatten().count(), 9);
            });
        });
        // Other maps at the same places.
        drop(maps);
        for nth in 0..9 {
            let map = map(10, nth % 2 == 0);
            open(&map);
            map.update(&1, |pair| *pair = (1, 1));
            assert_eq!(map.get_cloned(&1), Some((1, 1)));
        }
    }

    /// Gates that open and shut while many read and write: no reader sees half of a write, and no write is lost.
    #[test]
    fn opening_and_shutting_under_readers() {
        const KEYS: u32 = 8;
        let (rounds, writes) = if cfg!(miri) { (2, 6) } else { (100, 40) };
        let mut opened = 0;
        for round in 0..rounds {
            let map = map(KEYS, round % 2 == 0);
            let (end, seen) = (AtomicBool::new(false), AtomicUsize::new(0));
            thread::scope(|scope| {
                for thread in 0..2 {
                    let (map, end, seen) = (&map, &end, &seen);
                    scope.spawn(move || {
                        for nth in 0.. {
                            let key = (nth + thread) % KEYS;
                            let pair = map.get(&key).unwrap();
                            assert_eq!(pair.0, pair.1);
                            if nth % 16 == 0 {
                                // A reader inside of itself, in another shard.
                                assert_eq!(
                                    map.read(&(KEYS - 1), |pair| pair.0 == pair.1),
                                    Some(true)
                                );
                                thread::yield_now();
                                assert_eq!(pair.0, pair.1);
                            }
                            drop(pair);
                            if is_open(map) {
                                seen.fetch_max(1, Ordering::Relaxed);
                            }
                            if nth % 64 == 0 && end.load(Ordering::Relaxed) {
                                break;
                            }
                        }
                    });
                }
                let writers: Vec<_> = (0..2)
                    .map(|thread| {
                        let map = &map;
                        scope.spawn(move || {
                            (0..writes).for_each(|nth| {
                                map.update(&((nth + thread) % KEYS), |pair| {
                                    pair.0 += 1;
                                    thread::yield_now();
                                    pair.1 += 1;
                                });
                                (0..nth * 4 % 64).for_each(|_| thread::yield_now());
                            });
                        })
                    })
                    .collect();
                writers
                    .into_iter()
                    .for_each(|writer| writer.join().unwrap());
                end.store(true, Ordering::Relaxed);
            });
            opened += seen.into_inner();
            let mut sum = 0;
            map.for_each(|_, pair| sum += pair.0);
            assert_eq!(sum, 2 * writes);
        }
        assert!(
            opened > 0 || !(registry().is_light() || FENCES),
            "no gate opened"
        );
    }

    /// A reader that panics is out again.
    #[test]
    fn a_reader_that_panics() {
        let map = map(10, false);
        open(&map);
        thread::scope(|scope| {
            let reader = scope.spawn(|| map.read(&0, |_| panic!("as it is meant to")));
            assert!(reader.join().is_err());
        });
        map.update(&0, |pair| *pair = (1, 1));
        assert_eq!(map.get_cloned(&0), Some((1, 1)));
    }
}
