//! What is computed: the same sum, in sequence, by tine and by rayon.

/// One step: some tens of nanoseconds.
fn step(n: u32) -> u64 {
    (0..32).fold(u64::from(n) + 1, |x, _| {
        let x = x ^ (x << 13);
        let x = x ^ (x >> 7);
        x ^ (x << 17)
    })
}

/// The answer, for checks.
pub fn in_sequence(n: u32) -> u64 {
    (0..n).map(step).fold(0, u64::wrapping_add)
}

/// The answer by tine.
pub fn by_tine(n: u32) -> u64 {
    use tine::prelude::*;
    (0..n)
        .into_par_iter()
        .map(step)
        .reduce(|| 0, u64::wrapping_add)
}

/// The answer by rayon.
pub fn by_rayon(n: u32) -> u64 {
    use rayon::prelude::*;
    (0..n)
        .into_par_iter()
        .map(step)
        .reduce(|| 0, u64::wrapping_add)
}
