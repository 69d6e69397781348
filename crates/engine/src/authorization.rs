//! The authority service: whether a user may do something with an object, asked when that is opened.
//!
//! Invariants:
//! * What opens an object needs `Authorised`, which only a check gives, or what nobody checks: an application in the
//!   queue manager's own process, and a queue manager without an authority service.
//! * Nothing is asked for a message: what a handle may do was decided when it was opened, and it keeps that.
//! * A user is looked up by its name each time, by whoever keeps what was found, so that a change of groups counts for the
//!   next open once that is refreshed. A look-up waits for nobody under a lock.
//!
//! Sources: IBM MQ's manual, "Authorizations for MQI calls", "Security authorization needed for commands".

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use posthaste_authority::{
    Authorities, Authority, CLASS, Entity, EntityKind, Identity, MANAGER, ObjectType,
};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::MQAT_QMGR;

use crate::application::Application;
use crate::audit::{AuditEvent, AuditKind};
use crate::authority_service::{Authorised, Authorization, NoEntity};
use crate::manager::Inner;
use crate::signal::either;

/// What somebody may not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The user.
    pub user: String,
    /// What is missing.
    pub missing: Authorities,
    /// The type of the object.
    pub object_type: ObjectType,
    /// Its name.
    pub name: String,
}

impl Refusal {
    /// The inserts of AMQ8077W.
    pub fn inserts(&self) -> [String; 4] {
        [
            self.user.clone(),
            self.missing.to_string(),
            self.object_type.to_string(),
            self.name.clone(),
        ]
    }
}

/// On whose behalf something is asked for.
#[derive(Clone)]
pub(crate) enum Caller {
    /// Nobody who is checked.
    Unchecked,
    Checked(Arc<Identity>, Asking),
    /// A user whom the application has named by its authority to, and its own: whose context a message may have is
    /// decided by that (manual: "AlternateUserId").
    Alternate {
        named: Box<Caller>,
        own: Box<Caller>,
    },
}

/// Authorities over whose a message is: nobody has them for naming another user, nor for having made a dynamic queue.
const CONTEXTS: Authorities = Authorities::of(&[
    Authority::PassIdentity,
    Authority::PassAll,
    Authority::SetIdentity,
    Authority::SetAll,
]);

/// Who asks, and by which call.
#[derive(Clone)]
pub(crate) struct Asking {
    pub(crate) who: Arc<Application>,
    /// A call of the MQ Interface, or what the queue manager puts by itself; empty for a command.
    pub(crate) call: &'static str,
    pub(crate) options: i32,
}

impl Asking {
    /// The queue manager, for a user. `call`: what it puts.
    pub(crate) fn by_manager(qm: &Inner, user: &str, call: &'static str) -> Asking {
        let who = Application {
            name: qm.config.name.clone(),
            user: user.to_owned(),
            appl_type: MQAT_QMGR,
            ..Application::default()
        };
        Asking {
            who: Arc::new(who),
            call,
            options: 0,
        }
    }

    /// What an audit is to know of a refusal.
    pub(crate) fn refused(&self, refusal: &Refusal) -> AuditEvent {
        AuditEvent {
            object_type: Some(refusal.object_type),
            object: refusal.name.clone(),
            missing: refusal.missing,
            message: "AMQ8077W",
            ..self.event(&refusal.user, Reason::NOT_AUTHORIZED)
        }
    }

    /// The same of a user of whom nobody could say who that is.
    fn not_known(&self, user: &str) -> AuditEvent {
        AuditEvent {
            because: "it could not be found out in which groups the user is".to_owned(),
            ..self.event(user, Reason::SECURITY_ERROR)
        }
    }

    fn event(&self, user: &str, reason: Reason) -> AuditEvent {
        let alternate = match self.who.user == user {
            true => String::new(),
            false => user.to_owned(),
        };
        AuditEvent {
            who: Application::clone(&self.who),
            alternate,
            call: self.call,
            options: self.options,
            ..AuditEvent::new(AuditKind::NotAuthorized, reason)
        }
    }
}

impl Caller {
    /// Whether everything that is needed on an object is granted.
    ///
    /// # Errors
    /// 2035 it is not; the operator is told what is missing.
    pub(crate) fn check(
        &self,
        qm: &Inner,
        object_type: ObjectType,
        name: &str,
        needs: Authorities,
    ) -> Result<Authorised, Reason> {
        let need = Need::Object(object_type, name, needs);
        self.demand(qm, need).map_err(|_| Reason::NOT_AUTHORIZED)
    }

    /// The same of the queue manager itself.
    ///
    /// # Errors
    /// 2035.
    pub(crate) fn check_manager(
        &self,
        qm: &Inner,
        needs: Authorities,
    ) -> Result<Authorised, Reason> {
        self.check(qm, ObjectType::QueueManager, MANAGER, needs)
    }

    /// The same of a topic string: what is granted on the topic objects at it and above it counts together. `enough`:
    /// one of these is.
    ///
    /// # Errors
    /// 2035.
    pub(crate) fn check_topic(
        &self,
        qm: &Inner,
        topic: &str,
        enough: &[Authorities],
    ) -> Result<Authorised, Reason> {
        let met = |needs: &&Authorities| self.decide(qm, Need::Topic(topic, **needs)).is_ok();
        let met = enough.iter().find(met).or(enough.first());
        let need = Need::Topic(topic, met.copied().unwrap_or_default());
        self.demand(qm, need).map_err(|_| Reason::NOT_AUTHORIZED)
    }

    /// The operator is told of what is missing.
    pub(crate) fn demand(&self, qm: &Inner, need: Need<'_>) -> Result<Authorised, Refusal> {
        if let Caller::Alternate { named, own } = self {
            own.demand(qm, need.only(CONTEXTS))?;
            return named.demand(qm, need.only(!CONTEXTS));
        }
        let decided = self.decide(qm, need);
        decided.inspect_err(|refusal| {
            qm.operator.message("AMQ8077W", &refusal.inserts());
            if let Caller::Checked(_, asking) = self {
                qm.operator.audit(asking.refused(refusal));
            }
        })
    }

    pub(crate) fn decide(&self, qm: &Inner, need: Need<'_>) -> Result<Authorised, Refusal> {
        let identity = match self {
            Caller::Checked(identity, _) => Some(identity),
            Caller::Unchecked => None,
            Caller::Alternate { named, own } => {
                own.decide(qm, need.only(CONTEXTS))?;
                return named.decide(qm, need.only(!CONTEXTS));
            }
        };
        let on = |of, name: &str| match identity {
            Some(identity) => qm.catalogue.authorities.granted(of, name, identity),
            None => !Authorities::NONE,
        };
        let (object_type, name, needs, granted) = match need {
            Need::Object(of, name, needs) => (of, name, needs, on(of, name)),
            Need::Topic(topic, needs) => {
                let objects = qm.catalogue.topic_objects.at_or_above(topic);
                let of = ObjectType::Topic;
                let granted = match identity {
                    // Also where nobody has left a topic object.
                    Some(identity) if identity.privileged => !Authorities::NONE,
                    Some(_) => objects
                        .iter()
                        .fold(Authorities::NONE, |all, object| all | on(of, object)),
                    None => !Authorities::NONE,
                };
                (of, topic, needs, granted)
            }
            Need::Create(of, name) => {
                let granted = on(of, CLASS) | on(of, name) | on(ObjectType::QueueManager, MANAGER);
                (of, name, Authority::Create.into(), granted)
            }
        };
        Authorised::checked(granted, needs).ok_or_else(|| Refusal {
            user: identity.map_or_else(String::new, |identity| identity.user.to_string()),
            missing: needs & !granted,
            object_type,
            name: match object_type {
                ObjectType::QueueManager => qm.config.name.clone(),
                ObjectType::Topic if name.is_empty() => "(root)".to_owned(),
                _ => name.to_owned(),
            },
        })
    }
}

/// What is needed on what.
#[derive(Clone, Copy, Debug)]
pub enum Need<'a> {
    /// On an object, by its name.
    Object(ObjectType, &'a str, Authorities),
    /// On a topic string.
    Topic(&'a str, Authorities),
    /// To make an object of a type, of a name.
    Create(ObjectType, &'a str),
}

impl<'a> Need<'a> {
    /// On the queue manager.
    pub fn manager(needs: Authorities) -> Need<'a> {
        Need::Object(ObjectType::QueueManager, MANAGER, needs)
    }

    /// Of what it needs only these.
    fn only(self, these: Authorities) -> Need<'a> {
        match self {
            Need::Object(of, name, needs) => Need::Object(of, name, needs & these),
            Need::Topic(topic, needs) => Need::Topic(topic, needs & these),
            // What is made is made for whoever is named.
            Need::Create(of, _) if !these.has(Authority::Create.into()) => {
                Need::Object(of, CLASS, Authorities::NONE)
            }
            Need::Create(..) => self,
        }
    }
}

/// On whose behalf a command is carried out.
#[derive(Clone)]
pub struct Issuer {
    pub(crate) caller: Caller,
    pub(crate) who: Option<Arc<Application>>,
}

impl Issuer {
    /// Whoever owns the queue manager.
    pub const OWNER: Issuer = Issuer {
        caller: Caller::Unchecked,
        who: None,
    };

    /// The application that has sent the command, if one has.
    pub fn application(&self) -> Option<&Application> {
        self.who.as_deref()
    }
}

impl Caller {
    /// The same without the authorities of an administrator: with those that everybody has.
    pub(crate) fn unprivileged(self) -> Caller {
        match self {
            Caller::Checked(identity, asking) if identity.privileged => {
                let identity = Identity {
                    user: identity.user.clone(),
                    privileged: false,
                    groups: Box::default(),
                };
                Caller::Checked(Arc::new(identity), asking)
            }
            same => same,
        }
    }

    /// Whose record says what whoever makes an object may do with it; none: it needs none.
    pub(crate) fn maker(&self, qm: &Inner) -> Option<Entity> {
        let identity = match self {
            Caller::Unchecked => return None,
            Caller::Checked(identity, _) => identity,
            Caller::Alternate { named, .. } => return named.maker(qm),
        };
        let by_user = qm.authorization().is_some_and(|service| service.by_user);
        match by_user {
            _ if identity.privileged => None,
            true => Some(Entity::principal(&identity.user)),
            false => identity.groups.first().map(|group| Entity::group(group)),
        }
    }
}

impl Caller {
    /// What the maker of a dynamic queue may do with it, and whose record says so; none: he needs none. Authorities over contexts are
    /// those that the record's entity has on the model queue, or by its name on the new one: to make a queue is not to be
    /// trusted with others' names.
    pub(crate) fn granted_as_maker(
        &self,
        qm: &Inner,
        model: &str,
        queue: &str,
    ) -> Option<(Entity, Authorities)> {
        let identity = match self {
            Caller::Unchecked => return None,
            Caller::Checked(identity, _) => identity,
            Caller::Alternate { named, .. } => return named.granted_as_maker(qm, model, queue),
        };
        let maker = self.maker(qm)?;
        let counting = match maker.kind {
            EntityKind::Principal => Identity::clone(identity),
            // What others of the group lack they are not given.
            EntityKind::Group => Identity {
                groups: identity.groups.iter().take(1).cloned().collect(),
                ..Identity::clone(identity)
            },
        };
        let has = |name| {
            let table = &qm.catalogue.authorities;
            table.granted(ObjectType::Queue, name, &counting)
        };
        let contexts = (has(model) | has(queue)) & CONTEXTS;
        Some((maker, Authorities::ALL & !CONTEXTS | contexts))
    }
}

impl Inner {
    /// What decides, if authorities are checked.
    pub(crate) fn authorization(&self) -> Option<&Authorization> {
        let service = self.config.authorization.as_ref();
        service.filter(|service| service.enforced)
    }

    /// A user, on whose behalf something is asked for.
    ///
    /// # Errors
    /// 2063 nobody could say who that is.
    pub(crate) async fn caller(&self, user: &str, asking: Asking) -> Result<Caller, Reason> {
        let Some(service) = self.authorization() else {
            return Ok(Caller::Unchecked);
        };
        match service.users.identity(user).await {
            Some(identity) => Ok(Caller::Checked(identity, asking)),
            None => {
                self.operator.audit(asking.not_known(user));
                Err(Reason::SECURITY_ERROR)
            }
        }
    }

    /// The user for whom the queue manager puts something, for whoever cannot wait. `call`: what it puts.
    ///
    /// # Errors
    /// 2063 who that is is not known, or not yet.
    pub(crate) fn known_caller(&self, user: &str, call: &'static str) -> Result<Caller, Reason> {
        let Some(service) = self.authorization() else {
            return Ok(Caller::Unchecked);
        };
        let identity = service.users.known_identity(user);
        let identity = identity.ok_or(Reason::SECURITY_ERROR)?;
        let asking = Asking::by_manager(self, user, call);
        Ok(Caller::Checked(identity, asking))
    }

    /// Whether a user administers the queue manager, whether authorities are checked or not. None: nobody could say.
    pub(crate) async fn administers(&self, user: &str) -> Option<bool> {
        let service = self.config.authorization.as_ref()?;
        let identity = service.users.identity(user).await?;
        Some(identity.privileged)
    }

    /// Finds out about a user, for [`Inner::known_caller`] to know it.
    pub(crate) async fn look_up(&self, user: &str) {
        if let Some(service) = self.authorization() {
            // Who is not found is told of where that matters.
            let _ = service.users.identity(user).await;
        }
    }

    /// Finds out about users, all at once, for [`Inner::known_caller`] to know them, but for those of whom nothing is found out
    /// in time.
    pub(crate) async fn look_all_up(&self, users: &BTreeSet<String>) {
        let Some(service) = self.authorization().filter(|_| !users.is_empty()) else {
            return;
        };
        let asked = users.iter().map(|user| service.users.identity(user));
        let mut asked: Vec<_> = asked.collect();
        let answered = poll_fn(|context| {
            asked.retain_mut(|user| user.as_mut().poll(context).is_pending());
            match asked.is_empty() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        });
        let clock = &self.env.clock;
        let until = clock.monotonic().saturating_add(LOOKED_UP);
        either(answered, clock.sleep_until(until)).await;
    }

    /// The entity whose record is meant: where users have no records, a user's is that of its primary group.
    ///
    /// # Errors
    /// There is none, or nobody could say.
    pub(crate) async fn recorded_entity(&self, entity: &Entity) -> Result<Entity, NoEntity> {
        let Some(service) = &self.config.authorization else {
            return Ok(entity.clone());
        };
        service.find(entity).await?;
        if entity.kind == EntityKind::Group || service.by_user {
            return Ok(entity.clone());
        }
        let identity = service.users.identity(&entity.name).await;
        let identity = identity.ok_or(NoEntity::NoAnswer)?;
        let group = identity.groups.first().map(|group| Entity::group(group));
        group.ok_or(NoEntity::Unknown)
    }
}

/// Nanoseconds in which the users of all the reports on a publication have to be known.
const LOOKED_UP: u64 = 5_000_000_000;

/// The authority to connect.
pub(crate) const CONNECT: Authorities = Authorities::of(&[Authority::Connect]);
