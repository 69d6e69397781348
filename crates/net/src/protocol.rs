//! What a protocol is to whoever runs its connections: bytes in; bytes and deadlines out.
//!
//! A protocol's connection is a state machine without socket, clock, thread or task. A lane ([`crate::Lanes`]) runs many
//! of them on sockets, [`crate::drive`] runs one on any stream and any clock. Whoever runs it
//!
//! 1. says what has happened: [`Protocol::woken`], [`Protocol::receive`], [`Protocol::secured`], [`Protocol::lost`];
//! 2. lets it do everything that can be done now: [`Protocol::run`];
//! 3. writes what [`Protocol::output`] holds, once;
//! 4. asks what it wants next: [`Protocol::next`].
//!
//! Invariants: all of it is called by one thread; after [`Next::Over`] nothing is called any more.

use std::cell::RefCell;
use std::io;

use posthaste_env::Nanos;
use posthaste_tls::{Agreed, Broken};

use crate::output::Output;

/// One connection of a protocol.
pub trait Protocol {
    /// A waker for `which` of the connection's parts has been called ([`crate::ConnectionWakers::waker`]).
    fn woken(&mut self, which: u32);

    /// Bytes have come, the last `fresh` of them now; says what has become of them. What is not used comes again, with
    /// more behind it.
    fn receive(&mut self, bytes: &[u8], fresh: usize) -> Received;

    /// TLS around the connection has come about, before anything was received; or it has failed, and nothing is received
    /// any more.
    fn secured(&mut self, _: Result<Agreed, Broken>) {}

    /// The peer has closed its side, or the connection has failed: nothing comes any more.
    fn lost(&mut self, error: Option<io::ErrorKind>);

    /// Does everything that can be done at this time.
    fn run(&mut self, now: Nanos);

    /// Says what is wanted, after output was written as far as the peer takes it.
    fn next(&mut self, now: Nanos) -> Next;

    /// What serves the connection from now on, asked once, after the first bytes were received: what was around a protocol
    /// and has turned out not to be needed costs it nothing any more.
    fn shed(self: Box<Self>) -> Box<dyn Protocol>;

    /// What waits for the peer.
    fn output(&self) -> &RefCell<Output>;
}

/// What became of received bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// How many, from the beginning, are not needed any more.
    pub used: usize,
    /// A secret was among them: the buffer they came in is overwritten.
    pub secret: bool,
}

/// What a connection wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// To run again at once.
    Again,
    /// To be run when one of its parts is woken, when output that waits can be written, at the latest `at`, and, if it
    /// reads, when something comes.
    Wait {
        /// Whether it takes input.
        read: bool,
        /// When it wants to be run at the latest.
        at: Option<Nanos>,
    },
    /// To be run when one of its parts is woken; nothing is read meanwhile.
    Settle,
    /// The same as to wait and read, and when all output is written the peer is told that no more comes.
    Close {
        /// When it wants to be run at the latest.
        at: Nanos,
    },
    /// Nothing: the connection is closed.
    Over,
}
