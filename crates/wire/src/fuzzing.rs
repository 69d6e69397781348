//! Fuzz targets: any bytes, no panic, no allocation beyond what came, and what decodes encodes to the same again.
//!
//! Each function is a target of `verify/fuzz`; unit tests run them over the captured segments and over damaged copies.

use posthaste_mqi::{ByteOrder, Chars, Name};

use crate::client::{ClientOffer, ClientSocket};
use crate::flow::{Body, Envelope, Framing};
use crate::identity::{Authentication, Userid};
use crate::initial::InitialData;
use crate::negotiate::Offer;
use crate::reply::Reply;
use crate::request::Request;
use crate::segment::{Flags, Header, Scope, Segment, SegmentType};
use crate::server::{Incoming, ServerSocket};

const LIMIT: usize = 1 << 20;

fn order_of(byte: u8) -> ByteOrder {
    if byte & 1 == 0 {
        ByteOrder::Big
    } else {
        ByteOrder::Little
    }
}

/// A stream of segments through the header codec.
pub fn segments(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some(segment)) = Segment::next(rest, LIMIT) {
        let mut again = Vec::new();
        segment.header.encode(
            &mut again,
            u32::try_from(segment.length).unwrap_or(u32::MAX),
        );
        again.extend_from_slice(segment.body);
        let second = Segment::next(&again, LIMIT);
        assert_eq!(second, Ok(Some(segment)), "a header must survive encoding");
        rest = rest.get(segment.length..).unwrap_or(&[]);
    }
}

/// INITIAL_DATA.
pub fn initial(bytes: &[u8]) {
    let Some((first, body)) = bytes.split_first() else {
        return;
    };
    let order = order_of(*first);
    if let Ok(id) = InitialData::decode(body, order) {
        let mut again = Vec::new();
        id.encode(&mut again, order);
        assert_eq!(
            again.len(),
            id.form.length(),
            "the form says how long it is"
        );
        assert_eq!(InitialData::decode(&again, order).as_ref(), Ok(&id));
    }
}

/// A verb's body: the first byte chooses its type, the second the byte order.
pub fn request(bytes: &[u8]) {
    let Some((&[kind, order], body)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let Some(kind) = SegmentType::from_number(kind) else {
        return;
    };
    // Nothing is filled up here: behind an FCNO, which may be anything, that would be taken for its end.
    let scope = Scope::Unshared;
    let header =
        Header::new(kind, scope, order_of(order), 1208).with_flags(Flags::FIRST | Flags::LAST);
    let Ok((api, request)) = Request::decode(&header, &Body::Borrowed(body)) else {
        return;
    };
    let framing = Framing {
        shared: false,
        max_transmission: 32_748,
        ccsid: 1208,
    };
    let mut out = Vec::new();
    request.encode(
        &mut out,
        &Envelope {
            framing,
            scope,
            order: header.order,
        },
        api.handle,
    );
    let mut assembler = crate::flow::Assembler::new(usize::MAX, 1);
    let mut rest = out.as_slice();
    while let Ok(Some(segment)) = Segment::next(rest, 32_748) {
        let flow = assembler.accept(&segment).ok().flatten();
        if let Some((header, body)) = flow {
            let again = Request::decode(&header, &body).map(|(_, request)| request);
            assert_eq!(
                again.as_ref(),
                Ok(&request),
                "a request must survive encoding"
            );
        }
        rest = rest.get(segment.length..).unwrap_or(&[]);
    }
    assert!(rest.is_empty(), "everything that is written is segments");
}

/// A reply's body: the first byte chooses its type, the second the byte order.
pub fn reply(bytes: &[u8]) {
    let Some((&[kind, order], body)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let Some(kind) = SegmentType::from_number(kind) else {
        return;
    };
    let header = Header::new(kind, Scope::Unshared, order_of(order), 1208);
    // Replies are written from borrowed parts; here only reading matters.
    drop(Reply::decode(&header, &Body::Borrowed(body)));
}

/// What a fuzzed server offers.
pub fn offer() -> Offer {
    Offer {
        fap_level: 12,
        conversations: 10,
        ccsid: 1208,
        heartbeat_s: 1,
        max_transmission: 32_766,
        max_message: 65_536,
        q_mgr: Name::new("QM1"),
        q_mgr_id: Name::new("QM1_ID"),
        product: Chars::new("MQMM09040000"),
        process_id: 1,
    }
}

/// Credentials, in both byte orders: what is understood is written and understood again.
pub fn credentials(bytes: &[u8]) {
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let envelope = Envelope {
            framing: Framing::INITIAL,
            scope: Scope::Unshared,
            order,
        };
        let again = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            let segment = Segment::next(&out, out.len());
            match segment {
                Ok(Some(segment)) => segment.body.to_vec(),
                other => panic!("what was written is a segment: {other:?}"),
            }
        };
        if let Ok(csp) = Authentication::decode(bytes, order) {
            let body = again(&|out| csp.encode(out, &envelope));
            assert_eq!(Authentication::decode(&body, order), Ok(csp));
        }
        if let Ok(userid) = Userid::decode(bytes, order) {
            let body = again(&|out| userid.encode(out, &envelope));
            assert_eq!(Userid::decode(&body, order), Ok(userid));
        }
    }
}

/// Everything a client can send to a server, from the first byte on.
pub fn server(bytes: &[u8]) {
    let mut socket = ServerSocket::new();
    let mut out = Vec::new();
    let mut rest = bytes;
    while let Ok(Some(segment)) = Segment::next(rest, socket.limit_of(rest)) {
        match socket.receive(&segment, &mut out) {
            Ok(Some(Incoming::Proposed(_))) => {
                if socket.answer(&offer(), &mut out).is_err() {
                    return;
                }
            }
            Ok(Some(Incoming::Request {
                header,
                request: Request::Conn(_),
                ..
            })) => socket.connected(header.scope.conversation()),
            Ok(_) => {}
            Err(error) => {
                let again = socket.receive(&segment, &mut out).err();
                assert_eq!(again, Some(error), "an error stays");
                return;
            }
        }
        let most = bytes.len() + bytes.len() / 2;
        assert!(socket.kept() <= most, "hardly more is kept than came");
        rest = rest.get(segment.length..).unwrap_or(&[]);
    }
}

/// Everything a server can send to a client.
pub fn client(bytes: &[u8]) {
    let mut out = Vec::new();
    let mut socket = ClientSocket::begin(&ClientOffer::default(), &mut out);
    let mut rest = bytes;
    while let Ok(Some(segment)) = Segment::next(rest, socket.limit()) {
        if let Err(error) = socket.receive(&segment, &mut out) {
            let again = socket.receive(&segment, &mut out).err();
            assert_eq!(again, Some(error), "an error stays");
            return;
        }
        rest = rest.get(segment.length..).unwrap_or(&[]);
    }
}
