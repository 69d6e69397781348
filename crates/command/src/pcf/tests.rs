//! Layouts of the manual byte by byte, both byte orders, and wrong fields one at a time.

use super::*;
use crate::command::DisplayWhat;
use crate::reply::{Reply, Row};

fn all_forms() -> Message {
    let p = |id, value| Parameter { id, value };
    Message {
        header: Header {
            type_: mq::MQCFT_COMMAND_XR,
            version: mq::MQCFH_VERSION_3,
            ..Header::request(mq::MQCMD_INQUIRE_Q)
        },
        parameters: vec![
            p(1, Value::Int(-5)),
            p(2, Value::Int64(i64::MIN)),
            p(3, Value::Text(Text::new("abcde"))),
            p(4, Value::Ints(vec![1, -1, i32::MAX])),
            p(5, Value::Ints64(vec![])),
            p(
                6,
                Value::Texts {
                    ccsid: 819,
                    width: 3,
                    items: vec![b"ab ".to_vec(), b"c  ".to_vec()],
                },
            ),
            p(7, Value::Bytes(vec![0, 255, 7])),
            p(
                8,
                Value::IntFilter {
                    operator: mq::MQCFOP_GREATER,
                    value: 9,
                },
            ),
            p(
                9,
                Value::TextFilter {
                    operator: mq::MQCFOP_LIKE,
                    value: Text::new("DEV.*"),
                },
            ),
            p(
                10,
                Value::BytesFilter {
                    operator: mq::MQCFOP_EQUAL,
                    value: vec![1; 24],
                },
            ),
            p(
                11,
                Value::Group(vec![
                    p(12, Value::Group(vec![p(13, Value::Int(1))])),
                    p(14, Value::Text(Text::new(""))),
                ]),
            ),
            p(15, Value::Int(1)),
        ],
    }
}

/// Text that is UTF-8 already.
fn in_utf_8(_: i32, bytes: &[u8]) -> Option<Vec<u8>> {
    Some(bytes.to_vec())
}

const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];

#[test]
fn every_form_goes_there_and_back() {
    for order in ORDERS {
        let mut bytes = Vec::new();
        all_forms().encode(&mut bytes, order);
        assert_eq!(bytes.len() % 4, 0);
        assert_eq!(byte_order(&bytes), Some(order));
        let length = bytes.len();
        bytes.extend_from_slice(b"next");
        assert_eq!(Message::decode(&bytes, order), Ok((all_forms(), length)));
    }
}

/// The layouts of the manual, byte by byte.
#[test]
fn layouts() {
    let of = |value| {
        let mut out = Vec::new();
        let message = Message {
            header: Header::request(mq::MQCMD_ESCAPE),
            parameters: vec![Parameter { id: 0x0102, value }],
        };
        message.encode(&mut out, ByteOrder::Big);
        let header = [1, 36, 1, 38, 1, 1, 0, 0, 1].map(i32::to_be_bytes).concat();
        assert_eq!(out[..36], header);
        out[36..].to_vec()
    };
    let be = |fields: &[i32]| -> Vec<u8> { fields.iter().flat_map(|f| f.to_be_bytes()).collect() };
    assert_eq!(of(Value::Int(7)), be(&[3, 16, 0x0102, 7]));
    assert_eq!(of(Value::Int64(7)), be(&[23, 24, 0x0102, 0, 0, 7]));
    let text = [be(&[4, 28, 0x0102, 1208, 5]), b"abcde\0\0\0".to_vec()].concat();
    assert_eq!(of(Value::Text(Text::new("abcde"))), text);
    assert_eq!(of(Value::Ints(vec![1, 2])), be(&[5, 24, 0x0102, 2, 1, 2]));
    assert_eq!(of(Value::Ints64(vec![1])), be(&[25, 24, 0x0102, 1, 0, 1]));
    let texts = [be(&[6, 32, 0x0102, 0, 2, 3]), b"a  bc \0\0".to_vec()].concat();
    let items = vec![b"a".to_vec(), b"bc".to_vec()];
    assert_eq!(
        of(Value::Texts {
            ccsid: 0,
            width: 3,
            items
        }),
        texts
    );
    let bytes = [be(&[9, 20, 0x0102, 2]), vec![8, 9, 0, 0]].concat();
    assert_eq!(of(Value::Bytes(vec![8, 9])), bytes);
    let filter = Value::IntFilter {
        operator: 4,
        value: 10,
    };
    assert_eq!(of(filter), be(&[13, 20, 0x0102, 4, 10]));
    let value = Text {
        ccsid: 0,
        bytes: b"A*".to_vec(),
    };
    let filter = [be(&[14, 28, 0x0102, 18, 0, 2]), b"A*\0\0".to_vec()].concat();
    assert_eq!(
        of(Value::TextFilter {
            operator: 18,
            value
        }),
        filter
    );
    let filter = [be(&[15, 24, 0x0102, 2, 3]), vec![1, 2, 3, 0]].concat();
    assert_eq!(
        of(Value::BytesFilter {
            operator: 2,
            value: vec![1, 2, 3]
        }),
        filter
    );
    let inner = Parameter {
        id: 5,
        value: Value::Int(6),
    };
    let group = be(&[20, 16, 0x0102, 1, 3, 16, 5, 6]);
    assert_eq!(of(Value::Group(vec![inner])), group);
}

/// Every message cut short is an error, not a panic and not a message.
#[test]
fn cut_messages() {
    for order in ORDERS {
        let mut bytes = Vec::new();
        all_forms().encode(&mut bytes, order);
        for cut in 0..bytes.len() {
            assert!(
                Message::decode(&bytes[..cut], order).is_err(),
                "cut at {cut}"
            );
        }
    }
}

/// Fields of a message with one parameter, with one of them changed.
#[test]
fn wrong_fields() {
    let int = [1, 36, 1, 38, 1, 1, 0, 0, 1, 3, 16, 8, 9];
    let text = [1, 36, 1, 38, 1, 1, 0, 0, 1, 4, 24, 8, 0, 4, 0x2020_2020];
    let list = [1, 36, 1, 38, 1, 1, 0, 0, 1, 5, 20, 8, 1, 7];
    let list64 = [1, 36, 1, 38, 1, 1, 0, 0, 1, 25, 24, 8, 1, 0, 7];
    let texts = [1, 36, 1, 38, 1, 1, 0, 0, 1, 6, 28, 8, 0, 1, 4, 0x2020_2020];
    let bytes = [1, 36, 1, 38, 1, 1, 0, 0, 1, 9, 20, 8, 4, 0];
    let group = [1, 36, 1, 38, 1, 1, 0, 0, 1, 20, 16, 8, 0];
    let cases: &[(&[i32], usize, i32, Reason)] = &[
        (&int, 1, 35, Reason::CCF_CFH_LENGTH_ERROR),
        (&int, 2, 0, Reason::CCF_CFH_VERSION_ERROR),
        (&int, 2, 4, Reason::CCF_CFH_VERSION_ERROR),
        (&int, 5, 2, Reason::CCF_CFH_CONTROL_ERROR),
        (&int, 8, -1, Reason::CCF_CFH_PARM_COUNT_ERROR),
        (&int, 8, 2, Reason::CCF_CFH_PARM_COUNT_ERROR),
        (&int, 8, i32::MAX, Reason::CCF_CFH_PARM_COUNT_ERROR),
        (&int, 9, 99, Reason::CCF_STRUCTURE_TYPE_ERROR),
        (&int, 9, 1, Reason::CCF_STRUCTURE_TYPE_ERROR),
        (&int, 10, 15, Reason::CCF_CFIN_LENGTH_ERROR),
        (&int, 10, 17, Reason::CCF_CFIN_LENGTH_ERROR),
        (&int, 10, -16, Reason::CCF_CFIN_LENGTH_ERROR),
        (&text, 10, 19, Reason::CCF_CFST_LENGTH_ERROR),
        (&text, 10, i32::MAX, Reason::CCF_CFST_LENGTH_ERROR),
        (&text, 13, 5, Reason::CCF_CFST_STRING_LENGTH_ERR),
        (&text, 13, -1, Reason::CCF_CFST_STRING_LENGTH_ERR),
        (&list, 12, 2, Reason::CCF_CFIL_COUNT_ERROR),
        (&list, 12, -1, Reason::CCF_CFIL_COUNT_ERROR),
        (&list, 12, i32::MAX, Reason::CCF_CFIL_COUNT_ERROR),
        (&list64, 12, 2, Reason::CCF_CFIL_COUNT_ERROR),
        (&texts, 13, 2, Reason::CCF_CFSL_TOTAL_LENGTH_ERROR),
        (&texts, 13, -1, Reason::CCF_CFSL_COUNT_ERROR),
        (&texts, 14, 0, Reason::CCF_CFSL_STRING_LENGTH_ERR),
        (&texts, 14, -4, Reason::CCF_CFSL_STRING_LENGTH_ERR),
        (&texts, 14, i32::MAX, Reason::CCF_CFSL_TOTAL_LENGTH_ERROR),
        (&bytes, 12, 5, Reason::CCF_CFBS_STRING_LENGTH_ERR),
        (&group, 12, 1, Reason::CCF_CFGR_PARM_COUNT_ERROR),
        (&group, 12, -1, Reason::CCF_CFGR_PARM_COUNT_ERROR),
        (&group, 10, 12, Reason::CCF_CFGR_LENGTH_ERROR),
    ];
    for order in ORDERS {
        for (fields, at, value, reason) in cases {
            let message = |fields: &[i32]| {
                let mut out = Vec::new();
                for field in fields {
                    order.put_i32(&mut out, *field);
                }
                Message::decode(&out, order)
            };
            assert!(message(fields).is_ok(), "{fields:?}");
            let mut wrong = fields.to_vec();
            wrong[*at] = *value;
            let error = message(&wrong).expect_err("a fault");
            assert_eq!(error.reason, *reason, "field {at} = {value} of {fields:?}");
        }
    }
}

#[test]
fn groups_nest_only_so_deep() {
    let nested = |depth: usize| {
        let mut bytes = Vec::new();
        let mut value = Value::Int(1);
        for _ in 0..depth {
            value = Value::Group(vec![Parameter { id: 1, value }]);
        }
        let message = Message {
            header: Header::request(1),
            parameters: vec![Parameter { id: 1, value }],
        };
        message.encode(&mut bytes, ByteOrder::Big);
        Message::decode(&bytes, ByteOrder::Big).map(|(decoded, _)| decoded == message)
    };
    assert_eq!(nested(MOST_NESTED), Ok(true));
    let error = nested(MOST_NESTED + 1).expect_err("too deep");
    assert_eq!(error.reason, Reason::CCF_CFGR_PARM_COUNT_ERROR);
}

#[test]
fn requests() {
    let bytes = escape_request("DIS Q('é*')");
    assert_eq!(
        escape_command(&bytes, &in_utf_8),
        Ok("DIS Q('é*')".to_owned())
    );
    assert_eq!(escape_texts(&bytes), Ok(vec!["DIS Q('é*')".to_owned()]));
    assert_eq!(byte_order(&bytes), Some(ByteOrder::NATIVE));
    let changed = |change: &dyn Fn(&mut Message)| {
        let (mut message, _) = Message::decode(&bytes, ByteOrder::NATIVE).expect("a message");
        change(&mut message);
        let mut out = Vec::new();
        message.encode(&mut out, ByteOrder::Big);
        escape_command(&out, &in_utf_8).map_err(|error| error.reason)
    };
    assert_eq!(
        changed(&|_| ()),
        Ok("DIS Q('é*')".to_owned()),
        "in the other byte order"
    );
    type Change = &'static dyn Fn(&mut Message);
    let cases: &[(Change, Reason)] = &[
        (
            &|m| m.header.type_ = mq::MQCFT_RESPONSE,
            Reason::CCF_CFH_TYPE_ERROR,
        ),
        (
            &|m| m.header.command = mq::MQCMD_PING_Q_MGR,
            Reason::CCF_CFH_COMMAND_ERROR,
        ),
        (
            &|m| m.header.msg_seq_number = 2,
            Reason::CCF_CFH_MSG_SEQ_NUMBER_ERR,
        ),
        (
            &|m| m.header.control = mq::MQCFC_NOT_LAST,
            Reason::CCF_CFH_CONTROL_ERROR,
        ),
        (
            &|m| m.parameters[0].value = Value::Int(2),
            Reason::CCF_ESCAPE_TYPE_ERROR,
        ),
        (
            &|m| drop(m.parameters.remove(0)),
            Reason::CCF_ESCAPE_TYPE_ERROR,
        ),
        (
            &|m| drop(m.parameters.pop()),
            Reason::CCF_PARM_COUNT_TOO_SMALL,
        ),
        (
            &|m| m.parameters.push(m.parameters[1].clone()),
            Reason::CCF_CFST_DUPLICATE_PARM,
        ),
    ];
    for (change, reason) in cases {
        assert_eq!(changed(change), Err(*reason));
    }
    let mut long = bytes.clone();
    long.push(0);
    assert_eq!(
        escape_command(&long, &in_utf_8).map_err(|e| e.reason),
        Err(Reason::CCF_MSG_LENGTH_ERROR)
    );
    assert_eq!(
        escape_command(&[], &in_utf_8).map_err(|e| e.reason),
        Err(Reason::CCF_CFH_LENGTH_ERROR)
    );
}

#[test]
fn replies() {
    let mut reply = Reply::default();
    for name in ["A", "B"] {
        let mut row = Row::of(DisplayWhat::QStatus);
        row.push("QUEUE", name);
        row.push("TYPE", "QLOCAL");
        reply.add_row("AMQ8409I", row);
    }
    reply.add_message("AMQ8147E", &["C".to_owned()]);
    for order in ORDERS {
        let messages = escape_replies(mq::MQCMD_PING_Q_MGR, &reply, order);
        assert_eq!(messages.len(), 3);
        let mut collected = EscapeReplies::new();
        for (at, message) in messages.iter().enumerate() {
            assert_eq!(byte_order(message), Some(order));
            assert_eq!(collected.outcome(), None);
            assert_eq!(collected.push(message), Ok(at == 2));
        }
        assert_eq!(collected.outcome(), Some(Ok(())));
        let cells = format!("   QUEUE(A){}TYPE(QLOCAL)", " ".repeat(32));
        let first = format!("AMQ8409I: Display Queue details.\n{cells}");
        assert_eq!(collected.texts()[0], first);
        assert_eq!(collected.texts()[2], "AMQ8147E: Object C not found.");
        let again = collected.push(&messages[0]).map_err(|error| error.reason);
        assert_eq!(again, Err(Reason::CCF_CFH_MSG_SEQ_NUMBER_ERR));
    }
}

#[test]
fn a_failure_and_nothing_at_all() {
    let name = ["A".to_owned()];
    let failed = Reply::failed("AMQ8147E", &name, Reason::UNKNOWN_OBJECT_NAME);
    let mut collected = EscapeReplies::new();
    for message in escape_replies(mq::MQCMD_PING_Q_MGR, &failed, ByteOrder::Little) {
        collected.push(&message).expect("in order");
    }
    assert_eq!(collected.outcome(), Some(Err(Reason::UNKNOWN_OBJECT_NAME)));
    let messages = escape_replies(mq::MQCMD_PING_Q_MGR, &Reply::default(), ByteOrder::Big);
    assert_eq!(messages.len(), 1);
    let mut collected = EscapeReplies::new();
    assert_eq!(collected.push(&messages[0]), Ok(true));
    assert_eq!(
        (collected.texts(), collected.outcome()),
        (&[][..], Some(Ok(())))
    );
    let mut skipped = EscapeReplies::new();
    let mut two = Reply::default();
    two.add_message("AMQ8415I", &[]);
    two.add_message("AMQ8415I", &[]);
    let second = escape_replies(mq::MQCMD_PING_Q_MGR, &two, ByteOrder::Big).remove(1);
    let error = skipped.push(&second).expect_err("the first is missing");
    assert_eq!(error.reason, Reason::CCF_CFH_MSG_SEQ_NUMBER_ERR);
    assert!(
        skipped.push(&escape_request("X")).is_err(),
        "not a response"
    );
}
