//! What whoever audits is given of commands.
//!
//! Invariants: of each command that changes something, or would have, there is one event, with what came of it; secrets in its
//! text are hidden. One that only shows is an event of another kind.

use posthaste_authority::ObjectType;
use posthaste_command::{
    Attrs, AuthorityCommand, ChlAuthCommand, Command, DisplayWhat, Object, ObjectKind, Reply,
    messages, without_secrets,
};
use posthaste_engine::{Application, AuditEvent, AuditKind, Issuer, QueueManager};
use posthaste_mqi::constants::*;

/// The objects that a command may make, change or delete, as they are now. Records are looked for only while configuration
/// events are made of them.
pub(crate) fn subjects(qm: &QueueManager, command: &Command) -> Vec<Object> {
    let records = |kind: ObjectKind, is_of: &dyn Fn(&Object) -> bool| {
        let mut all = match has_configuration_events(qm) {
            true => qm.objects(kind),
            false => Vec::new(),
        };
        all.retain(is_of);
        all
    };
    match command {
        Command::Alter {
            kind: kind @ ObjectKind::Qmgr,
            ..
        } => qm.object(*kind, qm.name()).into_iter().collect(),
        Command::Define { kind, name, .. }
        | Command::Alter { kind, name, .. }
        | Command::Delete { kind, name, .. }
            if *kind != ObjectKind::Sub =>
        {
            qm.object(*kind, name).into_iter().collect()
        }
        Command::ChlAuth(ChlAuthCommand::Set { kind, attrs, .. }) => {
            let profile = attrs.text(MQCACH_CHANNEL_NAME);
            let is_of = |one: &Object| one.attrs.text(MQCACH_CHANNEL_NAME) == profile;
            records(*kind, &is_of)
        }
        Command::Authority(
            AuthorityCommand::Set { record, .. } | AuthorityCommand::Delete { record },
        ) => records(ObjectKind::AuthRec, &|one| {
            one.attrs.text(MQCACF_AUTH_PROFILE_NAME) == record.profile.text()
                && one.attrs.int(MQIACF_OBJECT_TYPE) == record.object_type.code()
        }),
        _ => Vec::new(),
    }
}

fn has_configuration_events(qm: &QueueManager) -> bool {
    let read = |attrs: &Attrs| attrs.int(MQIA_CONFIGURATION_EVENT) != MQEVR_DISABLED;
    let read = qm.read_object(ObjectKind::Qmgr, qm.name(), read);
    read.unwrap_or(false)
}

/// A command of an issuer was answered; `before` are its [`subjects`] as they were.
pub(crate) fn carried_out(
    qm: &QueueManager,
    issuer: &Issuer,
    (text, command): (&str, &Command),
    before: Vec<Object>,
    reply: &Reply,
) {
    let (number, object) = about(command);
    let first = reply.messages.first();
    let message = first.and_then(|(id, _)| messages::find(id));
    let kind = match changes(command) {
        true => AuditKind::Command,
        false => AuditKind::Inquired,
    };
    let (before, after) = match reply.ok {
        true => (before, subjects(qm, command)),
        false => (Vec::new(), Vec::new()),
    };
    let event = AuditEvent {
        who: of(issuer),
        command: without_secrets(text.trim()),
        command_number: number,
        object_type: object.map(|(kind, _)| kind.object_type()),
        object: match object {
            Some((ObjectKind::Qmgr, _)) => qm.name().to_owned(),
            Some((_, name)) => name.to_owned(),
            None => String::new(),
        },
        before,
        after,
        message: message.map_or("", |message| message.id),
        ..AuditEvent::new(kind, reply.reason)
    };
    qm.operator().audit(event);
}

/// Who issues a command.
pub(crate) fn of(issuer: &Issuer) -> Application {
    issuer.application().map_or_else(owner, Application::clone)
}

/// Whoever owns the queue manager, in its own process.
fn owner() -> Application {
    Application {
        pid: std::process::id(),
        ..Application::default()
    }
}

/// Whether a command is not only a question.
fn changes(command: &Command) -> bool {
    !matches!(
        command,
        Command::Display { .. }
            | Command::Ping
            | Command::Save
            | Command::ChlAuth(ChlAuthCommand::Display { .. })
            | Command::Authority(
                AuthorityCommand::Records { .. }
                    | AuthorityCommand::Entity { .. }
                    | AuthorityCommand::Service { .. }
            )
    )
}

/// Which command of the programmable command formats a text is (MQCMD_).
pub(crate) fn number_of(text: &str) -> Option<i32> {
    let command = posthaste_command::parse(text).ok()??;
    Some(about(&command).0).filter(|number| *number != MQCMD_NONE)
}

/// Which command of the programmable command formats it is (MQCMD_), and what it is about.
fn about(command: &Command) -> (i32, Option<(ObjectKind, &str)>) {
    let [create, change, delete] = match command {
        Command::Define { kind, .. }
        | Command::Alter { kind, .. }
        | Command::Delete { kind, .. } => numbers(*kind),
        _ => [MQCMD_NONE; 3],
    };
    match command {
        Command::Define { kind, name, .. } => (create, Some((*kind, name))),
        Command::Alter { kind, name, .. } => (change, Some((*kind, name))),
        Command::Delete { kind, name, .. } => (delete, Some((*kind, name))),
        Command::EndSubscription { .. } => (MQCMD_DELETE_SUBSCRIPTION, None),
        Command::Clear { name } => (MQCMD_CLEAR_Q, Some((ObjectKind::QLocal, name))),
        Command::ClearTopics { .. } => (MQCMD_CLEAR_TOPIC_STRING, None),
        Command::Start { kind, name } => {
            let [start, _] = running(*kind);
            (start, Some((*kind, name)))
        }
        Command::Stop { kind, name, .. } => {
            let [_, stop] = running(*kind);
            (stop, Some((*kind, name)))
        }
        Command::StopConnection { .. } => (MQCMD_STOP_CONNECTION, None),
        Command::RefreshTls | Command::RefreshConnAuth => (MQCMD_REFRESH_SECURITY, None),
        Command::ChlAuth(ChlAuthCommand::Display { .. }) => (MQCMD_INQUIRE_CHLAUTH_RECS, None),
        Command::ChlAuth(_) => (MQCMD_SET_CHLAUTH_REC, None),
        Command::Authority(AuthorityCommand::Delete { .. }) => (MQCMD_DELETE_AUTH_REC, None),
        Command::Authority(AuthorityCommand::Refresh) => (MQCMD_REFRESH_SECURITY, None),
        Command::Authority(AuthorityCommand::Set { .. }) => (MQCMD_SET_AUTH_REC, None),
        Command::Authority(AuthorityCommand::Records { .. }) => (MQCMD_INQUIRE_AUTH_RECS, None),
        Command::Authority(AuthorityCommand::Entity { .. }) => (MQCMD_INQUIRE_ENTITY_AUTH, None),
        Command::Authority(AuthorityCommand::Service { .. }) => (MQCMD_INQUIRE_AUTH_SERVICE, None),
        Command::Display { what, .. } => (inquiry(*what), None),
        Command::Ping => (MQCMD_PING_Q_MGR, None),
        Command::Save => (MQCMD_NONE, None),
    }
}

/// The numbers of the commands that create, change and delete objects of a kind.
fn numbers(kind: ObjectKind) -> [i32; 3] {
    if kind == ObjectKind::Sub {
        return [
            MQCMD_CREATE_SUBSCRIPTION,
            MQCMD_CHANGE_SUBSCRIPTION,
            MQCMD_DELETE_SUBSCRIPTION,
        ];
    }
    match kind.object_type() {
        ObjectType::QueueManager => [MQCMD_NONE, MQCMD_CHANGE_Q_MGR, MQCMD_NONE],
        ObjectType::Queue => [MQCMD_CREATE_Q, MQCMD_CHANGE_Q, MQCMD_DELETE_Q],
        ObjectType::Channel | ObjectType::ClntConn => [
            MQCMD_CREATE_CHANNEL,
            MQCMD_CHANGE_CHANNEL,
            MQCMD_DELETE_CHANNEL,
        ],
        ObjectType::Listener => [
            MQCMD_CREATE_LISTENER,
            MQCMD_CHANGE_LISTENER,
            MQCMD_DELETE_LISTENER,
        ],
        ObjectType::Namelist => [
            MQCMD_CREATE_NAMELIST,
            MQCMD_CHANGE_NAMELIST,
            MQCMD_DELETE_NAMELIST,
        ],
        ObjectType::Process => [
            MQCMD_CREATE_PROCESS,
            MQCMD_CHANGE_PROCESS,
            MQCMD_DELETE_PROCESS,
        ],
        ObjectType::AuthInfo => [
            MQCMD_CREATE_AUTH_INFO,
            MQCMD_CHANGE_AUTH_INFO,
            MQCMD_DELETE_AUTH_INFO,
        ],
        ObjectType::Service => [
            MQCMD_CREATE_SERVICE,
            MQCMD_CHANGE_SERVICE,
            MQCMD_DELETE_SERVICE,
        ],
        ObjectType::Topic => [MQCMD_CREATE_TOPIC, MQCMD_CHANGE_TOPIC, MQCMD_DELETE_TOPIC],
        ObjectType::CommInfo => [
            MQCMD_CREATE_COMM_INFO,
            MQCMD_CHANGE_COMM_INFO,
            MQCMD_DELETE_COMM_INFO,
        ],
        _ => [MQCMD_NONE; 3],
    }
}

/// The number of the command that shows something.
fn inquiry(what: DisplayWhat) -> i32 {
    match what {
        DisplayWhat::Queue => MQCMD_INQUIRE_Q,
        DisplayWhat::QStatus => MQCMD_INQUIRE_Q_STATUS,
        DisplayWhat::QMStatus => MQCMD_INQUIRE_Q_MGR_STATUS,
        DisplayWhat::Conn => MQCMD_INQUIRE_CONNECTION,
        DisplayWhat::ChStatus => MQCMD_INQUIRE_CHANNEL_STATUS,
        DisplayWhat::LsStatus => MQCMD_INQUIRE_LISTENER_STATUS,
        DisplayWhat::SvStatus => MQCMD_INQUIRE_SERVICE_STATUS,
        DisplayWhat::TpStatus => MQCMD_INQUIRE_TOPIC_STATUS,
        DisplayWhat::SbStatus => MQCMD_INQUIRE_SUB_STATUS,
        DisplayWhat::PubSub => MQCMD_INQUIRE_PUBSUB_STATUS,
        DisplayWhat::Object(ObjectKind::Sub) => MQCMD_INQUIRE_SUBSCRIPTION,
        DisplayWhat::Object(kind) => match kind.object_type() {
            ObjectType::QueueManager => MQCMD_INQUIRE_Q_MGR,
            ObjectType::Queue => MQCMD_INQUIRE_Q,
            ObjectType::Channel | ObjectType::ClntConn => MQCMD_INQUIRE_CHANNEL,
            ObjectType::Listener => MQCMD_INQUIRE_LISTENER,
            ObjectType::Namelist => MQCMD_INQUIRE_NAMELIST,
            ObjectType::Process => MQCMD_INQUIRE_PROCESS,
            ObjectType::AuthInfo => MQCMD_INQUIRE_AUTH_INFO,
            ObjectType::Service => MQCMD_INQUIRE_SERVICE,
            ObjectType::Topic => MQCMD_INQUIRE_TOPIC,
            ObjectType::CommInfo => MQCMD_INQUIRE_COMM_INFO,
            _ => MQCMD_NONE,
        },
    }
}

/// The numbers of the commands that start and stop what there is of a kind.
fn running(kind: ObjectKind) -> [i32; 2] {
    match kind {
        ObjectKind::Listener => [MQCMD_START_CHANNEL_LISTENER, MQCMD_STOP_CHANNEL_LISTENER],
        ObjectKind::Service => [MQCMD_START_SERVICE, MQCMD_STOP_SERVICE],
        _ => [MQCMD_START_CHANNEL, MQCMD_STOP_CHANNEL],
    }
}
