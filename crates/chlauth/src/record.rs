//! Channel authentication records, as what they say.
//!
//! Invariant: records that are about the same partners have the same key, and other records have other keys.

use std::fmt;

use crate::address::AddressPattern;
use crate::pattern::Pattern;
use crate::peer_name::PeerPattern;

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The channels that it is about.
    pub profile: Pattern,
    /// What it says of them.
    pub rule: Rule,
    /// WARN(YES): what it forbids is told, and happens.
    pub warn: bool,
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// BLOCKUSER: as these users, or as an administrator (`*MQADMIN`), nobody runs.
    BlockUsers(Vec<String>),
    /// BLOCKADDR: from these addresses nobody comes.
    BlockAddresses(Vec<AddressPattern>),
    /// The other types: as whom partners run.
    Map(Map),
}

/// As whom partners run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// Which partners.
    pub whom: Whom,
    /// From where; none is from anywhere.
    pub address: Option<AddressPattern>,
    /// As whom.
    pub source: UserSource,
    /// CHCKCLNT.
    pub check: CheckClient,
}

/// Which partners a record is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whom {
    /// ADDRESSMAP: whoever comes from the address.
    Anybody,
    /// USERMAP: a client of this user.
    User(String),
    /// QMGRMAP: queue managers of such names.
    QueueManager(Pattern),
    /// SSLPEERMAP: whose certificate has such a name, and such an issuer.
    Peer(PeerPattern, Option<PeerPattern>),
}

/// USERSRC: as whom partners run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserSource {
    /// MAP: as MCAUSER of the record.
    Map(String),
    /// CHANNEL: as without the record.
    Channel,
    /// NOACCESS: as nobody.
    NoAccess,
}

/// CHCKCLNT: whether clients must give a password.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckClient {
    /// As the queue manager says (CONNAUTH).
    #[default]
    AsQueueManager,
    /// They must.
    Required,
    /// Those must who run as an administrator.
    RequiredOfAdministrators,
}

/// Stands in a list of blocked users for all administrators.
pub const ADMINISTRATORS: &str = "*MQADMIN";

impl Record {
    /// What tells it from other records, as parameters of SET CHLAUTH.
    pub fn key(&self) -> String {
        let mut key = format!("CHLAUTH({})", quoted(&self.profile));
        let mut add = |keyword: &str, value: &dyn fmt::Display| {
            key.push_str(&format!(" {keyword}({})", quoted(value)));
        };
        let map = match &self.rule {
            Rule::BlockUsers(_) => return format!("{key} TYPE(BLOCKUSER)"),
            Rule::BlockAddresses(_) => return format!("{key} TYPE(BLOCKADDR)"),
            Rule::Map(map) => map,
        };
        match &map.whom {
            Whom::Anybody => {}
            Whom::User(user) => add("CLNTUSER", user),
            Whom::QueueManager(name) => add("QMNAME", name),
            Whom::Peer(name, issuer) => {
                add("SSLPEER", name);
                if let Some(issuer) = issuer {
                    add("SSLCERTI", issuer);
                }
            }
        }
        if let Some(address) = &map.address {
            add("ADDRESS", address);
        }
        let type_ = match &map.whom {
            Whom::Anybody => "ADDRESSMAP",
            Whom::User(_) => "USERMAP",
            Whom::QueueManager(_) => "QMGRMAP",
            Whom::Peer(..) => "SSLPEERMAP",
        };
        format!("{key} TYPE({type_})")
    }

    /// What it says of as whom partners run; none: it blocks.
    pub fn map(&self) -> Option<&Map> {
        match &self.rule {
            Rule::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Whether both say as whom the same kind of partners run, at the same channels, by ranges of addresses that overlap.
    pub fn conflicts(&self, other: &Record) -> bool {
        let (Some(ours), Some(theirs)) = (self.map(), other.map()) else {
            return false;
        };
        let alike = self.profile == other.profile && ours.whom == theirs.whom;
        match (&ours.address, &theirs.address) {
            (Some(a), Some(b)) => alike && a.conflicts(b),
            _ => false,
        }
    }
}

fn quoted(value: &dyn fmt::Display) -> String {
    format!("'{}'", value.to_string().replace('\'', "''"))
}
