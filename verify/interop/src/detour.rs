//! A way to a queue manager that can be cut, and led to where the queue manager has its port by now.
//!
//! Invariants: clients keep one address however often the queue manager starts again; whoever connects while nobody listens
//! at the other end is hung up on, as by a machine whose queue manager does not run.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

#[derive(Debug)]
struct Ways {
    server: SocketAddr,
    /// Both ends of each connection; those that have ended stay until the next cut.
    open: Vec<(TcpStream, TcpStream)>,
}

/// A way. It ends with the process.
#[derive(Debug)]
pub struct Detour {
    address: SocketAddr,
    ways: Arc<Mutex<Ways>>,
}

/// Copies until one end has gone, and then lets the other know.
fn copy(mut from: TcpStream, mut to: TcpStream) {
    // How a connection ends is the cases' affair.
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

fn carry(client: TcpStream, ways: &Mutex<Ways>) -> io::Result<()> {
    // A cut finds the connection, or finds none: the lock is held until it is among the open ones.
    let mut ways = ways.lock().unwrap_or_else(PoisonError::into_inner);
    let server = TcpStream::connect(ways.server)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (from, to) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || copy(from, to));
    let (from, to) = (server.try_clone()?, client.try_clone()?);
    thread::spawn(move || copy(from, to));
    ways.open.push((client, server));
    Ok(())
}

impl Detour {
    /// Listens, and leads to a queue manager.
    ///
    /// # Errors
    /// No address can be had.
    pub fn to(server: SocketAddr) -> io::Result<Detour> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let ways = Arc::new(Mutex::new(Ways {
            server,
            open: Vec::new(),
        }));
        let shared = Arc::clone(&ways);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // Where nobody listens the client is dropped, and tries again if it wants to.
                let _ = carry(client, &shared);
            }
        });
        Ok(Detour { address, ways })
    }

    /// Where clients are to connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Leads whoever connects from now on to `server`.
    pub fn lead_to(&self, server: SocketAddr) {
        self.ways
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .server = server;
    }

    /// Breaks every connection that there is; how many there were.
    pub fn cut(&self) -> usize {
        let mut ways = self.ways.lock().unwrap_or_else(PoisonError::into_inner);
        let open = std::mem::take(&mut ways.open);
        for (client, server) in &open {
            let _ = client.shutdown(Shutdown::Both);
            let _ = server.shutdown(Shutdown::Both);
        }
        open.len()
    }
}
