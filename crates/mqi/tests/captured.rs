//! Structures as real clients send them over the client channel protocol: 4-byte pointers,
//! in the byte order of the connection. Each file under `data/` is one request's body.

// Test helpers outside #[test] functions may fail the test by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use posthaste_mqi::constants::*;
use posthaste_mqi::{
    ByteOrder, Chars, Gmo, Md, Name, Od, Pmo, PointerSize, ResponseRecord, Rfh2, Sts,
};

const WIRE: PointerSize = PointerSize::Four;

/// The bytes of a data file: comment lines start with `#`, the others are hex digits.
fn bytes_of(file: &str) -> Vec<u8> {
    let digits: Vec<u32> = file
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| line.chars().map(|c| c.to_digit(16).expect("a hex digit")))
        .collect();
    assert_eq!(digits.len() % 2, 0);
    digits
        .chunks(2)
        .map(|pair| (pair[0] * 16 + pair[1]) as u8)
        .collect()
}

macro_rules! data {
    ($name:literal) => {
        bytes_of(include_str!(concat!("data/", $name)))
    };
}

/// Takes structures from the front of a body, and checks that each writes back the very
/// bytes it was read from.
struct Body {
    bytes: Vec<u8>,
    order: ByteOrder,
}

macro_rules! take {
    ($body:ident, $type:ty) => {{
        let (value, used) = <$type>::decode(&$body.bytes, $body.order, WIRE).unwrap();
        let mut written = Vec::new();
        value.encode(&mut written, $body.order, WIRE);
        assert_eq!(
            written,
            $body.bytes[..used],
            "{} writes back",
            stringify!($type)
        );
        $body.bytes.drain(..used);
        value
    }};
}

impl Body {
    fn new(bytes: Vec<u8>, order: ByteOrder) -> Self {
        Self { bytes, order }
    }

    fn long(&mut self) -> i32 {
        let value = self.order.get_i32(&self.bytes, 0).unwrap();
        self.bytes.drain(..4);
        value
    }
}

#[test]
fn put_of_a_jms_text_message() {
    let mut body = Body::new(data!("jms-put.hex"), ByteOrder::Big);
    let md = take!(body, Md);
    assert_eq!(
        md,
        Md {
            version: 1,
            msg_type: MQMT_DATAGRAM,
            expiry: MQEI_UNLIMITED,
            encoding: 273,
            coded_char_set_id: 1208,
            format: Chars::new(MQFMT_RF_HEADER_2),
            priority: 4,
            persistence: MQPER_PERSISTENT,
            correl_id: *b"mycorr\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            ..md.clone()
        }
    );
    assert_eq!(md.msg_id, MQMI_NONE);
    assert!(md.reply_to_q.is_blank() && md.user_identifier.is_blank());
    let pmo = take!(body, Pmo);
    assert_eq!(pmo.version, 2);
    assert_eq!(
        pmo.options,
        MQPMO_NO_SYNCPOINT | MQPMO_NEW_MSG_ID | MQPMO_FAIL_IF_QUIESCING | MQPMO_SYNC_RESPONSE
    );
    assert_eq!(body.long(), 225);
    let order = ByteOrder::of_encoding(md.encoding).unwrap();
    assert_eq!(order, body.order);
    let rfh2 = take!(body, Rfh2);
    assert_eq!(rfh2.format, Chars::new(MQFMT_STRING));
    assert_eq!(
        (rfh2.encoding, rfh2.coded_char_set_id, rfh2.name_value_ccsid),
        (273, 1208, 1208)
    );
    assert_eq!(rfh2.folder("mcd"), Some("<mcd><Msd>jms_text</Msd></mcd>"));
    assert_eq!(
        rfh2.folder("usr"),
        Some("<usr><color>red</color><n dt='i4'>7</n></usr>")
    );
    assert_eq!(rfh2.folders.len(), 3);
    assert_eq!(body.bytes, b"hello jms");
}

#[test]
fn get_of_a_jms_receive() {
    let mut body = Body::new(data!("jms-get.hex"), ByteOrder::Big);
    let md = take!(body, Md);
    assert_eq!(
        (md.version, md.msg_seq_number, md.original_length),
        (2, 1, 0)
    );
    let gmo = take!(body, Gmo);
    assert_eq!((gmo.version, gmo.wait_interval), (3, 700));
    assert_eq!(
        gmo.options,
        MQGMO_WAIT
            | MQGMO_SYNCPOINT_IF_PERSISTENT
            | MQGMO_FAIL_IF_QUIESCING
            | MQGMO_PROPERTIES_FORCE_MQRFH2
    );
    assert_eq!(body.long(), 4096);
    assert!(body.bytes.is_empty());
}

#[test]
fn put_and_get_of_a_little_endian_connection() {
    let mut body = Body::new(data!("put-little-endian.hex"), ByteOrder::Little);
    let md = take!(body, Md);
    assert_eq!(
        (md.version, md.priority, md.persistence),
        (2, MQPRI_PRIORITY_AS_Q_DEF, MQPER_PERSISTENCE_AS_Q_DEF)
    );
    let pmo = take!(body, Pmo);
    assert_eq!(pmo.version, 2);
    let length = body.long();
    assert_eq!(usize::try_from(length).unwrap(), body.bytes.len());

    let mut body = Body::new(data!("get-little-endian.hex"), ByteOrder::Little);
    assert_eq!(take!(body, Md).version, 2);
    let gmo = take!(body, Gmo);
    assert_eq!((gmo.version, gmo.wait_interval), (4, 2000));
    assert_eq!(body.long(), 4096);
    assert!(body.bytes.is_empty());
}

#[test]
fn put_with_context_and_group() {
    let mut body = Body::new(data!("put-group.hex"), ByteOrder::Big);
    let md = take!(body, Md);
    assert_eq!(
        md,
        Md {
            version: 2,
            report: MQRO_EXPIRATION | MQRO_COA,
            msg_type: MQMT_REQUEST,
            expiry: 300,
            encoding: 273,
            coded_char_set_id: 819,
            msg_id: *b"MSGID-0123456789ABCDEFGH",
            reply_to_q: Name::new("R1"),
            user_identifier: Chars::new("bob"),
            group_id: *b"GROUPID-0123456789ABCDEF",
            msg_seq_number: 1,
            msg_flags: MQMF_LAST_MSG_IN_GROUP | MQMF_MSG_IN_GROUP,
            ..Md::default()
        }
    );
    assert_eq!(
        take!(body, Pmo).options,
        MQPMO_SET_ALL_CONTEXT | MQPMO_NO_SYNCPOINT | MQPMO_SYNC_RESPONSE
    );
    assert!(body.bytes.is_empty());
}

#[test]
fn open_of_a_queue_with_a_selector() {
    let bytes = data!("open-selector.hex");
    let (od, used) = Od::decode(&bytes, ByteOrder::Big, WIRE).unwrap();
    assert_eq!(used, bytes.len());
    assert_eq!(
        od,
        Od {
            version: 4,
            object_name: Name::new("Q1"),
            selection_string: "color='red' AND JMSPriority>=4".into(),
            ..Od::default()
        }
    );
}

#[test]
fn put1_to_a_topic_goes_on_behind_the_string() {
    let bytes = data!("put1-topic.hex");
    let (od, used) = Od::decode(&bytes, ByteOrder::Big, WIRE).unwrap();
    assert_eq!((od.version, od.object_type, used), (4, MQOT_TOPIC, 404));
    assert_eq!(od.object_string, "a/b");
    assert!(od.object_name.is_blank());
    let mut body = Body::new(bytes[used..].to_vec(), ByteOrder::Big);
    assert_eq!(take!(body, Md).version, 2);
    assert_eq!(take!(body, Pmo).version, 2);
    assert_eq!(body.long(), 0);
    assert!(body.bytes.is_empty());
}

#[test]
fn put1_to_a_queue() {
    let mut body = Body::new(data!("put1-queue.hex"), ByteOrder::Big);
    let od = take!(body, Od);
    assert_eq!(
        od,
        Od {
            object_name: Name::new("Q1"),
            ..Od::default()
        }
    );
    assert_eq!(take!(body, Md).version, 2);
    assert_eq!(take!(body, Pmo).version, 2);
}

#[test]
fn open_of_a_distribution_list() {
    let bytes = data!("open-list.hex");
    let (od, used) = Od::decode(&bytes, ByteOrder::Big, WIRE).unwrap();
    assert_eq!((od.version, used), (2, bytes.len()));
    assert_eq!(
        (
            od.recs_present,
            od.object_rec_offset,
            od.response_rec_offset
        ),
        (2, 200, 392)
    );
    let records = od.records.unwrap();
    let names = records.objects.iter().map(|object| object.object_name);
    assert_eq!(
        names.collect::<Vec<_>>(),
        [Name::new("Q1"), Name::new("Q2")]
    );
    assert_eq!(records.responses, [ResponseRecord::default(); 2]);
}

#[test]
fn status_of_asynchronous_puts() {
    let bytes = data!("stat.hex");
    let (sts, used) = Sts::decode(&bytes, ByteOrder::Big, WIRE).unwrap();
    assert_eq!((sts.version, used), (1, 224));
    assert_eq!(
        (
            sts.put_success_count,
            sts.put_warning_count,
            sts.put_failure_count
        ),
        (0, 0, 0)
    );
    assert!(sts.object_name.is_blank() && sts.resolved_q_mgr_name.is_blank());
}
