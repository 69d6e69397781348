//! What the queue manager knows of a message that its descriptor does not say, and that no application can say.
//!
//! Invariants:
//! * The reports on a message are put by the authority of the user in the context that it was put with. That of a publication is the
//!   publisher's: its copies have the subscriber in their descriptors, who has asked for no report and chosen no reply-to queue.
//! * It is written with the message wherever that is written, so that a restart knows it.
//! * Of what an earlier release has put nothing is known.

use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Md};

/// See the head of this file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Origin {
    /// It asks for no report; or an earlier release has put it.
    #[default]
    Unknown,
    /// It asks for reports, which are put by the authority of this user.
    Reports(Chars<12>),
    /// The queue manager has put it on the queue of delayed messages, for it was put with a delay.
    Delayed,
}

const REPORTS: u8 = b'R';
const DELAYED: u8 = b'D';

/// Whether a message asks for a report of any kind.
pub(crate) fn asks_for_report(md: &Md) -> bool {
    md.report & (MQRO_EXCEPTION | MQRO_EXPIRATION | MQRO_COA | MQRO_COD) != 0
}

impl Origin {
    /// That of a message that is put with this descriptor.
    pub(crate) fn of(md: &Md) -> Origin {
        match asks_for_report(md) {
            true => Origin::Reports(md.user_identifier),
            false => Origin::Unknown,
        }
    }

    /// Appends its length, in one byte, and what it says; nothing: `Unknown`.
    pub(crate) fn encode(self, out: &mut Vec<u8>) {
        match self {
            Origin::Unknown => out.push(0),
            Origin::Delayed => out.extend_from_slice(&[1, DELAYED]),
            Origin::Reports(user) => {
                let user = user.unpadded();
                out.extend_from_slice(&[user.len() as u8 + 1, REPORTS]);
                out.extend_from_slice(user);
            }
        }
    }

    /// Reads what stands behind its length. `None`: these bytes are no such thing.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Origin> {
        match bytes {
            [] => Some(Origin::Unknown),
            [DELAYED] => Some(Origin::Delayed),
            [REPORTS, user @ ..] => {
                let mut padded = [b' '; 12];
                padded.get_mut(..user.len())?.copy_from_slice(user);
                Some(Origin::Reports(Chars::from_bytes(padded)))
            }
            _ => None,
        }
    }
}
