//! Writes a page of reference: `cargo run -p posthaste-command --example reference_page -- attributes >
//! docs/attributes.md`, and with `messages` the other one.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("attributes") => print!("{}", posthaste_command::reference_page()),
        Some("messages") => print!("{}", posthaste_command::messages_page()),
        _ => {
            eprintln!("which page: attributes or messages?");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
