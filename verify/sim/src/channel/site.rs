//! The side of the queue manager: the product's registry of channel instances and its state machine of a connection,
//! each on a task of the simulated executor, and on the simulated clock.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use posthaste_channel::{Caller, Limits, Registry, serve};
use posthaste_engine::QueueManager;
use posthaste_env::Clock;
use posthaste_env_sim::{PipeEnd, Rng, Shape, SimExecutor, SimNetwork, Wire};
use posthaste_net::{Peer, Traffic};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::line::Gate;
use super::plan::Channels;
use crate::machine::Machine;
use crate::workload::World;

/// A simulated connection as the product's task wants it. It notes when that task can no longer be serving: from then
/// on what was not committed may be backed out, although answers may still be on their way.
struct Socket {
    pipe: PipeEnd,
    ending: Arc<AtomicBool>,
}

impl Socket {
    fn end(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.end();
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let room = buffer.initialize_unfilled();
        let read = self.pipe.poll_read(context, room);
        if matches!(read, Poll::Ready(Ok(0) | Err(_))) {
            self.end();
        }
        read.map_ok(|read| buffer.advance(read))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = self.pipe.poll_write(context, bytes);
        if matches!(written, Poll::Ready(Err(_))) {
            self.end();
        }
        written
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.end();
        self.pipe.shut_down();
        Poll::Ready(Ok(()))
    }
}

/// A connection as its client has it.
pub(crate) struct Accepted {
    pub(crate) pipe: PipeEnd,
    pub(crate) wire: Wire,
    /// Opens when the server has done with it.
    pub(crate) gone: Rc<Gate>,
    /// The server ends it, or has begun to.
    pub(crate) ending: Arc<AtomicBool>,
}

/// Limits that are met in seconds of simulated time.
pub(crate) const LIMITS: Limits = Limits {
    handshake: Duration::from_secs(4),
    checks: Duration::from_secs(4),
    stall: Duration::from_secs(3),
    output: 64 * 1024,
    input: 1024 * 1024,
    farewell: Duration::from_secs(1),
    unfinished: 256 * 1024,
    unfinished_in_all: 8 * 1024 * 1024,
    output_in_all: 8 * 1024 * 1024,
};

/// The channels of a running queue manager, and where their clients are.
pub(crate) struct Site {
    pub(crate) qm: QueueManager,
    pub(crate) registry: Arc<Registry>,
    pub(crate) executor: SimExecutor,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) shared: World,
    pub(crate) plan: Channels,
    /// Draws connections and what is done to them.
    pub(crate) rng: RefCell<Rng>,
    network: SimNetwork,
    connections: Cell<u16>,
    /// Connections by their channels.
    open: RefCell<Vec<(String, Arc<AtomicBool>)>>,
}

impl Site {
    pub(crate) fn new(machine: &Machine, shared: &World, plan: &Channels, rng: Rng) -> Rc<Site> {
        let clock = machine.env().clock;
        let qm = machine.qm().clone();
        let operator = machine.operator.clone();
        let limits = Limits {
            unfinished_in_all: plan.unfinished_in_all,
            ..LIMITS
        };
        Rc::new(Site {
            registry: Registry::new(qm.clone(), operator, limits, Arc::clone(&clock)),
            qm,
            executor: machine.world.executor().clone(),
            clock,
            shared: Rc::clone(shared),
            plan: plan.clone(),
            rng: RefCell::new(rng),
            network: machine.world.network().clone(),
            connections: Cell::new(0),
            open: RefCell::default(),
        })
    }

    /// A client connects that will name this channel.
    pub(crate) fn accept(&self, shape: Shape, channel: &str) -> Accepted {
        let (pipe, server, wire) = self.network.connect(shape);
        self.connections.set(self.connections.get().wrapping_add(1));
        let caller = Caller {
            peer: Peer::Tcp(([10, 0, 0, 1], self.connections.get()).into()),
            user: None,
            loopback: None,
            traffic: Arc::new(Traffic::default()),
        };
        let gone = Rc::new(Gate::default());
        let gate = Rc::clone(&gone);
        let ending = Arc::new(AtomicBool::new(false));
        let socket = Socket {
            pipe: server,
            ending: Arc::clone(&ending),
        };
        let mut open = self.open.borrow_mut();
        open.retain(|(_, ending)| Arc::strong_count(ending) > 1);
        open.push((channel.to_owned(), Arc::clone(&ending)));
        let serving = serve(socket, caller, Arc::clone(&self.registry));
        self.executor.spawn("connection", async move {
            serving.await;
            gate.open();
        });
        Accepted {
            pipe,
            wire,
            gone,
            ending,
        }
    }

    /// STOP CHANNEL, or for `None` the end of the queue manager: what is not committed on these connections may be
    /// backed out from now on.
    pub(crate) fn note_end(&self, channel: Option<&str>) {
        for (name, ending) in &*self.open.borrow() {
            if channel.is_none_or(|channel| channel == name) {
                ending.store(true, Ordering::Relaxed);
            }
        }
    }

    pub(crate) fn met(&self, what: &str) {
        self.shared.borrow_mut().coverage.met(what);
    }

    /// Something waits that should not.
    pub(crate) fn stuck(&self, what: String) {
        self.shared.borrow_mut().stuck.get_or_insert(what);
    }

    pub(crate) fn below(&self, n: u64) -> u64 {
        self.rng.borrow_mut().below(n)
    }

    pub(crate) fn chance(&self, per_million: u32) -> bool {
        self.rng.borrow_mut().chance(per_million)
    }

    pub(crate) fn stopping(&self) -> bool {
        self.shared.borrow().stopping
    }

    pub(crate) async fn sleep(&self, nanos: u64) {
        let at = self.clock.monotonic() + nanos;
        self.clock.sleep_until(at).await;
    }
}
