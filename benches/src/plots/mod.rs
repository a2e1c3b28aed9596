//! Pictures of the tables: drawn from what the programs have written into the README, so that a
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

/// Draws the README's tables into the directory.
pub fn write(readme: &Path, into: &Path) -> io::Result<()> {
    fs::create_dir_all(into)?;
    for (file, svg) in draw(&fs::read_to_string(readme)?) {
        fs::write(into.join(file), svg)?;
        eprintln!("Drawn: {}", into.join(file).display());
    }
    Ok(())
}

/// Of a row of a table, as they stand: the cells of tine, of rayon and of the sequential contender,
/// and the ratios of the first to both.
pub fn picked(readme: &str, name: &str, title: &str, row: &str) -> Option<Vec<String>> {
    let table = table(readme, name, title)?;
    let row = table.rows.iter().find(|cells| cells[0] == row)?;
    let cell = |names: [&str; 2]| {
        let mut heads = table.head.iter();
        let at = heads.position(|head| names.contains(&head.as_str()));
        at.map_or("–".to_owned(), |at| row[at].clone())
    };
    Some(vec![
        cell(["tine"; 2]),
        cell(["rayon"; 2]),
        cell(["sequential", "std"]),
        cell(["tine ÷ rayon"; 2]),
        cell(["tine ÷ sequential", "tine ÷ std"]),
    ])
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
        title: "Counting and grouping by key: time ÷ the sequential loop's".into(),
        source: taken(text),
        shape: Line::Rows(rows),
        series,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = include_str!("../../README.md");

    #[test]
    fn every_picture_is_drawn_from_the_tables_as_they_stand() {
        let files: Vec<_> = draw(README).into_iter().map(|(file, _)| file).collect();
        assert_eq!(files, FILES.map(|(file, _)| file));
    }

    #[test]
    fn the_pictures_that_are_kept_are_those_of_the_tables() {
        let plots = Path::new(env!("CARGO_MANIFEST_DIR")).join("plots");
        for (file, svg) in draw(README) {
            let kept = fs::read_to_string(plots.join(file)).unwrap_or_default();
            assert!(kept == svg, "{file} is old: run `tine-bench plots`");
        }
    }
}
