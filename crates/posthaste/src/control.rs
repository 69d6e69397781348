//! The control commands that do their work in this process: create, stop, delete, list, check.

use std::path::Path;
use std::time::{Duration, Instant};

use posthaste_command::messages;
use posthaste_server::{
    self as server, Access, CreateOptions, Creation, DataDir, EndMode, Exit, Failure, Home,
    LISTENER, LastEnd, Listed, State,
};

use crate::cli;
use crate::encryption;
use crate::output::{Out, Progress, complain, counted, say};
use crate::typed::{data_dir_option, program, quoted};

/// Where a listener that nobody gave an address listens.
const LOOPBACK: &str = "127.0.0.1";

/// A message of the table on standard output, unless the operator wants none.
fn tell(quiet: bool, id: &str, inserts: &[&str]) -> Result<(), Failure> {
    if quiet {
        return Ok(());
    }
    let inserts: Vec<String> = inserts.iter().map(|&insert| insert.to_owned()).collect();
    say(&messages::format(id, &inserts))
}

/// `-ls` and `-lp` together.
pub(crate) fn shape(log: &cli::LogShape) -> Result<server::ini::Shape, Failure> {
    let files = log.primary + log.secondary;
    if files > 511 {
        return Err(Failure::bad_parameter(format!(
            "primary and secondary log files together are {files}, and there may be 511"
        )));
    }
    Ok(server::ini::Shape {
        file_pages: log.file_pages,
        primary: log.primary,
        secondary: log.secondary,
        ..server::ini::Shape::default()
    })
}

fn absolute(path: Option<&Path>) -> Result<Option<std::path::PathBuf>, Failure> {
    let absolute =
        |path: &Path| std::path::absolute(path).map_err(|error| Failure::io(path, &error));
    path.map(absolute).transpose()
}

/// Whether the kind of logging that is asked for is in this release.
fn check_logging(args: &cli::Create) -> Result<(), Failure> {
    let asked = [
        (args.linear, "linear logging (-ll)"),
        (args.replicated.is_some(), "replicated logging (-lr)"),
    ];
    match asked.iter().find(|(asked, _)| *asked) {
        None => Ok(()),
        Some((_, what)) => Err(Failure::bad_parameter(format!(
            "{what} is not in this release; circular logging (-lc) is"
        ))),
    }
}

pub(crate) fn create(place: Option<&Path>, args: &cli::Create) -> Result<Exit, Failure> {
    check_logging(args)?;
    let data = DataDir::find(place)?;
    let name = &args.queue_manager;
    let listener = |port| server::listener_object(port, LOOPBACK);
    let commands = args.port.map(listener).into_iter().collect();
    let creation = Creation {
        name: name.clone(),
        data: absolute(args.data.as_deref())?,
        log: absolute(args.log.as_deref())?,
        shape: shape(&args.shape)?,
        options: CreateOptions {
            dead_letter_q: args.dead_letter_queue.clone().unwrap_or_default(),
            default_xmit_q: args.transmission_queue.clone().unwrap_or_default(),
            description: args.description.clone().unwrap_or_default(),
            max_handles: args.max_handles,
            max_uncommitted: args.max_uncommitted,
            trigger_interval: args.trigger_interval,
        },
        encryption: encryption::source(&args.encrypt)?,
        access: Access::Passwords,
        default: args.default,
        commands,
    };
    let created = create_with_progress(&data, &creation, args.quiet)?;
    if let Some(port) = args.port
        && let Err(error) = server::try_listen(LOOPBACK, port)
    {
        let (port, why) = (port.to_string(), error.to_string());
        let inserts = [&port, LOOPBACK, LISTENER, name, &why];
        let warning = Failure::new(Exit::CannotListen, "AMQ2041W", &inserts);
        complain(&warning.to_string());
    }
    if args.quiet {
        return Ok(Exit::Done);
    }
    let mut out = Out::new();
    out.line(&format!("Queue manager '{name}' created."))?;
    out.line(&format!(
        "Directory '{}' created.",
        created.home.folder.display()
    ))?;
    out.line(&format!("Directory '{}' created.", created.log.display()))?;
    out.line(&format!(
        "Creating or replacing default objects for queue manager '{name}'."
    ))?;
    out.line(&format!(
        "Default objects statistics : {} created. 0 replaced. 0 failed.",
        created.objects
    ))?;
    if let Some(port) = args.port {
        out.line(&format!(
            "Listener {LISTENER} is on {LOOPBACK}({port}). Clients need a password and authorities:"
        ))?;
        for line in for_clients(&data, name) {
            out.line(&line)?;
        }
    }
    out.line("Completing setup.")?;
    out.line("Setup completed.")?;
    out.flush()?;
    Ok(Exit::Done)
}

/// What lets a client in, as it is typed.
fn for_clients(data: &DataDir, name: &str) -> [String; 3] {
    let (program, folder, name) = (program(), data_dir_option(data), quoted(name));
    [
        format!("users add USER {name}"),
        format!("setmqaut -m {name} -t qmgr -p USER +connect"),
        format!("setmqaut -m {name} -t queue -n 'QUEUE' -p USER +put +get"),
    ]
    .map(|words| format!("  {program}{folder} {words}"))
}

/// `strmqm -c`: the system objects of a queue manager that is not running.
pub(crate) fn restore(data: &DataDir, home: &Home, quiet: bool) -> Result<Exit, Failure> {
    let restored = server::restore_objects(&posthaste_env::os(), data, home)?;
    let server::Restored {
        created,
        replaced,
        failed,
    } = &restored;
    if !quiet {
        say(&format!(
            "Creating or replacing default objects for queue manager '{}'.\n\
             Default objects statistics : {created} created. {replaced} replaced. {} failed.",
            home.name,
            failed.len()
        ))?;
    }
    for name in failed {
        complain(&format!(
            "{name} is there, but of another type: delete it, and do this again."
        ));
    }
    Ok(match failed.is_empty() {
        true => Exit::Done,
        false => Exit::CommandsFailed,
    })
}

/// Creates, showing how much of the log has been written.
pub(crate) fn create_with_progress(
    data: &DataDir,
    creation: &Creation,
    quiet: bool,
) -> Result<server::Created, Failure> {
    let env = posthaste_env::os();
    if quiet {
        return server::create(&env, data, creation, &mut |_, _| {});
    }
    let progress = Progress::bytes("Making the recovery log");
    let created = server::create(&env, data, creation, &mut |done, total| {
        progress.set(done, total);
    });
    progress.clear();
    created
}

pub(crate) fn stop(place: Option<&Path>, args: &cli::Stop) -> Result<Exit, Failure> {
    if let Some(why) = args.missing() {
        return Err(Failure::bad_parameter(why));
    }
    let data = DataDir::find(place)?;
    let home = server::find(&data, args.queue_manager.as_deref())?;
    let first = match (args.immediate, args.preemptive) {
        (true, _) => EndMode::Immediate,
        (_, true) => EndMode::Preemptive,
        _ => EndMode::Controlled,
    };
    // Each step waits for so long before the next, faster one.
    let seconds = Duration::from_secs;
    let faster: Vec<(Duration, EndMode)> = match (args.within, args.within_or_preempt) {
        (Some(within), _) => vec![(seconds(within), EndMode::Immediate)],
        (_, Some(within)) => {
            let half = seconds(within) / 2;
            vec![(half, EndMode::Immediate), (half, EndMode::Preemptive)]
        }
        _ => Vec::new(),
    };
    let waits = args.wait || first != EndMode::Controlled || !faster.is_empty();
    let mut ending = match server::end(&home, first) {
        Ok(ending) => ending,
        // It has been told already, and has not let its files go.
        Err(failure) => match server::still_ending(&home) {
            Some(_) if failure.exit == Exit::NotRunning => {
                return gone(&home, None, first, args.quiet);
            }
            _ => return Err(failure),
        },
    };
    if !waits {
        tell(args.quiet, "AMQ7030I", &[])?;
        return Ok(Exit::Done);
    }
    if !args.quiet {
        say(&format!(
            "Waiting for queue manager '{}' to end.",
            home.name
        ))?;
    }
    let mut ended = false;
    let mut asked = first;
    for (within, mode) in faster {
        ended = wait(&home, &mut ending, Some(within))?;
        if ended {
            break;
        }
        asked = mode;
        match server::end(&home, mode) {
            Ok(next) => ending = next,
            // It has ended in between.
            Err(failure) if failure.exit == Exit::NotRunning => ended = true,
            Err(failure) => return Err(failure),
        }
    }
    if !ended {
        let within = (asked == EndMode::Preemptive).then_some(BROKEN_OFF);
        if !wait(&home, &mut ending, within)? {
            // What is under way holds it up.
            ending.kill().map_err(|error| {
                in_use_still(&home, &home.lock())
                    .with_detail(format!("It was not killed: {error}."))
            })?;
        }
    }
    gone(&home, ending.process(), asked, args.quiet)
}

/// Says that a queue manager has ended, once nobody has its files.
fn gone(home: &Home, process: Option<u32>, asked: EndMode, quiet: bool) -> Result<Exit, Failure> {
    released(home, process)?;
    ended_as_asked(home, asked)?;
    tell(quiet, "AMQ8004I", &[&home.name])?;
    Ok(Exit::Done)
}

/// Whether a queue manager that has ended did so in order; why not, and with which exit code, is passed on.
fn ended_as_asked(home: &Home, asked: EndMode) -> Result<(), Failure> {
    let name = home.name.as_str();
    let State::Ended(LastEnd::Unexpectedly) = server::state(&posthaste_env::os(), home) else {
        // In order; or somebody has started it again.
        return Ok(());
    };
    match server::Cause::read(home) {
        Some(cause) => Err(Failure::new(cause.exit, "AMQ2042E", &[name, &cause.what])),
        // One that does not even break off in order is killed.
        None if asked == EndMode::Preemptive => Ok(()),
        None => Err(Failure::new(Exit::Internal, "AMQ2043E", &[name])),
    }
}

fn wait(
    home: &Home,
    ending: &mut server::Ending,
    within: Option<Duration>,
) -> Result<bool, Failure> {
    // Zero would mean "for ever" to the system.
    let within = within.map(|time| time.max(Duration::from_millis(1)));
    let ended = ending.wait(within);
    ended.map_err(|error| Failure::io(&home.folder, &error))
}

/// How long breaking off may take, where a disk holds up what is under way, before the process is killed.
const BROKEN_OFF: Duration = Duration::from_secs(20);
/// How long a process that has ended its queue manager may take to let its files go.
const RELEASED: Duration = Duration::from_secs(10);

/// The process closes its sockets before it is gone, which it is when the last of its threads has written what it was writing: whoever
/// starts the queue manager next, or copies its files, wants to know that.
fn released(home: &Home, process: Option<u32>) -> Result<(), Failure> {
    let env = posthaste_env::os();
    let until = Instant::now() + RELEASED;
    let held = || match process {
        Some(_) => server::held_lock(&env, home),
        // Whoever has the lock that goes last could be a successor.
        None => server::held_files(&env, home),
    };
    while let Some(path) = held() {
        // Somebody else looks at the files, or has started it again.
        if let (Some(process), Some(holder)) = (process, server::holder_of(&path))
            && holder != process
        {
            break;
        }
        if Instant::now() >= until {
            return Err(in_use_still(home, &path));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// `lock`: which of its locks a process has.
fn in_use_still(home: &Home, lock: &Path) -> Failure {
    let inserts = [&*home.name, &server::holder(lock)];
    Failure::new(Exit::TimedOut, "AMQ2090E", &inserts)
}

pub(crate) fn delete(place: Option<&Path>, args: &cli::Delete) -> Result<Exit, Failure> {
    let data = DataDir::find(place)?;
    let home = server::find_to_delete(&data, &args.queue_manager)?;
    let deleted = server::delete(&posthaste_env::os(), &data, &home)?;
    if !args.quiet {
        for folder in deleted.mounted {
            let text = messages::format("AMQ2059I", &[folder.display().to_string()]);
            say(&format!("AMQ2059I: {text}"))?;
        }
        match deleted.was_gone {
            true => say(&format!(
                "Queue manager '{}' forgotten: its deletion was broken off, and nothing was in '{}' any more.",
                home.name,
                home.folder.display()
            ))?,
            false => say(&format!("Queue manager '{}' deleted.", home.name))?,
        }
    }
    Ok(Exit::Done)
}

/// A queue manager as `dspmq` shows it.
fn listed(found: &Listed, args: &cli::List) -> String {
    use cli::Show;
    let asked = |show: Show| args.show.contains(&show) || args.show.contains(&Show::All);
    let mut line = format!("QMNAME({})", found.home.name);
    if args.show.is_empty() || asked(Show::Status) || args.status {
        let cause = found.cause.as_ref();
        let cause = cause.map_or_else(String::new, |cause| format!(" ({})", cause.what));
        line.push_str(&format!(" STATUS({}{cause})", found.state.word()));
    }
    if asked(Show::Default) {
        let default = if found.default { "yes" } else { "no" };
        line.push_str(&format!(" DEFAULT({default})"));
    }
    if asked(Show::Standby) {
        line.push_str(" STANDBY(Not permitted)");
    }
    if asked(Show::Installation) {
        let program = std::env::current_exe().unwrap_or_default();
        let folder = program.parent().unwrap_or(Path::new("")).display();
        line.push_str(&format!(
            " INSTNAME(Installation1) INSTPATH({folder}) INSTVER({})",
            server::VRMF
        ));
    }
    if args.show.contains(&Show::All) {
        line.push_str(&format!(" DATAPATH({})", found.home.folder.display()));
        if let Some(status) = &found.status {
            line.push_str(&format!(" PID({})", status.process));
            for (name, address) in &status.listeners {
                let (host, port) = (address.ip(), address.port());
                line.push_str(&format!(" LISTENER({name}) ADDRESS({host}({port}))"));
            }
        }
    }
    if args.instances && matches!(found.state, State::Running(_)) {
        line.push_str("\n    INSTANCE(localhost) MODE(Active)");
    }
    line
}

pub(crate) fn list(place: Option<&Path>, args: &cli::List) -> Result<Exit, Failure> {
    let data = DataDir::find(place)?;
    let mut all = server::list(&posthaste_env::os(), &data)?;
    if let Some(name) = &args.queue_manager {
        all.retain(|found| found.home.name == *name);
        if all.is_empty() {
            return Err(Failure::not_found(name));
        }
    }
    let mut out = Out::new();
    for found in &all {
        if args.active && !matches!(found.state, State::Running(_)) {
            continue;
        }
        out.line(&listed(found, args))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

pub(crate) fn check(place: Option<&Path>, args: &cli::Check) -> Result<Exit, Failure> {
    if let Some(file) = &args.file {
        let bytes = std::fs::read(file).map_err(|error| Failure::io(file, &error))?;
        let shown = file.display().to_string();
        let (_, notes) = server::parse_configuration(&shown, &bytes)?;
        for note in &notes {
            complain(&note.to_string());
        }
        say(&format!("{shown}: no fault was found."))?;
        return Ok(Exit::Done);
    }
    let data = DataDir::find(place)?;
    let home = server::find(&data, args.queue_manager.as_deref())?;
    if args.data
        && matches!(
            server::state(&posthaste_env::os(), &home),
            State::Running(_)
        )
    {
        return Err(server::running(&home));
    }
    let found = server::check(&posthaste_env::os(), &data, &home, args.data);
    for note in &found.notes {
        complain(&note.to_string());
    }
    let messages = found.warnings.iter().chain(&found.damaged);
    for failure in messages.chain(&found.faults) {
        complain(&failure.to_string());
    }
    if let Some(first) = found.faults.first() {
        return Ok(first.exit);
    }
    let shown = home.configuration().display().to_string();
    if let Some(first) = found.damaged.first() {
        let queues = counted(found.damaged.len() as u64, "queue");
        say(&format!(
            "{shown}: {} would start, with {queues} damaged.",
            home.name
        ))?;
        return Ok(first.exit);
    }
    say(&match (found.running, args.data) {
        (true, _) => format!(
            "{shown}: no fault was found. {} is running: its log and its messages were not looked at.",
            home.name
        ),
        (false, false) => format!("{shown}: no fault was found. {} would start.", home.name),
        (false, true) => format!(
            "{shown}: no fault was found. {} would start, and {} can be read.",
            home.name,
            counted(found.messages, "message")
        ),
    })?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{List, Show};

    fn found() -> Listed {
        Listed {
            home: Home {
                name: "QM1".to_owned(),
                folder: "/d/qmgrs/QM1".into(),
            },
            state: State::Ended(LastEnd::Immediately),
            cause: None,
            status: None,
            default: true,
        }
    }

    fn args(show: &[Show]) -> List {
        List {
            queue_manager: None,
            show: show.to_vec(),
            status: false,
            not_translated: false,
            active: false,
            instances: false,
        }
    }

    #[test]
    fn dspmq_shows_what_is_asked_for() {
        let shown = |show: &[Show]| listed(&found(), &args(show));
        assert_eq!(shown(&[]), "QMNAME(QM1) STATUS(Ended immediately)");
        assert_eq!(shown(&[Show::Default]), "QMNAME(QM1) DEFAULT(yes)");
        assert_eq!(
            shown(&[Show::Status, Show::Default]),
            "QMNAME(QM1) STATUS(Ended immediately) DEFAULT(yes)"
        );
        let all = shown(&[Show::All]);
        assert!(all.contains("DATAPATH(/d/qmgrs/QM1)"), "{all}");
        assert!(!all.contains("PID("));
    }

    /// Who asks for no shape gets the one that is recommended, from every command that creates.
    #[test]
    fn commands_create_the_default_log() {
        use clap::Parser as _;
        for line in [["posthaste", "create", "QM1"], ["posthaste", "run", "QM1"]] {
            let asked = match cli::Cli::try_parse_from(line).unwrap().command {
                cli::Command::Create(create) => create.shape,
                cli::Command::Run(run) => run.shape,
                other => panic!("{other:?}"),
            };
            assert_eq!(shape(&asked).unwrap(), server::ini::Shape::default());
        }
    }

    #[test]
    fn log_files_are_limited_together() {
        let log = |primary, secondary| cli::LogShape {
            file_pages: 64,
            primary,
            secondary,
        };
        assert!(shape(&log(510, 1)).is_ok());
        assert!(shape(&log(510, 2)).is_err());
    }
}
