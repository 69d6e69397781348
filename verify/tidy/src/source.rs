//! A Rust file cut into code, comments and literals, with its test regions and functions.
//!
//! Invariants: `code` has exactly the length and the line breaks of the text; every byte of a comment
//! and of the inside of a literal is a blank in it, so that an offset found in `code` is an offset in
//! the text, and a word found in `code` is really code.

use std::ops::Range;

/// A literal's place and its inside, as written (escapes not resolved).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Offset of the first byte inside the quotes.
    pub offset: usize,
    /// Text between the quotes.
    pub text: String,
}

/// A function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, without path.
    pub name: String,
    /// Offset of the `fn` keyword.
    pub offset: usize,
    /// Line of the `fn` keyword.
    pub line: usize,
    /// Lines from the `fn` keyword to the closing brace, both included.
    pub lines: usize,
}

/// One path brought in by a `use` declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Offset of the `use` keyword.
    pub offset: usize,
    /// Full path, groups expanded: `use std::{fs, io}` gives two imports.
    pub path: String,
    /// The name after `as`.
    pub alias: Option<String>,
}

/// A lexed Rust file.
#[derive(Clone, Debug)]
pub struct Source {
    path: String,
    text: String,
    code: String,
    line_starts: Vec<usize>,
    literals: Vec<Literal>,
    tests: Vec<Range<usize>>,
    test_modules: Vec<String>,
}

impl Source {
    /// Lexes `text`, the contents of `path`.
    pub fn lex(path: &str, text: &str) -> Self {
        let (code, literals) = blank(text);
        let mut line_starts = vec![0];
        line_starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        let mut source = Source {
            path: path.to_owned(),
            text: text.to_owned(),
            code,
            line_starts,
            literals,
            tests: Vec::new(),
            test_modules: Vec::new(),
        };
        source.find_tests();
        let in_test_folder = ["/tests/", "/benches/", "/fuzz_targets/"]
            .iter()
            .any(|folder| path.contains(folder));
        if in_test_folder {
            source.mark_as_test();
        }
        source
    }

    /// Path from the repository's root.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The text as read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text with comments and the insides of literals blanked.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// String, byte string, C string and character literals.
    pub fn literals(&self) -> &[Literal] {
        &self.literals
    }

    /// Number of lines.
    pub fn lines(&self) -> usize {
        self.text.lines().count()
    }

    /// 1-based line of a byte offset.
    pub fn line_of(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    /// Whether the offset lies in a test file, a test module or a test function.
    pub fn is_test_at(&self, offset: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&offset))
    }

    /// Files of the modules declared as `#[cfg(test)] mod name;`, without `.rs`.
    pub fn test_modules(&self) -> &[String] {
        &self.test_modules
    }

    /// Makes the whole file a test region.
    pub fn mark_as_test(&mut self) {
        let whole = 0..self.text.len() + 1;
        self.tests = vec![whole];
    }

    /// Folder in which the files of this file's child modules lie.
    fn module_folder(&self) -> String {
        let file = self.path.rsplit('/').next().unwrap_or(&self.path);
        match file {
            "lib.rs" | "main.rs" | "mod.rs" => self.folder().to_owned(),
            _ => format!("{}/{}", self.folder(), file.trim_end_matches(".rs")),
        }
    }

    fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The file named by `#[path = "file.rs"]` among the attributes in `range`, without `.rs`.
    fn path_attribute(&self, range: Range<usize>) -> Option<&str> {
        self.literals
            .iter()
            .filter(|literal| range.contains(&literal.offset))
            .find(|literal| {
                let before = self.code[..literal.offset].trim_end_matches('"').trim_end();
                let name = before.strip_suffix('=').map(str::trim_end);
                name.is_some_and(|name| name.ends_with("[path"))
            })
            .map(|literal| literal.text.trim_end_matches(".rs"))
    }

    /// Offsets of `needle` in the code where it is not part of a longer word or path.
    pub fn find(&self, needle: &str) -> Vec<usize> {
        find_word(&self.code, needle)
    }

    /// All functions that have a body.
    pub fn functions(&self) -> Vec<Function> {
        let code = self.code.as_bytes();
        let mut functions = Vec::new();
        for at in self.find("fn") {
            let name_at = skip_blanks(code, at + 2);
            let name_end = word_end(code, name_at);
            let Some(body) = (name_end > name_at)
                .then(|| body_of(code, name_end))
                .flatten()
            else {
                continue;
            };
            let line = self.line_of(at);
            functions.push(Function {
                name: self.code[name_at..name_end].to_owned(),
                offset: at,
                line,
                lines: self.line_of(body.end - 1) + 1 - line,
            });
        }
        functions
    }

    /// All `use` declarations, groups expanded.
    pub fn imports(&self) -> Vec<Import> {
        let mut imports = Vec::new();
        for offset in self.find("use") {
            let rest = &self.code[offset + 3..];
            let Some(end) = rest.find(';') else { continue };
            let tree: String = rest[..end].split_whitespace().collect::<Vec<_>>().join(" ");
            // `use<'a>` in a bound is no declaration.
            if !tree.starts_with('<') {
                expand("", &tree, offset, &mut imports);
            }
        }
        imports
    }

    fn find_tests(&mut self) {
        let code = self.code.as_bytes();
        let mut at = 0;
        while let Some(found) = self.code[at..].find('#') {
            let hash = at + found;
            at = hash + 1;
            let inner = code.get(hash + 1) == Some(&b'!');
            let open = hash + 1 + usize::from(inner);
            if code.get(open) != Some(&b'[') {
                continue;
            }
            let Some(close) = matching(code, open) else {
                continue;
            };
            let attribute: String = self.code[open + 1..close].split_whitespace().collect();
            if !is_test_attribute(&attribute) {
                continue;
            }
            if inner {
                self.tests.push(0..code.len() + 1);
                continue;
            }
            let item = skip_attributes(code, close + 1);
            let end = item_end(code, item);
            if let Some(name) = out_of_line_module(&self.code[item..end]) {
                let file = match self.path_attribute(hash..item) {
                    Some(path) => format!("{}/{path}", self.folder()),
                    None => format!("{}/{name}", self.module_folder()),
                };
                self.test_modules.push(file);
            }
            self.tests.push(hash..end);
            at = end;
        }
    }
}

/// Offsets of `needle` in `code` where neither neighbour continues a word, and no `::` or `.` precedes
/// a needle that starts a path.
pub fn find_word(code: &str, needle: &str) -> Vec<usize> {
    let bytes = code.as_bytes();
    let starts_word = needle.as_bytes().first().is_some_and(|b| is_word(*b));
    let ends_word = needle.as_bytes().last().is_some_and(|b| is_word(*b));
    code.match_indices(needle)
        .map(|(at, _)| at)
        .filter(|at| {
            let before = at.checked_sub(1).and_then(|i| bytes.get(i)).copied();
            let after = bytes.get(at + needle.len()).copied();
            let glued_before = starts_word && before.is_some_and(is_word);
            let glued_after = ends_word && after.is_some_and(is_word);
            !glued_before && !glued_after
        })
        .collect()
}

/// Whether the byte may be part of an identifier.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_test_attribute(attribute: &str) -> bool {
    attribute == "cfg(test)"
        || attribute.starts_with("cfg(all(test,")
        || attribute == "test"
        || attribute.ends_with("::test")
        || attribute.contains("::test(")
}

/// Blanks comments and the insides of literals; returns the literals.
fn blank(text: &str) -> (String, Vec<Literal>) {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut literals = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"//") {
            let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            erase(&mut code, at..at + end);
            at += end;
        } else if rest.starts_with(b"/*") {
            let end = at + block_comment_length(rest);
            erase(&mut code, at..end);
            at = end;
        } else if let Some((inside, end)) = literal(bytes, at) {
            literals.push(Literal {
                offset: inside.start,
                text: text[inside.clone()].to_owned(),
            });
            erase(&mut code, inside);
            at = end;
        } else if is_word(bytes[at]) {
            at = word_end(bytes, at);
        } else {
            at += 1;
        }
    }
    // Only whole characters are erased, each byte by a blank, so this cannot lose anything.
    (String::from_utf8_lossy(&code).into_owned(), literals)
}

fn erase(code: &mut [u8], range: Range<usize>) {
    for byte in &mut code[range] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

fn block_comment_length(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0usize, 0usize);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// If a literal starts at `at`: the range inside its quotes and the offset behind it.
fn literal(bytes: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    let rest = &bytes[at..];
    if rest[0] == b'\'' {
        return character(bytes, at);
    }
    let prefix = ["br", "cr", "b", "c", "r", ""].iter().find(|p| {
        rest.starts_with(p.as_bytes()) && matches!(rest.get(p.len()), Some(b'"' | b'#' | b'\''))
    })?;
    let mut quote = at + prefix.len();
    let raw = prefix.ends_with('r');
    if *prefix == "b" && bytes[quote] == b'\'' {
        return character(bytes, quote);
    }
    let hashes = bytes[quote..].iter().take_while(|b| **b == b'#').count();
    if hashes > 0 && !raw {
        return None;
    }
    quote += hashes;
    if bytes.get(quote) != Some(&b'"') {
        return None;
    }
    let start = quote + 1;
    let mut end = start;
    while end < bytes.len() {
        if !raw && bytes[end] == b'\\' {
            end += 2;
            continue;
        }
        let closing = &bytes[end + 1..];
        if bytes[end] == b'"' && closing.iter().take_while(|b| **b == b'#').count() >= hashes {
            return Some((start..end, end + 1 + hashes));
        }
        end += 1;
    }
    Some((start..bytes.len(), bytes.len()))
}

/// A character literal at the quote `at`; a lifetime is none.
fn character(bytes: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    let start = at + 1;
    if bytes.get(start) == Some(&b'\\') {
        let end = start + 2 + bytes.get(start + 2..)?.iter().position(|b| *b == b'\'')?;
        return Some((start..end, end + 1));
    }
    let first = *bytes.get(start)?;
    let width = match first {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    };
    (bytes.get(start + width) == Some(&b'\'')).then_some((start..start + width, start + width + 1))
}

fn word_end(code: &[u8], at: usize) -> usize {
    code[at..]
        .iter()
        .position(|b| !is_word(*b))
        .map_or(code.len(), |n| at + n)
}

fn skip_blanks(code: &[u8], at: usize) -> usize {
    code[at..]
        .iter()
        .position(|b| !b.is_ascii_whitespace())
        .map_or(code.len(), |n| at + n)
}

fn skip_attributes(code: &[u8], from: usize) -> usize {
    let mut at = skip_blanks(code, from);
    while code.get(at) == Some(&b'#') && code.get(at + 1) == Some(&b'[') {
        match matching(code, at + 1) {
            Some(close) => at = skip_blanks(code, close + 1),
            None => return at,
        }
    }
    at
}

/// Offset of the bracket that closes the one at `open`.
fn matching(code: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in code.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// From behind a function's name: the range of its body, braces included; `None` without body.
fn body_of(code: &[u8], from: usize) -> Option<Range<usize>> {
    let mut at = from;
    while at < code.len() {
        match code[at] {
            b'(' | b'[' => at = matching(code, at)? + 1,
            b'{' => return Some(at..matching(code, at)? + 1),
            b';' => return None,
            _ => at += 1,
        }
    }
    None
}

/// End of the item, field or statement that starts at `from`.
fn item_end(code: &[u8], from: usize) -> usize {
    const ITEMS: &[&str] = &[
        "pub",
        "mod",
        "fn",
        "use",
        "impl",
        "struct",
        "enum",
        "const",
        "static",
        "type",
        "trait",
        "async",
        "unsafe",
        "extern",
        "macro_rules",
        "let",
        "union",
    ];
    let word = &code[from..word_end(code, from)];
    let item = ITEMS.iter().any(|known| known.as_bytes() == word);
    let mut at = from;
    while at < code.len() {
        match code[at] {
            b'(' | b'[' => at = matching(code, at).map_or(code.len(), |close| close + 1),
            b'{' => return matching(code, at).map_or(code.len(), |close| close + 1),
            b';' => return at + 1,
            b',' | b'}' | b')' if !item => return at,
            _ => at += 1,
        }
    }
    code.len()
}

/// `mod name;`, with or without visibility, gives `name`.
fn out_of_line_module(item: &str) -> Option<String> {
    let declaration = item.trim().strip_suffix(';')?;
    let mut words = declaration.split_whitespace().rev();
    let name = words.next()?;
    (words.next() == Some("mod")).then(|| name.to_owned())
}

/// Expands a use tree; `prefix` ends with `::` or is empty.
fn expand(prefix: &str, tree: &str, offset: usize, into: &mut Vec<Import>) {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let inside = tree[open + 1..].trim_end().trim_end_matches('}');
        // Only the brace that matches `open` may go: count what was trimmed too much.
        let missing = inside
            .matches('{')
            .count()
            .saturating_sub(inside.matches('}').count());
        let inside = format!("{inside}{}", "}".repeat(missing));
        let head = format!("{prefix}{}", tree[..open].replace(' ', ""));
        for part in split_outside_braces(&inside) {
            expand(&head, part, offset, into);
        }
        return;
    }
    if tree.is_empty() {
        return;
    }
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim().to_owned())),
        None => (tree, None),
    };
    let path = format!("{prefix}{}", path.replace(' ', ""));
    let path = path.strip_suffix("::self").unwrap_or(&path);
    into.push(Import {
        offset,
        path: path.trim_start_matches("::").to_owned(),
        alias,
    });
}

fn split_outside_braces(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0usize, 0usize, Vec::new());
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests;
