//! The life of a job: an engine is chosen, every rank runs the body, and all end together, in
//! success or failure.
//!
//! | a rank | what follows |
//! |---|---|
//! | ends well | it waits for the others in the last collective, `the end` |
//! | returns an error that all ranks know of | as above; then the job fails, and one rank says so: the rank that had the error, or the first that returns it |
//! | returns another error, or panics | it says so; the engine ends the others |
//! | leaves by `process::exit` | it says so; the launcher ends the others |
//! | is where the others are not | all ranks find out in the next header; rank 0 reports it |
#![forbid(unsafe_code)]

use crate::cluster::{Cluster, Limits, THE_END};
use crate::fault::{Error, Stop, let_go, say, text_of};
use crate::launch::{Engine, engine, limits};
use crate::link::Link;
use crate::link::alone::Alone;
use crate::link::threads::{Board, Threads};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::env;
use std::panic::{self, AssertUnwindSafe, Location, PanicHookInfo, catch_unwind};
use std::process::{self, ExitCode};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The status of a job that failed, the same as that of a panic.
const FAILED: u8 = 101;

/// How long a rank that has failed waits for the others to notice.
const GRACE: Duration = Duration::from_secs(2);

/// Runs `body` on every rank of the job, and returns the value that `main` should return.
///
/// How the program was started decides how many ranks there are. By default there is one.
/// `TINE_RANKS=4` makes four, as threads of this process. With the feature `mpi` there are as many
/// as the launcher started, `mpirun` or another.
///
/// The job succeeds if every rank's body returns `Ok`. An error or a panic on any rank ends all of
/// them with status 101, after a line that names the rank and the reason. The same happens if all
/// ranks know of an error and only some of them return it. `body` may borrow.
///
/// ```
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     let limit = 100;
///     tine_cluster::run(|c| {
///         let below = c.generate(1000, |i| i * 7 % 1000);
///         let few = below.par_iter().filter(|n| **n < limit).count();
///         assert_eq!(few, 100);
///         Ok(())
///     })
/// }
/// ```
pub fn run<F>(body: F) -> ExitCode
where
    F: Fn(&Cluster) -> Result<(), Error> + Sync,
{
    let ask = |name: &str| env::var(name).ok();
    let chosen = engine(&ask, cfg!(feature = "mpi"));
    let started = chosen.and_then(|engine| Ok((engine, limits(&ask)?)));
    let (engine, limits) = match started {
        Ok(started) => started,
        Err(refusal) => return refuse(&refusal),
    };
    match engine {
        Engine::Alone => sole(Box::new(Alone), limits, &body),
        Engine::Threads(ranks) => {
            let _hook = Hook::set();
            let failed = together(ranks, limits, &body, true).is_err();
            if failed {
                ExitCode::from(FAILED)
            } else {
                ExitCode::SUCCESS
            }
        }
        Engine::Mpi => with_mpi(limits, &body),
    }
}

#[cfg(feature = "mpi")]
fn with_mpi<F>(limits: Limits, body: &F) -> ExitCode
where
    F: Fn(&Cluster) -> Result<(), Error> + Sync,
{
    match crate::link::mpi::start(limits) {
        Ok(link) => sole(Box::new(link), limits, body),
        Err(refusal) => refuse(&refusal),
    }
}

#[cfg(not(feature = "mpi"))]
fn with_mpi<F>(_: Limits, _: &F) -> ExitCode {
    unreachable!("MPI is chosen where it is there")
}

fn refuse(why: &str) -> ExitCode {
    say(&format!("tine-cluster: {why}."));
    ExitCode::from(FAILED)
}

/// Runs `body` on `ranks` ranks that are threads of this process: for tests.
///
/// ```
/// let sums = std::sync::Mutex::new(Vec::new());
/// tine_cluster::run_threads(4, |c| {
///     let sum: usize = c.generate(10, |i| i).par_iter().copied().sum();
///     sums.lock().unwrap().push(sum);
///     Ok(())
/// }).unwrap();
/// assert_eq!(sums.into_inner().unwrap(), [45; 4]);
///
/// let failed = tine_cluster::run_threads(4, |c| {
///     if c.rank() == 2 {
///         return Err(tine_cluster::Error::new("disk full"));
///     }
///     c.barrier();
///     Ok(())
/// });
/// assert_eq!(failed.unwrap_err().to_string(), "rank 2 of 4 failed: disk full");
/// ```
///
/// # Errors
/// If a rank fails or panics, or if ranks part: that rank's message.
pub fn run_threads<F>(ranks: usize, body: F) -> Result<(), Error>
where
    F: Fn(&Cluster) -> Result<(), Error> + Sync,
{
    ThreadRanks::new(ranks).run(body)
}

/// Ranks that are threads of this process, and a limit on what they send at once: for tests in
/// which every exchange takes many rounds.
///
/// ```
/// use tine_cluster::ThreadRanks;
///
/// ThreadRanks::new(3).round(64).run(|c| {
///     let words = c.generate(100, |i| i.to_string()).sort();
///     assert_eq!(words.all_gather()[..3], ["0", "1", "10"]);
///     assert!(c.stats().of("sort").unwrap().rounds > 5);
///     Ok(())
/// }).unwrap();
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing runs until `run`"]
pub struct ThreadRanks {
    ranks: usize,
    limits: Limits,
}

impl ThreadRanks {
    /// This number of ranks, at least one.
    pub fn new(ranks: usize) -> Self {
        ThreadRanks {
            ranks: ranks.max(1),
            limits: Limits::default(),
        }
    }

    /// The bytes that a rank sends in one round of an exchange, and in one message; `TINE_ROUND`
    /// sets them for [`run`].
    pub fn round(mut self, bytes: usize) -> Self {
        self.limits.round = bytes.max(1);
        self.limits.message = self.limits.message.min(self.limits.round);
        self
    }

    /// Runs `body` on each; see [`run_threads`].
    ///
    /// # Errors
    /// If a rank fails or panics, or if they part.
    pub fn run<F>(self, body: F) -> Result<(), Error>
    where
        F: Fn(&Cluster) -> Result<(), Error> + Sync,
    {
        together(self.ranks, self.limits, &body, false).map_err(Error::new)
    }
}

/// How a rank failed.
struct Failure {
    text: String,
    speaker: Speaker,
    /// Whether all ranks have come to the end, so that none waits for this one.
    together: bool,
}

/// Which rank reports the failure.
#[derive(PartialEq, Eq)]
enum Speaker {
    Me,
    Another,
}

/// Runs the body on this rank.
fn rank<F>(cluster: &Cluster, body: &F) -> Result<(), Failure>
where
    F: Fn(&Cluster) -> Result<(), Error>,
{
    let (me, size) = (cluster.rank(), cluster.size());
    let name = if size == 1 {
        "the only rank".to_owned()
    } else {
        format!("rank {me} of {size}")
    };
    AT_WORK.with(|at_work| at_work.0.replace(Some(name.clone())));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let result = body(cluster);
        let word = match &result {
            Ok(()) => Some(WELL),
            Err(error) => error.agreed_rank().map(failed_by),
        };
        let ends = word.map(|word| {
            let call = cluster.enter::<()>(THE_END, Location::caller(), word);
            call.words.clone()
        });
        (result, ends)
    }));
    AT_WORK.with(|at_work| at_work.0.take());
    let alone = |text: String| Failure {
        text,
        speaker: Speaker::Me,
        together: false,
    };
    match outcome {
        Ok((Ok(()), ends)) => match ends.unwrap_or_default().iter().all(|end| *end == WELL) {
            true => Ok(()),
            false => Err(Failure {
                text: format!("{name} got over an error that another rank returns"),
                speaker: Speaker::Another,
                together: true,
            }),
        },
        Ok((Err(error), ends)) => {
            let mut text = format!("{name} failed: {error}");
            let first = error.agreed_rank();
            let_go(error);
            let (Some(first), Some(ends)) = (first, ends) else {
                return Err(alone(text));
            };
            if first != me {
                text += &format!(" (an error of rank {first})");
            }
            let speaker = if speaker_of(first, &ends) == Some(me) {
                Speaker::Me
            } else {
                Speaker::Another
            };
            Err(Failure {
                text,
                speaker,
                together: true,
            })
        }
        Err(payload) => match payload.downcast::<Stop>().map(|stop| *stop) {
            Ok(Stop::Alone(text)) => Err(alone(format!("{name}: {text}"))),
            Ok(Stop::Common(text)) => Err(Failure {
                text: format!("{name}: {text}"),
                speaker: if me == 0 {
                    Speaker::Me
                } else {
                    Speaker::Another
                },
                together: false,
            }),
            Ok(Stop::Follows) => Err(Failure {
                text: format!("{name} followed another"),
                speaker: Speaker::Another,
                together: false,
            }),
            Err(payload) => {
                let text = panicked(&name, &*payload);
                let_go(payload);
                Err(alone(text))
            }
        },
    }
}

/// The word of a rank that ends well, in the header of the last collective.
const WELL: u64 = 0;

/// The word of a rank that returns an error of rank `first`, of which all ranks know.
fn failed_by(first: usize) -> u64 {
    first as u64 + 1
}

/// The rank that reports the error of rank `first`: that rank if it returns it, or else the first
/// that does.
fn speaker_of(first: usize, ends: &[u64]) -> Option<usize> {
    let word = failed_by(first);
    match ends.get(first) == Some(&word) {
        true => Some(first),
        false => ends.iter().position(|end| *end == word),
    }
}

fn panicked(name: &str, payload: &(dyn Any + Send)) -> String {
    let text = text_of(payload);
    match claim(&text) {
        Some(place) => format!("{name} panicked at {place}: {text}"),
        None => format!("{name} panicked: {text}"),
    }
}

/// This process is one rank.
fn sole<F>(link: Box<dyn Link>, limits: Limits, body: &F) -> ExitCode
where
    F: Fn(&Cluster) -> Result<(), Error> + Sync,
{
    let _hook = Hook::set();
    RANK.set(true);
    let cluster = Cluster::new(link, limits);
    let Err(failure) = rank(&cluster, body) else {
        return ExitCode::SUCCESS;
    };
    if failure.speaker == Speaker::Me {
        say(&failure.text);
    } else if !failure.together {
        // Time for the rank that reports.
        thread::sleep(GRACE);
    }
    if !failure.together {
        cluster.fail(&failure.text);
    }
    ExitCode::from(FAILED)
}

/// All ranks are threads of this process; the first failure.
fn together<F>(ranks: usize, limits: Limits, body: &F, is_program: bool) -> Result<(), String>
where
    F: Fn(&Cluster) -> Result<(), Error> + Sync,
{
    let board = Arc::new(Board::new(ranks));
    let agreed = Mutex::new(None);
    let running = Arc::new(Mutex::new(ranks));
    // A program does not wait for ranks that compute for long without looking.
    let others_end = || {
        let begun = Instant::now();
        while is_program && *held(&running) > 0 {
            if begun.elapsed() > GRACE {
                process::exit(FAILED.into());
            }
            thread::sleep(Duration::from_millis(5));
        }
    };
    let life = |me: usize| {
        let link = Threads::new(board.clone(), me);
        let cluster = Cluster::new(Box::new(link), limits);
        RANK.set(true);
        let ended = rank(&cluster, body);
        *held(&running) -= 1;
        let Err(failure) = ended else { return };
        if failure.speaker == Speaker::Another {
            return;
        }
        if is_program {
            say(&failure.text);
        }
        if failure.together {
            *held(&agreed) = Some(failure.text);
            return;
        }
        board.fail(&failure.text);
        others_end();
    };
    let life = &life;
    thread::scope(|scope| {
        for me in 0..ranks {
            let named = thread::Builder::new().name(format!("rank {me}"));
            let begun = named.spawn_scoped(scope, move || life(me));
            if let Err(e) = begun {
                let why = format!("rank {me} of {ranks} could not be started: {e}");
                if is_program {
                    say(&why);
                }
                board.fail(&why);
                // This rank and those behind it never run.
                *held(&running) -= ranks - me;
                others_end();
                break;
            }
        }
    });
    let failure = board.failure().or_else(|| held(&agreed).take());
    failure.map_or(Ok(()), Err)
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}

thread_local! {
    /// Is this the thread of a rank?
    static RANK: Cell<bool> = const { Cell::new(false) };
    static AT_WORK: AtWork = const { AtWork(RefCell::new(None)) };
}

/// The name of the rank whose body runs on this thread. Only a body that calls `process::exit` ends
/// with the name still set. Then the exit is reported, if the system lets a thread that exits clean
/// up after itself.
struct AtWork(RefCell<Option<String>>);

impl Drop for AtWork {
    fn drop(&mut self) {
        if let Some(name) = self.0.take() {
            say(&format!("{name} left: its body has ended the process"));
        }
    }
}

/// Panics that have not been reported yet: the message and the place. When such a panic arrives at
/// a rank, the rank is known.
static UNTOLD: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// The most that are remembered: closures may panic often, and be caught.
const MOST: usize = 64;

/// The place of the panic with this message.
fn claim(text: &str) -> Option<String> {
    let mut untold = held(&UNTOLD);
    let found = untold.iter().position(|(known, _)| known == text)?;
    Some(untold.remove(found).1)
}

type OldHook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// While this lives, only the rank that a panic ends reports it, in one line. With `RUST_BACKTRACE`
/// they are also printed at once, as usual.
struct Hook {
    old: Arc<Mutex<Option<OldHook>>>,
}

impl Hook {
    fn set() -> Self {
        let old = Arc::new(Mutex::new(Some(panic::take_hook())));
        let inner = old.clone();
        let wordy =
            cfg!(panic = "abort") || env::var("RUST_BACKTRACE").is_ok_and(|wanted| wanted != "0");
        panic::set_hook(Box::new(move |info| {
            let of_rank = RANK.get() || tine_pool::current_thread_index().is_some();
            if let (false, Some(old)) = (of_rank, &*held(&inner)) {
                return old(info);
            }
            let text = text_of(info.payload());
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            {
                let mut untold = held(&UNTOLD);
                if untold.len() == MOST {
                    untold.remove(0);
                }
                untold.push((text, place));
            }
            if let (true, Some(old)) = (wordy, &*held(&inner)) {
                old(info);
            }
        }));
        Hook { old }
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        if thread::panicking() {
            return;
        }
        drop(panic::take_hook());
        if let Some(old) = held(&self.old).take() {
            panic::set_hook(old);
        }
    }
}
