//! Sizes between those of the other tables, against the plain loop: where the method changes with the
//! size of the input, a size just beyond the change may be slow although its neighbours are not.
//!
//! `between [WORD…] [--sizes N,N,…] [--rounds N]`: calls whose name, or kind of keys, contains a
//! word given. A whole run writes its table into `benches/TABLES.md` if the machine was quiet.
#![forbid(unsafe_code)]

mod calls;
mod keys;
mod table;

use std::env;
use table::{Asked, Kind};
use tine_bench::spin;
use tine_iter::iter::{IntoParallelIterator, ParallelIterator};

fn main() {
    let mut asked = Asked::default();
    let mut child = None;
    let mut args = env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--rounds" => {
                asked.rounds = args.next().and_then(|n| n.parse().ok()).expect("a number");
            }
            "--sizes" => {
                let sizes = args.next().expect("sizes");
                let sizes = sizes.split(',').map(|n| n.parse().expect("a size"));
                asked.sizes = Some(sizes.collect());
            }
            "--child" => {
                let mut number = || args.next().and_then(|n| n.parse().ok()).expect("a number");
                child = Some((number(), number()));
            }
            _ => asked.words.push(arg),
        }
    }
    let kinds: Vec<Kind> = keys::kinds().into_iter().chain(calls::kinds()).collect();
    if let Some((kind, size)) = child {
        // The pool's threads are there before the first call.
        let _ = (0..10).into_par_iter().map(|i| i).sum::<i32>();
        let child: &Kind = &kinds[kind];
        return (child.run)(&asked, size);
    }
    spin::set_rate(spin::measure_rate());
    for (nth, kind) in kinds.iter().enumerate() {
        asked.kind(nth, kind).expect("a table of one kind");
    }
    asked.finish().expect("the table in TABLES.md");
}
