//! The users of this machine, as the server asks for them, and two more whom only this knows.

use std::future::ready;
use std::sync::Arc;

use posthaste_authentication::{is_group, system_user};
use posthaste_authority::{Entity, EntityKind, Identity};
use posthaste_engine::{Looking, Users};

/// Administers, and the system does not know him.
pub(crate) const BOSS: &str = "no-such-boss";
/// About whom nobody can say anything.
pub(crate) const UNABLE: &str = "nobody-says";

pub(crate) struct SystemUsers;

impl Users for SystemUsers {
    fn identity<'a>(&'a self, user: &'a str) -> Looking<'a, Option<Arc<Identity>>> {
        Box::pin(ready(self.known_identity(user)))
    }

    fn known_identity(&self, user: &str) -> Option<Arc<Identity>> {
        let found = system_user(user).filter(|_| user != UNABLE)?;
        let groups = found.groups.into_iter().map(String::into_boxed_str);
        Some(Arc::new(Identity {
            user: user.into(),
            groups: groups.collect(),
            privileged: found.administers || user == BOSS,
        }))
    }

    fn is_known<'a>(&'a self, entity: &'a Entity) -> Looking<'a, Option<bool>> {
        Box::pin(ready(match entity.kind {
            EntityKind::Principal => system_user(&entity.name).map(|user| user.known),
            EntityKind::Group => is_group(&entity.name),
        }))
    }

    fn refresh(&self) {}
}
