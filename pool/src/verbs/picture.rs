//! A pool in words, for a reader who wants to know why it stands still: which thread holds which
//! seat, which jobs lie there, and which seats wait for which.
//!
//! The words are read one after the other while the pool goes on. So the picture of a pool at work
//! is blurred, and the picture of a pool that hangs is sharp.
#![forbid(unsafe_code)]

use crate::seat::Seat;
use crate::verbs::pool::{self, ThreadPool};
use crate::work::shared::Shared;
use crate::work::worker::tag;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

impl ThreadPool {
    /// What each thread of this pool does at the moment, in words. See [`picture()`].
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert!(pool.picture().contains("seat   1"));
    /// ```
    pub fn picture(&self) -> String {
        Picture(self.as_it_is()).to_string()
    }

    /// A closure that gives a picture of this pool as long as the pool exists. The closure does not
    /// keep the pool alive.
    #[doc(hidden)]
    pub fn painter(&self) -> impl Fn() -> Option<String> + Send + use<> {
        let pool = Arc::downgrade(&self.as_it_is().keep());
        move || pool.upgrade().map(|shared| Picture(&shared).to_string())
    }
}

/// What each thread of the global pool does at the moment, in words: for a program that hangs.
///
/// The first line counts threads and jobs. Each further line is a seat: its index, which thread
/// holds it, the jobs that lie there, and which seats wait for it. The text is for people, and its
/// form may change in any version. The picture of a pool at work is blurred, since the pool goes on
/// meanwhile; the picture of a pool that hangs is sharp. The global pool is made if there is none
/// yet.
///
/// [`ThreadPool::picture`] shows another pool.
///
/// ```
/// # use tine_pool as tine;
/// tine::join(|| (), || ());
/// let picture = tine::picture();
/// assert!(picture.contains("seat   0"));
/// ```
#[inline]
pub fn picture() -> String {
    Picture(pool::global()).to_string()
}

struct Picture<'a>(&'a Shared);

impl Display for Picture<'_> {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Shared {
            seats,
            desks,
            injector,
            sleep,
            ..
        } = self.0;
        let census = sleep.census();
        writeln!(
            f,
            "{} seats; threads: {} inactive, {} of them asleep; {} injected; looked after: {}; ending: {}; refused: {}",
            seats.count(),
            census.inactive(),
            census.sleeping(),
            injector.len(),
            self.0.looker.seat().is_some(),
            self.0.is_ending(),
            self.0.stats().refused_threads,
        )?;
        for seat in seats {
            let desk = &desks[seat.index];
            writeln!(
                f,
                "{}; {} letters, {} in order",
                Line(seat),
                desk.mailbox.len(),
                desk.fifo.len()
            )?;
        }
        Ok(())
    }
}

/// One seat.
struct Line<'a>(&'a Seat);

impl Display for Line<'_> {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let seat = self.0;
        let (nested, stats) = (&seat.nested, seat.counters.read());
        write!(
            f,
            "  seat {:>3} {:<12} joins {} ({} public{}), spawned {}; ",
            seat.index,
            format!("{:?}", seat.word.load()),
            nested.depth(),
            nested.public(),
            if nested.is_wanted() { ", wanted" } else { "" },
            seat.spawned.len(),
        )?;
        match seat.context() {
            None => f.write_str("between two jobs; ")?,
            Some(context) if context.tag == 0 => write!(f, "at depth {}; ", context.base)?,
            Some(context) => {
                let (base, tag) = (context.base, context.tag);
                match (tag::is_stolen(tag), tag::home(tag)) {
                    (Some((seat, depth)), _) => write!(
                        f,
                        "at depth {base}, for what lay at depth {depth} of seat {seat}; "
                    )?,
                    (None, Some(seat)) => {
                        write!(f, "at depth {base}, for scope {tag:#x} of seat {seat}; ")?;
                    }
                    (None, None) => write!(f, "at depth {base}, for {tag:#x} from outside; ")?,
                }
            }
        }
        let waiters = seat.waiters();
        let waiters: Vec<_> = (0..64).filter(|i| waiters >> i & 1 == 1).collect();
        write!(
            f,
            "waited for by {waiters:?}; parkers: idle {:?}, wait {:?}, loan {:?}; {} jobs, {} parks",
            seat.idle_parker(),
            seat.wait_parker(),
            seat.loan_parker(),
            stats.jobs,
            stats.parks
        )
    }
}
