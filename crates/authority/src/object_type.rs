//! The types of object that authorities are about, and which of these apply to each.

use std::fmt;

use posthaste_mqi::constants as mq;

use crate::authority::{Authorities, Authority};

/// What every object of MQ has: it is created, deleted, changed and displayed.
const DEFINED: Authorities = Authorities::of(&[
    Authority::Create,
    Authority::Delete,
    Authority::Change,
    Authority::Display,
]);
const CONTEXT: Authorities = Authorities::of(&[
    Authority::PassIdentity,
    Authority::PassAll,
    Authority::SetIdentity,
    Authority::SetAll,
]);

macro_rules! types {
    ($($(#[doc = $doc:literal])* $name:ident = $code:ident, $word:literal, [$($other:literal)*], $has:expr;)*) => {
        /// A type of object.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ObjectType {
            $($(#[doc = $doc])* $name,)*
        }

        impl ObjectType {
            /// Every type.
            pub const ALL: [ObjectType; [$(mq::$code),*].len()] = [$(ObjectType::$name),*];

            /// Its `MQOT_` number.
            pub const fn code(self) -> i32 {
                match self {
                    $(ObjectType::$name => mq::$code,)*
                }
            }

            /// Its names in `setmqaut`: the long one, which MQSC has in upper case, and others.
            pub const fn names(self) -> &'static [&'static str] {
                match self {
                    $(ObjectType::$name => &[$word, $($other),*],)*
                }
            }

            /// The authorities that apply to it.
            pub fn applicable(self) -> Authorities {
                match self {
                    $(ObjectType::$name => $has,)*
                }
            }
        }
    };
}

types! {
    /// Authentication information.
    AuthInfo = MQOT_AUTH_INFO, "authinfo", [], DEFINED | Authority::Inquire.into();
    /// Channel of any type but client-connection.
    Channel = MQOT_CHANNEL, "channel", ["chl"], DEFINED | Authorities::of(&[Authority::Control, Authority::ControlExtended]);
    /// Client-connection channel.
    ClntConn = MQOT_CLNTCONN_CHANNEL, "clntconn", ["clcn"], DEFINED;
    /// Communication information.
    CommInfo = MQOT_COMM_INFO, "comminfo", [], DEFINED;
    /// Listener.
    Listener = MQOT_LISTENER, "listener", ["lstr"], DEFINED | Authority::Control.into();
    /// Namelist.
    Namelist = MQOT_NAMELIST, "namelist", ["nl"], DEFINED | Authority::Inquire.into();
    /// Process definition.
    Process = MQOT_PROCESS, "process", ["prcs"], DEFINED | Authorities::of(&[Authority::Inquire, Authority::Set]);
    /// Queue of any kind.
    Queue = MQOT_Q, "queue", ["q"], DEFINED | CONTEXT | Authorities::of(&[
        Authority::Get, Authority::Browse, Authority::Put, Authority::Inquire, Authority::Set, Authority::Clear,
    ]);
    /// The queue manager.
    QueueManager = MQOT_Q_MGR, "qmgr", [], DEFINED | Authorities::of(&[
        Authority::Connect, Authority::Inquire, Authority::Set, Authority::AlternateUser, Authority::SetIdentity,
        Authority::SetAll, Authority::Control, Authority::System,
    ]);
    /// The name of another queue manager.
    RemoteManager = MQOT_REMOTE_Q_MGR_NAME, "rqmname", ["rqmn"], Authority::Put.into();
    /// Service.
    Service = MQOT_SERVICE, "service", ["srvc"], DEFINED | Authority::Control.into();
    /// Topic.
    Topic = MQOT_TOPIC, "topic", ["top"], DEFINED | CONTEXT | Authorities::of(&[
        Authority::Publish, Authority::Subscribe, Authority::Resume, Authority::Clear, Authority::Control,
    ]);
}

impl ObjectType {
    /// Its name in `setmqaut`; MQSC has it in upper case.
    pub fn word(self) -> &'static str {
        self.names().first().copied().unwrap_or_default()
    }

    /// The type with an `MQOT_` number.
    pub fn with_code(code: i32) -> Option<ObjectType> {
        ObjectType::ALL.into_iter().find(|one| one.code() == code)
    }

    /// The type of a name, in any case.
    pub fn called(word: &str) -> Option<ObjectType> {
        let is = |one: &ObjectType| {
            one.names()
                .iter()
                .any(|name| name.eq_ignore_ascii_case(word))
        };
        ObjectType::ALL.into_iter().find(is)
    }
}

impl fmt::Display for ObjectType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_and_numbers_are_unique() {
        let codes: BTreeSet<i32> = ObjectType::ALL.into_iter().map(ObjectType::code).collect();
        assert_eq!(codes.len(), ObjectType::ALL.len());
        for one in ObjectType::ALL {
            assert_eq!(ObjectType::with_code(one.code()), Some(one));
            for name in one.names() {
                assert_eq!(ObjectType::called(&name.to_uppercase()), Some(one));
            }
        }
        assert_eq!(ObjectType::called("message"), None);
    }

    /// What the table "Specifying authorizations for different object types" has for two types.
    #[test]
    fn what_applies_is_what_the_manual_says() {
        let queue = ObjectType::Queue.applicable();
        assert_eq!(
            queue.to_string(),
            "browse, chg, clr, crt, dlt, dsp, get, inq, put, passall, passid, set, setall, setid"
        );
        let manager = ObjectType::QueueManager.applicable();
        assert_eq!(
            manager.to_string(),
            "altusr, chg, connect, crt, dlt, dsp, inq, set, setall, setid, ctrl, system"
        );
        for one in ObjectType::ALL {
            let defined = one.applicable().has(DEFINED);
            assert_eq!(defined, one != ObjectType::RemoteManager, "{one}");
        }
    }
}
