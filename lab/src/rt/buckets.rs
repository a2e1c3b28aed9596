//! What all threads do, by time: sums over a whole run do not show that each of its parts waits for a different
//! line.
//!
//! `LAB_BUCKETS=50` divides the time since the last reset into buckets of 50 µs.

use super::machine::{Machine, PS};
use super::names::Sources;
use std::collections::BTreeMap;
use std::panic::Location;

type Place = &'static Location<'static>;

/// The number of source lines that are reported for each bucket.
const WORST: usize = 3;

/// What the time was spent on.
#[derive(Clone, Copy)]
pub(super) enum Spent {
    Work,
    Stall(Place),
    Other,
}

/// One bucket, in picoseconds.
#[derive(Default)]
struct Bucket {
    work: u64,
    stall: u64,
    other: u64,
    /// The stall by file, line and column.
    places: BTreeMap<Place, u64>,
}

pub(super) struct Buckets {
    width: u64,
    all: Vec<Bucket>,
}

impl Buckets {
    /// If they are asked for.
    pub(super) fn wanted() -> Option<Self> {
        let micros: u64 = std::env::var("LAB_BUCKETS").ok()?.parse().ok()?;
        (micros > 0).then(|| Self {
            width: micros * 1000 * PS,
            all: Vec::new(),
        })
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    /// Notes how one core spent the time between two moments, in picoseconds since the reset.
    fn add(&mut self, mut from: u64, until: u64, spent: Spent) {
        while from < until {
            let at = (from / self.width) as usize;
            let end = until.min((at as u64 + 1) * self.width);
            if self.all.len() <= at {
                self.all.resize_with(at + 1, Bucket::default);
            }
            let bucket = &mut self.all[at];
            let sum = match spent {
                Spent::Work => &mut bucket.work,
                Spent::Other => &mut bucket.other,
                Spent::Stall(place) => {
                    *bucket.places.entry(place).or_default() += end - from;
                    &mut bucket.stall
                }
            };
            *sum += end - from;
            from = end;
        }
    }

    /// For each bucket: when it begins, µs; how many cores work, wait for lines, do other things, do nothing;
    /// and at which source lines most of them wait.
    pub(super) fn tell(&self, cores: usize) -> Vec<String> {
        let mut sources = Sources::default();
        let mut told = Vec::new();
        for (at, bucket) in self.all.iter().enumerate() {
            let part = |ps: u64| ps as f64 / self.width as f64;
            let rest = cores as f64 - part(bucket.work + bucket.stall + bucket.other);
            let mut line = format!(
                "{}\t{:.1}\t{:.1}\t{:.1}\t{rest:.1}",
                at as u64 * self.width / PS / 1000,
                part(bucket.work),
                part(bucket.stall),
                part(bucket.other),
            );
            let mut places: Vec<_> = bucket.places.iter().collect();
            places.sort_by_key(|&(_, stall)| std::cmp::Reverse(*stall));
            for (place, stall) in places.into_iter().take(WORST) {
                let file = place.file().rsplit('/').next().unwrap_or("");
                let field = sources.field(place);
                line += &format!("\t{:.1} {field} {file}:{}", part(*stall), place.line());
            }
            told.push(line);
        }
        told
    }
}

impl Machine {
    /// Notes what this core has just spent.
    #[inline]
    pub(super) fn bucket(&mut self, took: u64, spent: Spent) {
        if self.buckets.is_some() {
            let until = self.here().clock.saturating_sub(self.zero);
            let from = until.saturating_sub(took);
            let buckets = self.buckets.as_mut().expect("just looked at");
            buckets.add(from, until, spent);
        }
    }
}
