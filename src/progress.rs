//! Progress bars on parallel iterators: the feature `progress`.
//!
//! Each thread counts the items that pass it. It tells the bar about every ten milliseconds, so
//! that counting does not slow down even the shortest items. A bar in the style of
//! [`progress`](ParallelProgress::progress) estimates the time left from the items so far.
#![forbid(unsafe_code)]

use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};
use tine_iter::iter::{ParallelIterator, Watch, Watcher};

/// How often a thread tells the bar, more or less.
const BEAT: Duration = Duration::from_millis(10);

/// The most items that are counted before the next look at the clock.
const MOST: u64 = 1 << 20;

/// Progress bars for every parallel iterator, with the feature `progress` of `tine`.
///
/// ```
/// use tine::prelude::*;
///
/// assert_eq!((0..100).into_par_iter().progress().map(|n| n * 2).max(), Some(198));
/// ```
pub trait ParallelProgress: ParallelIterator {
    /// Shows on a new bar how many items have passed. If the iterator knows its length, the bar
    /// shows that and the time left; otherwise how many items pass in a second.
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

    /// As [`progress`](Self::progress), for a number of items that only the caller knows.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let evens = (0..1000).into_par_iter().filter(|n| n % 2 == 0);
    /// assert_eq!(evens.progress_count(500).count(), 500);
    /// ```
    fn progress_count(self, len: u64) -> Progress<Self> {
        self.progress_with(styled(ProgressBar::new(len)))
    }

    /// As [`progress`](Self::progress), in a style of your own.
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

    /// Shows on `bar` how many items have passed, and finishes it in its style.
    ///
    /// A bar without a length takes the iterator's, if that is known. A bar with a length keeps it.
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
    ///
    /// let bar = ProgressBar::no_length();
    /// let twice = (0..50).into_par_iter().progress_with(bar.clone()).map(|n| n * 2);
    /// assert_eq!((twice.max(), bar.length()), (Some(98), Some(50)));
    /// ```
    fn progress_with(self, bar: ProgressBar) -> Progress<Self> {
        if let (None, Some(len)) = (bar.length(), self.opt_len()) {
            bar.set_length(len as u64);
        }
        Watch::new(self, Bar(bar))
    }
}

impl<I: ParallelIterator> ParallelProgress for I {}

fn bar_for(items: &impl ParallelIterator) -> ProgressBar {
    styled(match items.opt_len() {
        Some(len) => ProgressBar::new(len as u64),
        None => ProgressBar::no_length(),
    })
}

/// Shows the time left or, if the end is not known, the time so far.
fn styled(bar: ProgressBar) -> ProgressBar {
    let template = match bar.length() {
        Some(_) => "{wide_bar} {human_pos}/{human_len}, {eta} left",
        None => "{spinner} {human_pos} in {elapsed}, {per_sec}",
    };
    bar.with_style(ProgressStyle::with_template(template).expect("a template that is known"))
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

/// The number of items that one thread has counted in one contiguous piece.
#[doc(hidden)]
#[derive(Debug)]
pub struct Count {
    bar: ProgressBar,
    /// Items that the bar has not been told of.
    untold: u64,
    /// The count at which to look at the clock.
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

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::{ProgressDrawTarget, TermLike};
    use std::io;
    use std::sync::{Arc, Mutex};
    use tine_iter::iter::IntoParallelIterator;

    /// A terminal of 80 columns that keeps what is written to it.
    #[derive(Debug, Clone, Default)]
    struct Screen(Arc<Mutex<String>>);

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What a bar shows.
    fn shown(bar: ProgressBar, position: u64) -> String {
        let screen = Screen::default();
        bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(screen.clone())));
        bar.set_position(position);
        bar.tick();
        bar.force_draw();
        screen.0.lock().unwrap().clone()
    }

    #[test]
    fn a_bar_of_known_length_says_what_is_left() {
        let text = shown(bar_for(&(0..1000).into_par_iter()), 300);
        assert!(text.contains("300/1,000"), "{text:?}");
        assert!(text.contains("left"), "{text:?}");
    }

    #[test]
    fn a_bar_without_a_length_says_how_many() {
        let evens = (0..1000).into_par_iter().filter(|n| n % 2 == 0);
        let text = shown(bar_for(&evens), 300);
        assert!(text.contains("300 in"), "{text:?}");
        assert!(!text.contains("left"), "{text:?}");
    }

    #[test]
    fn a_length_that_is_known_is_told_and_one_that_is_set_stays() {
        let items = || (0..10).into_par_iter();
        let told = ProgressBar::no_length();
        items().progress_with(told.clone()).count();
        assert_eq!(told.length(), Some(10));
        let set = ProgressBar::new(7);
        items().progress_with(set.clone()).count();
        assert_eq!(set.length(), Some(7));
        let unknown = ProgressBar::no_length();
        let evens = items().filter(|n| n % 2 == 0);
        evens.progress_with(unknown.clone()).count();
        assert_eq!((unknown.length(), unknown.position()), (None, 5));
    }
}
