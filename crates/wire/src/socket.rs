//! What concerns the socket as a whole: HEARTBEAT and SOCKET_ACTION.

use posthaste_mqi::ByteOrder;

use crate::PeerMisbehaved;
use crate::flow::{Envelope, Framing};
use crate::input::Input;
use crate::segment::{Flags, Scope, SegmentType};

/// Writes a heartbeat, or the answer to one. `envelope` is one for the socket.
pub fn heartbeat(out: &mut Vec<u8>, envelope: &Envelope, answer: bool) {
    let flags = if answer { Flags::NONE } else { Flags::CONFIRM };
    envelope.begin(out, SegmentType::Heartbeat, flags).finish();
}

/// What a SOCKET_ACTION asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// A conversation begins.
    Start,
    /// A conversation ends.
    End,
    /// The sender wants new keys of TLS, and sends nothing more until it is told to go ahead.
    ResetKeys,
    /// The answer: go ahead.
    GoAhead,
    /// The sender has its new keys.
    KeysReset,
    /// Sent by servers only; a client ignores 7 and 8.
    Other(u32),
}

impl Action {
    fn number(self) -> u32 {
        match self {
            Action::Start => 1,
            Action::End => 2,
            Action::ResetKeys => 4,
            Action::GoAhead => 5,
            Action::KeysReset => 6,
            Action::Other(number) => number,
        }
    }
}

/// SOCKET_ACTION.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SocketAction {
    /// The conversation it is about.
    pub conversation: u32,
    /// Request identifier.
    pub request: u32,
    /// What is asked for.
    pub action: Action,
    /// 1 when a conversation starts.
    pub parameter1: u32,
    /// Conversations after the start.
    pub parameter2: u32,
}

impl SocketAction {
    /// Reads the body.
    pub fn decode(body: &[u8], order: ByteOrder) -> Result<SocketAction, PeerMisbehaved> {
        let mut input = Input::new(body, order, SegmentType::SocketAction);
        Ok(SocketAction {
            conversation: input.u32()?,
            request: input.u32()?,
            action: match input.u32()? {
                1 => Action::Start,
                2 => Action::End,
                4 => Action::ResetKeys,
                5 => Action::GoAhead,
                6 => Action::KeysReset,
                other => Action::Other(other),
            },
            parameter1: input.u32()?,
            parameter2: input.u32()?,
        })
    }

    /// Writes the segment; `close` if the socket is closed after it.
    pub fn encode(&self, out: &mut Vec<u8>, framing: &Framing, order: ByteOrder, close: bool) {
        let flags = if close { Flags::CLOSE } else { Flags::NONE };
        let envelope = Envelope {
            framing: *framing,
            scope: Scope::Socket,
            order,
        };
        let mut writer = envelope.begin(out, SegmentType::SocketAction, flags);
        for value in [
            self.conversation,
            self.request,
            self.action.number(),
            self.parameter1,
            self.parameter2,
        ] {
            writer.u32(value);
        }
        writer.finish();
    }
}
