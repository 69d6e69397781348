//! Changes of definitions and queues: what is said when one was made, and when it was not.

use posthaste_command::{
    Attrs, Deletion, ObjectKind, Reply, attributes, by_selector, is_chlauth, shown,
};
use posthaste_engine::{
    ChangeError, ChlAuthError, Held, HeldBy, Holder, NewDefinition, NoEntity, QueueManager,
};
use posthaste_mqi::constants::MQCA_TOPIC_STRING;
use posthaste_mqi::{Reason, hex};

use crate::transport_security;

/// A change, and whom it was about.
struct Change<'a> {
    qm: &'a QueueManager,
    kind: ObjectKind,
    name: &'a str,
    /// What was given with it.
    attrs: Option<&'a Attrs>,
}

impl Change<'_> {
    fn done(&self, id: &'static str) -> Reply {
        let mut reply = Reply::done(id, &[self.name.to_owned()]);
        if let Some(given) = self.attrs {
            say_what_is_kept(self.kind, given, &mut reply);
        }
        reply
    }

    fn refused(&self, error: ChangeError) -> Reply {
        let name = [self.name.to_owned()];
        match error {
            ChangeError::NotRunning(reason) => {
                Reply::failed("AMQ8146E", &[self.qm.name().to_owned()], reason)
            }
            ChangeError::BadName => Reply::failed("AMQ8424E", &name, Reason::OBJECT_NAME_ERROR),
            ChangeError::Entity(NoEntity::Unknown) => {
                Reply::failed("AMQ8871E", &name, Reason::UNKNOWN_ENTITY)
            }
            ChangeError::Entity(NoEntity::NoAnswer) => {
                Reply::failed("AMQ2434E", &name, Reason::SECURITY_ERROR)
            }
            ChangeError::NotSupported(selectors) => self.not_supported(&selectors),
            ChangeError::Exists(_) => Reply::failed(
                self.kind.row().message_ids.exists,
                &name,
                Reason::OBJECT_ALREADY_EXISTS,
            ),
            ChangeError::NotFound if is_chlauth(self.kind) => {
                let id = self.kind.row().message_ids.not_found;
                Reply::failed(id, &[], Reason::CCF_CHLAUTH_NOT_FOUND)
            }
            ChangeError::NotFound => Reply::failed(
                self.kind.row().message_ids.not_found,
                &name,
                unknown(self.kind),
            ),
            ChangeError::WrongKind(_) => {
                Reply::failed("AMQ8151E", &name, Reason::OBJECT_TYPE_ERROR)
            }
            ChangeError::InUse(holders) | ChangeError::Uncommitted(holders) => {
                self.in_use(&holders, Reason::OBJECT_IN_USE)
            }
            ChangeError::NeedsForce(holders) => {
                let mut reply = self.in_use(&holders, Reason::CCF_OBJECT_OPEN_FORCE);
                reply.add_message("AMQ2417I", &name);
                reply
            }
            ChangeError::Fixed(selector) => {
                let keyword = by_selector(self.kind, selector).map_or("", |row| row.keyword);
                let inserts = [keyword.to_owned(), self.name.to_owned()];
                Reply::failed("AMQ2408E", &inserts, Reason::CCF_PARM_CONFLICT)
            }
            ChangeError::NoTopicString => {
                Reply::failed("AMQ2409E", &name, Reason::TOPIC_STRING_ERROR)
            }
            ChangeError::TopicStringTaken(other) => {
                let reason = Reason::CCF_TOPICSTR_ALREADY_EXISTS;
                Reply::failed("AMQ2410E", &[self.name.to_owned(), other], reason)
            }
            ChangeError::NoDestination => {
                Reply::failed("AMQ2411E", &name, Reason::CCF_DEST_NAME_ERROR)
            }
            ChangeError::UnknownDestination(queue) => {
                let inserts = [self.name.to_owned(), queue];
                Reply::failed("AMQ2412E", &inserts, Reason::CCF_INVALID_DESTINATION)
            }
            ChangeError::ChlAuth(error) => refused_chlauth(error),
            ChangeError::NotEmpty => Reply::failed("AMQ8143E", &name, Reason::Q_NOT_EMPTY),
            ChangeError::LogFull => {
                let reason = Reason::RESOURCE_PROBLEM;
                Reply::failed("AMQ8101S", &[reason.0.to_string()], reason)
            }
            ChangeError::NotForced => Reply::failed("AMQ8145E", &[], Reason::CONNECTION_BROKEN),
            ChangeError::Failed(reason) => self.failed(reason),
        }
    }

    /// Somebody is in the way: these, as far as they could be found.
    fn in_use(&self, holders: &[Holder], reason: Reason) -> Reply {
        let mut reply = Reply::failed("AMQ8148E", &[self.name.to_owned()], reason);
        for holder in holders {
            name_holder(holder, &mut reply);
        }
        reply
    }

    /// Failed as the engine says.
    fn failed(&self, reason: Reason) -> Reply {
        match (self.kind, reason) {
            (ObjectKind::Sub, reason) => {
                let inserts = [self.name.to_owned(), reason.to_string()];
                Reply::failed("AMQ2413E", &inserts, reason)
            }
            (ObjectKind::Topic, Reason::TOPIC_STRING_ERROR) => {
                let topic = self.attrs.map_or("", |attrs| attrs.text(MQCA_TOPIC_STRING));
                Reply::failed("AMQ2414E", &[topic.to_owned()], reason)
            }
            (_, reason) => Reply::failed("AMQ8101S", &[reason.0.to_string()], reason),
        }
    }

    /// What asks for something that is not in this release.
    fn not_supported(&self, selectors: &[i32]) -> Reply {
        let rows = attributes(self.kind).filter(|row| selectors.contains(&row.selector));
        let asked = rows.filter_map(|attribute| {
            let value = shown(attribute, self.attrs?.get(attribute.selector)?);
            let taken = attribute.taken()?;
            Some(format!("{}({value}), only {taken}", attribute.keyword))
        });
        let asked: Vec<String> = asked.collect();
        Reply::failed(
            "AMQ2406E",
            &[asked.join("; ")],
            Reason::FUNCTION_NOT_SUPPORTED,
        )
    }
}

/// Why there is nothing to be done to an object that is not there (manual: the error codes of the commands in PCF).
pub(crate) fn unknown(kind: ObjectKind) -> Reason {
    match kind {
        ObjectKind::Sub => Reason::NO_SUBSCRIPTION,
        ObjectKind::SvrConn | ObjectKind::ClntConn => Reason::CCF_CHANNEL_NOT_FOUND,
        _ => Reason::UNKNOWN_OBJECT_NAME,
    }
}

/// Says who is in the way, and what it has: a connection with its application and user, or a branch, which is nobody's.
fn name_holder(holder: &Holder, reply: &mut Reply) {
    let held = in_words(&holder.held);
    match &holder.who {
        HeldBy::Connection {
            application,
            user,
            number,
        } => {
            let connection = format!("{number:016X}");
            let inserts = [application.clone(), user.clone(), connection, held];
            reply.add_message("AMQ2403I", &inserts);
        }
        HeldBy::Branch(xid) => reply.add_message("AMQ2416I", &[xid.to_string(), held]),
    }
}

fn in_words(held: &Held) -> String {
    let counted = [
        (held.handles, "open handle", "open handles"),
        (held.puts, "uncommitted put", "uncommitted puts"),
        (held.gets, "uncommitted get", "uncommitted gets"),
    ];
    let counted = counted.iter().filter(|(count, ..)| *count > 0);
    let words = counted.map(|(count, one, many)| match count {
        1 => format!("one {one}"),
        count => format!("{count} {many}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The reply to what the engine refused of a record.
pub(crate) fn refused_chlauth(error: ChlAuthError) -> Reply {
    match error {
        ChlAuthError::Exists(key) => {
            Reply::failed("AMQ2440E", &[key], Reason::CCF_CHLAUTH_ALREADY_EXISTS)
        }
        ChlAuthError::Address(text, why) => {
            Reply::failed("AMQ2441E", &[text, why], Reason::CCF_ADDRESS_ERROR)
        }
        ChlAuthError::Overlap(key) => {
            Reply::failed("AMQ2442E", &[key], Reason::CCF_IPADDR_RANGE_CONFLICT)
        }
        ChlAuthError::Peer(text, why) => {
            Reply::failed("AMQ2443E", &[text, why], Reason::CCF_SSL_PEER_NAME_ERROR)
        }
        ChlAuthError::TooMany(most) => {
            let most = most.to_string();
            Reply::failed("AMQ2444E", &[most], Reason::CCF_CHLAUTH_MAX_EXCEEDED)
        }
        ChlAuthError::User(keyword, name) => Reply::failed(
            "AMQ2453E",
            &[keyword.to_owned(), name],
            Reason::CCF_PARM_VALUE_ERROR,
        ),
    }
}

/// The reply to a record that was not set.
pub(crate) fn refused_record(
    qm: &QueueManager,
    kind: ObjectKind,
    attrs: &Attrs,
    error: ChangeError,
) -> Reply {
    let change = Change {
        qm,
        kind,
        name: attrs.text(kind.row().name),
        attrs: Some(attrs),
    };
    change.refused(error)
}

/// Adds to the answer of a command that was carried out which of the values given nothing acts on.
pub(crate) fn say_what_is_kept(kind: ObjectKind, given: &Attrs, reply: &mut Reply) {
    let kept = attributes(kind).filter_map(|attribute| {
        let value = given.get(attribute.selector)?;
        let kept = attribute.only_keeps(value);
        kept.then(|| format!("{}({})", attribute.keyword, shown(attribute, value)))
    });
    let kept: Vec<String> = kept.collect();
    if !kept.is_empty() {
        reply.add_message("AMQ2415W", &[kept.join(" ")]);
    }
}

pub(crate) async fn define(qm: &QueueManager, definition: &NewDefinition<'_>) -> Reply {
    let NewDefinition {
        kind, name, like, ..
    } = *definition;
    let about = |name| Change {
        qm,
        kind,
        name,
        attrs: Some(definition.attrs),
    };
    if let Some(refusal) = transport_security::refusal(name, definition.attrs) {
        return refusal;
    }
    match qm.define(definition).await {
        Ok(()) => about(name).done(kind.row().message_ids.created),
        // Only what it was to be like can be missing.
        Err(ChangeError::NotFound) => about(like.unwrap_or(name)).refused(ChangeError::NotFound),
        // A DEFINE has no FORCE.
        Err(ChangeError::NeedsForce(holders)) => {
            let mut reply = about(name).in_use(&holders, Reason::CCF_OBJECT_OPEN);
            reply.add_message("AMQ2417I", &[name.to_owned()]);
            reply
        }
        Err(error) => about(name).refused(error),
    }
}

pub(crate) async fn alter(
    qm: &QueueManager,
    (kind, name): (ObjectKind, &str),
    attrs: &Attrs,
    force: bool,
) -> Reply {
    let change = Change {
        qm,
        kind,
        name,
        attrs: Some(attrs),
    };
    if let Some(refusal) = transport_security::refusal(name, attrs) {
        return refusal;
    }
    match qm.alter(kind, name, attrs, force).await {
        Ok(()) => change.done(kind.row().message_ids.changed),
        Err(error) => change.refused(error),
    }
}

pub(crate) async fn delete(
    qm: &QueueManager,
    kind: ObjectKind,
    name: &str,
    how: Deletion,
) -> Reply {
    let change = Change {
        qm,
        kind,
        name,
        attrs: None,
    };
    match qm.delete(kind, name, how).await {
        Ok(()) => change.done(kind.row().message_ids.deleted),
        Err(error) => change.refused(error),
    }
}

/// Ends a subscription by its identifier.
pub(crate) async fn end_subscription(qm: &QueueManager, id: &[u8; 24]) -> Reply {
    let name = hex(id);
    let kind = ObjectKind::Sub;
    let change = Change {
        qm,
        kind,
        name: &name,
        attrs: None,
    };
    match qm.end_subscription(id).await {
        Ok(()) => change.done(kind.row().message_ids.deleted),
        Err(error) => change.refused(error),
    }
}

pub(crate) async fn clear(qm: &QueueManager, name: &str) -> Reply {
    let change = Change {
        qm,
        kind: ObjectKind::QLocal,
        name,
        attrs: None,
    };
    match qm.clear(name).await {
        Ok(()) => change.done("AMQ8022I"),
        Err(error) => change.refused(error),
    }
}

/// Discards what is retained for topic strings.
pub(crate) async fn clear_topics(qm: &QueueManager, topics: &str) -> Reply {
    match qm.clear_retained(topics).await {
        Ok(count) => Reply::done("AMQ2405I", &[count.to_string()]),
        Err(ChangeError::Failed(Reason::TOPIC_STRING_ERROR)) => {
            let inserts = [topics.to_owned()];
            Reply::failed("AMQ2414E", &inserts, Reason::TOPIC_STRING_ERROR)
        }
        Err(error) => {
            let change = Change {
                qm,
                kind: ObjectKind::Topic,
                name: topics,
                attrs: None,
            };
            change.refused(error)
        }
    }
}

/// Why an authority record was not changed.
pub(crate) fn record_refused(qm: &QueueManager, name: &str, error: ChangeError) -> Reply {
    let change = Change {
        qm,
        kind: ObjectKind::AuthRec,
        name,
        attrs: None,
    };
    change.refused(error)
}
