//! XA verbs: units of work that a transaction manager coordinates.
//!
//! In place of the API header they have: length (big-endian always), return value, flags, resource manager. It is read
//! into an [`ApiHeader`] whose completion code is the return value, whose reason is the flags and whose handle is the
//! resource manager, so that every request has one.

use posthaste_mqi::{ByteOrder, Hobj, Reason, Xid};

use crate::PeerMisbehaved;
use crate::flow::Envelope;
use crate::input::Input;
use crate::segment::{Flags, SegmentType};
use crate::verb::ApiHeader;

/// Bytes of xa_info that are sent, whatever its length.
const XA_INFO: usize = 256;
fn read_xid(input: &mut Input<'_>) -> Result<Xid, PeerMisbehaved> {
    let format_id = input.i32()?;
    let (global, branch) = (usize::from(input.u8()?), usize::from(input.u8()?));
    let wrong = PeerMisbehaved::CountWrong(input.kind());
    let halves = input.take(global + branch)?;
    let (global, branch) = halves.split_at(global);
    Xid::new(format_id, global, branch).ok_or(wrong)
}

fn write_xid(xid: &Xid, out: &mut Vec<u8>, order: ByteOrder) {
    order.put_i32(out, xid.format_id());
    // No half is longer than 64 bytes.
    out.extend([xid.global().len() as u8, xid.branch().len() as u8]);
    out.extend_from_slice(xid.global());
    out.extend_from_slice(xid.branch());
}

/// Which XA verb, with what it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum XaVerb {
    /// xa_open.
    Open {
        /// xa_info: the queue manager.
        info: Vec<u8>,
    },
    /// xa_close.
    Close {
        /// xa_info.
        info: Vec<u8>,
    },
    /// xa_start.
    Start(Xid),
    /// xa_end.
    End(Xid),
    /// xa_prepare.
    Prepare(Xid),
    /// xa_commit.
    Commit(Xid),
    /// xa_rollback.
    Rollback(Xid),
    /// xa_forget.
    Forget(Xid),
    /// xa_recover.
    Recover {
        /// How many identifiers are wanted.
        count: u32,
    },
    /// xa_complete.
    Complete,
}

/// An XA verb.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct XaRequest {
    /// TM* flags.
    pub flags: u32,
    /// Resource manager.
    pub resource_manager: u32,
    /// The verb.
    pub verb: XaVerb,
}

impl XaRequest {
    pub(crate) fn read(
        kind: SegmentType,
        input: &mut Input<'_>,
    ) -> Result<(ApiHeader, XaRequest), PeerMisbehaved> {
        let api = ApiHeader::read(input)?;
        let info = |input: &mut Input<'_>| -> Result<Vec<u8>, PeerMisbehaved> {
            let length = usize::from(input.u8()?);
            let info = input.take(XA_INFO)?;
            Ok(info.get(..length).unwrap_or(info).to_vec())
        };
        let verb = match kind {
            SegmentType::XaOpen => XaVerb::Open { info: info(input)? },
            SegmentType::XaClose => XaVerb::Close { info: info(input)? },
            SegmentType::XaStart => XaVerb::Start(read_xid(input)?),
            SegmentType::XaEnd => XaVerb::End(read_xid(input)?),
            SegmentType::XaPrepare => XaVerb::Prepare(read_xid(input)?),
            SegmentType::XaCommit => XaVerb::Commit(read_xid(input)?),
            SegmentType::XaRollback => XaVerb::Rollback(read_xid(input)?),
            SegmentType::XaForget => XaVerb::Forget(read_xid(input)?),
            SegmentType::XaRecover => XaVerb::Recover {
                count: input.u32()?,
            },
            SegmentType::XaComplete => XaVerb::Complete,
            other => return Err(PeerMisbehaved::SegmentUnexpected(other)),
        };
        let flags = api.reason.0.cast_unsigned();
        Ok((
            api,
            XaRequest {
                flags,
                resource_manager: api.handle.0.cast_unsigned(),
                verb,
            },
        ))
    }

    /// The segment type.
    pub fn kind(&self) -> SegmentType {
        match self.verb {
            XaVerb::Open { .. } => SegmentType::XaOpen,
            XaVerb::Close { .. } => SegmentType::XaClose,
            XaVerb::Start(_) => SegmentType::XaStart,
            XaVerb::End(_) => SegmentType::XaEnd,
            XaVerb::Prepare(_) => SegmentType::XaPrepare,
            XaVerb::Commit(_) => SegmentType::XaCommit,
            XaVerb::Rollback(_) => SegmentType::XaRollback,
            XaVerb::Forget(_) => SegmentType::XaForget,
            XaVerb::Recover { .. } => SegmentType::XaRecover,
            XaVerb::Complete => SegmentType::XaComplete,
        }
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>, envelope: &Envelope) {
        let mut body = Vec::new();
        let order = envelope.order;
        match &self.verb {
            XaVerb::Open { info } | XaVerb::Close { info } => {
                let info = info.get(..XA_INFO - 1).unwrap_or(info);
                body.push(u8::try_from(info.len()).unwrap_or(u8::MAX));
                body.extend_from_slice(info);
                body.resize(1 + XA_INFO, 0);
            }
            XaVerb::Start(xid)
            | XaVerb::End(xid)
            | XaVerb::Prepare(xid)
            | XaVerb::Commit(xid)
            | XaVerb::Rollback(xid)
            | XaVerb::Forget(xid) => write_xid(xid, &mut body, order),
            XaVerb::Recover { count } => order.put_u32(&mut body, *count),
            XaVerb::Complete => {}
        }
        let mut writer = envelope.begin(out, self.kind(), Flags::NONE);
        let length = envelope.scope.header_length() + 16 + body.len();
        head(&mut writer, length, 0, self.flags, self.resource_manager);
        writer.bytes(&body);
        writer.finish();
    }
}

fn head(
    writer: &mut crate::flow::FlowWriter<'_>,
    length: usize,
    returned: i32,
    flags: u32,
    resource_manager: u32,
) {
    let order = writer.order();
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    ApiHeader {
        reply_length: length,
        comp_code: returned,
        reason: Reason(flags.cast_signed()),
        handle: Hobj(resource_manager.cast_signed()),
    }
    .encode(writer.out(), order);
}

/// The answer to an XA verb.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct XaReply {
    /// XA_OK or an XA code; the number of identifiers for xa_recover.
    pub returned: i32,
    /// Flags of the request.
    pub flags: u32,
    /// Resource manager of the request.
    pub resource_manager: u32,
    /// What xa_recover found.
    pub xids: Option<Vec<Xid>>,
}

impl XaReply {
    /// Appends the answer to a request of type `kind`.
    pub fn encode(&self, out: &mut Vec<u8>, envelope: &Envelope, kind: SegmentType) {
        let mut body = Vec::new();
        if let Some(xids) = &self.xids {
            envelope
                .order
                .put_u32(&mut body, u32::try_from(xids.len()).unwrap_or(u32::MAX));
            for xid in xids {
                write_xid(xid, &mut body, envelope.order);
                body.resize(body.len().next_multiple_of(4), 0);
            }
        }
        let mut writer = envelope.begin(out, kind.reply(), Flags::NONE);
        head(
            &mut writer,
            16 + body.len(),
            self.returned,
            self.flags,
            self.resource_manager,
        );
        writer.data(&body);
        writer.finish();
    }

    pub(crate) fn read(
        kind: SegmentType,
        input: &mut Input<'_>,
    ) -> Result<(ApiHeader, XaReply), PeerMisbehaved> {
        let api = ApiHeader::read(input)?;
        let mut xids = None;
        if kind == SegmentType::XaRecoverReply && input.remaining() >= 4 {
            let count = usize::try_from(input.u32()?).unwrap_or(usize::MAX);
            if count > input.remaining() / 6 {
                return Err(PeerMisbehaved::CountWrong(kind));
            }
            let mut found = Vec::with_capacity(count);
            for _ in 0..count {
                let begin = input.at();
                found.push(read_xid(input)?);
                let used = input.at() - begin;
                input.take(used.next_multiple_of(4) - used)?;
            }
            xids = Some(found);
        }
        let reply = XaReply {
            returned: api.comp_code,
            flags: api.reason.0.cast_unsigned(),
            resource_manager: api.handle.0.cast_unsigned(),
            xids,
        };
        Ok((api, reply))
    }
}
