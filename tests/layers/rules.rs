//! The rules of the house, applied to one crate at a time.
//!
//! Works on text alone: a path is looked up in the table, never in the
//! compiler, so a module that is spelled like another one is that other one.

use crate::lexer::{Token, tokens};
use crate::paths::paths;

/// What the rules know of a crate.
pub(crate) struct Crate {
    /// The directory that holds `lib.rs`, from the root of the workspace.
    pub(crate) source: &'static str,
    /// Modules, lowest layer first. A module stands for all modules below it that are not in the table
    /// themselves; modules of one layer may not import each other.
    pub(crate) layers: &'static [&'static [&'static str]],
    /// Modules (and what is below them) that may look up: their paths are not checked.
    pub(crate) may_look_up: &'static [&'static str],
    /// Modules (and what is below them) that may hold unsafe code.
    pub(crate) may_be_unsafe: &'static [&'static str],
    /// Modules that are compiled for tests only, by their last name.
    pub(crate) for_tests: &'static [&'static str],
}

/// One file of a crate: its path from `source`, and its text.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Everything that `files` do against the rules of `house`.
pub(crate) fn complaints(house: &Crate, files: &[File]) -> Vec<String> {
    let known: Vec<String> = files.iter().map(|file| module_of(&file.path)).collect();
    let texts: Vec<Vec<Token>> = files.iter().map(|file| tokens(&file.text)).collect();
    let forbidding: Vec<&str> = known
        .iter()
        .zip(&texts)
        .filter(|(_, tokens)| forbids_unsafe(tokens))
        .map(|(module, _)| module.as_str())
        .collect();
    let mut found = Vec::new();
    for ((file, module), tokens) in files.iter().zip(&known).zip(&texts) {
        let mut say = |line: usize, what: String| {
            found.push(format!("{}/{}:{line}: {what}", house.source, file.path));
        };
        if house.is_test(module) {
            continue;
        }
        if !module.is_empty() && house.layer(module).is_none() {
            say(1, format!("module `{module}` is in no layer"));
        }
        for (line, what) in unsafe_code(house, module, &forbidding, tokens) {
            say(line, what);
        }
        for (line, what) in imports(house, module, &known, tokens) {
            say(line, what);
        }
    }
    found
}

impl Crate {
    /// The entry of the table that `module` falls under, and its layer.
    fn layer(&self, module: &str) -> Option<(&'static str, usize)> {
        let entries = self.layers.iter().enumerate();
        entries
            .flat_map(|(layer, entries)| entries.iter().map(move |&entry| (entry, layer)))
            .filter(|(entry, _)| is_within(module, entry))
            .max_by_key(|(entry, _)| entry.len())
    }

    fn is_test(&self, module: &str) -> bool {
        module
            .split("::")
            .any(|name| self.for_tests.contains(&name))
    }
}

/// `deque::nested` for `deque/nested.rs`, `deque` for `deque/mod.rs`, nothing for `lib.rs`.
fn module_of(path: &str) -> String {
    let path = path.trim_end_matches(".rs").replace('/', "::");
    match path.as_str() {
        "lib" | "main" => String::new(),
        path => path.trim_end_matches("::mod").to_owned(),
    }
}

/// Whether `module` is `ancestor` or below it.
fn is_within(module: &str, ancestor: &str) -> bool {
    let rest = module.strip_prefix(ancestor);
    ancestor.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Whether a file forbids unsafe code in itself and all below it.
fn forbids_unsafe(tokens: &[Token]) -> bool {
    let forbids = ["#", "!", "[", "forbid", "(", "unsafe_code", ")", "]"];
    tokens
        .windows(forbids.len())
        .any(|window| window.iter().map(|token| token.text.as_str()).eq(forbids))
}

/// Unsafe code in a module that may hold none, and a module that neither
/// forbids it nor is below one of those that do, `forbidding`.
fn unsafe_code(
    house: &Crate,
    module: &str,
    forbidding: &[&str],
    tokens: &[Token],
) -> Vec<(usize, String)> {
    let rooms = house.may_be_unsafe;
    if rooms.iter().any(|room| is_within(module, room)) {
        return Vec::new();
    }
    let mut found: Vec<_> = tokens
        .iter()
        .filter(|token| token.text == "unsafe")
        .map(|token| {
            (
                token.line,
                "unsafe code in a module that may hold none".to_owned(),
            )
        })
        .collect();
    // above a room where unsafe code may be, nothing can forbid it
    let above_a_room = rooms.iter().any(|room| is_within(room, module));
    if !above_a_room && !forbidding.iter().any(|other| is_within(module, other)) {
        found.push((1, "lacks #![forbid(unsafe_code)]".into()));
    }
    found
}

/// Paths to a module that is in no lower layer, and imports of everything.
fn imports(
    house: &Crate,
    module: &str,
    known: &[String],
    tokens: &[Token],
) -> Vec<(usize, String)> {
    let own = house.layer(module);
    let facade = module.is_empty();
    let may_look_up = house
        .may_look_up
        .iter()
        .any(|entry| is_within(module, entry));
    let mut found = Vec::new();
    for path in paths(module, tokens) {
        if path.glob && !path.public {
            found.push((
                path.line,
                "imports everything: name what you need".to_owned(),
            ));
        }
        if facade || may_look_up {
            continue;
        }
        let target = longest_known(&path.names, known, house);
        if is_within(&target, module) {
            continue;
        }
        let spelled = path.names.join("::");
        match (own, house.layer(&target)) {
            _ if target.is_empty() => {
                found.push((
                    path.line,
                    format!("`{spelled}` is reached through the root"),
                ));
            }
            (Some((_, here)), Some((_, there))) if there >= here => {
                found.push((
                    path.line,
                    format!("`{spelled}` (layer {there}) is not below `{module}` (layer {here})"),
                ));
            }
            _ => {}
        }
    }
    found
}

/// The module that a path of `names` leads into: its longest beginning that is
/// a file or stands in the table.
fn longest_known(names: &[String], known: &[String], house: &Crate) -> String {
    let in_table = |path: &String| {
        house
            .layers
            .iter()
            .any(|layer| layer.contains(&path.as_str()))
    };
    (0..=names.len())
        .rev()
        .map(|length| names[..length].join("::"))
        .find(|path| known.contains(path) || in_table(path))
        .unwrap_or_default()
}
