//! What a put of 2 KiB costs one thread: in process, over TCP waited for, and over TCP asynchronously.
//!
//! `cargo bench -p posthaste-server --bench put [-- ROW... [encrypted]]` (rows by number, from 0; all if none; with a queue
//! manager that encrypts its messages on disk). Rounds of puts
//! are timed, the queue is emptied in between. The queue manager is in the same process; "caller CPU" is that of the
//! putting thread alone, "all CPU" that of the process: queue manager and gets too. In the last rows a getter works
//! at the same time, and the putter waits when it is far ahead: their rate is that of both together. The very last row
//! is of persistent messages outside syncpoint: its rounds are of many, and each ends with MQSTAT, so that all of them
//! are forced in the time that is measured.
#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use posthaste_client::{Address, Connect, Connection};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Mqi, Name, Od, Pmo, Reason};
use posthaste_server::{
    Creation, DataDir, EndMode, InProcess, InProcessOptions, KeySource, create, developer_objects,
    ini,
};
use rustix::time::{ClockId, clock_gettime};

const SIZE: usize = 2048;
const QUEUE: &str = "DEV.QUEUE.1";
/// Puts that are timed in one piece, so few that they stay in the processor's caches.
const ROUND: u64 = 100;
/// Those of persistent messages.
const FORCED_ROUND: u64 = 5_000;
/// Messages that a getter may be behind: the depth must not grow.
const MOST: u64 = 5_000;
const LENGTH: Duration = Duration::from_secs(2);

/// CPU time in seconds.
fn cpu(whose: ClockId) -> f64 {
    let now = clock_gettime(whose);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

fn open(connection: &mut dyn Mqi) -> Hobj {
    let mut od = Od {
        object_name: Name::new(QUEUE),
        ..Od::default()
    };
    connection
        .open_object(&mut od, MQOO_OUTPUT | MQOO_INPUT_SHARED)
        .unwrap()
        .value
}

fn take(connection: &mut dyn Mqi, queue: Hobj, wait: i32) -> bool {
    let mut gmo = Gmo {
        options: MQGMO_NO_SYNCPOINT | if wait > 0 { MQGMO_WAIT } else { 0 },
        wait_interval: wait,
        ..Gmo::default()
    };
    match connection.get(queue, &mut Md::default(), &mut gmo, SIZE) {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error, Reason::NO_MSG_AVAILABLE);
            false
        }
    }
}

struct Row {
    name: &'static str,
    options: i32,
    getter: bool,
    persistent: bool,
}

impl Row {
    fn round(&self) -> u64 {
        match self.persistent {
            true => FORCED_ROUND,
            false => ROUND,
        }
    }
}

/// Takes all messages off the queue.
fn empty(connection: &mut dyn Mqi, queue: Hobj) {
    let mut gmo = Gmo {
        options: MQGMO_SYNCPOINT,
        ..Gmo::default()
    };
    while connection
        .get(queue, &mut Md::default(), &mut gmo, SIZE)
        .is_ok()
    {}
    connection.commit().unwrap();
}

fn measure(qm: &InProcess, putter: &mut dyn Mqi, row: &Row) {
    let queue = open(putter);
    let mut other = qm.connect("getter").unwrap();
    let others = open(&mut other);
    let stop = Arc::new(AtomicBool::new(false));
    let got = Arc::new(AtomicU64::new(0));
    let mut idle = None;
    let getter = match row.getter {
        false => {
            idle = Some(other);
            None
        }
        true => {
            let stop = Arc::clone(&stop);
            let got = Arc::clone(&got);
            let getting = move || {
                loop {
                    match take(&mut other, others, 50) {
                        true => drop(got.fetch_add(1, Ordering::Relaxed)),
                        false if stop.load(Ordering::Relaxed) => return,
                        false => {}
                    }
                }
            };
            let named = std::thread::Builder::new().name("getter".to_owned());
            Some(named.spawn(getting).unwrap())
        }
    };
    let data = vec![7; SIZE];
    let (mut puts, mut wall, mut used) = (0_u64, 0.0, 0.0);
    let all_begun = cpu(ClockId::ProcessCPUTime);
    while wall < LENGTH.as_secs_f64() {
        let (begun, cpu_begun) = (Instant::now(), cpu(ClockId::ThreadCPUTime));
        for _ in 0..row.round() {
            let mut md = Md {
                persistence: i32::from(row.persistent),
                ..Md::default()
            };
            let mut pmo = Pmo {
                options: MQPMO_NO_SYNCPOINT | row.options,
                ..Pmo::default()
            };
            putter.put(queue, &mut md, &mut pmo, &data).unwrap();
        }
        if row.persistent || puts.is_multiple_of(200 * ROUND) {
            // What is not waited for counts when it has been done.
            let sts = putter.stat().unwrap().value;
            assert_eq!(sts.put_failure_count, 0, "{sts:?}");
        }
        used += cpu(ClockId::ThreadCPUTime) - cpu_begun;
        puts += row.round();
        while row.getter && got.load(Ordering::Relaxed) + MOST < puts {
            std::thread::yield_now();
        }
        wall += begun.elapsed().as_secs_f64();
        match &mut idle {
            Some(other) if row.persistent => empty(other, others),
            Some(other) => while take(other, others, 0) {},
            None => {}
        }
    }
    stop.store(true, Ordering::Relaxed);
    if let Some(getter) = getter {
        getter.join().unwrap();
    }
    let rate = puts as f64 / wall;
    let each = used / puts as f64 * 1e6;
    let all = (cpu(ClockId::ProcessCPUTime) - all_begun) / puts as f64 * 1e6;
    println!(
        "{:<36} {rate:>10.0} puts/s {each:>8.2} µs {all:>8.2} µs",
        row.name
    );
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::at(folder.path());
    let mut commands = developer_objects();
    commands.push(format!("ALTER QLOCAL({QUEUE}) MAXDEPTH(999999999)"));
    let encrypted = std::env::args().any(|argument| argument == "encrypted");
    let print_key = format!("echo {}", "5e".repeat(32));
    let creation = Creation {
        name: "QM1".to_owned(),
        shape: ini::Shape::default(),
        encryption: encrypted.then(|| KeySource::command(&print_key).unwrap()),
        commands,
        ..Creation::default()
    };
    let made = create(&posthaste_env::os(), &data, &creation, &mut |_, _| {}).unwrap();
    // A getter that is not scheduled for a while must not make this a measurement of queue files.
    let ini = made.home.configuration();
    let text = std::fs::read_to_string(&ini).unwrap();
    let mut text = text;
    for (absent, larger) in [
        (
            "#DefaultQBufferSize=4194304",
            "DefaultQBufferSize=104857600",
        ),
        (
            "#DefaultPQBufferSize=1048576",
            "DefaultPQBufferSize=104857600",
        ),
    ] {
        assert!(text.contains(absent), "{text}");
        text = text.replace(absent, larger);
    }
    std::fs::write(&ini, text).unwrap();
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
    let remote = Connection::open(&Connect::new(address, "DEV.APP.SVRCONN", "QM1")).unwrap();
    println!(
        "{:<36} {:>10}        {:>11} {:>11}",
        "2 KiB, not persistent, one thread", "rate", "caller CPU", "all CPU"
    );
    let mut local: Box<dyn Mqi> = Box::new(qm.connect("putter").unwrap());
    let mut remote: Box<dyn Mqi> = Box::new(remote);
    let asynchronous = MQPMO_ASYNC_RESPONSE;
    let rows = [
        ("in process", false, 0, false),
        ("over TCP", true, 0, false),
        ("over TCP, asynchronous", true, asynchronous, false),
        ("in process, one getter", false, 0, true),
        (
            "over TCP, asynchronous, one getter",
            true,
            asynchronous,
            true,
        ),
        (
            "over TCP, asynchronous, persistent",
            true,
            asynchronous,
            false,
        ),
    ];
    let wanted: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|argument| argument.parse().ok())
        .collect();
    for (number, (name, tcp, options, getter)) in rows.into_iter().enumerate() {
        if wanted.is_empty() || wanted.contains(&number) {
            let putter = if tcp { &mut remote } else { &mut local };
            let row = Row {
                name,
                options,
                getter,
                persistent: number == 5,
            };
            measure(&qm, &mut **putter, &row);
        }
    }
    drop((local, remote));
    qm.end(EndMode::Immediate).unwrap();
}
