//! The algorithms beyond rayon's, against rayon by hand and the loop: every row in one run, the
//! candidates taking turns.
//!
//! `algorithms [ROW…] [--rounds N] [--small]`: rows whose name contains a word given; `--small`
//! divides sizes by ten. A whole run on a quiet machine writes its table into `benches/README.md`.
#![forbid(unsafe_code)]
#![allow(dropping_copy_types)] // what a call returns is beside the point here

mod grids;
mod inputs;
mod programs;
mod reductions;
mod searches;
mod slices;
mod table;
mod texts;
mod worklists;

use std::env;

use table::Table;
use tine_bench::spin;
use tine_iter::iter::{IntoParallelIterator, ParallelIterator};

fn main() {
    let mut table = Table::default();
    let mut args = env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--small" => table.scale = 10,
            "--rounds" => {
                table.rounds = args.next().and_then(|n| n.parse().ok()).expect("a number");
            }
            _ => table.words.push(arg),
        }
    }
    spin::set_rate(spin::measure_rate());
    // Both pools' threads are there before the first row.
    let _ = (0..10).into_par_iter().map(|i| i).sum::<i32>();
    rayon::join(|| (), || ());
    reductions::rows(&mut table);
    slices::rows(&mut table);
    searches::rows(&mut table);
    worklists::rows(&mut table);
    grids::rows(&mut table);
    texts::rows(&mut table);
    programs::rows(&mut table);
    table.keep().expect("the table in the README");
}
