//! The pool as seen by a thread that begins or runs a loop.
#![forbid(unsafe_code)]

use super::pool;
use crate::pace::glance::Glance;
use crate::pace::loop_pace::{AHEAD, Demand, View};
use crate::pace::wakes::Wakes;
use crate::seat::context::CallOf;
use crate::work::worker::{FOR_LOOP, Worker};

/// The pool as the calling thread sees it.
pub(super) struct Here<'a>(Option<&'a Worker<'a>>);

impl Here<'_> {
    #[inline]
    pub(super) fn with<R>(f: impl FnOnce(&Here<'_>) -> R) -> R {
        Worker::with(|worker| f(&Here(worker)))
    }

    /// The number of threads of the pool.
    #[inline]
    pub(super) fn threads(&self) -> usize {
        self.0
            .map_or_else(pool::current_num_threads, |w| w.shared.len())
    }

    /// In how many calls of that loop the thread is.
    #[inline]
    pub(super) fn calls_of(&self, site: usize) -> usize {
        self.0.map_or(0, |worker| worker.calls_of(site))
    }

    /// The innermost call of that loop that the thread is in.
    pub(super) fn call_of(&self, site: usize) -> Option<CallOf> {
        self.0?.call_of(site).copied()
    }
}

impl View for Here<'_> {
    #[inline]
    fn watched(&self) -> bool {
        match self.0 {
            Some(worker) => worker.shared.is_watched(Some(worker.seat)),
            // The call goes to a pool first.
            None => pool::global().is_watched(None),
        }
    }

    #[inline]
    fn is_outermost(&self) -> bool {
        self.0.is_none_or(Worker::is_at_bottom)
    }

    #[inline]
    fn chance(&self, n: u64) -> bool {
        self.0
            .is_none_or(|w| w.seat.notes.random().is_multiple_of(n))
    }

    #[inline]
    fn glance(&self) -> Option<Glance> {
        self.0?.seat.notes.glance()
    }

    fn demand(&self) -> Option<Demand> {
        let worker = self.0?;
        let offered = worker.nested().public();
        if offered > 0 {
            return beside(worker, offered);
        }
        if worker.seat.is_waited_for() {
            return Some(Demand::Waiting);
        }
        let census = worker.shared.sleep.census();
        Some(match (census.searching(), worker.sleepers(census)) {
            (0, 0) => Demand::None,
            (0, _) => Demand::Asleep { offered: 0 },
            _ => Demand::Awake,
        })
    }

    fn kept(&self) -> Option<bool> {
        let worker = self.0.filter(|w| w.nested().has_private())?;
        Some(worker.sleepers(worker.shared.sleep.census()) > 0)
    }

    fn keeps(&self) -> bool {
        self.0.is_some_and(|w| w.nested().has_private())
    }

    fn is_waited_for(&self) -> bool {
        self.0.is_some_and(|w| w.seat.is_waited_for())
    }

    fn is_crowded(&self) -> bool {
        self.0.is_some_and(Worker::is_crowded)
    }

    fn wake_ahead(&self) {
        if let Some(worker) = self.0 {
            worker.wake(AHEAD);
        }
    }

    fn with_wakes<R>(&self, f: impl FnOnce(&Wakes) -> R) -> R {
        match self.0 {
            Some(worker) => f(&worker.shared.wakes),
            None => f(&pool::global().wakes),
        }
    }
}

/// Which threads would take more work than is offered already. They are sleepers, if each offer has
/// a searcher already and more threads may be woken.
#[inline(never)]
fn beside(worker: &Worker<'_>, offered: usize) -> Option<Demand> {
    let census = worker.shared.sleep.census();
    let later = offered >= FOR_LOOP;
    let each = if later { AHEAD } else { FOR_LOOP };
    let more = offered <= census.searching()
        && census.wants_more(worker.shared.len(), each)
        && worker.sleepers(census) > 0;
    more.then_some(match later {
        true => Demand::Later { offered },
        false => Demand::Asleep { offered },
    })
}
