//! What the verbs of the MQ Interface give, and the verbs themselves as a trait, so that a program is written once for
//! every way to reach a queue manager: over a socket, or inside the program's own process.
//!
//! Invariants: a verb means the same whichever binding carries it, and its reason codes are the queue manager's; a
//! warning reaches the program, for what was done with a warning was done.

use bytes::Bytes;

use crate::{CompCode, Gmo, Hobj, Md, Od, Pmo, Reason, Sd, Sro, Sts};

/// A verb that did something: its result, and a warning (`Reason::NONE` mostly).
#[derive(Clone, Debug, PartialEq)]
pub struct Done<T> {
    /// What the verb gives.
    pub value: T,
    /// The reason of a completion code `MQCC_WARNING`, or `Reason::NONE`.
    pub warning: Reason,
}

impl<T> Done<T> {
    /// Without a warning.
    pub const fn ok(value: T) -> Self {
        Done {
            value,
            warning: Reason::NONE,
        }
    }

    /// Another value with the same warning.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Done<U> {
        Done {
            value: make(self.value),
            warning: self.warning,
        }
    }

    /// The value for whom only `MQCC_OK` will do.
    ///
    /// # Errors
    /// The warning.
    pub fn or_warning(self) -> Result<T, Reason> {
        match self.warning {
            Reason::NONE => Ok(self.value),
            warning => Err(warning),
        }
    }
}

/// What a verb comes to; `Err` is the reason of a completion code `MQCC_FAILED`.
pub type Verb<T> = Result<Done<T>, Reason>;

/// Completion code and reason of a verb, as a program of the MQ Interface reads them.
pub const fn codes<T>(result: &Verb<T>) -> (CompCode, Reason) {
    match result {
        Ok(Done { warning, .. }) if warning.is_none() => (CompCode::Ok, Reason::NONE),
        Ok(Done { warning, .. }) => (CompCode::Warning, *warning),
        Err(reason) => (CompCode::Failed, *reason),
    }
}

/// What MQGET gives beside the descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    /// The data, at most as much as the buffer holds.
    pub data: Bytes,
    /// Length of the whole message.
    pub length: usize,
}

/// What MQSUB gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscribed {
    /// The queue that the messages come to: for MQGET.
    pub messages: Hobj,
    /// The subscription: for MQSUBRQ, and MQCLOSE with what is to become of it.
    pub subscription: Hobj,
}

/// What MQINQ gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inquired {
    /// Integer attributes, in the order of their selectors.
    pub ints: Vec<i32>,
    /// Character attributes, in the order of their selectors, each at its full width.
    pub chars: Vec<u8>,
}

/// The MQ Interface as an application uses it, whichever binding carries it.
///
/// A connection is used by one thread at a time and may be handed from one to another. Dropping it without
/// [`Mqi::disconnect`] is a lost connection: the queue manager backs its unit of work out. Every verb fails with the
/// reason that the queue manager gives, or with 2009 when the connection broke.
pub trait Mqi: Send {
    /// The name of the queue manager.
    fn queue_manager(&self) -> String;

    /// MQOPEN. The descriptor comes back with the names that it was resolved to.
    ///
    /// # Errors
    /// The reason.
    fn open_object(&mut self, od: &mut Od, options: i32) -> Verb<Hobj>;

    /// MQCLOSE.
    ///
    /// # Errors
    /// The reason.
    fn close(&mut self, handle: Hobj, options: i32) -> Verb<()>;

    /// MQPUT. The descriptor and the options come back filled.
    ///
    /// # Errors
    /// The reason.
    fn put(&mut self, handle: Hobj, md: &mut Md, pmo: &mut Pmo, data: &[u8]) -> Verb<()>;

    /// MQPUT1.
    ///
    /// # Errors
    /// The reason.
    fn put1(&mut self, od: &mut Od, md: &mut Md, pmo: &mut Pmo, data: &[u8]) -> Verb<()>;

    /// MQGET. `max` is the longest message that is taken, in bytes.
    ///
    /// # Errors
    /// 2033 and other reasons.
    fn get(&mut self, handle: Hobj, md: &mut Md, gmo: &mut Gmo, max: usize) -> Verb<Got>;

    /// MQSUB. `own` is the application's own queue for the messages, [`Hobj::NONE`] where the queue manager is to make one
    /// or the subscription has one. The descriptor comes back filled.
    ///
    /// # Errors
    /// The reason.
    fn subscribe(&mut self, sd: &mut Sd, own: Hobj) -> Verb<Subscribed>;

    /// MQSUBRQ: retained publications are sent again; the options come back with how many.
    ///
    /// # Errors
    /// 2437 there is none, and other reasons.
    fn subscription_request(&mut self, subscription: Hobj, action: i32, sro: &mut Sro) -> Verb<()>;

    /// MQCMIT.
    ///
    /// # Errors
    /// 2003: backed out instead; the reason; with 2009 the outcome is not known.
    fn commit(&mut self) -> Verb<()>;

    /// MQBACK.
    ///
    /// # Errors
    /// The reason.
    fn backout(&mut self) -> Verb<()>;

    /// MQINQ. `char_length` is the room for characters, in bytes.
    ///
    /// # Errors
    /// The reason.
    fn inquire(&mut self, handle: Hobj, selectors: &[i32], char_length: usize) -> Verb<Inquired>;

    /// MQSET.
    ///
    /// # Errors
    /// The reason.
    fn set(&mut self, handle: Hobj, selectors: &[i32], ints: &[i32], chars: &[u8]) -> Verb<()>;

    /// MQSTAT (type 0): what became of the asynchronous puts since it was asked last.
    ///
    /// # Errors
    /// The reason.
    fn stat(&mut self) -> Verb<Sts>;

    /// MQDISC: commits and ends the connection. The warning 2003 says that the unit of work was backed out instead.
    ///
    /// # Errors
    /// Those of [`Mqi::commit`] but 2003; the connection has ended all the same.
    fn disconnect(self: Box<Self>) -> Verb<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_told_and_what_was_done_is_there() {
        let cut = Done {
            value: 7,
            warning: Reason::TRUNCATED_MSG_ACCEPTED,
        };
        let warned = (CompCode::Warning, Reason::TRUNCATED_MSG_ACCEPTED);
        assert_eq!(codes(&Ok(cut.clone())), warned);
        assert_eq!(cut.clone().map(|n| n + 1).value, 8);
        assert_eq!(cut.or_warning(), Err(Reason::TRUNCATED_MSG_ACCEPTED));
        assert_eq!(codes(&Ok(Done::ok(()))), (CompCode::Ok, Reason::NONE));
        let failed: Verb<()> = Err(Reason::Q_FULL);
        assert_eq!(codes(&failed), (CompCode::Failed, Reason::Q_FULL));
    }
}
