//! Every option bit and every field of the MQ Interface's structures: acted on, without effect here for a reason
//! that is stated, or refused. Nothing is taken and then forgotten.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use bytes::Bytes;
use posthaste_engine::{Application, Binding, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Name, Od, Pmo, Reason};
use world::*;

/// What becomes of a bit or a field.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// Other tests show how.
    Acted,
    /// It changes nothing here, and why.
    Without(&'static str),
    Refused(Reason),
}
use Fate::*;

const OPTIONS: Fate = Refused(Reason::OPTIONS_ERROR);
const NO_SEGMENTS: Fate = Without("there are no segments on any queue");
const NO_CLUSTERS: Fate = Without("it is about cluster queues");
const NO_AUTHORITY: Fate = Without("authority is not checked yet");
const OUTPUT: Fate = Without("it is an output field");

impl Fate {
    /// Compares what a call came to.
    fn check(self, what: &str, came: Result<Reason, Reason>) {
        let wanted = match self {
            Acted => Ok(()),
            Without(why) => {
                assert!(!why.is_empty());
                Ok(())
            }
            Refused(reason) => Err(reason),
        };
        assert_eq!(came.map(|_warning| ()), wanted, "{what}: {self:?}");
    }
}

/// The fate of each of the 32 bits; what the table does not mention is refused.
fn bits(table: &[(i32, Fate)], unknown: Fate) -> Vec<(i32, Fate)> {
    let bit = |n: u32| {
        let bit = 1i32.wrapping_shl(n);
        let known = table.iter().find(|(known, _)| *known == bit);
        (bit, known.map_or(unknown, |(_, fate)| *fate))
    };
    assert!(table.iter().all(|(bit, _)| bit.count_ones() == 1));
    (0..32).map(bit).collect()
}

/// A message that a cursor stands at, and a handle that may do everything.
fn staged(s: &Session) -> Hobj {
    let h = open(s, LOCAL, IN_OUT | MQOO_BROWSE | MQOO_SAVE_ALL_CONTEXT);
    put(s, h, 0, 0, b"x");
    next(s, h, MQGMO_BROWSE_FIRST).unwrap();
    h
}

#[test]
fn get_options() {
    let table = bits(
        &[
            (MQGMO_WAIT, Acted),
            (MQGMO_SYNCPOINT, Acted),
            (MQGMO_NO_SYNCPOINT, Acted),
            (MQGMO_BROWSE_FIRST, Acted),
            (MQGMO_BROWSE_NEXT, Acted),
            (MQGMO_ACCEPT_TRUNCATED_MSG, Acted),
            (MQGMO_MSG_UNDER_CURSOR, Acted),
            (MQGMO_LOCK, Acted),
            (MQGMO_UNLOCK, Acted),
            (MQGMO_BROWSE_MSG_UNDER_CURSOR, Acted),
            (MQGMO_SYNCPOINT_IF_PERSISTENT, Acted),
            (MQGMO_FAIL_IF_QUIESCING, Acted),
            (MQGMO_CONVERT, Acted),
            (MQGMO_LOGICAL_ORDER, Acted),
            (MQGMO_ALL_MSGS_AVAILABLE, Acted),
            (MQGMO_COMPLETE_MSG, NO_SEGMENTS),
            (MQGMO_ALL_SEGMENTS_AVAILABLE, NO_SEGMENTS),
            (
                MQGMO_PROPERTIES_FORCE_MQRFH2,
                Without("that is where they are"),
            ),
            (
                MQGMO_PROPERTIES_COMPATIBILITY,
                Without("they are in an MQRFH2 or nowhere"),
            ),
            (MQGMO_NO_PROPERTIES, Acted),
            (MQGMO_PROPERTIES_IN_HANDLE, Refused(Reason::HMSG_ERROR)),
        ],
        OPTIONS,
    );
    let w = World::light();
    for (bit, fate) in table {
        let s = w.connect();
        let h = staged(&s);
        let with = match bit {
            // By what they go with; and a place for the cursor to go to.
            MQGMO_LOCK => MQGMO_BROWSE_FIRST,
            MQGMO_BROWSE_NEXT => {
                put(&s, h, 0, 0, b"y");
                0
            }
            _ => 0,
        };
        let came = next(&s, h, bit | with).map(|taken| taken.warning);
        fate.check(&format!("MQGMO {bit:#x}"), came);
        backout(&s);
        drain(&s, h);
    }
}

#[test]
fn connect_options() {
    let library = Without("the client library does it, or not");
    let collected = Without("ACCTCONO(DISABLED), the only value: applications may not override");
    let process =
        Without("applications are in another process or ask for the other binding by its own call");
    let table = bits(
        &[
            (MQCNO_FASTPATH_BINDING, process),
            (MQCNO_SHARED_BINDING, process),
            (MQCNO_ISOLATED_BINDING, process),
            (MQCNO_LOCAL_BINDING, library),
            (MQCNO_CLIENT_BINDING, library),
            (MQCNO_HANDLE_SHARE_NONE, library),
            (MQCNO_HANDLE_SHARE_BLOCK, library),
            (MQCNO_HANDLE_SHARE_NO_BLOCK, library),
            (MQCNO_ACCOUNTING_MQI_ENABLED, collected),
            (MQCNO_ACCOUNTING_MQI_DISABLED, collected),
            (MQCNO_ACCOUNTING_Q_ENABLED, collected),
            (MQCNO_ACCOUNTING_Q_DISABLED, collected),
            (MQCNO_ACTIVITY_TRACE_ENABLED, collected),
            (MQCNO_ACTIVITY_TRACE_DISABLED, collected),
            (MQCNO_NO_CONV_SHARING, library),
            (MQCNO_ALL_CONVS_SHARE, library),
            (MQCNO_CD_FOR_OUTPUT_ONLY, library),
            (MQCNO_USE_CD_SELECTION, library),
            (MQCNO_GENERATE_CONN_TAG, Without("no tag keeps anybody out")),
            (MQCNO_RECONNECT, library),
            (MQCNO_RECONNECT_DISABLED, library),
            (MQCNO_RECONNECT_Q_MGR, library),
        ],
        OPTIONS,
    );
    let w = World::light();
    let connect = |options| {
        let who = Application {
            options,
            ..who("an application")
        };
        w.qm().connect(who).map(|_| Reason::NONE)
    };
    for (bit, fate) in &table {
        fate.check(&format!("MQCNO {bit:#x}"), connect(*bit));
    }
    for contradiction in [
        MQCNO_FASTPATH_BINDING | MQCNO_SHARED_BINDING,
        MQCNO_LOCAL_BINDING | MQCNO_CLIENT_BINDING,
        MQCNO_HANDLE_SHARE_NONE | MQCNO_HANDLE_SHARE_BLOCK,
        MQCNO_ACCOUNTING_MQI_ENABLED | MQCNO_ACCOUNTING_MQI_DISABLED,
        MQCNO_ACCOUNTING_Q_ENABLED | MQCNO_ACCOUNTING_Q_DISABLED,
        MQCNO_ACTIVITY_TRACE_ENABLED | MQCNO_ACTIVITY_TRACE_DISABLED,
        MQCNO_NO_CONV_SHARING | MQCNO_ALL_CONVS_SHARE,
        MQCNO_CD_FOR_OUTPUT_ONLY | MQCNO_USE_CD_SELECTION,
        MQCNO_RECONNECT | MQCNO_RECONNECT_DISABLED,
        MQCNO_RECONNECT | MQCNO_RECONNECT_Q_MGR,
    ] {
        OPTIONS.check(&format!("MQCNO {contradiction:#x}"), connect(contradiction));
    }
    let together = MQCNO_HANDLE_SHARE_BLOCK | MQCNO_RECONNECT | MQCNO_ISOLATED_BINDING;
    let who = Application {
        options: together,
        binding: Binding::Shared,
        ..who("an application")
    };
    let _connected = w.qm().connect(who).unwrap();
    let shown = w.mqsc("DISPLAY CONN(*) CONNOPTS").rows[0]
        .2
        .shown("CONNOPTS");
    let words = "MQCNO_HANDLE_SHARE_BLOCK,MQCNO_SHARED_BINDING,MQCNO_RECONNECT";
    assert_eq!(shown.as_deref(), Some(words));
}

#[test]
fn match_options() {
    let known = [
        MQMO_MATCH_MSG_ID,
        MQMO_MATCH_CORREL_ID,
        MQMO_MATCH_MSG_SEQ_NUMBER,
        MQMO_MATCH_OFFSET,
        MQMO_MATCH_GROUP_ID,
        MQMO_MATCH_MSG_TOKEN,
    ];
    let unknown = Refused(Reason::MATCH_OPTIONS_ERROR);
    let w = World::light();
    let s = w.connect();
    for (bit, fate) in bits(&known.map(|bit| (bit, Acted)), unknown) {
        let h = staged(&s);
        let seen = next(&s, h, MQGMO_BROWSE_FIRST).unwrap();
        let how = Gmo {
            version: MQGMO_VERSION_3,
            match_options: bit,
            ..seen.gmo
        };
        let how = Gmo { options: 0, ..how };
        let came = take(&s, h, seen.md, how, 99).map(|taken| taken.warning);
        fate.check(&format!("MQMO {bit:#x}"), came);
        drain(&s, h);
    }
}

#[test]
fn put_options() {
    let table = bits(
        &[
            (MQPMO_SYNCPOINT, Acted),
            (MQPMO_NO_SYNCPOINT, Acted),
            (MQPMO_DEFAULT_CONTEXT, Acted),
            (MQPMO_NEW_MSG_ID, Acted),
            (MQPMO_NEW_CORREL_ID, Acted),
            (MQPMO_PASS_IDENTITY_CONTEXT, Acted),
            (MQPMO_PASS_ALL_CONTEXT, Acted),
            (MQPMO_SET_IDENTITY_CONTEXT, Acted),
            (MQPMO_SET_ALL_CONTEXT, Acted),
            (MQPMO_ALTERNATE_USER_AUTHORITY, NO_AUTHORITY),
            (MQPMO_FAIL_IF_QUIESCING, Acted),
            (MQPMO_NO_CONTEXT, Acted),
            (MQPMO_LOGICAL_ORDER, Acted),
            (MQPMO_ASYNC_RESPONSE, Acted),
            (MQPMO_SYNC_RESPONSE, Acted),
            (MQPMO_RESOLVE_LOCAL_Q, Acted),
            (MQPMO_MD_FOR_OUTPUT_ONLY, Refused(Reason::MD_ERROR)),
        ],
        OPTIONS,
    );
    let w = World::light();
    for (bit, fate) in table {
        let s = w.connect();
        let context = staged(&s);
        next(&s, context, 0).unwrap();
        let h = open(&s, LOCAL, MQOO_OUTPUT | MQOO_SET_ALL_CONTEXT);
        let mut how = Pmo {
            context: context.0,
            ..pmo(bit)
        };
        let put = block_on(s.put(h, &mut md(0), &mut how, Bytes::new()));
        fate.check(&format!("MQPMO {bit:#x}"), put.map(|done| done.warning));
        if bit != MQPMO_LOGICAL_ORDER {
            let put = block_on(s.put1(&mut object(LOCAL), &mut md(0), &mut how, Bytes::new()));
            fate.check(
                &format!("MQPMO {bit:#x}, MQPUT1"),
                put.map(|done| done.warning),
            );
        }
    }
}

#[test]
fn open_options() {
    let table = bits(
        &[
            (MQOO_INPUT_AS_Q_DEF, Acted),
            (MQOO_INPUT_SHARED, Acted),
            (MQOO_INPUT_EXCLUSIVE, Acted),
            (MQOO_BROWSE, Acted),
            (MQOO_OUTPUT, Acted),
            (MQOO_INQUIRE, Acted),
            (MQOO_SET, Acted),
            (MQOO_SAVE_ALL_CONTEXT, Acted),
            (MQOO_PASS_IDENTITY_CONTEXT, Acted),
            (MQOO_PASS_ALL_CONTEXT, Acted),
            (MQOO_SET_IDENTITY_CONTEXT, Acted),
            (MQOO_SET_ALL_CONTEXT, Acted),
            (MQOO_ALTERNATE_USER_AUTHORITY, NO_AUTHORITY),
            (MQOO_FAIL_IF_QUIESCING, Acted),
            (MQOO_BIND_ON_OPEN, NO_CLUSTERS),
            (MQOO_BIND_NOT_FIXED, NO_CLUSTERS),
            (MQOO_BIND_ON_GROUP, NO_CLUSTERS),
            (MQOO_RESOLVE_LOCAL_Q, Acted),
            (MQOO_NO_READ_AHEAD, Without("nothing is read ahead")),
            (
                MQOO_READ_AHEAD,
                Without("it is leave to read ahead, not an order"),
            ),
            (MQOO_NO_MULTICAST, Without("nothing is multicast")),
        ],
        OPTIONS,
    );
    let w = World::light();
    for (bit, fate) in table {
        let s = w.connect();
        let alone = MQOO_INPUT_AS_Q_DEF | MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE;
        let with = match bit {
            bit if bit & alone != 0 => 0,
            MQOO_SAVE_ALL_CONTEXT => MQOO_INPUT_SHARED,
            _ => MQOO_OUTPUT,
        };
        let came = try_open(&s, LOCAL, bit | with).map(|_| Reason::NONE);
        fate.check(&format!("MQOO {bit:#x}"), came);
    }
}

#[test]
fn close_options() {
    let w = World::light();
    let s = w.connect();
    for (bit, _) in bits(&[], OPTIONS) {
        let h = open(&s, LOCAL, MQOO_OUTPUT);
        if bit == MQCO_QUIESCE {
            let fate = Without("what was sent ahead is with the client's library");
            fate.check("MQCO_QUIESCE", close(&s, h, bit));
            continue;
        }
        let reason = match bit {
            MQCO_DELETE | MQCO_DELETE_PURGE => Reason::OPTION_NOT_VALID_FOR_TYPE,
            _ => Reason::OPTIONS_ERROR,
        };
        Refused(reason).check(&format!("MQCO {bit:#x}"), close(&s, h, bit));
        close(&s, h, MQCO_NONE).unwrap();
    }
}

#[test]
fn message_flags() {
    let segments = Refused(Reason::SEGMENTS_NOT_SUPPORTED);
    let table = bits(
        &[
            (
                MQMF_SEGMENTATION_ALLOWED,
                Without("what is too long is refused"),
            ),
            (MQMF_SEGMENT, segments),
            (MQMF_LAST_SEGMENT, segments),
            (MQMF_MSG_IN_GROUP, Acted),
            (MQMF_LAST_MSG_IN_GROUP, Acted),
        ],
        Refused(Reason::MSG_FLAGS_ERROR),
    );
    let w = World::light();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for (bit, fate) in table {
        let mut own = Md {
            msg_flags: bit,
            ..md(0)
        };
        let came = try_put(&s, h, &mut own, 0, b"x");
        fate.check(&format!("MQMF {bit:#x}"), came);
        let came = put1(&s, LOCAL, &mut own, 0, b"x");
        fate.check(&format!("MQMF {bit:#x}, MQPUT1"), came);
    }
    w.run(&format!("ALTER QLOCAL({LOCAL}) MAXMSGL(3)"));
    let mut own = Md {
        msg_flags: MQMF_SEGMENTATION_ALLOWED,
        ..md(0)
    };
    let came = try_put(&s, h, &mut own, 0, b"four");
    assert_eq!(came, Err(Reason::MSG_TOO_BIG_FOR_Q));
    // What is delivered says whether it could have been cut.
    let shown: Vec<u8> = (0..2)
        .map(|_| next(&s, h, MQGMO_COMPLETE_MSG).unwrap().gmo.segmentation)
        .collect();
    assert_eq!(shown, [MQSEG_ALLOWED, MQSEG_ALLOWED]);
    assert_eq!(next(&s, h, 0).unwrap().gmo.segmentation, MQSEG_INHIBITED);
}

/// A field, changed.
type Changed<T> = (&'static str, fn(&mut T), Fate);

#[test]
fn fields_of_the_get_options() {
    // A field that is added has to be thought about.
    let Gmo {
        version: _,
        options: _,
        wait_interval: _,
        signal1: _,
        signal2: _,
        resolved_q_name: _,
        match_options: _,
        group_status: _,
        segment_status: _,
        segmentation: _,
        reserved1: _,
        msg_token: _,
        returned_length: _,
        reserved2: _,
        msg_handle: _,
    } = Gmo::default();
    let signal = Without("it goes with MQGMO_SET_SIGNAL, which is refused");
    let table: &[Changed<Gmo>] = &[
        (
            "WaitInterval",
            |g| g.wait_interval = -2,
            Refused(Reason::WAIT_INTERVAL_ERROR),
        ),
        ("Signal1", |g| g.signal1 = 7, signal),
        ("Signal2", |g| g.signal2 = 7, signal),
        (
            "ResolvedQName",
            |g| g.resolved_q_name = Name::new("X"),
            OUTPUT,
        ),
        ("GroupStatus", |g| g.group_status = b'?', OUTPUT),
        ("SegmentStatus", |g| g.segment_status = b'?', OUTPUT),
        ("Segmentation", |g| g.segmentation = b'?', OUTPUT),
        (
            "Reserved1",
            |g| g.reserved1 = b'?',
            Without("it is reserved"),
        ),
        (
            "MsgToken",
            |g| g.msg_token = [7; 16],
            Without("it goes with MQMO_MATCH_MSG_TOKEN"),
        ),
        ("ReturnedLength", |g| g.returned_length = 7, OUTPUT),
        ("Reserved2", |g| g.reserved2 = 7, Without("it is reserved")),
        (
            "MsgHandle",
            |g| g.msg_handle = 7,
            Refused(Reason::HMSG_ERROR),
        ),
    ];
    let w = World::light();
    let s = w.connect();
    for (field, change, fate) in table {
        let h = staged(&s);
        let mut how = Gmo {
            version: MQGMO_VERSION_4,
            ..gmo(0)
        };
        change(&mut how);
        let came = take(&s, h, md(0), how, 99).map(|taken| taken.warning);
        fate.check(&format!("MQGMO.{field}"), came);
        drain(&s, h);
    }
}

#[test]
fn fields_of_the_put_options() {
    let Pmo {
        version: _,
        options: _,
        timeout: _,
        context: _,
        known_dest_count: _,
        unknown_dest_count: _,
        invalid_dest_count: _,
        resolved_q_name: _,
        resolved_q_mgr_name: _,
        recs_present: _,
        put_msg_rec_fields: _,
        put_msg_rec_offset: _,
        response_rec_offset: _,
        records: _,
        original_msg_handle: _,
        new_msg_handle: _,
        action: _,
        pub_level: _,
    } = Pmo::default();
    let records = Without("it goes with RecsPresent");
    let handle = Refused(Reason::HMSG_ERROR);
    let table: &[Changed<Pmo>] = &[
        ("Timeout", |p| p.timeout = 7, Without("it is reserved")),
        (
            "Context",
            |p| p.context = 7,
            Without("it goes with options that pass context"),
        ),
        ("KnownDestCount", |p| p.known_dest_count = 7, OUTPUT),
        ("UnknownDestCount", |p| p.unknown_dest_count = 7, OUTPUT),
        ("InvalidDestCount", |p| p.invalid_dest_count = 7, OUTPUT),
        (
            "ResolvedQName",
            |p| p.resolved_q_name = Name::new("X"),
            OUTPUT,
        ),
        (
            "ResolvedQMgrName",
            |p| p.resolved_q_mgr_name = Name::new("X"),
            OUTPUT,
        ),
        (
            "RecsPresent",
            |p| p.recs_present = 1,
            Refused(Reason::RECS_PRESENT_ERROR),
        ),
        ("PutMsgRecFields", |p| p.put_msg_rec_fields = 1, records),
        ("PutMsgRecOffset", |p| p.put_msg_rec_offset = 1, records),
        ("ResponseRecOffset", |p| p.response_rec_offset = 1, records),
        ("OriginalMsgHandle", |p| p.original_msg_handle = 7, handle),
        ("NewMsgHandle", |p| p.new_msg_handle = 7, handle),
        (
            "Action",
            |p| p.action = MQACTP_FORWARD,
            Refused(Reason::ACTION_ERROR),
        ),
        (
            "PubLevel",
            |p| p.pub_level = 3,
            Without("it is about topics"),
        ),
    ];
    let w = World::light();
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_OUTPUT);
    for (field, change, fate) in table {
        let mut how = Pmo {
            version: MQPMO_VERSION_3,
            ..pmo(0)
        };
        change(&mut how);
        let put = block_on(s.put(h, &mut md(0), &mut how.clone(), Bytes::new()));
        fate.check(&format!("MQPMO.{field}"), put.map(|done| done.warning));
        let put = block_on(s.put1(&mut object(LOCAL), &mut md(0), &mut how, Bytes::new()));
        fate.check(
            &format!("MQPMO.{field}, MQPUT1"),
            put.map(|done| done.warning),
        );
    }
}

#[test]
fn fields_of_the_object_descriptor() {
    let Od {
        version: _,
        object_type: _,
        object_name: _,
        object_q_mgr_name: _,
        dynamic_q_name: _,
        alternate_user_id: _,
        recs_present: _,
        known_dest_count: _,
        unknown_dest_count: _,
        invalid_dest_count: _,
        object_rec_offset: _,
        response_rec_offset: _,
        records: _,
        alternate_security_id: _,
        resolved_q_name: _,
        resolved_q_mgr_name: _,
        object_string: _,
        selection_string: _,
        res_object_string: _,
        res_object_string_size: _,
        resolved_type: _,
        surrogates: _,
    } = Od::default();
    let records = Without("it goes with RecsPresent");
    let topics = Without("it is about topics");
    let table: &[Changed<Od>] = &[
        (
            "ObjectType",
            |o| o.object_type = 99,
            Refused(Reason::OBJECT_TYPE_ERROR),
        ),
        (
            "ObjectName",
            |o| o.object_name = Name::new("X"),
            Refused(Reason::UNKNOWN_OBJECT_NAME),
        ),
        (
            "ObjectQMgrName",
            |o| o.object_q_mgr_name = Name::new("X"),
            Refused(Reason::UNKNOWN_REMOTE_Q_MGR),
        ),
        (
            "DynamicQName",
            |o| o.dynamic_q_name = Name::new("?"),
            Without("it is no model queue"),
        ),
        (
            "AlternateUserId",
            |o| o.alternate_user_id = posthaste_mqi::Chars::new("x"),
            NO_AUTHORITY,
        ),
        (
            "RecsPresent",
            |o| o.recs_present = 1,
            Refused(Reason::OBJECT_RECORDS_ERROR),
        ),
        ("KnownDestCount", |o| o.known_dest_count = 7, OUTPUT),
        ("UnknownDestCount", |o| o.unknown_dest_count = 7, OUTPUT),
        ("InvalidDestCount", |o| o.invalid_dest_count = 7, OUTPUT),
        ("ObjectRecOffset", |o| o.object_rec_offset = 7, records),
        ("ResponseRecOffset", |o| o.response_rec_offset = 7, records),
        (
            "AlternateSecurityId",
            |o| o.alternate_security_id = [7; 40],
            NO_AUTHORITY,
        ),
        (
            "ResolvedQName",
            |o| o.resolved_q_name = Name::new("X"),
            OUTPUT,
        ),
        (
            "ResolvedQMgrName",
            |o| o.resolved_q_mgr_name = Name::new("X"),
            OUTPUT,
        ),
        ("ObjectString", |o| o.object_string = "x".to_owned(), topics),
        (
            "SelectionString",
            // What others do: selectors.rs.
            |o| o.selection_string = "color =".to_owned(),
            Refused(Reason::SELECTOR_SYNTAX_ERROR),
        ),
        (
            "ResObjectString",
            |o| o.res_object_string = "x".to_owned(),
            topics,
        ),
        ("VSBufSize", |o| o.res_object_string_size = 7, topics),
        ("ResolvedType", |o| o.resolved_type = 7, OUTPUT),
    ];
    let w = World::light();
    let s = w.connect();
    for (field, change, fate) in table {
        for options in [MQOO_INPUT_SHARED, MQOO_BROWSE, MQOO_OUTPUT, MQOO_INQUIRE] {
            let mut od = Od {
                version: MQOD_VERSION_4,
                ..object(LOCAL)
            };
            change(&mut od);
            let opened = block_on(s.open(&mut od, options));
            fate.check(&format!("MQOD.{field}"), opened.map(|done| done.warning));
        }
        let mut od = Od {
            version: MQOD_VERSION_4,
            ..object(LOCAL)
        };
        change(&mut od);
        let put = block_on(s.put1(&mut od, &mut md(0), &mut pmo(0), Bytes::new()));
        fate.check(
            &format!("MQOD.{field}, MQPUT1"),
            put.map(|done| done.warning),
        );
    }
}

/// With the option that asks for it, the queue here is named that takes the message first.
#[test]
fn the_local_queue_is_resolved_when_asked_for() {
    let w = World::light();
    w.run(
        "DEFINE QLOCAL(XMIT) USAGE(XMITQ)
         DEFINE QREMOTE(FAR) RNAME(Q) RQMNAME(THERE) XMITQ(XMIT)",
    );
    let s = w.connect();
    let names = |queue: &Name, q_mgr: &Name| (queue.text().into_owned(), q_mgr.text().into_owned());
    let here = ("XMIT".to_owned(), "QM1".to_owned());
    let there = ("Q".to_owned(), "THERE".to_owned());
    for (open_option, put_option, wanted) in [
        (0, 0, &there),
        (MQOO_RESOLVE_LOCAL_Q, MQPMO_RESOLVE_LOCAL_Q, &here),
    ] {
        let mut od = object("FAR");
        let h = open_od(&s, &mut od, MQOO_OUTPUT | open_option).unwrap();
        assert_eq!(&names(&od.resolved_q_name, &od.resolved_q_mgr_name), wanted);
        let mut how = pmo(put_option);
        block_on(s.put(h, &mut md(0), &mut how, Bytes::new())).unwrap();
        assert_eq!(
            &names(&how.resolved_q_name, &how.resolved_q_mgr_name),
            wanted
        );
    }
}
