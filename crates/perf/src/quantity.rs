//! Quantities as people write them on a command line, and how they are shown.
//!
//! Invariant: what cannot be read is refused with what may be written instead; nothing is guessed.

use std::num::NonZeroU64;
use std::time::Duration;

/// A plain decimal number and one of these units, in what the units are made of.
fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    units.iter().find_map(|(unit, size)| {
        let number = text.strip_suffix(unit)?;
        let plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let number = plain.then(|| number.parse::<f64>().ok()).flatten()?;
        Some(number * size)
    })
}

/// Reads a time with its unit: `250ns`, `500us`, `1.5ms`, `2s`; a bare `0` needs none.
///
/// # Errors
/// What may be written.
pub fn duration(text: &str) -> Result<Duration, String> {
    let units = [
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
    ];
    match with_unit(text, &units) {
        None if text == "0" => Ok(Duration::ZERO),
        None => Err("write a number with ns, us, ms or s, for example 500us".to_owned()),
        // Not negative and at most an hour, so the conversion loses nothing but fractions.
        Some(nanos) if nanos <= 3.6e12 => Ok(Duration::from_nanos(nanos.round() as u64)),
        Some(_) => Err("at most an hour".to_owned()),
    }
}

/// Reads bits a second: `64kbit`, `10Mbit`, `2.5Gbit` (powers of 1000).
///
/// # Errors
/// What may be written.
pub fn bits_per_second(text: &str) -> Result<NonZeroU64, String> {
    let units = [("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9), ("bit", 1.0)];
    with_unit(&text.to_ascii_lowercase(), &units)
        .filter(|bits| *bits <= 1e15)
        .and_then(|bits| NonZeroU64::new(bits.round() as u64))
        .ok_or_else(|| {
            "write more than 0 with bit, kbit, Mbit or Gbit, for example 10Mbit".to_owned()
        })
}

/// Digits with a comma between groups of three.
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

/// A number with a comma between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    grouped_digits(&number.to_string())
}

/// A number with so many decimals and commas between thousands.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let nothing = text.bytes().all(|b| matches!(b, b'.' | b'0'));
    let sign = if value < 0.0 && !nothing { "−" } else { "" };
    format!("{sign}{}{rest}", grouped_digits(whole))
}

/// A whole number with commas between thousands.
pub(crate) fn count(value: f64) -> String {
    fixed(value, 0)
}

/// A number with at most so many decimals, and none that say nothing.
pub(crate) fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
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
pub(crate) fn shown_rate(bits: u64) -> String {
    let units = [("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)];
    let value = bits as f64;
    let fitting = units.into_iter().find(|(_, unit)| value >= *unit);
    let (name, unit) = fitting.unwrap_or(("bit/s", 1.0));
    format!("{} {name}", trimmed(value / unit, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_or_refused() {
        let words = |text: &'static str| text.split(' ');
        let nanos = [
            0,
            0,
            250,
            500_000,
            500_000,
            1_500_000,
            2_000_000_000,
            3_600_000_000_000,
        ];
        for (text, nanos) in words("0 0us 250ns 500us 500µs 1.5ms 2s 3600s").zip(nanos) {
            assert_eq!(duration(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        for text in words("5 us -1us 1e3us 1..2s 3601s 5m NaNs infs").chain(["", "5 us"]) {
            assert!(duration(text).is_err(), "{text}");
        }
        let bits = [8, 64_000, 10_000_000, 2_500_000_000];
        for (text, bits) in words("8bit 64kbit 10Mbit 2.5Gbit").zip(bits) {
            assert_eq!(
                bits_per_second(text).map(NonZeroU64::get),
                Ok(bits),
                "{text}"
            );
        }
        for text in words("0 10 0Mbit -1Mbit 10M 0.1bit 99999999Gbit").chain([""]) {
            assert!(bits_per_second(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_shown() {
        assert_eq!((grouped(0), grouped(999)), ("0".into(), "999".into()));
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
        let fixed_ones = [
            (0.0, 0, "0"),
            (999.0, 0, "999"),
            (1_000.0, 0, "1,000"),
            (1_234_567.891, 1, "1,234,567.9"),
            (-1_234.5, 1, "−1,234.5"),
            (-0.001, 1, "0.0"),
            (0.999, 1, "1.0"),
        ];
        for (value, decimals, expected) in fixed_ones {
            assert_eq!(fixed(value, decimals), expected);
        }
        for (value, expected) in [(31.5, "31.5"), (200.0, "200"), (0.0, "0"), (0.04, "0")] {
            assert_eq!(trimmed(value, 1), expected);
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
        for (bits, shown) in [
            (1, "1 bit/s"),
            (999, "999 bit/s"),
            (64_000, "64 kbit/s"),
            (2_500_000_000, "2.5 Gbit/s"),
            (1_000_000_000_000, "1000 Gbit/s"),
        ] {
            assert_eq!(shown_rate(bits), shown);
        }
    }
}
