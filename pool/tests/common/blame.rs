//! Which line a panic names.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file is a crate of its own and uses its own part"
)]

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

/// The hook belongs to the process, and tests run at the same time.
static HOOK: Mutex<()> = Mutex::new(());

/// The file that the panic in `call` names, and its message.
pub fn blamed(call: impl FnOnce()) -> (String, String) {
    let _alone = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Arc::new(Mutex::new(String::new()));
    let noted = place.clone();
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let file = info.location().map(|at| at.file().to_owned());
        *noted.lock().unwrap() = file.unwrap_or_default();
    }));
    let result = panic::catch_unwind(AssertUnwindSafe(call));
    panic::set_hook(before);
    let panic = result.expect_err("it should have panicked");
    let message = match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => panic
            .downcast::<&str>()
            .map_or_else(|_| String::new(), |m| m.to_string()),
    };
    let file = place.lock().unwrap().clone();
    (file, message)
}

pub fn ignore<T>(_: T) {}

/// The panic names a test.
pub fn is_here((file, message): (String, String)) {
    assert!(file.ends_with("blame.rs"), "{file} is blamed: {message}");
}

/// Its message names this line of a test. (The closure runs on any thread.)
pub fn names((_, message): (String, String), line: u32) {
    assert!(message.contains(&format!("blame.rs:{line}:")), "{message}");
}
