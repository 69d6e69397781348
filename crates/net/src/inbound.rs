//! The beginning of a unit whose end has not come.
//!
//! Invariant: a connection itself keeps only that, so an idle connection keeps nothing, and what a busy one keeps is
//! limited by the longest unit its protocol allows. The buffer that is read into belongs to the lane. A unit with a secret
//! leaves no copy behind where its beginning was kept, neither when more comes nor when nothing more does.

use crate::protocol::Protocol;

/// Bytes of one read.
const READ: usize = 128 * 1024;
/// Capacity that a remainder may keep however short it is.
const KEEP: usize = 4 * 1024;

/// A unit with a secret is no longer than this: what is kept of longer ones is left behind as it is.
const LONGEST_SECRET: usize = 16 * 1024;

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
            let room = self.remainder.len() + fresh.len();
            if room > self.remainder.capacity() {
                self.move_to(room);
            }
            self.remainder.extend_from_slice(fresh);
            let received = protocol.receive(&self.remainder, fresh.len());
            let used = received.used.min(self.remainder.len());
            let kept = self.shift(used, received.secret);
            self.remainder.truncate(kept);
            received
        };
        // A read may have brought much more than the beginning of a unit that is left of it.
        if self.remainder.capacity() > KEEP.max(2 * self.remainder.len()) {
            self.move_to(self.remainder.len());
        }
        if received.secret {
            buffer.erase();
        }
    }

    /// Moves what is behind so many bytes to the front, and gives how much it is. Of these, if there was a secret among them,
    /// and of where the others were nothing is left.
    fn shift(&mut self, used: usize, secret: bool) -> usize {
        let kept = self.remainder.len() - used;
        self.remainder.copy_within(used.., 0);
        if secret {
            erase(self.remainder.get_mut(kept..));
        } else if kept <= LONGEST_SECRET {
            erase(self.remainder.get_mut(used.max(kept)..));
        }
        kept
    }

    /// Moves what is kept to memory of its own, with room for so much; gives what it was in, of which nothing is left.
    fn move_to(&mut self, room: usize) -> Vec<u8> {
        let mut memory = Vec::with_capacity(room);
        memory.extend_from_slice(&self.remainder);
        let mut left = std::mem::replace(&mut self.remainder, memory);
        if left.len() <= LONGEST_SECRET {
            erase(Some(left.as_mut_slice()));
        }
        left
    }
}

impl Drop for Inbound {
    fn drop(&mut self) {
        if self.remainder.len() <= LONGEST_SECRET {
            erase(Some(self.remainder.as_mut_slice()));
        }
    }
}

/// Overwrites memory, though nobody seems to read it again.
fn erase(bytes: Option<&mut [u8]>) {
    if let Some(bytes) = bytes {
        bytes.fill(0);
        std::hint::black_box(bytes);
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
    fn a_secret_leaves_nothing_where_its_beginning_was_kept() {
        let mut inbound = Inbound {
            remainder: b"geh".to_vec(),
        };
        let left = inbound.move_to(100);
        assert_eq!((&*inbound.remainder, &*left), (&b"geh"[..], &[0; 3][..]));
        assert!(inbound.remainder.capacity() >= 100);
        for (bytes, used, secret, shifted) in [
            // Nobody knows yet that it is one.
            (&b"....geh"[..], 4, false, &b"geh.\0\0\0"[..]),
            (b"..gehe", 2, false, b"gehe\0\0"),
            // Now it is known.
            (b"gehe", 4, true, b"\0\0\0\0"),
            (b"....gehe12", 8, true, b"12\0\0\0\0\0\0\0\0"),
        ] {
            inbound.remainder = bytes.to_vec();
            assert_eq!(inbound.shift(used, secret), bytes.len() - used);
            assert_eq!(inbound.remainder, shifted);
        }
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
