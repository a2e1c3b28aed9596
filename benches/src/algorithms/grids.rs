//! Images: rows with the rows around them, and tiles.

use crate::inputs::bytes;
use crate::table::{Table, run};
use rayon::prelude::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSliceMut as _;
use tine_iter::algorithms::{ParallelGrid, ParallelGridMut};
use tine_iter::prelude::{IndexedParallelIterator as _, ParallelIterator as _};

/// A row of the mean of three by three pixels, from three rows.
fn blur(out: &mut [u8], rows: [&[u8]; 3]) {
    let [a, b, c] = rows;
    let sum = |x: usize| u16::from(a[x]) + u16::from(b[x]) + u16::from(c[x]);
    let last = out.len() - 1;
    (out[0], out[last]) = ((sum(0) / 3) as u8, (sum(last) / 3) as u8);
    for x in 1..last {
        out[x] = ((sum(x - 1) + sum(x) + sum(x + 1)) / 9) as u8;
    }
}

fn around(image: &[u8], width: usize, y: usize) -> [&[u8]; 3] {
    let last = image.len() / width - 1;
    let row = |y: usize| &image[y * width..][..width];
    [row(y.saturating_sub(1)), row(y), row((y + 1).min(last))]
}

pub fn rows(table: &mut Table) {
    for (width, height) in [(4000 / table.scale, 3000), (640, 480), (64, 48)] {
        let image = bytes(width * height);
        let mut outs = [const { Vec::new() }; 3].map(|_: Vec<u8>| vec![0; image.len()]);
        let name = format!("par_rows, {width} × {height} pixels blurred");
        if table.wants(&name) {
            let [ours, theirs, alone] = &mut outs;
            table.row(
                &name,
                run(|| {
                    let rows = image.par_rows(width, 1);
                    ours.par_rows_mut(width).zip(rows).for_each(|(out, row)| {
                        blur(out, [row.clamped(-1), row.row(), row.clamped(1)]);
                    });
                }),
                run(|| {
                    let rows = theirs.par_chunks_exact_mut(width).enumerate();
                    rows.for_each(|(y, out)| blur(out, around(&image, width, y)));
                }),
                run(|| {
                    let rows = alone.chunks_exact_mut(width).enumerate();
                    rows.for_each(|(y, out)| blur(out, around(&image, width, y)));
                }),
            );
            assert!(ours == alone && theirs == alone);
        }
        // A tile of the transposed image is read by columns.
        let name = format!("par_tiles_mut, {width} × {height} pixels transposed");
        if table.wants(&name) {
            let [ours, theirs, alone] = &mut outs;
            table.row(
                &name,
                run(|| {
                    ours.par_tiles_mut(height, (64, 64)).for_each(|mut tile| {
                        // By value, as in the loop, so that the compiler knows that writing a pixel does not
                        // change them.
                        let (left, width, from) = (tile.x().start, width, &image[..]);
                        for (y, row) in tile.rows_mut() {
                            for (x, out) in row.iter_mut().enumerate() {
                                *out = from[(left + x) * width + y];
                            }
                        }
                    });
                }),
                // Without tiles: bands of rows, cut by hand into tiles for the reading.
                run(|| {
                    let bands = theirs.par_chunks_mut(64 * height).enumerate();
                    bands.for_each(|(band, out)| transpose(&image, width, height, band * 64, out));
                }),
                run(|| transpose(&image, width, height, 0, alone)),
            );
            assert!(ours == alone && theirs == alone);
        }
    }
}

/// Writes the rows from `top` on of the transposed image, 64 by 64 pixels at a time.
fn transpose(image: &[u8], width: usize, height: usize, top: usize, out: &mut [u8]) {
    for (band, out) in out.chunks_mut(64 * height).enumerate() {
        for left in (0..height).step_by(64) {
            for (y, row) in out.chunks_mut(height).enumerate() {
                let row = &mut row[left..(left + 64).min(height)];
                for (x, out) in row.iter_mut().enumerate() {
                    *out = image[(left + x) * width + top + band * 64 + y];
                }
            }
        }
    }
}
