//! The kinds of object: one row each.
//!
//! A row says all that parser, displays, catalogue and stored form have to know of a kind; what its objects *do* is
//! the business of whoever runs them. Invariants (tested): nouns are unique, but for kinds that share one and are told
//! apart by a type; stored codes are unique, never 0, and a code keeps its meaning for ever; a kind's name space is
//! that of a kind with the same noun or the same group; every number of a message is in the table of messages.

use posthaste_authority::ObjectType;
use posthaste_mqi::constants as mq;
use std::fmt;

/// What tells the kinds that share a noun apart: `CHLTYPE(SVRCONN)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindType {
    /// The attribute that says it.
    pub selector: i32,
    /// Its word for this kind.
    pub word: &'static str,
    /// Its number for this kind.
    pub code: i32,
}

/// A word of DISPLAY, and the keywords that it asks for.
pub(crate) type Group = (&'static str, &'static [&'static str]);

/// The numbers of the messages about objects of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageIds {
    /// DEFINE was carried out.
    pub created: &'static str,
    /// ALTER was.
    pub changed: &'static str,
    /// DELETE was.
    pub deleted: &'static str,
    /// The headline of DISPLAY.
    pub shown: &'static str,
    /// There is one already.
    pub exists: &'static str,
    /// There is none.
    pub not_found: &'static str,
}

/// A kind of object.
#[derive(Debug)]
pub struct Kind {
    /// Nouns of its MQSC commands, the long one first.
    pub nouns: &'static [&'static str],
    /// What tells it from kinds with the same noun, or in the same DISPLAY.
    pub type_: Option<KindType>,
    /// What it is called in running text.
    pub describe: &'static str,
    /// The kind whose name space it is in: itself, unless it shares one.
    pub space: ObjectKind,
    /// The attribute that is its name.
    pub name: i32,
    /// The longest name, in bytes; it fits into two bytes.
    pub name_length: i32,
    /// Whether a name may have any character, and not those of the names of objects only.
    pub free_name: bool,
    /// Its code in stored definitions.
    pub stored: u8,
    /// The object whose attributes a definition without LIKE begins with; empty: there is none.
    pub default_object: &'static str,
    /// What is said about it.
    pub message_ids: MessageIds,
    /// Whether ALTER knows FORCE.
    pub force: bool,
    /// Whether DELETE knows PURGE.
    pub purge: bool,
    /// Whether DELETE knows AUTHREC.
    pub authrec: bool,
    /// Whether START and STOP are for it.
    pub started: bool,
}

/// The rows of the table: the kinds as an enumeration, and the row of each. Behind the bar are those that DEFINE does not
/// make.
macro_rules! kinds {
    (
        $($(#[doc = $doc:literal])* $kind:ident $(if $condition:meta)? = $row:expr;)*
        |
        $($(#[doc = $record_doc:literal])* $record:ident = $record_row:expr;)*
    ) => {
        /// The kinds of object that MQSC commands define, and of records that others set.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ObjectKind {
            $($(#[doc = $doc])* $(#[cfg($condition)])? $kind,)*
            $($(#[doc = $record_doc])* $record,)*
        }

        impl ObjectKind {
            /// Every kind that DEFINE makes (and the queue manager), in the order in which a definition script must
            /// create them.
            pub const ALL: [ObjectKind; [$($(#[cfg($condition)])? ObjectKind::$kind),*].len()] =
                [$($(#[cfg($condition)])? ObjectKind::$kind),*];

            /// Kinds of records that are kept as objects are, and that have commands of their own.
            pub const RECORDS: [ObjectKind; [$(ObjectKind::$record),*].len()] =
                [$(ObjectKind::$record),*];

            /// Its row.
            pub fn row(self) -> &'static Kind {
                match self {
                    $($(#[cfg($condition)])? ObjectKind::$kind => {
                        static ROW: Kind = $row;
                        &ROW
                    })*
                    $(ObjectKind::$record => {
                        static ROW: Kind = $record_row;
                        &ROW
                    })*
                }
            }
        }
    };
}

/// What is said about queues.
const QUEUE_MESSAGES: MessageIds = MessageIds {
    created: "AMQ8006I",
    changed: "AMQ8008I",
    deleted: "AMQ8007I",
    shown: "AMQ8409I",
    exists: "AMQ8150E",
    not_found: "AMQ8147E",
};

/// What is said about channels.
const CHANNEL_MESSAGES: MessageIds = MessageIds {
    created: "AMQ8014I",
    changed: "AMQ8016I",
    deleted: "AMQ8015I",
    shown: "AMQ8414I",
    exists: "AMQ8226E",
    not_found: "AMQ8227E",
};

/// A kind of queue.
const fn a_queue(
    nouns: &'static [&'static str],
    code: i32,
    stored: u8,
    describe: &'static str,
    default_object: &'static str,
) -> Kind {
    Kind {
        nouns,
        type_: Some(KindType {
            selector: mq::MQIA_Q_TYPE,
            word: first(nouns),
            code,
        }),
        describe,
        space: ObjectKind::QLocal,
        name: mq::MQCA_Q_NAME,
        name_length: mq::MQ_Q_NAME_LENGTH,
        free_name: false,
        stored,
        default_object,
        message_ids: QUEUE_MESSAGES,
        force: true,
        purge: code == mq::MQQT_LOCAL,
        authrec: true,
        started: false,
    }
}

/// A kind of channel; each has a name space of its own.
const fn a_channel(kind: ObjectKind, type_: KindType, stored: u8) -> Kind {
    Kind {
        nouns: &["CHANNEL", "CHL"],
        type_: Some(type_),
        describe: "",
        space: kind,
        name: mq::MQCACH_CHANNEL_NAME,
        name_length: mq::MQ_CHANNEL_NAME_LENGTH,
        free_name: false,
        stored,
        default_object: "",
        message_ids: CHANNEL_MESSAGES,
        force: false,
        purge: false,
        authrec: false,
        started: false,
    }
}

/// A type of authentication information; all are in one name space.
const fn an_authinfo(
    word: &'static str,
    code: i32,
    stored: u8,
    describe: &'static str,
    default_object: &'static str,
) -> Kind {
    Kind {
        nouns: &["AUTHINFO"],
        type_: Some(KindType {
            selector: mq::MQIA_AUTH_INFO_TYPE,
            word,
            code,
        }),
        describe,
        space: ObjectKind::AuthCrlLdap,
        name: mq::MQCA_AUTH_INFO_NAME,
        name_length: mq::MQ_AUTH_INFO_NAME_LENGTH,
        free_name: false,
        stored,
        default_object,
        message_ids: MessageIds {
            created: "AMQ8563I",
            changed: "AMQ8567I",
            deleted: "AMQ8564I",
            shown: "AMQ8566I",
            exists: "AMQ8150E",
            not_found: "AMQ8147E",
        },
        force: false,
        purge: false,
        authrec: false,
        started: false,
    }
}

/// A kind of object with a noun and a name space of its own, that is only defined.
const fn a_definition(kind: ObjectKind, nouns: &'static [&'static str], stored: u8) -> Kind {
    Kind {
        nouns,
        type_: None,
        describe: "",
        space: kind,
        name: 0,
        name_length: mq::MQ_OBJECT_NAME_LENGTH,
        free_name: false,
        stored,
        default_object: "",
        message_ids: QUEUE_MESSAGES,
        force: false,
        purge: false,
        authrec: false,
        started: false,
    }
}

/// A type of channel authentication record. Its name, which nobody is shown, says what it is about.
const fn a_chlauth(word: &'static str, code: i32, stored: u8, describe: &'static str) -> Kind {
    Kind {
        type_: Some(KindType {
            selector: mq::MQIACF_CHLAUTH_TYPE,
            word,
            code,
        }),
        describe,
        name: mq::MQCACH_CHANNEL_NAME,
        name_length: 10_240,
        free_name: true,
        message_ids: MessageIds {
            created: "AMQ8877I",
            changed: "AMQ8877I",
            deleted: "AMQ8877I",
            shown: "AMQ8878I",
            exists: "AMQ2440E",
            not_found: "AMQ8884E",
        },
        ..a_definition(ObjectKind::ChlBlockUser, &["CHLAUTH"], stored)
    }
}

const fn first(words: &[&'static str]) -> &'static str {
    match words {
        [first, ..] => first,
        [] => "",
    }
}

kinds! {
    /// The queue manager itself; there is exactly one.
    Qmgr = Kind {
        nouns: &["QMGR"],
        type_: None,
        describe: "queue manager",
        space: ObjectKind::Qmgr,
        name: mq::MQCA_Q_MGR_NAME,
        name_length: mq::MQ_Q_MGR_NAME_LENGTH,
        free_name: false,
        stored: 1,
        default_object: "",
        message_ids: MessageIds {
            created: "AMQ8005I",
            changed: "AMQ8005I",
            deleted: "AMQ8005I",
            shown: "AMQ8408I",
            exists: "AMQ8150E",
            not_found: "AMQ8147E",
        },
        force: true,
        purge: false,
        authrec: false,
        started: false,
    };
    /// Local queue: holds messages.
    QLocal = a_queue(&["QLOCAL", "QL"], mq::MQQT_LOCAL, 2, "local queue", "SYSTEM.DEFAULT.LOCAL.QUEUE");
    /// Model queue: the pattern for dynamic queues.
    QModel = a_queue(&["QMODEL", "QM"], mq::MQQT_MODEL, 3, "model queue", "SYSTEM.DEFAULT.MODEL.QUEUE");
    /// Alias queue: another name for a queue.
    QAlias = a_queue(&["QALIAS", "QA"], mq::MQQT_ALIAS, 4, "alias queue", "SYSTEM.DEFAULT.ALIAS.QUEUE");
    /// Local definition of a remote queue.
    QRemote = a_queue(
        &["QREMOTE", "QR"], mq::MQQT_REMOTE, 5, "remote queue definition", "SYSTEM.DEFAULT.REMOTE.QUEUE",
    );
    /// Server-connection channel.
    SvrConn = Kind {
        describe: "server-connection channel",
        default_object: "SYSTEM.DEF.SVRCONN",
        started: true,
        ..a_channel(
            ObjectKind::SvrConn,
            KindType { selector: mq::MQIACH_CHANNEL_TYPE, word: "SVRCONN", code: mq::MQCHT_SVRCONN },
            6,
        )
    };
    /// Client-connection channel: what clients are to use.
    ClntConn = Kind {
        describe: "client-connection channel",
        default_object: "SYSTEM.DEF.CLNTCONN",
        ..a_channel(
            ObjectKind::ClntConn,
            KindType { selector: mq::MQIACH_CHANNEL_TYPE, word: "CLNTCONN", code: mq::MQCHT_CLNTCONN },
            8,
        )
    };
    /// Listener.
    Listener = Kind {
        describe: "listener",
        name: mq::MQCACH_LISTENER_NAME,
        name_length: mq::MQ_LISTENER_NAME_LENGTH,
        default_object: "SYSTEM.DEFAULT.LISTENER.TCP",
        message_ids: MessageIds {
            created: "AMQ8626I",
            changed: "AMQ8627I",
            deleted: "AMQ8628I",
            shown: "AMQ8630I",
            exists: "AMQ8150E",
            not_found: "AMQ8147E",
        },
        started: true,
        ..a_definition(ObjectKind::Listener, &["LISTENER", "LSTR"], 7)
    };
    /// Namelist: a list of names.
    Namelist = Kind {
        describe: "namelist",
        name: mq::MQCA_NAMELIST_NAME,
        default_object: "SYSTEM.DEFAULT.NAMELIST",
        message_ids: MessageIds {
            created: "AMQ8552I",
            changed: "AMQ8551I",
            deleted: "AMQ8553I",
            shown: "AMQ8550I",
            exists: "AMQ8150E",
            not_found: "AMQ8147E",
        },
        ..a_definition(ObjectKind::Namelist, &["NAMELIST", "NL"], 9)
    };
    /// Process definition: what a trigger monitor starts.
    Process = Kind {
        describe: "process definition",
        name: mq::MQCA_PROCESS_NAME,
        default_object: "SYSTEM.DEFAULT.PROCESS",
        message_ids: MessageIds {
            created: "AMQ8010I",
            changed: "AMQ8012I",
            deleted: "AMQ8011I",
            shown: "AMQ8407I",
            exists: "AMQ8150E",
            not_found: "AMQ8147E",
        },
        ..a_definition(ObjectKind::Process, &["PROCESS", "PRO"], 10)
    };
    /// Authentication information: an LDAP server with lists of revoked certificates.
    AuthCrlLdap = an_authinfo(
        "CRLLDAP",
        mq::MQAIT_CRL_LDAP,
        11,
        "authentication information about revoked certificates",
        "SYSTEM.DEFAULT.AUTHINFO.CRLLDAP",
    );
    /// Authentication information: a server that tells whether a certificate is revoked.
    AuthOcsp = an_authinfo(
        "OCSP",
        mq::MQAIT_OCSP,
        12,
        "authentication information about an OCSP responder",
        "SYSTEM.DEFAULT.AUTHINFO.OCSP",
    );
    /// Authentication information: users and passwords of the operating system.
    AuthIdpwOs = an_authinfo(
        "IDPWOS",
        mq::MQAIT_IDPW_OS,
        13,
        "authentication information about users of the operating system",
        "SYSTEM.DEFAULT.AUTHINFO.IDPWOS",
    );
    /// Authentication information: users and passwords of an LDAP server.
    AuthIdpwLdap = an_authinfo(
        "IDPWLDAP",
        mq::MQAIT_IDPW_LDAP,
        14,
        "authentication information about users of an LDAP server",
        "SYSTEM.DEFAULT.AUTHINFO.IDPWLDAP",
    );
    /// Communication information: how topics would be multicast.
    CommInfo = Kind {
        describe: "communication information",
        name: mq::MQCA_COMM_INFO_NAME,
        default_object: "SYSTEM.DEFAULT.COMMINFO.MULTICAST",
        message_ids: MessageIds {
            created: "AMQ8858I",
            changed: "AMQ8859I",
            deleted: "AMQ8860I",
            shown: "AMQ8861I",
            exists: "AMQ8150E",
            not_found: "AMQ8147E",
        },
        ..a_definition(ObjectKind::CommInfo, &["COMMINFO"], 15)
    };
    /// Service: a program that the queue manager starts and ends.
    Service = Kind {
        describe: "service",
        name: mq::MQCA_SERVICE_NAME,
        default_object: "SYSTEM.DEFAULT.SERVICE",
        message_ids: MessageIds {
            created: "AMQ8625I",
            changed: "AMQ8623I",
            deleted: "AMQ8624I",
            shown: "AMQ8629I",
            exists: "AMQ8150E",
            not_found: "AMQ8147E",
        },
        started: true,
        ..a_definition(ObjectKind::Service, &["SERVICE"], 16)
    };
    /// Topic object: what holds for a topic string, and below it.
    Topic = Kind {
        describe: "topic",
        name: mq::MQCA_TOPIC_NAME,
        default_object: "SYSTEM.DEFAULT.TOPIC",
        message_ids: MessageIds {
            created: "AMQ8690I",
            changed: "AMQ8691I",
            deleted: "AMQ8692I",
            shown: "AMQ8633I",
            exists: "AMQ8150E",
            not_found: "AMQ8147E",
        },
        authrec: true,
        ..a_definition(ObjectKind::Topic, &["TOPIC"], 17)
    };
    /// Durable subscription: what is published on topics goes to a queue.
    Sub = Kind {
        describe: "subscription",
        name: mq::MQCACF_SUB_NAME,
        name_length: mq::MQ_SUB_NAME_LENGTH,
        free_name: true,
        default_object: "SYSTEM.DEFAULT.SUB",
        message_ids: MessageIds {
            created: "AMQ8094I",
            changed: "AMQ8095I",
            deleted: "AMQ8097I",
            shown: "AMQ8096I",
            exists: "AMQ8150E",
            not_found: "AMQ8147E",
        },
        ..a_definition(ObjectKind::Sub, &["SUB"], 18)
    };
    /// A kind that only tests have, added as CONTRIBUTING says: this row, and the file of its attributes.
    Sample if any(test, feature = "sample-kind") = Kind {
        describe: "sample",
        name: 900_000,
        name_length: 10_240,
        ..a_definition(ObjectKind::Sample, &["SAMPLE", "SMP"], 255)
    };
    |
    /// Channel authentication record that blocks users.
    ChlBlockUser = a_chlauth("BLOCKUSER", 1, 20, "channel authentication record that blocks users");
    /// Channel authentication record that blocks addresses.
    ChlBlockAddr = a_chlauth("BLOCKADDR", 2, 21, "channel authentication record that blocks addresses");
    /// Channel authentication record about names of certificates.
    ChlSslPeerMap = a_chlauth("SSLPEERMAP", 3, 22, "channel authentication record about names of certificates");
    /// Channel authentication record about addresses.
    ChlAddressMap = a_chlauth("ADDRESSMAP", 4, 23, "channel authentication record about addresses");
    /// Channel authentication record about users of clients.
    ChlUserMap = a_chlauth("USERMAP", 5, 24, "channel authentication record about users of clients");
    /// Channel authentication record about queue managers.
    ChlQmgrMap = a_chlauth("QMGRMAP", 6, 25, "channel authentication record about queue managers");
    /// Authority record: what a user or a group may do. Its name says type of object, entity and profile.
    AuthRec = Kind {
        describe: "authority record",
        name_length: 1_200,
        free_name: true,
        message_ids: MessageIds {
            created: "AMQ8862I",
            changed: "AMQ8862I",
            deleted: "AMQ8863I",
            shown: "AMQ8864I",
            exists: "AMQ8150E",
            not_found: "AMQ2430E",
        },
        ..a_definition(ObjectKind::AuthRec, &["AUTHREC"], 19)
    };
}

impl ObjectKind {
    /// The four kinds of queue.
    pub const QUEUES: [ObjectKind; 4] = [
        ObjectKind::QLocal,
        ObjectKind::QModel,
        ObjectKind::QAlias,
        ObjectKind::QRemote,
    ];

    /// The six types of channel authentication record.
    pub const CHLAUTH: [ObjectKind; 6] = [
        ObjectKind::ChlBlockUser,
        ObjectKind::ChlBlockAddr,
        ObjectKind::ChlSslPeerMap,
        ObjectKind::ChlAddressMap,
        ObjectKind::ChlUserMap,
        ObjectKind::ChlQmgrMap,
    ];

    /// The noun of an MQSC command that defines the kind, for example `QLOCAL`.
    pub fn noun(self) -> &'static str {
        first(self.row().nouns)
    }

    /// The kinds that a noun may mean; the first is meant when nothing tells them apart.
    pub fn with_noun(word: &str) -> Vec<ObjectKind> {
        let has = |kind: &ObjectKind| {
            let mut nouns = kind.row().nouns.iter();
            nouns.any(|noun| noun.eq_ignore_ascii_case(word))
        };
        ObjectKind::ALL.into_iter().filter(has).collect()
    }

    /// The kind with a code in stored definitions.
    pub fn stored_as(code: u8) -> Option<ObjectKind> {
        let mut all = ObjectKind::ALL.into_iter().chain(ObjectKind::RECORDS);
        all.find(|kind| kind.row().stored == code)
    }

    /// The type of object whose authorities are for it.
    pub fn object_type(self) -> ObjectType {
        match self {
            ObjectKind::QLocal | ObjectKind::QModel | ObjectKind::QAlias | ObjectKind::QRemote => {
                ObjectType::Queue
            }
            ObjectKind::SvrConn => ObjectType::Channel,
            ObjectKind::ClntConn => ObjectType::ClntConn,
            ObjectKind::Listener => ObjectType::Listener,
            ObjectKind::Namelist => ObjectType::Namelist,
            ObjectKind::Process => ObjectType::Process,
            ObjectKind::AuthCrlLdap
            | ObjectKind::AuthOcsp
            | ObjectKind::AuthIdpwOs
            | ObjectKind::AuthIdpwLdap => ObjectType::AuthInfo,
            ObjectKind::CommInfo => ObjectType::CommInfo,
            ObjectKind::Service => ObjectType::Service,
            // A subscription has those of its topic.
            ObjectKind::Topic | ObjectKind::Sub => ObjectType::Topic,
            // Whoever administers the queue manager sets these records.
            ObjectKind::Qmgr
            | ObjectKind::AuthRec
            | ObjectKind::ChlBlockUser
            | ObjectKind::ChlBlockAddr
            | ObjectKind::ChlSslPeerMap
            | ObjectKind::ChlAddressMap
            | ObjectKind::ChlUserMap
            | ObjectKind::ChlQmgrMap => ObjectType::QueueManager,
            #[cfg(any(test, feature = "sample-kind"))]
            ObjectKind::Sample => ObjectType::QueueManager,
        }
    }

    /// What the kind is called in running text, for example `local queue`.
    pub fn describe(self) -> &'static str {
        self.row().describe
    }

    /// Whether it is one of the four kinds of queue, which share one name space.
    pub fn is_queue(self) -> bool {
        self.row().space == ObjectKind::QLocal
    }

    /// The longest name, in bytes.
    pub fn name_length(self) -> usize {
        self.row().name_length as usize
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages;
    use crate::table::{attributes, by_selector};
    use std::collections::BTreeSet;

    #[test]
    fn nouns_and_codes_are_unique() {
        let mut codes = BTreeSet::new();
        for kind in ObjectKind::ALL {
            let row = kind.row();
            assert!(
                row.stored > 0 && codes.insert(row.stored),
                "{kind}: stored code"
            );
            assert_eq!(ObjectKind::stored_as(row.stored), Some(kind));
            assert!(!row.nouns.is_empty(), "{kind}");
            for noun in row.nouns {
                let meant = ObjectKind::with_noun(&noun.to_lowercase());
                assert!(meant.contains(&kind), "{noun}");
                let same = meant.iter().all(|other| other.row().nouns == row.nouns);
                assert!(same, "{noun} is also another kind's");
                let types: BTreeSet<_> = meant
                    .iter()
                    .map(|kind| kind.row().type_.map(|type_| (type_.selector, type_.code)))
                    .collect();
                assert_eq!(
                    types.len(),
                    meant.len(),
                    "{noun}: kinds that nothing tells apart"
                );
            }
        }
        for kind in ObjectKind::RECORDS {
            let row = kind.row();
            assert!(codes.insert(row.stored), "{kind}: stored code");
            assert_eq!(ObjectKind::stored_as(row.stored), Some(kind));
            let noun = kind.noun();
            assert!(ObjectKind::with_noun(noun).is_empty(), "DEFINE {noun}");
        }
        assert_eq!(ObjectKind::stored_as(0), None);
    }

    /// For ever: definitions are stored under them.
    #[test]
    fn stored_codes_keep_their_meaning() {
        use ObjectKind::*;
        let codes = [
            (Qmgr, 1),
            (QLocal, 2),
            (QModel, 3),
            (QAlias, 4),
            (QRemote, 5),
            (SvrConn, 6),
            (Listener, 7),
            (ClntConn, 8),
            (Namelist, 9),
            (Process, 10),
            (AuthCrlLdap, 11),
            (AuthOcsp, 12),
            (AuthIdpwOs, 13),
            (AuthIdpwLdap, 14),
            (CommInfo, 15),
            (Service, 16),
            (Topic, 17),
            (Sub, 18),
            (AuthRec, 19),
            (ChlBlockUser, 20),
            (ChlBlockAddr, 21),
            (ChlSslPeerMap, 22),
            (ChlAddressMap, 23),
            (ChlUserMap, 24),
            (ChlQmgrMap, 25),
        ];
        let all = ObjectKind::ALL.into_iter().chain(ObjectKind::RECORDS);
        for kind in all.filter(|kind| *kind != Sample) {
            let known = codes.iter().find(|(known, _)| *known == kind);
            let stored = (kind, kind.row().stored);
            assert_eq!(known, Some(&stored), "a new kind's code is listed here");
        }
    }

    #[test]
    fn rows_name_attributes_and_messages_that_there_are() {
        for kind in ObjectKind::ALL {
            let row = kind.row();
            let name = by_selector(kind, row.name).unwrap_or_else(|| panic!("{kind} has no name"));
            assert_eq!(name.char_length, kind.name_length(), "{kind}");
            assert!(u16::try_from(kind.name_length()).is_ok(), "{kind}");
            let heads = row.space.row();
            assert_eq!(
                heads.space, row.space,
                "{kind}: the name space of a name space"
            );
            assert_eq!(heads.name, row.name, "{kind}: names of two kinds");
            if let Some(type_) = row.type_ {
                let attribute = by_selector(kind, type_.selector).expect("its type");
                assert_eq!(attribute.code_of(type_.word), Some(type_.code), "{kind}");
            }
            let message_ids = row.message_ids;
            for id in [
                message_ids.created,
                message_ids.changed,
                message_ids.deleted,
                message_ids.shown,
                message_ids.exists,
                message_ids.not_found,
            ] {
                assert!(messages::find(id).is_some(), "{kind}: {id}");
            }
            assert!(attributes(kind).count() > 5, "{kind}");
        }
    }
}
