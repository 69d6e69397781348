//! Messages that a client has delayed: of any length, in a unit of work and outside, and never before their time.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails by a panic, in its helpers too"
)]

mod qm1;

use std::time::{Duration, Instant};

use posthaste_client::{Address, ClientError, Connect, Connection};
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Gmo, Hobj, Md, Name, Od, Pmo, PointerSize, Reason, Rfh2};
use posthaste_server::{DataDir, InProcess, InProcessOptions, create};

const QUEUE: &str = "DEV.QUEUE.1";
/// Milliseconds that messages are delayed.
const DELAY: u64 = 50;

fn delayed(data: &[u8]) -> Vec<u8> {
    let header = Rfh2 {
        folders: vec![format!("<mqext><Dly>{DELAY}</Dly></mqext>")],
        ..Rfh2::default()
    };
    let mut out = Vec::new();
    header.encode(&mut out, ByteOrder::Big, PointerSize::Four);
    out.extend_from_slice(data);
    out
}

fn put(client: &mut Connection, queue: Hobj, unit: i32, data: Vec<u8>) -> Result<Md, ClientError> {
    let mut md = Md {
        format: Chars::new("MQHRF2"),
        encoding: MQENC_INTEGER_NORMAL,
        ..Md::default()
    };
    let mut pmo = Pmo {
        options: unit | MQPMO_NEW_MSG_ID,
        ..Pmo::default()
    };
    client.put_delayed(queue, &mut md, &mut pmo, data.into())?;
    Ok(md)
}

#[test]
fn what_a_client_delays_comes_later_and_whole() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::at(folder.path());
    create(
        &posthaste_env::os(),
        &data,
        &qm1::creation(),
        &mut |_, _| {},
    )
    .unwrap();
    let options = InProcessOptions {
        listen: true,
        port: Some(0),
        host: Some("127.0.0.1".to_owned()),
        ..InProcessOptions::default()
    };
    let qm = InProcess::open(&data, "QM1", &options).unwrap();
    let address = Address::Tcp {
        host: "127.0.0.1".to_owned(),
        port: qm.listening()[0].address.port(),
    };
    let mut client = Connection::open(&Connect::new(address, "DEV.APP.SVRCONN", "QM1")).unwrap();
    let mut od = Od {
        object_name: Name::new(QUEUE),
        ..Od::default()
    };
    let options = MQOO_OUTPUT | MQOO_INPUT_SHARED;
    let queue = client.open_object(&mut od, options).unwrap().value;
    for (unit, length) in [
        (MQPMO_NO_SYNCPOINT, 0),
        // Longer than what goes over the channel at once.
        (MQPMO_NO_SYNCPOINT, 300_000),
        (MQPMO_SYNCPOINT, 2_000),
    ] {
        let body = vec![0xA5; length];
        let begun = Instant::now();
        let md = put(&mut client, queue, unit, delayed(&body)).unwrap();
        assert_ne!(md.msg_id, [0; 24], "it comes back filled");
        client.commit().unwrap();
        let mut gmo = Gmo {
            options: MQGMO_NO_SYNCPOINT | MQGMO_WAIT,
            wait_interval: 60_000,
            ..Gmo::default()
        };
        let mut got_md = Md::default();
        let got = client.get(queue, &mut got_md, &mut gmo, 1 << 20).unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(DELAY), "{length}");
        assert_eq!(got_md.msg_id, md.msg_id);
        assert!(got.value.data.ends_with(&body), "{length}");
    }
    // What is too long for the channel is refused here, and nothing is broken by it.
    let long = delayed(&vec![0; 5 << 20]);
    let refused = put(&mut client, queue, MQPMO_NO_SYNCPOINT, long);
    assert_eq!(refused.unwrap_err().reason(), Reason::DATA_LENGTH_ERROR);
    put(&mut client, queue, MQPMO_NO_SYNCPOINT, delayed(b"x")).unwrap();
}
