//! Text in aligned columns.

use serde::Serialize;

/// How a column is aligned: words to the left, figures to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table; every row has a cell for each column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With these columns: words in the first so many, figures in the others.
    pub(crate) fn new(words: usize, names: &[&str]) -> Table {
        let align = |place| {
            if place < words {
                Align::Left
            } else {
                Align::Right
            }
        };
        let columns = names.iter().enumerate();
        Table {
            columns: columns
                .map(|(place, name)| ((*name).to_owned(), align(place)))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// With words in the last column too.
    pub(crate) fn ending_in_words(mut self) -> Table {
        if let Some((_, align)) = self.columns.last_mut() {
            *align = Align::Left;
        }
        self
    }

    /// Adds a row; what is missing in it stays empty.
    pub(crate) fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Without the columns in which no row has anything.
    pub(crate) fn without_empty_columns(mut self) -> Table {
        let empty = |row: &Vec<String>, place| row.get(place).is_none_or(String::is_empty);
        for place in (0..self.columns.len()).rev() {
            if self.rows.iter().all(|row| empty(row, place)) {
                self.columns.remove(place);
                self.rows.iter_mut().for_each(|row| drop(row.remove(place)));
            }
        }
        self
    }

    /// As lines for a terminal.
    pub(crate) fn text(&self) -> String {
        let names: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let mut widths = vec![0; names.len()];
        for row in self.rows.iter().chain([&names]) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        let rule = widths.iter().map(|width| "─".repeat(*width)).collect();
        let mut out = String::new();
        for row in [&names, &rule].into_iter().chain(&self.rows) {
            let cells = row.iter().zip(&widths).zip(&self.columns);
            let padded = cells.map(|((cell, width), (_, align))| match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            });
            out.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
            out.push('\n');
        }
        out
    }

    /// As Markdown.
    pub(crate) fn markdown(&self) -> String {
        let names = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let rule = self.columns.iter().map(|(_, align)| match align {
            Align::Left => "---".to_owned(),
            Align::Right => "---:".to_owned(),
        });
        let rule = rule.collect();
        let lines = [&names, &rule].into_iter().chain(&self.rows);
        lines
            .map(|cells: &Vec<String>| format!("| {} |\n", cells.join(" | ")))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        let mut table = Table::new(1, &["case", "empty", "rate"]);
        table.row(vec!["µ".to_owned(), String::new(), "1,000".to_owned()]);
        table.row(vec!["long".to_owned()]);
        let table = table.without_empty_columns();
        assert_eq!(
            table.text(),
            "case   rate\n────  ─────\nµ     1,000\nlong\n"
        );
        assert_eq!(
            table.markdown(),
            "| case | rate |\n| --- | ---: |\n| µ | 1,000 |\n| long |  |\n"
        );
    }
}
