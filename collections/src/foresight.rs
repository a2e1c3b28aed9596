//! How much room a table will need, estimated from its first rows.
#![forbid(unsafe_code)]

use crate::map::table::grow;
use hashbrown::HashTable;

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
        self.seen += 1;
        if self.seen == self.probe {
            self.decide(table, rehash);
        }
    }

    #[cold]
    fn decide<T>(&mut self, table: &mut HashTable<T>, rehash: impl Fn(&T) -> u64) {
        let keys = self.keys(table.len());
        let more = keys.saturating_sub(table.len());
        grow(table, more, rehash).expect("capacity overflow, or no memory for the entries");
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
