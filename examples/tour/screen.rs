//! What the tour shows: a line per stop, and on a terminal, a bar in its
//! place while the stop is at work. A pipe gets the lines alone. 80 columns.

use std::hint::black_box;
use std::io::{IsTerminal, Write, stdout};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// How often each loop of a stop runs; the fastest counts.
const ROUNDS: usize = 3;
/// How long the bar stands still between two looks at the work.
const FRAME: Duration = Duration::from_millis(50);

/// Prints a line. A reader who has left early is no reason to fail.
macro_rules! line {
    ($($text:tt)*) => { show(&format!("{}\n", format_args!($($text)*))) };
}

/// A tour under way.
pub(crate) struct Tour {
    live: bool,
    begun: Instant,
    stops: usize,
    wrong: usize,
}

/// How far one loop has come. A loop that has finished `n` more of its steps
/// says so with [`done`](Progress::done), seldom enough that it costs nothing.
pub(crate) struct Progress {
    done: AtomicUsize,
    steps: usize,
}

impl Progress {
    pub(crate) fn done(&self, steps: usize) {
        self.done.fetch_add(steps, Relaxed);
    }

    fn share(&self) -> f64 {
        (self.done.load(Relaxed) as f64 / self.steps.max(1) as f64).min(1.0)
    }
}

impl Tour {
    pub(crate) fn start() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        line!(
            "A tour of tine: {} seats, {cores} cores.",
            tine::current_num_threads()
        );
        line!("Each line: the fastest of {ROUNDS} runs, and whether the answers are equal.");
        Self {
            live: stdout().is_terminal(),
            begun: Instant::now(),
            stops: 0,
            wrong: 0,
        }
    }

    /// Opens a room: a heading over the stops that follow.
    pub(crate) fn room(&self, title: &str) {
        line!(
            "\n{title:<41} {:>11} {:>11} {:>8} {:>5}",
            "sequential",
            "parallel",
            "faster",
            "same"
        );
    }

    /// Runs `sequential` and `parallel`, each on what `prepare` makes anew, and
    /// prints their times. `steps` is what each of them reports as done in all.
    pub(crate) fn stop<I, R: PartialEq>(
        &mut self,
        name: &str,
        steps: usize,
        prepare: impl Fn() -> I,
        sequential: impl Fn(I, &Progress) -> R,
        parallel: impl Fn(I, &Progress) -> R,
    ) {
        let (mut alone, mut together) = (Duration::MAX, Duration::MAX);
        let mut same = true;
        for round in 1..=ROUNDS {
            let label = |kind| format!("{name}, {kind} {round}/{ROUNDS}");
            let input = prepare();
            let (expected, time) = self.time(&label("sequential"), steps, |p| sequential(input, p));
            alone = alone.min(time);
            let input = prepare();
            let (found, time) = self.time(&label("parallel"), steps, |p| parallel(input, p));
            together = together.min(time);
            same &= found == expected;
        }
        let ratio = alone.as_secs_f64() / together.as_secs_f64();
        let same_word = if same { "yes" } else { "NO" };
        let (alone, together) = (readable(alone), readable(together));
        line!("  {name:<39} {alone:>11} {together:>11} {ratio:>6.2} × {same_word:>5}");
        self.stops += 1;
        self.wrong += usize::from(!same);
    }

    /// Ends the tour: fails if any answer differed.
    pub(crate) fn end(self) -> ExitCode {
        let time = readable(self.begun.elapsed());
        let right = self.stops - self.wrong;
        line!(
            "\n{right} of {} answers equal those of the loop; {time} in all.",
            self.stops
        );
        if self.wrong == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    /// The result of `work` and how long it took; on a terminal, under a moving bar.
    fn time<R>(
        &self,
        label: &str,
        steps: usize,
        work: impl FnOnce(&Progress) -> R,
    ) -> (R, Duration) {
        let progress = Progress {
            done: AtomicUsize::new(0),
            steps,
        };
        if !self.live {
            return clocked(|| work(&progress));
        }
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let bar = scope.spawn(|| {
                while !over.load(Relaxed) {
                    draw(label, progress.share());
                    thread::park_timeout(FRAME);
                }
                show("\r\x1b[2K");
            });
            let result = clocked(|| work(&progress));
            over.store(true, Relaxed);
            bar.thread().unpark();
            result
        })
    }
}

/// Writes at once, to whoever is still there.
fn show(text: &str) {
    let mut out = stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// What `work` returns and how long it took.
fn clocked<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let start = Instant::now();
    let result = black_box(work());
    (result, start.elapsed())
}

/// Rewrites the current line: the label and a bar that is filled up to `share`.
fn draw(label: &str, share: f64) {
    const WIDTH: usize = 20;
    let full = (share * WIDTH as f64) as usize;
    let (full, empty) = ("━".repeat(full), "·".repeat(WIDTH - full));
    show(&format!("\r\x1b[2K  {label:<54.54} {full}{empty}"));
}

/// A time in three digits and its unit.
fn readable(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    match ms {
        _ if ms < 1.0 => format!("{:.0} µs", ms * 1e3),
        _ if ms < 10.0 => format!("{ms:.2} ms"),
        _ if ms < 100.0 => format!("{ms:.1} ms"),
        _ if ms < 1000.0 => format!("{ms:.0} ms"),
        _ => format!("{:.2} s", ms / 1e3),
    }
}
