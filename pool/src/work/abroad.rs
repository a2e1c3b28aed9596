//! Workers in a wait that may need any job of their own pool, above all a wait for another pool.
//! They sleep, but are told of all work that is posted in their own pool.
#![forbid(unsafe_code)]

use crate::base::park::Parker;
use crate::base::sync::{AtomicUsize, Ordering, fence};
use std::sync::{Mutex, PoisonError};

/// What they sleep on.
#[derive(Debug)]
pub(crate) struct Abroad {
    parkers: Mutex<Vec<&'static Parker>>,
    count: AtomicUsize,
}

impl Abroad {
    pub(crate) fn new() -> Self {
        Self {
            parkers: Mutex::new(Vec::new()),
            count: AtomicUsize::new(0),
        }
    }

    /// A worker is about to sleep on `parker`, and looks for work once more after this.
    pub(crate) fn go(&self, parker: &'static Parker) {
        self.with(|all| all.push(parker));
        self.count.fetch_add(1, Ordering::Relaxed);
        // SeqCst: pairs with the fence in `Sleep::post`.
        fence(Ordering::SeqCst);
    }

    /// It is back.
    pub(crate) fn come_home(&self, parker: &'static Parker) {
        self.with(|all| {
            if let Some(at) = all.iter().position(|p| std::ptr::eq(*p, parker)) {
                all.swap_remove(at);
                self.count.fetch_sub(1, Ordering::Relaxed);
            }
        });
    }

    /// Work was posted, and a fence passed.
    #[inline]
    pub(crate) fn tell(&self) {
        if self.count.load(Ordering::Relaxed) > 0 {
            self.with(|all| {
                for parker in all {
                    parker.unpark();
                }
            });
        }
    }

    fn with<R>(&self, f: impl FnOnce(&mut Vec<&'static Parker>) -> R) -> R {
        f(&mut self.parkers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
