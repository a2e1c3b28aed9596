//! What `join` pushes: a stack of one-word jobs whose lower end thieves may take from.
//!
//! ```text
//!            top          public            bottom
//!   stolen    |   public    |     private     |   free
//!  ───────────┼─────────────┼─────────────────┼──────────
//!             └ thieves ─►                ◄─ owner ┘
//! ```
//!
//! A join's slot is its nesting depth. `bottom` is the owner's alone; `top` and `public` live in
//! one word, [`Ends`], so that a thief wins both or nothing. Pushing and popping a private job
//! is plain loads and stores: no fence, no read-modify-write.
//!
//! The rules. Models show that each rule is needed:
//!
//! * The owner writes the slot, then publishes it with Release. A thief wins the job by an exchange
//!   with Acquire, and reads the slot **after** it has won. The slot stays unchanged until the job
//!   is done, because its owner cannot come back to this depth before.
//! * An owner that finds its job stolen leaves `bottom` at d + 1 and the ends at (d+1, d+1) until
//!   the job is done. A join made while it waits must not write the slot that the thief is about to
//!   read.
//! * The owner looks at two thresholds, `push_below` before a push and `pop_below` at a pop, with
//!   one compare each. `pop_below` is never less than `public`. Only the owner lowers them. A
//!   thread that wants work raises the first, so asking costs the owner nothing until a thread
//!   asks. Thief: sets `wanted`, then swaps in the threshold. Owner: swaps in its own, then looks
//!   at `wanted` again.
//! * `epoch` distinguishes jobs that were published in different contexts. The owner notes when it
//!   starts or ends a job that is not a piece of the job below it ([`Nested::change_context`]), and
//!   the next job becomes public in a new epoch. A helper that may take only what its own wait
//!   depends on checks that wait after it has read the ends and before it exchanges them. If the
//!   owner has gone on to something else, either nothing is public or the epoch differs, and the
//!   exchange fails.
//! * When the owner is stuck in user code, another thread may publish for it
//!   ([`Nested::publish_for_owner`]). It raises the thresholds and `overseen`, makes every thread
//!   of the process pass a full barrier, and only then reads `bottom`. The owner's pop stores
//!   `bottom` before it reads its threshold. So either the other thread sees that store, or the
//!   owner takes the slow path and changes the epoch there, and the other thread's exchange fails.

use crate::base::sync::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, CachePadded, Ordering,
};
use crate::queue::steal::Steal;
use crate::queue::weight::{Outer, Weight, Weights};
use std::ops::Deref;
use std::ptr;

/// How deep joins may be nested; deeper ones run in sequence. (Miri goes through all slots for each reference to them.)
#[cfg(not(loom))]
pub(crate) const CAPACITY: usize = if cfg!(miri) { 16 } else { 4096 };
#[cfg(loom)]
pub(crate) const CAPACITY: usize = 8;

/// Depths below this are published at once when nothing is known yet.
#[cfg(not(loom))]
const EAGER: u32 = 8;
#[cfg(loom)]
const EAGER: u32 = 2;

/// A threshold that every depth is below: take the slow way each time.
const ALWAYS: u32 = u32::MAX;

/// Thieves' view of the stack: `epoch`, `top`, `public`, and about how much work the outermost public job is, in
/// one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ends(u64);

impl Ends {
    /// Bits of `top` and `public` each.
    const DEPTH: u32 = (32 - Weight::BITS) / 2;
    const MASK: usize = (1 << Self::DEPTH) - 1;

    fn new(epoch: u32, top: usize, public: usize) -> Self {
        const { assert!(CAPACITY <= Self::MASK) };
        debug_assert!(top <= public && public <= CAPACITY);
        Self(u64::from(epoch) << 32 | (top as u64) << Self::DEPTH | public as u64)
    }
    fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }
    fn top(self) -> usize {
        (self.0 >> Self::DEPTH) as usize & Self::MASK
    }
    fn public(self) -> usize {
        self.0 as usize & Self::MASK
    }
    fn weight(self) -> Weight {
        Weight::from_bits(self.0 >> (2 * Self::DEPTH))
    }
    fn with_weight(self, weight: Weight) -> Self {
        const ALL: u64 = (1 << Weight::BITS) - 1;
        let others = self.0 & !(ALL << (2 * Self::DEPTH));
        Self(others | weight.bits() << (2 * Self::DEPTH))
    }
    /// Without the outermost public job. Of the next one this only guesses how much work it is.
    fn without_top(self) -> Self {
        let next = Self::new(self.epoch(), self.top() + 1, self.public());
        next.with_weight(self.weight().below(1))
    }
    fn with_public(self, public: usize) -> Self {
        Self::new(self.epoch(), self.top(), public).with_weight(self.weight())
    }
    fn next_epoch(self) -> Self {
        let next = self.epoch().wrapping_add(1);
        Self::new(next, self.top(), self.public()).with_weight(self.weight())
    }
}

/// What happened to a job that its owner wants back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pop {
    /// No other thread has it or ever will.
    Mine,
    /// A thief has it: wait, then [`Nested::retire`] it.
    Stolen,
}

/// What a thief has won.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Won {
    pub(crate) job: *mut (),
    /// Where it lay. Until the job is done, the owner has nothing else at this depth or below.
    pub(crate) depth: usize,
    /// About how much work it is.
    pub(crate) weight: Weight,
}

/// What the owner touches at every push and pop.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Front {
    /// The depth of the next push. Others read it when they look for private work.
    bottom: AtomicU32,
    push_below: AtomicU32,
    pop_below: AtomicU32,
    /// How deep pushes are public without a request.
    limit: AtomicU32,
    /// This many more pushes at this site need no check.
    skip_site: AtomicUsize,
    skips_left: AtomicU32,
    /// The context has changed since the last publication.
    turned: AtomicBool,
    /// The loop whose own course runs here, on top of all else: see `work/course.rs`.
    course: AtomicPtr<()>,
}

impl Front {
    /// The front of a stack without room, for a thread that has no stack.
    #[cfg(not(loom))]
    pub(crate) const fn full() -> Self {
        Self {
            bottom: AtomicU32::new(CAPACITY as u32),
            push_below: AtomicU32::new(0),
            pop_below: AtomicU32::new(0),
            limit: AtomicU32::new(0),
            skip_site: AtomicUsize::new(0),
            skips_left: AtomicU32::new(0),
            turned: AtomicBool::new(false),
            course: AtomicPtr::new(ptr::null_mut()),
        }
    }

    fn new() -> Self {
        Self {
            bottom: AtomicU32::new(0),
            push_below: AtomicU32::new(EAGER),
            pop_below: AtomicU32::new(0),
            limit: AtomicU32::new(EAGER),
            skip_site: AtomicUsize::new(0),
            skips_left: AtomicU32::new(0),
            turned: AtomicBool::new(false),
            course: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The depth that the next push will have.
    #[inline(always)]
    pub(crate) fn depth(&self) -> usize {
        self.bottom.load(Ordering::Relaxed) as usize
    }

    /// Whether there is room for a push at this depth, and nothing to decide: the push need not be
    /// published, and no thread asks.
    #[inline(always)]
    pub(crate) fn is_easy(&self, depth: usize) -> bool {
        depth < CAPACITY && depth as u32 >= self.push_below.load(Ordering::Relaxed)
    }

    /// Whether there is room for a push at this depth and `site`, and no check needed this once,
    /// though the push is not an easy one.
    #[inline(always)]
    pub(crate) fn skips_check(&self, depth: usize, site: usize) -> bool {
        if depth >= CAPACITY {
            return false;
        }
        let left = self.skips_left.load(Ordering::Relaxed);
        let calm = self.skip_site.load(Ordering::Relaxed) == site && left > 0;
        if calm {
            self.skips_left.store(left - 1, Ordering::Relaxed);
        }
        calm
    }
}

/// The stack. What thieves write stands apart from what the owner writes at every push.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Nested {
    front: Front,
    /// Least value of `limit`.
    floor: u32,
    ends: CachePadded<AtomicU64>,
    /// A thread found only private work here.
    wanted: CachePadded<AtomicBool>,
    /// Another thread may be publishing for the owner.
    overseen: AtomicBool,
    slots: [AtomicPtr<()>; CAPACITY],
    weights: Weights<CAPACITY>,
}

/// What [`Nested::lift`] found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lifted {
    limit: u32,
    outer: Outer,
}

impl Deref for Nested {
    type Target = Front;

    #[inline(always)]
    fn deref(&self) -> &Front {
        &self.front
    }
}

impl Nested {
    /// A stack in a pool of `seats` seats. Its slots cost no memory until they are used: zeroed
    /// pages come from the system untouched.
    #[cfg(not(loom))]
    pub(crate) fn new(seats: usize) -> Box<Self> {
        use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
        let layout = Layout::new::<Self>();
        // SAFETY: the layout is not of size zero.
        let this = unsafe { alloc_zeroed(layout) }.cast::<Self>();
        if this.is_null() {
            handle_alloc_error(layout);
        }
        // Zeroes are right for all fields but these two: numbers, `false`, null pointers.
        // SAFETY: in bounds of the allocation.
        let front = unsafe { &raw mut (*this).front };
        // SAFETY: as above, and no other thread has it.
        unsafe { front.write(Front::new()) };
        // SAFETY: in bounds of the allocation.
        let floor = unsafe { &raw mut (*this).floor };
        // SAFETY: as above.
        unsafe { floor.write(Self::floor(seats)) };
        // SAFETY: allocated with the layout of this type, and every field is valid.
        unsafe { Box::from_raw(this) }
    }

    #[cfg(loom)]
    pub(crate) fn new(seats: usize) -> Box<Self> {
        Box::new(Self {
            front: Front::new(),
            floor: Self::floor(seats),
            ends: CachePadded::new(AtomicU64::new(0)),
            wanted: CachePadded::new(AtomicBool::new(false)),
            overseen: AtomicBool::new(false),
            slots: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            weights: Weights::new(),
        })
    }

    fn floor(seats: usize) -> u32 {
        (seats.next_power_of_two().trailing_zeros() + 1).min(EAGER)
    }

    /// The stack behind a front.
    ///
    /// # Safety
    /// `front` was made of a pointer to a whole stack, which is alive.
    #[inline(always)]
    pub(crate) unsafe fn behind<'a>(front: *const Front) -> &'a Self {
        // SAFETY: by the duty above; the front is the first field.
        unsafe { &*front.cast() }
    }

    // ---- the owner's side -------------------------------------------------------------------

    /// Pushes at `depth`, which must be [`Front::depth`] and less than [`CAPACITY`].
    #[inline(always)]
    pub(crate) fn push(&self, depth: usize, job: *mut ()) {
        debug_assert!(depth == self.depth() && depth < CAPACITY);
        // The mask changes nothing; it spares a bounds check.
        self.slots[depth & (CAPACITY - 1)].store(job, Ordering::Relaxed);
        // Release: pairs with the Acquire load in `publish_for_owner`, which hands on the slot.
        self.bottom.store(depth as u32 + 1, Ordering::Release);
    }

    /// What the owner knows of how much work its jobs are.
    #[inline(always)]
    pub(crate) fn weights(&self) -> &Weights<CAPACITY> {
        &self.weights
    }

    /// The loop whose course runs here; null if it is none's.
    #[inline(always)]
    pub(crate) fn course(&self) -> *mut () {
        self.course.load(Ordering::Relaxed)
    }

    /// From now on this one's does.
    #[inline(always)]
    pub(crate) fn set_course(&self, course: *mut ()) {
        self.course.store(course, Ordering::Relaxed);
    }

    /// The next pushes at `site`, as many as given, need no look.
    pub(crate) fn skip_checks(&self, site: usize, pushes: u32) {
        self.skip_site.store(site, Ordering::Relaxed);
        self.skips_left.store(pushes, Ordering::Relaxed);
    }

    /// Takes back the job at `depth`, the last one pushed.
    #[inline(always)]
    pub(crate) fn pop(&self, depth: usize) -> Pop {
        debug_assert!(depth + 1 == self.depth());
        // The store comes before the load: see the last rule above. Release: as in `push`, for
        // the slots below.
        self.bottom.store(depth as u32, Ordering::Release);
        #[cfg(loom)]
        crate::base::sync::fence(Ordering::SeqCst);
        #[cfg(not(loom))]
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
        if depth as u32 >= self.pop_below.load(Ordering::Relaxed) {
            Pop::Mine
        } else {
            self.pop_slow(depth)
        }
    }

    #[cold]
    #[inline(never)]
    fn pop_slow(&self, depth: usize) -> Pop {
        let overseen = self.overseen.load(Ordering::Relaxed);
        if overseen {
            self.overseen.store(false, Ordering::Relaxed);
        }
        let mut ends = self.ends();
        loop {
            if ends.top() > depth {
                // Stolen: nothing moves until `retire`. The epoch has not changed, so a publication by another
                // thread for this owner still counts.
                if overseen {
                    self.overseen.store(true, Ordering::Relaxed);
                }
                self.bottom.store(depth as u32 + 1, Ordering::Relaxed);
                return Pop::Stolen;
            }
            let was_public = ends.public() > depth;
            let mut next = ends;
            if was_public {
                next = next.with_public(depth);
            }
            if overseen {
                next = next.next_epoch();
            }
            if next == ends {
                break;
            }
            // Release: pairs with the first load in `publish_for_owner`: a thread that goes by the new epoch
            // raises `overseen` after it was lowered for the old epoch.
            match self.exchange(ends, next, Ordering::Release) {
                Ok(()) => {
                    if was_public {
                        let limit = self.limit.load(Ordering::Relaxed);
                        self.limit
                            .store(limit.saturating_sub(1).max(self.floor), Ordering::Relaxed);
                    }
                    break;
                }
                Err(now) => ends = now,
            }
        }
        self.settle();
        Pop::Mine
    }

    /// The job at `depth` was stolen and is done: the stack goes back to that depth. As in
    /// [`Self::publish`], the thresholds are left to the next slow pop, since others may wait for
    /// this thread.
    pub(crate) fn retire(&self, depth: usize) {
        let ends = self.ends();
        debug_assert!(ends.top() == depth + 1 && ends.public() == depth + 1);
        // `bottom` first: between the two stores, nothing is private by either of the ends.
        self.bottom.store(depth as u32, Ordering::Relaxed);
        // A new epoch, so that no thread that has read these ends before can publish jobs that are gone.
        // Release: pairs with the first load in `publish_for_owner`, which hands on `bottom`. With top = public
        // no exchange of a thief can succeed, before or after.
        let back = Ends::new(ends.epoch(), depth, depth).next_epoch();
        self.ends.store(back.0, Ordering::Release);
    }

    /// Publishes up to `count` of the outermost private jobs. Returns how many.
    pub(crate) fn publish(&self, count: usize) -> usize {
        let bottom = self.depth();
        let turned = self.turned.load(Ordering::Relaxed);
        let mut ends = self.ends();
        loop {
            let public = ends.public().saturating_add(count).min(bottom);
            let gain = public.saturating_sub(ends.public());
            if gain == 0 {
                break 0;
            }
            // `pop_below` covers the jobs before they become public.
            self.pop_below.fetch_max(public as u32, Ordering::Relaxed);
            let mut next = ends.with_public(public);
            if ends.top() == ends.public() {
                next = next.with_weight(self.weights.of(ends.top()));
            }
            if turned {
                next = next.next_epoch();
            }
            // Release: hands the slots to the thief's Acquire in `steal_if`.
            match self.exchange(ends, next, Ordering::Release) {
                Ok(()) => {
                    self.turned.store(false, Ordering::Relaxed);
                    break gain;
                }
                Err(now) => ends = now,
            }
        }
    }

    /// The number of jobs that only the owner can see.
    pub(crate) fn private(&self) -> usize {
        self.depth().saturating_sub(self.ends().public())
    }

    /// Whether pushes at `depth` are public even without a request.
    pub(crate) fn is_outermost(&self, depth: usize) -> bool {
        (depth as u32) < self.limit.load(Ordering::Relaxed)
    }

    /// A job begins at the depth `base`: its own outermost pushes are public, as those at the
    /// bottom of the stack are. Returns what [`Self::lower`] needs.
    #[inline]
    pub(crate) fn lift(&self, base: usize) -> Lifted {
        let outer = self.weights.begin(base);
        let limit = self.limit.load(Ordering::Relaxed);
        let wished = (base as u32 + self.floor).min(CAPACITY as u32);
        if limit < wished {
            self.limit.store(wished, Ordering::Relaxed);
            self.settle();
        }
        Lifted { limit, outer }
    }

    /// The job has ended.
    #[inline]
    pub(crate) fn lower(&self, Lifted { limit, outer }: Lifted) {
        self.weights.end(outer);
        if self.limit.load(Ordering::Relaxed) > limit.max(EAGER) {
            self.limit.store(limit, Ordering::Relaxed);
            self.settle();
        }
    }

    /// Whether a thread has asked.
    #[inline]
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Takes the request down, to be answered now; pushes are public to full depth again.
    pub(crate) fn take_request(&self) -> bool {
        // AcqRel, as all of this exchange of notes: pairs with `want`.
        let asked = self.wanted.swap(false, Ordering::AcqRel);
        if asked {
            let limit = self.limit.load(Ordering::Relaxed);
            self.limit.store(limit.max(EAGER), Ordering::Relaxed);
            self.settle();
        }
        asked
    }

    /// Brings the thresholds to where the ends say they should be.
    fn settle(&self) {
        self.set_pop_below();
        let limit = self.limit.load(Ordering::Relaxed);
        // AcqRel, then Acquire: pairs with `want`, which uses the opposite order.
        self.push_below.swap(limit, Ordering::AcqRel);
        if self.wanted.load(Ordering::Acquire) {
            self.push_below.store(ALWAYS, Ordering::Relaxed);
        }
    }

    fn set_pop_below(&self) {
        // AcqRel: pairs with `publish_for_owner`; if that came first, `overseen` is seen below.
        self.pop_below
            .swap(self.ends().public() as u32, Ordering::AcqRel);
        if self.overseen.load(Ordering::Acquire) {
            self.pop_below.store(ALWAYS, Ordering::Relaxed);
        }
    }

    /// Starts or ends a context: see the rule about `epoch`.
    pub(crate) fn change_context(&self) {
        self.turned.store(true, Ordering::Relaxed);
    }

    /// Whether what is published next begins an epoch.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn has_turned(&self) -> bool {
        self.turned.swap(false, Ordering::Relaxed)
    }

    // ---- the thieves' side ------------------------------------------------------------------

    /// Takes the outermost public job.
    #[cfg(loom)]
    pub(crate) fn steal(&self) -> Steal<*mut ()> {
        self.steal_if(0, || true).map(|won| won.job)
    }

    /// Takes the outermost public job if it lies at `base` or above and `still` holds between
    /// the look and the exchange.
    pub(crate) fn steal_if(&self, base: usize, still: impl FnOnce() -> bool) -> Steal<Won> {
        // Acquire: pairs with the exchanges that publish. A thief that sees a new epoch sees what
        // the owner did before, above all the end of the last job.
        let ends = Ends(self.ends.load(Ordering::Acquire));
        if ends.top() == ends.public() {
            // An owner that was already asked is left alone: it writes `bottom` all the time.
            let hidden = !self.is_wanted() && self.depth() > ends.public();
            return if hidden { Steal::Private } else { Steal::Empty };
        }
        if ends.top() < base || !still() {
            return Steal::Empty;
        }
        // Acquire: pairs with the Release in `publish`. The slot is read after winning.
        match self.exchange(ends, ends.without_top(), Ordering::Acquire) {
            Ok(()) => {
                let depth = ends.top();
                Steal::Taken(Won {
                    job: self.slots[depth].load(Ordering::Relaxed),
                    depth,
                    weight: ends.weight(),
                })
            }
            Err(_) => Steal::Retry,
        }
    }

    /// Whether there is a public job.
    pub(crate) fn has_public(&self) -> bool {
        let ends = self.ends();
        ends.top() < ends.public()
    }

    /// About how much work the outermost public job is, if there is one.
    pub(crate) fn offered(&self) -> Option<Weight> {
        let ends = self.ends();
        (ends.top() < ends.public()).then(|| ends.weight())
    }

    /// Whether there is a public job at `base` or above, perhaps behind others.
    pub(crate) fn reaches(&self, base: usize) -> bool {
        let ends = self.ends();
        ends.public() > base.max(ends.top())
    }

    /// How many public jobs there are, roughly.
    pub(crate) fn public(&self) -> usize {
        let ends = self.ends();
        ends.public() - ends.top()
    }

    /// Whether there are jobs that are not public.
    pub(crate) fn has_private(&self) -> bool {
        self.depth() > self.ends().public()
    }

    /// Asks the owner to publish. It will notice at its next push or pop.
    pub(crate) fn want(&self) {
        if !self.wanted.load(Ordering::Relaxed) {
            // Release, AcqRel: pairs with `settle`, which uses the opposite order.
            self.wanted.swap(true, Ordering::Release);
            self.push_below.swap(ALWAYS, Ordering::AcqRel);
        }
    }

    /// Publishes every private job in the owner's place. `barrier` must make every running thread
    /// of the process pass a full fence before it returns true. Returns how many it published.
    pub(crate) fn publish_for_owner(&self, barrier: impl FnOnce() -> bool) -> usize {
        // Acquire: pairs with `retire` and `pop_slow`.
        let ends = Ends(self.ends.load(Ordering::Acquire));
        // Release: pairs with the load behind the swap of `set_pop_below`, as the next line does.
        self.overseen.store(true, Ordering::Release);
        // AcqRel: pairs with that swap.
        self.pop_below.swap(ALWAYS, Ordering::AcqRel);
        if !barrier() {
            return 0;
        }
        // Acquire: pairs with the store in `push`.
        let bottom = self.bottom.load(Ordering::Acquire) as usize;
        if bottom <= ends.public() {
            return 0;
        }
        // Release: hands the slots on, as `publish` does. In a new epoch, since the owner may now do something
        // else.
        let mut next = ends.with_public(bottom).next_epoch();
        if ends.top() == ends.public() {
            next = next.with_weight(self.weights.of(ends.top()));
        }
        match self.exchange(ends, next, Ordering::Release) {
            Ok(()) => bottom - ends.public(),
            Err(_) => 0,
        }
    }

    // ---- both -------------------------------------------------------------------------------

    fn ends(&self) -> Ends {
        Ends(self.ends.load(Ordering::Relaxed))
    }

    fn exchange(&self, old: Ends, new: Ends, success: Ordering) -> Result<(), Ends> {
        self.ends
            .compare_exchange(old.0, new.0, success, Ordering::Relaxed)
            .map(drop)
            .map_err(Ends)
    }
}
