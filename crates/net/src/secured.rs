//! A protocol with TLS around it, if its peer begins with TLS: the first byte tells.
//!
//! What comes is decrypted before the protocol gets it, what it has to say is encrypted before it is written. Its deadlines
//! are those of the connection from the beginning, so a handshake that is not finished ends as any connection that has not
//! said who it is.
//!
//! Invariants: a private key is used on the threads of [`Handshakes`] only; while one has the connection nothing is read.
//! What the protocol has written counts as written when the records of it are: the limits on who does not read hold
//! as without TLS. No more than [`SEALED`] bytes are encrypted before they can be written, in records of 16 KiB.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::task::Waker;

use posthaste_env::Nanos;
use posthaste_tls::{Broken, Failure, Machine, Plain, Progress};

use crate::handshakes::{Desk, Handshakes, Work};
use crate::inbound::{Inbound, ReadBuffer};
use crate::output::Output;
use crate::protocol::{Next, Protocol, Received};
use crate::wake::ConnectionWakers;

/// The first byte of whoever speaks TLS.
const HANDSHAKE: u8 = 22;
/// The part of a connection that the handshake is: no protocol has so many parts.
const TLS: u32 = u32::MAX - 1;
/// Bytes of records that wait to be written beyond which no more are made.
const SEALED: usize = 64 * 1024;
/// Bytes of records beyond which nothing is read either: what is read may want answers of TLS's own.
const UNREAD: usize = 4 * SEALED;

thread_local! {
    /// What a thread's connections decrypt into.
    static PLAIN: RefCell<ReadBuffer> = RefCell::new(ReadBuffer::new());
}

/// A protocol, and TLS around it if the peer begins with it.
pub struct Secured<P> {
    protocol: P,
    layer: Layer,
}

enum Layer {
    /// Nothing has come.
    Undecided {
        handshakes: Handshakes,
        waker: Waker,
    },
    /// Without TLS.
    Plain,
    Handshaking(Box<Handshake>),
    Open(Box<Open>),
    /// What comes is thrown away; the alert is what is left to write.
    Failed(Box<RefCell<Output>>),
}

/// A handshake.
struct Handshake {
    handshakes: Handshakes,
    waker: Waker,
    /// None while a thread has it, and before there is one.
    machine: Option<Box<Machine>>,
    at_work: bool,
    desk: Desk,
    /// What came and was not given to the threads.
    pending: Vec<u8>,
    output: RefCell<Output>,
}

/// A connection whose handshake is done.
struct Open {
    machine: Box<Machine>,
    inbound: Inbound,
    output: RefCell<Output>,
    /// Of each record that waits: where it ends in all that is written, and how much of the protocol's output it is.
    records: VecDeque<(u64, usize)>,
    /// How much of the protocol's output has become records that wait.
    sealed: usize,
    /// The peer has been told that no more comes.
    closed: bool,
}

impl<P: Protocol> Secured<P> {
    /// For a connection that begins.
    pub fn new(protocol: P, handshakes: &Handshakes, wakers: &ConnectionWakers) -> Secured<P> {
        let layer = Layer::Undecided {
            handshakes: handshakes.clone(),
            waker: wakers.waker(TLS),
        };
        Secured { protocol, layer }
    }

    /// Takes the first byte as a sign.
    fn decide(&mut self, bytes: &[u8]) {
        if let Layer::Undecided { .. } = &self.layer
            && let Some(first) = bytes.first()
        {
            let undecided = std::mem::replace(&mut self.layer, Layer::Plain);
            if let Layer::Undecided { handshakes, waker } = undecided
                && *first == HANDSHAKE
            {
                self.layer = Layer::Handshaking(Box::new(Handshake {
                    handshakes,
                    waker,
                    machine: None,
                    at_work: false,
                    desk: Desk::default(),
                    pending: Vec::new(),
                    output: RefCell::default(),
                }));
            }
        }
    }

    /// Takes back what a thread has done of the handshake, and goes on with it.
    fn shake_hands(&mut self) {
        let Layer::Handshaking(handshake) = &mut self.layer else {
            return;
        };
        if let Some(result) = handshake.collect() {
            match result {
                Err(failure) => return self.fail(failure),
                Ok(Progress::Done) => return self.open(),
                Ok(Progress::Waiting) => {}
            }
        }
        if let Layer::Handshaking(handshake) = &mut self.layer {
            handshake.go_on();
        }
    }

    /// The handshake is done: tells the protocol with whom, and hands it what has come since.
    fn open(&mut self) {
        let layer = std::mem::replace(&mut self.layer, Layer::Plain);
        let Layer::Handshaking(handshake) = layer else {
            self.layer = layer;
            return;
        };
        let Handshake {
            machine,
            pending,
            output,
            ..
        } = *handshake;
        let agreed = match &machine {
            Some(machine) => machine.agreed(),
            None => Ok(None),
        };
        let channel = machine.as_deref().and_then(named);
        let (Some(machine), Ok(Some(agreed))) = (machine, &agreed) else {
            self.layer = Layer::Failed(Box::new(output));
            let unable = || Failure::Unable("what was agreed on is not known".to_owned());
            let failure = agreed.err().unwrap_or_else(unable);
            return self.protocol.secured(Err(Broken { failure, channel }));
        };
        self.layer = Layer::Open(Box::new(Open {
            machine,
            inbound: Inbound::default(),
            output,
            records: VecDeque::new(),
            sealed: 0,
            closed: false,
        }));
        self.protocol.secured(Ok(agreed.clone()));
        self.decrypt(&pending);
    }

    /// What came is handed to the protocol, as far as whole records of it have come.
    fn decrypt(&mut self, bytes: &[u8]) {
        let Layer::Open(open) = &mut self.layer else {
            return;
        };
        open.machine.receive(bytes);
        let ended = PLAIN.with_borrow_mut(|buffer| {
            loop {
                match open.machine.read(&mut buffer.bytes) {
                    Ok(Plain::Bytes(length)) => {
                        open.inbound.hand_to(&mut self.protocol, buffer, length);
                    }
                    other => break other,
                }
            }
        });
        open.flush();
        match ended {
            Err(failure) => self.fail(failure),
            Ok(Plain::Closed) => self.protocol.lost(None),
            Ok(Plain::Bytes(_) | Plain::Waiting) => {}
        }
    }

    /// TLS has ended badly: the protocol hears of it, and the peer gets the alert.
    fn fail(&mut self, failure: Failure) {
        let (output, machine) = match std::mem::replace(&mut self.layer, Layer::Plain) {
            Layer::Handshaking(handshake) => (handshake.output, handshake.machine),
            Layer::Open(open) => (open.output, Some(open.machine)),
            other => {
                self.layer = other;
                return;
            }
        };
        self.layer = Layer::Failed(Box::new(output));
        let channel = machine.as_deref().and_then(named);
        self.protocol.secured(Err(Broken { failure, channel }));
    }

    /// The protocol ends before the handshake does: what comes until the peer has gone is not kept for it.
    fn give_up(&mut self) {
        match std::mem::replace(&mut self.layer, Layer::Plain) {
            Layer::Handshaking(handshake) => {
                self.layer = Layer::Failed(Box::new(handshake.output));
            }
            other => self.layer = other,
        }
    }

    /// Makes records of what the protocol has to say.
    fn encrypt(&mut self) {
        let Layer::Open(open) = &mut self.layer else {
            return;
        };
        let sealed = open.seal(&self.protocol.output().borrow());
        if let Err(failure) = sealed {
            self.fail(failure);
        }
    }
}

/// The channel that a client has named in its handshake.
fn named(machine: &Machine) -> Option<String> {
    machine.channel().map(str::to_owned)
}

impl Handshake {
    /// What a thread has done, if it is done.
    fn collect(&mut self) -> Option<Result<Progress, Failure>> {
        let worked = self.desk.lock().take()?;
        self.at_work = false;
        self.machine = worked.machine;
        if let Some(machine) = &mut self.machine {
            let sent = machine.output();
            self.output.get_mut().append(|out| out.append(sent));
        }
        Some(worked.result)
    }

    /// Gives what has come to a thread.
    fn go_on(&mut self) {
        if !self.at_work && !self.pending.is_empty() {
            self.at_work = true;
            self.handshakes.give(Work {
                machine: self.machine.take(),
                bytes: std::mem::take(&mut self.pending),
                desk: Desk::clone(&self.desk),
                waker: self.waker.clone(),
            });
        }
    }
}

impl Open {
    /// Makes records of the protocol's output, as long as there is room for them.
    fn seal(&mut self, plain: &Output) -> Result<(), Failure> {
        loop {
            let rest = plain.unwritten().get(self.sealed..).unwrap_or_default();
            if rest.is_empty() || self.output.get_mut().waiting() >= SEALED {
                return Ok(());
            }
            let length = self.machine.write(rest)?;
            self.flush();
            let output = self.output.get_mut();
            let end = output.progress() + output.waiting() as u64;
            self.sealed += length;
            self.records.push_back((end, length));
        }
    }

    /// Moves what TLS has to say to what is written.
    fn flush(&mut self) {
        let sent = self.machine.output();
        if !sent.is_empty() {
            self.output.get_mut().append(|out| out.append(sent));
        }
    }

    /// The protocol's output whose records are written is written; whether more of it can become records.
    fn written(&mut self, plain: &mut Output) -> bool {
        let progress = self.output.get_mut().progress();
        let mut written = 0;
        while let Some((end, length)) = self.records.front().copied()
            && end <= progress
        {
            self.records.pop_front();
            written += length;
        }
        if written > 0 {
            plain.wrote(written);
            self.sealed -= written;
        }
        self.output.get_mut().settle();
        // An idle connection keeps no room for records.
        let spare = self.machine.output();
        if spare.is_empty() {
            *spare = Vec::new();
        }
        plain.waiting() > self.sealed && self.output.get_mut().waiting() < SEALED
    }
}

impl<P: Protocol + 'static> Protocol for Secured<P> {
    fn woken(&mut self, which: u32) {
        if which != TLS {
            self.protocol.woken(which);
        }
    }

    fn receive(&mut self, bytes: &[u8], fresh: usize) -> Received {
        self.decide(bytes);
        match &mut self.layer {
            Layer::Undecided { .. } | Layer::Plain => return self.protocol.receive(bytes, fresh),
            Layer::Handshaking(handshake) => {
                handshake.pending.extend_from_slice(bytes);
                handshake.go_on();
            }
            Layer::Open(_) => self.decrypt(bytes),
            Layer::Failed(_) => {}
        }
        Received {
            used: bytes.len(),
            secret: false,
        }
    }

    fn secured(&mut self, outcome: Result<posthaste_tls::Agreed, Broken>) {
        self.protocol.secured(outcome);
    }

    fn lost(&mut self, error: Option<io::ErrorKind>) {
        self.protocol.lost(error);
    }

    fn run(&mut self, now: Nanos) {
        self.shake_hands();
        self.protocol.run(now);
        self.encrypt();
    }

    fn next(&mut self, now: Nanos) -> Next {
        if let Layer::Open(open) = &mut self.layer
            && open.written(&mut self.protocol.output().borrow_mut())
        {
            return Next::Again;
        }
        let next = self.protocol.next(now);
        if let Next::Close { .. } = next {
            self.give_up();
        }
        match (&mut self.layer, next) {
            (Layer::Handshaking(handshake), Next::Wait { at, .. }) if handshake.at_work => {
                Next::Wait { read: false, at }
            }
            (Layer::Open(open), Next::Wait { read: true, at }) => Next::Wait {
                read: open.output.get_mut().waiting() < UNREAD,
                at,
            },
            (Layer::Open(open), Next::Close { at }) => {
                let unsaid = self.protocol.output().borrow().waiting() > 0;
                if unsaid || std::mem::replace(&mut open.closed, true) {
                    // A farewell that waits is followed by that of TLS.
                    return match unsaid {
                        true => Next::Wait {
                            read: true,
                            at: Some(at),
                        },
                        false => next,
                    };
                }
                open.machine.close();
                open.flush();
                Next::Again
            }
            _ => next,
        }
    }

    /// A connection without TLS is the protocol's alone.
    fn shed(self: Box<Self>) -> Box<dyn Protocol> {
        match self.layer {
            Layer::Plain => Box::new(self.protocol),
            _ => self,
        }
    }

    fn output(&self) -> &RefCell<Output> {
        match &self.layer {
            Layer::Undecided { .. } | Layer::Plain => self.protocol.output(),
            Layer::Handshaking(handshake) => &handshake.output,
            Layer::Open(open) => &open.output,
            Layer::Failed(output) => output,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use parking_lot::Mutex;
    use posthaste_tls::both_sides::both_sides;
    use posthaste_tls::development::KeyKind;

    use super::*;
    use crate::handshakes::AcceptorSource;

    const WAIT: Next = Next::Wait {
        read: true,
        at: None,
    };
    const TIMEOUT: Duration = Duration::from_secs(30);

    /// A protocol that wants what its test says.
    struct Scripted {
        next: Next,
        output: RefCell<Output>,
    }

    impl Protocol for Scripted {
        fn woken(&mut self, _: u32) {}

        fn receive(&mut self, bytes: &[u8], _: usize) -> Received {
            Received {
                used: bytes.len(),
                secret: false,
            }
        }

        fn lost(&mut self, _: Option<io::ErrorKind>) {}

        fn run(&mut self, _: Nanos) {}

        fn next(&mut self, _: Nanos) -> Next {
            self.next
        }

        fn shed(self: Box<Self>) -> Box<dyn Protocol> {
            self
        }

        fn output(&self) -> &RefCell<Output> {
            &self.output
        }
    }

    fn secured(source: &AcceptorSource) -> Secured<Scripted> {
        Secured {
            protocol: Scripted {
                next: WAIT,
                output: RefCell::default(),
            },
            layer: Layer::Undecided {
                handshakes: Handshakes::start(1, source).unwrap(),
                waker: Waker::noop().clone(),
            },
        }
    }

    #[test]
    fn what_comes_when_the_protocol_has_ended_is_not_kept_for_the_handshake() {
        let (go_on, held) = std::sync::mpsc::channel::<()>();
        let held = Mutex::new(held);
        let source: AcceptorSource = Arc::new(move || {
            let _ = held.lock().recv();
            Err(Failure::Unable("held".to_owned()))
        });
        let mut secured = secured(&source);
        secured.receive(&[HANDSHAKE], 1);
        secured.protocol.next = Next::Close { at: 1 };
        assert!(matches!(secured.next(0), Next::Close { at: 1 }));
        secured.receive(&[0; 1 << 16], 1 << 16);
        assert!(matches!(secured.layer, Layer::Failed(_)));
        drop(go_on);
    }

    #[test]
    fn a_plain_connection_sheds_tls_and_one_that_begins_with_it_does_not() {
        let unable = || Err(Failure::Unable("none".to_owned()));
        let source: AcceptorSource = Arc::new(unable);
        let serves_alone = |first: u8| {
            let mut secured = Box::new(secured(&source));
            secured.receive(&[first], 1);
            secured.protocol.output.get_mut().append(|out| out.push(7));
            let served = secured.shed();
            let waiting = served.output().borrow().waiting();
            (waiting, size_of_val(&*served))
        };
        assert_eq!(serves_alone(b'T'), (1, size_of::<Scripted>()));
        assert_eq!(serves_alone(HANDSHAKE), (0, size_of::<Secured<Scripted>>()));
    }

    #[test]
    fn nothing_is_read_while_too_many_records_wait_to_be_written() {
        let (acceptor, connector) = both_sides(KeyKind::Ec, "ANY_TLS12").unwrap();
        let source: AcceptorSource = Arc::new(move || Ok(acceptor.clone()));
        let mut secured = secured(&source);
        let mut client = Machine::connect(&connector, "CH").unwrap();
        let begun = Instant::now();
        while !matches!(secured.layer, Layer::Open(_)) {
            assert!(begun.elapsed() < TIMEOUT, "no handshake");
            client.handshake().unwrap();
            let sent = std::mem::take(client.output());
            secured.receive(&sent, sent.len());
            secured.run(0);
            let mut output = secured.output().borrow_mut();
            client.receive(output.unwritten());
            let length = output.waiting();
            output.wrote(length);
            drop(output);
            std::thread::yield_now();
        }
        let reads = |secured: &mut Secured<Scripted>| match secured.next(0) {
            Next::Wait { read, .. } => read,
            other => panic!("{other:?}"),
        };
        assert!(reads(&mut secured));
        let fill = |out: &mut Vec<u8>| out.resize(UNREAD, 0);
        secured.output().borrow_mut().append(fill);
        assert!(!reads(&mut secured));
        secured.output().borrow_mut().wrote(UNREAD);
        assert!(reads(&mut secured));
    }
}
