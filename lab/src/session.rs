//! Many rows on many machines, each in a separate process.

use crate::output;
use crate::results::Results;
use crate::rows::{self, ROWS};
use std::fmt::Write;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the command line asks for.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    rows: Vec<String>,
    cores: Vec<String>,
    seed: u64,
    seeds: u64,
    costs: Vec<String>,
    out: Option<String>,
    lines: usize,
    jobs: usize,
    limit: u64,
    /// The factor for all costs.
    scale: f64,
    /// Whether costs are only halved and doubled together.
    together: bool,
}

impl Options {
    /// Ends the process if something is not understood.
    pub(crate) fn parse(args: &[String]) -> Self {
        let mut options = Self {
            rows: Vec::new(),
            cores: Vec::new(),
            seed: 1,
            seeds: 1,
            costs: Vec::new(),
            out: None,
            lines: 5,
            jobs: 1,
            limit: 120,
            scale: 1.0,
            together: false,
        };
        let mut args = args.iter();
        while let Some(name) = args.next() {
            let value = args
                .next()
                .map(String::as_str)
                .unwrap_or_else(|| refuse(name));
            let list = || value.split(',').map(str::to_owned).collect();
            let number = || value.parse::<u64>().unwrap_or_else(|_| refuse(value));
            match name.as_str() {
                "--rows" => options.rows = list(),
                "--cores" => options.cores = list(),
                "--seed" => options.seed = number(),
                "--seeds" => options.seeds = number(),
                "--costs" => match value {
                    "half" => options.scale = 0.5,
                    "double" => options.scale = 2.0,
                    "all" => options.together = true,
                    _ => refuse(value),
                },
                "--set" => options.costs.push(value.to_owned()),
                "--out" => options.out = Some(value.to_owned()),
                "--lines" => options.lines = number() as usize,
                "--jobs" => options.jobs = number().max(1) as usize,
                "--limit" => options.limit = number(),
                _ => refuse(name),
            }
        }
        options
    }

    fn rows(&self) -> Vec<&'static str> {
        let wanted = |name: &&str| {
            self.rows.is_empty() || self.rows.iter().any(|r| name.starts_with(r.as_str()))
        };
        ROWS.iter().map(|(name, _)| *name).filter(wanted).collect()
    }

    fn cores(&self) -> Vec<String> {
        if !self.cores.is_empty() {
            return self.cores.clone();
        }
        let all: &[&str] = if crate::machine::COMPUTED {
            &["1", "2", "4", "8", "16", "32", "64", "128"]
        } else {
            &["1", "2"]
        };
        all.iter().map(|c| c.to_string()).collect()
    }
}

fn refuse<T>(what: &str) -> T {
    eprintln!("not understood: {what}");
    std::process::exit(2);
}

struct Task {
    row: &'static str,
    cores: String,
    seed: u64,
}

/// Runs all that is asked for; returns the records, and what failed.
fn collect(options: &Options) -> Result<String, String> {
    // Addresses must not differ from run to run: they decide which words share a line, and which
    // sites share an entry of a table.
    #[cfg(target_os = "linux")]
    // SAFETY: takes and gives numbers.
    unsafe {
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
    }
    let mut tasks = Vec::new();
    for row in options.rows() {
        for cores in options.cores() {
            for seed in options.seed..options.seed + options.seeds {
                tasks.push(Task {
                    row,
                    cores: cores.clone(),
                    seed,
                });
            }
        }
    }
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<Result<String, String>>>> =
        tasks.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                while let Some(i) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < tasks.len())
                {
                    *done[i].lock().unwrap() = Some(run_one(options, &tasks[i]));
                }
            });
        }
    });
    let (mut out, mut failed) = (String::new(), String::new());
    for one in done {
        match one.into_inner().unwrap().expect("each was run") {
            Ok(records) => out += &records,
            Err(why) => {
                let _ = writeln!(failed, "{why}");
            }
        }
    }
    if let Some(path) = &options.out {
        std::fs::write(path, &out).map_err(|e| format!("{path}: {e}"))?;
    }
    if failed.is_empty() {
        Ok(out)
    } else {
        Err(failed)
    }
}

fn run_one(options: &Options, task: &Task) -> Result<String, String> {
    let Task { row, cores, seed } = task;
    let mut command = Command::new("timeout");
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    command
        .arg(options.limit.to_string())
        .arg(own)
        .arg("one")
        .args([*row, cores]);
    command
        .args([seed.to_string(), options.lines.to_string()])
        .arg(format!("all={}", options.scale))
        .args(&options.costs);
    // A clean environment is the same environment: its size moves the first stack.
    command.env_clear().stdin(Stdio::null());
    for name in ["LAB_BATON", "LAB_FEW"] {
        let wanted = std::env::var_os(name).is_some();
        command.env(name, if wanted { "1" } else { "0" });
    }
    command.envs(std::env::var_os("PATH").map(|value| ("PATH", value)));
    let output = command.output().map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let why = match output.status.code() {
        Some(124) => format!("not finished after {} s", options.limit),
        _ => output.status.to_string(),
    };
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!(
        "FAILED: row {row}, cores {cores}, seed {seed}: {why}\n{told}"
    ))
}

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let records = collect(options);
    if let Ok(text) = &records {
        output::efficiencies(&Results::parse(text));
    }
    if let Some(path) = &options.out {
        output::table(path)?;
    }
    records.map(drop)
}

/// The best that uneven loops can reach.
pub(crate) fn limit(options: &Options) -> Result<(), String> {
    let seeds = options.seed..options.seed + options.seeds;
    crate::limit::limits(&options.rows(), &options.cores(), seeds)
}

/// All costs halved and doubled, then each by itself: how far each row's efficiency moves.
#[cfg(tine_sched)]
pub(crate) fn sensitivity(options: &Options) -> Result<(), String> {
    use crate::rt::costs::Costs;
    let mut options = options.clone();
    options.out = None;
    let base = Results::parse(&collect(&options)?);
    let scaled = |scale: f64| -> Result<Results, String> {
        let mut changed = options.clone();
        changed.scale = scale;
        Ok(Results::parse(&collect(&changed)?))
    };
    output::beside(&base, &scaled(0.5)?, &scaled(2.0)?);
    if options.together {
        return Ok(());
    }
    println!(
        "\nrow, cores, as given; then each cost that moves it by more than a twentieth: halved, doubled"
    );
    let mut moved = std::collections::BTreeMap::<(String, String), String>::new();
    for name in Costs::NAMES {
        let given = *Costs::default().get(name).expect("a cost of that name");
        let mut two = Vec::new();
        for factor in [0.5, 2.0] {
            let mut changed = options.clone();
            changed.costs.push(format!("{name}={}", given * factor));
            two.push(Results::parse(&collect(&changed)?));
        }
        for row in &base.rows {
            for cores in &base.cores {
                let of = |r: &Results| r.efficiency(row, cores).unwrap_or(0.0);
                let (was, half, twice) = (of(&base), of(&two[0]), of(&two[1]));
                if (half - was).abs().max((twice - was).abs()) > was / 20.0 {
                    let told = moved.entry((row.clone(), cores.clone())).or_default();
                    let _ = write!(told, "  {name} {half:.2}, {twice:.2};");
                }
            }
        }
    }
    for row in &base.rows {
        for cores in &base.cores {
            let told = moved
                .get(&(row.clone(), cores.clone()))
                .map_or("", String::as_str);
            println!(
                "{row}, {cores}: {:.2}{told}",
                base.efficiency(row, cores).unwrap_or(0.0)
            );
        }
    }
    Ok(())
}

#[cfg(not(tine_sched))]
pub(crate) fn sensitivity(_: &Options) -> Result<(), String> {
    Err("there are no costs to change on the machine at hand".into())
}

/// A few rows, twice each: they end, their answers are right, and the second run is equal to the first.
pub(crate) fn check(options: &Options) -> Result<(), String> {
    let mut options = options.clone();
    if options.rows.is_empty() {
        let all = [
            "loop-10000x",
            "join-65536x1000",
            "spawntree",
            "server-100x",
            "bridge-20000",
            "push",
        ];
        options.rows = all.map(str::to_owned).to_vec();
    }
    if options.cores.is_empty() {
        options.cores = vec!["2".into(), "8".into()];
    }
    let (once, twice) = (collect(&options)?, collect(&options)?);
    output::efficiencies(&Results::parse(&once));
    let computed = |text: &str| -> Vec<String> {
        let fixed = |line: &&str| {
            !line
                .split(['\t', ' '])
                .nth(1)
                .is_some_and(rows::is_measured)
        };
        text.lines().filter(fixed).map(str::to_owned).collect()
    };
    let (a, b) = (computed(&once), computed(&twice));
    match a.iter().zip(&b).find(|(a, b)| a != b) {
        _ if !crate::machine::COMPUTED => Ok(()),
        None if a.len() == b.len() => {
            println!("\nthe same twice: {} records", a.len());
            Ok(())
        }
        differs => Err(format!(
            "seed {}: two runs differ: {differs:?}",
            options.seed
        )),
    }
}
