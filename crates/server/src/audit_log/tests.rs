//! What the audit log writes, counts and survives.

use super::*;
use posthaste_authority::{Authority, ObjectType};
use serde_json::Value;
use std::fs;

const SETTINGS: AuditSettings = AuditSettings {
    enabled: true,
    connections: false,
    file_bytes: 16 << 20,
    files: 3,
};

fn error_log(folder: &Path) -> Arc<ErrorLog> {
    Arc::new(ErrorLog::new(folder, 1 << 20, Some("QM1"), Console::Silent))
}

fn refused(address: &str) -> AuditEvent {
    AuditEvent {
        who: Application {
            user: "alice".to_owned(),
            conname: address.to_owned(),
            channel: "APP.CHANNEL".to_owned(),
            name: "app".to_owned(),
            pid: 42,
            certificate: "CN=alice".to_owned(),
            ..Application::default()
        },
        claimed: "bob".to_owned(),
        call: "MQCONN",
        options: 64,
        message: "AMQ5534E",
        ..AuditEvent::new(AuditKind::ConnectionRefused, Reason::NOT_AUTHORIZED)
    }
}

fn command(text: &str) -> AuditEvent {
    AuditEvent {
        command: text.to_owned(),
        ..AuditEvent::new(AuditKind::Command, Reason::NONE)
    }
}

/// Every line of a file, which must be JSON.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

/// What the audit log has after these events.
fn written(events: &[AuditEvent]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let log = error_log(folder.path());
    let audit = AuditLog::start(folder.path(), "QM1", &SETTINGS, &log).unwrap();
    events.iter().for_each(|event| audit.push(event.clone()));
    audit.end();
    let name = folder.path().join("AUDIT01.json");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&name).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    lines(&name)
}

#[test]
fn each_line_has_each_field() {
    let event = AuditEvent {
        alternate: "carol".to_owned(),
        object_type: Some(ObjectType::Queue),
        object: "Q1".to_owned(),
        missing: Authority::Put.into(),
        owner: "dora".to_owned(),
        because: "a record".to_owned(),
        command: "text\n\"quoted\"".to_owned(),
        ..refused("127.0.0.1(4711)")
    };
    let all = written(&[event, AuditEvent::new(AuditKind::Started, Reason::NONE)]);
    let [full, empty] = &all[..] else {
        panic!("{all:?}");
    };
    let time = full["time"].as_str().unwrap();
    assert!(time.ends_with('Z') && time.parse::<Timestamp>().is_ok() && time.len() == 24);
    let mut known = full.clone();
    known["time"] = Value::Null;
    let expected = serde_json::json!({
        "time": null, "queue_manager": "QM1", "event": "connection-refused",
        "who": {"user": "alice", "alternate": "carol", "claimed": "bob", "certificate": "CN=alice"},
        "from": {"address": "127.0.0.1(4711)", "channel": "APP.CHANNEL", "application": "app", "process": 42},
        "what": {"call": "MQCONN", "options": 64, "command": "text\n\"quoted\"", "object_type": "queue",
            "object": "Q1", "missing": "put", "because": "a record", "owner": "dora"},
        "result": {"reason": 2035, "name": "MQRC_NOT_AUTHORIZED", "message": "AMQ5534E"},
        "repeated": 0,
    });
    assert_eq!(known, expected);
    let fields = |value: &Value| -> Vec<String> {
        let keys = value.as_object().unwrap().iter().flat_map(|(key, value)| {
            let inner = value.as_object().into_iter().flatten();
            let inner = inner.map(move |(name, _)| format!("{key}.{name}"));
            inner.chain([key.clone()]).collect::<Vec<_>>()
        });
        keys.collect()
    };
    assert_eq!(fields(full), fields(empty), "what is not known is null");
    assert_eq!(empty["who"]["user"], Value::Null);
    assert_eq!(empty["result"]["name"], "MQRC_NONE");
}

/// Whoever has not come in yet chooses these characters.
#[test]
fn what_is_not_seen_is_escaped_and_no_line_becomes_two() {
    let name = "a\u{1b}b\u{7f}c\u{9b}d\u{85}e\u{2028}f\u{2029}g\u{202e}h\u{2066}i\u{200f}ä";
    let event = AuditEvent {
        claimed: name.to_owned(),
        ..refused("127.0.0.1(4711)")
    };
    let line = super::line::of("QM1", Timestamp::now(), &event, 0).unwrap();
    let line = String::from_utf8(line).unwrap();
    let shown = r"a\u001bb\u007fc\u009bd\u0085e\u2028f\u2029g\u202eh\u2066i\u200fä";
    assert!(line.contains(shown), "{line}");
    assert!(
        !line
            .trim_end_matches('\n')
            .contains(posthaste_command::is_unseen)
    );
    let read: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(read["who"]["claimed"], name);
}

#[test]
fn a_site_of_many_addresses_is_one_source() {
    let of_site = |n: u32| refused(&format!("2001:db8::{n:x}"));
    let mut events: Vec<_> = (1..=2_000).map(of_site).collect();
    events.push(refused("2001:db8:0:1::1"));
    events.push(refused("192.0.2.1"));
    let all = written(&events);
    let from = |address: &str| {
        let lines = all.iter();
        lines
            .filter(|line| {
                line["from"]["address"]
                    .as_str()
                    .is_some_and(|from| from.starts_with(address))
            })
            .count()
    };
    assert_eq!(from("2001:db8::"), 21);
    assert_eq!((from("2001:db8:0:1::1"), from("192.0.2.1")), (1, 1));
    let many = all
        .iter()
        .filter(|line| line["what"]["because"] == "many sources");
    assert_eq!(many.count(), 0, "it takes nobody else's place");
    let repeated = all.iter().filter_map(|line| line["repeated"].as_u64());
    assert_eq!(repeated.sum::<u64>(), 1_980);
}

/// Of decisions about branches only those are counted together that one user can cause by himself.
#[test]
fn decisions_about_anothers_branches_are_all_written() {
    let by = |user: &str, command: &str, reason: Reason| AuditEvent {
        call: "XA_COMMIT",
        owner: "alice".to_owned(),
        command: command.to_owned(),
        who: Application {
            user: user.to_owned(),
            ..refused("10.0.0.1").who
        },
        ..AuditEvent::new(AuditKind::BranchDecided, reason)
    };
    let of_branches = |event: AuditEvent| {
        let all = written(&vec![event; 100]);
        let last = all.last().unwrap();
        assert_eq!(last["event"], "branch");
        (all.len(), last["repeated"].as_u64().unwrap())
    };
    assert_eq!(of_branches(by("bob", "", Reason::NONE)), (100, 0));
    assert_eq!(
        of_branches(by("alice", "rsvmqtrn -c 0,1", Reason::NONE)),
        (100, 0)
    );
    assert_eq!(of_branches(by("alice", "", Reason::NONE)), (21, 80));
    for command in ["rsvmqtrn -c 0,1", ""] {
        let refused = by("bob", command, Reason::NOT_AUTHORIZED);
        assert_eq!(of_branches(refused), (21, 80), "{command}");
    }
}

#[test]
fn a_flood_from_one_source_is_counted_and_hides_nobody_else() {
    let mut events = vec![refused("10.0.0.1"); 1_000];
    events.push(refused("10.0.0.2"));
    events.extend((0..30).map(|number| command(&format!("number {number}"))));
    let all = written(&events);
    let from = |address: &str| -> Vec<u64> {
        let of = all.iter().filter(|line| line["from"]["address"] == address);
        of.map(|line| line["repeated"].as_u64().unwrap()).collect()
    };
    let flood = from("10.0.0.1");
    assert_eq!(flood.len(), 21);
    assert_eq!(flood.iter().filter(|repeated| **repeated == 0).count(), 20);
    assert_eq!(flood.iter().sum::<u64>(), 980);
    assert_eq!(from("10.0.0.2"), [0]);
    let commands = all.iter().filter(|line| line["event"] == "command");
    assert_eq!(commands.count(), 30, "of commands each has its line");
}

/// Each of very many addresses is refused twice.
#[test]
fn many_sources_take_bounded_memory_and_none_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let log = error_log(folder.path());
    let mut writer = Writer::new(folder.path(), "QM1", &SETTINGS, &log);
    let refusals = 3 * MOST_SOURCES as u64;
    for number in 0..refusals {
        writer.take((Timestamp::now(), refused(&format!("address {number}"))));
    }
    let summaries = writer.repeats.all(writer.began.elapsed());
    assert_eq!(summaries.len(), 1);
    summaries.into_iter().for_each(|one| writer.sum_up(one));
    let all = lines(&folder.path().join("AUDIT01.json"));
    let counted = all.iter().map(|line| match line["repeated"].as_u64() {
        Some(0) | None => 1,
        Some(count) => count,
    });
    assert_eq!(counted.sum::<u64>(), refusals);
    assert_eq!(all.last().unwrap()["what"]["because"], "many sources");
    assert!(all.len() <= MOST_SOURCES + 30);
}

#[test]
fn a_full_disk_is_reported_and_what_is_missing_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let log = error_log(&folder.path().join("log"));
    let name = folder.path().join("AUDIT01.json");
    std::os::unix::fs::symlink("/dev/full", &name).unwrap();
    let mut writer = Writer::new(folder.path(), "QM1", &SETTINGS, &log);
    for text in ["one", "two", "three"] {
        writer.take((Timestamp::now(), command(text)));
        writer.tell_of_loss();
    }
    assert_eq!(writer.lost, 3);
    fs::remove_file(&name).unwrap();
    writer.take((Timestamp::now(), command("four")));
    writer.tell_of_loss();
    drop((writer, log));
    let reported = errors(&folder.path().join("log"));
    let number = |text: &str| reported.matches(&format!("\n{text}")).count();
    assert_eq!((number("AMQ2801E: "), number("AMQ2802W: ")), (1, 1));
    assert_eq!(number("AMQ2802W: 3 events"), 1);
    let all = lines(&name);
    let short: Vec<_> = all
        .iter()
        .map(|line| (line["what"]["command"].as_str(), line["repeated"].as_u64()))
        .collect();
    assert_eq!(short, [(Some("four"), Some(0)), (None, Some(3))]);
    assert_eq!(all[1]["event"], "lost");
}

/// The error log, whose last owner is gone.
fn errors(folder: &Path) -> String {
    fs::read_to_string(folder.join("AMQERR01.LOG")).unwrap()
}

/// The disk is full, and has room, and is full.
#[test]
fn a_disk_that_is_full_again_and_again_does_not_flood_the_error_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = error_log(&folder.path().join("log"));
    let name = folder.path().join("AUDIT01.json");
    let mut writer = Writer::new(folder.path(), "QM1", &SETTINGS, &log);
    for _ in 0..100 {
        std::os::unix::fs::symlink("/dev/full", &name).unwrap();
        for text in ["lost", "there"] {
            writer.take((Timestamp::now(), command(text)));
            writer.tell_of_loss();
            fs::remove_file(&name).unwrap_or_default();
        }
        writer.files = Files::new(folder.path(), SETTINGS.file_bytes, SETTINGS.files);
    }
    drop((writer, log));
    let reported = errors(&folder.path().join("log"));
    for id in ["AMQ2801E", "AMQ2802W"] {
        assert_eq!(
            reported.matches(&format!("\n{id}: ")).count(),
            20,
            "{reported}"
        );
        let summary = format!("AMQ2053W: 80 messages {id} were counted in");
        assert!(reported.contains(&summary), "{reported}");
    }
}

#[test]
fn what_finds_no_room_in_memory_is_counted() {
    let inbox = Arc::new(Inbox::default());
    let audit = AuditLog {
        inbox: Arc::clone(&inbox),
        thread: Mutex::default(),
    };
    let most = Backlog::<Dated>::MOST;
    for _ in 0..most + 5 {
        audit.push(command("x"));
    }
    {
        let waiting = inbox.waiting.lock();
        assert_eq!(waiting.backlog.counts(), (most, 5));
    }
    let folder = tempfile::tempdir().unwrap();
    let log = error_log(folder.path());
    audit.end();
    Writer::new(folder.path(), "QM1", &SETTINGS, &log).run(&inbox);
    let all = lines(&folder.path().join("AUDIT01.json"));
    let last = all.last().unwrap();
    assert_eq!((all.len(), &last["event"]), (most + 1, &"lost".into()));
    assert_eq!(last["repeated"], 5);
}

#[test]
fn files_rotate_and_a_broken_line_is_part_of_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Files::new(folder.path(), 1_000, 3);
    let line = [&[b'x'; 299][..], b"\n"].concat();
    for _ in 0..3 {
        files.append(&line).unwrap();
    }
    for _ in 0..9 {
        Files::new(folder.path(), 1_000, 3).append(&line).unwrap();
    }
    for number in [1, 2, 3] {
        assert_eq!(fs::read(files.path(number)).unwrap().len(), 900);
    }
    assert!(!files.path(4).exists());
    fs::write(files.path(1), "{\"time\":").unwrap();
    Files::new(folder.path(), 1_000, 3).append(b"{}\n").unwrap();
    assert_eq!(
        fs::read_to_string(files.path(1)).unwrap(),
        "{\"time\":\n{}\n"
    );
}

/// Somebody removes or moves the file, as programs that rotate logs do.
#[test]
fn a_file_that_is_gone_or_another_one_swallows_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Files::new(folder.path(), 1_000, 3);
    let (path, moved) = (files.path(1), folder.path().join("moved"));
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    files.append(b"1\n").unwrap();
    fs::remove_file(&path).unwrap();
    files.append(b"2\n").unwrap();
    assert_eq!(read(&path), "2\n");
    fs::rename(&path, &moved).unwrap();
    files.append(b"3\n").unwrap();
    assert_eq!((read(&moved), read(&path)), ("2\n".into(), "3\n".into()));
    fs::rename(&moved, &path).unwrap();
    files.append(b"4\n").unwrap();
    assert_eq!(read(&path), "2\n4\n");
    fs::remove_dir_all(folder.path()).unwrap();
    files.append(b"5\n").unwrap();
    assert_eq!(read(&path), "5\n");
}
