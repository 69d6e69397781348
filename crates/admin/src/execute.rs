//! Commands carried out: which goes where.
//!
//! Invariants: a command that changes something is answered when its log record is forced; a command about what does
//! not run here is refused.

use std::sync::Arc;

use posthaste_command::{ChlAuthCommand, Command, Deletion, ObjectKind, Reply, StopChannel};
use posthaste_engine::{Application, Issuer, NewDefinition, QueueManager};
use posthaste_mqi::Reason;

use crate::beside::{ChannelStatus, ComponentError, Components, LaneStatus};
use crate::display::{Request, not_here};
use crate::metrics::exposition;
use crate::{audit, authority, change, chlauth, connection, display, metrics};

/// The door through which a running queue manager is administered. Clones are the same one.
#[derive(Clone)]
pub struct Admin {
    qm: QueueManager,
    beside: Option<Arc<dyn Components>>,
}

impl Admin {
    /// Of a queue manager with what runs beside its engine.
    pub fn new(qm: QueueManager, beside: Arc<dyn Components>) -> Admin {
        Admin {
            qm,
            beside: Some(beside),
        }
    }

    /// Of a queue manager that nothing runs beside: commands about channels and listeners that run are refused.
    pub fn alone(qm: &QueueManager) -> Admin {
        Admin {
            qm: qm.clone(),
            beside: None,
        }
    }

    /// The queue manager.
    pub fn queue_manager(&self) -> &QueueManager {
        &self.qm
    }

    /// Carries out one command in MQSC text, for whoever owns the queue manager.
    pub async fn run(&self, text: &str) -> Reply {
        self.run_for(&Issuer::OWNER, text).await
    }

    /// The same for somebody who may not be allowed to.
    pub async fn run_for(&self, issuer: &Issuer, text: &str) -> Reply {
        match posthaste_command::parse(text) {
            Ok(Some(command)) => {
                let before = audit::subjects(&self.qm, &command);
                let reply = self.execute_for(issuer, &command).await;
                audit::carried_out(&self.qm, issuer, (text, &command), before, &reply);
                reply
            }
            Ok(None) => Reply::default(),
            Err(error) => Reply::from(&error),
        }
    }

    /// The same for an application's user.
    pub async fn run_as(&self, who: Application, text: &str) -> Reply {
        let user = who.user.clone();
        match self.qm.issuer(who).await {
            Ok(issuer) => self.run_for(&issuer, text).await,
            Err(reason) => Reply::failed("AMQ2434E", &[user], reason),
        }
    }

    /// Carries out one command, for whoever owns the queue manager. The reply is what runmqsc shows.
    pub async fn execute(&self, command: &Command) -> Reply {
        self.execute_for(&Issuer::OWNER, command).await
    }

    /// The same for somebody who may not be allowed to.
    pub async fn execute_for(&self, issuer: &Issuer, command: &Command) -> Reply {
        let qm = &self.qm;
        if let Err(reason) = qm.running() {
            return Reply::failed("AMQ8146E", &[qm.name().to_owned()], reason);
        }
        let (is_new, may_replace) = match command {
            Command::Define {
                kind,
                name,
                replace,
                ..
            } => (qm.object(*kind, name).is_none(), *replace),
            _ => (false, false),
        };
        let refusal = authority::forbidden(qm, issuer, command);
        let refusal = refusal.or_else(|| match command {
            Command::Display { what, name, .. } => authority::hidden(qm, issuer, *what, name),
            _ => None,
        });
        if let Some(refusal) = refusal {
            return refusal;
        }
        let mut reply = self.carry_out(issuer, command, is_new).await;
        let was_made = reply.reason == Reason::OBJECT_ALREADY_EXISTS && is_new && may_replace;
        let made = match command {
            Command::Define { kind, name, .. } if was_made && qm.object(*kind, name).is_some() => {
                // Somebody has made it meanwhile: to replace it needs something else.
                return Box::pin(self.execute_for(issuer, command)).await;
            }
            // A subscription has no records: what its name is a profile of are topic objects.
            Command::Define { kind, name, .. } if *kind != ObjectKind::Sub && is_new => {
                Some((*kind, name))
            }
            _ => None,
        };
        if let Command::Display { what, name, .. } = command
            && authority::visible(qm, issuer, *what, &mut reply)
        {
            reply = display::nothing(*what, name);
        }
        let done = reply.ok;
        let granted = match made.filter(|_| done) {
            Some((kind, name)) => authority::grant_maker(qm, issuer, kind, name).await,
            None => None,
        };
        let mut reply = granted.unwrap_or(reply);
        if done && may_expose(command) {
            let beside = self.beside.iter();
            for listener in beside.flat_map(|beside| beside.newly_exposed()) {
                reply.add_message("AMQ2050W", &listener);
            }
        }
        reply
    }

    /// The user on whose behalf a command defines something.
    fn maker(&self, issuer: &Issuer) -> String {
        match (issuer.application(), &self.beside) {
            (Some(application), _) => application.user.clone(),
            (None, Some(beside)) => beside.owner(),
            (None, None) => String::new(),
        }
    }

    /// `is_new`: what is defined was not there when it was decided that it may be.
    async fn carry_out(&self, issuer: &Issuer, command: &Command, is_new: bool) -> Reply {
        let qm = &self.qm;
        match command {
            Command::Define {
                kind,
                name,
                replace,
                like,
                attrs,
            } => {
                let maker = self.maker(issuer);
                let definition = NewDefinition {
                    kind: *kind,
                    name,
                    replace: *replace,
                    decided_new: is_new,
                    like: like.as_deref(),
                    attrs,
                    maker: &maker,
                };
                change::define(qm, &definition).await
            }
            Command::Alter {
                kind,
                name,
                attrs,
                force,
            } => change::alter(qm, (*kind, name), attrs, *force).await,
            Command::Delete { kind, name, how } => self.delete(*kind, name, *how).await,
            Command::EndSubscription { id } => change::end_subscription(qm, id).await,
            Command::Clear { name } => change::clear(qm, name).await,
            Command::ClearTopics { topics } => change::clear_topics(qm, topics).await,
            Command::ChlAuth(command) => {
                chlauth::execute(qm, self.beside.as_deref(), command).await
            }
            Command::Save => display::script(qm),
            Command::Ping => Reply::done("AMQ8415I", &[]),
            Command::RefreshTls => self.refresh_tls(),
            Command::RefreshConnAuth => self.refresh_connauth(),
            Command::Authority(command) => authority::execute(qm, command).await,
            Command::Start { kind, name } => self.start(*kind, name).await,
            Command::Stop { kind, name, how } => self.stop(*kind, name, how).await,
            Command::StopConnection { number, external } => {
                connection::stop(qm, *number, external.as_deref()).await
            }
            Command::Display {
                what,
                name,
                show,
                all,
                filter,
                chosen,
                type_,
            } => {
                let request = Request {
                    issuer,
                    what: *what,
                    name,
                    show,
                    all: *all,
                    filter: filter.as_ref(),
                    chosen,
                    type_: *type_,
                };
                display::display(qm, self.beside.as_deref(), &request)
            }
        }
    }

    async fn delete(&self, kind: ObjectKind, name: &str, how: Deletion) -> Reply {
        if let Some(refusal) = self.still_active(kind, name) {
            return refusal;
        }
        let reply = change::delete(&self.qm, kind, name, how).await;
        if reply.ok
            && kind == ObjectKind::SvrConn
            && let Some(beside) = &self.beside
        {
            beside.channel_deleted(name);
        }
        reply
    }

    /// Why an object whose counterpart runs is not deleted.
    fn still_active(&self, kind: ObjectKind, name: &str) -> Option<Reply> {
        let name_of = name.to_owned();
        match kind {
            ObjectKind::Listener if self.listener_is_active(name) => {
                let reason = Reason::CCF_LISTENER_STILL_ACTIVE;
                Some(Reply::failed("AMQ8730E", &[name_of], reason))
            }
            ObjectKind::Service if self.service_is_active(name) => {
                Some(self.answer("", name, Err(ComponentError::ServiceActive)))
            }
            ObjectKind::SvrConn if self.channel_is_in_use(name) => {
                Some(self.answer("", name, Err(ComponentError::ChannelInUse)))
            }
            _ => None,
        }
    }

    fn refresh_tls(&self) -> Reply {
        let refreshed = self.beside.as_ref().map(|beside| beside.refresh_tls());
        match refreshed {
            Some(Err(why)) => {
                let inserts = [self.qm.name().to_owned(), why];
                Reply::failed("AMQ9657E", &inserts, Reason::KEY_REPOSITORY_ERROR)
            }
            // Without channels there is nothing that has read it.
            Some(Ok(())) | None => Reply::done("AMQ8560I", &[]),
        }
    }

    fn refresh_connauth(&self) -> Reply {
        let beside = self.beside.as_ref();
        match beside.map(|beside| beside.refresh_connauth()) {
            Some(Err(why)) => {
                let inserts = [self.qm.name().to_owned(), why];
                Reply::failed("AMQ2604E", &inserts, Reason::SECURITY_ERROR)
            }
            // Without channels there is nobody who is asked for a password.
            Some(Ok(())) | None => Reply::done("AMQ8560I", &[]),
        }
    }

    fn listener_is_active(&self, name: &str) -> bool {
        let beside = self.beside.iter();
        let mut listeners = beside.flat_map(|beside| beside.listeners());
        listeners.any(|listener| listener.name == name)
    }

    /// The sums of what the queue manager counts, by name.
    pub fn sums(&self) -> Vec<(&'static str, u64)> {
        metrics::sums(&self.manager())
    }

    /// Every number of the registry, in the text format that Prometheus reads.
    pub fn metrics(&self) -> String {
        let queues = self.qm.queue_statuses(|_| true).into_iter();
        let queues: Vec<_> = queues
            .map(|(name, status)| metrics::Queue { name, status })
            .collect();
        let channels = self.beside.iter().flat_map(|beside| beside.channels());
        let channels: Vec<ChannelStatus> = channels.collect();
        let lanes = self.beside.iter().flat_map(|beside| beside.lanes());
        let lanes: Vec<LaneStatus> = lanes.collect();
        [
            exposition(&[self.manager()]),
            exposition(&queues),
            exposition(&self.qm.connection_status()),
            exposition(&channels),
            exposition(&lanes),
        ]
        .concat()
    }

    fn manager(&self) -> metrics::Manager {
        let beside = self.beside.as_deref();
        metrics::Manager {
            engine: self.qm.counts(),
            log: self.qm.log().statistics(),
            beside: beside.map(Components::counts).unwrap_or_default(),
            status: self.qm.status(),
        }
    }

    fn channel_is_in_use(&self, name: &str) -> bool {
        let mut beside = self.beside.iter();
        beside.any(|beside| beside.is_channel_in_use(name))
    }

    fn service_is_active(&self, name: &str) -> bool {
        let beside = self.beside.iter();
        let mut services = beside.flat_map(|beside| beside.services());
        services.any(|status| status.service.name == name)
    }

    async fn start(&self, kind: ObjectKind, name: &str) -> Reply {
        let Some(beside) = self.beside.as_deref() else {
            return not_here();
        };
        if kind == ObjectKind::SvrConn {
            return self.answer("AMQ8018I", name, beside.start_channel(name));
        }
        let Some(object) = self.qm.object(kind, name) else {
            return unknown(kind, name);
        };
        if kind == ObjectKind::Service {
            return self.answer("AMQ8733I", name, beside.start_service(&object));
        }
        let started = beside.start_listener(&object).await;
        self.answer("AMQ8021I", name, started)
    }

    async fn stop(&self, kind: ObjectKind, name: &str, how: &StopChannel) -> Reply {
        let Some(beside) = self.beside.as_deref() else {
            return not_here();
        };
        if kind == ObjectKind::SvrConn {
            return self.answer("AMQ8019I", name, beside.stop_channel(name, how));
        }
        let object = self.qm.object(kind, name);
        if kind == ObjectKind::Service {
            let stopped = object.map(|object| beside.stop_service(&object));
            return match stopped {
                Some(stopped) => self.answer("AMQ8732I", name, stopped),
                None => unknown(kind, name),
            };
        }
        let stopped = beside.stop_listener(name).await;
        if stopped.is_err() && object.is_none() {
            return unknown(kind, name);
        }
        self.answer("AMQ8706I", name, stopped)
    }

    /// The reply to what was asked of something beside the engine.
    fn answer(&self, done: &'static str, name: &str, answer: Result<(), ComponentError>) -> Reply {
        match answer {
            Ok(()) => Reply::done(done, &[name.to_owned()]),
            Err(error) => {
                let (id, inserts, reason) = error.message(self.qm.name(), name);
                Reply::failed(id, &inserts, reason)
            }
        }
    }
}

/// Whether more clients may come in after a command, or with less protection.
fn may_expose(command: &Command) -> bool {
    let is_about = |kind: &ObjectKind| matches!(kind, ObjectKind::SvrConn | ObjectKind::Qmgr);
    match command {
        Command::Define { kind, .. } | Command::Alter { kind, .. } => is_about(kind),
        Command::ChlAuth(command) => matches!(command, ChlAuthCommand::Set { .. }),
        Command::RefreshConnAuth => true,
        _ => false,
    }
}

fn unknown(kind: ObjectKind, name: &str) -> Reply {
    let id = kind.row().message_ids.not_found;
    Reply::failed(id, &[name.to_owned()], Reason::UNKNOWN_OBJECT_NAME)
}
