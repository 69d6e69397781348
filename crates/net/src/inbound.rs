//! The beginning of a unit whose end has not come.
//!
//! Invariant: a connection itself keeps only that, so an idle connection keeps nothing, and what a busy one keeps is
//! limited by the longest unit its protocol allows. The buffer that is read into belongs to the lane.

use crate::protocol::Protocol;

/// Bytes of one read.
const READ: usize = 128 * 1024;
/// Capacity that a remainder may keep however short it is.
const KEEP: usize = 4 * 1024;

/// What a lane reads into.
#[derive(Debug)]
pub(crate) struct ReadBuffer {
    pub(crate) bytes: Vec<u8>,
    /// Bytes that any read has reached since it was overwritten last.
    used: usize,
}

impl ReadBuffer {
    pub(crate) fn new() -> ReadBuffer {
        ReadBuffer {
            bytes: vec![0; READ],
            used: 0,
        }
    }

    /// Overwrites what was read. Parts of a secret may have come by earlier reads.
    fn erase(&mut self) {
        if let Some(used) = self.bytes.get_mut(..self.used) {
            used.fill(0);
        }
        self.used = 0;
    }
}

/// The reading side of a connection.
#[derive(Debug, Default)]
pub(crate) struct Inbound {
    remainder: Vec<u8>,
}

impl Inbound {
    /// Hands what was read, behind what is left of earlier reads, to the protocol: the first `length` bytes of the
    /// buffer. Should a secret have been among it, it is left nowhere.
    pub(crate) fn hand_to(
        &mut self,
        protocol: &mut dyn Protocol,
        buffer: &mut ReadBuffer,
        length: usize,
    ) {
        buffer.used = buffer.used.max(length);
        let fresh = buffer.bytes.get(..length).unwrap_or(&[]);
        let received = if self.remainder.is_empty() {
            let received = protocol.receive(fresh, fresh.len());
            let rest = fresh.get(received.used..).unwrap_or(&[]);
            self.remainder.extend_from_slice(rest);
            received
        } else {
            self.remainder.extend_from_slice(fresh);
            let received = protocol.receive(&self.remainder, fresh.len());
            let used = received.used.min(self.remainder.len());
            self.remainder.drain(..used);
            received
        };
        // A read may have brought much more than the beginning of a unit that is left of it.
        if self.remainder.capacity() > KEEP.max(2 * self.remainder.len()) {
            self.remainder.shrink_to_fit();
        }
        if received.secret {
            buffer.erase();
            self.erase();
        }
    }

    /// Overwrites what the used part of the remainder has left behind.
    fn erase(&mut self) {
        let kept = self.remainder.len();
        self.remainder.resize(self.remainder.capacity(), 0);
        self.remainder.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Output;
    use crate::protocol::{Next, Received};
    use std::cell::RefCell;

    /// Units of four bytes; `gehe` is a secret.
    #[derive(Default)]
    struct Fours {
        seen: Vec<Vec<u8>>,
        output: RefCell<Output>,
    }

    impl Protocol for Fours {
        fn woken(&mut self, _: u32) {}
        fn receive(&mut self, bytes: &[u8], _: usize) -> Received {
            let chunks = bytes.chunks_exact(4);
            let used = bytes.len() - chunks.remainder().len();
            let before = self.seen.len();
            self.seen.extend(chunks.map(<[u8]>::to_vec));
            let secret = self.seen[before..].iter().any(|four| four == b"gehe");
            Received { used, secret }
        }
        fn lost(&mut self, _: Option<std::io::ErrorKind>) {}
        fn run(&mut self, _: u64) {}
        fn next(&mut self, _: u64) -> Next {
            Next::Over
        }
        fn shed(self: Box<Self>) -> Box<dyn Protocol> {
            self
        }
        fn output(&self) -> &RefCell<Output> {
            &self.output
        }
    }

    /// Hands bytes over; gives what is left of them in the buffer.
    fn hand(
        inbound: &mut Inbound,
        fours: &mut Fours,
        buffer: &mut ReadBuffer,
        bytes: &[u8],
    ) -> Vec<u8> {
        buffer.bytes[..bytes.len()].copy_from_slice(bytes);
        inbound.hand_to(fours, buffer, bytes.len());
        buffer.bytes.clone()
    }

    #[test]
    fn the_rest_of_a_large_read_takes_no_more_room_than_it_needs() {
        let (mut inbound, mut fours) = (Inbound::default(), Fours::default());
        let mut buffer = ReadBuffer::new();
        for part in [&[1; 3][..], &[1; 100_000]] {
            hand(&mut inbound, &mut fours, &mut buffer, part);
        }
        assert_eq!(fours.seen.len(), 100_003 / 4);
        assert!(inbound.remainder.capacity() <= KEEP);
    }

    #[test]
    fn what_was_secret_is_erased_however_it_came() {
        let (mut inbound, mut fours) = (Inbound::default(), Fours::default());
        let mut buffer = ReadBuffer::new();
        let left = hand(&mut inbound, &mut fours, &mut buffer, b"beforegeh");
        assert!(left.starts_with(b"beforegeh"));
        assert_eq!(fours.seen, [b"befo", b"rege"], "nothing secret so far");
        let left = hand(&mut inbound, &mut fours, &mut buffer, b"....gehe12");
        assert_eq!(fours.seen[2..], [b"h...", b".geh"]);
        assert!(left.starts_with(b"....gehe12"));
        let left = hand(&mut inbound, &mut fours, &mut buffer, b".gehe12");
        assert_eq!(fours.seen.last().unwrap(), b"gehe");
        assert!(left.iter().all(|byte| *byte == 0), "nothing is left of it");
        assert_eq!(inbound.remainder, b"12", "what is not handled yet stays");
        let left = hand(&mut inbound, &mut fours, &mut buffer, b"34");
        assert!(left.starts_with(b"34\0"));
    }

    #[test]
    fn units_across_reads_are_put_together_and_nothing_is_kept_after() {
        let (mut inbound, mut fours) = (Inbound::default(), Fours::default());
        let mut buffer = ReadBuffer::new();
        for part in [&b"abcdef"[..], b"g", b"hij", b"kl"] {
            hand(&mut inbound, &mut fours, &mut buffer, part);
        }
        assert_eq!(fours.seen, [b"abcd", b"efgh", b"ijkl"]);
        assert!(inbound.remainder.is_empty());
    }
}
