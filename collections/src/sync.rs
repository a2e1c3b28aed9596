//! Atomics and cells: the only file here that knows loom.
#![forbid(unsafe_code)]

#[cfg(all(tine_sched, not(loom)))]
mod imp {
    pub(crate) use tine_pool::schedule::{
        AtomicPtr, AtomicU32, AtomicUsize, Condvar, Mutex, Ordering, spin_loop,
    };
}

#[cfg(not(any(loom, tine_sched)))]
mod imp {
    pub(crate) use std::hint::spin_loop;
    pub(crate) use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
    pub(crate) use std::sync::{Condvar, Mutex};
}

/// A pointer to a value that can be put in another's place, and a reader's hold on the value.
#[cfg(not(loom))]
mod swap {
    pub(crate) use arc_swap::ArcSwap as Swap;
    pub(crate) use std::sync::Arc;

    pub(crate) type Loaded<T> = arc_swap::Guard<Arc<T>>;
}

/// loom cannot look into `arc-swap`. In its place stands what that promises: to read and to put
/// in place are single steps, and a hold keeps its value.
#[cfg(loom)]
mod swap {
    pub(crate) use loom::sync::Arc;

    pub(crate) type Loaded<T> = Arc<T>;

    pub(crate) struct Swap<T>(loom::sync::Mutex<Arc<T>>);

    impl<T> Swap<T> {
        pub(crate) fn new(value: Arc<T>) -> Self {
            Swap(loom::sync::Mutex::new(value))
        }

        pub(crate) fn load(&self) -> Loaded<T> {
            self.load_full()
        }

        pub(crate) fn load_full(&self) -> Arc<T> {
            self.0.lock().unwrap().clone()
        }

        pub(crate) fn compare_and_swap(&self, old: &Arc<T>, new: Arc<T>) -> Arc<T> {
            let mut place = self.0.lock().unwrap();
            let found = place.clone();
            if !Arc::ptr_eq(&found, old) {
                return found;
            }
            let replaced = std::mem::replace(&mut *place, new);
            drop(place);
            drop(replaced);
            found
        }

        pub(crate) fn into_inner(self) -> Arc<T> {
            self.0.into_inner().unwrap()
        }
    }
}

#[cfg(loom)]
mod imp {
    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Condvar, Mutex};
    pub(crate) use loom::thread::yield_now as spin_loop;
}

pub(crate) use imp::*;
pub(crate) use swap::*;
