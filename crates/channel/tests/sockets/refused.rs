//! What is not served is refused with a reason, and an older client is served as it expects.

use posthaste_mqi::constants::{
    MQENC_INTEGER_NORMAL, MQGMO_NO_SYNCPOINT, MQGMO_PROPERTIES_COMPATIBILITY,
    MQGMO_PROPERTIES_FORCE_MQRFH2, MQGMO_PROPERTIES_IN_HANDLE, MQOO_INPUT_SHARED, MQOO_OUTPUT,
    MQPMO_NO_SYNCPOINT, MQPMRF_MSG_ID,
};
use posthaste_mqi::{
    ByteOrder, Chars, CompCode, Hobj, Md, Name, ObjectRecord, ObjectRecords, Od, Pmo, PointerSize,
    PutRecord, PutRecords, Reason, ResponseRecord, Rfh2,
};
use posthaste_wire::client::ClientPut;
use posthaste_wire::request::{OpenDefaults, OpenRequest, Put1Request, PutRequest};
use posthaste_wire::segment::SegmentType;
use posthaste_wire::spi::{SpiOpen, SpiPut, SpiReply, SpiRequest};
use posthaste_wire::stream::Notification;
use posthaste_wire::{ApiHeader, Envelope, Flags, Reply, Request, Status};
use tokio::net::TcpStream;

use crate::client::{Client, Fate};
use crate::world::World;

type Raw = Client<TcpStream>;

fn selecting(selection: &str) -> Od {
    Od {
        version: 4,
        object_name: Name::new("Q1"),
        selection_string: selection.to_owned(),
        ..Od::default()
    }
}

fn spi_open(od: &Od) -> Request {
    Request::Spi(SpiRequest::Open(Box::new(SpiOpen {
        options: MQOO_INPUT_SHARED,
        lpi_options: 3,
        defaults: OpenDefaults::default(),
        od: od.clone(),
    })))
}

#[tokio::test]
async fn a_selector_reaches_the_queue_manager_by_every_verb_that_takes_one() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q1").await;
    for priority in [2, 5, 7] {
        let md = Md {
            priority,
            ..Md::default()
        };
        let put = client.try_put(queue, &md, MQPMO_NO_SYNCPOINT, b"one").await;
        assert_eq!(put.map(drop), Ok(()));
    }
    for (selection, reason) in [
        ("this is ((( not SQL", Reason::SELECTOR_SYNTAX_ERROR),
        ("TRUE = FALSE", Reason::SELECTOR_ALWAYS_FALSE),
    ] {
        let od = selecting(selection);
        let (outcome, _) = client.try_open(od.clone(), MQOO_INPUT_SHARED).await;
        assert_eq!(
            (outcome.reason, outcome.comp_code),
            (reason, CompCode::Failed)
        );
        let (outcome, _) = client.call(Hobj::UNUSABLE, &spi_open(&od)).await;
        assert_eq!(
            (outcome.reason, outcome.comp_code),
            (reason, CompCode::Failed)
        );
    }
    let od = selecting("JMSPriority BETWEEN 4 AND 6");
    let put1 = Request::Put1(Box::new(Put1Request {
        od: od.clone(),
        md: Md::default(),
        pmo: Pmo::default(),
        data: b"never".to_vec().into(),
    }));
    let (outcome, _) = client.call(Hobj::NONE, &put1).await;
    assert_eq!(outcome.reason, Reason::SELECTOR_INVALID_FOR_TYPE);
    assert_eq!(world.depth("Q1"), 3, "nothing was taken or put");
    let (outcome, _) = client.try_open(od.clone(), MQOO_INPUT_SHARED).await;
    assert_eq!(outcome.comp_code, CompCode::Ok);
    let got = client.get(outcome.handle, MQGMO_NO_SYNCPOINT, 0).await;
    assert_eq!(got.map(|got| got.md.priority), Ok(5));
    let (outcome, _) = client.call(Hobj::UNUSABLE, &spi_open(&od)).await;
    assert_eq!(outcome.comp_code, CompCode::Ok);
    let got = client.get(outcome.handle, MQGMO_NO_SYNCPOINT, 0).await;
    assert_eq!(got.map(drop), Err(Reason::NO_MSG_AVAILABLE));
    assert_eq!(world.depth("Q1"), 2);
}

#[tokio::test]
async fn properties_cannot_be_taken_off_a_message() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q1").await;
    client.put(queue, MQPMO_NO_SYNCPOINT, b"kept").await;
    let option = MQGMO_PROPERTIES_IN_HANDLE;
    let got = client.get(queue, MQGMO_NO_SYNCPOINT | option, 0).await;
    assert_eq!(got.map(|got| got.length), Err(Reason::HMSG_ERROR));
    assert_eq!(world.depth("Q1"), 1);
    for option in [
        MQGMO_PROPERTIES_FORCE_MQRFH2,
        MQGMO_PROPERTIES_COMPATIBILITY,
    ] {
        client
            .get(queue, MQGMO_NO_SYNCPOINT | option, 0)
            .await
            .unwrap();
        client.put(queue, MQPMO_NO_SYNCPOINT, b"again").await;
    }
}

/// Clients older than version 7 end MQOPEN with its options, and expect its reply to end there too.
#[tokio::test]
async fn an_older_client_opens_without_fopa() {
    let world = World::new().await;
    let mut client = world.client().await;
    let open = OpenRequest {
        od: Od {
            object_name: Name::new("A1"),
            ..Od::default()
        },
        options: MQOO_OUTPUT | MQOO_INPUT_SHARED,
        defaults: None,
    };
    let request = Request::Open(Box::new(open));
    let (outcome, reply) = client.call(Hobj::NONE, &request).await;
    assert_eq!(outcome.comp_code, CompCode::Ok);
    let Reply::Open(open) = reply else {
        panic!("{reply:?}")
    };
    assert_eq!(open.defaults, None);
    client
        .put(outcome.handle, MQPMO_NO_SYNCPOINT, b"served")
        .await;
    assert_eq!(world.depth("Q1"), 1);
}

/// The bytes of an MQPUT whose options have records of a distribution list behind them.
fn put_with_records(client: &Raw, handle: Hobj, fields: i32) -> Vec<u8> {
    let (mut bytes, framing) = (Vec::new(), client.socket.agreement().unwrap().framing());
    let order = posthaste_mqi::ByteOrder::Little;
    let envelope = Envelope::conversation(framing, order, client.id);
    let mut writer = envelope.begin(&mut bytes, SegmentType::Put, Flags::NONE);
    ApiHeader {
        reply_length: 4_096,
        comp_code: 0,
        reason: Reason::NONE,
        handle,
    }
    .encode(writer.out(), order);
    Md::default().encode(writer.out(), order, PointerSize::Four);
    let pmo = Pmo {
        version: 2,
        recs_present: 2,
        put_msg_rec_fields: fields,
        put_msg_rec_offset: 152,
        ..Pmo::default()
    };
    pmo.encode(writer.out(), order, PointerSize::Four);
    writer.bytes(&[0xAA; 48]);
    writer.u32(5);
    writer.bytes(b"never");
    writer.finish();
    bytes
}

#[tokio::test]
async fn records_that_go_with_no_list_are_refused_and_the_connection_goes_on() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q1").await;
    for (fields, reason) in [
        (MQPMRF_MSG_ID, Reason::RECS_PRESENT_ERROR),
        (0x20, Reason::PMO_RECORD_FLAGS_ERROR),
        // More of them than have come.
        (0x1F, Reason::PUT_MSG_RECORDS_ERROR),
    ] {
        let bytes = put_with_records(&client, queue, fields);
        // The client's side awaits a reply to this put, but other bytes are sent.
        let (mut unsent, md, pmo) = (Vec::new(), Md::default(), Pmo::default());
        let put = ClientPut {
            handle: queue,
            md: &md,
            pmo: &pmo,
            data: b"",
            answered: true,
        };
        client.socket.put(&mut unsent, client.id, &put);
        client.out.extend_from_slice(&bytes);
        let (outcome, _) = client.reply(client.id).await;
        assert_eq!(outcome.reason, reason);
    }
    client.put(queue, MQPMO_NO_SYNCPOINT, b"alone").await;
    assert_eq!(world.depth("Q1"), 1);
}

/// A list as IBM's base classes open it and put to it; the second of its queues is not there.
#[tokio::test]
async fn a_distribution_list_is_answered_with_a_reason_for_each_queue() {
    let world = World::new().await;
    let mut client = world.client().await;
    let names = ["Q1", "NOT.THERE"];
    let od = Od {
        version: 2,
        recs_present: 2,
        records: Some(Box::new(ObjectRecords {
            objects: names
                .map(|name| ObjectRecord {
                    object_name: Name::new(name),
                    ..ObjectRecord::default()
                })
                .to_vec(),
            responses: vec![ResponseRecord::default(); 2],
        })),
        ..Od::default()
    };
    let open = Request::Spi(SpiRequest::Open(Box::new(SpiOpen {
        options: MQOO_OUTPUT,
        lpi_options: 0,
        defaults: OpenDefaults::default(),
        od: od.clone(),
    })));
    let (outcome, reply) = client.call(Hobj::UNUSABLE, &open).await;
    assert_eq!(
        (outcome.comp_code, outcome.reason),
        (CompCode::Warning, Reason::MULTIPLE_REASONS)
    );
    let Reply::Spi(SpiReply::Open(opened)) = reply else {
        panic!("{reply:?}")
    };
    assert_eq!(opened.od.invalid_dest_count, 1);
    let responses = &opened.od.records.as_ref().unwrap().responses;
    assert_eq!(responses[1].reason, Reason::UNKNOWN_OBJECT_NAME);
    let pmo = Pmo {
        version: 2,
        recs_present: 2,
        put_msg_rec_fields: MQPMRF_MSG_ID,
        records: Some(Box::new(PutRecords {
            records: vec![PutRecord::default(); 2],
            responses: vec![ResponseRecord::default(); 2],
        })),
        ..Pmo::default()
    };
    let put = Request::Put(Box::new(PutRequest {
        md: Md::default(),
        pmo: pmo.clone(),
        data: b"to all".to_vec().into(),
    }));
    let (outcome, reply) = client.call(outcome.handle, &put).await;
    assert_eq!(outcome.reason, Reason::MULTIPLE_REASONS);
    let Reply::Put { pmo: put, .. } = reply else {
        panic!("{reply:?}")
    };
    let records = put.records.unwrap();
    assert_ne!(records.records[0].msg_id, [0; 24]);
    assert_eq!(records.records[1].msg_id, [0; 24]);
    assert_eq!(records.responses[1].reason, Reason::OPEN_FAILED);
    assert_eq!(world.depth("Q1"), 1);
    let put1 = Request::Put1(Box::new(Put1Request {
        od,
        md: Md::default(),
        pmo,
        data: b"again".to_vec().into(),
    }));
    let (outcome, reply) = client.call(Hobj::NONE, &put1).await;
    assert_eq!(outcome.reason, Reason::MULTIPLE_REASONS);
    assert!(matches!(reply, Reply::Put1(_)));
    assert_eq!(world.depth("Q1"), 2);
}

#[tokio::test]
async fn the_second_interface_offers_what_it_serves() {
    let world = World::new().await;
    let mut client = world.client().await;
    let query = Request::Spi(SpiRequest::Query { max_reply: 256 });
    let (_, reply) = client.call(Hobj::NONE, &query).await;
    assert!(matches!(reply, Reply::Spi(SpiReply::Query(verbs)) if verbs == [1, 2, 6, 7, 11, 12]));
    for verb in [4, 5] {
        let other = Request::Spi(SpiRequest::Other { verb });
        let (outcome, _) = client.call(Hobj::NONE, &other).await;
        assert_eq!(outcome.reason, Reason::FUNCTION_NOT_SUPPORTED, "{verb}");
    }
}

#[tokio::test]
async fn a_put_of_the_second_interface_is_delayed_if_the_message_says_so() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q1").await;
    for (folder, depths) in [
        ("<mqext><Dly>3600000</Dly></mqext>", [0, 1]),
        ("<usr><Dly>3600000</Dly></usr>", [1, 1]),
    ] {
        let header = Rfh2 {
            folders: vec![folder.to_owned()],
            ..Rfh2::default()
        };
        let mut data = Vec::new();
        header.encode(&mut data, ByteOrder::Big, PointerSize::Four);
        let put = Request::Spi(SpiRequest::Put(Box::new(SpiPut {
            md: Md {
                version: 1,
                format: Chars::new("MQHRF2"),
                encoding: MQENC_INTEGER_NORMAL,
                ..Md::default()
            },
            pmo: Pmo {
                options: MQPMO_NO_SYNCPOINT,
                ..Pmo::default()
            },
            options: 0,
            data: data.into(),
        })));
        let (outcome, reply) = client.call(queue, &put).await;
        assert_eq!(outcome.reason, Reason::NONE);
        let Reply::Spi(SpiReply::Put(put)) = reply else {
            panic!("{reply:?}")
        };
        assert_ne!(put.0.msg_id, [0; 24]);
        let staging = "SYSTEM.DDELAY.LOCAL.QUEUE";
        assert_eq!([world.depth("Q1"), world.depth(staging)], depths);
    }
}

/// Compression is never agreed; what claims to be compressed is not read as if it were not.
#[tokio::test]
async fn a_compressed_notification_ends_the_channel() {
    let world = World::new().await;
    let mut client = world.client().await;
    let framing = client.socket.agreement().unwrap().framing();
    let envelope = Envelope::conversation(framing, posthaste_mqi::ByteOrder::Little, client.id);
    let start = client.out.len();
    let notification = Notification {
        handle: Hobj::NONE,
        code: Notification::CONN_STATE,
        value: 0,
    };
    notification.encode(&mut client.out, &envelope, Flags::NONE);
    client.out[start + 19] = 1;
    assert_eq!(client.fate().await, Fate::Ended(Status::PROTOCOL_ERROR));
    world.admission.empty().await;
    let [_, _, why] = &world.operator.inserts("AMQ9504E")[..] else {
        panic!("three inserts")
    };
    assert!(why.contains("compressed"), "{why}");
}
