//! TLS on a client's socket: how it is asked for, and the socket that threads share.
//!
//! Invariants: what is encrypted is written in the order in which it was encrypted, by one thread at a time; a reader
//! waits for the socket without holding up a writer. The server's certificate has been checked, and its name too if one
//! is demanded, before a byte of the channel protocol is sent.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use posthaste_mqi::Reason;
use posthaste_tls::{
    Allowed, Connector, Failure, KeyStore, KeyStoreError, Machine, PeerPattern, Plain, Progress,
    Reach,
};

use crate::ClientError;

/// How much is read from the socket at a time.
const CHUNK: usize = 64 * 1024;
/// What the label of a client's certificate begins with, if none is named.
const LABEL: &str = "ibmwebspheremq";

/// How TLS is used to connect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// SSLCIPH: a CipherSpec or an alias.
    pub cipher_spec: String,
    /// The key repository, PKCS#12 or PEM: whom to trust, and the client's own certificate if it has one.
    pub key_repository: PathBuf,
    /// Its password; none to have it read from the file beside it.
    pub password: Option<String>,
    /// CERTLABL: the label of the client's certificate; none for `ibmwebspheremq` and the user's name, or the only one.
    pub label: Option<String>,
    /// SSLPEER: what the name of the queue manager's certificate must match.
    pub peer: Option<String>,
}

impl Tls {
    /// With this CipherSpec, and what `MQSSLKEYR`, `MQCERTLABL` and `MQKEYRPWD` say.
    ///
    /// # Errors
    /// 2381: `MQSSLKEYR` is not set.
    pub fn from_environment(cipher_spec: &str) -> Result<Tls, ClientError> {
        let missing = || {
            failed(
                Reason::KEY_REPOSITORY_ERROR,
                "no key repository is named: set MQSSLKEYR",
            )
        };
        let repository = variable("MQSSLKEYR").ok_or_else(missing)?;
        Ok(Tls::with_repository(cipher_spec, Path::new(&repository)))
    }

    /// With this CipherSpec and key repository, and what `MQCERTLABL` and `MQKEYRPWD` say.
    pub fn with_repository(cipher_spec: &str, repository: &Path) -> Tls {
        Tls {
            cipher_spec: cipher_spec.to_owned(),
            key_repository: repository.to_owned(),
            password: variable("MQKEYRPWD"),
            label: variable("MQCERTLABL"),
            peer: None,
        }
    }

    fn connector(&self, user: &str) -> Result<Connector, ClientError> {
        let unknown =
            |error: posthaste_tls::UnknownCipherSpec| failed(Reason::SSL_CONFIG_ERROR, error);
        let unusable = |error: KeyStoreError| failed(Reason::KEY_REPOSITORY_ERROR, error);
        let allowed = Allowed::parse(&self.cipher_spec).map_err(unknown)?;
        let store = KeyStore::load(&self.key_repository, self.password.as_deref());
        let store = store.map_err(unusable)?;
        let reach = Reach {
            store: &store,
            label: self.label.as_deref(),
            otherwise: &format!("{LABEL}{}", user.to_lowercase()),
            allowed,
        };
        Connector::new(reach).map_err(unusable)
    }

    fn pattern(&self) -> Result<Option<PeerPattern>, ClientError> {
        let invalid = |error| failed(Reason::SSL_PEER_NAME_ERROR, error);
        let pattern = self.peer.as_deref().map(PeerPattern::parse);
        pattern.transpose().map_err(invalid)
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

fn failed(reason: Reason, why: impl ToString) -> ClientError {
    ClientError::Tls {
        reason,
        why: why.to_string(),
    }
}

fn broken(failure: Failure) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, failure)
}

/// A socket with TLS.
pub(crate) struct TlsStream {
    pub(crate) socket: TcpStream,
    machine: Mutex<Machine>,
    /// Whoever has it writes; it is taken before the machine.
    sending: Mutex<()>,
    /// Whoever has it reads; what comes from the socket goes through it.
    receiving: Mutex<Vec<u8>>,
}

impl TlsStream {
    /// Shakes hands for a channel; that takes no longer than `timeout`.
    pub(crate) fn connect(
        socket: TcpStream,
        tls: &Tls,
        channel: &str,
        user: &str,
        timeout: Duration,
    ) -> Result<TlsStream, ClientError> {
        let pattern = tls.pattern()?;
        let begun = Machine::connect(&tls.connector(user)?, channel);
        let mut machine = begun.map_err(|e| failed(Reason::SSL_INITIALIZATION_ERROR, e))?;
        let mut buffer = vec![0; CHUNK];
        let until = Instant::now() + timeout;
        loop {
            let progress = machine.handshake();
            let out = std::mem::take(machine.output());
            (&socket).write_all(&out)?;
            let progress = progress.map_err(|e| failed(Reason::SSL_INITIALIZATION_ERROR, e))?;
            if progress == Progress::Done {
                break;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ClientError::Silent(timeout));
            }
            socket.set_read_timeout(Some(left))?;
            match (&socket).read(&mut buffer) {
                Ok(0) => machine.lost(),
                Ok(length) => machine.receive(buffer.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(Reason::SSL_INITIALIZATION_ERROR, error)),
            }
        }
        let agreed = machine
            .agreed()
            .map_err(|e| failed(Reason::SSL_INITIALIZATION_ERROR, e))?;
        let partner = agreed
            .and_then(|agreed| agreed.partner)
            .map(|partner| partner.subject);
        if let Some(pattern) = pattern
            && !partner.as_ref().is_some_and(|name| pattern.matches(name))
        {
            let name = partner.map(|name| name.to_string()).unwrap_or_default();
            let why = format!("the queue manager's certificate is for {name}");
            return Err(failed(Reason::SSL_PEER_NAME_MISMATCH, why));
        }
        Ok(TlsStream {
            socket,
            machine: Mutex::new(machine),
            sending: Mutex::default(),
            receiving: Mutex::new(buffer),
        })
    }

    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        let mut buffer = self.receiving.lock();
        loop {
            match self.machine.lock().read(into).map_err(broken)? {
                Plain::Bytes(length) => return Ok(length),
                Plain::Closed => return Ok(0),
                Plain::Waiting => {}
            }
            let length = (&self.socket).read(&mut buffer)?;
            if length == 0 {
                return Ok(0);
            }
            let bytes = buffer.get(..length).unwrap_or_default();
            self.machine.lock().receive(bytes);
        }
    }

    pub(crate) fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        let _sending = self.sending.lock();
        let mut rest = bytes;
        while !rest.is_empty() {
            let mut machine = self.machine.lock();
            // A few records at a time: whoever reads is not held up by a long message.
            for _ in 0..4 {
                let taken = machine.write(rest).map_err(broken)?;
                rest = rest.get(taken..).unwrap_or_default();
            }
            let out = std::mem::take(machine.output());
            drop(machine);
            (&self.socket).write_all(&out)?;
        }
        Ok(())
    }

    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        // A writer that is stuck is not waited for: the socket is closed under it.
        if how != Shutdown::Read
            && let Some(_sending) = self.sending.try_lock()
        {
            let mut machine = self.machine.lock();
            machine.close();
            let out = std::mem::take(machine.output());
            drop(machine);
            // Whom it does not reach finds the connection closed.
            let _ = (&self.socket).write_all(&out);
        }
        self.socket.shutdown(how)
    }
}
