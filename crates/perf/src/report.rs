//! Results as one HTML file, and as a chart for a page elsewhere.
//!
//! Invariants: the file needs nothing but itself (no script, no font, no picture from elsewhere); everything
//! that comes from a results file is escaped; the same results give the same bytes.

mod charts;
mod draw;
mod page;

use std::path::Path;

use crate::measure::LabError;
use crate::results::{Document, write_whole};

pub(crate) use charts::headline;
pub(crate) use page::page;

/// Writes the report on all results in `folder` to `path`.
pub(crate) fn write(folder: &Path, path: &Path) -> Result<(), LabError> {
    let documents = Document::load_all(folder)?;
    write_whole(path, &page(&documents)?)
}

/// Writes the headline chart alone to `path`.
pub(crate) fn write_headline(folder: &Path, path: &Path) -> Result<(), LabError> {
    let documents = Document::load_all(folder)?;
    let chart = headline(&documents).ok_or_else(|| LabError::Results {
        path: folder.to_owned(),
        why: "no results here have a bare exchange beside them; measure `rr-cc` or `targets`"
            .to_owned(),
    })?;
    write_whole(path, &chart.svg(true)?)
}
