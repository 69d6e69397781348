//! What a run left behind: one JSON file per scenario, with the raw values of every round.
//!
//! | module | what is there |
//! | --- | --- |
//! | `figure` | what is computed from the rounds: medians, ratios to the floor of the same round |
//! | `goal` | a figure that is to be reached, and whether it was |
//! | `published` | figures of others that a case is compared with |
//! | `table`, `tables` | results as aligned text |
//!
//! Invariants: everything that is shown is computed from the rounds in the file, so that whoever doubts a figure can
//! compute it again; a file of another format is refused, never half read; a file is replaced in one step.

mod figure;
mod goal;
mod published;
mod table;
mod tables;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::measure::{LabError, Machine};

pub(crate) use figure::{Figure, median};
pub(crate) use goal::{Bound, Goal, REFERENCE_CASE};
pub(crate) use published::{MESSAGES, PROJECTION, Published, comparisons};
pub(crate) use table::Table;
pub(crate) use tables::{breakdown, goals, results};

/// The format of the files. It changes whenever an older program would misunderstand a newer file.
pub(crate) const FORMAT: u32 = 1;
/// How a results file's name ends.
pub(crate) const ENDING: &str = ".perf.json";

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ended {
    /// Every round of every case was measured.
    Complete,
    /// It was broken off; what had been measured is there. The text says why.
    Partial(String),
}

/// A scenario's results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Document {
    /// [`FORMAT`].
    pub(crate) format: u32,
    /// The scenario's name.
    pub(crate) scenario: String,
    /// What it is, in a line.
    pub(crate) title: String,
    /// What is counted: "round trip", "put".
    pub(crate) operation: String,
    /// What the cases of a series differ in, for the axis of a chart.
    pub(crate) axis: String,
    /// When it began, in UTC.
    pub(crate) started: String,
    /// How long it took, in seconds.
    pub(crate) seconds: f64,
    /// The command, word by word.
    pub(crate) command: Vec<String>,
    /// The program's version.
    pub(crate) version: String,
    /// The commit that the program was built from, if that is known.
    pub(crate) commit: Option<String>,
    /// What it was measured on.
    pub(crate) machine: Machine,
    /// Few cases and short windows.
    pub(crate) quick: bool,
    /// How it ended.
    pub(crate) ended: Ended,
    /// What a reader must know.
    pub(crate) notes: Vec<String>,
    /// What was measured.
    pub(crate) cases: Vec<Case>,
    /// What was to be reached.
    #[serde(default)]
    pub(crate) goals: Vec<Goal>,
}

/// One thing that was measured, once in every round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Case {
    /// Its name; no two cases of a document have the same.
    pub(crate) name: String,
    /// Which line of a chart it belongs to.
    pub(crate) series: String,
    /// Which charts it belongs to: cases of different groups are not drawn together.
    #[serde(default)]
    pub(crate) group: String,
    /// Where on the axis it stands.
    pub(crate) at: Option<f64>,
    /// The name of the case that is its floor.
    pub(crate) floor: Option<String>,
    /// The server's processor time includes that of the applications, which run in its process.
    #[serde(default)]
    pub(crate) with_applications: bool,
    /// How it was set up.
    pub(crate) settings: BTreeMap<String, String>,
    /// Figures of others.
    pub(crate) published: Vec<Published>,
    /// What was measured.
    pub(crate) rounds: Vec<Round>,
}

/// One window of one case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Round {
    /// Which round of the run; cases of the same round were measured one after the other.
    pub(crate) round: u32,
    /// Length of the window.
    pub(crate) seconds: f64,
    /// Operations that were completed in it.
    pub(crate) operations: u64,
    /// Processor time of the server's process, in nanoseconds.
    pub(crate) server_cpu_ns: Option<u64>,
    /// The part of it that was spent in the kernel.
    pub(crate) server_system_ns: Option<u64>,
    /// Processor time of the applications' process, in nanoseconds.
    pub(crate) client_cpu_ns: Option<u64>,
    /// Resident memory of the server's process at the end of the window.
    pub(crate) resident_bytes: Option<u64>,
    /// Latency of an operation.
    pub(crate) latency: Option<Latency>,
    /// How much the server's counters grew.
    #[serde(default)]
    pub(crate) counters: BTreeMap<String, u64>,
    /// What else was measured, by name with its unit.
    #[serde(default)]
    pub(crate) values: BTreeMap<String, f64>,
}

/// Percentiles of a latency, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Latency {
    /// Half of them were faster.
    pub(crate) p50: u64,
    /// Nine of ten.
    pub(crate) p90: u64,
    /// 99 of 100.
    pub(crate) p99: u64,
    /// 999 of 1,000.
    pub(crate) p999: u64,
    /// The slowest.
    pub(crate) max: u64,
    /// The mean.
    pub(crate) mean: f64,
}

impl Latency {
    /// Of a histogram of nanoseconds; none of an empty one.
    pub(crate) fn of(histogram: &Histogram<u64>) -> Option<Latency> {
        let at = |quantile| histogram.value_at_quantile(quantile);
        (!histogram.is_empty()).then(|| Latency {
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: histogram.max(),
            mean: histogram.mean(),
        })
    }
}

impl Document {
    /// The case of that name.
    pub(crate) fn case(&self, name: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.name == name)
    }

    /// The case that is the floor of a case.
    pub(crate) fn floor(&self, case: &Case) -> Option<&Case> {
        self.case(case.floor.as_deref()?)
    }

    /// The file of a scenario in a folder of results.
    pub(crate) fn path(folder: &Path, scenario: &str) -> PathBuf {
        folder.join(format!("{scenario}{ENDING}"))
    }

    /// Gives the results of a scenario that lie in `folder` another name, by which no report finds them; none if
    /// there are none.
    pub(crate) fn put_aside(folder: &Path, scenario: &str) -> Result<Option<PathBuf>, LabError> {
        let path = Document::path(folder, scenario);
        if !path.exists() {
            return Ok(None);
        }
        let numbered = |number: u32| PathBuf::from(format!("{}.{number}", path.display()));
        let free = (1..=u32::MAX).map(numbered).find(|place| !place.exists());
        let Some(aside) = free else {
            return Ok(None);
        };
        fs::rename(&path, &aside).map_err(|error| LabError::io(&path, error))?;
        Ok(Some(aside))
    }

    /// Writes the document to its file in `folder`, in one step.
    pub(crate) fn save(&self, folder: &Path) -> Result<PathBuf, LabError> {
        let path = Document::path(folder, &self.scenario);
        let mut text = serde_json::to_string_pretty(self).map_err(|error| LabError::Results {
            path: path.clone(),
            why: error.to_string(),
        })?;
        text.push('\n');
        fs::create_dir_all(folder).map_err(|error| LabError::io(folder, error))?;
        write_whole(&path, &text)?;
        Ok(path)
    }

    /// Reads a results file.
    pub(crate) fn load(path: &Path) -> Result<Document, LabError> {
        let text = fs::read_to_string(path).map_err(|error| LabError::io(path, error))?;
        Document::parse(&text).map_err(|why| LabError::Results {
            path: path.to_owned(),
            why,
        })
    }

    fn parse(text: &str) -> Result<Document, String> {
        #[derive(Deserialize)]
        struct Stated {
            format: Option<u32>,
        }
        let stated: Stated = serde_json::from_str(text)
            .map_err(|error| format!("this is not a results file ({error})"))?;
        let format = stated.format;
        let format = format.ok_or("this is not a results file: it states no format")?;
        let (age, advice) = match format.cmp(&FORMAT) {
            Ordering::Equal => {
                let read = serde_json::from_str(text);
                return read.map_err(|error| format!("the file is damaged: {error}"));
            }
            Ordering::Less => ("an older", "measure again, or report"),
            Ordering::Greater => ("a newer", "report"),
        };
        Err(format!(
            "the file has format {format}, of {age} version; this program reads format {FORMAT}: {advice} with the version that measured"
        ))
    }

    /// All results in a folder, in the order of their scenarios' names.
    pub(crate) fn load_all(folder: &Path) -> Result<Vec<Document>, LabError> {
        let failed = |error| LabError::io(folder, error);
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.to_string_lossy().ends_with(ENDING) {
                paths.push(path);
            }
        }
        paths.sort();
        if paths.is_empty() {
            return Err(LabError::Results {
                path: folder.to_owned(),
                why: format!(
                    "there are no results (*{ENDING}) in this folder; `posthaste perf run NAME --out {}` makes some",
                    folder.display()
                ),
            });
        }
        paths.iter().map(|path| Document::load(path)).collect()
    }
}

/// Writes a file in one step: a part of one helps nobody. What is no file, a pipe for example, is written to.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), LabError> {
    let failed = |error| LabError::io(path, error);
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return fs::write(path, text).map_err(failed);
    }
    // A link stays one.
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut new = place.clone().into_os_string();
    new.push(".new");
    let write = || -> std::io::Result<()> {
        let mut file = fs::File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &place)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&new);
        failed(error)
    })
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
