//! What becomes of requests, and of those that are wrong.

use super::super::{Header, Text, commands};
use super::*;
use crate::command::{ChlAuthCommand, Command};
use posthaste_mqi::ByteOrder;
use std::collections::BTreeSet;

fn bytes_of(command: i32, parameters: Vec<Parameter>) -> Vec<u8> {
    let header = Header::request(command);
    let mut out = Vec::new();
    Message { header, parameters }.encode(&mut out, ByteOrder::Big);
    out
}

fn of(id: i32, value: Value) -> Parameter {
    Parameter { id, value }
}

fn text(id: i32, text: &str) -> Parameter {
    of(id, Value::Text(Text::new(text)))
}

fn int(id: i32, number: i32) -> Parameter {
    of(id, Value::Int(number))
}

fn ints(id: i32, numbers: &[i32]) -> Parameter {
    of(id, Value::Ints(numbers.to_vec()))
}

fn texts(id: i32, items: &[&str]) -> Parameter {
    let (ccsid, width) = (1208, 12);
    let padded = |item: &&str| format!("{item:12}").into_bytes();
    let items = items.iter().map(padded).collect();
    of(
        id,
        Value::Texts {
            ccsid,
            width,
            items,
        },
    )
}

fn over(id: i32, operator: i32, value: i32) -> Parameter {
    of(id, Value::IntFilter { operator, value })
}

/// Text that is UTF-8 already.
fn in_utf_8(_: i32, bytes: &[u8]) -> Option<Vec<u8>> {
    Some(bytes.to_vec())
}

fn asked(command: i32, parameters: Vec<Parameter>) -> Result<Request, Refusal> {
    request_of(&bytes_of(command, parameters), &in_utf_8, &|name| {
        (name == "AN.ALIAS").then_some(ObjectKind::QAlias)
    })
}

/// Each row, with the least that its command needs: a command that MQSC has comes of it.
#[test]
fn every_row_is_a_command_of_mqsc() {
    let mut numbers = BTreeSet::new();
    for command in commands::all() {
        assert!(numbers.insert(command.number), "{} twice", command.number);
        let mut parameters = match command.name {
            0 => Vec::new(),
            mq::MQBACF_CONNECTION_ID => vec![of(command.name, Value::Bytes(vec![1; 24]))],
            name => vec![text(name, "A.NAME")],
        };
        if let Form::Copy(from) = command.form {
            parameters.push(text(from, "ANOTHER"));
        }
        if let Some(selector) = command.type_selector().filter(|_| command.sets()) {
            let first = command.kinds().first().and_then(|kind| kind.row().type_);
            parameters.push(int(selector, first.expect("a type").code));
        }
        let entity = [
            text(mq::MQCACF_ENTITY_NAME, "us"),
            int(mq::MQIACF_ENTITY_TYPE, mq::MQZAET_GROUP),
        ];
        let record = || {
            let profile = text(mq::MQCACF_AUTH_PROFILE_NAME, "A.**");
            [profile, int(mq::MQIACF_OBJECT_TYPE, mq::MQOT_Q)]
        };
        parameters.extend(match command.number {
            mq::MQCMD_CREATE_TOPIC | mq::MQCMD_COPY_TOPIC => {
                vec![text(mq::MQCA_TOPIC_STRING, "a/b")]
            }
            mq::MQCMD_CLEAR_TOPIC_STRING => {
                vec![int(mq::MQIACF_CLEAR_TYPE, mq::MQCLRT_RETAINED)]
            }
            mq::MQCMD_SET_CHLAUTH_REC => vec![texts(mq::MQCACH_MCA_USER_ID_LIST, &["nobody"])],
            mq::MQCMD_SET_AUTH_REC => [
                record().to_vec(),
                vec![
                    texts(mq::MQCACF_PRINCIPAL_ENTITY_NAMES, &["me"]),
                    ints(mq::MQIACF_AUTH_ADD_AUTHS, &[mq::MQAUTH_INPUT]),
                ],
            ]
            .concat(),
            mq::MQCMD_DELETE_AUTH_REC => [
                record().to_vec(),
                vec![texts(mq::MQCACF_GROUP_ENTITY_NAMES, &["us"])],
            ]
            .concat(),
            mq::MQCMD_INQUIRE_AUTH_RECS => record().to_vec(),
            mq::MQCMD_INQUIRE_ENTITY_AUTH => [
                entity.to_vec(),
                vec![
                    text(mq::MQCACF_OBJECT_NAME, "A.Q"),
                    int(mq::MQIACF_OBJECT_TYPE, mq::MQOT_Q),
                ],
            ]
            .concat(),
            _ => Vec::new(),
        });
        // A list of attributes may have nothing but the name, which is in every answer.
        let is_inquiry = matches!(command.form, Form::Inquire(_)) && command.name != 0;
        if let Form::Inquire(list) = command.form
            && is_inquiry
            && command.subject != commands::Subject::Authorities
        {
            let mut parameters = parameters.clone();
            parameters.push(ints(list, &[command.name]));
            let request = asked(command.number, parameters).expect("a request for the name");
            for mqsc in request.commands() {
                let show = match crate::parse(&mqsc) {
                    Ok(Some(Command::Display { show, .. })) => show,
                    Ok(Some(Command::ChlAuth(ChlAuthCommand::Display { show, .. }))) => show,
                    other => panic!("{mqsc}: {other:?}"),
                };
                assert!(!show.is_empty(), "{mqsc}");
            }
        }
        let request = asked(command.number, parameters).expect("a request that is right");
        for mqsc in request.commands() {
            assert!(crate::parse(&mqsc).unwrap().is_some(), "{mqsc}");
        }
    }
    assert!(numbers.len() > 80, "{} commands", numbers.len());
}

/// A request: command, parameters, and what is made of it.
type Made = (i32, Vec<Parameter>, &'static [&'static str]);

/// Requests about objects.
fn about_objects() -> Vec<Made> {
    let name = || text(mq::MQCA_Q_NAME, "A.Q");
    let local = || int(mq::MQIA_Q_TYPE, mq::MQQT_LOCAL);
    vec![
        (mq::MQCMD_PING_Q_MGR, vec![], &["PING QMGR"]),
        (mq::MQCMD_INQUIRE_Q_MGR, vec![], &["DISPLAY QMGR ALL"]),
        (
            mq::MQCMD_INQUIRE_Q,
            vec![
                name(),
                local(),
                ints(mq::MQIACF_Q_ATTRS, &[mq::MQCA_Q_NAME, mq::MQIA_MAX_Q_DEPTH]),
                over(mq::MQIA_CURRENT_Q_DEPTH, mq::MQCFOP_GREATER, 0),
            ],
            &["DISPLAY QUEUE('A.Q') TYPE(QLOCAL) MAXDEPTH WHERE(CURDEPTH GT 0)"],
        ),
        (
            mq::MQCMD_INQUIRE_Q,
            vec![
                name(),
                int(mq::MQIA_Q_TYPE, mq::MQQT_ALL),
                over(mq::MQIA_Q_TYPE, mq::MQCFOP_EQUAL, mq::MQQT_ALIAS),
            ],
            &["DISPLAY QUEUE('A.Q') WHERE(TYPE EQ QALIAS) ALL"],
        ),
        (
            mq::MQCMD_CREATE_Q,
            vec![
                name(),
                local(),
                int(mq::MQIACF_REPLACE, mq::MQRP_YES),
                text(mq::MQCA_Q_DESC, "it's') PUT(DISABLED"),
                int(mq::MQIA_SHAREABILITY, mq::MQQA_NOT_SHAREABLE),
                int(mq::MQIA_DEF_PERSISTENCE, mq::MQPER_PERSISTENT),
            ],
            &["DEFINE QLOCAL('A.Q') REPLACE DESCR('it''s'') PUT(DISABLED') NOSHARE DEFPSIST(YES)"],
        ),
        (
            mq::MQCMD_COPY_Q,
            vec![
                text(mq::MQCACF_FROM_Q_NAME, "A.Q"),
                text(mq::MQCACF_TO_Q_NAME, "B.Q"),
                int(mq::MQIA_Q_TYPE, mq::MQQT_ALIAS),
                text(mq::MQCA_BASE_OBJECT_NAME, "C.Q"),
            ],
            &["DEFINE QALIAS('B.Q') LIKE('A.Q') TARGET('C.Q')"],
        ),
        (
            mq::MQCMD_COPY_CHANNEL,
            vec![
                text(mq::MQCACF_FROM_CHANNEL_NAME, "A"),
                text(mq::MQCACF_TO_CHANNEL_NAME, "B"),
                int(mq::MQIACH_CHANNEL_TYPE, mq::MQCHT_SVRCONN),
                int(mq::MQIACH_MSG_COMPRESSION, mq::MQCOMPRESS_RLE),
            ],
            &["DEFINE CHANNEL('B') LIKE('A') CHLTYPE(SVRCONN) COMPMSG(RLE)"],
        ),
        (
            mq::MQCMD_DELETE_Q,
            vec![name(), int(mq::MQIACF_PURGE, mq::MQPO_YES)],
            &["DELETE QLOCAL('A.Q') PURGE"],
        ),
        (
            mq::MQCMD_DELETE_Q,
            vec![text(mq::MQCA_Q_NAME, "AN.ALIAS")],
            &["DELETE QALIAS('AN.ALIAS')"],
        ),
        (
            mq::MQCMD_DELETE_CHANNEL,
            vec![
                text(mq::MQCACH_CHANNEL_NAME, "C"),
                int(mq::MQIACH_CHANNEL_TABLE, mq::MQCHTAB_CLNTCONN),
            ],
            &["DELETE CHANNEL('C') CHLTABLE(CLNTTAB)"],
        ),
        (
            mq::MQCMD_CREATE_AUTH_INFO,
            vec![
                text(mq::MQCA_AUTH_INFO_NAME, "OS"),
                int(mq::MQIA_AUTH_INFO_TYPE, mq::MQAIT_IDPW_OS),
            ],
            &["DEFINE AUTHINFO('OS') AUTHTYPE(IDPWOS)"],
        ),
        (
            mq::MQCMD_CREATE_NAMELIST,
            vec![
                text(mq::MQCA_NAMELIST_NAME, "N"),
                texts(mq::MQCA_NAMES, &["A", "B"]),
            ],
            &["DEFINE NAMELIST('N') NAMES('A','B')"],
        ),
    ]
}

/// Requests about what is so at the moment.
fn about_state() -> Vec<Made> {
    vec![
        (
            mq::MQCMD_STOP_CHANNEL,
            vec![
                text(mq::MQCACH_CHANNEL_NAME, "C"),
                int(mq::MQIACF_MODE, mq::MQMODE_FORCE),
            ],
            &["STOP CHANNEL('C') MODE(FORCE)"],
        ),
        (
            mq::MQCMD_STOP_CHANNEL,
            vec![
                text(mq::MQCACH_CHANNEL_NAME, "C"),
                int(mq::MQIACH_CHANNEL_STATUS, mq::MQCHS_INACTIVE),
                text(mq::MQCACH_CONNECTION_NAME, "127.0.0.1"),
                text(mq::MQCA_Q_MGR_NAME, "QM2"),
            ],
            &["STOP CHANNEL('C') STATUS(INACTIVE) CONNAME('127.0.0.1') QMNAME('QM2')"],
        ),
        (
            mq::MQCMD_STOP_CONNECTION,
            vec![of(mq::MQBACF_CONNECTION_ID, Value::Bytes(vec![0xa1; 24]))],
            &["STOP CONN(A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1)"],
        ),
        (
            mq::MQCMD_INQUIRE_CHANNEL_STATUS,
            vec![
                text(mq::MQCACH_CHANNEL_NAME, "*"),
                int(mq::MQIACH_CHANNEL_INSTANCE_TYPE, mq::MQOT_CURRENT_CHANNEL),
                text(mq::MQCACH_CONNECTION_NAME, "127.0.0.1"),
            ],
            &["DISPLAY CHSTATUS('*') CONNAME('127.0.0.1') ALL"],
        ),
        (
            mq::MQCMD_INQUIRE_CONNECTION,
            vec![
                of(mq::MQBACF_GENERIC_CONNECTION_ID, Value::Bytes(vec![0; 24])),
                int(mq::MQIACF_CONN_INFO_TYPE, mq::MQIACF_CONN_INFO_ALL),
            ],
            &["DISPLAY CONN(*) TYPE(ALL) ALL"],
        ),
        (
            mq::MQCMD_INQUIRE_CONNECTION,
            vec![
                of(mq::MQBACF_CONNECTION_ID, Value::Bytes(vec![0xa1; 24])),
                ints(mq::MQIACF_CONNECTION_ATTRS, &[mq::MQBACF_EXTERNAL_UOW_ID]),
            ],
            &["DISPLAY CONN(A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1) EXTURID"],
        ),
        (
            mq::MQCMD_INQUIRE_CONNECTION,
            vec![
                of(mq::MQBACF_GENERIC_CONNECTION_ID, Value::Bytes(vec![])),
                of(
                    mq::MQBACF_SUB_ID,
                    Value::BytesFilter {
                        operator: mq::MQCFOP_NOT_EQUAL,
                        value: vec![7, 255],
                    },
                ),
            ],
            &["DISPLAY CONN(*) WHERE(SUBID NE '07FF') ALL"],
        ),
        (
            mq::MQCMD_DELETE_SUBSCRIPTION,
            vec![of(mq::MQBACF_SUB_ID, Value::Bytes(vec![1; 24]))],
            &["DELETE SUB SUBID(010101010101010101010101010101010101010101010101)"],
        ),
        (
            mq::MQCMD_INQUIRE_SUBSCRIPTION,
            vec![
                text(mq::MQCACF_SUB_NAME, "S*"),
                int(mq::MQIACF_DURABLE_SUBSCRIPTION, mq::MQSUB_DURABLE_ALL),
            ],
            &["DISPLAY SUB('S*') DURABLE(ALL) ALL"],
        ),
    ]
}

/// Requests about records.
fn about_records() -> Vec<Made> {
    let record = |rest: Vec<Parameter>| {
        let profile = text(mq::MQCACF_AUTH_PROFILE_NAME, "A.**");
        [vec![profile, int(mq::MQIACF_OBJECT_TYPE, mq::MQOT_Q)], rest].concat()
    };
    vec![
        (
            mq::MQCMD_SET_CHLAUTH_REC,
            vec![
                text(mq::MQCACH_CHANNEL_NAME, "C.*"),
                int(mq::MQIACF_CHLAUTH_TYPE, mq::MQCAUT_ADDRESSMAP),
                int(mq::MQIACF_ACTION, mq::MQACT_REPLACE),
                text(mq::MQCACH_CONNECTION_NAME, "10.*"),
                int(mq::MQIACH_USER_SOURCE, 1),
            ],
            &[
                "SET CHLAUTH('C.*') TYPE(ADDRESSMAP) ACTION(REPLACE) ADDRESS('10.*') USERSRC(NOACCESS)",
            ],
        ),
        (
            mq::MQCMD_INQUIRE_CHLAUTH_RECS,
            vec![
                text(mq::MQCACH_CHANNEL_NAME, "C"),
                int(mq::MQIACF_CHLAUTH_TYPE, mq::MQCAUT_ALL),
                int(mq::MQIACH_MATCH, mq::MQMATCH_RUNCHECK),
                text(mq::MQCACH_CONNECTION_NAME, "10.0.0.1"),
                text(mq::MQCACH_CLIENT_USER_ID, "me"),
            ],
            &["DISPLAY CHLAUTH('C') MATCH(RUNCHECK) ADDRESS('10.0.0.1') CLNTUSER('me') ALL"],
        ),
        (
            mq::MQCMD_SET_AUTH_REC,
            record(vec![
                texts(mq::MQCACF_PRINCIPAL_ENTITY_NAMES, &["me", "you"]),
                texts(mq::MQCACF_GROUP_ENTITY_NAMES, &["us"]),
                ints(
                    mq::MQIACF_AUTH_ADD_AUTHS,
                    &[mq::MQAUTH_INPUT, mq::MQAUTH_ALL_ADMIN],
                ),
                ints(mq::MQIACF_AUTH_REMOVE_AUTHS, &[mq::MQAUTH_OUTPUT]),
            ]),
            &[
                "SET AUTHREC PROFILE('A.**') OBJTYPE(QUEUE) AUTHADD(GET,ALLADM) AUTHRMV(PUT) PRINCIPAL('me')",
                "SET AUTHREC PROFILE('A.**') OBJTYPE(QUEUE) AUTHADD(GET,ALLADM) AUTHRMV(PUT) PRINCIPAL('you')",
                "SET AUTHREC PROFILE('A.**') OBJTYPE(QUEUE) AUTHADD(GET,ALLADM) AUTHRMV(PUT) GROUP('us')",
            ],
        ),
        (
            mq::MQCMD_INQUIRE_AUTH_RECS,
            vec![
                int(
                    mq::MQIACF_AUTH_OPTIONS,
                    mq::MQAUTHOPT_ENTITY_EXPLICIT | mq::MQAUTHOPT_NAME_ALL_MATCHING,
                ),
                text(mq::MQCACF_AUTH_PROFILE_NAME, ""),
                int(mq::MQIACF_OBJECT_TYPE, mq::MQOT_ALL),
                ints(
                    mq::MQIACF_AUTH_PROFILE_ATTRS,
                    &[mq::MQIACF_AUTHORIZATION_LIST],
                ),
            ],
            &["DISPLAY AUTHREC MATCH(PROFILE) AUTHLIST"],
        ),
    ]
}

/// What is common to all that are named is kept once, however long it is; and nothing is refused by comparing each
/// parameter with each.
#[test]
fn what_a_request_takes_grows_with_its_length() {
    let profile = "A".repeat(200_000);
    let names: Vec<String> = (0..=1_000).map(|n| format!("u{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let many = |names: &[&str]| {
        vec![
            text(mq::MQCACF_AUTH_PROFILE_NAME, &profile),
            int(mq::MQIACF_OBJECT_TYPE, mq::MQOT_Q),
            texts(mq::MQCACF_PRINCIPAL_ENTITY_NAMES, names),
            ints(mq::MQIACF_AUTH_ADD_AUTHS, &[mq::MQAUTH_INPUT; 1_000]),
        ]
    };
    let made = asked(mq::MQCMD_SET_AUTH_REC, many(&names[1..])).unwrap();
    assert_eq!(made.each.len(), 1_000);
    let kept =
        made.command.as_str().len() + made.each.iter().map(|(_, one)| one.len()).sum::<usize>();
    assert!(kept < 300_000, "{kept}");
    let first = made.commands().next().unwrap();
    assert!(first.ends_with(" AUTHADD(GET) PRINCIPAL('u1')"));
    let refusal = asked(mq::MQCMD_SET_AUTH_REC, many(&names)).unwrap_err();
    let list = Some((mq::MQIACF_PARAMETER_ID, mq::MQCACF_PRINCIPAL_ENTITY_NAMES));
    assert_eq!(
        (refusal.reason, refusal.fault),
        (Reason::CCF_CFSL_COUNT_ERROR, list)
    );
    let different = |count| (0..count).map(|id| int(-1 - id, 0)).collect();
    let refusal = asked(mq::MQCMD_PING_Q_MGR, different(1_000)).unwrap_err();
    assert_eq!(refusal.reason, Reason::CCF_CFIN_PARM_ID_ERROR);
    for command in [mq::MQCMD_PING_Q_MGR, mq::MQCMD_INQUIRE_Q] {
        let refusal = asked(command, different(1_001)).unwrap_err();
        assert_eq!(refusal.reason, Reason::CCF_PARM_COUNT_TOO_BIG);
    }
}

/// Nothing is made for strings and parameters that are too many, whatever follows: the second list here is malformed, and
/// the parameters are not there at all, which is what would be refused had they been looked at.
#[test]
fn counts_are_looked_at_before_what_they_count() {
    let names = vec![b"u".to_vec(); 4_000_000];
    let (ccsid, width) = (1208, 1);
    let list = |items| Value::Texts {
        ccsid,
        width,
        items,
    };
    let of_all = [
        of(mq::MQCACF_PRINCIPAL_ENTITY_NAMES, list(names)),
        of(mq::MQCACF_GROUP_ENTITY_NAMES, list(vec![b"g".to_vec()])),
    ];
    let mut bytes = bytes_of(mq::MQCMD_SET_AUTH_REC, of_all.to_vec());
    let second = bytes.len() - 28;
    bytes[second..second + 4].copy_from_slice(&99i32.to_be_bytes());
    let refusal = request_of(&bytes, &in_utf_8, &|_| None).unwrap_err();
    assert_eq!(refusal.reason, Reason::CCF_CFSL_COUNT_ERROR);
    // The same for an Escape, of which such a list is no part.
    bytes[12..16].copy_from_slice(&mq::MQCMD_ESCAPE.to_be_bytes());
    let error = crate::pcf::escape_command(&bytes, &in_utf_8).unwrap_err();
    assert_eq!(error.reason, Reason::CCF_CFSL_COUNT_ERROR);
    let mut bytes = bytes_of(mq::MQCMD_PING_Q_MGR, Vec::new());
    bytes[32..36].copy_from_slice(&100_000i32.to_be_bytes());
    let refusal = request_of(&bytes, &in_utf_8, &|_| None).unwrap_err();
    assert_eq!(refusal.reason, Reason::CCF_PARM_COUNT_TOO_BIG);
}

#[test]
fn requests_become_the_commands_that_do_the_same() {
    let cases = [about_objects(), about_state(), about_records()];
    for (command, parameters, mqsc) in cases.concat() {
        let made = asked(command, parameters).expect("a request that is right");
        assert_eq!(made.commands().collect::<Vec<_>>(), mqsc);
    }
}

/// A request: command, parameters, why it is refused and the parameter at fault.
type Refused = (i32, Vec<Parameter>, Reason, i32);

/// Requests with parameters that the command has not got, that are missing, or there twice.
fn wrong_parameters() -> Vec<Refused> {
    let name = || text(mq::MQCA_Q_NAME, "A.Q");
    let local = || int(mq::MQIA_Q_TYPE, mq::MQQT_LOCAL);
    vec![
        (9_999, vec![], Reason::CCF_CFH_COMMAND_ERROR, 0),
        (
            mq::MQCMD_INQUIRE_Q,
            vec![],
            Reason::CCF_PARM_COUNT_TOO_SMALL,
            mq::MQCA_Q_NAME,
        ),
        (
            mq::MQCMD_INQUIRE_Q,
            vec![name(), name()],
            Reason::CCF_CFST_DUPLICATE_PARM,
            mq::MQCA_Q_NAME,
        ),
        (
            mq::MQCMD_DELETE_Q,
            vec![name(), local(), int(mq::MQIA_Q_TYPE, mq::MQQT_ALIAS)],
            Reason::CCF_CFIN_DUPLICATE_PARM,
            mq::MQIA_Q_TYPE,
        ),
        (
            mq::MQCMD_INQUIRE_Q,
            vec![
                name(),
                over(mq::MQIA_CURRENT_Q_DEPTH, mq::MQCFOP_GREATER, 0),
                over(mq::MQIA_MAX_Q_DEPTH, mq::MQCFOP_GREATER, 0),
            ],
            Reason::CCF_TOO_MANY_FILTERS,
            mq::MQIA_MAX_Q_DEPTH,
        ),
        (
            mq::MQCMD_INQUIRE_Q,
            vec![name(), over(mq::MQIA_CURRENT_Q_DEPTH, 99, 0)],
            Reason::CCF_CFIF_OPERATOR_ERROR,
            mq::MQIA_CURRENT_Q_DEPTH,
        ),
        (
            mq::MQCMD_INQUIRE_Q,
            vec![name(), over(mq::MQIACH_CHANNEL_TYPE, mq::MQCFOP_EQUAL, 0)],
            Reason::CCF_CFIF_PARM_ID_ERROR,
            mq::MQIACH_CHANNEL_TYPE,
        ),
        (
            mq::MQCMD_INQUIRE_Q,
            vec![name(), int(mq::MQCA_Q_NAME, 1)],
            Reason::CCF_CFIN_PARM_ID_ERROR,
            mq::MQCA_Q_NAME,
        ),
        (
            mq::MQCMD_CHANGE_Q_MGR,
            vec![int(0, 1)],
            Reason::CCF_CFIN_PARM_ID_ERROR,
            0,
        ),
        (
            mq::MQCMD_CREATE_Q,
            vec![name(), int(mq::MQIA_Q_TYPE, 99)],
            Reason::CCF_Q_TYPE_ERROR,
            mq::MQIA_Q_TYPE,
        ),
        (
            mq::MQCMD_CREATE_Q,
            vec![name()],
            Reason::CCF_PARM_COUNT_TOO_SMALL,
            mq::MQIA_Q_TYPE,
        ),
        (
            mq::MQCMD_CREATE_Q,
            vec![name(), local(), int(mq::MQIACF_REPLACE, 7)],
            Reason::CCF_REPLACE_VALUE_ERROR,
            mq::MQIACF_REPLACE,
        ),
        (
            mq::MQCMD_CREATE_Q,
            vec![name(), local(), int(mq::MQIA_MAX_Q_DEPTH, -1)],
            Reason::CCF_ATTR_VALUE_ERROR,
            mq::MQIA_MAX_Q_DEPTH,
        ),
        (
            mq::MQCMD_CREATE_Q,
            vec![name(), local(), text(mq::MQCA_Q_DESC, &"x".repeat(65))],
            Reason::CCF_CFST_STRING_LENGTH_ERR,
            mq::MQCA_Q_DESC,
        ),
        (
            mq::MQCMD_CREATE_Q,
            vec![name(), local(), text(mq::MQCA_BASE_OBJECT_NAME, "B")],
            Reason::CCF_CFST_PARM_ID_ERROR,
            mq::MQCA_BASE_OBJECT_NAME,
        ),
        (
            mq::MQCMD_COPY_Q,
            vec![text(mq::MQCACF_TO_Q_NAME, "B"), local()],
            Reason::CCF_PARM_COUNT_TOO_SMALL,
            mq::MQCACF_FROM_Q_NAME,
        ),
        (
            mq::MQCMD_CLEAR_Q,
            vec![name(), int(mq::MQIA_MAX_Q_DEPTH, 1)],
            Reason::CCF_CFIN_PARM_ID_ERROR,
            mq::MQIA_MAX_Q_DEPTH,
        ),
        (
            mq::MQCMD_CHANGE_TOPIC,
            vec![text(mq::MQCA_TOPIC_NAME, "T"), local()],
            Reason::CCF_CFIN_PARM_ID_ERROR,
            mq::MQIA_Q_TYPE,
        ),
        (
            mq::MQCMD_INQUIRE_TOPIC,
            vec![
                text(mq::MQCA_TOPIC_NAME, "T"),
                int(mq::MQIA_Q_TYPE, mq::MQQT_ALL),
            ],
            Reason::CCF_CFIN_PARM_ID_ERROR,
            mq::MQIA_Q_TYPE,
        ),
        (
            mq::MQCMD_INQUIRE_CHANNEL,
            vec![
                text(mq::MQCACH_CHANNEL_NAME, "C"),
                int(mq::MQIACH_CHANNEL_TYPE, mq::MQCHT_SENDER),
            ],
            Reason::CCF_CHANNEL_TYPE_ERROR,
            mq::MQIACH_CHANNEL_TYPE,
        ),
    ]
}

/// Requests about connections, status and records that are wrong, or about what there never is.
fn wrong_names() -> Vec<Refused> {
    let everybody = || of(mq::MQBACF_GENERIC_CONNECTION_ID, Value::Bytes(vec![]));
    let record = || {
        let profile = text(mq::MQCACF_AUTH_PROFILE_NAME, "A.**");
        vec![profile, int(mq::MQIACF_OBJECT_TYPE, mq::MQOT_Q)]
    };
    vec![
        (
            mq::MQCMD_INQUIRE_CHANNEL_STATUS,
            vec![
                text(mq::MQCACH_CHANNEL_NAME, "*"),
                int(mq::MQIACH_CHANNEL_INSTANCE_TYPE, mq::MQOT_SAVED_CHANNEL),
            ],
            Reason::CCF_CHL_STATUS_NOT_FOUND,
            mq::MQIACH_CHANNEL_INSTANCE_TYPE,
        ),
        (
            mq::MQCMD_INQUIRE_CONNECTION,
            vec![],
            Reason::CCF_PARM_COUNT_TOO_SMALL,
            mq::MQBACF_CONNECTION_ID,
        ),
        (
            mq::MQCMD_INQUIRE_CONNECTION,
            vec![of(mq::MQBACF_CONNECTION_ID, Value::Bytes(vec![1; 8]))],
            Reason::CCF_CFBS_STRING_LENGTH_ERR,
            mq::MQBACF_CONNECTION_ID,
        ),
        (
            mq::MQCMD_INQUIRE_CONNECTION,
            vec![
                everybody(),
                of(mq::MQBACF_CONNECTION_ID, Value::Bytes(vec![1; 24])),
            ],
            Reason::CCF_PARM_CONFLICT,
            mq::MQBACF_GENERIC_CONNECTION_ID,
        ),
        (
            mq::MQCMD_INQUIRE_CONNECTION,
            vec![
                everybody(),
                of(
                    mq::MQBACF_EXTERNAL_UOW_ID,
                    Value::BytesFilter {
                        operator: mq::MQCFOP_EQUAL,
                        value: vec![1],
                    },
                ),
            ],
            Reason::CCF_CFBF_PARM_ID_ERROR,
            mq::MQBACF_EXTERNAL_UOW_ID,
        ),
        (
            mq::MQCMD_SET_AUTH_REC,
            record(),
            Reason::CCF_AUTH_VALUE_MISSING,
            mq::MQIACF_AUTH_ADD_AUTHS,
        ),
        (
            mq::MQCMD_SET_AUTH_REC,
            [record(), vec![ints(mq::MQIACF_AUTH_ADD_AUTHS, &[999])]].concat(),
            Reason::CCF_AUTH_VALUE_ERROR,
            mq::MQIACF_AUTH_ADD_AUTHS,
        ),
        (
            mq::MQCMD_DELETE_AUTH_REC,
            record(),
            Reason::CCF_PARM_COUNT_TOO_SMALL,
            mq::MQCACF_PRINCIPAL_ENTITY_NAMES,
        ),
        (
            mq::MQCMD_DELETE_AUTH_REC,
            vec![text(mq::MQCACF_AUTH_PROFILE_NAME, "A.**")],
            Reason::CCF_OBJECT_TYPE_MISSING,
            mq::MQIACF_OBJECT_TYPE,
        ),
    ]
}

#[test]
fn what_is_not_understood_is_refused_with_its_reason() {
    for (command, parameters, reason, at_fault) in [wrong_parameters(), wrong_names()].concat() {
        let shown = format!("{command} {parameters:?}");
        let refusal = asked(command, parameters).expect_err(&shown);
        assert_eq!(refusal.reason, reason, "{shown}");
        let fault = (command != 9_999).then_some((mq::MQIACF_PARAMETER_ID, at_fault));
        assert_eq!(refusal.fault, fault, "{shown}");
    }
}

/// What is wrong in a list of attributes is named by itself (manual: "Standard responses").
#[test]
fn a_wrong_selector_is_named() {
    for (wanted, reason) in [
        (
            [mq::MQIA_MAX_Q_DEPTH, mq::MQIA_MAX_Q_DEPTH],
            Reason::CCF_CFIL_DUPLICATE_VALUE,
        ),
        ([mq::MQIA_MAX_Q_DEPTH, 9_999], Reason::SELECTOR_ERROR),
    ] {
        let list = [
            text(mq::MQCA_Q_NAME, "A.Q"),
            ints(mq::MQIACF_Q_ATTRS, &wanted),
        ];
        let refusal = asked(mq::MQCMD_INQUIRE_Q, list.to_vec()).unwrap_err();
        let fault = Some((mq::MQIACF_SELECTOR, wanted[1]));
        assert_eq!(refusal, Refusal { reason, fault });
    }
}
