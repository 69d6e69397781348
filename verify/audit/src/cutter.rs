//! A bad network between some connections and the server: it delays, and cuts a connection after any byte.
//!
//! Invariants: it forwards what it is given, in order and unaltered, until it cuts; it ends with
//! [`Cutter`]'s end.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use posthaste_client::Address;
use posthaste_env_sim::Rng;

/// Doublings of 64 bytes that a connection may carry, at most.
const DOUBLINGS: u64 = 16;
/// Of a hundred pieces, so many are delayed, by up to so many microseconds.
const DELAYED: u32 = 5;
const DELAY: u64 = 2_000;

/// A listening port; connections to it go on to the server of the moment.
pub(crate) struct Cutter {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    /// Where the server listens.
    target: Mutex<Option<(String, u16)>>,
    rng: Mutex<Rng>,
    over: AtomicBool,
    cuts: AtomicU64,
}

impl Cutter {
    pub(crate) fn listen(rng: Rng) -> io::Result<Cutter> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            target: Mutex::new(None),
            rng: Mutex::new(rng),
            over: AtomicBool::new(false),
            cuts: AtomicU64::new(0),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, &accepting));
        Ok(Cutter { port, shared })
    }

    /// Sends connections to this server from now on.
    pub(crate) fn aim(&self, server: &Address) {
        let target = match server {
            Address::Tcp { host, port } => Some((host.clone(), *port)),
            Address::Unix(_) => None,
        };
        *self
            .shared
            .target
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = target;
    }

    pub(crate) fn address(&self) -> Address {
        Address::Tcp {
            host: Ipv4Addr::LOCALHOST.to_string(),
            port: self.port,
        }
    }

    /// Connections cut so far.
    pub(crate) fn cuts(&self) -> u64 {
        self.shared.cuts.load(Ordering::Relaxed)
    }
}

impl Drop for Cutter {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts; refused means that it has gone already.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        if shared.over.load(Ordering::SeqCst) {
            return;
        }
        let target = shared.target.lock().unwrap_or_else(PoisonError::into_inner);
        let (Ok(client), Some((host, port))) = (client, target.clone()) else {
            continue;
        };
        drop(target);
        // While the server is down its clients are refused: dropping the socket tells them.
        let Ok(server) = TcpStream::connect((host.as_str(), port)) else {
            continue;
        };
        if let Err(error) = relay(client, server, shared) {
            eprintln!("posthaste-audit: a connection could not be passed on: {error}");
        }
    }
}

/// Passes bytes on both ways until one side ends or the connection has carried what it may.
fn relay(client: TcpStream, server: TcpStream, shared: &Arc<Shared>) -> io::Result<()> {
    let mut rng = shared.rng.lock().unwrap_or_else(PoisonError::into_inner);
    let most = 64 << rng.below(DOUBLINGS);
    let left = Arc::new(AtomicI64::new(rng.between(1, most).cast_signed()));
    let ways = [
        (client.try_clone()?, server.try_clone()?, rng.fork()),
        (server, client, rng.fork()),
    ];
    drop(rng);
    for (from, to, rng) in ways {
        from.set_nodelay(true)?;
        let (left, shared) = (Arc::clone(&left), Arc::clone(shared));
        thread::spawn(move || pass(from, to, &left, rng, &shared));
    }
    Ok(())
}

fn pass(mut from: TcpStream, mut to: TcpStream, left: &AtomicI64, mut rng: Rng, shared: &Shared) {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        if rng.chance(DELAYED * 10_000) {
            thread::sleep(Duration::from_micros(rng.below(DELAY)));
        }
        let before = left.fetch_sub(count as i64, Ordering::SeqCst);
        let may = usize::try_from(before).unwrap_or(0).min(count);
        let passed = to.write_all(buffer.get(..may).unwrap_or_default());
        if may < count && before > 0 {
            shared.cuts.fetch_add(1, Ordering::Relaxed);
        }
        if may < count || passed.is_err() {
            break;
        }
    }
    // Either may be gone already; then there is nothing to end.
    for socket in [from, to] {
        let _ = socket.shutdown(Shutdown::Both);
    }
}
