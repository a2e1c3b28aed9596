//! `cargo fuzz run text`; see `tine_fuzz::text`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tine_fuzz::text::run(bytes));

#[cfg(not(fuzzing))]
fn main() {
    tine_fuzz::run_files(tine_fuzz::text::run);
}
