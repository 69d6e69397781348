//! What is kept running while a scenario is measured: queue managers, bare servers, proxies.
//!
//! Everything is started when a case first needs it and serves all rounds, because a fresh server every time would
//! measure its first seconds only. Invariant: whatever was started is ended with the bench, in order if it can be, and
//! its files are removed.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use posthaste_client::{Address, Connect};
use posthaste_env::Slowness;
use posthaste_server::{DataDir, EndMode, Home, InProcess, InProcessOptions};

use super::plan::{Place, Via};
use crate::delay_proxy::{DelayProxy, Settings};
use crate::floor::{Bare, BareServer};
use crate::measure::{CHANNEL, Interrupt, LabError, QUEUE_MANAGER, Shape, UnderTest};
use crate::workload::Target;

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
    servers: Vec<(Shape, UnderTest)>,
    insides: Vec<(Shape, Inside)>,
    bares: Vec<((Bare, usize), BareServer)>,
    proxies: Vec<((SocketAddr, u64), DelayProxy)>,
}

impl Bench {
    /// One whose files go below `root`, which is made.
    pub(super) fn new(
        program: &Path,
        root: &Path,
        interrupt: &Interrupt,
    ) -> Result<Bench, LabError> {
        fs::create_dir_all(root).map_err(|error| LabError::io(root, error))?;
        Ok(Bench {
            program: program.to_owned(),
            root: root.to_owned(),
            interrupt: interrupt.clone(),
            folders: 0,
            servers: Vec::new(),
            insides: Vec::new(),
            bares: Vec::new(),
            proxies: Vec::new(),
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
        self.folders += 1;
        self.root.join(self.folders.to_string())
    }

    /// The queue manager of this shape in a process of its own.
    pub(super) fn server(&mut self, shape: &Shape) -> Result<&mut UnderTest, LabError> {
        let place = self.servers.iter().position(|(made, _)| made == shape);
        let place = match place {
            Some(place) => place,
            None => {
                let folder = self.folder();
                let server = UnderTest::start(&self.program, &folder, shape, &self.interrupt)?;
                self.servers.push((shape.clone(), server));
                self.servers.len() - 1
            }
        };
        match self.servers.get_mut(place) {
            Some((_, server)) => Ok(server),
            None => Err(LabError::BadInput("no such queue manager".to_owned())),
        }
    }

    /// The queue manager of this shape in this process.
    pub(super) fn inside(&mut self, shape: &Shape) -> Result<&Inside, LabError> {
        let place = self.insides.iter().position(|(made, _)| made == shape);
        let place = match place {
            Some(place) => place,
            None => {
                let folder = self.folder();
                let inside = open_inside(shape, folder, &self.interrupt)?;
                self.insides.push((shape.clone(), inside));
                self.insides.len() - 1
            }
        };
        match self.insides.get(place) {
            Some((_, inside)) => Ok(inside),
            None => Err(LabError::BadInput("no such queue manager".to_owned())),
        }
    }

    /// The bare server for messages of this size.
    pub(super) fn bare(&mut self, bare: Bare, bytes: usize) -> Result<(SocketAddr, u32), LabError> {
        let known = self.bares.iter().find(|(key, _)| *key == (bare, bytes));
        if let Some((_, server)) = known {
            return Ok((server.address(), server.pid()));
        }
        let server = BareServer::start(&self.program, bare, bytes)?;
        let found = (server.address(), server.pid());
        self.bares.push(((bare, bytes), server));
        Ok(found)
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
                let address = address.ok_or_else(|| LabError::Server {
                    what: "it does not listen".to_owned(),
                    said: String::new(),
                })?;
                (inside.home.clone(), tcp_address(address))
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
        let failed = |why: String| LabError::Workload {
            what: "the delay proxy".to_owned(),
            why,
        };
        let Address::Tcp { host, port } = to else {
            return Err(failed("it passes TCP only".to_owned()));
        };
        let to: SocketAddr = format!("{host}:{port}")
            .parse()
            .map_err(|error| failed(format!("{host}:{port}: {error}")))?;
        let known = self.proxies.iter().find(|(key, _)| *key == (to, micros));
        if let Some((_, proxy)) = known {
            return Ok(tcp_address(proxy.address()));
        }
        let settings = Settings::delay(Duration::from_micros(micros));
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let proxy =
            DelayProxy::start(listen, to, settings).map_err(|error| failed(error.to_string()))?;
        let address = tcp_address(proxy.address());
        self.proxies.push(((to, micros), proxy));
        Ok(address)
    }

    /// What happened, if a queue manager has ended by itself.
    pub(super) fn ended(&mut self) -> Option<LabError> {
        let inside = self
            .insides
            .iter()
            .any(|(_, inside)| inside.manager.has_ended());
        if inside {
            return Some(LabError::Server {
                what: "it ended while it was measured; its error log says why".to_owned(),
                said: String::new(),
            });
        }
        self.servers
            .iter_mut()
            .find_map(|(_, server)| server.ended())
    }

    /// Ends everything in order.
    pub(super) fn end(mut self) -> Result<(), LabError> {
        let mut result = Ok(());
        for (_, server) in &mut self.servers {
            result = result.and(server.end());
        }
        for (_, inside) in self.insides.drain(..) {
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

/// Removes the folder of a bench, also while a queue manager is still being created in it: by its new name nobody
/// makes anything in it. Whatever cannot be removed is in the way of nobody: the folder's name is this process's.
pub(super) fn clear(root: &Path) {
    let away = root.with_extension("removed");
    let renamed = fs::rename(root, &away);
    // A file that was being made just then may still appear; a second thread may be at the same.
    for _ in 0..10 {
        let _ = fs::remove_dir_all(&away);
        if renamed.is_err() {
            let _ = fs::remove_dir_all(root);
        }
        if !away.exists() {
            return;
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cleared_folder_takes_no_more_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("posthaste-perf-1");
        fs::create_dir_all(root.join("1/log")).unwrap();
        fs::write(root.join("1/log/file"), "x").unwrap();
        clear(&root);
        assert!(fs::write(root.join("1/log/other"), "x").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        // Nothing is there, or a first attempt was broken off after the renaming.
        clear(&root);
        fs::create_dir_all(folder.path().join("posthaste-perf-1.removed/1")).unwrap();
        clear(&root);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
