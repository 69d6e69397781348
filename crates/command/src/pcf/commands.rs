//! The commands in PCF other than Escape, a row each: its number, the MQSC command that does the same, and what its choices
//! say in that (manual: "Definitions of the programmable command formats"). What the other parameters say is read by the
//! attributes of the objects that a command is about; of commands about authority records, which are about no objects, in
//! [`authority`](super::authority).
//!
//! Invariants (tested): a number stands in one row; what is made of a row is a command that MQSC has, or several.

use posthaste_mqi::Reason;
use posthaste_mqi::constants as mq;

use super::refusal::{Refusal, refused};
use super::{Parameter, Value};
use crate::command::DisplayWhat;
use crate::kinds::ObjectKind;

/// What a command does, and with that what its parameters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// DISPLAY; the number is that of the list of what is wanted.
    Inquire(i32),
    /// DISPLAY, answered with names alone: the number of their list, and of the list of their types (0: there is none).
    Names(i32, i32),
    Create,
    /// DEFINE with LIKE; the number is that of the object to be like.
    Copy(i32),
    Change,
    Delete,
    /// SET and DELETE of records.
    Set,
    /// One that has nothing but a name and choices.
    Act,
}

/// What a command is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Objects(&'static [ObjectKind]),
    State(DisplayWhat),
    /// Authority records, which are named by parameters and not behind the noun.
    Authorities,
    Nothing,
}

/// An integer parameter, and what each value of it adds to the command.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) id: i32,
    pub(super) words: &'static [(i32, &'static str)],
    /// Why another value is refused.
    pub(super) otherwise: Reason,
}

/// A command in PCF.
#[derive(Debug)]
pub(super) struct PcfCommand {
    pub(super) number: i32,
    pub(super) form: Form,
    pub(super) verb: &'static str,
    pub(super) noun: &'static str,
    /// The number of the name; 0: there is none.
    pub(super) name: i32,
    pub(super) subject: Subject,
    pub(super) choices: &'static [Choice],
}

const fn row(
    number: i32,
    form: Form,
    (verb, noun): (&'static str, &'static str),
    name: i32,
    subject: Subject,
    choices: &'static [Choice],
) -> PcfCommand {
    PcfCommand {
        number,
        form,
        verb,
        noun,
        name,
        subject,
        choices,
    }
}

const fn state(
    number: i32,
    wanted: i32,
    noun: &'static str,
    name: i32,
    what: DisplayWhat,
    choices: &'static [Choice],
) -> PcfCommand {
    let (form, subject) = (Form::Inquire(wanted), Subject::State(what));
    row(number, form, ("DISPLAY", noun), name, subject, choices)
}

const fn act(
    number: i32,
    words: (&'static str, &'static str),
    name: i32,
    choices: &'static [Choice],
) -> PcfCommand {
    row(number, Form::Act, words, name, Subject::Nothing, choices)
}

const fn choice(id: i32, words: &'static [(i32, &'static str)]) -> Choice {
    Choice {
        id,
        words,
        otherwise: Reason::CCF_PARM_VALUE_ERROR,
    }
}

const QUEUES: &[ObjectKind] = &ObjectKind::QUEUES;
const CHANNELS: &[ObjectKind] = &[ObjectKind::SvrConn, ObjectKind::ClntConn];
const AUTHINFOS: &[ObjectKind] = &[
    ObjectKind::AuthCrlLdap,
    ObjectKind::AuthOcsp,
    ObjectKind::AuthIdpwOs,
    ObjectKind::AuthIdpwLdap,
];
const RECORDS: &[ObjectKind] = &ObjectKind::CHLAUTH;

const REPLACE: &[Choice] = &[Choice {
    id: mq::MQIACF_REPLACE,
    words: &[(mq::MQRP_NO, ""), (mq::MQRP_YES, " REPLACE")],
    otherwise: Reason::CCF_REPLACE_VALUE_ERROR,
}];
const FORCE: &[Choice] = &[Choice {
    id: mq::MQIACF_FORCE,
    words: &[(mq::MQFC_NO, ""), (mq::MQFC_YES, " FORCE")],
    otherwise: Reason::CCF_FORCE_VALUE_ERROR,
}];
const PURGE: Choice = Choice {
    id: mq::MQIACF_PURGE,
    words: &[(mq::MQPO_NO, ""), (mq::MQPO_YES, " PURGE")],
    otherwise: Reason::CCF_PURGE_VALUE_ERROR,
};
const AUTHREC: Choice = choice(
    mq::MQIACF_REMOVE_AUTHREC,
    &[
        (mq::MQRAR_NO, " AUTHREC(NO)"),
        (mq::MQRAR_YES, " AUTHREC(YES)"),
    ],
);
const PURGE_OR_AUTHREC: &[Choice] = &[PURGE, AUTHREC];
const WITH_AUTHREC: &[Choice] = &[AUTHREC];
const TABLE: &[Choice] = &[Choice {
    id: mq::MQIACH_CHANNEL_TABLE,
    words: &[
        (mq::MQCHTAB_Q_MGR, " CHLTABLE(QMGRTAB)"),
        (mq::MQCHTAB_CLNTCONN, " CHLTABLE(CLNTTAB)"),
    ],
    otherwise: Reason::CCF_CHANNEL_TABLE_ERROR,
}];
const STOPPING: &[Choice] = &[
    Choice {
        id: mq::MQIACF_MODE,
        words: &[
            (mq::MQMODE_FORCE, " MODE(FORCE)"),
            (mq::MQMODE_QUIESCE, " MODE(QUIESCE)"),
            (mq::MQMODE_TERMINATE, " MODE(TERMINATE)"),
        ],
        otherwise: Reason::CCF_QUIESCE_VALUE_ERROR,
    },
    choice(
        mq::MQIACH_CHANNEL_STATUS,
        &[
            (mq::MQCHS_INACTIVE, " STATUS(INACTIVE)"),
            (mq::MQCHS_STOPPED, " STATUS(STOPPED)"),
        ],
    ),
];
/// Text that an action has beside the name.
const TEXTS: &[(i32, i32, &str)] = &[
    (
        mq::MQCMD_STOP_CHANNEL,
        mq::MQCACH_CONNECTION_NAME,
        "CONNAME",
    ),
    (mq::MQCMD_STOP_CHANNEL, mq::MQCA_Q_MGR_NAME, "QMNAME"),
];
/// Topics of clusters are not here.
const TOPIC_TYPE: &[Choice] = &[choice(
    mq::MQIA_TOPIC_TYPE,
    &[(mq::MQTOPT_LOCAL, ""), (mq::MQTOPT_ALL, "")],
)];
const SUBSCRIPTIONS: &[Choice] = &[
    choice(
        mq::MQIACF_DURABLE_SUBSCRIPTION,
        &[
            (mq::MQSUB_DURABLE_ALL, " DURABLE(ALL)"),
            (mq::MQSUB_DURABLE_YES, " DURABLE(YES)"),
            (mq::MQSUB_DURABLE_NO, " DURABLE(NO)"),
        ],
    ),
    choice(
        mq::MQIACF_SUB_TYPE,
        &[
            (mq::MQSUBTYPE_USER, " SUBTYPE(USER)"),
            (mq::MQSUBTYPE_ALL, " SUBTYPE(ALL)"),
            (mq::MQSUBTYPE_API, " SUBTYPE(API)"),
            (mq::MQSUBTYPE_ADMIN, " SUBTYPE(ADMIN)"),
            (mq::MQSUBTYPE_PROXY, " SUBTYPE(PROXY)"),
        ],
    ),
];
const QUEUE_STATUS: &[Choice] = &[
    choice(
        mq::MQIACF_Q_STATUS_TYPE,
        &[
            (mq::MQIACF_Q_STATUS, " TYPE(QUEUE)"),
            (mq::MQIACF_Q_HANDLE, " TYPE(HANDLE)"),
        ],
    ),
    choice(
        mq::MQIACF_OPEN_TYPE,
        &[
            (mq::MQQSOT_ALL, " OPENTYPE(ALL)"),
            (mq::MQQSOT_INPUT, " OPENTYPE(INPUT)"),
            (mq::MQQSOT_OUTPUT, " OPENTYPE(OUTPUT)"),
        ],
    ),
];
/// Saved status is kept of message channels, so that there is none here.
const CHANNEL_STATUS: &[Choice] = &[Choice {
    id: mq::MQIACH_CHANNEL_INSTANCE_TYPE,
    words: &[(mq::MQOT_CURRENT_CHANNEL, "")],
    otherwise: Reason::CCF_CHL_STATUS_NOT_FOUND,
}];
const CONNECTION_TYPE: &[Choice] = &[choice(
    mq::MQIACF_CONN_INFO_TYPE,
    &[
        (mq::MQIACF_CONN_INFO_CONN, " TYPE(CONN)"),
        (mq::MQIACF_CONN_INFO_HANDLE, " TYPE(HANDLE)"),
        (mq::MQIACF_CONN_INFO_ALL, " TYPE(ALL)"),
    ],
)];
const TOPIC_STATUS: &[Choice] = &[choice(
    mq::MQIACF_TOPIC_STATUS_TYPE,
    &[
        (mq::MQIACF_TOPIC_STATUS, " TYPE(TOPIC)"),
        (mq::MQIACF_TOPIC_SUB, " TYPE(SUB)"),
        (mq::MQIACF_TOPIC_PUB, " TYPE(PUB)"),
    ],
)];
const PUBSUB_TYPE: &[Choice] = &[choice(
    mq::MQIACF_PS_STATUS_TYPE,
    &[
        (mq::MQPSST_ALL, " TYPE(ALL)"),
        (mq::MQPSST_LOCAL, " TYPE(LOCAL)"),
    ],
)];
const CLEARED: &[Choice] = &[
    choice(
        mq::MQIACF_CLEAR_TYPE,
        &[(mq::MQCLRT_RETAINED, " CLRTYPE(RETAINED)")],
    ),
    choice(
        mq::MQIACF_CLEAR_SCOPE,
        &[(mq::MQCLRS_LOCAL, " SCOPE(LOCAL)")],
    ),
];
const SECURITY: &[Choice] = &[choice(
    mq::MQIACF_SECURITY_TYPE,
    &[
        (mq::MQSECTYPE_AUTHSERV, " TYPE(AUTHSERV)"),
        (mq::MQSECTYPE_SSL, " TYPE(SSL)"),
        (mq::MQSECTYPE_CONNAUTH, " TYPE(CONNAUTH)"),
    ],
)];
const ACTION: &[Choice] = &[choice(
    mq::MQIACF_ACTION,
    &[
        (mq::MQACT_ADD, " ACTION(ADD)"),
        (mq::MQACT_REPLACE, " ACTION(REPLACE)"),
        (mq::MQACT_REMOVE, " ACTION(REMOVE)"),
        (mq::MQACT_REMOVEALL, " ACTION(REMOVEALL)"),
    ],
)];
const MATCH: &[Choice] = &[choice(
    mq::MQIACH_MATCH,
    &[
        (mq::MQMATCH_GENERIC, " MATCH(GENERIC)"),
        (mq::MQMATCH_RUNCHECK, " MATCH(RUNCHECK)"),
        (mq::MQMATCH_EXACT, " MATCH(EXACT)"),
        (mq::MQMATCH_ALL, " MATCH(ALL)"),
    ],
)];
/// Names of profiles by a pattern of their own are not asked for in MQSC.
const AUTHORITY_OPTIONS: &[Choice] = &[choice(
    mq::MQIACF_AUTH_OPTIONS,
    &[
        (
            mq::MQAUTHOPT_ENTITY_EXPLICIT | mq::MQAUTHOPT_NAME_EXPLICIT,
            " MATCH(EXACT)",
        ),
        (
            mq::MQAUTHOPT_ENTITY_EXPLICIT | mq::MQAUTHOPT_NAME_ALL_MATCHING,
            " MATCH(PROFILE)",
        ),
        (
            mq::MQAUTHOPT_ENTITY_SET | mq::MQAUTHOPT_NAME_ALL_MATCHING,
            " MATCH(MEMBERSHIP)",
        ),
    ],
)];

/// Inquire Entity Authority: what is asked for is what an entity may by all records together.
const ENTITY_OPTIONS: &[Choice] = &[choice(
    mq::MQIACF_AUTH_OPTIONS,
    &[(mq::MQAUTHOPT_CUMULATIVE, "")],
)];

/// The five commands of a kind of object.
macro_rules! objects {
    ($(
        $noun:literal $name:ident $wanted:ident $kinds:expr;
        $inquire:ident $on_inquire:expr; $create:ident; $change:ident $on_change:expr;
        $copy:ident $from:ident $to:ident; $delete:ident $on_delete:expr;
    )*) => {
        &[$(
            row(mq::$inquire, Form::Inquire(mq::$wanted), ("DISPLAY", $noun), mq::$name, Subject::Objects($kinds), $on_inquire),
            row(mq::$create, Form::Create, ("DEFINE", $noun), mq::$name, Subject::Objects($kinds), REPLACE),
            row(mq::$change, Form::Change, ("ALTER", $noun), mq::$name, Subject::Objects($kinds), $on_change),
            row(mq::$copy, Form::Copy(mq::$from), ("DEFINE", $noun), mq::$to, Subject::Objects($kinds), REPLACE),
            row(mq::$delete, Form::Delete, ("DELETE", $noun), mq::$name, Subject::Objects($kinds), $on_delete),
        )*]
    };
}

/// Objects that are inquired, made, changed, copied and deleted.
const OBJECTS: &[PcfCommand] = objects! {
    "QUEUE" MQCA_Q_NAME MQIACF_Q_ATTRS QUEUES;
        MQCMD_INQUIRE_Q &[]; MQCMD_CREATE_Q; MQCMD_CHANGE_Q FORCE;
        MQCMD_COPY_Q MQCACF_FROM_Q_NAME MQCACF_TO_Q_NAME; MQCMD_DELETE_Q PURGE_OR_AUTHREC;
    "CHANNEL" MQCACH_CHANNEL_NAME MQIACF_CHANNEL_ATTRS CHANNELS;
        MQCMD_INQUIRE_CHANNEL &[]; MQCMD_CREATE_CHANNEL; MQCMD_CHANGE_CHANNEL &[];
        MQCMD_COPY_CHANNEL MQCACF_FROM_CHANNEL_NAME MQCACF_TO_CHANNEL_NAME; MQCMD_DELETE_CHANNEL TABLE;
    "TOPIC" MQCA_TOPIC_NAME MQIACF_TOPIC_ATTRS &[ObjectKind::Topic];
        MQCMD_INQUIRE_TOPIC TOPIC_TYPE; MQCMD_CREATE_TOPIC; MQCMD_CHANGE_TOPIC &[];
        MQCMD_COPY_TOPIC MQCACF_FROM_TOPIC_NAME MQCACF_TO_TOPIC_NAME; MQCMD_DELETE_TOPIC WITH_AUTHREC;
    "NAMELIST" MQCA_NAMELIST_NAME MQIACF_NAMELIST_ATTRS &[ObjectKind::Namelist];
        MQCMD_INQUIRE_NAMELIST &[]; MQCMD_CREATE_NAMELIST; MQCMD_CHANGE_NAMELIST &[];
        MQCMD_COPY_NAMELIST MQCACF_FROM_NAMELIST_NAME MQCACF_TO_NAMELIST_NAME; MQCMD_DELETE_NAMELIST &[];
    "PROCESS" MQCA_PROCESS_NAME MQIACF_PROCESS_ATTRS &[ObjectKind::Process];
        MQCMD_INQUIRE_PROCESS &[]; MQCMD_CREATE_PROCESS; MQCMD_CHANGE_PROCESS &[];
        MQCMD_COPY_PROCESS MQCACF_FROM_PROCESS_NAME MQCACF_TO_PROCESS_NAME; MQCMD_DELETE_PROCESS &[];
    "LISTENER" MQCACH_LISTENER_NAME MQIACF_LISTENER_ATTRS &[ObjectKind::Listener];
        MQCMD_INQUIRE_LISTENER &[]; MQCMD_CREATE_LISTENER; MQCMD_CHANGE_LISTENER &[];
        MQCMD_COPY_LISTENER MQCACF_FROM_LISTENER_NAME MQCACF_TO_LISTENER_NAME; MQCMD_DELETE_LISTENER &[];
    "SERVICE" MQCA_SERVICE_NAME MQIACF_SERVICE_ATTRS &[ObjectKind::Service];
        MQCMD_INQUIRE_SERVICE &[]; MQCMD_CREATE_SERVICE; MQCMD_CHANGE_SERVICE &[];
        MQCMD_COPY_SERVICE MQCACF_FROM_SERVICE_NAME MQCACF_TO_SERVICE_NAME; MQCMD_DELETE_SERVICE &[];
    "AUTHINFO" MQCA_AUTH_INFO_NAME MQIACF_AUTH_INFO_ATTRS AUTHINFOS;
        MQCMD_INQUIRE_AUTH_INFO &[]; MQCMD_CREATE_AUTH_INFO; MQCMD_CHANGE_AUTH_INFO &[];
        MQCMD_COPY_AUTH_INFO MQCACF_FROM_AUTH_INFO_NAME MQCACF_TO_AUTH_INFO_NAME; MQCMD_DELETE_AUTH_INFO &[];
    "COMMINFO" MQCA_COMM_INFO_NAME MQIACF_COMM_INFO_ATTRS &[ObjectKind::CommInfo];
        MQCMD_INQUIRE_COMM_INFO &[]; MQCMD_CREATE_COMM_INFO; MQCMD_CHANGE_COMM_INFO &[];
        MQCMD_COPY_COMM_INFO MQCACF_FROM_COMM_INFO_NAME MQCACF_TO_COMM_INFO_NAME; MQCMD_DELETE_COMM_INFO &[];
    "SUB" MQCACF_SUB_NAME MQIACF_SUB_ATTRS &[ObjectKind::Sub];
        MQCMD_INQUIRE_SUBSCRIPTION SUBSCRIPTIONS; MQCMD_CREATE_SUBSCRIPTION; MQCMD_CHANGE_SUBSCRIPTION &[];
        MQCMD_COPY_SUBSCRIPTION MQCACF_FROM_SUB_NAME MQCACF_TO_SUB_NAME; MQCMD_DELETE_SUBSCRIPTION &[];
};

const fn names(
    number: i32,
    list: (i32, i32),
    noun: &'static str,
    name: i32,
    kinds: &'static [ObjectKind],
) -> PcfCommand {
    row(
        number,
        Form::Names(list.0, list.1),
        ("DISPLAY", noun),
        name,
        Subject::Objects(kinds),
        &[],
    )
}

/// Attributes of the queue manager that are asked for together (manual: "Inquire Queue Manager", "DISPLAY QMGR").
const GROUPS: &[(i32, &str)] = &[
    (mq::MQIACF_Q_MGR_SYSTEM, "SYSTEM"),
    (mq::MQIACF_Q_MGR_EVENT, "EVENT"),
    (mq::MQIACF_Q_MGR_DQM, "CHINIT"),
    (mq::MQIACF_Q_MGR_CLUSTER, "CLUSTER"),
    (mq::MQIACF_Q_MGR_PUBSUB, "PUBSUB"),
];

/// The others.
#[rustfmt::skip] // one row, one line
const OTHERS: &[PcfCommand] = &[
    row(mq::MQCMD_INQUIRE_Q_MGR, Form::Inquire(mq::MQIACF_Q_MGR_ATTRS), ("DISPLAY", "QMGR"), 0, Subject::Objects(&[ObjectKind::Qmgr]), &[]),
    row(mq::MQCMD_CHANGE_Q_MGR, Form::Change, ("ALTER", "QMGR"), 0, Subject::Objects(&[ObjectKind::Qmgr]), FORCE),
    names(mq::MQCMD_INQUIRE_Q_NAMES, (mq::MQCACF_Q_NAMES, mq::MQIACF_Q_TYPES), "QUEUE", mq::MQCA_Q_NAME, QUEUES),
    names(mq::MQCMD_INQUIRE_CHANNEL_NAMES, (mq::MQCACH_CHANNEL_NAMES, mq::MQIACH_CHANNEL_TYPES), "CHANNEL", mq::MQCACH_CHANNEL_NAME, CHANNELS),
    names(mq::MQCMD_INQUIRE_TOPIC_NAMES, (mq::MQCACF_TOPIC_NAMES, 0), "TOPIC", mq::MQCA_TOPIC_NAME, &[ObjectKind::Topic]),
    names(mq::MQCMD_INQUIRE_NAMELIST_NAMES, (mq::MQCACF_NAMELIST_NAMES, 0), "NAMELIST", mq::MQCA_NAMELIST_NAME, &[ObjectKind::Namelist]),
    names(mq::MQCMD_INQUIRE_PROCESS_NAMES, (mq::MQCACF_PROCESS_NAMES, 0), "PROCESS", mq::MQCA_PROCESS_NAME, &[ObjectKind::Process]),
    names(mq::MQCMD_INQUIRE_AUTH_INFO_NAMES, (mq::MQCACF_AUTH_INFO_NAMES, 0), "AUTHINFO", mq::MQCA_AUTH_INFO_NAME, AUTHINFOS),
    state(mq::MQCMD_INQUIRE_Q_MGR_STATUS, mq::MQIACF_Q_MGR_STATUS_ATTRS, "QMSTATUS", 0, DisplayWhat::QMStatus, &[]),
    state(mq::MQCMD_INQUIRE_Q_STATUS, mq::MQIACF_Q_STATUS_ATTRS, "QSTATUS", mq::MQCA_Q_NAME, DisplayWhat::QStatus, QUEUE_STATUS),
    state(mq::MQCMD_INQUIRE_CHANNEL_STATUS, mq::MQIACH_CHANNEL_INSTANCE_ATTRS, "CHSTATUS", mq::MQCACH_CHANNEL_NAME, DisplayWhat::ChStatus, CHANNEL_STATUS),
    state(mq::MQCMD_INQUIRE_LISTENER_STATUS, mq::MQIACF_LISTENER_STATUS_ATTRS, "LSSTATUS", mq::MQCACH_LISTENER_NAME, DisplayWhat::LsStatus, &[]),
    state(mq::MQCMD_INQUIRE_SERVICE_STATUS, mq::MQIACF_SERVICE_STATUS_ATTRS, "SVSTATUS", mq::MQCA_SERVICE_NAME, DisplayWhat::SvStatus, &[]),
    state(mq::MQCMD_INQUIRE_CONNECTION, mq::MQIACF_CONNECTION_ATTRS, "CONN", mq::MQBACF_CONNECTION_ID, DisplayWhat::Conn, CONNECTION_TYPE),
    state(mq::MQCMD_INQUIRE_TOPIC_STATUS, mq::MQIACF_TOPIC_STATUS_ATTRS, "TPSTATUS", mq::MQCA_TOPIC_STRING, DisplayWhat::TpStatus, TOPIC_STATUS),
    state(mq::MQCMD_INQUIRE_SUB_STATUS, mq::MQIACF_SUB_STATUS_ATTRS, "SBSTATUS", mq::MQCACF_SUB_NAME, DisplayWhat::SbStatus, SUBSCRIPTIONS),
    state(mq::MQCMD_INQUIRE_PUBSUB_STATUS, mq::MQIACF_PUBSUB_STATUS_ATTRS, "PUBSUB", 0, DisplayWhat::PubSub, PUBSUB_TYPE),
    row(mq::MQCMD_SET_CHLAUTH_REC, Form::Set, ("SET", "CHLAUTH"), mq::MQCACH_CHANNEL_NAME, Subject::Objects(RECORDS), ACTION),
    row(mq::MQCMD_INQUIRE_CHLAUTH_RECS, Form::Inquire(mq::MQIACF_CHLAUTH_ATTRS), ("DISPLAY", "CHLAUTH"), mq::MQCACH_CHANNEL_NAME, Subject::Objects(RECORDS), MATCH),
    row(mq::MQCMD_SET_AUTH_REC, Form::Set, ("SET", "AUTHREC"), 0, Subject::Authorities, &[]),
    row(mq::MQCMD_DELETE_AUTH_REC, Form::Set, ("DELETE", "AUTHREC"), 0, Subject::Authorities, &[]),
    row(mq::MQCMD_INQUIRE_AUTH_RECS, Form::Inquire(mq::MQIACF_AUTH_PROFILE_ATTRS), ("DISPLAY", "AUTHREC"), 0, Subject::Authorities, AUTHORITY_OPTIONS),
    row(mq::MQCMD_INQUIRE_ENTITY_AUTH, Form::Inquire(mq::MQIACF_AUTH_PROFILE_ATTRS), ("DISPLAY", "ENTAUTH"), 0, Subject::Authorities, ENTITY_OPTIONS),
    row(mq::MQCMD_INQUIRE_AUTH_SERVICE, Form::Inquire(mq::MQIACF_AUTH_SERVICE_ATTRS), ("DISPLAY", "AUTHSERV"), 0, Subject::Authorities, &[]),
    act(mq::MQCMD_CLEAR_Q, ("CLEAR", "QLOCAL"), mq::MQCA_Q_NAME, &[]),
    act(mq::MQCMD_CLEAR_TOPIC_STRING, ("CLEAR", "TOPICSTR"), mq::MQCA_TOPIC_STRING, CLEARED),
    act(mq::MQCMD_START_CHANNEL, ("START", "CHANNEL"), mq::MQCACH_CHANNEL_NAME, &[]),
    act(mq::MQCMD_STOP_CHANNEL, ("STOP", "CHANNEL"), mq::MQCACH_CHANNEL_NAME, STOPPING),
    act(mq::MQCMD_STOP_CONNECTION, ("STOP", "CONN"), mq::MQBACF_CONNECTION_ID, &[]),
    act(mq::MQCMD_START_CHANNEL_LISTENER, ("START", "LISTENER"), mq::MQCACH_LISTENER_NAME, &[]),
    act(mq::MQCMD_STOP_CHANNEL_LISTENER, ("STOP", "LISTENER"), mq::MQCACH_LISTENER_NAME, &[]),
    act(mq::MQCMD_START_SERVICE, ("START", "SERVICE"), mq::MQCA_SERVICE_NAME, &[]),
    act(mq::MQCMD_STOP_SERVICE, ("STOP", "SERVICE"), mq::MQCA_SERVICE_NAME, &[]),
    act(mq::MQCMD_PING_Q_MGR, ("PING", "QMGR"), 0, &[]),
    act(mq::MQCMD_REFRESH_SECURITY, ("REFRESH", "SECURITY"), 0, SECURITY),
];

pub(super) fn all() -> impl Iterator<Item = &'static PcfCommand> {
    OBJECTS.iter().chain(OTHERS)
}

impl PcfCommand {
    pub(super) fn numbered(number: i32) -> Option<&'static PcfCommand> {
        all().find(|command| command.number == number)
    }

    /// What it is about, as DISPLAY says that.
    pub(super) fn what(&self) -> Option<DisplayWhat> {
        match self.subject {
            Subject::State(what) => Some(what),
            Subject::Objects(kinds) => kinds.first().map(|kind| DisplayWhat::Object(*kind)),
            Subject::Authorities | Subject::Nothing => None,
        }
    }

    /// The kinds of object that it is about.
    pub(super) fn kinds(&self) -> &'static [ObjectKind] {
        match self.subject {
            Subject::Objects(kinds) => kinds,
            _ => &[],
        }
    }

    /// The number of what tells its kinds apart.
    pub(super) fn type_selector(&self) -> Option<i32> {
        let (first, others) = self.kinds().split_first()?;
        (!others.is_empty())
            .then(|| first.row().type_)?
            .map(|type_| type_.selector)
    }

    /// Whether it sets attributes of objects.
    pub(super) fn sets(&self) -> bool {
        matches!(
            self.form,
            Form::Create | Form::Copy(_) | Form::Change | Form::Set
        )
    }

    /// The keyword of a text that an action has beside the name.
    pub(super) fn keyword(&self, id: i32) -> Option<&'static str> {
        let mut texts = TEXTS.iter();
        let found = texts.find(|(number, text, _)| (*number, *text) == (self.number, id));
        found.map(|(_, _, keyword)| *keyword)
    }

    /// The word for several attributes that its list of attributes may ask for at once.
    pub(super) fn group(&self, selector: i32) -> Option<&'static str> {
        let of_manager = self.number == mq::MQCMD_INQUIRE_Q_MGR;
        let mut groups = GROUPS.iter().filter(|_| of_manager);
        let found = groups.find(|(number, _)| *number == selector);
        found.map(|(_, word)| *word)
    }

    /// The keywords of what is in every answer, whatever its list of attributes asks for (manual: "Always returned"), beside
    /// what DISPLAY shows always.
    pub(super) fn always(&self) -> &'static [&'static str] {
        match self.number {
            mq::MQCMD_INQUIRE_SUBSCRIPTION => &["SUBID"],
            mq::MQCMD_INQUIRE_TOPIC => &["TYPE"],
            mq::MQCMD_INQUIRE_CHANNEL_STATUS => {
                &["RAPPLTAG", "RQMNAME", "STOPREQ", "SUBSTATE", "XMITQ"]
            }
            _ => &[],
        }
    }

    /// What an integer parameter that has words of its own adds to the command; `None`: it is none of these.
    pub(super) fn word(&self, parameter: &Parameter) -> Result<Option<&'static str>, Refusal> {
        let mut choices = self.choices.iter();
        let Some(choice) = choices.find(|choice| choice.id == parameter.id) else {
            return Ok(None);
        };
        let Value::Int(code) = parameter.value else {
            return Ok(None);
        };
        let mut words = choice.words.iter();
        match words.find(|(number, _)| *number == code) {
            Some((_, word)) => Ok(Some(word)),
            None => refused(choice.otherwise, choice.id),
        }
    }
}

/// Text as MQSC has it.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
