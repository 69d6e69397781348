//! What an identifier names.
//!
//! A name without a folder is one of the folder `usr`; `Root.MQMD.` is in front of the fields of the message descriptor;
//! names that begin with `JMS` are those of JMS headers and of IBM's JMS library, each a synonym for what carries it. Others
//! that begin so are of what no message has, as they are to that library where it selects itself.
//!
//! Invariant: a [`Name`] is one that a property may have: words of letters and digits with single periods between them,
//! none of them reserved.

/// What a selector asks of a message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// A header of JMS.
    Jms(Jms),
    /// A field of the message descriptor (`Root.MQMD.`).
    Descriptor(Descriptor),
    /// What IBM's JMS library makes of several fields, or takes from a header in front of the data (`JMS_IBM_`).
    Provider(Provider),
    /// A name of JMS that no message has anything under.
    Unset(Box<str>),
    /// A property: the folder that it is in, and its name there, with a period between levels.
    Property {
        /// The folder.
        folder: Box<str>,
        /// The name in it.
        path: Box<str>,
    },
}

macro_rules! names {
    ($(#[$doc:meta])* $type:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $(#[doc = concat!("`", $text, "`.")] $variant),*
        }

        impl $type {
            /// All of them.
            pub const ALL: &[$type] = &[$($type::$variant),*];

            /// As it is written.
            pub fn text(self) -> &'static str {
                match self { $($type::$variant => $text),* }
            }

            fn named(text: &str) -> Option<$type> {
                Self::ALL.iter().copied().find(|name| name.text() == text)
            }
        }
    };
}

names! {
    /// Headers of JMS that have a name in a selector.
    Jms {
        CorrelationId = "JMSCorrelationID",
        DeliveryMode = "JMSDeliveryMode",
        Destination = "JMSDestination",
        Expiration = "JMSExpiration",
        MessageId = "JMSMessageID",
        Priority = "JMSPriority",
        Redelivered = "JMSRedelivered",
        ReplyTo = "JMSReplyTo",
        Timestamp = "JMSTimestamp",
        Type = "JMSType",
        AppId = "JMSXAppID",
        DeliveryCount = "JMSXDeliveryCount",
        GroupId = "JMSXGroupID",
        GroupSeq = "JMSXGroupSeq",
        UserId = "JMSXUserID",
    }
}

names! {
    /// Fields of the message descriptor that have a name in a selector.
    Descriptor {
        Report = "Report",
        MsgType = "MsgType",
        Expiry = "Expiry",
        Feedback = "Feedback",
        Encoding = "Encoding",
        CodedCharSetId = "CodedCharSetId",
        Format = "Format",
        Priority = "Priority",
        Persistence = "Persistence",
        MsgId = "MsgId",
        CorrelId = "CorrelId",
        BackoutCount = "BackoutCount",
        ReplyToQ = "ReplyToQ",
        ReplyToQMgr = "ReplyToQMgr",
        UserIdentifier = "UserIdentifier",
        AccountingToken = "AccountingToken",
        ApplIdentityData = "ApplIdentityData",
        PutApplType = "PutApplType",
        PutApplName = "PutApplName",
        PutDate = "PutDate",
        PutTime = "PutTime",
        ApplOriginData = "ApplOriginData",
        GroupId = "GroupId",
        MsgSeqNumber = "MsgSeqNumber",
        Offset = "Offset",
        MsgFlags = "MsgFlags",
        OriginalLength = "OriginalLength",
    }
}

names! {
    /// Properties of IBM's JMS library that are not one field of the message descriptor.
    Provider {
        Format = "JMS_IBM_Format",
        Encoding = "JMS_IBM_Encoding",
        LastMsgInGroup = "JMS_IBM_Last_Msg_In_Group",
        Exception = "JMS_IBM_Report_Exception",
        Expiration = "JMS_IBM_Report_Expiration",
        Coa = "JMS_IBM_Report_COA",
        Cod = "JMS_IBM_Report_COD",
        Pan = "JMS_IBM_Report_PAN",
        Nan = "JMS_IBM_Report_NAN",
        PassMsgId = "JMS_IBM_Report_Pass_Msg_ID",
        PassCorrelId = "JMS_IBM_Report_Pass_Correl_ID",
        DiscardMsg = "JMS_IBM_Report_Discard_Msg",
    }
}

impl Descriptor {
    /// Whether the field is of characters, filled up with blanks.
    fn is_of_characters(self) -> bool {
        use Descriptor::*;
        matches!(
            self,
            Format
                | ReplyToQ
                | ReplyToQMgr
                | UserIdentifier
                | ApplIdentityData
                | PutApplName
                | PutDate
                | PutTime
                | ApplOriginData
        )
    }
}

/// Words of the language, which are no names however they are written.
const KEYWORDS: [&str; 11] = [
    "NULL", "TRUE", "FALSE", "NOT", "AND", "OR", "BETWEEN", "LIKE", "IN", "IS", "ESCAPE",
];

pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(word))
}

impl Name {
    /// What a text means that this is compared with: identifiers have small letters, and fields of characters no blanks at
    /// their end.
    pub(crate) fn settled(&self, text: Box<str>) -> Box<str> {
        let is_hexadecimal = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
        match (self, &*text) {
            (Name::Jms(Jms::MessageId | Jms::CorrelationId), id)
                if id.strip_prefix("ID:").is_some_and(is_hexadecimal) =>
            {
                format!("ID:{}", id[3..].to_ascii_lowercase()).into()
            }
            _ => self.trimmed(text),
        }
    }

    /// A text that this is compared with, without blanks that do not count.
    fn trimmed(&self, text: Box<str>) -> Box<str> {
        let is_filled_up = match self {
            Name::Jms(name) => matches!(name, Jms::AppId | Jms::UserId),
            Name::Descriptor(field) => field.is_of_characters(),
            Name::Provider(name) => *name == Provider::Format,
            Name::Unset(_) | Name::Property { .. } => false,
        };
        match is_filled_up && text.ends_with(' ') {
            true => text.trim_end_matches(' ').into(),
            false => text,
        }
    }

    /// What a name that begins with `JMS` is; without a period it is always one.
    fn of_jms(identifier: &str) -> Option<Name> {
        if identifier.contains('.') {
            return None;
        }
        let field = identifier
            .strip_prefix("JMS_IBM_")
            .and_then(|field| match field {
                "MsgType" | "Feedback" | "PutApplType" | "PutDate" | "PutTime" => Some(field),
                _ => field.strip_prefix("MQMD_"),
            });
        let known = Jms::named(identifier).map(Name::Jms);
        let known = known.or_else(|| Provider::named(identifier).map(Name::Provider));
        let known = known.or_else(|| Descriptor::named(field?).map(Name::Descriptor));
        Some(known.unwrap_or_else(|| Name::Unset(identifier.into())))
    }

    /// The name that an identifier is; none where no property may be called so.
    pub fn new(identifier: &str) -> Option<Name> {
        let levels = || identifier.split('.');
        let is_word = |word: &str| {
            let mut letters = word.chars();
            let first = letters.next();
            first.is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$'))
                && letters.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
        };
        // Characters beyond the Basic Multilingual Plane are in no property's name.
        if !levels().all(is_word) || identifier.chars().any(|c| c > '\u{ffff}') {
            return None;
        }
        if let Some(field) = identifier.strip_prefix("Root.MQMD.") {
            return Descriptor::named(field).map(Name::Descriptor);
        }
        let (folder, path) = identifier.split_once('.').unwrap_or(("usr", identifier));
        if matches!(folder, "Root" | "Body") || folder == "usr" && is_keyword(path) {
            return None;
        }
        if folder.starts_with("JMS") || folder == "usr" && path.starts_with("JMS") {
            // Not with the folder in front.
            return Name::of_jms(identifier);
        }
        let is_mq = folder
            .get(..2)
            .is_some_and(|p| p.eq_ignore_ascii_case("mq"));
        if is_mq && !folder.starts_with("mq_usr") && path.contains('.') {
            return None;
        }
        Some(Name::Property {
            folder: folder.into(),
            path: path.into(),
        })
    }
}
