//! What a seat's holder works on, published for threads that would help: a stack of jobs, each begun on top of the one
//! below it, under a version.
#![forbid(unsafe_code)]

use crate::base::sync::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

/// A holder publishes at most this many jobs: the lowest ones, and the one on top. (Miri goes
/// through all of them for each reference to a seat.)
#[cfg(not(loom))]
pub(crate) const LEVELS: usize = if cfg!(miri) { 4 } else { 64 };
#[cfg(loom)]
pub(crate) const LEVELS: usize = 2;

/// If the holder writes meanwhile, a reader that searches far away looks again, up to this number
/// of times: its search has cost much already.
const TRIES: u32 = if cfg!(loom) { 1 } else { 4 };

/// What a holder works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context {
    /// What the job is a part of: see `work/worker.rs`.
    pub(crate) tag: u64,
    /// The loop of which it is a part, by address; 0 if of none.
    pub(crate) course: usize,
    /// The depth above which nested jobs are pieces of it.
    pub(crate) base: usize,
    /// Its stamp: scopes with this one or a later one were opened in it. No two have the same.
    pub(crate) since: u64,
    /// Where it stands in the stack; 0 if the holder is at no job.
    level: usize,
}

impl Context {
    /// No job at all.
    const NONE: Self = Self {
        tag: 0,
        course: 0,
        base: 0,
        since: 0,
        level: 0,
    };
}

/// What a job was begun on top of.
#[must_use = "the job is to end"]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Covered {
    level: usize,
    /// The job there, if the new one has its slot.
    job: Option<Context>,
}

/// A call of a loop. (Two words, which travel in registers: a copy of smaller parts, written just before, would make the
/// processor wait for them.)
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallOf {
    /// Which loop it is.
    pub(crate) site: usize,
    kind: usize,
}

impl CallOf {
    /// One that is not known.
    pub(crate) const NONE: Self = Self::new(0, 0, 0);

    /// How many bits hold the class.
    const CLASS: u32 = 8;

    /// A call that began in `depth` calls of the loop `site`, with about that number of items: for the `class` see
    /// `verbs/sites.rs`.
    #[inline]
    pub(crate) const fn new(site: usize, depth: usize, class: u8) -> Self {
        Self {
            site,
            kind: depth << Self::CLASS | class as usize,
        }
    }

    /// In how many calls of that loop it began.
    #[inline]
    pub(crate) const fn depth(self) -> usize {
        self.kind >> Self::CLASS
    }

    #[inline]
    pub(crate) const fn class(self) -> u8 {
        self.kind as u8
    }
}

/// Where a loop began, as `work/course.rs` has it.
#[derive(Debug)]
pub(crate) struct Course {
    /// The root's seat.
    pub(crate) seat: usize,
    /// Jobs that are pushed there at this depth or above it are pieces of the loop, or of its items.
    pub(crate) base: usize,
    /// Scopes that were opened there with this stamp or a later one belong to its items.
    pub(crate) since: u64,
    /// The stamp of the context there.
    pub(crate) context: u64,
    pub(crate) call: CallOf,
    /// The loop whose course was on top of the root's stack when this one began; null if there was none. In most cases this one began
    /// in an item of it. It ends later.
    pub(crate) outer: *const Course,
}

/// Where they stand. The version is odd while the words are written.
#[derive(Debug)]
pub(super) struct Published {
    version: AtomicU32,
    /// How many jobs the holder is in the middle of.
    count: AtomicU32,
    /// The job at level 1, at 2, and so on; in the last slot the one on top, if there are more.
    slots: [Slot; LEVELS],
}

#[derive(Debug)]
struct Slot {
    tag: AtomicU64,
    since: AtomicU64,
    course: AtomicUsize,
    base: AtomicU32,
}

impl Slot {
    fn new() -> Self {
        Self {
            tag: AtomicU64::new(0),
            since: AtomicU64::new(0),
            course: AtomicUsize::new(0),
            base: AtomicU32::new(0),
        }
    }

    fn load(&self, level: usize) -> Context {
        Context {
            tag: self.tag.load(Ordering::Relaxed),
            course: self.course.load(Ordering::Relaxed),
            base: self.base.load(Ordering::Relaxed) as usize,
            since: self.since.load(Ordering::Relaxed),
            level,
        }
    }

    fn store(&self, context: Context) {
        self.tag.store(context.tag, Ordering::Relaxed);
        self.course.store(context.course, Ordering::Relaxed);
        self.base.store(context.base as u32, Ordering::Relaxed);
        self.since.store(context.since, Ordering::Relaxed);
    }
}

impl Published {
    pub(super) fn new() -> Self {
        Self {
            version: AtomicU32::new(0),
            count: AtomicU32::new(0),
            slots: std::array::from_fn(|_| Slot::new()),
        }
    }

    /// The version alone.
    pub(super) fn version(&self) -> u32 {
        self.version.load(Ordering::Relaxed)
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed) as usize
    }

    /// The slot of the job at this level, or the last one.
    fn slot(&self, level: usize) -> &Slot {
        &self.slots[level.min(LEVELS) - 1]
    }

    /// The job on top, as the holder sees it.
    #[inline]
    pub(super) fn own(&self) -> Context {
        match self.count() {
            0 => Context::NONE,
            level => self.slot(level).load(level),
        }
    }

    /// The job on top, as others see it: whole, or not at all.
    pub(super) fn read(&self) -> Option<Context> {
        self.consistent(|| self.own())
    }

    /// The lowest job that is a part of that scope.
    pub(super) fn lowest(&self, tag: u64) -> Option<Context> {
        let look = || {
            let count = self.count();
            let mut known = (1..).zip(&self.slots[..count.min(LEVELS)]);
            let (at, slot) = known.find(|(_, slot)| slot.tag.load(Ordering::Relaxed) == tag)?;
            Some(slot.load(if at == LEVELS { count } else { at }))
        };
        self.soon_consistent(look).flatten()
    }

    /// All jobs, as others see them, the lowest first.
    pub(super) fn stack(&self) -> Option<Vec<Context>> {
        // Memory is allocated before the look, which should be short.
        let mut jobs = Vec::with_capacity(self.count().min(LEVELS));
        self.soon_consistent(|| {
            let count = self.count();
            let known = self.slots[..count.min(LEVELS)].iter().zip(1..);
            let level = |at| if at == LEVELS { count } else { at };
            jobs.clear();
            jobs.extend(known.map(|(slot, at)| slot.load(level(at))));
        })?;
        Some(jobs)
    }

    /// Whether the holder is still in the middle of that job.
    pub(super) fn is_at(&self, context: Context) -> bool {
        let at = || match context.level {
            0 => self.count() == 0,
            level => {
                let since = self.slot(level).since.load(Ordering::Relaxed);
                self.count() >= level && since == context.since
            }
        };
        self.soon_consistent(at) == Some(true)
    }

    fn soon_consistent<R>(&self, mut look: impl FnMut() -> R) -> Option<R> {
        (0..TRIES).find_map(|_| self.consistent(&mut look))
    }

    /// What `look` sees, if nothing was written meanwhile.
    #[inline]
    fn consistent<R>(&self, look: impl FnOnce() -> R) -> Option<R> {
        // Acquire: pairs with the last store in `write`.
        let version = self.version.load(Ordering::Acquire);
        let seen = look();
        // Acquire: pairs with the fence in `write`: a reader that has read a word of a later context finds a
        // later version.
        fence(Ordering::Acquire);
        let same = self.version() == version;
        (same && version.is_multiple_of(2)).then_some(seen)
    }

    /// The holder begins a job. Gives what it begins on top of too.
    #[inline]
    pub(super) fn push(&self, tag: u64, base: usize, since: u64) -> (Context, Covered) {
        let below = self.count();
        let covered = Covered {
            level: below,
            job: (below >= LEVELS).then(|| self.own()),
        };
        let inner = Context {
            tag,
            course: 0,
            base,
            since,
            level: below + 1,
        };
        self.write(|| {
            self.slot(inner.level).store(inner);
            self.count.store(inner.level as u32, Ordering::Relaxed);
        });
        (inner, covered)
    }

    /// The job on top has ended, which the holder began on top of that.
    #[inline]
    pub(super) fn pop(&self, covered: Covered) {
        self.write(|| {
            self.count.store(covered.level as u32, Ordering::Relaxed);
            if let Some(job) = covered.job {
                self.slot(job.level).store(job);
            }
        });
    }

    /// The job on top is a part of that loop.
    pub(super) fn set_course(&self, course: usize) {
        let level = self.count();
        debug_assert!(level > 0, "no part of a loop is run outside of a job");
        self.write(|| self.slot(level).course.store(course, Ordering::Relaxed));
    }

    /// The holder writes.
    #[inline]
    fn write(&self, write: impl FnOnce()) {
        let version = self.version();
        self.version
            .store(version.wrapping_add(1), Ordering::Relaxed);
        // Release: pairs with the fence in `consistent`.
        fence(Ordering::Release);
        write();
        // Release: pairs with the first load in `consistent`.
        self.version
            .store(version.wrapping_add(2), Ordering::Release);
    }
}
