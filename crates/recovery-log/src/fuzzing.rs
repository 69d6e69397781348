//! Entry points for fuzzing: any bytes, no panic; what is understood is written back the same.

use crate::control::Slot;
use crate::limits::PAGE;
use crate::page;
use crate::record;

/// One page.
pub fn page(bytes: &[u8]) {
    let Some(header) = page::unseal(bytes) else {
        return;
    };
    let mut again = bytes.to_vec();
    again[..32].fill(0);
    page::seal(&mut again, &header);
    assert!(again == bytes, "a page changed when it was written back");
}

/// A page whose checksum is made right first, so that the fields are reached.
pub fn page_with_checksum(bytes: &[u8]) {
    let mut whole = vec![0; PAGE];
    let count = bytes.len().min(PAGE);
    whole[..count].copy_from_slice(&bytes[..count]);
    whole[4..8].copy_from_slice(&[b'P', b'H', 1, 0]);
    let crc = crc32fast::hash(&whole[4..]);
    whole[..4].copy_from_slice(&crc.to_le_bytes());
    page(&whole);
}

/// A record header at an LSN: the first 8 bytes are the LSN, the next 8 the header.
pub fn record(bytes: &[u8]) {
    let Some((start, rest)) = bytes.split_first_chunk::<8>() else {
        return;
    };
    let Some(header) = rest.first_chunk::<8>() else {
        return;
    };
    let start = u64::from_le_bytes(*start);
    if let Some(length) = record::decode(start, header) {
        let again = u32::try_from(length).map(|length| record::encode(start, length));
        assert!(again.as_ref() == Ok(header), "a record header changed");
    }
}

/// One slot of the control file.
pub fn control(bytes: &[u8]) {
    let Ok(slot) = Slot::decode(bytes) else {
        return;
    };
    let mut again = vec![0; PAGE];
    slot.encode(&mut again);
    assert!(Slot::decode(&again).as_ref() == Ok(&slot), "a slot changed");
}

/// A slot whose checksum is made right first.
pub fn control_with_checksum(bytes: &[u8]) {
    let mut whole = vec![0; PAGE];
    let count = bytes.len().min(PAGE);
    whole[..count].copy_from_slice(&bytes[..count]);
    whole[4..12].copy_from_slice(b"PHLC\x01\0\0\0");
    let crc = crc32fast::hash(&whole[4..]);
    whole[..4].copy_from_slice(&crc.to_le_bytes());
    control(&whole);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator, so that the entry points are exercised in every test run.
    #[test]
    fn many_bytes() {
        let mut state = 0x1234_5678_9ABC_DEF0_u64;
        for length in [0, 7, 16, 64, 400, PAGE, PAGE + 1] {
            for _ in 0..300 {
                let bytes: Vec<u8> = (0..length)
                    .map(|_| {
                        state ^= state << 13;
                        state ^= state >> 7;
                        state ^= state << 17;
                        // Small values reach further into the checks.
                        (state as u8) & ((state >> 32) as u8) & ((state >> 16) as u8)
                    })
                    .collect();
                page(&bytes);
                page_with_checksum(&bytes);
                record(&bytes);
                control(&bytes);
                control_with_checksum(&bytes);
            }
        }
    }
}
