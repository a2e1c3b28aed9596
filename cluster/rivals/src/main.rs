//! Counting words and sorting numbers: tine-cluster on two ranks of one thread each, timely
//! dataflow on two workers on the same machine, which are two processes or two threads.
//!
//!     cargo run --release --manifest-path cluster/rivals/Cargo.toml
//!     cargo run --release --manifest-path cluster/rivals/Cargo.toml -- words
//!
//! Both have the same input in memory, one half on each rank or worker. Both report how many items and
//! how many different items they found; these numbers must be the same. Every figure is the median of
//! five runs in the memory of fresh processes, after one run that is not counted; contenders take
//! turns, and a ratio is the median of three turns.
//!
//! timely's programs are written for it: words go straight into a table of the worker that owns
//! them (`words`), or are counted by each worker before they are sent (`words, folded first`), which
//! is what tine-cluster does by itself. In that row tine-cluster borrows words and copies only new ones,
//! as timely does. Numbers are sent by range, with perfect splitters, and sorted where they arrive; timely
//! is given the splitters, and tine-cluster has to find them.

use foldhash::HashMap;
use std::cell::RefCell;
use std::env;
use std::hash::{BuildHasher, Hash};
use std::hint::black_box;
use std::io::Write;
use std::net::TcpListener;
use std::process::{Child, Command, ExitCode, Stdio};
use std::rc::Rc;
use std::time::Instant;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::vec::Map;
use timely::dataflow::operators::{Operator, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::synchronization::Barrier;
use timely::worker::Worker;
use tine_cluster::Cluster;

const LINES: usize = 400_000;
const WORDS: usize = 10;
const VOCABULARY: f64 = 100_000.0;
const ITEMS: usize = 10_000_000;
const RUNS: usize = 5;
const TURNS: usize = 3;
/// Ranks, or workers.
const SHARES: usize = 2;

fn number(i: usize) -> u64 {
    let mixed = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ mixed >> 27
}

/// A line of words, of which few are frequent and most are rare.
fn line(i: usize) -> String {
    let word = |w: usize| {
        let fraction = (number(i * WORDS + w) >> 11) as f64 / (1_u64 << 53) as f64;
        format!("word{}", VOCABULARY.powf(fraction) as u64)
    };
    (0..WORDS).map(word).collect::<Vec<_>>().join(" ")
}

/// The share of a rank or worker.
fn share<T>(count: usize, which: usize, make: impl Fn(usize) -> T) -> Vec<T> {
    (count * which / SHARES..count * (which + 1) / SHARES)
        .map(make)
        .collect()
}

fn hash(key: &impl Hash) -> u64 {
    foldhash::fast::FixedState::with_seed(1).hash_one(key)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The contents of a share of the answer: the number of items, and of different items.
type Found = (usize, usize);

/// The median of the runs, and what the last one found.
fn timed<I>(
    mut prepare: impl FnMut() -> I,
    mut meet: impl FnMut(),
    mut run: impl FnMut(I) -> Found,
) -> (f64, Found) {
    let mut found = (0, 0);
    let times = (0..=RUNS).map(|_| {
        let input = prepare();
        meet();
        let begun = Instant::now();
        found = run(input);
        meet();
        begun.elapsed().as_secs_f64() * 1e3
    });
    let times = times.skip(1).collect();
    (median(times), found)
}

// ---- tine-cluster ---------------------------------------------------------------------------

fn tine(c: &Cluster, row: &str) -> (f64, Found) {
    let meet = || c.barrier();
    match row {
        "sort" => {
            let prepare = || c.from_local(share(ITEMS, c.rank(), number));
            timed(prepare, meet, |v| {
                let sorted = black_box(v.sort());
                (sorted.local().len(), sorted.local().len())
            })
        }
        _ => {
            let prepare = || c.from_local(share(LINES, c.rank(), line));
            timed(prepare, meet, |lines| {
                let words = lines.par_iter().flat_map_iter(|line| line.split(' '));
                let counts = match row {
                    "words" => words.count_by(|word| word.to_string()),
                    _ => words.count_refs(),
                };
                let counts = black_box(counts).into_local();
                let total = counts.iter().map(|(_, count)| count).sum();
                (total, counts.len())
            })
        }
    }
}

// ---- timely ---------------------------------------------------------------------------------

fn until_done(worker: &mut Worker, probe: &ProbeHandle<usize>) {
    worker.step_while(|| !probe.done());
}

fn sort_by_timely(worker: &mut Worker, mut numbers: Vec<u64>) -> Found {
    let arrived = Rc::new(RefCell::new(Vec::new()));
    let mut input = InputHandle::new();
    let probe = ProbeHandle::new();
    let to = arrived.clone();
    worker.dataflow::<usize, _, _>(|scope| {
        let route = Exchange::new(|n: &u64| ((u128::from(*n) * SHARES as u128) >> 64) as u64);
        input
            .to_stream(scope)
            .unary::<timely::container::CapacityContainerBuilder<Vec<u64>>, _, _, _>(
                route,
                "collect",
                |_, _| {
                    move |input, _output| {
                        input.for_each_stamp(|_, batches| {
                            let mut to = to.borrow_mut();
                            batches.for_each(|batch| to.append(batch));
                        });
                    }
                },
            )
            .probe_with(&probe);
    });
    input.send_batch(&mut numbers);
    input.close();
    until_done(worker, &probe);
    let mut all = arrived.take();
    all.sort_unstable();
    black_box(&all);
    (all.len(), all.len())
}

fn words_by_timely(worker: &mut Worker, mut lines: Vec<String>, folded: bool) -> Found {
    let counts: Rc<RefCell<HashMap<String, usize>>> = Rc::default();
    let mut input = InputHandle::new();
    let probe = ProbeHandle::new();
    let to = counts.clone();
    worker.dataflow::<usize, _, _>(|scope| {
        let route = Exchange::new(|(word, _): &(String, usize)| hash(word));
        let lines: timely::dataflow::Stream<'_, usize, Vec<String>> = input.to_stream(scope);
        let words = if folded {
            lines.unary_frontier::<timely::container::CapacityContainerBuilder<Vec<(String, usize)>>, _, _, _>(Pipeline, "fold", |first, _| {
                let mut known: HashMap<String, usize> = HashMap::default();
                let mut first = Some(first);
                move |(input, frontier), output| {
                    input.for_each_stamp(|_, batches| {
                        for batch in batches {
                            for line in batch.drain(..) {
                                for word in line.split(' ') {
                                    match known.get_mut(word) {
                                        Some(count) => *count += 1,
                                        None => drop(known.insert(word.to_owned(), 1)),
                                    }
                                }
                            }
                        }
                    });
                    if frontier.is_empty() {
                        if let Some(first) = first.take() {
                            output.session(&first).give_iterator(known.drain());
                        }
                    }
                }
            })
        } else {
            lines.flat_map(|line: String| {
                let words = line.split(' ').map(|word| (word.to_owned(), 1));
                words.collect::<Vec<_>>()
            })
        };
        words
            .unary::<timely::container::CapacityContainerBuilder<Vec<u64>>, _, _, _>(
                route,
                "count",
                |_, _| {
                    move |input, _output| {
                        input.for_each_stamp(|_, batches| {
                            let mut to = to.borrow_mut();
                            for batch in batches {
                                for (word, count) in batch.drain(..) {
                                    *to.entry(word).or_default() += count;
                                }
                            }
                        });
                    }
                },
            )
            .probe_with(&probe);
    });
    input.send_batch(&mut lines);
    input.close();
    until_done(worker, &probe);
    let counts = counts.take();
    (counts.values().sum(), counts.len())
}

/// A worker's figure and what it found, on a separate line.
fn timely(row: String, arguments: Vec<String>) {
    let job = move |worker: &mut Worker| {
        let which = worker.index();
        assert_eq!(worker.peers(), SHARES);
        let worker = RefCell::new(worker);
        let mut barrier = Barrier::new(*worker.borrow_mut());
        let meet = move || barrier.wait();
        let (time, found) = match row.as_str() {
            "sort" => timed(
                || share(ITEMS, which, number),
                meet,
                |numbers| sort_by_timely(*worker.borrow_mut(), numbers),
            ),
            row => timed(
                || share(LINES, which, line),
                meet,
                |lines| words_by_timely(*worker.borrow_mut(), lines, row.ends_with("first")),
            ),
        };
        println!("{time} {} {}", found.0, found.1);
    };
    let guards = timely::execute_from_args(arguments.into_iter(), job).unwrap();
    guards.join().into_iter().for_each(|end| end.unwrap());
}

// ---- the comparison -------------------------------------------------------------------------

#[derive(Clone, Copy, PartialEq)]
enum Who {
    Tine,
    /// Two processes.
    Processes,
    /// Two threads of one process.
    Threads,
}

fn this() -> Command {
    Command::new(env::current_exe().unwrap())
}

fn begin(mut command: Command) -> Child {
    command
        .env("TINE_NUM_THREADS", "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Two places that nothing listens at.
fn hosts() -> String {
    let ports = [(); SHARES].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let lines = ports.map(|port| format!("{}\n", port.local_addr().unwrap()));
    let path = env::temp_dir().join(format!("rivals-{}.hosts", std::process::id()));
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(lines.concat().as_bytes()).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The slowest share's time, and what all of them found.
fn measured(who: Who, row: &str) -> (f64, Found) {
    let shares = SHARES.to_string();
    let children = match who {
        Who::Tine => {
            let mut command = Command::new("mpirun");
            command.args(["--allow-run-as-root", "--bind-to", "none", "-n", &shares]);
            command
                .arg(env::current_exe().unwrap())
                .args(["--tine", row]);
            vec![begin(command)]
        }
        Who::Threads => {
            let mut command = this();
            command.args(["--timely", row, "-w", &shares]);
            vec![begin(command)]
        }
        Who::Processes => {
            let hosts = hosts();
            let one = |which: usize| {
                let mut command = this();
                let which = which.to_string();
                command.args(["--timely", row, "-w", "1", "-n", &shares, "-p", &which]);
                command.args(["-h", &hosts]);
                begin(command)
            };
            (0..SHARES).map(one).collect()
        }
    };
    let (mut time, mut found) = (0.0, (0, 0));
    let ended = children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap());
    for ended in ended {
        assert!(ended.status.success(), "{row}");
        for line in String::from_utf8(ended.stdout).unwrap().lines() {
            let Some([share, items, keys]) = line
                .split(' ')
                .map(|word| word.parse::<f64>().ok())
                .collect::<Option<Vec<f64>>>()
                .and_then(|words| <[f64; 3]>::try_from(words).ok())
            else {
                continue;
            };
            time = f64::max(time, share);
            found = (found.0 + items as usize, found.1 + keys as usize);
        }
    }
    (time, found)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [kind, row, ..] = &arguments[..] {
        let row = row.clone();
        if kind == "--tine" {
            return tine_cluster::run(|c| {
                let (time, found) = tine(c, &row);
                println!("{time} {} {}", found.0, found.1);
                Ok(())
            });
        }
        if kind == "--timely" {
            timely(row, arguments[2..].to_vec());
            return ExitCode::SUCCESS;
        }
    }
    let rows = [
        ("words", Who::Processes),
        ("words", Who::Threads),
        ("words, folded first", Who::Processes),
        ("words, folded first", Who::Threads),
        ("sort", Who::Processes),
        ("sort", Who::Threads),
    ];
    println!("| row | tine-cluster, ms | timely, ms | ratio |\n|---|---|---|---|");
    for (row, rival) in rows {
        if !arguments.is_empty() && !arguments.iter().any(|wanted| row.contains(wanted.as_str())) {
            continue;
        }
        let turns: Vec<(f64, f64)> = (0..TURNS)
            .map(|turn| {
                let first = if turn % 2 == 0 { Who::Tine } else { rival };
                let second = if turn % 2 == 0 { rival } else { Who::Tine };
                let (a, b) = (measured(first, row), measured(second, row));
                assert_eq!(a.1, b.1, "{row}: both find the same");
                if turn % 2 == 0 {
                    (a.0, b.0)
                } else {
                    (b.0, a.0)
                }
            })
            .collect();
        let ratio = median(turns.iter().map(|(a, b)| a / b).collect());
        let (tine, timely): (Vec<f64>, Vec<f64>) = turns.into_iter().unzip();
        let kind = if rival == Who::Threads {
            "threads"
        } else {
            "processes"
        };
        println!(
            "| {row}, timely's workers are {kind} | {:.0} | {:.0} | {ratio:.2} |",
            median(tine),
            median(timely)
        );
    }
    ExitCode::SUCCESS
}
