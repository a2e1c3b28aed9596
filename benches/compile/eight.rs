use library::prelude::*;
use std::collections::HashMap;

/// Words, counted by folding into maps.
mod words {
    use super::*;
    fn merged(mut a: HashMap<String, usize>, b: HashMap<String, usize>) -> HashMap<String, usize> {
        b.into_iter().for_each(|(word, count)| *a.entry(word).or_default() += count);
        a
    }
    pub fn run() -> usize {
        let text: Vec<String> = (0..5000).map(|i| format!("to be {} or not {}", i % 7, i % 11)).collect();
        let counts = text
            .par_iter()
            .flat_map_iter(|line| line.split(' '))
            .fold(HashMap::new, |mut counts, word| {
                *counts.entry(word.to_owned()).or_default() += 1;
                counts
            })
            .reduce(HashMap::new, merged);
        counts["be"] + counts.len()
    }
}

mod primes {
    use super::*;
    pub fn run() -> usize {
        let prime = |n: &u32| (2..).take_while(|d| d * d <= *n).all(|d| n % d != 0);
        (2..20_000_u32).into_par_iter().filter(prime).count()
    }
}

/// One step of bodies that attract each other.
mod bodies {
    use super::*;
    pub fn run() -> usize {
        let mut at: Vec<[f64; 3]> = (0..300).map(|i| [f64::from(i), f64::from(i * i % 7), 1.0]).collect();
        let old = at.clone();
        at.par_iter_mut().enumerate().for_each(|(i, p)| {
            for (j, q) in old.iter().enumerate().filter(|(j, _)| *j != i) {
                let far = (q[0] - p[0]).hypot(q[1] - p[1]) + 1.0 + j as f64 * 1e-9;
                (0..3).for_each(|k| p[k] += (q[k] - p[k]) / far.powi(3));
            }
        });
        at.par_iter().filter(|p| p[0] > 10.0).count()
    }
}

mod quicksort {
    use super::*;
    fn sort(v: &mut [u32]) {
        if v.len() < 2 {
            return;
        }
        let mut less = 0;
        let last = v.len() - 1;
        for i in 0..last {
            if v[i] < v[last] {
                v.swap(i, less);
                less += 1;
            }
        }
        v.swap(less, last);
        let (left, right) = v.split_at_mut(less);
        library::join(|| sort(left), || sort(&mut right[1..]));
    }
    pub fn run() -> usize {
        let mut v: Vec<u32> = (0..10_000_u32).map(|i| i.wrapping_mul(2_654_435_769) >> 8).collect();
        sort(&mut v);
        v[5000] as usize
    }
}

mod mandelbrot {
    use super::*;
    pub fn run() -> usize {
        let mut image = vec![0_u8; 80 * 40];
        image.par_chunks_mut(80).enumerate().for_each(|(row, line)| {
            for (column, pixel) in line.iter_mut().enumerate() {
                let (cx, cy) = (column as f64 / 30.0 - 2.0, row as f64 / 20.0 - 1.0);
                let (mut x, mut y) = (0.0, 0.0);
                while *pixel < 50 && x * x + y * y < 4.0 {
                    (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
                    *pixel += 1;
                }
            }
        });
        image.iter().map(|pixel| usize::from(*pixel)).sum()
    }
}

mod matrix {
    use super::*;
    pub fn run() -> usize {
        let (a, b): (Vec<u64>, Vec<u64>) = ((0..3600).collect(), (0..3600).rev().collect());
        let product: Vec<u64> = (0..3600_usize)
            .into_par_iter()
            .map(|at| (0..60).map(|k| a[at / 60 * 60 + k] * b[k * 60 + at % 60]).sum())
            .collect();
        product.par_iter().copied().max().unwrap_or(0) as usize
    }
}

/// A table in order of two columns.
mod table {
    use super::*;
    pub fn run() -> usize {
        let mut rows: Vec<(String, u32)> = (0..5000).map(|i| (format!("{}", i % 97), i)).collect();
        rows.par_sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        let mut ids: Vec<u64> = rows.par_iter().map(|row| u64::from(row.1)).collect();
        ids.par_sort_unstable();
        rows[77].1 as usize + ids[1] as usize
    }
}

mod numbers {
    use super::*;
    pub fn run() -> usize {
        let text = (0..3000).map(|i| (i * 37 % 1000).to_string()).collect::<Vec<_>>().join("\n");
        let parsed: Result<Vec<usize>, _> = text.par_lines().map(str::parse).collect();
        let (even, odd): (Vec<usize>, Vec<usize>) =
            parsed.expect("numbers").into_par_iter().partition(|n| n % 2 == 0);
        let best = even.par_iter().zip(&odd).map(|(a, b)| a * b).max();
        best.unwrap_or(0) + usize::from(odd.par_iter().any(|n| *n == 37))
    }
}

fn main() {
    let all = [words::run, primes::run, bodies::run, quicksort::run, mandelbrot::run, matrix::run];
    println!("{:?} {} {}", all.map(|run| run()), table::run(), numbers::run());
}
