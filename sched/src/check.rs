//! What a program is checked for: every closure runs as often as it should, every value is dropped
//! once, and no borrow is used after its frame has gone.

use crate::rt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// How often a closure is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Often {
    pub(crate) least: u32,
    pub(crate) most: u32,
}

impl Often {
    pub(crate) const ONCE: Self = Self { least: 1, most: 1 };

    pub(crate) fn times(n: usize) -> Self {
        Self {
            least: n as u32,
            most: n as u32,
        }
    }

    pub(crate) fn perhaps_if(self, perhaps: bool) -> Self {
        Self {
            least: if perhaps { 0 } else { self.least },
            ..self
        }
    }
}

/// One closure.
struct Record {
    node: usize,
    what: &'static str,
    often: Often,
    /// The number of the pool that must have run it before it ends.
    pool: Option<usize>,
    ran: AtomicU32,
    dropped: AtomicU32,
}

static RECORDS: Mutex<Vec<&'static Record>> = Mutex::new(Vec::new());

/// A frame that closures borrow from. It is never freed, so that late users can be found.
pub(crate) struct Frame(AtomicBool);

/// A frame, for as long as it lasts.
pub(crate) struct Lasting(pub(crate) &'static Frame);

impl Lasting {
    pub(crate) fn new() -> Self {
        Self(Box::leak(Box::new(Frame(AtomicBool::new(true)))))
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        self.0.0.store(false, Relaxed);
    }
}

/// Owned by a closure: counts the runs of the closure, and its end.
pub(crate) struct Token {
    record: &'static Record,
    frame: Option<&'static Frame>,
}

impl Token {
    pub(crate) fn new(
        node: usize,
        what: &'static str,
        often: Often,
        frame: Option<&'static Frame>,
        pool: Option<usize>,
    ) -> Self {
        let record = Box::leak(Box::new(Record {
            node,
            what,
            often,
            pool,
            ran: AtomicU32::new(0),
            dropped: AtomicU32::new(0),
        }));
        records().push(record);
        Self { record, frame }
    }

    /// The closure runs.
    pub(crate) fn run(&self) {
        let Record {
            node, what, often, ..
        } = *self.record;
        self.look("run");
        if self.record.ran.fetch_add(1, Relaxed) >= often.most {
            fail(&format!(
                "{what} [{node}] was run more often than {} times",
                often.most
            ));
        }
    }

    /// Checks that what is borrowed is there.
    pub(crate) fn look(&self, doing: &str) {
        let Record {
            node,
            what,
            ref dropped,
            ..
        } = *self.record;
        if dropped.load(Relaxed) > 0 {
            fail(&format!("{what} [{node}] was {doing} after it was dropped"));
        }
        if self.frame.is_some_and(|f| !f.0.load(Relaxed)) {
            fail(&format!(
                "{what} [{node}] was {doing} after the frame it borrows from had gone"
            ));
        }
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        // Destructors take time, and other threads go on meanwhile.
        rt::work(10);
        self.look("dropped");
        self.record.dropped.fetch_add(1, Relaxed);
    }
}

fn records() -> std::sync::MutexGuard<'static, Vec<&'static Record>> {
    RECORDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A pool has been shut down: all its work is done.
pub(crate) fn pool_has_ended(pool: usize) {
    for record in records().iter().filter(|r| r.pool == Some(pool)) {
        record.settle(&format!("at the end of pool {pool}"));
    }
}

/// Everything has come to rest.
pub(crate) fn all_has_ended() {
    for record in records().iter() {
        record.settle("in the end");
    }
}

impl Record {
    fn settle(&self, when: &str) {
        let (ran, dropped) = (self.ran.load(Relaxed), self.dropped.load(Relaxed));
        let Self {
            node, what, often, ..
        } = *self;
        if ran < often.least {
            fail(&format!(
                "{what} [{node}] was run {ran} times {when}, not {}",
                often.least
            ));
        }
        if dropped != 1 {
            fail(&format!(
                "{what} [{node}] was dropped {dropped} times {when}"
            ));
        }
    }
}

/// The program has gone wrong.
pub(crate) fn fail(what: &str) -> ! {
    rt::report(what);
    rt::stop();
    // SAFETY: no preconditions.
    unsafe { libc::_exit(12) }
}
