//! Exclusive tiles of a grid: rectangles that lie in a slice row by row, between those of other
//! tiles, and so cannot be slices themselves.
//!
//! A tile is its ranges of columns and rows, and the grid's first cell. Tiles with different
//! numbers have no cell in common, and a producer hands out each number once.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::slice;

use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::{Consumer, Producer, ProducerCallback, UnindexedConsumer, bridge};

/// How a grid is cut into tiles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    width: usize,
    height: usize,
    tile: (usize, usize),
}

impl Cut {
    /// A grid of `len` cells in rows of `width`.
    #[track_caller]
    pub(super) fn new(len: usize, width: usize, tile: (usize, usize)) -> Self {
        assert!(width != 0, "width must not be zero");
        assert!(
            len.is_multiple_of(width),
            "{len} cells do not divide into rows of {width}"
        );
        assert!(
            tile.0 != 0 && tile.1 != 0,
            "the sides of a tile must not be zero"
        );
        let height = len / width;
        Cut {
            width,
            height,
            tile,
        }
    }

    pub(super) fn height(self) -> usize {
        self.height
    }

    /// The number of tiles: no more than there are cells.
    pub(super) fn tiles(self) -> usize {
        self.width.div_ceil(self.tile.0) * self.height.div_ceil(self.tile.1)
    }

    /// The columns and the rows of a tile: within the grid, and different for each number.
    pub(super) fn tile(self, number: usize) -> (Range<usize>, Range<usize>) {
        let across = self.width.div_ceil(self.tile.0);
        let side = |at: usize, side: usize, len: usize| {
            let start = at * side;
            start..start.saturating_add(side).min(len)
        };
        let x = side(number % across, self.tile.0, self.width);
        (x, side(number / across, self.tile.1, self.height))
    }
}

/// Parallel iterator over the exclusive tiles of a grid.
///
/// Made by [`par_tiles_mut`](super::ParallelGridMut::par_tiles_mut).
pub struct TilesMut<'data, T> {
    start: *mut T,
    cut: Cut,
    cells: PhantomData<&'data mut [T]>,
}

// SAFETY: it owns the grid exclusively, as `&mut [T]` does.
unsafe impl<T: Send> Send for TilesMut<'_, T> {}

// SAFETY: nothing can be reached through a shared reference to it.
unsafe impl<T> Sync for TilesMut<'_, T> {}

impl<'data, T> TilesMut<'data, T> {
    #[track_caller]
    pub(super) fn new(cells: &'data mut [T], width: usize, tile: (usize, usize)) -> Self {
        TilesMut {
            cut: Cut::new(cells.len(), width, tile),
            start: cells.as_mut_ptr(),
            cells: PhantomData,
        }
    }
}

impl<T> fmt::Debug for TilesMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TilesMut")
            .field("cut", &self.cut)
            .finish_non_exhaustive()
    }
}

impl<'data, T: Send> ParallelIterator for TilesMut<'data, T> {
    type Item = TileMut<'data, T>;

    const KEEPS_ALL: bool = true;

    fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.cut.tiles())
    }
}

impl<'data, T: Send> IndexedParallelIterator for TilesMut<'data, T> {
    fn drive<C: Consumer<Self::Item>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn len(&self) -> usize {
        self.cut.tiles()
    }

    fn with_producer<CB: ProducerCallback<Self::Item>>(self, callback: CB) -> CB::Output {
        let numbers = 0..self.cut.tiles();
        callback.callback(Numbers {
            tiles: self,
            numbers,
        })
    }
}

/// Produces the tiles of a range of numbers. No other producer has these.
struct Numbers<'data, T> {
    tiles: TilesMut<'data, T>,
    numbers: Range<usize>,
}

impl<'data, T: Send> Producer for Numbers<'data, T> {
    type Item = TileMut<'data, T>;
    type IntoIter = Each<'data, T>;

    fn into_iter(self) -> Each<'data, T> {
        Each(self)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let Numbers { tiles, numbers } = self;
        let len = numbers.len();
        assert!(index <= len, "{len} tiles were cut at {index}");
        let mid = numbers.start + index;
        let twin = TilesMut { ..tiles };
        let left = Numbers {
            tiles,
            numbers: numbers.start..mid,
        };
        let right = Numbers {
            tiles: twin,
            numbers: mid..numbers.end,
        };
        (left, right)
    }
}

/// The tiles of a range of numbers, one after the other.
struct Each<'data, T>(Numbers<'data, T>);

impl<'data, T> Each<'data, T> {
    /// The tile of a number that has just been taken.
    fn tile(&self, number: usize) -> TileMut<'data, T> {
        let TilesMut { start, cut, .. } = self.0.tiles;
        let (x, y) = cut.tile(number);
        TileMut {
            start,
            width: cut.width,
            x,
            y,
            cells: PhantomData,
        }
    }
}

impl<'data, T> Iterator for Each<'data, T> {
    type Item = TileMut<'data, T>;

    fn next(&mut self) -> Option<TileMut<'data, T>> {
        let number = self.0.numbers.next()?;
        Some(self.tile(number))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.numbers.size_hint()
    }
}

impl<T> DoubleEndedIterator for Each<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let number = self.0.numbers.next_back()?;
        Some(self.tile(number))
    }
}

impl<T> ExactSizeIterator for Each<'_, T> {}

/// An exclusive tile of a grid.
///
/// ```
/// use tine::{algorithms::{ParallelGridMut, TileMut}, prelude::*};
///
/// let mut grid = [0; 6];
/// grid.par_tiles_mut(3, (2, 2)).for_each(|mut tile: TileMut<'_, usize>| {
///     let left = tile.x().start;
///     for y in tile.y() {
///         tile.row_mut(y).fill(left);
///     }
/// });
/// assert_eq!(grid, [0, 0, 2, /**/ 0, 0, 2]);
/// ```
pub struct TileMut<'data, T> {
    start: *mut T,
    width: usize,
    x: Range<usize>,
    y: Range<usize>,
    cells: PhantomData<&'data mut [T]>,
}

// SAFETY: it owns its cells exclusively, as `&mut [T]` does.
unsafe impl<T: Send> Send for TileMut<'_, T> {}

// SAFETY: a shared reference to it reaches none of its cells: all methods that reach cells take `&mut self`.
unsafe impl<T: Sync> Sync for TileMut<'_, T> {}

impl<T> TileMut<'_, T> {
    /// The columns of the grid that the tile has.
    pub fn x(&self) -> Range<usize> {
        self.x.clone()
    }

    /// The rows of the grid that the tile has.
    pub fn y(&self) -> Range<usize> {
        self.y.clone()
    }

    /// The tile's part of row `y` of the grid.
    ///
    /// # Panics
    ///
    /// If the tile has no part in that row.
    #[track_caller]
    pub fn row_mut(&mut self, y: usize) -> &mut [T] {
        let rows = &self.y;
        assert!(rows.contains(&y), "row {y} of a tile of rows {rows:?}");
        let first = self.start.wrapping_add(y * self.width + self.x.start);
        // SAFETY: within the grid, since the columns and the row are; no other tile has these cells, and
        // `&mut self` gives out one row of this tile at a time.
        unsafe { slice::from_raw_parts_mut(first, self.x.len()) }
    }

    /// The tile's part of each row, with the row's number in the grid.
    pub fn rows_mut(&mut self) -> impl DoubleEndedIterator<Item = (usize, &mut [T])> {
        let (start, width, x) = (self.start, self.width, self.x.clone());
        self.y.clone().map(move |y| {
            let first = start.wrapping_add(y * width + x.start);
            // SAFETY: as in `row_mut`; each row is given out once while `self` is borrowed.
            (y, unsafe { slice::from_raw_parts_mut(first, x.len()) })
        })
    }
}

impl<T> fmt::Debug for TileMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TileMut")
            .field("x", &self.x)
            .field("y", &self.y)
            .finish_non_exhaustive()
    }
}
