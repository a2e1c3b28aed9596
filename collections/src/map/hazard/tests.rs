//! The tests of values that other threads may look at.

use super::Place;
use crate::map::records::Registry;
use std::sync::Arc;

/// A value whose readers could not be asked is not dropped by the reader of another value.
#[test]
fn a_refused_barrier_leaves_the_value_to_its_reader() {
    static REGISTRY: Registry = Registry::new();
    let registry = &REGISTRY;
    let (one, other) = (registry.claim(), registry.claim());
    let values = [1, 2, 3, 4].map(Arc::new);
    let dropped = values.each_ref().map(Arc::downgrade);
    let [first, second, third, fourth] = values;
    let place = Place::new(first.clone());
    let change = |old: Arc<i32>, new: &Arc<i32>, passed| {
        let mut parting = place
            .replace(registry, &old, new.clone())
            .expect("no other writer");
        drop(old);
        parting.end(passed);
    };
    let is_there = |value: usize| dropped[value - 1].strong_count() > 0;

    let look = place.look(registry, one);
    change(first, &second, true);
    assert!(is_there(1), "it is looked at");
    let later = place.look(registry, other);
    change(second, &third, false);
    drop(look);
    assert!(!is_there(1));
    assert!(
        is_there(2),
        "it is looked at, by a reader that was not asked"
    );
    assert_eq!(*later, 2);
    change(third, &fourth, true);
    assert!(is_there(2) && !is_there(3));
    drop(later);
    assert!(!is_there(2), "now its reader was asked");
    assert_eq!(*place.into_inner(), 4);
}

/// Forks while each of the parent's lots is held: a writer of the child sleeps in a lot of its own and is woken. No other
/// test may run beside it.
#[cfg(all(target_os = "linux", not(any(miri, tine_tsan, tine_asan))))]
fn fork_with_all_lots_held() {
    use crate::map::{ParHashMap, lot};
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::thread::{scope, sleep};
    use std::time::Duration;

    let child = || {
        let map = ParHashMap::from([(1, 1)]);
        let (key, written) = (1, AtomicBool::new(false));
        // The gate opens after many reads in a row, if the first and the last are some milliseconds apart.
        for _ in 0..100 {
            assert!((0..1000).all(|_| map.get_cloned(&key) == Some(1)));
            sleep(Duration::from_micros(100));
        }
        let guard = map.get(&key);
        scope(|s| {
            s.spawn(|| {
                assert_eq!(map.insert(1, 2), Some(1));
                written.store(true, SeqCst);
            });
            sleep(Duration::from_millis(20));
            assert!(!written.load(SeqCst));
            drop(guard);
        });
        assert_eq!(map.get_cloned(&key), Some(2));
    };
    let mut status = 0;
    lot::while_held(|| {
        // SAFETY: no other thread of this process does anything.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: no preconditions. A child that hangs is ended by it.
            unsafe { libc::alarm(20) };
            let went = std::panic::catch_unwind(child);
            // SAFETY: no preconditions.
            unsafe { libc::_exit(i32::from(went.is_err())) };
        }
        // SAFETY: `status` is a place for the answer.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    });
    assert_eq!(status, 0, "the child hangs, or failed");
}

/// It runs in a process of its own, without the threads of the other tests. The sanitizers have locks that a child waits
/// for. It is here and not in `tests/`, since it sees the lots.
#[test]
#[cfg(all(target_os = "linux", not(any(miri, tine_tsan, tine_asan))))]
fn a_child_waits_in_lots_of_its_own() {
    const CHILD: &str = "TINE_TEST_ALONE";
    if std::env::var_os(CHILD).is_some() {
        return fork_with_all_lots_held();
    }
    let own = std::env::current_exe().expect("a path");
    let test = "map::hazard::tests::a_child_waits_in_lots_of_its_own";
    let run = std::process::Command::new(own)
        .args(["--exact", test, "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .expect("a process");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
}
