//! The samples of one row at one pool size, and the figures computed from them.
#![forbid(unsafe_code)]

use crate::row::Row;
use std::collections::BTreeMap;

/// Samples in the order of the rounds, the same rounds for every peer.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What was measured.
    pub row: Row,
    /// With how many threads.
    pub threads: usize,
    /// Per peer, one sample per round.
    pub by_peer: BTreeMap<String, Vec<f64>>,
}

impl Measured {
    /// Nothing yet.
    pub fn new(row: Row, threads: usize) -> Self {
        Measured {
            row,
            threads,
            by_peer: BTreeMap::new(),
        }
    }

    /// Appends a sample.
    pub fn push(&mut self, peer: &str, sample: f64) {
        self.by_peer
            .entry(peer.to_owned())
            .or_default()
            .push(sample);
    }

    /// The samples of this peer; none if it took no part.
    pub fn of(&self, peer: &str) -> &[f64] {
        self.by_peer.get(peer).map_or(&[], Vec::as_slice)
    }

    /// The median of `peer ÷ base`, each pair taken in one round.
    pub fn ratio(&self, peer: &str, base: &str) -> Option<f64> {
        let pairs = self.of(peer).iter().zip(self.of(base));
        let ratios: Vec<_> = pairs
            .map(|(a, b)| a / b)
            .filter(|r| r.is_finite())
            .collect();
        median(&ratios)
    }

    /// The same row with `base` of the same round taken off every sample.
    pub fn above(&self, base: &str) -> Self {
        let less_base = |samples: &Vec<f64>| {
            samples
                .iter()
                .zip(self.of(base))
                .map(|(a, b)| a - b)
                .collect::<Vec<_>>()
        };
        let others = self.by_peer.iter().filter(|(peer, _)| *peer != base);
        let by_peer = others
            .map(|(peer, all)| (peer.clone(), less_base(all)))
            .collect();
        Measured {
            by_peer,
            ..self.clone()
        }
    }
}

/// The value that a share `q` of the samples lies below, between neighbours.
pub fn quantile(samples: &[f64], q: f64) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = q * (sorted.len().checked_sub(1)? as f64);
    let (low, high) = (
        sorted[place.floor() as usize],
        sorted[place.ceil() as usize],
    );
    Some(low + (high - low) * place.fract())
}

/// The middle sample.
pub fn median(samples: &[f64]) -> Option<f64> {
    quantile(samples, 0.5)
}

/// The best tenth: a tenth of the samples lie below it.
pub fn p10(samples: &[f64]) -> Option<f64> {
    quantile(samples, 0.1)
}
