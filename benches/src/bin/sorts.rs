//! Every sort against every peer: `sorts [len] [repeats] [name]`.
//!
//! All contenders sort the same input in turn, round by round; what is printed is
//! the median (and the least) time in microseconds.
//! Set `RAYON_NUM_THREADS` for both pools.

use std::cmp::Ordering;
use std::time::Instant;

use rayon::slice::ParallelSliceMut as Rayon;
use rdst::RadixSort as _;
use tine_iter::slice::ParallelSliceMut as Tine;
use tine_iter::sort::Total;
use voracious_radix_sort::RadixSort as _;

/// A name and what it does.
type Contender<'a, T> = (&'static str, &'a dyn Fn(&mut [T]));

/// What the command line asks for.
struct Asked {
    len: usize,
    repeats: usize,
    name: String,
}

impl Asked {
    /// Lets all contenders sort `input` and prints a row.
    fn race<T: Clone>(&self, name: &str, input: &[T], contenders: &[Contender<'_, T>]) {
        if !name.contains(&self.name) {
            return;
        }
        let mut times = vec![Vec::new(); contenders.len()];
        for _ in 0..self.repeats {
            for (times, (_, sort)) in times.iter_mut().zip(contenders) {
                let mut v = input.to_vec();
                let start = Instant::now();
                sort(&mut v);
                times.push(start.elapsed().as_secs_f64() * 1e6);
            }
        }
        print!("{name:24}");
        for (times, (who, _)) in times.iter_mut().zip(contenders) {
            times.sort_by(f64::total_cmp);
            print!("  {who} {:.0} ({:.0})", times[times.len() / 2], times[0]);
        }
        println!();
    }

    /// The sorts that take any comparison.
    fn compare<T, F>(&self, name: &str, input: &[T], by: F)
    where
        T: Clone + Send,
        F: Fn(&T, &T) -> Ordering + Sync + Copy,
    {
        self.race(
            name,
            input,
            &[
                ("tine", &|v| Tine::par_sort_by(v, by)),
                ("tine-u", &|v| Tine::par_sort_unstable_by(v, by)),
                ("rayon", &|v| Rayon::par_sort_by(v, by)),
                ("rayon-u", &|v| Rayon::par_sort_unstable_by(v, by)),
                ("std", &|v| v.sort_by(by)),
                ("std-u", &|v| v.sort_unstable_by(by)),
                ("glide", &|v| glidesort::sort_by(v, by)),
            ],
        );
    }

    /// The sorts of elements by their own order, which may look at their type.
    fn own<T: Ord + Clone + Send>(&self, name: &str, input: &[T], more: &[Contender<'_, T>]) {
        let mut contenders: Vec<Contender<'_, T>> = vec![
            ("tine", &|v| Tine::par_sort(v)),
            ("tine-u", &|v| Tine::par_sort_unstable(v)),
            ("rayon", &|v| Rayon::par_sort(v)),
            ("rayon-u", &|v| Rayon::par_sort_unstable(v)),
            ("std", &|v| v.sort()),
            ("std-u", &|v| v.sort_unstable()),
        ];
        contenders.extend_from_slice(more);
        self.race(name, input, &contenders);
    }

    /// The sorts by a key.
    fn key<T, K, F>(&self, name: &str, input: &[T], key: F)
    where
        T: Clone + Send,
        K: Ord,
        F: Fn(&T) -> K + Sync + Copy,
    {
        self.race(
            name,
            input,
            &[
                ("tine", &|v| Tine::par_sort_by_key(v, key)),
                ("tine-u", &|v| Tine::par_sort_unstable_by_key(v, key)),
                ("rayon", &|v| Rayon::par_sort_by_key(v, key)),
                ("rayon-u", &|v| Rayon::par_sort_unstable_by_key(v, key)),
                ("std", &|v| v.sort_by_key(key)),
                ("std-u", &|v| v.sort_unstable_by_key(key)),
            ],
        );
    }
}

/// Numbers in some order.
fn pattern(name: &str, len: usize) -> Vec<u64> {
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ (mixed >> 27)
    };
    let n = len as u64;
    match name {
        "random" => (0..n).map(|_| random()).collect(),
        "sorted" => (0..n).map(|i| i << 20).collect(),
        "reversed" => (0..n).rev().map(|i| i << 20).collect(),
        "few" => (0..n)
            .map(|_| (random() % 16).wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .collect(),
        "organ" => (0..n).map(|i| i.min(n - i) << 20).collect(),
        "saw" => (0..n).map(|i| (i % 1000) << 30).collect(),
        "zipf" => (0..n)
            .map(|_| 1_000_000 / (1 + random() % 1_000_000))
            .collect(),
        "small" => (0..n).map(|_| random() % n).collect(),
        _ => {
            let mut v: Vec<u64> = (0..n).map(|i| i << 20).collect();
            for _ in 0..len / 200 {
                v.swap((random() % n) as usize, (random() % n) as usize);
            }
            v
        }
    }
}

fn main() {
    let mut words = std::env::args().skip(1);
    let mut number = |default: usize| {
        words
            .next()
            .and_then(|word| word.parse::<f64>().ok())
            .map_or(default, |x| x as usize)
    };
    let (len, repeats) = (number(1_000_000).max(2), number(11).max(1));
    let asked = Asked {
        len,
        repeats,
        name: words.next().unwrap_or_default(),
    };
    let threads = rayon::current_num_threads();
    for name in [
        "random", "sorted", "reversed", "few", "swapped", "organ", "saw", "zipf", "small",
    ] {
        let v = pattern(name, asked.len);
        asked.own(
            &format!("u64 {name}"),
            &v,
            &[
                ("rdst", &|v| v.radix_sort_unstable()),
                ("voracious", &|v| v.voracious_sort()),
                ("voracious-mt", &|v| v.voracious_mt_sort(threads)),
                ("radsort", &|v| radsort::sort(v)),
            ],
        );
        asked.compare(&format!("u64 compared {name}"), &v, |a, b| a.cmp(b));
    }
    let v = pattern("random", asked.len);
    asked.own(
        "u32 random",
        &v.iter().map(|&x| x as u32).collect::<Vec<_>>(),
        &[],
    );
    let floats: Vec<f64> = v.iter().map(|&x| (x >> 11) as f64 / 1e6 - 1e6).collect();
    asked.key("f64 by key", &floats, |x| Total(*x));
    asked.compare("f64 compared", &floats, f64::total_cmp);
    let pairs: Vec<(u64, u64)> = v.iter().copied().zip(0..).collect();
    asked.key("pairs by key", &pairs, |pair| pair.0);
    let wide: Vec<[u64; 8]> = v.iter().map(|&x| [x; 8]).collect();
    asked.key("64 bytes by key", &wide, |x| x[0]);
    asked.compare("64 bytes compared", &wide, |a, b| a[0].cmp(&b[0]));
    asked.own(
        "String",
        &v.iter().map(|x| format!("{x:016x}")).collect::<Vec<_>>(),
        &[],
    );
    let url = |x: &u64| format!("https://example.com/{}/{:x}", x % 5, x >> 20);
    asked.own(
        "String, a prefix",
        &v.iter().map(url).collect::<Vec<_>>(),
        &[],
    );
}
