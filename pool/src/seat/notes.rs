//! What the holder of a seat remembers between one call and the next.
#![forbid(unsafe_code)]

use crate::base::sync::{AtomicU64, Ordering};
#[cfg(not(loom))]
use crate::pace::glance::{Glance, Glances};
#[cfg(not(loom))]
use crate::pace::join_pace::Rhythm;
#[cfg(not(loom))]
use crate::pace::join_trial::Tried;

/// A number that the holder of a seat keeps for itself.
#[derive(Debug)]
pub(crate) struct Note(AtomicU64);

impl Note {
    pub(super) fn new(value: u64) -> Self {
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

/// How often the holder yielded in vain, and since when.
#[derive(Debug)]
pub(crate) struct Vain(Note, Note);

impl Vain {
    pub(crate) fn get(&self) -> (u64, u64) {
        (self.0.get(), self.1.get())
    }
    pub(crate) fn set(&self, yields: u64, since: u64) {
        self.0.set(yields);
        self.1.set(since);
    }
}

/// What the holder remembers between one call and the next.
#[derive(Debug)]
pub(crate) struct Notes {
    /// When a request for work was last answered.
    pub(crate) answered: Note,
    /// The outermost call of joins that runs here, if it is tried.
    #[cfg(not(loom))]
    pub(crate) tried: Tried,
    /// Yields of the holder.
    pub(crate) vain: Vain,
    /// How quickly jobs are pushed meanwhile.
    #[cfg(not(loom))]
    pub(crate) rhythm: Rhythm,
    /// When a very short loop begins with a look at the clock.
    #[cfg(not(loom))]
    glances: Glances,
    /// How many jobs run here in the middle of something else: of a wait, or of a job that yields.
    pub(crate) on_top: Note,
    /// The stamp of the last closure of a broadcast that was begun here.
    pub(crate) letter: Note,
    /// Whether the thread has read a letter since it last looked around.
    pub(crate) mailed: Note,
    /// Counts the contexts and scopes that began here.
    stamp: Note,
    /// The greatest tag of a scope that was opened here and of which a task was brought here from elsewhere.
    brought: Note,
    /// How many more jobs to run before a look at the injector, when the last one was, and the
    /// interval.
    pub(crate) until_outside: Note,
    pub(crate) outside_at: Note,
    pub(crate) outside_every: Note,
    /// How long the thread looks for work before it sleeps, in nanoseconds.
    pub(crate) patience: Note,
    /// The seat's own thread as the system knows it; zero where it is not asked.
    pub(crate) thread: Note,
    /// Whether the thread has offered its seat to a caller.
    pub(crate) offered: Note,
    /// State of the random generator.
    random: Note,
}

impl Notes {
    /// For the seat `index`.
    pub(super) fn new(index: usize) -> Self {
        Self {
            answered: Note::new(0),
            vain: Vain(Note::new(0), Note::new(0)),
            #[cfg(not(loom))]
            tried: Tried::new(),
            #[cfg(not(loom))]
            rhythm: Rhythm::new(),
            #[cfg(not(loom))]
            glances: Glances::new(),
            on_top: Note::new(0),
            letter: Note::new(0),
            mailed: Note::new(0),
            stamp: Note::new(0),
            brought: Note::new(0),
            until_outside: Note::new(32),
            outside_at: Note::new(0),
            outside_every: Note::new(32),
            patience: Note::new(10_000),
            thread: Note::new(0),
            offered: Note::new(0),
            random: Note::new((index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        }
    }

    /// A number greater than all before.
    pub(crate) fn next_stamp(&self) -> u64 {
        let stamp = self.stamp.get() + 1;
        self.stamp.set(stamp);
        stamp
    }

    /// A task of the scope `tag`, which was opened here, comes into this seat's deque, and was not pushed here.
    pub(crate) fn bring(&self, tag: u64) {
        self.brought.set(self.brought.get().max(tag));
    }

    /// Whether such a task may lie here. Also true if one came of a scope that was opened inside that one.
    pub(crate) fn may_have_brought(&self, tag: u64) -> bool {
        self.brought.get() >= tag
    }

    /// A very short loop begins.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn glance(&self) -> Option<Glance> {
        self.glances.next(|| self.random())
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Notes;

    #[test]
    fn each_stamp_is_greater_than_all_before() {
        let notes = Notes::new(0);
        let stamps = [(); 5].map(|()| notes.next_stamp());
        assert!(stamps.windows(2).all(|two| two[0] < two[1]), "{stamps:?}");
    }
}
