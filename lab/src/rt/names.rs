//! Which field lies at an address: read from the source line that touches it.
//!
//! A touch says which line and column of the source asked for it. The expression before the
//! method's name there is the field, and the `impl` around it is the type: no list of fields is
//! kept, and the pool reports only where its operations are written.

use super::lines::{Use, Uses};
use super::report::Contended;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::Location;

/// Groups lines by the fields in them, the worst first.
pub(super) fn group(uses: &Uses) -> Vec<Contended> {
    let mut sources = Sources::default();
    let mut lines: BTreeMap<usize, (BTreeSet<String>, Use)> = BTreeMap::new();
    for (&(line, place), used) in uses {
        // SAFETY: the addresses in the map are those of `Location`s that live for ever.
        let place = unsafe { &*std::ptr::with_exposed_provenance::<Location<'static>>(place) };
        let (fields, sum) = lines.entry(line).or_default();
        fields.insert(sources.field(place));
        sum.stall += used.stall;
        sum.transfers += used.transfers;
        sum.refused += used.refused;
    }
    let all: u64 = lines.values().map(|(_, used)| used.stall).sum();
    let mut groups: BTreeMap<String, Contended> = BTreeMap::new();
    for (fields, used) in lines.into_values() {
        let fields = fields.into_iter().collect::<Vec<_>>().join(" + ");
        let group = groups.entry(fields.clone()).or_insert(Contended {
            fields,
            share: 0.0,
            transfers: 0,
            refused: 0,
            lines: 0,
        });
        group.share += used.stall as f64 / all.max(1) as f64;
        group.transfers += used.transfers;
        group.refused += used.refused;
        group.lines += 1;
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort_by(|a, b| b.share.total_cmp(&a.share));
    groups
}

/// The sources that were read.
#[derive(Default)]
pub(super) struct Sources(HashMap<&'static str, Vec<String>>);

impl Sources {
    pub(super) fn field(&mut self, place: &'static Location<'static>) -> String {
        let lines = self
            .0
            .entry(place.file())
            .or_insert_with(|| read(place.file()));
        let file = place.file().rsplit('/').next().unwrap_or("");
        let fallback = || format!("{file}:{}", place.line());
        let row = place.line() as usize - 1;
        let Some(line) = lines.get(row) else {
            return fallback();
        };
        // The expression may begin some lines above.
        let mut before: String = lines[row.saturating_sub(6)..row].join("\n");
        before.push('\n');
        before.extend(line.chars().take(place.column() as usize - 1));
        let Some(field) = last_field(&before) else {
            return fallback();
        };
        match enclosing(&lines[..row]) {
            Some(kind) => format!("{kind}.{field}"),
            None => format!("{file}.{field}"),
        }
    }
}

fn read(file: &str) -> Vec<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let text =
        std::fs::read_to_string(file).or_else(|_| std::fs::read_to_string(format!("{root}{file}")));
    text.unwrap_or_default()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// The last field or variable of an expression that ends with a dot.
fn last_field(text: &str) -> Option<String> {
    let mut text = text.trim_end().strip_suffix('.')?.trim_end();
    // Skips an index or the arguments of a call.
    while let Some(close) = text.chars().last().filter(|c| matches!(c, ')' | ']' | '?')) {
        if close == '?' {
            text = text[..text.len() - 1].trim_end();
            continue;
        }
        let mut depth = 0;
        let open = text.char_indices().rev().find(|(_, c)| {
            match c {
                ')' | ']' => depth += 1,
                '(' | '[' => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        text = text[..open.0].trim_end();
    }
    let word = |text: &str| -> String {
        let at = text
            .rfind(|c: char| !c.is_alphanumeric() && c != '_')
            .map_or(0, |i| i + 1);
        text[at..].to_owned()
    };
    let field = word(text);
    (!field.is_empty()).then_some(field)
}

/// The type of the `impl` in which the last of these lines stands.
fn enclosing(lines: &[String]) -> Option<String> {
    for line in lines.iter().rev() {
        let indented = line.starts_with(' ');
        let line = line.trim_start();
        if let Some(rest) = line.strip_prefix("impl") {
            let mut rest = rest;
            if rest.starts_with('<') {
                let mut depth = 0;
                let end = rest.find(|c| {
                    match c {
                        '<' => depth += 1,
                        '>' => depth -= 1,
                        _ => {}
                    }
                    depth == 0
                })?;
                rest = &rest[end + 1..];
            }
            let name = rest
                .split_once(" for ")
                .map_or(rest, |(_, kind)| kind)
                .trim();
            let end = name
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(name.len());
            return Some(name[..end].to_owned());
        }
        if line == "}" && !indented {
            return None;
        }
    }
    None
}
