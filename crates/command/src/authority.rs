//! Commands about authority records, as they were read.

use posthaste_authority::{Authorities, Entity, ObjectType, Profile};

/// The component that decides, as MQ's `qm.ini` calls it.
pub const COMPONENT: &str = "MQSeries.UNIX.auth.service";

/// A command about authority records.
#[derive(Debug, Clone, PartialEq)]
pub enum AuthorityCommand {
    /// SET AUTHREC.
    Set {
        /// Which record.
        record: RecordName,
        /// AUTHADD.
        add: Authorities,
        /// AUTHRMV.
        remove: Authorities,
    },
    /// DELETE AUTHREC.
    Delete {
        /// Which record.
        record: RecordName,
    },
    /// DISPLAY AUTHREC.
    Records {
        /// PROFILE.
        profile: Option<Profile>,
        /// OBJTYPE.
        object_type: Option<ObjectType>,
        /// PRINCIPAL or GROUP.
        entity: Option<Entity>,
        /// MATCH.
        matching: Matching,
        /// The keywords asked for; empty for all.
        show: Vec<&'static str>,
    },
    /// DISPLAY ENTAUTH.
    Entity {
        /// Whose authorities on what.
        record: RecordName,
        /// The keywords asked for; empty for all.
        show: Vec<&'static str>,
    },
    /// DISPLAY AUTHSERV.
    Service {
        /// The keywords asked for; empty for all.
        show: Vec<&'static str>,
    },
    /// REFRESH SECURITY TYPE(AUTHSERV): who is in which group is asked anew.
    Refresh,
}

/// What tells an authority record from others.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordName {
    /// The names of the objects.
    pub profile: Profile,
    /// Their type.
    pub object_type: ObjectType,
    /// The user or group.
    pub entity: Entity,
}

/// MATCH of DISPLAY AUTHREC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Matching {
    /// Records of the entity itself whose profile is the one given, or matches the name given.
    #[default]
    Profile,
    /// Those of the user's groups besides.
    Membership,
    /// Records of the entity itself with exactly this profile.
    Exact,
}
