//! `join`: two closures, perhaps at the same time.
//!
//! The second closure is pushed as a job, the first runs, and the job is popped again. In most
//! calls that is all: a store to the slot, a store to `bottom`, a compare, and the same for the
//! pop.

use super::pool::{self, ThreadPool};
use crate::base::clock;
use crate::base::stop;
use crate::base::unwind::{self, Payload};
use crate::pace::join_pace::{self, Offer, Push};
use crate::pace::join_trial::{self, Call, Ended};
use crate::pace::site_costs;
use crate::queue::job::StackJob;
use crate::queue::nested::{CAPACITY, Front, Nested, Pop};
use crate::queue::weight::Weight;
use crate::work::errand;
use crate::work::kin::PartWait;
use crate::work::under;
use crate::work::wait::Wait;
use crate::work::worker::{FOR_JOIN, Worker};
use std::ptr;

/// Says whether a closure of [`join_context`] runs on a thread other than the caller's.
///
/// ```
/// # use tine_pool as tine;
/// let (a, b) = tine::join_context(|c| c.migrated(), |c| c.migrated());
/// # let _ = (a, b);
/// ```
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
}

impl FnContext {
    /// Whether the closure runs on a thread other than the caller of [`join_context`]; true for
    /// both closures if the caller was no worker.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// tine::join_context(
    ///     |outer| assert!(outer.migrated(), "called from an ordinary thread"),
    ///     |_| tine::join_context(|inner| assert!(!inner.migrated()), |_| ()),
    /// );
    /// ```
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}

/// Runs two closures, at the same time if a thread is free, and returns both results.
///
/// If no other thread has begun `b` when `a` is done, `b` runs on this thread after `a`. So a join
/// inside a parallel call costs a few nanoseconds if no thread takes `b`, and may be used at every
/// level of a recursion. While the thread waits, it runs only parts of `b`, apart from the
/// exceptions on [the crate's page](crate). So no task of another call can meet a lock that is held
/// across this call.
///
/// # Panics
///
/// If a closure panics, the panic resumes in the caller once both have ended. If both panic, the
/// panic of `a` resumes.
///
/// ```
/// # use tine_pool as tine;
/// fn sum(values: &[u64]) -> u64 {
///     match values {
///         [] => 0,
///         [one] => *one,
///         _ => {
///             let (left, right) = values.split_at(values.len() / 2);
///             let (left, right) = tine::join(|| sum(left), || sum(right));
///             left + right
///         }
///     }
/// }
/// assert_eq!(sum(&[1, 2, 3, 4, 5]), 15);
/// ```
#[inline(always)]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_here(a, |_| b())
}

/// The caller's join.
#[inline(always)]
fn join_here<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce(bool) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let frame = ();
    let (front, whole) = Worker::front(&frame);
    let depth = front.depth();
    if !is_ready::<false, B, RB>(front, depth) {
        return join_elsewhere(a, b);
    }
    // SAFETY: there is room, so this front belongs to a worker.
    join_at::<false, _, _, _, _>(unsafe { Nested::behind(whole) }, depth, a, b)
}

/// The calling thread is no worker, or the join needs more care.
#[cold]
#[inline(never)]
fn join_elsewhere<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce(bool) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let _under = under::look();
    pool::in_worker(|worker, _| join_with_care::<false, _, _, _, _>(worker, a, b))
}

/// As [`join`], telling each closure whether it changed threads.
///
/// ```
/// # use tine_pool as tine;
/// let (a, b) = tine::join_context(|_| 1, |context| if context.migrated() { 2 } else { 2 });
/// assert_eq!(a + b, 3);
/// ```
#[inline]
pub fn join_context<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let _under = under::look();
    join_told(a, b)
}

/// The same for a join that no token ends.
#[inline]
pub(crate) fn join_told<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    pool::in_worker(|worker, injected| {
        let seat = worker.seat.index;
        // The owner may take back what other threads have moved; then it has not migrated.
        let elsewhere = || Worker::with(|worker| worker.is_none_or(|w| w.seat.index != seat));
        let a = || a(FnContext { migrated: injected });
        let b = |stolen| {
            b(FnContext {
                migrated: injected || stolen && elsewhere(),
            })
        };
        join_on::<false, _, _, _, _>(worker, a, b)
    })
}

impl ThreadPool {
    /// [`join`](crate::join) in this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.join(|| 1, || "two"), (1, "two"));
    /// ```
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let _under = under::look();
        errand::run_inside(self.shared(), |worker| {
            join_on::<false, _, _, _, _>(worker, a, |_| b())
        })
    }
}

/// The join of a worker; `PART` says whether it is one of a loop's course (`work/course.rs`), and its
/// second half a part of that.
#[inline(always)]
pub(crate) fn join_on<const PART: bool, A, B, RA, RB>(worker: &Worker<'_>, a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce(bool) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let nested = worker.nested();
    let depth = nested.depth();
    if !is_ready::<PART, B, RB>(nested, depth) {
        return join_with_care::<PART, _, _, _, _>(worker, a, b);
    }
    join_at::<PART, _, _, _, _>(nested, depth, a, b)
}

/// Whether a push at this depth needs no care.
#[inline(always)]
fn is_ready<const PART: bool, B, RB>(front: &Front, depth: usize) -> bool
where
    B: FnOnce(bool) -> RB + Send,
    RB: Send,
{
    if front.is_easy(depth) {
        return true;
    }
    unlikely();
    front.skips_check(depth, site::<PART, B, RB>())
}

/// The join of a worker, in the simple case. Most joins run only this and the two closures: all
/// that needs more care, or a wait, is out of line.
#[inline(always)]
fn join_at<const PART: bool, A, B, RA, RB>(nested: &Nested, depth: usize, a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce(bool) -> RB + Send,
    RB: Send,
{
    let job = StackJob::new(b);
    nested.push(depth, job.erase());
    finish::<PART, _, _, _, _>(nested, depth, &job, a)
}

/// Tells the compiler to lay out the branch that calls it apart from the common one.
#[cold]
#[inline]
fn unlikely() {}

/// The rest of a join whose second half has been pushed.
#[inline(always)]
fn finish<const PART: bool, A, B, RA, RB>(
    nested: &Nested,
    depth: usize,
    job: &StackJob<B, RB>,
    a: A,
) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce(bool) -> RB + Send,
    RB: Send,
{
    // The job must not outlive its frame. And it must not run while this thread unwinds: its closure would see that
    // (`thread::panicking`), and a panic of its own would poison no lock.
    match unwind::catch(a) {
        Ok(ra) => (ra, end::<PART, _, _>(nested, depth, job)),
        Err(panic) => first_panicked(nested, depth, job, panic),
    }
}

/// The address by which the ledger knows the joins of these closures.
#[inline(always)]
fn site<const PART: bool, B, RB>() -> usize
where
    B: FnOnce(bool) -> RB + Send,
    RB: Send,
{
    wait::<PART, B, RB> as fn(usize, &StackJob<B, RB>) -> RB as usize
}

/// A join at an outermost depth, or while a thread waits for work, or without room.
#[cold]
#[inline(never)]
fn join_with_care<const PART: bool, A, B, RA, RB>(worker: &Worker<'_>, a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce(bool) -> RB + Send,
    RB: Send,
{
    let nested = worker.nested();
    let depth = nested.depth();
    if depth >= CAPACITY {
        return in_sequence(a, b);
    }
    // Under a token, a simple join comes here as well.
    let ready = is_ready::<PART, B, RB>(nested, depth);
    let job = StackJob::new(b);
    nested.push(depth, job.erase());
    let timed = match ready {
        true => 0,
        false => consider(worker, depth, site::<PART, B, RB>()),
    };
    let both = finish::<PART, _, _, _, _>(nested, depth, &job, a);
    if timed != 0 {
        let first = depth == worker.seat.base();
        ended(worker, site::<PART, B, RB>(), timed, first);
    }
    both
}

/// A timed call, which began at `start`, has ended.
#[cold]
#[inline(never)]
fn ended(worker: &Worker<'_>, site: usize, start: u64, first: bool) {
    let ticks = clock::since(start);
    join_pace::record(site, ticks, first);
    if first && let Some((call, wanted)) = worker.seat.notes.tried.end(start) {
        tried(worker, site, call, (start, clock::nanos(ticks)), wanted);
    }
}

/// A call on trial, which began at `start`, has ended and took `nanos`. `wanted` says whether a
/// thread asked for work when it began.
#[inline(never)]
fn tried(worker: &Worker<'_>, site: usize, call: Call, (start, nanos): (u64, u64), wanted: bool) {
    let notes = &worker.seat.notes;
    // While a thread asks for work, joins that follow each other closely are looked at every few microseconds.
    let looked = notes.rhythm.looked_at() != start;
    let is_flat = call.limit > 0 && wanted && !looked && join_pace::is_long(nanos);
    let ended = match is_flat {
        true => Ended::Flat,
        false => Ended::After(nanos),
    };
    join_trial::end(site, call, ended, notes.random());
}

/// A job was pushed at `depth` by the join `site`: does what the pace says. Gives the time if the
/// call is to be timed, else 0.
#[cold]
#[inline(never)]
fn consider(worker: &Worker<'_>, depth: usize, site: usize) -> u64 {
    let (nested, notes) = (worker.nested(), &worker.seat.notes);
    let (wanted, first) = (nested.is_wanted(), depth == worker.seat.base());
    let watched = || worker.shared.is_watched(Some(worker.seat));
    let alone = !first && notes.tried.is_kept() && watched();
    let (now, (brisk, skips)) = match (wanted || alone, first) {
        (_, true) => (clock::now(), (false, 0)),
        (true, false) => look(worker, site),
        (false, false) => (0, (false, 0)),
    };
    let alone = if first {
        notes.tried.forget();
        let alone = !site_costs::is_short(site) && try_one(worker, site, now, wanted);
        if wanted || alone {
            notes.rhythm.begin(site, now);
        }
        alone
    } else {
        alone
    };
    let push = Push {
        site,
        first,
        outermost: nested.is_outermost(depth),
        wanted,
        brisk,
        alone,
    };
    let timed = match join_pace::decide(push, watched) {
        Offer::Everything { timed } => {
            worker.publish(usize::MAX);
            worker.wake(FOR_JOIN);
            timed
        }
        Offer::Part { timed } if first => {
            notes.answered.set(now);
            timed
        }
        Offer::Part { timed } => {
            if !alone {
                answer(worker, now);
            }
            nested.skip_checks(site, skips);
            notes.rhythm.skip(skips);
            timed
        }
        Offer::Nothing { timed, .. } if alone => {
            // The job stays private for a limited time.
            nested.skip_checks(site, skips);
            notes.rhythm.skip(skips);
            timed
        }
        Offer::Nothing { skips, timed } => {
            nested.skip_checks(site, skips);
            timed
        }
    };
    match (timed, first) {
        (false, _) => 0,
        (true, true) => now,
        (true, false) => clock::now(),
    }
}

/// The first join of a job begins. If the call is on trial, says whether it is kept on this thread.
#[inline(never)]
fn try_one(worker: &Worker<'_>, site: usize, now: u64, wanted: bool) -> bool {
    if !(worker.is_in_whole_call() && worker.shared.is_watched(Some(worker.seat))) {
        return false;
    }
    let notes = &worker.seat.notes;
    let crowded = match worker.shared.len() > 1 && worker.is_crowded() {
        true => join_trial::crowded(site),
        false => None,
    };
    let call = crowded.unwrap_or_else(|| join_trial::begin(site, notes.random()));
    notes.tried.begin(call, now, wanted);
    if call.limit > 0 {
        // In case one half waits for the other, the looker should come soon.
        worker.shared.hurry_looker();
    }
    call.limit > 0
}

/// A thread asks for work, or the call is kept on this thread: returns the time, and what the
/// owner's rhythm says.
#[cold]
#[inline(never)]
fn look(worker: &Worker<'_>, site: usize) -> (u64, (bool, u32)) {
    let now = clock::now();
    (now, worker.seat.notes.rhythm.look(site, now))
}

/// A thread asked for work: gives it the outermost quarter of what is private, unless the last
/// answer was only just given. (A job that has only just begun counts as an answer.)
#[cold]
#[inline(never)]
fn answer(worker: &Worker<'_>, now: u64) {
    let (nested, notes) = (worker.nested(), &worker.seat.notes);
    if !join_pace::is_due(now, notes.answered.get()) {
        return;
    }
    notes.answered.set(now);
    nested.take_request();
    worker.publish(join_pace::part(nested.private()));
    worker.wake_one();
    if worker.shared.sleep.census().sleeping() > 0 {
        // Taken down first, read afterwards: a sleeper registers first and asks afterwards.
        nested.want();
    }
}

/// A join for loops, which know what they give away: its second half is public at once, with a thread
/// woken for it if one sleeps, or (not `open`) private until it is wanted or this thread is stuck. It is
/// for others alone: where no thread takes it, it is called with `false`, or, without a worker or room,
/// not at all. `weight` is about how much work it is, if that is known. `part` makes it, of the loop whose course runs here.
///
/// Of this, a program holds for each `a` only the push and the pop.
#[inline(always)]
pub(crate) fn share<A, B, RA>(
    open: bool,
    weight: Option<Weight>,
    a: A,
    part: impl FnOnce(*mut ()) -> B,
) -> RA
where
    A: FnOnce() -> RA,
    B: FnOnce(bool) + Send,
{
    let frame = ();
    let (front, whole) = Worker::front(&frame);
    let depth = front.depth();
    let place = if depth < CAPACITY {
        // SAFETY: there is room, so this front belongs to a worker.
        Some((unsafe { Nested::behind(whole) }, depth))
    } else {
        look_for_room(&frame)
    };
    let course = place.map_or(ptr::null_mut(), |(nested, _)| nested.course());
    let job = StackJob::new(part(course));
    if let Some((nested, depth)) = place {
        if weight.is_some() {
            nested.weights().set(depth, weight);
        }
        nested.push(depth, job.erase());
    }
    if open {
        open_all();
    }
    // As in `finish`.
    let Some((nested, depth)) = place else {
        return a();
    };
    let first = unwind::catch(a);
    if weight.is_some() {
        nested.weights().set(depth, None);
    }
    match first {
        Ok(ra) => {
            end::<true, _, _>(nested, depth, &job);
            ra
        }
        Err(panic) => first_panicked(nested, depth, &job, panic),
    }
}

/// The place for a push where the front shows no room. Under a token the front shows none even if
/// there is some.
#[cold]
#[inline(never)]
fn look_for_room(frame: &()) -> Option<(&Nested, usize)> {
    let nested = Worker::nested_here(frame)?;
    let depth = nested.depth();
    (depth < CAPACITY).then_some((nested, depth))
}

/// The end of a join whose first half has ended.
#[inline(always)]
fn end<const PART: bool, B, RB>(nested: &Nested, depth: usize, job: &StackJob<B, RB>) -> RB
where
    B: FnOnce(bool) -> RB + Send,
    RB: Send,
{
    if let Pop::Mine = nested.pop(depth) {
        // SAFETY: popped, so no other thread has it or ever will.
        let b = unsafe { job.take_body() };
        b(false)
    } else {
        wait::<PART, _, _>(depth, job)
    }
}

/// Publishes what this thread has pushed, and wakes a thread for it.
#[cold]
#[inline(never)]
fn open_all() {
    Worker::with(|worker| {
        if let Some(worker) = worker {
            worker.publish(usize::MAX);
            worker.wake_one();
        }
    });
}

/// The stack is so deep that nothing more can be pushed.
#[cold]
fn in_sequence<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce(bool) -> RB,
{
    match unwind::catch(a) {
        Ok(ra) => (ra, b(false)),
        Err(panic) => go_on(panic, || second(b)),
    }
}

/// Waits for the stolen half.
#[cold]
#[inline(never)]
fn wait<const PART: bool, B, RB>(depth: usize, job: &StackJob<B, RB>) -> RB
where
    B: FnOnce(bool) -> RB + Send,
    RB: Send,
{
    match wait_for_result::<PART, _, _>(depth, job) {
        Ok(result) => result,
        Err(panic) => stop::resume(panic),
    }
}

fn wait_for_result<const PART: bool, B, RB>(
    depth: usize,
    job: &StackJob<B, RB>,
) -> Result<RB, Payload>
where
    B: FnOnce(bool) -> RB + Send,
    RB: Send,
{
    match PART {
        true => wait_until_done(depth, &PartWait(job.head())),
        false => wait_until_done(depth, job.head()),
    }
    // SAFETY: Done, and each job is waited for once.
    unsafe { job.take_result() }
}

/// Waits for the job at `depth`, which was stolen, whatever its types.
#[cold]
#[inline(never)]
fn wait_until_done(depth: usize, what: &dyn Wait) {
    Worker::with(|worker| match worker {
        Some(worker) => {
            worker.wait(what);
            worker.nested().retire(depth);
        }
        None => unreachable!("a job was pushed by no worker"),
    });
}

/// The first closure has panicked: runs the second or waits for it.
#[cold]
#[inline(never)]
fn first_panicked<F, R>(nested: &Nested, depth: usize, job: &StackJob<F, R>, panic: Payload) -> !
where
    F: FnOnce(bool) -> R + Send,
    R: Send,
{
    go_on(panic, || match nested.pop(depth) {
        // SAFETY: popped, so no other thread has it or ever will.
        Pop::Mine => second(unsafe { job.take_body() }),
        Pop::Stolen => wait_for_result::<false, _, _>(depth, job).map(Some),
    })
}

/// Calls the second closure after the first has panicked. If its computation is to stop, it is dropped like a task that has not
/// begun.
fn second<R>(body: impl FnOnce(bool) -> R) -> Result<Option<R>, Payload> {
    if stop::is_under() && stop::requested() {
        unwind::catch(|| drop(body)).map(|()| None)
    } else {
        unwind::catch(|| body(false)).map(Some)
    }
}

/// Goes on with the panic of the first closure once `second` has been called. Neither a panic of that nor one of its result's
/// destructor must hide the first.
fn go_on<R>(panic: Payload, second: impl FnOnce() -> Result<Option<R>, Payload>) -> ! {
    let chain = stop::innermost();
    let set_aside = |second| stop::set_aside(chain.as_ref(), &panic, second);
    stop::noting_nothing(|| {
        let result = second();
        if let Err(second) = unwind::catch(|| drop(result.map_err(set_aside))) {
            set_aside(second);
        }
    });
    stop::resume(panic)
}
