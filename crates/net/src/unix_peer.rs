//! Who is at the other end of a Unix-domain socket, by the kernel's word.

use std::io;
use std::num::NonZeroU32;
use std::os::fd::AsFd;

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};

/// The other end of a Unix-domain socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnixPeer {
    /// Number of its user.
    pub user: u32,
    /// Number of its process; `None` if that is not seen from here, as one in another container is not.
    pub process: Option<NonZeroU32>,
}

impl UnixPeer {
    /// Who was there when the connection was made; of one that was connected to, who began to listen.
    ///
    /// # Errors
    /// The system does not say.
    pub fn of(socket: &impl AsFd) -> io::Result<UnixPeer> {
        // Not that of rustix, whose process number cannot be zero.
        let credentials = getsockopt(socket, PeerCredentials)?;
        let process = u32::try_from(credentials.pid()).ok();
        Ok(UnixPeer {
            user: credentials.uid(),
            process: process.and_then(NonZeroU32::new),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn one_end_knows_the_other() {
        let (one, _other) = UnixStream::pair().unwrap();
        let peer = UnixPeer::of(&one).unwrap();
        assert_eq!(peer.user, rustix::process::geteuid().as_raw());
        assert_eq!(peer.process, NonZeroU32::new(std::process::id()));
    }
}
