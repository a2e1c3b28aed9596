//! Algorithms beyond rayon's: those of C++, Thrust and ParlayLib for slices, worklists, images and
//! text.
//!
//! | trait | is for | brings |
//! |---|---|---|
//! | [`ParallelAccumulate`] | every parallel iterator | `accumulate`, histograms, `min_max` |
//! | [`ParallelSliceChange`] | slices that change | `par_fill`, `par_tabulate`, `par_reverse`, `par_rotate_left`, `par_shuffle`, `par_partial_sort`, `par_counting_sort_by_key` … |
//! | [`ParallelSliceLook`] | slices that are read | `par_mismatch`, `par_adjacent_find`, `par_find_slice`, `par_lower_bounds` … |
//! | [`ParallelSortedSets`] | two sorted slices | `par_union`, `par_intersection` … |
//! | [`ParallelFlat`] | slices of slices | `par_concat`, `par_flat` |
//! | [`ParallelRetain`] | vectors | `par_retain` |
//! | [`ParallelGrid`], [`ParallelGridMut`] | slices that are grids, such as images | `par_rows` with the rows around, `par_tiles` with a halo |
//! | [`ParallelBytes`], [`ParallelStringSearch`] | text | `par_lines` of bytes, `par_find_str` |
//!
//! [`for_each_fed`] works on items that feed further items. `docs/algorithms.md` of the repository
//! lists C++'s algorithms and what each is called here.

mod accumulate;
mod change;
mod flat;
mod grid;
mod look;
mod moves;
mod random;
mod retain;
mod scatter;
mod search;
mod sets;
mod text;
mod tiles;
mod worklist;

pub use accumulate::ParallelAccumulate;
pub use change::ParallelSliceChange;
pub use flat::{Flat, ParallelFlat};
pub use grid::{ParallelGrid, ParallelGridMut, Row, Rows, Tile, Tiles};
pub use look::{ParallelSliceLook, Tokens};
pub use random::random_permutation;
pub use retain::ParallelRetain;
pub use sets::{Combine, ParallelSortedSets};
pub use text::{ParallelBytes, ParallelStringSearch};
pub use tiles::{TileMut, TilesMut};
pub use worklist::{Feeder, for_each_fed};
