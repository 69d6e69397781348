//! The codes of STATUS_DATA: why a channel is refused or ended, and what the application is then told.

use posthaste_mqi::{ByteOrder, Reason};

use crate::PeerMisbehaved;
use crate::flow::Envelope;
use crate::input::Input;
use crate::segment::{Flags, Header, SegmentType};

/// A status code. Zero means that all is well.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Status(pub u32);

impl Status {
    /// All is well: a conversation or its credentials are accepted.
    pub const OK: Status = Status(0);
    /// There is no channel of that name.
    pub const NO_CHANNEL: Status = Status(1);
    /// The channel of that name is of another type.
    pub const CHANNEL_WRONG_TYPE: Status = Status(2);
    /// The queue manager is not available.
    pub const Q_MGR_UNAVAILABLE: Status = Status(3);
    /// The queue manager is ending.
    pub const Q_MGR_TERMINATING: Status = Status(5);
    /// The channel was ended by an operator.
    pub const USER_CLOSED: Status = Status(7);
    /// No call was made for the disconnect interval.
    pub const DISC_INTERVAL_EXPIRED: Status = Status(8);
    /// The protocol was broken.
    pub const PROTOCOL_ERROR: Status = Status(10);
    /// The channel is stopped, or has as many instances as it may have.
    pub const CHANNEL_UNAVAILABLE: Status = Status(22);
    /// An exit of the channel has closed it, or cannot be called.
    pub const CLOSED_BY_EXIT: Status = Status(23);
    /// The two ends do not use the same CipherSpec.
    pub const CIPHER_SPEC: Status = Status(24);
    /// The client's certificate has another name than SSLPEER wants.
    pub const PEER_NAME: Status = Status(25);

    /// The reason an application gets when its connection is refused with this code.
    pub fn refusal(self) -> Reason {
        Reason(match self.0 {
            1 => 2540,
            2 | 10..=14 | 16 | 18 => 2539,
            22 | 23 => 2537,
            24 | 25 | 28 => 2397,
            32 => 2543,
            _ => 2059,
        })
    }

    /// The reason an application gets when an existing connection ends with this code.
    pub fn ending(self) -> Reason {
        match self.refusal() {
            Reason(2059) => Reason(2009),
            other => other,
        }
    }

    /// Reads the body of STATUS_DATA; `None` for the header-only form that ends an unshared channel.
    pub fn decode(body: &[u8], order: ByteOrder) -> Result<Option<Status>, PeerMisbehaved> {
        if body.is_empty() {
            return Ok(None);
        }
        let mut input = Input::new(body, order, SegmentType::StatusData);
        let _length = input.u32()?;
        Ok(Some(Status(input.u32()?)))
    }

    /// Writes a STATUS_DATA segment; `flags` beside first and last.
    pub fn encode(self, out: &mut Vec<u8>, envelope: &Envelope, flags: Flags) {
        let mut writer = envelope.begin(out, SegmentType::StatusData, flags);
        writer.u32(8);
        writer.u32(self.0);
        writer.finish();
    }
    /// Writes the STATUS_DATA that stands in place of an answer to INITIAL_DATA: the one segment that is neither first
    /// nor last of a flow.
    pub fn encode_refusal(self, out: &mut Vec<u8>, envelope: &Envelope) {
        let length = envelope.scope.header_length() + 8;
        Header::new(
            SegmentType::StatusData,
            envelope.scope,
            envelope.order,
            envelope.framing.ccsid,
        )
        .with_flags(Flags::ERROR | Flags::CLOSE)
        .encode(out, u32::try_from(length).unwrap_or(u32::MAX));
        envelope.order.put_u32(out, 8);
        envelope.order.put_u32(out, self.0);
    }
}
