//! Whoever looks for something in the engine finds it by ARCHITECTURE.md: its table has each file and folder that stands
//! directly in `crates/engine/src`.

use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "engine-files";

const PAGE: &str = "ARCHITECTURE.md";
const FOLDER: &str = "crates/engine/src/";
/// The table's first line.
const HEAD: &str = "| in the engine |";

/// Finds files and folders that the table does not have. A folder whose file of the same name is there is in the table with it.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let page = repository.text(PAGE).unwrap_or("");
    let rows = page.lines().skip_while(|line| !line.starts_with(HEAD));
    let table: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    let has = |name: &str| table.iter().any(|row| row.contains(&format!("`{name}")));
    let entries = repository.paths().filter_map(|path| {
        let name = path.strip_prefix(FOLDER)?;
        (!name.contains('/')).then_some((path, name))
    });
    let mut found = Vec::new();
    for (path, name) in entries {
        let named = match name.strip_suffix(".rs") {
            Some(_) => has(&format!("{name}`")),
            None => has(&format!("{name}/")) || has(&format!("{name}.rs`")),
        };
        if !named {
            let message =
                format!("{PAGE} does not say what is there: give it a row below `{HEAD}`");
            found.push(Violation::new(NAME, path, 0, message));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(page: &str) -> Vec<String> {
        let repository = Repository::from_files(&[
            (PAGE, page),
            ("crates/engine/src/queue.rs", ""),
            ("crates/engine/src/queue/index.rs", ""),
            ("crates/engine/src/unit/ticket.rs", ""),
            ("crates/net/src/lane.rs", ""),
        ]);
        check(&repository).into_iter().map(|v| v.path).collect()
    }

    #[test]
    fn a_complete_table_is_silent() {
        let page = "x\n| in the engine | what |\n| --- | --- |\n| `queue.rs` | a |\n| `a.rs`, `unit/ticket.rs` | b |\n";
        assert_eq!(paths(page), Vec::<String>::new());
    }

    #[test]
    fn what_is_in_no_row_fires() {
        let all = ["queue", "queue.rs", "unit"].map(|name| format!("{FOLDER}{name}"));
        let elsewhere = "`queue.rs`, `unit/`\n| in the engine | what |\n| `other.rs` | a |\n\n| `queue.rs` | b |\n";
        assert_eq!(paths(elsewhere), all);
        assert_eq!(paths("").len(), 3);
        assert_eq!(
            paths("| in the engine | what |\n| `queue.rs` | a |\n"),
            all[2..]
        );
    }
}
