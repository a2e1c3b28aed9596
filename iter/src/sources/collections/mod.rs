//! Parallel iterators over std's collections, one module for each.
//!
//! Collections that are slices inside (`BinaryHeap`, `VecDeque`) are walked in place, and so are
//! shared maps and sets. Others can only be walked from one end, so their items, or references to
//! them, are first gathered into a vector.
#![forbid(unsafe_code)]

pub mod binary_heap;
pub mod btree_map;
pub mod btree_set;
pub mod hash_map;
pub mod hash_set;
pub mod linked_list;
pub mod vec_deque;

mod as_vec;
mod via_vec;
mod walk;
