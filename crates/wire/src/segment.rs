//! Segment headers, and where one segment ends in a stream of bytes.
//!
//! Invariants: a segment's length counts its header and is big-endian always, as are the conversation and request
//! identifiers; the numbers after the byte-order byte follow that byte. `TSH ` and `TSHC` headers are 28 bytes,
//! `TSHM` headers are 36.

use std::ops::BitOr;

use posthaste_mqi::{ByteOrder, Image};

use crate::PeerMisbehaved;

/// Length of a `TSH ` or `TSHC` header.
pub const HEADER: usize = 28;
/// Length of a `TSHM` header.
pub const HEADER_SHARED: usize = 36;

/// The encoding a big-endian peer states (MQENC_NATIVE of such a machine).
const ENCODING_BIG: u32 = 0x111;
/// The encoding a little-endian peer states.
const ENCODING_LITTLE: u32 = 0x222;

macro_rules! segment_types {
    ($($(#[$doc:meta])* $name:ident = $number:literal,)*) => {
        /// What a segment is. The numbers are those on the wire; a reply is its request + 16.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[repr(u8)]
        pub enum SegmentType { $($(#[$doc])* $name = $number,)* }

        impl SegmentType {
            /// Every segment type.
            pub const ALL: &[SegmentType] = &[$(SegmentType::$name,)*];

            /// The type of that number.
            pub fn from_number(number: u8) -> Option<SegmentType> {
                match number { $($number => Some(SegmentType::$name),)* _ => None }
            }
        }
    };
}

segment_types! {
    /// Negotiation, both ways.
    InitialData = 0x01,
    /// Accepted, refused or ended.
    StatusData = 0x05,
    /// A line test between queue managers.
    PingData = 0x07,
    /// Who the client runs as.
    UseridData = 0x08,
    /// Are you there.
    Heartbeat = 0x09,
    /// User and password.
    ConauthInfo = 0x0A,
    /// A conversation begins or ends.
    SocketAction = 0x0C,
    /// A message the client asked for ahead.
    AsyncMessage = 0x0D,
    /// The client asks for messages ahead.
    RequestMsgs = 0x0E,
    /// Something happened to a handle or the connection.
    Notification = 0x0F,
    /// MQCONN.
    Conn = 0x81,
    /// MQDISC.
    Disc = 0x82,
    /// MQOPEN.
    Open = 0x83,
    /// MQCLOSE.
    Close = 0x84,
    /// MQGET.
    Get = 0x85,
    /// MQPUT.
    Put = 0x86,
    /// MQPUT1.
    Put1 = 0x87,
    /// MQSET.
    Set = 0x88,
    /// MQINQ.
    Inq = 0x89,
    /// MQCMIT.
    Cmit = 0x8A,
    /// MQBACK.
    Back = 0x8B,
    /// A verb of the second interface: see [`crate::spi`].
    Spi = 0x8C,
    /// MQSTAT.
    Stat = 0x8D,
    /// MQSUB.
    Sub = 0x8E,
    /// MQSUBRQ.
    SubRq = 0x8F,
    /// Reply to MQCONN.
    ConnReply = 0x91,
    /// Reply to MQDISC.
    DiscReply = 0x92,
    /// Reply to MQOPEN.
    OpenReply = 0x93,
    /// Reply to MQCLOSE.
    CloseReply = 0x94,
    /// Reply to MQGET.
    GetReply = 0x95,
    /// Reply to MQPUT.
    PutReply = 0x96,
    /// Reply to MQPUT1.
    Put1Reply = 0x97,
    /// Reply to MQSET.
    SetReply = 0x98,
    /// Reply to MQINQ.
    InqReply = 0x99,
    /// Reply to MQCMIT.
    CmitReply = 0x9A,
    /// Reply to MQBACK.
    BackReply = 0x9B,
    /// Reply to a verb of the second interface.
    SpiReply = 0x9C,
    /// Reply to MQSTAT.
    StatReply = 0x9D,
    /// Reply to MQSUB.
    SubReply = 0x9E,
    /// Reply to MQSUBRQ.
    SubRqReply = 0x9F,
    /// xa_start.
    XaStart = 0xA1,
    /// xa_end.
    XaEnd = 0xA2,
    /// xa_open.
    XaOpen = 0xA3,
    /// xa_close.
    XaClose = 0xA4,
    /// xa_prepare.
    XaPrepare = 0xA5,
    /// xa_commit.
    XaCommit = 0xA6,
    /// xa_rollback.
    XaRollback = 0xA7,
    /// xa_forget.
    XaForget = 0xA8,
    /// xa_recover.
    XaRecover = 0xA9,
    /// xa_complete.
    XaComplete = 0xAA,
    /// Reply to xa_start.
    XaStartReply = 0xB1,
    /// Reply to xa_end.
    XaEndReply = 0xB2,
    /// Reply to xa_open.
    XaOpenReply = 0xB3,
    /// Reply to xa_close.
    XaCloseReply = 0xB4,
    /// Reply to xa_prepare.
    XaPrepareReply = 0xB5,
    /// Reply to xa_commit.
    XaCommitReply = 0xB6,
    /// Reply to xa_rollback.
    XaRollbackReply = 0xB7,
    /// Reply to xa_forget.
    XaForgetReply = 0xB8,
    /// Reply to xa_recover.
    XaRecoverReply = 0xB9,
    /// Reply to xa_complete.
    XaCompleteReply = 0xBA,
}

impl SegmentType {
    /// The number on the wire.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Whether it is a request that is answered with [`SegmentType::reply`].
    pub fn is_request(self) -> bool {
        matches!(self.number(), 0x81..=0x8F | 0xA1..=0xAA)
    }

    /// Whether it answers a request.
    pub fn is_reply(self) -> bool {
        matches!(self.number(), 0x91..=0x9F | 0xB1..=0xBA)
    }

    /// Whether it is an XA verb or its reply, which have an XA header in place of the API header.
    pub fn is_xa(self) -> bool {
        self.number() >= 0xA1
    }

    /// The type of the reply to this request; itself if it is not a request.
    pub fn reply(self) -> SegmentType {
        if self.is_request() {
            SegmentType::from_number(self.number() + 16).unwrap_or(self)
        } else {
            self
        }
    }
}

/// Control flags 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// None.
    pub const NONE: Flags = Flags(0);
    /// An answer is wanted.
    pub const CONFIRM: Flags = Flags(0x01);
    /// Refused, or ended by an error.
    pub const ERROR: Flags = Flags(0x02);
    /// The sender closes the socket after this segment.
    pub const CLOSE: Flags = Flags(0x08);
    /// First segment of a flow.
    pub const FIRST: Flags = Flags(0x10);
    /// Last segment of a flow.
    pub const LAST: Flags = Flags(0x20);

    /// Whether all of `other`'s bits are set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// What a segment belongs to; it decides the kind of header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Scope {
    /// `TSH `: the start of a socket, and everything on a socket that is not shared.
    Unshared,
    /// `TSHC`: the whole of a shared socket.
    Socket,
    /// `TSHM`: one conversation of a shared socket.
    Conversation {
        /// The conversation, chosen by the client, not zero.
        id: u32,
        /// Which answer belongs to which question; zero on synchronous verbs.
        request: u32,
    },
}

impl Scope {
    /// The conversation; 0 where there is none.
    pub fn conversation(self) -> u32 {
        match self {
            Scope::Conversation { id, .. } => id,
            Scope::Unshared | Scope::Socket => 0,
        }
    }

    /// What lengths of segments are multiples of: IBM's Java client looks for what follows at multiples of four bytes
    /// from the first that it has of the socket, where conversations share it.
    pub fn alignment(self) -> usize {
        match self {
            Scope::Conversation { .. } => 4,
            Scope::Unshared | Scope::Socket => 1,
        }
    }

    /// Length of the header.
    pub fn header_length(self) -> usize {
        match self {
            Scope::Conversation { .. } => HEADER_SHARED,
            Scope::Unshared | Scope::Socket => HEADER,
        }
    }
}

/// A segment's header without its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Kind of header and conversation.
    pub scope: Scope,
    /// Byte order of what follows the byte-order byte.
    pub order: ByteOrder,
    /// What it is.
    pub kind: SegmentType,
    /// Control flags 1.
    pub flags: Flags,
    /// Control flags 2: compression.
    pub flags2: u8,
    /// Unit-of-work identifier; zeros on client channels.
    pub luw: [u8; 8],
    /// Encoding of the sender's numbers.
    pub encoding: u32,
    /// Coded character set of the sender's text.
    pub ccsid: u16,
}

impl Header {
    /// A header with the usual values.
    pub fn new(kind: SegmentType, scope: Scope, order: ByteOrder, ccsid: u16) -> Header {
        let encoding = match order {
            ByteOrder::Big => ENCODING_BIG,
            ByteOrder::Little => ENCODING_LITTLE,
        };
        Header {
            scope,
            order,
            kind,
            flags: Flags::NONE,
            flags2: 0,
            luw: [0; 8],
            encoding,
            ccsid,
        }
    }

    /// The same with these flags.
    pub fn with_flags(self, flags: Flags) -> Header {
        Header { flags, ..self }
    }

    /// Appends the header; `length` is that of the whole segment.
    pub fn encode(&self, out: &mut Vec<u8>, length: u32) {
        let mut image = Image::<HEADER_SHARED>::new(self.order);
        image
            .bytes(match self.scope {
                Scope::Unshared => b"TSH ",
                Scope::Socket => b"TSHC",
                Scope::Conversation { .. } => b"TSHM",
            })
            .bytes(&length.to_be_bytes());
        if let Scope::Conversation { id, request } = self.scope {
            image.bytes(&id.to_be_bytes()).bytes(&request.to_be_bytes());
        }
        let order = match self.order {
            ByteOrder::Big => 1,
            ByteOrder::Little => 2,
        };
        image
            .bytes(&[order, self.kind.number(), self.flags.0, self.flags2])
            .bytes(&self.luw)
            .i32(self.encoding.cast_signed())
            .u16(self.ccsid)
            .bytes(&[0; 2])
            .append_to(out);
    }
}

/// One segment in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment<'a> {
    /// Its header.
    pub header: Header,
    /// Its length, header included: how far the buffer is to be advanced.
    pub length: usize,
    /// What follows the header.
    pub body: &'a [u8],
}

impl<'a> Segment<'a> {
    /// The first segment in `bytes`, or `None` while it is not complete.
    ///
    /// Garbage is found with its first byte, and a length above `limit` before its body has arrived, so that nobody
    /// can make the receiver wait for, or keep, more than `limit` bytes.
    pub fn next(bytes: &'a [u8], limit: usize) -> Result<Option<Segment<'a>>, PeerMisbehaved> {
        let known = bytes.len().min(3);
        if bytes.get(..known) != b"TSH".get(..known) {
            return Err(PeerMisbehaved::NotASegment);
        }
        let Some(&[_, _, _, kind, l0, l1, l2, l3]) = bytes.first_chunk::<8>() else {
            return match bytes.get(3) {
                None | Some(b' ' | b'C' | b'M') => Ok(None),
                Some(_) => Err(PeerMisbehaved::NotASegment),
            };
        };
        let header_length = match kind {
            b' ' | b'C' => HEADER,
            b'M' => HEADER_SHARED,
            _ => return Err(PeerMisbehaved::NotASegment),
        };
        let stated = u32::from_be_bytes([l0, l1, l2, l3]);
        let length = usize::try_from(stated).unwrap_or(usize::MAX);
        if length < header_length {
            return Err(PeerMisbehaved::SegmentTooShort { length: stated });
        }
        if length > limit {
            let limit = u32::try_from(limit).unwrap_or(u32::MAX);
            return Err(PeerMisbehaved::SegmentTooLong {
                length: stated,
                limit,
            });
        }
        let Some(whole) = bytes.get(..length) else {
            return Ok(None);
        };
        let (head, body) = whole.split_at(header_length);
        Ok(Some(Segment {
            header: decode_header(kind, head)?,
            length,
            body,
        }))
    }
}

/// `head` is a header of the length that belongs to `kind`.
fn decode_header(kind: u8, head: &[u8]) -> Result<Header, PeerMisbehaved> {
    let short = PeerMisbehaved::SegmentTooShort { length: 0 };
    let (scope, head) = match kind {
        b'M' => {
            let (ids, head) = head
                .get(8..)
                .and_then(|h| h.split_first_chunk::<8>())
                .ok_or(short)?;
            let [i0, i1, i2, i3, r0, r1, r2, r3] = *ids;
            let id = u32::from_be_bytes([i0, i1, i2, i3]);
            let request = u32::from_be_bytes([r0, r1, r2, r3]);
            (Scope::Conversation { id, request }, head)
        }
        b'C' => (Scope::Socket, head.get(8..).ok_or(short)?),
        _ => (Scope::Unshared, head.get(8..).ok_or(short)?),
    };
    let (control, head) = head.split_first_chunk::<4>().ok_or(short)?;
    let (luw, head) = head.split_first_chunk::<8>().ok_or(short)?;
    let (encoding, head) = head.split_first_chunk::<4>().ok_or(short)?;
    let ccsid = head.first_chunk::<2>().ok_or(short)?;
    let [order, number, flags, flags2] = *control;
    let order = match order {
        1 => ByteOrder::Big,
        2 => ByteOrder::Little,
        other => return Err(PeerMisbehaved::ByteOrderUnknown(other)),
    };
    let kind =
        SegmentType::from_number(number).ok_or(PeerMisbehaved::SegmentTypeUnknown(number))?;
    let (encoding, ccsid) = match order {
        ByteOrder::Big => (u32::from_be_bytes(*encoding), u16::from_be_bytes(*ccsid)),
        ByteOrder::Little => (u32::from_le_bytes(*encoding), u16::from_le_bytes(*ccsid)),
    };
    Ok(Header {
        scope,
        order,
        kind,
        flags: Flags(flags),
        flags2,
        luw: *luw,
        encoding,
        ccsid,
    })
}
