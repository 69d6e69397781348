//! Requests: every verb a client can send, typed, to bytes and back.
//!
//! Invariant: what a peer states about a length is compared with the bytes that came before anything is made of it.
//! A structure of the application that is wrong (an unknown version, say) ends in a reply with a reason; whatever else
//! is wrong is the peer's mistake, and ends the channel.

use bytes::Bytes;
use posthaste_mqi::{ByteOrder, Chars, Gmo, Hobj, Md, Name, Od, Pmo, PutRecord, Reason, Sts};

use crate::PeerMisbehaved;
use crate::decode::{WIRE, read_data, read_over, read_structure};
use crate::flow::{BESIDE_MESSAGE, Body, Envelope, FlowWriter};
use crate::input::Input;
use crate::segment::{Flags, Header, SegmentType};
use crate::spi::SpiRequest;
use crate::subscribe::{SubRequest, SubRqRequest};
use crate::verb::ApiHeader;
use crate::xa::XaRequest;

pub use crate::decode::{DecodeError, OpenDefaults};

/// Most selectors in MQINQ and MQSET (MQRC_SELECTOR_LIMIT_EXCEEDED beyond it).
const MAX_SELECTORS: u32 = 256;

/// MQCONN and MQCONNX.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConnRequest {
    /// Queue manager: blank, a name, or `*` and a name.
    pub q_mgr: Name,
    /// Application name.
    pub application: Chars<28>,
    /// Application type (MQAT_*).
    pub application_type: i32,
    /// Accounting token.
    pub accounting_token: [u8; 32],
    /// 1 for MQCONN, 3 for MQCONNX, and bits beyond.
    pub options: u32,
    /// MQCNO options.
    pub connect_options: i32,
    /// The FCNO structure as it came; it is given back with the connection identifier.
    pub fcno: Vec<u8>,
}

/// MQOPEN; the body of its reply too.
#[derive(Clone, PartialEq, Debug)]
pub struct OpenRequest {
    /// The object.
    pub od: Od,
    /// MQOO_* options.
    pub options: i32,
    /// FOPA: not said in a request. `None` of and for a client that is older than it.
    pub defaults: Option<OpenDefaults>,
}

/// MQGET.
#[derive(Clone, PartialEq, Debug)]
pub struct GetRequest {
    /// Message descriptor.
    pub md: Md,
    /// Options.
    pub gmo: Gmo,
    /// Size of the application's buffer.
    pub buffer_length: i32,
}

/// MQPUT.
#[derive(Clone, PartialEq, Debug)]
pub struct PutRequest {
    /// Message descriptor.
    pub md: Md,
    /// Options.
    pub pmo: Pmo,
    /// The message.
    pub data: Bytes,
}

/// MQPUT1.
#[derive(Clone, PartialEq, Debug)]
pub struct Put1Request {
    /// The object.
    pub od: Od,
    /// Message descriptor.
    pub md: Md,
    /// Options.
    pub pmo: Pmo,
    /// The message.
    pub data: Bytes,
}

/// MQINQ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InqRequest {
    /// MQIA_* and MQCA_* selectors.
    pub selectors: Vec<i32>,
    /// Room for integers.
    pub int_count: i32,
    /// Room for characters.
    pub char_length: i32,
}

/// MQSET.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetRequest {
    /// MQIA_* and MQCA_* selectors.
    pub selectors: Vec<i32>,
    /// Integers, in the order of their selectors.
    pub ints: Vec<i32>,
    /// Characters, in the order of their selectors.
    pub chars: Vec<u8>,
}

/// MQSTAT; the body of its reply too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatRequest {
    /// MQSTAT_TYPE_*.
    pub kind: i32,
    /// The MQSTS.
    pub sts: Sts,
}

/// A verb of a client.
#[derive(Clone, PartialEq, Debug)]
pub enum Request {
    /// MQCONN.
    Conn(Box<ConnRequest>),
    /// MQDISC.
    Disc,
    /// MQOPEN.
    Open(Box<OpenRequest>),
    /// MQCLOSE.
    Close {
        /// MQCO_* options.
        options: i32,
    },
    /// MQGET.
    Get(Box<GetRequest>),
    /// MQPUT.
    Put(Box<PutRequest>),
    /// MQPUT1.
    Put1(Box<Put1Request>),
    /// MQINQ.
    Inq(InqRequest),
    /// MQSET.
    Set(Box<SetRequest>),
    /// MQCMIT.
    Commit,
    /// MQBACK.
    Back,
    /// MQSTAT.
    Stat(Box<StatRequest>),
    /// MQSUB.
    Sub(Box<SubRequest>),
    /// MQSUBRQ.
    SubRq(SubRqRequest),
    /// A verb of the second interface.
    Spi(SpiRequest),
    /// An XA verb.
    Xa(Box<XaRequest>),
}

impl Request {
    /// Reads a request: the API header (or what an XA verb has in its place) and the verb.
    pub fn decode(header: &Header, body: &Body<'_>) -> Result<(ApiHeader, Request), DecodeError> {
        let kind = header.kind;
        let mut input = Input::new(body.bytes(), header.order, kind);
        if kind.is_xa() {
            let (api, xa) = XaRequest::read(kind, &mut input)?;
            return Ok((api, Request::Xa(Box::new(xa))));
        }
        let api = ApiHeader::read(&mut input)?;
        let request = match kind {
            SegmentType::Conn => Request::Conn(Box::new(ConnRequest::read(&mut input)?)),
            SegmentType::Disc => Request::Disc,
            SegmentType::Open => Request::Open(Box::new(OpenRequest::read(&mut input)?)),
            SegmentType::Close => Request::Close {
                options: input.i32()?,
            },
            SegmentType::Get => Request::Get(GetRequest::read(&mut input)?),
            SegmentType::Put => Request::Put(PutRequest::read(&mut input, body)?),
            SegmentType::Put1 => Request::Put1(Box::new(Put1Request::read(&mut input, body)?)),
            SegmentType::Inq => Request::Inq(InqRequest::read(&mut input)?),
            SegmentType::Set => Request::Set(Box::new(SetRequest::read(&mut input)?)),
            SegmentType::Cmit => Request::Commit,
            SegmentType::Back => Request::Back,
            SegmentType::Stat => Request::Stat(Box::new(StatRequest::read(&mut input)?)),
            SegmentType::Sub => Request::Sub(Box::new(SubRequest::read(&mut input)?)),
            SegmentType::SubRq => Request::SubRq(SubRqRequest::read(&mut input)?),
            SegmentType::Spi => Request::Spi(SpiRequest::read(&mut input, body)?),
            other => return Err(PeerMisbehaved::SegmentUnexpected(other).into()),
        };
        Ok((api, request))
    }

    /// The segment type.
    pub fn kind(&self) -> SegmentType {
        match self {
            Request::Conn(_) => SegmentType::Conn,
            Request::Disc => SegmentType::Disc,
            Request::Open(_) => SegmentType::Open,
            Request::Close { .. } => SegmentType::Close,
            Request::Get(_) => SegmentType::Get,
            Request::Put(_) => SegmentType::Put,
            Request::Put1(_) => SegmentType::Put1,
            Request::Inq(_) => SegmentType::Inq,
            Request::Set(_) => SegmentType::Set,
            Request::Commit => SegmentType::Cmit,
            Request::Back => SegmentType::Back,
            Request::Stat(_) => SegmentType::Stat,
            Request::Sub(_) => SegmentType::Sub,
            Request::SubRq(_) => SegmentType::SubRq,
            Request::Spi(_) => SegmentType::Spi,
            Request::Xa(xa) => xa.kind(),
        }
    }

    /// Appends the request for `handle`. The expected reply length is worked out.
    pub fn encode(&self, out: &mut Vec<u8>, envelope: &Envelope, handle: Hobj) {
        match self {
            Request::Put(put) => encode_put(out, envelope, handle, &put.md, &put.pmo, &put.data),
            Request::Get(get) => {
                encode_get(out, envelope, handle, &get.md, &get.gmo, get.buffer_length);
            }
            Request::Xa(xa) => xa.encode(out, envelope),
            other => {
                let mut writer = RequestWriter::begin(out, envelope, other.kind(), handle);
                let extra = other.encode_body(writer.out(), envelope.order);
                writer.finish(extra, other.data());
            }
        }
    }

    /// Appends the body but for message data; gives how much longer than the request its reply may be.
    fn encode_body(&self, out: &mut Vec<u8>, order: ByteOrder) -> usize {
        match self {
            Request::Conn(conn) => conn.write(out, order),
            Request::Open(open) => open.write(out, order),
            Request::Close { options } => order.put_i32(out, *options),
            Request::Put1(put) => {
                let Put1Request { od, md, pmo, data } = &**put;
                write_put1(out, order, od, md, pmo, data);
            }
            Request::Inq(inq) => {
                inq.write(out, order);
                let ints = usize::try_from(inq.int_count)
                    .unwrap_or(0)
                    .saturating_mul(4);
                return ints
                    .saturating_add(usize::try_from(inq.char_length).unwrap_or(0))
                    .saturating_add(1);
            }
            Request::Set(set) => set.write(out, order),
            Request::Stat(stat) => stat.write(out, order),
            Request::Sub(sub) => {
                sub.write(out, order);
                return 20_480;
            }
            Request::SubRq(sub) => sub.write(out, order),
            Request::Spi(spi) => return spi.write(out, order),
            Request::Disc
            | Request::Commit
            | Request::Back
            | Request::Put(_)
            | Request::Get(_)
            | Request::Xa(_) => {}
        }
        0
    }

    fn data(&self) -> &[u8] {
        match self {
            Request::Put1(put) => &put.data,
            _ => &[],
        }
    }
}

/// Appends an MQPUT without taking the message over.
pub fn encode_put(
    out: &mut Vec<u8>,
    envelope: &Envelope,
    handle: Hobj,
    md: &Md,
    pmo: &Pmo,
    data: &[u8],
) {
    let mut writer = RequestWriter::begin(out, envelope, SegmentType::Put, handle);
    let order = envelope.order;
    md.encode(writer.out(), order, WIRE);
    pmo.encode(writer.out(), order, WIRE);
    order.put_u32(writer.out(), length(data));
    writer.finish(0, data);
}

/// Appends an MQPUT1 without taking the message over.
pub fn encode_put1(
    out: &mut Vec<u8>,
    envelope: &Envelope,
    od: &Od,
    md: &Md,
    pmo: &Pmo,
    data: &[u8],
) {
    let mut writer = RequestWriter::begin(out, envelope, SegmentType::Put1, Hobj::NONE);
    write_put1(writer.out(), envelope.order, od, md, pmo, data);
    writer.finish(0, data);
}

/// The body of an MQPUT1 but for its message.
fn write_put1(out: &mut Vec<u8>, order: ByteOrder, od: &Od, md: &Md, pmo: &Pmo, data: &[u8]) {
    od.encode(out, order, WIRE);
    md.encode(out, order, WIRE);
    pmo.encode(out, order, WIRE);
    order.put_u32(out, length(data));
}

/// Appends an MQGET.
pub fn encode_get(
    out: &mut Vec<u8>,
    envelope: &Envelope,
    handle: Hobj,
    md: &Md,
    gmo: &Gmo,
    buffer_length: i32,
) {
    let mut writer = RequestWriter::begin(out, envelope, SegmentType::Get, handle);
    let order = envelope.order;
    md.encode(writer.out(), order, WIRE);
    gmo.encode(writer.out(), order, WIRE);
    order.put_i32(writer.out(), buffer_length);
    writer.finish(usize::try_from(buffer_length).unwrap_or(0), &[]);
}

fn length(data: &[u8]) -> u32 {
    u32::try_from(data.len()).unwrap_or(u32::MAX)
}

/// Writes one request: header, API header, body, and last the reply length that the API header wants first.
struct RequestWriter<'a> {
    flow: FlowWriter<'a>,
    start: usize,
    header_length: usize,
}

impl<'a> RequestWriter<'a> {
    fn begin(
        out: &'a mut Vec<u8>,
        envelope: &Envelope,
        kind: SegmentType,
        handle: Hobj,
    ) -> RequestWriter<'a> {
        let header_length = envelope.scope.header_length();
        let start = out.len() + header_length;
        let mut flow = envelope.begin(out, kind, Flags::NONE);
        ApiHeader {
            reply_length: 0,
            comp_code: 0,
            reason: Reason::NONE,
            handle,
        }
        .encode(flow.out(), envelope.order);
        RequestWriter {
            flow,
            start,
            header_length,
        }
    }

    fn out(&mut self) -> &mut Vec<u8> {
        self.flow.out()
    }

    fn finish(mut self, extra: usize, data: &[u8]) {
        let own = self.header_length + (self.flow.out().len() - self.start) + data.len();
        let reply = u32::try_from(own.saturating_add(extra)).unwrap_or(u32::MAX);
        if let Some(field) = self.flow.out().get_mut(self.start..self.start + 4) {
            field.copy_from_slice(&reply.to_be_bytes());
        }
        self.flow.data(data);
        self.flow.finish();
    }
}

/// Reads an object descriptor that other fields follow: they begin at a multiple of four bytes behind its strings and
/// records. Where records cannot be found, it cannot be known what follows them.
fn read_od(input: &mut Input<'_>) -> Result<Od, DecodeError> {
    let (od, used) = Od::decode(input.rest(), input.order(), WIRE)?;
    let reason = match od.recs_present {
        count if count < 0 => Reason::RECS_PRESENT_ERROR,
        _ => Reason::OBJECT_RECORDS_ERROR,
    };
    if od.recs_present != 0 && od.records.is_none() {
        return Err(DecodeError::Verb(reason));
    }
    input.take(used.next_multiple_of(4))?;
    Ok(od)
}

/// Reads put options that a message follows.
fn read_pmo(input: &mut Input<'_>) -> Result<Pmo, DecodeError> {
    let mut pmo = Pmo::default();
    read_pmo_over(input, &mut pmo)?;
    Ok(pmo)
}

fn read_pmo_over(input: &mut Input<'_>, pmo: &mut Pmo) -> Result<(), DecodeError> {
    read_over(input, |bytes, order, p| pmo.decode_over(bytes, order, p))?;
    match pmo.recs_present == 0 || pmo.records.is_some() {
        true => Ok(()),
        false => Err(DecodeError::Verb(records_fault(pmo))),
    }
}

/// Why the records of put options cannot be found.
#[cold]
fn records_fault(pmo: &Pmo) -> Reason {
    match PutRecord::length(pmo.put_msg_rec_fields) {
        _ if pmo.recs_present < 0 => Reason::RECS_PRESENT_ERROR,
        None => Reason::PMO_RECORD_FLAGS_ERROR,
        Some(_) => Reason::PUT_MSG_RECORDS_ERROR,
    }
}

/// Where FCNO has the connection identifier: behind StrucId, version and flags.
const FCNO_CONNECTION: usize = 12;

impl ConnRequest {
    fn read(input: &mut Input<'_>) -> Result<ConnRequest, DecodeError> {
        Ok(ConnRequest {
            q_mgr: input.chars()?,
            application: input.chars()?,
            application_type: input.i32()?,
            accounting_token: input.array()?,
            options: input.u32()?,
            connect_options: input.i32()?,
            fcno: input.rest().to_vec(),
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        out.extend_from_slice(self.q_mgr.as_bytes());
        out.extend_from_slice(self.application.as_bytes());
        order.put_i32(out, self.application_type);
        out.extend_from_slice(&self.accounting_token);
        order.put_u32(out, self.options);
        order.put_i32(out, self.connect_options);
        out.extend_from_slice(&self.fcno);
    }

    pub(crate) fn read_reply(input: &mut Input<'_>) -> Result<ConnRequest, DecodeError> {
        Self::read(input)
    }

    /// Puts the connection identifier where the answer has it; a structure without room for it has none.
    pub fn identify(&mut self, connection: &[u8; 24]) {
        let room = self.fcno.get_mut(FCNO_CONNECTION..);
        if let Some(room) = room.and_then(<[u8]>::first_chunk_mut) {
            *room = *connection;
        }
    }

    /// A version 2 FCNO with nothing in it, which is what a client without connection tags sends.
    pub fn plain_fcno(order: ByteOrder) -> Vec<u8> {
        let mut fcno = Vec::with_capacity(212);
        fcno.extend_from_slice(b"FCNO");
        order.put_u32(&mut fcno, 2);
        fcno.resize(212, 0);
        fcno
    }
}

impl OpenRequest {
    pub(crate) fn read(input: &mut Input<'_>) -> Result<OpenRequest, DecodeError> {
        let od = read_od(input)?;
        Ok(OpenRequest {
            od,
            options: input.i32()?,
            defaults: match input.remaining() {
                0 => None,
                _ => Some(OpenDefaults::read_fopa(input)?),
            },
        })
    }

    fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        write_open(out, order, &self.od, self.options, self.defaults.as_ref());
    }
}

pub(crate) fn write_open(
    out: &mut Vec<u8>,
    order: ByteOrder,
    od: &Od,
    options: i32,
    defaults: Option<&OpenDefaults>,
) {
    od.encode(out, order, WIRE);
    order.put_i32(out, options);
    if let Some(defaults) = defaults {
        defaults.write_fopa(out, order);
    }
}

impl GetRequest {
    /// Reads it where it stays.
    fn read(input: &mut Input<'_>) -> Result<Box<GetRequest>, DecodeError> {
        let mut get = Box::new(GetRequest {
            md: Md::default(),
            gmo: Gmo::default(),
            buffer_length: 0,
        });
        read_over(input, |bytes, order, p| get.md.decode_over(bytes, order, p))?;
        read_over(input, |bytes, order, p| {
            get.gmo.decode_over(bytes, order, p)
        })?;
        get.buffer_length = input.i32()?;
        Ok(get)
    }
}

impl PutRequest {
    /// Reads it where it stays.
    fn read(input: &mut Input<'_>, body: &Body<'_>) -> Result<Box<PutRequest>, DecodeError> {
        let mut put = Box::new(PutRequest {
            md: Md::default(),
            pmo: Pmo::default(),
            data: Bytes::new(),
        });
        read_over(input, |bytes, order, p| put.md.decode_over(bytes, order, p))?;
        read_pmo_over(input, &mut put.pmo)?;
        put.data = read_data(input, body)?;
        Ok(put)
    }
}

impl Put1Request {
    fn read(input: &mut Input<'_>, body: &Body<'_>) -> Result<Put1Request, DecodeError> {
        let od = read_od(input)?;
        let md = read_structure(input, Md::decode)?;
        let pmo = read_pmo(input)?;
        Ok(Put1Request {
            od,
            md,
            pmo,
            data: read_data(input, body)?,
        })
    }
}

/// Distance of the put options from the message descriptor, by its version.
const MD_LENGTHS: [usize; 2] = [324, 364];

/// The options of a put whose structures cannot all be read, as whether it is answered depends on them: what lies behind
/// a message descriptor and looks like put options; or else where its version says that they are; or else what looks
/// like put options.
pub(crate) fn put_options(body: &[u8], order: ByteOrder) -> Option<i32> {
    let is = |at: usize, name: &[u8]| body.get(at..at + 4) == Some(name);
    let places = || (0..body.len().min(BESIDE_MESSAGE)).step_by(4);
    let descriptors = || places().filter(|at| is(*at, b"MD  "));
    let behind = || descriptors().flat_map(|md| MD_LENGTHS.map(|length| md + length));
    let by_version = || {
        let md = descriptors().next()?;
        let version = usize::try_from(order.get_i32(body, md + 4)?).ok()?;
        Some(md + MD_LENGTHS.get(version.checked_sub(1)?)?)
    };
    let pmo = behind()
        .find(|pmo| is(*pmo, b"PMO "))
        .or_else(by_version)
        .or_else(|| places().find(|at| is(*at, b"PMO ")))?;
    order.get_i32(body, pmo + 8)
}

/// `count` numbers; the count is compared with what has come before anything is allocated.
pub(crate) fn read_ints(input: &mut Input<'_>, count: u32) -> Result<Vec<i32>, PeerMisbehaved> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > input.remaining() / 4 {
        return Err(PeerMisbehaved::CountWrong(input.kind()));
    }
    (0..count).map(|_| input.i32()).collect()
}

impl InqRequest {
    pub(crate) fn read(input: &mut Input<'_>) -> Result<InqRequest, DecodeError> {
        let count = input.u32()?;
        let (int_count, char_length) = (input.i32()?, input.i32()?);
        if count > MAX_SELECTORS {
            return Err(DecodeError::Verb(Reason::SELECTOR_LIMIT_EXCEEDED));
        }
        Ok(InqRequest {
            selectors: read_ints(input, count)?,
            int_count,
            char_length,
        })
    }

    fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        Self::write_parts(
            out,
            order,
            &self.selectors,
            self.int_count,
            self.char_length,
        );
    }

    pub(crate) fn write_parts(
        out: &mut Vec<u8>,
        order: ByteOrder,
        selectors: &[i32],
        int_count: i32,
        char_length: i32,
    ) {
        order.put_u32(out, u32::try_from(selectors.len()).unwrap_or(u32::MAX));
        order.put_i32(out, int_count);
        order.put_i32(out, char_length);
        for selector in selectors {
            order.put_i32(out, *selector);
        }
    }
}

impl SetRequest {
    pub(crate) fn read(input: &mut Input<'_>) -> Result<SetRequest, DecodeError> {
        let (count, ints, chars) = (input.u32()?, input.u32()?, input.u32()?);
        if count > MAX_SELECTORS {
            return Err(DecodeError::Verb(Reason::SELECTOR_LIMIT_EXCEEDED));
        }
        let selectors = read_ints(input, count)?;
        let ints = read_ints(input, ints)?;
        let chars = input
            .take(usize::try_from(chars).unwrap_or(usize::MAX))?
            .to_vec();
        Ok(SetRequest {
            selectors,
            ints,
            chars,
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        for count in [self.selectors.len(), self.ints.len(), self.chars.len()] {
            order.put_u32(out, u32::try_from(count).unwrap_or(u32::MAX));
        }
        for value in self.selectors.iter().chain(&self.ints) {
            order.put_i32(out, *value);
        }
        out.extend_from_slice(&self.chars);
    }
}

impl StatRequest {
    pub(crate) fn read(input: &mut Input<'_>) -> Result<StatRequest, DecodeError> {
        Ok(StatRequest {
            kind: input.i32()?,
            sts: read_structure(input, Sts::decode)?,
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        order.put_i32(out, self.kind);
        self.sts.encode(out, order, WIRE);
    }
}
