//! A seat: an index, two deques, and the word that says who sits there.
//!
//! ```text
//!                 wake_one            thread runs
//!   ┌► PARKED ──────────────► NOTIFIED ──────────► SEARCHING ◄──► AWAKE
//!   │    │ ▲                                           │  (thread)
//!   │    │ └────────── thread finds nothing ───────────┤
//!   │    │ guest                                       │ guest
//!   │    └───────────────────► GUEST ◄─────────────────┘
//!   │      guest leaves         │ ▲
//!   └───────────────────────────┘ └─ wake_one: GUEST|PENDING
//! ```
//!
//! The word is the only arbiter. Whoever moves it to AWAKE or GUEST **holds** the seat: its
//! deques' owner side and its notes are that thread's alone until it moves the word on. A
//! NOTIFIED seat is promised to its thread, and no guest may take it. A thread in SEARCHING
//! looks but does not touch: before it takes any work it moves to AWAKE, and may find that a
//! guest was faster.
//!
//! A guest that waits never takes mail that was left for the seat's own thread. It lends the seat
//! (LENT) to that thread, which runs the mail, nothing else, and gives it back as GUEST|PENDING.
//!
//! A seat whose thread was refused by the system is VACANT: guests may sit there, nobody is to
//! be woken. A spare seat (`spares.rs`) is CLOSED while there is no need for it: nobody may sit
//! there, and its thread, if it has one, sleeps.
#![forbid(unsafe_code)]

use crate::deque::nested::Nested;
use crate::deque::spawned::Spawned;
use crate::park::{Lease, Parker};
use crate::slab::Slab;
use crate::stats::Counters;
use crate::sync::{AtomicU32, AtomicU64, CachePadded, Ordering, fence, yield_now};

/// Who sits on a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Holder {
    /// Nobody; the thread sleeps, or has not been started yet.
    Parked = 0,
    /// Nobody yet; the thread has been woken.
    Notified = 1,
    /// Nobody; the thread looks for work.
    Searching = 2,
    /// The thread.
    Awake = 3,
    /// An ordinary thread.
    Guest = 4,
    /// An ordinary thread, which is to wake the seat's own when it leaves.
    GuestPending = 5,
    /// Nobody, and there is no thread.
    Vacant = 6,
    /// The thread, for its mail only, while a guest waits.
    Lent = 7,
    /// Nobody, and nobody may.
    Closed = 8,
}

impl Holder {
    fn from_bits(bits: u32) -> Self {
        match bits {
            0 => Self::Parked,
            1 => Self::Notified,
            2 => Self::Searching,
            3 => Self::Awake,
            4 => Self::Guest,
            5 => Self::GuestPending,
            6 => Self::Vacant,
            7 => Self::Lent,
            _ => Self::Closed,
        }
    }
}

/// The word.
#[derive(Debug)]
pub(crate) struct SeatWord(AtomicU32);

impl SeatWord {
    fn new(holder: Holder) -> Self {
        Self(AtomicU32::new(holder as u32))
    }

    pub(crate) fn load(&self) -> Holder {
        // Acquire: pairs with `step` and `swap`; whoever finds itself displaced sees what the
        // guest did first.
        Holder::from_bits(self.0.load(Ordering::Acquire))
    }

    /// Moves from one state to another, if it is in the first.
    pub(crate) fn step(&self, from: Holder, to: Holder) -> bool {
        // AcqRel: what the last holder left in the deques and notes goes to the next.
        self.0
            .compare_exchange(from as u32, to as u32, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Moves to a state, whatever it was.
    pub(crate) fn swap(&self, to: Holder) -> Holder {
        // AcqRel: as in `step`.
        Holder::from_bits(self.0.swap(to as u32, Ordering::AcqRel))
    }
}

/// What has become of a seat's own thread.
#[derive(Debug)]
pub(crate) struct ThreadState(AtomicU32);

impl ThreadState {
    const NONE: u32 = 0;
    const STARTING: u32 = 1;
    const THERE: u32 = 2;
    const REFUSED: u32 = 3;

    /// Starts it by `start` if nobody has; says whether it is there then.
    pub(crate) fn start_once(&self, start: impl FnOnce() -> bool) -> bool {
        // Relaxed, here and below: the seat's word hands on whatever there is to hand on.
        // An exchange, so that STARTING never takes the place of an answer.
        if self.0.load(Ordering::Relaxed) == Self::NONE
            && self
                .0
                .compare_exchange(
                    Self::NONE,
                    Self::STARTING,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                )
                .is_ok()
        {
            let state = if start() { Self::THERE } else { Self::REFUSED };
            self.0.store(state, Ordering::Relaxed);
        }
        self.settled() == Self::THERE
    }

    /// Whether it is there, or has not been asked for yet.
    pub(crate) fn exists(&self) -> bool {
        self.settled() != Self::REFUSED
    }

    /// It has ended, or will never come.
    pub(crate) fn set_gone(&self) {
        self.0.store(Self::REFUSED, Ordering::Relaxed);
    }

    /// Whether it has been started.
    pub(crate) fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::THERE
    }

    /// The state when nobody is just starting it.
    fn settled(&self) -> u32 {
        loop {
            match self.0.load(Ordering::Relaxed) {
                Self::STARTING => yield_now(),
                state => return state,
            }
        }
    }
}

/// A number that the holder of a seat keeps for itself.
#[derive(Debug)]
pub(crate) struct Note(AtomicU64);

impl Note {
    fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }
    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
    #[inline(always)]
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// What the holder remembers between one call and the next.
#[derive(Debug)]
pub(crate) struct Notes {
    /// When a request for work was last answered.
    pub(crate) answered: Note,
    /// Counts the contexts and scopes that began here.
    stamp: Note,
    /// How many more jobs to run before a look at the injector, when the last one was, and the
    /// interval.
    pub(crate) until_outside: Note,
    pub(crate) outside_at: Note,
    pub(crate) outside_every: Note,
    /// How long the thread looks for work before it sleeps, in nanoseconds.
    pub(crate) patience: Note,
    /// State of the random generator.
    random: Note,
}

impl Notes {
    /// A number greater than all before.
    pub(crate) fn next_stamp(&self) -> u64 {
        let stamp = self.stamp.get() + 1;
        self.stamp.set(stamp);
        stamp
    }

    /// The next number of a xorshift generator.
    pub(crate) fn random(&self) -> u64 {
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        x
    }
}

/// What a seat's holder works on, published for those who would help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context {
    /// The tag of the job, 0 if it belongs to no scope.
    pub(crate) tag: u64,
    /// The depth above which nested jobs are pieces of it.
    pub(crate) base: usize,
    /// Its stamp: scopes with this one or a later one were opened in it.
    pub(crate) since: u64,
    /// Which writing of the context this is: no two are alike.
    version: u32,
}

/// A seat. What everybody looks at and few write comes first, on a line of its own; then what
/// its holder writes all the time. A guest that comes and goes touches one line of each.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Seat {
    pub(crate) word: SeatWord,
    pub(crate) thread: ThreadState,
    pub(crate) index: usize,
    pub(crate) nested: Box<Nested>,
    bell: Lease,
    pillow: Lease,
    own: [CachePadded<()>; 0],
    pub(crate) counters: Counters,
    /// Whether anything was put into `spawned` since a guest sat down.
    pub(crate) spawning: Note,
    pub(crate) notes: Notes,
    /// Where jobs that are spawned here are kept.
    pub(crate) slab: Slab,
    /// The context: three words under a version, which is odd while they are written.
    version: AtomicU32,
    /// How often it was seen to be held; the looker's.
    looks: Note,
    tag: AtomicU64,
    base: AtomicU32,
    since: AtomicU64,
    pub(crate) spawned: Spawned,
    /// Seats (by index, modulo 64) whose holders sleep while they wait for a job that runs here.
    pub(crate) waiters: CachePadded<AtomicU64>,
}

impl Seat {
    pub(crate) fn new(index: usize, seats: usize, holder: Holder) -> Self {
        Self {
            word: SeatWord::new(holder),
            thread: ThreadState(AtomicU32::new(ThreadState::NONE)),
            index,
            nested: Nested::new(seats),
            bell: Lease::new(),
            pillow: Lease::new(),
            own: [],
            counters: Counters::new(),
            spawning: Note::new(0),
            slab: Slab::new(),
            notes: Notes {
                answered: Note::new(0),
                stamp: Note::new(0),
                until_outside: Note::new(32),
                outside_at: Note::new(0),
                outside_every: Note::new(32),
                patience: Note::new(10_000),
                random: Note::new((index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            },
            version: AtomicU32::new(0),
            looks: Note::new(0),
            tag: AtomicU64::new(0),
            base: AtomicU32::new(0),
            since: AtomicU64::new(0),
            spawned: Spawned::new(),
            waiters: CachePadded::new(AtomicU64::new(0)),
        }
    }

    /// What the seat's thread sleeps on while there is no work.
    pub(crate) fn bell(&self) -> &'static Parker {
        self.bell.parker()
    }

    /// What the seat's holder, thread or guest, sleeps on while it waits for something. Not the
    /// bell: a guest and the thread below it may be asleep at the same time.
    pub(crate) fn pillow(&self) -> &'static Parker {
        self.pillow.parker()
    }

    /// What the holder works on, as the holder sees it.
    pub(crate) fn own_context(&self) -> Context {
        Context {
            tag: self.tag.load(Ordering::Relaxed),
            base: self.base.load(Ordering::Relaxed) as usize,
            since: self.since.load(Ordering::Relaxed),
            version: self.version.load(Ordering::Relaxed),
        }
    }

    /// What the holder works on, as others see it: whole, or not at all.
    pub(crate) fn context(&self) -> Option<Context> {
        // Acquire: pairs with the last store in `write_context`.
        let version = self.version.load(Ordering::Acquire);
        let context = self.own_context();
        // Acquire: pairs with the fence in `write_context`: whoever read a word of a later
        // context finds a later version.
        fence(Ordering::Acquire);
        let same = self.version.load(Ordering::Relaxed) == version;
        (same && version.is_multiple_of(2)).then_some(Context { version, ..context })
    }

    /// Whether the holder is still at it.
    pub(crate) fn is_at(&self, context: Context) -> bool {
        self.version.load(Ordering::Relaxed) == context.version
    }

    /// Starts work on something with that tag, on top of what is under way. Gives the context,
    /// and the one to hand to [`Self::end`].
    pub(crate) fn begin(&self, tag: u64) -> (Context, Context) {
        let outer = self.own_context();
        let since = self.notes.next_stamp();
        let inner = Context {
            tag,
            base: self.nested.depth(),
            since,
            version: outer.version,
        };
        self.nested.turn();
        self.write_context(inner);
        (inner, outer)
    }

    /// Ends it.
    pub(crate) fn end(&self, outer: Context) {
        self.nested.turn();
        self.write_context(outer);
    }

    fn write_context(&self, context: Context) {
        let version = self.version.load(Ordering::Relaxed);
        self.version
            .store(version.wrapping_add(1), Ordering::Relaxed);
        // Release: pairs with the fence in `context`.
        fence(Ordering::Release);
        self.tag.store(context.tag, Ordering::Relaxed);
        self.base.store(context.base as u32, Ordering::Relaxed);
        self.since.store(context.since, Ordering::Relaxed);
        // Release: pairs with the first load in `context`.
        self.version
            .store(version.wrapping_add(2), Ordering::Release);
    }

    /// How often work on something was begun or ended here, twice over.
    pub(crate) fn begun(&self) -> u32 {
        self.version.load(Ordering::Relaxed)
    }

    /// How many jobs anybody may take here, roughly.
    pub(crate) fn public_jobs(&self) -> usize {
        self.nested.public() + self.spawned.len()
    }

    /// Whether anybody may take something here.
    pub(crate) fn has_work(&self) -> bool {
        self.nested.has_public() || !self.spawned.is_empty()
    }

    /// A number that changes while the seat is in use, and each time somebody looks while it is
    /// held.
    pub(crate) fn activity(&self) -> u64 {
        let held = if self.is_held() {
            self.looks.get().wrapping_add(1)
        } else {
            self.looks.get()
        };
        self.looks.set(held);
        self.counters
            .guests
            .get()
            .wrapping_add(self.counters.jobs.get())
            .wrapping_add(held)
    }

    /// Whether somebody sits here.
    pub(crate) fn is_held(&self) -> bool {
        !matches!(
            self.word.load(),
            Holder::Parked | Holder::Notified | Holder::Searching | Holder::Vacant | Holder::Closed
        )
    }
}
