//! What the workers of a pool share: seats, the injector, sleep, handlers, the end.
#![forbid(unsafe_code)]

#[cfg(all(target_os = "linux", not(miri)))]
use crate::clock;
use crate::config::Handlers;
use crate::job::{Parcel, Queue};
use crate::park::Parker;
use crate::row::Row;
use crate::seat::{Holder, Seat};
use crate::sleep::Sleep;
use crate::spares::Spares;
use crate::stats::PoolStats;
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::sys;
use crate::trace::{self, What};
use crate::unwind::{self, Payload};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// Starts the thread of a seat; says whether the system agreed.
pub(crate) type Starter = fn(&Arc<Shared>, usize) -> bool;

/// What belongs to one seat but is filled by others.
#[derive(Debug)]
pub(crate) struct Desk {
    /// Jobs for this seat's own thread and nobody else: broadcasts.
    pub(crate) mailbox: Queue,
    /// What was spawned here first-in, first-out.
    pub(crate) fifo: Queue,
    /// Where the sleeping thread is to run once woken.
    #[cfg(all(target_os = "linux", not(miri)))]
    place: Mutex<Bed>,
}

/// The sleeping thread as the system knows it.
#[cfg(all(target_os = "linux", not(miri)))]
#[derive(Debug, Default)]
struct Bed {
    thread: Option<i32>,
    since: u64,
    moved: Option<sys::elsewhere::Place>,
}

/// The common part of a pool.
pub(crate) struct Shared {
    pub(crate) seats: Row<Seat>,
    pub(crate) desks: Row<Desk>,
    pub(crate) injector: Queue,
    pub(crate) sleep: Sleep,
    pub(crate) handlers: Handlers,
    pub(crate) stack_size: Option<usize>,
    /// Whether ordinary threads may sit down here.
    pub(crate) guests: bool,
    /// Whether a waiting worker may run anything.
    pub(crate) greedy: bool,
    /// The process that the threads are of.
    generation: usize,
    starter: Option<Starter>,
    spares: Spares,
    /// How the threads of spare seats are started, if there may be any.
    spare_starter: Option<Starter>,
    /// Whether seat 0 belongs to a thread that is not the pool's own and never ends with it.
    resident: bool,
    ending: AtomicBool,
    over: AtomicBool,
    refused: AtomicUsize,
    /// Threads that have not ended yet.
    alive: Mutex<usize>,
    ended: Condvar,
    /// Workers that wait for another pool and would be told of work here.
    abroad: Mutex<Vec<&'static Parker>>,
    abroad_count: AtomicUsize,
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
const SPARES: usize = 64;

impl Shared {
    pub(crate) fn new(plan: Plan, handlers: Handlers) -> Arc<Self> {
        let Plan {
            threads,
            guests,
            greedy,
            stack_size,
            resident,
            starter,
            spare_starter,
        } = plan;
        let holder = if starter.is_some() {
            Holder::Parked
        } else {
            Holder::Awake
        };
        let asleep = if starter.is_some() { threads } else { 0 };
        Arc::new_cyclic(|me| Self {
            seats: Row::new((0..threads).map(|i| Seat::new(i, threads, holder))),
            desks: Row::new((0..threads).map(|_| Desk::new())),
            injector: Queue::new(),
            sleep: Sleep::new(threads + SPARES, asleep),
            handlers,
            stack_size,
            guests,
            greedy,
            generation: sys::fork::generation(),
            starter,
            spares: Spares::new(),
            spare_starter,
            resident,
            ending: AtomicBool::new(false),
            over: AtomicBool::new(false),
            refused: AtomicUsize::new(0),
            alive: Mutex::new(0),
            ended: Condvar::new(),
            abroad: Mutex::new(Vec::new()),
            abroad_count: AtomicUsize::new(0),
            me: Weak::clone(me),
        })
    }

    /// A counted reference, for those who must keep the pool.
    pub(crate) fn keep(&self) -> Arc<Self> {
        self.me.upgrade().expect("a pool in use has an owner")
    }

    /// Whether this is the process in which the pool was made. In a child of it the pool has no
    /// threads, and its locks and seats are as chance would have it.
    pub(crate) fn is_here(&self) -> bool {
        self.generation == sys::fork::generation()
    }

    /// How many seats the pool has, spare ones apart.
    pub(crate) fn len(&self) -> usize {
        self.seats.first().len()
    }

    /// Whether this is a spare seat.
    pub(crate) fn is_spare(&self, seat: &Seat) -> bool {
        seat.index >= self.len()
    }

    // ---- work and those who should know of it -----------------------------------------------

    /// Queues a job from outside and wakes somebody for it.
    pub(crate) fn inject(&self, job: Parcel) {
        self.injector.push(job);
        self.announce();
    }

    /// Tells sleepers of spawned or queued work: at once, with no savings.
    pub(crate) fn announce(&self) {
        let wake = self.sleep.post();
        if wake {
            self.wake_one();
        }
        // The fence in `post` pairs with the one in `go_abroad`.
        if self.abroad_count.load(Ordering::Relaxed) > 0 {
            for parker in lock(&self.abroad).iter() {
                parker.unpark();
            }
        }
    }

    /// Wakes a thread if one sleeps and none searches; says whether one was roused.
    pub(crate) fn wake_one(&self) -> bool {
        self.sleep.wake_one(&self.seats, |seat| self.ring(seat))
    }

    /// Wakes those who wait for work that this seat has just published.
    pub(crate) fn wake_waiters(&self, seat: &Seat) {
        if seat.waiters.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mask = seat.waiters.swap(0, Ordering::Relaxed);
        for other in self
            .seats
            .iter()
            .filter(|s| mask >> (s.index % 64) & 1 == 1)
        {
            other.pillow().unpark();
        }
    }

    /// Queues a job for one seat's thread alone and sees to it that it gets up. False if there
    /// is no such thread; the job is queued all the same, for whoever attends to such.
    pub(crate) fn deliver(&self, index: usize, job: Parcel) -> bool {
        let seat = &self.seats[index];
        self.desks[index].mailbox.push(job);
        if !seat.thread.exists() {
            return false;
        }
        self.sleep.post();
        loop {
            match seat.word.load() {
                Holder::Parked if self.sleep.notify(seat) => return self.ring(seat),
                Holder::Guest if seat.word.step(Holder::Guest, Holder::GuestPending) => break,
                Holder::Parked | Holder::Guest => {}
                Holder::Vacant => return false,
                // Somebody is about to start the thread, which may be refused.
                Holder::Notified if self.starter.is_some() && !seat.thread.is_there() => {
                    crate::sync::yield_now();
                }
                _ => break,
            }
        }
        // Whoever holds the seat may be waiting for something.
        seat.pillow().unpark();
        true
    }

    /// Whether there is anything that the thread of this seat could take, or should know.
    pub(crate) fn has_news(&self, index: usize) -> bool {
        self.has_work() || !self.desks[index].mailbox.is_empty() || self.is_over()
    }

    /// Whether anybody may take anything anywhere.
    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty() || self.seats.iter().any(Seat::has_work)
    }

    /// Rouses the thread of a seat that is NOTIFIED or LENT, starting it if it is not there yet.
    /// False if there is no such thread; a seat that was NOTIFIED is then VACANT.
    pub(crate) fn ring(&self, seat: &Seat) -> bool {
        let spare = self.is_spare(seat);
        let starter = if spare {
            self.spare_starter
        } else {
            self.starter
        };
        let start = || starter.is_none_or(|start| start(&self.keep(), seat.index));
        if seat.thread.start_once(start) {
            trace::moment(seat.index, What::Wake(seat.index));
            self.push_away(seat.index);
            seat.bell().unpark();
            return true;
        }
        self.sleep.forget_thread();
        if spare {
            self.spares.forget();
            seat.word.step(Holder::Notified, Holder::Closed);
        } else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            seat.word.step(Holder::Notified, Holder::Vacant);
        }
        false
    }

    // ---- spare seats ------------------------------------------------------------------------

    /// A thread that holds a seat is about to block, with nothing private in its deques: opens
    /// a spare seat in its place, and wakes somebody if there is anything to do.
    pub(crate) fn replace_one(&self) {
        let opened = if self.spare_starter.is_some() {
            let start = self.len();
            self.desks.extend(SPARES, |_| Desk::new());
            let seats = self
                .seats
                .extend(SPARES, |i| Seat::new(i, start, Holder::Closed));
            self.spares.replace(
                &self.sleep,
                seats.iter().inspect(|s| self.seats.show(s.index)),
            )
        } else {
            None
        };
        // Those who push may have work that they did not offer for want of a sleeper.
        self.seats.iter().for_each(|s| s.nested.want());
        if self.has_work() {
            self.announce();
        }
        // Somebody is to look after those who are stuck beside private work.
        if let Some(seat) = opened
            && !self.sleep.is_looked_after()
            && self.sleep.notify(seat)
        {
            self.ring(seat);
        }
    }

    /// It is back.
    pub(crate) fn dismiss_one(&self) {
        if self.spare_starter.is_some() {
            self.spares.dismiss(&self.sleep, self.seats.spare().iter());
        }
    }

    /// Closes spare seats whose threads sleep, if too many are open.
    pub(crate) fn trim_spares(&self) {
        self.spares.trim(&self.sleep, self.seats.spare().iter());
    }

    /// Closes a spare seat between two jobs of its own thread, if too many are open. True if the
    /// thread is to sleep until the seat is NOTIFIED.
    pub(crate) fn step_down(&self, seat: &Seat) -> bool {
        if !self.is_spare(seat) || !self.spares.claim() {
            return false;
        }
        self.sleep.step_down(seat);
        if self.has_work() {
            self.announce();
        }
        self.end_if_idle();
        // Either this sees that the pool is over, or who ends it sees the seat closed.
        !(self.is_over() && seat.word.step(Holder::Closed, Holder::Awake))
    }

    /// A worker of this pool starts to wait for another pool: `parker` is told of new work.
    pub(crate) fn go_abroad(&self, parker: &'static Parker) {
        lock(&self.abroad).push(parker);
        self.abroad_count.fetch_add(1, Ordering::Relaxed);
        // SeqCst: pairs with the fence in `post`.
        crate::sync::fence(Ordering::SeqCst);
    }

    /// It is back.
    pub(crate) fn come_home(&self, parker: &'static Parker) {
        let mut all = lock(&self.abroad);
        if let Some(at) = all.iter().position(|p| std::ptr::eq(*p, parker)) {
            all.swap_remove(at);
            self.abroad_count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    // ---- the life of the pool ---------------------------------------------------------------

    /// From now on the pool is over once there is nothing left to do.
    pub(crate) fn end(&self) {
        // Release: pairs with `is_ending`.
        self.ending.store(true, Ordering::Release);
        self.rouse_all();
    }

    fn rouse_all(&self) {
        self.sleep.post();
        for seat in &self.seats {
            if self.sleep.notify(seat) {
                self.ring(seat);
            }
        }
        let over = self.is_over();
        for seat in self.seats.spare() {
            if over && seat.thread.is_there() && self.sleep.recall(seat) {
                self.ring(seat);
            }
        }
    }

    pub(crate) fn is_ending(&self) -> bool {
        // Acquire: pairs with `end`.
        self.ending.load(Ordering::Acquire)
    }

    /// Whether the threads may go. While a single one of them runs a job the others stay: the job
    /// may yet need them.
    pub(crate) fn is_over(&self) -> bool {
        // Acquire: pairs with `end_if_idle`.
        self.over.load(Ordering::Acquire)
    }

    /// Ends a pool that is ending if nobody in it has anything to do. Called by threads that
    /// search; the last one to come to this finds it so.
    pub(crate) fn end_if_idle(&self) {
        if !self.could_end() {
            return;
        }
        // Twice, and nothing begun between: work that went behind the first look is seen by the
        // second one, in the making or as a job that was run.
        let before = self.idle_since();
        if before.is_some() && before == self.idle_since() {
            // Release: pairs with `is_over`.
            self.over.store(true, Ordering::Release);
            self.rouse_all();
        }
    }

    /// Whether somebody should see about the end.
    pub(crate) fn could_end(&self) -> bool {
        self.is_ending() && !self.is_over() && self.idle_since().is_some()
    }

    /// If nobody seems to do anything and nothing seems to be left: how often anybody has.
    fn idle_since(&self) -> Option<u32> {
        // SeqCst: pairs with itself. Of two threads that leave off work and come here, the
        // second sees the seat of the first.
        crate::sync::fence(Ordering::SeqCst);
        let own = || self.seats.iter().skip(usize::from(self.resident));
        let letters = self.desks.iter().any(|desk| !desk.mailbox.is_empty());
        let idle = !letters && !self.has_work() && !own().any(Seat::is_held);
        idle.then(|| own().fold(0, |sum, s| s.begun().wrapping_add(sum)))
    }

    /// A thread that was to have this seat will never come.
    pub(crate) fn give_up(&self, index: usize) {
        self.seats[index].thread.set_gone();
        self.seats[index].word.swap(Holder::Vacant);
    }

    pub(crate) fn count_thread(&self, started: bool) {
        let mut alive = lock(&self.alive);
        *alive = if started { *alive + 1 } else { *alive - 1 };
        if *alive == 0 {
            self.ended.notify_all();
        }
    }

    /// Waits until all threads have ended.
    pub(crate) fn wait_until_ended(&self) {
        let mut alive = lock(&self.alive);
        while *alive > 0 {
            alive = self
                .ended
                .wait(alive)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether the system refused every thread, so that nobody works here but guests.
    pub(crate) fn is_deserted(&self) -> bool {
        self.refused.load(Ordering::Relaxed) == self.len()
    }

    /// What to do with a panic that nobody waits for.
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
            refused_threads: self.refused.load(Ordering::Relaxed),
        }
    }
}

/// Where a woken thread is to run: see [`crate::sys::elsewhere`].
#[cfg(all(target_os = "linux", not(miri)))]
impl Shared {
    /// How long a thread must have slept before its old processor is thought to be asleep too.
    const DEEP: u64 = 1_000_000;

    pub(crate) fn lie_down(&self, index: usize) {
        let mut bed = lock(&self.desks[index].place);
        bed.thread.get_or_insert_with(sys::elsewhere::me);
        bed.since = clock::now();
    }

    pub(crate) fn get_up(&self, index: usize) {
        let mut bed = lock(&self.desks[index].place);
        bed.since = 0;
        if let Some(place) = bed.moved.take() {
            sys::elsewhere::restore(place);
        }
    }

    fn push_away(&self, index: usize) {
        let mut bed = lock(&self.desks[index].place);
        let deep = bed.since != 0 && clock::since(bed.since) > clock::ticks(Self::DEEP);
        if deep
            && bed.moved.is_none()
            && let Some(thread) = bed.thread
        {
            bed.moved = sys::elsewhere::push_away(thread);
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
impl Shared {
    pub(crate) fn lie_down(&self, _: usize) {}
    pub(crate) fn get_up(&self, _: usize) {}
    fn push_away(&self, _: usize) {}
}

impl Desk {
    fn new() -> Self {
        Self {
            mailbox: Queue::new(),
            fifo: Queue::new(),
            #[cfg(all(target_os = "linux", not(miri)))]
            place: Mutex::default(),
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
