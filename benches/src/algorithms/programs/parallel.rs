// The programs as a user of rayon writes them. This file is compiled twice: with rayon's prelude and
// with tine's.

pub fn orders(text: &str, names: &HashMap<u32, String>) -> Vec<(String, u64, usize)> {
    let rows: Vec<Order> = text.par_lines().filter_map(Order::parse).collect();
    let groups = rows
        .par_iter()
        .fold(
            HashMap::new,
            |mut groups: HashMap<u32, (u64, usize)>, row| {
                let group = groups.entry(row.customer).or_default();
                group.0 += row.cents;
                group.1 += 1;
                groups
            },
        )
        .reduce(HashMap::new, |a, b| {
            let (mut more, less) = if a.len() < b.len() { (b, a) } else { (a, b) };
            for (customer, (cents, count)) in less {
                let group = more.entry(customer).or_default();
                group.0 += cents;
                group.1 += count;
            }
            more
        });
    let mut joined: Vec<_> = groups
        .par_iter()
        .filter_map(|(customer, (cents, count))| {
            Some((names.get(customer)?.clone(), *cents, *count))
        })
        .collect();
    joined.par_sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    joined
}

/// How far each node is from node 0, level by level.
pub fn breadth_first(graph: &Graph) -> Vec<u32> {
    let far: Vec<AtomicU32> = (0..graph.nodes())
        .map(|_| AtomicU32::new(u32::MAX))
        .collect();
    far[0].store(0, Relaxed);
    let mut level = vec![0_u32];
    let mut depth = 0;
    while !level.is_empty() {
        depth += 1;
        level = level
            .par_iter()
            .flat_map_iter(|&node| graph.of(node))
            .filter(|&&next| {
                let far = &far[next as usize];
                far.load(Relaxed) == u32::MAX
                    && far
                        .compare_exchange(u32::MAX, depth, Relaxed, Relaxed)
                        .is_ok()
            })
            .copied()
            .collect();
    }
    far.into_iter().map(AtomicU32::into_inner).collect()
}

/// Ten rounds of page rank: every node gathers from the nodes that point to it.
pub fn page_rank(graph: &Graph) -> Vec<f64> {
    let n = graph.nodes();
    let mut rank = vec![1.0 / n as f64; n];
    for _ in 0..10 {
        let share: Vec<f64> = (0..n as u32)
            .into_par_iter()
            .map(|node| rank[node as usize] / graph.of(node).len().max(1) as f64)
            .collect();
        rank = (0..n as u32)
            .into_par_iter()
            .map(|node| {
                0.15 / n as f64
                    + 0.85
                        * graph
                            .of(node)
                            .iter()
                            .map(|&from| share[from as usize])
                            .sum::<f64>()
            })
            .collect();
    }
    rank
}

pub fn words(text: &str) -> Vec<(&str, usize)> {
    let counts = text
        .par_split_whitespace()
        .fold(HashMap::new, |mut counts: HashMap<&str, usize>, word| {
            *counts.entry(word).or_default() += 1;
            counts
        })
        .reduce(HashMap::new, |a, b| {
            let (mut more, less) = if a.len() < b.len() { (b, a) } else { (a, b) };
            for (word, count) in less {
                *more.entry(word).or_default() += count;
            }
            more
        });
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.par_sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    counts
}

/// Grey, then blurred by rows of three, then black and white about the mean.
pub fn image(pixels: &[[u8; 3]], width: usize) -> Vec<u8> {
    let grey: Vec<u8> = pixels.par_iter().map(grey).collect();
    let mut blurred = vec![0_u8; grey.len()];
    blurred
        .par_chunks_mut(width)
        .enumerate()
        .for_each(|(y, row)| blur(&grey, width, y, row));
    let sum: u64 = blurred.par_iter().map(|&x| u64::from(x)).sum();
    let mean = (sum / blurred.len().max(1) as u64) as u8;
    blurred
        .par_iter_mut()
        .for_each(|x| *x = if *x > mean { 255 } else { 0 });
    blurred
}

/// A histogram of samples in a `Vec`.
pub fn histogram(samples: &[u16]) -> Vec<u32> {
    samples
        .par_iter()
        .fold(
            || vec![0_u32; BINS],
            |mut bins, &x| {
                bins[usize::from(x) * BINS / 65_536] += 1;
                bins
            },
        )
        .reduce(
            || vec![0_u32; BINS],
            |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                a
            },
        )
}
