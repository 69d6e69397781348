//! Quantities as people write them on a command line, and how they are shown.
//!
//! Invariant: what cannot be read is refused with what may be written instead; nothing is guessed.

use std::num::NonZeroU64;
use std::time::Duration;

/// Reads a time with its unit: `250ns`, `500us`, `1.5ms`, `2s`; a bare `0` needs none.
///
/// # Errors
/// What may be written.
pub fn duration(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 5] = [
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
    ];
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let found = UNITS
        .iter()
        .find_map(|(unit, nanos)| Some((number(text.strip_suffix(unit)?)?, nanos)));
    match found {
        Some((value, nanos)) if value * nanos <= 3.6e12 => {
            // Not negative and at most an hour, so the conversion loses nothing but fractions.
            Ok(Duration::from_nanos((value * nanos).round() as u64))
        }
        Some(_) => Err("at most an hour".to_owned()),
        None => Err("write a number with ns, us, ms or s, for example 500us".to_owned()),
    }
}

/// Reads bits a second: `64kbit`, `10Mbit`, `2.5Gbit` (powers of 1000).
///
/// # Errors
/// What may be written.
pub fn bits_per_second(text: &str) -> Result<NonZeroU64, String> {
    const UNITS: [(&str, f64); 4] = [("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9), ("bit", 1.0)];
    let lower = text.to_ascii_lowercase();
    UNITS
        .iter()
        .find_map(|(unit, bits)| Some(number(lower.strip_suffix(unit)?)? * bits))
        .filter(|bits| *bits <= 1e15)
        .and_then(|bits| NonZeroU64::new(bits.round() as u64))
        .ok_or_else(|| {
            "write more than 0 with bit, kbit, Mbit or Gbit, for example 10Mbit".to_owned()
        })
}

/// Reads bytes: digits, perhaps followed by K, M or G (powers of 1024).
///
/// # Errors
/// What may be written.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (text.get(..text.len() - 1), 10),
        Some(b'm' | b'M') => (text.get(..text.len() - 1), 20),
        Some(b'g' | b'G') => (text.get(..text.len() - 1), 30),
        _ => (Some(text), 0),
    };
    digits
        .filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|digits| digits.parse::<u64>().ok())
        .and_then(|number| number.checked_mul(1 << shift))
        .ok_or_else(|| "write a number of bytes, perhaps with K, M or G".to_owned())
}

/// A plain decimal number that is not negative.
fn number(text: &str) -> Option<f64> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    plain.then(|| text.parse::<f64>().ok()).flatten()
}

/// A number with a comma between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    grouped_digits(&number.to_string())
}

fn grouped_digits(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with so many decimals and commas between thousands.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = match text.split_once('.') {
        Some((whole, rest)) => (whole, format!(".{rest}")),
        None => (text.as_str(), String::new()),
    };
    let grouped = grouped_digits(whole);
    let nothing = grouped == "0" && rest.chars().all(|c| c == '.' || c == '0');
    let sign = if value < 0.0 && !nothing { "−" } else { "" };
    format!("{sign}{grouped}{rest}")
}

/// A whole number with commas between thousands.
pub(crate) fn count(value: f64) -> String {
    fixed(value, 0)
}

/// Bytes with a binary unit, and a decimal only where it says something.
pub(crate) fn shown_size(value: f64) -> String {
    let mut value = value;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            let decimals = usize::from(unit != "B" && value < 100.0 && value.fract() != 0.0);
            return format!("{} {unit}", fixed(value, decimals));
        }
        value /= 1024.0;
    }
    format!("{} TiB", fixed(value, 1))
}

/// Bits a second with a unit of 1000 and at most three decimals.
pub fn shown_rate(bits: u64) -> String {
    let units = [("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)];
    let value = bits as f64;
    let fitting = units.into_iter().find(|(_, unit)| value >= *unit);
    let Some((name, unit)) = fitting else {
        return format!("{bits} bit/s");
    };
    let text = format!("{:.3}", value / unit);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} {name}")
}

/// Bytes with a unit of 1024 and one decimal.
pub fn shown_bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            return match unit {
                "B" => format!("{bytes} B"),
                _ => format!("{value:.1} {unit}"),
            };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_or_refused() {
        for (text, nanos) in [
            ("0", 0),
            ("0us", 0),
            ("250ns", 250),
            ("500us", 500_000),
            ("500µs", 500_000),
            ("1.5ms", 1_500_000),
            ("2s", 2_000_000_000),
            ("3600s", 3_600_000_000_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        for text in [
            "", "5", "us", "-1us", "1e3us", "5 us", "1..2s", "3601s", "5m", "NaNs", "infs",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_are_read_or_refused() {
        for (text, bits) in [
            ("8bit", 8),
            ("64kbit", 64_000),
            ("10Mbit", 10_000_000),
            ("2.5Gbit", 2_500_000_000),
        ] {
            assert_eq!(
                bits_per_second(text).map(NonZeroU64::get),
                Ok(bits),
                "{text}"
            );
        }
        for text in [
            "",
            "0",
            "10",
            "0Mbit",
            "-1Mbit",
            "10M",
            "0.1bit",
            "99999999Gbit",
        ] {
            assert!(bits_per_second(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_read_or_refused() {
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("4k"), Ok(4096));
        assert_eq!(bytes("2G"), Ok(2 << 30));
        for text in [
            "",
            "K",
            "-1",
            "+1",
            "1.5M",
            "1T",
            "99999999999999999999",
            "1é",
        ] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_shown() {
        for (number, shown) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (123_456, "123,456"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(grouped(number), shown);
        }
        for (bits, shown) in [
            (1, "1 bit/s"),
            (999, "999 bit/s"),
            (64_000, "64 kbit/s"),
            (10_000_000, "10 Mbit/s"),
            (2_500_000_000, "2.5 Gbit/s"),
            (1_000_000_000_000, "1000 Gbit/s"),
        ] {
            assert_eq!(shown_rate(bits), shown);
        }
        assert_eq!(shown_bytes(1023), "1023 B");
        assert_eq!(shown_bytes(1536), "1.5 KiB");
        assert_eq!(shown_bytes(u64::MAX), "16777216.0 TiB");
    }

    #[test]
    fn figures_are_readable() {
        for (value, decimals, expected) in [
            (0.0, 0, "0"),
            (999.0, 0, "999"),
            (1_000.0, 0, "1,000"),
            (1_234_567.891, 1, "1,234,567.9"),
            (-1_234.5, 1, "−1,234.5"),
            (-0.001, 1, "0.0"),
            (0.999, 1, "1.0"),
        ] {
            assert_eq!(fixed(value, decimals), expected);
        }
        for (value, expected) in [
            (12.0, "12 B"),
            (2048.0, "2 KiB"),
            (5_122.0, "5.0 KiB"),
            (204_800.0, "200 KiB"),
            (2_097_152.0, "2 MiB"),
            (5e15, "4,547.5 TiB"),
        ] {
            assert_eq!(shown_size(value), expected);
        }
    }
}
