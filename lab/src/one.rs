//! One row on one machine, in a separate process: prints the records that `results` reads.

use crate::machine;
use crate::rows::{self, Sample, Setup};
use std::fmt::Write;

/// `ROW CORES SEED LINES [name=value]…`
pub(crate) fn main(args: &[String]) -> Result<(), String> {
    let [row, cores, seed, lines, costs @ ..] = args else {
        return Err("one ROW CORES SEED LINES [name=value]…".into());
    };
    let number = |text: &String| text.parse().map_err(|_| format!("not a number: {text}"));
    let (seed, lines): (u64, u64) = (number(seed)?, number(lines)?);
    let (_, body) = rows::ROWS
        .iter()
        .find(|(name, _)| name == row)
        .ok_or_else(|| format!("no row {row}"))?;
    let count = begin(row, cores, seed, costs)?;
    if rows::is_measured(row) {
        keep_memory();
    } else {
        own_arenas(count);
    }
    let (told, shape) = (format!("{row} on {cores}"), cores.clone());
    let tell = move |sample: &Sample| print!("{}", records(sample, &shape, seed, lines as usize));
    let setup = Setup {
        cores: count,
        seed,
        tell: Box::new(tell),
    };
    // A failed check leaves other threads where they are: it prints the seed, and the process ends.
    let why = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(&setup, row)));
    if why.is_err() {
        eprintln!("{told}: failed with seed {seed}");
        exit(1);
    }
    exit(0);
}

/// Makes the allocator give nothing back to the system, so that memory is new only in the first round of a
/// row, which is not reported. In other rounds the one real core, which does the work of all, would meet all
/// new pages where the first thread does; on a real machine the threads meet them together.
fn keep_memory() {
    #[cfg(target_env = "gnu")]
    for (what, value) in [
        (libc::M_MMAP_MAX, 0),
        (libc::M_TRIM_THRESHOLD, i32::MAX),
        (libc::M_ARENA_MAX, 1),
    ] {
        // SAFETY: no preconditions; it takes numbers.
        unsafe { libc::mallopt(what, value) };
    }
}

/// Makes the allocator give each thread its own arena, as on a machine with that number of cores (8 arenas for
/// each): by itself it counts the cores of the real machine.
fn own_arenas(count: usize) {
    #[cfg(target_env = "gnu")]
    // SAFETY: no preconditions; it takes numbers.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 8 * count as libc::c_int)
    };
}

fn exit(code: i32) -> ! {
    use std::io::Write;
    let _ = std::io::stdout().flush();
    // SAFETY: no preconditions. Threads that the machine runs are not ended one by one.
    unsafe { libc::_exit(code) }
}

#[cfg(tine_sched)]
fn begin(row: &str, cores: &str, seed: u64, changed: &[String]) -> Result<usize, String> {
    use crate::rt::costs::{Costs, Topology};
    let topology = Topology::parse(cores).ok_or_else(|| format!("not a machine: {cores}"))?;
    let mut costs = Costs::default();
    if rows::has_tables(row) {
        costs.order = Costs::ORDER_OF_BLOCKS;
    } else if rows::is_measured(row) {
        costs.order = Costs::ORDER_MEASURED;
    }
    for change in changed {
        let known = change.split_once('=').and_then(|(name, value)| {
            let value: f64 = value.parse().ok()?;
            if name == "all" {
                for name in Costs::NAMES {
                    *costs.get(name)? *= value;
                }
                return Some(());
            }
            *costs.get(name)? = value;
            Some(())
        });
        known.ok_or_else(|| format!("no cost: {change}"))?;
    }
    let count = topology.cores();
    set_threads(count);
    let what = format!("{row} on {cores} with seed {seed}");
    crate::rt::start(&costs, topology, seed, rows::is_measured(row), &what);
    Ok(count)
}

#[cfg(not(tine_sched))]
fn begin(_: &str, cores: &str, _: u64, _: &[String]) -> Result<usize, String> {
    let count = cores
        .parse()
        .map_err(|_| format!("not a number: {cores}"))?;
    set_threads(count);
    machine::work(1);
    Ok(count)
}

fn set_threads(count: usize) {
    // SAFETY: the only thread.
    unsafe { std::env::set_var("TINE_NUM_THREADS", count.to_string()) };
    // SAFETY: as above.
    #[cfg(lab_rayon)]
    unsafe {
        std::env::set_var("RAYON_NUM_THREADS", count.to_string());
    }
    // The calls by which a woken thread is kept off the waker's processor are part of `wake`.
    if machine::COMPUTED {
        // SAFETY: as above.
        unsafe { std::env::set_var("TINE_WAKE_ELSEWHERE", "0") };
    }
}

fn records(sample: &Sample, cores: &str, seed: u64, lines: usize) -> String {
    let mut out = String::new();
    let Sample {
        row,
        time,
        ideal,
        tasks,
        calls,
    } = sample;
    let (median, late) = calls.unwrap_or((0, 0));
    let _ = write!(
        out,
        "R\t{row}\t{cores}\t{seed}\t{time}\t{ideal}\t{tasks}\t{median}\t{late}"
    );
    #[cfg(tine_sched)]
    {
        let report = crate::rt::report();
        let t = &report.times;
        for n in [t.work, t.stall, t.spin, t.system, t.hits] {
            let _ = write!(out, "\t{}", n / 1000);
        }
        for n in [
            t.transfers,
            t.refused,
            t.wakes,
            t.sleeps,
            t.touches,
            report.switches,
        ] {
            let _ = write!(out, "\t{n}");
        }
        let _ = writeln!(out);
        for line in report.contended.iter().take(lines) {
            let _ = writeln!(
                out,
                "L\t{row}\t{cores}\t{seed}\t{:.3}\t{}\t{}\t{}\t{}",
                line.share, line.transfers, line.refused, line.lines, line.fields
            );
        }
        let (places, all) = &report.few;
        for few in places.iter().take(lines) {
            let _ = writeln!(
                out,
                "F\t{row}\t{cores}\t{seed}\t{all}\t{}\t{}\t{}",
                few.few, few.all, few.place
            );
        }
        for bucket in &report.buckets {
            let _ = writeln!(out, "B\t{row}\t{cores}\t{seed}\t{bucket}");
        }
        let _ = write!(out, "W\t{row}\t{cores}\t{seed}");
        let last = report.ramp.len();
        for (i, nanos) in report.ramp.iter().enumerate() {
            if (i + 1).is_power_of_two() || i + 1 == last {
                let _ = write!(out, "\t{}:{:.1}", i + 1, *nanos as f64 / 1000.0);
            }
        }
        let _ = writeln!(out);
    }
    #[cfg(not(tine_sched))]
    {
        let _ = (writeln!(out), lines);
    }
    out
}
