//! `cargo fuzz run maps`; see `tine_fuzz::maps`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tine_fuzz::maps::run(bytes));

#[cfg(not(fuzzing))]
fn main() {
    tine_fuzz::run_files(tine_fuzz::maps::run);
}
