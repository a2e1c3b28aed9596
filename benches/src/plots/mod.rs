//! Pictures of the tables: drawn from what the programs have written into TABLES.md, so that a
//! picture never says anything that no table says.
#![forbid(unsafe_code)]

mod chart;
mod read;

use chart::{Chart, Line, Series};
use read::{Table, tables};
pub use read::{block, taken};
use std::path::Path;
use std::{fs, io};

/// The files of the pictures, in the order in which a page shows them, and what they show.
pub const FILES: [(&str, &str); 4] = [
    ("sweep-hot.svg", "Calls of every length, back to back"),
    ("sweep-cold.svg", "Calls of every length, the pool asleep"),
    ("sorts.svg", "The sorts"),
    ("groups.svg", "Grouping"),
];

/// All pictures of these tables, as file name and text. A table that is not there has none.
pub fn draw(readme: &str) -> Vec<(&'static str, String)> {
    let charts = [hot(readme), cold(readme), sorts(readme), groups(readme)];
    let named = FILES.iter().zip(charts);
    named
        .filter_map(|(&(file, _), chart)| Some((file, chart?.svg())))
        .collect()
}

/// Draws the page's tables into the directory.
pub fn write(readme: &Path, into: &Path) -> io::Result<()> {
    fs::create_dir_all(into)?;
    for (file, svg) in draw(&fs::read_to_string(readme)?) {
        fs::write(into.join(file), svg)?;
        eprintln!("Drawn: {}", into.join(file).display());
    }
    Ok(())
}

/// From a row of a table, unchanged: the cells of tine, of a peer and of the sequential contender,
/// and the ratios of the first to both.
pub fn picked(page: &str, [name, title, row]: [&str; 3], peer: &str) -> Option<[String; 5]> {
    let table = table(page, name, title)?;
    let row = table.rows.iter().find(|cells| cells[0] == row)?;
    if name == "collections" {
        return read::contenders(row, peer);
    }
    let cell = |names: [&str; 2]| {
        let mut heads = table.head.iter();
        let at = heads.position(|head| names.contains(&head.as_str()));
        at.map_or("–".to_owned(), |at| row[at].clone())
    };
    Some([
        cell(["tine"; 2]),
        cell([peer; 2]),
        cell(["sequential", "std"]),
        cell([&format!("tine ÷ {peer}"); 2]),
        cell(["tine ÷ sequential", "tine ÷ std"]),
    ])
}

/// Every table as a file of values between tabs, with a line on its machine and day at the top.
pub fn separated(page: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = vec![];
    for name in ["table", "collections", "sorts", "iterators"] {
        let Some(text) = block(page, name) else {
            continue;
        };
        for (nth, table) in tables(text).into_iter().enumerate() {
            let kind = if name == "table" { "pool" } else { name };
            let words: Vec<String> = table.title.split_whitespace().take(6).map(plain).collect();
            let title = words.join("-").trim_matches('-').replace("--", "-");
            let file = match title.as_str() {
                "" => format!("{kind}-{}.tsv", nth + 1),
                title => format!("{kind}-{title}.tsv"),
            };
            let mut text = format!("# {}. {}\n", table.title, taken(text));
            for row in std::iter::once(&table.head).chain(&table.rows) {
                text += &(row.join("\t") + "\n");
            }
            files.push((file, text));
        }
    }
    files
}

/// A word of a title as part of a file's name.
fn plain(word: &str) -> String {
    let word = word.replace('µ', "u").to_lowercase();
    word.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// A table of a block, found by how its title begins.
fn table(readme: &str, name: &str, title: &str) -> Option<Table> {
    let all = tables(block(readme, name)?);
    all.into_iter().find(|table| table.title.starts_with(title))
}

fn hot(readme: &str) -> Option<Chart> {
    let table = table(readme, "iterators", "Sum of x × x + 1, back to back")?;
    sweep(readme, &table, "map and sum, one call after another")
}

fn cold(readme: &str) -> Option<Chart> {
    let table = table(readme, "iterators", "The same, the pool asleep")?;
    sweep(
        readme,
        &table,
        "map and sum, the pool asleep before each call",
    )
}

/// A curve for each contender over the lengths, which are in the rows' names.
fn sweep(readme: &str, table: &Table, what: &str) -> Option<Chart> {
    let length = |name: &str| {
        let power = name.split("10^").nth(1)?;
        power.split(',').next()?.trim().parse::<i32>().ok()
    };
    let contenders = table.head.iter().skip(1);
    let contenders = contenders.take_while(|name| !name.contains('÷'));
    let mut series: Vec<Series> = contenders.map(|name| Series::new(name)).collect();
    for row in &table.rows {
        let base = table.time(row, "sequential")?;
        for series in &mut series {
            if let (Some(power), Some(time)) = (length(&row[0]), table.time(row, &series.name)) {
                series.points.push((10_f64.powi(power), time / base));
            }
        }
    }
    Some(Chart {
        title: format!("{what}: time ÷ the sequential loop's"),
        source: taken(block(readme, "iterators")?),
        note: "The scale is wider between 0.5 and 2, where most of the difference lies.".into(),
        shape: Line::Curves("items"),
        series,
    })
}

fn sorts(readme: &str) -> Option<Chart> {
    let table = table(readme, "sorts", "2 threads")?;
    let contenders = table.head.iter().skip(1);
    let contenders = contenders.take_while(|name| !name.contains('÷'));
    let mut series: Vec<Series> = contenders.map(|name| Series::new(name)).collect();
    let mut rows = vec![];
    for row in table.rows.iter().filter(|row| row[0].contains("10⁶")) {
        let base = table.time(row, "std-u")?;
        for series in &mut series {
            if let Some(time) = table.time(row, &series.name) {
                series.points.push((rows.len() as f64, time / base));
            }
        }
        rows.push(row[0].replace(", 10⁶", ","));
    }
    Some(Chart {
        title: "10⁶ elements on 2 threads: time ÷ that of std's sort_unstable".into(),
        source: taken(block(readme, "sorts")?),
        note:
            "Names that end in -u are the unstable sorts; the others keep equal elements in order."
                .into(),
        shape: Line::Rows(rows),
        series,
    })
}

/// The rows of this table hold their contenders: `name time; name time → ratio`.
fn groups(readme: &str) -> Option<Chart> {
    let text = block(readme, "collections")?;
    let table = tables(text).into_iter().next()?;
    let mut series: Vec<Series> = vec![];
    let mut rows = vec![];
    let wanted = |name: &str| {
        !name.contains("small")
            && ["count", "group", "words"]
                .iter()
                .any(|w| name.starts_with(w))
    };
    for row in table.rows.iter().filter(|row| wanted(&row[0])) {
        let cells = row[1..].iter().flat_map(|cell| cell.split("; "));
        let times: Vec<_> = cells.filter_map(read::contender).collect();
        let base = times
            .iter()
            .find(|(name, _)| name.starts_with("sequential"))?
            .1;
        for (name, time) in times {
            let known = series.iter().position(|series| series.name == name);
            let at = known.unwrap_or_else(|| {
                series.push(Series::new(&name));
                series.len() - 1
            });
            series[at].points.push((rows.len() as f64, time / base));
        }
        rows.push(row[0].clone());
    }
    Some(Chart {
        title: "Counting and grouping by key, 2 threads: time ÷ the sequential loop's".into(),
        source: taken(text),
        note:
            "count N: 10⁷ keys, N of them different; zipf N: drawn from N ranks, low ones often; \
               group N: 5·10⁶ pairs of N keys; words: a text."
                .into(),
        shape: Line::Rows(rows),
        series,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &str = include_str!("../../TABLES.md");

    #[test]
    fn every_picture_is_drawn_from_the_tables_as_they_stand() {
        let files: Vec<_> = draw(TABLES).into_iter().map(|(file, _)| file).collect();
        assert_eq!(files, FILES.map(|(file, _)| file));
    }

    #[test]
    fn the_pictures_that_are_kept_are_those_of_the_tables() {
        let plots = Path::new(env!("CARGO_MANIFEST_DIR")).join("plots");
        for (file, svg) in draw(TABLES) {
            let kept = fs::read_to_string(plots.join(file)).unwrap_or_default();
            assert!(kept == svg, "{file} is old: run `tine-bench plots`");
        }
    }
}
