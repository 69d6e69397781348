//! `posthaste doctor`: is this queue manager, and the machine under it, set up as the MQ performance papers
//! recommend?
//!
//! Facts are gathered first ([`gather`], [`gather_machine`]); each check is a function from facts to a
//! verdict ([`practices`], [`machine`]). Nothing is changed: a remedy is told, not applied.

mod gather;
mod gather_machine;
mod machine;
mod practices;
mod verdict;

use std::path::{Path, PathBuf};

use posthaste_server::{self as server, DataDir, Exit, Failure, Home, State};
use serde::Serialize;

use crate::cli;
use crate::connect::Target;
use crate::mqsc::CommandServer;
use crate::output::{Out, complain};
use crate::run::quoted;
use practices::Manager;
use verdict::{Finding, Summary};

/// Seconds to wait for an answer of the command server.
const PATIENCE: u32 = 60;

/// The whole result, as `--json` writes it.
#[derive(Serialize)]
struct Report<'a> {
    queue_manager: Option<&'a str>,
    running: bool,
    checks: &'a [Finding],
    summary: Summary,
}

pub(crate) fn doctor(place: Option<&Path>, args: &cli::Doctor) -> Result<Exit, Failure> {
    let data = DataDir::find(place)?;
    let home = find(&data, args.queue_manager.as_deref())?;
    let env = posthaste_env::os();
    let state = home.as_ref().map(|home| server::state(&env, home));
    let running = matches!(state, Some(State::Running(server::Phase::Running)));
    let mut findings = Vec::new();
    if let Some(home) = home.as_ref().filter(|_| running) {
        findings.extend(practices::check(&manager(&data, place, home, args)?));
    }
    let status = home
        .as_ref()
        .filter(|_| running)
        .and_then(server::read_status);
    let folders = home.as_ref().map(folders).unwrap_or_default();
    let facts = gather_machine::gather(&folders, status.as_ref());
    findings.extend(machine::check(&facts));
    let summary = Summary::of(&findings);
    let name = home.as_ref().map(|home| home.name.as_str());
    match args.json {
        true => json(&Report {
            queue_manager: name,
            running,
            checks: &findings,
            summary,
        })?,
        false => {
            let state = state.map(State::word);
            text(name.zip(state), running, &findings, summary)?;
        }
    }
    Ok(match summary.warn {
        0 => Exit::Done,
        _ => Exit::Warned,
    })
}

/// The queue manager that was named, or the default one; none if there is no default one.
fn find(data: &DataDir, name: Option<&str>) -> Result<Option<Home>, Failure> {
    match (server::find(data, name), name) {
        (Ok(home), _) => Ok(Some(home)),
        (Err(failure), Some(_)) => Err(failure),
        (Err(_), None) => Ok(None),
    }
}

fn folders(home: &Home) -> Vec<(&'static str, PathBuf)> {
    let mut folders = Vec::new();
    // A configuration that cannot be read is what `check` and the start complain about.
    let log = server::read_configuration(home).ok();
    if let Some(log) = log.and_then(|(settings, _)| settings.log_path) {
        folders.push(("recovery log", log));
    }
    folders.push(("data", home.folder.clone()));
    folders
}

fn manager(
    data: &DataDir,
    place: Option<&Path>,
    home: &Home,
    args: &cli::Doctor,
) -> Result<Manager, Failure> {
    let target = Target {
        place,
        queue_manager: Some(&home.name),
        reach: &cli::Reach::default(),
        client: false,
        application: CommandServer::APPLICATION,
    };
    let mut commands = CommandServer::connect(&target, PATIENCE)?;
    let mut manager = gather::gather(home, &mut commands)?;
    commands.disconnect();
    if data.is_chosen() {
        let folder = data.root().display().to_string();
        manager.place = format!(" --data-dir {}", quoted(&folder));
    }
    if args.disk {
        complain("Measuring the log's disk for a second ...");
        let folder = Path::new(&manager.log_folder);
        let sample = posthaste_perf::disk_test::sample(folder)?;
        manager.log_write_ns = Some((sample.average_ns, sample.p99_ns));
    }
    Ok(manager)
}

fn json(report: &Report<'_>) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(report)
        .map_err(|error| Failure::new(Exit::Internal, "AMQ6109S", &[&error.to_string()]))?;
    let mut out = Out::new();
    out.line(&text)?;
    out.flush()
}

fn text(
    name: Option<(&str, &str)>,
    running: bool,
    findings: &[Finding],
    summary: Summary,
) -> Result<(), Failure> {
    let mut out = Out::new();
    match (name, running) {
        (Some((name, _)), true) => out.line(&format!("Queue manager {name} is running."))?,
        (Some((name, state)), false) => out.line(&format!(
            "Queue manager {name} is not running ({state}): only the machine is checked. Start it (posthaste start {name}) \
             and ask again."
        ))?,
        (None, _) => out.line(
            "No queue manager was named and none is the default: only the machine is checked.",
        )?,
    }
    let mut section = "";
    for finding in findings {
        if finding.section != section {
            section = finding.section;
            out.line(&format!("\n{section}"))?;
        }
        out.bytes(finding.shown().as_bytes())?;
    }
    out.line(&format!("\n{}", summary.shown()))?;
    out.flush()
}
