//! The codecs and machines against captured streams of genuine clients.

use std::collections::BTreeMap;

use crate::stream::{self, Captured};
use posthaste_mqi::ByteOrder;
use posthaste_wire::flow::{Assembler, Body, Envelope, Framing};
use posthaste_wire::identity::{Authentication, Userid};
use posthaste_wire::initial::{InitialData, dispute};
use posthaste_wire::reply::{Answer, Reply};
use posthaste_wire::request::{InqRequest, Request};
use posthaste_wire::segment::{Flags, HEADER, Header, Scope, Segment, SegmentType};
use posthaste_wire::server::{Incoming, ServerSocket};
use posthaste_wire::socket::SocketAction;
use posthaste_wire::spi::{SpiAnswer, SpiReply, SpiVerb};
use posthaste_wire::stream::{AsyncMessage, Notification, RequestMsgs};
use posthaste_wire::{ApiHeader, Offer, Outcome, PeerMisbehaved, Status};

const COMPRESSED: [&str; 4] = ["70-", "71-", "72-", "74-"];

fn compressed(captured: &Captured) -> bool {
    COMPRESSED
        .iter()
        .any(|prefix| captured.file.starts_with(prefix))
}

fn segment(captured: &Captured) -> Segment<'_> {
    let segment = Segment::next(&captured.bytes, usize::MAX).unwrap().unwrap();
    assert_eq!(segment.length, captured.bytes.len(), "{}", captured.name());
    segment
}

/// A flow of one conversation with all its captured bytes.
struct Flow {
    name: String,
    header: Header,
    body: Vec<u8>,
    /// The segments as captured.
    segments: Vec<Vec<u8>>,
}

/// Puts the flows of one direction together.
fn flows(from_client: bool, wanted: impl Fn(SegmentType) -> bool) -> Vec<Flow> {
    let mut assemblers = BTreeMap::new();
    let mut done = Vec::new();
    for captured in stream::all() {
        let segment = segment(&captured);
        if captured.from_client != from_client
            || compressed(&captured)
            || !wanted(segment.header.kind)
        {
            continue;
        }
        let key = (captured.file.clone(), captured.socket);
        let (assembler, segments) = assemblers
            .entry(key)
            .or_insert_with(|| (Assembler::new(1 << 20, 10), Vec::new()));
        segments.push(captured.bytes.clone());
        if let Some((header, body)) = assembler.accept(&segment).unwrap() {
            let (body, segments) = (body.bytes().to_vec(), std::mem::take(segments));
            done.push(Flow {
                name: captured.name(),
                header,
                body,
                segments,
            });
        }
    }
    done
}

fn envelope(flow: &Flow) -> Envelope {
    let shared = !matches!(flow.header.scope, Scope::Unshared);
    // Segments that are not the last are as long as was agreed.
    let max_transmission = match flow.segments.len() {
        1 => 1 << 20,
        _ => flow.segments[0].len(),
    };
    let framing = Framing {
        shared,
        max_transmission,
        ccsid: flow.header.ccsid,
    };
    Envelope {
        framing,
        scope: flow.header.scope,
        order: flow.header.order,
    }
}

/// Bytes that a flow holds: under `TSH ` nothing is filled up.
fn content(encode: impl Fn(&mut Vec<u8>, &Envelope), flow: &Flow) -> usize {
    let mut envelope = envelope(flow);
    envelope.scope = Scope::Unshared;
    envelope.framing.max_transmission = 1 << 24;
    let mut out = Vec::new();
    encode(&mut out, &envelope);
    out.len() - HEADER
}

#[test]
fn every_segment_parses_and_its_header_survives() {
    let all = stream::all();
    assert!(all.len() > 1500, "{} segments", all.len());
    for captured in &all {
        let segment = segment(captured);
        let mut again = Vec::new();
        segment
            .header
            .encode(&mut again, u32::try_from(segment.length).unwrap());
        assert_eq!(again, captured.bytes[..again.len()], "{}", captured.name());
        for cut in 0..captured.bytes.len() {
            let partial = Segment::next(&captured.bytes[..cut], usize::MAX);
            assert_eq!(partial, Ok(None), "{} cut at {cut}", captured.name());
        }
    }
}

fn same(ours: &[u8], theirs: &[u8], name: &str) {
    let first = ours.iter().zip(theirs).position(|(a, b)| a != b);
    let near = |bytes: &[u8]| {
        let at = first.unwrap_or(0);
        bytes
            .get(at..(at + 32).min(bytes.len()))
            .unwrap_or(&[])
            .to_vec()
    };
    assert!(
        ours == theirs,
        "{name}: {} and {} bytes, different from {first:?}: {:02x?} and {:02x?}",
        ours.len(),
        theirs.len(),
        near(ours),
        near(theirs)
    );
}

/// Bytes that a request may have otherwise than we write it: what follows its content, the encoding that a
/// little-endian Java client states, and the room it has for strings.
fn canonical(bytes: &[u8], header: &Header, length: usize) -> Vec<u8> {
    let mut bytes = bytes[..length.min(bytes.len())].to_vec();
    bytes[4..8].fill(0);
    let encoding = header.scope.header_length() - 8;
    bytes[encoding..encoding + 4].fill(0);
    if let Some(od) = bytes.windows(4).position(|w| w == b"OD  ")
        && matches!(bytes[od + 4..od + 8], [0, 0, 0, 4] | [4, 0, 0, 0])
    {
        for string in [336, 356, 376].map(|at| od + at) {
            bytes[string + 8..string + 12].fill(0);
            if bytes[string + 12..string + 16] == [0; 4] {
                bytes[string + 4..string + 8].fill(0);
            }
        }
    }
    if let Some(sd) = bytes.windows(4).position(|w| w == b"SD  ") {
        for (string, given_back) in [116, 136, 156, 268, 292].into_iter().zip([0, 0, 1, 1, 1]) {
            let fields = &mut bytes[sd + string..][8..16];
            let (room, length) = fields.split_at_mut(4);
            // Of what is not given back the room is not kept, and no room is less than the string.
            if given_back == 0 || room == [0; 4] {
                room.copy_from_slice(length);
            }
        }
    }
    bytes
}

#[test]
fn client_requests_decode_and_encode_to_the_same_bytes() {
    let mut seen = BTreeMap::new();
    for flow in flows(true, SegmentType::is_request) {
        let (api, request) = Request::decode(&flow.header, &Body::Borrowed(&flow.body))
            .unwrap_or_else(|error| panic!("{}: {error:?}", flow.name));
        *seen.entry(flow.header.kind.number()).or_insert(0) += 1;
        assert_eq!(request.kind(), flow.header.kind);
        let mut out = Vec::new();
        request.encode(&mut out, &envelope(&flow), api.handle);
        let mut content = content(|out, e| request.encode(out, e, api.handle), &flow);
        let mut rest = out.as_slice();
        for original in &flow.segments {
            let ours = Segment::next(rest, usize::MAX).unwrap().unwrap();
            let header = flow.header;
            assert_eq!(original.len(), ours.length, "{}", flow.name);
            let held = content.min(ours.body.len());
            content -= held;
            assert_eq!(ours.body[held..], [0; 4][..ours.body.len() - held]);
            let length = header.scope.header_length() + held;
            let (mut bytes, mut original) = (
                canonical(rest, &header, length),
                canonical(original, &header, length),
            );
            let api = header.scope.header_length();
            if ours.header.flags.has(Flags::FIRST) {
                // A completion code has been seen in a request; what it means there is not known.
                original[api + 4..api + 8].fill(0);
                bytes[api + 4..api + 8].fill(0);
                if flow.header.kind == SegmentType::XaOpen
                    || flow.header.kind == SegmentType::XaClose
                {
                    let info = api + 16; // a length and 256 bytes, of which only so many count
                    let end = info + 1 + usize::from(original[info]);
                    original[end..].fill(0);
                }
                if matches!(request, Request::Sub(_) | Request::Spi(_) | Request::Xa(_)) {
                    original[api..api + 4].fill(0);
                    bytes[api..api + 4].fill(0);
                }
            }
            same(&bytes, &original, &flow.name);
            rest = &rest[ours.length..];
        }
        assert!(rest.is_empty() && content == 0, "{}", flow.name);
    }
    let kinds: Vec<u8> = seen.keys().copied().collect();
    let all: Vec<u8> = (0x81..=0x8F)
        .chain([0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA9])
        .collect();
    assert_eq!(kinds, all, "every verb occurs");
}

/// Our answer to what a captured reply answers, from what the reply says.
fn answer_again(
    reply: &Reply,
    request: &Request,
    out: &mut Vec<u8>,
    envelope: &Envelope,
    api: &ApiHeader,
) {
    let kind = request.kind();
    let outcome = api
        .outcome()
        .unwrap_or(Outcome::done(api.handle, api.reason));
    let mut answer = |answer: &Answer<'_>| answer.encode(out, envelope, kind, &outcome);
    match (reply, request) {
        (Reply::Conn(conn), _) => answer(&Answer::Conn(conn)),
        (Reply::Open(open), _) => answer(&Answer::Open {
            od: &open.od,
            options: open.options,
            defaults: open.defaults.as_ref(),
        }),
        (Reply::Get(get), _) => answer(&Answer::Get {
            md: &get.md,
            gmo: &get.gmo,
            length: get.length,
            data: &get.data,
        }),
        (Reply::Put { md, pmo }, Request::Put(put)) => {
            answer(&Answer::Put {
                md,
                pmo,
                length: put.data.len(),
            });
        }
        (Reply::Put1(parts), Request::Put1(put)) => {
            let (od, md, pmo) = &**parts;
            answer(&Answer::Put1 {
                od,
                md,
                pmo,
                length: put.data.len(),
            });
        }
        (Reply::Inq(inq), Request::Inq(request)) => {
            answer(&Answer::Inq {
                request,
                ints: &inq.ints,
                chars: &inq.chars,
            });
        }
        (Reply::Stat(stat), _) => answer(&Answer::Stat(stat)),
        (Reply::Sub(sub), _) => answer(&Answer::Sub(sub)),
        (Reply::SubRq(sub), _) => answer(&Answer::SubRq(*sub)),
        (Reply::Empty, Request::Close { options }) => answer(&Answer::Close { options: *options }),
        (Reply::Empty, Request::Set(set)) => answer(&Answer::Set(set)),
        (Reply::Empty, _) => answer(&Answer::Empty),
        (Reply::Spi(SpiReply::Query(_)), _) => {
            answer(&Answer::Spi(SpiAnswer::Query(&SpiVerb::ALL)));
        }
        (Reply::Spi(SpiReply::Open(open)), _) => answer(&Answer::Spi(SpiAnswer::Open {
            options: open.options,
            lpi_options: open.lpi_options,
            defaults: &open.defaults,
            od: &open.od,
        })),
        (Reply::Spi(SpiReply::Reserve(reserved)), _) => {
            answer(&Answer::Spi(SpiAnswer::Reserve(reserved)));
        }
        (Reply::Spi(SpiReply::Put(parts)), _) => {
            answer(&Answer::Spi(SpiAnswer::Put {
                md: &parts.0,
                pmo: &parts.1,
            }));
        }
        (Reply::Spi(SpiReply::Subscribe(sub)), _) => {
            answer(&Answer::Spi(SpiAnswer::Subscribe(sub)))
        }
        (Reply::Xa(xa), _) => xa.encode(out, envelope, kind),
        (reply, request) => panic!("{reply:?} to {request:?}"),
    }
}

/// How many of an MQINQ's selectors are of integers.
fn integers(inq: &InqRequest) -> usize {
    let of_integers = |selector: &&i32| (1..=2_000).contains(*selector);
    inq.selectors.iter().filter(of_integers).count()
}

#[test]
fn our_replies_have_the_layout_of_the_captured_ones() {
    let requests = flows(true, SegmentType::is_request);
    let (mut compared, mut too_short) = (0, 0);
    for flow in flows(false, SegmentType::is_reply) {
        let (api, reply) = Reply::decode(&flow.header, &Body::Borrowed(&flow.body))
            .unwrap_or_else(|error| panic!("{}: {error:?}", flow.name));
        if reply == Reply::Empty && api.comp_code == 2 {
            continue; // a failed verb needs no body
        }
        let file = flow.name.split(' ').next().unwrap();
        // The request it answers: the last one of its kind on its conversation.
        let number = |name: &str| -> u32 {
            name.split_once('[')
                .unwrap()
                .1
                .trim_end_matches(']')
                .parse()
                .unwrap()
        };
        let request = requests.iter().rfind(|request| {
            request.name.starts_with(file)
                && request.header.kind.reply() == flow.header.kind
                && request.header.scope == flow.header.scope
                && number(&request.name) < number(&flow.name)
        });
        let Some(request) = request else { continue };
        let (_, request) =
            Request::decode(&request.header, &Body::Borrowed(&request.body)).unwrap();
        // The captured server sent no more integers than there are selectors of integers, whatever count it said: the client
        // took the first characters for the rest of them.
        if matches!(&request, Request::Inq(inq) if inq.int_count as usize > integers(inq)) {
            too_short += 1;
            continue;
        }
        let mut out = Vec::new();
        answer_again(&reply, &request, &mut out, &envelope(&flow), &api);
        let again = |out: &mut Vec<u8>, e: &Envelope| answer_again(&reply, &request, out, e, &api);
        let mut content = content(again, &flow);
        let mut rest = out.as_slice();
        for original in &flow.segments {
            let ours = Segment::next(rest, usize::MAX).unwrap().unwrap();
            let header = flow.header;
            let held = content.min(ours.body.len());
            content -= held;
            // The captured server filled nothing up.
            let length = header.scope.header_length() + held;
            assert_eq!(original.len(), length, "{}", flow.name);
            assert!(ours.length - length < 4, "{}", flow.name);
            let our = canonical(rest, &header, length);
            same(&our, &canonical(original, &header, length), &flow.name);
            rest = &rest[ours.length..];
        }
        assert!(rest.is_empty() && content == 0, "{}", flow.name);
        compared += 1;
    }
    assert!(compared > 700, "{compared} replies compared");
    assert!(
        too_short < 100,
        "{too_short} captured replies to MQINQ are too short"
    );
}

/// Decodes what is not a verb and encodes it again, for `scope`; `None` for a verb.
fn again(captured: &Captured, scope: Scope) -> Option<Vec<u8>> {
    let segment = segment(captured);
    let (header, body) = (segment.header, segment.body);
    let shared = !matches!(header.scope, Scope::Unshared);
    let framing = Framing {
        shared,
        max_transmission: 1 << 20,
        ccsid: header.ccsid,
    };
    let envelope = Envelope {
        framing,
        scope,
        order: header.order,
    };
    let flags = Flags(header.flags.0 & 0x0F);
    let mut out = Vec::new();
    match header.kind {
        SegmentType::InitialData => {
            let id = InitialData::decode(body, header.order).unwrap();
            let mut writer = envelope.begin(&mut out, header.kind, flags);
            id.encode(writer.out(), header.order);
            writer.finish();
        }
        SegmentType::UseridData => {
            Userid::decode(body, header.order)
                .unwrap()
                .encode(&mut out, &envelope);
            // The length and type of a security identifier that is all zeros.
            let sid = scope.header_length() + 92;
            out[sid..sid + 2].copy_from_slice(&captured.bytes[sid..sid + 2]);
        }
        SegmentType::ConauthInfo => {
            Authentication::decode(body, header.order)
                .unwrap()
                .encode(&mut out, &envelope);
        }
        SegmentType::StatusData => match Status::decode(body, header.order).unwrap() {
            Some(status) if header.flags.has(Flags::FIRST) => {
                status.encode(&mut out, &envelope, flags);
            }
            Some(status) => status.encode_refusal(&mut out, &envelope),
            None => envelope.begin(&mut out, header.kind, flags).finish(),
        },
        SegmentType::Heartbeat => envelope.begin(&mut out, header.kind, flags).finish(),
        SegmentType::SocketAction => {
            let action = SocketAction::decode(body, header.order).unwrap();
            action.encode(&mut out, &framing, header.order, flags.has(Flags::CLOSE));
        }
        SegmentType::Notification => {
            let notification = Notification::decode(body, header.order).unwrap();
            notification.encode(&mut out, &envelope, flags);
        }
        SegmentType::RequestMsgs => {
            RequestMsgs::decode(body, header.order)
                .unwrap()
                .encode(&mut out, &envelope, flags);
        }
        SegmentType::AsyncMessage => {
            AsyncMessage::decode(body, header.order)
                .unwrap()
                .encode(&mut out, &envelope);
            // Which segment of the flow it is, is the sender's business.
            let at = scope.header_length() - 18;
            out[at] = captured.bytes[at];
        }
        _ => return None,
    }
    Some(out)
}

#[test]
fn everything_else_decodes_and_encodes_to_the_same_bytes() {
    let mut kinds = std::collections::BTreeSet::new();
    for captured in stream::all() {
        let header = segment(&captured).header;
        let (Some(out), Some(bare)) = (
            again(&captured, header.scope),
            again(&captured, Scope::Unshared),
        ) else {
            continue;
        };
        kinds.insert(header.kind.number());
        let length = bare.len() - HEADER + header.scope.header_length();
        let mut original = canonical(&captured.bytes, &header, length);
        let mut ours = canonical(&out, &header, length);
        assert!(out.len() - length < header.scope.alignment());
        assert!(captured.bytes.len() - length < 4, "{}", captured.name());
        if header.kind == SegmentType::InitialData {
            // A second proposal is cut and states the length of the first.
            let stated = header.scope.header_length() + 100;
            ours[stated..stated + 2].fill(0);
            original[stated..stated + 2].fill(0);
        }
        same(&ours, &original, &captured.name());
    }
    assert!(kinds.into_iter().eq([1, 5, 8, 9, 10, 12, 13, 14, 15]));
}

#[test]
fn compressed_requests_are_refused_by_name() {
    let mut refused = 0;
    for captured in stream::all()
        .iter()
        .filter(|c| compressed(c) && c.from_client)
    {
        let segment = segment(captured);
        if segment.header.flags2 != 0 {
            let result = Assembler::new(1 << 20, 1).accept(&segment).map(|_| ());
            assert_eq!(result, Err(PeerMisbehaved::CompressionNotAgreed));
            refused += 1;
        }
    }
    assert!(refused >= 4, "{refused}");
}

/// An offer with which our server answers as the captured one did.
fn offer_like(answer: &InitialData) -> Offer {
    let disputed = |bit: u8, value: u32, else_: u32| {
        if answer.error_flags & bit != 0 {
            value
        } else {
            else_
        }
    };
    Offer {
        fap_level: answer.fap_level,
        conversations: answer.conversations,
        ccsid: answer.ccsid,
        heartbeat_s: disputed(dispute::HEARTBEAT, answer.heartbeat_s, 0),
        max_transmission: disputed(
            dispute::TRANSMISSION_SIZE,
            answer.max_transmission,
            u32::MAX,
        ),
        max_message: disputed(dispute::MESSAGE_SIZE, answer.max_message, u32::MAX),
        q_mgr: answer.q_mgr,
        q_mgr_id: answer.q_mgr_id,
        product: answer.product,
        process_id: answer.process_id,
    }
}

/// Files whose negotiation cannot be replayed: reason.
const NOT_REPLAYED: [(&str, &str); 3] = [
    (
        "54-",
        "the server disputed the protocol level, which ours never needs to",
    ),
    ("60-", "the server refused"),
    ("7", "the client uses, or first offers, compression"),
];

#[test]
fn the_server_machine_follows_every_captured_client() {
    let mut sockets: BTreeMap<(String, u32), Vec<Captured>> = BTreeMap::new();
    for captured in stream::all() {
        let key = (captured.file.clone(), captured.socket);
        sockets.entry(key).or_default().push(captured);
    }
    let mut followed = 0;
    for ((file, _), captured) in sockets {
        let reason = NOT_REPLAYED
            .iter()
            .find(|(prefix, _)| file.starts_with(prefix));
        let first = segment(&captured[0]);
        if reason.is_some_and(|(prefix, _)| *prefix != "7" || !file.starts_with("75-"))
            || first.header.kind != SegmentType::InitialData
        {
            continue;
        }
        follow(&file, &captured);
        followed += 1;
    }
    assert!(followed >= 18, "{followed} sockets followed");
}

fn follow(file: &str, captured: &[Captured]) {
    let answer = captured
        .iter()
        .find(|c| !c.from_client)
        .map(segment)
        .unwrap();
    let offer = offer_like(&InitialData::decode(answer.body, answer.header.order).unwrap());
    let mut socket = ServerSocket::new();
    let mut requests = 0;
    for captured in captured.iter().filter(|c| c.from_client) {
        let segment = Segment::next(&captured.bytes, socket.limit())
            .unwrap_or_else(|e| panic!("{}: {e}", captured.name()))
            .unwrap();
        let mut out = Vec::new();
        match socket.receive(&segment, &mut out) {
            Ok(Some(Incoming::Proposed(_))) => {
                let agreed = socket.answer(&offer, &mut out).unwrap();
                let ours = Segment::next(&out, usize::MAX).unwrap().unwrap();
                assert_eq!(ours.header.flags.has(Flags::ERROR), agreed.is_none());
                assert_eq!(
                    ours.header.order, segment.header.order,
                    "the client's byte order"
                );
            }
            Ok(Some(Incoming::Request {
                header, request, ..
            })) => {
                requests += 1;
                if matches!(request, Request::Conn(_)) {
                    socket.connected(header.scope.conversation());
                }
            }
            Ok(_) => {}
            Err(error) => panic!("{}: {error}", captured.name()),
        }
    }
    assert!(requests > 0, "{file}");
    assert_eq!(socket.kept(), 0, "{file}: nothing is left unfinished");
}

#[test]
fn negotiation_answers_the_captured_proposals() {
    // What a server that wants 300 s, 32,766 bytes and 4 MB says to a Java client that proposes 1 s and 100 MB.
    let offer = Offer {
        max_message: 4 << 20,
        heartbeat_s: 300,
        ..posthaste_wire::fuzzing::offer()
    };
    let captured = stream::all()
        .into_iter()
        .find(|c| c.file.starts_with("01-"))
        .unwrap();
    let mut socket = ServerSocket::new();
    let mut out = Vec::new();
    let first = segment(&captured);
    assert!(matches!(
        socket.receive(&first, &mut out),
        Ok(Some(Incoming::Proposed(_)))
    ));
    assert_eq!(
        socket.answer(&offer, &mut out),
        Ok(None),
        "the heartbeat is disputed"
    );
    let answer = Segment::next(&out, usize::MAX).unwrap().unwrap();
    let id = InitialData::decode(answer.body, ByteOrder::Big).unwrap();
    assert_eq!(answer.header.flags.0, 0x32);
    assert_eq!(id.error_flags, dispute::HEARTBEAT | dispute::MESSAGE_SIZE);
    assert_eq!(
        (id.heartbeat_s, id.max_message, id.fap_level),
        (300, 4 << 20, 12)
    );
    assert_eq!((id.conversations, id.max_transmission), (10, 32_748));

    // The client's second proposal, as it is known to send it: adjusted, cut to the level, under TSHM.
    let mut second = InitialData::decode(first.body, ByteOrder::Big).unwrap();
    second.heartbeat_s = 300;
    second.max_message = 4 << 20;
    let framing = Framing {
        shared: true,
        max_transmission: 32_748,
        ccsid: 819,
    };
    let envelope = Envelope::conversation(framing, ByteOrder::Big, 1);
    let mut bytes = Vec::new();
    let mut writer = envelope.begin(&mut bytes, SegmentType::InitialData, Flags::CONFIRM);
    second.encode(writer.out(), ByteOrder::Big);
    writer.finish();
    let again = Segment::next(&bytes, usize::MAX).unwrap().unwrap();
    out.clear();
    assert!(matches!(
        socket.receive(&again, &mut out),
        Ok(Some(Incoming::Proposed(_)))
    ));
    let agreement = socket.answer(&offer, &mut out).unwrap().expect("agreed");
    assert_eq!(
        (agreement.heartbeat_s, agreement.max_message),
        (300, 4 << 20)
    );
    assert_eq!((agreement.conversations, agreement.fap_level), (10, 12));
    let answer = Segment::next(&out, usize::MAX).unwrap().unwrap();
    assert_eq!(answer.header.flags.0, 0x30);
    assert_eq!(answer.header.scope, again.header.scope);
    assert_eq!(agreement.framing().max_transmission, 32_748);
}
