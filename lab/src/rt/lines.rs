//! Cache lines: which cores have them, when they are busy, and who has touched them.

use super::costs::{Costs, Topology};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::panic::Location;

const PS: f64 = 1000.0;
const LINE: usize = 64;

/// How a line is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Load,
    Store,
    Exchange,
}

#[derive(Clone, Copy, Default)]
struct Line {
    key: usize,
    /// The cores that have it, a bit each.
    sharers: u128,
    /// One more than the core that may write it, or 0.
    owner: u16,
    /// Until this time the line is on its way, or being changed.
    busy: u64,
}

/// What one place in the source did to one line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    pub(crate) stall: u64,
    pub(crate) transfers: u64,
    pub(crate) refused: u64,
}

/// When the transfer of a line began, and how long it took, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Came {
    pub(crate) start: u64,
    pub(crate) latency: u64,
}

#[derive(Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_usize(usize::from(b));
        }
    }
    fn write_usize(&mut self, n: usize) {
        self.0 = (self.0.rotate_left(20) ^ n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

pub(crate) type Uses = HashMap<(usize, usize), Use, BuildHasherDefault<Mix>>;

pub(crate) struct Lines {
    // Open addressing; a key of 0 is a free place.
    table: Vec<Line>,
    used: usize,
    pub(crate) uses: Uses,
    sockets: Vec<u128>,
    near: f64,
    shared: f64,
    far: f64,
    reader: u64,
    jitter: f64,
}

impl Lines {
    pub(crate) fn new(costs: &Costs, topology: Topology) -> Self {
        Self {
            table: vec![Line::default(); 1 << 16],
            used: 0,
            uses: Uses::default(),
            sockets: (0..topology.cores())
                .map(|core| topology.socket(core))
                .collect(),
            near: costs.near * PS,
            shared: costs.shared * PS,
            far: costs.far * PS,
            reader: (costs.reader * PS) as u64,
            jitter: costs.jitter,
        }
    }

    fn at(&mut self, key: usize) -> &mut Line {
        if self.used * 2 > self.table.len() {
            self.grow();
        }
        let place = self.place(key);
        if self.table[place].key == 0 {
            self.table[place].key = key;
            self.used += 1;
        }
        &mut self.table[place]
    }

    #[inline]
    fn place(&self, key: usize) -> usize {
        let mask = self.table.len() - 1;
        let mut place = (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 20 & mask;
        while self.table[place].key != key && self.table[place].key != 0 {
            place = (place + 1) & mask;
        }
        place
    }

    #[cold]
    fn grow(&mut self) {
        let bigger = vec![Line::default(); self.table.len() * 2];
        for line in std::mem::replace(&mut self.table, bigger) {
            if line.key != 0 {
                let place = self.place(line.key);
                self.table[place] = line;
            }
        }
    }

    /// Whether `core` has the line of this address in the state that it needs. The very first touch
    /// of a line is a hit.
    #[inline]
    pub(crate) fn has(&mut self, core: usize, address: usize, way: Way) -> bool {
        let line = self.at(address / LINE + 1);
        if line.sharers == 0 {
            line.owner = core as u16 + 1;
            line.sharers = 1 << core;
        }
        match way {
            Way::Load => line.sharers >> core & 1 == 1,
            Way::Store | Way::Exchange => line.owner == core as u16 + 1,
        }
    }

    /// Brings the line to `core`, from `begin` on or when it is free; `chance` below 1 makes the
    /// transfers differ.
    pub(crate) fn fetch(
        &mut self,
        core: usize,
        address: usize,
        way: Way,
        begin: u64,
        chance: f64,
    ) -> Came {
        let (near, shared, far, reader, jitter) =
            (self.near, self.shared, self.far, self.reader, self.jitter);
        let socket = self.sockets[core];
        let line = self.at(address / LINE + 1);
        let others = line.sharers & !(1 << core);
        let latency = match (way, line.owner) {
            // Another core has changed the line.
            (_, owner) if owner != 0 => {
                if socket >> (owner - 1) & 1 == 1 {
                    near
                } else {
                    far
                }
            }
            (Way::Load, _) => {
                if others & socket != 0 {
                    shared
                } else {
                    far
                }
            }
            // All other copies are thrown away first.
            _ => {
                if others & !socket != 0 {
                    far
                } else {
                    near
                }
            }
        };
        let latency = (latency * (1.0 + (chance - 0.5) * jitter)) as u64;
        let start = begin.max(line.busy);
        match way {
            Way::Load => {
                line.busy = start + if line.owner != 0 { latency } else { reader };
                line.owner = 0;
                line.sharers |= 1 << core;
            }
            Way::Store | Way::Exchange => {
                line.busy = start + latency;
                line.owner = core as u16 + 1;
                line.sharers = 1 << core;
            }
        }
        Came { start, latency }
    }

    /// Notes that the line is being changed until that time.
    pub(crate) fn keep_busy(&mut self, address: usize, until: u64) {
        self.at(address / LINE + 1).busy = until;
    }

    pub(crate) fn note(&mut self, address: usize, place: &'static Location<'static>, stall: u64) {
        let used = self
            .uses
            .entry((
                address / LINE,
                std::ptr::from_ref(place).expose_provenance(),
            ))
            .or_default();
        used.stall += stall;
        used.transfers += 1;
    }

    pub(crate) fn note_refusal(&mut self, address: usize, place: &'static Location<'static>) {
        let used = self
            .uses
            .entry((
                address / LINE,
                std::ptr::from_ref(place).expose_provenance(),
            ))
            .or_default();
        used.refused += 1;
    }
}
