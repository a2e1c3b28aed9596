//! The holder of a seat: which thread it is, what it pushes and runs. `find.rs` says what it takes,
//! `wait.rs` how it waits, and `idle.rs` what the threads of a pool do between jobs.

use super::shared::Shared;
use crate::base::barrier;
use crate::base::clock;
use crate::base::park::Parker;
use crate::base::stop;
use crate::base::sync::{Ordering, fence};
use crate::base::trace::{self, Act, What};
use crate::base::unwind::AbortOnUnwind;
use crate::queue::job::{self, HeapJob, Taken};
use crate::queue::nested::{CAPACITY, Front, Nested, Won};
use crate::queue::spawned::Entry;
use crate::seat::Seat;
use crate::seat::context::{CallOf, Course};
use crate::seat::sleep::Census;
use crate::seat::tokens::Tokens;
use crate::seat::word::Holder;
use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicPtr;

/// How many threads may be on their way for each that is at work, as far as a loop or a join wakes
/// them. A woken thread takes long to come, and wakes others only once it has come. So a large pool
/// is at work sooner if each thread wakes several. A loop knows what it has left, a join only that
/// it is not short.
pub(crate) const FOR_LOOP: usize = 4;
pub(crate) const FOR_JOIN: usize = 2;

thread_local! {
    static CURRENT: Cell<*const Worker<'static>> = const { Cell::new(ptr::null()) };
    /// The front of the current worker's stack of jobs: all that most joins need of it.
    static FRONT: Cell<*const Front> = const { Cell::new(&NO_ROOM) };
    /// The pools in which this thread holds a seat while it is no worker there.
    static ASIDE: Cell<*const Aside> = const { Cell::new(ptr::null()) };
}

/// What a thread sees that is no worker: a stack without room.
static NO_ROOM: Front = Front::full();

/// One thread on one seat.
#[derive(Debug)]
pub(crate) struct Worker<'a> {
    pub(crate) seat: &'a Seat,
    pub(crate) shared: &'a Shared,
    /// Whether this is an ordinary thread on another thread's seat.
    pub(crate) guest: bool,
}

/// Makes a worker current for as long as it lives.
#[derive(Debug)]
struct Sitting(*const Worker<'static>, *const Front);

impl Sitting {
    fn new(worker: &Worker<'_>) -> Self {
        Self(
            CURRENT.replace(ptr::from_ref(worker).cast()),
            FRONT.replace(front_of(worker)),
        )
    }

    /// Makes the calling thread no worker at all for as long as it lives.
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

/// What joins on this thread see: where they are to look at a token, a stack without room.
fn front_of(worker: &Worker<'_>) -> *const Front {
    if stop::is_under() {
        return &NO_ROOM;
    }
    ptr::from_ref(worker.nested()).cast()
}

/// The worker that the thread stands aside from, whose seat it keeps, and the one before it.
struct Aside {
    worker: *const Worker<'static>,
    outer: *const Aside,
}

impl Drop for Aside {
    fn drop(&mut self) {
        ASIDE.set(self.outer);
    }
}

/// What a job is a part of, in a word: of a scope, by the seat on which it was opened and the stamp that it got
/// there; of a call from outside; or of the job that has pushed it, by where it lay when it was stolen.
pub(crate) mod tag {
    use crate::base::sync::AtomicU64;
    use crate::base::sync::Ordering;
    use crate::queue::nested::CAPACITY;

    const BITS: u32 = 48;
    const STAMP: u64 = (1 << BITS) - 1;
    const NO_SEAT: u64 = 0xffff;
    const STOLEN: u64 = 0xfffe;
    const ERRAND: u64 = 0xfffd;
    /// Of a stolen job, from the lowest bit on: whether there are tokens, the depth, the seat.
    const DEPTH: u32 = 15;

    pub(crate) fn new(seat: usize, stamp: u64) -> u64 {
        (seat as u64 + 1) << BITS | stamp & STAMP
    }

    /// A new one for something that a thread begins which holds no seat.
    pub(crate) fn outside() -> u64 {
        serial(NO_SEAT)
    }

    fn serial(kind: u64) -> u64 {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        kind << BITS | SERIAL.fetch_add(1, Ordering::Relaxed) & STAMP
    }

    /// The same for a call that a thread brings to the pool.
    pub(crate) fn errand() -> u64 {
        serial(ERRAND)
    }

    /// Whether that is a call from outside or a task of a scope, and no part of a call of joins or of a loop.
    pub(crate) fn is_whole(tag: u64) -> bool {
        !matches!(tag >> BITS, 0 | STOLEN)
    }

    /// Whether that is no part of a scope.
    pub(crate) fn is_alone(tag: u64) -> bool {
        tag == 0 || matches!(tag >> BITS, STOLEN | ERRAND)
    }

    /// The tag of a nested job that was stolen from that seat, where it lay at that depth; `under` says whether jobs work
    /// under tokens there.
    pub(crate) fn stolen(seat: usize, depth: usize, under: bool) -> u64 {
        const { assert!(CAPACITY <= 1 << DEPTH) };
        STOLEN << BITS | (seat as u64) << (DEPTH + 1) | (depth as u64) << 1 | u64::from(under)
    }

    /// The seat and the depth, if it is such a tag.
    pub(crate) fn is_stolen(tag: u64) -> Option<(usize, usize)> {
        let depth = (tag >> 1) & ((1 << DEPTH) - 1);
        let seat = (tag & STAMP) >> (DEPTH + 1);
        (tag >> BITS == STOLEN).then_some((seat as usize, depth as usize))
    }

    /// Whether it is such a tag, of a seat where jobs work under tokens.
    #[inline(always)]
    pub(crate) fn is_under(tag: u64) -> bool {
        tag >> BITS == STOLEN && tag & 1 == 1
    }

    /// The seat it was opened on, if it is a scope's, and on a seat.
    pub(crate) fn home(tag: u64) -> Option<usize> {
        match tag >> BITS {
            0 | NO_SEAT | STOLEN | ERRAND => None,
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

    /// The front of the current worker's stack of jobs; if there is no worker, it says that there is no
    /// room. The second result says where the whole stack is, if there is one: see
    /// [`Nested::behind`]. Neither outlives the caller's frame.
    #[inline(always)]
    pub(crate) fn front(_frame: &()) -> (&Front, *const Front) {
        let front = FRONT.get();
        // SAFETY: the front of a static, or of the seat of the current worker: see `with`.
        (unsafe { &*front }, front)
    }

    /// The current worker's stack of jobs, whatever its front shows. It does not outlive the caller's
    /// frame.
    pub(crate) fn nested_here(_frame: &()) -> Option<&Nested> {
        // SAFETY: see `with`; the frame is above the one that keeps the worker.
        let worker = unsafe { CURRENT.get().as_ref() };
        worker.map(|worker| worker.nested())
    }

    /// Shows joins what fits the tokens that the calling thread works under now.
    pub(crate) fn show_front() {
        Worker::with(|worker| FRONT.set(worker.map_or(&raw const NO_ROOM, front_of)));
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
        if stop::is_bound() {
            return self.sit_under(op);
        }
        op(self)
    }

    /// What the thread works under goes with it to the seat.
    #[cold]
    fn sit_under<R>(&self, op: impl FnOnce(&Self) -> R) -> R {
        struct Stretch<'s>(&'s Tokens);
        impl Drop for Stretch<'_> {
            fn drop(&mut self) {
                self.0.pop();
            }
        }
        let tokens = &self.seat.tokens;
        tokens.push(self.nested().depth(), stop::to_go_on_with());
        let _stretch = Stretch(tokens);
        op(self)
    }

    /// Runs `op` with no worker as the current one. The seat stays as it is.
    pub(crate) fn stand_aside<R>(&self, op: impl FnOnce() -> R) -> R {
        debug_assert!(self.nested().private() == 0, "private work is left alone");
        let _nowhere = Sitting::nowhere();
        let aside = Aside {
            worker: ptr::from_ref(self).cast(),
            outer: ASIDE.get(),
        };
        ASIDE.set(&raw const aside);
        op()
    }

    /// Runs `op` on the seat of that pool from which the calling thread stands aside; it is no
    /// worker of the pool now. False if there is no such seat.
    ///
    /// No other thread has the seat, and nothing is private there. So this is as if the thread had called `op` before
    /// it stood aside. If it is a worker of another pool, what it has pushed there is open to all meanwhile, and it stands
    /// aside from that seat too: a call of that pool inside `op` comes back there.
    #[cold]
    pub(super) fn come_back(shared: &Shared, op: &mut dyn FnMut(&Worker<'_>)) -> bool {
        let Some(worker) = aside_from(Some(shared)) else {
            return false;
        };
        // SAFETY: in a frame below this one, which is not left while `op` runs.
        let worker = unsafe { &*worker };
        Self::with(|elsewhere| match elsewhere {
            Some(elsewhere) => {
                if elsewhere.nested().private() > 0 {
                    elsewhere.publish(CAPACITY);
                    elsewhere.shared.announce();
                }
                elsewhere.stand_aside(|| worker.sit_again(op));
            }
            None => worker.sit_again(op),
        });
        true
    }

    /// Runs `op` on this seat, from which the calling thread stands aside.
    fn sit_again(&self, op: &mut dyn FnMut(&Worker<'_>)) {
        if self.seat.tokens.is_empty() {
            self.sit(|worker| op(worker));
        } else {
            // What is done now may run under other tokens than the seat.
            let _sitting = Sitting::new(self);
            self.sit_under(|worker| op(worker));
        }
    }

    /// Whether this thread is back on the seat that it stands aside from.
    #[cold]
    pub(super) fn is_back(&self) -> bool {
        let me = ptr::from_ref(self).cast();
        aside_from(Some(self.shared)).is_some_and(|worker| ptr::eq(worker, me))
    }

    // ---- pushing ----------------------------------------------------------------------------

    /// Pushes a job that belongs to the scope `tag`, or to none (0), without a word to any thread;
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
    /// The job lives until it is run, and `job` is handed to no other thread.
    pub(crate) unsafe fn push_spawned(&self, job: *mut (), tag: u64) {
        self.put(Entry { job, tag });
    }

    /// Puts a job that this worker has into its seat's deque.
    pub(super) fn put(&self, entry: Entry) {
        self.seat.spawning.set(1);
        // SAFETY: this worker holds the seat.
        unsafe { self.seat.spawned.push(entry) };
    }

    /// Tells the threads that may run a task which this worker has just pushed: sleepers, and those that
    /// wait for what is under way here, of which the task may be a piece.
    pub(crate) fn announce_task(&self) {
        let shared = self.shared;
        if !shared.sleep.lull.lasts(&self.seat.membership) {
            self.announce_to_sleepers();
        }
        // The fence in `post` pairs with the fences of waiters, and with the fence in `Abroad::go`. In a lull,
        // the barrier that these make all threads pass takes its place.
        shared.abroad.tell();
        shared.wake_waiters(self.seat);
    }

    fn announce_to_sleepers(&self) {
        let sleep = &self.shared.sleep;
        // The thread below a guest sleeps, and cannot come: looking for a seat to wake would be in vain for
        // each task. When the guest leaves, that thread gets what is left here.
        let sleeps = || self.sleepers(sleep.census()) > 0;
        let wanted = sleep.post(self.shared.len()) && sleeps();
        if wanted {
            self.shared.wake_one_after(self.seat.index, 1, || ());
        }
        let mine = &self.seat.membership;
        sleep.lull.consider(mine, wanted, barrier::is_there, sleeps);
    }

    /// The loop whose course runs here, on top of all else.
    pub(super) fn course(&self) -> Option<&Course> {
        let course = self.nested().course().cast::<Course>();
        // SAFETY: alive: the pointer is null, or was set by the loop's root or by a thief of a part of the
        // loop, and taken back before either ends; the root's frame keeps the course until all parts are done.
        unsafe { course.as_ref() }
    }

    /// In how many calls of the loop `site` this worker is, as far as the last loops that began tell.
    #[inline]
    pub(crate) fn calls_of(&self, site: usize) -> usize {
        match self.nested().course().is_null() {
            true => 0,
            false => self.count_calls_of(site),
        }
    }

    #[inline(never)]
    fn count_calls_of(&self, site: usize) -> usize {
        self.call_of(site).map_or(0, |call| call.depth() + 1)
    }

    /// The innermost call of the loop `site` that this worker is in, as far as the last loops that began tell.
    #[inline]
    pub(crate) fn call_of(&self, site: usize) -> Option<&CallOf> {
        /// Loops may call each other in turn, this number of them.
        const TURNS: usize = 3;
        let mut course = self.course();
        for _ in 0..TURNS {
            match course {
                Some(of) if of.call.site == site => return Some(&of.call),
                // SAFETY: as above: the outer course was on top of the stack on which this course's root began.
                // So its own root, or a part that its root waits for, lies lower there and ends later.
                Some(of) => course = unsafe { of.outer.as_ref() },
                None => break,
            }
        }
        None
    }

    /// Makes nested jobs public, the outermost first, and tells the threads that wait for them.
    pub(crate) fn publish(&self, count: usize) {
        let published = self.nested().publish(count);
        if published > 0 {
            self.seat.counters.published.add(published as u64);
            trace::moment(self.seat.index, What::Offer(published));
            // SeqCst: pairs with the fences of threads that go to sleep and of waiters.
            fence(Ordering::SeqCst);
            self.shared.wake_waiters(self.seat);
        }
    }

    /// How many threads sleep that could come to help here: not the one below this guest.
    pub(crate) fn sleepers(&self, census: Census) -> usize {
        let below = self.guest && self.seat.word.load().holder() == Holder::Guest;
        census.sleeping().saturating_sub(usize::from(below))
    }

    /// Whether as many calls of ordinary threads are under way as there are threads, or nearly: then none
    /// is free for a part of what this worker does. It is seen only from a guest's seat, or while errands wait.
    pub(crate) fn is_crowded(&self) -> bool {
        let seats = self.shared.seats.first();
        // Relaxed: a guess.
        let errands = self.shared.errands.load(Ordering::Relaxed);
        let few = errands + (seats.len() - 1) / 8;
        let free = |seat: &&Seat| !seat.word.load().is_visited();
        (self.guest || errands > 0) && seats.iter().filter(free).nth(few).is_none()
    }

    /// Wakes a thread for work on offer here, if one sleeps and too few search, and notes what that
    /// cost.
    pub(crate) fn wake_one(&self) {
        self.wake(1);
    }

    /// The same, where up to `each` threads may be on their way for each thread at work, because what they come for
    /// is known to be worth it.
    pub(crate) fn wake(&self, each: usize) {
        let shared = self.shared;
        let census = shared.sleep.census();
        if census.wants_more(shared.len(), each) && self.sleepers(census) > 0 {
            let start = clock::now();
            if shared.wake_one_after(self.seat.index, each, || shared.wakes.ring_at(start)) {
                let cost = clock::nanos(clock::since(start));
                shared.wakes.record_cost(cost);
                self.seat.counters.wakes.add(1);
            }
        }
    }

    /// Whether nothing is pushed here, and what this worker does is no part of a loop or of a scope. The closures of a broadcast are
    /// each for a thread of their own.
    pub(crate) fn is_at_bottom(&self) -> bool {
        let context = self.seat.own_context();
        let alone = || tag::is_alone(context.tag) || context.since == self.seat.notes.letter.get();
        self.nested().depth() == 0 && context.course == 0 && alone()
    }

    /// What this worker has begun is a closure of a broadcast, if it has that tag.
    pub(crate) fn begin_letter(&self, tag: u64) {
        let context = self.seat.own_context();
        if context.tag == tag {
            self.seat.notes.letter.set(context.since);
        }
    }

    /// Whether a join that is called here now is an outermost one, as far as is easily seen: those of a thief are not.
    /// The job that runs here has pushed nothing.
    pub(crate) fn is_in_whole_call(&self) -> bool {
        let context = self.seat.own_context();
        match tag::is_whole(context.tag) {
            true => true,
            // A guest whose call it is, or a thief.
            false => context.course == 0 && self.guest && self.nested().depth() <= 1,
        }
    }

    /// A tag for a scope that this worker opens.
    pub(crate) fn open_scope(&self) -> u64 {
        tag::new(self.seat.index, self.seat.notes.next_stamp())
    }

    // ---- running ----------------------------------------------------------------------------

    /// Runs a job that is not a piece of what lies below it on the stack.
    pub(crate) fn run(&self, entry: Entry) {
        let on_top = &self.seat.notes.on_top;
        on_top.set(on_top.get() + 1);
        self.run_job(entry);
        on_top.set(on_top.get() - 1);
        // What lies below on the stack may take long.
        self.seat.kept.settle();
    }

    /// Runs a job with nothing below it on the stack. Counts of its scope may be kept for the next one:
    /// [`Kept::settle`](crate::queue::kept::Kept::settle) is to follow before anything else is done.
    pub(super) fn run_in_turn(&self, entry: Entry) {
        // A spare thread may step down after any job.
        if self.shared.is_spare(self.seat) {
            return self.run(entry);
        }
        self.seat.kept.keeping(|| self.run_job(entry));
    }

    #[inline]
    fn run_job(&self, entry: Entry) {
        self.seat.kept.turn_to(entry.tag);
        if tag::is_under(entry.tag) || !self.seat.tokens.is_empty() {
            return self.run_apart(entry);
        }
        self.run_plainly(entry);
    }

    /// The same where no tokens come into it.
    #[inline(always)]
    pub(super) fn run_plainly(&self, entry: Entry) {
        let seat = self.seat;
        let _span = trace::span(seat.index, Act::Run);
        let (inner, covered) = seat.begin(entry.tag);
        let by = Taken {
            seat: seat.index,
            base: inner.base,
            since: inner.since,
        };
        // A thread that waits for this job may find no work other than pieces of it.
        let lifted = seat.nested.lift(inner.base);
        // Before the job, so that a thread that waits for the job finds it counted.
        seat.counters.jobs.add(1);
        let guard = AbortOnUnwind;
        // SAFETY: entries come out of deques and queues, each to one taker.
        unsafe { job::execute(entry.job, by) };
        guard.disarm();
        debug_assert!(
            seat.nested.depth() == inner.base,
            "a job left nested jobs behind"
        );
        seat.nested.lower(lifted);
        seat.end(covered);
    }

    /// What a job that starts here and now says of itself.
    pub(crate) fn here(&self) -> Taken {
        // Scopes that were opened before this belong to another job: hence a new stamp. And what is public now
        // does not belong to this job: hence the new context.
        let since = self.seat.notes.next_stamp();
        self.nested().change_context();
        Taken {
            seat: self.seat.index,
            base: self.nested().depth(),
            since,
        }
    }

    /// Runs the job spawned last on this seat; says whether there was one.
    pub(crate) fn run_own(&self) -> bool {
        self.take_own().map(|entry| self.run(entry)).is_some()
    }

    /// Runs any job; says whether there was one.
    pub(crate) fn run_any(&self) -> bool {
        self.take_any().map(|entry| self.run(entry)).is_some()
    }
}

/// A job that was stolen out of a stack of nested jobs. Its tag says whether there are tokens to ask for.
pub(crate) fn nested_entry(won: Won, victim: &Seat) -> Entry {
    Entry {
        job: won.job,
        tag: tag::stolen(victim.index, won.depth, !victim.tokens.is_empty()),
    }
}

/// Whether the calling thread holds a seat that it stands aside from: in that pool, or (`None`) in
/// any.
#[inline]
pub(crate) fn is_aside(of: Option<&Shared>) -> bool {
    aside_from(of).is_some()
}

/// What the calling thread sleeps on when it is back on that seat.
pub(super) fn parker_aside(of: &Shared) -> Option<&'static Parker> {
    let worker = aside_from(Some(of))?;
    // SAFETY: in a frame below this one.
    Some(unsafe { &*worker }.seat.wait_parker())
}

/// The worker that it was there. It lives at least as long as the caller's frame.
#[inline]
fn aside_from(of: Option<&Shared>) -> Option<*const Worker<'static>> {
    let mut at = ASIDE.get();
    // SAFETY: each is in a frame below this one, and takes itself out of the list before it goes.
    while let Some(aside) = unsafe { at.as_ref() } {
        // SAFETY: it stood aside in that frame, and so is in one below it.
        let worker = unsafe { &*aside.worker };
        if of.is_none_or(|shared| worker.is_of(shared)) {
            return Some(aside.worker);
        }
        at = aside.outer;
    }
    None
}

/// After a fork, in the child: whatever pool its only thread worked for, that has no threads
/// here.
pub(crate) fn forget_pool() {
    leave_for_good();
}

/// Makes the calling thread the holder of a seat until [`leave_for_good`]; false if it works for
/// a pool already.
pub(crate) fn join_for_good(shared: &Arc<Shared>, index: usize) -> bool {
    if Worker::with(|worker| worker.is_some()) || is_aside(None) {
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
    worker.begin_under();
    // Kept for ever, since other destructors of the thread may still use the pool. The list only
    // shows leak detectors where they are. It has no lock: a child that was forked while another
    // thread held it would wait for ever.
    struct Kept {
        _worker: &'static Worker<'static>,
        _next: *mut Kept,
    }
    static ALL: AtomicPtr<Kept> = AtomicPtr::new(ptr::null_mut());
    let mut last = ALL.load(Ordering::Relaxed);
    let kept = Box::leak(Box::new(Kept {
        _worker: worker,
        _next: last,
    }));
    // Relaxed: no thread reads what is there.
    while let Err(other) = ALL.compare_exchange(last, kept, Ordering::Relaxed, Ordering::Relaxed) {
        kept._next = other;
        last = other;
    }
    true
}

/// Ends what [`join_for_good`] began.
pub(crate) fn leave_for_good() {
    CURRENT.set(ptr::null());
    FRONT.set(&NO_ROOM);
}
