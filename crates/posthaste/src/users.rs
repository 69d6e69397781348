//! `users`: a queue manager's own users, in a file beside it that only its owner reads.

use std::path::Path;

use posthaste_server::{DataDir, Exit, Failure, UserFile, UserFileError, find};

use crate::cli::{OneUser, Users, UsersCommand};
use crate::output::Out;
use crate::password::ask_twice;

pub(crate) fn users(place: Option<&Path>, args: &Users) -> Result<Exit, Failure> {
    match &args.command {
        UsersCommand::List(args) => {
            let file = file(place, args.queue_manager.as_deref())?;
            let mut out = Out::new();
            for name in file.names().map_err(|error| failed(&error))? {
                out.line(&name)?;
            }
            out.flush()?;
            Ok(Exit::Done)
        }
        UsersCommand::Remove(args) => change(place, args, |file, user| file.remove(user)),
        UsersCommand::Add(args) => {
            let password = ask_twice()?;
            change(place, args, |file, user| {
                file.add(user, password.as_bytes())
            })
        }
        UsersCommand::Passwd(args) => {
            let password = ask_twice()?;
            change(place, args, |file, user| {
                file.set_password(user, password.as_bytes())
            })
        }
    }
}

fn change(
    place: Option<&Path>,
    args: &OneUser,
    change: impl FnOnce(&UserFile, &str) -> Result<(), UserFileError>,
) -> Result<Exit, Failure> {
    let file = file(place, args.queue_manager.as_deref())?;
    change(&file, &args.user).map_err(|error| failed(&error))?;
    Ok(Exit::Done)
}

fn file(place: Option<&Path>, queue_manager: Option<&str>) -> Result<UserFile, Failure> {
    let data = DataDir::find(place)?;
    Ok(UserFile::new(find(&data, queue_manager)?.users()))
}

fn failed(error: &UserFileError) -> Failure {
    Failure::new(Exit::BadParameter, "AMQ2232E", &[&error.to_string()])
}
