//! What the pace asks of the pool, and what it answers to a loop.
#![forbid(unsafe_code)]

use crate::pace::glance::Glance;
use crate::pace::wakes::Wakes;

/// What the pace must see of the pool.
pub(crate) trait View {
    /// Whether a thread looks after stuck owners.
    fn watched(&self) -> bool;
    /// Whether what begins here is no part of another loop. (One inside another may be of use to threads that
    /// have nothing to do, though it is not over sooner for that.)
    fn is_outermost(&self) -> bool;
    /// True once in `n` times.
    fn chance(&self, n: u64) -> bool;
    /// A look at the clock as a very short loop begins, now and then.
    fn glance(&self) -> Option<Glance>;
    /// Which threads would take work; `None` if enough that was offered before still lies there, or none
    /// can be offered.
    fn demand(&self) -> Option<Demand>;
    /// Whether a thread waits for what this one does.
    fn is_waited_for(&self) -> bool;
    /// Whether each thread of the pool has a call of its own to do.
    fn is_crowded(&self) -> bool;
    /// Whether threads sleep that could come for what this one has laid out and not published; `None` if that is
    /// nothing.
    fn kept(&self) -> Option<bool>;
    /// Whether there is anything such.
    fn keeps(&self) -> bool;
    /// Wakes a thread for what lies offered already.
    fn wake_ahead(&self);
    /// Passes on the costs of wake-ups. Called only after sleepers were found.
    fn with_wakes<R>(&self, f: impl FnOnce(&Wakes) -> R) -> R;
}

/// Which threads would take work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Demand {
    /// A thread that waits for this loop.
    Waiting,
    /// A thread that searches.
    Awake,
    /// Only threads that sleep, beside those that are on their way to what is `offered` already.
    Asleep { offered: usize },
    /// Only threads that sleep. Enough is `offered`, but those that come for the first of it divide it, and more
    /// could be on their way by then.
    Later { offered: usize },
    /// None.
    None,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Run a block of this many items.
    Run(usize),
    /// Give part of what is left away.
    Share,
}

/// What to do before a block in which this thread may be for long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bare {
    /// Nothing.
    No,
    /// Half of the piece is laid out.
    Halve,
    /// All that is laid out is published.
    Publish {
        /// Whether threads are woken for it.
        wakes: bool,
    },
}
