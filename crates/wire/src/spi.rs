//! The second interface (SPI): the verbs with which current client libraries open queues, and a few more.
//!
//! Body: verb, version, and in a request the longest reply, in a reply the length of what follows; then the `inout`
//! structure and the `in` (request) or `out` (reply) structure. Each structure states its length, itself included.

use bytes::Bytes;
use posthaste_mqi::{ByteOrder, Md, Od, Pmo};

use crate::PeerMisbehaved;
use crate::decode::{DecodeError, OpenDefaults, WIRE, read_data, read_structure};
use crate::flow::Body;
use crate::input::Input;
use crate::subscribe::SpiSubscribe;

/// The verbs, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum SpiVerb {
    /// Which verbs there are.
    Query = 1,
    /// MQPUT with more options.
    Put = 2,
    /// MQGET with more options.
    Get = 3,
    /// Make a put message available.
    Activate = 4,
    /// Several puts and gets and their commit at once.
    Syncpoint = 5,
    /// Message identifiers for asynchronous puts.
    Reserve = 6,
    /// MQSUB with more options.
    Subscribe = 7,
    /// Call off the wait of a get of another connection.
    Notify = 11,
    /// MQOPEN with more options.
    Open = 12,
}

impl SpiVerb {
    /// Every verb.
    pub const ALL: [SpiVerb; 9] = [
        SpiVerb::Query,
        SpiVerb::Put,
        SpiVerb::Get,
        SpiVerb::Activate,
        SpiVerb::Syncpoint,
        SpiVerb::Reserve,
        SpiVerb::Subscribe,
        SpiVerb::Notify,
        SpiVerb::Open,
    ];

    /// The verbs that this queue manager serves.
    pub const SERVED: [SpiVerb; 6] = [
        SpiVerb::Query,
        SpiVerb::Put,
        SpiVerb::Reserve,
        SpiVerb::Subscribe,
        SpiVerb::Notify,
        SpiVerb::Open,
    ];
}

/// A request of the second interface.
#[derive(Clone, PartialEq, Debug)]
pub enum SpiRequest {
    /// Which verbs there are.
    Query {
        /// The longest reply that is wanted.
        max_reply: u32,
    },
    /// Open a queue or topic.
    Open(Box<SpiOpen>),
    /// Message identifiers for asynchronous puts.
    Reserve(SpiReserve),
    /// Put a message with options beyond MQPMO.
    Put(Box<SpiPut>),
    /// Subscribe.
    Subscribe(Box<SpiSubscribe>),
    /// Call off the wait of a get of another connection.
    Notify(SpiNotify),
    /// A verb that is not served; its structures are not read.
    Other {
        /// The verb's number.
        verb: u32,
    },
}

/// SPI OPEN; the body of its reply too.
#[derive(Clone, PartialEq, Debug)]
pub struct SpiOpen {
    /// MQOO_* options.
    pub options: i32,
    /// Options of this interface: 3 on opens for input by JMS.
    pub lpi_options: i32,
    /// The queue's defaults; not said in a request.
    pub defaults: OpenDefaults,
    /// The object.
    pub od: Od,
}

/// SPI RESERVE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpiReserve {
    /// Length of an identifier: 24.
    pub id_length: u32,
    /// How many are wanted at most.
    pub wanted: u32,
}

/// SPI NOTIFY.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpiNotify {
    /// What is to be done: 1, the wait of a get is to end.
    pub options: u32,
    /// The reason that the get is to give: always 2107 as client libraries ask.
    pub reason: u32,
    /// The connection whose get it is, as its MQCONN was answered.
    pub connection: [u8; 24],
}

/// What SPI RESERVE gives: `count` identifiers that count up, from `first`, in the bytes that begin at byte
/// `position` (from 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reserved {
    /// Identifiers granted.
    pub count: u32,
    /// First byte of the counter inside the identifier, from 1.
    pub position: u32,
    /// The first identifier.
    pub first: [u8; 24],
}

/// SPI PUT.
#[derive(Clone, PartialEq, Debug)]
pub struct SpiPut {
    /// Message descriptor, version 1.
    pub md: Md,
    /// Options, version 1.
    pub pmo: Pmo,
    /// Options of this interface.
    pub options: u32,
    /// The message.
    pub data: Bytes,
}

/// Identifier, version and stated length of a structure.
fn read_head(input: &mut Input<'_>, id: &[u8; 4]) -> Result<(u32, usize), PeerMisbehaved> {
    input.eye_catcher(id)?;
    let version = input.u32()?;
    let length = usize::try_from(input.u32()?).unwrap_or(usize::MAX);
    if length < 12 {
        return Err(PeerMisbehaved::BodyTooShort(input.kind()));
    }
    Ok((version, length))
}

/// A structure of which nothing but its head is of interest.
fn skip(input: &mut Input<'_>, id: &[u8; 4]) -> Result<(), PeerMisbehaved> {
    let (_, length) = read_head(input, id)?;
    input.take(length - 12)?;
    Ok(())
}

/// Appends a structure's head and leaves its length to [`close`].
fn open(out: &mut Vec<u8>, order: ByteOrder, id: &[u8; 4]) -> usize {
    let start = out.len();
    out.extend_from_slice(id);
    order.put_u32(out, 1);
    order.put_u32(out, 0);
    start
}

fn close(out: &mut [u8], order: ByteOrder, start: usize) -> u32 {
    let length = u32::try_from(out.len() - start).unwrap_or(u32::MAX);
    patch(out, order, start + 8, length);
    length
}

fn patch(out: &mut [u8], order: ByteOrder, at: usize, value: u32) {
    if let Some(field) = out.get_mut(at..at + 4) {
        field.copy_from_slice(&match order {
            ByteOrder::Big => value.to_be_bytes(),
            ByteOrder::Little => value.to_le_bytes(),
        });
    }
}

impl SpiRequest {
    pub(crate) fn read(input: &mut Input<'_>, body: &Body<'_>) -> Result<SpiRequest, DecodeError> {
        let verb = input.u32()?;
        let _version = input.u32()?;
        let max_reply = input.u32()?;
        Ok(match verb {
            1 => {
                skip(input, b"SPQU")?;
                skip(input, b"SPQI")?;
                SpiRequest::Query { max_reply }
            }
            2 => SpiRequest::Put(Box::new(SpiPut::read(input, body)?)),
            6 => {
                skip(input, b"SPRU")?;
                read_head(input, b"SPRI")?;
                SpiRequest::Reserve(SpiReserve {
                    id_length: input.u32()?,
                    wanted: input.u32()?,
                })
            }
            7 => {
                skip(input, b"SPBU")?;
                read_head(input, b"SPBI")?;
                SpiRequest::Subscribe(Box::new(SpiSubscribe::read(input)?))
            }
            11 => {
                skip(input, b"SPNU")?;
                read_head(input, b"SPNI")?;
                SpiRequest::Notify(SpiNotify {
                    options: input.u32()?,
                    reason: input.u32()?,
                    connection: input.array()?,
                })
            }
            12 => {
                skip(input, b"SPOU")?;
                read_head(input, b"SPOI")?;
                SpiRequest::Open(Box::new(SpiOpen::read(input)?))
            }
            verb => SpiRequest::Other { verb },
        })
    }

    fn verb(&self) -> u32 {
        match self {
            SpiRequest::Query { .. } => SpiVerb::Query as u32,
            SpiRequest::Open(_) => SpiVerb::Open as u32,
            SpiRequest::Reserve(_) => SpiVerb::Reserve as u32,
            SpiRequest::Put(_) => SpiVerb::Put as u32,
            SpiRequest::Subscribe(_) => SpiVerb::Subscribe as u32,
            SpiRequest::Notify(_) => SpiVerb::Notify as u32,
            SpiRequest::Other { verb } => *verb,
        }
    }

    /// Appends the body; gives how much longer than the request the reply may be.
    pub(crate) fn write(&self, out: &mut Vec<u8>, order: ByteOrder) -> usize {
        order.put_u32(out, self.verb());
        order.put_u32(out, 1);
        let reply_at = out.len();
        order.put_u32(out, 0);
        let mut extra = 0;
        let max_reply = match self {
            SpiRequest::Query { max_reply } => {
                let inout = open(out, order, b"SPQU");
                close(out, order, inout);
                let input = open(out, order, b"SPQI");
                close(out, order, input);
                extra = 240;
                *max_reply
            }
            SpiRequest::Open(spi_open) => {
                let inout = open(out, order, b"SPOU");
                close(out, order, inout);
                let input = open(out, order, b"SPOI");
                spi_open.write(out, order);
                if spi_open.od.version >= 4 {
                    extra = 20_480;
                }
                close(out, order, input)
            }
            SpiRequest::Reserve(reserve) => {
                let inout = open(out, order, b"SPRU");
                close(out, order, inout);
                let input = open(out, order, b"SPRI");
                order.put_u32(out, reserve.id_length);
                order.put_u32(out, reserve.wanted);
                extra = 24;
                close(out, order, input) + 24
            }
            SpiRequest::Put(put) => put.write(out, order),
            SpiRequest::Subscribe(sub) => {
                let inout = open(out, order, b"SPBU");
                close(out, order, inout);
                let input = open(out, order, b"SPBI");
                sub.write(out, order);
                extra = 20_480;
                close(out, order, input)
            }
            SpiRequest::Notify(notify) => notify.write(out, order),
            SpiRequest::Other { .. } => 0,
        };
        patch(out, order, reply_at, max_reply);
        extra
    }
}

impl SpiOpen {
    fn read(input: &mut Input<'_>) -> Result<SpiOpen, DecodeError> {
        input.eye_catcher(b"LPOO")?;
        let _version = input.u32()?;
        let (options, lpi_options) = (input.i32()?, input.i32()?);
        let defaults = OpenDefaults::read(input)?;
        let od = read_structure(input, Od::decode)?;
        Ok(SpiOpen {
            options,
            lpi_options,
            defaults,
            od,
        })
    }

    fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        out.extend_from_slice(b"LPOO");
        order.put_u32(out, 1);
        order.put_i32(out, self.options);
        order.put_i32(out, self.lpi_options);
        self.defaults.write(out, order);
        self.od.encode(out, order, WIRE);
    }
}

impl SpiNotify {
    /// Gives the length of the reply's structure.
    fn write(&self, out: &mut Vec<u8>, order: ByteOrder) -> u32 {
        let inout = open(out, order, b"SPNU");
        close(out, order, inout);
        let input = open(out, order, b"SPNI");
        order.put_u32(out, self.options);
        order.put_u32(out, self.reason);
        out.extend_from_slice(&self.connection);
        close(out, order, input);
        12
    }
}

impl SpiPut {
    fn read(input: &mut Input<'_>, body: &Body<'_>) -> Result<SpiPut, DecodeError> {
        read_head(input, b"SPPU")?;
        let md = read_structure(input, Md::decode)?;
        let pmo = read_structure(input, Pmo::decode)?;
        read_head(input, b"SPPI")?;
        let options = input.u32()?;
        Ok(SpiPut {
            md,
            pmo,
            options,
            data: read_data(input, body)?,
        })
    }

    /// The message travels inside the structure. Gives the length of the reply's structure.
    fn write(&self, out: &mut Vec<u8>, order: ByteOrder) -> u32 {
        let inout = open(out, order, b"SPPU");
        self.md.encode(out, order, WIRE);
        self.pmo.encode(out, order, WIRE);
        close(out, order, inout);
        let input = open(out, order, b"SPPI");
        order.put_u32(out, self.options);
        order.put_u32(out, u32::try_from(self.data.len()).unwrap_or(u32::MAX));
        out.extend_from_slice(&self.data);
        close(out, order, input);
        12
    }
}

/// What follows the API header in replies of the second interface, for those who answer.
#[derive(Clone, Copy, Debug)]
pub enum SpiAnswer<'a> {
    /// Which verbs there are, each in version 1.
    Query(&'a [SpiVerb]),
    /// An object is open.
    Open {
        /// MQOO_* options as asked for.
        options: i32,
        /// Options of this interface as asked for.
        lpi_options: i32,
        /// The queue's defaults.
        defaults: &'a OpenDefaults,
        /// Resolved.
        od: &'a Od,
    },
    /// Identifiers are granted.
    Reserve(&'a Reserved),
    /// The message is put.
    Put {
        /// Filled.
        md: &'a Md,
        /// Filled.
        pmo: &'a Pmo,
    },
    /// Subscribed.
    Subscribe(&'a SpiSubscribe),
    /// No get of that connection waits any more.
    Notify,
}

impl SpiAnswer<'_> {
    fn verb(&self) -> SpiVerb {
        match self {
            SpiAnswer::Query(_) => SpiVerb::Query,
            SpiAnswer::Open { .. } => SpiVerb::Open,
            SpiAnswer::Reserve(_) => SpiVerb::Reserve,
            SpiAnswer::Put { .. } => SpiVerb::Put,
            SpiAnswer::Subscribe(_) => SpiVerb::Subscribe,
            SpiAnswer::Notify => SpiVerb::Notify,
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        order.put_u32(out, self.verb() as u32);
        order.put_u32(out, 1);
        let length_at = out.len();
        order.put_u32(out, 0);
        let (inout, output) = match self {
            SpiAnswer::Query(_) => (b"SPQU", b"SPQO"),
            SpiAnswer::Open { .. } => (b"SPOU", b"SPOO"),
            SpiAnswer::Reserve(_) => (b"SPRU", b"SPRO"),
            SpiAnswer::Put { .. } => (b"SPPU", b"SPPO"),
            SpiAnswer::Subscribe(_) => (b"SPBU", b"SPBO"),
            SpiAnswer::Notify => (b"SPNU", b"SPNO"),
        };
        let start = open(out, order, inout);
        if let SpiAnswer::Put { md, pmo } = self {
            md.encode(out, order, WIRE);
            pmo.encode(out, order, WIRE);
        }
        close(out, order, start);
        let start = open(out, order, output);
        match self {
            SpiAnswer::Query(verbs) => write_verbs(out, order, verbs),
            SpiAnswer::Open {
                options,
                lpi_options,
                defaults,
                od,
            } => {
                out.extend_from_slice(b"LPOO");
                order.put_u32(out, 1);
                order.put_i32(out, *options);
                order.put_i32(out, *lpi_options);
                defaults.write(out, order);
                od.encode(out, order, WIRE);
            }
            SpiAnswer::Reserve(reserved) => {
                order.put_u32(out, reserved.count);
                order.put_u32(out, reserved.position);
                out.extend_from_slice(&reserved.first);
            }
            SpiAnswer::Put { .. } | SpiAnswer::Notify => {}
            SpiAnswer::Subscribe(sub) => sub.write(out, order),
        }
        close(out, order, start);
        let following = u32::try_from(out.len() - length_at - 4).unwrap_or(u32::MAX);
        patch(out, order, length_at, following);
    }
}

/// Per verb: its number, the highest versions of its three structures, flags.
fn write_verbs(out: &mut Vec<u8>, order: ByteOrder, verbs: &[SpiVerb]) {
    order.put_u32(out, u32::try_from(verbs.len()).unwrap_or(0));
    for verb in verbs {
        for value in [*verb as u32, 1, 1, 1, 0] {
            order.put_u32(out, value);
        }
    }
}

/// A reply of the second interface, for those who asked.
#[derive(Clone, PartialEq, Debug)]
pub enum SpiReply {
    /// The verbs there are.
    Query(Vec<u32>),
    /// An object is open.
    Open(Box<SpiOpen>),
    /// Identifiers are granted.
    Reserve(Reserved),
    /// The message is put.
    Put(Box<(Md, Pmo)>),
    /// Subscribed.
    Subscribe(Box<SpiSubscribe>),
    /// No get of that connection waits any more.
    Notify,
}

impl SpiReply {
    pub(crate) fn read(input: &mut Input<'_>) -> Result<SpiReply, DecodeError> {
        let verb = input.u32()?;
        let (_version, _length) = (input.u32()?, input.u32()?);
        Ok(match verb {
            1 => {
                skip(input, b"SPQU")?;
                read_head(input, b"SPQO")?;
                let count = usize::try_from(input.u32()?).unwrap_or(usize::MAX);
                if count > input.remaining() / 20 {
                    return Err(PeerMisbehaved::CountWrong(input.kind()).into());
                }
                let mut verbs = Vec::with_capacity(count);
                for _ in 0..count {
                    verbs.push(input.u32()?);
                    input.take(16)?;
                }
                SpiReply::Query(verbs)
            }
            2 => {
                read_head(input, b"SPPU")?;
                let md = read_structure(input, Md::decode)?;
                SpiReply::Put(Box::new((md, read_structure(input, Pmo::decode)?)))
            }
            6 => {
                skip(input, b"SPRU")?;
                read_head(input, b"SPRO")?;
                SpiReply::Reserve(Reserved {
                    count: input.u32()?,
                    position: input.u32()?,
                    first: input.array()?,
                })
            }
            7 => {
                skip(input, b"SPBU")?;
                read_head(input, b"SPBO")?;
                SpiReply::Subscribe(Box::new(SpiSubscribe::read(input)?))
            }
            11 => {
                skip(input, b"SPNU")?;
                skip(input, b"SPNO")?;
                SpiReply::Notify
            }
            12 => {
                skip(input, b"SPOU")?;
                read_head(input, b"SPOO")?;
                SpiReply::Open(Box::new(SpiOpen::read(input)?))
            }
            _ => return Err(PeerMisbehaved::StructureUnknown(input.kind()).into()),
        })
    }
}
