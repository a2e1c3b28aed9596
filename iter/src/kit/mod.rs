//! The code that every adapter and sink would otherwise repeat.
//!
//! | kit | is for | the author writes |
//! |---|---|---|
//! | [`each`] | one item out for each item in | what happens to an item |
//! | [`step`] | any number out | the same adapter of `std::iter` |
//! | [`gather`] | one value for a contiguous piece | start, take, finish |
//! | [`reshape`] | positions move | the producer |
//! | [`sink`] | the end of a pipeline | a gather, and how to join two |
//!
//! Adapters are shared by reference while they run. What a contiguous piece needs for itself is its
//! *state*, made once when the piece begins.
#![forbid(unsafe_code)]

pub(crate) mod accumulate;
pub(crate) mod attempt;
pub(crate) mod each;
pub(crate) mod gather;
pub(crate) mod go_on;
pub(crate) mod keep;
pub(crate) mod reshape;
pub(crate) mod seed;
pub(crate) mod sink;
pub(crate) mod step;
pub(crate) mod sync;

/// `Debug` for an adapter that holds a closure: only its base can be shown.
macro_rules! debug_base {
    ($Adapter:ident<I $(, $param:ident)*>) => {
        impl<I: std::fmt::Debug $(, $param)*> std::fmt::Debug for $Adapter<I $(, $param)*> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($Adapter))
                    .field("base", &self.base)
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use debug_base;
