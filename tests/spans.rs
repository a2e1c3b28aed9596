//! The spans that tine opens for the crate `tracing`, as a subscriber sees them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread::{self, ThreadId};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// No test takes longer than this.
const LIMIT: Duration = Duration::from_secs(60);

/// What the subscriber has seen of a span.
#[derive(Clone, Debug, Default)]
struct Seen {
    name: &'static str,
    seat: Option<u64>,
    entered: Vec<ThreadId>,
    left: Vec<ThreadId>,
}

#[derive(Clone, Default)]
struct Collector {
    next: Arc<AtomicU64>,
    spans: Arc<Mutex<HashMap<u64, Seen>>>,
}

impl Collector {
    fn with(&self, id: &Id, change: impl FnOnce(&mut Seen)) {
        change(self.spans.lock().unwrap().entry(id.into_u64()).or_default());
    }
}

impl Visit for Seen {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "seat" {
            self.seat = Some(value);
        }
    }
    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "tine"
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = Id::from_u64(self.next.fetch_add(1, Relaxed) + 1);
        self.with(&id, |seen| {
            seen.name = span.metadata().name();
            span.record(seen);
        });
        id
    }
    fn enter(&self, id: &Id) {
        self.with(id, |seen| seen.entered.push(thread::current().id()));
    }
    fn exit(&self, id: &Id) {
        self.with(id, |seen| seen.left.push(thread::current().id()));
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
}

/// Runs a test on a separate thread, and fails if it takes too long.
fn in_time(test: impl FnOnce() + Send + 'static) {
    let (done, over) = mpsc::channel();
    let test = thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    match over.recv_timeout(LIMIT) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the test hangs"),
        _ => test.join().unwrap(),
    }
}

#[test]
fn guests_jobs_and_waits_are_spans_on_the_threads_that_do_them() {
    in_time(|| {
        let collector = Collector::default();
        tracing::subscriber::set_global_default(collector.clone()).unwrap();

        // An ordinary thread works as a guest of the global pool.
        let caller = thread::current().id();
        assert_eq!(tine::join(|| 6, || 7), (6, 7));

        // A pool's thread runs the jobs that it is sent, and waits for a job that another thread has taken.
        let pool = tine::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .unwrap();
        let both = &Barrier::new(2);
        let waits = || {
            let spans = collector.spans.lock().unwrap();
            spans.values().any(|seen| seen.name == "wait")
        };
        pool.install(|| {
            tine::join(
                || both.wait(),
                || {
                    both.wait();
                    // Until the other does, however late it comes to that.
                    while !waits() {
                        thread::sleep(Duration::from_millis(1));
                    }
                },
            )
        });
        pool.shutdown();

        let spans = collector.spans.lock().unwrap();
        let named = |name| spans.values().filter(move |seen| seen.name == name);
        let guest = named("guest").find(|seen| seen.entered.contains(&caller));
        assert_eq!(guest.expect("a guest").left, [caller]);
        let jobs: Vec<_> = named("job")
            .filter(|seen| !seen.entered.contains(&caller))
            .collect();
        assert!(
            jobs.len() >= 2,
            "what was installed, and its other half: {spans:?}"
        );
        assert!(named("wait").count() >= 1, "{spans:?}");
        for seen in spans.values() {
            assert!(["guest", "job", "wait"].contains(&seen.name), "{seen:?}");
            assert!(seen.seat.is_some(), "{seen:?}");
            assert_eq!(seen.entered.len(), 1, "{seen:?}");
            assert_eq!(seen.entered, seen.left, "{seen:?}");
        }
    });
}
