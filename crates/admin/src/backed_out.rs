//! Requests of the command queue that were begun again and again, and never ended.
//!
//! A persistent request is backed out when the queue manager ends while it is carried out. That may be the request's doing, and
//! would then happen at each start for ever; it may as well be an immediate end, or a failing disk, which the request can do
//! nothing about.
//!
//! Invariants:
//! * A request is carried out until it has been backed out [`MOST_BACKOUTS`] times, and not once more.
//! * Then it goes to the dead-letter queue, behind a header that says why, with its context, in one unit of work. What cannot go
//!   there stays on the command queue, where it hinders no other request, and is tried again when the command server begins again.
//! * The operator hears of either.
//! * Counts grow only when the command server ends or begins again, so they are looked at when it begins.

use bytes::{BufMut, Bytes, BytesMut};
use posthaste_command::ObjectKind;
use posthaste_engine::{COMMAND_QUEUE, Operator, QueueManager, Session, put_stamp};
use posthaste_mqi::constants::*;
use posthaste_mqi::{
    ByteOrder, Chars, Dlh, Gmo, Hobj, LONGEST_MESSAGE, Md, Name, Od, Pmo, PointerSize, Reason, hex,
};

/// So often a request may be backed out: once may be an immediate end, twice an end and a disk that fails. Three times in a row
/// the one request that is then being carried out is to blame.
const MOST_BACKOUTS: i32 = 3;

/// The requests that may be carried out.
pub(crate) fn fit_requests() -> Od {
    requests("<")
}

/// The command queue, of which is seen what has been backed out so often.
fn requests(comparison: &str) -> Od {
    Od {
        version: MQOD_VERSION_4,
        object_name: Name::new(COMMAND_QUEUE),
        selection_string: format!("Root.MQMD.BackoutCount {comparison} {MOST_BACKOUTS}"),
        ..Od::default()
    }
}

/// Moves the requests that are not to be carried out any more to the dead-letter queue, where they are dated now (microseconds
/// since 1970).
///
/// # Errors
/// Those of the calls on the command queue. What keeps a request from the dead-letter queue is no error but a word to the operator.
pub(crate) async fn give_up(
    qm: &QueueManager,
    session: &Session,
    (operator, now): (&dyn Operator, i64),
) -> Result<(), Reason> {
    let mut od = requests(">=");
    let options = MQOO_INPUT_SHARED | MQOO_SAVE_ALL_CONTEXT;
    let queue = session.open(&mut od, options).await?.value;
    loop {
        let mut md = Md::default();
        let mut gmo = Gmo {
            options: MQGMO_SYNCPOINT | MQGMO_NO_WAIT,
            match_options: MQMO_NONE,
            ..Gmo::default()
        };
        let data = match session.get(queue, &mut md, &mut gmo, LONGEST_MESSAGE).await {
            Ok(got) => got.value.data,
            Err(Reason::NO_MSG_AVAILABLE) => break,
            Err(reason) => return Err(reason),
        };
        let mut inserts = vec![hex(&md.msg_id), md.backout_count.to_string()];
        if let Err(reason) = move_away(qm, session, (queue, now), md, &data).await {
            session.backout().await?;
            inserts.push(reason.to_string());
            operator.message("AMQ2217E", &inserts);
            // What keeps this one away keeps the others.
            break;
        }
        operator.message("AMQ2216W", &inserts);
    }
    session.close(queue, MQCO_NONE).await.map(drop)
}

/// One goes to the dead-letter queue.
async fn move_away(
    qm: &QueueManager,
    session: &Session,
    (from, now): (Hobj, i64),
    mut md: Md,
    data: &Bytes,
) -> Result<(), Reason> {
    let name = qm.read_object(ObjectKind::Qmgr, qm.name(), |attrs| {
        Name::new(attrs.text(MQCA_DEAD_LETTER_Q_NAME))
    });
    let name = name.filter(|name| !name.is_blank());
    let mut od = Od {
        object_name: name.ok_or(Reason::UNKNOWN_OBJECT_NAME)?,
        ..Od::default()
    };
    let (put_date, put_time) = put_stamp(now);
    let header = Dlh {
        reason: Reason::BACKOUT_THRESHOLD_REACHED.0,
        dest_q_name: Name::new(COMMAND_QUEUE),
        dest_q_mgr_name: Name::new(qm.name()),
        encoding: md.encoding,
        coded_char_set_id: md.coded_char_set_id,
        format: md.format,
        put_appl_type: MQAT_QMGR,
        put_appl_name: Chars::new(qm.name()),
        put_date,
        put_time,
    };
    let mut head = Vec::with_capacity(172);
    header.encode(&mut head, ByteOrder::Little, PointerSize::Four);
    let mut whole = BytesMut::with_capacity(head.len() + data.len());
    whole.put_slice(&head);
    whole.put_slice(data);
    md.format = Chars::new(MQFMT_DEAD_LETTER_HEADER);
    md.encoding = MQENC_NATIVE;
    md.coded_char_set_id = MQCCSI_DEFAULT;
    md.expiry = MQEI_UNLIMITED;
    let mut pmo = Pmo {
        options: MQPMO_SYNCPOINT | MQPMO_PASS_ALL_CONTEXT,
        context: from.0,
        ..Pmo::default()
    };
    session
        .put1(&mut od, &mut md, &mut pmo, whole.freeze())
        .await?;
    session.commit().await.map(drop)
}
