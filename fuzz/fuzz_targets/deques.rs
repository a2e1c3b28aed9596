//! `cargo fuzz run deques`; see `tine_fuzz::deques`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tine_fuzz::deques::run(bytes));

#[cfg(not(fuzzing))]
fn main() {
    tine_fuzz::run_files(tine_fuzz::deques::run);
}
