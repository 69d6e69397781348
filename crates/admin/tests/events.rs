//! Event messages: what is on the event queues, read as a monitor reads it. Numbers are the manual's.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../engine/tests/world/mod.rs"]
mod world;

use std::sync::Arc;
use std::time::{Duration, Instant};

use posthaste_admin::{Admin, EventInbox, EventWriter};
use posthaste_authority::{Authority, ObjectType};
use posthaste_command::pcf::{Message, Value};
use posthaste_engine::{Application, AuditEvent, AuditKind, EndMode};
use posthaste_env::{Thread, block_on, spawn};
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Gmo, Md, Reason};
use world::*;

struct Monitored {
    w: World,
    inbox: Arc<EventInbox>,
    writer: Option<Thread>,
}

impl Monitored {
    fn new() -> Monitored {
        let w = World::new();
        let inbox = Arc::new(EventInbox::default());
        let (qm, user) = (w.qm().clone(), "owner".to_owned());
        let writer = EventWriter::new(qm, Arc::clone(&inbox), w.operator(), user);
        let writer = spawn("events", move || block_on(writer.serve())).unwrap();
        Monitored {
            w,
            inbox,
            writer: Some(writer),
        }
    }

    /// Carries a command out for alice; what is audited goes to the writer.
    fn run(&self, text: &str) {
        self.run_in(0, text);
    }

    /// The same for alice's process of this machine.
    fn run_in(&self, pid: u32, text: &str) {
        let who = Application {
            name: "runmqsc".to_owned(),
            user: "alice".to_owned(),
            pid,
            appl_type: 6,
            ..Application::default()
        };
        let reply = block_on(Admin::alone(self.w.qm()).run_as(who, text));
        assert!(reply.ok, "{text}: {reply:?}");
        self.w
            .audited()
            .into_iter()
            .for_each(|event| self.inbox.push(event));
    }

    /// The next message of an event queue, which is waited for.
    fn next(&self, queue: &str) -> (Md, Message) {
        let s = self.w.connect();
        let hobj = open(&s, queue, MQOO_INPUT_SHARED);
        let mut md = Md::default();
        let mut gmo = Gmo {
            options: MQGMO_WAIT,
            wait_interval: 60_000,
            ..Gmo::default()
        };
        let got = block_on(s.get(hobj, &mut md, &mut gmo, 1 << 20)).unwrap();
        let data = got.value.data;
        let order = posthaste_command::pcf::byte_order(&data).unwrap();
        assert_eq!(order, ByteOrder::NATIVE);
        let (message, length) = Message::decode(&data, order).unwrap();
        assert_eq!(length, data.len());
        block_on(s.disconnect()).unwrap();
        (md, message)
    }

    fn messages(&self, id: &str, count: usize) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.w.message_count(id) < count {
            assert!(Instant::now() < deadline, "{id} {count} times");
            std::thread::yield_now();
        }
        assert_eq!(self.w.message_count(id), count, "{id}");
    }
}

impl Drop for Monitored {
    fn drop(&mut self) {
        self.w.end(EndMode::Immediate);
        if let Some(writer) = self.writer.take() {
            writer.join().unwrap();
        }
    }
}

/// A message's parameters: identifier, and value as text.
fn parameters(message: &Message) -> Vec<(i32, String)> {
    let all = message.parameters.iter();
    let all = all.map(|parameter| {
        let value = match &parameter.value {
            Value::Int(value) => value.to_string(),
            Value::Text(text) => text.shown(),
            other => format!("{other:?}"),
        };
        (parameter.id, value)
    });
    all.collect()
}

fn expected(all: &[(i32, &str)]) -> Vec<(i32, String)> {
    all.iter()
        .map(|(id, text)| (*id, (*text).to_owned()))
        .collect()
}

fn client() -> Application {
    Application {
        name: "app".to_owned(),
        user: "bob".to_owned(),
        channel: "APP.CHANNEL".to_owned(),
        conname: "10.0.0.1".to_owned(),
        appl_type: 28,
        certificate: "CN=bob".to_owned(),
        ..Application::default()
    }
}

fn refused(call: &'static str, options: i32, of: ObjectType, object: &str) -> AuditEvent {
    AuditEvent {
        who: client(),
        call,
        options,
        object_type: Some(of),
        object: object.to_owned(),
        missing: Authority::Put.into(),
        ..AuditEvent::new(AuditKind::NotAuthorized, Reason::NOT_AUTHORIZED)
    }
}

#[test]
fn authority_events_are_as_the_manual_says() {
    const QUEUE: &str = "SYSTEM.ADMIN.QMGR.EVENT";
    let m = Monitored::new();
    m.inbox
        .push(refused("MQOPEN", 16, ObjectType::Queue, "BEFORE"));
    m.run("ALTER QMGR AUTHOREV(ENABLED)");
    let wrong = AuditEvent {
        who: client(),
        claimed: "carol".to_owned(),
        call: "MQCONN",
        message: "AMQ5534E",
        ..AuditEvent::new(AuditKind::ConnectionRefused, Reason::NOT_AUTHORIZED)
    };
    let command = AuditEvent {
        who: client(),
        command_number: 11,
        ..AuditEvent::new(AuditKind::Command, Reason::NOT_AUTHORIZED)
    };
    let (user, kind, name) = ((3025, "bob"), (1, "28"), (3024, "app"));
    let (address, channel) = ((3506, "10.0.0.1"), (3501, "APP.CHANNEL"));
    let manager = (2015, "QM1");
    for (event, parameters_of) in [
        (
            refused("MQCONN", 0, ObjectType::QueueManager, "QM1"),
            vec![manager, (1020, "1"), user, kind, name, address, channel],
        ),
        (
            wrong,
            vec![
                manager,
                (1020, "29"),
                user,
                kind,
                name,
                address,
                channel,
                (3206, "carol"),
            ],
        ),
        (
            refused("MQOPEN", 8208, ObjectType::Queue, "Q1"),
            vec![
                manager,
                (1020, "2"),
                (1022, "8208"),
                user,
                kind,
                name,
                (2016, "Q1"),
                address,
                channel,
            ],
        ),
        (
            refused("MQPUT1", 4, ObjectType::Topic, "news/today"),
            vec![
                manager,
                (1020, "2"),
                (1022, "4"),
                user,
                kind,
                name,
                (2094, "news/today"),
                address,
                channel,
            ],
        ),
        (
            refused("MQCLOSE", 1, ObjectType::Queue, "Q2"),
            vec![
                manager,
                (1020, "3"),
                user,
                kind,
                name,
                (2016, "Q2"),
                address,
                channel,
            ],
        ),
        (command, vec![manager, (1020, "4"), (1021, "11"), user]),
        (
            refused("MQSUB", 2, ObjectType::Topic, "news"),
            vec![
                manager,
                (1020, "17"),
                (1303, "2"),
                user,
                kind,
                name,
                (2094, "news"),
                address,
                channel,
            ],
        ),
        (
            refused("MQSUB", 2, ObjectType::Queue, "DEST"),
            vec![
                manager,
                (1020, "18"),
                (1303, "2"),
                user,
                kind,
                name,
                (3153, "QM1"),
                (3154, "DEST"),
                address,
                channel,
            ],
        ),
    ] {
        m.inbox.push(event);
        let (md, message) = m.next(QUEUE);
        let header = message.header;
        assert_eq!((header.type_, header.version, header.command), (7, 1, 44));
        assert_eq!(
            (header.comp_code, header.reason, header.control),
            (1, 2035, 1)
        );
        assert_eq!(parameters(&message), expected(&parameters_of));
        assert_eq!((md.format.text().trim_end(), md.msg_type), ("MQEVENT", 8));
        assert_eq!((md.persistence, md.put_appl_type), (0, 7));
        assert_eq!(md.put_appl_name.text().trim_end(), "QM1");
    }
    m.run("ALTER QMGR AUTHOREV(DISABLED) STRSTPEV(ENABLED)");
    m.inbox
        .push(refused("MQOPEN", 16, ObjectType::Queue, "AFTER"));
    m.inbox.push(AuditEvent {
        object: "host1".to_owned(),
        ..AuditEvent::new(AuditKind::Started, Reason::NONE)
    });
    let (_, message) = m.next(QUEUE);
    assert_eq!(message.header.reason, 2222, "and nothing before it");
    assert_eq!(
        parameters(&message),
        expected(&[manager, (1020, "31"), (3191, "host1")])
    );
}

#[test]
fn channel_and_tls_events_are_as_the_manual_says() {
    const QUEUE: &str = "SYSTEM.ADMIN.CHANNEL.EVENT";
    let m = Monitored::new();
    m.run("ALTER QMGR CHLEV(EXCEPTION) SSLEV(ENABLED)");
    let of = |kind, reason, message, who: Application| AuditEvent {
        who,
        claimed: "bob".to_owned(),
        message,
        because: "CHLAUTH(*) TYPE(BLOCKUSER)".to_owned(),
        ..AuditEvent::new(kind, reason)
    };
    let nobody = Application {
        conname: "10.0.0.1".to_owned(),
        ..Application::default()
    };
    let (manager, address, channel) = ((2015, "QM1"), (3506, "10.0.0.1"), (3501, "APP.CHANNEL"));
    let (kind, name) = ((1, "28"), (3024, "app"));
    let blocked = (AuditKind::ChannelBlocked, Reason::CHANNEL_BLOCKED);
    let warned = (AuditKind::ChannelWarned, Reason::CHANNEL_BLOCKED_WARNING);
    let tls = (AuditKind::TlsRefused, Reason::CHANNEL_SSL_ERROR);
    let by_user = [
        manager,
        (1020, "22"),
        channel,
        (3025, "bob"),
        address,
        kind,
        name,
    ];
    for ((event, reason), number, message, who, all) in [
        (
            blocked,
            2577,
            "AMQ2446E",
            nobody,
            vec![manager, (1020, "21"), address],
        ),
        (blocked, 2577, "AMQ9776E", client(), by_user.to_vec()),
        (
            blocked,
            2577,
            "AMQ9777E",
            client(),
            vec![
                manager,
                (1020, "23"),
                channel,
                address,
                (3545, "CN=bob"),
                (3567, "bob"),
                kind,
                name,
            ],
        ),
        (warned, 2578, "AMQ2448W", client(), by_user.to_vec()),
        (
            tls,
            2371,
            "AMQ9616E",
            client(),
            vec![manager, (1020, "13"), channel, address],
        ),
        (
            tls,
            2371,
            "AMQ9639E",
            client(),
            vec![manager, (1020, "14"), channel, address],
        ),
        (
            tls,
            2371,
            "AMQ9637E",
            client(),
            vec![manager, (1020, "15"), channel, address],
        ),
        (
            tls,
            2371,
            "AMQ9636E",
            client(),
            vec![manager, (1020, "16"), channel, address, (3545, "CN=bob")],
        ),
    ] {
        m.inbox.push(of(event, reason, message, who));
        let (_, message) = m.next(QUEUE);
        assert_eq!(
            (message.header.command, message.header.reason),
            (46, number)
        );
        assert_eq!(parameters(&message), expected(&all));
    }
}

/// The parameters of a group.
fn group(message: &Message, id: i32) -> Vec<(i32, String)> {
    let found = message.parameters.iter().find(|one| one.id == id).unwrap();
    let Value::Group(inner) = &found.value else {
        panic!("{found:?}");
    };
    parameters(&Message {
        header: message.header,
        parameters: inner.clone(),
    })
}

#[test]
fn command_events_have_the_command_and_who_gave_it() {
    const QUEUE: &str = "SYSTEM.ADMIN.COMMAND.EVENT";
    let m = Monitored::new();
    m.run("DEFINE QLOCAL(BEFORE)");
    m.run("ALTER QMGR CMDEV(NODISPLAY)");
    m.run("DISPLAY QMGR CMDEV");
    m.run("DEFINE QLOCAL(A)");
    m.run("ALTER QMGR CMDEV(ENABLED)");
    m.run("DISPLAY QMGR EVENT");
    m.run("ALTER QMGR CMDEV(DISABLED)");
    for (number, text) in [
        ("1", "ALTER QMGR CMDEV(NODISPLAY)"),
        ("11", "DEFINE QLOCAL(A)"),
        ("1", "ALTER QMGR CMDEV(ENABLED)"),
        ("2", "DISPLAY QMGR EVENT"),
        ("1", "ALTER QMGR CMDEV(DISABLED)"),
    ] {
        let (_, message) = m.next(QUEUE);
        let header = message.header;
        assert_eq!(
            (header.version, header.command, header.reason),
            (3, 99, 2412)
        );
        let who = [
            (3045, "alice"),
            (1011, "3"),
            (3047, "QM1"),
            (1010, "6"),
            (3050, "runmqsc"),
            (1021, number),
        ];
        assert_eq!(group(&message, 8001), expected(&who));
        assert_eq!(group(&message, 8002), expected(&[(3075, text)]));
    }
    assert_eq!(m.w.depth(QUEUE), 0);
}

#[test]
fn a_command_given_at_this_machine_is_of_its_console() {
    let m = Monitored::new();
    m.run("ALTER QMGR CMDEV(ENABLED)");
    m.run_in(17, "DEFINE QLOCAL(A)");
    let queue = "SYSTEM.ADMIN.COMMAND.EVENT";
    let (_, sent) = m.next(queue);
    assert!(group(&sent, 8001).contains(&(1011, "3".to_owned())));
    let (_, typed) = m.next(queue);
    let who = [(3045, "alice"), (1011, "1"), (3047, "QM1"), (1021, "11")];
    assert_eq!(group(&typed, 8001), expected(&who));
}

#[test]
fn configuration_events_show_objects_before_and_after() {
    const QUEUE: &str = "SYSTEM.ADMIN.CONFIG.EVENT";
    let m = Monitored::new();
    m.run("ALTER QMGR CONFIGEV(ENABLED)");
    m.run("DEFINE QLOCAL(A) MAXDEPTH(5) DESCR('first')");
    m.run("ALTER QLOCAL(A) MAXDEPTH(7)");
    m.run("DELETE QLOCAL(A)");
    m.run("ALTER QMGR CONFIGEV(DISABLED)");
    m.run("DEFINE QLOCAL(AFTER)");
    let all: Vec<(Md, Message)> = (0..8).map(|_| m.next(QUEUE)).collect();
    assert_eq!(m.w.depth(QUEUE), 0);
    let heads: Vec<_> = all
        .iter()
        .map(|(_, message)| {
            let header = message.header;
            assert_eq!((header.version, header.command), (2, 43));
            (header.reason, header.msg_seq_number, header.control)
        })
        .collect();
    let (before, after) = ((2368, 1, 0), (2368, 2, 1));
    let (made, deleted) = ((2367, 1, 1), (2369, 1, 1));
    assert_eq!(
        heads,
        [before, after, made, before, after, deleted, before, after]
    );
    for pair in [0, 3, 6] {
        let [before, after] = [&all[pair].0, &all[pair + 1].0];
        assert_eq!(before.correl_id, after.correl_id);
        assert_ne!(before.correl_id, [0; 24]);
        assert_ne!(before.msg_id, after.msg_id);
    }
    let value = |at: usize, id: i32| {
        let found = parameters(&all[at].1).into_iter().find(|one| one.0 == id);
        found.map(|(_, value)| value)
    };
    let shown = |text: &str| Some(text.to_owned());
    assert_eq!(
        (value(0, 51), value(1, 51)),
        (shown("0"), shown("1")),
        "CONFIGEV"
    );
    assert_eq!((value(0, 1016), value(0, 2015)), (shown("5"), shown("QM1")));
    for (at, depth) in [(2, "5"), (3, "5"), (4, "7"), (5, "7")] {
        assert_eq!(value(at, 3045), shown("alice"));
        assert_eq!((value(at, 1016), value(at, 2016)), (shown("1"), shown("A")));
        assert_eq!((value(at, 20), value(at, 15)), (shown("1"), shown(depth)));
        assert_eq!(value(at, 2013), shown("first"));
    }
}

/// Object type, name by its identifier, and another attribute.
#[test]
fn configuration_events_of_records_are_about_the_one_that_was_changed() {
    const QUEUE: &str = "SYSTEM.ADMIN.CONFIG.EVENT";
    let m = Monitored::new();
    m.run("SET CHLAUTH(APP) TYPE(ADDRESSMAP) ADDRESS('10.*') USERSRC(NOACCESS)");
    m.run("SET AUTHREC PROFILE(A) OBJTYPE(QUEUE) GROUP('staff') AUTHADD(GET)");
    m.run("ALTER QMGR CONFIGEV(ENABLED)");
    for _ in 0..2 {
        m.next(QUEUE);
    }
    let (created, changed, deleted) = (2367, 2368, 2369);
    let chlauth = |address: &str| {
        vec![
            (1016, "1016".to_owned()),
            (3501, "APP".to_owned()),
            (3506, address.to_owned()),
        ]
    };
    let authrec = |group: &str| {
        vec![
            (1016, "1022".to_owned()),
            (3067, "A".to_owned()),
            (3068, group.to_owned()),
            (1412, "1".to_owned()),
        ]
    };
    for (text, heads, of) in [
        (
            "SET CHLAUTH(APP) TYPE(ADDRESSMAP) ADDRESS('11.*') USERSRC(CHANNEL)",
            &[created][..],
            chlauth("11.*"),
        ),
        (
            "SET CHLAUTH(APP) TYPE(ADDRESSMAP) ADDRESS('11.*') USERSRC(NOACCESS) ACTION(REPLACE)",
            &[changed, changed],
            chlauth("11.*"),
        ),
        (
            "SET CHLAUTH(APP) TYPE(ADDRESSMAP) ADDRESS('11.*') ACTION(REMOVE)",
            &[deleted],
            chlauth("11.*"),
        ),
        (
            "SET CHLAUTH(APP) TYPE(ADDRESSMAP) ACTION(REMOVEALL)",
            &[deleted],
            chlauth("10.*"),
        ),
        (
            "SET AUTHREC PROFILE(A) OBJTYPE(QUEUE) GROUP('others') AUTHADD(GET)",
            &[created],
            authrec("others"),
        ),
        (
            "SET AUTHREC PROFILE(A) OBJTYPE(QUEUE) GROUP('staff') AUTHADD(PUT)",
            &[changed, changed],
            authrec("staff"),
        ),
        (
            "DELETE AUTHREC PROFILE(A) OBJTYPE(QUEUE) GROUP('others')",
            &[deleted],
            authrec("others"),
        ),
    ] {
        m.run(text);
        for reason in heads {
            let (_, message) = m.next(QUEUE);
            assert_eq!(message.header.reason, *reason, "{text}");
            let all = parameters(&message);
            for expected in &of {
                assert!(all.contains(expected), "{text} {expected:?} {all:?}");
            }
        }
        assert_eq!(m.w.depth(QUEUE), 0, "{text}");
    }
}

/// Client connections start and stop without events; commands do not.
#[test]
fn channels_that_are_stopped_and_started_by_command_are_events() {
    const QUEUE: &str = "SYSTEM.ADMIN.CHANNEL.EVENT";
    let m = Monitored::new();
    let of = |number: i32, reason: Reason| AuditEvent {
        command_number: number,
        object_type: Some(ObjectType::Channel),
        object: "APP.CHANNEL".to_owned(),
        ..AuditEvent::new(AuditKind::Command, reason)
    };
    let (start, stop) = (28, 29);
    m.inbox.push(of(stop, Reason::NONE));
    m.run("ALTER QMGR CHLEV(EXCEPTION)");
    m.inbox.push(of(start, Reason::NONE));
    m.inbox.push(of(stop, Reason(4064)));
    m.inbox.push(of(stop, Reason::NONE));
    m.run("ALTER QMGR CHLEV(ENABLED)");
    m.inbox.push(of(start, Reason::NONE));
    let manager = (2015, "QM1");
    let channel = (3501, "APP.CHANNEL");
    for (number, all) in [
        (2279, vec![manager, (1020, "10"), channel]),
        (2282, vec![manager, channel]),
    ] {
        let (_, message) = m.next(QUEUE);
        assert_eq!(
            (message.header.command, message.header.reason),
            (46, number)
        );
        assert_eq!(parameters(&message), expected(&all));
    }
    assert_eq!(m.w.depth(QUEUE), 0);
}

#[test]
fn a_full_event_queue_is_reported_once_and_what_is_missing_counted() {
    let m = Monitored::new();
    m.run("ALTER QMGR AUTHOREV(ENABLED)");
    m.run("ALTER QLOCAL(SYSTEM.ADMIN.QMGR.EVENT) MAXDEPTH(1)");
    let event = || refused("MQOPEN", 16, ObjectType::Queue, "Q");
    for _ in 0..4 {
        m.inbox.push(event());
    }
    m.messages("AMQ2803W", 1);
    m.next("SYSTEM.ADMIN.QMGR.EVENT");
    // Those of the four that came before it was read are missing; one that comes now is not.
    m.inbox.push(event());
    m.messages("AMQ2804W", 1);
    assert_eq!(
        m.w.last_inserts("AMQ2803W"),
        ["SYSTEM.ADMIN.QMGR.EVENT", "MQRC_Q_FULL [2053]"]
    );
    let missing: u32 = m.w.last_inserts("AMQ2804W")[1].parse().unwrap();
    assert!((1..=3).contains(&missing), "{missing}");
}
