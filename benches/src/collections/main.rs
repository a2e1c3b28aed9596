//! The collections against their peers: every row in one run, the candidates
//! taking turns, medians and their ratios.
//!
//! `collections [ROW…] [--rounds N] [--small]`: rows whose name contains a word
//! given; `--small` divides sizes by ten. A whole run on a quiet machine writes
//! its table into `benches/TABLES.md`.

#![allow(dropping_copy_types)] // what a call returns is beside the point here

mod building;
mod counting;
mod designs;
mod grouping;
mod inputs;
mod joining;
mod memory;
mod sharing;
mod small;
mod table;
mod tails;
mod touching;
mod vectors;

use std::cell::RefCell;
use std::env;
use table::Options;
use tine_bench::spin;
use tine_iter::iter::{IntoParallelIterator, ParallelIterator};

fn main() {
    let mut options = Options {
        words: Vec::new(),
        rounds: 3,
        scale: 1,
        memory: Vec::new(),
        lines: RefCell::new(String::new()),
        looks: RefCell::new(Vec::new()),
    };
    let mut args = env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--small" => options.scale = 10,
            "--rounds" => {
                options.rounds = args.next().and_then(|n| n.parse().ok()).expect("a number");
            }
            "--weigh" => return memory::child(&args.next().expect("a subject")),
            _ => options.words.push(arg),
        }
    }
    spin::set_rate(spin::measure_rate());
    // The pool's threads are there before the first row.
    let _ = (0..10).into_par_iter().map(|i| i).sum::<i32>();
    small::run(&options);
    counting::run(&options);
    grouping::run(&options);
    joining::run(&options);
    counting::words(&options);
    building::run(&options);
    sharing::run(&options);
    touching::run(&options);
    vectors::run(&options);
    tails::run(&options);
    memory::run(&mut options);
    println!("\n{}", options.table());
    options.keep().expect("the table in TABLES.md");
}
