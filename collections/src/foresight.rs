//! How much room a table will need, estimated from its first rows.
#![forbid(unsafe_code)]

use crate::map::table::grow;
use hashbrown::HashTable;
use std::slice;

/// Room for the rows to come, estimated from the rows so far: the number of rows that met their own
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

    /// The number of keys to expect of all rows, of which those seen had `found` different ones.
    fn keys(&self, found: usize) -> usize {
        if found >= self.seen {
            return self.rows;
        }
        found + new_keys(self.seen, found, self.rows.saturating_sub(self.seen))
    }
}

/// A table of fewer keys doubles when it is full: so few items show nothing.
const TELLING: usize = 64;
/// From this many items on that met their own key, the number of all keys is known well enough.
const SURE: usize = 16;
/// A full table of N keys gets room for at most three times as many more where too few items tell, and else for 15 times.
const MOST: (usize, usize) = (3, 15);

/// Room for this number of keys is in the cache: it does no harm if too much is made.
const LIGHT: usize = 1 << 14;

/// For how many more keys a full table should have room, after `seen` items had `keys` different ones: for all that are
/// still to come, if all keys are equally frequent. Each time that a table grows all its entries move.
/// (By the first terms of a series: a search as in [`new_keys`] would cost more than it saves in a small table.)
pub(crate) fn headroom(keys: usize, seen: usize) -> usize {
    let again = seen.saturating_sub(keys);
    let share = again as f64 / seen.max(1) as f64;
    // If most items met their own key, hardly one more key will come, or keys are not equally frequent.
    if keys < TELLING || share > 0.7 {
        return keys.max(1);
    }
    let most = keys.saturating_mul(if again < SURE { MOST.0 } else { MOST.1 });
    if again == 0 {
        return most;
    }
    // Of K keys, N draws meet K (1 - exp(-N/K)). The first terms of the series for N/K.
    let draws = share * (2.0 + share * (4.0 / 3.0 + share * 10.0 / 9.0));
    let more = seen as f64 / draws * f64::exp(-draws);
    (more as usize).clamp(keys, most)
}

/// The same where `rest` further items come.
pub(crate) fn room_for(keys: usize, seen: usize, rest: usize) -> usize {
    if keys < TELLING || rest > LIGHT {
        return headroom(keys, seen).min(rest.max(1));
    }
    new_keys_with_doubt(seen, keys, rest).max(1)
}

/// The same as [`new_keys`], and more by as much as that may be wrong: the number of rows that met their own key varies by its
/// root.
pub(crate) fn new_keys_with_doubt(seen: usize, keys: usize, rest: usize) -> usize {
    let more = new_keys(seen, keys, rest);
    let root = seen.saturating_sub(keys).isqrt().max(1);
    (more + more / root).min(rest)
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

#[cfg(test)]
mod tests {
    use super::{Foresight, LIGHT, headroom, new_keys, room_for};

    /// However many rows share a key, room is for the keys.
    #[test]
    fn room_follows_the_keys_and_not_the_rows() {
        let keys = 10_000_usize;
        for rows in [20_000, 160_000, 1_000_000, 100_000_000, 1 << 40] {
            let mut foresight = Foresight::new(rows);
            foresight.seen = rows / 16;
            let found = keys as f64 * (1.0 - f64::exp(-(foresight.seen as f64) / keys as f64));
            let all = keys as f64 * (1.0 - f64::exp(-(rows as f64) / keys as f64));
            let told = foresight.keys(found as usize) as f64;
            assert!(
                (0.8 * all..1.2 * all).contains(&told),
                "{told} of {all}, {rows} rows"
            );
        }
        let mut foresight = Foresight::new(1000);
        foresight.seen = 62;
        assert_eq!(foresight.keys(62), 1000, "all new");
        assert_eq!(foresight.keys(100), 1000, "more than were seen");
    }

    /// Full tables of equally frequent keys.
    #[test]
    fn room_is_made_for_the_keys_to_come() {
        for kinds in [200_usize, 1000, 10_000, 100_000] {
            // After N draws there are K (1 - exp(-N/K)) keys.
            let keys = |draws: f64| kinds as f64 * (1.0 - f64::exp(-draws / kinds as f64));
            for seen in (6..18).map(|n| 1 << n).filter(|&n| n < 2 * kinds) {
                let here = keys(seen as f64);
                let more = headroom(here as usize, seen) as f64;
                let known = seen as f64 - here >= 17.0;
                let most = if known { 15.0 } else { 3.0 } * here;
                let right = (kinds as f64 - here).clamp(here, most);
                let off = 0.1 * kinds as f64;
                assert!(
                    !known || (right - off..=right + 2.0 * off).contains(&more),
                    "{more} in place of {right}, {kinds} keys, {seen} seen"
                );
                assert!(more <= most + 3.0);
            }
        }
        assert_eq!(headroom(0, 0), 1);
        assert_eq!(headroom(112, 0), 336);
        assert_eq!(headroom(112, 112), 336);
        assert_eq!(headroom(112, 100_000), 112);
        assert_eq!(headroom(usize::MAX, usize::MAX), usize::MAX);
    }

    #[test]
    fn room_where_it_is_known_how_many_come() {
        // Never for more than will come; if few items come, for all keys that are foretold.
        assert_eq!(room_for(3, 3, 1000), 3);
        let all_new = room_for(100, 100, 5_000);
        assert!((4_900..=5_000).contains(&all_new), "{all_new}");
        let few = room_for(900, 2_000, 10_000);
        assert!(few < 400 && few >= new_keys(2_000, 900, 10_000), "{few}");
        assert_eq!(room_for(100, 100, 0), 1);
        // If many come, step by step.
        assert_eq!(room_for(100, 100, LIGHT + 1), headroom(100, 100));
        assert_eq!(room_for(20_000, 20_000, LIGHT + 1), LIGHT + 1);
    }
}
