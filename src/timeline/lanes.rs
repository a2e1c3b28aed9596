//! What was recorded, thread by thread.
#![forbid(unsafe_code)]

use crate::timeline::spans::{self, Span};
use std::time::Duration;
use tine_pool::trace::{self, Act, Event, What};

/// What was recorded; [`record`](crate::timeline::record) makes one.
///
/// ```
/// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
/// assert!(timeline.lanes().len() >= 1, "the caller at least did something");
/// ```
#[derive(Debug, Clone)]
pub struct Timeline {
    pub(super) took: u64,
    pub(super) lanes: Vec<Lane>,
    /// The number of seats of the pool in which the call was made; `None` if it was made outside every pool.
    pub(super) seats: Option<usize>,
    missed: usize,
}

/// What one thread did.
///
/// ```
/// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
/// for lane in timeline.lanes() {
///     println!("{}: busy {:?}, {} jobs stolen", lane.name(), lane.busy(), lane.steals());
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Lane {
    pub(super) name: String,
    pub(super) spans: Vec<Span>,
    pub(super) moments: Vec<Event>,
    pub(super) busy: u64,
    longest_block: u64,
    /// Whether it was an ordinary thread that worked as a guest for a while.
    guest: bool,
}

impl Timeline {
    /// The lanes in a fixed order: the thread called `caller` first, then other guests, then the
    /// pool's own threads by their seats.
    pub(super) fn new(took: u64, recorded: Vec<trace::Lane>, caller: Option<&str>) -> Self {
        let missed = recorded.iter().map(|lane| lane.missed).sum();
        let place = |lane: trace::Lane| {
            let called = lane.name.as_deref() == caller;
            let seat = lane.events.first().map(|event| event.seat);
            let lane = Lane::new(lane, took);
            let place = (
                !(called && lane.guest),
                !lane.guest,
                seat,
                lane.name.clone(),
            );
            (place, lane)
        };
        let mut placed: Vec<_> = recorded.into_iter().map(place).collect();
        placed.sort_by(|a, b| a.0.cmp(&b.0));
        Self {
            took,
            lanes: placed.into_iter().map(|(_, lane)| lane).collect(),
            seats: None,
            missed,
        }
    }

    /// How long the recording took.
    ///
    /// ```
    /// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
    /// assert!(timeline.took() > std::time::Duration::ZERO);
    /// ```
    pub fn took(&self) -> Duration {
        Duration::from_nanos(self.took)
    }

    /// One lane for each thread that did anything in a pool: the caller first, then other guests,
    /// then the pool's own threads.
    ///
    /// ```
    /// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
    /// assert!(timeline.lanes().len() <= tine::current_num_threads() + 1);
    /// ```
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// How many events were not kept because there was no room. The events of other recordings at the
    /// same time take room too.
    ///
    /// ```
    /// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
    /// assert_eq!(timeline.missed(), 0);
    /// ```
    pub fn missed(&self) -> usize {
        self.missed
    }
}

impl Lane {
    pub(super) fn new(lane: trace::Lane, took: u64) -> Self {
        let spans = spans::pair(&lane.events, took);
        let is_moment = |event: &&Event| !matches!(event.what, What::Begin(_) | What::End(_));
        let moments = lane.events.iter().filter(is_moment).copied().collect();
        let seat = lane.events.first().map_or(0, |event| event.seat);
        Self {
            name: lane
                .name
                .unwrap_or_else(|| format!("thread on seat {seat}")),
            busy: spans::busy(&spans),
            guest: spans.iter().any(|span| span.act == Act::Guest),
            spans,
            moments,
            longest_block: lane.longest_block,
        }
    }

    /// The thread's name, or the seat that it first held.
    ///
    /// ```
    /// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
    /// assert!(timeline.lanes().iter().all(|lane| !lane.name().is_empty()));
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How long it worked, as a guest or on jobs, without the time that it waited, searched and
    /// slept.
    ///
    /// ```
    /// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
    /// assert!(timeline.lanes().iter().all(|lane| lane.busy() <= timeline.took()));
    /// ```
    pub fn busy(&self) -> Duration {
        Duration::from_nanos(self.busy)
    }

    /// How many jobs it took from the seats of other threads.
    ///
    /// ```
    /// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
    /// assert!(timeline.lanes().iter().all(|lane| lane.steals() <= 1));
    /// ```
    pub fn steals(&self) -> usize {
        self.count(|what| usize::from(matches!(what, What::Steal(_))))
    }

    /// How many threads it woke.
    ///
    /// ```
    /// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
    /// assert!(timeline.lanes().iter().all(|lane| lane.wakes() < 100));
    /// ```
    pub fn wakes(&self) -> usize {
        self.count(|what| usize::from(matches!(what, What::Wake(_))))
    }

    /// How many jobs of joins and loops it put on offer.
    ///
    /// ```
    /// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
    /// assert!(timeline.lanes().iter().all(|lane| lane.offers() <= 1));
    /// ```
    pub fn offers(&self) -> usize {
        self.count(|what| match what {
            What::Offer(count) => count,
            _ => 0,
        })
    }

    fn count(&self, of: impl Fn(What) -> usize) -> usize {
        self.moments.iter().map(|moment| of(moment.what)).sum()
    }

    /// The longest block of a loop that it ran between two looks at other threads, as far as it lies within
    /// the recording.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let sum = || (0..100_000_u64).into_par_iter().sum::<u64>();
    /// let (_, timeline) = tine::timeline::record(sum);
    /// assert!(timeline.lanes().iter().all(|lane| lane.longest_block() <= timeline.took()));
    /// ```
    pub fn longest_block(&self) -> Duration {
        Duration::from_nanos(self.longest_block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caller_comes_first_and_the_pools_threads_by_their_seats() {
        let lane = |name: Option<&str>, seat, act| trace::Lane {
            name: name.map(str::to_owned),
            events: vec![Event {
                at: 1,
                seat,
                what: What::Begin(act),
            }],
            missed: 0,
            longest_block: 0,
        };
        let lanes = || {
            vec![
                lane(Some("worker 1"), 1, Act::Run),
                lane(None, 0, Act::Guest),
                lane(Some("worker 0"), 0, Act::Sleep),
                lane(Some("main"), 2, Act::Guest),
            ]
        };
        let names = |recorded, caller| -> Vec<String> {
            let timeline = Timeline::new(10, recorded, caller);
            timeline.lanes.into_iter().map(|lane| lane.name).collect()
        };
        let expected = ["main", "thread on seat 0", "worker 0", "worker 1"];
        assert_eq!(names(lanes(), Some("main")), expected);
        let turned = lanes().into_iter().rev().collect();
        assert_eq!(names(turned, Some("main")), expected);
        assert_eq!(names(lanes(), None)[0], "thread on seat 0");
    }
}
