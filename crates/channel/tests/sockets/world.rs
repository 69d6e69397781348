//! A queue manager with channels and a listener, for tests.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::Future;
use std::net::SocketAddr;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use posthaste_admin::Admin;
use posthaste_channel::{Caller, Limits, Registry, serve};
use posthaste_command::parse;
use posthaste_engine::{
    AuditEvent, Authorization, CreateOptions, EndMode, EngineConfig, Operator, QueueManager, Users,
};
use posthaste_env::{Env, Thread, block_on, os, spawn};
use posthaste_net::{
    Address, Admission, LaneFailed, Lanes, Listener, Listening, Options, Peer, Refused,
    RuntimeClock, Stream, Traffic, Watcher,
};
use posthaste_recovery_log::{Driver, LogConfig, drive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::client::Client;
use crate::held_disk::{HeldDisk, Hold};
use crate::system_users::SystemUsers;

/// Remembers the operator's messages, and the events of an audit.
#[derive(Default)]
pub(crate) struct RecordingOperator(
    Mutex<Vec<(&'static str, Vec<String>)>>,
    Mutex<Vec<AuditEvent>>,
);

impl Operator for RecordingOperator {
    fn record(&self, id: &'static str, inserts: &[String], _: &'static Location<'static>) {
        self.0.lock().push((id, inserts.to_vec()));
    }

    fn audit(&self, event: AuditEvent) {
        self.1.lock().push(event);
    }
}

impl RecordingOperator {
    /// The numbers of the messages about channels so far.
    pub(crate) fn channels(&self) -> Vec<&'static str> {
        self.beginning_with("AMQ9")
    }

    /// Numbers of messages that begin so.
    pub(crate) fn beginning_with(&self, prefix: &str) -> Vec<&'static str> {
        let operator = self.0.lock();
        operator
            .iter()
            .map(|(id, _)| *id)
            .filter(|id| id.starts_with(prefix))
            .collect()
    }

    pub(crate) fn inserts(&self, id: &str) -> Vec<String> {
        let operator = self.0.lock();
        operator
            .iter()
            .find(|(seen, _)| *seen == id)
            .expect("the message was heard")
            .1
            .clone()
    }
}

impl RecordingOperator {
    /// The last event of an audit.
    pub(crate) fn audited(&self) -> AuditEvent {
        self.1.lock().last().expect("an event").clone()
    }
}

impl Watcher for RecordingOperator {
    fn refused(&self, _peer: &Peer, why: Refused, _stream: Stream) {
        panic!("refused: {why}");
    }
    fn failed(&self, error: &std::io::Error) {
        panic!("accept failed: {error}");
    }
}

pub(crate) struct World {
    pub(crate) qm: QueueManager,
    pub(crate) registry: Arc<Registry>,
    pub(crate) operator: Arc<RecordingOperator>,
    pub(crate) admission: Admission,
    /// Holds the log's writes up, on a world that was made for it.
    pub(crate) hold: Arc<Hold>,
    address: Option<SocketAddr>,
    lanes: Option<Lanes>,
    /// Where it takes connections from, as long as this lives.
    listening: Option<Listening>,
    threads: Option<(Driver, [Thread; 2])>,
    _folder: tempfile::TempDir,
}

/// Queues Q1 to Q3 and channels CH (shared), CH.ALONE (one conversation), CH.OLD (not shared).
const DEFINITIONS: &str = "
    DEFINE QLOCAL(Q1)
    DEFINE QLOCAL(Q2)
    DEFINE QLOCAL(Q3) DEFPSIST(YES)
    DEFINE QALIAS(A1) TARGET(Q1)
    DEFINE CHANNEL(CH) CHLTYPE(SVRCONN) SHARECNV(10)
    DEFINE CHANNEL(CH.ALONE) CHLTYPE(SVRCONN) SHARECNV(1)
    DEFINE CHANNEL(CH.OLD) CHLTYPE(SVRCONN) SHARECNV(0)";

/// Authorities that are not checked.
fn unchecked() -> Authorization {
    Authorization {
        users: Arc::new(SystemUsers),
        by_user: false,
        enforced: false,
    }
}

impl World {
    /// A queue manager without a listener.
    pub(crate) async fn quiet(limits: Limits) -> World {
        Self::on(os(), None, limits, unchecked()).await
    }

    /// A queue manager that listens and checks authorities, whose users these know.
    pub(crate) async fn authorising(users: Arc<dyn Users>) -> World {
        let authorization = Authorization {
            users,
            by_user: false,
            enforced: true,
        };
        let limits = Limits::default();
        let world = Self::on(os(), None, limits, authorization).await;
        world.listen(2)
    }

    /// A queue manager that listens and whose log can be held up: no committer writes it on its own thread.
    pub(crate) async fn held() -> World {
        Self::held_with_lanes(2).await
    }

    /// The same, and all its connections are on one lane.
    pub(crate) async fn held_on_one_lane() -> World {
        Self::held_with_lanes(1).await
    }

    async fn held_with_lanes(lanes: usize) -> World {
        let mut env = os();
        let hold = Arc::new(Hold::default());
        env.disk = Arc::new(HeldDisk {
            disk: env.disk.clone(),
            hold: hold.clone(),
        });
        let world = Self::on(env, Some(hold), Limits::default(), unchecked()).await;
        world.listen(lanes)
    }

    /// A queue manager that listens, whose log is full when a megabyte of it is held.
    pub(crate) async fn with_a_small_log() -> World {
        let log_config = LogConfig {
            file_pages: 64,
            primary_files: 3,
            secondary_files: 1,
            ..LogConfig::default()
        };
        let world = Self::logging(log_config, os(), None, Limits::default(), unchecked()).await;
        world.listen(2)
    }

    async fn on(
        env: Env,
        hold: Option<Arc<Hold>>,
        limits: Limits,
        authorization: Authorization,
    ) -> World {
        let log_config = LogConfig {
            file_pages: 256,
            ..LogConfig::default()
        };
        Self::logging(log_config, env, hold, limits, authorization).await
    }

    async fn logging(
        mut log_config: LogConfig,
        env: Env,
        hold: Option<Arc<Hold>>,
        limits: Limits,
        authorization: Authorization,
    ) -> World {
        let folder = tempfile::tempdir().unwrap();
        log_config.writes.plain = hold.is_some();
        let config = EngineConfig {
            name: "QM1".to_owned(),
            data: folder.path().join("data"),
            log: folder.path().join("log"),
            log_config,
            q_buffer: 1 << 20,
            pq_buffer: 1 << 20,
            expiry_interval_s: 0,
            numbers: posthaste_engine::NUMBERS,
            authorization: Some(authorization),
            cipher: None,
        };
        QueueManager::create(&env, &config, &CreateOptions::default(), &mut |_, _| {}).unwrap();
        let operator = Arc::new(RecordingOperator::default());
        let started = QueueManager::start(&env, config, operator.clone()).unwrap();
        let driver = drive(&env, started.qm.log(), started.writer).unwrap();
        let qm = started.qm.clone();
        let thread = spawn("maintain", move || block_on(qm.maintain())).unwrap();
        let qm = started.qm.clone();
        let files = spawn("files", move || block_on(qm.serve_files())).unwrap();
        let registry = Registry::new(
            started.qm.clone(),
            operator.clone(),
            limits,
            Arc::new(RuntimeClock),
        );
        let world = World {
            qm: started.qm,
            registry,
            operator,
            admission: Admission::new(posthaste_net::Limits::default()),
            hold: hold.unwrap_or_default(),
            address: None,
            lanes: None,
            listening: None,
            threads: Some((driver, [thread, files])),
            _folder: folder,
        };
        for line in DEFINITIONS.lines() {
            world.mqsc(line);
        }
        world
    }

    /// A queue manager that listens.
    pub(crate) async fn new() -> World {
        Self::with(Limits::default()).await
    }

    pub(crate) async fn with(limits: Limits) -> World {
        Self::quiet(limits).await.listen(2)
    }

    fn listen(mut self, count: usize) -> World {
        let any = Address::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)));
        let listener = Listener::bind(&any, Options::default()).unwrap();
        let Ok(Address::Tcp(address)) = listener.address() else {
            panic!("a TCP address")
        };
        self.address = Some(address);
        let registry = Arc::clone(&self.registry);
        let lanes = lanes(count);
        let served = lanes.clone();
        let handle = move |accepted| registry.serve(accepted, &served);
        let watcher = self.operator.clone();
        self.listening = Some(lanes.listen(listener, self.admission.clone(), watcher, handle));
        self.lanes = Some(lanes);
        self
    }

    /// Carries out one MQSC command.
    pub(crate) fn mqsc(&self, line: &str) {
        if let Some(command) = parse(line).unwrap() {
            let reply = block_on(Admin::alone(&self.qm).execute(&command));
            assert!(reply.ok, "{line}: {reply:?}");
        }
    }

    pub(crate) async fn socket(&self) -> TcpStream {
        TcpStream::connect(self.address.unwrap()).await.unwrap()
    }

    /// A client that is connected by channel CH.
    pub(crate) async fn client(&self) -> Client<TcpStream> {
        Client::connected(self.socket().await, &Client::<TcpStream>::offer("CH")).await
    }

    /// Serves the other end of a stream, without a listener and without a lane, on the test's own thread.
    pub(crate) fn serve<S>(&self, stream: S) -> JoinHandle<()>
    where
        S: AsyncRead + AsyncWrite + Unpin + 'static,
    {
        let caller = Caller {
            peer: Peer::Local,
            user: None,
            loopback: None,
            traffic: Arc::new(Traffic::default()),
        };
        spawn_here(serve(stream, caller, Arc::clone(&self.registry)))
    }

    pub(crate) fn depth(&self, queue: &str) -> u32 {
        self.qm.queue_status(queue).unwrap().depth
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some((driver, threads)) = self.threads.take() {
            self.hold.release();
            block_on(self.qm.end(EndMode::Preemptive)).unwrap();
            if let Some(lanes) = &self.lanes {
                assert!(lanes.end(Duration::from_secs(60)));
            }
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
            driver.join().unwrap();
        }
    }
}

/// Lanes whose failure fails the test.
pub(crate) fn lanes(count: usize) -> Lanes {
    let clock: Arc<dyn posthaste_env::Clock> = Arc::new(RuntimeClock);
    let failed: LaneFailed = Arc::new(|lane, why| panic!("lane {lane}: {why}"));
    Lanes::start(count, &clock, &failed).unwrap()
}

type Local = Pin<Box<dyn Future<Output = ()>>>;

thread_local! {
    /// Tasks that stay on this thread, by number; `None` while one is being polled.
    static LOCAL: RefCell<HashMap<u64, Option<Local>>> = RefCell::default();
}

/// Stands for a task of [`LOCAL`] among tasks that may move. Those of a test never do: its runtime has one thread.
struct Here(u64);

impl Future for Here {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut task = LOCAL
            .with(|local| local.borrow_mut().get_mut(&self.0).and_then(Option::take))
            .expect("polled on the thread that spawned it");
        let polled = task.as_mut().poll(cx);
        LOCAL.with(|local| local.borrow_mut().insert(self.0, Some(task)));
        polled
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        let task = LOCAL.try_with(|local| local.borrow_mut().remove(&self.0));
        drop(task);
    }
}

/// Spawns a task that stays on this thread.
pub(crate) fn spawn_here(task: impl Future<Output = ()> + 'static) -> JoinHandle<()> {
    let number = LOCAL.with(|local| {
        let mut local = local.borrow_mut();
        let number = (0..).find(|n| !local.contains_key(n)).expect("a number");
        local.insert(number, Some(Box::pin(task)));
        number
    });
    tokio::spawn(Here(number))
}
