//! The inputs for counting, grouping and pushing: the same numbers every time.

/// A small generator; the same numbers every time.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

pub fn spread(rank: u64) -> u64 {
    rank.wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

pub fn uniform(n: usize, distinct: u64) -> Vec<u64> {
    let mut numbers = Numbers(1);
    (0..n).map(|_| spread(numbers.next() % distinct)).collect()
}

/// Ranks 1..=distinct with frequency 1/rank, by inversion of the continuous law.
pub fn zipf(n: usize, distinct: u64) -> Vec<u64> {
    let mut numbers = Numbers(2);
    let top = (distinct as f64 + 1.0).ln();
    (0..n)
        .map(|_| spread((numbers.unit() * top).exp() as u64 - 1))
        .collect()
}
