//! Whether a queue manager would start, and what of it can be read.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails by a panic, in its helpers too"
)]

mod qm1;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use posthaste_env::{Clock, Env, Nanos, Sleep};
use posthaste_mqi::constants::{MQMD_VERSION_2, MQOO_OUTPUT, MQPER_PERSISTENT};
use posthaste_mqi::{Md, Mqi, Name, Od, Pmo};
use posthaste_server::{DataDir, InProcess, InProcessOptions, check, create, find};
use qm1::creation;

/// A day later than it is; counts who waits.
struct Late {
    clock: Arc<dyn Clock>,
    sleeps: AtomicUsize,
}

impl Clock for Late {
    fn monotonic(&self) -> Nanos {
        self.clock.monotonic()
    }

    fn wall_micros(&self) -> i64 {
        self.clock.wall_micros() + 86_400_000_000
    }

    fn sleep_until(&self, at: Nanos) -> Sleep {
        self.sleeps.fetch_add(1, Ordering::Relaxed);
        self.clock.sleep_until(at)
    }
}

/// A queue manager with persistent messages of these expiries on DEV.QUEUE.1.
fn with_messages(env: &Env, data: &DataDir, expiries: [i32; 3]) -> InProcess {
    create(env, data, &creation(), &mut |_, _| {}).unwrap();
    let qm = InProcess::open(data, "QM1", &InProcessOptions::default()).unwrap();
    let mut connection = qm.connect("test").unwrap();
    let mut od = Od {
        object_name: Name::new("DEV.QUEUE.1"),
        ..Od::default()
    };
    let queue = connection.open_object(&mut od, MQOO_OUTPUT).unwrap().value;
    for expiry in expiries {
        let mut md = Md {
            version: MQMD_VERSION_2,
            persistence: MQPER_PERSISTENT,
            expiry,
            ..Md::default()
        };
        let put = connection.put(queue, &mut md, &mut Pmo::default(), b"a message");
        put.unwrap();
    }
    drop(connection);
    qm
}

#[test]
fn what_is_checked_stands_still_and_every_message_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::at(folder.path());
    let env = posthaste_env::os();
    // The first has expired when the check comes.
    let qm = with_messages(&env, &data, [36_000, -1, -1]);
    let reply = qm.command("ALTER QLOCAL(DEV.QUEUE.1) GET(DISABLED)");
    assert!(reply.ok, "{reply:?}");
    drop(qm);

    let late = Arc::new(Late {
        clock: env.clock.clone(),
        sleeps: AtomicUsize::new(0),
    });
    let env = Env {
        clock: late.clone(),
        ..env
    };
    let found = check(&env, &data, &find(&data, Some("QM1")).unwrap(), true);
    assert!(found.faults.is_empty(), "{found:?}");
    assert_eq!(found.messages, 3);
    let sleeps = late.sleeps.load(Ordering::Relaxed);
    assert_eq!(sleeps, 0, "something ran beside it");
}

/// A damaged queue refuses no start, and is reported, whether its messages are read or not.
#[test]
fn a_damaged_queue_is_found_although_the_queue_manager_would_start() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::at(folder.path());
    let env = posthaste_env::os();
    drop(with_messages(&env, &data, [-1; 3]));
    let home = find(&data, Some("QM1")).unwrap();
    let files = std::fs::read_dir(home.folder.join("queues")).unwrap();
    let of_queue = |path: &PathBuf| path.to_string_lossy().contains("DEV.QUEUE.1.");
    let file = files.map(|file| file.unwrap().path()).find(of_queue);
    std::fs::write(file.unwrap(), b"").unwrap();
    for messages in [false, true] {
        let found = check(&env, &data, &home, messages);
        assert!(found.faults.is_empty(), "{found:?}");
        let damaged: Vec<_> = found.damaged.iter().map(ToString::to_string).collect();
        assert_eq!(damaged.len(), 1, "{damaged:?}");
        assert!(damaged[0].contains("AMQ7472E: Queue DEV.QUEUE.1 is damaged"));
    }
    drop(InProcess::open(&data, "QM1", &InProcessOptions::default()).unwrap());
}
