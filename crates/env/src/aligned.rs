//! A reusable buffer whose first byte lies on a page boundary, as `O_DIRECT` wants it.
//!
//! Invariant: `bytes[start..start + length]` is page-aligned and a whole number of pages. It is kept
//! without unsafe code by allocating one page more than asked for and starting at the first boundary.

use std::ops::{Deref, DerefMut, Range};

/// The unit of forced input and output, and of the recovery log: 4 KiB.
pub const PAGE: usize = 4096;

/// Whole pages of memory, aligned to [`PAGE`]. Pages that appear are zero.
#[derive(Default)]
pub struct AlignedBuf {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuf {
    /// No pages, nothing allocated.
    pub fn new() -> Self {
        Self::default()
    }

    /// `pages` zeroed pages.
    pub fn with_pages(pages: usize) -> Self {
        let mut buf = Self::new();
        buf.resize_pages(pages);
        buf
    }

    /// Zeroed pages enough for `bytes` bytes (rounded up).
    pub fn with_bytes(bytes: usize) -> Self {
        Self::with_pages(bytes.div_ceil(PAGE))
    }

    /// Pages in use; `len()` is this times [`PAGE`].
    pub fn pages(&self) -> usize {
        self.length / PAGE
    }

    /// Pages that fit without allocating again.
    pub fn capacity_pages(&self) -> usize {
        (self.bytes.len() - self.start) / PAGE
    }

    /// Sets the number of pages. Content that stays is kept; pages that appear are zero. Memory is
    /// never given back, so a buffer that goes round in a loop stops allocating.
    pub fn resize_pages(&mut self, pages: usize) {
        let length = pages.saturating_mul(PAGE);
        if length <= self.length {
            self.length = length;
            return;
        }
        if pages > self.capacity_pages() {
            self.reallocate(length);
        } else {
            let fresh = self.start + self.length..self.start + length;
            self.bytes[fresh].fill(0);
        }
        self.length = length;
    }

    /// Drops all content and keeps the memory.
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Sets every byte to zero.
    pub fn zero(&mut self) {
        self.fill(0);
    }

    fn reallocate(&mut self, length: usize) {
        // Doubling, so that a buffer grown page by page is copied a logarithmic number of times.
        let wanted = length.max(self.capacity_pages().saturating_mul(2 * PAGE));
        let mut bytes = vec![0_u8; wanted.saturating_add(PAGE)];
        let address = bytes.as_ptr().addr();
        let start = address.next_multiple_of(PAGE) - address;
        bytes[start..start + self.length].copy_from_slice(self);
        self.bytes = bytes;
        self.start = start;
    }

    fn range(&self) -> Range<usize> {
        self.start..self.start + self.length
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes[self.range()]
    }
}

impl DerefMut for AlignedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        let range = self.range();
        &mut self.bytes[range]
    }
}

impl std::fmt::Debug for AlignedBuf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AlignedBuf")
            .field("pages", &self.pages())
            .field("capacity_pages", &self.capacity_pages())
            .finish()
    }
}
