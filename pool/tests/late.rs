//! A builder that comes too late to make the global pool.
//!
//! A separate file, since a process makes that pool once.

use std::sync::mpsc;
use std::time::Duration;
use tine_pool::{ThreadPoolBuilder, current_thread_index, join, spawn};

/// The thread was to be a worker of a pool that is never made: it is an ordinary thread again.
#[test]
fn the_current_thread_is_no_worker_of_a_pool_that_came_too_late() {
    let late = ThreadPoolBuilder::new()
        .num_threads(2)
        .use_current_thread()
        .spawn_handler(|thread| {
            // Meanwhile another thread makes the global pool.
            let other = std::thread::spawn(|| join(|| 1, || 2));
            assert_eq!(other.join().unwrap(), (1, 2));
            std::thread::spawn(|| thread.run());
            Ok(())
        })
        .build_global();
    assert!(late.is_err());
    assert_eq!(current_thread_index(), None);
    let (send, receive) = mpsc::channel();
    spawn(move || send.send(7).unwrap());
    assert_eq!(receive.recv_timeout(Duration::from_secs(60)), Ok(7));
}
