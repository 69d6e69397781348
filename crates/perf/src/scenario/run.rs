//! A whole run of a scenario: round by round, each round all cases one after the other.
//!
//! Invariants: the results file is written after every round, marked as partial until the last one, so whatever
//! ends the run, what had been measured is kept and nobody takes it for the whole.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::bench::Bench;
use super::effort::Effort;
use super::jms_driver::Driver;
use super::plan::Plan;
use super::progress::Progress;
use super::window::measure;
use crate::measure::{Interrupt, LabError, Machine, built_from, now_text, uninterrupted};
use crate::results::{
    Document, Ended, FORMAT, PROJECTION, Table, breakdown, comparisons, goals, results,
};

/// Where and with what is measured.
#[derive(Clone, Debug)]
pub(crate) struct Lab {
    /// The program under test.
    pub(crate) program: PathBuf,
    /// Where results go.
    pub(crate) out: PathBuf,
    /// Where queue managers under test go; removed at the end.
    pub(crate) work: PathBuf,
    /// Ends a run in order.
    pub(crate) interrupt: Interrupt,
    /// The command, for the results.
    pub(crate) command: Vec<String>,
    /// What drives IBM's JMS client, where some scenario needs that.
    pub(crate) jms: Option<Arc<Driver>>,
}

/// What a run of a scenario came to.
#[derive(Debug)]
pub(crate) struct Ran {
    /// What was measured, also when that ended early.
    pub(crate) document: Document,
    /// Where this run's results are; none if none could be saved.
    pub(crate) saved: Option<PathBuf>,
    /// Where the results are that this run found in its place.
    pub(crate) aside: Option<PathBuf>,
    /// What the run ended with.
    pub(crate) result: Result<(), LabError>,
}

/// Runs a plan.
pub(crate) fn run_plan(lab: &Lab, plan: &Plan, effort: &Effort, progress: &Progress) -> Ran {
    let began = Instant::now();
    let mut document = document(lab, plan, effort);
    let mut saver = Saver::to(&lab.out);
    let mut windows = 0;
    progress.scenario(plan.scenario.name, plan.cases.len(), effort.rounds);
    let so_far = (&mut document, &mut windows, &mut saver);
    let result = rounds(lab, plan, effort, so_far, progress);
    let all = plan.cases.len() as u64 * u64::from(effort.rounds);
    progress.over(all.saturating_sub(windows));
    document.seconds = began.elapsed().as_secs_f64();
    document.ended = match &result {
        Ok(()) => Ended::Complete,
        Err(error) => Ended::Partial(error.to_string()),
    };
    let last = saver.save(&document);
    Ran {
        document,
        saved: saver.saved,
        aside: saver.aside,
        // What went wrong first is what is to be read.
        result: result.and(last),
    }
}

/// Saves a run's results again and again. What lies in their place from an earlier run is put aside first.
struct Saver {
    folder: PathBuf,
    saved: Option<PathBuf>,
    aside: Option<PathBuf>,
}

impl Saver {
    fn to(folder: &Path) -> Saver {
        Saver {
            folder: folder.to_owned(),
            saved: None,
            aside: None,
        }
    }

    fn save(&mut self, document: &Document) -> Result<(), LabError> {
        if self.saved.is_none() {
            self.aside = Document::put_aside(&self.folder, &document.scenario)?;
        }
        let saved = document.save(&self.folder);
        if self.saved.is_none()
            && saved.is_err()
            && let Some(aside) = self.aside.take()
        {
            // Nothing takes its place; if it cannot go back, it is there under its other name.
            let _ = fs::rename(aside, Document::path(&self.folder, &document.scenario));
        }
        self.saved = Some(saved?);
        Ok(())
    }
}

fn document(lab: &Lab, plan: &Plan, effort: &Effort) -> Document {
    let scenario = plan.scenario;
    let cases = plan.cases.iter().map(|planned| planned.case.clone());
    Document {
        format: FORMAT,
        scenario: scenario.name.to_owned(),
        title: scenario.title.to_owned(),
        operation: scenario.operation.to_owned(),
        axis: scenario.axis.to_owned(),
        started: now_text(),
        seconds: 0.0,
        command: lab.command.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: built_from(),
        machine: Machine::describe(&lab.work),
        quick: effort.quick,
        ended: Ended::Partial("it is still under way, or was killed".to_owned()),
        notes: scenario.notes.clone(),
        cases: cases.collect(),
        goals: plan.goals.clone(),
    }
}

fn rounds(
    lab: &Lab,
    plan: &Plan,
    effort: &Effort,
    (document, windows, saver): (&mut Document, &mut u64, &mut Saver),
    progress: &Progress,
) -> Result<(), LabError> {
    let jms = lab.jms.clone();
    let mut bench = Bench::new(&lab.program, &lab.work, &lab.interrupt, jms)?;
    for round in 1..=effort.rounds {
        for (planned, case) in plan.cases.iter().zip(&mut document.cases) {
            progress.window(&document.scenario, &case.name, round);
            uninterrupted(&lab.interrupt)?;
            let measured = measure(&mut bench, &planned.work, effort);
            let mut measured = measured.map_err(|error| in_case(error, &case.name))?;
            measured.round = round;
            case.rounds.push(measured);
            *windows += 1;
            progress.over(1);
        }
        saver.save(document)?;
    }
    bench.end()
}

/// Says in which case it happened, where that is not plain.
fn in_case(error: LabError, case: &str) -> LabError {
    match error {
        LabError::Workload { what, why } => LabError::Workload {
            what: format!("{case}: {what}"),
            why,
        },
        LabError::Server { what, output } => LabError::Server {
            what: format!("{what}, in case “{case}”"),
            output,
        },
        other => other,
    }
}

/// A document as Markdown, for a page elsewhere.
pub(super) fn markdown(document: &Document) -> String {
    let mut out = format!("### {}: {}\n\n", document.scenario, document.title);
    let commit = document.commit.as_deref();
    out.push_str(&format!(
        "`{}`, {}, commit {}, {}\n\n",
        document.command.join(" "),
        document.started,
        commit.unwrap_or("unknown"),
        document.machine.line()
    ));
    if let Ended::Partial(why) = &document.ended {
        out.push_str(&format!("Partial results: {why}\n\n"));
    }
    for table in [goals(document), results(document)] {
        if !table.is_empty() {
            out.push_str(&format!("{}\n", table.markdown()));
        }
    }
    for note in &document.notes {
        out.push_str(&format!("{note}\n\n"));
    }
    out
}

/// Cases in a table of counters.
const COLUMNS: usize = 6;

/// A document as text for a terminal.
pub(super) fn shown(document: &Document, explain: bool) -> String {
    let mut out = format!("\n{}: {}\n", document.scenario, document.title);
    out.push_str(&format!("{}\n", document.machine.line()));
    if let Ended::Partial(why) = &document.ended {
        out.push_str(&format!("PARTIAL RESULTS: {why}\n"));
    }
    out.push('\n');
    out.push_str(&results(document).text());
    if document.cases.iter().any(|case| case.with_applications) {
        out.push_str("* with the applications, which run in the same process\n");
    }
    if !document.goals.is_empty() {
        out.push('\n');
        out.push_str(&goals(document).text());
    }
    let (mut lines, projected) = comparisons(document);
    if projected {
        lines.push(PROJECTION.to_owned());
    }
    if !lines.is_empty() {
        out.push_str(&format!("\n{}\n", lines.join("\n")));
    }
    for note in &document.notes {
        out.push_str(&format!("{note}\n"));
    }
    if explain {
        let counters: Vec<String> = breakdown(document, COLUMNS)
            .iter()
            .map(Table::text)
            .collect();
        match counters.is_empty() {
            true => out.push_str("No case here has a server with counters.\n"),
            false => out.push_str(&counters.join("\n")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::SCENARIOS;
    use super::*;
    use crate::results::samples;
    use std::time::Duration;

    fn lab(folder: &std::path::Path) -> Lab {
        Lab {
            program: PathBuf::from("/no/such/program"),
            out: folder.join("out"),
            work: folder.join("work"),
            interrupt: Interrupt::none(),
            command: vec!["posthaste".to_owned()],
            jms: None,
        }
    }

    fn plan() -> Plan {
        let mut plan = Plan::of(&SCENARIOS[0], &effort());
        plan.keep_only("forced writes");
        plan
    }

    fn effort() -> Effort {
        Effort::new(true, Some(2), Some(Duration::ZERO))
    }

    #[test]
    fn rounds_go_through_all_cases_and_are_saved() {
        let folder = tempfile::tempdir().unwrap();
        let lab = lab(folder.path());
        let Ran {
            document, result, ..
        } = run_plan(&lab, &plan(), &effort(), &Progress::new(0, Duration::ZERO));
        result.unwrap();
        assert_eq!(document.ended, Ended::Complete);
        for case in &document.cases {
            let rounds: Vec<u32> = case.rounds.iter().map(|round| round.round).collect();
            assert_eq!(rounds, [1, 2]);
        }
        assert_eq!(Document::load_all(&lab.out).unwrap(), vec![document]);
        assert!(!lab.work.exists());
    }

    #[test]
    fn what_was_measured_before_a_failure_is_kept_and_marked() {
        let folder = tempfile::tempdir().unwrap();
        let lab = lab(folder.path());
        let mut plan = plan();
        // Its server cannot be started.
        let echo = Plan::of(&SCENARIOS[0], &effort()).cases.remove(0);
        plan.cases.push(echo);
        let Ran {
            document, result, ..
        } = run_plan(&lab, &plan, &effort(), &Progress::new(0, Duration::ZERO));
        let error = result.unwrap_err().to_string();
        assert!(error.contains("/no/such/program"), "{error}");
        assert_eq!(document.cases[1].rounds.len(), 1);
        assert_eq!(document.cases[2].rounds.len(), 0);
        let saved = &Document::load_all(&lab.out).unwrap()[0];
        assert_eq!(saved.ended, Ended::Partial(error.clone()));
        assert!(shown(saved, false).contains(&format!("PARTIAL RESULTS: {error}")));
        assert!(!lab.work.exists());
    }

    #[test]
    fn earlier_results_are_put_aside_and_come_back_if_nothing_takes_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let lab = lab(folder.path());
        let run = || run_plan(&lab, &plan(), &effort(), &Progress::new(0, Duration::ZERO));
        let path = Document::path(&lab.out, "floor");
        let first = run();
        assert_eq!((first.saved, first.aside), (Some(path.clone()), None));
        let second = run();
        let aside = PathBuf::from(format!("{}.1", path.display()));
        assert_eq!(
            (second.saved, second.aside),
            (Some(path.clone()), Some(aside.clone()))
        );
        assert_eq!(Document::load(&aside).unwrap(), first.document);
        assert_eq!(Document::load_all(&lab.out).unwrap(), [second.document]);
        let third = run();
        assert!(third.aside.unwrap().ends_with("floor.perf.json.2"));
        // Where the new file would be made there is a folder.
        fs::create_dir(lab.out.join("floor.perf.json.new")).unwrap();
        let fourth = run();
        assert!(fourth.result.is_err());
        assert_eq!((fourth.saved, fourth.aside), (None, None));
        assert_eq!(Document::load(&path).unwrap(), third.document);
    }

    #[test]
    fn markdown_has_tables_and_says_where_they_are_from() {
        let text = markdown(&samples::document());
        for part in [
            "### rr-cc: Requesters",
            "`posthaste perf`, 2026-11-21T08:00:00Z, commit 0123456789ab, 2 × x86-64",
            "| case | round trips/s |",
            "| 2 KiB NP 60 | 50,000 |",
            "A note.",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn everything_is_shown() {
        let mut document = samples::document();
        let text = shown(&document, true);
        for part in [
            "rr-cc: Requesters and responders as clients",
            "2 × x86-64, 24 GiB, Linux 6.18, ext4 on vda",
            "2 KiB NP 60",
            "5.0 × less",
            "Projection rule",
            "A note.",
            "No case here has a server with counters.",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        document.cases[2].rounds[0]
            .counters
            .insert("channel.reads".to_owned(), 60_000);
        let text = shown(&document, true);
        assert!(
            text.contains("channel.reads") && text.contains("1.000"),
            "{text}"
        );
        assert!(!shown(&document, false).contains("channel.reads"));
    }
}
