//! What programs find in the answers to commands in PCF, and what requests may look like (manual: "Definitions of the
//! programmable command formats").
#![allow(clippy::unwrap_used, missing_docs)]

mod asking;
mod one_client;
#[path = "../../engine/tests/world/mod.rs"]
mod world;

use std::collections::BTreeSet;
use std::sync::Arc;

use asking::*;
use bytes::Bytes;
use one_client::OneClient;
use posthaste_admin::Admin;
use posthaste_command::pcf::{self, Message, Text, Value};
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Md};
use world::*;

/// Text of a parameter in a coded character set.
fn in_set(id: i32, ccsid: i32, bytes: &[u8]) -> (i32, Value) {
    let bytes = bytes.to_vec();
    (id, Value::Text(Text { ccsid, bytes }))
}

/// The numbers of what is in an answer.
fn ids(answer: &Message) -> BTreeSet<i32> {
    answer.parameters.iter().map(|one| one.id).collect()
}

/// The sets that answer these, whose descriptors name a coded character set.
fn answers_in(w: &World, ccsid: i32, requests: Vec<Bytes>) -> Vec<Vec<Message>> {
    let asked = requests.len();
    let described = |data| {
        let coded_char_set_id = ccsid;
        let md = Md {
            coded_char_set_id,
            ..asking()
        };
        (md, data)
    };
    let requests = requests.into_iter().map(described).collect();
    sets_of(answered_as(Admin::alone(w.qm()), w, requests), asked)
}

const GRUESSE: [u8; 5] = [0xC7, 0x99, 0xDC, 0x59, 0x85];

/// Text is in the set that it names, or in that of the message (0), or of the queue manager where that is 0, too.
#[test]
fn text_of_requests_is_read_in_its_coded_character_set() {
    let w = World::light();
    w.run("ALTER QMGR CCSID(850)");
    let described = |name: (i32, Value), description: (i32, Value)| {
        let type_ = int(MQIA_Q_TYPE, MQQT_LOCAL);
        request(MQCMD_CREATE_Q, &[name, type_, description])
    };
    // EBCDIC, as the descriptor says, and as a parameter says against it.
    let a = in_set(MQCA_Q_NAME, 0, &[0xC1]);
    let b = text(MQCA_Q_NAME, "B");
    let requests = vec![
        described(a, in_set(MQCA_Q_DESC, 0, &GRUESSE)),
        described(b, in_set(MQCA_Q_DESC, 819, b"Gr\xFC\xDFe")),
        request(MQCMD_DELETE_Q, &[in_set(MQCA_Q_NAME, 1208, b"GONE")]),
        // Unknown: only what is the same in all that are not EBCDIC.
        described(
            in_set(MQCA_Q_NAME, 4_242, b"D"),
            in_set(MQCA_Q_DESC, 4_242, b"plain "),
        ),
        described(
            in_set(MQCA_Q_NAME, 4_242, b"E"),
            in_set(MQCA_Q_DESC, 4_242, b"\xFC"),
        ),
        described(text(MQCA_Q_NAME, "F"), in_set(MQCA_Q_DESC, 943, b"\x81")),
        request(MQCMD_INQUIRE_Q, &[in_set(MQCA_Q_NAME, 0, &[0xC1, 0x5C])]),
    ];
    let all = answers_in(&w, 500, requests);
    let got: Vec<_> = all.iter().map(|set| outcomes(set)).collect();
    let wrong = || failed(3049, Some((MQIACF_PARAMETER_ID, MQCA_Q_DESC)));
    assert_eq!(
        got,
        [
            vec![DONE],
            vec![DONE],
            failed(2085, None),
            vec![DONE],
            wrong(),
            wrong(),
            vec![DONE],
        ]
    );
    assert_eq!(all[6][0].texts(MQCA_Q_DESC), ["Grüße"]);
    let shown = |name: &str| {
        w.mqsc(&format!("DISPLAY QLOCAL({name}) DESCR")).rows[0]
            .2
            .shown("DESCR")
    };
    for (name, description) in [("A", "Grüße"), ("B", "Grüße"), ("D", "plain")] {
        assert_eq!(shown(name).unwrap().trim(), description, "{name}");
    }
}

/// MQCCSI_Q_MGR, and lists, filters and MQSC text.
#[test]
fn text_without_a_coded_character_set_is_the_queue_managers() {
    let w = World::light();
    w.run("ALTER QMGR CCSID(850)\nDEFINE QLOCAL(A) DESCR('Grüße')");
    let escape = |bytes: &[u8]| {
        let text = in_set(MQCACF_ESCAPE_TEXT, 0, bytes);
        request(MQCMD_ESCAPE, &[int(MQIACF_ESCAPE_TYPE, MQET_MQSC), text])
    };
    let filter = Value::TextFilter {
        operator: MQCFOP_EQUAL,
        value: Text {
            ccsid: 0,
            bytes: b"Gr\x81\xE1e".to_vec(),
        },
    };
    let items = vec![b"N\x81   ".to_vec(), b"A    ".to_vec()];
    let list = Value::Texts {
        ccsid: 0,
        width: 5,
        items,
    };
    let all = answers_in(
        &w,
        0,
        vec![
            escape(b"DEFINE QLOCAL(B) DESCR('Gr\x81\xE1e')"),
            request(
                MQCMD_INQUIRE_Q,
                &[text(MQCA_Q_NAME, "*"), (MQCA_Q_DESC, filter)],
            ),
            // A name cannot have it: what is at fault was read.
            request(
                MQCMD_CREATE_NAMELIST,
                &[text(MQCA_NAMELIST_NAME, "N"), (MQCA_NAMES, list)],
            ),
        ],
    );
    assert_eq!(outcomes(&all[0])[0], DONE);
    let names: Vec<_> = all[1]
        .iter()
        .flat_map(|row| row.texts(MQCA_Q_NAME))
        .collect();
    assert_eq!(names, ["A", "B"]);
    assert_ne!(outcomes(&all[2])[0], DONE);
}

/// "Always returned" in the manual: whatever is asked for.
#[test]
fn what_names_an_object_is_always_returned() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q)\nDEFINE SUB(S) TOPICSTR('t') DEST(Q)");
    w.run("DEFINE TOPIC(T) TOPICSTR('t')");
    let list = |id: i32, wanted: &[i32]| (id, Value::Ints(wanted.to_vec()));
    let cases = [
        (
            MQCMD_INQUIRE_SUBSCRIPTION,
            text(MQCACF_SUB_NAME, "S"),
            list(MQIACF_SUB_ATTRS, &[MQCACF_DESTINATION]),
            &[MQCACF_SUB_NAME, MQBACF_SUB_ID, MQCACF_DESTINATION][..],
        ),
        (
            MQCMD_INQUIRE_SUBSCRIPTION,
            text(MQCACF_SUB_NAME, "S"),
            list(MQIACF_SUB_ATTRS, &[MQCACF_SUB_NAME, MQBACF_SUB_ID]),
            &[MQCACF_SUB_NAME, MQBACF_SUB_ID],
        ),
        (
            MQCMD_INQUIRE_TOPIC,
            text(MQCA_TOPIC_NAME, "T"),
            list(MQIACF_TOPIC_ATTRS, &[MQCA_TOPIC_STRING]),
            &[MQCA_TOPIC_NAME, MQIA_TOPIC_TYPE, MQCA_TOPIC_STRING],
        ),
        (
            MQCMD_INQUIRE_TOPIC,
            text(MQCA_TOPIC_NAME, "T"),
            list(MQIACF_TOPIC_ATTRS, &[MQIA_TOPIC_TYPE]),
            &[MQCA_TOPIC_NAME, MQIA_TOPIC_TYPE],
        ),
        (
            MQCMD_INQUIRE_Q,
            text(MQCA_Q_NAME, "Q"),
            list(MQIACF_Q_ATTRS, &[MQCA_Q_NAME]),
            &[MQCA_Q_NAME, MQIA_Q_TYPE],
        ),
        (
            MQCMD_INQUIRE_Q_STATUS,
            text(MQCA_Q_NAME, "Q"),
            list(MQIACF_Q_STATUS_ATTRS, &[MQIA_CURRENT_Q_DEPTH]),
            &[MQCA_Q_NAME, MQIACF_Q_STATUS_TYPE, MQIA_CURRENT_Q_DEPTH],
        ),
    ];
    let requests = cases.iter();
    let requests =
        requests.map(|(number, name, list, _)| request(*number, &[name.clone(), list.clone()]));
    let all = answers(&w, requests.collect());
    for (set, (number, _, _, expected)) in all.iter().zip(&cases) {
        assert_eq!(outcomes(set), [DONE], "{number}");
        assert_eq!(
            ids(&set[0]),
            BTreeSet::from_iter(expected.iter().copied()),
            "{number}"
        );
    }
}

/// The same of channels, of which the list is long.
#[test]
fn what_is_so_of_a_channel_is_always_returned() {
    let w = World::light();
    let wanted = (
        MQIACH_CHANNEL_INSTANCE_ATTRS,
        Value::Ints(vec![MQIACH_MSGS]),
    );
    let data = request(
        MQCMD_INQUIRE_CHANNEL_STATUS,
        &[text(MQCACH_CHANNEL_NAME, "*"), wanted],
    );
    let admin = Admin::new(w.qm().clone(), Arc::new(OneClient));
    let all = sets_of(answered_as(admin, &w, vec![(asking(), data)]), 1);
    assert_eq!(outcomes(&all[0]), [DONE]);
    let always = [
        MQIACH_CHANNEL_INSTANCE_TYPE,
        MQCACH_CHANNEL_NAME,
        MQIACH_CHANNEL_STATUS,
        MQIACH_CHANNEL_TYPE,
        MQCACH_CONNECTION_NAME,
        MQCACH_REMOTE_APPL_TAG,
        MQCA_REMOTE_Q_MGR_NAME,
        MQIACH_STOP_REQUESTED,
        MQIACH_CHANNEL_SUBSTATE,
        MQCACH_XMIT_Q_NAME,
    ];
    let expected = BTreeSet::from_iter(always.into_iter().chain([MQIACH_MSGS]));
    assert_eq!(ids(&all[0][0]), expected);
    assert_eq!(all[0][0].texts(MQCACH_XMIT_Q_NAME), [""]);
}

/// The manual, "Inquire Queue Status (Response)": MQMON_NOT_AVAILABLE.
#[test]
fn what_monitoring_would_tell_is_said_to_be_unavailable() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let options = MQOO_INPUT_SHARED | MQOO_BROWSE;
    let _open = open(&s, "Q", options);
    let name = || text(MQCA_Q_NAME, "Q");
    let wanted = |list: &[i32]| (MQIACF_Q_STATUS_ATTRS, Value::Ints(list.to_vec()));
    let of_handles = || int(MQIACF_Q_STATUS_TYPE, MQIACF_Q_HANDLE);
    let monitored = [MQIACF_OLDEST_MSG_AGE, MQIACF_Q_TIME_INDICATOR];
    let all = answers(
        &w,
        vec![
            request(MQCMD_INQUIRE_Q_STATUS, &[name()]),
            request(MQCMD_INQUIRE_Q_STATUS, &[name(), wanted(&monitored)]),
            request(MQCMD_INQUIRE_Q_STATUS, &[name(), of_handles()]),
            request(
                MQCMD_INQUIRE_Q_STATUS,
                &[name(), of_handles(), wanted(&[MQIACF_OPEN_OPTIONS])],
            ),
        ],
    );
    for set in &all[..2] {
        assert_eq!(set[0].int(MQIACF_OLDEST_MSG_AGE), Some(MQMON_NOT_AVAILABLE));
        let mut times = set[0].parameters.iter();
        let time = times.find(|one| one.id == MQIACF_Q_TIME_INDICATOR);
        assert_eq!(time.unwrap().value, Value::Ints(vec![-1, -1]));
    }
    for set in &all[2..] {
        assert_eq!(outcomes(set), [DONE]);
        assert_eq!(set[0].int(MQIACF_OPEN_OPTIONS), Some(options));
    }
    assert_eq!(all[3][0].parameters.len(), 3);
}

/// Where the queue manager is, and that it is in no cluster.
#[test]
fn a_queue_manager_tells_where_it_is() {
    let w = World::light();
    let data = request(MQCMD_INQUIRE_Q_MGR_STATUS, &[]);
    let admin = Admin::new(w.qm().clone(), Arc::new(OneClient));
    let all = sets_of(answered_as(admin, &w, vec![(asking(), data)]), 1);
    let status = &all[0][0];
    let folder = w.config.data.display().to_string();
    for (id, expected) in [
        (MQCACF_HOST_NAME, "a.host"),
        (MQCACF_Q_MGR_DATA_PATH, &folder),
        (MQCA_INSTALLATION_NAME, "Installation1"),
        (MQCA_INSTALLATION_DESC, ""),
        (MQCACF_UNIFORM_CLUSTER_NAME, ""),
    ] {
        assert_eq!(status.texts(id), [expected], "{id}");
    }
    assert_eq!(status.int(MQIACF_AUTO_CLUSTER_TYPE), Some(0));
}

/// The manual, "Escape (Response)": Command is that of the text.
#[test]
fn an_answer_to_text_says_which_command_it_was() {
    let texts = [
        ("PING QMGR", MQCMD_PING_Q_MGR),
        ("DISPLAY QLOCAL(*)", MQCMD_INQUIRE_Q),
        ("DEFINE QLOCAL(NEW)", MQCMD_CREATE_Q),
        ("DELETE QLOCAL(GONE)", MQCMD_DELETE_Q),
        ("what is this", MQCMD_ESCAPE),
    ];
    for (text, number) in texts {
        let w = World::light();
        let asked = Bytes::from(pcf::escape_request(text));
        let all = answered(&w, vec![asked]);
        let mut replies = pcf::EscapeReplies::new();
        for (_, data) in &all {
            let header = Message::decode(data, ByteOrder::NATIVE).unwrap().0.header;
            assert_eq!(header.command, number, "{text}");
            replies.push(data).unwrap();
        }
        assert!(replies.outcome().is_some(), "{text}");
    }
}

/// MQRCCF_MD_FORMAT_ERROR, which somebody waits for.
#[test]
fn a_request_of_another_format_is_answered() {
    let w = World::light();
    let md = Md {
        format: Chars::new(MQFMT_STRING),
        ..asking()
    };
    let datagram = Md {
        msg_type: MQMT_DATAGRAM,
        ..md.clone()
    };
    let data = || Bytes::from_static(b"PING QMGR");
    let requests = vec![(md, data()), (datagram, data())];
    let all = answered_as(Admin::alone(w.qm()), &w, requests);
    assert_eq!(all.len(), 2);
    let answers: Vec<_> = all
        .iter()
        .map(|(md, data)| {
            assert_eq!(
                (md.msg_type, md.format),
                (MQMT_REPLY, Chars::new(MQFMT_ADMIN))
            );
            Message::decode(data, ByteOrder::NATIVE).unwrap().0
        })
        .collect();
    assert_eq!(outcomes(&answers), failed(3023, None));
    assert_eq!(answers[0].header.command, MQCMD_NONE);
    // Nobody waits for an answer to the other.
    assert_eq!(w.message_count("AMQ2206W"), 1);
}

/// What is taken away and given in one request is given.
#[test]
fn authorities_are_taken_away_before_others_are_given() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q)\nSET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) GROUP('root') AUTHADD(GET,INQ)");
    let of = || {
        [
            text(MQCACF_AUTH_PROFILE_NAME, "Q"),
            int(MQIACF_OBJECT_TYPE, MQOT_Q),
        ]
    };
    let change = [
        names(MQCACF_GROUP_ENTITY_NAMES, "root"),
        (MQIACF_AUTH_ADD_AUTHS, Value::Ints(vec![MQAUTH_OUTPUT])),
        (MQIACF_AUTH_REMOVE_AUTHS, Value::Ints(vec![MQAUTH_ALL])),
    ];
    let all = answers(
        &w,
        vec![
            request(MQCMD_SET_AUTH_REC, &[&of()[..], &change].concat()),
            request(
                MQCMD_INQUIRE_AUTH_RECS,
                &[&of()[..], &[int(MQIACF_AUTH_OPTIONS, 17)]].concat(),
            ),
        ],
    );
    assert_eq!(outcomes(&all[0]), [DONE]);
    let mut lists = all[1][0].parameters.iter();
    let list = lists.find(|one| one.id == MQIACF_AUTHORIZATION_LIST);
    assert_eq!(list.unwrap().value, Value::Ints(vec![MQAUTH_OUTPUT]));
}
