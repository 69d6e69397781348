//! MQSC commands on what the engine owns.
//!
//! Invariant: a command that changes something is answered when its log record is forced. Commands
//! about running channels and listeners belong to whoever runs those; they are refused here.

use std::sync::Arc;

use posthaste_command::{
    Attrs, Command, DisplayWhat, Object, ObjectKind, Reply, attributes, shown,
};
use posthaste_mqi::Reason;
use posthaste_recovery_log::Lsn;

use super::holders::holders;
use super::{Beside, Catalogue, ChangeError, show};
use crate::manager::{Inner, QueueManager};
use crate::verbs::send::Patience;
use crate::verbs::valid_name;

/// What is said when something was done: numbers for a queue, a channel, a listener.
fn said(
    kind: ObjectKind,
    queue: &'static str,
    channel: &'static str,
    listener: &'static str,
) -> &'static str {
    match kind {
        ObjectKind::SvrConn => channel,
        ObjectKind::Listener => listener,
        ObjectKind::Qmgr => "AMQ8005I",
        _ => queue,
    }
}

fn refused(kind: ObjectKind, name: &str, error: ChangeError) -> Reply {
    let name = [name.to_owned()];
    let failed = |reason: Reason| Reply::failed("AMQ8101S", &[reason.0.to_string()], reason);
    match error {
        ChangeError::Exists(_) => {
            let id = said(kind, "AMQ8150E", "AMQ8226E", "AMQ8150E");
            Reply::failed(id, &name, Reason::OBJECT_ALREADY_EXISTS)
        }
        ChangeError::NotFound => {
            let id = said(kind, "AMQ8147E", "AMQ8227E", "AMQ8147E");
            Reply::failed(id, &name, Reason::UNKNOWN_OBJECT_NAME)
        }
        ChangeError::WrongKind(_) => Reply::failed("AMQ8151E", &name, Reason::OBJECT_TYPE_ERROR),
        ChangeError::InUse | ChangeError::Uncommitted => {
            Reply::failed("AMQ8148E", &name, Reason::OBJECT_IN_USE)
        }
        ChangeError::NotEmpty => Reply::failed("AMQ8143E", &name, Reason::Q_NOT_EMPTY),
        ChangeError::LogFull => failed(Reason::RESOURCE_PROBLEM),
        ChangeError::Failed(reason) => failed(reason),
    }
}

/// What of `given` asks for something that is not in this release.
fn not_here(kind: ObjectKind, given: &Attrs) -> Option<Reply> {
    let asked: Vec<_> = attributes(kind)
        .filter_map(|attribute| {
            let value = given.get(attribute.selector)?;
            let taken = attribute.taken().filter(|_| !attribute.takes(value))?;
            let value = shown(attribute, value);
            Some(format!("{}({value}), only {taken}", attribute.keyword))
        })
        .collect();
    let unsupported = |asked| Reply::failed("AMQ2406E", &[asked], Reason::FUNCTION_NOT_SUPPORTED);
    (!asked.is_empty()).then(|| unsupported(asked.join("; ")))
}

/// The object whose attributes a definition without LIKE begins with.
fn default_object(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Qmgr => "",
        ObjectKind::QLocal => "SYSTEM.DEFAULT.LOCAL.QUEUE",
        ObjectKind::QModel => "SYSTEM.DEFAULT.MODEL.QUEUE",
        ObjectKind::QAlias => "SYSTEM.DEFAULT.ALIAS.QUEUE",
        ObjectKind::QRemote => "SYSTEM.DEFAULT.REMOTE.QUEUE",
        ObjectKind::SvrConn => "SYSTEM.DEF.SVRCONN",
        ObjectKind::Listener => "SYSTEM.DEFAULT.LISTENER.TCP",
    }
}

/// The attributes a new definition begins with.
fn base(catalogue: &Catalogue, kind: ObjectKind, like: Option<&str>) -> Result<Attrs, ChangeError> {
    let mut attrs = Attrs::defaults(kind);
    let name = like.unwrap_or_else(|| default_object(kind));
    match catalogue.object(kind, name) {
        Some(object) => attrs.merge(&object.attrs),
        None if like.is_some() => return Err(ChangeError::NotFound),
        None => {}
    }
    Ok(attrs)
}

impl Inner {
    /// Why a queue was not deleted or cleared, and who is in the way.
    fn hindered(&self, kind: ObjectKind, name: &str, error: ChangeError) -> Reply {
        let held = matches!(error, ChangeError::InUse | ChangeError::Uncommitted);
        let mut reply = refused(kind, name, error);
        if held && let Some(queue) = self.catalogue.local_queue(name) {
            for holder in holders(self, &queue) {
                reply.add_message("AMQ2403I", &holder);
            }
        }
        reply
    }

    /// Makes a change. Where the log has no room for it, waits until maintenance has made some, as a put does.
    async fn with_log_room<T>(
        &self,
        change: impl Fn() -> Result<T, ChangeError>,
    ) -> Result<T, ChangeError> {
        let mut patience = Patience::new();
        loop {
            match change() {
                Err(ChangeError::LogFull) => {
                    let waited = patience.wait_for_room(self).await;
                    waited.map_err(ChangeError::Failed)?;
                }
                made => return made,
            }
        }
    }

    /// Waits until a change is durable, then says so.
    async fn settled(&self, end: Option<Lsn>, reply: Reply) -> Reply {
        if let Some(end) = end
            && let Err(error) = self.log.force(end).await
        {
            self.log_failed(&error);
            return Reply::failed("AMQ8145E", &[], Reason::CONNECTION_BROKEN);
        }
        if let Some(end) = end {
            self.note_progress(end);
        }
        reply
    }

    async fn define(
        self: &Arc<Self>,
        kind: ObjectKind,
        name: &str,
        replace: bool,
        like: Option<&str>,
        given: &Attrs,
    ) -> Reply {
        if !valid_name(name) || name.len() > kind.name_length() {
            let name = [name.to_owned()];
            return Reply::failed("AMQ8424E", &name, Reason::OBJECT_NAME_ERROR);
        }
        if let Some(refused) = not_here(kind, given) {
            return refused;
        }
        let attrs = match base(&self.catalogue, kind, like) {
            Ok(attrs) => attrs,
            Err(error) => return refused(kind, like.unwrap_or(name), error),
        };
        let mut object = Object {
            kind,
            name: name.to_owned(),
            attrs,
        };
        object.attrs.merge(given);
        let define = || self.catalogue.define(self, object.clone(), replace);
        match self.with_log_room(define).await {
            Ok((_, end)) => {
                let id = said(kind, "AMQ8006I", "AMQ8014I", "AMQ8626I");
                self.settled(end, Reply::done(id, &[name.to_owned()])).await
            }
            Err(error) => refused(kind, name, error),
        }
    }

    async fn alter(self: &Arc<Self>, kind: ObjectKind, name: &str, attrs: &Attrs) -> Reply {
        if let Some(refused) = not_here(kind, attrs) {
            return refused;
        }
        let alter = || self.catalogue.alter(self, kind, name, attrs);
        match self.with_log_room(alter).await {
            Ok(end) => {
                let id = said(kind, "AMQ8008I", "AMQ8016I", "AMQ8627I");
                self.settled(end, Reply::done(id, &[name.to_owned()])).await
            }
            Err(error) => refused(kind, name, error),
        }
    }

    async fn delete(self: &Arc<Self>, kind: ObjectKind, name: &str, purge: bool) -> Reply {
        let delete = || self.catalogue.delete(self, kind, name, purge);
        match self.with_log_room(delete).await {
            Ok(end) => {
                let id = said(kind, "AMQ8007I", "AMQ8015I", "AMQ8628I");
                self.settled(end, Reply::done(id, &[name.to_owned()])).await
            }
            Err(error) => self.hindered(kind, name, error),
        }
    }

    /// A damaged queue that has been cleared is usable after the next checkpoint: takes it at once. Should it fail,
    /// the operator is told why, and a later one does it.
    async fn recover_cleared(self: &Arc<Self>, name: &str) {
        let queue = self.catalogue.local_queue(name);
        if queue.is_some_and(|queue| queue.lock().usable().is_err()) {
            let _ = self.checkpoint_now(false).await;
        }
    }

    async fn clear(self: &Arc<Self>, name: &str) -> Reply {
        let clear = || self.catalogue.clear(self, name);
        let cleared = match self.with_log_room(clear).await {
            Ok(cleared) => cleared,
            Err(error) => return self.hindered(ObjectKind::QLocal, name, error),
        };
        // Should the one who asked go away meanwhile, maintenance sees to it.
        match cleared.done().await {
            Ok(()) => {
                self.recover_cleared(name).await;
                Reply::done("AMQ8022I", &[name.to_owned()])
            }
            Err(reason) => refused(ObjectKind::QLocal, name, ChangeError::Failed(reason)),
        }
    }
}

impl QueueManager {
    /// Carries out a command on definitions, queues, connections or the queue manager. The reply is
    /// what runmqsc shows.
    pub async fn execute(&self, command: &Command) -> Reply {
        self.execute_beside(command, &Beside::default()).await
    }

    /// Carries out a command as [`QueueManager::execute`] does, for an owner that runs parts of the queue manager
    /// beside the engine.
    pub async fn execute_beside(&self, command: &Command, beside: &Beside) -> Reply {
        let inner = self.inner();
        if let Err(reason) = inner.running() {
            return Reply::failed("AMQ8146E", std::slice::from_ref(&inner.config.name), reason);
        }
        match command {
            Command::Define {
                kind,
                name,
                replace,
                like,
                attrs,
            } => {
                inner
                    .define(*kind, name, *replace, like.as_deref(), attrs)
                    .await
            }
            Command::Alter {
                kind, name, attrs, ..
            } => inner.alter(*kind, name, attrs).await,
            Command::Delete { kind, name, purge } => inner.delete(*kind, name, *purge).await,
            Command::Clear { name } => inner.clear(name).await,
            Command::Save => show::definitions(self),
            Command::Ping => Reply::done("AMQ8415I", &[]),
            Command::Display {
                what: DisplayWhat::ChStatus | DisplayWhat::LsStatus,
                ..
            }
            | Command::Start { .. }
            | Command::Stop { .. } => {
                let what = ["a command about running channels or listeners".to_owned()];
                Reply::failed("AMQ2401E", &what, Reason::FUNCTION_NOT_SUPPORTED)
            }
            Command::Display {
                what,
                name,
                show,
                all,
                filter,
                type_,
            } => {
                let request = show::Request {
                    what: *what,
                    name,
                    show,
                    all: *all,
                    filter: filter.as_ref(),
                    type_: *type_,
                };
                show::display(self, &request, beside)
            }
        }
    }
}
