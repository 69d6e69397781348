//! Seeds of the channel protocol: what real clients and servers sent, from the vectors that `crates/wire`
//! is tested with, cut to whole segments.

use std::path::Path;

use super::{LONGEST, Seeds};

/// Vectors that between them hold every kind of segment, and whose words are taken.
const SCENARIOS: &[(&str, Side)] = &[
    ("02-connect-csp-plain-fap12", Side::Client),
    ("06-putget-fap8-tsh-only", Side::Client),
    ("07-base-putget-syncpoint", Side::Client),
    ("07-base-putget-syncpoint", Side::Server),
    ("08-base-little-endian", Side::Client),
    ("09-base-inq-set-put1-browse-trunc", Side::Client),
    ("13-base-read-ahead", Side::Client),
    ("13-base-read-ahead", Side::Server),
    ("23-jms-transacted", Side::Client),
    ("25-jms-listener", Side::Client),
    ("31-jms-topic-listener-selector", Side::Client),
    ("40-xa", Side::Client),
    ("57-csp-two-conversations", Side::Client),
    ("63-error-server-ends-connection", Side::Server),
];

/// Single requests: a scenario, and the segment type (MQCONN, MQOPEN, MQGET, MQPUT, MQINQ, MQSUB) that is
/// cut out of it.
const REQUESTS: &[(&str, u8)] = &[
    ("07-base-putget-syncpoint", 129),
    ("07-base-putget-syncpoint", 131),
    ("07-base-putget-syncpoint", 133),
    ("07-base-putget-syncpoint", 134),
    ("09-base-inq-set-put1-browse-trunc", 137),
    ("11-base-mqsub", 142),
];

/// Length of a shared-conversation segment header.
const SHARED_HEADER: usize = 36;

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Client,
    Server,
}

/// Seeds of `wire_segment`.
pub fn wire() -> Seeds {
    let mut seeds = Seeds::new();
    for (scenario, side) in SCENARIOS {
        let mut stream = Vec::new();
        for (from, segment) in segments(scenario) {
            if from == *side && stream.len() + segment.len() <= LONGEST {
                stream.extend_from_slice(&segment);
            }
        }
        let who = if *side == Side::Client {
            "client"
        } else {
            "server"
        };
        assert!(!stream.is_empty(), "{scenario}: no segments of the {who}");
        seeds.push((format!("{scenario}-{who}"), stream));
    }
    for (scenario, kind) in REQUESTS {
        let found = segments(scenario)
            .into_iter()
            .map(|(_, segment)| segment)
            .find(|segment| segment.starts_with(b"TSHM") && segment.get(17) == Some(kind));
        if let Some(segment) = found
            && let Some(body) = segment.get(SHARED_HEADER..)
        {
            // As `posthaste_wire::fuzzing::request` takes it: type, byte order (1 = little), body.
            let little = u8::from(segment.get(16) == Some(&2));
            let mut seed = vec![*kind, little];
            seed.extend_from_slice(body.get(..LONGEST - 2).unwrap_or(body));
            seeds.push((format!("request-{kind}"), seed));
        }
    }
    seeds
}

/// The segments of a vector, in order, with who sent them.
fn segments(scenario: &str) -> Vec<(Side, Vec<u8>)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../crates/wire/tests/vectors")
        .join(format!("{scenario}.hex"));
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => panic!("{}: {error}", file.display()),
    };
    let mut found: Vec<(Side, Vec<u8>)> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        if line.starts_with("# [") {
            let side = if line.contains(" C->S ") {
                Side::Client
            } else {
                Side::Server
            };
            found.push((side, Vec::new()));
            open = true;
        } else if line.starts_with('#') || line.trim().is_empty() {
            open = false;
        } else if open && let Some((_, bytes)) = found.last_mut() {
            for word in line.split_whitespace() {
                bytes.extend(bytes_of(word));
            }
        }
    }
    found
}

/// `0a1b` is two bytes, `20*45` is byte 0x20 forty-five times.
fn bytes_of(word: &str) -> Vec<u8> {
    let (hex, count) = match word.split_once('*') {
        Some((hex, count)) => (hex, count.parse().unwrap_or(0)),
        None => (word, 1),
    };
    let bytes: Vec<u8> = (0..hex.len() / 2)
        .filter_map(|at| hex.get(2 * at..2 * at + 2))
        .filter_map(|pair| u8::from_str_radix(pair, 16).ok())
        .collect();
    assert_eq!(bytes.len() * 2, hex.len(), "not hexadecimal: {word}");
    bytes.repeat(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation() {
        assert_eq!(bytes_of("0a1B"), [10, 27]);
        assert_eq!(bytes_of("20*3"), [32, 32, 32]);
    }

    #[test]
    fn segments_are_as_long_as_they_say() {
        for (scenario, _) in SCENARIOS {
            for (_, segment) in segments(scenario) {
                assert!(segment.starts_with(b"TSH"), "{scenario}");
                let length: [u8; 4] = segment[4..8].try_into().expect("four bytes");
                assert_eq!(
                    u32::from_be_bytes(length) as usize,
                    segment.len(),
                    "{scenario}"
                );
            }
        }
    }

    #[test]
    fn each_kind_of_request_is_found() {
        let names: Vec<String> = wire().into_iter().map(|(name, _)| name).collect();
        for (_, kind) in REQUESTS {
            assert!(names.contains(&format!("request-{kind}")), "{names:?}");
        }
    }
}
