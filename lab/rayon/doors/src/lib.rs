//! What the laboratory listens to, under the names that `std` has for it. `lab/rayon/make.sh` writes
//! a copy of rayon and crossbeam that takes these for `std::sync` and `std::hint`. Built with
//! `--cfg tine_sched` alone.
#![forbid(unsafe_code)]

pub use tine_pool::schedule::{Point, touch};

/// As `std::hint`.
pub mod hint {
    pub use std::hint::*;
    pub use tine_pool::schedule::spin_loop;
}

/// As `std::sync`.
pub mod sync {
    pub use std::sync::*;
    pub use tine_pool::schedule::{Condvar, Mutex, MutexGuard};

    /// As `std::sync::atomic`.
    pub mod atomic {
        pub use super::super::signed::{AtomicI64, AtomicIsize};
        pub use std::sync::atomic::{Ordering, compiler_fence};
        pub use tine_pool::schedule::{
            AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, fence,
        };
    }
}

/// The signed words of crossbeam's deque.
mod signed {
    use std::sync::atomic::{self as real, Ordering};
    use tine_pool::schedule::{Point, touch};

    macro_rules! signed {
        ($name:ident, $value:ty) => {
            /// `std`'s, with a call before each operation.
            #[derive(Debug)]
            #[repr(transparent)]
            pub struct $name(real::$name);

            #[allow(missing_docs)]
            impl $name {
                pub const fn new(value: $value) -> Self {
                    Self(real::$name::new(value))
                }
                #[track_caller]
                pub fn load(&self, order: Ordering) -> $value {
                    touch(Point::Load, self);
                    self.0.load(order)
                }
                #[track_caller]
                pub fn store(&self, value: $value, order: Ordering) {
                    let strong = order == Ordering::SeqCst;
                    touch(
                        if strong {
                            Point::Exchange
                        } else {
                            Point::Store
                        },
                        self,
                    );
                    self.0.store(value, order);
                }
                #[track_caller]
                pub fn compare_exchange(
                    &self,
                    old: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    touch(Point::Exchange, self);
                    let result = self.0.compare_exchange(old, new, success, failure);
                    if result.is_err() {
                        touch(Point::Refused, self);
                    }
                    result
                }
                /// Never fails spuriously.
                #[track_caller]
                pub fn compare_exchange_weak(
                    &self,
                    old: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    self.compare_exchange(old, new, success, failure)
                }
                #[track_caller]
                pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                    touch(Point::Exchange, self);
                    self.0.fetch_add(value, order)
                }
                pub fn get_mut(&mut self) -> &mut $value {
                    self.0.get_mut()
                }
            }
        };
    }

    signed!(AtomicI64, i64);
    signed!(AtomicIsize, isize);
}
