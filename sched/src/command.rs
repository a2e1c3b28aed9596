//! The command line.

use crate::invent;
use crate::program::{self, Program};
use crate::runner::{Done, Failure, Job, Runner};
use crate::scenes::{self, Scene};
use std::process::exit;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Asked {
    seconds: Option<u64>,
    seed: Option<u64>,
    program: Option<u64>,
    schedule: Option<u64>,
    scene: Option<String>,
    scenes: bool,
    shrink: Option<u64>,
    without: Vec<usize>,
    /// Kinds of steps that invented programs must not have.
    no: Vec<String>,
    most: Option<u64>,
    jobs: Option<usize>,
    /// How many failures end it.
    failures: Option<usize>,
}

/// The schedules that each invented program gets in a row.
const EACH: u64 = 40;
/// The schedules that a scene gets.
const SCENE: u64 = 10_000;

pub(crate) fn main() {
    keep_addresses();
    let asked = ask();
    if let Some(seed) = asked.shrink {
        return shrink(seed, &asked);
    }
    if let (Some(schedule), Some(scene)) = (asked.schedule, &asked.scene) {
        let scene = scenes::all()
            .into_iter()
            .find(|s| s.name.starts_with(scene.as_str()));
        let program = scene.expect("there is a scene of this name").program;
        again(program::without(program, &asked.without), schedule);
    }
    if let (Some(schedule), Some(seed)) = (asked.schedule, asked.program) {
        again(
            program::without(invent::invent(seed, &asked.no), &asked.without),
            schedule,
        );
    }
    let begun = Instant::now();
    let end = begun + Duration::from_secs(asked.seconds.unwrap_or(120));
    let mut wrong = 0;
    let scenes_alone = asked.scenes || asked.scene.is_some();
    if scenes_alone || asked.program.is_none() && asked.no.is_empty() {
        wrong += play(&asked, end);
    }
    if !scenes_alone {
        wrong += play_invented(&asked, end);
    }
    println!("{} s", begun.elapsed().as_secs());
    exit(i32::from(wrong > 0));
}

fn ask() -> Asked {
    let mut asked = Asked::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--scenes" {
            asked.scenes = true;
            continue;
        }
        let value = words.next().unwrap_or_else(|| usage());
        let number = || value.parse::<u64>().unwrap_or_else(|_| usage());
        match word.as_str() {
            "--seconds" => asked.seconds = Some(number()),
            "--seed" => asked.seed = Some(number()),
            "--program" => asked.program = Some(number()),
            "--schedule" => asked.schedule = Some(number()),
            "--scene" => asked.scene = Some(value),
            "--shrink" => asked.shrink = Some(number()),
            "--most" => asked.most = Some(number()),
            "--jobs" => asked.jobs = Some(number() as usize),
            "--no" => asked.no = value.split(',').map(str::to_owned).collect(),
            "--failures" => asked.failures = Some(number() as usize),
            "--without" => {
                let numbers = value.split(',').map(str::parse);
                asked.without = numbers
                    .collect::<Result<_, _>>()
                    .unwrap_or_else(|_| usage());
            }
            _ => usage(),
        }
    }
    asked
}

fn usage() -> ! {
    eprintln!("see the first lines of sched/src/main.rs");
    exit(2);
}

impl Asked {
    fn no(&self) -> String {
        if self.no.is_empty() {
            String::new()
        } else {
            format!(" --no {}", self.no.join(","))
        }
    }

    fn jobs(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.unwrap_or_else(all)
    }
}

/// Makes the addresses of code and heap the same in every process.
fn keep_addresses() {
    const NO_RANDOM: libc::c_ulong = libc::ADDR_NO_RANDOMIZE as libc::c_ulong;
    // SAFETY: asks only.
    let now = unsafe { libc::personality(0xffff_ffff) };
    if now < 0 || now as libc::c_ulong & NO_RANDOM != 0 {
        return;
    }
    // SAFETY: concerns programs that are begun after this.
    if unsafe { libc::personality(now as libc::c_ulong | NO_RANDOM) } < 0 {
        return;
    }
    use std::os::unix::process::CommandExt;
    let Ok(own) = std::env::current_exe() else {
        return;
    };
    let error = std::process::Command::new(own)
        .args(std::env::args_os().skip(1))
        .exec();
    eprintln!("not begun again: {error}");
}

/// Runs one schedule and reports everything about it.
fn again(program: Program, schedule: u64) -> ! {
    println!("{program}");
    let program = Box::leak(Box::new(program));
    let mut runner = Runner::new(1);
    let length = length(program, &mut runner);
    runner.begin(
        Job {
            program,
            seed: schedule,
            length,
            verbose: true,
        },
        (),
    );
    let done = runner.wait();
    match done.failure {
        None => println!("fine, after {} steps", done.steps),
        Some(Failure { kind, said }) => {
            println!("{kind}\n{said}");
            exit(1);
        }
    }
    exit(0);
}

/// About how many points the program has: the number in its first schedule. That one is run twice,
/// since a schedule that cannot be repeated is useless.
fn length(program: &'static Program, runner: &mut Runner<()>) -> u64 {
    let mut once = || {
        runner.begin(
            Job {
                program,
                seed: 0,
                length: 1000,
                verbose: false,
            },
            (),
        );
        let Done { steps, print, .. } = runner.wait();
        (steps, print)
    };
    let (first, second) = (once(), once());
    if first != second {
        println!("{program}\nthe same seed gave two schedules: {first:?}, {second:?}");
        exit(3);
    }
    first.0.max(500)
}

/// Tries schedules `seeds` of one program until one fails. Returns the number tried.
fn first_failure(
    program: &'static Program,
    seeds: std::ops::Range<u64>,
    jobs: usize,
    end: Instant,
) -> (u64, Option<(u64, Failure)>) {
    let length = length(program, &mut Runner::new(1));
    let mut runner = Runner::new(jobs);
    let mut next = seeds.start;
    let mut found: Option<(u64, Failure)> = None;
    loop {
        let more = found.is_none() && next < seeds.end && Instant::now() < end;
        if more && runner.has_room() {
            runner.begin(
                Job {
                    program,
                    seed: next,
                    length,
                    verbose: false,
                },
                next,
            );
            next += 1;
        } else if !runner.is_idle() {
            let done = runner.wait();
            if let Some(failure) = done.failure
                && found.as_ref().is_none_or(|(seed, _)| *seed > done.tag)
            {
                found = Some((done.tag, failure));
            }
        } else {
            return (next - seeds.start, found);
        }
    }
}

/// The scenes, each until it fails or has had its schedules.
fn play(asked: &Asked, end: Instant) -> usize {
    let mut wrong = 0;
    let all = scenes::all().into_iter();
    let wanted = |s: &Scene| {
        asked
            .scene
            .as_ref()
            .is_none_or(|n| s.name.starts_with(n.as_str()))
    };
    let scenes: Vec<Scene> = all.filter(wanted).collect();
    let count = scenes.len() as u64;
    for (i, Scene { name, program }) in scenes.into_iter().enumerate() {
        let program = Box::leak(Box::new(program));
        let begin = asked.seed.filter(|_| asked.scenes).unwrap_or(0);
        let most = asked.most.unwrap_or(if asked.scenes { SCENE } else { 300 });
        // Each scene gets a fair share of half of the time left.
        let now = Instant::now();
        let left = end.saturating_duration_since(now);
        let share = left / if asked.scenes { 1 } else { 2 } / (count - i as u64) as u32;
        let seeds = begin..begin + most;
        let (tried, found) = first_failure(program, seeds, asked.jobs(), now + share);
        match found {
            None => println!("{name}: fine, {tried} schedules"),
            Some((seed, Failure { kind, said })) => {
                wrong += 1;
                println!("{name}: FAILED ({kind}) in schedule {seed}, of {tried}");
                println!("{}", indent(&said, 12));
                println!("    again: tests/schedules.sh --scene {name} --schedule {seed}");
            }
        }
    }
    wrong
}

fn indent(said: &str, most: usize) -> String {
    let lines: Vec<String> = said
        .lines()
        .take(most)
        .map(|l| format!("    | {l}"))
        .collect();
    lines.join("\n")
}

/// Invented programs, as long as there is time.
fn play_invented(asked: &Asked, end: Instant) -> usize {
    let from = asked.program.or(asked.seed).unwrap_or_else(by_clock);
    println!("programs from {from} on");
    let (mut programs, mut schedules) = (0_u64, 0);
    let mut failures = 0;
    let each = asked.most.unwrap_or(EACH);
    while Instant::now() < end {
        let seed = from + programs;
        let program = Box::leak(Box::new(program::without(
            invent::invent(seed, &asked.no),
            &asked.without,
        )));
        let (tried, found) = first_failure(program, 0..each, asked.jobs(), end);
        programs += 1;
        schedules += tried;
        if let Some((schedule, Failure { kind, said })) = found {
            failures += 1;
            println!("program {seed}: FAILED ({kind}) in schedule {schedule}");
            println!("{}", indent(&said, 12));
            let no = asked.no();
            println!("    again:   tests/schedules.sh --program {seed} --schedule {schedule}{no}");
            println!("    smaller: tests/schedules.sh --shrink {seed}{no}");
            if failures >= asked.failures.unwrap_or(1) {
                break;
            }
        }
        if asked.program.is_some() {
            break;
        }
    }
    println!("{programs} programs, {schedules} schedules, {failures} programs failed");
    failures
}

fn by_clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |t| t.as_millis() as u64 % 1_000_000_000 * 1000)
}

/// Leaves out node after node as long as some schedule still fails in the same way.
fn shrink(seed: u64, asked: &Asked) {
    let program = invent::invent(seed, &asked.no);
    let tries = asked.most.unwrap_or(300);
    let far = Instant::now() + Duration::from_secs(asked.seconds.unwrap_or(600));
    let try_out = |gone: &[usize]| {
        let program = Box::leak(Box::new(program::without(program.clone(), gone)));
        first_failure(program, 0..tries, asked.jobs(), far).1
    };
    let mut gone = asked.without.clone();
    let Some((mut schedule, mut failure)) = try_out(&gone) else {
        println!("no schedule of {tries} fails");
        exit(1);
    };
    let kind = failure.kind.clone();
    let mut changed = true;
    while changed && Instant::now() < far {
        changed = false;
        for id in program::ids(&program::without(program.clone(), &gone)) {
            let mut more = gone.clone();
            more.push(id);
            if let Some(found) = try_out(&more)
                && found.1.kind == kind
            {
                (schedule, failure) = found;
                gone = more;
                changed = true;
                break;
            }
        }
    }
    let smallest = Box::leak(Box::new(program::without(program, &gone)));
    let mut runner = Runner::new(1);
    let length = length(smallest, &mut runner);
    runner.begin(
        Job {
            program: smallest,
            seed: schedule,
            length,
            verbose: true,
        },
        (),
    );
    if let Some(told) = runner.wait().failure {
        failure = told;
    }
    println!(
        "{smallest}\n{kind} in schedule {schedule}\n{}",
        indent(&failure.said, 400)
    );
    let list: Vec<String> = gone.iter().map(usize::to_string).collect();
    let without = list.join(",");
    println!(
        "again: tests/schedules.sh --program {seed} --schedule {schedule} --without {without}{}",
        asked.no()
    );
}
