//! Prepared requests are what encoding anew gives, and fields of replies are those that decoding gives.

use posthaste_mqi::{Gmo, Hobj, Md, Name, Pmo, Reason};
use posthaste_wire::client::{Arrival, ClientGet, ClientPut};
use posthaste_wire::prepared::{PreparedGet, PreparedPut};
use posthaste_wire::reply::Answer;
use posthaste_wire::server::Incoming;
use posthaste_wire::{Envelope, Outcome, Reply, Segment};

use crate::pair::{Pair, client_offer, kinds};

#[test]
fn a_prepared_put_is_what_encoding_gives() {
    for (client, offer) in kinds() {
        let mut pair = Pair::new(&client, offer);
        let id = pair.connect();
        for same in [true, false] {
            for length in [0, 700, 701, 40_000, 40_003] {
                let mut prepared = match same {
                    true => PreparedPut::of_same_data(),
                    false => PreparedPut::default(),
                };
                for round in 0..3_u8 {
                    let md = Md {
                        correl_id: [round; 24],
                        ..Md::default()
                    };
                    let data = vec![if same { 9 } else { round }; length];
                    let put = ClientPut {
                        handle: Hobj(i32::from(round)),
                        md: &md,
                        pmo: &Pmo::default(),
                        data: &data,
                        answered: false,
                    };
                    let (mut quick, mut anew) = (Vec::new(), Vec::new());
                    let client = &mut pair.client;
                    client
                        .put_prepared(&mut quick, id, &mut prepared, &put)
                        .unwrap();
                    client.put(&mut anew, id, &put);
                    assert!(quick == anew, "{same} {length} {round}");
                }
            }
        }
    }
}

#[test]
fn a_prepared_get_is_what_encoding_gives() {
    for (client, offer) in kinds() {
        let mut pair = Pair::new(&client, offer);
        let id = pair.connect();
        let mut prepared = PreparedGet::default();
        for (round, wait_interval, buffer_length) in [
            (1_u8, 5, 100),
            (2, 5, 100),
            (3, 6, 100),
            (4, 6, 101),
            (5, 5, 100),
        ] {
            let md = Md {
                correl_id: [round; 24],
                ..Md::default()
            };
            let gmo = Gmo {
                wait_interval,
                ..Gmo::default()
            };
            let get = ClientGet {
                handle: Hobj(i32::from(round)),
                md: &md,
                gmo: &gmo,
                buffer_length,
            };
            let (mut quick, mut anew) = (Vec::new(), Vec::new());
            let client = &mut pair.client;
            client
                .get_prepared(&mut quick, id, &mut prepared, &get)
                .unwrap();
            client.get(&mut anew, id, get.handle, &md, &gmo, buffer_length);
            assert!(quick == anew, "{round}");
        }
    }
}

/// What the server gives for a get of `data`, taken as it comes.
fn got(
    pair: &mut Pair,
    id: u32,
    data: &[u8],
    check: impl Fn(&posthaste_wire::client::ReplyFlow<'_>),
) {
    let (client, out) = (&mut pair.client, &mut pair.to_server);
    client.get(out, id, Hobj(5), &Md::default(), &Gmo::default(), 65_536);
    let Some(Incoming::Request { header, .. }) = pair.serve().unwrap().pop() else {
        panic!("no request")
    };
    let md = Md {
        version: 2,
        msg_id: [3; 24],
        correl_id: [4; 24],
        reply_to_q: Name::new("REPLIES"),
        reply_to_q_mgr: Name::new("QM2"),
        ..Md::default()
    };
    let answer = Answer::Get {
        md: &md,
        gmo: &Gmo::default(),
        length: data.len(),
        data,
    };
    let envelope = Envelope::answering(pair.server.framing(), &header);
    let done = Outcome::done(Hobj(5), Reason::NONE);
    answer.encode(&mut pair.to_client, &envelope, header.kind, &done);
    let bytes = std::mem::take(&mut pair.to_client);
    let (mut rest, mut replies) = (bytes.as_slice(), 0);
    while let Some(segment) = Segment::next(rest, pair.client.limit()).unwrap() {
        match pair.client.arrival(&segment, &mut pair.to_server).unwrap() {
            Some(Arrival::Reply(flow)) => {
                check(&flow);
                replies += 1;
            }
            None => {}
            Some(other) => panic!("{other:?}"),
        }
        rest = &rest[segment.length..];
    }
    assert_eq!(replies, 1);
}

#[test]
fn fields_of_a_reply_are_those_that_decoding_gives() {
    for (client, offer) in kinds() {
        let mut pair = Pair::new(&client, offer);
        let id = pair.connect();
        for length in [0, 500, 501, 60_000, 60_001] {
            let data: Vec<u8> = (0..length).map(|i: u32| (i % 251) as u8).collect();
            got(&mut pair, id, &data, |flow| {
                let (outcome, reply) = flow.decode().unwrap();
                assert_eq!(flow.outcome().unwrap(), outcome);
                let Reply::Get(decoded) = reply else {
                    panic!("{reply:?}")
                };
                let fields = flow.got().unwrap();
                assert_eq!(fields.msg_id, decoded.md.msg_id);
                assert_eq!(fields.correl_id, decoded.md.correl_id);
                assert_eq!(fields.reply_to_q, decoded.md.reply_to_q);
                assert_eq!(fields.reply_to_q_mgr, decoded.md.reply_to_q_mgr);
                assert_eq!((fields.length, fields.came), (decoded.length, data.len()));
                assert_eq!(fields.data, &decoded.data[..]);
            });
        }
    }
}

#[test]
fn a_client_that_keeps_no_data_still_counts_it() {
    let offer = posthaste_wire::fuzzing::offer();
    let mut pair = Pair::new(&client_offer(), offer);
    let id = pair.connect();
    pair.client.keep_no_data();
    got(&mut pair, id, &vec![7; 60_001], |flow| {
        let fields = flow.got().unwrap();
        assert_eq!((fields.length, fields.came), (60_001, 60_001));
        assert!(fields.data.len() < 10_000, "{}", fields.data.len());
        assert_eq!(fields.correl_id, [4; 24]);
    });
}
