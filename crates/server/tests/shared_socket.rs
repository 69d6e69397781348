//! Threads that share one socket to a queue manager: each has a connection, a unit of work and a fate of its own.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails by a panic, in its helpers too"
)]

mod qm1;

use std::sync::mpsc;
use std::time::Duration;

use posthaste_client::{Address, Call, ClientError, Connect, Connection};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Name, Od, Pmo, Reason};
use posthaste_server::{DataDir, EndMode, InProcess, InProcessOptions, create};

struct World {
    qm: InProcess,
    _folder: tempfile::TempDir,
}

impl World {
    fn new() -> World {
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
        World {
            qm: InProcess::open(&data, "QM1", &options).unwrap(),
            _folder: folder,
        }
    }

    fn connect(&self) -> Connect {
        let host = "127.0.0.1".to_owned();
        let port = self.qm.listening()[0].address.port();
        Connect {
            conversations: 10,
            ..Connect::new(Address::Tcp { host, port }, "DEV.APP.SVRCONN", "QM1")
        }
    }

    /// So many connections over one socket.
    fn sharing(&self, count: usize) -> Vec<Connection> {
        let connect = self.connect();
        let mut all = vec![Connection::open(&connect).unwrap()];
        while all.len() < count {
            let another = all[0].another(&connect).unwrap();
            all.push(another.unwrap());
        }
        let reply = self.qm.command("DISPLAY CHSTATUS(*) CURSHCNV");
        let (_, _, row) = &reply.rows[0];
        assert_eq!(row.shown("CURSHCNV"), Some(count.to_string()));
        all
    }
}

fn open(connection: &mut Connection, queue: &str) -> Hobj {
    let mut od = Od {
        object_name: Name::new(queue),
        ..Od::default()
    };
    let options = MQOO_OUTPUT | MQOO_INPUT_SHARED;
    connection.open_object(&mut od, options).unwrap().value
}

fn put(connection: &mut Connection, queue: Hobj, options: i32, data: &[u8]) -> Call<()> {
    let mut pmo = Pmo {
        options,
        ..Pmo::default()
    };
    connection.put(queue, &mut Md::default(), &mut pmo, data)
}

fn get(connection: &mut Connection, queue: Hobj, wait: i32) -> Result<Vec<u8>, ClientError> {
    let mut gmo = Gmo {
        options: MQGMO_NO_SYNCPOINT | if wait == 0 { 0 } else { MQGMO_WAIT },
        wait_interval: wait,
        ..Gmo::default()
    };
    let got = connection.get(queue, &mut Md::default(), &mut gmo, 4 << 20)?;
    Ok(got.value.data.to_vec())
}

const OUT: i32 = MQPMO_NO_SYNCPOINT;

#[test]
fn one_that_waits_holds_nobody_up() {
    let world = World::new();
    let mut all = world.sharing(4);
    let (sender, receiver) = mpsc::channel();
    let mut waiter = all.pop().unwrap();
    let waiting = std::thread::spawn(move || {
        let queue = open(&mut waiter, "DEV.QUEUE.3");
        sender.send(()).unwrap();
        get(&mut waiter, queue, MQWI_UNLIMITED).unwrap()
    });
    receiver.recv().unwrap();
    // Requester and responder on the same socket, while the third puts.
    let mut responder = all.pop().unwrap();
    let responding = std::thread::spawn(move || {
        let requests = open(&mut responder, "DEV.QUEUE.1");
        let replies = open(&mut responder, "DEV.QUEUE.2");
        for _ in 0..100 {
            let request = get(&mut responder, requests, MQWI_UNLIMITED).unwrap();
            put(&mut responder, replies, OUT, &request).unwrap();
        }
        responder.disconnect().unwrap();
    });
    let mut requester = all.pop().unwrap();
    let requests = open(&mut requester, "DEV.QUEUE.1");
    let replies = open(&mut requester, "DEV.QUEUE.2");
    for round in 0..100_u32 {
        // Now and then in many segments.
        let length = if round % 20 == 0 { 1 << 20 } else { 100 };
        let text = vec![u8::try_from(round).unwrap(); length];
        put(&mut requester, requests, OUT, &text).unwrap();
        let reply = get(&mut requester, replies, MQWI_UNLIMITED).unwrap();
        assert!(reply == text, "{round}");
    }
    responding.join().unwrap();
    assert!(!waiting.is_finished());
    let mut last = all.pop().unwrap();
    let queue = open(&mut last, "DEV.QUEUE.3");
    put(&mut last, queue, OUT, b"at last").unwrap();
    assert_eq!(waiting.join().unwrap(), b"at last");
}

#[test]
fn each_has_a_unit_of_work_of_its_own() {
    let world = World::new();
    let mut all = world.sharing(3);
    let queues: Vec<Hobj> = all.iter_mut().map(|c| open(c, "DEV.QUEUE.1")).collect();
    put(&mut all[0], queues[0], MQPMO_SYNCPOINT, b"committed").unwrap();
    put(&mut all[1], queues[1], MQPMO_SYNCPOINT, b"backed out").unwrap();
    put(&mut all[2], queues[2], MQPMO_SYNCPOINT, b"dropped").unwrap();
    all[0].commit().unwrap();
    all[1].backout().unwrap();
    drop(all.pop());
    let mut two = all.pop().unwrap();
    assert_eq!(get(&mut two, queues[1], 60_000).unwrap(), b"committed");
    let empty = get(&mut two, queues[1], 0).unwrap_err();
    assert_eq!(empty.reason(), Reason::NO_MSG_AVAILABLE);
    // The first leaves; the socket stays with the other.
    all.pop().unwrap().disconnect().unwrap();
    put(&mut two, queues[1], OUT, b"still there").unwrap();
    two.disconnect().unwrap();
}

#[test]
fn who_gives_up_waiting_leaves_alone_and_takes_nothing() {
    let world = World::new();
    let mut all = world.sharing(2);
    let mut hasty = all.pop().unwrap();
    let queue = open(&mut hasty, "DEV.QUEUE.1");
    hasty.give_up_after(Duration::from_millis(30)).unwrap();
    let silent = get(&mut hasty, queue, MQWI_UNLIMITED).unwrap_err();
    assert!(matches!(silent, ClientError::Silent(_)), "{silent}");
    let broken = put(&mut hasty, queue, OUT, b"x").unwrap_err();
    assert_eq!(broken.reason(), Reason::CONNECTION_BROKEN);
    drop(hasty);
    let mut one = all.pop().unwrap();
    let queue = open(&mut one, "DEV.QUEUE.1");
    // The queue manager has heard of it: nobody waits there who would take the message away.
    put(&mut one, queue, OUT, b"for the one that is left").unwrap();
    let next = one.another(&world.connect()).unwrap();
    let mut next = next.unwrap();
    let queue = open(&mut next, "DEV.QUEUE.1");
    let got = get(&mut next, queue, 60_000).unwrap();
    assert_eq!(got, b"for the one that is left");
}

#[test]
fn a_socket_has_room_for_so_many_and_a_refused_one_harms_nobody() {
    let world = World::new();
    let mut all = world.sharing(10);
    assert!(all[0].another(&world.connect()).unwrap().is_none());
    drop(all.pop());
    let other = Connect {
        queue_manager: "QM2".to_owned(),
        ..world.connect()
    };
    let refused = all[0].another(&other).err().unwrap();
    assert_eq!(refused.reason(), Reason::Q_MGR_NAME_ERROR);
    all.push(all[0].another(&world.connect()).unwrap().unwrap());
    for one in &mut all {
        let queue = open(one, "DEV.QUEUE.1");
        put(one, queue, OUT, b"x").unwrap();
    }
    // Nothing is shared on a socket of its own.
    let own = Connect {
        conversations: 0,
        ..world.connect()
    };
    let alone = Connection::open(&own).unwrap();
    assert!(alone.another(&own).unwrap().is_none());
}

#[test]
fn asynchronous_puts_of_several_threads_all_arrive() {
    let world = World::new();
    world
        .qm
        .command("ALTER QLOCAL(DEV.QUEUE.1) MAXDEPTH(100000)");
    let putting: Vec<_> = (0_u8..)
        .zip(world.sharing(3))
        .map(|(number, mut one)| {
            std::thread::spawn(move || {
                let queue = open(&mut one, "DEV.QUEUE.1");
                let asynchronous = OUT | MQPMO_ASYNC_RESPONSE;
                for _ in 0..500 {
                    put(&mut one, queue, asynchronous, &[number; 2_000]).unwrap();
                }
                let sts = one.stat().unwrap().value;
                assert_eq!(sts.put_success_count, 500);
                // Nobody asks for these; they arrive all the same.
                for _ in 0..100 {
                    put(&mut one, queue, asynchronous, &[number; 2_000]).unwrap();
                }
            })
        })
        .collect();
    for thread in putting {
        thread.join().unwrap();
    }
    let own = Connect {
        conversations: 0,
        ..world.connect()
    };
    let mut reader = Connection::open(&own).unwrap();
    let queue = open(&mut reader, "DEV.QUEUE.1");
    let mut seen = [0; 3];
    for _ in 0..1_800 {
        let got = get(&mut reader, queue, 60_000).unwrap();
        assert_eq!(got.len(), 2_000);
        seen[usize::from(got[0])] += 1;
    }
    assert_eq!(seen, [600; 3]);
}

#[test]
fn the_end_of_the_queue_manager_is_told_to_everybody() {
    for how in [EndMode::Immediate, EndMode::Preemptive] {
        let world = World::new();
        let (sender, receiver) = mpsc::channel();
        let waiting: Vec<_> = world
            .sharing(3)
            .into_iter()
            .map(|mut one| {
                let sender = sender.clone();
                std::thread::spawn(move || {
                    let queue = open(&mut one, "DEV.QUEUE.1");
                    sender.send(()).unwrap();
                    let ended = get(&mut one, queue, MQWI_UNLIMITED).unwrap_err();
                    let later = put(&mut one, queue, OUT, b"x").unwrap_err();
                    assert!(
                        one.another(&Connect::new(
                            Address::Unix("/nowhere".into()),
                            "DEV.APP.SVRCONN",
                            "QM1"
                        ))
                        .is_err()
                    );
                    (ended.reason(), later.reason())
                })
            })
            .collect();
        for _ in 0..3 {
            receiver.recv().unwrap();
        }
        world.qm.end(how).unwrap();
        let ends = [
            Reason::CONNECTION_BROKEN,
            Reason::Q_MGR_STOPPING,
            Reason::Q_MGR_QUIESCING,
        ];
        for thread in waiting {
            let (ended, later) = thread.join().unwrap();
            assert!(ends.contains(&ended), "{ended}");
            assert!(ends.contains(&later), "{later}");
        }
    }
}
