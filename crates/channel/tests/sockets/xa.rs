//! The verbs of a resource manager (XA) through a channel: what is returned for each flag and at each stage.

use posthaste_engine::Outcome;
use posthaste_env::block_on;
use posthaste_mqi::constants::{
    MQGMO_NO_SYNCPOINT, MQGMO_SYNCPOINT, MQPMO_NO_SYNCPOINT, MQPMO_SYNCPOINT,
};
use posthaste_mqi::xa::*;
use posthaste_mqi::{Hobj, Reason, Xid};
use posthaste_wire::xa::{XaReply, XaRequest, XaVerb};
use posthaste_wire::{Reply, Request};
use tokio::net::TcpStream;

use crate::client::Client;
use crate::world::World;

type Raw = Client<TcpStream>;

fn xid(n: u8) -> Xid {
    Xid::new(7, &[n; 12], &[n, 1]).unwrap()
}

async fn call(client: &mut Raw, verb: XaVerb, flags: u32) -> XaReply {
    let request = XaRequest {
        flags,
        resource_manager: 3,
        verb,
    };
    match client
        .call(Hobj::NONE, &Request::Xa(Box::new(request)))
        .await
    {
        (_, Reply::Xa(reply)) => {
            assert_eq!((reply.flags, reply.resource_manager), (flags, 3));
            reply
        }
        other => panic!("{other:?}"),
    }
}

async fn xa(client: &mut Raw, verb: XaVerb, flags: u32) -> i32 {
    call(client, verb, flags).await.returned
}

fn open(info: &str) -> XaVerb {
    let info = info.as_bytes().to_vec();
    XaVerb::Open { info }
}

async fn opened(world: &World) -> Raw {
    let mut client = world.client().await;
    assert_eq!(xa(&mut client, open("QM1"), TMNOFLAGS).await, XA_OK);
    client
}

/// A branch with a message that it has put on Q3, its work done.
async fn done(client: &mut Raw, n: u8, text: &[u8]) {
    let queue = client.open("Q3").await;
    assert_eq!(xa(client, XaVerb::Start(xid(n)), TMNOFLAGS).await, XA_OK);
    client.put(queue, MQPMO_SYNCPOINT, text).await;
    assert_eq!(xa(client, XaVerb::End(xid(n)), TMSUCCESS).await, XA_OK);
}

#[tokio::test]
async fn a_branch_goes_through_its_life_over_several_connections() {
    let world = World::new().await;
    let (mut one, mut other) = (opened(&world).await, opened(&world).await);
    done(&mut one, 1, b"first").await;
    assert_eq!(world.depth("Q3"), 1, "an uncommitted put counts");
    assert_eq!(xa(&mut other, XaVerb::Prepare(xid(1)), 0).await, XA_OK);
    one.disconnect().await;
    assert_eq!(xa(&mut other, XaVerb::Commit(xid(1)), 0).await, XA_OK);
    let queue = other.open("Q3").await;
    // In one phase, a get.
    let start = XaVerb::Start(xid(2));
    assert_eq!(xa(&mut other, start, TMNOFLAGS).await, XA_OK);
    let got = other.get(queue, MQGMO_SYNCPOINT, 0).await.unwrap();
    assert_eq!(&got.data[..], b"first");
    assert_eq!(xa(&mut other, XaVerb::End(xid(2)), TMSUCCESS).await, XA_OK);
    let commit = XaVerb::Commit(xid(2));
    assert_eq!(xa(&mut other, commit, TMONEPHASE).await, XA_OK);
    // Backed out before and after it was prepared.
    for (n, prepares) in [(3, false), (4, true)] {
        done(&mut other, n, b"never").await;
        if prepares {
            assert_eq!(xa(&mut other, XaVerb::Prepare(xid(n)), 0).await, XA_OK);
        }
        assert_eq!(xa(&mut other, XaVerb::Rollback(xid(n)), 0).await, XA_OK);
    }
    // Nothing to commit.
    let start = XaVerb::Start(xid(5));
    assert_eq!(xa(&mut other, start, TMNOFLAGS).await, XA_OK);
    assert_eq!(xa(&mut other, XaVerb::End(xid(5)), TMSUCCESS).await, XA_OK);
    assert_eq!(xa(&mut other, XaVerb::Prepare(xid(5)), 0).await, XA_RDONLY);
    assert_eq!(world.depth("Q3"), 0);
    let close = XaVerb::Close { info: Vec::new() };
    assert_eq!(xa(&mut other, close, TMNOFLAGS).await, XA_OK);
    other.disconnect().await;
    world.admission.empty().await;
    assert_eq!(world.operator.channels(), [""; 0], "nothing went wrong");
}

#[tokio::test]
async fn flags_are_checked_and_change_nothing() {
    let world = World::new().await;
    let mut client = world.client().await;
    let n = xid(1);
    // Before XA_OPEN nothing is served.
    for verb in [
        XaVerb::Start(n.clone()),
        XaVerb::End(n.clone()),
        XaVerb::Prepare(n.clone()),
        XaVerb::Commit(n.clone()),
        XaVerb::Rollback(n.clone()),
        XaVerb::Forget(n.clone()),
        XaVerb::Recover { count: 1 },
        XaVerb::Complete,
    ] {
        assert_eq!(xa(&mut client, verb, TMNOFLAGS).await, XAER_PROTO);
    }
    assert_eq!(xa(&mut client, open("OTHER"), 0).await, XAER_INVAL);
    assert_eq!(xa(&mut client, open("QM1"), TMJOIN).await, XAER_INVAL);
    for info in ["", "*ANY", "CHANNEL=CH,TRPTYPE=TCP", "QM1", "QM1"] {
        assert_eq!(xa(&mut client, open(info), 0).await, XA_OK, "{info}");
    }
    let all = TMONEPHASE
        | TMFAIL
        | TMNOWAIT
        | TMRESUME
        | TMSUCCESS
        | TMSUSPEND
        | TMSTARTRSCAN
        | TMENDRSCAN
        | TMJOIN
        | TMMIGRATE
        | 1;
    let takes = [
        (XaVerb::Start(n.clone()), TMJOIN | TMRESUME | TMNOWAIT),
        (
            XaVerb::End(n.clone()),
            TMSUSPEND | TMMIGRATE | TMSUCCESS | TMFAIL,
        ),
        (XaVerb::Prepare(n.clone()), 0),
        (XaVerb::Commit(n.clone()), TMONEPHASE | TMNOWAIT),
        (XaVerb::Rollback(n.clone()), 0),
        (XaVerb::Forget(n.clone()), 0),
        (XaVerb::Recover { count: 1 }, TMSTARTRSCAN | TMENDRSCAN),
        (XaVerb::Close { info: Vec::new() }, 0),
    ];
    for (verb, known) in takes {
        for bit in (0..31).map(|bit| 1 << bit) {
            if all & bit != 0 && known & bit == 0 {
                let returned = xa(&mut client, verb.clone(), bit).await;
                assert_eq!(returned, XAER_INVAL, "{verb:?} {bit:X}");
            }
        }
        assert_eq!(xa(&mut client, verb, TMASYNC).await, XAER_ASYNC);
    }
    let both = TMJOIN | TMRESUME;
    assert_eq!(
        xa(&mut client, XaVerb::Start(n.clone()), both).await,
        XAER_INVAL
    );
    for flags in [0, TMSUCCESS | TMFAIL, TMMIGRATE, TMSUCCESS | TMMIGRATE] {
        let end = XaVerb::End(n.clone());
        assert_eq!(xa(&mut client, end, flags).await, XAER_INVAL);
    }
    let null = Xid::new(-1, b"", b"").unwrap();
    assert_eq!(xa(&mut client, XaVerb::Start(null), 0).await, XAER_INVAL);
    client.disconnect().await;
}

#[tokio::test]
async fn each_stage_returns_what_the_specification_says() {
    let world = World::new().await;
    let (mut a, mut b) = (opened(&world).await, opened(&world).await);
    for verb in [
        XaVerb::End(xid(9)),
        XaVerb::Prepare(xid(9)),
        XaVerb::Commit(xid(9)),
        XaVerb::Rollback(xid(9)),
        XaVerb::Forget(xid(9)),
    ] {
        let flags = if matches!(verb, XaVerb::End(_)) {
            TMSUCCESS
        } else {
            0
        };
        assert_eq!(xa(&mut a, verb, flags).await, XAER_NOTA);
    }
    assert_eq!(xa(&mut a, XaVerb::Start(xid(9)), TMJOIN).await, XAER_NOTA);
    // A unit of work of the connection's own comes first to its end.
    let queue = a.open("Q3").await;
    a.put(queue, MQPMO_SYNCPOINT, b"own").await;
    assert_eq!(xa(&mut a, XaVerb::Start(xid(1)), 0).await, XAER_OUTSIDE);
    a.call(Hobj::NONE, &Request::Back).await;
    assert_eq!(xa(&mut a, XaVerb::Start(xid(1)), 0).await, XA_OK);
    assert_eq!(xa(&mut b, XaVerb::Start(xid(1)), 0).await, XAER_DUPID);
    assert_eq!(xa(&mut a, XaVerb::Start(xid(2)), 0).await, XAER_PROTO);
    assert_eq!(xa(&mut b, XaVerb::End(xid(1)), TMSUCCESS).await, XAER_PROTO);
    assert_eq!(xa(&mut b, XaVerb::Prepare(xid(1)), 0).await, XAER_PROTO);
    let close = XaVerb::Close { info: Vec::new() };
    assert_eq!(xa(&mut a, close, 0).await, XAER_PROTO);
    for request in [Request::Commit, Request::Back] {
        let (outcome, _) = a.call(Hobj::NONE, &request).await;
        assert_eq!(outcome.reason, Reason::ENVIRONMENT_ERROR);
    }
    a.put(queue, MQPMO_SYNCPOINT, b"one").await;
    // Suspended here, resumed there, joined by the first again.
    assert_eq!(xa(&mut a, XaVerb::End(xid(1)), TMSUSPEND).await, XA_OK);
    assert_eq!(
        xa(&mut b, XaVerb::Start(xid(1)), TMRESUME).await,
        XAER_PROTO
    );
    assert_eq!(xa(&mut a, XaVerb::Start(xid(1)), TMRESUME).await, XA_OK);
    let migrates = TMSUSPEND | TMMIGRATE;
    assert_eq!(xa(&mut a, XaVerb::End(xid(1)), migrates).await, XA_OK);
    assert_eq!(xa(&mut b, XaVerb::Start(xid(1)), TMRESUME).await, XA_OK);
    assert_eq!(xa(&mut a, XaVerb::Start(xid(1)), TMJOIN).await, XA_OK);
    a.put(queue, MQPMO_SYNCPOINT, b"two").await;
    assert_eq!(xa(&mut a, XaVerb::End(xid(1)), TMSUCCESS).await, XA_OK);
    assert_eq!(xa(&mut b, XaVerb::End(xid(1)), TMSUCCESS).await, XA_OK);
    assert_eq!(xa(&mut b, XaVerb::Commit(xid(1)), 0).await, XAER_PROTO);
    assert_eq!(xa(&mut b, XaVerb::Prepare(xid(1)), 0).await, XA_OK);
    let commit = XaVerb::Commit(xid(1));
    assert_eq!(xa(&mut b, commit.clone(), TMONEPHASE).await, XAER_PROTO);
    assert_eq!(xa(&mut a, XaVerb::Forget(xid(1)), 0).await, XAER_PROTO);
    // An operator decides.
    block_on(world.qm.decide(&xid(1), Outcome::Committed)).unwrap();
    assert_eq!(xa(&mut a, commit, 0).await, XA_HEURCOM);
    assert_eq!(xa(&mut a, XaVerb::Rollback(xid(1)), 0).await, XA_HEURCOM);
    assert_eq!(xa(&mut a, XaVerb::Forget(xid(1)), 0).await, XA_OK);
    done(&mut a, 2, b"never").await;
    assert_eq!(xa(&mut a, XaVerb::Prepare(xid(2)), 0).await, XA_OK);
    block_on(world.qm.decide(&xid(2), Outcome::BackedOut)).unwrap();
    assert_eq!(xa(&mut a, XaVerb::Commit(xid(2)), 0).await, XA_HEURRB);
    assert_eq!(xa(&mut a, XaVerb::Forget(xid(2)), 0).await, XA_OK);
    // What has failed is only backed out.
    assert_eq!(xa(&mut a, XaVerb::Start(xid(3)), 0).await, XA_OK);
    a.put(queue, MQPMO_SYNCPOINT, b"never").await;
    assert_eq!(xa(&mut a, XaVerb::End(xid(3)), TMFAIL).await, XA_OK);
    assert_eq!(
        xa(&mut b, XaVerb::Start(xid(3)), TMJOIN).await,
        XA_RBROLLBACK
    );
    let commit = XaVerb::Commit(xid(3));
    assert_eq!(xa(&mut b, commit.clone(), TMONEPHASE).await, XA_RBROLLBACK);
    assert_eq!(xa(&mut b, commit, TMONEPHASE).await, XAER_NOTA);
    for text in [b"one", b"two"] {
        let got = a.get(queue, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
        assert_eq!(&got.data[..], text);
    }
    assert_eq!(world.depth("Q3"), 0);
}

#[tokio::test]
async fn recover_gives_what_is_in_doubt_in_chunks() {
    let world = World::new().await;
    let mut client = opened(&world).await;
    for n in 1..=7 {
        done(&mut client, n, b"in doubt").await;
        assert_eq!(xa(&mut client, XaVerb::Prepare(xid(n)), 0).await, XA_OK);
    }
    // What is only worked on is not among them.
    done(&mut client, 8, b"idle").await;
    let recover = |count| XaVerb::Recover { count };
    assert_eq!(xa(&mut client, recover(3), 0).await, XAER_INVAL);
    assert_eq!(xa(&mut client, recover(3), TMENDRSCAN).await, XAER_INVAL);
    let mut found = Vec::new();
    for (flags, expected) in [(TMSTARTRSCAN, 3), (0, 3), (0, 1), (0, 0)] {
        let reply = call(&mut client, recover(3), flags).await;
        assert_eq!(reply.returned, expected);
        found.extend(reply.xids.unwrap());
    }
    assert_eq!(found, (1..=7).map(xid).collect::<Vec<_>>());
    assert_eq!(xa(&mut client, recover(3), TMENDRSCAN).await, 0);
    assert_eq!(xa(&mut client, recover(3), 0).await, XAER_INVAL);
    let whole = call(&mut client, recover(100), TMSTARTRSCAN | TMENDRSCAN).await;
    assert_eq!(whole.xids.unwrap().len(), 7);
    // One that begins again begins at the beginning.
    for _ in 0..2 {
        let reply = call(&mut client, recover(1), TMSTARTRSCAN).await;
        assert_eq!(reply.xids.unwrap(), [xid(1)]);
    }
}

#[tokio::test]
async fn a_socket_that_is_cut_takes_along_what_is_not_prepared() {
    let world = World::new().await;
    let mut prepared = opened(&world).await;
    done(&mut prepared, 1, b"in doubt").await;
    assert_eq!(xa(&mut prepared, XaVerb::Prepare(xid(1)), 0).await, XA_OK);
    let mut idle = opened(&world).await;
    done(&mut idle, 2, b"lost").await;
    let mut at_work = opened(&world).await;
    let queue = at_work.open("Q3").await;
    assert_eq!(xa(&mut at_work, XaVerb::Start(xid(3)), 0).await, XA_OK);
    at_work.put(queue, MQPMO_SYNCPOINT, b"lost").await;
    at_work.put(queue, MQPMO_NO_SYNCPOINT, b"alone").await;
    drop((prepared, idle, at_work));
    world.admission.empty().await;
    let mut client = opened(&world).await;
    for n in [2, 3] {
        assert_eq!(
            xa(&mut client, XaVerb::Rollback(xid(n)), 0).await,
            XAER_NOTA
        );
    }
    let all = XaVerb::Recover { count: 9 };
    let found = call(&mut client, all, TMSTARTRSCAN).await;
    assert_eq!(found.xids.unwrap(), [xid(1)]);
    assert_eq!(xa(&mut client, XaVerb::Commit(xid(1)), 0).await, XA_OK);
    assert_eq!(world.depth("Q3"), 2);
    world.qm.check().unwrap();
}
