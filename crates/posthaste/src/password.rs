//! Passwords that a command is given: from a file, from a person who types them unseen, or from the first line of
//! standard input. Never from the command line, which everybody on the machine can read.
//!
//! Invariant: a password is erased from memory when what holds it is dropped.

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::Path;

use posthaste_client::Password;
use posthaste_server::{FIRST_PASSWORDS, Failure};
use zeroize::Zeroizing;

use crate::output::stream_failure;

/// A longer line is no password.
const LONGEST: u64 = 4_096;

/// The password of `user`: the first line of `file`, or what that says of him if it is one that the first run of a queue manager
/// has made; or else what a person types after `prompt`, or the first line of standard input.
pub(crate) fn ask(prompt: &str, user: &str, file: Option<&Path>) -> Result<Password, Failure> {
    let text = match file {
        Some(path) => in_file(path, user)?,
        None => typed(prompt)?,
    };
    Ok(Password::new(text))
}

fn in_file(path: &Path, user: &str) -> Result<Zeroizing<String>, Failure> {
    let io = |error| Failure::io(path, &error);
    let mut file = BufReader::new(File::open(path).map_err(io)?);
    let first = first_line(&mut file).map_err(io)?;
    if !first.starts_with(FIRST_PASSWORDS) {
        return Ok(first);
    }
    let mut rest = Zeroizing::new(String::with_capacity(256));
    file.take(LONGEST).read_to_string(&mut rest).map_err(io)?;
    let pairs = rest.lines().filter_map(|line| line.split_once(' '));
    let (mut users, mut found) = (Vec::new(), None);
    for (name, password) in pairs {
        users.push(name);
        if name == user {
            found = Some(Zeroizing::new(password.to_owned()));
        }
    }
    found.ok_or_else(|| {
        let (path, users) = (path.display(), users.join(", "));
        let what = format!("{path} has no password of {user}; it has those of {users}");
        Failure::bad_parameter(&what)
    })
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
