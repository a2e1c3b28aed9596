//! Parallel iterators over std's collections, one module for each.
//!
//! Those that are slices inside (`BinaryHeap`, `VecDeque`) are walked where they
//! lie, and so are shared maps and sets. Whatever else can only be walked from
//! one end is first gathered into a vector: of its items, or of references.
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
