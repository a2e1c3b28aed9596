//! A seat: an index, two deques, notes, a context, and the word that says which thread sits there.
//!
//! `word.rs` is the protocol by which a seat changes hands. `sleep.rs` has the census of the threads, and how
//! they go to sleep. `spares.rs` has the seats that are opened while threads block, `owed.rs` the threads that
//! found none. `looker.rs` says which sleeper looks after the others.
#![forbid(unsafe_code)]

pub(crate) mod context;
pub(crate) mod looker;
pub(crate) mod lull;
pub(crate) mod notes;
pub(crate) mod owed;
pub(crate) mod sleep;
pub(crate) mod spares;
pub(crate) mod thread_state;
pub(crate) mod tokens;
pub(crate) mod word;

use self::context::{Context, Covered, Published};
use self::lull::Membership;
use self::notes::{Note, Notes};
use self::thread_state::ThreadState;
use self::tokens::Tokens;
use self::word::{Holder, SeatWord};
use crate::base::park::{Lease, Parker};
use crate::base::running::{self, Doing};
use crate::base::stats::Counters;
use crate::base::sync::{AtomicBool, AtomicU64, CachePadded, Ordering};
use crate::queue::kept::Kept;
use crate::queue::nested::Nested;
use crate::queue::slab::Slab;
use crate::queue::spawned::Spawned;

/// A seat. What all threads look at and few write comes first, on a line of its own; then what
/// its holder writes all the time. A guest that comes and goes touches one line of each.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Seat {
    pub(crate) word: SeatWord,
    pub(crate) thread: ThreadState,
    pub(crate) index: usize,
    pub(crate) nested: Box<Nested>,
    idle_parker: Lease,
    wait_parker: Lease,
    loan_parker: Lease,
    /// Whether the seat is promised to its thread, and that is yet to be called: see `Shared::deliver`.
    uncalled: AtomicBool,
    own: [CachePadded<()>; 0],
    pub(crate) counters: Counters,
    /// Whether anything was put into `spawned` since a guest sat down.
    pub(crate) spawning: Note,
    /// The lull that the holder is a member of, if any.
    pub(crate) membership: Membership,
    /// The last guest as the system knows it; zero where it is not asked.
    pub(crate) guest: Note,
    pub(crate) notes: Notes,
    /// Counts of a scope, for tasks that were run here.
    pub(crate) kept: Kept,
    /// What jobs here work under.
    pub(crate) tokens: Tokens,
    /// Where jobs that are spawned here are kept.
    pub(crate) slab: Slab,
    context: Published,
    /// How often it was seen to be held; the looker's.
    looks: Note,
    /// Whether the thread is back for which this spare seat is open: see `spares.rs`.
    spent: AtomicBool,
    /// Whether halves of this seat were ever moved elsewhere: see `work/family.rs`.
    moved: AtomicBool,
    /// The greatest tag of a scope that was opened here and of which a task was moved to another deque or to the injector.
    strays: AtomicU64,
    pub(crate) spawned: Spawned,
    /// Seats (by index, modulo 64) whose holders wait for a job that runs here, and find nothing to
    /// do: they are hungry for pieces of it.
    waiters: CachePadded<AtomicU64>,
}

impl Seat {
    pub(crate) fn new(index: usize, seats: usize, holder: Holder) -> Self {
        Self {
            word: SeatWord::new(holder),
            thread: ThreadState::new(),
            index,
            nested: Nested::new(seats),
            idle_parker: Lease::new(),
            wait_parker: Lease::new(),
            loan_parker: Lease::new(),
            uncalled: AtomicBool::new(false),
            own: [],
            counters: Counters::new(),
            spawning: Note::new(0),
            membership: Membership::new(),
            guest: Note::new(0),
            slab: Slab::new(),
            notes: Notes::new(index),
            kept: Kept::new(),
            tokens: Tokens::new(),
            context: Published::new(),
            looks: Note::new(0),
            spent: AtomicBool::new(false),
            moved: AtomicBool::new(false),
            strays: AtomicU64::new(0),
            spawned: Spawned::new(),
            waiters: CachePadded::new(AtomicU64::new(0)),
        }
    }

    // ---- tasks of scopes that were opened here ----------------------------------------------

    /// A task of the scope `tag`, which was opened here, is about to be moved to another deque or to the injector. The thread that
    /// moves it tells the owner afterwards, and the owner then sees this note as well.
    pub(crate) fn note_stray(&self, tag: u64) {
        if !self.may_have_strays(tag) {
            self.strays.fetch_max(tag, Ordering::Relaxed);
        }
    }

    /// Whether such a task may have been moved. Also true if one of a scope that was opened here later was.
    pub(crate) fn may_have_strays(&self, tag: u64) -> bool {
        self.strays.load(Ordering::Relaxed) >= tag
    }

    // ---- three sleepers, three parkers ------------------------------------------------------

    /// What the seat's thread sleeps on while there is no work, or a guest on the seat.
    pub(crate) fn idle_parker(&self) -> &'static Parker {
        self.idle_parker.parker()
    }

    /// What the seat's holder, thread or guest, sleeps on while it waits for something.
    pub(crate) fn wait_parker(&self) -> &'static Parker {
        self.wait_parker.parker()
    }

    /// What a guest sleeps on that has lent the seat: its holder, the thread, may wait meanwhile.
    pub(crate) fn loan_parker(&self) -> &'static Parker {
        self.loan_parker.parker()
    }

    /// The seat was promised to its thread. The caller, or a thread that helps it, calls that later.
    pub(crate) fn owe_call(&self) {
        // Release: pairs with `take_call`. The thread that is called finds its seat NOTIFIED. An exchange: loom orders a plain
        // store and an exchange of one word too loosely.
        self.uncalled.swap(true, Ordering::Release);
    }

    /// Whether the calling thread is to call the seat's thread.
    pub(crate) fn take_call(&self) -> bool {
        // Acquire: pairs with `owe_call`.
        self.uncalled.load(Ordering::Relaxed) && self.uncalled.swap(false, Ordering::Acquire)
    }

    // ---- the context ------------------------------------------------------------------------

    /// The job on top, as others see it: whole, or not at all.
    pub(crate) fn context(&self) -> Option<Context> {
        self.context.read()
    }

    /// The lowest job of the scope `tag` that the holder is in the middle of, as others see it.
    pub(crate) fn job_of(&self, tag: u64) -> Option<Context> {
        self.context.lowest(tag)
    }

    /// All jobs that the holder is in the middle of, as others see them, the lowest first.
    pub(crate) fn jobs(&self) -> Option<Vec<Context>> {
        self.context.stack()
    }

    /// Whether the holder is still in the middle of it.
    pub(crate) fn is_at(&self, context: Context) -> bool {
        self.context.is_at(context)
    }

    /// Starts work on something with that tag, on top of what is under way. Gives the context,
    /// and what to hand to [`Self::end`].
    #[inline]
    pub(crate) fn begin(&self, tag: u64) -> (Context, Covered) {
        self.nested.change_context();
        self.context
            .push(tag, self.nested.depth(), self.notes.next_stamp())
    }

    /// What was begun is found to be a part of that loop.
    pub(crate) fn set_course(&self, course: usize) {
        self.context.set_course(course);
    }

    /// The stamp of what is under way: no two have the same.
    pub(crate) fn stamp(&self) -> u64 {
        self.own_context().since
    }

    /// The depth above which nested jobs are pieces of what is under way.
    pub(crate) fn base(&self) -> usize {
        self.own_context().base
    }

    /// What the holder works on, as it sees it.
    pub(crate) fn own_context(&self) -> Context {
        self.context.own()
    }

    /// Ends it.
    #[inline]
    pub(crate) fn end(&self, covered: Covered) {
        self.nested.change_context();
        self.context.pop(covered);
    }

    /// How often work on something was begun or ended here, twice over.
    pub(crate) fn begun(&self) -> u32 {
        self.context.version()
    }

    // ---- waiters ---------------------------------------------------------------------

    /// The holder of the seat `waiter` is hungry for pieces of what runs here. Says whether that is new.
    pub(crate) fn add_waiter(&self, waiter: usize) -> bool {
        let bit = 1 << (waiter % 64);
        // Relaxed, here and below: a waiter fences before its last look; a holder fences after it has published
        // or spawned, except in a lull.
        let new = self.waiters.load(Ordering::Relaxed) & bit == 0;
        if new {
            self.waiters.fetch_or(bit, Ordering::Relaxed);
        }
        new
    }

    /// The holder of the seat `waiter` no longer waits.
    pub(crate) fn remove_waiter(&self, waiter: usize) {
        let bit = 1 << (waiter % 64);
        if self.waiters.load(Ordering::Relaxed) & bit != 0 {
            self.waiters.fetch_and(!bit, Ordering::Relaxed);
        }
    }

    /// Whether any waiter is hungry.
    #[inline(always)]
    pub(crate) fn is_waited_for(&self) -> bool {
        self.waiters.load(Ordering::Relaxed) != 0
    }

    /// Takes the waiters down, to be told of work: bit k stands for the seats k modulo 64.
    pub(crate) fn take_waiters(&self) -> u64 {
        if self.is_waited_for() {
            self.waiters.swap(0, Ordering::Relaxed)
        } else {
            0
        }
    }

    /// The waiters as they seem to be.
    pub(crate) fn waiters(&self) -> u64 {
        self.waiters.load(Ordering::Relaxed)
    }

    // ---- halves that were moved -------------------------------------------------------------

    /// Nested jobs of this seat are about to be moved to the injector.
    pub(crate) fn note_moved(&self) {
        // Relaxed: the holder looks again and again as long as it finds its job neither begun nor back.
        self.moved.store(true, Ordering::Relaxed);
    }

    /// Whether any ever were.
    pub(crate) fn has_moved(&self) -> bool {
        self.moved.load(Ordering::Relaxed)
    }

    // ---- what others see --------------------------------------------------------------------

    /// How many jobs any thread may take here, roughly.
    pub(crate) fn public_jobs(&self) -> usize {
        self.nested.public() + self.spawned.len()
    }

    /// Whether any thread may take something here.
    pub(crate) fn has_work(&self) -> bool {
        self.nested.has_public() || !self.spawned.is_empty()
    }

    /// A number that changes while the seat is in use, and each time it is looked at while it is
    /// held.
    pub(crate) fn activity(&self) -> u64 {
        let held = u64::from(self.is_held());
        let looks = self.looks.get().wrapping_add(held);
        self.looks.set(looks);
        self.counters
            .guests
            .get()
            .wrapping_add(self.counters.jobs.get())
            .wrapping_add(looks)
    }

    /// Whether some thread sits here.
    pub(crate) fn is_held(&self) -> bool {
        self.word.load().is_held()
    }

    /// Whether it has no thread, and no other sits there.
    pub(crate) fn is_vacant(&self) -> bool {
        self.word.load().holder() == Holder::Vacant
    }

    /// What the thread does that sits here, as the system sees it. The calling thread is one that waits: it may
    /// hold a seat that it stands aside from.
    #[cold]
    pub(crate) fn doing(&self) -> Doing {
        let holder = match self.word.load().holder() {
            Holder::Guest | Holder::Alone => &self.guest,
            _ => &self.notes.thread,
        };
        let thread = holder.get();
        if running::ASKED && thread == running::me() {
            return Doing::Waits;
        }
        running::doing(thread)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Seat;
    use super::word::Holder;

    /// A thief that looked before must not take what is published after.
    #[test]
    fn what_begins_and_what_ends_is_another_context() {
        let seat = Seat::new(0, 1, Holder::Awake);
        assert!(!seat.nested.has_turned());
        let (_, outer) = seat.begin(1);
        assert!(seat.nested.has_turned());
        seat.end(outer);
        assert!(seat.nested.has_turned());
    }
}
