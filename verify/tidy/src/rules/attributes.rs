//! Nothing that an administrator may set is kept and forgotten: a row of the attribute tables is set by nobody, or
//! says that it only describes, that it is only kept or which values alone are taken, or its selector is read by the queue manager.

use crate::source::{find_word, is_word};
use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "attributes";

/// Folder of the tables.
const TABLES: &str = "crates/command/src/table/";
/// What makes a row one that nothing has to read.
const ACCOUNTED: [&str; 5] = [
    ".describes()",
    ".kept()",
    ".only(",
    ".derived()",
    ".read_only()",
];
/// Where a selector is read.
const READERS: [&str; 4] = [
    "crates/engine/src/",
    "crates/channel/src/",
    "crates/server/src/",
    // Which events are made of what has happened.
    "crates/admin/src/events/",
];

/// Finds rows that promise an effect and have none.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    let tables = repository.sources().iter();
    for table in tables.filter(|s| s.path().starts_with(TABLES)) {
        for (index, line) in table.code().lines().enumerate() {
            let Some(selector) = selector(line) else {
                continue;
            };
            let accounted = ACCOUNTED.iter().any(|how| line.contains(how));
            if !accounted && !is_read(repository, selector) {
                let message = format!(
                    "nothing reads {selector}; act on it, or mark the row `only` (other values are refused), `kept` (with a warning) or `describes`"
                );
                found.push(Violation::new(NAME, table.path(), index + 1, message));
            }
        }
    }
    found
}

/// The selector of a row: the second value of a line that calls a constructor of rows.
fn selector(line: &str) -> Option<&str> {
    let (constructor, rest) = line.trim_start().split_once("(\"")?;
    if constructor.is_empty() || !constructor.bytes().all(is_word) {
        return None;
    }
    let (_, rest) = rest.split_once(", mq::")?;
    let end = rest.bytes().position(|byte| !is_word(byte))?;
    Some(&rest[..end])
}

fn is_read(repository: &Repository, selector: &str) -> bool {
    let readers = repository.sources().iter();
    readers
        .filter(|source| {
            READERS
                .iter()
                .any(|reader| source.path().starts_with(reader))
        })
        .any(|source| {
            find_word(source.code(), selector)
                .iter()
                .any(|at| !source.is_test_at(*at))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "const ROWS: &[A] = &[\n    \
        int(\"DEPTH\", mq::MQIA_DEPTH, (0, 9), 5, ALL, \"Most\"),\n    \
        word(\"GUARD\", mq::MQIA_GUARD, ON_OFF, 0, ALL, \"Whether it is guarded\"),\n    \
        word(\"KEPT\", mq::MQIA_KEPT, ON_OFF, 0, ALL, \"x\").only(&[0]),\n    \
        text(\"DESCR\", mq::MQCA_DESC, 64, \"\", ALL, \"x\").describes().not_inquired(),\n    \
        int(\"IDLE\", mq::MQIA_IDLE, (0, 9), 0, ALL, \"x\").kept(),\n    \
        text(\"MADE\", mq::MQCA_MADE, 12, \"\", ALL, \"x\").derived(),\n];\n";

    fn findings(engine: &str) -> Vec<String> {
        let repository = Repository::from_files(&[
            ("crates/command/src/table/queue.rs", ROWS),
            ("crates/engine/src/queue.rs", engine),
        ]);
        check(&repository).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rows_that_are_read_or_accounted_for_are_silent() {
        let engine = "fn a() { int(MQIA_DEPTH) }\nfn b() { int(mq::MQIA_GUARD) }\n";
        assert_eq!(findings(engine), Vec::<String>::new());
    }

    #[test]
    fn a_row_that_nothing_reads_fires() {
        let engine = "fn a() { int(MQIA_DEPTH) }\n// MQIA_GUARD\n#[cfg(test)]\nmod tests { fn b() { int(MQIA_GUARD) } }\n";
        let found = findings(engine);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("queue.rs:3:") && found[0].contains("nothing reads MQIA_GUARD"));
    }
}
