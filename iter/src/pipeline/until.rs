//! `until`: a pipeline whose source ends once a token is stopped.
#![forbid(unsafe_code)]

use super::build::Pipeline;
use super::outcome::Ending;
use super::stages::{Orders, Outcome, Run, Stages};
use super::station::Station;
use std::fmt;
use std::iter::Sum;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tine_pool::{StopToken, Stopped};

impl<L, X> Pipeline<L, X> {
    /// Ends the source once `token` is stopped. `until` comes last in a chain: the methods of its
    /// result run the pipeline, and return a [`Result`].
    ///
    /// `Ok` says that the source came to its end. Otherwise `Err` holds the result of the items
    /// that were drawn before the token was stopped. Items under way run to their end; no more are
    /// drawn. The token is checked before each batch is drawn.
    ///
    /// ```
    /// use tine::StopToken;
    ///
    /// let token = StopToken::new();
    /// let few = tine::pipeline(0..10_u64, 4).map(|n| n * n);
    /// assert_eq!(few.until(&token).sum::<u64>(), Ok(285));
    ///
    /// let endless = tine::pipeline(0_u64.., 4).inspect(|&n| {
    ///     if n == 1000 {
    ///         token.stop(); // or from another thread
    ///     }
    /// });
    /// let seen = endless.until(&token).count();
    /// assert!(seen.unwrap_err().so_far > 1000);
    /// ```
    pub fn until(self, token: &StopToken) -> Until<'_, L, X> {
        Until { base: self, token }
    }
}

/// What [`Pipeline::until`] returns.
///
/// ```
/// use tine::{StopToken, pipeline::{Source, Until}};
/// let token = StopToken::new();
/// let until: Until<'_, Source<_>> = tine::pipeline(0..9, 4).until(&token);
/// assert_eq!(until.count(), Ok(9));
/// ```
#[must_use = "nothing happens until the pipeline is run"]
pub struct Until<'t, L, X = super::outcome::Sure> {
    base: Pipeline<L, X>,
    token: &'t StopToken,
}

impl<L: Clone, X> Clone for Until<'_, L, X> {
    fn clone(&self) -> Self {
        Until {
            base: self.base.clone(),
            token: self.token,
        }
    }
}

impl<L: fmt::Debug, X> fmt::Debug for Until<'_, L, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Until")
            .field("base", &self.base)
            .field("token", self.token)
            .finish()
    }
}

/// Stages whose source ends once a token is stopped, as [`Until::run`] gives them to its closure.
///
/// ```
/// use tine::StopToken;
/// use tine::pipeline::{Cut, Pipeline, Source};
///
/// type Numbers = Source<std::ops::Range<u32>>;
/// fn largest(numbers: Pipeline<Cut<'_, Numbers>>) -> u32 {
///     numbers.fold(0, u32::max)
/// }
/// assert_eq!(tine::pipeline(0..7, 4).until(&StopToken::new()).run(largest), Ok(6));
/// ```
#[derive(Debug)]
pub struct Cut<'u, L> {
    base: L,
    watch: &'u Watch<'u>,
}

/// A token, and whether it has ended the source.
#[derive(Debug)]
struct Watch<'t> {
    token: &'t StopToken,
    cut: AtomicBool,
}

impl Watch<'_> {
    fn is_over(&self) -> bool {
        let over = self.token.is_stopped();
        if over {
            // Relaxed: it is read when all threads have come back.
            self.cut.store(true, Relaxed);
        }
        over
    }
}

impl<L: Stages> Stages for Cut<'_, L> {
    type Item = L::Item;
}

impl<L: Run<E>, E> Run<E> for Cut<'_, L> {
    fn run<S: Station<L::Item, E> + Send>(self, station: S, orders: Orders<'_>) -> Outcome<E> {
        let watch = self.watch;
        let stop = || orders.stop.is_some_and(|stop| stop()) || watch.is_over();
        let orders = Orders {
            stop: Some(&stop),
            ..orders
        };
        self.base.run(station, orders)
    }
}

impl<L: Stages, X: Ending> Until<'_, L, X> {
    /// Calls `op` with the pipeline, for whatever else can be done with it.
    ///
    /// What `op` returns is in the `Err` if the token ended the source.
    ///
    /// ```
    /// use tine::StopToken;
    ///
    /// let mut text = Vec::new();
    /// let lines = tine::pipeline(1..=3, 8).map(|n| format!("{n}\n"));
    /// let written = lines.until(&StopToken::new()).run(|lines| lines.write_to(&mut text));
    /// assert_eq!(written.unwrap().unwrap(), 6);
    /// assert_eq!(text, b"1\n2\n3\n");
    /// ```
    pub fn run<R>(self, op: impl FnOnce(Pipeline<Cut<'_, L>, X>) -> R) -> Result<R, Stopped<R>> {
        let watch = Watch {
            token: self.token,
            cut: AtomicBool::new(false),
        };
        let watched = &watch;
        let result = op(self.base.with(|base| Cut {
            base,
            watch: watched,
        }));
        match watch.cut.into_inner() {
            false => Ok(result),
            true => Err(Stopped { so_far: result }),
        }
    }

    /// Calls `op` with each item, in order, one call at a time.
    ///
    /// ```
    /// use tine::{StopToken, Stopped};
    ///
    /// let token = StopToken::new();
    /// token.stop();
    /// let none = tine::pipeline(0..100, 4).until(&token).for_each(|_| unreachable!());
    /// assert_eq!(none, Err(Stopped::default()));
    /// ```
    pub fn for_each<F>(self, op: F) -> Result<X::Result<()>, Stopped<X::Result<()>>>
    where
        L: Run<X::Error>,
        F: FnMut(L::Item) + Send,
    {
        self.run(|pipeline| pipeline.for_each(op))
    }

    /// Collects the items, in order. An `Err` holds the items that were drawn.
    ///
    /// ```
    /// use tine::StopToken;
    /// let all: Vec<i32> = tine::pipeline(0..4, 4).until(&StopToken::new()).collect().unwrap();
    /// assert_eq!(all, [0, 1, 2, 3]);
    /// ```
    pub fn collect<C>(self) -> Result<X::Result<C>, Stopped<X::Result<C>>>
    where
        L: Run<X::Error>,
        C: Default + Extend<L::Item> + Send,
    {
        self.run(|pipeline| pipeline.collect())
    }

    /// How many items come out of the last stage.
    ///
    /// ```
    /// use tine::StopToken;
    /// let even = tine::pipeline(0..100, 8).filter(|n| n % 2 == 0);
    /// assert_eq!(even.until(&StopToken::new()).count(), Ok(50));
    /// ```
    pub fn count(self) -> Result<X::Result<usize>, Stopped<X::Result<usize>>>
    where
        L: Run<X::Error>,
    {
        self.run(|pipeline| pipeline.count())
    }

    /// The sum of all items.
    ///
    /// ```
    /// use tine::StopToken;
    /// let doubled = tine::pipeline(1..=100_u32, 8).map(|n| 2 * n);
    /// assert_eq!(doubled.until(&StopToken::new()).sum::<u32>(), Ok(10_100));
    /// ```
    pub fn sum<T>(self) -> Result<X::Result<T>, Stopped<X::Result<T>>>
    where
        L: Run<X::Error>,
        T: Sum<L::Item> + Sum<T> + Send,
    {
        self.run(|pipeline| pipeline.sum())
    }
}
