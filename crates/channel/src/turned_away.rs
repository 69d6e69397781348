//! A connection for which there is no place is told so in the protocol: the application gets 2537, not a broken
//! connection.
//!
//! Invariant: whoever is turned away costs a socket, a little memory and [`PATIENCE`] at most.

use std::time::Duration;

use posthaste_wire::server::{Incoming, ServerSocket, UNCONNECTED_LIMIT};
use posthaste_wire::{Segment, Status};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// How long the client may take to propose, and to close when it has been refused.
const PATIENCE: Duration = Duration::from_secs(2);

/// Takes a client's proposal, refuses it because no more channels may run, and closes the socket.
pub async fn turn_away<S: AsyncRead + AsyncWrite + Unpin>(stream: S) {
    // Whom it does not reach finds the socket closed.
    let _ = tokio::time::timeout(PATIENCE, refuse(stream)).await;
}

async fn refuse<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S) -> std::io::Result<()> {
    let mut socket = ServerSocket::new();
    let mut input = Vec::with_capacity(UNCONNECTED_LIMIT);
    while !proposed(&mut socket, &input) {
        if input.len() >= UNCONNECTED_LIMIT || stream.read_buf(&mut input).await? == 0 {
            return Ok(());
        }
    }
    let mut out = Vec::new();
    socket.refuse(Status::CHANNEL_UNAVAILABLE, &mut out);
    stream.write_all(&out).await?;
    stream.shutdown().await?;
    // Closing a socket with unread input would make the kernel drop what was just written.
    let mut rest = [0; 512];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

/// Whether the client's proposal has come. Who sends anything else waits until its time is over.
fn proposed(socket: &mut ServerSocket, input: &[u8]) -> bool {
    let segment = Segment::next(input, socket.limit());
    let Ok(Some(segment)) = segment else {
        return false;
    };
    let taken = socket.receive(&segment, &mut Vec::new());
    matches!(taken, Ok(Some(Incoming::Proposed(_))))
}
