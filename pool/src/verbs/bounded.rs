//! A limit on the number of jobs under way: for sources that are faster than the pool.
#![forbid(unsafe_code)]

use super::abort::{AbortOnDrop, spawn_async_with};
use super::spawn::spawn;
use super::stop::{StopToken, Stopped};
use crate::base::stop;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Spawns jobs, of which at most `limit` are unfinished at a time, besides those that callers run themselves.
///
/// When the limit is reached, [`spawn`](Self::spawn) does the job on the calling thread. So memory
/// does not fill, and the caller does not wait idle. [`try_spawn_async`](Self::try_spawn_async)
/// gives the job back, so that a server may answer "busy". Clones share the limit.
///
/// ```
/// # use tine_pool as tine;
/// use tine::Bounded;
/// let (send, receive) = std::sync::mpsc::channel();
/// let jobs = Bounded::new(100);
/// for n in 0..10_000_u64 {
///     let send = send.clone();
///     jobs.spawn(move || send.send(n).unwrap());
/// }
/// drop(send);
/// assert_eq!(receive.iter().sum::<u64>(), 49_995_000);
/// ```
#[derive(Debug, Clone)]
pub struct Bounded {
    limit: usize,
    pending: Arc<AtomicUsize>,
}

/// One of the jobs that a bound allows, until it is dropped.
struct Permit(Arc<AtomicUsize>);

impl Drop for Permit {
    fn drop(&mut self) {
        // Relaxed: only a number.
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Bounded {
    /// Allows `limit` unfinished jobs at a time. If `limit` is 0, `spawn` does every job where it
    /// is called.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let me = std::thread::current().id();
    /// tine::Bounded::new(0).spawn(move || assert_eq!(std::thread::current().id(), me));
    /// ```
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let pending = Arc::new(AtomicUsize::new(0));
        Self { limit, pending }
    }

    /// How many jobs have been spawned and have not ended.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let jobs = tine::Bounded::new(3);
    /// assert_eq!(jobs.pending(), 0);
    /// ```
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.load(Ordering::Relaxed)
    }

    fn permit(&self) -> Option<Permit> {
        let one_more = |pending| (pending < self.limit).then_some(pending + 1);
        // Relaxed: as in `Permit`.
        self.pending
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .ok()?;
        Some(Permit(Arc::clone(&self.pending)))
    }

    /// [`spawn`](crate::spawn())s a job, or does it here if the bound is reached. Under a stopped token the job is
    /// dropped in either case.
    ///
    /// # Panics
    ///
    /// A panic of a job that is done here resumes in the caller. Otherwise it is treated as by
    /// [`spawn`](crate::spawn()).
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let jobs = tine::Bounded::new(8);
    /// (0..100).for_each(|n| jobs.spawn(move || drop(vec![n; 1000])));
    /// ```
    pub fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        match self.permit() {
            Some(permit) => spawn(move || {
                let _permit = permit;
                job();
            }),
            // As for a spawned job.
            None if stop::current().is_some_and(|chain| chain.is_stopped()) => drop(job),
            None => job(),
        }
    }

    /// [`spawn_async_with`](crate::spawn_async_with), or gives the job back if the bound is reached.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// use tine::{Bounded, StopToken};
    /// let jobs = Bounded::new(1);
    /// let token = StopToken::new();
    /// let endless = || while !tine::stop::requested() {};
    /// let first = jobs.try_spawn_async(&token, endless).unwrap_or_else(|_| unreachable!());
    /// assert!(jobs.try_spawn_async(&token, || ()).is_err(), "busy");
    /// token.stop();
    /// let _ = first.join();
    /// ```
    pub fn try_spawn_async<F, T>(
        &self,
        token: &StopToken,
        job: F,
    ) -> Result<AbortOnDrop<Result<T, Stopped>>, F>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let Some(permit) = self.permit() else {
            return Err(job);
        };
        Ok(spawn_async_with(token, move || {
            let _permit = permit;
            job()
        }))
    }
}
