//! Rust source as a stream of words and signs, without comments and literals.
//!
//! Just enough of a lexer to look for paths: identifiers stay whole, `::` is one
//! token, everything else is one character. Strings, characters and numbers
//! vanish, so that nothing they say is taken for code.

/// One identifier or sign of a source file and the line it stands on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// The tokens of `source`, in order.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut lexer = Lexer {
        rest: source,
        line: 1,
        out: Vec::new(),
    };
    while lexer.step() {}
    lexer.out
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    out: Vec<Token>,
}

impl Lexer<'_> {
    /// Consumes one token, blank or literal; false at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else {
            return false;
        };
        if self.rest.starts_with("//") {
            self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
        } else if self.rest.starts_with("/*") {
            self.skip(block_comment(self.rest));
        } else if let Some(length) = raw_string(self.rest) {
            self.skip(length);
        } else if first == '"' || self.rest.starts_with("b\"") || self.rest.starts_with("c\"") {
            self.skip(string(self.rest));
        } else if first == '\'' || self.rest.starts_with("b'") {
            self.skip(quote(self.rest));
        } else if first.is_alphabetic() || first == '_' {
            let raw = if self.rest.starts_with("r#") { 2 } else { 0 };
            self.skip(raw);
            let name = |c: char| c.is_alphanumeric() || c == '_';
            self.emit(self.rest.find(|c| !name(c)).unwrap_or(self.rest.len()));
        } else if first.is_ascii_digit() {
            let number = |c: char| c.is_alphanumeric() || c == '_';
            self.skip(self.rest.find(|c| !number(c)).unwrap_or(self.rest.len()));
        } else if self.rest.starts_with("::") {
            self.emit(2);
        } else if first.is_whitespace() {
            self.skip(first.len_utf8());
        } else {
            self.emit(first.len_utf8());
        }
        true
    }

    fn emit(&mut self, length: usize) {
        let text = self.rest[..length].to_owned();
        self.out.push(Token {
            text,
            line: self.line,
        });
        self.skip(length);
    }

    fn skip(&mut self, length: usize) {
        let (gone, rest) = self.rest.split_at(length);
        self.line += gone.matches('\n').count();
        self.rest = rest;
    }
}

/// Length of the comment, other comments inside it included, that `text` opens with.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// Length of the raw string that `text` opens with, if it does.
fn raw_string(text: &str) -> Option<usize> {
    let body = ["r", "br", "cr"].iter().find_map(|prefix| {
        let rest = text.strip_prefix(prefix)?;
        rest.trim_start_matches('#')
            .starts_with('"')
            .then_some(rest)
    })?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let close = format!("\"{}", "#".repeat(hashes));
    let start = text.len() - body.len() + hashes + 1;
    Some(
        text[start..]
            .find(&close)
            .map_or(text.len(), |at| start + at + close.len()),
    )
}

/// Length of the string literal, prefix included, that `text` opens with.
fn string(text: &str) -> usize {
    let open = text.find('"').expect("the caller saw a quote") + 1;
    let mut escaped = false;
    for (at, c) in text[open..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return open + at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of the character literal that `text` opens with, or of the mere
/// quote and its name if it is a lifetime.
fn quote(text: &str) -> usize {
    let open = text.find('\'').expect("the caller saw a quote") + 1;
    let body = &text[open..];
    let mut chars = body.char_indices();
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((_, escaped))) => {
            let from = 1 + escaped.len_utf8();
            open + body[from..]
                .find('\'')
                .map_or(body.len(), |at| from + at + 1)
        }
        (Some(_), Some((at, '\''))) => open + at + 1,
        _ => {
            open + body
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(body.len())
        }
    }
}
