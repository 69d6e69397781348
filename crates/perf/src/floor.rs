//! The floor: what the same work costs on this machine without a queue manager.
//!
//! A rate says little by itself, least of all on a machine that changes its speed; how many times the cost of
//! the bare exchange it is says much. So each measured case has a floor beside it, in the same round:
//!
//! * `echo`: an epoll loop that sends back what comes;
//! * `exchange`: a tokio server of exactly the request/reply exchange: the same bytes on the wire, the same
//!   pattern of waiting, queues in memory, and nothing else;
//! * `disk`: the disk's own forced writes.
//!
//! The servers are processes of their own (hidden commands of the program), so that their processor time is
//! counted apart. `link` is an application of both, in a loop as those of a queue manager are, `frames` is what travels.

mod disk;
mod echo;
mod exchange;
mod frames;
mod link;

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) use disk::forced_writes;
pub(crate) use link::BareLink;

use frames::Sizes;

use crate::measure::{Child, LabError};

/// Which bare server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Bare {
    /// Sends back what comes.
    Echo,
    /// The request/reply exchange.
    Exchange,
}

impl Bare {
    /// The hidden command that runs it.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Bare::Echo => "floor-echo",
            Bare::Exchange => "floor-exchange",
        }
    }
}

/// Runs a bare server in this process until standard input ends, that is until whoever started it goes.
pub(crate) fn serve(bare: Bare, message_bytes: usize) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    {
        let mut out = io::stdout().lock();
        writeln!(out, "Listening  {address}")?;
        out.flush()?;
    }
    std::thread::Builder::new()
        .name("owner".to_owned())
        .spawn(|| {
            let mut ignored = Vec::new();
            // End and failure mean the same: nobody owns this process any more.
            let _ = io::stdin().lock().read_to_end(&mut ignored);
            std::process::exit(0);
        })?;
    serve_at(listener, bare, message_bytes)
}

fn serve_at(listener: TcpListener, bare: Bare, message_bytes: usize) -> io::Result<()> {
    match bare {
        Bare::Echo => echo::serve(&listener),
        Bare::Exchange => exchange::serve(listener, Sizes::of(message_bytes)),
    }
}

/// A bare server in a process of its own.
#[derive(Debug)]
pub(crate) struct BareServer {
    child: Child,
    address: SocketAddr,
}

impl BareServer {
    /// Starts it: `program perf floor-...`.
    pub(crate) fn start(
        program: &Path,
        bare: Bare,
        message_bytes: usize,
    ) -> Result<BareServer, LabError> {
        let mut command = Command::new(program);
        command
            .args(["perf", bare.command(), &message_bytes.to_string()])
            // Kept open by the handle; when this process goes, however it goes, the other sees it.
            .stdin(Stdio::piped());
        let failed = |error: io::Error| {
            LabError::workload(format!("the bare server ({})", bare.command()), error)
        };
        let mut child = Child::start(command).map_err(failed)?;
        let address = child
            .until(|line| line.strip_prefix("Listening")?.trim().parse().ok())
            .map_err(failed)?;
        Ok(BareServer { child, address })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }
}
