//! The bare exchange: what remains of a request/reply when the queue manager is taken away.
//!
//! Written as a good asynchronous server is: tokio with a worker for each processor, one read parsed for all its
//! requests, an output buffer per connection that whoever delivers appends to and that is written once per batch.
//! A put that meets a waiting get goes straight into the getter's buffer; otherwise it waits in a queue in memory.
//!
//! Invariants: the frames of a connection leave in the order in which they were appended; a lock is held for
//! a copy or a write, never across a wait.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;

use bytes::{Buf, BytesMut};
use parking_lot::Mutex;
use tokio::io::AsyncReadExt;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use super::frames::{HEADER, Header, Kind, Sizes};

/// Pairs of queues.
pub(super) const PAIRS: usize = 10;
/// Room that a read is given at least.
const READ: usize = 64 << 10;

/// A connection's way out.
struct Outbound {
    write: OwnedWriteHalf,
    out: Mutex<Out>,
}

#[derive(Default)]
struct Out {
    bytes: Vec<u8>,
    /// Somebody is going to write it.
    claimed: bool,
}

/// A pair of queues.
#[derive(Default)]
struct Pair {
    requests: VecDeque<(u64, Vec<u8>)>,
    getters: VecDeque<Arc<Outbound>>,
    replies: HashMap<u64, Vec<u8>>,
    waiters: HashMap<u64, Arc<Outbound>>,
}

struct Exchange {
    sizes: Sizes,
    pairs: [Mutex<Pair>; PAIRS],
}

/// Serves for ever.
pub(super) fn serve(listener: std::net::TcpListener, sizes: Sizes) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_name("exchange")
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let exchange = Arc::new(Exchange {
            sizes,
            pairs: std::array::from_fn(|_| Mutex::default()),
        });
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let (read, write) = stream.into_split();
            let outbound = Arc::new(Outbound {
                write,
                out: Mutex::default(),
            });
            let exchange = exchange.clone();
            tokio::spawn(async move { exchange.connection(read, outbound).await });
        }
    })
}

impl Exchange {
    async fn connection(&self, mut read: OwnedReadHalf, outbound: Arc<Outbound>) {
        let mut input = BytesMut::with_capacity(READ);
        let mut dirty: Vec<Arc<Outbound>> = Vec::new();
        loop {
            input.reserve(READ);
            match read.read_buf(&mut input).await {
                Ok(0) | Err(_) => return self.forget(&outbound),
                Ok(_) => {}
            }
            let mut at = 0;
            while let Some(header) = input.get(at..).and_then(Header::decode) {
                let Some(frame) = input.get(at..at + header.length) else {
                    break;
                };
                at += header.length;
                let body = frame.get(HEADER..).unwrap_or_default();
                self.serve(&header, body, &outbound, &mut dirty);
            }
            match at == input.len() {
                true => input.clear(),
                false => input.advance(at),
            }
            for connection in dirty.drain(..) {
                connection.flush();
            }
        }
    }

    /// A connection is gone: nothing goes to it any more.
    fn forget(&self, gone: &Arc<Outbound>) {
        for pair in &self.pairs {
            let mut pair = pair.lock();
            pair.getters.retain(|getter| !Arc::ptr_eq(getter, gone));
            pair.waiters.retain(|_, waiter| !Arc::ptr_eq(waiter, gone));
        }
    }

    /// Carries one request out; whose output grew is added to `dirty`.
    fn serve(
        &self,
        header: &Header,
        body: &[u8],
        own: &Arc<Outbound>,
        dirty: &mut Vec<Arc<Outbound>>,
    ) {
        let Some(pair) = self.pairs.get(usize::from(header.queue) % PAIRS) else {
            return;
        };
        let id = header.identifier;
        match header.kind {
            Kind::PutRequest | Kind::PutReply => {
                own.append(
                    &self.answer(header, Kind::Done, self.sizes.done),
                    &[],
                    dirty,
                );
                let getter = {
                    let mut pair = pair.lock();
                    let getter = match header.kind {
                        Kind::PutRequest => pair.getters.pop_front(),
                        _ => pair.waiters.remove(&id),
                    };
                    if getter.is_none() && header.kind == Kind::PutRequest {
                        pair.requests.push_back((id, body.to_vec()));
                    } else if getter.is_none() {
                        pair.replies.insert(id, body.to_vec());
                    }
                    getter
                };
                if let Some(getter) = getter {
                    let head = self.answer(header, Kind::Message, self.sizes.message);
                    getter.append(&head, body, dirty);
                }
            }
            Kind::GetRequest | Kind::GetReply => {
                let found = {
                    let mut pair = pair.lock();
                    let found = match header.kind {
                        Kind::GetRequest => pair.requests.pop_front(),
                        _ => pair.replies.remove(&id).map(|body| (id, body)),
                    };
                    if found.is_none() && header.kind == Kind::GetRequest {
                        pair.getters.push_back(own.clone());
                    } else if found.is_none() {
                        pair.waiters.insert(id, own.clone());
                    }
                    found
                };
                if let Some((identifier, body)) = found {
                    let head = Header {
                        identifier,
                        ..self.answer(header, Kind::Message, self.sizes.message)
                    };
                    own.append(&head, &body, dirty);
                }
            }
            Kind::Done | Kind::Message => {}
        }
    }

    fn answer(&self, request: &Header, kind: Kind, length: usize) -> Header {
        Header {
            length,
            kind,
            ..*request
        }
    }
}

impl Outbound {
    fn append(self: &Arc<Self>, header: &Header, body: &[u8], dirty: &mut Vec<Arc<Outbound>>) {
        let mut out = self.out.lock();
        header.append(body, &mut out.bytes);
        if !out.claimed {
            out.claimed = true;
            dirty.push(self.clone());
        }
    }

    /// Writes what has gathered. What the peer does not take at once is left to a task that waits for it.
    fn flush(self: Arc<Self>) {
        if !self.write_once() {
            tokio::spawn(async move {
                while self.write.writable().await.is_ok() && !self.write_once() {}
            });
        }
    }

    /// Whether nothing is left to write.
    fn write_once(&self) -> bool {
        let mut out = self.out.lock();
        match self.write.try_write(&out.bytes) {
            Ok(count) if count >= out.bytes.len() => out.bytes.clear(),
            Ok(count) => drop(out.bytes.drain(..count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // The connection is gone; its reader sees it too.
            Err(_) => out.bytes.clear(),
        }
        let empty = out.bytes.is_empty();
        out.claimed = !empty;
        empty
    }
}
