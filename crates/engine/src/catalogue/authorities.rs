//! Authority records: kept in the list of definitions, logged and saved as these are, and made into a table that a check
//! looks up.
//!
//! Invariants: the table has what the list has (and what was granted on temporary queues, which are not logged); a record
//! is one definition, whose name says type of object, entity and profile; an object's own records go with it; what was granted on
//! the name of a dynamic queue before it was made stays, also in the record of whoever made it.

use std::sync::Arc;

use posthaste_authority::{
    Authorities, Entity, EntityKind, Identity, ObjectType, Profile, Record, Table,
};
use posthaste_command::{Date, Deletion, Object, ObjectKind, RecordName, Time, Value};
use posthaste_env::sync::RwLock;
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;
use posthaste_recovery_log::Lsn;

use super::{Catalogue, ChangeError, Definition};
use crate::application::Application;
use crate::authority_service::NoEntity;
use crate::authorization::{Asking, Issuer, Need, Refusal};
use crate::manager::Inner;
use crate::queue_manager::QueueManager;

/// Every record of the queue manager. Its lock is a leaf.
#[derive(Default)]
pub(crate) struct AuthorityTable(RwLock<Table>);

impl AuthorityTable {
    /// What a user may do with an object.
    pub(crate) fn granted(&self, of: ObjectType, name: &str, to: &Identity) -> Authorities {
        self.0.read().granted(of, name, to)
    }

    /// Whether users' own records count.
    pub(crate) fn count_users(&self, by_user: bool) {
        self.0.write().count_users(by_user);
    }

    /// A definition is made or changed; of another kind it says nothing here.
    pub(super) fn defined(&self, object: &Object) {
        if object.kind == ObjectKind::AuthRec
            && let Some(record) = record_of(object)
        {
            self.0.write().set(&record);
        }
    }

    /// A definition is gone.
    pub(super) fn deleted(&self, object: &Object) {
        if object.kind == ObjectKind::AuthRec
            && let Some(record) = record_of(object)
        {
            let mut table = self.0.write();
            table.remove(record.object_type, &record.profile, &record.entity);
        }
    }

    /// The entities with a record of exactly this profile.
    fn entities(&self, object_type: ObjectType, profile: &Profile) -> Vec<Entity> {
        self.0.read().entities_on(object_type, profile)
    }
}

/// The name of a record's definition.
fn definition_name(of: ObjectType, profile: &Profile, entity: &Entity) -> String {
    let kind = entity.kind.word();
    format!("{of} {kind} {} {profile}", entity.name)
}

fn definition_of(record: &Record) -> Object {
    let entity = &record.entity;
    let name = definition_name(record.object_type, &record.profile, entity);
    let mut object = Object::new(ObjectKind::AuthRec, name);
    let attrs = &mut object.attrs;
    attrs.set_text(MQCACF_AUTH_PROFILE_NAME, record.profile.text());
    attrs.set_text(MQCACF_ENTITY_NAME, &*entity.name);
    let kind = match entity.kind {
        EntityKind::Principal => MQZAET_PRINCIPAL,
        EntityKind::Group => MQZAET_GROUP,
    };
    attrs.set_int(MQIACF_ENTITY_TYPE, kind);
    attrs.set_int(MQIACF_OBJECT_TYPE, record.object_type.code());
    attrs.set(MQIACF_AUTHORIZATION_LIST, numbers(record.authorities));
    object
}

/// The `MQAUTH_` numbers of authorities; of none that of none.
pub fn numbers(authorities: Authorities) -> Value {
    let list: Vec<i64> = authorities.iter().map(|one| one.code().into()).collect();
    Value::Ints(match list.is_empty() {
        true => vec![MQAUTH_NONE.into()],
        false => list,
    })
}

/// The record that a definition is; none: another release's, with something that this one does not know.
fn record_of(object: &Object) -> Option<Record> {
    let attrs = &object.attrs;
    let name = attrs.text(MQCACF_ENTITY_NAME);
    let entity = match attrs.int(MQIACF_ENTITY_TYPE) {
        MQZAET_PRINCIPAL => Entity::principal(name),
        _ => Entity::group(name),
    };
    Some(Record {
        profile: Profile::new(attrs.text(MQCACF_AUTH_PROFILE_NAME)).ok()?,
        object_type: ObjectType::with_code(attrs.int(MQIACF_OBJECT_TYPE))?,
        entity,
        authorities: listed(object, MQIACF_AUTHORIZATION_LIST)?,
    })
}

/// Where the record of whoever made a dynamic queue keeps what it had before.
const BEFORE: i32 = MQIACF_AUTH_ADD_AUTHS;

/// The authorities whose numbers an attribute has.
fn listed(object: &Object, selector: i32) -> Option<Authorities> {
    let Some(Value::Ints(list)) = object.attrs.get(selector) else {
        return None;
    };
    let known = list.iter().filter_map(|number| {
        let code = i32::try_from(*number).ok()?;
        posthaste_authority::Authority::with_code(code)
    });
    Some(known.collect())
}

/// A second, by two attributes of a definition.
fn stamp(definition: &Definition, date: i32, time: i32) -> Option<(Date, Time)> {
    let attrs = definition.attrs();
    match (attrs.get(date), attrs.get(time)) {
        (Some(Value::Date(date)), Some(Value::Time(time))) => Some((*date, *time)),
        _ => None,
    }
}

/// When a definition was changed last.
fn altered(definition: &Definition) -> Option<(Date, Time)> {
    stamp(definition, MQCA_ALTERATION_DATE, MQCA_ALTERATION_TIME)
}

/// When a dynamic queue was made; none: it is something else, which an administrator has defined.
fn made_by_application(definition: &Definition) -> Option<(Date, Time)> {
    let is_dynamic = definition.kind() == ObjectKind::QLocal
        && definition.int(MQIA_DEFINITION_TYPE) != MQQDT_PREDEFINED;
    let made = || stamp(definition, MQCA_CREATION_DATE, MQCA_CREATION_TIME);
    is_dynamic.then(made).flatten()
}

impl Catalogue {
    /// Adds authorities to a record and takes others away, those in both too; without one makes one.
    fn set_authority(
        &self,
        qm: &Arc<Inner>,
        of: &RecordName,
        add: Authorities,
        remove: Authorities,
    ) -> Result<Option<Lsn>, ChangeError> {
        let _order = self.order.lock();
        let name = definition_name(of.object_type, &of.profile, &of.entity);
        let known = self.object(ObjectKind::AuthRec, &name);
        let has = known.as_ref().and_then(record_of);
        let has = has.map_or(Authorities::NONE, |record| record.authorities);
        let before = known.and_then(|known| listed(&known, BEFORE));
        let before = before.map(|before| before & !remove);
        self.write_authority(qm, of, (has & !remove) | add, before)
    }

    /// A record is these authorities; the caller holds `order`.
    fn write_authority(
        &self,
        qm: &Arc<Inner>,
        of: &RecordName,
        authorities: Authorities,
        before: Option<Authorities>,
    ) -> Result<Option<Lsn>, ChangeError> {
        let mut object = definition_of(&Record {
            profile: of.profile.clone(),
            object_type: of.object_type,
            entity: of.entity.clone(),
            authorities,
        });
        if let Some(before) = before {
            object.attrs.set(BEFORE, numbers(before));
        }
        let logged = self.log_object(qm, &mut object, 0)?;
        self.applied(object, 0, logged.map_or(Lsn(0), |logged| logged.start));
        Ok(logged.map(|logged| logged.end))
    }

    /// An object is deleted, and its own records with it; the caller holds `order`. Of a dynamic queue, whose name an
    /// application chooses, only those that were set since it is there: what an administrator has set before stays.
    pub(super) fn forget_authorities(
        &self,
        qm: &Arc<Inner>,
        of: &Definition,
    ) -> Result<Option<Lsn>, ChangeError> {
        let mut end = None;
        let (kind, name) = (of.kind(), of.name());
        let made = made_by_application(of);
        let profile = Profile::new(name);
        // A subscription has no records: its name may be that of a topic object.
        let (Ok(profile), true) = (profile, kind != ObjectKind::Sub) else {
            return Ok(end);
        };
        let object_type = kind.object_type();
        for entity in self.authorities.entities(object_type, &profile) {
            let name = definition_name(object_type, &profile, &entity);
            let Some(known) = self.find(ObjectKind::AuthRec, &name) else {
                continue;
            };
            if made.is_some() && altered(&known) < made {
                continue;
            }
            let object = self.object(ObjectKind::AuthRec, &name);
            let before = object.and_then(|object| listed(&object, BEFORE));
            end = match before.filter(|_| made.is_some()) {
                Some(before) => {
                    let of = RecordName {
                        profile: profile.clone(),
                        object_type,
                        entity,
                    };
                    self.write_authority(qm, &of, before, None)?
                }
                None => self.delete_known(qm, &known, Deletion::default(), false)?,
            };
        }
        Ok(end)
    }

    /// A temporary queue is gone: so is what its maker was granted, which is in the table only. What was granted to the same
    /// entity before counts again.
    pub(super) fn forget_maker(&self, queue: &str) {
        let Ok(profile) = Profile::new(queue) else {
            return;
        };
        let object_type = ObjectType::Queue;
        for entity in self.authorities.entities(object_type, &profile) {
            let name = definition_name(object_type, &profile, &entity);
            let known = self.object(ObjectKind::AuthRec, &name);
            let mut table = self.authorities.0.write();
            match known.as_ref().and_then(record_of) {
                Some(record) => table.set(&record),
                None => drop(table.remove(object_type, &profile, &entity)),
            }
        }
    }

    /// Whoever makes a dynamic queue may do this with it.
    pub(crate) fn grant_maker(
        &self,
        qm: &Arc<Inner>,
        (queue, temporary): (&str, bool),
        (maker, may): (Entity, Authorities),
    ) -> Result<Option<Lsn>, ChangeError> {
        let Ok(profile) = Profile::new(queue) else {
            return Err(ChangeError::BadName);
        };
        let object_type = ObjectType::Queue;
        if !temporary {
            let of = RecordName {
                profile,
                object_type,
                entity: maker,
            };
            let _order = self.order.lock();
            let name = definition_name(object_type, &of.profile, &of.entity);
            let before = self.object(ObjectKind::AuthRec, &name);
            let before = before.as_ref().and_then(record_of);
            let before = before.map(|record| record.authorities);
            let may = may & object_type.applicable();
            return self.write_authority(qm, &of, may, before);
        }
        self.authorities.0.write().set(&Record {
            profile,
            object_type,
            entity: maker,
            authorities: may,
        });
        Ok(None)
    }
}

impl QueueManager {
    /// Adds authorities to a record and takes others away (SET AUTHREC). A record without authorities is one.
    ///
    /// # Errors
    /// `Entity` there is no such user or group, or nobody could say; why nothing was changed.
    pub async fn set_authority(
        &self,
        of: &RecordName,
        add: Authorities,
        remove: Authorities,
    ) -> Result<(), ChangeError> {
        let inner = self.inner();
        let of = self.recorded(of).await?;
        let set = || inner.catalogue.set_authority(inner, &of, add, remove);
        let end = inner.with_log_room(set).await?;
        inner.settled(end).await
    }

    /// Deletes a record (DELETE AUTHREC).
    ///
    /// # Errors
    /// `NotFound` there is none; why it was not deleted.
    pub async fn delete_authority(&self, of: &RecordName) -> Result<(), ChangeError> {
        let inner = self.inner();
        // Whom nobody knows any more may have records still.
        let of = match self.recorded(of).await {
            Err(ChangeError::Entity(NoEntity::Unknown)) => of.clone(),
            other => other?,
        };
        let name = definition_name(of.object_type, &of.profile, &of.entity);
        let delete = || {
            let kind = ObjectKind::AuthRec;
            let how = Deletion::default();
            inner
                .catalogue
                .delete(inner, (kind, &name), how, &|_| Ok(()))
        };
        let end = inner.with_log_room(delete).await?;
        inner.settled(end).await
    }

    async fn recorded(&self, of: &RecordName) -> Result<RecordName, ChangeError> {
        let entity = self.inner().recorded_entity(&of.entity).await;
        Ok(RecordName {
            entity: entity.map_err(ChangeError::Entity)?,
            ..of.clone()
        })
    }

    /// Every authority record, but for those of temporary queues, by type, profile and entity.
    pub fn authority_records(&self) -> Vec<Record> {
        let objects = self.inner().catalogue.objects(ObjectKind::AuthRec);
        let mut records: Vec<Record> = objects.iter().filter_map(record_of).collect();
        records.sort_by(|a, b| {
            let key = |one: &Record| (one.object_type, one.profile.text().to_owned());
            key(a).cmp(&key(b)).then_with(|| a.entity.cmp(&b.entity))
        });
        records
    }

    /// The entities whose records count for an entity: itself, or a user's groups (and the user, where users have records).
    ///
    /// # Errors
    /// There is no such user, or no such group, or nobody could say.
    pub async fn counting_entities(&self, of: &Entity) -> Result<Vec<Entity>, NoEntity> {
        let inner = self.inner();
        let Some(service) = &inner.config.authorization else {
            return Ok(vec![of.clone()]);
        };
        service.find(of).await?;
        if of.kind == EntityKind::Group {
            return Ok(vec![of.clone()]);
        }
        let identity = service.users.identity(&of.name).await;
        let identity = identity.ok_or(NoEntity::NoAnswer)?;
        let table = inner.catalogue.authorities.0.read();
        Ok(table.entities(&identity).collect())
    }

    /// What an entity may do with an object by all records that count for it.
    ///
    /// # Errors
    /// There is no such entity, or nobody could say.
    pub async fn authorities_of(
        &self,
        of: &Entity,
        on: ObjectType,
        name: &str,
    ) -> Result<Authorities, NoEntity> {
        let entities = self.counting_entities(of).await?;
        let inner = self.inner();
        if of.kind == EntityKind::Principal
            && let Some(service) = &inner.config.authorization
        {
            let identity = service.users.identity(&of.name).await;
            if identity.ok_or(NoEntity::NoAnswer)?.privileged {
                return Ok(on.applicable());
            }
        }
        let table = inner.catalogue.authorities.0.read();
        let granted = entities
            .iter()
            .filter_map(|one| table.of_entity(on, name, one));
        Ok(granted.fold(Authorities::NONE, |all, more| all | more))
    }

    /// Whether authorities are checked.
    pub fn checks_authorities(&self) -> bool {
        self.inner().authorization().is_some()
    }

    /// Whether users have records of their own.
    pub fn users_have_records(&self) -> bool {
        let service = &self.inner().config.authorization;
        service.as_ref().is_some_and(|service| service.by_user)
    }

    /// Who is in which group is asked anew from now on.
    pub fn refresh_users(&self) {
        if let Some(service) = &self.inner().config.authorization {
            service.users.refresh();
        }
    }
}

impl QueueManager {
    /// An application, on behalf of whose user it sends commands.
    ///
    /// # Errors
    /// 2063 nobody could say who that is.
    pub async fn issuer(&self, who: Application) -> Result<Issuer, Reason> {
        let who = Arc::new(who);
        let asking = Asking {
            who: Arc::clone(&who),
            call: "",
            options: 0,
        };
        Ok(Issuer {
            caller: self.inner().caller(&who.user, asking).await?,
            who: Some(who),
        })
    }

    /// Whether an issuer has what a command needs; the operator is told if not.
    ///
    /// # Errors
    /// What is missing.
    pub fn demand(&self, issuer: &Issuer, need: Need<'_>) -> Result<(), Refusal> {
        issuer.caller.demand(self.inner(), need).map(drop)
    }

    /// Whether an issuer has it; nobody is told.
    pub fn may(&self, issuer: &Issuer, need: Need<'_>) -> bool {
        issuer.caller.decide(self.inner(), need).is_ok()
    }

    /// Whose record says what an issuer may do with an object that it makes; none: it needs none.
    pub fn maker(&self, issuer: &Issuer) -> Option<Entity> {
        issuer.caller.maker(self.inner())
    }
}
