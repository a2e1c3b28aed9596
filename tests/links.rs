//! Every link of the documents leads somewhere. Relative links lead to a file or directory that is
//! there, and an anchor to a heading of that file. (rustdoc checks links in doc comments.)

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_link_leads_somewhere() {
    let mut documents = Vec::new();
    find(Path::new(env!("CARGO_MANIFEST_DIR")), &mut documents);
    let mut broken = Vec::new();
    let mut count = 0;
    for document in &documents {
        let text = fs::read_to_string(document).unwrap();
        for (line, target) in links(&text) {
            count += 1;
            if let Some(why) = complaint(document, &text, &target) {
                broken.push(format!("{}:{line}: {target}: {why}", document.display()));
            }
        }
    }
    assert!(
        documents.len() > 5 && count > 10,
        "the documents were not found"
    );
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

/// All documents below a directory, except what was built.
fn find(directory: &Path, documents: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let built = ["target", "corpus", "artifacts"].contains(&name.as_str());
        if path.is_dir() {
            if !built && !name.starts_with('.') {
                find(&path, documents);
            }
        } else if name.ends_with(".md") {
            documents.push(path);
        }
    }
}

/// The targets of a document's links, each with its line. Code is skipped.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut references = BTreeMap::new();
    let mut used = Vec::new();
    for (at, line) in prose(text) {
        if let Some((name, target)) = definition(&line) {
            references.insert(name.to_lowercase(), ());
            found.push((at, target.to_owned()));
            continue;
        }
        for (open, _) in line.match_indices("](") {
            let rest = &line[open + 2..];
            let end = rest.find([')', ' ']).unwrap_or(rest.len());
            found.push((at, rest[..end].to_owned()));
        }
        for (open, _) in line.match_indices("][") {
            let rest = &line[open + 2..];
            let name = &rest[..rest.find(']').unwrap_or(rest.len())];
            used.push((at, name.to_lowercase()));
        }
    }
    used.retain(|(_, name)| !name.is_empty() && !references.contains_key(name));
    found.extend(used.into_iter().map(|(at, name)| (at, format!("[{name}]"))));
    found
}

/// Lines outside fences, without the text between backticks.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter_map(move |(at, line)| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        let plain = line.split('`').step_by(2).collect::<Vec<_>>().join("");
        (!fenced).then_some((at, plain))
    })
}

/// `[name]: target`
fn definition(line: &str) -> Option<(&str, &str)> {
    let (name, target) = line.strip_prefix('[')?.split_once("]:")?;
    Some((name, target.trim()))
}

/// The fault of a link, if it has one.
fn complaint(document: &Path, text: &str, target: &str) -> Option<String> {
    if target.starts_with('[') {
        return Some("nothing of this name is defined".to_owned());
    }
    // Pages elsewhere are not fetched: a test needs no network. rustdoc checks paths of items.
    if target.contains("://") || target.contains("::") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = document.parent().unwrap().join(file);
    if !path.exists() {
        return Some("there is no such file".to_owned());
    }
    if anchor.is_empty() {
        return None;
    }
    let there = if file.is_empty() {
        text.to_owned()
    } else {
        fs::read_to_string(&path).unwrap_or_default()
    };
    let found = prose_headings(&there).any(|heading| heading == anchor);
    (!found).then(|| "there is no such heading".to_owned())
}

/// The anchors that a document's headings make.
fn prose_headings(text: &str) -> impl Iterator<Item = String> {
    let mut fenced = false;
    text.lines().filter_map(move |line| {
        fenced ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        (!fenced && heading.len() < line.len() && heading.starts_with(' ')).then(|| anchor(heading))
    })
}

fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    let kept: String = heading.trim().chars().filter(kept).collect();
    kept.to_lowercase().replace(' ', "-")
}

#[test]
fn broken_links_are_found() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let why = |target| complaint(&here, "# Any heading, `code`\n", target);
    assert!(why("no/such.md").is_some());
    assert!(why("#no-heading").is_some());
    assert!(why("#any-heading-code").is_none());
    assert!(why("README.md").is_none());
    assert!(why("tests/").is_none());
    let text = "[a](b.md) `[c](d.md)`\n```\n[e](f.md)\n```\n[g][h], [i][j]\n\n[h]: k.md\n";
    let found: Vec<_> = links(text).into_iter().map(|(_, target)| target).collect();
    assert_eq!(found, ["b.md", "k.md", "[j]"]);
}
