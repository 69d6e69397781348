//! Every row of `docs/lost-messages.md` names what guards it, and what it names exists: a test function,
//! or a bug that the simulator or the explorer of interleavings has to find. Every planted bug, in turn, is
//! in a row: a bug that nobody could explain to an operator proves nothing.

use std::collections::BTreeSet;

use crate::source::{Function, Source};
use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "guards";

const PAGE: &str = "docs/lost-messages.md";
/// Tables of planted bugs: the simulator's, and the explorer's of interleavings.
const PLANTED: [&str; 2] = [
    "verify/sim/src/planted.rs",
    "verify/interleave/src/planted.rs",
];

/// Finds rows without a guard, guards that do not exist, and planted bugs without a row.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let Some(page) = repository.text(PAGE) else {
        return Vec::new();
    };
    let tests = tests(repository);
    let planted = planted(repository);
    let mut found = Vec::new();
    let mut named = BTreeSet::new();
    for (index, line) in page.lines().enumerate() {
        let Some(guards) = last_cell(line) else {
            continue;
        };
        let names: Vec<&str> = guards.split('`').skip(1).step_by(2).collect();
        if names.is_empty() && guards != "—" {
            let message = "name the test or planted bug that guards this row, in backquotes; or write — and say why in the row";
            found.push(Violation::new(NAME, PAGE, index + 1, message));
        }
        for name in names {
            if !tests.contains(name) && !planted.contains(name) {
                let message = format!(
                    "`{name}` is neither a test nor a planted bug; name the one that guards this row"
                );
                found.push(Violation::new(NAME, PAGE, index + 1, message));
            }
            named.insert(name);
        }
    }
    for bug in planted.iter().filter(|bug| !named.contains(bug.as_str())) {
        let message = format!("planted bug `{bug}` guards no row of {PAGE}; give it one");
        found.push(Violation::new(NAME, PLANTED[0], 0, message));
    }
    found
}

/// The last cell of a table row with three cells, but not of a table's head.
fn last_cell(line: &str) -> Option<&str> {
    let row = line.strip_prefix('|')?.strip_suffix('|')?;
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    match cells.as_slice() {
        [_, _, last] if *last != "guarded by" && !last.starts_with("---") => Some(last),
        _ => None,
    }
}

/// Names of functions marked as tests.
fn tests(repository: &Repository) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for source in repository.sources() {
        let code = source.code();
        for function in source.functions() {
            let before = code[..function.offset].trim_end();
            let before = before.strip_suffix("async").unwrap_or(before).trim_end();
            let attribute = before.rfind("#[").map_or("", |at| &before[at..]);
            if before.ends_with(']') && attribute.contains("test") {
                names.insert(function.name);
            }
        }
    }
    names
}

/// What names of planted bugs stand behind: `name:`, or a call of a function of the table's file whose first parameter is
/// the name, such as `engine("...", ...)`.
fn makers(source: &Source) -> Vec<String> {
    let code = source.code();
    let of_name = |function: &Function| {
        let (_, parameters) = code[function.offset..].split_once('(')?;
        let is_maker = parameters.trim_start().starts_with("name: &'static str");
        is_maker.then(|| format!("{}(", function.name))
    };
    let functions = source.functions();
    let makers = functions.iter().filter_map(of_name);
    makers.chain(["name:".to_owned()]).collect()
}

/// Names in the tables of planted bugs.
fn planted(repository: &Repository) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let sources = repository.sources().iter();
    for source in sources.filter(|s| PLANTED.contains(&s.path())) {
        let makers = makers(source);
        for literal in source.literals() {
            let before = source.code()[..literal.offset]
                .trim_end_matches('"')
                .trim_end();
            let called = |maker: &String| {
                let rest = before.strip_suffix(maker.as_str());
                rest.is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
            };
            if makers.iter().any(called) {
                names.insert(literal.text.clone());
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str =
        "#[test]\nfn a_test() {}\n#[tokio::test]\nasync fn another() {}\nfn no_test() {}\n";
    const BUGS: &str = "const fn engine(name: &'static str, bug: Bug) -> X {\n    X { name, bug }\n}\n\
        const fn solo(\n    name: &'static str,\n    bug: Bug,\n) -> X {\n    engine(name, bug)\n}\n\
        const P: &[X] = &[X { name: \"lose\" }, engine(\"double\", B), solo(\"late\", B), other(\"no bug\")];\n";

    fn findings(rows: &str) -> Vec<String> {
        let page = format!("| how | what | guarded by |\n| --- | --- | --- |\n{rows}");
        let repository = Repository::from_files(&[
            ("crates/x/tests/a.rs", SOURCE),
            (PLANTED[0], BUGS),
            (PAGE, &page),
        ]);
        check(&repository).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn guarded_rows_are_silent() {
        let rows = "| a | b | `a_test`, `lose` |\n| a | `x` | `another` |\n| a | b | `double`, `late` |\n| a | b | — |\n";
        assert_eq!(findings(rows), Vec::<String>::new());
    }

    #[test]
    fn unguarded_rows_unknown_guards_and_unexplained_bugs_fire() {
        let found =
            findings("| a | b | `lose` |\n| a | b | tests |\n| a | b | `no_test`, `gone` |\n");
        assert_eq!(found.len(), 5, "{found:?}");
        assert!(found[0].contains(":4:") && found[0].contains("name the test"));
        assert!(found[1].contains("`no_test` is neither"));
        assert!(found[2].contains("`gone` is neither"));
        assert!(found[3].contains("`double` guards no row"));
        // However the table makes it.
        assert!(found[4].contains("`late` guards no row"));
    }
}
