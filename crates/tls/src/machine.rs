//! A TLS connection as a state machine: bytes in; plain text and bytes out. It has no socket, no clock and no thread.
//!
//! Invariants: [`Machine::handshake`] is the only call that works with private keys, and may take milliseconds; all others
//! are symmetric and take microseconds. What a partner sends makes no output without bound. After a failure nothing is read
//! or written any more, but what is to be sent (the alert) still is. Plain text is made into records of 16 KiB, the last of
//! a write excepted.

use std::io::{self, Read, Write};
use std::sync::Arc;

use openssl::error::ErrorStack;
use openssl::ssl::{ErrorCode, SslStream};

use crate::certificate::Certificate;
use crate::cipher_spec::{CipherSpec, by_suite};
use crate::client_hello::{Hello, look};
use crate::context::{Acceptor, Connector, refused_subject};
use crate::failure::Failure;
use crate::server_name::{of_channel, to_channel};
use crate::validity::Validity;

/// The plain text of one record, at most.
const RECORD: usize = 16 * 1024;
/// What reading may say to the partner unasked: answers to what comes between data, and alerts. OpenSSL itself answers
/// every wish to renegotiate, however many there are, at several times its length.
const UNASKED: usize = 1024;

/// What stands between the machine and the network.
#[derive(Debug, Default)]
struct Wire {
    input: Vec<u8>,
    /// How much of it was taken.
    taken: usize,
    /// Nothing comes any more.
    ended: bool,
    /// OpenSSL has said something that is not passed on yet: that there is an end, or a failure.
    unheard: bool,
    output: Vec<u8>,
    /// The length of `output` beyond which no more is read; none during the handshake.
    most: Option<usize>,
    /// The partner has made it longer.
    flooded: bool,
}

impl Wire {
    /// Whether there is something to read. OpenSSL keeps no record that has come whole: it reads no further than it has to.
    fn is_spent(&self) -> bool {
        self.input.is_empty() && !self.ended && !self.unheard
    }

    /// Whether what was read has made too much output.
    fn is_full(&self) -> bool {
        self.flooded || self.most.is_some_and(|most| self.output.len() > most)
    }
}

impl Read for Wire {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.is_full() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let waiting = self.input.get(self.taken..).unwrap_or_default();
        if waiting.is_empty() {
            return match self.ended {
                true => Ok(0),
                false => Err(io::ErrorKind::WouldBlock.into()),
            };
        }
        let length = waiting.len().min(into.len());
        let (head, _) = waiting.split_at(length);
        if let Some(room) = into.get_mut(..length) {
            room.copy_from_slice(head);
        }
        self.taken += length;
        if self.taken == self.input.len() {
            // An idle connection keeps nothing of what has come.
            self.taken = 0;
            self.input = Vec::new();
        }
        Ok(length)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What has become of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More has to come from the partner.
    Waiting,
    /// It is done.
    Done,
}

/// What has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// So many bytes; there may be more.
    Bytes(usize),
    /// More has to come from the partner.
    Waiting,
    /// The partner has said that no more comes.
    Closed,
}

/// What two sides have agreed on, and who the other one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// The CipherSpec.
    pub spec: &'static CipherSpec,
    /// What the partner's certificate says; none if there was none.
    pub partner: Option<Certificate>,
    /// The channel that a client has named.
    pub channel: Option<String>,
    /// An earlier session goes on: no certificate was shown again.
    pub resumed: bool,
    /// The last second, from 1970 on, at which a whole handshake would find the dates of a client's certificate, of its
    /// issuers and of their lists of revoked certificates right.
    pub until: i64,
}

enum State {
    /// The client's first message has not come completely: it decides what the connection begins with.
    Greeting {
        acceptor: Acceptor,
        wire: Wire,
    },
    Stream {
        stream: SslStream<Wire>,
    },
}

/// What is in a certificate cannot be read.
fn unreadable(error: ErrorStack) -> Failure {
    Failure::BadCertificate {
        why: error.to_string(),
        expired: false,
        subject: None,
    }
}

/// A TLS connection.
pub struct Machine {
    state: State,
    /// The channel that the client's first message has named: what OpenSSL knows of it is lost when a session goes on, and
    /// may have been replaced by a second message.
    named: Option<String>,
    /// Of the accepting side.
    validity: Option<Arc<Validity>>,
}

impl Machine {
    /// The accepting side of a connection.
    pub fn accept(acceptor: &Acceptor) -> Machine {
        let state = State::Greeting {
            acceptor: acceptor.clone(),
            wire: Wire::default(),
        };
        Machine {
            state,
            named: None,
            validity: Some(Arc::clone(acceptor.validity())),
        }
    }

    /// The connecting side, for a channel.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn connect(connector: &Connector, channel: &str) -> Result<Machine, ErrorStack> {
        let ssl = connector.begin(&of_channel(channel))?;
        let stream = SslStream::new(ssl, Wire::default())?;
        Ok(Machine {
            state: State::Stream { stream },
            named: Some(channel.to_owned()),
            validity: None,
        })
    }

    fn wire(&mut self) -> &mut Wire {
        match &mut self.state {
            State::Greeting { wire, .. } => wire,
            State::Stream { stream } => stream.get_mut(),
        }
    }

    /// Bytes have come from the partner.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.wire().input.extend_from_slice(bytes);
    }

    /// No more will come.
    pub fn lost(&mut self) {
        self.wire().ended = true;
    }

    /// What is to be sent to the partner; the caller empties it.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.wire().output
    }

    /// Goes on with the handshake as far as what has come allows.
    ///
    /// # Errors
    /// There is no agreement with this partner.
    pub fn handshake(&mut self) -> Result<Progress, Failure> {
        if let State::Greeting { acceptor, wire } = &mut self.state {
            let name = match look(&wire.input) {
                Hello::Incomplete if wire.ended => return Err(Failure::Truncated),
                Hello::Incomplete => return Ok(Progress::Waiting),
                Hello::Complete(name) => name,
            };
            self.named = name.as_deref().and_then(to_channel);
            let ssl = acceptor.begin(self.named.as_deref())?;
            let stream = SslStream::new(ssl, std::mem::take(wire));
            let failed = |error: ErrorStack| Failure::Unable(error.to_string());
            self.state = State::Stream {
                stream: stream.map_err(failed)?,
            };
        }
        let State::Stream { stream } = &mut self.state else {
            return Ok(Progress::Waiting);
        };
        let done = stream.do_handshake();
        let refused = refused_subject();
        match done {
            Ok(()) => {
                if let Some(validity) = &self.validity
                    && !stream.ssl().session_reused()
                {
                    validity.note(stream.ssl()).map_err(unreadable)?;
                }
                Ok(Progress::Done)
            }
            Err(error) if error.code() == ErrorCode::WANT_READ => Ok(Progress::Waiting),
            Err(error) => Err(Failure::of(&error, stream.ssl()).of_subject(refused)),
        }
    }

    /// The channel that a client has named, as far as its first message has come.
    pub fn channel(&self) -> Option<&str> {
        self.named.as_deref()
    }

    /// What was agreed on; none before the handshake is done.
    ///
    /// # Errors
    /// The partner's certificate says what cannot be read.
    pub fn agreed(&self) -> Result<Option<Agreed>, Failure> {
        let State::Stream { stream } = &self.state else {
            return Ok(None);
        };
        let ssl = stream.ssl();
        let spec = ssl
            .current_cipher()
            .and_then(|cipher| by_suite(cipher.name()));
        let Some(spec) = spec.filter(|_| ssl.is_init_finished()) else {
            return Ok(None);
        };
        let certificate = ssl.peer_certificate();
        let until = match (&certificate, &self.validity) {
            (Some(partner), Some(validity)) => validity.until(partner).map_err(unreadable)?,
            _ => i64::MAX,
        };
        let partner = certificate
            .map(|partner| Certificate::read(&partner))
            .transpose();
        let partner = partner.map_err(unreadable)?;
        Ok(Some(Agreed {
            spec,
            partner,
            channel: self.named.clone(),
            resumed: ssl.session_reused(),
            until,
        }))
    }

    /// Reads plain text into a buffer, as much as has come of it or has room.
    ///
    /// # Errors
    /// What came was no valid record, or asks for more answers than a partner has reason to.
    pub fn read(&mut self, into: &mut [u8]) -> Result<Plain, Failure> {
        let State::Stream { stream } = &mut self.state else {
            return Ok(Plain::Waiting);
        };
        let wire = stream.get_mut();
        wire.most = Some(wire.output.len() + UNASKED);
        let read = read_what_came(stream, into);
        let wire = stream.get_mut();
        wire.flooded = wire.is_full();
        match wire.flooded {
            true => {
                let why = "the partner wants to renegotiate again and again";
                Err(Failure::BadRecord(why.to_owned()))
            }
            false => read,
        }
    }

    /// Makes one record of plain text: at most 16 KiB of it. Gives how many bytes it took.
    ///
    /// # Errors
    /// The connection has failed before.
    pub fn write(&mut self, plain: &[u8]) -> Result<usize, Failure> {
        let length = plain.len().min(RECORD);
        let (record, _) = plain.split_at(length);
        let State::Stream { stream } = &mut self.state else {
            return Ok(0);
        };
        if record.is_empty() {
            return Ok(0);
        }
        match stream.ssl_write(record) {
            Ok(written) => Ok(written),
            Err(error) => Err(Failure::of(&error, stream.ssl())),
        }
    }

    /// Tells the partner that no more comes.
    pub fn close(&mut self) {
        if let State::Stream { stream } = &mut self.state {
            // Before the handshake is done, and after a failure, there is nobody to tell.
            let _ = stream.shutdown();
        }
    }
}

fn read_what_came(stream: &mut SslStream<Wire>, into: &mut [u8]) -> Result<Plain, Failure> {
    let mut length = 0;
    loop {
        let room = into.get_mut(length..).unwrap_or_default();
        // To ask OpenSSL in vain is dear: it takes a buffer for a whole record, and overwrites all of it again.
        let nothing = || stream.get_ref().is_spent() && stream.ssl().pending() == 0;
        if room.is_empty() || nothing() {
            return Ok(match length {
                0 => Plain::Waiting,
                length => Plain::Bytes(length),
            });
        }
        match stream.ssl_read(room) {
            Ok(more) => length += more,
            // What came before is handed over first; the rest is found again.
            Err(error) if length > 0 => {
                stream.get_mut().unheard = error.code() != ErrorCode::WANT_READ;
                return Ok(Plain::Bytes(length));
            }
            Err(error) => {
                return match error.code() {
                    ErrorCode::WANT_READ => Ok(Plain::Waiting),
                    ErrorCode::ZERO_RETURN => Ok(Plain::Closed),
                    _ => Err(Failure::of_data(&error, stream.ssl())),
                };
            }
        }
    }
}
