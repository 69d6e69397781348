//! Messages for other queue managers: what stands in front of them on a transmission queue.
//!
//! Invariant: what the header says of the message is what its descriptor said, groups included.

use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Md, Name, Xqh};

use crate::manager::Inner;
use crate::message_data::MessageData;
use crate::verbs::mde;

/// Puts the header of a transmission queue in front of a message, whose descriptor becomes part of
/// the data (MQXQH; a version 2 descriptor's extra fields follow as MQMDE).
pub(crate) fn transmit(
    qm: &Inner,
    md: &Md,
    data: &MessageData,
    (queue, q_mgr): (Name, Name),
) -> (Md, MessageData) {
    let mut embedded = md.clone();
    embedded.coded_char_set_id = qm.catalogue.named_set(md.coded_char_set_id);
    embedded.version = MQMD_VERSION_1;
    let mut head = Vec::with_capacity(512);
    let grouped = md.version >= MQMD_VERSION_2 && mde::needed(md);
    if grouped {
        embedded.format = Chars::new(MQFMT_MD_EXTENSION);
    }
    let header = Xqh {
        remote_q_name: queue,
        remote_q_mgr_name: q_mgr,
        msg_desc: embedded,
    };
    let order = posthaste_mqi::ByteOrder::Little;
    header.encode(&mut head, order, posthaste_mqi::PointerSize::Four);
    if grouped {
        mde::of(md).encode(&mut head, order, posthaste_mqi::PointerSize::Four);
    }
    let outer = Md {
        version: MQMD_VERSION_1,
        report: 0,
        msg_type: MQMT_DATAGRAM,
        encoding: MQENC_NATIVE,
        coded_char_set_id: qm.catalogue.qmgr().coded_char_set_id,
        format: Chars::new(MQFMT_XMIT_Q_HEADER),
        reply_to_q: Name::default(),
        reply_to_q_mgr: Name::default(),
        group_id: [0; 24],
        msg_seq_number: 1,
        offset: 0,
        msg_flags: 0,
        original_length: -1,
        ..md.clone()
    };
    (outer, data.behind(&head))
}
