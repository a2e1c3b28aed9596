//! Numbers, the same in each run.

/// Numbers in no order, below `below`.
pub fn numbers(len: usize, below: u64) -> Vec<u64> {
    let mut state = 7_u64 ^ len as u64;
    let next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) % below
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// The same, in order.
pub fn sorted(len: usize, below: u64) -> Vec<u64> {
    let mut numbers = numbers(len, below);
    numbers.sort_unstable();
    numbers
}

/// Bytes in no order.
pub fn bytes(len: usize) -> Vec<u8> {
    numbers(len, 256).into_iter().map(|n| n as u8).collect()
}
