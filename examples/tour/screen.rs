//! What the tour shows: a line per stop, and on a terminal, a bar in its
//! place while the stop is at work. A pipe gets the lines alone. 80 columns.
//!
//! The bar is drawn by hand, so that the tour needs no feature. Where bars are
//! wanted for themselves, `.progress()` (feature `progress`) has better ones.

use std::hint::black_box;
use std::io::{IsTerminal, Write, stdout};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// How often each loop of a stop runs; the fastest counts.
const ROUNDS: usize = 3;
/// Printed after a stop that was slower than its loop and should not have been.
const NO_REASON: &str = "(Slower than the loop, this time: are other programs using the cores?)";
/// How long the bar stands still between two looks at the work.
const FRAME: Duration = Duration::from_millis(50);

/// Prints a line. It does not fail if the other end of a pipe is closed.
macro_rules! line {
    ($($text:tt)*) => { show(&format!("{}\n", format_args!($($text)*))) };
}

/// A tour under way.
pub(crate) struct Tour {
    live: bool,
    begun: Instant,
    stops: usize,
    wrong: usize,
    /// Times of the stops of this room, in sequence and in parallel.
    room: (Duration, Duration),
    /// Why the next stop may well be slower than the loop.
    reason: Option<&'static str>,
}

/// How far one loop has come. A loop that has finished `n` more of its steps
/// reports them with [`done`](Progress::done), seldom enough that it costs nothing.
pub(crate) struct Progress {
    done: AtomicUsize,
    steps: usize,
}

impl Progress {
    pub(crate) fn done(&self, steps: usize) {
        self.done.fetch_add(steps, Relaxed);
    }

    /// What part is done; `None` if the loop does not report it.
    fn share(&self) -> Option<f64> {
        let share = self.done.load(Relaxed) as f64 / self.steps as f64;
        (self.steps > 0).then(|| share.min(1.0))
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
            room: (Duration::ZERO, Duration::ZERO),
            reason: None,
        }
    }

    /// Says in advance why the next stop may be slower than its loop; shown if it is.
    pub(crate) fn because(&mut self, reason: &'static str) {
        self.reason = Some(reason);
    }

    /// Says something between the stops.
    pub(crate) fn say(&self, text: &str) {
        line!("{}", wrapped(text, 80));
    }

    /// Opens a room: a heading over the stops that follow.
    pub(crate) fn room(&mut self, title: &str) {
        self.room = (Duration::ZERO, Duration::ZERO);
        line!(
            "\n{title:<41} {:>11} {:>11} {:>8} {:>5}",
            "sequential",
            "parallel",
            "faster",
            "same"
        );
    }

    /// Runs `sequential` and `parallel`, each on what `prepare` makes anew, and
    /// prints their times. `steps` is the number that each of them reports as done
    /// in all; 0 if they report nothing. Returns the parallel answer.
    pub(crate) fn stop<I, R: PartialEq>(
        &mut self,
        name: &str,
        steps: usize,
        prepare: impl Fn() -> I,
        sequential: impl Fn(I, &Progress) -> R,
        parallel: impl Fn(I, &Progress) -> R,
    ) -> R {
        let (mut alone, mut together) = (Duration::MAX, Duration::MAX);
        let (mut same, mut answer) = (true, None);
        for round in 1..=ROUNDS {
            let label = |kind| format!("{name}, {kind} {round}/{ROUNDS}");
            let input = prepare();
            let (expected, time) = self.time(&label("sequential"), steps, |p| sequential(input, p));
            alone = alone.min(time);
            let input = prepare();
            let (found, time) = self.time(&label("parallel"), steps, |p| parallel(input, p));
            together = together.min(time);
            same &= found == expected;
            answer = Some(found);
        }
        row(name, alone, together, if same { "yes" } else { "NO" });
        let reason = self.reason.take().unwrap_or(NO_REASON);
        if together > alone {
            line!("    {}", wrapped(reason, 76).replace('\n', "\n    "));
        }
        self.room.0 += alone;
        self.room.1 += together;
        self.stops += 1;
        self.wrong += usize::from(!same);
        answer.expect("there is a round")
    }

    /// A line for all stops of this room together.
    pub(crate) fn sum(&self, name: &str) {
        row(name, self.room.0, self.room.1, "");
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
                let begun = Instant::now();
                while !over.load(Relaxed) {
                    draw(label, progress.share(), begun.elapsed());
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

/// Writes at once, if there is still a reader.
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

/// A line of the table.
fn row(name: &str, alone: Duration, together: Duration, same: &str) {
    let ratio = alone.as_secs_f64() / together.as_secs_f64();
    let (alone, together) = (readable(alone), readable(together));
    let text = format!("  {name:<39} {alone:>11} {together:>11} {ratio:>6.2} × {same:>5}");
    line!("{}", text.trim_end());
}

/// Rewrites the current line: the label and a bar that is filled up to `share`;
/// if `share` is not known, the bar has a piece that wanders as time passes.
fn draw(label: &str, share: Option<f64>, time: Duration) {
    const WIDTH: usize = 20;
    const PIECE: usize = 5;
    let (from, to) = match share {
        Some(share) => (0, (share * WIDTH as f64) as usize),
        None => {
            let way = WIDTH - PIECE;
            let step = (time.as_millis() / FRAME.as_millis()) as usize % (2 * way);
            let from = step.min(2 * way - step);
            (from, from + PIECE)
        }
    };
    let (before, after) = ("·".repeat(from), "·".repeat(WIDTH - to));
    let full = "━".repeat(to - from);
    show(&format!("\r\x1b[2K  {label:<54.54} {before}{full}{after}"));
}

/// The same text in lines of at most `width` columns.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("a line");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            last.push_str(if last.is_empty() { "" } else { " " });
            last.push_str(word);
        }
    }
    lines.join("\n")
}

/// A number with a comma at each thousand.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
