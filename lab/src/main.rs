//! The real pool, iterators and collections in virtual time, on 1 to 128 cores that are computed.
//!
//! ```text
//! tine-lab run [--rows A,B] [--cores 1,8,2x32] [--seeds N] [--seed N] [--set name=value]…
//!              [--out FILE] [--lines N]    rows, a process each: a table of efficiencies
//! tine-lab table FILE                      the table of a file of results
//! tine-lab compare OLD NEW                 two files of results, row by row
//! tine-lab plot FILE SVG [RAYON]           its curves, and in grey those of a file of rayon's
//! tine-lab calibrate REAL COMPUTED         times of the machine at hand beside the computed ones
//! tine-lab sensitivity [as run]            each cost halved and doubled
//! tine-lab limit [as run]                  what a scheduler that costs nothing would reach in uneven loops
//! tine-lab check                           short: finishes, right answers, the same twice
//! tine-lab costs                           what the costs are here, measured (not computed)
//! tine-lab rows                            their names
//! ```
//!
//! Built with `--cfg tine_sched` it computes; built without, the same rows run on the machine at
//! hand. `lab/lab.sh` builds both. README.md tells more.

mod limit;
mod machine;
mod mixed;
mod one;
mod output;
mod plot;
mod results;
mod rows;
#[cfg(tine_sched)]
mod rt;
mod session;

#[cfg(not(tine_sched))]
mod measure;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rest = || session::Options::parse(&args[1..]);
    let done = match args.first().map(String::as_str) {
        Some("run") => session::run(&rest()),
        Some("one") => one::main(&args[1..]),
        Some("table") if args.len() == 2 => output::table(&args[1]),
        Some("compare") if args.len() == 3 => output::compare(&args[1], &args[2]),
        Some("plot") if (3..=4).contains(&args.len()) => {
            plot::plot(&args[1], &args[2], args.get(3).map(String::as_str))
        }
        Some("calibrate") if args.len() == 3 => output::calibrate(&args[1], &args[2]),
        Some("sensitivity") => session::sensitivity(&rest()),
        Some("limit") => session::limit(&rest()),
        Some("check") => session::check(&rest()),
        #[cfg(not(tine_sched))]
        Some("costs") => {
            measure::costs();
            Ok(())
        }
        Some("rows") => {
            rows::ROWS.iter().for_each(|(name, _)| println!("{name}"));
            Ok(())
        }
        _ => Err("what is asked for? See the first lines of lab/src/main.rs".into()),
    };
    if let Err(why) = done {
        eprintln!("{why}");
        std::process::exit(1);
    }
}
