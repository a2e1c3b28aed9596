//! Progress bars on parallel iterators.
//!
//! Items are counted where they pass, by each thread on its own; the bar is told about every ten
//! milliseconds, so that even the shortest items are not slowed down by being counted.
#![forbid(unsafe_code)]

use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};
use tine_iter::iter::{ParallelIterator, Watch, Watcher};

/// How often a thread tells the bar, more or less.
const BEAT: Duration = Duration::from_millis(10);

/// Most items that are counted before the clock is looked at again.
const MOST: u64 = 1 << 20;

/// Progress bars for every parallel iterator.
///
/// ```
/// use tine::prelude::*;
///
/// assert_eq!((0..100).into_par_iter().progress().map(|n| n * 2).max(), Some(198));
/// ```
pub trait ParallelProgress: ParallelIterator {
    /// Shows how many items have passed on a new bar, which knows the length if the iterator does.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let sum: u32 = (0..1000_u32).into_par_iter().progress().sum();
    /// assert_eq!(sum, 499_500);
    /// ```
    fn progress(self) -> Progress<Self> {
        let bar = bar_for(&self);
        self.progress_with(bar)
    }

    /// The same for a number of items that is known to the caller alone.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let evens = (0..1000).into_par_iter().filter(|n| n % 2 == 0);
    /// assert_eq!(evens.progress_count(500).count(), 500);
    /// ```
    fn progress_count(self, len: u64) -> Progress<Self> {
        self.progress_with(ProgressBar::new(len))
    }

    /// The same in a style of one's own.
    ///
    /// ```
    /// use tine::prelude::*;
    /// use indicatif::ProgressStyle;
    ///
    /// let style = ProgressStyle::with_template("{bar:40} {pos}/{len}").unwrap();
    /// assert_eq!((0..10).into_par_iter().progress_with_style(style).count(), 10);
    /// ```
    fn progress_with_style(self, style: ProgressStyle) -> Progress<Self> {
        let bar = bar_for(&self).with_style(style);
        self.progress_with(bar)
    }

    /// Shows how many items have passed on `bar`, and finishes it as its style says.
    ///
    /// ```
    /// use tine::prelude::*;
    /// use indicatif::ProgressBar;
    ///
    /// let bar = ProgressBar::new(100);
    /// let v: Vec<i32> = (0..100).into_par_iter().progress_with(bar.clone()).collect();
    /// assert_eq!(v.len(), 100);
    /// assert_eq!(bar.position(), 100);
    /// assert!(bar.is_finished());
    /// ```
    fn progress_with(self, bar: ProgressBar) -> Progress<Self> {
        Watch::new(self, Bar(bar))
    }
}

impl<I: ParallelIterator> ParallelProgress for I {}

fn bar_for(items: &impl ParallelIterator) -> ProgressBar {
    match items.opt_len() {
        Some(len) => ProgressBar::new(len as u64),
        None => ProgressBar::no_length(),
    }
}

/// A parallel iterator with a progress bar; [`progress`](ParallelProgress::progress) makes one.
///
/// ```
/// use tine::{prelude::*, progress::Progress};
///
/// let counted: Progress<_> = vec![1, 2].into_par_iter().progress();
/// assert_eq!(counted.sum::<i32>(), 3);
/// ```
pub type Progress<I> = Watch<I, Bar>;

/// A bar that is finished when the iteration has ended.
///
/// ```
/// use indicatif::ProgressBar;
/// use tine::prelude::*;
///
/// let bar = ProgressBar::new(2);
/// let items = vec![1, 2].into_par_iter().progress_with(bar.clone());
/// assert_eq!((items.sum::<i32>(), bar.position(), bar.is_finished()), (3, 2, true));
/// ```
#[derive(Debug)]
pub struct Bar(ProgressBar);

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_using_style();
    }
}

impl Watcher for Bar {
    type Piece = Count;

    fn begin(&self) -> Count {
        Count {
            bar: self.0.clone(),
            untold: 0,
            next: 1,
            told: Instant::now(),
        }
    }

    #[inline]
    fn pass(&self, count: &mut Count) {
        count.untold += 1;
        if count.untold == count.next {
            count.look();
        }
    }
}

/// What one thread has counted in one contiguous piece.
#[doc(hidden)]
#[derive(Debug)]
pub struct Count {
    bar: ProgressBar,
    /// Items that the bar does not know of.
    untold: u64,
    /// At how many of them to look at the clock.
    next: u64,
    told: Instant,
}

impl Count {
    /// Tells the bar, and adapts to the speed of the items.
    #[cold]
    fn look(&mut self) {
        let took = self.told.elapsed();
        if took < BEAT / 2 {
            self.next = (self.next * 2).min(MOST);
        } else if took > BEAT * 2 {
            self.next = (self.next / 2).max(1);
        }
        self.tell();
        self.told += took;
    }

    fn tell(&mut self) {
        self.bar.inc(std::mem::take(&mut self.untold));
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        if self.untold > 0 {
            self.tell();
        }
    }
}
