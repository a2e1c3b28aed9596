//! Decides whether readers of a map have to lock its shards.
//!
//! At first a map's gate is **shut**: a reader takes the lock of its shard, and so takes that cache line from all
//! other cores twice. When a shard has been read many times with no write between, the gate **opens**: a reader
//! now announces in a slot of its own thread (`records`) which shard it reads, and writes nothing that other
//! readers read. The first writer shuts the gate again, for the whole map, and for a while.
//!
//! ```text
//!   SHUT ──► RISING ──► OPEN ──► FALLING ──► EMPTYING ──► SHUT, in the next epoch
//!     reader      barrier    writer      barrier     no reader is left
//! ```
//!
//! A writer that finds the gate RISING shuts it at once: no reader is in yet, and the thread that raised the gate
//! then finds another epoch.
//!
//! A reader is *in* if, after its announcement and a fence, it found the gate OPEN and the shard's lock free of a
//! writer. A writer first takes the lock, and then looks at the gate:
//!
//! * **The gate is SHUT.** The writer goes on. If the gate opens later, it does so after a barrier. The writer
//!   passed that barrier after it took the lock: had it passed before, it would have seen RISING. So a reader that
//!   sees OPEN sees the lock as well, and withdraws.
//! * **The gate is not SHUT.** The writer shuts it, makes all threads pass a barrier, and looks at the slots. A
//!   reader that is in announced itself before it saw OPEN, so before that barrier, and the writer sees it. If the
//!   shard is read, the writer releases the lock, since a thread that reads may want to read again, and waits
//!   until the slot is cleared. No reader comes in meanwhile.
//!
//! EMPTYING says that all threads have passed the barrier: later writers only look at the slots. The gate becomes
//! SHUT once no slot names any shard of the map. The number of the epoch keeps a thread that looked long ago from
//! setting SHUT.
//!
//! The *short way* in is for a thread that is inside no map. All its slots are free: each guard holds a note of
//! the thread (`reentry`) for longer than its slot, and a thread never claims a record while a slot of that record
//! is still in use. So the reader takes the first slot without a check.
//!
//! A look at all slots takes long where there are many threads, and EMPTYING lasts for as long as a guard is kept.
//! So a writer that has found no reader in its shard leaves a *mark* there: the word of the gate, EMPTYING with
//! its epoch. If the next writer of the shard finds that the gate's word equals the mark, it does not look at the
//! slots:
//!
//! * No reader has come in since. A reader that is in saw OPEN after its announcement. If it saw OPEN in this
//!   epoch, it announced itself before the barrier, and the first writer's look would have found it. In a later
//!   epoch the gate has another word.
//! * What the readers did is over for this writer too: the lock of the shard orders it behind the writer that
//!   looked.
//! * A reader that finds the gate open again later finds the lock too, as after SHUT: the writer saw the word
//!   under the lock.
//!
//! With marks there may be no writer left that looks. So the last reader to leave sets SHUT. For that, a reader
//! clears its slot, and if it finds the gate not OPEN, it passes a true fence, and then looks at the gate and at
//! all slots. The writer that sets EMPTYING passes a fence too before it looks. These fences come one after the
//! other. The writer finds the slots of those readers cleared whose fences come before its own. If no reader's
//! fence comes later, the writer sets SHUT. Otherwise the reader whose fence is the last of all finds EMPTYING,
//! and all slots cleared: it sets SHUT.
//!
//! A reader that still saw OPEN as it left cleared its slot before the barrier. So EMPTYING ends.
//!
//! No wake-up is lost. A writer that waits holds the lot's mutex from its look at the slots until it sleeps. A
//! reader clears its slot, passes a fence, and checks whether the gate is OPEN. If not, it passes through that
//! mutex and wakes the lot. If the gate is OPEN, there are two cases. Either the writer's barrier came later, and
//! the writer sees the slot cleared. Or the gate opened again since, and the thread that set SHUT in between has
//! woken the lot.
//!
//! A barrier takes some 20 µs and interrupts all cores. So a gate that a writer has shut stays shut for a hundred
//! times as long as the barrier took. And when a gate has opened, no gate of any map opens for a hundred times as
//! long as *that* barrier took. Otherwise a program with many maps, each read for a short while and then changed,
//! would spend its time on barriers. So barriers take at most a few percent of the time.
#![forbid(unsafe_code)]

use super::lot::Lot;
use super::records::{mine, mine_if_any, registry, say};
use super::reentry::NAMES;
use crate::sync::{AtomicUsize, Ordering, fence};
use std::sync::atomic::compiler_fence;

/// 0, because each read asks for it three times.
const OPEN: usize = 0;
const SHUT: usize = 1;
const RISING: usize = 2;
const FALLING: usize = 3;
const EMPTYING: usize = 4;
const PHASE: usize = 7;
const EPOCH: usize = 8;

/// Builds whose tools do not see a barrier of the system. All threads have fences there, so that opening and
/// shutting are tested.
const FENCES: bool = cfg!(any(loom, miri, tine_tsan, tine_sched));

/// How often a shard is read, with no write between, before the gate may open.
pub(super) const STREAK: u32 = if cfg!(miri) { 8 } else { 256 };

/// A gate stays shut for this many times as long as the barrier took.
const REST: usize = 100;

/// How many µs a barrier usually takes.
const USUAL: usize = 20;

/// A shard of a map, as slots name it. Never 0.
#[derive(Clone, Copy)]
pub(crate) struct Name(usize);

impl Name {
    /// The shard with this number in a map. `map` is not 0.
    #[inline]
    pub(crate) fn new(map: usize, shard: usize) -> Self {
        Name(map.wrapping_add(shard))
    }

    fn map(self) -> usize {
        self.0 & !(NAMES - 1)
    }

    /// Whether no other name is the same.
    fn is_sole(self) -> bool {
        // The numbers of maps only count up.
        usize::BITS == 64 && self.0 >> 63 == 0
    }
}

/// The epoch in which a shard was found without readers, while other shards had some: the gate's word at that
/// time. The mark lies beside the shard's lock, and is used under it.
pub(crate) struct Mark(AtomicUsize);

impl Mark {
    pub(crate) fn new() -> Self {
        // Not EMPTYING.
        Mark(AtomicUsize::new(SHUT))
    }
}

/// The gate of one map.
pub(crate) struct Gate {
    /// The phase, and above it the epoch.
    state: AtomicUsize,
    /// The map's part of the names of its shards. Known when the gate opens.
    map: AtomicUsize,
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
            map: AtomicUsize::new(0),
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
        if !self.seems_open() {
            return None;
        }
        let record = mine()?;
        // Relaxed: no other thread stores to a slot of this one.
        let is_empty = |slot: &&AtomicUsize| slot.load(Ordering::Relaxed) == 0;
        let slot = record.shards.iter().find(is_empty)?;
        self.announce(slot, shard, is_free)
    }

    /// The short way, for a thread that reads nothing else and has read before, if the gate [seems
    /// open](Self::seems_open).
    #[inline]
    pub(crate) fn enter_alone(
        &self,
        shard: Name,
        is_free: impl FnOnce() -> bool,
    ) -> Option<Announced> {
        let slot = &mine_if_any()?.shards[0];
        // A record is claimed with free slots, and its thread clears each slot that it uses when it leaves.
        debug_assert_eq!(slot.load(Ordering::Relaxed), 0, "the thread reads");
        self.announce(slot, shard, is_free)
    }

    /// Whether it is open, at a glance: it may be shut by now. If it is, the map has its number.
    #[inline]
    pub(crate) fn seems_open(&self) -> bool {
        // Acquire pairs with the Release in `turn`, by a thread that knew the number.
        self.state.load(Ordering::Acquire) & PHASE == OPEN
    }

    #[inline]
    fn announce(
        &self,
        slot: &'static AtomicUsize,
        shard: Name,
        is_free: impl FnOnce() -> bool,
    ) -> Option<Announced> {
        // Release pairs with the Acquire in `reads`: the earlier reads through this slot are over.
        slot.store(shard.0, Ordering::Release);
        pass();
        let announced = Announced(slot);
        // Acquire pairs with the Release in `consider`: the barrier came before.
        if self.state.load(Ordering::Acquire) & PHASE == OPEN && is_free() {
            return Some(announced);
        }
        self.leave(announced);
        None
    }

    /// Ends what a reader did.
    #[inline]
    pub(crate) fn leave(&self, Announced(slot): Announced) {
        // Release pairs with the Acquire in `reads`: the read is over.
        slot.store(0, Ordering::Release);
        pass();
        // Relaxed: the call of `pass` orders it behind the store.
        if self.state.load(Ordering::Relaxed) & PHASE != OPEN {
            self.left();
        }
    }

    /// After a reader has left, and the gate was not open.
    #[cold]
    fn left(&self) {
        // If one thread clears slots and another looks for readers, the later of the two sees what the earlier
        // did. Pairs with itself, and with the fence in `is_clear`.
        fence(Ordering::SeqCst);
        // Acquire as in `is_clear`.
        let now = self.state.load(Ordering::Acquire);
        if now & PHASE == EMPTYING {
            // Relaxed: stored before the gate opened.
            let map = self.map.load(Ordering::Relaxed);
            if !registry().reads(|name| Name(name).map() == map) {
                self.turn(now, over(now));
            }
        }
        self.lot().wake();
    }

    /// After a writer has the shard's lock: whether all readers have locks.
    #[inline]
    pub(crate) fn is_shut(&self) -> bool {
        pass();
        // Acquire pairs with the Release in `turn` that shut the gate: the reads are over.
        self.state.load(Ordering::Acquire) & PHASE == SHUT
    }

    /// Shuts the gate, for a writer that has the shard's lock, beside which the mark lies. False if a reader of
    /// the shard is in: then the writer must release the lock, [`wait`](Self::wait), and begin anew. A writer that is
    /// not `patient` gets false also if the system refuses the barrier; it releases the lock and gives up.
    ///
    /// # Panics
    /// If the writer is patient and the system refuses the barrier that it granted when the gate opened.
    #[track_caller]
    pub(crate) fn is_clear(&self, shard: Name, mark: &Mark, patient: bool) -> bool {
        pass();
        loop {
            // Acquire pairs with the Release below: the barrier came before, or the last reader has left.
            let now = self.state.load(Ordering::Acquire);
            match now & PHASE {
                SHUT => return true,
                // No reader is in yet. If the gate rises again, its barrier comes after this writer took the
                // lock.
                RISING => self.turn(now, over(now)),
                OPEN => self.turn(now, in_phase(now, FALLING)),
                FALLING => {
                    let start = micros();
                    let pass = || registry().pass_everywhere();
                    let passed = pass() || patient && (1..100).any(|_| nap() || pass());
                    if !passed && !patient {
                        return false;
                    }
                    assert!(
                        passed,
                        "the system refuses the barrier (membarrier) that it granted before: a map that \
                         was read without locks cannot be changed"
                    );
                    let end = micros();
                    // Relaxed: a hint.
                    let rest = end.wrapping_add(REST * end.wrapping_sub(start));
                    self.rest.store(rest, Ordering::Relaxed);
                    self.turn(now, in_phase(now, EMPTYING))
                }
                // Relaxed: stored under the lock that this writer has.
                _ if mark.0.load(Ordering::Relaxed) == now => return true,
                _ => return self.find_clear(now, shard, mark),
            };
        }
    }

    /// Whether no slot names this shard. The gate's word is `now`, EMPTYING.
    fn find_clear(&self, now: usize, shard: Name, mark: &Mark) -> bool {
        // Pairs with the fence in `left`.
        fence(Ordering::SeqCst);
        let mut others = false;
        let is_read = registry().reads(|name| {
            others |= Name(name).map() == shard.map();
            name == shard.0
        });
        if is_read {
            return false;
        }
        if others {
            // Relaxed: for the next writer that has the lock.
            mark.0.store(now, Ordering::Relaxed);
        } else if self.turn(now, over(now)) {
            // A writer may still wait for a reader that has left, and that saw a later opening.
            self.lot().wake();
        }
        true
    }

    /// Release pairs with the Acquire of readers and of writers that find the gate so.
    fn turn(&self, now: usize, next: usize) -> bool {
        let (there, not) = (Ordering::Release, Ordering::Relaxed);
        self.state.compare_exchange(now, next, there, not).is_ok()
    }

    /// Waits until no thread reads the shard. The writer does not have its lock, and [`is_clear`](Self::is_clear)
    /// returned false.
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
        if now & PHASE != SHUT || !shard.is_sole() || !is_over(rest, micros()) {
            return;
        }
        say();
        if !(registry().is_light() || FENCES) {
            return;
        }
        let start = micros();
        if !claim(start) {
            return;
        }
        // Relaxed: always the same, and before the gate opens.
        self.map.store(shard.map(), Ordering::Relaxed);
        let rising = in_phase(now, RISING);
        if self.turn(now, rising) {
            let passed = registry().pass_everywhere();
            unclaim(start, micros());
            if passed && self.turn(rising, in_phase(now, OPEN)) {
                return;
            }
            // The barrier was refused; or a writer came and shuts the gate.
            self.turn(rising, now + EPOCH);
        }
        // Relaxed: a hint.
        self.rest
            .store(micros().wrapping_add(1000), Ordering::Relaxed);
    }
}

#[cfg(loom)]
impl Gate {
    /// Whether no reader has to leave any more: open, or shut.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.state.load(Ordering::SeqCst) & PHASE, SHUT | OPEN)
    }

    /// For a model that has to fail: the next epoch is the first once more.
    pub(crate) fn forget_epochs(&self) {
        let now = self.state.load(Ordering::SeqCst);
        self.state.store(now & PHASE, Ordering::SeqCst);
    }
}

/// The word of a gate that is shut after it had this one.
fn over(now: usize) -> usize {
    in_phase(now, SHUT) + EPOCH
}

/// The word in another phase of the same epoch.
fn in_phase(now: usize, phase: usize) -> usize {
    now & !PHASE | phase
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

/// The µs until which no gate of any map opens. It is std's atomic, since models need no rest.
static REST_OF_ALL: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// Whether a rest until that time is over by `now`. On 32 bits the clock begins anew every 71 minutes; a rest that ended half of that
/// ago counts as one to come, and then gates stay shut for a while. 0 is no rest.
fn is_over(rest: usize, now: usize) -> bool {
    rest == 0 || now.wrapping_sub(rest) <= usize::MAX / 2
}

/// Whether the rest of all gates is over. Then this gate opens, and the others rest anew.
fn claim(now: usize) -> bool {
    let rest = REST_OF_ALL.load(Ordering::Relaxed);
    let next = now.wrapping_add(REST * USUAL);
    // Relaxed: if several threads try, one exchange succeeds.
    let (there, not) = (Ordering::Relaxed, Ordering::Relaxed);
    FENCES || is_over(rest, now) && REST_OF_ALL.compare_exchange(rest, next, there, not).is_ok()
}

/// Says how long all gates rest after a barrier. A barrier counts for at most 200 µs: if it took longer, the
/// thread was off its core.
fn unclaim(start: usize, end: usize) {
    if !FENCES {
        let took = end.wrapping_sub(start).clamp(1, 10 * USUAL);
        // Relaxed: a hint.
        REST_OF_ALL.store(end.wrapping_add(REST * took), Ordering::Relaxed);
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
        tine_pool::loops::micros() as usize
    }
    #[cfg(any(loom, miri, tine_tsan, tine_sched))]
    0
}

#[cfg(all(test, not(loom)))]
#[path = "gate/tests.rs"]
mod tests;
