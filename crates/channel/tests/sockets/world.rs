//! A queue manager with channels and a listener, for tests.

use std::net::SocketAddr;
use std::panic::Location;
use std::sync::Arc;

use parking_lot::Mutex;
use posthaste_channel::{Caller, Limits, Registry, serve};
use posthaste_command::parse;
use posthaste_engine::{CreateOptions, EndMode, EngineConfig, Operator, QueueManager};
use posthaste_env::{Env, Thread, block_on, os, spawn};
use posthaste_net::{
    Address, Admission, Listener, Options, Peer, Refused, RuntimeClock, Stream, Traffic, Watcher,
};
use posthaste_recovery_log::{Driver, LogConfig, drive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::client::Client;
use crate::held_disk::{HeldDisk, Hold};

/// Remembers the operator's messages.
#[derive(Default)]
pub(crate) struct Heard(Mutex<Vec<(&'static str, Vec<String>)>>);

impl Operator for Heard {
    fn record(&self, id: &'static str, inserts: &[String], _: &'static Location<'static>) {
        self.0.lock().push((id, inserts.to_vec()));
    }
}

impl Heard {
    /// The numbers of the messages about channels so far.
    pub(crate) fn channels(&self) -> Vec<&'static str> {
        let heard = self.0.lock();
        heard
            .iter()
            .map(|(id, _)| *id)
            .filter(|id| id.starts_with("AMQ9"))
            .collect()
    }

    pub(crate) fn inserts(&self, id: &str) -> Vec<String> {
        let heard = self.0.lock();
        heard
            .iter()
            .find(|(seen, _)| *seen == id)
            .expect("the message was heard")
            .1
            .clone()
    }
}

impl Watcher for Heard {
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
    pub(crate) heard: Arc<Heard>,
    pub(crate) admission: Admission,
    /// Holds the log's writes up, on a world that was made for it.
    pub(crate) hold: Arc<Hold>,
    address: Option<SocketAddr>,
    threads: Option<(Driver, Thread)>,
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

impl World {
    /// A queue manager without a listener.
    pub(crate) async fn quiet(limits: Limits) -> World {
        Self::on(os(), None, limits).await
    }

    /// A queue manager that listens and whose log can be held up: no committer writes it on its own thread.
    pub(crate) async fn held() -> World {
        let mut env = os();
        let hold = Arc::new(Hold::default());
        env.disk = Arc::new(HeldDisk {
            disk: env.disk.clone(),
            hold: hold.clone(),
        });
        Self::on(env, Some(hold), Limits::default()).await.listen()
    }

    async fn on(env: Env, hold: Option<Arc<Hold>>, limits: Limits) -> World {
        let folder = tempfile::tempdir().unwrap();
        let mut log_config = LogConfig {
            file_pages: 256,
            ..LogConfig::default()
        };
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
        };
        QueueManager::create(&env, &config, &CreateOptions::default(), &mut |_, _| {}).unwrap();
        let heard = Arc::new(Heard::default());
        let started = QueueManager::start(&env, config, heard.clone()).unwrap();
        let driver = drive(&env, started.qm.log(), started.writer).unwrap();
        let qm = started.qm.clone();
        let thread = spawn("maintain", move || block_on(qm.maintain())).unwrap();
        let registry = Registry::new(
            started.qm.clone(),
            heard.clone(),
            limits,
            Arc::new(RuntimeClock),
        );
        let world = World {
            qm: started.qm,
            registry,
            heard,
            admission: Admission::new(posthaste_net::Limits::default()),
            hold: hold.unwrap_or_default(),
            address: None,
            threads: Some((driver, thread)),
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
        Self::quiet(limits).await.listen()
    }

    fn listen(mut self) -> World {
        let any = Address::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)));
        let listener = Listener::bind(&any, Options::default()).unwrap();
        let Ok(Address::Tcp(address)) = listener.address() else {
            panic!("a TCP address")
        };
        self.address = Some(address);
        let registry = Arc::clone(&self.registry);
        let handle = move |accepted| Arc::clone(&registry).serve(accepted);
        let watcher = self.heard.clone();
        drop(tokio::spawn(posthaste_net::run(
            listener,
            self.admission.clone(),
            watcher,
            handle,
        )));
        self
    }

    /// Carries out one MQSC command.
    pub(crate) fn mqsc(&self, line: &str) {
        if let Some(command) = parse(line).unwrap() {
            let reply = block_on(self.qm.execute(&command));
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

    /// Serves the other end of a stream, without a listener.
    pub(crate) fn serve<S>(&self, stream: S) -> JoinHandle<()>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let caller = Caller {
            peer: Peer::Local,
            traffic: Arc::new(Traffic::default()),
        };
        tokio::spawn(serve(stream, caller, Arc::clone(&self.registry)))
    }

    pub(crate) fn depth(&self, queue: &str) -> u32 {
        self.qm.queue_status(queue).unwrap().depth
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some((driver, thread)) = self.threads.take() {
            self.hold.release();
            block_on(self.qm.end(EndMode::Preemptive)).unwrap();
            thread.join().unwrap();
            driver.join().unwrap();
        }
    }
}
