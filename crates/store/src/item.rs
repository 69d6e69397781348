//! One stored item: a header of 16 bytes, then the payload, over whole contiguous blocks.
//!
//! ```text
//! 0   magic "PHQI"
//! 4   payload length in bytes
//! 8   block number the item was written to
//! 12  CRC-32 of length, block number and payload
//! 16  payload, then zeros up to the end of its last block
//! ```
//!
//! All numbers are little-endian. The block number is in the header and under the checksum so that a
//! write which the device put in another place is not taken for the item that belongs there. An older
//! item that was stored in exactly this place is well formed (a write that was acknowledged and lost leaves
//! it there); whoever reads must compare the identity that its own payload carries, or knows the item as
//! [`Sealed`].

use crc32fast::Hasher;

/// Bytes in a block, the unit of allocation.
pub const BLOCK: usize = 512;
/// Bytes of an item before its payload.
pub const HEADER: usize = 16;
/// Longest payload in bytes.
pub const MAX_PAYLOAD: usize = (u32::MAX as usize) - BLOCK;

const MAGIC: [u8; 4] = *b"PHQI";

/// Where an item is stored. Eight bytes: this is all that a queue keeps for a spilled payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Number of the first block in the queue file; never 0, which holds the file's own header.
    pub block: u32,
    /// Length of the payload in bytes.
    pub length: u32,
}

impl Place {
    /// Number of blocks the item takes.
    pub fn blocks(self) -> u32 {
        blocks_for(self.length)
    }

    /// First block after the item, as a number that cannot overflow.
    pub fn end(self) -> u64 {
        u64::from(self.block) + u64::from(self.blocks())
    }

    pub(crate) fn offset(self) -> u64 {
        u64::from(self.block) * BLOCK as u64
    }
}

/// Where an item is stored, and its checksum: another item in the same place is not taken for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// Where it is.
    pub place: Place,
    /// The checksum in its header.
    pub checksum: u32,
}

/// Blocks taken by a payload of `length` bytes.
pub(crate) fn blocks_for(length: u32) -> u32 {
    let bytes = u64::from(length) + HEADER as u64;
    // At most (2^32 - 1 + 16) / 512 + 1, far below 2^32.
    bytes.div_ceil(BLOCK as u64) as u32
}

/// Why bytes are not the item they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    Magic,
    Block,
    Length,
    Checksum,
    Other,
}

impl Bad {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Bad::Magic => "no stored item begins",
            Bad::Block => "an item that belongs to another place",
            Bad::Length => "an item of the wrong length",
            Bad::Checksum => "an item with a wrong checksum",
            Bad::Other => "another item than was written last",
        }
    }
}

/// Appends the item to `out`, padded with zeros to whole blocks; gives its checksum.
pub(crate) fn encode(out: &mut Vec<u8>, place: Place, parts: &[&[u8]]) -> u32 {
    let mut crc = start_crc(place);
    for part in parts {
        crc.update(part);
    }
    let checksum = crc.finalize();
    let begin = out.len();
    out.reserve(place.blocks() as usize * BLOCK);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&place.length.to_le_bytes());
    out.extend_from_slice(&place.block.to_le_bytes());
    out.extend_from_slice(&checksum.to_le_bytes());
    for part in parts {
        out.extend_from_slice(part);
    }
    assert!(
        out.len() - begin == HEADER + place.length as usize,
        "a place is allocated for exactly the parts written to it"
    );
    out.resize(begin + place.blocks() as usize * BLOCK, 0);
    checksum
}

/// The payload length that the header announces for the item at `block`.
pub(crate) fn announced(bytes: &[u8], block: u32) -> Result<u32, Bad> {
    if word(bytes, 0) != Some(u32::from_le_bytes(MAGIC)) {
        return Err(Bad::Magic);
    }
    let length = word(bytes, 4).ok_or(Bad::Length)?;
    if word(bytes, 8) != Some(block) {
        return Err(Bad::Block);
    }
    Ok(length)
}

/// Checks the item at `place` and gives its payload. `bytes` begins with its header and holds all of it.
pub(crate) fn decode(bytes: &[u8], place: Place) -> Result<&[u8], Bad> {
    if announced(bytes, place.block)? != place.length {
        return Err(Bad::Length);
    }
    let end = HEADER + place.length as usize;
    let payload = bytes.get(HEADER..end).ok_or(Bad::Length)?;
    let mut crc = start_crc(place);
    crc.update(payload);
    if word(bytes, 12) != Some(crc.finalize()) {
        return Err(Bad::Checksum);
    }
    Ok(payload)
}

/// The same for an item that is known by its checksum too.
pub(crate) fn decode_sealed(bytes: &[u8], item: Sealed) -> Result<&[u8], Bad> {
    let payload = decode(bytes, item.place)?;
    match word(bytes, 12) {
        Some(checksum) if checksum == item.checksum => Ok(payload),
        _ => Err(Bad::Other),
    }
}

fn start_crc(place: Place) -> Hasher {
    let mut crc = Hasher::new();
    crc.update(&place.length.to_le_bytes());
    crc.update(&place.block.to_le_bytes());
    crc
}

/// The little-endian number at `at`, if the bytes reach that far.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let field = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*field))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(block: u32, length: usize) -> Place {
        Place {
            block,
            length: length as u32,
        }
    }

    #[test]
    fn blocks_follow_length() {
        for (length, blocks) in [(0, 1), (1, 1), (496, 1), (497, 2), (1008, 2), (2300, 5)] {
            assert_eq!(blocks_for(length), blocks, "{length}");
        }
        assert_eq!(blocks_for(u32::MAX), 8_388_609);
    }

    #[test]
    fn item_round_trip_in_parts() {
        let mut out = vec![7; 3];
        encode(&mut out, place(9, 5), &[b"he", b"", b"llo"]);
        assert_eq!(out.len(), 3 + BLOCK);
        assert_eq!(decode(&out[3..], place(9, 5)), Ok(&b"hello"[..]));
        assert!(out[3 + HEADER + 5..].iter().all(|b| *b == 0));
    }

    #[test]
    fn an_item_is_not_taken_for_an_older_one_of_its_place_and_length() {
        let (mut older, mut newer) = (Vec::new(), Vec::new());
        encode(&mut older, place(9, 5), &[b"older"]);
        let checksum = encode(&mut newer, place(9, 5), &[b"newer"]);
        let sealed = Sealed {
            place: place(9, 5),
            checksum,
        };
        assert_eq!(decode_sealed(&newer, sealed), Ok(&b"newer"[..]));
        assert_eq!(decode(&older, sealed.place), Ok(&b"older"[..]));
        assert_eq!(decode_sealed(&older, sealed), Err(Bad::Other));
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let mut good = Vec::new();
        encode(&mut good, place(4, 40), &[&[0xAB; 40]]);
        for at in 0..HEADER + 40 {
            for flip in [1u8, 0x80] {
                let mut bad = good.clone();
                bad[at] ^= flip;
                assert!(decode(&bad, place(4, 40)).is_err(), "byte {at} ^ {flip}");
            }
        }
    }

    #[test]
    fn wrong_place_and_short_bytes() {
        let mut good = Vec::new();
        encode(&mut good, place(4, 600), &[&[1; 600]]);
        assert_eq!(decode(&good, place(5, 600)), Err(Bad::Block));
        assert_eq!(decode(&good, place(4, 599)), Err(Bad::Length));
        for cut in 0..HEADER + 600 {
            assert!(decode(&good[..cut], place(4, 600)).is_err(), "{cut}");
        }
        assert_eq!(decode(&[0; 1024], place(4, 600)), Err(Bad::Magic));
    }
}
