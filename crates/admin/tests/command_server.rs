//! The command server: what it answers, and the end of its queue manager.
#![allow(clippy::unwrap_used, missing_docs)]

mod asking;
#[path = "../../engine/tests/world/mod.rs"]
mod world;

use std::collections::BTreeSet;

use asking::*;
use bytes::Bytes;
use posthaste_command::pcf::{self, Message, Parameter, Text, Value};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;
use world::*;

/// Command, parameters and what answers them.
type Other = (i32, Vec<(i32, Value)>, Answer);

/// As programs administer that use no MQSC: they got 3007 for all but Escape.
#[test]
fn commands_in_pcf_are_carried_out_and_answered_in_pcf() {
    let w = World::light();
    let name = |name: &str| text(MQCA_Q_NAME, name);
    let wanted = |numbers: &[i32]| (MQIACF_Q_ATTRS, Value::Ints(numbers.to_vec()));
    let made = [
        name("MADE"),
        int(MQIA_Q_TYPE, MQQT_LOCAL),
        int(MQIA_MAX_Q_DEPTH, 77),
        text(MQCA_Q_DESC, "it's"),
    ];
    let as_alias = [
        name("MADE"),
        int(MQIA_Q_TYPE, MQQT_ALIAS),
        int(MQIACF_REPLACE, MQRP_YES),
    ];
    let twice = [MQIA_MAX_Q_DEPTH, MQIA_MAX_Q_DEPTH];
    let all = answers(
        &w,
        vec![
            request(MQCMD_CREATE_Q, &made),
            request(MQCMD_CREATE_Q, &made),
            request(MQCMD_CREATE_Q, &as_alias),
            request(
                MQCMD_INQUIRE_Q,
                &[name("M*"), wanted(&[MQIA_MAX_Q_DEPTH, MQCA_Q_DESC])],
            ),
            request(MQCMD_INQUIRE_Q_NAMES, &[name("M*")]),
            request(MQCMD_INQUIRE_Q, &[name("M*"), wanted(&twice)]),
            request(MQCMD_DELETE_Q, &[name("MADE")]),
            request(MQCMD_INQUIRE_Q, &[name("MADE")]),
            request(9_999, &[]),
        ],
    );
    let got: Vec<_> = all.iter().map(|set| outcomes(set)).collect();
    assert_eq!(
        got,
        [
            vec![DONE],
            failed(4001, None),
            failed(4002, None),
            vec![DONE],
            vec![DONE],
            failed(3026, Some((MQIACF_SELECTOR, MQIA_MAX_Q_DEPTH))),
            vec![DONE],
            failed(2085, None),
            failed(3007, None),
        ]
    );
    let row = &all[3][0];
    assert_eq!(row.texts(MQCA_Q_NAME), ["MADE"]);
    assert_eq!(row.texts(MQCA_Q_DESC), ["it's"]);
    assert_eq!(row.int(MQIA_MAX_Q_DEPTH), Some(77));
    assert_eq!(row.parameters.len(), 4, "{row:?}");
    let names = &all[4][0].parameters;
    let items = vec![format!("{:48}", "MADE").into_bytes()];
    let (ccsid, width) = (1208, 48);
    let list = Value::Texts {
        ccsid,
        width,
        items,
    };
    let types = Value::Ints(vec![MQQT_LOCAL]);
    let found: Vec<_> = names.iter().map(|one| (one.id, &one.value)).collect();
    assert_eq!(found, [(MQCACF_Q_NAMES, &list), (MQIACF_Q_TYPES, &types)]);
}

/// A refusal says which parameter it is about (manual: "Standard responses"), one that only the command's text shows too.
#[test]
fn a_refusal_in_pcf_names_the_parameter() {
    let w = World::light();
    w.run("DEFINE SUB(S) TOPICSTR('s') DEST(SYSTEM.DEFAULT.LOCAL.QUEUE)");
    let local = || int(MQIA_Q_TYPE, MQQT_LOCAL);
    let of_type = |code: i32| int(MQIACF_OBJECT_TYPE, code);
    let user = || (MQCACF_PRINCIPAL_ENTITY_NAMES, names(0, "app").1);
    let entity = || {
        [
            text(MQCACF_ENTITY_NAME, "app"),
            int(MQIACF_ENTITY_TYPE, MQZAET_PRINCIPAL),
        ]
    };
    let get = (MQIACF_AUTH_ADD_AUTHS, Value::Ints(vec![MQAUTH_INPUT]));
    let profile = |profile: &str| text(MQCACF_AUTH_PROFILE_NAME, profile);
    let sub_id = (MQBACF_SUB_ID, Value::Bytes(vec![1; 24]));
    let cases = [
        // Without the name of the object, which only the queue manager has not got.
        (
            request(
                MQCMD_INQUIRE_ENTITY_AUTH,
                &[&[of_type(MQOT_Q)][..], &entity()].concat(),
            ),
            failed(3019, Some((MQIACF_PARAMETER_ID, MQCACF_OBJECT_NAME))),
        ),
        (
            request(
                MQCMD_DELETE_SUBSCRIPTION,
                &[text(MQCACF_SUB_NAME, "S"), sub_id],
            ),
            failed(3203, Some((MQIACF_PARAMETER_ID, MQBACF_SUB_ID))),
        ),
        (
            request(
                MQCMD_STOP_CHANNEL,
                &[
                    text(MQCACH_CHANNEL_NAME, "C"),
                    text(MQCACH_CONNECTION_NAME, "127.0.0.1"),
                    int(MQIACH_CHANNEL_STATUS, MQCHS_STOPPED),
                ],
            ),
            failed(3203, Some((MQIACF_PARAMETER_ID, MQIACH_CHANNEL_STATUS))),
        ),
        (
            request(
                MQCMD_STOP_CONNECTION,
                &[(MQBACF_GENERIC_CONNECTION_ID, Value::Bytes(vec![]))],
            ),
            failed(
                3256,
                Some((MQIACF_PARAMETER_ID, MQBACF_GENERIC_CONNECTION_ID)),
            ),
        ),
        // An authority that the type has not got, a name that none has, a name too long for a profile.
        (
            request(
                MQCMD_SET_AUTH_REC,
                &[of_type(MQOT_Q_MGR), profile("QM1"), user(), get.clone()],
            ),
            failed(3097, Some((MQIACF_PARAMETER_ID, MQIACF_AUTH_ADD_AUTHS))),
        ),
        (
            request(
                MQCMD_SET_AUTH_REC,
                &[
                    of_type(MQOT_Q),
                    profile("Q"),
                    (MQCACF_GROUP_ENTITY_NAMES, names(0, "a\tb").1),
                    get.clone(),
                ],
            ),
            failed(3097, Some((MQIACF_PARAMETER_ID, MQCACF_GROUP_ENTITY_NAMES))),
        ),
        (
            request(
                MQCMD_SET_AUTH_REC,
                &[user(), profile(&"Q".repeat(49)), of_type(MQOT_Q), get],
            ),
            failed(3097, Some((MQIACF_PARAMETER_ID, MQCACF_AUTH_PROFILE_NAME))),
        ),
        (
            request(MQCMD_CREATE_Q, &[text(MQCA_Q_NAME, "A B"), local()]),
            failed(3097, Some((MQIACF_PARAMETER_ID, MQCA_Q_NAME))),
        ),
        (
            request(
                MQCMD_CREATE_Q,
                &[
                    text(MQCA_Q_NAME, "Q"),
                    local(),
                    text(MQCA_Q_DESC, "one\r\ntwo"),
                ],
            ),
            failed(4005, Some((MQIACF_PARAMETER_ID, MQCA_Q_DESC))),
        ),
    ];
    let (requests, expected): (Vec<_>, Vec<_>) = cases.into_iter().unzip();
    let all = answers(&w, requests);
    let got: Vec<_> = all.iter().map(|set| outcomes(set)).collect();
    assert_eq!(got, expected);
}

/// The queue that has the name, of whatever kind: only local queues were deleted.
#[test]
fn a_queue_is_deleted_in_pcf_whatever_its_kind() {
    let w = World::light();
    for mqsc in [
        "DEFINE QLOCAL(A.LOCAL)",
        "DEFINE QALIAS(AN.ALIAS) TARGET(A.LOCAL)",
        "DEFINE QMODEL(A.MODEL)",
        "DEFINE QREMOTE(A.REMOTE) RNAME(R) RQMNAME(RQ) XMITQ(A.LOCAL)",
    ] {
        w.run(mqsc);
    }
    let delete = |name: &str, more: &[(i32, Value)]| {
        request(MQCMD_DELETE_Q, &[&[text(MQCA_Q_NAME, name)], more].concat())
    };
    let all = answers(
        &w,
        vec![
            delete("AN.ALIAS", &[int(MQIA_Q_TYPE, MQQT_REMOTE)]),
            delete("AN.ALIAS", &[]),
            delete("A.MODEL", &[]),
            delete("A.REMOTE", &[]),
            delete("A.LOCAL", &[]),
            delete("A.LOCAL", &[]),
        ],
    );
    let got: Vec<_> = all.iter().map(|set| outcomes(set)[0]).collect();
    let wrong_type = (MQCC_FAILED, 4002, None);
    let unknown = (MQCC_FAILED, 2085, None);
    assert_eq!(got, [wrong_type, DONE, DONE, DONE, DONE, unknown]);
}

/// MQRAR_YES is the default; of other objects than queues and topics MQ leaves no choice.
#[test]
fn a_request_says_whether_authority_records_go_with_their_object() {
    let w = World::light();
    for (noun, of, attributes) in [
        ("QLOCAL", "QUEUE", ""),
        ("TOPIC", "TOPIC", "TOPICSTR(t)"),
        ("PROCESS", "PROCESS", ""),
    ] {
        w.run(&format!(
            "DEFINE {noun}(A) {attributes}
             SET AUTHREC PROFILE(A) OBJTYPE({of}) GROUP('g') AUTHADD(DSP)"
        ));
    }
    let says = |what: i32| int(MQIACF_REMOVE_AUTHREC, what);
    let queue = |command, more: &[(i32, Value)]| {
        request(command, &[&[text(MQCA_Q_NAME, "A")], more].concat())
    };
    let topic = |command, more: &[(i32, Value)]| {
        request(command, &[&[text(MQCA_TOPIC_NAME, "A")], more].concat())
    };
    let process = |more: &[(i32, Value)]| {
        let name = text(MQCA_PROCESS_NAME, "A");
        request(MQCMD_DELETE_PROCESS, &[&[name], more].concat())
    };
    let records = |object_type: i32| {
        let (name, of) = (MQCACF_AUTH_PROFILE_NAME, MQIACF_OBJECT_TYPE);
        let options = int(MQIACF_AUTH_OPTIONS, 17);
        let all = [text(name, "A"), int(of, object_type), options];
        request(MQCMD_INQUIRE_AUTH_RECS, &all)
    };
    let local = [int(MQIA_Q_TYPE, MQQT_LOCAL)];
    let string = [text(MQCA_TOPIC_STRING, "t")];
    let fault = Some((MQIACF_PARAMETER_ID, MQIACF_REMOVE_AUTHREC));
    let none = (MQCC_FAILED, 2085, None);
    let expected = vec![
        (
            queue(MQCMD_DELETE_Q, &[says(2)]),
            (MQCC_FAILED, 3229, fault),
        ),
        (queue(MQCMD_DELETE_Q, &[says(MQRAR_NO)]), DONE),
        (records(MQOT_Q), DONE),
        (queue(MQCMD_CREATE_Q, &local), DONE),
        (queue(MQCMD_DELETE_Q, &[says(MQRAR_YES)]), DONE),
        (records(MQOT_Q), none),
        (topic(MQCMD_DELETE_TOPIC, &[says(MQRAR_NO)]), DONE),
        (records(MQOT_TOPIC), DONE),
        (topic(MQCMD_CREATE_TOPIC, &string), DONE),
        (topic(MQCMD_DELETE_TOPIC, &[]), DONE),
        (records(MQOT_TOPIC), none),
        (process(&[says(MQRAR_NO)]), (MQCC_FAILED, 3014, fault)),
        (process(&[]), DONE),
        (records(MQOT_PROCESS), none),
    ];
    let (requests, expected): (Vec<_>, Vec<_>) = expected.into_iter().unzip();
    let all = answers(&w, requests);
    let got: Vec<_> = all.iter().map(|set| outcomes(set)[0]).collect();
    assert_eq!(got, expected);
}

/// In PCF a connection has one identifier of bytes, not two of digits; by that it is found.
#[test]
fn connections_are_named_by_24_bytes_in_pcf() {
    let id_of = |answer: &Message| {
        let id = |one: &&Parameter| one.id == MQBACF_CONNECTION_ID;
        match answer.parameters.iter().find(id).map(|one| &one.value) {
            Some(Value::Bytes(bytes)) => bytes.clone(),
            other => panic!("{other:?} in {answer:?}"),
        }
    };
    let everybody = || (MQBACF_GENERIC_CONNECTION_ID, Value::Bytes(vec![0; 24]));
    let filter = |tag: &str| {
        let (operator, value) = (MQCFOP_EQUAL, Text::new(tag));
        (MQCACF_APPL_TAG, Value::TextFilter { operator, value })
    };
    let mut w = World::light();
    let all = answers(&w, vec![request(MQCMD_INQUIRE_CONNECTION, &[everybody()])]);
    for answer in &all[0] {
        assert_eq!(id_of(answer).len(), 24, "{answer:?}");
        assert!(id_of(answer).starts_with(b"AMQ"), "{answer:?}");
    }
    let mine = id_of(all[0].last().unwrap());
    // Numbers of connections begin anew with the queue manager, so that there is one of that number again.
    w = World::light();
    let one = |id: Vec<u8>| (MQBACF_CONNECTION_ID, Value::Bytes(id));
    let mut another = mine.clone();
    another[20] ^= 0xff;
    let mut elsewhere = mine.clone();
    elsewhere[5] ^= 0xff;
    let all = answers(
        &w,
        vec![
            request(MQCMD_INQUIRE_CONNECTION, &[one(mine.clone())]),
            request(MQCMD_INQUIRE_CONNECTION, &[one(another)]),
            request(MQCMD_INQUIRE_CONNECTION, &[one(elsewhere)]),
            request(
                MQCMD_INQUIRE_CONNECTION,
                &[everybody(), filter("command server")],
            ),
            request(MQCMD_INQUIRE_CONNECTION, &[everybody(), filter("nobody")]),
        ],
    );
    assert_eq!(outcomes(&all[0]), [DONE]);
    assert_eq!(id_of(&all[0][0]), mine);
    assert_eq!(outcomes(&all[1]), failed(3174, None));
    assert_eq!(outcomes(&all[2]), failed(3174, None));
    assert_eq!(outcomes(&all[3]), [DONE]);
    assert_eq!(all[3][0].texts(MQCACF_APPL_TAG), ["command server"]);
    assert_eq!(outcomes(&all[4]), failed(3200, None));
}

/// One that has nothing open is there all the same.
#[test]
fn a_connection_without_handles_is_not_said_to_be_none() {
    let w = World::light();
    let _idle = w.connect();
    let shown = w.mqsc("DISPLAY CONN(*) TYPE(CONN)");
    let idle = shown.rows.last().unwrap().2.shown("CONN").unwrap();
    let reason = |id: &str| w.mqsc(&format!("DISPLAY CONN({id}) TYPE(HANDLE)")).reason;
    assert_eq!(reason(&idle), Reason::CCF_NONE_FOUND);
    assert_eq!(reason("0123456789ABCDEF"), Reason::CCF_CONNECTION_ID_ERROR);
}

/// A kind of object as programs administer it.
struct Kind {
    name: i32,
    from: i32,
    to: i32,
    inquire: i32,
    create: i32,
    change: i32,
    copy: i32,
    delete: i32,
    /// What tells kinds with the same commands apart.
    of: Option<(i32, i32)>,
    /// What is given when one is made.
    given: Vec<(i32, Value)>,
    /// What a copy has of its own.
    own: Vec<(i32, Value)>,
    /// What is changed: the description, of what has none something else.
    changed: (i32, &'static str),
}

macro_rules! kinds {
    ($($name:ident $from:ident $to:ident: $inquire:ident $create:ident $change:ident $copy:ident $delete:ident,
        $of:expr, $given:expr, $own:expr, $changed:expr;)*) => {
        vec![$(Kind {
            name: $name, from: $from, to: $to,
            inquire: $inquire, create: $create, change: $change, copy: $copy, delete: $delete,
            of: $of, given: $given.to_vec(), own: $own.to_vec(), changed: $changed,
        }),*]
    };
}

/// Every kind, with what is needed to make one.
#[rustfmt::skip] // one kind, three lines
fn kinds() -> Vec<Kind> {
    const NOTHING: [(i32, Value); 0] = [];
    kinds! {
        MQCA_Q_NAME MQCACF_FROM_Q_NAME MQCACF_TO_Q_NAME:
            MQCMD_INQUIRE_Q MQCMD_CREATE_Q MQCMD_CHANGE_Q MQCMD_COPY_Q MQCMD_DELETE_Q,
            Some((MQIA_Q_TYPE, MQQT_LOCAL)), NOTHING, NOTHING, (MQCA_Q_DESC, "changed");
        MQCA_Q_NAME MQCACF_FROM_Q_NAME MQCACF_TO_Q_NAME:
            MQCMD_INQUIRE_Q MQCMD_CREATE_Q MQCMD_CHANGE_Q MQCMD_COPY_Q MQCMD_DELETE_Q,
            Some((MQIA_Q_TYPE, MQQT_ALIAS)), [text(MQCA_BASE_OBJECT_NAME, "T")], NOTHING, (MQCA_Q_DESC, "changed");
        MQCA_Q_NAME MQCACF_FROM_Q_NAME MQCACF_TO_Q_NAME:
            MQCMD_INQUIRE_Q MQCMD_CREATE_Q MQCMD_CHANGE_Q MQCMD_COPY_Q MQCMD_DELETE_Q,
            Some((MQIA_Q_TYPE, MQQT_REMOTE)), [text(MQCA_REMOTE_Q_NAME, "R")], NOTHING, (MQCA_Q_DESC, "changed");
        MQCA_Q_NAME MQCACF_FROM_Q_NAME MQCACF_TO_Q_NAME:
            MQCMD_INQUIRE_Q MQCMD_CREATE_Q MQCMD_CHANGE_Q MQCMD_COPY_Q MQCMD_DELETE_Q,
            Some((MQIA_Q_TYPE, MQQT_MODEL)), NOTHING, NOTHING, (MQCA_Q_DESC, "changed");
        MQCACH_CHANNEL_NAME MQCACF_FROM_CHANNEL_NAME MQCACF_TO_CHANNEL_NAME:
            MQCMD_INQUIRE_CHANNEL MQCMD_CREATE_CHANNEL MQCMD_CHANGE_CHANNEL MQCMD_COPY_CHANNEL MQCMD_DELETE_CHANNEL,
            Some((MQIACH_CHANNEL_TYPE, MQCHT_SVRCONN)), NOTHING, NOTHING, (MQCACH_DESC, "changed");
        MQCACH_CHANNEL_NAME MQCACF_FROM_CHANNEL_NAME MQCACF_TO_CHANNEL_NAME:
            MQCMD_INQUIRE_CHANNEL MQCMD_CREATE_CHANNEL MQCMD_CHANGE_CHANNEL MQCMD_COPY_CHANNEL MQCMD_DELETE_CHANNEL,
            Some((MQIACH_CHANNEL_TYPE, MQCHT_CLNTCONN)), [text(MQCACH_CONNECTION_NAME, "h(1)")], NOTHING, (MQCACH_DESC, "changed");
        MQCA_TOPIC_NAME MQCACF_FROM_TOPIC_NAME MQCACF_TO_TOPIC_NAME:
            MQCMD_INQUIRE_TOPIC MQCMD_CREATE_TOPIC MQCMD_CHANGE_TOPIC MQCMD_COPY_TOPIC MQCMD_DELETE_TOPIC,
            None, [text(MQCA_TOPIC_STRING, "a/b")], [text(MQCA_TOPIC_STRING, "a/c")], (MQCA_TOPIC_DESC, "changed");
        MQCA_NAMELIST_NAME MQCACF_FROM_NAMELIST_NAME MQCACF_TO_NAMELIST_NAME:
            MQCMD_INQUIRE_NAMELIST MQCMD_CREATE_NAMELIST MQCMD_CHANGE_NAMELIST MQCMD_COPY_NAMELIST MQCMD_DELETE_NAMELIST,
            None, [names(MQCA_NAMES, "ONE")], NOTHING, (MQCA_NAMELIST_DESC, "changed");
        MQCA_PROCESS_NAME MQCACF_FROM_PROCESS_NAME MQCACF_TO_PROCESS_NAME:
            MQCMD_INQUIRE_PROCESS MQCMD_CREATE_PROCESS MQCMD_CHANGE_PROCESS MQCMD_COPY_PROCESS MQCMD_DELETE_PROCESS,
            None, [text(MQCA_APPL_ID, "true")], NOTHING, (MQCA_PROCESS_DESC, "changed");
        MQCACH_LISTENER_NAME MQCACF_FROM_LISTENER_NAME MQCACF_TO_LISTENER_NAME:
            MQCMD_INQUIRE_LISTENER MQCMD_CREATE_LISTENER MQCMD_CHANGE_LISTENER MQCMD_COPY_LISTENER MQCMD_DELETE_LISTENER,
            None, [int(MQIACH_XMIT_PROTOCOL_TYPE, MQXPT_TCP), int(MQIACH_PORT, 1414)], NOTHING, (MQCACH_LISTENER_DESC, "changed");
        MQCA_SERVICE_NAME MQCACF_FROM_SERVICE_NAME MQCACF_TO_SERVICE_NAME:
            MQCMD_INQUIRE_SERVICE MQCMD_CREATE_SERVICE MQCMD_CHANGE_SERVICE MQCMD_COPY_SERVICE MQCMD_DELETE_SERVICE,
            None, [text(MQCA_SERVICE_START_COMMAND, "true")], NOTHING, (MQCA_SERVICE_DESC, "changed");
        MQCA_AUTH_INFO_NAME MQCACF_FROM_AUTH_INFO_NAME MQCACF_TO_AUTH_INFO_NAME:
            MQCMD_INQUIRE_AUTH_INFO MQCMD_CREATE_AUTH_INFO MQCMD_CHANGE_AUTH_INFO MQCMD_COPY_AUTH_INFO MQCMD_DELETE_AUTH_INFO,
            Some((MQIA_AUTH_INFO_TYPE, MQAIT_IDPW_OS)), NOTHING, NOTHING, (MQCA_AUTH_INFO_DESC, "changed");
        MQCA_COMM_INFO_NAME MQCACF_FROM_COMM_INFO_NAME MQCACF_TO_COMM_INFO_NAME:
            MQCMD_INQUIRE_COMM_INFO MQCMD_CREATE_COMM_INFO MQCMD_CHANGE_COMM_INFO MQCMD_COPY_COMM_INFO MQCMD_DELETE_COMM_INFO,
            None, NOTHING, NOTHING, (MQCA_COMM_INFO_DESC, "changed");
        MQCACF_SUB_NAME MQCACF_FROM_SUB_NAME MQCACF_TO_SUB_NAME:
            MQCMD_INQUIRE_SUBSCRIPTION MQCMD_CREATE_SUBSCRIPTION MQCMD_CHANGE_SUBSCRIPTION MQCMD_COPY_SUBSCRIPTION MQCMD_DELETE_SUBSCRIPTION,
            None, [text(MQCA_TOPIC_STRING, "a/b"), text(MQCACF_DESTINATION, "REPLIES")], [text(MQCA_TOPIC_STRING, "a/c")],
            (MQCACF_SUB_USER_DATA, "changed");
    }
}

/// Every kind of object is made, changed, copied, shown and deleted in PCF; these and the tests of the other commands are all
/// that there are.
#[test]
fn every_kind_of_object_is_administered_in_pcf() {
    let mut tried: BTreeSet<i32> = BTreeSet::new();
    for kind in kinds() {
        let w = World::light();
        let of: Vec<_> = kind.of.iter().map(|(id, code)| int(*id, *code)).collect();
        let with = |command: i32, parts: &[&[(i32, Value)]]| {
            request(command, &[&parts.concat(), &of[..]].concat())
        };
        let named = |name: &str| text(kind.name, name);
        let changed = text(kind.changed.0, kind.changed.1);
        let requests = vec![
            with(kind.create, &[&[named("A")], &kind.given]),
            with(kind.create, &[&[named("A")], &kind.given]),
            with(kind.change, &[&[named("A"), changed]]),
            with(
                kind.copy,
                &[&[text(kind.from, "A"), text(kind.to, "B")], &kind.own],
            ),
            request(kind.inquire, &[named("B")]),
            request(kind.delete, &[named("A")]),
            request(kind.delete, &[named("B")]),
            request(kind.inquire, &[named("B")]),
        ];
        let requests = match kind.of {
            // The other table is said.
            Some((MQIACH_CHANNEL_TYPE, MQCHT_CLNTCONN)) => {
                let table = || int(MQIACH_CHANNEL_TABLE, MQCHTAB_CLNTCONN);
                let mut requests = requests;
                requests[5] = request(kind.delete, &[named("A"), table()]);
                requests[6] = request(kind.delete, &[named("B"), table()]);
                requests
            }
            _ => requests,
        };
        let all = answers(&w, requests);
        let got: Vec<_> = all.iter().map(|set| outcomes(set)).collect();
        let gone = match kind.inquire {
            MQCMD_INQUIRE_CHANNEL => 4032,
            MQCMD_INQUIRE_SUBSCRIPTION => 2428,
            _ => 2085,
        };
        let expected = [
            vec![DONE],
            failed(4001, None),
            vec![DONE],
            vec![DONE],
            vec![DONE],
            vec![DONE],
            vec![DONE],
            failed(gone, None),
        ];
        assert_eq!(got, expected, "command {}, {:?}", kind.create, kind.of);
        let copy = &all[4][0];
        assert_eq!(copy.texts(kind.name), ["B"]);
        assert_eq!(copy.texts(kind.changed.0), [kind.changed.1]);
        if let Some((id, code)) = kind.of {
            assert_eq!(copy.int(id), Some(code));
        }
        tried.extend([
            kind.inquire,
            kind.create,
            kind.change,
            kind.copy,
            kind.delete,
        ]);
    }
    tried.extend(others().into_iter().map(|(command, ..)| command));
    let known: BTreeSet<i32> = pcf::command_numbers().collect();
    assert_eq!(tried, known);
}

/// How a request is answered.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Answer {
    /// It is carried out.
    Done,
    /// Its first message has something under this number.
    Has(i32),
    /// It fails.
    Fails(i32),
}

/// The other commands, in an order in which they can be carried out.
#[rustfmt::skip] // one request, one line
fn others() -> Vec<Other> {
    use Answer::{Done, Fails, Has};
    // Nothing runs beside this queue manager.
    let nothing_beside = Fails(2298);
    let record = || vec![text(MQCACF_AUTH_PROFILE_NAME, "A.**"), int(MQIACF_OBJECT_TYPE, MQOT_Q)];
    let and = |mut all: Vec<(i32, Value)>, more: (i32, Value)| { all.push(more); all };
    let mappings = |action: i32| vec![
        text(MQCACH_CHANNEL_NAME, "C.*"), int(MQIACF_CHLAUTH_TYPE, MQCAUT_ADDRESSMAP), int(MQIACF_ACTION, action),
        text(MQCACH_CONNECTION_NAME, "10.*"),
    ];
    vec![
        (MQCMD_PING_Q_MGR, vec![], Done),
        (MQCMD_CHANGE_Q_MGR, vec![text(MQCA_Q_MGR_DESC, "it")], Done),
        (MQCMD_INQUIRE_Q_MGR, vec![], Has(MQCA_Q_MGR_DESC)),
        (MQCMD_INQUIRE_Q_MGR_STATUS, vec![], Has(MQIACF_Q_MGR_STATUS)),
        (MQCMD_INQUIRE_Q_NAMES, vec![text(MQCA_Q_NAME, "*")], Has(MQIACF_Q_TYPES)),
        (MQCMD_INQUIRE_CHANNEL_NAMES, vec![text(MQCACH_CHANNEL_NAME, "*")], Has(MQIACH_CHANNEL_TYPES)),
        (MQCMD_INQUIRE_TOPIC_NAMES, vec![text(MQCA_TOPIC_NAME, "*")], Has(MQCACF_TOPIC_NAMES)),
        (MQCMD_INQUIRE_NAMELIST_NAMES, vec![text(MQCA_NAMELIST_NAME, "*")], Has(MQCACF_NAMELIST_NAMES)),
        (MQCMD_INQUIRE_PROCESS_NAMES, vec![text(MQCA_PROCESS_NAME, "*")], Has(MQCACF_PROCESS_NAMES)),
        (MQCMD_INQUIRE_AUTH_INFO_NAMES, vec![text(MQCA_AUTH_INFO_NAME, "*")], Has(MQCACF_AUTH_INFO_NAMES)),
        (MQCMD_INQUIRE_Q_STATUS, vec![text(MQCA_Q_NAME, "REPLIES"), int(MQIACF_OPEN_TYPE, MQQSOT_INPUT)], Has(MQIA_OPEN_INPUT_COUNT)),
        (MQCMD_INQUIRE_Q_STATUS, vec![text(MQCA_Q_NAME, "REPLIES"), int(MQIACF_Q_STATUS_TYPE, MQIACF_Q_HANDLE)], Has(MQIACF_OPEN_INPUT_TYPE)),
        (MQCMD_INQUIRE_CHANNEL_STATUS, vec![text(MQCACH_CHANNEL_NAME, "*")], nothing_beside),
        (MQCMD_INQUIRE_LISTENER_STATUS, vec![text(MQCACH_LISTENER_NAME, "*")], nothing_beside),
        (MQCMD_INQUIRE_SERVICE_STATUS, vec![text(MQCA_SERVICE_NAME, "*")], nothing_beside),
        (MQCMD_INQUIRE_CONNECTION, vec![(MQBACF_GENERIC_CONNECTION_ID, Value::Bytes(vec![]))], Has(MQIACF_PROCESS_ID)),
        (MQCMD_INQUIRE_TOPIC_STATUS, vec![text(MQCA_TOPIC_STRING, "#"), int(MQIACF_TOPIC_STATUS_TYPE, MQIACF_TOPIC_STATUS)], Has(MQIA_SUB_COUNT)),
        (MQCMD_INQUIRE_SUB_STATUS, vec![text(MQCACF_SUB_NAME, "A.SUB")], Has(MQBACF_SUB_ID)),
        (MQCMD_INQUIRE_PUBSUB_STATUS, vec![int(MQIACF_PS_STATUS_TYPE, MQPSST_LOCAL)], Has(MQIACF_PUBSUB_STATUS)),
        (MQCMD_SET_CHLAUTH_REC, and(mappings(MQACT_ADD), int(MQIACH_USER_SOURCE, 1)), Done),
        (MQCMD_SET_CHLAUTH_REC, and(mappings(MQACT_ADD), int(MQIACH_USER_SOURCE, 1)), Fails(3337)),
        (MQCMD_INQUIRE_CHLAUTH_RECS, vec![text(MQCACH_CHANNEL_NAME, "C.*"), int(MQIACH_MATCH, MQMATCH_EXACT)], Has(MQIACH_USER_SOURCE)),
        (MQCMD_SET_CHLAUTH_REC, mappings(MQACT_REMOVE), Done),
        (MQCMD_INQUIRE_CHLAUTH_RECS, vec![text(MQCACH_CHANNEL_NAME, "C.*"), int(MQIACH_MATCH, MQMATCH_EXACT)], Fails(3338)),
        (MQCMD_SET_AUTH_REC, and(and(record(), names(MQCACF_GROUP_ENTITY_NAMES, "root")), (MQIACF_AUTH_ADD_AUTHS, Value::Ints(vec![MQAUTH_INPUT]))), Done),
        (MQCMD_INQUIRE_AUTH_RECS, and(record(), int(MQIACF_AUTH_OPTIONS, 17)), Has(MQIACF_AUTHORIZATION_LIST)),
        (MQCMD_INQUIRE_ENTITY_AUTH, vec![
            text(MQCACF_OBJECT_NAME, "A.Q"), int(MQIACF_OBJECT_TYPE, MQOT_Q), text(MQCACF_ENTITY_NAME, "root"), int(MQIACF_ENTITY_TYPE, MQZAET_GROUP),
        ], Has(MQIACF_AUTHORIZATION_LIST)),
        (MQCMD_INQUIRE_ENTITY_AUTH, vec![
            int(MQIACF_AUTH_OPTIONS, MQAUTHOPT_CUMULATIVE),
            text(MQCACF_OBJECT_NAME, "A.Q"), int(MQIACF_OBJECT_TYPE, MQOT_Q), text(MQCACF_ENTITY_NAME, "root"), int(MQIACF_ENTITY_TYPE, MQZAET_GROUP),
        ], Has(MQIACF_AUTHORIZATION_LIST)),
        (MQCMD_DELETE_AUTH_REC, and(record(), names(MQCACF_GROUP_ENTITY_NAMES, "root")), Done),
        (MQCMD_INQUIRE_AUTH_RECS, and(record(), int(MQIACF_AUTH_OPTIONS, 17)), Fails(2085)),
        (MQCMD_INQUIRE_AUTH_SERVICE, vec![], Has(MQIACF_USER_ID_SUPPORT)),
        (MQCMD_CLEAR_Q, vec![text(MQCA_Q_NAME, "TO.CLEAR")], Done),
        (MQCMD_CLEAR_TOPIC_STRING, vec![text(MQCA_TOPIC_STRING, "a/b"), int(MQIACF_CLEAR_TYPE, MQCLRT_RETAINED)], Done),
        (MQCMD_START_CHANNEL, vec![text(MQCACH_CHANNEL_NAME, "C")], nothing_beside),
        (MQCMD_STOP_CHANNEL, vec![text(MQCACH_CHANNEL_NAME, "C"), int(MQIACF_MODE, MQMODE_QUIESCE)], nothing_beside),
        (MQCMD_STOP_CHANNEL, vec![text(MQCACH_CHANNEL_NAME, "C"), text(MQCACH_CONNECTION_NAME, "::1"), text(MQCA_Q_MGR_NAME, "")], nothing_beside),
        (MQCMD_STOP_CONNECTION, vec![(MQBACF_CONNECTION_ID, Value::Bytes(vec![0; 24]))], Fails(3174)),
        (MQCMD_START_CHANNEL_LISTENER, vec![text(MQCACH_LISTENER_NAME, "L")], nothing_beside),
        (MQCMD_STOP_CHANNEL_LISTENER, vec![text(MQCACH_LISTENER_NAME, "L")], nothing_beside),
        (MQCMD_START_SERVICE, vec![text(MQCA_SERVICE_NAME, "S")], nothing_beside),
        (MQCMD_STOP_SERVICE, vec![text(MQCA_SERVICE_NAME, "S")], nothing_beside),
        (MQCMD_REFRESH_SECURITY, vec![int(MQIACF_SECURITY_TYPE, MQSECTYPE_AUTHSERV)], Done),
    ]
}

#[test]
fn the_other_commands_in_pcf_are_carried_out() {
    let w = World::light();
    for mqsc in [
        "DEFINE QLOCAL(TO.CLEAR)",
        "DEFINE SUB(A.SUB) TOPICSTR('a/b') DEST(TO.CLEAR)",
    ] {
        w.run(mqsc);
    }
    let requests = others().into_iter();
    let requests = requests.map(|(command, parameters, _)| request(command, &parameters));
    let all = answers(&w, requests.collect());
    for (set, (command, parameters, answer)) in all.iter().zip(others()) {
        let shown = format!("{command} {parameters:?}: {set:?}");
        assert!(
            set.iter().all(|one| one.header.command == command),
            "{shown}"
        );
        match answer {
            Answer::Fails(reason) => assert_eq!(outcomes(set), failed(reason, None), "{shown}"),
            Answer::Done => assert_eq!(outcomes(set), [DONE], "{shown}"),
            Answer::Has(id) => {
                assert!(outcomes(set).iter().all(|one| *one == DONE), "{shown}");
                let has = set[0].parameters.iter().any(|one| one.id == id);
                assert!(has, "{shown}");
            }
        }
    }
}

/// Its thread may come to run when the queue manager has begun to end.
#[test]
fn what_was_asked_before_an_end_is_answered_however_late_the_server_comes() {
    let w = World::light();
    let late = Bytes::from(pcf::escape_request("DEFINE QLOCAL(LATE)"));
    let all = answered(&w, vec![late]);
    let answer = pcf::escape_texts(&all[0].1).unwrap().concat();
    assert!(answer.starts_with("AMQ8006I"), "{answer}");
}

/// Who could pass the name of the queue manager's owner on, by `passid`, could ask for anything in it.
#[test]
fn an_answer_comes_from_whoever_has_asked() {
    let w = World::light();
    let ping = Bytes::from(pcf::escape_request("PING QMGR"));
    let (md, _) = &answered(&w, vec![ping])[0];
    assert_eq!(md.user_identifier.text(), "asker");
    assert_eq!(md.accounting_token, [7; 32]);
    assert_eq!(md.appl_identity_data.text(), "asked");
}

/// Attributes of the queue manager by their groups, which the manual's list of QMgrAttrs has beside single ones.
#[test]
fn attributes_of_the_queue_manager_are_asked_for_by_groups() {
    let w = World::light();
    let wanted = |numbers: &[i32]| {
        let list = (MQIACF_Q_MGR_ATTRS, Value::Ints(numbers.to_vec()));
        request(MQCMD_INQUIRE_Q_MGR, &[list])
    };
    let cases = [
        (
            &[MQIACF_Q_MGR_SYSTEM][..],
            MQIA_MAX_HANDLES,
            MQIA_AUTHORITY_EVENT,
        ),
        (
            &[MQIACF_Q_MGR_EVENT],
            MQIA_AUTHORITY_EVENT,
            MQIA_MAX_HANDLES,
        ),
        (&[MQIACF_Q_MGR_DQM], MQIA_CHLAUTH_RECORDS, MQIA_MAX_HANDLES),
        (
            &[MQIACF_Q_MGR_CLUSTER],
            MQCA_REPOSITORY_NAME,
            MQIA_MAX_HANDLES,
        ),
        (&[MQIACF_Q_MGR_PUBSUB], MQIA_PUBSUB_MODE, MQIA_MAX_HANDLES),
        (
            &[MQIACF_Q_MGR_PUBSUB, MQIA_MAX_HANDLES],
            MQIA_MAX_HANDLES,
            MQIA_AUTHORITY_EVENT,
        ),
    ];
    let all = answers(&w, cases.iter().map(|(asked, ..)| wanted(asked)).collect());
    for (set, (asked, there, elsewhere)) in all.iter().zip(cases) {
        assert_eq!(outcomes(set), [DONE], "{asked:?}");
        let has = |id: i32| set[0].parameters.iter().any(|one| one.id == id);
        assert!(has(MQCA_Q_MGR_NAME) && has(there), "{asked:?}: {set:?}");
        assert!(!has(elsewhere), "{asked:?}: {set:?}");
    }
}

/// "Always returned", say the pages of both.
#[test]
fn answers_about_authorities_name_the_queue_manager_and_the_options() {
    let w = World::light();
    w.run("SET AUTHREC PROFILE('A.**') OBJTYPE(QUEUE) GROUP('root') AUTHADD(GET)");
    let options = MQAUTHOPT_ENTITY_EXPLICIT | MQAUTHOPT_NAME_EXPLICIT;
    let requests = vec![
        request(
            MQCMD_INQUIRE_AUTH_RECS,
            &[
                text(MQCACF_AUTH_PROFILE_NAME, "A.**"),
                int(MQIACF_OBJECT_TYPE, MQOT_Q),
                int(MQIACF_AUTH_OPTIONS, options),
            ],
        ),
        request(
            MQCMD_INQUIRE_ENTITY_AUTH,
            &[
                text(MQCACF_OBJECT_NAME, "A.Q"),
                int(MQIACF_OBJECT_TYPE, MQOT_Q),
                text(MQCACF_ENTITY_NAME, "root"),
                int(MQIACF_ENTITY_TYPE, MQZAET_GROUP),
            ],
        ),
    ];
    let all = answers(&w, requests);
    for (set, options) in all.iter().zip([options, MQAUTHOPT_CUMULATIVE]) {
        assert_eq!(outcomes(set), [DONE]);
        assert_eq!(set[0].texts(MQCA_Q_MGR_NAME), ["QM1"]);
        assert_eq!(set[0].int(MQIACF_AUTH_OPTIONS), Some(options));
    }
}

/// What a command says of an object that is not there, by its kind.
#[test]
fn what_is_not_there_is_said_by_its_own_reason() {
    let w = World::light();
    let gone = "NOT.THERE";
    let sub = || text(MQCACF_SUB_NAME, gone);
    let of_channel = |id: i32| [text(id, gone), int(MQIACH_CHANNEL_TYPE, MQCHT_SVRCONN)];
    let copy = |from: i32, to: i32| vec![text(from, gone), text(to, "NEW")];
    let (no_subscription, no_channel, unknown) = (2428, 4032, 2085);
    let cases = [
        (MQCMD_INQUIRE_SUBSCRIPTION, vec![sub()], no_subscription),
        (MQCMD_INQUIRE_SUB_STATUS, vec![sub()], no_subscription),
        (
            MQCMD_CHANGE_SUBSCRIPTION,
            vec![sub(), text(MQCACF_SUB_USER_DATA, "x")],
            no_subscription,
        ),
        (MQCMD_DELETE_SUBSCRIPTION, vec![sub()], no_subscription),
        (
            MQCMD_COPY_SUBSCRIPTION,
            copy(MQCACF_FROM_SUB_NAME, MQCACF_TO_SUB_NAME),
            no_subscription,
        ),
        (
            MQCMD_INQUIRE_CHANNEL,
            vec![text(MQCACH_CHANNEL_NAME, gone)],
            no_channel,
        ),
        (
            MQCMD_CHANGE_CHANNEL,
            of_channel(MQCACH_CHANNEL_NAME).to_vec(),
            no_channel,
        ),
        (
            MQCMD_DELETE_CHANNEL,
            vec![text(MQCACH_CHANNEL_NAME, gone)],
            no_channel,
        ),
        (
            MQCMD_COPY_CHANNEL,
            [
                &of_channel(MQCACF_FROM_CHANNEL_NAME)[..],
                &[text(MQCACF_TO_CHANNEL_NAME, "NEW")],
            ]
            .concat(),
            no_channel,
        ),
        (
            MQCMD_INQUIRE_TOPIC,
            vec![text(MQCA_TOPIC_NAME, gone)],
            unknown,
        ),
        (
            MQCMD_COPY_TOPIC,
            copy(MQCACF_FROM_TOPIC_NAME, MQCACF_TO_TOPIC_NAME),
            unknown,
        ),
        (
            MQCMD_DELETE_TOPIC,
            vec![text(MQCA_TOPIC_NAME, gone)],
            unknown,
        ),
        (
            MQCMD_COPY_NAMELIST,
            copy(MQCACF_FROM_NAMELIST_NAME, MQCACF_TO_NAMELIST_NAME),
            unknown,
        ),
        (
            MQCMD_COPY_PROCESS,
            copy(MQCACF_FROM_PROCESS_NAME, MQCACF_TO_PROCESS_NAME),
            unknown,
        ),
        (
            MQCMD_DELETE_LISTENER,
            vec![text(MQCACH_LISTENER_NAME, gone)],
            unknown,
        ),
        (
            MQCMD_DELETE_SERVICE,
            vec![text(MQCA_SERVICE_NAME, gone)],
            unknown,
        ),
        (
            MQCMD_DELETE_AUTH_INFO,
            vec![text(MQCA_AUTH_INFO_NAME, gone)],
            unknown,
        ),
    ];
    let requests = cases.iter();
    let requests = requests.map(|(number, parameters, _)| request(*number, parameters));
    let all = answers(&w, requests.collect());
    let got: Vec<_> = all.iter().map(|set| outcomes(set)[0].1).collect();
    let expected: Vec<_> = cases.iter().map(|(.., reason)| *reason).collect();
    assert_eq!(got, expected);
}
