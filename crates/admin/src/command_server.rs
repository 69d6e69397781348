//! The command server: requests on SYSTEM.ADMIN.COMMAND.QUEUE, answers to their reply queues
//! (manual: "Escape", "Using programmable command formats").
//!
//! A request is MQSC text (Escape) or a command in PCF, which is carried out as the MQSC command that does the same.
//!
//! Invariants: a command is that of the user in its message, whom only who may set context can choose, and answers go only
//! where that user may put; a persistent request and its answers are one unit of work; an answer expires when the request
//! would have; one that nobody waits for any more hinders nobody. That a persistent request was begun is on disk before it is
//! carried out, so that one that ends the queue manager is known when it comes again (`backed_out`). What was on the queue when the queue manager
//! began to quiesce is carried out and answered before the command server ends.
//! Commands are carried out one after the other on a thread of their own: none delays a call of an
//! application.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use posthaste_command::pcf;
use posthaste_command::{ObjectKind, Reply};
use posthaste_engine::{Application, Operator, Session};
use posthaste_env::Clock;
use posthaste_mqi::constants::{
    MQAT_QMGR, MQCMD_ESCAPE, MQCMD_NONE, MQFMT_ADMIN, MQGMO_ACCEPT_TRUNCATED_MSG,
    MQGMO_FAIL_IF_QUIESCING, MQGMO_NO_WAIT, MQGMO_SYNCPOINT_IF_PERSISTENT, MQGMO_WAIT,
    MQIA_CODED_CHAR_SET_ID, MQMO_NONE, MQMT_REPLY, MQMT_REQUEST, MQOO_INPUT_SHARED,
    MQPER_PERSISTENT, MQPMO_ALTERNATE_USER_AUTHORITY, MQPMO_NEW_MSG_ID, MQPMO_NO_SYNCPOINT,
    MQPMO_SET_IDENTITY_CONTEXT, MQPMO_SYNCPOINT, MQRO_PASS_CORREL_ID, MQRO_PASS_MSG_ID,
    MQWI_UNLIMITED,
};
use posthaste_mqi::{ByteOrder, Chars, Gmo, Md, Od, Pmo, Reason};

use crate::beside::ComponentState;
use crate::execute::Admin;
use crate::request_text::RequestText;
use crate::{audit, backed_out};

/// The longest request that is taken.
const LONGEST: usize = 4 << 20;
/// Nanoseconds after a failed call until the queue is tried again.
const PAUSE: u64 = 1_000_000_000;

/// The command server.
pub struct CommandServer {
    /// What carries the commands out.
    pub admin: Admin,
    /// Who is told of requests that cannot be answered.
    pub operator: Arc<dyn Operator>,
    /// Times its next try.
    pub clock: Arc<dyn Clock>,
    /// Whom its connection shows as its user.
    pub user: String,
}

impl CommandServer {
    /// Serves until the queue manager ends, from this connection on or, where there is none, not at all; `state` is told how
    /// it is.
    pub async fn serve(&self, session: Result<Session, Reason>, state: impl Fn(ComponentState)) {
        let mut last = Reason::NONE;
        let mut connected = session;
        while let Ok(session) = connected {
            state(ComponentState::Starting);
            let serving = Serving {
                session,
                admin: &self.admin,
                operator: &*self.operator,
                clock: &*self.clock,
            };
            let reason = serving.serve(&mut last, &state).await;
            serving.session.terminate().await;
            if is_end(reason) {
                break;
            }
            if reason != last {
                self.operator.message("AMQ2207W", &[reason.to_string()]);
                last = reason;
            }
            self.pause().await;
            connected = self.connect();
        }
        state(ComponentState::Stopped);
    }

    /// Connects it, before anybody is served who might ask: whatever ends the queue manager waits for this connection then.
    ///
    /// # Errors
    /// The queue manager is ending.
    pub fn connect(&self) -> Result<Session, Reason> {
        self.admin.queue_manager().connect(Application {
            name: "command server".to_owned(),
            user: self.user.clone(),
            pid: std::process::id(),
            appl_type: MQAT_QMGR,
            ..Application::default()
        })
    }

    /// Waits until it is time to try again, or the queue manager has ended. An end is looked at first: behind it
    /// there may be no timer any more.
    async fn pause(&self) {
        let mut ended = pin!(self.admin.queue_manager().ended());
        let mut over = self.clock.sleep_until(self.clock.monotonic() + PAUSE);
        std::future::poll_fn(|context| {
            let ended = ended.as_mut().poll(context).is_ready();
            match ended || over.as_mut().poll(context).is_ready() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
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

/// The command server while it is connected.
struct Serving<'a> {
    session: Session,
    admin: &'a Admin,
    operator: &'a dyn Operator,
    clock: &'a dyn Clock,
}

impl Serving<'_> {
    /// Serves requests; gives the reason why that came to an end.
    async fn serve(&self, last: &mut Reason, state: impl Fn(ComponentState)) -> Reason {
        let qm = self.admin.queue_manager();
        let speaking = (self.operator, self.clock.wall_micros());
        if let Err(reason) = backed_out::give_up(qm, &self.session, speaking).await {
            return reason;
        }
        let mut od = backed_out::fit_requests();
        let queue = match self.session.open(&mut od, MQOO_INPUT_SHARED).await {
            Ok(done) => done.value,
            Err(reason) => return reason,
        };
        state(ComponentState::Running);
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
        if let Some(what) = unanswerable(request) {
            self.operator.message("AMQ2206W", &[what.to_owned()]);
            return self.settle(request).await;
        }
        if request.persistence == MQPER_PERSISTENT {
            self.session.harden_gets().await?;
        }
        let order = pcf::byte_order(data).unwrap_or(ByteOrder::NATIVE);
        for message in self.carry_out(request, data, order).await {
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

    /// Carries a request out; gives the messages that answer it.
    async fn carry_out(&self, request: &Md, data: &Bytes, order: ByteOrder) -> Vec<Vec<u8>> {
        if request.format != Chars::new(MQFMT_ADMIN) {
            return pcf::refusal(MQCMD_NONE, &Reason::CCF_MD_FORMAT_ERROR.into(), order);
        }
        let qm = self.admin.queue_manager();
        let q_mgr = qm.read_object(ObjectKind::Qmgr, qm.name(), |attrs| {
            attrs.int(MQIA_CODED_CHAR_SET_ID)
        });
        let text = RequestText::of(request, order, q_mgr.unwrap_or_default());
        let read = |ccsid: i32, bytes: &[u8]| text.read(ccsid, bytes);
        if let Some(number) = pcf::command_of(data).filter(|number| *number != MQCMD_ESCAPE) {
            return match pcf::request_of(data, &read, &|name| self.kind_of_queue(name)) {
                Ok(asked) => {
                    let (reply, at_fault) = self.run_all(request, &asked).await;
                    let always = asked.always(qm.name());
                    pcf::responses(number, &reply, (at_fault, &always), order)
                }
                Err(why) => pcf::refusal(number, &why, order),
            };
        }
        let (number, reply) = match pcf::escape_command(data, &read) {
            Ok(text) => (
                audit::number_of(&text),
                self.admin.run_as(sender(request), &text).await,
            ),
            Err(error) => (
                None,
                Reply::failed("AMQ2402E", &[error.to_string()], error.reason),
            ),
        };
        pcf::escape_replies(number.unwrap_or(MQCMD_ESCAPE), &reply, order)
    }

    /// Carries out one command after the other, until one fails: then also the parameter that is wrong, if one is.
    async fn run_all(&self, request: &Md, asked: &pcf::Request) -> (Reply, Option<i32>) {
        let mut all = Reply::default();
        for (number, command) in asked.commands().enumerate() {
            let reply = self.admin.run_as(sender(request), &command).await;
            if !reply.ok {
                let column = reply.column;
                let at_fault = column.and_then(|column| asked.parameter_at(number, column));
                return (reply, at_fault);
            }
            all.rows.extend(reply.rows);
            all.messages.extend(reply.messages);
        }
        (all, None)
    }

    fn kind_of_queue(&self, name: &str) -> Option<ObjectKind> {
        let qm = self.admin.queue_manager();
        let mut kinds = ObjectKind::QUEUES.into_iter();
        kinds.find(|kind| qm.object(*kind, name).is_some())
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
            alternate_user_id: request.user_identifier,
            ..Od::default()
        };
        let mut md = reply_descriptor(request, order);
        let keeps_id = request.report & MQRO_PASS_MSG_ID != 0;
        let sync = match request.persistence == MQPER_PERSISTENT {
            true => MQPMO_SYNCPOINT,
            false => MQPMO_NO_SYNCPOINT,
        };
        let mut pmo = Pmo {
            options: sync
                | MQPMO_ALTERNATE_USER_AUTHORITY
                | MQPMO_SET_IDENTITY_CONTEXT
                | if keeps_id { 0 } else { MQPMO_NEW_MSG_ID },
            ..Pmo::default()
        };
        self.session
            .put1(&mut od, &mut md, &mut pmo, Bytes::from(data))
            .await
            .map(|_| ())
    }
}

/// Why a message is not a request that could be answered.
fn unanswerable(request: &Md) -> Option<&'static str> {
    if request.msg_type != MQMT_REQUEST {
        Some("its type is not request")
    } else if request.reply_to_q.is_blank() {
        Some("it names no reply queue")
    } else {
        None
    }
}

/// The application that has sent a request, as far as its descriptor says.
fn sender(request: &Md) -> Application {
    Application {
        name: request.put_appl_name.text().into_owned(),
        user: request.user_identifier.text().into_owned(),
        appl_type: request.put_appl_type,
        ..Application::default()
    }
}

/// The descriptor of an answer (manual: "Message descriptor for a PCF message"). It comes from whoever has asked: the name of who
/// runs the queue manager would be in a message that the asker can pass on.
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
        user_identifier: request.user_identifier,
        accounting_token: request.accounting_token,
        appl_identity_data: request.appl_identity_data,
        ..Md::default()
    }
}

#[cfg(test)]
mod tests {
    use posthaste_mqi::Name;

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
        assert_eq!(unanswerable(&request()), None);
        for (change, word) in [
            ((|md| md.msg_type = 8) as fn(&mut Md), "type"),
            (|md| md.reply_to_q = Name::new(""), "reply queue"),
        ] {
            let mut md = request();
            change(&mut md);
            assert!(unanswerable(&md).unwrap().contains(word));
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
