//! All records, and what they come to for a user.
//!
//! Invariants: profiles that stand for one name are found by it; the others of a type are kept with the most specific one
//! first, so that the first that matches and has a record of an entity is the one that counts for it.

use std::collections::BTreeMap;

use crate::authority::Authorities;
use crate::object_type::ObjectType;
use crate::profile::Profile;
use crate::record::{Entity, EntityKind, Record};

/// The group that every user is in (manual: "Default user group").
pub const EVERYBODY: &str = "nobody";

/// A user, as far as authorities go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The user's name.
    pub user: Box<str>,
    /// The groups that the user is in, the primary one first.
    pub groups: Box<[Box<str>]>,
    /// Whether the user has all authorities on everything.
    pub privileged: bool,
}

/// What one profile grants.
#[derive(Clone, Debug)]
struct Granting {
    profile: Profile,
    to: BTreeMap<Entity, Authorities>,
}

/// The records of one type of object.
#[derive(Clone, Debug, Default)]
struct OfType {
    exact: BTreeMap<Box<str>, Granting>,
    /// The most specific first.
    generic: Vec<Granting>,
}

impl OfType {
    fn granting(&self, profile: &Profile) -> Option<&Granting> {
        match profile.is_generic() {
            false => self.exact.get(profile.text()),
            true => {
                let at = self.generic_at(profile).ok()?;
                self.generic.get(at)
            }
        }
    }

    fn generic_at(&self, profile: &Profile) -> Result<usize, usize> {
        let by = |known: &Granting| known.profile.specificity(profile);
        self.generic.binary_search_by(by)
    }

    fn entry(&mut self, profile: &Profile) -> &mut Granting {
        let fresh = || Granting {
            profile: profile.clone(),
            to: BTreeMap::new(),
        };
        if !profile.is_generic() {
            return self
                .exact
                .entry(profile.text().into())
                .or_insert_with(fresh);
        }
        let at = self.generic_at(profile).unwrap_or_else(|at| {
            self.generic.insert(at, fresh());
            at
        });
        &mut self.generic[at]
    }

    fn forget_empty(&mut self, profile: &Profile) {
        if self.granting(profile).is_some_and(|one| !one.to.is_empty()) {
            return;
        }
        match (profile.is_generic(), self.generic_at(profile)) {
            (false, _) => drop(self.exact.remove(profile.text())),
            (true, Ok(at)) => drop(self.generic.remove(at)),
            (true, Err(_)) => {}
        }
    }

    /// Whatever grants something on a name, the most specific first.
    fn matching(&self, name: &str) -> impl Iterator<Item = &Granting> {
        let generic = self.generic.iter();
        let generic = generic.filter(move |one| one.profile.matches(name));
        self.exact.get(name).into_iter().chain(generic)
    }
}

/// All records of a queue manager.
#[derive(Clone, Debug, Default)]
pub struct Table {
    types: BTreeMap<ObjectType, OfType>,
    /// Whether users have records of their own, and not their groups only.
    by_user: bool,
}

impl Table {
    /// Whether users' own records count beside those of their groups; at first they do not.
    pub fn count_users(&mut self, by_user: bool) {
        self.by_user = by_user;
    }

    /// The entities with a record of exactly this profile.
    pub fn entities_on(&self, object_type: ObjectType, profile: &Profile) -> Vec<Entity> {
        let of_type = self.types.get(&object_type);
        let granting = of_type.and_then(|of_type| of_type.granting(profile));
        granting.map_or_else(Vec::new, |granting| granting.to.keys().cloned().collect())
    }

    /// Adds a record, in the place of one that is about the same.
    pub fn set(&mut self, record: &Record) {
        let Record {
            profile,
            object_type,
            entity,
            authorities,
        } = record;
        let applicable = *authorities & object_type.applicable();
        let granting = self.types.entry(*object_type).or_default().entry(profile);
        granting.to.insert(entity.clone(), applicable);
    }

    /// Takes a record away; whether there was one.
    pub fn remove(&mut self, object_type: ObjectType, profile: &Profile, entity: &Entity) -> bool {
        let Some(of_type) = self.types.get_mut(&object_type) else {
            return false;
        };
        let known = of_type.granting(profile).is_some();
        let removed = known && of_type.entry(profile).to.remove(entity).is_some();
        of_type.forget_empty(profile);
        removed
    }

    /// The record of exactly this profile and entity.
    pub fn record(
        &self,
        object_type: ObjectType,
        profile: &Profile,
        entity: &Entity,
    ) -> Option<Authorities> {
        let granting = self.types.get(&object_type)?.granting(profile)?;
        granting.to.get(entity).copied()
    }

    /// What an entity has on an object by its own record; none: there is no record.
    pub fn of_entity(
        &self,
        object_type: ObjectType,
        name: &str,
        entity: &Entity,
    ) -> Option<Authorities> {
        let mut matching = self.types.get(&object_type)?.matching(name);
        matching.find_map(|granting| granting.to.get(entity).copied())
    }

    /// The entities whose records count for a user.
    pub fn entities<'a>(&self, of: &'a Identity) -> impl Iterator<Item = Entity> + 'a {
        let own = self.by_user.then(|| Entity::principal(&of.user));
        let everybody = !of.groups.iter().any(|group| &**group == EVERYBODY);
        let groups = of.groups.iter().map(|name| Entity::group(name));
        own.into_iter()
            .chain(groups)
            .chain(everybody.then(|| Entity::group(EVERYBODY)))
    }

    /// What a user may do with an object.
    pub fn granted(&self, object_type: ObjectType, name: &str, to: &Identity) -> Authorities {
        if to.privileged {
            return !Authorities::NONE;
        }
        let Some(of_type) = self.types.get(&object_type) else {
            return Authorities::NONE;
        };
        // A profile that was met has said what it says of an entity.
        let mut entities: Vec<Entity> = self.entities(to).collect();
        let mut granted = Authorities::NONE;
        for granting in of_type.matching(name) {
            entities.retain(|entity| match granting.to.get(entity) {
                Some(more) => {
                    granted = granted | *more;
                    false
                }
                None => true,
            });
            if entities.is_empty() {
                break;
            }
        }
        granted
    }

    /// Every record, by type, profile and entity.
    pub fn records(&self) -> Vec<Record> {
        let mut all = Vec::new();
        for (object_type, of_type) in &self.types {
            for granting in of_type.exact.values().chain(&of_type.generic) {
                all.extend(granting.to.iter().map(|(entity, authorities)| Record {
                    profile: granting.profile.clone(),
                    object_type: *object_type,
                    entity: entity.clone(),
                    authorities: *authorities,
                }));
            }
        }
        all.sort_by(|a, b| {
            let key = |one: &Record| (one.object_type, one.profile.text().to_owned());
            key(a).cmp(&key(b)).then_with(|| a.entity.cmp(&b.entity))
        });
        all
    }
}

impl EntityKind {
    /// `principal` or `group`.
    pub fn word(self) -> &'static str {
        match self {
            EntityKind::Principal => "principal",
            EntityKind::Group => "group",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::Authority::{Browse, Get, Inquire, Put};

    fn user(name: &str, groups: &[&str]) -> Identity {
        Identity {
            user: name.into(),
            groups: groups.iter().map(|group| (*group).into()).collect(),
            privileged: false,
        }
    }

    fn table(by_user: bool, records: &[(&str, Entity, &[crate::Authority])]) -> Table {
        let mut table = Table::default();
        table.count_users(by_user);
        for (profile, entity, authorities) in records {
            table.set(&Record {
                profile: Profile::new(profile).unwrap(),
                object_type: ObjectType::Queue,
                entity: entity.clone(),
                authorities: Authorities::of(authorities),
            });
        }
        table
    }

    fn granted(table: &Table, name: &str, to: &Identity) -> String {
        table.granted(ObjectType::Queue, name, to).to_string()
    }

    #[test]
    fn of_an_entitys_profiles_the_most_specific_counts_alone() {
        let fred = || Entity::principal("fred");
        let table = table(true, &[("AB.*", fred(), &[Put]), ("AB.C*", fred(), &[Get])]);
        let fred = user("fred", &[]);
        assert_eq!(granted(&table, "AB.CD", &fred), "get");
        assert_eq!(granted(&table, "AB.D", &fred), "put");
        assert_eq!(granted(&table, "CD", &fred), "");
        assert_eq!(granted(&table, "AB.CD", &user("jane", &[])), "");
        let topic = table.granted(ObjectType::Topic, "AB.CD", &fred);
        assert!(topic.is_empty(), "another type of object");
    }

    #[test]
    fn a_user_has_what_all_its_groups_have() {
        let group = Entity::group;
        let table = table(
            false,
            &[
                ("Q1", group("readers"), &[Get, Browse]),
                ("Q*", group("readers"), &[Put]),
                ("Q*", group("writers"), &[Put]),
                ("**", group(EVERYBODY), &[Inquire]),
                ("**", Entity::principal("jane"), &[Get]),
            ],
        );
        let both = user("jane", &["readers", "writers"]);
        assert_eq!(granted(&table, "Q1", &both), "browse, get, inq, put");
        assert_eq!(granted(&table, "Q2", &both), "inq, put");
        let readers = user("jane", &["readers"]);
        assert_eq!(granted(&table, "Q1", &readers), "browse, get, inq");
        let nobody = user("jane", &["nobody"]);
        assert_eq!(
            granted(&table, "Q1", &nobody),
            "inq",
            "users have no records"
        );
    }

    #[test]
    fn an_empty_record_hides_what_is_less_specific() {
        let group = || Entity::group("staff");
        let table = table(
            false,
            &[("**", group(), &[Get]), ("SECRET.**", group(), &[])],
        );
        let staff = user("jane", &["staff"]);
        assert_eq!(granted(&table, "SECRET.Q", &staff), "");
        assert_eq!(granted(&table, "OTHER", &staff), "get");
        let mut chief = staff.clone();
        chief.privileged = true;
        let all = table.granted(ObjectType::Queue, "SECRET.Q", &chief);
        assert_eq!(all, !Authorities::NONE);
    }

    #[test]
    fn what_is_removed_grants_nothing() {
        let staff = Entity::group("staff");
        let mut table = table(
            false,
            &[
                ("A.*", staff.clone(), &[Get]),
                ("A.B", staff.clone(), &[Put]),
            ],
        );
        let jane = user("jane", &["staff"]);
        assert_eq!(table.records().len(), 2);
        let profile = |text| Profile::new(text).unwrap();
        assert!(table.remove(ObjectType::Queue, &profile("A.B"), &staff));
        assert_eq!(granted(&table, "A.B", &jane), "get");
        assert!(!table.remove(ObjectType::Queue, &profile("A.B"), &staff));
        assert!(!table.remove(ObjectType::Topic, &profile("A.*"), &staff));
        assert!(table.remove(ObjectType::Queue, &profile("A.*"), &staff));
        assert_eq!(granted(&table, "A.B", &jane), "");
        assert!(table.records().is_empty());
    }

    #[test]
    fn what_does_not_apply_is_not_kept() {
        let staff = Entity::group("staff");
        let table = table(
            false,
            &[("A", staff.clone(), &[Get, crate::Authority::Connect])],
        );
        let kept = table.of_entity(ObjectType::Queue, "A", &staff);
        assert_eq!(kept, Some(Get.into()));
        let exact = table.record(ObjectType::Queue, &Profile::new("A").unwrap(), &staff);
        assert_eq!(exact, kept);
    }
}
