//! `posthaste perf run`, `list` and `report`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use posthaste_server::{Exit, Failure};

use super::claim::Claim;
use super::effort::Effort;
use super::jms_driver::Driver;
use super::plan::Plan;
use super::progress::Progress;
use super::run::{Lab, Ran, markdown, run_plan, shown};
use super::work_folder::clear;
use super::{SCENARIOS, Scenario, find, smoke};
use crate::floor::{self, Bare};
use crate::measure::{Interrupt, LabError, Machine, kill_all, now_text};
use crate::report;
use crate::results::{Document, Table};

/// What `posthaste perf` can do.
#[derive(Subcommand, Debug)]
pub enum PerfCommand {
    /// Measure one or more scenarios, or all
    Run(RunArgs),
    /// Show the scenarios
    List,
    /// Make an HTML page of results
    Report(ReportArgs),
    /// The bare echo server of the floor
    #[command(hide = true)]
    FloorEcho {
        /// Bytes of a message
        message_bytes: usize,
    },
    /// The bare exchange server of the floor
    #[command(hide = true)]
    FloorExchange {
        /// Bytes of a message
        message_bytes: usize,
    },
}

/// Carries a command out; its exit code, and what is to be printed.
///
/// # Errors
/// A scenario could not be measured, what had been is kept; or there are no results, or they have another format, or a
/// file cannot be written.
pub fn perform(command: &PerfCommand) -> Result<(Exit, String), Failure> {
    match command {
        PerfCommand::Run(args) => run(args).map(|exit| (exit, String::new())),
        PerfCommand::List => Ok((Exit::Done, list())),
        PerfCommand::Report(args) if args.markdown => {
            let documents = Document::load_all(&args.results).map_err(|e| unreported(&e))?;
            Ok((Exit::Done, documents.iter().map(markdown).collect()))
        }
        PerfCommand::Report(args) => {
            let path = report(args)?;
            Ok((Exit::Done, format!("Written: {}\n", path.display())))
        }
        PerfCommand::FloorEcho { message_bytes } => {
            serve_floor(Bare::Echo, *message_bytes).map(|exit| (exit, String::new()))
        }
        PerfCommand::FloorExchange { message_bytes } => {
            serve_floor(Bare::Exchange, *message_bytes).map(|exit| (exit, String::new()))
        }
    }
}

const RUN_EXAMPLES: &str = "\
  posthaste perf list                         what there is
  posthaste perf run rr-cc --quick            request/reply, in about a minute
  posthaste perf run all --quick              all but rr-cc-jms, targets, smoke
  posthaste perf run targets --rounds 5       the figures to be reached
  posthaste perf run rr-cc --quick --explain  ... and where the time goes
  posthaste perf report perf-results/...      the results as one HTML page

Each scenario starts queue managers of its own, on files of its own below --work, whose disk is what is
measured, and removes them at the end. Ctrl-C ends a run in order; what had been measured is kept and marked. Results that
lie in the folder already are put aside as NAME.perf.json.1 and so on.
Every case is measured once in each round, beside the same work without a queue manager (the floor): compare the
ratios, not the absolute figures, where a machine changes its speed.

Exit codes: 0 measured, 1 a measurement failed or a budget was missed, 39 not possible as it was asked for,
63 the disk is full, 76 a file or folder cannot be used.";

/// Arguments of `run`.
#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// Scenarios, or `all`: not rr-cc-jms, targets and smoke
    #[arg(required = true, value_name = "SCENARIO")]
    pub(crate) names: Vec<String>,
    /// Few cases and short windows
    #[arg(long)]
    pub(crate) quick: bool,
    /// How often every case is measured; medians are shown [default: 5, quick 3]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) rounds: Option<u32>,
    /// Seconds of a window [default: 4, quick 0.8]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) window: Option<Duration>,
    /// Folder for results [default: perf-results/DATE-MACHINE]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Folder for the queue managers that are measured [default: one beside the results]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Only cases whose name contains this, with their floors
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
    /// Show by how much each of the server's counters grew per operation
    #[arg(long)]
    pub(crate) explain: bool,
}

const REPORT_EXAMPLES: &str = "\
  posthaste perf report perf-results/2026-11-21-2-x86_64
  posthaste perf report DIR --svg headline.svg       the headline chart alone
  posthaste perf report DIR --markdown               the tables, for a document

Exit codes: 0 written, 39 not possible as it was asked for, 63 the disk is full, 76 a file or folder cannot be
used, 78 there are no results, or not of this version, or not what the chart shows.";

/// Arguments of `report`.
#[derive(Args, Debug)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportArgs {
    /// Folder of results
    pub(crate) results: PathBuf,
    /// Where the page goes [default: report.html in that folder]
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the headline chart to this file and no page
    #[arg(long, value_name = "FILE", conflicts_with = "html")]
    pub(crate) svg: Option<PathBuf>,
    /// Print the tables as Markdown and write no page
    #[arg(long, conflicts_with_all = ["html", "svg"])]
    pub(crate) markdown: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| "write seconds, for example 0.5".to_owned())?;
    match (0.01..=3_600.0).contains(&value) {
        true => Ok(Duration::from_secs_f64(value)),
        false => Err("0.01 to 3600 seconds".to_owned()),
    }
}

/// A laboratory's failure as every command's.
fn failure(error: &LabError) -> Failure {
    let text = error.to_string();
    match error {
        LabError::BadInput(_) => Failure::bad_parameter(text),
        LabError::Lacks(program) => Failure::new(error.exit(), "AMQ2504E", &[program]),
        _ => Failure::new(error.exit(), "AMQ2501E", &[&text]),
    }
}

/// The same of a report, which measures nothing.
fn unreported(error: &LabError) -> Failure {
    match error {
        LabError::BadInput(_) => failure(error),
        _ => Failure::new(error.exit(), "AMQ2503E", &[&error.to_string()]),
    }
}

/// The scenarios of these names.
fn chosen(names: &[String]) -> Result<Vec<&'static Scenario>, LabError> {
    let mut all: Vec<&'static Scenario> = Vec::new();
    for name in names {
        let found: Vec<&Scenario> = match name.as_str() {
            "all" => SCENARIOS
                .iter()
                .filter(|scenario| scenario.in_all)
                .collect(),
            name => find(name).into_iter().collect(),
        };
        if found.is_empty() {
            let known: Vec<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
            return Err(LabError::BadInput(format!(
                "there is no scenario \"{name}\"; there are {} and all",
                known.join(", ")
            )));
        }
        for scenario in found {
            if !all.iter().any(|other| other.name == scenario.name) {
                all.push(scenario);
            }
        }
    }
    Ok(all)
}

/// The usual folder for results: date and kind of machine.
fn usual_out() -> PathBuf {
    let machine = Machine::describe(Path::new("."));
    let date: String = now_text().chars().take(10).collect();
    let kind = format!("{date}-{}-{}", machine.processors, machine.architecture);
    Path::new("perf-results").join(kind)
}

/// `posthaste perf run`.
pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    run_all(args).map_err(|error| failure(&error))
}

fn run_all(args: &RunArgs) -> Result<Exit, LabError> {
    let scenarios = chosen(&args.names)?;
    let effort = Effort::new(args.quick, args.rounds, args.window);
    let out = args.out.clone().unwrap_or_else(usual_out);
    let own = format!("posthaste-perf-{}", std::process::id());
    let work = args.work.as_ref().unwrap_or(&out).join(&own);
    let work = std::path::absolute(&work).map_err(|error| LabError::io(&work, error))?;
    let jms_folder = work.with_file_name(format!("{own}-jms"));
    let left = [work.clone(), jms_folder.clone()];
    let leave = move || {
        kill_all();
        left.iter().for_each(|folder| clear(folder));
    };
    let interrupt = Interrupt::on_signals_then(leave);
    let mut lab = Lab {
        program: std::env::current_exe().map_err(|e| LabError::io(Path::new("posthaste"), e))?,
        out,
        work,
        interrupt: interrupt.map_err(|e| LabError::io(Path::new("signals"), e))?,
        command: std::env::args().collect(),
        jms: None,
    };
    let plans = scenarios
        .into_iter()
        .map(|scenario| Plan::of(scenario, &effort));
    let mut plans: Vec<Plan> = plans.collect();
    if let Some(only) = &args.only {
        plans.iter_mut().for_each(|plan| plan.keep_only(only));
        plans.retain(|plan| !plan.cases.is_empty());
        if plans.is_empty() {
            return Err(LabError::BadInput(format!(
                "no case of these scenarios has a name that contains \"{only}\" (--only)"
            )));
        }
    }
    if plans.iter().any(Plan::needs_jms) {
        // Nothing is fetched or compiled between what is measured.
        lab.jms = Some(Arc::new(Driver::build(jms_folder)?));
    }
    let _claim = Claim::of(&lab.out)?;
    let cases: usize = plans.iter().map(|plan| plan.cases.len()).sum();
    let windows = cases as u64 * u64::from(effort.rounds);
    let expected = plans.iter().map(|plan| plan.takes(&effort)).sum();
    let progress = Progress::new(windows, expected);
    let mut first = Ok(());
    for plan in &plans {
        let ran = run_plan(&lab, plan, &effort, &progress);
        let result = tell(plan.scenario, ran, args.explain, &progress);
        let interrupted = lab.interrupt.raised();
        // A failed scenario does not keep the others from being measured.
        first = first.and(result);
        if interrupted {
            break;
        }
    }
    first.map(|()| Exit::Done)
}

/// Shows a scenario's results.
fn tell(scenario: &Scenario, ran: Ran, explain: bool, progress: &Progress) -> Result<(), LabError> {
    let mut text = shown(&ran.document, explain);
    let mut result = ran.result;
    if !scenario.budgets.is_empty() {
        let (table, kept) = smoke::check(&scenario.budgets, &ran.document);
        text.push('\n');
        text.push_str(&table.text());
        result = result.and(kept);
    }
    if let Some(path) = &ran.saved {
        text.push_str(&format!("Results: {}\n", path.display()));
    }
    if let Some(path) = &ran.aside {
        text.push_str(&format!("Earlier results are now {}\n", path.display()));
    }
    if let Err(error) = &result
        && scenario.budgets.is_empty()
    {
        text.push_str(&format!("{} ended early: {error}\n", scenario.name));
    }
    let printed = progress.print(&text);
    match printed {
        // Whoever read the tables has gone; the files are there.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => result,
        Err(error) => result.and(Err(LabError::io(Path::new("standard output"), error))),
        Ok(()) => result,
    }
}

/// `posthaste perf list`.
pub(crate) fn list() -> String {
    let mut table = Table::new(1, &["scenario", "quick", "full", "measures"]).ending_in_words();
    let [quick, full] = [true, false].map(|quick| Effort::new(quick, None, None));
    let minutes = |effort: &Effort, scenarios: &mut dyn Iterator<Item = &'static Scenario>| {
        let all: Duration = scenarios.map(|s| Plan::of(s, effort).takes(effort)).sum();
        format!("{:.1} min", all.as_secs_f64() / 60.0)
    };
    for scenario in SCENARIOS.iter() {
        table.row(vec![
            scenario.name.to_owned(),
            minutes(&quick, &mut std::iter::once(scenario)),
            minutes(&full, &mut std::iter::once(scenario)),
            scenario.line.to_owned(),
        ]);
    }
    let all = || SCENARIOS.iter().filter(|scenario| scenario.in_all);
    let names: Vec<&str> = all().map(|scenario| scenario.name).collect();
    table.row(vec![
        "all".to_owned(),
        minutes(&quick, &mut all()),
        minutes(&full, &mut all()),
        names.join(", "),
    ]);
    format!(
        "{}Times are estimates, without what a slow disk adds.\n",
        table.text()
    )
}

/// `posthaste perf report`: the path of what was written.
pub(crate) fn report(args: &ReportArgs) -> Result<PathBuf, Failure> {
    let written = match &args.svg {
        Some(path) => report::write_headline(&args.results, path).map(|()| path.clone()),
        None => {
            let usual = args.results.join("report.html");
            let path = args.html.clone().unwrap_or(usual);
            report::write(&args.results, &path).map(|()| path)
        }
    };
    written.map_err(|error| unreported(&error))
}

/// The hidden commands that are the floor's servers.
fn serve_floor(bare: Bare, message_bytes: usize) -> Result<Exit, Failure> {
    floor::serve(bare, message_bytes)
        .map(|()| Exit::Done)
        .map_err(|error| Failure::io(Path::new(bare.command()), &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Result<Vec<&'static str>, LabError> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Ok(chosen(&names)?
            .iter()
            .map(|scenario| scenario.name)
            .collect())
    }

    #[test]
    fn scenarios_are_chosen_by_name_each_once() {
        assert_eq!(
            names(&["rr-cc", "floor", "rr-cc"]).unwrap(),
            ["rr-cc", "floor"]
        );
        let all = names(&["all"]).unwrap();
        assert!(all.contains(&"restart") && !all.contains(&"smoke"));
        let error = names(&["rr-cc", "rr-xx"]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("\"rr-xx\"; there are floor, rr-cc")
        );
        assert_eq!(failure(&error).exit, Exit::BadParameter);
    }

    #[test]
    fn a_report_on_nothing_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let args = |svg: Option<&str>| ReportArgs {
            results: folder.path().to_owned(),
            html: None,
            svg: svg.map(|name| folder.path().join(name)),
            markdown: false,
        };
        assert_eq!(report(&args(None)).unwrap_err().exit, Exit::Inconsistent);
        crate::results::samples::document()
            .save(folder.path())
            .unwrap();
        assert!(report(&args(None)).unwrap().exists());
        let svg = report(&args(Some("x.svg"))).unwrap();
        assert!(std::fs::read_to_string(svg).unwrap().starts_with("<svg "));
    }
}
