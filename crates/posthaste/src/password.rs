//! Passwords that a command is given: from a file, from a person who types them unseen, or from the first line of
//! standard input. Never from the command line, which everybody on the machine can read.
//!
//! Invariant: a password is erased from memory when what holds it is dropped.

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::Path;

use posthaste_client::Password;
use posthaste_server::Failure;
use zeroize::Zeroizing;

use crate::output::stream_failure;

/// A longer line is no password.
const LONGEST: u64 = 4_096;

/// The first line of `file`; or else what a person types after `prompt`, or the first line of standard input.
pub(crate) fn ask(prompt: &str, file: Option<&Path>) -> Result<Password, Failure> {
    let text = match file {
        Some(path) => {
            let io = |error| Failure::io(path, &error);
            let file = File::open(path).map_err(io)?;
            first_line(&mut BufReader::new(file)).map_err(io)?
        }
        None => typed(prompt)?,
    };
    Ok(Password::new(text))
}

/// A new one: a person types it twice.
pub(crate) fn ask_twice() -> Result<Password, Failure> {
    let first = typed("New password: ")?;
    if std::io::stdin().is_terminal() && *typed("The same again: ")? != *first {
        let what = "the two passwords are not the same";
        return Err(Failure::bad_parameter(what));
    }
    Ok(Password::new(first))
}

fn typed(prompt: &str) -> Result<Zeroizing<String>, Failure> {
    let input = |error| stream_failure("the password", &error);
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return rpassword::prompt_password(prompt)
            .map(Zeroizing::new)
            .map_err(input);
    }
    first_line(&mut stdin.lock()).map_err(input)
}

fn first_line(from: &mut dyn BufRead) -> std::io::Result<Zeroizing<String>> {
    let mut line = Zeroizing::new(String::with_capacity(256));
    from.take(LONGEST).read_line(&mut line)?;
    let end = line.trim_end_matches(['\n', '\r']).len();
    line.truncate(end);
    Ok(line)
}
