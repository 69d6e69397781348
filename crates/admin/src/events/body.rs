//! What an event message says (manual: "Event message reference", "Event message MQCFH (PCF header)").
//!
//! Invariants: parameters stand in the order of the manual; what is not known is left out; of a secret attribute nothing is
//! there. Nothing is asked of the queue manager: an event has all that its message needs.

use posthaste_authority::ObjectType;
use posthaste_command::pcf::{Header, Message, Parameter, Text, Value};
use posthaste_command::{Attribute, Object, ObjectKind, by_selector, is_chlauth, shown};
use posthaste_engine::{AuditEvent, AuditKind};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;

use super::switches::Wanted;

/// Queue manager events.
pub(super) const MANAGER: &str = "SYSTEM.ADMIN.QMGR.EVENT";
/// Channel and TLS events.
pub(super) const CHANNEL: &str = "SYSTEM.ADMIN.CHANNEL.EVENT";
/// Configuration events.
pub(super) const CONFIGURATION: &str = "SYSTEM.ADMIN.CONFIG.EVENT";
/// Command events.
pub(super) const COMMAND: &str = "SYSTEM.ADMIN.COMMAND.EVENT";

/// An event message that is to be put.
#[derive(Debug)]
pub(super) struct EventMessage {
    pub(super) queue: &'static str,
    pub(super) body: Message,
}

impl EventMessage {
    fn new(queue: &'static str, command: i32, reason: Reason) -> EventMessage {
        let version = match command {
            MQCMD_CONFIG_EVENT => MQCFH_VERSION_2,
            MQCMD_COMMAND_EVENT => MQCFH_VERSION_3,
            _ => MQCFH_VERSION_1,
        };
        EventMessage {
            queue,
            body: Message {
                header: Header {
                    type_: MQCFT_EVENT,
                    version,
                    command,
                    msg_seq_number: 1,
                    control: MQCFC_LAST,
                    comp_code: MQCC_WARNING,
                    reason: reason.0,
                },
                parameters: Vec::new(),
            },
        }
    }

    /// About the queue manager `name`, with what qualifies the reason.
    fn qualified(
        queue: &'static str,
        command: i32,
        reason: Reason,
        (name, qualifier): (&str, i32),
    ) -> EventMessage {
        let message = EventMessage::new(queue, command, reason);
        message
            .text(MQCA_Q_MGR_NAME, name)
            .int(MQIACF_REASON_QUALIFIER, qualifier)
    }

    fn int(mut self, id: i32, value: i32) -> EventMessage {
        self.body.parameters.push(int(id, value));
        self
    }

    fn text(mut self, id: i32, value: &str) -> EventMessage {
        self.body.parameters.push(text(id, value));
        self
    }

    /// Nothing, if it is blank.
    fn known(self, id: i32, value: &str) -> EventMessage {
        match value.is_empty() {
            true => self,
            false => self.text(id, value),
        }
    }
}

fn int(id: i32, value: i32) -> Parameter {
    Parameter {
        id,
        value: Value::Int(value),
    }
}

fn text(id: i32, value: &str) -> Parameter {
    Parameter {
        id,
        value: Value::Text(Text::new(value)),
    }
}

/// The messages for an event of the queue manager `name`, of those that are wanted.
pub(super) fn messages(name: &str, event: &AuditEvent, wanted: Wanted) -> Vec<EventMessage> {
    let mut all = Vec::new();
    match event.kind {
        AuditKind::NotAuthorized | AuditKind::ConnectionRefused if wanted.authority => {
            all.extend(not_authorized(name, event));
        }
        AuditKind::ChannelBlocked if event.message == "AMQ2449E" => {
            all.extend(
                wanted
                    .authority
                    .then(|| connection(name, event, MQRQ_CSP_NOT_AUTHORIZED)),
            );
        }
        AuditKind::ChannelBlocked | AuditKind::ChannelWarned if wanted.channel => {
            all.push(blocked(name, event));
        }
        AuditKind::TlsRefused if wanted.tls => all.push(tls_refused(name, event)),
        AuditKind::Started if wanted.start => {
            let qualifier = (name, MQRQ_FAILOVER_NOT_PERMITTED);
            let of = EventMessage::qualified(
                MANAGER,
                MQCMD_Q_MGR_EVENT,
                Reason::Q_MGR_ACTIVE,
                qualifier,
            );
            all.push(of.known(MQCACF_HOST_NAME, &event.object));
        }
        AuditKind::Command | AuditKind::Inquired => {
            if event.reason == Reason::NOT_AUTHORIZED && wanted.authority {
                all.push(command_not_authorized(name, event));
            }
            if event.reason == Reason::NONE && wanted.channel {
                all.extend(channel_command(name, event, wanted));
            }
            if event.reason == Reason::NONE && wanted.command {
                all.push(command(name, event));
            }
            if wanted.configuration {
                configuration(name, event, &mut all);
            }
        }
        _ => {}
    }
    all
}

/// The user whose authority was checked.
fn checked(event: &AuditEvent) -> &str {
    match event.alternate.as_str() {
        "" => &event.who.user,
        user => user,
    }
}

/// Types 1, 2, 3, 5 and 6; those of commands have events of their own.
fn not_authorized(name: &str, event: &AuditEvent) -> Option<EventMessage> {
    if event.reason != Reason::NOT_AUTHORIZED {
        return None;
    }
    if event.kind == AuditKind::ConnectionRefused {
        let qualifier = match event.message {
            "AMQ9557E" => MQRQ_CONN_NOT_AUTHORIZED,
            _ => MQRQ_CSP_NOT_AUTHORIZED,
        };
        return Some(connection(name, event, qualifier));
    }
    match event.call {
        "MQCONN" => Some(connection(name, event, MQRQ_CONN_NOT_AUTHORIZED)),
        "MQOPEN" | "MQPUT1" => {
            let message = of_call(name, MQRQ_OPEN_NOT_AUTHORIZED);
            let message = message.int(MQIACF_OPEN_OPTIONS, event.options);
            let message = with_application(message, event, checked(event));
            Some(with_client(with_object(message, event), event))
        }
        "MQCLOSE" => {
            let message = of_call(name, MQRQ_CLOSE_NOT_AUTHORIZED);
            let message = with_application(message, event, checked(event));
            Some(with_client(with_object(message, event), event))
        }
        "MQSUB" => {
            let is_queue = event.object_type == Some(ObjectType::Queue);
            let message = of_call(
                name,
                match is_queue {
                    true => MQRQ_SUB_DEST_NOT_AUTHORIZED,
                    false => MQRQ_SUB_NOT_AUTHORIZED,
                },
            );
            let message = message.int(MQIACF_SUB_OPTIONS, event.options);
            let message = with_application(message, event, checked(event));
            let message = match is_queue {
                true => message
                    .text(MQCACF_DESTINATION_Q_MGR, name)
                    .text(MQCACF_DESTINATION, &event.object),
                false => with_object(message, event),
            };
            Some(with_client(message, event))
        }
        _ => None,
    }
}

fn of_call(name: &str, qualifier: i32) -> EventMessage {
    let reason = Reason::NOT_AUTHORIZED;
    EventMessage::qualified(MANAGER, MQCMD_Q_MGR_EVENT, reason, (name, qualifier))
}

fn with_application(message: EventMessage, event: &AuditEvent, user: &str) -> EventMessage {
    message
        .text(MQCACF_USER_IDENTIFIER, user)
        .int(MQIA_APPL_TYPE, event.who.appl_type)
        .text(MQCACF_APPL_NAME, &event.who.name)
}

fn with_object(message: EventMessage, event: &AuditEvent) -> EventMessage {
    let id = match event.object_type {
        Some(ObjectType::Queue) => MQCA_Q_NAME,
        Some(ObjectType::Process) => MQCA_PROCESS_NAME,
        Some(ObjectType::Topic) => MQCA_TOPIC_STRING,
        Some(ObjectType::Namelist) => MQCA_NAMELIST_NAME,
        _ => return message,
    };
    message.text(id, &event.object)
}

fn with_client(message: EventMessage, event: &AuditEvent) -> EventMessage {
    message
        .known(MQCACH_CONNECTION_NAME, &event.who.conname)
        .known(MQCACH_CHANNEL_NAME, &event.who.channel)
}

/// Not Authorized (type 1).
fn connection(name: &str, event: &AuditEvent, qualifier: i32) -> EventMessage {
    let message = with_application(of_call(name, qualifier), event, checked(event));
    let message = with_client(message, event);
    match qualifier {
        MQRQ_CSP_NOT_AUTHORIZED => message.known(MQCACF_CSP_USER_IDENTIFIER, &event.claimed),
        _ => message,
    }
}

/// Not Authorized (type 4).
fn command_not_authorized(name: &str, event: &AuditEvent) -> EventMessage {
    of_call(name, MQRQ_CMD_NOT_AUTHORIZED)
        .int(MQIACF_COMMAND, event.command_number)
        .text(MQCACF_USER_IDENTIFIER, &event.who.user)
}

/// Channel Blocked.
fn blocked(name: &str, event: &AuditEvent) -> EventMessage {
    let who = &event.who;
    let qualifier = match event.message {
        _ if who.channel.is_empty() => MQRQ_CHANNEL_BLOCKED_ADDRESS,
        "AMQ9776E" => MQRQ_CHANNEL_BLOCKED_USERID,
        "AMQ2448W" if event.because.ends_with("TYPE(BLOCKUSER)") => MQRQ_CHANNEL_BLOCKED_USERID,
        "AMQ2446E" => MQRQ_CHANNEL_BLOCKED_ADDRESS,
        _ => MQRQ_CHANNEL_BLOCKED_NOACCESS,
    };
    let qualified = (name, qualifier);
    let mut message =
        EventMessage::qualified(CHANNEL, MQCMD_CHANNEL_EVENT, event.reason, qualified);
    if qualifier != MQRQ_CHANNEL_BLOCKED_ADDRESS {
        message = message.text(MQCACH_CHANNEL_NAME, &who.channel);
    }
    if qualifier == MQRQ_CHANNEL_BLOCKED_USERID {
        message = message.text(MQCACF_USER_IDENTIFIER, &who.user);
    }
    message = message.text(MQCACH_CONNECTION_NAME, &who.conname);
    if qualifier == MQRQ_CHANNEL_BLOCKED_NOACCESS {
        message = message
            .known(MQCACH_SSL_PEER_NAME, &who.certificate)
            .known(MQCACH_CLIENT_USER_ID, &event.claimed);
    }
    match who.name.is_empty() {
        true => message,
        false => message
            .int(MQIA_APPL_TYPE, who.appl_type)
            .text(MQCACF_APPL_NAME, &who.name),
    }
}

/// Channel Started, Channel Stopped By User: of commands. Connections of clients cause neither (manual: "Channel events").
fn channel_command(name: &str, event: &AuditEvent, wanted: Wanted) -> Option<EventMessage> {
    let message = match event.command_number {
        MQCMD_START_CHANNEL if wanted.every_channel => {
            let reason = Reason::CHANNEL_STARTED;
            EventMessage::new(CHANNEL, MQCMD_CHANNEL_EVENT, reason).text(MQCA_Q_MGR_NAME, name)
        }
        MQCMD_STOP_CHANNEL => {
            let qualified = (name, MQRQ_CHANNEL_STOPPED_DISABLED);
            let reason = Reason::CHANNEL_STOPPED_BY_USER;
            EventMessage::qualified(CHANNEL, MQCMD_CHANNEL_EVENT, reason, qualified)
        }
        _ => return None,
    };
    Some(message.text(MQCACH_CHANNEL_NAME, &event.object))
}

/// Channel SSL Error.
fn tls_refused(name: &str, event: &AuditEvent) -> EventMessage {
    let qualifier = match event.message {
        "AMQ9631E" | "AMQ9635E" | "AMQ9639E" | "AMQ9673E" => MQRQ_SSL_CIPHER_SPEC_ERROR,
        "AMQ9636E" | "AMQ9640E" => MQRQ_SSL_PEER_NAME_ERROR,
        "AMQ9637E" => MQRQ_SSL_CLIENT_AUTH_ERROR,
        _ => MQRQ_SSL_HANDSHAKE_ERROR,
    };
    let qualified = (name, qualifier);
    let message = EventMessage::qualified(CHANNEL, MQCMD_CHANNEL_EVENT, event.reason, qualified)
        .known(MQCACH_CHANNEL_NAME, &event.who.channel)
        .known(MQCACH_CONNECTION_NAME, &event.who.conname);
    match qualifier {
        MQRQ_SSL_PEER_NAME_ERROR => message.known(MQCACH_SSL_PEER_NAME, &event.who.certificate),
        _ => message,
    }
}

/// Who has issued a command.
fn origin(name: &str, event: &AuditEvent) -> Vec<Parameter> {
    let who = &event.who;
    // A process is known of those only who sit at this machine, and send no message.
    let origin = match (who.name.is_empty(), who.pid) {
        (true, _) => MQEVO_INTERNAL,
        (false, 0) => MQEVO_MSG,
        (false, _) => MQEVO_CONSOLE,
    };
    let is_message = origin == MQEVO_MSG;
    let mut all = vec![
        text(MQCACF_EVENT_USER_ID, &who.user),
        int(MQIACF_EVENT_ORIGIN, origin),
        text(MQCACF_EVENT_Q_MGR, name),
    ];
    if is_message {
        all.push(int(MQIACF_EVENT_APPL_TYPE, who.appl_type));
        all.push(text(MQCACF_EVENT_APPL_NAME, &who.name));
    }
    all
}

fn command(name: &str, event: &AuditEvent) -> EventMessage {
    let mut context = origin(name, event);
    context.push(int(MQIACF_COMMAND, event.command_number));
    let data = vec![text(MQCACF_COMMAND_MQSC, &event.command)];
    let mut message = EventMessage::new(COMMAND, MQCMD_COMMAND_EVENT, Reason::COMMAND_MQSC);
    for (id, group) in [
        (MQGACF_COMMAND_CONTEXT, context),
        (MQGACF_COMMAND_DATA, data),
    ] {
        message.body.parameters.push(Parameter {
            id,
            value: Value::Group(group),
        });
    }
    message
}

/// One message for what was made or deleted, two for what was changed: before, and after.
fn configuration(name: &str, event: &AuditEvent, all: &mut Vec<EventMessage>) {
    let mut push = |reason, object: &Object, (number, control)| {
        let mut message = EventMessage::new(CONFIGURATION, MQCMD_CONFIG_EVENT, reason);
        message.body.header.msg_seq_number = number;
        message.body.header.control = control;
        message.body.parameters = origin(name, event);
        attributes(object, &mut message.body.parameters);
        all.push(message);
    };
    let only = (1, MQCFC_LAST);
    let same = |one: &Object, all: &[Object]| {
        let mut all = all.iter();
        all.position(|other| (other.kind, &other.name) == (one.kind, &one.name))
    };
    for before in &event.before {
        match same(before, &event.after).map(|at| &event.after[at]) {
            None => push(Reason::CONFIG_DELETE_OBJECT, before, only),
            // Of records others may be beside the one that was changed; a definition is altered to what it was, too.
            Some(after) if is_record(after) && after == before => {}
            Some(after) => {
                let reason = Reason::CONFIG_CHANGE_OBJECT;
                push(reason, before, (1, MQCFC_NOT_LAST));
                push(reason, after, (2, MQCFC_LAST));
            }
        }
    }
    for made in &event.after {
        if same(made, &event.before).is_none() {
            push(Reason::CONFIG_CREATE_OBJECT, made, only);
        }
    }
}

fn is_record(object: &Object) -> bool {
    object.kind == ObjectKind::AuthRec || is_chlauth(object.kind)
}

/// The type that an event names.
fn type_of(object: &Object) -> i32 {
    match object.kind {
        ObjectKind::AuthRec => MQOT_AUTH_REC,
        kind if is_chlauth(kind) => MQOT_CHLAUTH,
        kind => kind.object_type().code(),
    }
}

/// Type, name and attributes of an object.
fn attributes(object: &Object, out: &mut Vec<Parameter>) {
    let row = object.kind.row();
    out.push(int(MQIACF_OBJECT_TYPE, type_of(object)));
    // Where a record's name is no attribute of its own, that which it is about stands for it.
    let name = match is_record(object) {
        true => object.attrs.text(row.name),
        false => &object.name,
    };
    out.push(text(row.name, name));
    if let Some(kind) = &row.type_ {
        out.push(int(kind.selector, kind.code));
    }
    for (selector, value) in object.attrs.iter() {
        let attribute = by_selector(object.kind, selector);
        let is_there =
            selector == row.name || row.type_.as_ref().is_some_and(|t| t.selector == selector);
        if let Some(attribute) = attribute.filter(|of| !of.secret && !is_there) {
            let id = match (object.kind, selector) {
                // The other is the type of the object itself.
                (ObjectKind::AuthRec, MQIACF_OBJECT_TYPE) => MQIACF_AUTH_REC_TYPE,
                _ => selector,
            };
            out.push(parameter(attribute, id, value));
        }
    }
}

fn parameter(attribute: &Attribute, id: i32, value: &posthaste_command::Value) -> Parameter {
    use posthaste_command::Value as Of;
    let narrow = |value: &i64| i32::try_from(*value).unwrap_or(i32::MAX);
    let value = match value {
        Of::Int(value) => match i32::try_from(*value) {
            Ok(value) => Value::Int(value),
            Err(_) => Value::Int64(*value),
        },
        Of::Ints(values) => Value::Ints(values.iter().map(narrow).collect()),
        Of::Texts(texts) => Value::Texts {
            ccsid: 1208,
            width: texts.iter().map(String::len).max().unwrap_or(0),
            items: texts.iter().map(|text| text.clone().into_bytes()).collect(),
        },
        Of::Bytes(bytes) => Value::Bytes(bytes.clone()),
        Of::Text(text) => Value::Text(Text::new(text)),
        Of::Blank => Value::Text(Text::new("")),
        other => Value::Text(Text::new(&shown(attribute, other))),
    };
    Parameter { id, value }
}
