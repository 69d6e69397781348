//! `AlignedBuf`: alignment, zeroing and reuse.

use posthaste_env::{AlignedBuf, PAGE};

fn aligned(buf: &AlignedBuf) -> bool {
    buf.as_ptr().addr().is_multiple_of(PAGE)
}

#[test]
fn pages_are_aligned_and_zero() {
    for count in [1, 2, 3, 17, 256] {
        let buf = AlignedBuf::with_pages(count);
        assert!(aligned(&buf));
        assert_eq!(buf.len(), count * PAGE);
        assert_eq!(buf.pages(), count);
        assert!(buf.iter().all(|byte| *byte == 0));
    }
    assert_eq!(AlignedBuf::with_bytes(0).len(), 0);
    assert_eq!(AlignedBuf::with_bytes(1).len(), PAGE);
    assert_eq!(AlignedBuf::with_bytes(PAGE).len(), PAGE);
    assert_eq!(AlignedBuf::with_bytes(PAGE + 1).len(), 2 * PAGE);
}

#[test]
fn growing_keeps_content_and_shows_zeros() {
    let mut buf = AlignedBuf::new();
    assert!(buf.is_empty());
    for count in 1..40 {
        buf.resize_pages(count);
        assert!(aligned(&buf));
        let last = &mut buf[(count - 1) * PAGE..];
        assert!(last.iter().all(|byte| *byte == 0));
        last.fill(count as u8);
        for (at, page) in buf.chunks(PAGE).enumerate() {
            assert!(page.iter().all(|byte| *byte == at as u8 + 1));
        }
    }
}

#[test]
fn shrinking_keeps_the_memory_and_clears_what_comes_back() {
    let mut buf = AlignedBuf::with_pages(8);
    buf.fill(0xFF);
    let capacity = buf.capacity_pages();
    let address = buf.as_ptr();
    buf.resize_pages(3);
    assert_eq!(buf.len(), 3 * PAGE);
    buf.resize_pages(8);
    assert_eq!(buf.as_ptr(), address);
    assert!(buf[..3 * PAGE].iter().all(|byte| *byte == 0xFF));
    assert!(buf[3 * PAGE..].iter().all(|byte| *byte == 0));
    buf.clear();
    assert!(buf.is_empty());
    assert_eq!(buf.capacity_pages(), capacity);
    buf.resize_pages(1);
    assert!(buf.iter().all(|byte| *byte == 0));
    buf.fill(1);
    buf.zero();
    assert!(buf.iter().all(|byte| *byte == 0));
}

#[test]
fn moving_keeps_the_alignment() {
    let buffers: Vec<AlignedBuf> = (1..10).map(AlignedBuf::with_pages).collect();
    let moved: Vec<AlignedBuf> = buffers.into_iter().rev().collect();
    assert!(moved.iter().all(aligned));
}
