//! Files of results, and the figures that are computed from them.

use std::collections::BTreeMap;

/// One measurement, as in the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) time: f64,
    pub(crate) ideal: f64,
    pub(crate) tasks: f64,
    pub(crate) median: f64,
    pub(crate) late: f64,
    /// Nanoseconds of work, stall, spin, system, hits; then transfers, refused, wakes, sleeps,
    /// touches, switches. Empty if measured on the machine at hand.
    pub(crate) counts: Vec<f64>,
}

/// All measurements, by row and machine, rows in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) rows: Vec<String>,
    pub(crate) cores: Vec<String>,
    all: BTreeMap<(String, String), Vec<Record>>,
    /// What follows L, F and W, by row and machine.
    pub(crate) lines: Vec<(String, String, String)>,
    pub(crate) few: Vec<(String, String, String)>,
    pub(crate) ramps: Vec<(String, String, String)>,
}

impl Results {
    pub(crate) fn read(path: &str) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
        Ok(Self::parse(&text))
    }

    pub(crate) fn parse(text: &str) -> Self {
        let mut results = Self::default();
        for line in text.lines() {
            results.add(line);
        }
        results.cores.sort_by_key(|c| (size(c), c.contains('x')));
        results
    }

    fn add(&mut self, line: &str) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [kind, row, cores, _seed, rest @ ..] = &fields[..] else {
            return;
        };
        let (row, cores) = (row.to_string(), cores.to_string());
        match *kind {
            "R" => {
                let n: Vec<f64> = rest.iter().map(|f| f.parse().unwrap_or(0.0)).collect();
                let [time, ideal, tasks, median, late, counts @ ..] = &n[..] else {
                    return;
                };
                let record = Record {
                    time: *time,
                    ideal: *ideal,
                    tasks: *tasks,
                    median: *median,
                    late: *late,
                    counts: counts.to_vec(),
                };
                if !self.rows.contains(&row) {
                    self.rows.push(row.clone());
                }
                if !self.cores.contains(&cores) {
                    self.cores.push(cores.clone());
                }
                self.all.entry((row, cores)).or_default().push(record);
            }
            "L" => self.lines.push((row, cores, rest.join("\t"))),
            "F" => self.few.push((row, cores, rest.join("\t"))),
            "W" => self.ramps.push((row, cores, rest.join("  "))),
            _ => {}
        }
    }

    pub(crate) fn get(&self, row: &str, cores: &str) -> &[Record] {
        let found = self.all.get(&(row.to_owned(), cores.to_owned()));
        found.map_or(&[], Vec::as_slice)
    }

    /// The mean of something over all measurements of a row.
    pub(crate) fn mean(&self, row: &str, cores: &str, of: impl Fn(&Record) -> f64) -> Option<f64> {
        let all = self.get(row, cores);
        (!all.is_empty()).then(|| all.iter().map(of).sum::<f64>() / all.len() as f64)
    }

    /// What part of the cores' time went into the work: the ideal time ÷ the time. If there is no
    /// ideal time, it comes from the time on one core.
    pub(crate) fn efficiency(&self, row: &str, cores: &str) -> Option<f64> {
        let ideal = self.mean(row, cores, |r| r.ideal)?;
        if ideal > 0.0 {
            return Some(ideal / self.mean(row, cores, |r| r.time)?);
        }
        let whole = self.median(row, "1", |r| r.time)?;
        Some(whole / size(cores) as f64 / self.median(row, cores, |r| r.time)?)
    }

    /// For a row that is measured: all computing time, as a multiple of what one core computes.
    pub(crate) fn growth(&self, row: &str, cores: &str) -> Option<f64> {
        let of = |r: &Record| r.counts.first().copied().unwrap_or(0.0);
        Some(self.median(row, cores, of)? / self.median(row, "1", of)?)
    }

    /// The median, for figures of which single measurements may be far off.
    fn median(&self, row: &str, cores: &str, of: impl Fn(&Record) -> f64) -> Option<f64> {
        let mut all: Vec<f64> = self.get(row, cores).iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        let middle = all.get(all.len() / 2).copied()?;
        Some((middle + all[(all.len() - 1) / 2]) / 2.0)
    }
}

/// How many cores `64` or `2x32` are.
pub(crate) fn size(cores: &str) -> usize {
    cores
        .split('x')
        .map(|n| n.parse::<usize>().unwrap_or(0))
        .product()
}
