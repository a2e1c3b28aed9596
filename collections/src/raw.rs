//! What other packages of tine build upon. Nothing else should: this may change in any release.
#![forbid(unsafe_code)]

pub use crate::group::{count_keys, fold_pairs};
pub use crate::pages::expect_fill;
pub use crate::partition::par_map;
