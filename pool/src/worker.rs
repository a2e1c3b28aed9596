//! The holder of a seat: who it is, what it pushes, runs and finds. How it waits is told in
//! `wait.rs`, how the threads of a pool pass the time between jobs in `idle.rs`.

use crate::clock;
use crate::deque::nested::{Front, Nested};
use crate::deque::spawned::{Entry, LOT};
use crate::deque::steal::Steal;
use crate::injector::Taken as Batch;
use crate::job::{self, HeapJob, Taken};
use crate::seat::Seat;
use crate::shared::Shared;
use crate::sync::{Ordering, fence, relax};
use crate::trace::{self, Act, What};
use crate::unwind::AbortOnUnwind;
use std::cell::Cell;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

/// Most jobs taken from the injector at once.
const BATCH: usize = 16;

thread_local! {
    static CURRENT: Cell<*const Worker<'static>> = const { Cell::new(ptr::null()) };
    /// The front of the current worker's stack of jobs: all that most joins need of it.
    static FRONT: Cell<*const Front> = const { Cell::new(&NO_ROOM) };
}

/// What a thread sees that is no worker: a stack without room.
static NO_ROOM: Front = Front::full();

/// One thread on one seat.
#[derive(Debug)]
pub(crate) struct Worker<'a> {
    pub(crate) seat: &'a Seat,
    pub(crate) shared: &'a Shared,
    /// Whether this is an ordinary thread on somebody else's seat.
    pub(crate) guest: bool,
}

/// Makes a worker current for as long as it lives.
#[derive(Debug)]
struct Sitting(*const Worker<'static>, *const Front);

impl Sitting {
    fn new(worker: &Worker<'_>) -> Self {
        let front = ptr::from_ref(worker.nested()).cast();
        Self(
            CURRENT.replace(ptr::from_ref(worker).cast()),
            FRONT.replace(front),
        )
    }
}

/// Makes the calling thread no worker at all for as long as it lives.
impl Sitting {
    fn nowhere() -> Self {
        Self(CURRENT.replace(ptr::null()), FRONT.replace(&NO_ROOM))
    }
}

impl Drop for Sitting {
    fn drop(&mut self) {
        CURRENT.set(self.0);
        FRONT.set(self.1);
    }
}

/// The tag of a scope: on which seat it was opened, and the stamp it got there.
pub(crate) mod tag {
    const BITS: u32 = 48;
    const STAMP: u64 = (1 << BITS) - 1;
    const NO_SEAT: u64 = 0xffff;

    pub(crate) fn new(seat: usize, stamp: u64) -> u64 {
        (seat as u64 + 1) << BITS | stamp & STAMP
    }

    /// Opened by a thread that holds no seat.
    pub(crate) fn outside(serial: u64) -> u64 {
        NO_SEAT << BITS | serial & STAMP
    }

    /// The seat it was opened on, if it is a scope's, and on a seat.
    pub(crate) fn home(tag: u64) -> Option<usize> {
        match tag >> BITS {
            0 | NO_SEAT => None,
            seat => Some(seat as usize - 1),
        }
    }

    /// Opened on `seat`, with the stamp `since` or a later one.
    pub(crate) fn opened_since(tag: u64, seat: usize, since: u64) -> bool {
        let passed = tag.wrapping_sub(since) & STAMP;
        tag >> BITS == seat as u64 + 1 && passed <= STAMP / 2
    }
}

impl<'a> Worker<'a> {
    /// Gives the current worker to `f`.
    #[inline(always)]
    pub(crate) fn with<R>(f: impl FnOnce(Option<&Worker<'_>>) -> R) -> R {
        let current = CURRENT.get();
        // SAFETY: set only while the worker lives, by a frame below this one, and `f` cannot
        // keep the reference.
        f(unsafe { current.as_ref() })
    }

    /// The front of the current worker's stack of jobs, which says that there is no room if there
    /// is no worker. The second is where the whole stack is, if there is one: see
    /// [`Nested::behind`]. Neither outlives the caller's frame.
    #[inline(always)]
    pub(crate) fn front(_frame: &()) -> (&Front, *const Front) {
        let front = FRONT.get();
        // SAFETY: the front of a static, or of the seat of the current worker: see `with`.
        (unsafe { &*front }, front)
    }

    /// Whether this worker belongs to that pool.
    pub(crate) fn is_of(&self, shared: &Shared) -> bool {
        ptr::eq(self.shared, shared)
    }

    #[inline(always)]
    pub(crate) fn nested(&self) -> &Nested {
        &self.seat.nested
    }

    /// Runs `op` with this worker as the current one.
    pub(crate) fn sit<R>(&self, op: impl FnOnce(&Self) -> R) -> R {
        let _sitting = Sitting::new(self);
        op(self)
    }

    /// Runs `op` with no worker as the current one. The seat stays as it is.
    pub(crate) fn stand_aside<R>(&self, op: impl FnOnce() -> R) -> R {
        debug_assert!(self.nested().private() == 0, "private work is left alone");
        let _nowhere = Sitting::nowhere();
        op()
    }

    // ---- pushing ----------------------------------------------------------------------------

    /// Pushes a job that belongs to the scope `tag`, or to none (0), without a word to anybody;
    /// [`Shared::announce`] is to follow.
    ///
    /// # Safety
    /// The body may be run on any thread of the pool, and what it borrows lives until then. It
    /// does not panic.
    pub(crate) unsafe fn push_new(&self, tag: u64, body: impl FnOnce()) {
        // SAFETY: this worker holds the seat.
        let job = unsafe { HeapJob::erase(&self.seat.slab, body) };
        // SAFETY: on the heap until run, and given away here.
        unsafe { self.push_spawned(job, tag) };
    }

    /// Pushes a job, as `push_new` does.
    ///
    /// # Safety
    /// The job lives until it is run, and `job` is handed to nobody else.
    pub(crate) unsafe fn push_spawned(&self, job: *mut (), tag: u64) {
        self.put(Entry { job, tag });
    }

    /// Puts a job that this worker has into its seat's deque.
    fn put(&self, entry: Entry) {
        self.seat.spawning.set(1);
        // SAFETY: this worker holds the seat.
        unsafe { self.seat.spawned.push(entry) };
    }

    /// Makes all nested jobs public and tells those who wait for them.
    pub(crate) fn publish(&self, count: usize) {
        let published = self.nested().publish(count);
        if published > 0 {
            self.seat.counters.published.add(published as u64);
            trace::moment(self.seat.index, What::Offer(published));
            // SeqCst: pairs with the fences of those who go to sleep and of waiters.
            fence(Ordering::SeqCst);
            self.shared.wake_waiters(self.seat);
        }
    }

    /// Wakes a thread for work on offer here, if one sleeps and none searches.
    pub(crate) fn wake_one(&self) {
        let census = self.shared.sleep.census();
        if census.sleeping() > 0 && census.searching() == 0 {
            let sleep = &self.shared.sleep;
            let start = clock::now();
            sleep.ring_at(start);
            if self.shared.wake_one() {
                sleep.record_wake(clock::nanos(clock::since(start)));
                self.seat.counters.wakes.add(1);
            } else {
                sleep.ring_at(0);
            }
        }
    }

    /// A tag for a scope that this worker opens.
    pub(crate) fn open_scope(&self) -> u64 {
        tag::new(self.seat.index, self.seat.notes.next_stamp())
    }

    // ---- running ----------------------------------------------------------------------------

    /// Runs a job that is not a piece of what lies below it on the stack.
    pub(crate) fn run(&self, entry: Entry) {
        let seat = self.seat;
        let _span = trace::span(seat.index, Act::Run);
        let (inner, outer) = seat.begin(entry.tag);
        let by = Taken {
            seat: seat.index,
            base: inner.base,
            since: inner.since,
        };
        // Whoever waits for this job may find no other work than pieces of it.
        let limit = seat.nested.lift(inner.base);
        // Before, so that whoever waits for the job finds it counted.
        seat.counters.jobs.add(1);
        let guard = AbortOnUnwind;
        // SAFETY: entries come out of deques and queues, each to one taker.
        unsafe { job::execute(entry.job, by) };
        guard.disarm();
        debug_assert!(
            seat.nested.depth() == inner.base,
            "a job left nested jobs behind"
        );
        seat.nested.lower(limit);
        seat.end(outer);
    }

    pub(crate) fn run_stolen(&self, entry: Entry, from: &Seat) {
        self.note_steal(from);
        self.run(entry);
    }

    // ---- finding ----------------------------------------------------------------------------

    /// Takes any job at all.
    pub(crate) fn take_any(&self) -> Option<Entry> {
        self.take_mail()
            .or_else(|| self.take_outside_in_turn())
            .or_else(|| self.take_own())
            .or_else(|| self.steal_any())
            .or_else(|| self.take_outside())
    }

    /// Takes the job spawned last on this seat.
    pub(crate) fn take_own(&self) -> Option<Entry> {
        // SAFETY: this worker holds the seat.
        unsafe { self.seat.spawned.pop() }
    }

    pub(crate) fn take_mail(&self) -> Option<Entry> {
        if self.guest && self.seat.thread.exists() {
            return None;
        }
        let mut found = None;
        self.shared.desks[self.seat.index]
            .mailbox
            .take(1, |entry| found = Some(entry));
        found
    }

    /// Takes from outside first once in a while, so that outside work never starves. The
    /// interval follows the length of jobs: looks come about every hundred microseconds.
    fn take_outside_in_turn(&self) -> Option<Entry> {
        const TARGET: u64 = 100_000;
        let notes = &self.seat.notes;
        if notes.until_outside.get() > 0 {
            notes.until_outside.set(notes.until_outside.get() - 1);
            return None;
        }
        let every = notes.outside_every.get().max(1);
        let (now, before) = (clock::now(), notes.outside_at.get());
        let each = clock::nanos(now.saturating_sub(before)) / every;
        let fitting = (TARGET / each.max(1)).clamp(1, 256);
        let next = ((every * 3 + fitting) / 4).max(1);
        notes.outside_every.set(next);
        notes.until_outside.set(next);
        notes.outside_at.set(now);
        self.take_outside()
    }

    /// Takes from the injector: one to run, and a fair share of the rest for this seat's deque.
    pub(crate) fn take_outside(&self) -> Option<Entry> {
        let queue = &self.shared.injector;
        let most = (queue.len() / self.shared.len()).clamp(1, BATCH);
        let mut batch = [None; BATCH];
        let mut count = 0;
        let taken = queue.take(most, |entry| {
            batch[count] = Some(entry);
            count += 1;
        });
        let Batch::Some(_) = taken else { return None };
        // Newest first, so that they are popped oldest first.
        for entry in batch[1..count].iter().rev().flatten() {
            self.put(*entry);
        }
        if count > 1 {
            self.shared.announce();
            self.tell_owners(batch[1..count].iter().flatten());
        }
        batch[0]
    }

    /// Steals from some other seat, starting anywhere.
    fn steal_any(&self) -> Option<Entry> {
        let seats = &self.shared.seats;
        let mut lot = [Entry::NONE; LOT];
        loop {
            let mut again = false;
            let count = seats.count();
            let start = self.seat.notes.random() as usize % count;
            for victim in seats.iter().skip(start).chain(seats.iter().take(start)) {
                if victim.index == self.seat.index {
                    continue;
                }
                match victim.nested.steal() {
                    Steal::Taken(job) => return self.stolen(Entry { job, tag: 0 }, victim),
                    Steal::Private => victim.nested.want(),
                    Steal::Retry => again = true,
                    Steal::Empty => {}
                }
                match victim.spawned.steal_lot(&mut lot) {
                    Steal::Taken(count) => return self.bring_home(&lot[..count], victim),
                    Steal::Retry => again = true,
                    _ => {}
                }
            }
            if !again {
                return None;
            }
            relax();
        }
    }

    /// Of a stolen lot, one is to be run now; the others go into this seat's deque.
    fn bring_home(&self, lot: &[Entry], from: &Seat) -> Option<Entry> {
        let (first, others) = lot.split_first()?;
        for entry in others {
            self.put(*entry);
        }
        if !others.is_empty() {
            self.seat.counters.stolen.add(others.len() as u64);
            // While they were on the way, nobody could see them.
            self.shared.announce();
            self.tell_owners(others);
        }
        self.stolen(*first, from)
    }

    /// Wakes the owners of scopes whose tasks this worker has just put somewhere else: one that
    /// looked for them while they were on their way may sleep, and be the only one left to run
    /// them. Whether it does is not known here (the scope may be gone by now), so a token is left
    /// on its pillow in any case; one too many sends it to sleep again.
    pub(crate) fn tell_owners<'e>(&self, moved: impl IntoIterator<Item = &'e Entry>) {
        let mut told = None;
        for entry in moved {
            let home = tag::home(entry.tag).filter(|&seat| seat != self.seat.index);
            if let Some(seat) = home.filter(|_| home != told) {
                self.shared.seats[seat].pillow().unpark();
                told = home;
            }
        }
    }

    pub(crate) fn stolen(&self, entry: Entry, from: &Seat) -> Option<Entry> {
        self.note_steal(from);
        Some(entry)
    }

    fn note_steal(&self, from: &Seat) {
        self.seat.counters.stolen.add(1);
        trace::moment(self.seat.index, What::Steal(from.index));
    }
}

/// After a fork, in the child: whatever pool its only thread worked for, that has no threads
/// here.
pub(crate) fn forget_pool() {
    leave_for_good();
}

/// Makes the calling thread the holder of a seat until [`leave_for_good`]; false if it works for
/// a pool already.
pub(crate) fn join_for_good(shared: &Arc<Shared>, index: usize) -> bool {
    if Worker::with(|worker| worker.is_some()) {
        return false;
    }
    let shared: &'static Shared = Box::leak(Box::new(Arc::clone(shared)));
    let seat = &shared.seats[index];
    let worker: &'static Worker<'static> = Box::leak(Box::new(Worker {
        seat,
        shared,
        guest: false,
    }));
    std::mem::forget(Sitting::new(worker));
    // Kept for ever, since other destructors of the thread may still use the pool.
    static ALL: Mutex<Vec<&'static Worker<'static>>> = Mutex::new(Vec::new());
    ALL.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(worker);
    true
}

/// Ends what [`join_for_good`] began.
pub(crate) fn leave_for_good() {
    CURRENT.set(ptr::null());
    FRONT.set(&NO_ROOM);
}
