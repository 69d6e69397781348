//! Report messages: exception, expiration, confirm on arrival (COA), confirm on delivery (COD).
//!
//! Invariants (MQI reference, "Report options and message flags"):
//! * A report goes to the message's reply-to queue; its MsgId and CorrelId follow the PASS/NEW/COPY
//!   options; it has the persistence and the priority of the message.
//! * Where authorities are checked, a report is put by the authority of the user in the context that the message was put with, who
//!   needs `put` and `passid` on the reply-to queue (manual: "Message context"); of a publication that is the publisher, whoever gets
//!   a copy (`origin.rs`). Whoever makes a report has that user looked up first.
//! * Where nobody knows who that was, because an earlier release has put the message, it is put by what the user in its descriptor may
//!   that everybody may, if he administers the queue manager: he may be a subscriber.
//! * No report goes to a queue whose messages are taken at their word (`at_their_word.rs`).
//! * A report that cannot be put on its reply-to queue goes to the dead-letter queue with a header,
//!   and is discarded when there is none: it never makes the application's call fail.

use std::sync::Arc;

use bytes::Bytes;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Dlh, Md, Name, PointerSize, Reason, headers_length};

use crate::at_their_word::{on_anothers_behalf, queue_for_others};
use crate::authorization::Caller;
use crate::handles::Target;
use crate::manager::Inner;
use crate::message::{Message, tenths_left};
use crate::message_data::MessageData;
use crate::origin::{Origin, asks_for_report};
use crate::queue::Queue;
use crate::resolution::resolve;
use crate::routed::RoutedMessage;
use crate::transmission::transmit;
use crate::verbs::clock::stamp;

const KNOWN: i32 = MQRO_EXCEPTION_WITH_FULL_DATA
    | MQRO_EXPIRATION_WITH_FULL_DATA
    | MQRO_COA_WITH_FULL_DATA
    | MQRO_COD_WITH_FULL_DATA
    | MQRO_PASS_MSG_ID
    | MQRO_PASS_CORREL_ID
    | MQRO_DISCARD_MSG
    | MQRO_PASS_DISCARD_AND_EXPIRY
    | MQRO_PAN
    | MQRO_NAN
    | MQRO_ACTIVITY;

/// The kinds of report, each with its option, its "with full data" option and its feedback.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Exception(i32),
    Expiration,
    Arrival,
    Delivery,
}

impl Kind {
    /// The plain option, the one with data and the one with all data.
    fn options(self) -> (i32, i32, i32) {
        match self {
            Kind::Exception(_) => (
                MQRO_EXCEPTION,
                MQRO_EXCEPTION_WITH_DATA,
                MQRO_EXCEPTION_WITH_FULL_DATA,
            ),
            Kind::Expiration => (
                MQRO_EXPIRATION,
                MQRO_EXPIRATION_WITH_DATA,
                MQRO_EXPIRATION_WITH_FULL_DATA,
            ),
            Kind::Arrival => (MQRO_COA, MQRO_COA_WITH_DATA, MQRO_COA_WITH_FULL_DATA),
            Kind::Delivery => (MQRO_COD, MQRO_COD_WITH_DATA, MQRO_COD_WITH_FULL_DATA),
        }
    }

    fn feedback(self) -> i32 {
        match self {
            Kind::Exception(reason) => reason,
            Kind::Expiration => MQFB_EXPIRATION,
            Kind::Arrival => MQFB_COA,
            Kind::Delivery => MQFB_COD,
        }
    }
}

/// Checks the report options of a message being put; gives the warning there is (manual: "Structure of the report field").
///
/// # Errors
/// 2061 options that this queue manager does not know, but for those that are only warned of; of some, only where another queue
/// manager is to have the message (`remote`). 2027 a report is asked for and there is no reply-to queue.
pub(crate) fn check(md: &Md, remote: bool) -> Result<Reason, Reason> {
    let unknown = md.report & !KNOWN;
    let refused = match remote {
        true => MQRO_REJECT_UNSUP_MASK,
        false => MQRO_REJECT_UNSUP_MASK | MQRO_ACCEPT_UNSUP_IF_XMIT_MASK,
    };
    if unknown & refused != 0 {
        return Err(Reason::REPORT_OPTIONS_ERROR);
    }
    if asks_for_report(md) && md.reply_to_q.is_blank() {
        return Err(Reason::MISSING_REPLY_TO_Q);
    }
    Ok(match unknown {
        0 => Reason::NONE,
        _ => Reason::UNKNOWN_REPORT_OPTION,
    })
}

/// A report (or another message the queue manager makes), with the queue it is for.
pub(crate) struct Report {
    pub(crate) md: Md,
    pub(crate) data: MessageData,
    /// That of the message that it is on, or that it is.
    pub(crate) origin: Origin,
    pub(crate) to: (Name, Name),
}

/// What a report has of a message's data where it is not to have all of them. Headers come whole and are not counted: whoever reads the
/// report looks for them. Not the whole in memory for the sake of it.
fn beginning(md: &Md, data: &MessageData) -> MessageData {
    let headers = headers_length(md.format, md.encoding, data.parts());
    Bytes::copy_from_slice(&data.up_to(headers + 100)).into()
}

/// The identity context of a report: that of the user by whose authority it is put.
fn identity(md: &Md, origin: Origin) -> (Chars<12>, [u8; 32], Chars<32>) {
    match origin {
        // The rest of the identity is the subscriber's, too.
        Origin::Reports(user) if user != md.user_identifier => (user, [0; 32], Chars::default()),
        _ => (
            md.user_identifier,
            md.accounting_token,
            md.appl_identity_data,
        ),
    }
}

/// The report options and the expiry of a report on a message that expires then (0: its descriptor says how long it lives from
/// now on).
fn passed_on(qm: &Inner, kind: Kind, md: &Md, expires: i64) -> (i32, i32) {
    if md.report & MQRO_PASS_DISCARD_AND_EXPIRY == 0 {
        return (MQRO_NONE, MQEI_UNLIMITED);
    }
    let expiry = match (kind, expires) {
        // Nothing is left of it, and the report is to be read.
        (Kind::Expiration, _) => MQEI_UNLIMITED,
        (_, 0) => md.expiry,
        (_, expires) => tenths_left(expires, qm.clock.now()),
    };
    (md.report & MQRO_DISCARD_MSG, expiry)
}

/// The report on a message, if it asks for one of this kind. `expires`: when it does, of one that has lived for some time.
pub(crate) fn report(
    qm: &Inner,
    kind: Kind,
    (md, origin, expires): (&Md, Origin, i64),
    data: &MessageData,
) -> Option<Report> {
    let (plain, with_data, full) = kind.options();
    if md.report & plain == 0 {
        return None;
    }
    let seq = qm.next_seq();
    let body = match (md.report & full == full, md.report & with_data == with_data) {
        (true, _) => data.clone(),
        (false, true) => beginning(md, data),
        (false, false) => MessageData::default(),
    };
    let (options, expiry) = passed_on(qm, kind, md, expires);
    let (user, accounting_token, identity) = identity(md, origin);
    let mut out = Md {
        version: MQMD_VERSION_2,
        report: options,
        msg_type: MQMT_REPORT,
        expiry,
        feedback: kind.feedback(),
        encoding: md.encoding,
        coded_char_set_id: qm.catalogue.named_set(md.coded_char_set_id),
        format: if body.len() == 0 {
            Chars::default()
        } else {
            md.format
        },
        priority: md.priority,
        persistence: md.persistence,
        msg_id: if md.report & MQRO_PASS_MSG_ID != 0 {
            md.msg_id
        } else {
            qm.new_msg_id(seq)
        },
        correl_id: if md.report & MQRO_PASS_CORREL_ID != 0 {
            md.correl_id
        } else {
            md.msg_id
        },
        reply_to_q_mgr: Name::new(&qm.config.name),
        user_identifier: user,
        accounting_token,
        appl_identity_data: identity,
        put_appl_type: MQAT_QMGR,
        put_appl_name: Chars::new(&qm.config.name),
        group_id: md.group_id,
        msg_seq_number: md.msg_seq_number,
        offset: md.offset,
        msg_flags: md.msg_flags,
        original_length: data.len() as i32,
        ..Md::default()
    };
    stamp(&mut out, qm.env.clock.wall_micros());
    Some(Report {
        md: out,
        data: body,
        origin,
        to: (md.reply_to_q, md.reply_to_q_mgr),
    })
}

impl Report {
    /// Looks up the user by whose authority it is put.
    pub(crate) async fn look_up_user(&self, qm: &Inner) {
        qm.look_up(&self.md.user_identifier.text()).await;
    }

    /// By whose authority it is put.
    ///
    /// # Errors
    /// 2063 nobody has said yet who that is.
    pub(crate) fn user(&self, qm: &Inner) -> Result<Caller, Reason> {
        let caller = qm.known_caller(&self.md.user_identifier.text(), "report")?;
        Ok(match self.origin {
            Origin::Reports(_) => caller,
            Origin::Unknown | Origin::Delayed => caller.unprivileged(),
        })
    }

    /// Addresses it to its own queue.
    ///
    /// # Errors
    /// Why it cannot be put there, as an application's put would be told: 2035 among them.
    pub(crate) fn routed(&self, qm: &Inner) -> Result<RoutedMessage, Reason> {
        let resolved =
            resolve(qm, &self.to.0, &self.to.1)?.map_err(|_model| Reason::OBJECT_TYPE_ERROR)?;
        if let Target::Queue { queue, .. } = &resolved.target {
            let user = self.md.user_identifier.text();
            on_anothers_behalf(qm, queue, (&user, "report"))?;
        }
        let options = MQOO_OUTPUT | MQOO_PASS_IDENTITY_CONTEXT;
        self.user(qm)?.may_open(qm, &resolved, options)?;
        let (alias, queue, md, data) = match resolved.target {
            Target::Queue { queue, alias, .. } => {
                (alias, queue, self.md.clone(), self.data.clone())
            }
            Target::Remote {
                transmission,
                alias,
                names,
                ..
            } => {
                let (md, data) = transmit(qm, &self.md, &self.data, *names);
                (alias, transmission, md, data)
            }
            Target::Topic(_) | Target::Qmgr | Target::Definition => {
                return Err(Reason::UNKNOWN_OBJECT_NAME);
            }
        };
        if alias.is_some_and(|alias| alias.put_inhibited()) {
            return Err(Reason::PUT_INHIBITED);
        }
        routed(qm, queue, md, data)
    }

    /// Addresses it to the dead-letter queue, behind a header that says why.
    ///
    /// # Errors
    /// There is no dead-letter queue, or it is not a local queue, or its messages are taken at their word (2085), or it is too small.
    pub(crate) fn dead_letter(&self, qm: &Inner, reason: Reason) -> Result<RoutedMessage, Reason> {
        let name = qm.catalogue.qmgr().dead_letter_q.clone();
        let queue = queue_for_others(qm, &name);
        let queue = queue.ok_or(Reason::UNKNOWN_OBJECT_NAME)?;
        let md = &self.md;
        let mut now = Md::default();
        stamp(&mut now, qm.env.clock.wall_micros());
        let header = Dlh {
            reason: reason.0,
            dest_q_name: self.to.0,
            dest_q_mgr_name: if self.to.1.is_blank() {
                Name::new(&qm.config.name)
            } else {
                self.to.1
            },
            encoding: md.encoding,
            coded_char_set_id: qm.catalogue.named_set(md.coded_char_set_id),
            format: md.format,
            put_appl_type: MQAT_QMGR,
            put_appl_name: Chars::new(&qm.config.name),
            put_date: now.put_date,
            put_time: now.put_time,
        };
        let mut head = Vec::with_capacity(172);
        header.encode(&mut head, ByteOrder::Little, PointerSize::Four);
        let outer = Md {
            format: Chars::new(MQFMT_DEAD_LETTER_HEADER),
            encoding: MQENC_NATIVE,
            coded_char_set_id: qm.catalogue.qmgr().coded_char_set_id,
            expiry: MQEI_UNLIMITED,
            ..md.clone()
        };
        let dead = routed(qm, queue, outer, self.data.behind(&head))?;
        Ok(dead.with_origin(self.origin))
    }
}

fn routed(
    qm: &Inner,
    queue: Arc<Queue>,
    mut md: Md,
    data: MessageData,
) -> Result<RoutedMessage, Reason> {
    let attributes = queue.attributes();
    if data.len() > attributes.max_msg_length {
        return Err(Reason::MSG_TOO_BIG_FOR_Q);
    }
    if attributes.temporary() {
        md.persistence = MQPER_NOT_PERSISTENT;
    }
    let expires = match md.expiry {
        MQEI_UNLIMITED => 0,
        tenths => qm.clock.now() + i64::from(tenths) * 100_000,
    };
    Ok(RoutedMessage::sharing(queue, md, data, expires))
}

/// The COA report of a message that is being put on its destination queue.
pub(crate) fn arrival(
    qm: &Inner,
    (md, origin): (&Md, Origin),
    data: &(impl Clone + Into<MessageData>),
) -> Option<Report> {
    if md.report & MQRO_COA == 0 {
        return None;
    }
    report(qm, Kind::Arrival, (md, origin, 0), &data.clone().into())
}

/// The COD report of a message that was got. It is rare, so a get keeps no room for it.
pub(crate) fn delivery(qm: &Inner, message: &Message) -> Option<Box<Report>> {
    if message.md.report & MQRO_COD == 0 {
        return None;
    }
    let of = (&message.md, message.origin, message.expires);
    report(qm, Kind::Delivery, of, &message.data).map(Box::new)
}

/// Says to the operator that a report was discarded.
pub(crate) fn not_sent(qm: &Inner, reason: Reason) {
    qm.operator.message("AMQ2017W", &[reason.to_string()]);
}
