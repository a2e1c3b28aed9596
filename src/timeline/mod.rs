//! What each thread did and when: recorded, summed up, and drawn. The feature `timeline`.
//!
//! ```
//! use tine::prelude::*;
//! use tine::timeline;
//!
//! let (sum, timeline) = timeline::record(|| (0..100_000_u64).into_par_iter().sum::<u64>());
//! assert_eq!(sum, 4_999_950_000);
//! assert!(timeline.lanes().iter().all(|lane| lane.busy() <= timeline.took()));
//!
//! // A picture for the browser, and a trace for chrome://tracing or ui.perfetto.dev:
//! let svg = timeline.to_svg();
//! let json = timeline.to_chrome_trace();
//! assert!(svg.starts_with("<svg") && json.starts_with("{\"traceEvents\":["));
//! ```
//!
//! While nothing is recorded, a build with the feature `timeline` checks one flag where a job that
//! was stolen, spawned or sent begins or ends. Joins that stay on their thread check nothing, and
//! neither does a build without the feature.
#![forbid(unsafe_code)]

mod chrome;
mod lanes;
mod report;
mod spans;
mod svg;

pub use lanes::{Lane, Timeline};
pub use report::Report;
use std::thread;
use tine_pool::trace::Recording;
use tine_pool::{current_num_threads, current_thread_index};

/// Runs `work`. Returns its result, and what all threads of all pools did meanwhile.
///
/// Recordings may overlap. Each thread keeps at most about a million events; [`Timeline::missed`]
/// returns how many had no room.
///
/// ```
/// let (answer, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
/// assert_eq!(answer, (6, 7));
/// assert_eq!(timeline.missed(), 0);
/// ```
pub fn record<R>(work: impl FnOnce() -> R) -> (R, Timeline) {
    // Outside every pool the global pool is not asked yet: `work` may be what builds it.
    let seats = current_thread_index().map(|_| current_num_threads());
    let recording = Recording::new();
    let result = work();
    let (took, lanes) = recording.end();
    let caller = thread::current();
    let mut timeline = Timeline::new(took, lanes, caller.name());
    timeline.seats = seats;
    (result, timeline)
}

/// Runs `work` and prints, to the standard error, where its time went: an answer to "why is this
/// not faster?".
///
/// ```
/// use tine::prelude::*;
///
/// let sum = tine::report(|| (0..1_000_000_u64).into_par_iter().map(|n| n ^ n >> 3).sum::<u64>());
/// assert!(sum > 0);
/// ```
pub fn report<R>(work: impl FnOnce() -> R) -> R {
    let (result, timeline) = record(work);
    eprintln!("{}", timeline.report());
    result
}

impl Timeline {
    /// The recording in numbers.
    ///
    /// ```
    /// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
    /// println!("{}", timeline.report());
    /// ```
    pub fn report(&self) -> Report {
        Report::new(self)
    }

    /// The recording as a picture, complete in itself: a row for each thread, time to the right.
    ///
    /// ```
    /// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
    /// assert!(timeline.to_svg().ends_with("</svg>\n"));
    /// ```
    pub fn to_svg(&self) -> String {
        svg::draw(self)
    }

    /// The recording in the format that `chrome://tracing` and Perfetto read.
    ///
    /// ```
    /// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
    /// assert!(timeline.to_chrome_trace().contains("thread_name"));
    /// ```
    pub fn to_chrome_trace(&self) -> String {
        chrome::trace(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::time::{Duration, Instant};
    use tine_iter::prelude::*;

    /// The events of a recording, and how many it missed.
    fn recorded(work: impl FnOnce()) -> (usize, usize) {
        let recording = Recording::new();
        work();
        let (_, lanes) = recording.end();
        let events = lanes.iter().map(|lane| lane.events.len()).sum();
        (events, lanes.iter().map(|lane| lane.missed).sum())
    }

    #[test]
    fn a_recording_that_begins_while_another_ends() {
        let over = &AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                while !over.load(Relaxed) {
                    drop(Recording::new());
                }
            });
            let end = Instant::now() + Duration::from_secs(1);
            let mut lost = 0;
            while Instant::now() < end {
                let (events, _) = recorded(|| {
                    tine_pool::join(|| (), || ());
                });
                lost += usize::from(events == 0);
            }
            over.store(true, Relaxed);
            assert_eq!(lost, 0, "recordings of a call without its events");
        });
    }

    #[test]
    fn a_block_of_another_recording_counts_for_that() {
        let pool = tine_pool::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        let sum = |n: u32, nap| {
            let nap = |n| {
                thread::sleep(Duration::from_millis(nap));
                n
            };
            pool.install(|| (0..n).into_par_iter().map(nap).sum::<u32>())
        };
        let ((), outer) = record(|| {
            sum(4, 50);
            let (_, inner) = record(|| sum(4, 1));
            let longest = inner.lanes().iter().map(Lane::longest_block).max();
            assert!(longest <= Some(inner.took()), "{longest:?}");
        });
        let longest = outer.lanes().iter().map(Lane::longest_block).max();
        assert!(longest >= Some(Duration::from_millis(25)), "{longest:?}");
    }
}
