//! `posthaste doctor`: is this queue manager, and the machine under it, set up as the MQ performance papers
//! recommend, and who may come into it?
//!
//! Facts are gathered first ([`gather`], [`gather_machine`]); each check is a function from facts to a
//! verdict ([`practices`], [`security`], [`machine`]). Nothing is changed: a remedy is told, not applied.

mod gather;
mod gather_machine;
mod gather_security;
mod machine;
mod manager;
mod practices;
mod security;
mod verdict;

use std::path::{Path, PathBuf};
use std::time::Duration;

use posthaste_server::{self as server, DataDir, Exit, Failure, Home, State};
use serde::Serialize;

use crate::cli;
use crate::connect::Target;
use crate::mqsc::CommandServer;
use crate::output::{Out, complain};
use crate::typed::{data_dir_option, program};
use manager::Manager;
use verdict::{Finding, Summary, Verdict};

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
    let within = Duration::from_secs(args.wait.into());
    let state = home
        .as_ref()
        .map(|home| server::state_within(&env, home, within));
    let running = matches!(state, Some(State::Running(server::Phase::Running)));
    let mut findings = Vec::new();
    let measured = match home.as_ref().filter(|_| args.disk) {
        Some(home) => Some(measure(&data, home)?),
        None => None,
    };
    if let Some(home) = home.as_ref().filter(|_| running) {
        let mut manager = manager(&data, place, home, args.wait)?;
        manager.log_write_ns = measured.as_ref().map(|(_, times)| *times);
        findings.extend(practices::check(&manager));
        findings.extend(security::check(&manager));
    } else if args.disk {
        let verdict = measured.map(|(folder, times)| practices::measured_disk(&folder, times));
        findings.push(machine::log_disk(verdict.unwrap_or_else(not_measured)));
    }
    let status = home
        .as_ref()
        .filter(|_| running)
        .and_then(server::read_status);
    let folders = home.as_ref().map(|home| folders(&data, home));
    let folders = folders.unwrap_or_default();
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
    match name.is_none() && server::registered(data)?.default.is_none() {
        true => Ok(None),
        false => server::find(data, name).map(Some),
    }
}

fn folders(data: &DataDir, home: &Home) -> Vec<(&'static str, PathBuf)> {
    let mut folders = Vec::new();
    // A configuration that cannot be read is what `check` and the start complain about.
    if let Ok((settings, _)) = server::read_configuration(home) {
        folders.push(("recovery log", server::log_folder(data, home, &settings)));
    }
    folders.push(("data", home.folder.clone()));
    folders
}

/// Measures the disk of a queue manager's log, whether it runs or not: the folder; average and 99th percentile of a
/// write, in nanoseconds.
fn measure(data: &DataDir, home: &Home) -> Result<(String, (u64, u64)), Failure> {
    let (settings, _) = server::read_configuration(home)?;
    let folder = server::log_folder(data, home, &settings);
    complain("Measuring the log's disk for a second ...");
    let sample = posthaste_perf::disk_test::sample(&folder)?;
    let folder = folder.display().to_string();
    Ok((folder, (sample.average_ns, sample.p99_ns)))
}

fn not_measured() -> Verdict {
    let why = "--disk measures the disk of a queue manager's log, and none was named";
    let program = program();
    let remedy = format!("{program} doctor QM --disk, or {program} disktest --dir DIR");
    Verdict::skip(why).with_remedy(remedy)
}

fn manager(
    data: &DataDir,
    place: Option<&Path>,
    home: &Home,
    wait_s: u32,
) -> Result<Manager, Failure> {
    let target = Target {
        place,
        queue_manager: Some(&home.name),
        reach: &cli::ConnectArgs::default(),
        client: false,
        application: CommandServer::APPLICATION,
        within: Duration::from_secs(wait_s.into()),
    };
    let mut commands = CommandServer::connect(&target, wait_s)?;
    let mut manager = gather::gather(data, home, &mut commands)?;
    manager.security = gather_security::gather(home, &mut commands)?;
    commands.disconnect();
    manager.program = program();
    manager.place = data_dir_option(data);
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
    name: Option<(&str, State)>,
    running: bool,
    findings: &[Finding],
    summary: Summary,
) -> Result<(), Failure> {
    let mut out = Out::new();
    match (name, running) {
        (Some((name, _)), true) => out.line(&format!("Queue manager {name} is running."))?,
        (Some((name, State::Silent)), false) => out.line(&format!(
            "Queue manager {name} is there and does not answer: its process hangs, or was stopped (kill -STOP), or the \
             machine is overloaded. Only the machine is checked. Look at its error log, and at ps -o pid,stat,wchan; \
             {} stop -p {name} kills a process that does not answer, and nothing acknowledged is lost.",
            program()
        ))?,
        (Some((name, state)), false) => out.line(&format!(
            "Queue manager {name} is not running ({}): only the machine is checked. Start it ({} start {name}) \
             and ask again.",
            state.word(),
            program()
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
