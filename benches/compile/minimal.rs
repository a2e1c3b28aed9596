use library::prelude::*;

fn main() {
    let numbers: Vec<u64> = (0..1_000_000).collect();
    let mixed = |x: &u64| x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut sorted: Vec<u64> = numbers.par_iter().map(mixed).collect();
    sorted.par_sort_unstable();
    let (sum, xor) = library::join(
        || numbers.iter().sum::<u64>(),
        || sorted.iter().fold(0, |a, b| a ^ b),
    );
    let firsts: u64 = sorted.par_chunks(1000).map(|chunk| chunk[0] >> 32).sum();
    println!("{sum} {xor} {firsts}");
}
