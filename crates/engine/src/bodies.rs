//! Bodies of messages between memory and disk: sealed where the queue manager was created so.
//!
//! Invariants:
//! * A body goes to disk in two places only, a record of the log (`routed`) and an item of a queue file (`queue/saved`),
//!   and comes back in two, restart and `queue/reading`. All four come here.
//! * A queue manager seals all bodies or none, from its creation on; the format of its anchor says which (`recovery/image`).
//! * A sealed body stands where the body would, and is longer by a fixed number of bytes. It is bound to everything that
//!   stands in front of it, and to what has it: the log, or the file of one queue. So it opens nowhere else, and not if
//!   a number, a queue or a descriptor in front of it was changed.
//! * What does not open is damage, and never a body.

use std::sync::Arc;

use crate::mark::{Mark, mark};
use crate::message::{self, Message};
use crate::record::{self, QueueId};

/// Seals and opens bodies. The engine has no cryptography of its own: whoever starts it brings this.
pub trait BodyCipher: Send + Sync + std::fmt::Debug {
    /// Bytes that a sealed body is longer than the body.
    fn overhead(&self) -> usize;

    /// Appends a body, given in parts, to the bytes that stand in front of it and that it is bound to, as it is to
    /// `context`. No two calls ever give the same, in this run or another.
    fn seal(&self, context: &[u8], bytes: &mut Vec<u8>, body: &[&[u8]]);

    /// Makes of the sealed body that begins at `from` the body.
    ///
    /// # Errors
    /// It is not what was sealed here under this context, or its key is not there. What `bytes` holds is then nothing.
    fn open(&self, context: &[u8], bytes: &mut Vec<u8>, from: usize) -> Result<(), NotOpened>;
}

/// Why a body was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOpened {
    /// It was changed, put where it does not belong, or never sealed.
    #[error("it is not what was encrypted there")]
    Changed,
    /// Its key is not among those of the queue manager.
    #[error("it was encrypted with data key {0:08x}, which the queue manager does not have")]
    UnknownKey(u32),
}

/// Stands for the log in what bodies are bound to.
const LOG: &[u8] = b"L";

/// Appends the bodies of a record of the log to its beginning, sealed.
pub(crate) fn seal_record(cipher: &dyn BodyCipher, head: &mut Vec<u8>, bodies: &[&[u8]]) {
    cipher.seal(LOG, head, bodies);
}

/// Opens a record of the log in place. `Ok(false)`: its bodies cannot be found, for it is none.
///
/// # Errors
/// They do not open.
pub(crate) fn open_record(
    cipher: Option<&Arc<dyn BodyCipher>>,
    payload: &mut Vec<u8>,
) -> Result<bool, NotOpened> {
    let Some(cipher) = cipher else {
        return Ok(true);
    };
    match record::before_bodies(payload) {
        Some(None) => Ok(true),
        Some(Some(from)) => {
            mark(Mark::RedoSealed);
            cipher.open(LOG, payload, from).map(|()| true)
        }
        None => Ok(false),
    }
}

/// How the file of one queue has bodies.
#[derive(Clone, Debug)]
pub(crate) struct FileBodies {
    cipher: Option<Arc<dyn BodyCipher>>,
    queue: QueueId,
}

impl FileBodies {
    pub(crate) fn new(cipher: Option<&Arc<dyn BodyCipher>>, queue: QueueId) -> Self {
        let cipher = cipher.cloned();
        FileBodies { cipher, queue }
    }

    /// Stands for the file in what bodies are bound to.
    fn context(&self) -> [u8; 9] {
        let mut context = [b'Q'; 9];
        context[1..].copy_from_slice(&self.queue.to_le_bytes());
        context
    }

    /// Bytes that a body in the file is longer than the body.
    pub(crate) fn overhead(&self) -> usize {
        self.cipher.as_ref().map_or(0, |cipher| cipher.overhead())
    }

    /// The message as an item of the file.
    pub(crate) fn with_item<T>(&self, message: &Message, write: impl FnOnce(&[&[u8]]) -> T) -> T {
        let mut bytes = message::stored_head(message);
        let [own, shared] = message.data.stored_parts();
        match &self.cipher {
            None => write(&[&bytes, own, shared]),
            Some(cipher) => {
                cipher.seal(&self.context(), &mut bytes, &[own, shared]);
                write(&[&bytes])
            }
        }
    }

    /// The message that an item of the file is; in words, why it is none.
    pub(crate) fn message_of(&self, mut item: Vec<u8>) -> Result<Message, String> {
        let none = || "what is there is no message".to_owned();
        if let Some(cipher) = &self.cipher {
            let from = message::before_body(&item).ok_or_else(none)?;
            let opened = cipher.open(&self.context(), &mut item, from);
            opened.map_err(|why| why.to_string())?;
        }
        message::decode_stored(item).ok_or_else(none)
    }
}
