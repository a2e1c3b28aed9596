//! What works without threads: each check is a function that panics if an answer is wrong.
//! `tests/wasm.mjs` calls them one by one and counts them.

mod checks;
mod keyed;
mod more;

use checks::CHECKS;
use keyed::KEYED;
use more::MORE;
use std::panic;

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Prints the text of `len` bytes at this address.
    fn say(text: *const u8, bytes: usize);
}

fn print(text: &str) {
    // SAFETY: (alive, initialised) the host reads the text before it returns, and keeps nothing.
    unsafe { say(text.as_ptr(), text.len()) }
}

fn all() -> impl Iterator<Item = &'static (&'static str, fn())> {
    CHECKS.iter().chain(MORE).chain(KEYED)
}

/// The number of checks. From now on, a panic's message is printed.
// SAFETY: no other function here, nor any of the libraries, has this name.
#[unsafe(no_mangle)]
pub extern "C" fn checks() -> usize {
    panic::set_hook(Box::new(|why| print(&why.to_string())));
    all().count()
}

/// Prints the name of the check with this number and runs it. Where panics abort, a panic is a trap.
// SAFETY: no other function here, nor any of the libraries, has this name.
#[unsafe(no_mangle)]
pub extern "C" fn check(number: usize) {
    let (name, run) = all().nth(number).expect("a check");
    print(name);
    run();
}
