//! Threads that carry out handshakes: work with private keys takes up to milliseconds, and no lane waits so long.
//!
//! Invariants: a connection has at most one piece of work here, so there is never more than there are connections; each is
//! as far as what has come allows, and nobody waits here for a peer. The key repository is read here too, when the first
//! connection wants it.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::Waker;

use parking_lot::Mutex;
use posthaste_env::spawn;
use posthaste_tls::{Acceptor, Failure, Machine, Progress};

/// Gives what connections have in common; called on a thread that may wait for a disk.
pub type AcceptorSource = Arc<dyn Fn() -> Result<Acceptor, Failure> + Send + Sync>;

/// What has become of a piece of work.
pub(crate) struct Worked {
    /// There is none if none could be made.
    pub(crate) machine: Option<Box<Machine>>,
    pub(crate) result: Result<Progress, Failure>,
}

/// Where the connection finds it.
pub(crate) type Desk = Arc<Mutex<Option<Worked>>>;

/// A piece of work.
pub(crate) struct Work {
    /// None for a connection that begins.
    pub(crate) machine: Option<Box<Machine>>,
    /// What has come.
    pub(crate) bytes: Vec<u8>,
    pub(crate) desk: Desk,
    pub(crate) waker: Waker,
}

/// The threads. They end when the last clone of this is gone.
#[derive(Clone)]
pub struct Handshakes {
    sender: Sender<Work>,
}

impl Handshakes {
    /// Starts so many threads, at least one.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(threads: usize, source: &AcceptorSource) -> io::Result<Handshakes> {
        let (sender, receiver) = channel();
        let receiver: Arc<Mutex<Receiver<Work>>> = Arc::new(Mutex::new(receiver));
        for number in 0..threads.max(1) {
            let (receiver, source) = (Arc::clone(&receiver), Arc::clone(source));
            spawn(&format!("handshake {number}"), move || {
                // One waits for work, the others for their turn to wait.
                let next = || receiver.lock().recv();
                while let Ok(work) = next() {
                    work.carry_out(&source);
                }
            })?;
        }
        Ok(Handshakes { sender })
    }

    /// Has a piece of work done; its waker is called then.
    pub(crate) fn give(&self, work: Work) {
        if let Err(refused) = self.sender.send(work) {
            // Its threads have panicked: the connection ends, and nobody else's does.
            let failed = Err(Failure::Unable(
                "no thread is left for handshakes".to_owned(),
            ));
            refused.0.done(None, failed);
        }
    }
}

impl Work {
    fn carry_out(mut self, source: &AcceptorSource) {
        if Arc::strong_count(&self.desk) == 1 {
            // Its connection has gone.
            return;
        }
        let machine = match self.machine.take() {
            Some(machine) => Ok(machine),
            None => source().map(|acceptor| Box::new(Machine::accept(&acceptor))),
        };
        match machine {
            Err(failure) => self.done(None, Err(failure)),
            Ok(mut machine) => {
                machine.receive(&self.bytes);
                let result = machine.handshake();
                self.done(Some(machine), result);
            }
        }
    }

    fn done(self, machine: Option<Box<Machine>>, result: Result<Progress, Failure>) {
        *self.desk.lock() = Some(Worked { machine, result });
        self.waker.wake();
    }
}
