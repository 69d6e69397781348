//! Commands about channel authentication records (manual: "SET CHLAUTH", "DISPLAY CHLAUTH").
//!
//! Records are kept as objects are, under a name that says what they are about; the profile that commands name is an attribute.

use crate::kinds::ObjectKind;
use crate::object::Object;
use posthaste_mqi::constants as mq;

/// USERSRC, by number.
pub const SOURCE_MAP: i32 = 0;
/// USERSRC(NOACCESS).
pub const SOURCE_NO_ACCESS: i32 = 1;
/// USERSRC(CHANNEL).
pub const SOURCE_CHANNEL: i32 = 2;

/// ACTION of SET CHLAUTH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChlAuthAction {
    /// ADD: a record that is new, or more items for a list.
    Add,
    /// REPLACE: a record, new or in the place of what there is.
    Replace,
    /// REMOVE: one record, or items of a list.
    Remove,
    /// REMOVEALL: every record of the type with the profile.
    RemoveAll,
}

impl ChlAuthAction {
    /// Each with its word.
    pub const ALL: [(&'static str, ChlAuthAction); 4] = [
        ("ADD", ChlAuthAction::Add),
        ("REPLACE", ChlAuthAction::Replace),
        ("REMOVE", ChlAuthAction::Remove),
        ("REMOVEALL", ChlAuthAction::RemoveAll),
    ];
}

/// MATCH of DISPLAY CHLAUTH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChlAuthMatch {
    /// GENERIC: records whose profile the given one, with its asterisks, matches.
    Generic,
    /// EXACT: records with the very profile.
    Exact,
    /// ALL: records whose profile has a channel's name in common with the given one.
    All,
    /// RUNCHECK: what would happen to a partner.
    RunCheck(Box<RunCheck>),
}

/// Whom MATCH(RUNCHECK) asks about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunCheck {
    /// ADDRESS.
    pub address: String,
    /// CLNTUSER.
    pub user: Option<String>,
    /// QMNAME.
    pub queue_manager: Option<String>,
    /// SSLPEER: the name of its certificate.
    pub peer: Option<String>,
    /// SSLCERTI: who issued that.
    pub issuer: Option<String>,
}

/// Whether it is a kind of channel authentication record.
pub fn is_chlauth(kind: ObjectKind) -> bool {
    ObjectKind::CHLAUTH.contains(&kind)
}

/// Whether an attribute of a record means something, with what the record says otherwise: MCAUSER only where USERSRC(MAP) uses
/// it, WARN only where something is blocked, CHCKCLNT only where somebody is let in.
pub fn is_relevant(record: &Object, selector: i32) -> bool {
    let maps = !matches!(
        record.kind,
        ObjectKind::ChlBlockUser | ObjectKind::ChlBlockAddr
    );
    let source = record.attrs.int(mq::MQIACH_USER_SOURCE);
    match selector {
        mq::MQCACH_MCA_USER_ID => source == SOURCE_MAP,
        mq::MQIACH_WARNING => !maps || source == SOURCE_NO_ACCESS,
        mq::MQIA_CHECK_CLIENT_BINDING => source != SOURCE_NO_ACCESS,
        _ => true,
    }
}
