//! Slices read as grids: row by row with the rows around, and tile by tile with a halo.
//!
//! The grid that is read and the one that is written are two slices. So the borrow checker sees
//! that no thread reads what another writes.
#![forbid(unsafe_code)]

use std::ops::Range;

use super::tiles::{Cut, TilesMut};
use crate::convert::IntoParallelIterator;
use crate::iter::ParallelIterator;
use crate::sources::kit::indexed;
use crate::sources::slice::{ChunksExactMut, ParallelSliceMut};

/// Parallel iterators that read a slice as a grid, whose rows lie one after the other.
///
/// ```
/// use tine::{algorithms::{ParallelGrid, ParallelGridMut}, prelude::*};
///
/// // Each cell becomes the sum of itself and of those above and below.
/// let old = [1, 2, /**/ 3, 4, /**/ 5, 6];
/// let mut new = [0; 6];
/// new.par_rows_mut(2).zip(old.par_rows(2, 1)).for_each(|(new, old)| {
///     for row in old.rows() {
///         new.iter_mut().zip(row).for_each(|(new, old)| *new += old);
///     }
/// });
/// assert_eq!(new, [4, 6, /**/ 9, 12, /**/ 8, 10]);
/// ```
pub trait ParallelGrid<T: Sync> {
    /// The rows of a grid of `width` columns, each with up to `halo` rows above and below it.
    ///
    /// # Panics
    ///
    /// If `width` is zero, or the length is not a multiple of it.
    ///
    /// ```
    /// use tine::{algorithms::ParallelGrid, prelude::*};
    ///
    /// let heights = [1, 5, /**/ 3, 4];
    /// let steps: Vec<i32> = heights
    ///     .par_rows(2, 1)
    ///     .map(|row| row.clamped(1)[0] - row.row()[0])
    ///     .collect();
    /// assert_eq!(steps, [2, 0]);
    /// ```
    #[track_caller]
    fn par_rows(&self, width: usize, halo: usize) -> Rows<'_, T>;

    /// The tiles of a grid of `width` columns, row by row of tiles. A tile has `tile.0` columns and
    /// `tile.1` rows, fewer at the right and at the bottom. It may read up to `halo` cells around
    /// it.
    ///
    /// # Panics
    ///
    /// If `width` or a side of the tiles is zero, or the length is not a multiple of `width`.
    ///
    /// ```
    /// use tine::{algorithms::ParallelGrid, prelude::*};
    ///
    /// let grid: Vec<u32> = (0..12).collect();
    /// let sums: Vec<u32> = grid
    ///     .par_tiles(4, (2, 2), 0)
    ///     .map(|tile| tile.y().flat_map(|y| tile.row(y)).sum())
    ///     .collect();
    /// assert_eq!(sums, [10, 18, 17, 21]);
    /// ```
    #[track_caller]
    fn par_tiles(&self, width: usize, tile: (usize, usize), halo: usize) -> Tiles<'_, T>;
}

/// Parallel iterators that write to a slice as a grid, whose rows lie one after the other.
///
/// ```
/// use tine::{algorithms::ParallelGridMut, prelude::*};
///
/// let mut board = ['.'; 6];
/// board.par_rows_mut(3).for_each(|row| row[1] = '#');
/// assert_eq!(board, ['.', '#', '.', '.', '#', '.']);
/// ```
pub trait ParallelGridMut<T: Send> {
    /// The exclusive rows of a grid of `width` columns.
    ///
    /// # Panics
    ///
    /// If `width` is zero, or the length is not a multiple of it.
    ///
    /// ```
    /// use tine::{algorithms::ParallelGridMut, prelude::*};
    ///
    /// let mut grid = [0; 4];
    /// grid.par_rows_mut(2).enumerate().for_each(|(y, row)| row.fill(y));
    /// assert_eq!(grid, [0, 0, 1, 1]);
    /// ```
    #[track_caller]
    fn par_rows_mut(&mut self, width: usize) -> ChunksExactMut<'_, T>;

    /// The exclusive tiles of a grid of `width` columns, in the order of
    /// [`par_tiles`](ParallelGrid::par_tiles).
    ///
    /// # Panics
    ///
    /// If `width` or a side of the tiles is zero, or the length is not a multiple of `width`.
    ///
    /// ```
    /// use tine::{algorithms::{ParallelGrid, ParallelGridMut}, prelude::*};
    ///
    /// // Turn a grid of 4 × 2 cells by its diagonal, tile by tile.
    /// let old = [1, 2, 3, 4, /**/ 5, 6, 7, 8];
    /// let mut new = [0; 8];
    /// new.par_tiles_mut(2, (2, 2)).for_each(|mut tile| {
    ///     for (y, row) in tile.rows_mut() {
    ///         row.iter_mut().enumerate().for_each(|(x, cell)| *cell = old[x * 4 + y]);
    ///     }
    /// });
    /// assert_eq!(new, [1, 5, /**/ 2, 6, /**/ 3, 7, /**/ 4, 8]);
    /// ```
    #[track_caller]
    fn par_tiles_mut(&mut self, width: usize, tile: (usize, usize)) -> TilesMut<'_, T>;
}

impl<T: Sync> ParallelGrid<T> for [T] {
    #[track_caller]
    fn par_rows(&self, width: usize, halo: usize) -> Rows<'_, T> {
        let grid = Grid::new(self, width);
        Rows { grid, halo }
    }

    #[track_caller]
    fn par_tiles(&self, width: usize, tile: (usize, usize), halo: usize) -> Tiles<'_, T> {
        let grid = Grid::new(self, width);
        let cut = Cut::new(self.len(), width, tile);
        Tiles { grid, cut, halo }
    }
}

impl<T: Send> ParallelGridMut<T> for [T] {
    #[track_caller]
    fn par_rows_mut(&mut self, width: usize) -> ChunksExactMut<'_, T> {
        height(self.len(), width);
        self.par_chunks_exact_mut(width)
    }

    #[track_caller]
    fn par_tiles_mut(&mut self, width: usize, tile: (usize, usize)) -> TilesMut<'_, T> {
        TilesMut::new(self, width, tile)
    }
}

/// The number of rows of a grid of `len` cells.
#[track_caller]
fn height(len: usize, width: usize) -> usize {
    Cut::new(len, width, (1, 1)).height()
}

/// A slice of whole rows.
#[derive(Debug)]
struct Grid<'data, T> {
    cells: &'data [T],
    width: usize,
    height: usize,
}

impl<T> Clone for Grid<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Grid<'_, T> {}

impl<'data, T> Grid<'data, T> {
    #[track_caller]
    fn new(cells: &'data [T], width: usize) -> Self {
        let height = height(cells.len(), width);
        Grid {
            cells,
            width,
            height,
        }
    }

    fn row(self, y: usize) -> &'data [T] {
        &self.cells[y * self.width..][..self.width]
    }
}

/// `range` with up to `halo` more at each end, within `0..len`.
fn widened(range: &Range<usize>, halo: usize, len: usize) -> Range<usize> {
    range.start.saturating_sub(halo)..range.end.saturating_add(halo).min(len)
}

/// Parallel iterator over the rows of a grid.
///
/// Made by [`par_rows`](ParallelGrid::par_rows).
#[derive(Debug)]
pub struct Rows<'data, T> {
    grid: Grid<'data, T>,
    halo: usize,
}

impl<T> Clone for Rows<'_, T> {
    fn clone(&self) -> Self {
        Rows { ..*self }
    }
}

indexed! {
    ['data, T: Sync] Rows<'data, T> => Row<'data, T>;
    len(it) it.grid.height;
    inner(it) (0..it.grid.height).into_par_iter().map(move |y| Row { grid: it.grid, y, halo: it.halo });
}

/// A row of a grid, which may read the rows around it.
///
/// ```
/// use tine::{algorithms::{ParallelGrid, Row}, prelude::*};
///
/// let grid = [0, 1, 2];
/// grid.par_rows(1, 1).for_each(|row: Row<'_, usize>| {
///     assert_eq!(row.row(), [row.y()]);
///     assert_eq!(row.at(-1).is_none(), row.y() == 0);
///     assert_eq!(row.clamped(-1)[0], row.y().saturating_sub(1));
/// });
/// ```
#[derive(Debug)]
pub struct Row<'data, T> {
    grid: Grid<'data, T>,
    y: usize,
    halo: usize,
}

impl<T> Clone for Row<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Row<'_, T> {}

impl<'data, T> Row<'data, T> {
    /// Its position, counted from the top.
    pub fn y(&self) -> usize {
        self.y
    }

    /// Its cells.
    pub fn row(&self) -> &'data [T] {
        self.grid.row(self.y)
    }

    /// The row `down` rows below this one, or above it if `down` is negative. `None` beyond the
    /// grid.
    ///
    /// # Panics
    ///
    /// If the row is further away than the halo.
    #[track_caller]
    pub fn at(&self, down: isize) -> Option<&'data [T]> {
        self.within(down);
        let y = self.y.checked_add_signed(down)?;
        (y < self.grid.height).then(|| self.grid.row(y))
    }

    /// The row `down` rows below this one, or above it if `down` is negative. Beyond the grid, the
    /// last row on that side.
    ///
    /// # Panics
    ///
    /// If the row is further away than the halo.
    #[track_caller]
    pub fn clamped(&self, down: isize) -> &'data [T] {
        self.within(down);
        let y = self.y.saturating_add_signed(down);
        self.grid.row(y.min(self.grid.height - 1))
    }

    /// The row itself and those around it, from the top, as far as the halo and the grid reach.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &'data [T]> + use<'data, T> {
        let grid = self.grid;
        let reach = widened(&(self.y..self.y + 1), self.halo, grid.height);
        reach.map(move |y| grid.row(y))
    }

    #[track_caller]
    fn within(&self, down: isize) {
        let halo = self.halo;
        assert!(
            down.unsigned_abs() <= halo,
            "row {down} from here lies outside a halo of {halo}"
        );
    }
}

/// Parallel iterator over the tiles of a grid.
///
/// Made by [`par_tiles`](ParallelGrid::par_tiles).
#[derive(Debug)]
pub struct Tiles<'data, T> {
    grid: Grid<'data, T>,
    cut: Cut,
    halo: usize,
}

impl<T> Clone for Tiles<'_, T> {
    fn clone(&self) -> Self {
        Tiles { ..*self }
    }
}

indexed! {
    ['data, T: Sync] Tiles<'data, T> => Tile<'data, T>;
    len(it) it.cut.tiles();
    inner(it) (0..it.cut.tiles()).into_par_iter().map(move |at| {
        let (x, y) = it.cut.tile(at);
        Tile { grid: it.grid, x, y, halo: it.halo }
    });
}

/// A tile of a grid, which may read the cells around it.
///
/// ```
/// use tine::{algorithms::{ParallelGrid, Tile}, prelude::*};
///
/// let grid: Vec<usize> = (0..100).collect();
/// let tile: Tile<'_, usize> = grid.par_tiles(10, (5, 5), 1).find_last(|_| true).unwrap();
/// assert_eq!((tile.x(), tile.y()), (5..10, 5..10));
/// assert_eq!(tile.row(7), [75, 76, 77, 78, 79]);
/// assert_eq!((tile.halo_x(), tile.halo_y()), (4..10, 4..10));
/// assert_eq!(tile.halo_row(4), [44, 45, 46, 47, 48, 49]);
/// assert_eq!(*tile.clamped(10, 4), 49);
/// ```
#[derive(Debug)]
pub struct Tile<'data, T> {
    grid: Grid<'data, T>,
    x: Range<usize>,
    y: Range<usize>,
    halo: usize,
}

impl<T> Clone for Tile<'_, T> {
    fn clone(&self) -> Self {
        Tile {
            x: self.x.clone(),
            y: self.y.clone(),
            ..*self
        }
    }
}

impl<'data, T> Tile<'data, T> {
    /// The columns of the grid that the tile covers.
    pub fn x(&self) -> Range<usize> {
        self.x.clone()
    }

    /// The rows of the grid that the tile covers.
    pub fn y(&self) -> Range<usize> {
        self.y.clone()
    }

    /// The columns that the tile may read.
    pub fn halo_x(&self) -> Range<usize> {
        widened(&self.x, self.halo, self.grid.width)
    }

    /// The rows that the tile may read.
    pub fn halo_y(&self) -> Range<usize> {
        widened(&self.y, self.halo, self.grid.height)
    }

    /// The tile's part of row `y` of the grid.
    ///
    /// # Panics
    ///
    /// If the tile has no part in that row.
    #[track_caller]
    pub fn row(&self, y: usize) -> &'data [T] {
        let rows = &self.y;
        assert!(rows.contains(&y), "row {y} of a tile of rows {rows:?}");
        &self.grid.row(y)[self.x.clone()]
    }

    /// The cells that the tile may read in row `y` of the grid: the columns
    /// [`halo_x`](Tile::halo_x).
    ///
    /// # Panics
    ///
    /// If the tile may not read that row.
    #[track_caller]
    pub fn halo_row(&self, y: usize) -> &'data [T] {
        let rows = self.halo_y();
        assert!(
            rows.contains(&y),
            "row {y} is none of the rows {rows:?} that the tile may read"
        );
        &self.grid.row(y)[self.halo_x()]
    }

    /// The cell in column `x` and row `y` of the grid. Beyond the grid, the nearest cell at its
    /// edge.
    ///
    /// # Panics
    ///
    /// If the cell is further away than the halo.
    #[track_caller]
    pub fn clamped(&self, x: isize, y: isize) -> &'data T {
        let within = |at: isize, range: &Range<usize>| {
            let before = range.start.saturating_add_signed(at.saturating_neg());
            let far = match usize::try_from(at) {
                Ok(at) => range
                    .start
                    .saturating_sub(at)
                    .max(at.saturating_sub(range.end - 1)),
                Err(_) => before,
            };
            far <= self.halo
        };
        assert!(
            within(x, &self.x) && within(y, &self.y),
            "cell ({x}, {y}) is further from a tile of {:?} × {:?} than its halo of {}",
            self.x,
            self.y,
            self.halo
        );
        let clamp = |at: isize, len: usize| usize::try_from(at).unwrap_or(0).min(len - 1);
        &self.grid.row(clamp(y, self.grid.height))[clamp(x, self.grid.width)]
    }
}
