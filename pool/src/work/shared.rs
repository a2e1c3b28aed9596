//! What the workers of a pool share: seats, boxes, the queue from outside, the census, handlers.
//!
//! This file holds only the data. The code that uses it is in other files: `post.rs` (work,
//! letters, and which thread is woken for them), `stand_in.rs` (spare seats), `abroad.rs` (workers
//! that wait for another pool), `end.rs` (the pool's end), `place.rs` (where woken threads run).
#![forbid(unsafe_code)]

use super::abroad::Abroad;
use super::lifetime::Lifetime;
use super::place::Place;
use crate::base::barrier;
use crate::base::config::Handlers;
use crate::base::patience::Yields;
use crate::base::row::Row;
use crate::base::stats::PoolStats;
use crate::base::sync::{AtomicUsize, CachePadded, Ordering};
use crate::base::sys;
use crate::base::unwind::{self, Payload};
use crate::pace::wakes::Wakes;
use crate::queue::job::Queue;
use crate::seat::Seat;
use crate::seat::looker::Looker;
use crate::seat::owed::Owed;
use crate::seat::sleep::Sleep;
use crate::seat::spares::Spares;
use crate::seat::word::Holder;
use std::sync::{Arc, Weak};

/// Starts the thread of a seat; says whether the system agreed.
pub(crate) type Starter = fn(&Arc<Shared>, usize) -> bool;

/// What belongs to one seat but is filled by others.
#[derive(Debug)]
pub(crate) struct Desk {
    /// Letters: jobs for this seat's own thread alone, as a broadcast sends them.
    pub(crate) mailbox: Queue,
    /// What was spawned here first-in, first-out.
    pub(crate) fifo: Queue,
    /// Where the sleeping thread is to run once woken.
    pub(super) place: Place,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self {
            mailbox: Queue::new(),
            fifo: Queue::new(),
            place: Place::new(),
        }
    }
}

/// The common part of a pool.
pub(crate) struct Shared {
    pub(crate) seats: Row<Seat>,
    pub(crate) desks: Row<Desk>,
    // Each field on its own cache lines: all threads read what few of them write.
    pub(crate) injector: CachePadded<Queue>,
    pub(crate) sleep: Sleep,
    pub(crate) looker: CachePadded<Looker>,
    pub(crate) wakes: CachePadded<Wakes>,
    pub(super) yields: CachePadded<Yields>,
    /// The calls from outside whose callers wait.
    pub(super) errands: CachePadded<AtomicUsize>,
    pub(crate) handlers: Handlers,
    pub(crate) stack_size: Option<usize>,
    /// Whether ordinary threads may sit down here.
    pub(crate) guests: bool,
    /// Whether a waiting worker may run anything.
    pub(crate) greedy: bool,
    /// The process that the threads are of.
    generation: usize,
    pub(super) starter: Option<Starter>,
    pub(super) spares: Spares,
    /// Threads that block and found no spare seat.
    pub(super) owed: Owed,
    /// How the threads of spare seats are started, if there may be any.
    pub(super) spare_starter: Option<Starter>,
    pub(super) lifetime: Lifetime,
    pub(super) abroad: Abroad,
    me: Weak<Shared>,
}

/// What [`Shared::new`] needs to know.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) threads: usize,
    pub(crate) guests: bool,
    pub(crate) greedy: bool,
    pub(crate) stack_size: Option<usize>,
    /// Whether the thread that builds the pool is to sit on seat 0 for good.
    pub(crate) resident: bool,
    /// Given for pools whose threads are started when first needed.
    pub(crate) starter: Option<Starter>,
    /// Given for pools that may have spare threads, which are always started so.
    pub(crate) spare_starter: Option<Starter>,
}

/// How many threads that block at the same time are replaced.
pub(super) const SPARES: usize = crate::base::config::SPARES;

impl Shared {
    pub(crate) fn new(plan: Plan, handlers: Handlers) -> Arc<Self> {
        barrier::register_if_alone();
        let threads = plan.threads;
        let (holder, asleep) = match plan.starter {
            Some(_) => (Holder::Parked, threads),
            None => (Holder::Awake, 0),
        };
        Arc::new_cyclic(|me| Self {
            seats: Row::new((0..threads).map(|i| Seat::new(i, threads, holder))),
            desks: Row::new((0..threads).map(|_| Desk::new())),
            injector: CachePadded::new(Queue::new()),
            sleep: Sleep::new(threads, asleep),
            looker: CachePadded::new(Looker::new()),
            wakes: CachePadded::new(Wakes::new()),
            yields: CachePadded::new(Yields::new(threads)),
            errands: CachePadded::new(AtomicUsize::new(0)),
            handlers,
            stack_size: plan.stack_size,
            guests: plan.guests,
            greedy: plan.greedy,
            generation: sys::fork::generation(),
            starter: plan.starter,
            spares: Spares::new(),
            owed: Owed::new(),
            spare_starter: plan.spare_starter,
            lifetime: Lifetime::new(plan.resident),
            abroad: Abroad::new(),
            me: Weak::clone(me),
        })
    }

    /// A counted reference, for holders that must keep the pool.
    pub(crate) fn keep(&self) -> Arc<Self> {
        self.me.upgrade().expect("a pool in use has an owner")
    }

    /// Whether this is the process in which the pool was made. In a child of that process the pool
    /// has no threads, and its locks and seats may be in any state.
    pub(crate) fn is_here(&self) -> bool {
        self.generation == sys::fork::generation()
    }

    /// Panics, unless this is that process.
    #[track_caller]
    pub(crate) fn must_be_here(&self) {
        assert!(
            self.is_here(),
            "a pool was used in a child process made by `fork`, which has none of its threads"
        );
    }

    /// How many seats the pool has, spare ones apart.
    pub(crate) fn len(&self) -> usize {
        self.seats.first().len()
    }

    /// Whether this is a spare seat.
    pub(crate) fn is_spare(&self, seat: &Seat) -> bool {
        seat.index >= self.len()
    }

    /// Whether any thread may take anything anywhere.
    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty() || self.seats.iter().any(Seat::has_work)
    }

    /// How many jobs any thread may take, roughly.
    pub(crate) fn jobs(&self) -> usize {
        self.jobs_at_seats() + self.injector.len()
    }

    /// The same without what is queued from outside.
    pub(crate) fn jobs_at_seats(&self) -> usize {
        self.seats.iter().map(Seat::public_jobs).sum()
    }

    /// Whether there is anything that the thread of this seat could take, or should know.
    pub(crate) fn has_news(&self, seat: &Seat) -> bool {
        self.has_work() || seat.word.load().has_mail() || self.is_over()
    }

    /// What to do with a panic that no thread waits for.
    pub(crate) fn handle_panic(&self, payload: Payload) {
        match &self.handlers.panic {
            Some(handler) => {
                let guard = unwind::AbortOnUnwind;
                handler(payload);
                guard.disarm();
            }
            None => {
                eprintln!("tine: a spawned job panicked, and no panic handler was set; aborting");
                std::process::abort();
            }
        }
    }

    pub(crate) fn stats(&self) -> PoolStats {
        PoolStats {
            seats: self.seats.iter().map(|s| s.counters.read()).collect(),
            refused_threads: self.lifetime.refused.load(Ordering::Relaxed),
        }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("census", &self.sleep.census())
            .field("injected", &self.injector.len())
            .field("ending", &self.is_ending())
            .finish_non_exhaustive()
    }
}
