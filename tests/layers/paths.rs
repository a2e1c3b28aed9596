//! The paths of a file that start at the crate: `crate::a::b`, `super::a`,
//! `self::a`, and every branch of `use crate::{a, b::{c, d}}`.
//!
//! Code under `#[cfg(test)]` (or any other `cfg` that asks for `test`) is left out.

use crate::lexer::Token;

/// One path into the crate, spelled from its root.
#[derive(Debug, PartialEq)]
pub(crate) struct Path {
    pub(crate) names: Vec<String>,
    /// It ends in `*`.
    pub(crate) glob: bool,
    /// It is re-exported: `pub use`.
    pub(crate) public: bool,
    pub(crate) line: usize,
}

/// The paths into the crate that `tokens`, the file of `module`, name outside tests.
pub(crate) fn paths(module: &str, tokens: &[Token]) -> Vec<Path> {
    let mut walk = Walk {
        tokens,
        at: 0,
        here: module
            .split("::")
            .filter(|name| !name.is_empty())
            .map(String::from)
            .collect(),
        depth: 0,
        inline: Vec::new(),
        public: false,
        out: Vec::new(),
    };
    while walk.at < tokens.len() {
        walk.step();
    }
    walk.out
}

struct Walk<'a> {
    tokens: &'a [Token],
    at: usize,
    /// The module that the walk is in.
    here: Vec<String>,
    /// How many braces are open.
    depth: usize,
    /// The depths at which the inline modules that the walk is in were opened.
    inline: Vec<usize>,
    /// Inside the tree of a `pub use`.
    public: bool,
    out: Vec<Path>,
}

impl Walk<'_> {
    fn text(&self, ahead: usize) -> &str {
        self.tokens
            .get(self.at + ahead)
            .map_or("", |token| token.text.as_str())
    }

    fn step(&mut self) {
        match self.text(0) {
            "#" if self.text(1) == "[" => return self.attribute(),
            "mod" if self.text(2) == "{" => {
                self.inline.push(self.depth);
                self.here.push(self.text(1).to_owned());
                self.depth += 1;
                self.at += 3;
                return;
            }
            "use" => self.public = self.at > 0 && self.exported(),
            ";" => self.public = false,
            "{" => self.depth += 1,
            "}" => self.close(),
            "crate" | "super" | "self" if self.text(1) == "::" && self.starts_a_path() => {
                return self.path();
            }
            _ => {}
        }
        self.at += 1;
    }

    /// Whether the `use` here has `pub`, or `pub(…)`, before it.
    fn exported(&self) -> bool {
        let before = &self.tokens[..self.at];
        let last = |n: usize| {
            before
                .iter()
                .rev()
                .nth(n)
                .map_or("", |token| token.text.as_str())
        };
        last(0) == "pub" || (last(0) == ")" && before.iter().rev().take(8).any(|t| t.text == "pub"))
    }

    /// Not the tail of another path, and not the `pub(in …)` of an item.
    fn starts_a_path(&self) -> bool {
        self.at == 0 || !matches!(self.tokens[self.at - 1].text.as_str(), "::" | "in")
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.inline.last() == Some(&self.depth) {
            self.inline.pop();
            self.here.pop();
        }
    }

    /// Steps over an attribute, and over the item that follows if it is for tests.
    fn attribute(&mut self) {
        let from = self.at;
        self.at += 1;
        self.over_group("[", "]");
        let words = &self.tokens[from..self.at];
        let says = |word: &str| words.iter().any(|token| token.text == word);
        if words.get(2).is_some_and(|t| t.text == "cfg") && says("test") && !says("not") {
            self.item();
        }
    }

    /// Steps over one item: up to its `;`, or over its braces.
    fn item(&mut self) {
        while self.at < self.tokens.len() {
            match self.text(0) {
                "{" => return self.over_group("{", "}"),
                "(" => self.over_group("(", ")"),
                "[" => self.over_group("[", "]"),
                // the last variant, field or arm of its surroundings
                ";" | "," => {
                    self.at += 1;
                    return;
                }
                "}" => return,
                _ => self.at += 1,
            }
        }
    }

    /// Steps over a group that opens here, and all groups of its kind inside.
    fn over_group(&mut self, open: &str, close: &str) {
        let mut depth = 0_usize;
        while self.at < self.tokens.len() {
            let text = self.text(0);
            let (opens, closes) = (text == open, text == close);
            self.at += 1;
            depth += usize::from(opens);
            depth -= usize::from(closes);
            if depth == 0 {
                return;
            }
        }
    }

    /// Reads the path that starts here; `super` and `self` are spelled out.
    fn path(&mut self) {
        let mut names = match self.text(0) {
            "crate" => Vec::new(),
            _ => self.here.clone(),
        };
        if self.text(0) == "super" {
            names.pop();
        }
        self.at += 2;
        while self.text(0) == "super" && self.text(1) == "::" {
            names.pop();
            self.at += 2;
        }
        self.branch(names);
    }

    /// Reads the rest of a path after `names::`: one name, `*`, or a group of branches.
    fn branch(&mut self, mut names: Vec<String>) {
        loop {
            let line = self.tokens.get(self.at).map_or(0, |token| token.line);
            let (mut end, mut glob) = (true, false);
            match self.text(0) {
                "{" => return self.branches(&names),
                "*" => glob = true,
                "self" => {}
                // a turbofish, or a macro's variable
                "<" | "$" | "" => {}
                _ => {
                    names.push(self.text(0).to_owned());
                    end = self.text(1) != "::";
                }
            }
            self.at += if end { 1 } else { 2 };
            if end {
                return self.out.push(Path {
                    names,
                    glob,
                    public: self.public,
                    line,
                });
            }
        }
    }

    /// Reads `{a, b::c, …}`.
    fn branches(&mut self, names: &[String]) {
        self.at += 1;
        while !matches!(self.text(0), "}" | "") {
            match self.text(0) {
                "," => self.at += 1,
                // `{a as b}`
                "as" => self.at += 2,
                _ => self.branch(names.to_vec()),
            }
        }
        self.at += 1;
    }
}
