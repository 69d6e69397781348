//! Results as one HTML file, and as a chart for a page elsewhere.
//!
//! Invariants: the file needs nothing but itself (no script, no font, no picture from elsewhere); everything
//! that comes from a results file is escaped; the same results give the same bytes.

mod charts;
mod draw;
mod page;

use std::path::Path;

use crate::measure::LabError;
use crate::results::{Document, REFERENCE_CASE, write_whole};

pub(crate) use charts::headline;
pub(crate) use page::page;

/// Writes the report on all results in `folder` to `path`.
pub(crate) fn write(folder: &Path, path: &Path) -> Result<(), LabError> {
    let documents = Document::load_all(folder)?;
    write_whole(path, &page(&documents)?)
}

/// What keeps results from having a headline chart.
fn lacks(documents: &[Document]) -> String {
    let measured = |document: &Document| document.case(REFERENCE_CASE).is_some();
    let lacking = match documents.iter().any(measured) {
        true => format!(
            "server CPU of both \"{REFERENCE_CASE}\" and a case with 60 requesters beside it"
        ),
        false => format!("the case \"{REFERENCE_CASE}\""),
    };
    format!("no results here have {lacking}; measure all of `rr-cc` or `targets`")
}

/// Writes the headline chart alone to `path`.
pub(crate) fn write_headline(folder: &Path, path: &Path) -> Result<(), LabError> {
    let documents = Document::load_all(folder)?;
    let chart = headline(&documents).ok_or_else(|| LabError::Results {
        path: folder.to_owned(),
        why: lacks(&documents),
    })?;
    write_whole(path, &chart.svg(true)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::samples::document;

    #[test]
    fn it_is_said_what_a_headline_lacks() {
        let mut document = document();
        // Sixty requesters are in the case beside, and in the bare exchange's name.
        document.cases.retain(|case| case.name == REFERENCE_CASE);
        assert_eq!(headline(std::slice::from_ref(&document)), None);
        let why = lacks(std::slice::from_ref(&document));
        assert!(why.contains("a case with 60 requesters beside it"), "{why}");
        document.cases.clear();
        let why = lacks(&[document]);
        assert!(why.contains("have the case \"bare exchange 60\";"), "{why}");
    }
}
