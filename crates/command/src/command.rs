//! A parsed command, and the error that stands in its place.

use crate::attrs::Attrs;
use crate::authority::AuthorityCommand;
use crate::chlauth::{ChlAuthAction, ChlAuthMatch};
use crate::kinds::ObjectKind;
use crate::value::Value;
use std::fmt;

/// What a DELETE says besides kind and name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deletion {
    /// PURGE: also when the queue holds committed messages.
    pub purge: bool,
    /// AUTHREC(NO): the authority records whose profile is the object's name stay.
    pub keep_authorities: bool,
}

impl Deletion {
    /// One that says nothing of authority records, so that they go too.
    pub const fn purging(purge: bool) -> Deletion {
        Deletion {
            purge,
            keep_authorities: false,
        }
    }
}

/// One MQSC command, checked against the attribute table but not yet carried out.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// DEFINE.
    Define {
        /// What to define.
        kind: ObjectKind,
        /// Its name.
        name: String,
        /// REPLACE: an object of that name may exist; what it was is forgotten, but for the messages of a queue.
        replace: bool,
        /// LIKE: the object whose attributes are the base, instead of the defaults.
        like: Option<String>,
        /// The attributes given in the command.
        attrs: Attrs,
    },
    /// ALTER. The name is empty for the queue manager.
    Alter {
        /// What to alter.
        kind: ObjectKind,
        /// Its name.
        name: String,
        /// The attributes given in the command.
        attrs: Attrs,
        /// FORCE: also when applications have the object open.
        force: bool,
    },
    /// DELETE.
    Delete {
        /// What to delete.
        kind: ObjectKind,
        /// Its name.
        name: String,
        /// What else is said of it.
        how: Deletion,
    },
    /// DELETE SUB SUBID(...), which ends subscriptions too that have no name.
    EndSubscription {
        /// The subscription's identifier.
        id: [u8; 24],
    },
    /// DISPLAY.
    Display {
        /// What to show.
        what: DisplayWhat,
        /// Name or generic name; empty for the queue manager.
        name: String,
        /// The attributes asked for, upper case, as in the table; empty = the default set.
        show: Vec<String>,
        /// ALL: every attribute.
        all: bool,
        /// WHERE.
        filter: Option<Where>,
        /// What other parameters choose by, such as OPENTYPE.
        chosen: Vec<Where>,
        /// TYPE or CHLTYPE.
        type_: Option<DisplayType>,
    },
    /// CLEAR QLOCAL.
    Clear {
        /// The queue.
        name: String,
    },
    /// CLEAR TOPICSTR CLRTYPE(RETAINED).
    ClearTopics {
        /// The topic string, with wildcards.
        topics: String,
    },
    /// START CHANNEL, START LISTENER or START SERVICE.
    Start {
        /// Channel, listener or service.
        kind: ObjectKind,
        /// Its name.
        name: String,
    },
    /// STOP CHANNEL, STOP LISTENER or STOP SERVICE.
    Stop {
        /// Channel, listener or service.
        kind: ObjectKind,
        /// Its name.
        name: String,
        /// What else is said of a channel.
        how: StopChannel,
    },
    /// STOP CONN.
    StopConnection {
        /// CONN: the connection, as DISPLAY CONN shows it.
        number: u64,
        /// EXTCONN, if it is said: 32 hexadecimal digits.
        external: Option<String>,
    },
    /// PING QMGR.
    Ping,
    /// REFRESH SECURITY TYPE(SSL): the key repository is read again.
    RefreshTls,
    /// REFRESH SECURITY TYPE(CONNAUTH): what CONNAUTH names is read again.
    RefreshConnAuth,
    /// About channel authentication records.
    ChlAuth(ChlAuthCommand),
    /// About authority records.
    Authority(AuthorityCommand),
    /// SAVE QMGR, which is not MQ's: every definition as the command that makes it again.
    Save,
}

/// How STOP CHANNEL stops a channel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StopChannel {
    /// MODE(FORCE) or MODE(TERMINATE): do not wait for calls in progress.
    pub force: bool,
    /// STATUS(INACTIVE): whoever connects starts it again.
    pub inactive: bool,
    /// CONNAME: only the instances of clients there.
    pub conname: Option<String>,
    /// QMNAME: only the instances of this partner queue manager.
    pub q_mgr: Option<String>,
}

impl StopChannel {
    /// Whether it is about some of the instances only.
    pub fn chooses(&self) -> bool {
        self.conname.is_some() || self.q_mgr.is_some()
    }
}

/// A command about channel authentication records.
#[derive(Debug, Clone, PartialEq)]
pub enum ChlAuthCommand {
    /// SET CHLAUTH.
    Set {
        /// The type of record.
        kind: ObjectKind,
        /// What is done.
        action: ChlAuthAction,
        /// The profile and what else was given.
        attrs: Attrs,
    },
    /// DISPLAY CHLAUTH.
    Display {
        /// The profile.
        profile: String,
        /// TYPE; none is all.
        kind: Option<ObjectKind>,
        /// MATCH.
        how: ChlAuthMatch,
        /// The attributes asked for, upper case; empty = the usual ones.
        show: Vec<String>,
        /// ALL: every attribute.
        all: bool,
        /// WHERE.
        filter: Option<Where>,
    },
}

/// What DISPLAY shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DisplayWhat {
    /// The objects whose kinds have the noun of this one: `DISPLAY CHANNEL` shows channels of every type.
    Object(ObjectKind),
    /// Queues of every kind.
    Queue,
    /// State of local queues.
    QStatus,
    /// State of the queue manager.
    QMStatus,
    /// Connected applications.
    Conn,
    /// Running channels.
    ChStatus,
    /// Running listeners.
    LsStatus,
    /// Running services.
    SvStatus,
    /// Topic strings: what holds for each, and who subscribes.
    TpStatus,
    /// Subscriptions, durable or not.
    SbStatus,
    /// Publish/subscribe as a whole.
    PubSub,
}

/// The TYPE of a DISPLAY command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DisplayType {
    /// CONN: the connections.
    Conn,
    /// HANDLE: the open objects, of a connection or of a queue; SUB: the subscriptions to a topic string.
    Handle,
    /// PUB: the handles to publish on a topic string by.
    Pub,
    /// ALL: everything.
    All,
    /// QUEUE: the queue itself (of QSTATUS); TOPIC: the topic string itself.
    Queue,
    /// One kind of queue or channel.
    Kind(ObjectKind),
}

/// Operator of WHERE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// Less than.
    Lt,
    /// Greater than.
    Gt,
    /// Equal to.
    Eq,
    /// Not equal to.
    Ne,
    /// Less than or equal to.
    Le,
    /// Greater than or equal to.
    Ge,
    /// Like: matches a generic name.
    Lk,
    /// Not like.
    Nl,
    /// A list has an item.
    Ct,
    /// A list has no such item.
    Ex,
    /// A list has an item that matches a generic name.
    Ctg,
    /// A list has no item that matches a generic name.
    Exg,
}

impl Op {
    /// Every operator with its MQSC word.
    pub const ALL: [(&'static str, Op); 12] = [
        ("LT", Op::Lt),
        ("GT", Op::Gt),
        ("EQ", Op::Eq),
        ("NE", Op::Ne),
        ("LE", Op::Le),
        ("GE", Op::Ge),
        ("LK", Op::Lk),
        ("NL", Op::Nl),
        ("CT", Op::Ct),
        ("EX", Op::Ex),
        ("CTG", Op::Ctg),
        ("EXG", Op::Exg),
    ];
}

/// WHERE(keyword operator value).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Where {
    /// The attribute, upper case, as in its row.
    pub keyword: &'static str,
    /// How to compare.
    pub op: Op,
    /// With what: a value of the attribute's type, of a list one item, of what takes a generic name the text of one.
    pub value: Value,
}

/// The message for a command of MQ that is not in this release.
pub(crate) const NOT_HERE: &str = "AMQ2401E";

/// Why a line is not a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The message, for example `AMQ8405I` (see [`crate::messages`]).
    pub id: &'static str,
    /// The message's text; where runmqsc repeats the command up to the error, so does this,
    /// on a second line.
    pub text: String,
    /// Where the error is: bytes from the start of the command.
    pub column: usize,
    /// What exactly is wrong, in one sentence; empty when the message says it all.
    pub detail: String,
}

impl SyntaxError {
    /// Whether it is a command of MQ that is only not in this release (AMQ2401E): nothing is wrong
    /// with the text.
    pub fn is_not_here(&self) -> bool {
        self.id == NOT_HERE
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.text)?;
        if !self.detail.is_empty() {
            write!(f, "\n{}", self.detail)?;
        }
        Ok(())
    }
}

impl std::error::Error for SyntaxError {}
