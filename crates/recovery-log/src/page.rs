//! The page: 4 KiB with a 32-byte header, little-endian.
//!
//! | offset | bytes | field |
//! | --- | --- | --- |
//! | 0 | 4 | CRC-32 (IEEE) of bytes 4 to 4095 |
//! | 4 | 2 | `PH` |
//! | 6 | 1 | page format, 1 |
//! | 7 | 1 | zero |
//! | 8 | 8 | LSN of the page's first byte |
//! | 16 | 4 | generation: the restart that wrote it |
//! | 20 | 2 | bytes used, header included |
//! | 22 | 2 | offset of the first record that starts here; 0 if none does |
//! | 24 | 8 | the log's acknowledged LSN when the page was handed to the device |
//!
//! Invariants:
//! * A page is written once in a lap of the log. A page that is not full is padded, and the next record
//!   starts on the next page, so a torn write can hurt only what was never acknowledged.
//! * `forced` of a page is at most its own LSN: it speaks of earlier pages. A page whose `forced` lies
//!   beyond another page proves that the other one was acknowledged.
//! * The all-zero page is not a valid page.

use crate::limits::{HEADER, PAGE};

const MAGIC: [u8; 4] = [b'P', b'H', 1, 0];

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageHeader {
    pub(crate) lsn: u64,
    pub(crate) generation: u32,
    pub(crate) used: u16,
    pub(crate) first: u16,
    pub(crate) forced: u64,
}

impl PageHeader {
    /// Fields within their limits.
    fn is_sound(&self) -> bool {
        let page = PAGE as u64;
        let used = usize::from(self.used);
        let first = usize::from(self.first);
        self.lsn.is_multiple_of(page)
            && self.forced.is_multiple_of(page)
            && self.forced <= self.lsn
            && (HEADER + 1..=PAGE).contains(&used)
            && (first == 0 || (HEADER..used).contains(&first))
    }
}

/// Writes the header, then the checksum over everything else. `page` is one whole page.
pub(crate) fn seal(page: &mut [u8], header: &PageHeader) {
    assert!(page.len() == PAGE, "a page is 4096 bytes");
    debug_assert!(header.is_sound(), "{header:?}");
    page[4..8].copy_from_slice(&MAGIC);
    page[8..16].copy_from_slice(&header.lsn.to_le_bytes());
    page[16..20].copy_from_slice(&header.generation.to_le_bytes());
    page[20..22].copy_from_slice(&header.used.to_le_bytes());
    page[22..24].copy_from_slice(&header.first.to_le_bytes());
    page[24..32].copy_from_slice(&header.forced.to_le_bytes());
    let crc = crc32fast::hash(&page[4..]);
    page[..4].copy_from_slice(&crc.to_le_bytes());
}

/// The header, if the checksum is right and the fields are within their limits.
pub(crate) fn unseal(page: &[u8]) -> Option<PageHeader> {
    if page.len() != PAGE || page[4..8] != MAGIC {
        return None;
    }
    if u32_at(page, 0) != crc32fast::hash(&page[4..]) {
        return None;
    }
    let header = PageHeader {
        lsn: u64_at(page, 8),
        generation: u32_at(page, 16),
        used: u16_at(page, 20),
        first: u16_at(page, 22),
        forced: u64_at(page, 24),
    };
    header.is_sound().then_some(header)
}

/// `lsn` rounded down to its page.
pub(crate) fn round_down(lsn: u64) -> u64 {
    lsn - lsn % PAGE as u64
}

/// `lsn` rounded up to a page boundary.
pub(crate) fn round_up(lsn: u64) -> u64 {
    lsn.next_multiple_of(PAGE as u64)
}

/// The `N` bytes of `bytes` from `at`. The callers' buffers have fixed lengths that hold them.
pub(crate) fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, at))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> PageHeader {
        PageHeader {
            lsn: 7 * 4096,
            generation: 0x0102_0304,
            used: 4096,
            first: 32,
            forced: 3 * 4096,
        }
    }

    #[test]
    fn round_trip_and_any_changed_bit_is_noticed() {
        let mut page = vec![0xA5; PAGE];
        seal(&mut page, &header());
        assert_eq!(unseal(&page), Some(header()));
        for byte in 0..PAGE {
            page[byte] ^= 1 << (byte % 8);
            assert_eq!(unseal(&page), None, "byte {byte}");
            page[byte] ^= 1 << (byte % 8);
        }
        assert_eq!(unseal(&page), Some(header()));
    }

    #[test]
    fn no_page() {
        assert_eq!(unseal(&[]), None);
        assert_eq!(unseal(&[0; PAGE]), None);
        assert_eq!(unseal(&[0xFF; PAGE]), None);
        assert_eq!(unseal(&vec![0; PAGE + 1]), None);
    }

    #[test]
    fn a_good_checksum_does_not_excuse_impossible_fields() {
        let rows = [
            PageHeader {
                lsn: 7 * 4096 + 8,
                ..header()
            },
            PageHeader {
                forced: 8 * 4096,
                ..header()
            },
            PageHeader {
                forced: 5,
                ..header()
            },
            PageHeader {
                used: 32,
                first: 0,
                ..header()
            },
            PageHeader {
                used: 4097,
                ..header()
            },
            PageHeader {
                first: 31,
                ..header()
            },
            PageHeader {
                used: 100,
                first: 100,
                ..header()
            },
        ];
        for row in rows {
            let mut page = vec![0; PAGE];
            seal(&mut page, &header());
            page[8..16].copy_from_slice(&row.lsn.to_le_bytes());
            page[20..22].copy_from_slice(&row.used.to_le_bytes());
            page[22..24].copy_from_slice(&row.first.to_le_bytes());
            page[24..32].copy_from_slice(&row.forced.to_le_bytes());
            let crc = crc32fast::hash(&page[4..]);
            page[..4].copy_from_slice(&crc.to_le_bytes());
            assert_eq!(unseal(&page), None, "{row:?}");
        }
    }
}
