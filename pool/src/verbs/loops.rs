//! Loops: the pace as a loop asks for it, and the joins that it is made of.
//!
//! This is for `tine-iter` and not part of the promised interface.
#![forbid(unsafe_code)]

use super::here::Here;
use super::join;
use super::pool;
use crate::base::clock;
use crate::base::stop;
use crate::pace::loop_pace::{self, View};
use crate::pace::start;
use crate::pace::whole;
use crate::queue::weight::Weight;
use crate::work::under;
use crate::work::worker::{FOR_LOOP, Worker};
use std::mem::ManuallyDrop;
use std::sync::atomic::AtomicPtr;

pub use super::sites::{Call, Site, Timer, few};
pub use crate::base::barrier::barrier_everywhere;
pub use crate::base::clock::{micros, ticks};
pub use crate::pace::loop_pace::{Bare, Step};

/// A call of a loop that begins.
#[derive(Debug)]
pub struct Start(start::Start);

impl Start {
    /// A call of the loop `site`, of `len` items; for `worth` see [`Pace::set_kind`].
    /// If it `tries`, a short loop at a site where sharing was in vain is not shared for now, and
    /// the caller must call [`Pace::conclude`] at its end.
    #[must_use]
    #[inline(never)]
    pub fn new(site: Site, len: usize, worth: u64, tries: bool) -> Self {
        let (entry, inner) = (site.entry, site.call.depth() > 0);
        let call = start::Call {
            entry,
            len,
            worth,
            tries,
            inner,
            threads: site.threads,
        };
        Here::with(|here| Self(start::Start::new(&call, here)))
    }

    /// If the loop is known to be very short: the number of pieces in which it is laid out. Each piece is then one block.
    #[must_use]
    #[inline]
    pub fn plain(&self) -> Option<usize> {
        self.0.plain()
    }

    /// Whether such a loop is to be timed, by [`Self::overturns`] and [`Self::record`].
    #[must_use]
    #[inline]
    pub fn is_timed(&self) -> bool {
        self.0.is_timed()
    }

    /// All `len` items of a plain loop have been run.
    pub fn record(&self, len: usize) {
        self.0.record(len);
    }

    /// Whether the first `items` of a plain loop took so long that it is no longer plain: then the rest is run like any
    /// other loop.
    pub fn overturns(&mut self, items: usize) -> bool {
        self.0.overturns(items)
    }

    /// What a thread needs to know to take over a part.
    #[must_use]
    pub fn seed(&self) -> Seed {
        Seed(self.0.seed())
    }

    /// The pace at which it is run, unless it is plain.
    #[must_use]
    pub fn pace(&self) -> Pace {
        Pace(self.0.pace())
    }
}

/// The pace of one loop on one contiguous piece.
#[derive(Debug)]
pub struct Pace(loop_pace::Pace);

/// What the pace was before a part of a loop was offered to others.
#[derive(Debug, Clone, Copy)]
pub struct Laid(loop_pace::Laid);

/// The pace of a loop for a thread that takes over a part of it.
#[derive(Debug, Clone, Copy)]
pub struct Seed(loop_pace::Seed);

impl Seed {
    /// The pace there.
    #[must_use]
    #[inline]
    pub fn grow(self) -> Pace {
        Pace(self.0.grow())
    }
}

impl Pace {
    /// As [`Start::new`], where the loop is run in blocks in any case.
    #[must_use]
    pub fn start(site: Site, len: usize, worth: u64, tries: bool) -> Self {
        Start::new(site, len, worth, tries).pace()
    }

    /// The pace of a loop that one thread runs in blocks.
    #[must_use]
    pub fn alone(site: Site) -> Self {
        Self(loop_pace::Pace::alone(site.entry))
    }

    /// Says what kind of a loop it is. A part is worth giving away from `worth` nanoseconds on (or
    /// a journey's time, if that is more), unless its items are expensive. If the loop may end
    /// (`ends`) long before its last item, as a search may, a known site runs a block before it
    /// shares anything.
    #[inline]
    pub fn set_kind(&mut self, worth: u64, ends: bool) {
        self.0.set_kind(worth, ends);
    }

    /// What a thread needs to know to take over a part.
    #[must_use]
    #[inline]
    pub fn seed(&self) -> Seed {
        Seed(self.0.seed())
    }

    /// Whether a piece of `len` items is to be halved before it is run. If so, its farther half is laid
    /// out behind the nearer one, and [`Self::go_on`] is to be called before that is begun here.
    #[inline]
    pub fn lay_out(&mut self, len: usize) -> Option<Laid> {
        self.0.lay_out(len).map(Laid)
    }

    /// Half of what is left, `far` items, is offered in public; then as above.
    pub fn share(&mut self, far: usize) -> Laid {
        Laid(self.0.hand_out(far, true))
    }

    /// What to do before a block, for a piece of which `left` items are left. Where other threads could get no
    /// answer for long, all that is laid out is public before that: first half of the piece is laid out, if it
    /// `divides` and as long as that is worth it, and then [`publish`] is to be called.
    #[inline]
    pub fn bare(&mut self, left: usize, divides: bool) -> Bare {
        Here::with(|here| self.0.bare(left, divides, here))
    }

    /// Half of what is left, `far` items, is laid out; then as for [`Self::lay_out`].
    pub fn halve(&mut self, far: usize) -> Laid {
        Laid(self.0.hand_out(far, false))
    }

    /// The nearer half is done, and the farther one is begun by the same thread.
    #[inline]
    pub fn go_on(&mut self, laid: Laid) {
        self.0.go_on(laid.0);
    }

    /// What to do with a piece of which `left` items are left.
    pub fn next(&mut self, left: usize) -> Step {
        Here::with(|here| self.0.next(left, here))
    }

    /// The size of the next block, where sharing is out of the question.
    pub fn block(&mut self, left: usize) -> usize {
        self.0.block(left)
    }

    /// The last block of a piece has come to its end.
    #[inline]
    pub fn pause(&mut self) {
        self.0.pause();
    }

    /// A row of blocks has come to its end: notes its time.
    #[inline]
    pub fn flush(&mut self) {
        self.0.flush();
    }

    /// A part of this piece was taken: what was run in a row has come to its end.
    pub fn taken(&mut self) {
        self.0.taken();
    }

    /// The whole call has come to its end, after [`Self::flush`].
    #[inline]
    pub fn conclude(&self) {
        self.0.conclude();
    }

    /// It was left in the middle of a block, which tells nothing.
    pub fn flush_all_but_the_last(&mut self) {
        self.0.flush_all_but_the_last();
    }
}

/// A call that is more than its loop: each thread that shares the loop leaves a result, and the
/// call merges them. The pool tries whether it pays to share such a loop.
#[derive(Debug)]
pub struct Whole(whole::Whole);

impl Whole {
    /// A call of the site begins. `None` if it is not tried, since it is of few items, or a part of another call, or there is one
    /// thread.
    #[must_use]
    pub fn start(site: usize, items: Option<usize>) -> Option<Self> {
        /// Fewer are as short as the look.
        const FEW: usize = if cfg!(miri) { 1 << 6 } else { 1 << 12 };
        let items = items.filter(|&items| items >= FEW)?;
        let tries = Here::with(|here| here.is_outermost() && here.threads() > 1);
        tries.then(|| Self(whole::Whole::start(site, items)))
    }

    /// Whether the loop is not to be shared.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.0.is_alone()
    }

    /// The call has come to its end.
    pub fn end(self) {
        self.0.end(Here::with(|here| here.threads()));
    }
}

/// A point in time, in ticks.
#[must_use]
#[inline]
pub fn now() -> u64 {
    clock::now()
}

/// Whether this number of ticks is long enough for work to reach another thread.
#[must_use]
pub fn is_long(ticks: u64) -> bool {
    /// In nanoseconds: more than a journey, so that a short part that met a thief is none.
    const LONG: u64 = 10_000;
    ticks > clock::ticks(LONG)
}

/// A part of a loop, whatever its types. So a program holds the code below once, and not once for
/// each loop. (The table of a `dyn FnMut` would hold each body twice.)
pub trait Part {
    /// Does it; `migrated` says whether on another thread than the one that offered it.
    fn run(&mut self, migrated: bool);
}

/// Does `part` on a thread of a pool: this one, if it is.
#[inline(never)]
pub fn enter(part: &mut (dyn Part + Send)) {
    pool::in_worker(|_, injected| part.run(injected));
}

/// The same with all of a loop: its parts are then taken by [`lend`] and [`halves`].
#[inline(never)]
pub fn enter_loop(call: Call, part: &mut (dyn Part + Send)) {
    Worker::with(|worker| match worker {
        Some(worker) => worker.begin_course(call.0, || part.run(false)),
        None => enter_loop_from_outside(call, part),
    });
}

#[cold]
#[inline(never)]
fn enter_loop_from_outside(call: Call, part: &mut (dyn Part + Send)) {
    pool::in_worker(|worker, injected| worker.begin_course(call.0, || part.run(injected)));
}

/// The same, if the calling thread is of a pool; else false, and nothing is done. So the part need not be `Send`.
#[inline(never)]
pub fn enter_loop_here(call: Call, part: &mut dyn Part) -> bool {
    Worker::with(|worker| {
        let Some(worker) = worker else { return false };
        worker.begin_course(call.0, || part.run(false));
        true
    })
}

/// Does both, in parallel if a thread is free.
#[inline(never)]
pub fn both(a: &mut (dyn Part + Send), b: &mut (dyn Part + Send)) {
    let _shelter = under::shelter();
    join::join_told(
        |context| a.run(context.migrated()),
        |context| b.run(context.migrated()),
    );
}

/// The same, in the course of a loop.
#[inline(never)]
pub fn halves(a: &mut (dyn Part + Send), b: &mut (dyn Part + Send)) {
    let _shelter = under::shelter();
    pool::in_worker(|worker, injected| {
        let stolen_part = part_of(worker.nested().course());
        join::join_on::<true, _, _, _, _>(
            worker,
            || a.run(injected),
            |stolen| match stolen {
                true => stolen_part(b),
                false => b.run(injected),
            },
        )
    });
}

/// How a part of the loop is done that was stolen.
fn part_of(course: *mut ()) -> impl FnOnce(&mut (dyn Part + Send)) + Send {
    // Makes the pointer `Send`: it is only an address, and only threads that are in the loop look at it.
    let course = AtomicPtr::new(course);
    move |part| {
        let course = course.into_inner();
        Worker::with(|worker| match worker {
            Some(worker) => worker.join_course(course, || part.run(true)),
            None => unreachable!("a job was stolen by no worker"),
        });
    }
}

/// Whether the calling thread works under a token, and so is to [`check`] once in a while.
#[inline(always)]
#[must_use]
pub fn is_under() -> bool {
    stop::is_under()
}

/// Whether the calling thread works under a token, quietly or not.
#[inline(always)]
#[must_use]
pub fn is_bound() -> bool {
    stop::is_bound()
}

/// Whether the computation that the calling thread works for is to stop. Always false where panics
/// abort: a call that asks this leaves its work half done and relies on the unwinding that follows,
/// and there is none.
#[must_use]
pub fn requested() -> bool {
    cfg!(panic = "unwind") && stop::requested()
}

/// Calls `op`, which no token ends, because it must not be ended in the middle.
pub fn sheltered<R>(op: impl FnOnce() -> R) -> R {
    under::sheltered(op)
}

/// Calls `op`, which asks [`requested`] where it may end early, and then ends if it is.
pub fn quietly<R>(op: impl FnOnce() -> R) -> R {
    if !is_bound() {
        return op();
    }
    let look = look();
    let result = under::quietly(op);
    drop(look);
    stop::check();
    result
}

/// Ends the loop by unwinding, if its computation is to stop.
#[inline(always)]
pub fn check() {
    stop::check();
}

/// A parallel call begins with this, and keeps the result until its end: see [`check`]. A call that
/// a destructor makes while its thread unwinds is not ended.
#[inline(always)]
#[must_use]
pub fn look() -> Look {
    match stop::is_under() {
        true => look_now(),
        false => Look(None),
    }
}

#[cold]
#[inline(never)]
fn look_now() -> Look {
    Look(under::look().map(|under| ManuallyDrop::new(Box::new(under))))
}

#[cold]
#[inline(never)]
fn end_look(under: ManuallyDrop<Box<under::Under>>) {
    drop(ManuallyDrop::into_inner(under));
}

/// Kept until the end of a parallel call. (The box is dropped by hand, so that a call under no token does not call its
/// destructor.)
#[derive(Debug)]
pub struct Look(Option<ManuallyDrop<Box<under::Under>>>);

impl Drop for Look {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(under) = self.0.take() {
            end_look(under);
        }
    }
}

/// As [`lend`], of a part that was laid out.
#[inline(always)]
pub fn lend_laid<R>(laid: Laid, keep: impl FnOnce() -> R, take: &mut (dyn Part + Send)) -> R {
    let weight = laid.0.nanos.map(Weight::of_nanos);
    join::share(laid.0.open, weight, keep, |course| if_stolen(course, take))
}

/// Offers `take` to other threads, either in public or only once a thread wants it or this thread
/// is stuck. Meanwhile does `keep` here. Returns when both are done; or when `keep` is done and no
/// thread has taken `take`, which is then not done.
#[inline(always)]
pub fn lend<R>(open: bool, keep: impl FnOnce() -> R, take: &mut (dyn Part + Send)) -> R {
    join::share(open, None, keep, |course| if_stolen(course, take))
}

/// The same closure type for all loops.
#[inline(always)]
fn if_stolen(course: *mut (), take: &mut (dyn Part + Send)) -> impl FnOnce(bool) + Send {
    let stolen_part = part_of(course);
    move |stolen| {
        if stolen {
            stolen_part(take);
        }
    }
}

/// Offers the outermost part of what this thread has laid out and not begun; false if there is no
/// such part.
#[inline(never)]
pub fn offer() -> bool {
    Worker::with(|worker| {
        let Some(worker) = worker.filter(|w| w.nested().has_private()) else {
            return false;
        };
        worker.publish(1);
        worker.wake(FOR_LOOP);
        true
    })
}

/// Publishes all that this thread has laid out. If it `wakes`, sleepers are woken for it; otherwise
/// threads that are awake take it. A thread that has fallen asleep since the caller looked is woken
/// in any case: its last look came before this.
#[inline(never)]
pub fn publish(wakes: bool) {
    Worker::with(|worker| {
        if let Some(worker) = worker {
            worker.publish(usize::MAX);
            let most = if wakes { FOR_LOOP } else { 1 };
            (0..worker.nested().public().min(most)).for_each(|_| worker.wake(FOR_LOOP));
        }
    });
}

/// How many threads the global pool has, wherever this is called.
#[must_use]
pub fn global_threads() -> usize {
    pool::global().len()
}

/// When a loop over items one by one is to look at a token: about every ten microseconds.
#[derive(Debug, Clone, Copy)]
pub struct Due {
    left: u32,
    every: u32,
    at: u64,
}

impl Due {
    /// At once.
    #[must_use]
    pub fn now() -> Self {
        Self {
            left: 1,
            every: 1,
            at: 0,
        }
    }

    /// One item has been done; says whether to look.
    #[inline(always)]
    pub fn tick(&mut self) -> bool {
        self.left -= 1;
        let is_due = self.left == 0;
        if is_due {
            *self = self.turn();
        }
        is_due
    }

    /// By value: had this a reference, a loop could not keep in registers what a `Due` is a part of.
    #[inline(never)]
    fn turn(mut self) -> Self {
        /// Nanoseconds between looks, if items are as long as those before; and most items.
        const SHORT: u64 = 5_000;
        const LONG: u64 = 20_000;
        const MOST: u32 = 1024;
        let now = clock::now();
        let passed = clock::nanos(now.saturating_sub(self.at));
        self.at = now;
        self.every = match passed {
            0..SHORT => (self.every * 2).min(MOST),
            LONG.. => (self.every / 8).max(1),
            _ => self.every,
        };
        self.left = self.every;
        self
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Part, Site, enter_loop};
    use crate::verbs::builder::ThreadPoolBuilder;

    /// A loop at this address, whose item does that.
    struct Loop<'a>(&'a (dyn Fn() + Sync));

    impl Part for Loop<'_> {
        fn run(&mut self, _: bool) {
            (self.0)();
        }
    }

    fn run(address: usize, item: &(dyn Fn() + Sync)) {
        enter_loop(Site::here(address, 1).call(), &mut Loop(item));
    }

    fn depth(address: usize) -> usize {
        Site::here(address, 1).call.depth()
    }

    const A: usize = 0x51_7f00;
    const B: usize = 0x51_7f10;
    const C: usize = 0x51_7f20;

    #[test]
    fn calls_inside_of_calls_of_the_same_loop_are_counted() {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| {
            assert_eq!(depth(A), 0);
            run(A, &|| {
                assert_eq!((depth(A), depth(B)), (1, 0));
                run(A, &|| assert_eq!((depth(A), depth(B)), (2, 0)));
                // Loops that call each other in turn.
                run(B, &|| {
                    assert_eq!((depth(A), depth(B)), (1, 1));
                    run(A, &|| {
                        assert_eq!((depth(A), depth(B)), (2, 1));
                        run(C, &|| assert_eq!((depth(A), depth(B)), (2, 1)));
                    });
                });
                assert_eq!((depth(A), depth(B)), (1, 0));
            });
            assert_eq!(depth(A), 0);
        });
        assert_eq!(depth(A), 0);
    }

    /// Parts of a call find what is known of it, however many items they have; inner calls are known by their depth alone.
    #[test]
    fn outermost_calls_are_known_by_their_length() {
        let key = |items| Site::here(A, items).key();
        let all = [0, 4, 16, 64, 256, 1 << 20, usize::MAX].map(key);
        let mut keys = all.to_vec();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all.len());
        assert_eq!((key(1), key(3), key(63)), (all[0], all[0], all[2]));
        assert_eq!(Site::flat(A, 100).key(), key(100));
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| {
            let site = Site::here(A, 100);
            let item = || {
                assert_eq!(Site::inside(A).key(), site.key());
                assert_eq!(key(1), key(1 << 20));
                assert!(!all.contains(&key(1)));
            };
            enter_loop(site.call(), &mut Loop(&item));
        });
    }

    #[test]
    fn each_depth_is_known_by_itself_down_to_some_depth() {
        fn walk(levels: usize, keys: &mut Vec<usize>) {
            keys.push(Site::here(A, 1).key());
            if levels > 0 {
                let keys = std::sync::Mutex::new(keys);
                run(A, &|| walk(levels - 1, &mut keys.lock().unwrap()));
            }
        }
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let mut keys = vec![];
        pool.install(|| walk(40, &mut keys));
        assert_eq!(keys[0], A);
        assert!(keys[15..].iter().all(|&key| key == keys[15]));
        keys.dedup();
        assert_eq!(keys.len(), 16);
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 16);
    }
}
