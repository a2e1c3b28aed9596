//! Curves: efficiency by cores, a small picture for each row.

use crate::results::{Results, size};
use std::fmt::Write;

const WIDE: f64 = 200.0;
const HIGH: f64 = 110.0;
const ACROSS: usize = 4;

/// Draws the results of a file, and in grey next to them those of another file, of the same rows on rayon.
pub(crate) fn plot(path: &str, to: &str, rayon: Option<&str>) -> Result<(), String> {
    let results = Results::read(path)?;
    let rayon = rayon.map(Results::read).transpose()?.unwrap_or_default();
    let cores: Vec<&String> = results.cores.iter().filter(|c| !c.contains('x')).collect();
    let most = cores.iter().map(|c| size(c)).max().unwrap_or(2).max(2) as f64;
    // One picture for the phases of a row.
    let mut pictures: Vec<(&str, Vec<&String>)> = Vec::new();
    for row in &results.rows {
        let name = row.split(' ').next().unwrap_or(row);
        match pictures.iter_mut().find(|p| p.0 == name) {
            Some(picture) => picture.1.push(row),
            None => pictures.push((name, vec![row])),
        }
    }
    let down = pictures.len().div_ceil(ACROSS);
    let (width, height) = (
        ACROSS as f64 * (WIDE + 40.0) + 20.0,
        down as f64 * (HIGH + 50.0) + 40.0,
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"20\" y=\"20\" font-size=\"13\">Efficiency by computed cores (1 to {most}, logarithmic); \
         solid: warm, dashed: cold; grey: rayon</text>\n"
    );
    for (i, (name, rows)) in pictures.iter().enumerate() {
        let left = (i % ACROSS) as f64 * (WIDE + 40.0) + 30.0;
        let top = (i / ACROSS) as f64 * (HIGH + 50.0) + 50.0;
        let _ = writeln!(svg, "<text x=\"{left}\" y=\"{}\">{name}</text>", top - 4.0);
        let _ = writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{WIDE}\" height=\"{HIGH}\" fill=\"none\" stroke=\"#999\"/>"
        );
        for part in [0.25, 0.5, 0.75] {
            let y = top + HIGH * (1.0 - part);
            let _ = writeln!(
                svg,
                "<line x1=\"{left}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" stroke=\"#ddd\"/>",
                left + WIDE
            );
        }
        let curve = |results: &Results, row: &str, grey: bool| {
            let point = |cores: &&String| {
                let efficiency = results.efficiency(row, cores)?.min(1.05);
                let x = left + WIDE * (size(cores) as f64).log2() / most.log2();
                Some(format!(
                    "{x:.1},{:.1}",
                    top + HIGH * (1.0 - efficiency / 1.05)
                ))
            };
            let points: Vec<String> = cores.iter().filter_map(point).collect();
            let (colour, dash) = match row.split(' ').nth(1) {
                Some("cold") => ("#1f77b4", " stroke-dasharray=\"5 3\""),
                Some("get") => ("#2ca02c", ""),
                _ => ("#d62728", ""),
            };
            let colour = if grey { "#999" } else { colour };
            format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"{dash}/>\n",
                points.join(" ")
            )
        };
        for row in rows {
            if !rayon.get(row, "1").is_empty() {
                svg += &curve(&rayon, row, true);
            }
            svg += &curve(&results, row, false);
        }
        for cores in &cores {
            let x = left + WIDE * (size(cores) as f64).log2() / most.log2();
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#666\" font-size=\"9\">{cores}</text>",
                top + HIGH + 11.0
            );
        }
    }
    svg.push_str("</svg>\n");
    std::fs::write(to, svg).map_err(|e| format!("{to}: {e}"))
}
