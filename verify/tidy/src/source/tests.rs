//! Tests of the lexer: what is code, what is not, what is a test, where functions end.

use super::*;

fn code_of(text: &str) -> String {
    let source = Source::lex("crates/x/src/a.rs", text);
    assert_eq!(source.code().len(), text.len());
    source
        .code()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn comments_and_literals_are_blanked() {
    let rows: &[(&str, &str)] = &[
        ("a // b\nc", "a c"),
        ("a /* b /* c */ d */ e", "a e"),
        ("a(\"b \\\" c\") d", "a(\" \") d"),
        ("a(r#\"b \" c\"#) d", "a(r#\" \"#) d"),
        ("a(br\"b\\\") d", "a(br\" \") d"),
        ("a('\\'') b", "a(' ') b"),
        ("a('\"') b(\"c\")", "a(' ') b(\" \")"),
        ("a(b'\"') b", "a(b' ') b"),
        ("fn a<'b>(c: &'b str) {}", "fn a<'b>(c: &'b str) {}"),
        ("let r#type = 1;", "let r#type = 1;"),
        ("a('é') // ü\nb", "a(' ') b"),
        ("\"unclosed", "\""),
        ("/* unclosed", ""),
    ];
    for (text, expected) in rows {
        assert_eq!(code_of(text), *expected, "{text}");
    }
}

#[test]
fn literals_are_kept_with_their_places() {
    let text = "f(\"one\", b\"two\", 'x')";
    let source = Source::lex("a.rs", text);
    let texts: Vec<&str> = source.literals().iter().map(|l| l.text.as_str()).collect();
    assert_eq!(texts, ["one", "two", "x"]);
    for literal in source.literals() {
        assert!(text[literal.offset..].starts_with(&literal.text));
    }
}

#[test]
fn test_regions() {
    let text = "fn real() {}\n#[cfg(test)]\nmod tests {\n fn t() {}\n}\nfn after() {}\n#[test]\nfn alone() { x }\nfn last() {}\n";
    let source = Source::lex("crates/x/src/a.rs", text);
    let is_test = |word: &str| source.is_test_at(text.find(word).expect("in the sample"));
    assert!(!is_test("real"));
    assert!(is_test("t()"));
    assert!(!is_test("after"));
    assert!(is_test("alone"));
    assert!(!is_test("last"));
}

#[test]
fn attributes_that_make_tests() {
    let rows = [
        ("#[cfg(test)]", true),
        ("#[cfg( all( test, unix ) )]", true),
        ("#[test]", true),
        ("#[tokio::test]", true),
        ("#[tokio::test(flavor = \"multi_thread\")]", true),
        ("#[cfg(not(test))]", false),
        ("#[cfg(feature = \"test\")]", false),
        ("#[derive(Debug)]", false),
        ("#[must_use]", false),
    ];
    for (attribute, expected) in rows {
        let text = format!("{attribute}\n#[allow(dead_code)]\nfn a() {{ inside }}\n");
        let source = Source::lex("crates/x/src/a.rs", &text);
        let inside = text.find("inside").expect("in the sample");
        assert_eq!(source.is_test_at(inside), expected, "{attribute}");
    }
}

#[test]
fn a_test_field_ends_at_its_comma() {
    let text = "struct A {\n #[cfg(test)]\n hook: u8,\n real: u8,\n}\n";
    let source = Source::lex("crates/x/src/a.rs", text);
    assert!(source.is_test_at(text.find("hook").expect("in the sample")));
    assert!(!source.is_test_at(text.find("real").expect("in the sample")));
}

#[test]
fn whole_files_that_are_tests() {
    assert!(Source::lex("crates/x/tests/a.rs", "fn a() {}").is_test_at(0));
    assert!(Source::lex("crates/x/benches/a.rs", "fn a() {}").is_test_at(0));
    assert!(Source::lex("crates/x/src/a.rs", "#![cfg(test)]\nfn a() {}").is_test_at(16));
    assert!(!Source::lex("crates/x/src/a.rs", "fn a() {}").is_test_at(0));
}

#[test]
fn functions_and_their_lengths() {
    let text = "pub async fn one<const N: usize>(a: [u8; 3]) -> [u8; { N }]\nwhere\n    A: B,\n{\n    c\n}\ntrait T { fn none(&self); }\ntype F = fn(u8) -> u8;\nfn short() {}\nimpl X { fn inner() {\n fn nested() {\n }\n} }\n";
    let source = Source::lex("a.rs", text);
    let found: Vec<(String, usize, usize)> = source
        .functions()
        .into_iter()
        .map(|f| (f.name, f.line, f.lines))
        .collect();
    assert_eq!(
        found,
        [
            ("one".to_owned(), 1, 6),
            ("short".to_owned(), 9, 1),
            ("inner".to_owned(), 10, 4),
            ("nested".to_owned(), 11, 2),
        ]
    );
}

#[test]
fn use_trees_are_expanded() {
    let text = "use std::{fs, io::{self, Read as R}, time::Duration};\nuse std::thread as t;\nuse a::b::*;\npub use ::std::net;\nfn f() -> impl A + use<'_> { x }\n";
    let source = Source::lex("a.rs", text);
    let found: Vec<(String, Option<String>)> = source
        .imports()
        .into_iter()
        .map(|i| (i.path, i.alias))
        .collect();
    let expected: Vec<(String, Option<String>)> = [
        ("std::fs", None),
        ("std::io", None),
        ("std::io::Read", Some("R")),
        ("std::time::Duration", None),
        ("std::thread", Some("t")),
        ("a::b::*", None),
        ("std::net", None),
    ]
    .into_iter()
    .map(|(path, alias)| (path.to_owned(), alias.map(str::to_owned)))
    .collect();
    assert_eq!(found, expected);
}

#[test]
fn words_are_whole() {
    let code = "brand::x rand::y operand rand";
    assert_eq!(find_word(code, "rand"), [9, 25]);
    assert_eq!(find_word("x.unwrap()  y.unwrap_or()", ".unwrap()"), [1]);
}

#[test]
fn lines_are_counted_from_one() {
    let source = Source::lex("a.rs", "a\nb\n\nc");
    assert_eq!(source.line_of(0), 1);
    assert_eq!(source.line_of(2), 2);
    assert_eq!(source.line_of(5), 4);
    assert_eq!(source.lines(), 4);
}
