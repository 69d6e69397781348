//! Replies: what the server answers, encoded from borrowed parts, and what the client reads.
//!
//! The general rule: a reply has the layout of its request with the output fields filled in; a failed verb has the API
//! header alone. An [`Answer`] is written straight into the output buffer; message data is copied once.

use bytes::Bytes;
use posthaste_mqi::constants::{MQIA_FIRST, MQIA_LAST};
use posthaste_mqi::{ByteOrder, Gmo, Md, Od, Pmo};

use crate::PeerMisbehaved;
use crate::decode::{WIRE, read_structure};
use crate::flow::{Body, Envelope};
use crate::input::Input;
use crate::request::{
    ConnRequest, DecodeError, InqRequest, OpenDefaults, OpenRequest, SetRequest, StatRequest,
    read_ints, write_open,
};
use crate::segment::{Flags, Header, SegmentType};
use crate::spi::{SpiAnswer, SpiReply};
use crate::subscribe::{SubRequest, SubRqRequest};
use crate::verb::{ApiHeader, Outcome};
use crate::xa::XaReply;

/// The longest character buffer of MQINQ that is filled up with blanks as it was asked for, and the most integers with zeros.
const MAX_PADDED_CHARS: usize = 65_536;
const MAX_PADDED_INTS: usize = 16_384;

/// What follows the API header of a reply.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'a> {
    /// Nothing: MQDISC, MQCMIT, MQBACK, and every verb that failed.
    Empty,
    /// MQCONN: the request with the queue manager's real name.
    Conn(&'a ConnRequest),
    /// MQOPEN.
    Open {
        /// Resolved.
        od: &'a Od,
        /// As asked for.
        options: i32,
        /// The queue's; not told to a client that did not send their place.
        defaults: Option<&'a OpenDefaults>,
    },
    /// MQCLOSE.
    Close {
        /// As asked for.
        options: i32,
    },
    /// MQGET.
    Get {
        /// The message's.
        md: &'a Md,
        /// Filled.
        gmo: &'a Gmo,
        /// Length of the whole message, also when it was truncated.
        length: usize,
        /// As much of it as fits the application's buffer.
        data: &'a [u8],
    },
    /// MQPUT.
    Put {
        /// Filled.
        md: &'a Md,
        /// Filled.
        pmo: &'a Pmo,
        /// Length of the message.
        length: usize,
    },
    /// MQPUT1.
    Put1 {
        /// Resolved.
        od: &'a Od,
        /// Filled.
        md: &'a Md,
        /// Filled.
        pmo: &'a Pmo,
        /// Length of the message.
        length: usize,
    },
    /// MQINQ.
    Inq {
        /// The request.
        request: &'a InqRequest,
        /// In the order of their selectors.
        ints: &'a [i32],
        /// Fixed widths, blank padded, in the order of their selectors.
        chars: &'a [u8],
    },
    /// MQSET: the request again.
    Set(&'a SetRequest),
    /// MQSTAT.
    Stat(&'a StatRequest),
    /// MQSUB.
    Sub(&'a SubRequest),
    /// MQSUBRQ.
    SubRq(SubRqRequest),
    /// A verb of the second interface.
    Spi(SpiAnswer<'a>),
}

impl Answer<'_> {
    /// Appends the reply to a request of type `request`.
    pub fn encode(
        &self,
        out: &mut Vec<u8>,
        envelope: &Envelope,
        request: SegmentType,
        outcome: &Outcome,
    ) {
        let start = out.len() + envelope.scope.header_length();
        let order = envelope.order;
        let mut writer = envelope.begin(out, request.reply(), Flags::NONE);
        ApiHeader {
            reply_length: 0,
            comp_code: outcome.comp_code as i32,
            reason: outcome.reason,
            handle: outcome.handle,
        }
        .encode(writer.out(), order);
        self.write(writer.out(), order);
        let data = match self {
            Answer::Get { data, .. } => data,
            _ => &[][..],
        };
        let length = u32::try_from(writer.out().len() - start + data.len()).unwrap_or(u32::MAX);
        if let Some(field) = writer.out().get_mut(start..start + 4) {
            field.copy_from_slice(&length.to_be_bytes());
        }
        writer.data(data);
        writer.finish();
    }

    fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        match self {
            Answer::Empty => {}
            Answer::Conn(conn) => conn.write(out, order),
            Answer::Open {
                od,
                options,
                defaults,
            } => write_open(out, order, od, *options, *defaults),
            Answer::Close { options } => order.put_u32(out, options.cast_unsigned()),
            Answer::Get {
                md,
                gmo,
                length: whole,
                ..
            } => {
                md.encode(out, order, WIRE);
                gmo.encode(out, order, WIRE);
                order.put_u32(out, length(*whole));
            }
            Answer::Put {
                md,
                pmo,
                length: whole,
            } => {
                md.encode(out, order, WIRE);
                pmo.encode(out, order, WIRE);
                order.put_u32(out, length(*whole));
            }
            Answer::Put1 {
                od,
                md,
                pmo,
                length: whole,
            } => {
                od.encode(out, order, WIRE);
                md.encode(out, order, WIRE);
                pmo.encode(out, order, WIRE);
                order.put_u32(out, length(*whole));
            }
            Answer::Inq {
                request,
                ints,
                chars,
            } => write_inq(out, order, request, ints, chars),
            Answer::Set(set) => set.write(out, order),
            Answer::Stat(stat) => stat.write(out, order),
            Answer::Sub(sub) => sub.write(out, order),
            Answer::SubRq(sub) => sub.write(out, order),
            Answer::Spi(spi) => spi.write(out, order),
        }
    }
}

/// The counts are those of the request; behind the selectors come as many integers as there are integer selectors, then
/// the characters, filled up to the room that was asked for.
fn write_inq(
    out: &mut Vec<u8>,
    order: ByteOrder,
    request: &InqRequest,
    ints: &[i32],
    chars: &[u8],
) {
    // As many as there is room for: a reader goes by the counts, and not by how many selectors there are of a kind.
    let filled = |asked: i32, have: usize, most: usize| match usize::try_from(asked).unwrap_or(0) {
        asked if asked <= most => asked,
        asked => asked.min(have),
    };
    let int_count = filled(request.int_count, ints.len(), MAX_PADDED_INTS);
    let char_length = filled(request.char_length, chars.len(), MAX_PADDED_CHARS);
    let field = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    InqRequest::write_parts(
        out,
        order,
        &request.selectors,
        field(int_count),
        field(char_length),
    );
    let padded = ints.iter().copied().chain(std::iter::repeat(0));
    for int in padded.take(int_count) {
        order.put_i32(out, int);
    }
    let chars = chars.get(..char_length).unwrap_or(chars);
    out.extend_from_slice(chars);
    out.resize(out.len() + char_length - chars.len(), b' ');
}

/// What MQGET gave.
#[derive(Clone, PartialEq, Debug)]
pub struct GetReply {
    /// The message's.
    pub md: Md,
    /// Filled.
    pub gmo: Gmo,
    /// Length of the whole message.
    pub length: usize,
    /// What came of it.
    pub data: Bytes,
}

/// What MQINQ gave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InqReply {
    /// In the order of their selectors.
    pub ints: Vec<i32>,
    /// Fixed widths, in the order of their selectors.
    pub chars: Vec<u8>,
}

/// What follows the API header of a reply, owned.
#[derive(Clone, PartialEq, Debug)]
pub enum Reply {
    /// Nothing, or the verb failed.
    Empty,
    /// MQCONN.
    Conn(Box<ConnRequest>),
    /// MQOPEN.
    Open(Box<OpenRequest>),
    /// MQGET.
    Get(GetReply),
    /// MQPUT.
    Put {
        /// Filled.
        md: Md,
        /// Filled.
        pmo: Pmo,
    },
    /// MQPUT1.
    Put1(Box<(Od, Md, Pmo)>),
    /// MQINQ.
    Inq(InqReply),
    /// MQSTAT.
    Stat(Box<StatRequest>),
    /// MQSUB.
    Sub(Box<SubRequest>),
    /// MQSUBRQ.
    SubRq(SubRqRequest),
    /// A verb of the second interface.
    Spi(SpiReply),
    /// An XA verb.
    Xa(XaReply),
}

impl Reply {
    /// Reads a reply. A failed verb is [`Reply::Empty`] whatever it brought.
    pub fn decode(header: &Header, body: &Body<'_>) -> Result<(ApiHeader, Reply), DecodeError> {
        if header.flags2 != 0 {
            return Err(PeerMisbehaved::CompressionNotAgreed.into());
        }
        let kind = header.kind;
        let mut input = Input::new(body.bytes(), header.order, kind);
        if kind.is_xa() {
            let (api, xa) = XaReply::read(kind, &mut input)?;
            return Ok((api, Reply::Xa(xa)));
        }
        let api = ApiHeader::read(&mut input)?;
        if !matches!(api.comp_code, 0 | 1) || input.remaining() == 0 {
            return Ok((api, Reply::Empty));
        }
        let reply = match kind {
            SegmentType::ConnReply => Reply::Conn(Box::new(ConnRequest::read_reply(&mut input)?)),
            SegmentType::OpenReply => Reply::Open(Box::new(OpenRequest::read(&mut input)?)),
            SegmentType::GetReply => {
                Reply::Get(GetReply::read(&mut input, body, api.reply_length)?)
            }
            SegmentType::PutReply => {
                let md = read_structure(&mut input, Md::decode)?;
                Reply::Put {
                    md,
                    pmo: read_structure(&mut input, Pmo::decode)?,
                }
            }
            SegmentType::Put1Reply => {
                let od = read_structure(&mut input, Od::decode)?;
                let md = read_structure(&mut input, Md::decode)?;
                Reply::Put1(Box::new((od, md, read_structure(&mut input, Pmo::decode)?)))
            }
            SegmentType::InqReply => Reply::Inq(InqReply::read(&mut input)?),
            SegmentType::StatReply => Reply::Stat(Box::new(StatRequest::read(&mut input)?)),
            SegmentType::SubReply => Reply::Sub(Box::new(SubRequest::read(&mut input)?)),
            SegmentType::SubRqReply => Reply::SubRq(SubRqRequest::read(&mut input)?),
            SegmentType::SpiReply => Reply::Spi(SpiReply::read(&mut input)?),
            SegmentType::DiscReply
            | SegmentType::CloseReply
            | SegmentType::CmitReply
            | SegmentType::BackReply
            | SegmentType::SetReply => Reply::Empty,
            other => return Err(PeerMisbehaved::SegmentUnexpected(other).into()),
        };
        Ok((api, reply))
    }
}

/// Where message data that begins at `at` ends in a body of `length` bytes, of which the reply's length says that `stated`
/// are content: what follows fills the segment up.
pub(crate) fn data_end(stated: usize, at: usize, length: usize) -> usize {
    match stated < at {
        // It is no length of what came.
        true => length,
        false => stated.min(length),
    }
}

impl GetReply {
    fn read(input: &mut Input<'_>, body: &Body<'_>, stated: u32) -> Result<GetReply, DecodeError> {
        let md = read_structure(input, Md::decode)?;
        let gmo = read_structure(input, Gmo::decode)?;
        let length = usize::try_from(input.u32()?).unwrap_or(usize::MAX);
        let (stated, at) = (usize::try_from(stated).unwrap_or(usize::MAX), input.at());
        let here = length.min(data_end(stated, at, body.bytes().len()).saturating_sub(at));
        let data = body.cut(input.at(), here).unwrap_or_default();
        Ok(GetReply {
            md,
            gmo,
            length,
            data,
        })
    }
}

impl InqReply {
    fn read(input: &mut Input<'_>) -> Result<InqReply, DecodeError> {
        let request = InqRequest::read(input)?;
        let is_int = |selector: &&i32| (MQIA_FIRST..=MQIA_LAST).contains(*selector);
        let mut ints = read_ints(input, u32::try_from(request.int_count).unwrap_or(0))?;
        // What is behind those fills the room up.
        ints.truncate(request.selectors.iter().filter(is_int).count());
        let chars = usize::try_from(request.char_length)
            .unwrap_or(0)
            .min(input.remaining());
        Ok(InqReply {
            ints,
            chars: input.take(chars)?.to_vec(),
        })
    }
}
