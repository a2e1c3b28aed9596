//! How a thread that holds no seat gets work done in a pool: an errand, which the pool's own threads
//! run while it waits. Where the thread could be a guest, they may offer it a seat instead.
//!
//! A pool whose seats are all *blocked* would never run the errand: the holders may wait for a lock
//! that the caller holds. So a waiter from outside looks once in a while. If the pool stands still
//! and its own errand still lies there, the waiter takes the errand back and runs it on a spare
//! seat. If ordinary threads may hold no seats, it lets a spare thread work meanwhile.
//!
//! A pool stands still if no job was begun or ended on any seat for several looks, and the system
//! says that every holder waits. (A thread inside `blocking` returns to its own seat for its calls
//! and waits, and sends no errand. Otherwise all threads might be inside, each waiting for
//! another.) A holder that runs works on a long item, or wants a processor that other threads have.
//! The waiter waits for it, since a closure on a spare seat sees an index that programs do not
//! expect. Only after seconds does such a holder count as stuck, since it may spin on a lock.

use super::attend::attend_if_deserted;
use super::family::Root;
use super::guest::{Guest, may_visit, visit_spare};
use super::kin::{LatchWait, Lies, ScopeWait, Task};
use super::shared::{SPARES, Shared};
use super::stand_in::Replaced;
use super::under::apart;
use super::wait::Wait;
use super::worker::{Worker, parker_aside, tag};
use crate::base::clock;
use crate::base::park::{Lease, Parker};
use crate::base::patience::Patience;
use crate::base::running::Doing;
use crate::base::stop;
use crate::base::sync::{AtomicBool, AtomicU64, Ordering};
use crate::base::unwind::{self, AbortOnUnwind};
use crate::queue::job::Borrowed;
use crate::queue::latch::{Latch, ScopeCount};
use crate::queue::spawned::Entry;
use crate::seat::Seat;
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// How often a waiter from outside looks whether the pool stands still.
const LOOK: Duration = Duration::from_millis(10);

/// How long a caller from outside stays awake before it sleeps, in nanoseconds: about as long as
/// waking it takes.
const LOOK_ON: u64 = 20_000;

/// How many looks in a row must find every holder waiting, how many must find no progress if some holder runs,
/// and how many where the system does not tell.
const WAITING: u32 = 2;
const RUNNING: u32 = 200;
const UNTOLD: u32 = if cfg!(any(miri, loom, tine_sched)) {
    1
} else {
    20
};

thread_local! {
    /// What this thread sleeps on.
    static PARKER: Lease = Lease::new();
}

/// Calls `f` with the parker that this thread sleeps on while it is no worker.
pub(crate) fn with_parker<R>(f: impl FnOnce(&'static Parker) -> R) -> R {
    let mut spare = None;
    // A thread whose locals are gone already borrows one for the call.
    let parker = PARKER
        .try_with(Lease::parker)
        .unwrap_or_else(|_| spare.insert(Lease::new()).parker());
    f(parker)
}

/// The same for a thread that is no worker of that pool and waits for something there. If it
/// returns to its seat there to wait, it sleeps on that seat's parker. If it is a worker of another
/// pool, it sleeps on the parker of its seat in that pool.
pub(crate) fn with_parker_for<R>(shared: &Shared, f: impl FnOnce(&'static Parker) -> R) -> R {
    let elsewhere = || Worker::with(|worker| worker.map(|worker| worker.seat.wait_parker()));
    match parker_aside(shared).or_else(elsewhere) {
        Some(parker) => f(parker),
        None => with_parker(f),
    }
}

/// What is to be done on a worker, whatever its type. The code that brings it there is large; in
/// this way a program holds it once, and not once for each closure.
pub(crate) type Errand<'a> = dyn FnMut(&Worker<'_>) + Send + 'a;

/// Lets `run` call `op` once, and returns the result of `op`.
#[inline]
pub(crate) fn once<R: Send>(
    op: impl FnOnce(&Worker<'_>) -> R + Send,
    run: impl FnOnce(&mut Errand<'_>),
) -> R {
    let (mut op, mut result) = (Some(op), None);
    run(&mut |worker| {
        if let Some(op) = op.take() {
            result = Some(op(worker));
        }
    });
    match result {
        Some(result) => result,
        None => unreachable!("an errand was run by no worker"),
    }
}

/// Lets a thread of this pool run `op`, and waits for it. The argument of `op` is the worker that
/// runs it.
pub(crate) fn run_inside<R: Send>(shared: &Shared, op: impl FnOnce(&Worker<'_>) -> R + Send) -> R {
    once(op, |op| send(shared, false, op))
}

/// The same for a closure of any type. `guest` says that the caller may be a guest there, and found
/// no seat.
#[inline(never)]
pub(crate) fn send(shared: &Shared, guest: bool, op: &mut Errand<'_>) {
    Worker::with(|here| match here {
        Some(worker) if worker.is_of(shared) => op(worker),
        // Each thread inside `blocking` has a seat. An errand would wait for another seat.
        _ if Worker::come_back(shared, op) => {}
        Some(worker) => {
            let parker = worker.seat.wait_parker();
            errand(shared, Ask::Worker, parker, op, &|sent| {
                wait_abroad(worker, &sent.latch);
            });
        }
        // A caller that may not sit down would be offered a seat in vain.
        None if guest && !may_visit(shared) => drop(from_outside(shared, Ask::Call, op)),
        None if guest => {
            // If a thread has offered its seat, another caller may be faster.
            if let Some(seat) = from_outside(shared, Ask::Seat, op) {
                match Guest::sit_down_near(shared, seat) {
                    Some(guest) => guest.worker().sit(|worker| op(worker)),
                    None => drop(from_outside(shared, Ask::Call, op)),
                }
            }
        }
        None => drop(from_outside(shared, Ask::Thread, op)),
    });
}

/// What the caller of an errand wants.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ask {
    /// That a thread of the pool runs it; the caller is a worker of another pool, and may run other jobs meanwhile.
    Worker,
    /// The same, for an ordinary thread, which only waits.
    Thread,
    /// The same, for one that may be a guest.
    Call,
    /// A seat, on which the caller would rather run it itself.
    Seat,
}

/// An errand, as its caller sees it.
struct Sent {
    latch: Latch,
    tag: u64,
    begun: AtomicBool,
    /// When it ended, in ticks; 0 before that.
    ended: AtomicU64,
}

/// Sends an errand of a thread that is no worker. Gives a seat if the thread of that seat offers it instead.
fn from_outside(shared: &Shared, ask: Ask, op: &mut Errand<'_>) -> Option<usize> {
    let soon = ask == Ask::Thread && shared.sleep.census().searching() > 0;
    with_parker(|parker| {
        errand(shared, ask, parker, op, &|sent| {
            if soon {
                look_on(shared, sent);
            }
            let mut outside = Outside::new(shared);
            while !sent.latch.wait_for(LOOK) {
                if sent.begun.load(Ordering::Relaxed) || !outside.stands_still() {
                    continue;
                }
                if !(ask != Ask::Thread && may_visit(shared) && take_back(shared, sent.tag)) {
                    outside.call_help();
                }
            }
        })
    })
}

/// The caller waits awake for up to [`LOOK_ON`]. A short call has ended by then, and the caller need not be woken.
fn look_on(shared: &Shared, sent: &Sent) {
    let mut patience = Patience::new(LOOK_ON, &shared.yields);
    patience.make_room();
    while !sent.latch.is_set() {
        if !patience.wait_unless(|| sent.latch.is_set()) {
            return;
        }
    }
    // Relaxed: the latch was set after it.
    patience.end(sent.ended.load(Ordering::Relaxed));
}

/// If the calling thread stands aside from a seat of that pool and is no worker of the pool now,
/// calls `op` on that seat; otherwise where the thread is.
pub(crate) fn at_home<R>(shared: &Shared, op: impl FnOnce() -> R) -> R {
    if Worker::with(|worker| worker.is_some_and(|worker| worker.is_of(shared))) {
        return op();
    }
    let (mut op, mut result) = (Some(op), None);
    let mut call = || result = op.take().map(|op| op());
    if !Worker::come_back(shared, &mut |_| call()) {
        call();
    }
    match result {
        Some(result) => result,
        None => unreachable!("called on the seat or here"),
    }
}

/// Queues `op` and waits by `wait`, for the latch, until it has been run. If the caller asks for a seat and is
/// offered a seat, `op` has not been run.
fn errand(
    shared: &Shared,
    ask: Ask,
    parker: &'static Parker,
    op: &mut Errand<'_>,
    wait: &dyn Fn(&Sent),
) -> Option<usize> {
    let sent = Sent {
        latch: Latch::new(parker),
        tag: tag::errand(),
        begun: AtomicBool::new(false),
        ended: AtomicU64::new(0),
    };
    let op = Cell::new(Some(op));
    let result = Cell::new(None);
    let chain = stop::to_go_on_with();
    let body = || {
        sent.begun.store(true, Ordering::Relaxed);
        let run = || {
            Worker::with(|worker| {
                let worker = worker?;
                if ask == Ask::Seat && worker.offer_seat() {
                    return Some(Some(worker.seat.index));
                }
                op.take()?(worker);
                Some(None)
            })
        };
        result.set(Some(unwind::catch(|| apart(chain.clone(), run))));
        sent.ended.store(clock::now(), Ordering::Relaxed);
    };
    let job = Borrowed::new(sent.tag, &body, &sent.latch);
    let guard = AbortOnUnwind;
    // SAFETY: this frame is not left before the latch is set: if anything below unwinds before, the guard ends
    // the process. Until then the thread that runs the job touches the cells, and afterwards this thread does.
    let parcel = unsafe { job.parcel() };
    // Relaxed, here and below: a count for guesses.
    shared.errands.fetch_add(1, Ordering::Relaxed);
    match ask {
        Ask::Worker => shared.inject(parcel),
        Ask::Thread => shared.inject_awaited(parcel),
        Ask::Call | Ask::Seat => shared.inject_for_guest(parcel),
    }
    attend_if_deserted(shared);
    wait(&sent);
    guard.disarm();
    shared.errands.fetch_sub(1, Ordering::Relaxed);
    match result.take() {
        Some(Ok(Some(offered))) => offered,
        Some(Err(panic)) => stop::resume(panic),
        _ => unreachable!("an errand was run by no worker"),
    }
}

/// Takes an errand back from wherever it lies, and runs it on a spare seat. False if no spare seat
/// is free; true also if another thread has begun the errand meanwhile.
fn take_back(shared: &Shared, tag: u64) -> bool {
    visit_spare(shared, |guest| {
        let from_seats = || shared.fetch_from_seats(tag, None).map(|(entry, _)| entry);
        if let Some(entry) = from_seats().or_else(|| shared.injector.take_tagged(tag)) {
            guest.run(entry);
        }
    })
}

/// Waits for a latch on which others, in this pool or another, may need this worker.
pub(crate) fn wait_abroad(worker: &Worker<'_>, latch: &Latch) {
    worker.wait(&LatchWait {
        latch,
        letters: None,
    });
}

/// Waits for what depends on the worker's own pool.
///
/// A thread that is back from inside `blocking` may hold what all other threads wait for, so it
/// looks after the pool as a thread from outside does.
pub(crate) fn wait_inside(worker: &Worker<'_>, what: &dyn Wait) {
    if !worker.is_back() {
        return worker.wait(what);
    }
    worker.wait(&Back {
        what,
        outside: RefCell::new(Outside::new(worker.shared)),
    });
}

struct Back<'a> {
    what: &'a dyn Wait,
    outside: RefCell<Outside<'a>>,
}

impl Wait for Back<'_> {
    fn is_done(&self) -> bool {
        self.what.is_done()
    }

    fn find(&self, worker: &Worker<'_>) -> Option<Entry> {
        self.what.find(worker)
    }

    fn find_further(&self, worker: &Worker<'_>) -> Option<Entry> {
        // First tasks that were moved meanwhile: if the scope of such a task has no seat, no owner is told of
        // the task.
        let found = self.what.find(worker);
        let found = found.or_else(|| self.what.find_further(worker));
        if found.is_none() && worker.shared.has_work() {
            let mut outside = self.outside.borrow_mut();
            if outside.stands_still() {
                outside.call_help();
            }
        }
        found
    }

    fn helped(&self, worker: &Worker<'_>, each: &mut dyn FnMut(&Seat)) {
        self.what.helped(worker, each);
    }

    fn farther(&self, worker: &Worker<'_>) -> Option<Root> {
        self.what.farther(worker)
    }

    fn looks_far_at_once(&self) -> bool {
        self.what.looks_far_at_once()
    }

    fn leave_word(&self, parker: &'static Parker) -> bool {
        self.what.leave_word(parker)
    }

    fn take_back_word(&self) {
        self.what.take_back_word();
    }

    fn settle(&self) {
        self.what.settle();
    }
}

/// Waits for a scope that was opened by a thread that is no worker of the pool now.
pub(crate) fn wait_for_scope(shared: &Shared, tag: u64, count: &ScopeCount) {
    let latch = count.latch.latch();
    let back = Worker::come_back(shared, &mut |worker| {
        // Tasks that run here push others here.
        let lies = Lies::new(true);
        let what = ScopeWait::new(tag, count, &lies);
        wait_inside(worker, &what);
    });
    if !back {
        Worker::with(|elsewhere| match elsewhere {
            Some(worker) if latch.wakes(worker.seat.wait_parker()) => wait_abroad(worker, latch),
            Some(worker) => wait_beside(shared, worker, latch),
            None => wait_outside(shared, latch),
        });
    }
}

/// Waits for a latch that was made before the calling thread became this worker. The latch wakes a
/// parker other than the one that news of the seat wakes. So the thread looks at its own seat once
/// in a while for what only it may do.
#[cold]
fn wait_beside(shared: &Shared, worker: &Worker<'_>, latch: &Latch) {
    wait_meanwhile(shared, latch, || {
        worker.read_mail();
        while !latch.is_set() && worker.run_any() {}
    });
}

/// Waits for a latch that jobs of `shared` will set; the calling thread is no worker.
pub(crate) fn wait_outside(shared: &Shared, latch: &Latch) {
    wait_meanwhile(shared, latch, || ());
}

/// The same, and calls `look` once in a while. What is waited for may use the caller's frame.
fn wait_meanwhile(shared: &Shared, latch: &Latch, look: impl Fn()) {
    let guard = AbortOnUnwind;
    let mut outside = Outside::new(shared);
    while !latch.wait_for(LOOK) {
        look();
        if shared.has_work() && outside.stands_still() {
            outside.call_help();
        }
    }
    guard.disarm();
}

/// Waits for a task; the calling thread is no worker. `run` runs the part of the task that belongs
/// to the worker's pool, if no thread has begun it.
pub(crate) fn wait_for_task(task: &dyn Task, run: &dyn Fn()) {
    with_parker(|parker| {
        let mut pools = task.lies_in().map(|pool| pool.map(Outside::new));
        while task.leave_word(parker) {
            if parker.park_timeout(LOOK) {
                continue;
            }
            for (outside, lies) in pools.iter_mut().zip(task.lies_in()) {
                let Some((outside, shared)) = outside.as_mut().zip(lies) else {
                    continue;
                };
                if outside.stands_still() && !(may_visit(shared) && visit_spare(shared, |_| run()))
                {
                    outside.call_help();
                }
            }
        }
    });
}

/// A thread that waits for a pool of which it is no worker.
struct Outside<'a> {
    shared: &'a Shared,
    /// What the seats had come to at the last look, and when that was.
    seen: Option<u64>,
    at: u64,
    /// How many looks in a row found no progress, and how many of the last found every holder waiting.
    still: u32,
    waiting: u32,
    /// The spare threads that work meanwhile.
    help: Vec<Replaced<'a>>,
}

impl<'a> Outside<'a> {
    fn new(shared: &'a Shared) -> Self {
        Self {
            shared,
            seen: None,
            at: clock::now(),
            still: 0,
            waiting: 0,
            help: Vec::new(),
        }
    }

    /// Whether there is no free seat, and all seats are stuck as far as can be known. A seat
    /// without a thread does not count as free: nothing begins there unless an ordinary thread
    /// comes.
    fn stands_still(&mut self) -> bool {
        // A stale token may have cut the sleep short.
        let now = clock::now();
        if !clock::have_passed(clock::ticks(LOOK.as_nanos() as u64) / 2, self.at, now) {
            return false;
        }
        self.at = now;
        let seats = self.shared.seats.first();
        let held = || seats.iter().filter(|seat| seat.is_held());
        let vacant = seats.iter().filter(|seat| seat.is_vacant()).count();
        let stuck = held().count() > 0 && held().count() + vacant == seats.len();
        let count = |sum: u64, seat: &Seat| {
            sum.wrapping_add(u64::from(seat.begun()))
                .wrapping_add(seat.counters.guests.get())
        };
        let now = self.shared.seats.iter().fold(0, count);
        let before = self.seen.replace(now);
        if !stuck || before != Some(now) {
            (self.still, self.waiting) = (0, 0);
            return false;
        }
        self.still += 1;
        let doing = held().map(Seat::doing).max();
        let waiting = doing == Some(Doing::Waits);
        self.waiting = if waiting { self.waiting + 1 } else { 0 };
        match doing {
            Some(Doing::Waits) => self.waiting >= WAITING,
            Some(Doing::Runs) => self.still >= RUNNING,
            _ => self.still >= UNTOLD,
        }
    }

    /// Has one more spare thread work for as long as this lives.
    fn call_help(&mut self) {
        if self.help.len() < SPARES {
            self.help.push(Replaced::of(self.shared));
        }
        (self.seen, self.still, self.waiting) = (None, 0, 0);
    }
}
