//! Seeds of the administrator's words: MQSC scripts, PCF messages, `qm.ini` files.

use posthaste_command::pcf::{
    Header, Message, Parameter, Text, Value, escape_replies, escape_request,
};
use posthaste_command::{DisplayWhat, Reply, Row};
use posthaste_mqi::constants::MQCMD_ESCAPE;
use posthaste_mqi::{ByteOrder, Reason};

use super::Seeds;

const SCRIPTS: &[(&str, &str)] = &[
    (
        "define",
        "DEFINE QLOCAL('orders') MAXDEPTH(5000) DEFPSIST(YES) +\n       DESCR('what customers ask for') REPLACE\n",
    ),
    (
        "alter",
        "alter qlocal(ORDERS) put(disabled) npmclass(high) trigger trigtype(every)\n",
    ),
    (
        "display",
        "DISPLAY QUEUE(DEV.*) WHERE(CURDEPTH GT 0) CURDEPTH MAXDEPTH ALL\n",
    ),
    (
        "conn",
        "DIS CONN(*) TYPE(HANDLE) ALL WHERE(APPLTAG LK 'amqs*')\n",
    ),
    (
        "delete",
        "DELETE QLOCAL(ORDERS) PURGE\nCLEAR QLOCAL(DEV.QUEUE.1)\n",
    ),
    (
        "channel",
        "DEFINE CHANNEL(DEV.APP.SVRCONN) CHLTYPE(SVRCONN) TRPTYPE(TCP) MAXINST(10)\n",
    ),
    (
        "listener",
        "DEFINE LISTENER(L1) TRPTYPE(TCP) PORT(1414) CONTROL(QMGR)\nSTART LISTENER(L1)\n",
    ),
    (
        "qmgr",
        "ALTER QMGR DEADQ(DEV.DEAD.LETTER.QUEUE) MAXMSGL(104857600) FORCE\nPING QMGR\n",
    ),
    (
        "alias",
        "DEF QA(A) TARGET(B) LIKE(C)\nDEF QM(M) DEFTYPE(PERMDYN)\nDEF QR(R) RNAME(X) RQMNAME(Y) XMITQ(Z)\n",
    ),
    (
        "continued",
        "* a comment\nDEFINE -\nQLOCAL(A) +\n\n   DESCR('it''s -\n continued') ;\nend\n",
    ),
];

/// Seeds of `mqsc_text`.
pub fn mqsc() -> Seeds {
    SCRIPTS
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
        .collect()
}

const CONFIGURATIONS: &[(&str, &str)] = &[
    (
        "log",
        "Log:\n   LogPath=/var/posthaste/QM1/log\n   LogType=CIRCULAR\n   LogFilePages=4096\n   LogPrimaryFiles=3\n   LogSecondaryFiles=2\n   LogBufferPages=0\n",
    ),
    (
        "channels",
        "# comment\nChannels:\n   MaxChannels=1000\n   MQIBindType=FASTPATH\n",
    ),
    (
        "tuning",
        "TuningParameters:\n  DefaultQBufferSize=1048576\n  ExpiryInterval = 60\n\n",
    ),
    (
        "tcp",
        "TCP:\n   KeepAlive=Yes\n   ListenerBacklog=100\nQMErrorLog:\n   ErrorLogSize=32768\n",
    ),
    (
        "repeated",
        "Service:\n   Name=AuthorizationService\n   EntryPoints=14\nServiceComponent:\n   Service=AuthorizationService\n   Name=x\n",
    ),
    (
        "refused",
        "SSL:\n   AllowTLSV13=Y\nLog:\n   LogType=LINEAR\n   LogFilePages=1\n",
    ),
    (
        "queue-managers",
        "QueueManager:\n   Name=QM1\n   Prefix=/var/posthaste\n   Directory=QM1\n",
    ),
];

/// Seeds of `qm_ini`.
pub fn qm_ini() -> Seeds {
    CONFIGURATIONS
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
        .collect()
}

/// Seeds of `pcf`: requests and replies that carry MQSC, and a message with every kind of parameter.
pub fn pcf() -> Seeds {
    let mut seeds = vec![(
        "escape-request".to_owned(),
        escape_request("DISPLAY QMGR ALL"),
    )];
    let mut shown = Row::of(DisplayWhat::QStatus);
    shown.push("QUEUE", "DEV.QUEUE.1");
    shown.push("CURDEPTH", 0);
    let reply = Reply {
        messages: vec![("AMQ8147E".to_owned(), "Object not found.".to_owned())],
        rows: vec![(
            "AMQ8409I".to_owned(),
            "Display Queue details.".to_owned(),
            shown,
        )],
        ok: false,
        reason: Reason::UNKNOWN_OBJECT_NAME,
        column: None,
    };
    for (order, name) in [(ByteOrder::Big, "big"), (ByteOrder::Little, "little")] {
        for (number, bytes) in escape_replies(MQCMD_ESCAPE, &reply, order)
            .into_iter()
            .enumerate()
        {
            seeds.push((format!("escape-reply-{name}-{number}"), bytes));
        }
        let mut bytes = Vec::new();
        every_kind().encode(&mut bytes, order);
        seeds.push((format!("every-kind-{name}"), bytes));
    }
    seeds
}

fn every_kind() -> Message {
    let number = Parameter {
        id: 3,
        value: Value::Int(7),
    };
    let values = [
        Value::Int(-1),
        Value::Int64(1 << 40),
        Value::Text(Text::new("DEV.QUEUE.1")),
        Value::Ints(vec![1, 2, 3]),
        Value::Ints64(vec![1, -1]),
        Value::Texts {
            ccsid: 1208,
            width: 3,
            items: vec![b"abc".to_vec(), b"d  ".to_vec()],
        },
        Value::Bytes(b"bytes".to_vec()),
        Value::IntFilter {
            operator: 4,
            value: 100,
        },
        Value::TextFilter {
            operator: 18,
            value: Text::new("DEV.*"),
        },
        Value::BytesFilter {
            operator: 2,
            value: b"x".to_vec(),
        },
        Value::Group(vec![
            number.clone(),
            Parameter {
                id: 4,
                value: Value::Group(vec![number]),
            },
        ]),
    ];
    let parameters = (2001..)
        .zip(values)
        .map(|(id, value)| Parameter { id, value });
    // 13 is MQCMD_INQUIRE_Q.
    Message {
        header: Header {
            version: 3,
            ..Header::request(13)
        },
        parameters: parameters.collect(),
    }
}
