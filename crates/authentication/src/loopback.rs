//! Whose socket is at the other end of a connection over loopback, by the kernel's word.
//!
//! Invariants: only a socket of this network namespace that is connected, and that a process has open, has an owner here; one
//! that is being connected, was closed or is somebody's whom this process's user namespace does not know has none. What is
//! answered is true of the connection that was asked about, and of no later one with the same addresses: its own end was there
//! after the other was looked at. That the kernel gives no answer is an error, and not nobody.
//!
//! Source: sock_diag(7), messages of AF_INET and AF_INET6 for one socket.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const IPPROTO_TCP: u8 = 6;
const TCP_ESTABLISHED: u8 = 1;
const NO_COOKIE: [u8; 8] = [0xff; 8];
/// Bytes of a message's header, and of what follows in a question and in an answer.
const HEADER: usize = 16;
const QUESTION: usize = 56;
const ANSWER: usize = 72;
/// Where an answer has what it is asked for, after its header.
const STATE: usize = 1;
const PORTS: usize = 4;
const UID: usize = 64;
const INODE: usize = 68;
/// Whom the kernel names where a user namespace does not know somebody, unless it was told another.
const OVERFLOW: u32 = 65_534;

/// A connection over loopback, seen from the end that has accepted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loopback {
    /// The address of the other end.
    pub peer: SocketAddr,
    /// The address of this end.
    pub here: SocketAddr,
    /// The number of this end's inode.
    pub inode: u64,
}

/// An end of a connection, as the kernel tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    uid: u32,
    inode: u32,
}

impl Loopback {
    /// The number of the user whose process has made the socket at the other end, if it has such an owner. Does not wait.
    ///
    /// # Errors
    /// The kernel gives no answer.
    pub fn owner(&self) -> io::Result<Option<u32>> {
        let [other, own] = ask(|kernel| {
            let other = kernel.end(self.peer, self.here)?;
            Ok([other, kernel.end(self.here, self.peer)?])
        })?;
        // Else the connection is gone, and what was found may be of one that came after it.
        let is_it = |own: End| u64::from(own.inode) == self.inode;
        let other = other.filter(|other| own.is_some_and(is_it) && other.uid != OVERFLOW);
        Ok(other.map(|other| other.uid))
    }
}

/// The number of the user who runs this process.
pub fn own_number() -> u32 {
    rustix::process::geteuid().as_raw()
}

thread_local! {
    /// What this thread has asked by: to make and close such a socket costs as much as the questions.
    static ASKED_BY: Cell<Option<Kernel>> = const { Cell::new(None) };
}

/// Asks questions of the kernel; by another socket the next time if one had no answer, which might come yet.
fn ask<T>(questions: impl FnOnce(&Kernel) -> io::Result<T>) -> io::Result<T> {
    let kernel = ASKED_BY.take().map_or_else(Kernel::open, Ok)?;
    let answers = questions(&kernel)?;
    ASKED_BY.set(Some(kernel));
    Ok(answers)
}

/// Whom the kernel answers.
struct Kernel(OwnedFd);

impl Kernel {
    fn open() -> io::Result<Kernel> {
        let (family, of) = (AddressFamily::NETLINK, SocketType::DGRAM);
        let socket = socket_with(family, of, SocketFlags::CLOEXEC, Some(SOCK_DIAG));
        Ok(Kernel(socket?))
    }

    /// The connected socket with this address of its own that a process has open.
    fn end(&self, own: SocketAddr, other: SocketAddr) -> io::Result<Option<End>> {
        let kernel = SocketAddrNetlink::new(0, 0);
        let question = question(own, other);
        sendto(&self.0, &question, SendFlags::empty(), &kernel)?;
        let mut answer = [0; 1_024];
        // The kernel answers before it has taken the question.
        let (length, _) = recv(&self.0, &mut answer[..], RecvFlags::DONTWAIT)?;
        let answer = answer.get(..length).unwrap_or_default();
        Ok(read(answer, own.port(), other.port()))
    }
}

/// The bytes of an address, in the sixteen that the question has for one.
fn address(ip: IpAddr) -> [u8; 16] {
    match ip.to_canonical() {
        IpAddr::V6(ip) => ip.octets(),
        IpAddr::V4(ip) => {
            let mut all = [0; 16];
            all[..4].copy_from_slice(&ip.octets());
            all
        }
    }
}

fn question(own: SocketAddr, other: SocketAddr) -> Vec<u8> {
    // Sockets of IPv6 that talk by IPv4 are found by the addresses that they use.
    let family = match own.ip().to_canonical() {
        IpAddr::V4(_) => AddressFamily::INET,
        IpAddr::V6(_) => AddressFamily::INET6,
    };
    let family = u8::try_from(family.as_raw()).unwrap_or(0);
    let length = u32::try_from(HEADER + QUESTION).unwrap_or(0);
    let mut bytes = Vec::with_capacity(HEADER + QUESTION);
    bytes.extend(length.to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(NLM_F_REQUEST.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([family, IPPROTO_TCP, 0, 0]);
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(own.port().to_be_bytes());
    bytes.extend(other.port().to_be_bytes());
    bytes.extend(address(own.ip()));
    bytes.extend(address(other.ip()));
    bytes.extend([0; 4]);
    bytes.extend(NO_COOKIE);
    bytes
}

/// What an answer says of the socket with these ports; none if it is an error, or the socket is not connected and open.
fn read(answer: &[u8], own: u16, other: u16) -> Option<End> {
    let word = |at: usize| -> Option<u32> {
        let bytes = answer.get(at..at + 4)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    };
    let kind = answer.get(4..6)?;
    let whole = answer.len() >= HEADER + ANSWER && kind == SOCK_DIAG_BY_FAMILY.to_ne_bytes();
    let ports = [own.to_be_bytes(), other.to_be_bytes()].concat();
    let asked_for = answer.get(HEADER + PORTS..HEADER + PORTS + 4)? == ports.as_slice();
    let connected = *answer.get(HEADER + STATE)? == TCP_ESTABLISHED;
    let (uid, inode) = (word(HEADER + UID)?, word(HEADER + INODE)?);
    // One that its process has closed has no inode, and is shown as the superuser's.
    (whole && asked_for && connected && inode != 0).then_some(End { uid, inode })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::os::unix::fs::MetadataExt;
    use std::time::{Duration, Instant};

    fn inode(stream: &TcpStream) -> u64 {
        let copy = std::fs::File::from(OwnedFd::from(stream.try_clone().unwrap()));
        copy.metadata().unwrap().ino()
    }

    fn accepted(listener: &TcpListener) -> (TcpStream, Loopback) {
        let (stream, peer) = listener.accept().unwrap();
        let seen = Loopback {
            peer,
            here: stream.local_addr().unwrap(),
            inode: inode(&stream),
        };
        (stream, seen)
    }

    fn own() -> Option<u32> {
        Some(own_number())
    }

    fn owner(seen: &Loopback) -> Option<u32> {
        seen.owner().unwrap()
    }

    #[test]
    fn the_owner_of_the_other_end_is_found_in_every_family() {
        for (listen, connect) in [
            ("127.0.0.1:0", "127.0.0.1"),
            ("127.0.0.9:0", "127.0.0.9"),
            ("[::1]:0", "::1"),
            ("[::]:0", "127.0.0.1"),
            ("[::]:0", "::ffff:127.0.0.1"),
        ] {
            // Without IPv6 there is nothing to find.
            let Ok(listener) = TcpListener::bind(listen) else {
                assert!(listen.starts_with('['), "{listen}");
                continue;
            };
            let port = listener.local_addr().unwrap().port();
            let _client = TcpStream::connect((connect, port)).unwrap();
            let (_server, seen) = accepted(&listener);
            assert_eq!(owner(&seen), own(), "{listen} {connect}");
        }
    }

    /// A closed socket is shown as the superuser's, who may well run the queue manager.
    #[test]
    fn who_has_closed_or_half_closed_has_no_owner() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let client = TcpStream::connect(to).unwrap();
        let (_server, seen) = accepted(&listener);
        assert_eq!(owner(&seen), own());
        client.shutdown(Shutdown::Write).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while owner(&seen).is_some() {
            assert!(Instant::now() < deadline, "it is shut down");
        }
        drop(client);
        assert_eq!(owner(&seen), None);
    }

    /// Who may not give sockets away tries it with his own.
    #[test]
    fn another_users_socket_is_that_users() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_server, seen) = accepted(&listener);
        assert_eq!(owner(&seen), own());
        for (user, expected) in [(1, Some(1)), (OVERFLOW, None)] {
            if std::os::unix::fs::fchown(&client, Some(user), None).is_ok() {
                assert_eq!(owner(&seen), expected);
                assert_ne!(owner(&seen), own());
            }
        }
    }

    /// The same addresses may come again.
    #[test]
    fn another_connection_with_these_addresses_is_not_taken_for_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_server, seen) = accepted(&listener);
        let later = Loopback {
            inode: seen.inode + 1,
            ..seen
        };
        assert_eq!(owner(&later), None);
        let elsewhere = Loopback {
            peer: "127.0.0.1:1".parse().unwrap(),
            ..seen
        };
        assert_eq!(owner(&elsewhere), None);
    }

    #[test]
    fn only_a_whole_answer_about_an_open_connected_socket_counts() {
        let mut answer = vec![0; HEADER + ANSWER];
        answer[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        answer[HEADER + STATE] = TCP_ESTABLISHED;
        answer[HEADER + PORTS..HEADER + PORTS + 4].copy_from_slice(&[0, 7, 0, 9]);
        answer[HEADER + UID..HEADER + UID + 4].copy_from_slice(&33_u32.to_ne_bytes());
        answer[HEADER + INODE..HEADER + INODE + 4].copy_from_slice(&5_u32.to_ne_bytes());
        assert_eq!(read(&answer, 7, 9), Some(End { uid: 33, inode: 5 }));
        assert_eq!(read(&answer, 9, 7), None, "of another socket");
        for length in 0..answer.len() {
            assert_eq!(read(&answer[..length], 7, 9), None, "{length}");
        }
        for (at, wrong) in [
            (4, 2),
            (HEADER + STATE, 2),
            (HEADER + STATE, 4),
            (HEADER + INODE, 0),
        ] {
            let mut other = answer.clone();
            other[at] = wrong;
            assert_eq!(read(&other, 7, 9), None, "{at} {wrong}");
        }
    }
}
