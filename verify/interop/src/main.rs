//! Runs cases by hand: `cargo run -p posthaste-interop -- Base.putAndGet@SC10 Jms@SC0`. With `--jakarta`
//! before them the clients are those of Jakarta Messaging. With `--via ADDRESS` before all else they connect there, to a relay
//! that shows what passes, and the address that it is to pass it on to is printed first.

use std::path::Path;
use std::process::ExitCode;

use posthaste_interop::java::{Edition, JAVA, Programs, missing};
use posthaste_interop::queue_manager::QueueManager;

fn run() -> Result<bool, String> {
    let mut cases: Vec<String> = std::env::args().skip(1).collect();
    let mut via = None;
    if cases.first().is_some_and(|first| first == "--via") && cases.len() > 2 {
        via = cases.drain(..2).nth(1);
    }
    let mut edition = Edition::Jms;
    if cases.first().is_some_and(|first| first == "--jakarta") {
        cases.remove(0);
        edition = Edition::Jakarta;
    }
    if let Some(name) = missing(&JAVA)? {
        return Err(format!("there is no {name} here"));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp");
    let programs = Programs::compile(&folder, edition)?;
    let qm = QueueManager::start()?;
    // Through a relay too a case may cut its connections, and have the queue manager start again.
    let address = qm.detour().address();
    println!("listening at {address}");
    let to = match via {
        Some(via) => {
            // The relay is told where to pass it on, and then this goes on.
            std::io::stdin()
                .read_line(&mut String::new())
                .map_err(|e| e.to_string())?;
            via.parse().map_err(|_| format!("{via} is no address"))?
        }
        None => address,
    };
    let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
    let outcomes = programs.run_at(&qm, to, &cases)?;
    for outcome in &outcomes {
        match &outcome.failure {
            None => println!("passed {}", outcome.name),
            Some(failure) => println!("FAILED {}: {failure}", outcome.name),
        }
    }
    Ok(outcomes.iter().all(|outcome| outcome.failure.is_none()))
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
