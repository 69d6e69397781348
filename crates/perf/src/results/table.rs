//! Text in aligned columns.

/// How a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Align {
    fn pad(self, text: &str, width: usize) -> String {
        let missing = " ".repeat(width.saturating_sub(text.chars().count()));
        match self {
            Align::Left => format!("{text}{missing}"),
            Align::Right => format!("{missing}{text}"),
        }
    }
}

impl Table {
    /// With these columns.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Table {
        Table {
            columns: columns
                .iter()
                .map(|(name, align)| ((*name).to_owned(), *align))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; what is missing in it stays empty.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The names of the columns and how they are aligned.
    pub(crate) fn columns(&self) -> &[(String, Align)] {
        &self.columns
    }

    /// The rows.
    pub(crate) fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Without the columns in which no row has anything.
    pub(crate) fn without_empty_columns(&self) -> Table {
        let used = |column: &usize| {
            let filled = |row: &&Vec<String>| row.get(*column).is_some_and(|c| !c.is_empty());
            self.rows.iter().any(|row| filled(&row))
        };
        let keep: Vec<usize> = (0..self.columns.len()).filter(used).collect();
        let cell =
            |row: &Vec<String>, column: &usize| row.get(*column).cloned().unwrap_or_default();
        Table {
            columns: keep
                .iter()
                .filter_map(|column| self.columns.get(*column).cloned())
                .collect(),
            rows: self
                .rows
                .iter()
                .map(|row| keep.iter().map(|column| cell(row, column)).collect())
                .collect(),
        }
    }

    /// As lines for a terminal.
    pub(crate) fn text(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let name = self.columns.get(column).map(|(name, _)| name);
            let lengths = cells.chain(name).map(|cell| cell.chars().count());
            lengths.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |cells: &[String]| {
            let columns = self.columns.iter().zip(&widths).enumerate();
            let padded = columns.map(|(index, ((_, align), width))| {
                let cell = cells.get(index).map(String::as_str).unwrap_or_default();
                align.pad(cell, *width)
            });
            padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let names: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        let mut out = String::new();
        for text in [line(&names), rule.join("  ")] {
            out.push_str(&text);
            out.push('\n');
        }
        for row in &self.rows {
            out.push_str(&line(row));
            out.push('\n');
        }
        out
    }

    /// As Markdown.
    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| {
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let mut out = line(&mut self.columns.iter().map(|(name, _)| name.clone()));
        out.push_str(&line(&mut self.columns.iter().map(
            |(_, align)| match align {
                Align::Left => "---".to_owned(),
                Align::Right => "---:".to_owned(),
            },
        )));
        for row in &self.rows {
            let cells = 0..self.columns.len();
            out.push_str(&line(
                &mut cells.map(|c| row.get(c).cloned().unwrap_or_default()),
            ));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        let mut table = Table::new(&[
            ("case", Align::Left),
            ("empty", Align::Right),
            ("rate", Align::Right),
        ]);
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
