//! Entities and what is granted to them.

use crate::authority::Authorities;
use crate::object_type::ObjectType;
use crate::profile::Profile;

use posthaste_mqi::constants as mq;

/// The longest name of a user or a group, in bytes (`MQ_ENTITY_NAME_LENGTH`).
pub const LONGEST_ENTITY: usize = mq::MQ_ENTITY_NAME_LENGTH as usize;

/// What an entity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntityKind {
    /// A user.
    Principal,
    /// A group of users.
    Group,
}

/// Who may do something: a user or a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entity {
    /// What it is.
    pub kind: EntityKind,
    /// Its name.
    pub name: Box<str>,
}

impl Entity {
    /// A user.
    pub fn principal(name: &str) -> Entity {
        Entity {
            kind: EntityKind::Principal,
            name: name.into(),
        }
    }

    /// A group.
    pub fn group(name: &str) -> Entity {
        Entity {
            kind: EntityKind::Group,
            name: name.into(),
        }
    }

    /// Whether a user or a group can be called so.
    pub fn can_be_called(name: &str) -> bool {
        let length = 1..=LONGEST_ENTITY;
        // Groups of directories have blanks in their names.
        let clean = !name.chars().any(char::is_control) && name.trim() == name;
        length.contains(&name.len()) && clean
    }
}

/// What an entity may do with the objects of a type that a profile stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The objects' names.
    pub profile: Profile,
    /// Their type.
    pub object_type: ObjectType,
    /// Who.
    pub entity: Entity,
    /// What; of the type's only.
    pub authorities: Authorities,
}
