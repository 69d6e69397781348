//! What waits for a peer: one buffer, appended to by the connection's parts, written once per turn of its lane.
//!
//! Invariants: bytes leave in the order in which they were appended. Appending never waits: whoever produces output asks
//! [`Output::waiting`] first, so that a peer that does not read is held at the limit plus one unit per producer. A
//! connection without output keeps no buffer ([`Output::settle`]).

use std::cell::RefCell;

/// Largest buffer that is kept for the next batch.
const KEEP: usize = 64 * 1024;
/// Spare buffers per thread.
const SPARES: usize = 16;

thread_local! {
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

fn spare() -> Vec<u8> {
    SPARE
        .with(|spare| spare.borrow_mut().pop())
        .unwrap_or_default()
}

fn give_back(mut buffer: Vec<u8>) {
    buffer.clear();
    if buffer.capacity() == 0 || buffer.capacity() > KEEP {
        return;
    }
    SPARE.with(|spare| {
        let mut spare = spare.borrow_mut();
        if spare.len() < SPARES {
            spare.push(buffer);
        }
    });
}

/// A connection's output.
#[derive(Debug, Default)]
pub struct Output {
    bytes: Vec<u8>,
    /// How much of it is written.
    at: usize,
    progress: u64,
    writes: u64,
    closed: bool,
}

impl Output {
    /// Nothing waits.
    pub fn new() -> Output {
        Output::default()
    }

    /// Appends.
    pub fn append<R>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        if self.closed {
            return write(&mut Vec::new());
        }
        if self.bytes.capacity() == 0 {
            self.bytes = spare();
        }
        write(&mut self.bytes)
    }

    /// Bytes that wait for the peer.
    pub fn waiting(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Those bytes.
    pub fn unwritten(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    /// The first of them are written.
    pub fn wrote(&mut self, written: usize) {
        self.at = self.bytes.len().min(self.at + written);
        self.progress += written as u64;
        self.writes += 1;
        if self.at == self.bytes.len() {
            self.bytes.clear();
            self.at = 0;
        } else if self.at > KEEP.max(self.waiting()) {
            self.bytes.drain(..self.at);
            self.at = 0;
        }
    }

    /// Gives the buffer back if nothing waits in it.
    pub fn settle(&mut self) {
        if self.bytes.is_empty() && self.bytes.capacity() > 0 {
            give_back(std::mem::take(&mut self.bytes));
        }
    }

    /// Bytes written since the start.
    pub fn progress(&self) -> u64 {
        self.progress
    }

    /// Writes that took something since the start.
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// Bytes of memory that it keeps.
    pub fn kept(&self) -> usize {
        self.bytes.capacity()
    }

    /// Nothing more will be written: what waits, and what is appended from now on, is dropped.
    pub fn close(&mut self) {
        self.closed = true;
        self.at = 0;
        self.bytes = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_leave_in_order_however_they_are_written() {
        let mut output = Output::new();
        let mut left = Vec::new();
        for round in 0..200_000_u32 {
            output.append(|out| out.extend_from_slice(&round.to_be_bytes()));
            // The peer takes a little less than comes.
            let part = output.unwritten()[..3].to_vec();
            output.wrote(part.len());
            left.extend(part);
        }
        assert!(output.kept() < 1 << 20, "what is written is not kept");
        assert_eq!(output.waiting(), 200_000);
        left.extend_from_slice(output.unwritten());
        output.wrote(200_000);
        let expected: Vec<u8> = (0..200_000_u32).flat_map(u32::to_be_bytes).collect();
        assert!(left == expected);
        assert_eq!((output.waiting(), output.progress()), (0, 800_000));
    }

    #[test]
    fn without_output_no_buffer_is_kept() {
        let mut output = Output::new();
        output.append(|out| out.resize(40_000, 7));
        output.settle();
        assert!(output.kept() >= 40_000, "something waits");
        output.wrote(40_000);
        output.settle();
        assert_eq!(output.kept(), 0);
        // The buffer of that answer is the spare one that the next request finds.
        output.append(|_| ());
        assert!(output.kept() >= 40_000);
        output.settle();
        assert_eq!(output.kept(), 0, "that request was not answered yet");
    }

    #[test]
    fn closing_drops_output() {
        let mut output = Output::new();
        output.append(|out| out.push(1));
        output.close();
        output.append(|out| out.push(1));
        assert_eq!(output.waiting(), 0);
    }
}
