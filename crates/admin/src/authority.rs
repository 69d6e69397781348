//! Authority records: set, deleted and shown; and what commands need themselves (manual: "Authorizations for MQSC commands
//! in escape PCFs").
//!
//! Invariants: a command of somebody who is checked does nothing, and shows nothing, for which authority is missing; whoever
//! makes an object may do everything with it.

use posthaste_authority::{
    Authorities, Authority, Entity, EntityKind, ObjectType, Profile, Record,
};
use posthaste_command::{
    Attrs, AuthorityCommand, COMPONENT, ChlAuthCommand, Command, DisplayWhat, Matching, ObjectKind,
    RecordName, Reply, Value, authority_row,
};
use posthaste_engine::{
    ChangeError, Issuer, Need, NoEntity, QueueManager, Refusal, authority_numbers, branch_cleared,
};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Reason};

use crate::change;

pub(crate) const DISPLAY: Authorities = Authorities::of(&[Authority::Display]);
/// Of everybody who issues commands, on the queue manager.
const COMMANDS: Authorities = Authorities::of(&[Authority::Connect, Authority::Display]);

/// What a command needs on one object; the engine's [`Need`], with what it is about.
enum Needed {
    Object(ObjectType, String, Authorities),
    Topic(String, Authorities),
    Create(ObjectType, String),
    Manager(Authorities),
}

impl Needed {
    fn on(kind: ObjectKind, name: &str, authority: Authority) -> Needed {
        match kind {
            ObjectKind::Qmgr => Needed::Manager(authority.into()),
            _ => Needed::Object(kind.object_type(), name.to_owned(), authority.into()),
        }
    }

    fn as_need(&self) -> Need<'_> {
        match self {
            Needed::Object(object_type, name, needs) => Need::Object(*object_type, name, *needs),
            Needed::Topic(topic, needs) => Need::Topic(topic, *needs),
            Needed::Create(object_type, name) => Need::Create(*object_type, name),
            Needed::Manager(needs) => Need::manager(*needs),
        }
    }
}

/// A command that makes or changes a subscription.
struct SubscriptionChange<'a> {
    given: &'a Attrs,
    /// DEFINE; with what LIKE says.
    define: Option<Option<&'a str>>,
}

impl SubscriptionChange<'_> {
    /// The subscription whose attributes count where none are given.
    fn base<'a>(&'a self, name: &'a str) -> &'a str {
        let default = ObjectKind::Sub.row().default_object;
        match self.define {
            Some(like) => like.unwrap_or(default),
            None => name,
        }
    }

    /// Whether messages get an identity context that the subscription says: by what is given, or by what a new one is like. One that
    /// goes to another queue brings what it has.
    fn sets_identity(&self, base: Option<&Attrs>, moves: bool) -> bool {
        let selectors = [MQBACF_ACCOUNTING_TOKEN, MQCACF_APPL_IDENTITY_DATA];
        let base = base.filter(|_| moves || self.define.is_some());
        selectors.iter().any(|selector| {
            let value = self.given.get(*selector);
            let value = value.or_else(|| base?.get(*selector));
            value.is_some_and(|value| !is_nothing(value))
        })
    }

    /// Whether the queue manager makes, or has made, the queue. `base`: what the attributes are by default.
    fn is_managed(&self, base: Option<&Attrs>) -> bool {
        match self.given.get(MQIACF_DESTINATION_CLASS) {
            Some(_) => is_managed(self.given),
            None => base.is_some_and(is_managed),
        }
    }

    /// Whether messages may go elsewhere, or come from somebody else, than before.
    fn redirects(&self) -> bool {
        let given = |selector: &i32| self.given.get(*selector).is_some();
        let selectors = [
            MQCACF_DESTINATION,
            MQCACF_DESTINATION_Q_MGR,
            MQCACF_SUB_USER_ID,
        ];
        self.define.is_some() || selectors.iter().any(given)
    }

    /// What it needs beside its topics.
    fn needed(&self, (qm, own): (&QueueManager, &str), name: &str) -> Vec<Needed> {
        let attrs_of = |name: &str| qm.object(ObjectKind::Sub, name).map(|object| object.attrs);
        let base = attrs_of(self.base(name));
        let text = |selector: i32| {
            let text = |attrs: &Attrs| attrs.unpadded(selector).to_owned();
            match text(self.given) {
                stated if stated.is_empty() => base.as_ref().map(text).unwrap_or_default(),
                stated => stated,
            }
        };
        let mut needed = Vec::new();
        let to = Destination {
            queue: text(MQCACF_DESTINATION),
            manager: text(MQCACF_DESTINATION_Q_MGR),
        }
        .seen_by(qm);
        let there = attrs_of(name);
        let moves = there
            .as_ref()
            .is_some_and(|there| Destination::of(qm, there) != to);
        let sets_identity = self.sets_identity(base.as_ref(), moves);
        // One that is managed now may be no more when this is done; what it has already may be repeated.
        let names_queue = [MQCACF_DESTINATION, MQCACF_DESTINATION_Q_MGR]
            .iter()
            .any(|selector| !self.given.unpadded(*selector).is_empty());
        let names_another = names_queue && (moves || there.is_none());
        if (names_another || !self.is_managed(base.as_ref())) && !to.queue.is_empty() {
            if sets_identity {
                let set: Authorities = Authority::SetIdentity.into();
                needed.push(Needed::Object(ObjectType::Queue, to.queue.clone(), set));
                needed.push(Needed::Manager(set));
            }
            needed.extend(to_put_on(qm, to.queue.clone()));
        }
        if !to.manager.is_empty() {
            needed.push(Needed::Manager(Authority::Change.into()));
        }
        let user = text(MQCACF_SUB_USER_ID);
        // As long as a user identifier in a message may be, of which SUBUSER is one.
        let is_his = |user: &str| Chars::<12>::new(user) == Chars::<12>::new(own);
        let is_own = is_his(&user);
        let is_his_then = is_own || user.is_empty() && self.define.is_some();
        match there.filter(|there| !is_his(there.text(MQCACF_SUB_USER_ID))) {
            Some(there) if is_managed(&there) => {
                if there.int(MQIACF_VARIABLE_USER_ID) != MQVU_ANY_USER {
                    needed.push(Needed::Manager(Authority::Change.into()));
                } else if !is_his_then && sets_identity {
                    needed.push(Needed::Manager(Authority::SetIdentity.into()));
                }
            }
            Some(there) if is_his_then || moves => {
                needed.push(Destination::of(qm, &there).into_needed());
            }
            _ => {}
        }
        if self.redirects() && !user.is_empty() && !is_own {
            let to_send_as = [Authority::AlternateUser, Authority::SetIdentity];
            needed.push(Needed::Manager(Authorities::of(&to_send_as)));
        }
        needed
    }
}

/// Whether the queue of a subscription is the queue manager's.
fn is_managed(subscription: &Attrs) -> bool {
    subscription.int(MQIACF_DESTINATION_CLASS) == MQDC_MANAGED
}

/// Whether a value is as none.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Bytes(bytes) => bytes.iter().all(|byte| *byte == 0),
        value => value.is_blank(),
    }
}

/// What is needed to have messages put on a queue: of one that is transmitted from what an open of it needs.
fn to_put_on(qm: &QueueManager, queue: String) -> Vec<Needed> {
    let speaks_for_itself = qm.speaks_for_itself(&queue);
    let on = |authority: Authority| Needed::Object(ObjectType::Queue, queue, authority.into());
    match speaks_for_itself {
        true => vec![
            on(Authority::SetAll),
            Needed::Manager(Authority::SetAll.into()),
        ],
        false => vec![on(Authority::Put)],
    }
}

/// Where the messages of a subscription go.
#[derive(PartialEq, Eq)]
struct Destination {
    queue: String,
    /// Blank: this one.
    manager: String,
}

impl Destination {
    fn of(qm: &QueueManager, attrs: &Attrs) -> Destination {
        let text = |selector| attrs.unpadded(selector).to_owned();
        Destination {
            queue: text(MQCACF_DESTINATION),
            manager: text(MQCACF_DESTINATION_Q_MGR),
        }
        .seen_by(qm)
    }

    fn seen_by(mut self, qm: &QueueManager) -> Destination {
        if self.manager == qm.name() {
            self.manager.clear();
        }
        self
    }

    /// What is needed to have the messages of another user's subscription, as MQSUB needs it, or to change where those go that go to
    /// another queue manager.
    fn into_needed(self) -> Needed {
        let to_have = [Authority::Put, Authority::Get, Authority::Browse];
        match self.manager.is_empty() {
            true => Needed::Object(ObjectType::Queue, self.queue, Authorities::of(&to_have)),
            false => Needed::Manager(Authority::Change.into()),
        }
    }
}

/// What a command about a subscription needs: to subscribe to its topic; to put to its queue, and to set identity contexts there if it says
/// one, as MQSO_SET_IDENTITY_CONTEXT does; to be another user, if messages are
/// to come from one whom the subscription names (the command server, for one, believes them) and who is not the issuer; and, where the queue is another
/// queue manager's, to change this one, for its transmission queues are not looked at before messages are put; and of another user's, of which
/// the messages are to be the issuer's or to go elsewhere, to have them where they go. A managed queue is the queue manager's, and has no
/// records: nothing is asked about it, and another user's subscription that has one is changed as by MQSUB, which is by nobody where only
/// he may use it (2434), but for who may change everything; and nothing forged is published in his name.
fn of_subscription(
    (qm, own): (&QueueManager, &str),
    name: &str,
    change: Option<(&Attrs, Option<Option<&str>>)>,
) -> Vec<Needed> {
    // What it says is so of everybody's that do not say otherwise.
    if name == ObjectKind::Sub.row().default_object {
        return vec![Needed::Manager(Authority::Change.into())];
    }
    let change = change.map(|(given, define)| SubscriptionChange { given, define });
    let define = change.as_ref();
    let define = define.and_then(|change| Some((change.given, change.define?)));
    let mut topics = qm.branches_subscribed_to(name, define);
    if topics.is_empty() {
        topics.push(String::new());
    }
    let to_topic = |topic| Needed::Topic(topic, Authority::Subscribe.into());
    let topics = topics.into_iter().map(to_topic);
    let change = change.map(|change| change.needed((qm, own), name));
    topics.chain(change.into_iter().flatten()).collect()
}

/// What a command needs of a user, beside what everybody needs.
fn needed(qm: &QueueManager, own: &str, command: &Command) -> Vec<Needed> {
    let change_manager = || vec![Needed::Manager(Authority::Change.into())];
    match command {
        Command::Define {
            kind: ObjectKind::Sub,
            name,
            attrs: given,
            like,
            ..
        } => of_subscription((qm, own), name, Some((given, Some(like.as_deref())))),
        Command::Alter {
            kind: ObjectKind::Sub,
            name,
            attrs: given,
            ..
        } => of_subscription((qm, own), name, Some((given, None))),
        Command::Delete {
            kind: ObjectKind::Sub,
            name,
            ..
        } => of_subscription((qm, own), name, None),
        // Whose it is, and on what, is not asked.
        Command::EndSubscription { .. } => {
            vec![Needed::Topic(String::new(), Authority::Subscribe.into())]
        }
        Command::Define {
            kind, name, like, ..
        } => {
            let like = like.as_deref();
            let like = like.map(|like| Needed::on(*kind, like, Authority::Display));
            let own = match qm.object(*kind, name) {
                Some(_) => Needed::on(*kind, name, Authority::Change),
                None => Needed::Create(kind.object_type(), name.clone()),
            };
            like.into_iter().chain([own]).collect()
        }
        Command::Alter { kind, name, .. } => vec![Needed::on(*kind, name, Authority::Change)],
        Command::Delete { kind, name, .. } => vec![Needed::on(*kind, name, Authority::Delete)],
        Command::Clear { name } => vec![Needed::on(ObjectKind::QLocal, name, Authority::Clear)],
        Command::ClearTopics { topics } => {
            vec![Needed::Topic(
                branch_cleared(topics),
                Authority::Clear.into(),
            )]
        }
        Command::Start { kind, name } | Command::Stop { kind, name, .. } => {
            vec![Needed::on(*kind, name, Authority::Control)]
        }
        // MQ's manual names none for STOP CONN: whoever may, ends work of every user.
        Command::StopConnection { .. } => change_manager(),
        // It shows everything, passwords' places included.
        Command::Save
        | Command::RefreshTls
        | Command::RefreshConnAuth
        | Command::ChlAuth(ChlAuthCommand::Set { .. }) => change_manager(),
        Command::Authority(
            AuthorityCommand::Set { .. }
            | AuthorityCommand::Delete { .. }
            | AuthorityCommand::Refresh,
        ) => change_manager(),
        Command::Display {
            what: DisplayWhat::SbStatus | DisplayWhat::Object(ObjectKind::Sub),
            ..
        } => vec![Needed::Topic(String::new(), DISPLAY)],
        Command::Authority(_)
        | Command::ChlAuth(ChlAuthCommand::Display { .. })
        | Command::Ping
        | Command::Display { .. } => Vec::new(),
    }
}

fn refused(refusal: &Refusal) -> Reply {
    Reply::failed("AMQ2431E", &refusal.inserts(), Reason::NOT_AUTHORIZED)
}

/// Why an issuer may not have a command carried out.
pub(crate) fn forbidden(qm: &QueueManager, issuer: &Issuer, command: &Command) -> Option<Reply> {
    let everybody = Needed::Manager(COMMANDS);
    let own = issuer
        .application()
        .map_or("", |who| who.user.trim_end_matches(' '));
    let mut needed = std::iter::once(everybody).chain(needed(qm, own, command));
    needed.find_map(|needed| {
        let demanded = qm.demand(issuer, needed.as_need());
        demanded.err().map(|refusal| refused(&refusal))
    })
}

/// Whether a name in a DISPLAY stands for several.
fn is_generic(what: DisplayWhat, name: &str) -> bool {
    let wildcards: &[char] = match what {
        DisplayWhat::TpStatus => &['#', '+', '*'],
        _ => &['*'],
    };
    name.contains(wildcards)
}

/// Why an issuer is not answered what is asked of the one object that a DISPLAY names, whatever else the command says of it: as an
/// open of the object, it is refused. Of several of one name, one that may be displayed is enough.
pub(crate) fn hidden(
    qm: &QueueManager,
    issuer: &Issuer,
    what: DisplayWhat,
    name: &str,
) -> Option<Reply> {
    if is_generic(what, name) {
        return None;
    }
    let kinds = match what {
        DisplayWhat::Object(ObjectKind::Qmgr | ObjectKind::Sub) => return None,
        DisplayWhat::Object(kind) => ObjectKind::with_noun(kind.noun()),
        DisplayWhat::Queue => ObjectKind::QUEUES.to_vec(),
        DisplayWhat::QStatus => vec![ObjectKind::QLocal],
        DisplayWhat::ChStatus => vec![ObjectKind::SvrConn],
        DisplayWhat::LsStatus => vec![ObjectKind::Listener],
        DisplayWhat::SvStatus => vec![ObjectKind::Service],
        DisplayWhat::TpStatus => {
            let demanded = qm.demand(issuer, Need::Topic(name, DISPLAY));
            return demanded.err().map(|refusal| refused(&refusal));
        }
        DisplayWhat::QMStatus | DisplayWhat::Conn | DisplayWhat::SbStatus | DisplayWhat::PubSub => {
            return None;
        }
    };
    let found = kinds
        .into_iter()
        .filter(|kind| qm.object(*kind, name).is_some());
    let found: Vec<ObjectKind> = found.collect();
    let need = |kind: &ObjectKind| Need::Object(kind.object_type(), name, DISPLAY);
    if found.iter().any(|kind| qm.may(issuer, need(kind))) {
        return None;
    }
    let demanded = qm.demand(issuer, need(found.first()?));
    demanded.err().map(|refusal| refused(&refusal))
}

/// Leaves in the answer to a DISPLAY what the issuer may see. Where that is nothing, he is answered that there is nothing, and
/// learns no name by guesses: then this gives true.
pub(crate) fn visible(
    qm: &QueueManager,
    issuer: &Issuer,
    what: DisplayWhat,
    reply: &mut Reply,
) -> bool {
    let all = reply.rows.len();
    let object_type = match what {
        DisplayWhat::Object(kind) => kind.object_type(),
        DisplayWhat::Queue | DisplayWhat::QStatus => ObjectType::Queue,
        DisplayWhat::ChStatus => ObjectType::Channel,
        DisplayWhat::LsStatus => ObjectType::Listener,
        DisplayWhat::SvStatus => ObjectType::Service,
        DisplayWhat::TpStatus => ObjectType::Topic,
        // Everybody who issues commands may display the queue manager. Of connections' handles those that may be seen are there.
        DisplayWhat::QMStatus | DisplayWhat::Conn | DisplayWhat::SbStatus | DisplayWhat::PubSub => {
            return false;
        }
    };
    if let DisplayWhat::Object(ObjectKind::Qmgr | ObjectKind::Sub) = what {
        return false;
    }
    reply.rows.retain(|(_, _, row)| {
        // What names the object comes first.
        let cell = row.cells().first();
        let name = cell.map(|cell| cell.shown()).unwrap_or_default();
        let need = match what {
            // Spaces are letters of a topic string, and are not all shown.
            DisplayWhat::TpStatus => match cell.map(|cell| cell.value()) {
                Some(Value::Text(topic)) => Need::Topic(topic, DISPLAY),
                _ => Need::Topic("", DISPLAY),
            },
            // DISPLAY CHANNEL shows those of clients too, which are of another type.
            DisplayWhat::Object(_) if row.shown("CHLTYPE").as_deref() == Some("CLNTCONN") => {
                Need::Object(ObjectType::ClntConn, &name, DISPLAY)
            }
            _ => Need::Object(object_type, &name, DISPLAY),
        };
        qm.may(issuer, need)
    });
    all > 0 && reply.rows.is_empty()
}

/// An object has been made: its maker may do everything with it.
pub(crate) async fn grant_maker(
    qm: &QueueManager,
    issuer: &Issuer,
    kind: ObjectKind,
    name: &str,
) -> Option<Reply> {
    let entity = qm.maker(issuer)?;
    let object_type = kind.object_type();
    let of = RecordName {
        profile: Profile::new(name).ok()?,
        object_type,
        entity,
    };
    let all = Authorities::ALL & object_type.applicable();
    let set = qm.set_authority(&of, all, Authorities::NONE).await;
    set.err().map(|error| failed(qm, &of, error))
}

fn failed(qm: &QueueManager, of: &RecordName, error: ChangeError) -> Reply {
    match error {
        ChangeError::Entity(why) => not_known(&of.entity, why),
        error => change::record_refused(qm, &shown_name(of), error),
    }
}

fn not_known(entity: &Entity, why: NoEntity) -> Reply {
    match why {
        NoEntity::Unknown => {
            let who = format!("{} {}", entity.kind.word(), entity.name);
            Reply::failed("AMQ8871E", &[who], Reason::UNKNOWN_ENTITY)
        }
        NoEntity::NoAnswer => {
            let who = entity.name.to_string();
            Reply::failed("AMQ2434E", &[who], Reason::SECURITY_ERROR)
        }
    }
}

/// A record as messages name it.
fn shown_name(of: &RecordName) -> String {
    let Entity { kind, name } = &of.entity;
    format!(
        "{} {name}, profile {}, {}",
        kind.word(),
        of.profile,
        of.object_type
    )
}

pub(crate) async fn execute(qm: &QueueManager, command: &AuthorityCommand) -> Reply {
    match command {
        AuthorityCommand::Set {
            record,
            add,
            remove,
        } => match qm.set_authority(record, *add, *remove).await {
            Ok(()) if qm.checks_authorities() => Reply::done("AMQ8862I", &[]),
            Ok(()) => {
                let mut reply = Reply::done("AMQ8862I", &[]);
                reply.add_message("AMQ2432W", &[qm.name().to_owned()]);
                reply
            }
            Err(error) => failed(qm, record, error),
        },
        AuthorityCommand::Delete { record } => match qm.delete_authority(record).await {
            Ok(()) => Reply::done("AMQ8863I", &[]),
            Err(error) => failed(qm, record, error),
        },
        AuthorityCommand::Records {
            profile,
            object_type,
            entity,
            matching,
            show,
        } => {
            let chosen = Chosen {
                profile: profile.as_ref(),
                object_type: *object_type,
                entity: entity.as_ref(),
                matching: *matching,
            };
            records(qm, &chosen, show).await
        }
        AuthorityCommand::Entity { record, show } => {
            let RecordName {
                profile,
                object_type,
                entity,
            } = record;
            let name = profile.text();
            let authorities = match qm.authorities_of(entity, *object_type, name).await {
                Ok(authorities) => authorities,
                Err(why) => return not_known(entity, why),
            };
            let mut reply = Reply::default();
            let mut cells = vec![("OBJNAME", Value::from(name))];
            cells.extend(cells_of(entity, *object_type, authorities, show));
            reply.add_row("AMQ8866I", authority_row(cells));
            reply
        }
        AuthorityCommand::Service { show } => service(qm, show),
        AuthorityCommand::Refresh => {
            qm.refresh_users();
            Reply::done("AMQ8560I", &[])
        }
    }
}

/// DISPLAY AUTHSERV.
fn service(qm: &QueueManager, show: &[&'static str]) -> Reply {
    let by_user = match qm.users_have_records() {
        true => MQUIDSUPP_YES,
        false => MQUIDSUPP_NO,
    };
    let mut cells = vec![("SERVCOMP", Value::from(COMPONENT))];
    cells.push(("IFVER", Value::from(2)));
    cells.push(("UIDSUPP", Value::from(by_user)));
    cells
        .retain(|(keyword, _)| *keyword == "SERVCOMP" || show.is_empty() || show.contains(keyword));
    let mut reply = Reply::default();
    reply.add_row("AMQ8865I", authority_row(cells));
    if !qm.checks_authorities() {
        reply.add_message("AMQ2432W", &[qm.name().to_owned()]);
    }
    reply
}

/// What is shown of an entity's authorities, as far as it was asked for.
fn cells_of(
    entity: &Entity,
    object_type: ObjectType,
    authorities: Authorities,
    show: &[&'static str],
) -> Vec<(&'static str, Value)> {
    let kind = match entity.kind {
        EntityKind::Principal => MQZAET_PRINCIPAL,
        EntityKind::Group => MQZAET_GROUP,
    };
    let mut cells = vec![
        ("ENTITY", Value::from(&*entity.name)),
        ("ENTTYPE", Value::from(kind)),
        ("OBJTYPE", Value::from(object_type.code())),
        ("AUTHLIST", authority_numbers(authorities)),
    ];
    cells.retain(|(keyword, _)| *keyword == "OBJTYPE" || show.is_empty() || show.contains(keyword));
    cells
}

/// What DISPLAY AUTHREC chooses by.
struct Chosen<'a> {
    profile: Option<&'a Profile>,
    object_type: Option<ObjectType>,
    entity: Option<&'a Entity>,
    matching: Matching,
}

impl Chosen<'_> {
    /// `entities`: those whose records are asked for; none: all.
    fn has(&self, record: &Record, entities: Option<&[Entity]>) -> bool {
        let profile = self.profile.is_none_or(|wanted| {
            let exact = self.matching == Matching::Exact || wanted.is_generic();
            wanted == &record.profile || !exact && record.profile.matches(wanted.text())
        });
        let object_type = self.object_type.is_none_or(|of| of == record.object_type);
        let entity = entities.is_none_or(|entities| entities.contains(&record.entity));
        profile && object_type && entity
    }
}

async fn records(qm: &QueueManager, chosen: &Chosen<'_>, show: &[&'static str]) -> Reply {
    let entities = match chosen.entity {
        None => None,
        Some(entity) if chosen.matching == Matching::Membership => {
            match qm.counting_entities(entity).await {
                Ok(entities) => Some(entities),
                Err(why) => return not_known(entity, why),
            }
        }
        Some(entity) => Some(vec![entity.clone()]),
    };
    let mut reply = Reply::default();
    let mut all = qm.authority_records();
    all.retain(|record| chosen.has(record, entities.as_deref()));
    for record in all {
        let mut cells = vec![("PROFILE", Value::from(record.profile.text()))];
        let Record {
            object_type,
            entity,
            authorities,
            ..
        } = &record;
        cells.extend(cells_of(entity, *object_type, *authorities, show));
        reply.add_row("AMQ8864I", authority_row(cells));
    }
    if reply.rows.is_empty() {
        let what = "what was asked for".to_owned();
        return Reply::failed("AMQ2430E", &[what], Reason::UNKNOWN_OBJECT_NAME);
    }
    reply
}

/// The commands that make the records again.
pub(crate) fn script(qm: &QueueManager, reply: &mut Reply) {
    for record in qm.authority_records() {
        let Entity { kind, name } = &record.entity;
        let authorities: Vec<&str> = match record.authorities.is_empty() {
            true => vec!["NONE"],
            false => record.authorities.iter().map(Authority::word).collect(),
        };
        let text = format!(
            "SET AUTHREC PROFILE('{}') OBJTYPE({}) {}('{}') AUTHADD({})",
            record.profile,
            record.object_type.word().to_uppercase(),
            kind.word().to_uppercase(),
            name.replace('\'', "''"),
            authorities.join(",").to_uppercase(),
        );
        reply.add_message("AMQ2404I", &[text]);
    }
}
