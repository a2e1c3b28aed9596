//! Lines of bytes, numbered lines, substrings.

use crate::inputs::numbers;
use crate::table::{Table, run};
use rayon::prelude::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSlice;
use rayon::str::ParallelString as _;
use tine_iter::algorithms::{ParallelBytes, ParallelStringSearch};
use tine_iter::prelude::ParallelIterator as _;

fn text(len: usize) -> String {
    let letters = numbers(len, 40).into_iter().map(|n| match n {
        0 => '\n',
        n => (b'A' + n as u8) as char,
    });
    letters.collect()
}

pub fn rows(table: &mut Table) {
    for len in [20_000_000 / table.scale, 20_000] {
        let text = text(len);
        let bytes = text.as_bytes();
        let name = format!("par_lines of {len} bytes");
        if table.wants(&name) {
            let weight = |line: &[u8]| line.iter().filter(|b| **b == b'X').count();
            table.row(
                &name,
                run(|| bytes.par_lines().map(weight).sum::<usize>()),
                run(|| {
                    let lines = ParallelSlice::par_split(bytes, |b| *b == b'\n');
                    lines.map(weight).sum::<usize>()
                }),
                run(|| bytes.split(|b| *b == b'\n').map(weight).sum::<usize>()),
            );
        }
        let name = format!("par_lines().enumerate(), {len} bytes");
        if table.wants(&name) {
            let weight = |(n, line): (usize, &str)| n ^ line.len();
            table.row(
                &name,
                run(|| {
                    tine_iter::str::ParallelString::par_lines(&text[..])
                        .enumerate()
                        .map(weight)
                        .max()
                }),
                run(|| {
                    let lines: Vec<&str> = text.par_lines().collect();
                    let lines = rayon::iter::IntoParallelIterator::into_par_iter(lines);
                    lines.enumerate().map(weight).max()
                }),
                run(|| text.lines().enumerate().map(weight).max()),
            );
        }
        let name = format!("par_find_str, 12 bytes at the end of {len}");
        if table.wants(&name) {
            let needle = &text[len - 12..];
            table.row(
                &name,
                run(|| text.par_find_str(needle)),
                run(|| {
                    let starts =
                        rayon::iter::IntoParallelIterator::into_par_iter(0..len.div_ceil(1 << 16));
                    starts.find_map_first(|piece| {
                        let start = piece << 16;
                        let end = (start + (1 << 16) + 11).min(len);
                        text[start..end].find(needle).map(|at| start + at)
                    })
                }),
                run(|| text.find(needle)),
            );
        }
    }
}
