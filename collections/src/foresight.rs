//! How much room a table will need, estimated from its first rows.
#![forbid(unsafe_code)]

use crate::map::table::grow;
use hashbrown::HashTable;
use std::slice;

/// Room for the rows to come, estimated from the rows so far. The number of rows that met their own
/// key shows how many keys there are, if all keys are equally frequent. If they are not, the
/// estimate is too low, and the table grows once more.
pub(crate) struct Foresight {
    rows: usize,
    seen: usize,
    probe: usize,
}

impl Foresight {
    pub(crate) fn new(rows: usize) -> Self {
        Foresight {
            rows,
            seen: 0,
            probe: if rows < 64 { usize::MAX } else { rows / 16 },
        }
    }

    /// Notes a row, and makes room when the time has come.
    #[inline]
    pub(crate) fn step<T>(&mut self, table: &mut HashTable<T>, rehash: impl Fn(&T) -> u64) {
        if self.is_due() {
            self.decide(slice::from_mut(table), rehash);
        }
    }

    /// Notes a row that went to one of several tables. Says whether the time has come to make room in them.
    #[inline]
    pub(crate) fn is_due(&mut self) -> bool {
        self.seen += 1;
        self.seen == self.probe
    }

    /// Makes room in the tables among which the rows are divided.
    #[cold]
    pub(crate) fn decide<T>(&mut self, tables: &mut [HashTable<T>], rehash: impl Fn(&T) -> u64) {
        let keys = self.keys(tables.iter().map(HashTable::len).sum());
        let each = match tables.len() {
            1 => keys,
            // As in `Shards::with_capacity`.
            count => keys / count + keys / count / 8 + 4,
        };
        for table in tables {
            let more = each.saturating_sub(table.len());
            grow(table, more, &rehash).expect("capacity overflow, or no memory for the entries");
        }
    }

    /// The number of keys to expect of all rows, after `met` of those seen found their key.
    fn keys(&self, met: usize) -> usize {
        let again = self.seen.saturating_sub(met) as f64;
        if again == 0.0 {
            return self.rows;
        }
        // Of `seen` draws from `all` equal keys `seen² / (2 all)` are repeats, as long as repeats
        // are few.
        let all = self.seen as f64 * self.seen as f64 / (2.0 * again);
        let share = 1.0 - (-(self.rows as f64) / all).exp();
        ((all * share) as usize).min(self.rows)
    }
}

/// How many of `rest` further rows will have a key that is new, if `seen` rows had `keys` different ones, and all keys are
/// equally frequent.
pub(crate) fn new_keys(seen: usize, keys: usize, rest: usize) -> usize {
    let (seen, found) = (seen as f64, keys as f64);
    // Of K keys, N draws meet K (1 - exp(-N/K)). N/K lies between these two.
    let (mut low, mut high) = (0.0, 32.0);
    for _ in 0..16 {
        let mid = (low + high) / 2.0;
        match (1.0 - f64::exp(-mid)) / mid * seen > found {
            true => low = mid,
            false => high = mid,
        }
    }
    let all = seen / high;
    let still = f64::exp(-high) * (1.0 - (-(rest as f64) / all).exp());
    ((all * still) as usize).min(rest)
}
