//! The command server: requests on SYSTEM.ADMIN.COMMAND.QUEUE, answers to their reply queues
//! (manual: "Escape", "Using programmable command formats").
//!
//! Invariants: a persistent request and its answers are one unit of work; an answer expires when the
//! request would have; one that nobody waits for any more hinders nobody. What was on the queue when the queue manager
//! began to quiesce is carried out and answered before the command server ends.
//! Commands are carried out one after the other on a thread of their own: none delays a call of an
//! application.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use posthaste_command::{Reply, pcf};
use posthaste_engine::{Application, Operator, PartState, Session};
use posthaste_mqi::constants::{
    MQAT_QMGR, MQFMT_ADMIN, MQGMO_ACCEPT_TRUNCATED_MSG, MQGMO_FAIL_IF_QUIESCING, MQGMO_NO_WAIT,
    MQGMO_SYNCPOINT_IF_PERSISTENT, MQGMO_WAIT, MQMO_NONE, MQMT_REPLY, MQMT_REQUEST,
    MQOO_FAIL_IF_QUIESCING, MQOO_INPUT_SHARED, MQPER_PERSISTENT, MQPMO_NEW_MSG_ID,
    MQPMO_NO_SYNCPOINT, MQPMO_SYNCPOINT, MQRO_PASS_CORREL_ID, MQRO_PASS_MSG_ID, MQWI_UNLIMITED,
};
use posthaste_mqi::{ByteOrder, Chars, Gmo, Md, Name, Od, Pmo, Reason};

use crate::commands::Commands;

/// The queue that requests come on.
pub const COMMAND_QUEUE: &str = "SYSTEM.ADMIN.COMMAND.QUEUE";
/// The longest request that is taken.
const LONGEST: usize = 4 << 20;
/// How long after a failed call the queue is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Serves until the queue manager ends, on a thread of its own: a command on thousands of objects keeps
/// no connection's worker busy.
pub(crate) fn start(commands: &Arc<Commands>, operator: &Arc<dyn Operator>) {
    let serving = run(Arc::clone(commands), Arc::clone(operator));
    let runtime = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || runtime.block_on(serving));
}

async fn run(commands: Arc<Commands>, operator: Arc<dyn Operator>) {
    let mut last = Reason::NONE;
    let state = |state| {
        commands.command_server.send_replace(state);
    };
    loop {
        state(PartState::Starting);
        let server = match connect(&commands) {
            Ok(session) => CommandServer {
                session,
                commands: &commands,
                operator: &*operator,
            },
            Err(_) => {
                state(PartState::Stopped);
                return;
            }
        };
        let reason = server.serve(&mut last).await;
        server.session.terminate().await;
        if is_end(reason) {
            state(PartState::Stopped);
            return;
        }
        if reason != last {
            operator.message("AMQ2207W", &[reason.to_string()]);
            last = reason;
        }
        // An end is looked at first: behind it there is no timer any more.
        tokio::select! {
            biased;
            () = commands.qm.ended() => {}
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

fn connect(commands: &Commands) -> Result<Session, Reason> {
    commands.qm.connect(Application {
        name: "command server".to_owned(),
        user: crate::error_log::user_name(),
        pid: std::process::id(),
        appl_type: MQAT_QMGR,
        ..Application::default()
    })
}

fn is_end(reason: Reason) -> bool {
    [
        Reason::Q_MGR_QUIESCING,
        Reason::Q_MGR_STOPPING,
        Reason::CONNECTION_BROKEN,
        Reason::Q_MGR_NOT_AVAILABLE,
    ]
    .contains(&reason)
}

struct CommandServer<'a> {
    session: Session,
    commands: &'a Commands,
    operator: &'a dyn Operator,
}

impl CommandServer<'_> {
    /// Serves requests; gives the reason why that came to an end.
    async fn serve(&self, last: &mut Reason) -> Reason {
        let mut od = Od {
            object_name: Name::new(COMMAND_QUEUE),
            ..Od::default()
        };
        let options = MQOO_INPUT_SHARED | MQOO_FAIL_IF_QUIESCING;
        let queue = match self.session.open(&mut od, options).await {
            Ok(done) => done.value,
            Err(reason) => return reason,
        };
        self.commands
            .command_server
            .send_replace(PartState::Running);
        let mut how = MQGMO_WAIT | MQGMO_FAIL_IF_QUIESCING;
        loop {
            let mut md = Md::default();
            let mut gmo = Gmo {
                version: 2,
                options: how | MQGMO_SYNCPOINT_IF_PERSISTENT | MQGMO_ACCEPT_TRUNCATED_MSG,
                wait_interval: MQWI_UNLIMITED,
                match_options: MQMO_NONE,
                ..Gmo::default()
            };
            let got = match self.session.get(queue, &mut md, &mut gmo, LONGEST).await {
                Ok(done) => done.value,
                Err(Reason::Q_MGR_QUIESCING) if how != MQGMO_NO_WAIT => {
                    // Whoever asked before is answered still.
                    how = MQGMO_NO_WAIT;
                    continue;
                }
                Err(Reason::NO_MSG_AVAILABLE) => return Reason::Q_MGR_QUIESCING,
                Err(reason) => return reason,
            };
            *last = Reason::NONE;
            if let Err(reason) = self.answer(&md, &got.data).await {
                return reason;
            }
        }
    }

    /// Carries a request out and sends the answers.
    async fn answer(&self, request: &Md, data: &Bytes) -> Result<(), Reason> {
        if let Some(what) = refusal(request) {
            self.operator.message("AMQ2206W", &[what.to_owned()]);
            return self.settle(request).await;
        }
        let reply = match pcf::escape_command(data) {
            Ok(text) => self.commands.run(&text).await,
            Err(error) => Reply::failed("AMQ2402E", &[error.to_string()], error.reason),
        };
        let order = pcf::byte_order(data).unwrap_or(ByteOrder::NATIVE);
        for message in pcf::escape_replies(&reply, order) {
            if let Err(reason) = self.send(request, order, message).await {
                if is_end(reason) {
                    return Err(reason);
                }
                let queue = request.reply_to_q.text().into_owned();
                self.operator
                    .message("AMQ2205W", &[queue, reason.to_string()]);
                break;
            }
        }
        self.settle(request).await
    }

    /// Ends the unit of work of a persistent request.
    async fn settle(&self, request: &Md) -> Result<(), Reason> {
        match request.persistence == MQPER_PERSISTENT {
            true => self.session.commit().await.map(|_| ()),
            false => Ok(()),
        }
    }

    async fn send(&self, request: &Md, order: ByteOrder, data: Vec<u8>) -> Result<(), Reason> {
        let mut od = Od {
            object_name: request.reply_to_q,
            object_q_mgr_name: request.reply_to_q_mgr,
            ..Od::default()
        };
        let mut md = reply_descriptor(request, order);
        let keeps_id = request.report & MQRO_PASS_MSG_ID != 0;
        let sync = match request.persistence == MQPER_PERSISTENT {
            true => MQPMO_SYNCPOINT,
            false => MQPMO_NO_SYNCPOINT,
        };
        let mut pmo = Pmo {
            options: sync | if keeps_id { 0 } else { MQPMO_NEW_MSG_ID },
            ..Pmo::default()
        };
        self.session
            .put1(&mut od, &mut md, &mut pmo, Bytes::from(data))
            .await
            .map(|_| ())
    }
}

/// Why a message is not a request that could be answered.
fn refusal(request: &Md) -> Option<&'static str> {
    if request.format != Chars::new(MQFMT_ADMIN) {
        Some("its format is not MQADMIN")
    } else if request.msg_type != MQMT_REQUEST {
        Some("its type is not request")
    } else if request.reply_to_q.is_blank() {
        Some("it names no reply queue")
    } else {
        None
    }
}

/// The descriptor of an answer (manual: "Message descriptor for a PCF message").
fn reply_descriptor(request: &Md, order: ByteOrder) -> Md {
    let passes_correlation = request.report & MQRO_PASS_CORREL_ID != 0;
    Md {
        msg_type: MQMT_REPLY,
        expiry: request.expiry,
        format: Chars::new(MQFMT_ADMIN),
        priority: request.priority,
        persistence: request.persistence,
        encoding: match order {
            ByteOrder::Big => 273,
            ByteOrder::Little => 546,
        },
        coded_char_set_id: 1208,
        msg_id: request.msg_id,
        correl_id: match passes_correlation {
            true => request.correl_id,
            false => request.msg_id,
        },
        ..Md::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Md {
        Md {
            msg_type: MQMT_REQUEST,
            format: Chars::new(MQFMT_ADMIN),
            reply_to_q: Name::new("REPLIES"),
            msg_id: [1; 24],
            correl_id: [2; 24],
            expiry: 70,
            priority: 3,
            ..Md::default()
        }
    }

    #[test]
    fn only_requests_that_can_be_answered_are_taken() {
        assert_eq!(refusal(&request()), None);
        for (change, word) in [
            (
                (|md: &mut Md| md.format = Chars::new("MQSTR")) as fn(&mut Md),
                "format",
            ),
            (|md| md.msg_type = 8, "type"),
            (|md| md.reply_to_q = Name::new(""), "reply queue"),
        ] {
            let mut md = request();
            change(&mut md);
            assert!(refusal(&md).unwrap().contains(word));
        }
    }

    #[test]
    fn answers_follow_the_report_options() {
        let plain = reply_descriptor(&request(), ByteOrder::Big);
        assert_eq!(plain.correl_id, [1; 24]);
        assert_eq!((plain.expiry, plain.priority, plain.encoding), (70, 3, 273));
        assert_eq!(plain.msg_type, MQMT_REPLY);
        let passing = Md {
            report: MQRO_PASS_CORREL_ID,
            ..request()
        };
        assert_eq!(
            reply_descriptor(&passing, ByteOrder::Little).correl_id,
            [2; 24]
        );
    }
}
