//! Numbers of bytes as people write them in options, of commands and of the laboratory.
//!
//! Invariant: what cannot be read is refused with what may be written instead; nothing is guessed.

/// Reads bytes: digits, perhaps followed by K, M or G (powers of 1024).
///
/// # Errors
/// What may be written.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let upper = text.to_ascii_uppercase();
    let units = [("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30), ("", 1_u64)];
    let found = units
        .iter()
        .find_map(|(unit, size)| Some((upper.strip_suffix(unit)?, size)));
    found
        .filter(|(digits, _)| digits.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|(digits, size)| digits.parse::<u64>().ok()?.checked_mul(*size))
        .ok_or_else(|| "write a number of bytes, perhaps with K, M or G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_or_refused() {
        for (text, size) in [("4096", 4096), ("4k", 4096), ("2G", 2 << 30)] {
            assert_eq!(parse_bytes(text), Ok(size));
        }
        let wrong = "K -1 +1 1.5M 1T 99999999999999999999 1é";
        for text in wrong.split(' ').chain([""]) {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }
}
