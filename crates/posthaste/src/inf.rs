//! `addmqinf`, `rmvmqinf`, `dspmqinf`: the stanzas of mqs.ini, by which commands find queue managers (manual: "IBM MQ
//! control commands reference").
//!
//! Invariant: nothing but mqs.ini is changed, and which folder of queue managers a data folder is noted for; all other files of a queue
//! manager stay as they are.

use std::path::{Path, PathBuf};

use posthaste_server::{self as server, DataDir, Exit, Failure, Home, State};

use crate::cli;
use crate::output::say;
use crate::typed::quoted;

/// The one stanza that these commands are about.
const STANZA: &str = "QueueManager";

fn known_stanza(name: &str) -> Result<(), Failure> {
    match name.eq_ignore_ascii_case(STANZA) {
        true => Ok(()),
        false => Err(Failure::bad_parameter(format!(
            "stanza {name} is not one that this command knows; {STANZA} is"
        ))),
    }
}

fn attribute_missing(name: &str) -> Failure {
    Failure::new(Exit::AttributeMissing, "AMQ2048E", &[name])
}

/// The values of `-v`, by MQ's names.
#[derive(Default)]
struct Values {
    name: Option<String>,
    data_path: Option<PathBuf>,
    prefix: Option<PathBuf>,
    directory: Option<String>,
}

impl Values {
    fn read(given: &[String]) -> Result<Values, Failure> {
        let mut values = Values::default();
        for pair in given {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match key.to_ascii_lowercase().as_str() {
                "" => return Err(attribute_missing("Name")),
                key if value.is_empty() => return Err(attribute_missing(key)),
                "name" => values.name = Some(value.to_owned()),
                "datapath" => values.data_path = Some(value.into()),
                "prefix" => values.prefix = Some(value.into()),
                "directory" => values.directory = Some(value.to_owned()),
                // MQ's own outputs have it; there is one installation here.
                "installationname" => {}
                _ => return Err(attribute_missing(key)),
            }
        }
        Ok(values)
    }

    /// The queue manager that they describe; `data` says where it is if they do not.
    fn home(self, data: &DataDir) -> Result<Home, Failure> {
        let name = self.name.ok_or_else(|| attribute_missing("Name"))?;
        server::check_name(&name)?;
        let folder = match (self.data_path, self.prefix, self.directory) {
            (Some(path), ..) => path,
            (None, Some(prefix), Some(directory)) => prefix.join("qmgrs").join(directory),
            (None, Some(_), None) => return Err(attribute_missing("Directory")),
            (None, None, Some(_)) => return Err(attribute_missing("Prefix")),
            (None, None, None) => data.new_data(&name, None),
        };
        let folder = std::path::absolute(&folder).map_err(|error| Failure::io(&folder, &error))?;
        Ok(Home { name, folder })
    }
}

pub(crate) fn add(place: Option<&Path>, args: &cli::AddInf) -> Result<Exit, Failure> {
    known_stanza(&args.stanza)?;
    let data = DataDir::find(place)?;
    let home = Values::read(&args.values)?.home(&data)?;
    server::add_existing(&data, &home)?;
    say(&format!(
        "Queue manager '{}' is known again: its data is in '{}'.",
        home.name,
        home.folder.display()
    ))?;
    Ok(Exit::Done)
}

pub(crate) fn remove(place: Option<&Path>, args: &cli::RemoveInf) -> Result<Exit, Failure> {
    let data = DataDir::find(place)?;
    let registered = server::registered(&data)?;
    let home = match registered.find_even_deleted(&args.queue_manager) {
        Some(home) => home.clone(),
        None => find(&data, &args.queue_manager)?,
    };
    if let State::Running(_) = server::state(&posthaste_env::os(), &home) {
        return Err(server::running(&home));
    }
    server::forget(&data, &home.name)?;
    say(&format!(
        "Queue manager '{}' is not known any more; its files in '{}' are as they were.",
        home.name,
        home.folder.display()
    ))?;
    Ok(Exit::Done)
}

pub(crate) fn display(place: Option<&Path>, args: &cli::DisplayInf) -> Result<Exit, Failure> {
    known_stanza(&args.stanza)?;
    let data = DataDir::find(place)?;
    let home = find(&data, &args.queue_manager)?;
    let folder = home.folder.display().to_string();
    say(&match args.output {
        cli::Information::Stanza => {
            format!("{STANZA}:\n   Name={}\n   DataPath={folder}", home.name)
        }
        cli::Information::Command => format!(
            "addmqinf -s {STANZA} -v Name={} -v {}",
            home.name,
            quoted(&format!("DataPath={folder}"))
        ),
    })?;
    Ok(Exit::Done)
}

fn find(data: &DataDir, name: &str) -> Result<Home, Failure> {
    server::check_name(name)?;
    let registered = server::registered(data)?;
    let found = registered.find(name).cloned();
    found.ok_or_else(|| Failure::new(Exit::StanzaMissing, "AMQ2046E", &[name]))
}
