//! Facts about a running queue manager: from its command server, its qm.ini and its error logs.
//!
//! Invariant: nothing is judged here, and nothing of the queue manager is changed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use posthaste_server::{self as server, DataDir, Failure, Home};

use super::manager::{Counted, Manager, Queue, Setting};
use crate::mqsc::CommandServer;

/// An object as the command server shows it.
pub(super) type Shown = BTreeMap<String, String>;

/// Attributes of one answer: `NAME(value)`, as often as there are. Brackets within values are kept.
pub(super) fn attributes(text: &str) -> Shown {
    let mut found = Shown::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('(') {
        let name = before.rsplit([' ', '\n']).next().unwrap_or("");
        let mut depth = 1;
        let end = after.char_indices().find(|(_, letter)| {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some((end, _)) = end else {
            return found;
        };
        let value = after.get(..end).unwrap_or("").trim_matches(' ');
        found.insert(name.to_owned(), value.to_owned());
        rest = after.get(end + 1..).unwrap_or("");
    }
    found
}

fn number(shown: &Shown, name: &str) -> Option<u64> {
    shown.get(name)?.parse().ok()
}

pub(super) fn text<'a>(shown: &'a Shown, name: &str) -> &'a str {
    shown.get(name).map_or("", String::as_str)
}

/// What a DISPLAY command answers.
pub(super) fn display(commands: &mut CommandServer, command: &str) -> Result<Vec<Shown>, Failure> {
    let answers = commands.execute(command)?;
    let shown = answers.texts().iter().map(|text| attributes(text));
    Ok(shown.filter(|shown| !shown.is_empty()).collect())
}

/// Everything about a queue manager that runs.
pub(crate) fn gather(
    data: &DataDir,
    home: &Home,
    commands: &mut CommandServer,
) -> Result<Manager, Failure> {
    let (settings, _) = server::read_configuration(home)?;
    let log = &settings.log;
    let running = server::read_status(home);
    let in_force = running.and_then(|status| status.log_buffer_pages);
    let status = display(commands, "DISPLAY QMSTATUS ALL")?;
    let status = status.into_iter().next().unwrap_or_default();
    let log_folder = server::log_folder(data, home, &settings);
    let primary_files = log.primary_files.into();
    let mut manager = Manager {
        name: home.name.clone(),
        configuration: home.configuration().display().to_string(),
        log_keys: log_keys(home),
        log_file_pages: number(&status, "LOGEXTSZ").map_or(log.file_pages.into(), |kib| kib / 4),
        log_primary_files: Setting {
            running: number(&status, "LOGPRIM").unwrap_or(primary_files),
            written: primary_files,
        },
        log_secondary_files: log.secondary_files.into(),
        log_buffer_pages: in_force.map(|running| Setting {
            running: buffer(running),
            written: buffer(log.buffer_pages),
        }),
        log_in_use: number(&status, "LOGINUSE"),
        log_folder: log_folder.display().to_string(),
        errors_with_log: same_device(&home.errors(), &log_folder),
        counted: Some(counted(&server::counters(home)?)),
        ..Manager::default()
    };
    count_messages(home, &mut manager);
    let queues = display(
        commands,
        "DISPLAY QLOCAL(*) DEFPSIST CURDEPTH MAXDEPTH IPPROCS OPPROCS",
    )?;
    let dead = display(commands, "DISPLAY QMGR DEADQ")?;
    let dead = dead.first().map_or("", |shown| text(shown, "DEADQ"));
    add_queues(&mut manager, &queues, dead);
    let connections = display(commands, "DISPLAY CONN(*) ALL")?;
    add_connections(&mut manager, &connections, Timestamp::now());
    Ok(manager)
}

/// `LogBufferPages` as it works.
fn buffer(pages: u32) -> u64 {
    let shape = server::ini::Shape {
        buffer_pages: pages,
        ..server::ini::Shape::default()
    };
    shape.buffer_pages_in_force().into()
}

/// Keys that are written in the Log stanza. A file that cannot be read has none.
fn log_keys(home: &Home) -> Vec<String> {
    let bytes = std::fs::read(home.configuration()).unwrap_or_default();
    let (stanzas, _) = server::ini::stanza::read(&bytes);
    let log = stanzas
        .into_iter()
        .filter(|stanza| stanza.name.eq_ignore_ascii_case("Log"));
    log.flat_map(|stanza| stanza.entries)
        .map(|entry| entry.key)
        .collect()
}

fn counted(counters: &[(String, u64)]) -> Counted {
    let of = |wanted: &str| {
        let mut counters = counters.iter();
        counters
            .find(|(name, _)| name == wanted)
            .map_or(0, |(_, value)| *value)
    };
    Counted {
        forces: of("log.forces"),
        alone: of("engine.forced_alone"),
        writes: of("log.writes"),
        write_ns: of("log.write_ns"),
    }
}

fn add_queues(manager: &mut Manager, queues: &[Shown], dead: &str) {
    for shown in queues {
        let name = text(shown, "QUEUE");
        if name.is_empty() {
            continue;
        }
        let depth = number(shown, "CURDEPTH").unwrap_or(0);
        if name == dead {
            manager.dead_letters = Some((name.to_owned(), depth));
            continue;
        }
        // The system's own, and temporary reply queues of commands.
        if ["SYSTEM.", "AMQ.", "MQSC."]
            .iter()
            .any(|own| name.starts_with(own))
        {
            continue;
        }
        let handles = ["IPPROCS", "OPPROCS"].map(|name| number(shown, name).unwrap_or(0));
        manager.queues.push(Queue {
            name: name.to_owned(),
            depth,
            max_depth: number(shown, "MAXDEPTH").unwrap_or(0),
            persistent: text(shown, "DEFPSIST") == "YES",
            handles: handles.iter().sum(),
        });
    }
}

fn add_connections(manager: &mut Manager, connections: &[Shown], now: Timestamp) {
    for shown in connections {
        let tag = text(shown, "APPLTAG");
        if text(shown, "APPLTYPE") == "SYSTEM" || tag == CommandServer::APPLICATION {
            continue;
        }
        manager.applications += 1;
        if !["", "NONE"].contains(&text(shown, "UOWSTATE")) {
            manager.in_unit_of_work += 1;
        }
        let Some(age) = age(text(shown, "UOWLOGDA"), text(shown, "UOWLOGTI"), now) else {
            continue;
        };
        let oldest = manager.oldest_unit_of_work.as_ref();
        if oldest.is_none_or(|(seconds, _)| age > *seconds) {
            manager.oldest_unit_of_work = Some((age, tag.to_owned()));
        }
    }
}

/// Seconds since a moment as MQSC shows it: `2026-11-21`, `07.53.39`, in UTC.
fn age(date: &str, time: &str, now: Timestamp) -> Option<u64> {
    let moment = DateTime::strptime("%Y-%m-%d %H.%M.%S", format!("{date} {time}")).ok()?;
    let moment = moment.to_zoned(TimeZone::UTC).ok()?.timestamp();
    let seconds = now.as_second().saturating_sub(moment.as_second());
    // A clock that went back makes no unit of work long.
    Some(u64::try_from(seconds).unwrap_or(0))
}

/// Whether two folders are on one device.
fn same_device(one: &Path, other: &Path) -> Option<bool> {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| std::fs::metadata(path).ok().map(|found| found.dev());
    Some(device(one)? == device(other)?)
}

/// Counts what the error logs tell of the log: those of this start and before, as far as they go back.
fn count_messages(home: &Home, manager: &mut Manager) {
    for number in 1..=3 {
        let path = home.errors().join(format!("AMQERR{number:02}.LOG"));
        // A log that has not been written yet tells nothing.
        let Ok(file) = std::fs::File::open(path) else {
            continue;
        };
        for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
            if line.starts_with(b"AMQ7469") {
                manager.backed_out_for_space += 1;
            }
            if line.starts_with(b"AMQ6729") {
                manager.slow_writes += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_taken_apart() {
        let shown = attributes(
            "AMQ8276I: Display Connection details.\n   CONN(0000060000000004)    EXTCONN(414D)\n   \
             APPLDESC( )   CONNAME(127.0.0.1(1414))\n   EXTURID(XA_FORMATID[] XA_GTRID[])\n   BROKEN(x",
        );
        let expected = [
            ("CONN", "0000060000000004"),
            ("EXTCONN", "414D"),
            ("APPLDESC", ""),
            ("CONNAME", "127.0.0.1(1414)"),
            ("EXTURID", "XA_FORMATID[] XA_GTRID[]"),
        ];
        assert_eq!(shown.len(), expected.len(), "{shown:?}");
        for (name, value) in expected {
            assert_eq!(shown[name], value);
        }
        assert!(attributes("AMQ8147E: not found").is_empty());
    }

    #[test]
    fn queues_of_applications_are_told_from_the_system_s() {
        let answers = [
            "QUEUE(SYSTEM.X) CURDEPTH(9) MAXDEPTH(9) DEFPSIST(YES)",
            "QUEUE(MQSC.0001) IPPROCS(1) OPPROCS(0)",
            "QUEUE(DLQ) CURDEPTH(4) MAXDEPTH(9) DEFPSIST(NO)",
            "QUEUE(A) CURDEPTH(7) MAXDEPTH(8) DEFPSIST(YES) IPPROCS(2) OPPROCS(3)",
        ];
        let shown: Vec<Shown> = answers.iter().map(|text| attributes(text)).collect();
        let mut manager = Manager::default();
        add_queues(&mut manager, &shown, "DLQ");
        assert_eq!(manager.dead_letters, Some(("DLQ".to_owned(), 4)));
        let [queue] = manager.queues.as_slice() else {
            panic!("{:?}", manager.queues);
        };
        assert_eq!(
            (queue.name.as_str(), queue.depth, queue.max_depth),
            ("A", 7, 8)
        );
        assert!(queue.persistent && queue.handles == 5);
    }

    #[test]
    fn the_oldest_unit_of_work_of_an_application_counts() {
        let unit = |tag: &str, time: &str| {
            format!(
                "APPLTAG({tag}) APPLTYPE(USER) UOWSTATE(ACTIVE) UOWLOGDA(2026-11-21) UOWLOGTI({time})"
            )
        };
        let answers = [
            "APPLTAG(command server) APPLTYPE(SYSTEM) UOWSTATE(NONE)".to_owned(),
            unit(CommandServer::APPLICATION, "01.00.00"),
            unit("young", "07.59.00"),
            unit("old", "07.58.30"),
            "APPLTAG(idle) APPLTYPE(USER) UOWSTATE(NONE) UOWLOGDA( ) UOWLOGTI( )".to_owned(),
        ];
        let shown: Vec<Shown> = answers.iter().map(|text| attributes(text)).collect();
        let now: Timestamp = "2026-11-21T08:00:00Z".parse().unwrap();
        let mut manager = Manager::default();
        add_connections(&mut manager, &shown, now);
        assert_eq!((manager.applications, manager.in_unit_of_work), (3, 2));
        assert_eq!(manager.oldest_unit_of_work, Some((90, "old".to_owned())));
        assert_eq!(age("2026-11-21", "08.00.01", now), Some(0));
        assert_eq!(age("", "", now), None);
    }

    #[test]
    fn keys_of_the_log_are_found_however_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home {
            name: "QM1".to_owned(),
            folder: folder.path().to_owned(),
        };
        assert!(log_keys(&home).is_empty());
        let text = "log:\n  logprimaryfiles = 3\n  #LogBufferPages=0\nTCP:\n  KeepAlive=YES\n";
        std::fs::write(home.configuration(), text).unwrap();
        assert_eq!(log_keys(&home), ["logprimaryfiles"]);
    }

    #[test]
    fn error_logs_are_searched() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home {
            name: "QM1".to_owned(),
            folder: folder.path().to_owned(),
        };
        std::fs::create_dir_all(home.errors()).unwrap();
        let write =
            |name: &str, text: &[u8]| std::fs::write(home.errors().join(name), text).unwrap();
        write(
            "AMQERR01.LOG",
            b"AMQ7469W: x\nAMQ6729W: slow\nsee AMQ7469W\n\xff\n",
        );
        write("AMQERR03.LOG", b"AMQ7469W: y");
        let mut manager = Manager::default();
        count_messages(&home, &mut manager);
        assert_eq!((manager.backed_out_for_space, manager.slow_writes), (2, 1));
        assert_eq!(same_device(folder.path(), &home.errors()), Some(true));
        assert_eq!(same_device(folder.path(), Path::new("/no/such")), None);
    }
}
