//! A queue manager in the background: `start` leaves a process behind, and returns when that process
//! serves or has failed.
//!
//! The process is this program again, in a session of its own. What it has to say before it serves
//! comes through a pipe, up to the line [`READY`]; then nobody reads the pipe any more.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use posthaste_command::messages;
use posthaste_server::{self as server, Console, DataDir, Exit, Failure, RunOptions, State};

use crate::cli;
use crate::control;
use crate::output::{complain, say};

/// What ends the messages of a start that succeeded.
const READY: &str = "posthaste: ready";

pub(crate) fn start(place: Option<&Path>, args: &cli::Start) -> Result<Exit, Failure> {
    if let Some(why) = args.missing() {
        return Err(Failure::bad_parameter(why));
    }
    let data = DataDir::find(place)?;
    let home = server::find(&data, args.queue_manager.as_deref())?;
    must_not_run(&data, &home)?;
    if args.objects {
        return control::restore(&data, &home, args.quiet);
    }
    if args.insecure {
        server::allow_insecure_listeners(&home)?;
    }
    if args.trust_log {
        for warning in server::trust_log(&posthaste_env::os(), &data, &home)? {
            complain(&warning.to_string());
        }
    }
    let failed = |error: std::io::Error| Failure::io(&home.folder, &error);
    let program = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .arg("serve")
        .arg(&home.name)
        .arg("--data-dir")
        .arg(data.root())
        .args(args.port.map(|port| format!("--port={port}")))
        .args(args.no_services.then_some("--no-listeners"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    if !args.quiet {
        say(&format!("Queue manager '{}' starting.", home.name))?;
    }
    let pipe = child.stdout.take();
    for line in pipe
        .into_iter()
        .flat_map(|pipe| BufReader::new(pipe).lines())
    {
        let line = line.map_err(failed)?;
        if line == READY {
            if !args.quiet {
                let text = messages::format("AMQ8003I", std::slice::from_ref(&home.name));
                say(&text)?;
            }
            return Ok(Exit::Done);
        }
        complain(&line);
    }
    let status = child.wait().map_err(failed)?;
    let exit = status.code().and_then(Exit::from_code);
    match exit {
        Some(Exit::Done) | None => {
            let what = format!("the queue manager's process ended before it was ready ({status})");
            Err(Failure::new(Exit::Internal, "AMQ6109S", &[&what]))
        }
        // What was wrong has come through the pipe.
        Some(exit) => Ok(exit),
    }
}

/// Whether a queue manager can be started: what hinders it has the same number and code however it is started.
pub(crate) fn must_not_run(data: &DataDir, home: &server::Home) -> Result<(), Failure> {
    server::check_copied(data, home)?;
    let name = home.name.as_str();
    match server::state(&posthaste_env::os(), home) {
        State::Running(server::Phase::Starting) => {
            Err(Failure::new(Exit::Running, "AMQ8137E", &[name]))
        }
        State::Running(server::Phase::Running) => Err(server::running(home)),
        // A start waits for its files.
        State::Running(_) if server::still_ending(home).is_some() => Ok(()),
        State::Running(_) => Err(Failure::new(Exit::Stopping, "AMQ8156E", &[name])),
        State::Silent => Err(server::silent(home)),
        State::Ended(_) | State::NotAvailable => Ok(()),
    }
}

pub(crate) fn serve(place: Option<&Path>, args: &cli::Serve) -> Result<Exit, Failure> {
    server::leave_the_terminal();
    let data = DataDir::find(place)?;
    let result = find_and_run(&data, args);
    match result {
        Ok(()) => Ok(Exit::Done),
        Err(failure) => {
            // Read by whoever started this process, if it has not served yet.
            let _ = writeln!(std::io::stdout(), "{failure}");
            Ok(failure.exit)
        }
    }
}

fn find_and_run(data: &DataDir, args: &cli::Serve) -> Result<(), Failure> {
    let home = server::find(data, Some(&args.queue_manager))?;
    let slowness = args.slowness.slowness();
    if !slowness.is_none() {
        // The error log says it too; this is for whoever waits for the start.
        let inserts = [home.name.clone(), slowness.to_string()];
        let text = messages::format("AMQ2031W", &inserts);
        let _ = writeln!(std::io::stdout(), "AMQ2031W: {text}");
    }
    let options = RunOptions {
        data: data.clone(),
        home: home.clone(),
        port: args.port,
        host: None,
        no_listeners: args.no_listeners,
        console: Console::Silent,
        slowness,
        plain_log: args.slowness.plain_log,
    };
    server::run(&posthaste_env::os(), &options, |ready| {
        let mut out = std::io::stdout().lock();
        for waiting in &ready.waiting {
            let _ = writeln!(out, "{}", waiting.warning(&home.name));
        }
        // Whoever waited for it may have been interrupted; the queue manager serves all the same.
        let _ = writeln!(out, "{READY}").and_then(|()| out.flush());
    })
}
