//! Grids: rows with the rows around them, tiles with a halo, exclusive tiles.

use quickcheck::quickcheck;
use tine_iter::algorithms::{ParallelGrid, ParallelGridMut};
use tine_iter::prelude::*;

use crate::kit::{Census, bomb, in_pools, message, numbers, panics};

/// The sum of the cells around each cell; the edge is taken to go on for ever.
fn blurred(cells: &[u64], width: usize, reach: isize) -> Vec<u64> {
    let height = cells.len() / width;
    let at = |x: isize, y: isize| {
        let x = x.clamp(0, width as isize - 1) as usize;
        let y = y.clamp(0, height as isize - 1) as usize;
        cells[y * width + x]
    };
    let cell = |n: usize| {
        let (x, y) = ((n % width) as isize, (n / width) as isize);
        let around = (-reach..=reach).flat_map(|dy| (-reach..=reach).map(move |dx| (dx, dy)));
        around.map(|(dx, dy)| at(x + dx, y + dy)).sum()
    };
    (0..cells.len()).map(cell).collect()
}

fn by_rows(cells: &[u64], width: usize, reach: isize) -> Vec<u64> {
    let mut out = vec![0; cells.len()];
    let rows = cells.par_rows(width, reach as usize);
    out.par_rows_mut(width).zip(rows).for_each(|(out, row)| {
        for (x, out) in out.iter_mut().enumerate() {
            for dy in -reach..=reach {
                let row = row.clamped(dy);
                for dx in -reach..=reach {
                    let x = x.saturating_add_signed(dx).min(width - 1);
                    *out += row[x];
                }
            }
        }
    });
    out
}

fn by_tiles(cells: &[u64], width: usize, reach: isize, tile: (usize, usize)) -> Vec<u64> {
    let mut out = vec![0; cells.len()];
    let tiles = cells.par_tiles(width, tile, reach as usize);
    let pairs = out.par_tiles_mut(width, tile).zip(tiles);
    pairs.for_each(|(mut out, tile)| {
        assert!(out.x() == tile.x() && out.y() == tile.y());
        let left = tile.x().start;
        for (y, row) in out.rows_mut() {
            for (x, out) in row.iter_mut().enumerate() {
                for dy in -reach..=reach {
                    for dx in -reach..=reach {
                        *out += tile.clamped((left + x) as isize + dx, y as isize + dy);
                    }
                }
            }
        }
    });
    out
}

quickcheck! {
    fn as_cell_by_cell(cells: Vec<u8>, width: usize, reach: u8, tile: (u8, u8)) -> bool {
        let width = width % 9 + 1;
        let len = cells.len() / width * width;
        let cells: Vec<u64> = cells[..len].iter().map(|&x| x.into()).collect();
        let reach = isize::from(reach % 4);
        let tile = (usize::from(tile.0 % 7) + 1, usize::from(tile.1 % 7) + 1);
        let expected = blurred(&cells, width, reach);
        by_rows(&cells, width, reach) == expected && by_tiles(&cells, width, reach, tile) == expected
    }
}

#[test]
fn larger_grids() {
    for (width, height) in [(1, 1), (1, 300), (300, 1), (64, 48), (333, 200)] {
        let cells = numbers(width * height, 256);
        let expected = blurred(&cells, width, 2);
        in_pools(|| {
            assert!(by_rows(&cells, width, 2) == expected);
            for tile in [
                (1, 1),
                (7, 5),
                (16, 16),
                (1000, 3),
                (usize::MAX, usize::MAX),
            ] {
                assert!(
                    by_tiles(&cells, width, 2, tile) == expected,
                    "{width} {height} {tile:?}"
                );
            }
        });
    }
}

#[test]
fn each_cell_is_in_one_tile() {
    for (width, height) in [(1, 1), (7, 9), (64, 30)] {
        for tile in [(1, 1), (2, 3), (64, 30), (100, 7)] {
            in_pools(|| {
                let mut cells = vec![0; width * height];
                cells.par_tiles_mut(width, tile).for_each(|mut tile| {
                    for y in tile.y().rev() {
                        tile.row_mut(y).iter_mut().for_each(|cell| *cell += 1);
                    }
                });
                assert!(cells.iter().all(|&n| n == 1));
                // In the same order forwards and backwards, and where others are cut off.
                let mut forwards: Vec<_> = cells
                    .par_tiles(width, tile, 0)
                    .map(|t| (t.y(), t.x()))
                    .collect();
                let mut backwards: Vec<_> = cells
                    .par_tiles_mut(width, tile)
                    .rev()
                    .map(|t| (t.y(), t.x()))
                    .collect();
                backwards.reverse();
                assert_eq!(forwards, backwards);
                let some: Vec<_> = cells
                    .par_tiles_mut(width, tile)
                    .skip(1)
                    .step_by(2)
                    .map(|t| (t.y(), t.x()))
                    .collect();
                forwards = forwards.into_iter().skip(1).step_by(2).collect();
                assert_eq!(some, forwards);
            });
        }
    }
}

#[test]
fn what_a_tile_sees() {
    let cells: Vec<usize> = (0..10 * 6).collect();
    cells.par_tiles(10, (4, 4), 2).for_each(|tile| {
        assert_eq!(
            tile.halo_x(),
            tile.x().start.saturating_sub(2)..(tile.x().end + 2).min(10)
        );
        assert_eq!(
            tile.halo_y(),
            tile.y().start.saturating_sub(2)..(tile.y().end + 2).min(6)
        );
        for y in tile.halo_y() {
            assert!(
                tile.halo_row(y)
                    .iter()
                    .copied()
                    .eq(tile.halo_x().map(|x| y * 10 + x))
            );
        }
        for y in tile.y() {
            assert!(tile.row(y).iter().copied().eq(tile.x().map(|x| y * 10 + x)));
        }
    });
    let tile = cells.par_tiles(10, (4, 4), 2).find_first(|_| true).unwrap();
    assert!(message(|| tile.row(4)).contains("row 4 of a tile of rows 0..4"));
    assert!(message(|| tile.halo_row(6)).contains("row 6 is none of the rows 0..6"));
    assert_eq!((tile.clamped(-2, 5), tile.clamped(5, -2)), (&50, &5));
    for (x, y) in [
        (-3, 0),
        (0, -3),
        (6, 0),
        (0, 6),
        (isize::MIN, 0),
        (0, isize::MAX),
    ] {
        assert!(
            message(|| tile.clamped(x, y)).contains("than its halo of 2"),
            "{x} {y}"
        );
    }
    let row = cells.par_rows(10, 1).find_last(|_| true).unwrap();
    assert!(row.at(1).is_none() && row.at(-1).is_some_and(|row| row[0] == 40));
    assert_eq!(row.rows().count(), 2);
    assert!(message(|| row.at(2)).contains("outside a halo of 1"));
    assert!(message(|| row.clamped(isize::MIN)).contains("outside a halo of 1"));
}

#[test]
fn shapes_that_are_none() {
    let mut cells = [0; 6];
    assert!(message(|| cells.par_rows(0, 1).len()).contains("width must not be zero"));
    assert!(
        message(|| cells.par_rows(4, 1).len()).contains("6 cells do not divide into rows of 4")
    );
    assert!(
        message(|| cells.par_rows_mut(4).len()).contains("6 cells do not divide into rows of 4")
    );
    assert!(message(|| cells.par_tiles(3, (0, 1), 1).len()).contains("must not be zero"));
    assert!(message(|| cells.par_tiles_mut(3, (1, 0)).len()).contains("must not be zero"));
    let none: &mut [u8] = &mut [];
    assert_eq!(
        (
            none.par_tiles(3, (2, 2), 1).len(),
            none.par_rows(3, 1).len()
        ),
        (0, 0)
    );
    assert_eq!(none.par_tiles_mut(3, (2, 2)).len(), 0);
}

#[test]
fn panics_lose_nothing() {
    in_pools(|| {
        let census = Census::new();
        let mut cells = census.values(10_000);
        assert!(panics(|| cells.par_tiles_mut(100, (7, 7)).for_each(
            |mut tile| {
                for (y, row) in tile.rows_mut() {
                    for cell in row {
                        bomb(cell.number, 5_050);
                        *cell = census.value(y);
                    }
                }
            }
        )));
        assert_eq!(census.alive(), 10_000);
        assert!(panics(|| cells
            .par_rows(100, 3)
            .for_each(|row| bomb(row.y(), 55))));
        assert!(panics(|| cells
            .par_tiles(100, (9, 9), 3)
            .for_each(|t| bomb(t.y().start, 9))));
        drop(cells);
        assert_eq!(census.alive(), 0);
    });
}
