//! What all connections of a campaign have in common: queues, the order of events, and how much is
//! queued.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Instant;

use posthaste_client::{Address, Call, ClientError, Connect, Connection};
use posthaste_mqi::{Done, Reason};

use crate::history::{NEVER, Stamp, Traits};

/// Name of the queue manager.
pub(crate) const QUEUE_MANAGER: &str = "AUDIT";
/// The channel of connections over TCP.
pub(crate) const CHANNEL: &str = "AUDIT.SVRCONN";
/// The channel by which local applications come.
const LOCAL_CHANNEL: &str = "SYSTEM.DEF.SVRCONN";

const fn queue(name: &'static str, by_priority: bool, hardened: bool) -> Traits {
    Traits {
        name,
        by_priority,
        hardened,
        keeps: false,
    }
}

/// The queues of the audit; their index is the number that messages carry.
pub(crate) const QUEUES: [Traits; 9] = [
    queue("AUDIT.PLAIN", true, false),
    queue("AUDIT.HARD", true, true),
    queue("AUDIT.FIFO", false, false),
    queue("AUDIT.FIFO.HARD", false, true),
    Traits {
        keeps: true,
        ..queue("AUDIT.HIGH", true, false)
    },
    queue("AUDIT.BUSY", true, true),
    queue("AUDIT.SUB.ALL", true, false),
    queue("AUDIT.SUB.ONE", false, true),
    queue("AUDIT.SUB.LEVEL", false, false),
];

/// So many of them are put on by their names; the others are those of durable subscriptions.
pub(crate) const NAMED: usize = 6;
/// Their topic strings, in their order.
const SUBSCRIBED: [&str; QUEUES.len() - NAMED] = ["audit/#", "audit/0", "audit/+"];

/// What is published on.
pub(crate) const TOPICS: [&str; 2] = ["audit/0", "audit/1"];

/// The queues that are given what is published on a topic.
pub(crate) fn subscribers(topic: usize) -> &'static [u8] {
    match topic {
        0 => &[6, 7, 8],
        _ => &[6, 8],
    }
}

/// What messages that are published on a topic carry in place of a queue.
pub(crate) fn topic_code(topic: usize) -> u8 {
    u8::MAX - u8::try_from(topic).unwrap_or(0)
}

/// Distribution lists: the queues of each.
pub(crate) const LISTS: [&[u8]; 3] = [&[0, 1], &[2, 3, 4], &[5, 3, 0, 1]];

/// What messages that are put to a list carry in place of a queue.
pub(crate) fn list_code(list: usize) -> u8 {
    topic_code(TOPICS.len() + list)
}

/// The queues that are given what carries this in place of a queue, if it was published or put to a list.
pub(crate) fn copied_to(code: u8) -> Option<&'static [u8]> {
    let number = usize::from(u8::MAX - code);
    match number.checked_sub(TOPICS.len()) {
        None => Some(subscribers(number)),
        Some(list) => LISTS.get(list).copied(),
    }
}

/// Where delayed messages wait.
pub(crate) const STAGING: &str = "SYSTEM.DDELAY.LOCAL.QUEUE";

/// What defines them.
pub(crate) fn script() -> String {
    let mut out = format!("DEFINE CHANNEL({CHANNEL}) CHLTYPE(SVRCONN) TRPTYPE(TCP)\n");
    // Whom clients of this machine run as uses queues of other names than a developer's.
    for of in [
        "OBJTYPE(QMGR)",
        "PROFILE('**') OBJTYPE(QUEUE)",
        "PROFILE('**') OBJTYPE(TOPIC)",
    ] {
        out.push_str(&format!(
            "SET AUTHREC {of} PRINCIPAL('app') AUTHADD(ALLMQI)\n"
        ));
    }
    for queue in QUEUES {
        let Traits {
            name,
            by_priority,
            hardened,
            keeps,
        } = queue;
        let sequence = if by_priority { "PRIORITY" } else { "FIFO" };
        let harden = if hardened { "HARDENBO" } else { "NOHARDENBO" };
        let class = if keeps { "HIGH" } else { "NORMAL" };
        out.push_str(&format!(
            "DEFINE QLOCAL({name}) MSGDLVSQ({sequence}) {harden} NPMCLASS({class}) MAXDEPTH(200000) SHARE\n"
        ));
    }
    for (queue, filter) in QUEUES.iter().skip(NAMED).zip(SUBSCRIBED) {
        let name = queue.name;
        out.push_str(&format!(
            "DEFINE SUB({name}) TOPICSTR('{filter}') DEST({name})\n"
        ));
    }
    out
}

/// What all connections share.
pub(crate) struct Stage {
    /// Number of the campaign, in every message.
    pub(crate) run: u64,
    began: Instant,
    stamps: AtomicU64,
    /// When the server was killed in this round.
    killed: AtomicU64,
    /// Connections finish what they are at and end.
    finish: AtomicBool,
    /// Bytes queued, about.
    queued: AtomicI64,
}

impl Stage {
    pub(crate) fn new(run: u64) -> Stage {
        Stage {
            run,
            began: Instant::now(),
            stamps: AtomicU64::new(1),
            killed: AtomicU64::new(NEVER),
            finish: AtomicBool::new(false),
            queued: AtomicI64::new(0),
        }
    }
    /// The next stamp.
    pub(crate) fn tick(&self) -> Stamp {
        self.stamps.fetch_add(1, Ordering::SeqCst)
    }
    /// Milliseconds since the campaign began.
    pub(crate) fn ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
    pub(crate) fn open_round(&self, queued: u64) {
        self.killed.store(NEVER, Ordering::SeqCst);
        self.finish.store(false, Ordering::SeqCst);
        let queued = i64::try_from(queued).unwrap_or(i64::MAX);
        self.queued.store(queued, Ordering::SeqCst);
    }
    /// The server is about to be killed: from now on connections may break.
    pub(crate) fn mark_killed(&self) {
        self.killed.store(self.tick(), Ordering::SeqCst);
    }
    pub(crate) fn killed(&self) -> bool {
        self.killed.load(Ordering::SeqCst) != NEVER
    }
    pub(crate) fn ask_to_finish(&self) {
        self.finish.store(true, Ordering::SeqCst);
    }
    pub(crate) fn over(&self) -> bool {
        self.finish.load(Ordering::SeqCst) || self.killed()
    }
    pub(crate) fn queued(&self) -> i64 {
        self.queued.load(Ordering::Relaxed)
    }
    pub(crate) fn add_queued(&self, bytes: i64) {
        self.queued.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Connects as an application: by the socket file as local ones do, or over TCP.
pub(crate) fn connect(address: &Address, name: &str) -> Result<Connection, ClientError> {
    let channel = match address {
        Address::Tcp { .. } => CHANNEL,
        Address::Unix(_) => LOCAL_CHANNEL,
    };
    let mut connect = Connect::new(address.clone(), channel, QUEUE_MANAGER);
    connect.application = name.to_owned();
    Connection::open(&connect)
}

/// What a get came to, where a warning is a failure: a message that does not fit stays where it is, and whoever browses it
/// would be given it again for ever.
pub(crate) fn whole<T>(got: Call<T>) -> Result<T, ClientError> {
    match got? {
        Done {
            warning: Reason::NONE,
            value,
        } => Ok(value),
        Done { warning, .. } => Err(ClientError::Reason(warning)),
    }
}

/// Whether a call was refused because the queue manager, or the channel, is ending.
pub(crate) fn ending(error: &ClientError) -> bool {
    let expected = [
        Reason::Q_MGR_QUIESCING,
        Reason::Q_MGR_STOPPING,
        Reason::CONNECTION_QUIESCING,
        Reason::CONNECTION_STOPPING,
        Reason::Q_MGR_NOT_AVAILABLE,
    ];
    matches!(error, ClientError::Reason(reason) if expected.contains(reason))
}

/// Whether a call got no reply.
pub(crate) fn unanswered(error: &ClientError) -> bool {
    let lost = [
        Reason::CONNECTION_BROKEN,
        Reason::HOST_NOT_AVAILABLE,
        Reason::CONNECTION_ERROR,
    ];
    !matches!(error, ClientError::Reason(_)) || lost.contains(&error.reason())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_does_not_fit_is_a_failure() {
        assert!(matches!(whole(Ok(Done::ok(7))), Ok(7)));
        let cut = Done {
            value: 7,
            warning: Reason::TRUNCATED_MSG_FAILED,
        };
        let failed = ClientError::Reason(Reason::TRUNCATED_MSG_FAILED);
        assert_eq!(whole(Ok(cut)).unwrap_err().to_string(), failed.to_string());
    }
}
