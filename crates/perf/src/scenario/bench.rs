//! What is kept running while a scenario is measured: queue managers, bare servers, proxies.
//!
//! Everything is started when a case first needs it and serves all rounds, because a fresh server every time would
//! measure its first seconds only. Invariant: whatever was started is ended with the bench, in order if it can be, and
//! its files are removed.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use posthaste_client::{Address, Connect};
use posthaste_env::Slowness;
use posthaste_server::{DataDir, EndMode, Home, InProcess, InProcessOptions};

use super::jms_driver::Driver;
use super::plan::{Place, Via};
use super::work_folder::clear;
use crate::delay_proxy::{DelayProxy, Settings};
use crate::drive::Running;
use crate::floor::{Bare, BareServer};
use crate::measure::{
    CHANNEL, Interrupt, LabError, QUEUE_MANAGER, Shape, UnderTest, uninterrupted,
};
use crate::workload::Target;

/// The longest run of a workload that has an end.
const LONGEST: Duration = Duration::from_secs(1_200);

/// A queue manager inside this process.
pub(super) struct Inside {
    pub(super) manager: Arc<InProcess>,
    pub(super) home: Home,
    folder: PathBuf,
}

/// What is kept running.
pub(super) struct Bench {
    program: PathBuf,
    /// Below it everything has a folder of its own.
    root: PathBuf,
    pub(super) interrupt: Interrupt,
    folders: u32,
    servers: BTreeMap<Shape, UnderTest>,
    insides: BTreeMap<Shape, Inside>,
    bares: BTreeMap<(Bare, usize), BareServer>,
    proxies: BTreeMap<(SocketAddr, u64), DelayProxy>,
    jms: Option<Arc<Driver>>,
}

impl Bench {
    /// One whose files go below `root`, which is made.
    pub(super) fn new(
        program: &Path,
        root: &Path,
        interrupt: &Interrupt,
        jms: Option<Arc<Driver>>,
    ) -> Result<Bench, LabError> {
        fs::create_dir_all(root).map_err(|error| LabError::io(root, error))?;
        Ok(Bench {
            program: program.to_owned(),
            root: root.to_owned(),
            interrupt: interrupt.clone(),
            folders: 0,
            servers: BTreeMap::new(),
            insides: BTreeMap::new(),
            bares: BTreeMap::new(),
            proxies: BTreeMap::new(),
            jms,
        })
    }

    /// Where its files are.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The program under test.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// A new folder.
    pub(super) fn folder(&mut self) -> PathBuf {
        next_folder(&self.root, &mut self.folders)
    }

    /// The queue manager of this shape in a process of its own.
    pub(super) fn server(&mut self, shape: &Shape) -> Result<&mut UnderTest, LabError> {
        let (program, interrupt) = (&self.program, &self.interrupt);
        let folder = next_folder(&self.root, &mut self.folders);
        kept(&mut self.servers, *shape, || {
            UnderTest::start(program, &folder, shape, interrupt)
        })
    }

    /// The queue manager of this shape in this process.
    pub(super) fn inside(&mut self, shape: &Shape) -> Result<&mut Inside, LabError> {
        let interrupt = &self.interrupt;
        let folder = next_folder(&self.root, &mut self.folders);
        kept(&mut self.insides, *shape, || {
            open_inside(shape, folder, interrupt)
        })
    }

    /// The bare server for messages of this size.
    pub(super) fn bare(&mut self, bare: Bare, bytes: usize) -> Result<(SocketAddr, u32), LabError> {
        let program = &self.program;
        let server = kept(&mut self.bares, (bare, bytes), || {
            BareServer::start(program, bare, bytes)
        })?;
        Ok((server.address(), server.pid()))
    }

    /// The JMS driver.
    pub(super) fn jms(&self) -> Result<&Driver, LabError> {
        let none = || LabError::BadInput("the JMS driver was not built".to_owned());
        self.jms.as_deref().ok_or_else(none)
    }

    /// How applications reach the queue manager at `place` this way.
    pub(super) fn target(&mut self, place: &Place, via: Via) -> Result<Target, LabError> {
        let (home, tcp) = match place {
            Place::Server(shape) => {
                let server = self.server(shape)?;
                (server.home().clone(), server.tcp().clone())
            }
            Place::Inside(shape) => {
                let inside = self.inside(shape)?;
                if via == Via::Inside {
                    return Ok(Target::InProcess(inside.manager.clone()));
                }
                let listening = inside.manager.listening();
                let address = listening.first().map(|listener| listener.address);
                let address = address.ok_or_else(|| LabError::broken("it does not listen"))?;
                (inside.home.clone(), tcp_address(address))
            }
            Place::Bare(bare, bytes) => {
                let (address, _) = self.bare(*bare, *bytes)?;
                let echo = *bare == Bare::Echo;
                return Ok(Target::Bare { address, echo });
            }
        };
        let address = match via {
            Via::Tcp => tcp,
            Via::Local => Address::Unix(home.applications()),
            Via::Delayed(micros) => self.delayed(&tcp, micros)?,
            Via::Inside => {
                return Err(LabError::BadInput(
                    "a queue manager in another process has no inside".to_owned(),
                ));
            }
        };
        Ok(Target::Client(Connect::new(
            address,
            CHANNEL,
            QUEUE_MANAGER,
        )))
    }

    /// The address behind which the queue manager at `to` seems so far away.
    fn delayed(&mut self, to: &Address, micros: u64) -> Result<Address, LabError> {
        let failed = |why: String| LabError::workload("the delay proxy", why);
        let Address::Tcp { host, port } = to else {
            return Err(failed("it passes TCP only".to_owned()));
        };
        let to: SocketAddr = format!("{host}:{port}")
            .parse()
            .map_err(|error| failed(format!("{host}:{port}: {error}")))?;
        let proxy = kept(&mut self.proxies, (to, micros), || {
            let settings = Settings::delay(Duration::from_micros(micros));
            let listen = SocketAddr::from(([127, 0, 0, 1], 0));
            DelayProxy::start(listen, to, settings).map_err(|error| failed(error.to_string()))
        })?;
        Ok(tcp_address(proxy.address()))
    }

    /// What happened, if a queue manager has ended by itself.
    pub(super) fn ended(&mut self) -> Option<LabError> {
        let inside = self
            .insides
            .values()
            .any(|inside| inside.manager.has_ended());
        if inside {
            return Some(LabError::broken(
                "it ended while it was measured; its error log says why",
            ));
        }
        self.servers.values_mut().find_map(UnderTest::ended)
    }

    /// Ends everything in order.
    pub(super) fn end(mut self) -> Result<(), LabError> {
        let mut result = Ok(());
        for server in self.servers.values_mut() {
            result = result.and(server.end());
        }
        for (_, inside) in std::mem::take(&mut self.insides) {
            // Connections that still hold it would end it when they go.
            if let Some(manager) = Arc::into_inner(inside.manager) {
                let ended = manager.end(EndMode::Immediate);
                result = result.and(ended.map_err(|f| LabError::server("its end", &f)));
            }
            let _ = fs::remove_dir_all(&inside.folder);
        }
        result
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.proxies.clear();
        self.servers.clear();
        self.insides.clear();
        clear(&self.root);
    }
}

/// What was started for a key before, or is now.
fn kept<K: Ord, V>(
    all: &mut BTreeMap<K, V>,
    key: K,
    start: impl FnOnce() -> Result<V, LabError>,
) -> Result<&mut V, LabError> {
    match all.entry(key) {
        Entry::Occupied(known) => Ok(known.into_mut()),
        Entry::Vacant(free) => Ok(free.insert(start()?)),
    }
}

fn next_folder(root: &Path, folders: &mut u32) -> PathBuf {
    *folders += 1;
    root.join(folders.to_string())
}

/// Waits until a workload that has an end has ended; `ended` tells when its queue manager has.
pub(super) fn until_ended(
    interrupt: &Interrupt,
    measured: &Running,
    mut ended: impl FnMut() -> Option<LabError>,
) -> Result<(), LabError> {
    let deadline = Instant::now() + LONGEST;
    while !measured.wait(Duration::from_millis(100)) {
        uninterrupted(interrupt)?;
        if let Some(ended) = ended() {
            return Err(ended);
        }
        if Instant::now() >= deadline {
            return Err(LabError::workload(
                "the workload",
                format!("it has not ended after {} s", LONGEST.as_secs()),
            ));
        }
    }
    Ok(())
}

fn tcp_address(address: SocketAddr) -> Address {
    Address::Tcp {
        host: address.ip().to_string(),
        port: address.port(),
    }
}

fn open_inside(shape: &Shape, folder: PathBuf, interrupt: &Interrupt) -> Result<Inside, LabError> {
    let home = shape.create_unless(interrupt, &folder)?;
    let options = InProcessOptions {
        listen: true,
        port: Some(0),
        slowness: Slowness {
            latency: Duration::from_micros(shape.disk_delay_us),
            bandwidth: std::num::NonZeroU64::new(shape.disk_bandwidth),
        },
        ..InProcessOptions::default()
    };
    let manager = InProcess::open(&DataDir::at(&folder), QUEUE_MANAGER, &options)
        .map_err(|failure| LabError::server("cannot be opened in this process", &failure))?;
    Ok(Inside {
        manager: Arc::new(manager),
        home,
        folder,
    })
}
