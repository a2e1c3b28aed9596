//! Reads the tables that the programs have written.
#![forbid(unsafe_code)]

/// A table of a page.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Table {
    /// The heading that it stands under.
    pub(super) title: String,
    /// The names of the columns.
    pub(super) head: Vec<String>,
    /// The cells of the rows.
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// The time in the column of this name, in nanoseconds if it has a unit.
    pub(super) fn time(&self, row: &[String], column: &str) -> Option<f64> {
        let at = self.head.iter().position(|name| name == column)?;
        time(row.get(at)?)
    }
}

/// What the program of this name has written.
pub fn block<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let begin = format!("<!-- {name}: written by the program -->");
    let end = format!("<!-- {name}: end -->");
    Some(page.split_once(&begin)?.1.split_once(&end)?.0)
}

/// On what machine and day a block was measured: its beginning, up to the date.
pub fn taken(block: &str) -> String {
    let line = block.trim_start().lines().next().unwrap_or_default();
    let is_day = |word: &str| {
        let mut parts = word.split('-').map(|part| part.parse::<u32>().is_ok());
        word.len() == 10 && parts.clone().count() == 3 && parts.all(|number| number)
    };
    let mut words = vec![];
    for word in line.split_whitespace() {
        let bare = word.trim_end_matches(['.', ',']);
        words.push(if is_day(bare) { bare } else { word });
        if is_day(bare) {
            break;
        }
    }
    words.join(" ")
}

/// All tables, each under the last heading before it.
pub(super) fn tables(text: &str) -> Vec<Table> {
    let mut tables = vec![];
    let (mut title, mut inside) = ("", false);
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            title = heading;
        }
        let cells = cells(line);
        match (cells, tables.last_mut()) {
            (None, _) => inside = false,
            (Some(cells), Some(Table { rows, .. })) if inside => {
                if !cells
                    .iter()
                    .all(|cell| cell.bytes().all(|byte| byte == b'-'))
                {
                    rows.push(cells);
                }
            }
            (Some(head), _) => {
                inside = true;
                tables.push(Table {
                    title: title.to_owned(),
                    head,
                    rows: vec![],
                });
            }
        }
    }
    tables
}

fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(
        inner
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect(),
    )
}

/// `7.36 (6.77) µs` as 7360, `14196` as it is.
fn time(cell: &str) -> Option<f64> {
    let mut words = cell.split_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    Some(match words.last() {
        Some("µs") => number * 1e3,
        Some("ms") => number * 1e6,
        Some("s") => number * 1e9,
        _ => number,
    })
}

/// `rayon fold+reduce 29.772 → **0.67**`: a name of several words, and its time.
pub(super) fn contender(cell: &str) -> Option<(String, f64)> {
    let words: Vec<&str> = cell.split_whitespace().collect();
    let number = |word: &&str| word.contains('.') && word.parse::<f64>().is_ok();
    let at = words.iter().position(number)?;
    Some((words[..at].join(" "), words[at].parse().ok()?))
}

/// From a row whose cells hold contenders: the times of tine, of a peer and of the sequential
/// contender, and the ratios of the first to both.
pub(super) fn contenders(row: &[String], peer: &str) -> Option<[String; 5]> {
    let ours = row[1]
        .split_whitespace()
        .skip_while(|word| word.parse::<f64>().is_err());
    let ours = ours.collect::<Vec<_>>().join(" ");
    let of = |name: &str| {
        let cells = row[2..].iter().flat_map(|cell| cell.split("; "));
        let mut cells = cells.filter(|cell| {
            contender(cell).is_some_and(|(known, _)| {
                known == name || { name == "sequential" && known.starts_with("sequential") }
            })
        });
        let (time, ratio) = cells.next()?.split_once(" → ")?;
        let time = time.split_whitespace().last()?;
        Some((time.to_owned(), ratio.trim_matches('*').to_owned()))
    };
    let none = || ("–".to_owned(), "–".to_owned());
    let (peers, by_peer) = of(peer)?;
    let (sequential, by_sequential) = of("sequential").unwrap_or_else(none);
    Some([ours, peers, sequential, by_peer, by_sequential])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "x\n<!-- a: written by the program -->\n\nA machine, 2 cores, 2026-01-02. \
        More.\n\n### One\n\n| | b | c |\n|---|---|---|\n| r | 1.50 (1) µs | – |\n\nText.\n\n\
        | | d |\n|---|---|\n| s | 7 |\n<!-- a: end -->\n";

    #[test]
    fn tables_are_read_as_they_stand() {
        let text = block(PAGE, "a").expect("a block");
        assert_eq!(taken(text), "A machine, 2 cores, 2026-01-02");
        let all = tables(text);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].title, "One");
        assert_eq!(all[0].time(&all[0].rows[0], "b"), Some(1500.0));
        assert_eq!(all[0].time(&all[0].rows[0], "c"), None);
        assert_eq!(all[1].rows, [["s", "7"]]);
        assert_eq!(block(PAGE, "b"), None);
    }

    #[test]
    fn contenders_of_a_row_are_found_by_name() {
        let row = [
            "count",
            "tine count_by 2.5 (2.0)",
            "rayon fold+reduce 5.0 → **0.50**; sequential 10.0 → **0.25**",
        ];
        let row = row.map(str::to_owned);
        let expected = ["2.5 (2.0)", "5.0", "10.0", "0.50", "0.25"].map(str::to_owned);
        assert_eq!(contenders(&row, "rayon fold+reduce"), Some(expected));
        assert_eq!(contenders(&row, "nobody"), None);
    }

    #[test]
    fn a_contender_is_a_name_and_a_time() {
        let cell = "rayon par_chunks, local maps 17.820 → **1.12**";
        let expected = ("rayon par_chunks, local maps".to_owned(), 17.82);
        assert_eq!(contender(cell), Some(expected));
    }
}
