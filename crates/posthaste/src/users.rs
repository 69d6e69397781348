//! `users`: a queue manager's own users, in a file beside it that only its owner reads.

use std::path::Path;

use posthaste_server::{
    DataDir, Exit, Failure, Home, UserFile, UserFileError, find, read_configuration, users_changed,
};

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
        UsersCommand::Remove(args) => {
            change(place, ("remove", args), |file, user| file.remove(user))
        }
        UsersCommand::Add(args) => {
            let password = ask_twice()?;
            change(place, ("add", args), |file, user| {
                file.add(user, password.as_bytes())
            })
        }
        UsersCommand::Passwd(args) => {
            let password = ask_twice()?;
            change(place, ("passwd", args), |file, user| {
                file.set_password(user, password.as_bytes())
            })
        }
    }
}

fn change(
    place: Option<&Path>,
    (command, args): (&str, &OneUser),
    change: impl FnOnce(&UserFile, &str) -> Result<(), UserFileError>,
) -> Result<Exit, Failure> {
    let home = home(place, args.queue_manager.as_deref())?;
    // Whatever keeps the change from being audited keeps it from being made.
    let (settings, _) = read_configuration(&home)?;
    let changed = change(&UserFile::new(home.users()), &args.user);
    let why = changed.as_ref().err().map(ToString::to_string);
    users_changed(&home, &settings, command, &args.user, why.as_deref());
    changed.map_err(|error| failed(&error))?;
    Ok(Exit::Done)
}

fn home(place: Option<&Path>, queue_manager: Option<&str>) -> Result<Home, Failure> {
    let data = DataDir::find(place)?;
    find(&data, queue_manager)
}

fn file(place: Option<&Path>, queue_manager: Option<&str>) -> Result<UserFile, Failure> {
    Ok(UserFile::new(home(place, queue_manager)?.users()))
}

fn failed(error: &UserFileError) -> Failure {
    Failure::new(Exit::BadParameter, "AMQ2232E", &[&error.to_string()])
}
