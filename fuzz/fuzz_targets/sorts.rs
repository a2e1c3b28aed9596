//! `cargo fuzz run sorts`; see `tine_fuzz::sorts`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tine_fuzz::sorts::run(bytes));

#[cfg(not(fuzzing))]
fn main() {
    tine_fuzz::run_files(tine_fuzz::sorts::run);
}
