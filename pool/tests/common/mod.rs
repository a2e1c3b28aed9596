//! What the heavier tests share: a watchdog, a time limit, random numbers.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file is a crate of its own and uses its own part"
)]

use std::fmt::Write as _;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tine_pool::{ThreadPool, ThreadPoolBuilder};

/// A test that stands still for this long counts as hung. It is far more than any test takes, on a busy machine
/// and under a sanitizer.
const LIMIT: Duration = Duration::from_secs(100);

/// How long a test goes on: this many milliseconds with `TINE_LONG`, otherwise a fraction of that.
pub fn budget(millis: u64) -> impl Fn() -> bool {
    let long = std::env::var_os("TINE_LONG").is_some_and(|v| v != "0");
    let end = Instant::now() + Duration::from_millis(if long { millis } else { millis / 5 });
    move || Instant::now() < end
}

type Painter = Box<dyn Fn() -> Option<String> + Send>;

/// Ends the process, with a picture of the pools, if it is not dropped in time.
pub struct Watch {
    painters: Arc<Mutex<Vec<Painter>>>,
    /// What the test is doing.
    step: Arc<AtomicU64>,
    _over: mpsc::Sender<()>,
}

impl Watch {
    pub fn new(test: impl Into<String>) -> Self {
        let test = test.into();
        let (over, is_over) = mpsc::channel();
        let painters = Arc::new(Mutex::new(Vec::<Painter>::new()));
        let step = Arc::new(AtomicU64::new(0));
        let (gallery, at) = (Arc::clone(&painters), Arc::clone(&step));
        thread::spawn(move || {
            if is_over.recv_timeout(LIMIT) != Err(mpsc::RecvTimeoutError::Timeout) {
                return;
            }
            let mut report = format!(
                "{test} stands still in step {:#x}\n",
                at.load(Ordering::Relaxed)
            );
            for paint in gallery.lock().unwrap().iter() {
                if let Some(picture) = paint() {
                    let _ = write!(report, "a pool: {picture}");
                }
            }
            let _ = write!(report, "the global pool: {}", tine_pool::picture());
            // Not by the test's own output, which is caught.
            let _ = std::io::Write::write_all(&mut std::io::stderr(), report.as_bytes());
            process::abort();
        });
        Self {
            painters,
            step,
            _over: over,
        }
    }

    /// A pool that will appear in the picture.
    pub fn pool(&self, threads: usize) -> ThreadPool {
        self.watched(ThreadPoolBuilder::new().num_threads(threads))
    }

    pub fn watched(&self, builder: ThreadPoolBuilder) -> ThreadPool {
        let pool = builder.build().unwrap();
        let mut painters = self.painters.lock().unwrap();
        painters.retain(|paint| paint().is_some());
        painters.push(Box::new(pool.painter()));
        pool
    }

    /// Notes what the test is doing, for instance a seed.
    pub fn step(&self, step: u64) {
        self.step.store(step, Ordering::Relaxed);
    }
}

/// Ends the process if `op` hangs.
pub fn within<R>(op: impl FnOnce() -> R) -> R {
    let _watch = Watch::new(thread::current().name().unwrap_or("a test"));
    op()
}

/// A pool with this number of threads.
pub fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

/// Random numbers that can be repeated from their seed.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(0x9e37_79b9_7f4a_7c15))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// Waits, busy and idle in turn, until a condition holds.
pub fn until(so: impl Fn() -> bool) {
    while !so() {
        thread::sleep(Duration::from_micros(200));
    }
}

/// Drops a result that no test looks at.
pub fn ignore<T>(_: T) {}

/// Runs `body` in a separate process, whose global pool has `threads` threads: for tests that build that pool,
/// or that a fault would take down. The child has as long as a [`Watch`] gives it.
pub fn alone(test: &'static str, threads: usize, body: impl FnOnce(&Watch)) {
    const CHILD: &str = "TINE_TEST_ALONE";
    if std::env::var_os(CHILD).is_some() {
        return body(&Watch::new(test));
    }
    let child = process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .env("TINE_NUM_THREADS", threads.to_string())
        .env("TINE_GUESTS", "1")
        .output()
        .unwrap();
    let said = [child.stdout, child.stderr].map(|s| String::from_utf8_lossy(&s).into_owned());
    assert!(child.status.success(), "{}{}", said[0], said[1]);
    assert!(said[0].contains("1 passed"), "no such test: {test}");
}

/// Waits until the threads of the global pool are all there, and asleep or about to be.
pub fn start_all() {
    tine_pool::broadcast(|_| ());
}
