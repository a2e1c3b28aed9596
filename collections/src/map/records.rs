//! What each thread reads without a lock: a record of a few slots for each thread, which the thread
//! alone writes and all others may look at.
//!
//! A slot names what its thread is about to read. The reader then checks whether it may still read
//! it. A writer first forbids the read, and then looks at all slots:
//!
//! ```text
//! reader    slot = name,     fence, may it still be read?   else withdraw
//! writer    no longer,       fence, is it in a slot?        then wait, or leave it to the reader
//! ```
//!
//! Of the two, at least one sees the other. Where the system can make all threads pass a barrier,
//! the writer's fence is that barrier, and the reader's fence is for the compiler alone: a reader
//! executes no locked instruction, and writes only to its own record. `hazard` (values) and `gate`
//! (shards of a map) define what names mean.

#![allow(unsafe_code)]

use crate::sync::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence, heavy};
use std::ptr;
use std::sync::atomic::compiler_fence;

/// How many nested looks of one thread at values have slots.
const VALUES: usize = if cfg!(loom) { 1 } else { 8 };

/// How many shards a thread may read at once without their locks.
const SHARDS: usize = if cfg!(loom) { 1 } else { 4 };

/// Whether readers leave their fences to writers: not known yet, no, yes.
#[cfg(not(loom))]
const UNSAID: usize = 0;
const FENCED: usize = 1;
const LIGHT: usize = 2;

/// What a thread looks at. Two cache lines of its own.
#[repr(align(128))]
pub(crate) struct Record {
    /// Addresses of values.
    pub(super) values: [AtomicPtr<()>; VALUES],
    /// How many of these are in use. Only the thread itself uses this.
    pub(super) depth: AtomicUsize,
    /// Names of shards; 0 in a slot that is free.
    pub(super) shards: [AtomicUsize; SHARDS],
    /// A writer has left a value for this thread to drop.
    pub(super) asked: AtomicBool,
    /// Whether a thread has this record.
    taken: AtomicBool,
    next: Option<&'static Record>,
}

/// All records. They are never freed: a thread that ends leaves its own to the next one.
pub(crate) struct Registry {
    newest: AtomicPtr<Record>,
    /// Whether readers leave their fences to writers. Decided before there is anything to read.
    light: AtomicUsize,
}

impl Registry {
    #[cfg(not(loom))]
    pub(super) const fn new() -> Self {
        Registry {
            newest: AtomicPtr::new(ptr::null_mut()),
            light: AtomicUsize::new(UNSAID),
        }
    }

    /// Light without heavy writers: readers have no fence at all.
    #[cfg(loom)]
    pub(crate) fn new(light: bool) -> Self {
        Registry {
            newest: AtomicPtr::new(ptr::null_mut()),
            light: AtomicUsize::new(if light { LIGHT } else { FENCED }),
        }
    }

    fn newest(&self) -> Option<&'static Record> {
        // Acquire pairs with the exchange in `add`: the record is whole.
        let newest = self.newest.load(Ordering::Acquire);
        // SAFETY: null, or a record, which lives for ever and is never borrowed mutably.
        unsafe { newest.as_ref() }
    }

    pub(super) fn records(&self) -> impl Iterator<Item = &'static Record> {
        std::iter::successors(self.newest(), |record| record.next)
    }

    /// A record that no other thread has, and that names no shard.
    pub(crate) fn claim(&self) -> &'static Record {
        let free = self.records().find(|record| {
            // Acquire pairs with the Release in `leave`: its slots are as the last thread left them.
            if record.taken.load(Ordering::Relaxed) || record.taken.swap(true, Ordering::Acquire) {
                return false;
            }
            // A slot may still be in use, by a guard that outlived that thread's record, or was forgotten.
            // Acquire pairs with the Release of the guard's end: a writer that sees this slot's next name comes
            // after that guard, too.
            let is_free = |slot: &AtomicUsize| slot.load(Ordering::Acquire) == 0;
            let names_none = record.shards.iter().all(is_free);
            if !names_none {
                record.leave();
            }
            names_none
        });
        free.unwrap_or_else(|| self.add())
    }

    fn add(&self) -> &'static Record {
        let record = Box::leak(Box::new(Record {
            values: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            depth: AtomicUsize::new(0),
            shards: std::array::from_fn(|_| AtomicUsize::new(0)),
            asked: AtomicBool::new(false),
            taken: AtomicBool::new(true),
            next: None,
        }));
        loop {
            record.next = self.newest();
            let next = record
                .next
                .map_or(ptr::null_mut(), |next| ptr::from_ref(next).cast_mut());
            let new = ptr::from_mut(record);
            // Release pairs with the Acquire in `newest`.
            let (there, not) = (Ordering::Release, Ordering::Relaxed);
            if self.newest.compare_exchange(next, new, there, not).is_ok() {
                // SAFETY: just made from the box, and from here on never borrowed mutably.
                return unsafe { &*new };
            }
        }
    }

    /// Whether a reader that was asked looks at this value.
    pub(super) fn is_held(&self, value: *const ()) -> bool {
        // Acquire pairs with the Release in `Place::clear`: a reader that is no longer asked has let go.
        let asked = |record: &&Record| record.asked.load(Ordering::Acquire);
        self.records()
            .filter(asked)
            .any(|record| record.holds(value))
    }

    /// Whether a shard with such a name is read.
    pub(super) fn reads(&self, mut is_it: impl FnMut(usize) -> bool) -> bool {
        #[cfg(all(test, not(loom)))]
        LOOKS.set(LOOKS.get() + 1);
        // Acquire pairs with the Release of the reader's announcement and of its end: what it read in
        // the shard that this slot named before happened before this.
        self.records()
            .flat_map(|record| &record.shards)
            .any(|slot| is_it(slot.load(Ordering::Acquire)))
    }

    /// Whether readers leave their fences to writers.
    #[inline]
    pub(super) fn is_light(&self) -> bool {
        // Relaxed: written before there was anything to read.
        self.light.load(Ordering::Relaxed) == LIGHT
    }

    /// What a writer does between its own store and its look at the readers' slots. Without it the
    /// look proves nothing.
    pub(super) fn pass_everywhere(&self) -> bool {
        let passed = !self.is_light() || heavy();
        fence(Ordering::SeqCst);
        passed
    }

    /// The same for a reader.
    #[inline]
    pub(super) fn pass(&self) {
        if self.is_light() {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }
}

impl Record {
    pub(super) fn holds(&self, value: *const ()) -> bool {
        // Acquire pairs with the Release in `Place::look` and at a look's end: what the reader did with the
        // value that it had here earlier happened before this.
        let slot = |slot: &AtomicPtr<()>| slot.load(Ordering::Acquire).cast_const() == value;
        self.values.iter().any(slot)
    }

    /// The thread has ended.
    pub(crate) fn leave(&self) {
        // Release pairs with the Acquire in `claim`.
        self.taken.store(false, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
thread_local! {
    /// How often this thread has checked which threads read shards.
    pub(super) static LOOKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

pub(crate) use here::{mine, mine_if_any, registry, say};

/// The registry of the process, and the record of the thread.
#[cfg(not(loom))]
mod here {
    use super::{FENCED, LIGHT, Record, Registry, UNSAID};
    use crate::sync::{Ordering, heavy};
    use std::cell::Cell;

    static REGISTRY: Registry = Registry::new();

    thread_local! {
        static MINE: Cell<Option<&'static Record>> = const { Cell::new(None) };
        /// Leaves the record to other threads when this one ends.
        static END: End = const { End };
    }

    struct End;

    impl Drop for End {
        fn drop(&mut self) {
            if let Some(record) = MINE.take() {
                record.leave();
            }
        }
    }

    #[cold]
    fn claim() -> Option<&'static Record> {
        END.try_with(|_| ()).ok()?;
        let record = REGISTRY.claim();
        MINE.set(Some(record));
        Some(record)
    }

    /// Says whether readers may do without fences. Before there is anything to read.
    pub(crate) fn say() {
        // Relaxed throughout: a thread that finds something to read has seen what came before that.
        if REGISTRY.light.load(Ordering::Relaxed) == UNSAID {
            let light = if heavy() { LIGHT } else { FENCED };
            // No lock: a child that was forked meanwhile would wait for it. If two threads ask the system, the
            // answer of the first stands.
            let (there, not) = (Ordering::Relaxed, Ordering::Relaxed);
            let _ = REGISTRY.light.compare_exchange(UNSAID, light, there, not);
        }
    }

    #[inline]
    pub(crate) fn registry() -> &'static Registry {
        &REGISTRY
    }

    /// The record of this thread; `None` if it is about to end.
    #[inline]
    pub(crate) fn mine() -> Option<&'static Record> {
        MINE.get().or_else(claim)
    }

    /// The record of this thread, if it has one already.
    #[inline]
    pub(crate) fn mine_if_any() -> Option<&'static Record> {
        MINE.get()
    }
}

/// The same for each exploration of a model.
#[cfg(loom)]
mod here {
    use super::{Record, Registry};

    loom::lazy_static! {
        static ref REGISTRY: Registry = Registry::new(false);
    }

    loom::thread_local! {
        static MINE: &'static Record = REGISTRY.claim();
    }

    pub(crate) fn say() {}

    pub(crate) fn registry() -> &'static Registry {
        &REGISTRY
    }

    pub(crate) fn mine() -> Option<&'static Record> {
        Some(MINE.with(|record| *record))
    }

    pub(crate) fn mine_if_any() -> Option<&'static Record> {
        mine()
    }
}
