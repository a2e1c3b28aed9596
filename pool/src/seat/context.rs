//! What a seat's holder works on, published for threads that would help: three words under a version.
#![forbid(unsafe_code)]

use crate::base::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// What a holder works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context {
    /// The tag of the job, 0 if it belongs to no scope.
    pub(crate) tag: u64,
    /// The depth above which nested jobs are pieces of it.
    pub(crate) base: usize,
    /// Its stamp: scopes with this one or a later one were opened in it.
    pub(crate) since: u64,
    /// Which writing of the context this is: no two are alike.
    pub(crate) version: u32,
}

/// A call of a loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallOf {
    /// Which loop it is.
    pub(crate) site: usize,
    /// In how many calls of that loop this one began.
    pub(crate) depth: u32,
    /// About how many items it has, as `verbs/sites.rs` counts.
    pub(crate) class: u32,
}

impl CallOf {
    /// One that is not known.
    pub(crate) const NONE: Self = Self {
        site: 0,
        depth: 0,
        class: 0,
    };
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

/// Where it stands. The version is odd while the words are written.
#[derive(Debug)]
pub(super) struct Published {
    version: AtomicU32,
    tag: AtomicU64,
    base: AtomicU32,
    since: AtomicU64,
}

impl Published {
    pub(super) fn new() -> Self {
        Self {
            version: AtomicU32::new(0),
            tag: AtomicU64::new(0),
            base: AtomicU32::new(0),
            since: AtomicU64::new(0),
        }
    }

    /// The version alone.
    pub(super) fn version(&self) -> u32 {
        self.version.load(Ordering::Relaxed)
    }

    /// As the holder sees it.
    pub(super) fn own(&self) -> Context {
        Context {
            tag: self.tag.load(Ordering::Relaxed),
            base: self.base.load(Ordering::Relaxed) as usize,
            since: self.since.load(Ordering::Relaxed),
            version: self.version(),
        }
    }

    /// As others see it: whole, or not at all.
    pub(super) fn read(&self) -> Option<Context> {
        // Acquire: pairs with the last store in `write`.
        let version = self.version.load(Ordering::Acquire);
        let context = self.own();
        // Acquire: pairs with the fence in `write`: a reader of a word of a later context finds a
        // later version.
        fence(Ordering::Acquire);
        let same = self.version() == version;
        (same && version.is_multiple_of(2)).then_some(Context { version, ..context })
    }

    /// The holder writes it.
    pub(super) fn write(&self, context: Context) {
        let version = self.version();
        self.version
            .store(version.wrapping_add(1), Ordering::Relaxed);
        // Release: pairs with the fence in `read`.
        fence(Ordering::Release);
        self.tag.store(context.tag, Ordering::Relaxed);
        self.base.store(context.base as u32, Ordering::Relaxed);
        self.since.store(context.since, Ordering::Relaxed);
        // Release: pairs with the first load in `read`.
        self.version
            .store(version.wrapping_add(2), Ordering::Release);
    }
}
