//! What each thread is doing, and an end for it if an action takes too long.

use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// The longest time for an action: far more than any takes, on a busy machine and under a
/// sanitizer.
const LIMIT: Duration = Duration::from_secs(60);

/// Draws a pool, as long as the pool exists.
pub(crate) type Painter = Box<dyn Fn() -> Option<String> + Send>;

/// An actor's action, the number of seats of its pool (0: the global pool), and the time when it began.
type Step = (&'static str, usize, Instant);

/// Ends the process if an actor stands still, until it is dropped.
pub(crate) struct Watch {
    steps: Arc<Mutex<Vec<Step>>>,
    _over: mpsc::Sender<()>,
}

impl Watch {
    pub(crate) fn new(actors: usize, painters: Vec<Painter>) -> Self {
        let steps = Arc::new(Mutex::new(vec![("the start", 0, Instant::now()); actors]));
        let (over, is_over) = mpsc::channel();
        let seen = Arc::clone(&steps);
        thread::spawn(move || {
            let pause = Duration::from_secs(1);
            while is_over.recv_timeout(pause) == Err(mpsc::RecvTimeoutError::Timeout) {
                let steps = lock(&seen).clone();
                let stuck = |step: &Step| step.0 != "the end" && step.2.elapsed() > LIMIT;
                if steps.iter().any(stuck) {
                    report(&steps, &painters);
                    std::process::abort();
                }
            }
        });
        Self { steps, _over: over }
    }

    /// Notes which action an actor begins.
    pub(crate) fn step(&self, actor: usize, what: &'static str, seats: usize) {
        lock(&self.steps)[actor] = (what, seats, Instant::now());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn report(steps: &[Step], painters: &[Painter]) {
    say("soak: a thread stands still\n");
    for (actor, (what, seats, since)) in steps.iter().enumerate() {
        let since = since.elapsed().as_secs();
        say(&format!(
            "actor {actor}: {what}, {seats} seats, for {since} s\n"
        ));
    }
    for picture in painters.iter().filter_map(|paint| paint()) {
        say(&format!("a pool: {picture}\n"));
    }
    say(&format!("the global pool: {}\n", tine::picture()));
}

/// Prints past the test harness, which catches what is printed.
pub(crate) fn say(text: &str) {
    // If that fails, there is nothing left to report.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
